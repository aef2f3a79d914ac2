/* Threads of the runtime, made by plain system calls.

   The C library does not know them; they have all signals blocked, run C of the runtime only, and
   have a thread pointer (%fs) of their own that leads to zeros.  A program sees them in
   /proc/self/task and in its CPU time only. */
#ifndef PM_RUNTIME_OWN_THREADS_H
#define PM_RUNTIME_OWN_THREADS_H

#include <stdint.h>

struct pm_own_thread {
    uint32_t id; /* atomic, of the system; 0: none.  The kernel clears it when the thread is gone */
    char *memory; /* for it and the next one: pointer area, then stack */
};

/* Starts RUN (ARGUMENT) in a place whose id is 0; the thread ends when that returns.  The caller
   has blocked all signals, which the new thread inherits.  0 or negative errno. */
long pm_own_thread_start(struct pm_own_thread *thread, void (*run)(void *), void *argument);

#endif
