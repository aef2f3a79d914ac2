/* A lock for a few instructions: nobody waits in the kernel.  A handler of a signal, which may have
   interrupted who holds it, must use pm_lock_soon. */
#ifndef PM_RUNTIME_LOCK_H
#define PM_RUNTIME_LOCK_H

#include "runtime/system.h"

static inline void pm_lock(int *lock) {
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(lock, __ATOMIC_RELAXED))
            pm_syscall3(SYS_sched_yield, 0, 0, 0);
}
/* False: whoever holds it does not let go. */
static inline bool pm_lock_soon(int *lock) {
    enum { MOST_TRIES = 1000 };
    for (unsigned i = 0; i < MOST_TRIES; i++) {
        if (!__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
            return true;
        pm_syscall3(SYS_sched_yield, 0, 0, 0);
    }
    return false;
}
static inline void pm_unlock(int *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

#endif
