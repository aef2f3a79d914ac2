/* Handlers of the program run on control blocks of their own.

   The interrupted code may be between a spill and its reload, or between two stores of a memory
   record.  So sigaction and its relatives install `run_handler`, which puts a nested control block
   into %gs, calls the program's handler, and puts the old block back.  A handler that is
   interrupted in turn nests one level deeper.

   A handler may also be left by longjmp.  The target's stack pointer, which jmp_buf holds, tells
   which level the jump returns to: the frames of level k lie between the frame of the run_handler
   that entered it (above) and the stack pointer at which level k+1 interrupted it (below); what
   lies in none of these ranges is level 0.  This holds on alternative stacks too.  A handler that
   is left in another way (an exception, setcontext) leaves its block in %gs, which is as good as
   any other: all levels count for the thread. */
#define _GNU_SOURCE
#include "runtime/signals/signals.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <ucontext.h>

#include "runtime/nonlocal_exits/nonlocal_exits.h"
#include "runtime/modules.h"
#include "runtime/notes.h"
#include "runtime/process.h"
#include "runtime/interpose/interpose.h"
#include "runtime/records/records.h"
#include "runtime/system.h"
#include "runtime/threads.h"
#include "runtime/timers/timers.h"

enum { MOST_LEVELS = 64, N_SIGNALS = 65 };

/* What the program asked for; meaningful where the kernel's handler is run_handler. */
static struct {
    void *handler;
    int flags;
} actions[N_SIGNALS];

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

static void run_handler(int number, siginfo_t *info, void *context) {
    pm_call_handler(actions[number].handler, number, info, context);
}

/* ---- installing one -------------------------------------------------------------------------- */

int pm_original_sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    return PM_ORIGINAL(sigaction)(number, action, old);
}

static bool is_function(const struct sigaction *action) {
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* ACTION with our handler in place of the program's. */
static struct sigaction wrapped(const struct sigaction *action) {
    struct sigaction result = *action;
    if (pm_traps_are_ours())
        sigdelset(&result.sa_mask, SIGTRAP);
    if (is_function(action)) {
        result.sa_sigaction = run_handler;
        result.sa_flags |= SA_SIGINFO;
    }
    return result;
}

PM_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    if (!pm_process_is_measured() || number <= 0 || number >= N_SIGNALS)
        return pm_original_sigaction(number, action, old);
    if (number == SIGTRAP && pm_traps_are_ours())
        return pm_traps_action(action, old);
    void *old_handler = actions[number].handler;
    int old_flags = actions[number].flags;
    struct sigaction replaced, ours;
    if (action) {
        ours = wrapped(action);
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
    if (old) {
        *old = replaced;
        if (replaced.sa_sigaction == run_handler) {
            old->sa_sigaction = (void (*)(int, siginfo_t *, void *))old_handler;
            if (!(old_flags & SA_SIGINFO))
                old->sa_flags &= ~SA_SIGINFO;
        }
    }
    return 0;
}

static sighandler_t install(int number, sighandler_t handler, int flags, bool blocks_itself) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    if (handler == SIG_ERR || number <= 0 || number >= N_SIGNALS) {
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

/* ---- longjmp --------------------------------------------------------------------------------- */

/* The C library keeps the stack pointer mixed with a secret of the thread's. */
static uint64_t target_stack(struct __jmp_buf_tag *buffer) {
    enum { JB_RSP = 6, ROTATION = 17 };
    uint64_t mixed = (uint64_t)buffer->__jmpbuf[JB_RSP], secret;
    __asm__("movq %%fs:0x30, %0" : "=r"(secret));
    return ((mixed >> ROTATION) | (mixed << (64 - ROTATION))) ^ secret;
}

/* Puts the block of the jump's target into %gs; how many levels are left. */
static uint64_t return_to_level(uint64_t stack) {
    struct pm_control_block *current = pm_current_block(), *block = current;
    uint64_t lowest = (uint64_t)__builtin_frame_address(0);
    while (block->outer && !(lowest <= stack && stack < block->handler_frame)) {
        lowest = block->interrupted_stack;
        pm_consume_handler(block);
        block = block->outer;
    }
    if (block != current)
        pm_control_block_use(block);
    return current->level - block->level;
}

static void before_jump(uint64_t stack) {
    if (pm_process_is_measured())
        pm_exits_note_jump(stack, return_to_level(stack));
}

typedef void longjmp_function(struct __jmp_buf_tag *, int);

#define PM_LONGJMP(name)                                                                           \
    PM_EXPORT void name(struct __jmp_buf_tag buffer[1], int value) __attribute__((noreturn));      \
    PM_EXPORT void name(struct __jmp_buf_tag buffer[1], int value) {                               \
        longjmp_function *real = PM_ORIGINAL(name);                                                \
        before_jump(target_stack(buffer));                                                         \
        real(buffer, value);                                                                       \
        __builtin_unreachable();                                                                   \
    }

PM_LONGJMP(longjmp)
PM_LONGJMP(_longjmp)
PM_LONGJMP(siglongjmp)
PM_LONGJMP(__longjmp_chk)

/* ---- masks ----------------------------------------------------------------------------------- */

/* An int3 of the old text while SIGTRAP is blocked would end the program, so it never is. */
typedef int mask_function(int, const sigset_t *, sigset_t *);

void pm_traps_unblock(void) {
    uint64_t trap = UINT64_C(1) << (SIGTRAP - 1);
    if (pm_traps_are_ours())
        pm_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&trap, 0, sizeof trap, 0, 0);
}

static int change_mask(mask_function *real, int how, const sigset_t *set, sigset_t *old) {
    sigset_t without_trap;
    if (set && how != SIG_UNBLOCK && pm_process_is_measured() && pm_traps_are_ours()) {
        without_trap = *set;
        sigdelset(&without_trap, SIGTRAP);
        set = &without_trap;
    }
    return real(how, set, old);
}

PM_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    return change_mask(PM_ORIGINAL(sigprocmask), how, set, old);
}

PM_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    return change_mask(PM_ORIGINAL(pthread_sigmask), how, set, old);
}

PM_EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set) {
    sigset_t without_trap;
    if (set && pm_process_is_measured() && pm_traps_are_ours()) {
        without_trap = *set;
        sigdelset(&without_trap, SIGTRAP);
        set = &without_trap;
    }
    return PM_ORIGINAL(pthread_attr_setsigmask_np)(attributes, set);
}

/* The oldest of them take the first 32 signals as the bits of an int. */
static int bits_without_trap(int bits) {
    return pm_process_is_measured() && pm_traps_are_ours() ? bits & ~(1 << (SIGTRAP - 1)) : bits;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
PM_EXPORT int sigblock(int bits) { return PM_ORIGINAL(sigblock)(bits_without_trap(bits)); }
PM_EXPORT int sigsetmask(int bits) { return PM_ORIGINAL(sigsetmask)(bits_without_trap(bits)); }
PM_EXPORT int sighold(int number) {
    bool ours = number == SIGTRAP && pm_process_is_measured() && pm_traps_are_ours();
    return ours ? 0 : PM_ORIGINAL(sighold)(number);
}
