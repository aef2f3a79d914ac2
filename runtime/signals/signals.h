/* Signals of the program, and those that are ours first: SIGTRAP, and what ends the process. */
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

/* Are signals that end the process by default ours first (default_actions.c)?  Begin: to be called
   once, where a raw file is to be written. */
bool pm_default_actions_are_ours(void);
void pm_default_actions_begin(void);
void pm_default_actions_after_fork(void);

/* The calling thread gets an alternate stack of ours, if it has none (signal_stack.c). */
void pm_signal_stack_begin(void);

/* sigaltstack of the program; 0 or negative errno. */
long pm_change_signal_stack(const stack_t *stack, stack_t *old);

/* Calls HANDLER for the program, on a control block of its own. */
void pm_call_handler(void *handler, int number, siginfo_t *info, void *context);

#endif
