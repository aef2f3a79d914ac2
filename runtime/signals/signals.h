/* Signals of the program and the SIGTRAP of ours. */
#ifndef PM_RUNTIME_SIGNALS_H
#define PM_RUNTIME_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Jumps that met an int3 of the old text and were sent on to the new text (traps.c). */
extern uint64_t pm_n_missed_jumps;

/* To be called once, when the modules are known: installs the SIGTRAP handler if one is needed. */
void pm_signals_begin(void);
void pm_signals_after_fork(void);

/* Is SIGTRAP ours?  Then what the program asks of it is kept apart (traps.c). */
bool pm_traps_are_ours(void);
int pm_traps_action(const struct sigaction *action, struct sigaction *old);

/* Lets SIGTRAP through to the calling thread if it is ours. */
void pm_traps_unblock(void);

/* The kernel's sigaction of the C library, ours left out. */
int pm_original_sigaction(int number, const struct sigaction *action, struct sigaction *old);

/* Calls HANDLER for the program, on a control block of its own. */
void pm_call_handler(void *handler, int number, siginfo_t *info, void *context);

#endif
