/* Clocks of the process and its threads. */
#ifndef PM_RUNTIME_READ_CLOCK_H
#define PM_RUNTIME_READ_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t pm_timespec_ns(const struct timespec *time) {
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static inline uint64_t pm_clock_ns(clockid_t clock) {
    struct timespec time = {0};
    clock_gettime(clock, &time);
    return pm_timespec_ns(&time);
}

#endif
