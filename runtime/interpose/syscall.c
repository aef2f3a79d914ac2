/* System calls that a program makes by syscall (number, …) and that would go past the functions
   that the runtime stands before.  syscall_path.S sends them here; all others go to the kernel at
   once.

   What a program does by an instruction of its own is not seen. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "runtime/process.h"
#include "runtime/second_core/second_core.h"
#include "runtime/signals/signals.h"
#include "runtime/system.h"
#include "runtime/threads.h"

long pm_direct_call_failed(long result);
long pm_direct_call(long number, long a, long b, long c, long d, long e, long f);

long pm_direct_call_failed(long result) {
    errno = (int)-result;
    return -1;
}

static long finish(long result) {
    return result < 0 && result >= -4095 ? pm_direct_call_failed(result) : result;
}

/* As the kernel has it. */
struct kernel_action {
    void *handler;
    uint64_t flags;
    void *restorer;
    uint64_t mask;
};

static struct sigaction from_kernel(const struct kernel_action *action) {
    struct sigaction result = {.sa_flags = (int)action->flags, .sa_restorer = action->restorer};
    result.sa_handler = (sighandler_t)action->handler;
    sigemptyset(&result.sa_mask);
    memcpy(&result.sa_mask, &action->mask, sizeof action->mask);
    return result;
}

static struct kernel_action to_kernel(const struct sigaction *action) {
    struct kernel_action result = {.handler = (void *)action->sa_handler,
                                   .flags = (uint32_t)action->sa_flags,
                                   .restorer = (void *)action->sa_restorer};
    memcpy(&result.mask, &action->sa_mask, sizeof result.mask);
    return result;
}

/* By the function that the runtime stands before; the C library's own signals are left to it. */
static long change_action(long number, const struct kernel_action *action,
                          struct kernel_action *old) {
    struct sigaction new_action, old_action;
    if (action)
        new_action = from_kernel(action);
    int result = sigaction((int)number, action ? &new_action : NULL, &old_action);
    if (result == 0 && old)
        *old = to_kernel(&old_action);
    return result;
}

static long change_mask(long how, const uint64_t *set, uint64_t *old) {
    uint64_t without_trap = set ? *set : 0;
    if (how != SIG_UNBLOCK && pm_traps_are_ours())
        without_trap &= ~(UINT64_C(1) << (SIGTRAP - 1));
    return finish(pm_syscall(SYS_rt_sigprocmask, how, set ? (long)&without_trap : 0, (long)old,
                             sizeof *set, 0, 0));
}

static bool is_c_librarys(long signal) { return signal < 1 || signal == 32 || signal == 33; }

long pm_direct_call(long number, long a, long b, long c, long d, long e, long f) {
    if (!pm_process_is_measured())
        return finish(pm_syscall(number, a, b, c, d, e, f));
    long result;
    switch (number) {
    case SYS_rt_sigaction:
        if (d != sizeof(uint64_t) || is_c_librarys(a))
            break;
        return change_action(a, (const struct kernel_action *)b, (struct kernel_action *)c);
    case SYS_rt_sigprocmask:
        if (d != sizeof(uint64_t))
            break;
        return change_mask(a, (const uint64_t *)b, (uint64_t *)c);
    case SYS_sigaltstack:
        return finish(pm_change_signal_stack((const stack_t *)a, (stack_t *)b));
    case SYS_fork:
    case SYS_clone:
        pm_analysis_pause();
        result = pm_syscall(number, a, b, c, d, e, f);
        if (result == 0)
            pm_process_forked();
        else
            pm_analysis_resume();
        return finish(result);
    case SYS_execve:
    case SYS_execveat:
        pm_process_before_exec();
        result = pm_syscall(number, a, b, c, d, e, f);
        pm_process_exec_failed();
        return finish(result);
    case SYS_exit:
        pm_thread_leave();
        break;
    case SYS_exit_group:
        pm_process_finish();
        break;
    }
    return finish(pm_syscall(number, a, b, c, d, e, f));
}
