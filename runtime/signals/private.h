/* What the files of this folder share; also included by signal_path.S. */
#ifndef PM_RUNTIME_SIGNALS_PRIVATE_H
#define PM_RUNTIME_SIGNALS_PRIVATE_H

#define PM_FRAME_HAS_NO_PLACE 1

#ifndef __ASSEMBLER__

#include <ucontext.h>

#include "runtime/signals/signals.h"

enum { PM_N_SIGNALS = 65 };

/* ---- default_actions.c ----------------------------------------------------------------------- */

/* Is NUMBER a signal whose default action ends the process, and which then comes to us first? */
bool pm_default_is_ours(int number);

/* What is installed for the program's ACTION, SIG_DFL, of such a signal, and what the program is to
   see of INSTALLED.  Taken: it was installed. */
struct sigaction pm_default_wrapped(void);
void pm_default_taken(int number, const struct sigaction *action);
bool pm_default_is_installed(const struct sigaction *installed);
void pm_default_show(int number, struct sigaction *installed);

/* The handler of a signal was called and the kernel forgot it (SA_RESETHAND). */
void pm_default_after_reset(int number, int flags);

/* The default action of NUMBER as if it came now in place of the signal that CONTEXT is of: writes
   the raw file.  The process ends when the calling handler returns, or here if it must. */
void pm_end_by_default(int number, siginfo_t *info, ucontext_t *context);

/* ---- handlers.c ------------------------------------------------------------------------------ */

/* Did the program ask for an alternate stack for its handler of NUMBER? */
bool pm_handler_wants_stack(int number);

void pm_run_handler(int number, siginfo_t *info, void *context);

/* ---- faults.c -------------------------------------------------------------------------------- */

/* Says on standard error if the fault that signal INFO tells of, at CONTEXT, is one that the plain
   program does not have, and what to do. */
void pm_fault_explain(const siginfo_t *info, const ucontext_t *context);

/* ---- signal_stack.c, signal_path.S ----------------------------------------------------------- */

/* The FRAME that the kernel made for a handler of the program goes where it belongs; by how far, a
   multiple of 64.  PM_FRAME_HAS_NO_PLACE: it can go nowhere, and the handler is not to be called.
 */
int64_t pm_place_frame(int number, siginfo_t *info, ucontext_t *context, uint64_t frame);

void pm_handler_entry(int number, siginfo_t *info, void *context);
void pm_call_on_stack(void (*function)(void *), void *argument, uint64_t top);

#endif
#endif
