/* Handlers of the program run on control blocks of their own.

   The interrupted code may be between a spill and its reload, or between two stores of a memory
   record.  So sigaction and its relatives install `pm_run_handler`, which puts a nested control
   block into %gs, calls the program's handler, and puts the old block back.  A handler that is
   interrupted in turn nests one level deeper; one may be left by longjmp (longjmp.c).  Signals
   that the program leaves to their default action are those of default_actions.c. */
#define _GNU_SOURCE
#include "runtime/shadow_loops/shadow_loops.h"
#include "runtime/signals/private.h"

#include <errno.h>
#include <ucontext.h>

#include "runtime/interpose/interpose.h"
#include "runtime/modules.h"
#include "runtime/nonlocal_exits/nonlocal_exits.h"
#include "runtime/notes.h"
#include "runtime/process.h"
#include "runtime/records/records.h"
#include "runtime/system.h"
#include "runtime/threads.h"
#include "runtime/timers/timers.h"

enum { MOST_LEVELS = 64 };

/* What the program asked for; meaningful where the kernel's handler is run_handler. */
static struct {
    void *handler;
    int flags;
} actions[PM_N_SIGNALS];

/* ---- running a handler ----------------------------------------------------------------------- */

/* The block for a handler that interrupts code on BLOCK; BLOCK itself when there is no other. */
static struct pm_control_block *nested_block(struct pm_control_block *block) {
    if (!block->inner && block->level < MOST_LEVELS)
        block->inner = pm_control_block_new(block->thread, block);
    if (block->inner)
        return block->inner;
    pm_note_add(PM_NOTE_SHARED_BLOCK, 1);
    return block;
}

void pm_call_handler(void *handler, int number, siginfo_t *info, void *context) {
    struct pm_control_block *interrupted = pm_current_block();
    struct pm_control_block *nested = nested_block(interrupted);
    pm_control_block_use(nested);
    pm_traps_unblock(); /* sigsuspend and its like may have blocked it for the handler */
    nested->handler_frame = (uint64_t)__builtin_frame_address(0);
    nested->interrupted_stack = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
    pm_timers_handler_begin(nested, interrupted);
    ((void (*)(int, siginfo_t *, void *))handler)(number, info, context);
    if (nested != interrupted)
        pm_timers_handler_end(nested);
    if (nested != interrupted)
        pm_consume_handler(nested);
    pm_control_block_use(interrupted);
}

void pm_run_handler(int number, siginfo_t *info, void *context) {
    void *handler = actions[number].handler;
    if (pm_bound_fault(number, context))
        return;
    pm_default_after_reset(number, actions[number].flags);
    pm_fault_explain(info, context);
    pm_call_handler(handler, number, info, context);
}

bool pm_handler_wants_stack(int number) { return actions[number].flags & SA_ONSTACK; }

/* ---- installing one -------------------------------------------------------------------------- */

int pm_original_sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    return PM_ORIGINAL(sigaction)(number, action, old);
}

static bool is_function(const struct sigaction *action) {
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Of these the kernel enters ours on an alternate stack in any case (signal_stack.c). */
static bool is_fault(int number) { return number == SIGSEGV || number == SIGBUS; }

/* ACTION with our handler in place of the program's. */
static struct sigaction wrapped(int number, const struct sigaction *action) {
    if (action->sa_handler == SIG_DFL && pm_default_is_ours(number))
        return pm_default_wrapped();
    struct sigaction result = *action;
    if (pm_traps_are_ours())
        sigdelset(&result.sa_mask, SIGTRAP);
    if (!is_function(action))
        return result;
    if (pm_default_actions_are_ours() && is_fault(number))
        result.sa_flags |= SA_ONSTACK;
    result.sa_sigaction = result.sa_flags & SA_ONSTACK ? pm_handler_entry : pm_run_handler;
    result.sa_flags |= SA_SIGINFO;
    return result;
}

/* What the program is to see of INSTALLED, for which it asked with HANDLER and FLAGS. */
static struct sigaction unwrapped(int number, const struct sigaction *installed, void *handler,
                                  int flags) {
    struct sigaction result = *installed;
    if (pm_default_is_installed(installed)) {
        pm_default_show(number, &result);
    } else if (result.sa_sigaction == pm_run_handler || result.sa_sigaction == pm_handler_entry) {
        result.sa_sigaction = (void (*)(int, siginfo_t *, void *))handler;
        result.sa_flags &= flags | ~(SA_SIGINFO | SA_ONSTACK);
    }
    return result;
}

PM_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    if (!pm_process_is_measured() || number <= 0 || number >= PM_N_SIGNALS)
        return pm_original_sigaction(number, action, old);
    if (number == SIGTRAP && pm_traps_are_ours())
        return pm_traps_action(action, old);
    void *old_handler = actions[number].handler;
    int old_flags = actions[number].flags;
    struct sigaction replaced, ours, shown;
    if (action) {
        ours = wrapped(number, action);
        if (is_function(action)) {
            actions[number].flags = action->sa_flags;
            actions[number].handler = (void *)action->sa_sigaction;
        }
    }
    int result = pm_original_sigaction(number, action ? &ours : NULL, &replaced);
    if (result != 0) {
        actions[number].handler = old_handler;
        actions[number].flags = old_flags;
        return result;
    }
    shown = unwrapped(number, &replaced, old_handler, old_flags);
    if (action && pm_default_is_installed(&ours))
        pm_default_taken(number, action);
    if (old)
        *old = shown;
    return 0;
}

static sighandler_t install(int number, sighandler_t handler, int flags, bool blocks_itself) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    if (handler == SIG_ERR || number <= 0 || number >= PM_N_SIGNALS) {
        errno = EINVAL;
        return SIG_ERR;
    }
    if (blocks_itself)
        sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

PM_EXPORT sighandler_t signal(int number, sighandler_t handler) {
    return install(number, handler, SA_RESTART, true);
}

PM_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) {
    return install(number, handler, SA_RESTART, true);
}

PM_EXPORT sighandler_t ssignal(int number, sighandler_t handler) {
    return install(number, handler, SA_RESTART, true);
}

PM_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler);
PM_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) {
    return install(number, handler, (int)SA_RESETHAND | SA_NODEFER, false);
}

PM_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) {
    return install(number, handler, (int)SA_RESETHAND | SA_NODEFER, false);
}

/* System V's: a handler that lets its own signal through, and the signal unblocked; or the signal
   blocked (SIG_HOLD).  What was: SIG_HOLD if it was blocked, else the handler. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
PM_EXPORT sighandler_t sigset(int number, sighandler_t handler) {
    struct sigaction action = {.sa_handler = handler}, old;
    sigset_t only, mask;
    sigemptyset(&only);
    if (handler == SIG_ERR || sigaddset(&only, number) != 0) {
        errno = EINVAL;
        return SIG_ERR;
    }
    bool holds = handler == SIG_HOLD;
    if (sigprocmask(holds ? SIG_BLOCK : SIG_UNBLOCK, &only, &mask) != 0 ||
        sigaction(number, holds ? NULL : &action, &old) != 0)
        return SIG_ERR;
    return sigismember(&mask, number) ? SIG_HOLD : old.sa_handler;
}

PM_EXPORT int sigignore(int number) {
    struct sigaction action = {.sa_handler = SIG_IGN};
    return sigaction(number, &action, NULL);
}
