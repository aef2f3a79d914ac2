/* A lock for a few instructions: nobody waits in the kernel, and nobody who holds one may be
   interrupted by a signal whose handler takes it. */
#ifndef PM_RUNTIME_LOCK_H
#define PM_RUNTIME_LOCK_H

#include "runtime/system.h"

static inline void pm_lock(int *lock) {
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(lock, __ATOMIC_RELAXED))
            pm_syscall3(SYS_sched_yield, 0, 0, 0);
}
static inline void pm_unlock(int *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

#endif
