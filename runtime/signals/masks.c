/* Signal masks of the program: an int3 of the old text (traps.c) while SIGTRAP is blocked would end
   it, so SIGTRAP never is. */
#define _GNU_SOURCE
#include "runtime/signals/signals.h"

#include <pthread.h>

#include "runtime/interpose/interpose.h"
#include "runtime/process.h"
#include "runtime/system.h"

typedef int mask_function(int, const sigset_t *, sigset_t *);

void pm_traps_unblock(void) {
    uint64_t trap = UINT64_C(1) << (SIGTRAP - 1);
    if (pm_traps_are_ours())
        pm_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&trap, 0, sizeof trap, 0, 0);
}

/* SET, or where SIGTRAP is ours a COPY of it without that signal. */
static const sigset_t *without_trap(const sigset_t *set, sigset_t *copy) {
    if (!set || !pm_process_is_measured() || !pm_traps_are_ours())
        return set;
    *copy = *set;
    sigdelset(copy, SIGTRAP);
    return copy;
}

static int change_mask(mask_function *original, int how, const sigset_t *set, sigset_t *old) {
    sigset_t copy;
    return original(how, how == SIG_UNBLOCK ? set : without_trap(set, &copy), old);
}

PM_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    return change_mask(PM_ORIGINAL(sigprocmask), how, set, old);
}

PM_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    return change_mask(PM_ORIGINAL(pthread_sigmask), how, set, old);
}

PM_EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set) {
    sigset_t copy;
    return PM_ORIGINAL(pthread_attr_setsigmask_np)(attributes, without_trap(set, &copy));
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
