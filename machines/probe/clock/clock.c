/* Rounds of work between chains (clock.h says why). */
#define _GNU_SOURCE
#include "machines/probe/clock/clock.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "machines/probe/clock/private.h"
#include "machines/probe/effort.h"

/* Reasons of these: a tick of the kernel's timer takes 1 to 5 microseconds, and reading the time
   0.03, which chains of 10 microseconds show as 30% and 0.3%. */
static const double CHAIN_SECONDS = 10e-6;
static const double WIDE_SECONDS = 4e-6;
static const double MOST_WIDE_SLOWDOWN = 1.08; /* against the best; a busy sibling makes 1.5 to 2 */
static const double BEST_WIDTH_QUANTILE = 0.98; /* a frequency that changes between makes a few too
                                                   wide */
static const double LEAST_SPREAD = 0.005;       /* either way: the clock is not better */
static const double PINNED = 0.01;              /* of the figure: narrow enough to end */

enum {
    DEFAULT_ROUNDS = 21,
    LEAST_ROUNDS = 5, /* also when there is no time left */
    MOST_ROUNDS = 2000,
    RECENT_CHAINS = 8, /* within a millisecond; a frequency that falls meanwhile only seems slow */
    WIDTH_BINS = 1024,
    BINS_OF_AN_INSTRUCTION = 64,
    CALIBRATING_ROUNDS = 200
};

struct pm_clock {
    int cpu;
    cpu_set_t allowed; /* before the thread was bound */
    uint64_t chain_repetitions, wide_repetitions;
    double chains[RECENT_CHAINS]; /* seconds of a cycle */
    size_t n_chains;
    uint32_t widths[WIDTH_BINS]; /* rounds by the gauge: instructions a cycle */
    struct pm_estimate cycle_seconds;
    double began, cpu_began, stolen_began;
    struct pm_probe_budget *budget;
};

struct round {
    double cycles, seconds, cycle_seconds, width;
};

/* ---- rounds ---------------------------------------------------------------------------------- */

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run_a_chain(struct pm_clock *clock) {
    clock->chains[clock->n_chains++ % RECENT_CHAINS] = pm_run_chain(clock->chain_repetitions);
}

static double recent_cycle_seconds(const struct pm_clock *clock) {
    double least = INFINITY;
    for (size_t i = 0; i < RECENT_CHAINS && i < clock->n_chains; i++)
        least = fmin(least, clock->chains[i]);
    return least;
}

static struct round run_round(struct pm_clock *clock, pm_work *work, void *context,
                              uint64_t times) {
    struct round round;
    run_a_chain(clock);
    double begin = pm_clock_now();
    work(context, times);
    double seconds = pm_clock_now() - begin;
    run_a_chain(clock);
    double wide = pm_run_wide(clock->wide_repetitions);
    round.cycle_seconds = recent_cycle_seconds(clock);
    round.seconds = seconds / (double)times;
    round.cycles = round.seconds / round.cycle_seconds;
    round.width = round.cycle_seconds / wide;
    double bin = fmin(round.width * BINS_OF_AN_INSTRUCTION, WIDTH_BINS - 1);
    clock->widths[(size_t)fmax(0, bin)]++;
    return round;
}

double pm_clock_best_width(const struct pm_clock *clock) {
    uint64_t all = 0, wider = 0;
    for (size_t i = 0; i < WIDTH_BINS; i++)
        all += clock->widths[i];
    size_t bin = WIDTH_BINS;
    while (bin > 0 && (double)wider <= (1 - BEST_WIDTH_QUANTILE) * (double)all)
        wider += clock->widths[--bin];
    return (double)(bin + 1) / BINS_OF_AN_INSTRUCTION;
}

/* Of the core, the share that there was in the rounds that make the figure: those up to HIGH
   cycles. */
static double share_of_core(const struct pm_clock *clock, const struct round *rounds, size_t n,
                            double high) {
    double *widths = pm_alloc(n + 1, sizeof *widths);
    size_t n_low = 0;
    for (size_t i = 0; i < n; i++)
        if (rounds[i].cycles <= high)
            widths[n_low++] = rounds[i].width;
    double share = pm_estimate_of(widths, n_low, 0).estimate / pm_clock_best_width(clock);
    free(widths);
    return share * MOST_WIDE_SLOWDOWN >= 1 ? 1 : share;
}

static struct pm_timing timing_of(const struct pm_clock *clock, const struct round *rounds,
                                  size_t n) {
    double *cycles = pm_alloc(n + 1, sizeof *cycles), *seconds = pm_alloc(n + 1, sizeof *seconds);
    for (size_t i = 0; i < n; i++) {
        cycles[i] = rounds[i].cycles;
        seconds[i] = rounds[i].seconds;
    }
    struct pm_timing timing = {.cycles = pm_estimate_least(cycles, n, LEAST_SPREAD),
                               .seconds = pm_estimate_least(seconds, n, LEAST_SPREAD),
                               .rounds = (unsigned)n};
    double share = share_of_core(clock, rounds, n, timing.cycles.high);
    timing.undisturbed = share == 1;
    timing.cycles.low *= share;
    timing.seconds.low *= share;
    free(cycles);
    free(seconds);
    return timing;
}

/* How many executions fill SECONDS. */
static uint64_t times_that_fill(pm_work *work, void *context, double seconds) {
    for (uint64_t times = 1;; times *= 2) {
        double begin = pm_clock_now();
        work(context, times);
        double taken = pm_clock_now() - begin;
        if (taken > seconds / 4 || times > UINT64_MAX / 4)
            return (uint64_t)fmax(1, (double)times * fmin(seconds / fmax(taken, 1e-9), 4));
    }
}

bool pm_repeats(struct pm_estimate cycles) {
    return cycles.high - cycles.low <= (2 * LEAST_SPREAD + PINNED) * cycles.estimate;
}

struct pm_timing pm_cycles(struct pm_clock *clock, pm_work *work, void *context,
                           const struct pm_effort *effort) {
    double round_seconds = effort && effort->round_seconds > 0 ? effort->round_seconds : 50e-6;
    unsigned wanted = effort && effort->rounds ? effort->rounds : DEFAULT_ROUNDS;
    double most = effort && effort->most_seconds > 0 ? effort->most_seconds : 0.5;
    double end = pm_clock_now() + fmin(most, pm_budget_take(clock->budget));
    struct round *rounds = pm_alloc(MOST_ROUNDS, sizeof *rounds);
    struct pm_timing timing;
    size_t n = 0, until = wanted;

    uint64_t times = times_that_fill(work, context, round_seconds);
    bool is_pinned;
    do {
        for (; n < until && n < MOST_ROUNDS && (n < LEAST_ROUNDS || pm_clock_now() < end); n++)
            rounds[n] = run_round(clock, work, context, times);
        until = n + n / 2 + 1;
        timing = timing_of(clock, rounds, n);
        is_pinned = timing.undisturbed && pm_repeats(timing.cycles);
    } while (!is_pinned && n < MOST_ROUNDS && pm_clock_now() < end);
    free(rounds);
    return timing;
}

/* ---- the clock itself ------------------------------------------------------------------------ */

static void no_work(void *context, uint64_t times) {
    (void)context;
    (void)times;
}

static void calibrate(struct pm_clock *clock) {
    double *seconds = pm_alloc(CALIBRATING_ROUNDS, sizeof *seconds);
    /* A core that slept takes a millisecond or more to come to its frequency. */
    double awake = pm_clock_now() + 20e-3;
    while (pm_clock_now() < awake)
        pm_run_chain(1000);
    double cycle = pm_run_chain(1000);
    clock->chain_repetitions = (uint64_t)(CHAIN_SECONDS / cycle / PM_CHAIN_CYCLES) + 1;
    clock->wide_repetitions = (uint64_t)(WIDE_SECONDS / cycle * 4 / PM_WIDE_INSTRUCTIONS) + 1;
    for (size_t i = 0; i < CALIBRATING_ROUNDS; i++)
        seconds[i] = run_round(clock, no_work, NULL, 1).cycle_seconds;
    clock->cycle_seconds = pm_estimate_least(seconds, CALIBRATING_ROUNDS, LEAST_SPREAD);
    free(seconds);
}

void pm_clock_bind(struct pm_clock *clock) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(clock->cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

void pm_clock_unbind(struct pm_clock *clock) {
    sched_setaffinity(0, sizeof clock->allowed, &clock->allowed);
}

struct pm_clock *pm_clock_new(struct pm_error *err) {
    if (!pm_has_chain) {
        pm_fail(err, "the clock of the probes is known for x86-64 only: no instruction of this "
                     "processor has a latency that is the same on all of its kind");
        return NULL;
    }
    struct pm_clock *clock = pm_alloc(1, sizeof *clock);
    clock->cpu = sched_getcpu();
    CPU_ZERO(&clock->allowed);
    sched_getaffinity(0, sizeof clock->allowed, &clock->allowed);
    pm_clock_bind(clock);
    clock->began = pm_clock_now();
    clock->cpu_began = cpu_seconds();
    clock->stolen_began = pm_stolen_seconds(clock->cpu);
    calibrate(clock);
    return clock;
}

int pm_clock_cpu(const struct pm_clock *clock) { return clock->cpu; }

void pm_clock_free(struct pm_clock *clock) { free(clock); }

struct pm_estimate pm_clock_cycle_seconds(const struct pm_clock *clock) {
    return clock->cycle_seconds;
}

void pm_clock_budget(struct pm_clock *clock, struct pm_probe_budget *budget) {
    clock->budget = budget;
}

struct pm_clock_load pm_clock_load(const struct pm_clock *clock) {
    double least_width = pm_clock_best_width(clock) / MOST_WIDE_SLOWDOWN, seconds, stolen;
    uint64_t all = 0, narrow = 0;
    for (size_t i = 0; i < WIDTH_BINS; i++) {
        all += clock->widths[i];
        narrow += (double)(i + 1) / BINS_OF_AN_INSTRUCTION < least_width ? clock->widths[i] : 0;
    }
    seconds = pm_clock_now() - clock->began;
    stolen = pm_stolen_seconds(clock->cpu) - clock->stolen_began;
    return (struct pm_clock_load){
        .sibling = (double)narrow / (double)all,
        .programs = fmax(0, 1 - (cpu_seconds() - clock->cpu_began + stolen) / seconds),
        .stolen = stolen / seconds,
    };
}
