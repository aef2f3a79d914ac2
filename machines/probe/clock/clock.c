/* Rounds of work between chains, and what of them counts (clock.h says why). */
#define _GNU_SOURCE
#include "machines/probe/clock/clock.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>

#include "machines/probe/clock/private.h"

/* Reasons of these: a tick of the kernel's timer takes 1 to 5 microseconds, and reading the time
   0.03, which chains of 10 microseconds show as 30% and 0.3%. */
static const double CHAIN_SECONDS = 10e-6;
static const double WIDE_SECONDS = 4e-6;
static const double MOST_CHAIN_DIFFERENCE = 0.01; /* between the chains of a round */
static const double MOST_WIDE_SLOWDOWN = 1.08; /* against the best; a busy sibling makes 1.5 to 2 */
static const double MOST_SIBLING_GAIN = 2.2;   /* of the width, when the sibling falls asleep */
static const double ADJUSTMENT = 0.002;        /* of the best width, by one round */
static const double MOST_STOLEN = 0.01;        /* of the time */
static const double LEAST_SPREAD = 0.005;      /* either way: the clock is not better */

enum {
    DEFAULT_ROUNDS = 21,
    MOST_ROUNDS = 400,
    MOST_TRIES = 5 /* rounds for one that counts */,
    CALIBRATING_ROUNDS = 200
};

struct pm_clock {
    int cpu;
    cpu_set_t allowed; /* before the thread was bound */
    uint64_t chain_repetitions, wide_repetitions;
    double best_width; /* instructions of the wide loop a cycle */
    struct pm_estimate cycle_seconds;
    double stolen_seconds, stolen_at; /* /proc/stat as read last, and when */
    uint64_t rounds, discarded;
};

struct round {
    double cycles, seconds, cycle_seconds, width;
    bool disturbed;
};

/* ---- rounds ---------------------------------------------------------------------------------- */

static struct round run_round(struct pm_clock *clock, pm_work *work, void *context,
                              uint64_t times) {
    struct round round;
    double before = pm_run_chain(clock->chain_repetitions);
    double begin = pm_clock_now();
    work(context, times);
    double seconds = pm_clock_now() - begin;
    double after = pm_run_chain(clock->chain_repetitions);
    double wide = pm_run_wide(clock->wide_repetitions);
    round.cycle_seconds = (before + after) / 2;
    round.seconds = seconds / (double)times;
    round.cycles = round.seconds / round.cycle_seconds;
    round.width = round.cycle_seconds / wide;
    round.disturbed = fabs(before - after) > MOST_CHAIN_DIFFERENCE * fmin(before, after) ||
                      round.width * MOST_WIDE_SLOWDOWN < clock->best_width;
    return round;
}

/* Keeps to what nine of ten undisturbed rounds do not exceed; comes up quickly if the sibling was
   busy when the clock was made. */
static void adjust_best_width(struct pm_clock *clock, const struct round *round) {
    double step = ADJUSTMENT * clock->best_width;
    if (round->disturbed || round->width > clock->best_width * MOST_SIBLING_GAIN)
        return;
    if (round->width > clock->best_width * MOST_WIDE_SLOWDOWN)
        step = (round->width - clock->best_width) / 2;
    clock->best_width += round->width > clock->best_width ? 0.9 * step : -0.1 * step;
}

/* Has the hypervisor taken more than its share since this was asked last? */
static bool was_stolen_from(struct pm_clock *clock) {
    double stolen = pm_stolen_seconds(clock->cpu), now = pm_clock_now();
    bool much = stolen - clock->stolen_seconds > MOST_STOLEN * (now - clock->stolen_at);
    clock->stolen_seconds = stolen;
    clock->stolen_at = now;
    return much;
}

static struct pm_timing timing_of(const struct round *rounds, size_t n, bool all) {
    double *cycles = pm_alloc(n + 1, sizeof *cycles), *seconds = pm_alloc(n + 1, sizeof *seconds);
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++)
        if (all || !rounds[i].disturbed) {
            cycles[n_kept] = rounds[i].cycles;
            seconds[n_kept++] = rounds[i].seconds;
        }
    struct pm_timing timing = {.cycles = pm_estimate_of(cycles, n_kept, LEAST_SPREAD),
                               .seconds = pm_estimate_of(seconds, n_kept, LEAST_SPREAD),
                               .rounds = (unsigned)n_kept,
                               .discarded = (unsigned)(n - n_kept),
                               .undisturbed = !all};
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

struct pm_timing pm_cycles(struct pm_clock *clock, pm_work *work, void *context,
                           const struct pm_effort *effort) {
    double round_seconds = effort && effort->round_seconds > 0 ? effort->round_seconds : 50e-6;
    unsigned wanted = effort && effort->rounds ? effort->rounds : DEFAULT_ROUNDS;
    double end = pm_clock_now() + (effort && effort->most_seconds > 0 ? effort->most_seconds : 0.5);
    struct round *rounds = pm_alloc(MOST_ROUNDS, sizeof *rounds);
    size_t n = 0, n_kept = 0, unchecked = 0;
    size_t most = wanted * MOST_TRIES < MOST_ROUNDS ? wanted * MOST_TRIES : MOST_ROUNDS;

    uint64_t times = times_that_fill(work, context, round_seconds);
    was_stolen_from(clock); /* what happened before is not ours */
    do {
        rounds[n] = run_round(clock, work, context, times);
        adjust_best_width(clock, &rounds[n]);
        n_kept += !rounds[n].disturbed;
        n++;
        if (n_kept >= wanted && was_stolen_from(clock))
            for (; unchecked < n; unchecked++) {
                n_kept -= !rounds[unchecked].disturbed;
                rounds[unchecked].disturbed = true;
            }
    } while (n_kept < wanted && n < most && (n < 3 || pm_clock_now() < end));

    struct pm_timing timing = timing_of(rounds, n, n_kept < 3 || n_kept * 2 < n);
    clock->rounds += n;
    clock->discarded += n - n_kept;
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
    double *widths = pm_alloc(CALIBRATING_ROUNDS, sizeof *widths);
    /* A core that slept takes a millisecond or more to come to its frequency. */
    double awake = pm_clock_now() + 20e-3;
    while (pm_clock_now() < awake)
        pm_run_chain(1000);
    double cycle = pm_run_chain(1000);
    clock->chain_repetitions = (uint64_t)(CHAIN_SECONDS / cycle / PM_CHAIN_CYCLES) + 1;
    clock->wide_repetitions = (uint64_t)(WIDE_SECONDS / cycle * 4 / PM_WIDE_INSTRUCTIONS) + 1;
    for (size_t i = 0; i < CALIBRATING_ROUNDS; i++) {
        struct round round = run_round(clock, no_work, NULL, 1);
        seconds[i] = round.cycle_seconds;
        widths[i] = round.width;
    }
    clock->cycle_seconds = pm_estimate_of(seconds, CALIBRATING_ROUNDS, LEAST_SPREAD);
    /* Not the largest of all, which a chain that was interrupted makes too large. */
    clock->best_width = pm_estimate_of(widths, CALIBRATING_ROUNDS, LEAST_SPREAD).high;
    free(seconds);
    free(widths);
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
    calibrate(clock);
    return clock;
}

int pm_clock_cpu(const struct pm_clock *clock) { return clock->cpu; }

void pm_clock_free(struct pm_clock *clock) { free(clock); }

struct pm_estimate pm_clock_cycle_seconds(const struct pm_clock *clock) {
    return clock->cycle_seconds;
}

double pm_clock_best_width(const struct pm_clock *clock) { return clock->best_width; }

uint64_t pm_clock_rounds(const struct pm_clock *clock) { return clock->rounds; }

uint64_t pm_clock_discarded(const struct pm_clock *clock) { return clock->discarded; }
