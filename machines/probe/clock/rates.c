/* What the clock's frequency does when all cores work, or vectors are wide; and which CPUs are
   hardware threads of one core, which guests are not told. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "machines/probe/clock/private.h"

enum { MOST_OTHERS = 1023 };
static const double SETTLING_SECONDS = 20e-3; /* a frequency follows the load within these */
/* Of the wide loop alone, with a busy sibling: half of it; where cores only share power, all. */
static const double SHARED_WIDTH = 0.75;

struct companion {
    pthread_t thread;
    int cpu;
    bool began;
    atomic_bool *stop;
};

static void *keep_busy(void *context) {
    struct companion *companion = context;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(companion->cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    while (!atomic_load(companion->stop))
        pm_run_wide(1000);
    return NULL;
}

static void rest(double seconds) {
    for (double end = pm_clock_now() + seconds; pm_clock_now() < end;)
        pm_run_chain(1000);
}

/* The best width and the seconds of a cycle over some rounds: what else runs only slows. */
static void look(double *width, struct pm_estimate *cycle_seconds) {
    enum { ROUNDS = 101 };
    double chains[ROUNDS], wide[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        chains[i] = pm_run_chain(1000);
        wide[i] = pm_run_wide(1000);
    }
    *cycle_seconds = pm_estimate_least(chains, ROUNDS, 0.001);
    *width = cycle_seconds->estimate / pm_estimate_least(wide, ROUNDS, 0).estimate;
}

static void look_beside(const int *cpus, size_t n, double *width,
                        struct pm_estimate *cycle_seconds) {
    struct companion companions[MOST_OTHERS];
    atomic_bool stop = false;
    n = n < MOST_OTHERS ? n : MOST_OTHERS;
    for (size_t i = 0; i < n; i++) {
        companions[i] = (struct companion){.cpu = cpus[i], .stop = &stop};
        companions[i].began =
            pthread_create(&companions[i].thread, NULL, keep_busy, &companions[i]) == 0;
    }
    rest(SETTLING_SECONDS);
    look(width, cycle_seconds);
    atomic_store(&stop, true);
    for (size_t i = 0; i < n; i++)
        if (companions[i].began)
            pthread_join(companions[i].thread, NULL);
}

/* Which of CPUS, by halves: −1 if it is seen in neither. */
static int find_sibling(const int *cpus, size_t n, double alone) {
    double width;
    struct pm_estimate cycle_seconds;
    while (n > 1) {
        size_t half = n / 2;
        look_beside(cpus, half, &width, &cycle_seconds);
        bool is_here = width < SHARED_WIDTH * alone;
        cpus += is_here ? 0 : half;
        n = is_here ? half : n - half;
    }
    look_beside(cpus, n, &width, &cycle_seconds);
    return width < SHARED_WIDTH * alone ? cpus[0] : -1;
}

struct pm_clock_rates pm_measure_rates(struct pm_clock *clock, const int *cpus, size_t n,
                                       pm_work *vectors, void *context) {
    struct pm_clock_rates rates = {
        .all_hz = pm_estimate_unknown(), .vectors_hz = pm_estimate_unknown(), .sibling = -1};
    int others[MOST_OTHERS];
    size_t n_others = 0;
    double width, alone;
    struct pm_estimate cycle_seconds;
    for (size_t i = 0; i < n && n_others < MOST_OTHERS; i++)
        if (cpus[i] != pm_clock_cpu(clock))
            others[n_others++] = cpus[i];

    rest(SETTLING_SECONDS);
    look(&alone, &cycle_seconds);
    rates.one_hz = pm_estimate_inverse(1, cycle_seconds);
    rates.all_hz = rates.one_hz;
    if (n_others) {
        look_beside(others, n_others, &width, &cycle_seconds);
        rates.all_hz = pm_estimate_inverse(1, cycle_seconds);
        if (width < SHARED_WIDTH * alone) /* one of them is a sibling */
            rates.sibling = find_sibling(others, n_others, alone);
    }
    if (vectors) {
        static const struct pm_effort effort = {.round_seconds = 2e-3, .rounds = 15};
        struct pm_timing timing = pm_cycles(clock, vectors, context, &effort);
        rates.vectors_hz = (struct pm_estimate){timing.cycles.low / timing.seconds.high,
                                                timing.cycles.estimate / timing.seconds.estimate,
                                                timing.cycles.high / timing.seconds.low};
    }
    return rates;
}
