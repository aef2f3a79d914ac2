/* How much of a core there is at the moment. */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>

#include "machines/probe/clock/private.h"

/* A burst is short enough to fall between two turns of whoever shares the core, and so long that
   reading the time, which takes 0.03 microseconds, is nothing. */
static const double BURST_SECONDS = 20e-6;

static uint64_t repetitions_that_fill_a_burst(void) {
    const double awake_seconds = 20e-3; /* a core that slept comes to its frequency */
    uint64_t repetitions = 64;
    for (double begin = pm_clock_now(); pm_clock_now() - begin < awake_seconds;)
        pm_run_wide(repetitions);
    while (pm_run_wide(repetitions) * (double)(repetitions * PM_WIDE_INSTRUCTIONS) < BURST_SECONDS)
        repetitions *= 2;
    return repetitions;
}

double pm_core_share(double seconds) {
    static double best = INFINITY; /* seconds of an instruction */
    static uint64_t repetitions = 0;
    if (!pm_has_chain)
        return NAN;
    if (!repetitions)
        repetitions = repetitions_that_fill_a_burst();
    double begin = pm_clock_now(), now = begin;
    uint64_t n = 0;
    while (now - begin < seconds) {
        best = fmin(best, pm_run_wide(repetitions));
        n += repetitions * PM_WIDE_INSTRUCTIONS;
        now = pm_clock_now();
    }
    return fmin(1, (double)n * best / (now - begin));
}

int pm_quietest_cpu(double seconds, double *share) {
    enum { MOST = 64 };
    cpu_set_t allowed, one;
    int quietest = -1;
    *share = 0;
    if (!pm_has_chain || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -1;
    int n = CPU_COUNT(&allowed) < MOST ? CPU_COUNT(&allowed) : MOST;
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE && seen < n; cpu++) {
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        seen++;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0)
            continue;
        double there = pm_core_share(seconds / n);
        if (there > *share) {
            *share = there;
            quietest = cpu;
        }
    }
    sched_setaffinity(0, sizeof allowed, &allowed);
    return quietest;
}
