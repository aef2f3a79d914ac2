/* Threads of the runtime; see second_core.h. */
#define _GNU_SOURCE
#include "runtime/second_core/second_core.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "runtime/system.h"

enum {
    STACK_BYTES = 1 << 18,
    /* Zeros around the thread pointer: what the C library keeps of a thread on one side, variables
       of threads on the other. */
    POINTER_BYTES = 1 << 14,
};

/* A thread that calls RUN (ARGUMENT) on STACK, its upper end.  It has what the C library's have in
   common with their process. */
static long make_thread(void (*run)(void *), void *argument, uint32_t *id, void *stack,
                        void *pointer) {
    const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                       CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    long result;
    register uint32_t *child_id __asm__("r10") = id;
    register void *thread_pointer __asm__("r8") = pointer;
    register void *start __asm__("r12") = (void *)run;
    register void *value __asm__("r13") = argument;
    __asm__ volatile("syscall\n\t"
                     "testl %%eax, %%eax\n\t"
                     "jnz 1f\n\t"
                     "xorl %%ebp, %%ebp\n\t"
                     "movq %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(result)
                     : "0"((long)SYS_clone), "D"(flags), "S"(stack), "d"(id), "r"(child_id),
                       "r"(thread_pointer), "r"(start), "r"(value)
                     : "rcx", "r11", "memory");
    return result;
}

struct beginning {
    void (*run)(void *);
    void *argument;
};

static void begin(void *value) {
    struct beginning beginning = *(struct beginning *)value;
    pm_syscall3(SYS_prctl, PR_SET_NAME, (long)"pmodel", 0);
    beginning.run(beginning.argument);
    for (;;)
        pm_syscall3(SYS_exit, 0, 0, 0);
}

long pm_own_thread_start(struct pm_own_thread *thread, void (*run)(void *), void *argument) {
    if (!thread->memory)
        thread->memory = pm_mmap(POINTER_BYTES + STACK_BYTES);
    if (!thread->memory)
        return -ENOMEM;
    /* The C library looks for the thread's own pointer here. */
    void **pointer = (void **)(thread->memory + POINTER_BYTES / 2);
    pointer[0] = pointer[2] = pointer;
    struct beginning *beginning = (struct beginning *)thread->memory;
    *beginning = (struct beginning){run, argument};
    long result = make_thread(begin, beginning, &thread->id,
                              thread->memory + POINTER_BYTES + STACK_BYTES, pointer);
    return result < 0 ? result : 0;
}
