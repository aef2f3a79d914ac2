/* Alternate signal stacks: one of ours for each thread, for what comes after a stack overflow.

   The kernel knows one alternate stack a thread.  It is ours while the program has set none, and
   sigaltstack tells the program so; one of the program's replaces it.  Whose it is, its address
   tells: nothing is remembered, because a return from a handler sets the kernel's back as well.

   A handler of the program must not find itself on ours.  Where the kernel put the frame there, the
   frame goes to the stack that was interrupted, below its red zone, as the kernel would have put it
   without.  Handlers of faults are entered on the alternate stack even if the program did not ask
   for it: where there is no room for the frame otherwise, the kernel would end the process, and
   that is then done here, with a raw file. */
#define _GNU_SOURCE
#include "runtime/signals/private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "runtime/process.h"
#include "runtime/system.h"
#include "runtime/threads.h"

static bool is_inside(uint64_t address, const stack_t *stack) {
    return address - (uint64_t)stack->ss_sp < stack->ss_size;
}

static bool is_ours(const stack_t *stack) {
    const struct pm_thread *thread = pm_current_thread();
    return thread && (uint64_t)stack->ss_sp == thread->block->signal_stack;
}

static long set(const stack_t *stack, stack_t *old) {
    return pm_syscall3(SYS_sigaltstack, (long)stack, (long)old, 0);
}

static stack_t ours(void) {
    return (stack_t){.ss_sp = (void *)pm_current_thread()->block->signal_stack,
                     .ss_size = PM_SIGNAL_STACK_BYTES};
}

void pm_signal_stack_begin(void) {
    stack_t stack = ours(), old;
    if (pm_default_actions_are_ours() && set(NULL, &old) == 0 && old.ss_flags & SS_DISABLE)
        set(&stack, NULL);
}

/* ---- what the program asks ------------------------------------------------------------------- */

long pm_change_signal_stack(const stack_t *stack, stack_t *old) {
    stack_t none = {.ss_flags = SS_DISABLE}, replaced, replacement;
    if (stack && pm_default_actions_are_ours() && pm_current_thread() &&
        stack->ss_flags == SS_DISABLE) {
        replacement = ours();
        stack = &replacement;
    }
    long result = set(stack, &replaced);
    if (result == 0 && old)
        *old = is_ours(&replaced) ? none : replaced;
    return result;
}

PM_EXPORT int sigaltstack(const stack_t *stack, stack_t *old) {
    long result = pm_change_signal_stack(stack, old);
    if (result < 0)
        errno = (int)-result;
    return result < 0 ? -1 : 0;
}

/* ---- where a frame belongs ------------------------------------------------------------------- */

/* The kernel says by writing there the mask of the thread, which stays as it is. */
static bool can_write(uint64_t from, uint64_t to) {
    enum { PAGE = 4096, MASK_BYTES = 8, MOST_PAGES = 16 };
    if (to - from > (uint64_t)MOST_PAGES * PAGE)
        return false;
    for (uint64_t at = from; at < to; at = (at | (PAGE - 1)) + 1)
        if (pm_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)at, MASK_BYTES, 0, 0) != 0)
            return false;
    return true;
}

/* Copies the FRAME that ends at END to below TOP; by how far it moved, 0: there is no room. */
static int64_t move(uint64_t frame, uint64_t end, uint64_t top) {
    enum { ALIGNMENT = 64 }; /* of the vector state in it */
    uint64_t to = top - (end - frame);
    to -= (to - frame) % ALIGNMENT;
    if (!can_write(to, top))
        return 0;
    memcpy((void *)to, (const void *)frame, end - frame);
    return (int64_t)(to - frame);
}

int64_t pm_place_frame(int number, siginfo_t *info, ucontext_t *context, uint64_t frame) {
    enum { RED_ZONE = 128 };
    const stack_t *stack = &context->uc_stack;
    uint64_t interrupted = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    bool is_asked_for = pm_handler_wants_stack(number) && !is_ours(stack);
    if (is_asked_for || !is_inside(frame, stack) || is_inside(interrupted, stack))
        return 0;
    int64_t distance = move(frame, (uint64_t)stack->ss_sp + stack->ss_size, interrupted - RED_ZONE);
    if (distance == 0) {
        pm_signals_block();
        pm_end_by_default(SIGSEGV, info, context);
        return PM_FRAME_HAS_NO_PLACE;
    }
    /* The only pointer in a frame into itself. */
    *(uint64_t *)((uint64_t)&context->uc_mcontext.fpregs + (uint64_t)distance) +=
        (uint64_t)distance;
    return distance;
}
