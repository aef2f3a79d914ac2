/* longjmp and its relatives: activations that are left are noted, and %gs gets the control block of
   the target.

   A jump may leave handlers of signals.  The target's stack pointer, which jmp_buf holds, tells
   which level the jump returns to: the frames of level k lie between the frame of the run_handler
   that entered it (above) and the stack pointer at which level k+1 interrupted it (below); what
   lies in none of these ranges is level 0.  This holds on alternative stacks too.  A handler that
   is left in another way (an exception, setcontext) leaves its block in %gs, which is as good as
   any other: all levels count for the thread. */
#include "runtime/signals/signals.h"

#include <setjmp.h>

#include "runtime/interpose/interpose.h"
#include "runtime/nonlocal_exits/nonlocal_exits.h"
#include "runtime/process.h"
#include "runtime/records/records.h"
#include "runtime/system.h"
#include "runtime/threads.h"

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
        longjmp_function *original = PM_ORIGINAL(name);                                            \
        before_jump(target_stack(buffer));                                                         \
        original(buffer, value);                                                                   \
        __builtin_unreachable();                                                                   \
    }

PM_LONGJMP(longjmp)
PM_LONGJMP(_longjmp)
PM_LONGJMP(siglongjmp)
PM_LONGJMP(__longjmp_chk)
