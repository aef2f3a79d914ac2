/* What the system takes to bring a page at its first touch: CPU time of touching fresh pages, one
   after the other, less that of touching them again.  Small pages only, whatever the system would
   give else, since programs' heaps are mostly of these. */
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "machines/probe/memory/memory.h"

enum { ROUNDS = 21, PAGES = 2048 };
static const double LEAST_SPREAD = 0.02; /* either way: from one moment to another */

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of one page, of PAGES fresh ones; NAN: no memory. */
static double seconds_of_round(size_t page_bytes) {
    size_t bytes = PAGES * page_bytes;
    volatile char *pages =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NAN;
    madvise((void *)(uintptr_t)pages, bytes, MADV_NOHUGEPAGE);
    double times[3];
    for (int i = 0; i < 3; i++) {
        times[i] = cpu_seconds();
        for (size_t at = 0; i < 2 && at < bytes; at += page_bytes)
            pages[at] = 1;
    }
    munmap((void *)(uintptr_t)pages, bytes);
    return (times[1] - times[0] - (times[2] - times[1])) / PAGES;
}

struct pm_estimate pm_measure_page_fault(double cycle_seconds) {
    double rounds[ROUNDS];
    size_t n = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double seconds = seconds_of_round((size_t)sysconf(_SC_PAGESIZE));
        if (seconds > 0)
            rounds[n++] = seconds / cycle_seconds;
    }
    return pm_estimate_least(rounds, n, LEAST_SPREAD);
}
