/* System calls without the C library: they touch neither errno nor a lock nor the program's heap,
   so that they may be used between any two instructions of a program.  x86-64 Linux. */
#ifndef PM_RUNTIME_SYSTEM_H
#define PM_RUNTIME_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* Function that the program may call, or that stands before one of the C library. */
#define PM_EXPORT __attribute__((visibility("default")))

#define PM_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define PM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* The kernel's result: negative errno on failure. */
static inline long pm_syscall(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long pm_syscall3(long number, long a, long b, long c) {
    return pm_syscall(number, a, b, c, 0, 0, 0);
}

/* BYTES of zeroed memory, of which only touched pages will exist; NULL when there is none. */
static inline void *pm_mmap(size_t bytes) {
    long result = pm_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return result < 0 && result > -4096 ? NULL : (void *)result;
}

static inline void pm_munmap(void *memory, size_t bytes) {
    if (memory)
        pm_syscall3(SYS_munmap, (long)memory, (long)bytes, 0);
}

/* MEMORY of pm_mmap with another size, its contents kept, possibly at another address; NULL when
   there is no room, and then MEMORY is as it was. */
static inline void *pm_mremap(void *memory, size_t old_bytes, size_t new_bytes) {
    if (!memory)
        return pm_mmap(new_bytes);
    long result = pm_syscall(SYS_mremap, (long)memory, (long)old_bytes, (long)new_bytes,
                             1 /* MREMAP_MAYMOVE */, 0, 0);
    return result < 0 && result > -4096 ? NULL : (void *)result;
}

/* Makes the array that the pointer at ARRAY points to, NULL or memory of pm_mmap, larger; what is
   added is zero.  False: there is no memory, and all is as it was. */
static inline bool pm_mgrow(void *array, size_t old_bytes, size_t new_bytes) {
    void *memory;
    __builtin_memcpy(&memory, array, sizeof memory);
    memory = pm_mremap(memory, old_bytes, new_bytes);
    if (memory)
        __builtin_memcpy(array, &memory, sizeof memory);
    return memory;
}

static inline void pm_sleep_ns(long nanoseconds) {
    struct {
        long seconds, nanoseconds;
    } time = {0, nanoseconds};
    pm_syscall3(SYS_nanosleep, (long)&time, 0, 0);
}

/* Blocks every signal of the thread and gives the mask that was; pm_signals_restore undoes it. */
static inline uint64_t pm_signals_block(void) {
    uint64_t all = ~0ul, old = 0;
    pm_syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&all, (long)&old, sizeof old, 0, 0);
    return old;
}

static inline void pm_signals_restore(uint64_t mask) {
    pm_syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&mask, 0, sizeof mask, 0, 0);
}

#endif
