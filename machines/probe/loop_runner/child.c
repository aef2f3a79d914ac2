/* The child process, which runs loops one after the other and writes results to pages that it
   shares with its parent.  If a loop ends the child, the parent starts another one. */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "machines/probe/clock/clock.h"
#include "machines/probe/loop_runner/private.h"

/* A round of the clock is short, because loops are many. */
static const double ROUND_SECONDS = 20e-6;
static const double LOOP_SECONDS = 0.2;
/* Either way: what a loop takes differs so much from process to process, with the physical pages
   and what the predictors of branches and of memory dependences have seen before. */
static const double LEAST_SPREAD = 0.02;
static const double SAME = 0.01; /* times of a block */
static const double WIDE = 0.2;  /* of a block whose time did not repeat */
enum { ROUNDS = 7, NO_COUNTER = 16 };

static struct pm_loop_shared *shared_pages;

/* ---- one loop -------------------------------------------------------------------------------- */

struct timed {
    struct pm_loop_child *child;
    unsigned which, counter; /* the general register that counts iterations; NO_COUNTER */
    struct pm_clock *clock;
    const struct pm_effort *effort;
    struct pm_timing timing;
};

static void execute_often(void *context, uint64_t times) {
    const struct timed *timed = context;
    struct pm_loop_child *child = timed->child;
    const void *code = child->copies[timed->which].begin;
    if (timed->counter != NO_COUNTER)
        child->state.general[timed->counter] = child->counts[timed->which];
    for (; times; times--) {
        if (child->restores)
            pm_loop_memory_restore(&child->memory);
        pm_loop_enter(&child->state, code);
    }
}

static void measure(void *context) {
    struct timed *timed = context;
    timed->timing = pm_cycles(timed->clock, execute_often, timed, timed->effort);
}

/* The iterations between two counts; errors of the two times are independent. */
static struct pm_estimate difference(struct pm_estimate few, struct pm_estimate many,
                                     double iterations) {
    double middle = many.estimate - few.estimate;
    double below = hypot(many.estimate - many.low, few.high - few.estimate);
    double above = hypot(many.high - many.estimate, few.estimate - few.low);
    return (struct pm_estimate){fmax(0, middle - below) / iterations, fmax(0, middle) / iterations,
                                fmax(0, middle + above) / iterations};
}

/* Cycles of an execution at both counts in one SETTING. */
static enum pm_loop_refusal time_setting(struct pm_loop_child *child,
                                         const struct pm_loop_code *code, struct pm_clock *clock,
                                         const struct pm_effort *effort, unsigned setting,
                                         struct pm_estimate times[2], bool *undisturbed) {
    struct timed timed[2];
    if (!pm_loop_memory_move(&child->memory, setting))
        return PM_LOOP_ADDRESS;
    for (unsigned which = 0; which < 2; which++) {
        bool again;
        if (!pm_loop_put_timed(child->area, which, setting, code, child->counts[which],
                               &child->copies[which]))
            return PM_LOOP_TOO_LONG;
        timed[which] = (struct timed){.child = child,
                                      .which = which,
                                      .counter = code->form == PM_LOOP_BLOCK_IN_LOOP ? code->counter
                                                                                     : NO_COUNTER,
                                      .clock = clock,
                                      .effort = effort};
        enum pm_loop_refusal why = pm_loop_guarded(child, false, measure, &timed[which], &again);
        if (why)
            return why;
        *undisturbed &= timed[which].timing.undisturbed;
        times[which] = timed[which].timing.cycles;
    }
    return PM_LOOP_RAN;
}

static double median_of_three(double a, double b, double c) {
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* The least time of three settings that another one repeats, since all that disturbs makes it
   longer; if none does, the middle one, and *REPEATS false. */
static double least_that_repeats(double a, double b, double c, bool *repeats) {
    double least = fmin(a, fmin(b, c)), middle = median_of_three(a, b, c);
    double most = fmax(a, fmax(b, c));
    if (middle <= least * (1 + SAME))
        return least;
    *repeats &= most <= middle * (1 + SAME);
    return middle;
}

/* Cycles of a block, of which each setting has the times of both counts. */
static struct pm_estimate cycles_of_block(struct pm_estimate of[PM_LOOP_SETTINGS][2],
                                          double iterations, bool *repeats) {
    double times[2];
    *repeats = true;
    for (unsigned which = 0; which < 2; which++)
        times[which] = least_that_repeats(of[0][which].estimate, of[1][which].estimate,
                                          of[2][which].estimate, repeats);
    double cycles = fmax(0, times[1] - times[0]) / iterations, error = *repeats ? SAME : WIDE;
    return (struct pm_estimate){cycles * (1 - error), cycles, cycles * (1 + error)};
}

/* Settings differ by more than the rounds of one; so the interval holds the figures of all. */
static enum pm_loop_refusal time_loop(struct pm_loop_child *child, const struct pm_loop_code *code,
                                      struct pm_clock *clock, const struct pm_effort *effort,
                                      struct pm_loop_time *time) {
    struct pm_estimate times[PM_LOOP_SETTINGS][2], of[PM_LOOP_SETTINGS];
    double iterations = (double)child->counts[1] - child->counts[0];
    _Static_assert(PM_LOOP_SETTINGS == 3, "of which the median is taken");
    bool undisturbed = true;
    for (unsigned i = 0; i < PM_LOOP_SETTINGS; i++) {
        enum pm_loop_refusal why =
            time_setting(child, code, clock, effort, i, times[i], &undisturbed);
        if (why)
            return why;
        of[i] = difference(times[i][0], times[i][1], iterations);
    }
    if (code->form != PM_LOOP_PATH) {
        time->cycles = cycles_of_block(times, iterations, &time->undisturbed);
        return PM_LOOP_RAN;
    }
    double low = median_of_three(of[0].low, of[1].low, of[2].low);
    double high = median_of_three(of[0].high, of[1].high, of[2].high);
    double middle = median_of_three(of[0].estimate, of[1].estimate, of[2].estimate);
    low = fmin(low, fmin(of[0].estimate, fmin(of[1].estimate, of[2].estimate)));
    high = fmax(high, fmax(of[0].estimate, fmax(of[1].estimate, of[2].estimate)));
    time->cycles = (struct pm_estimate){fmin(low, middle * (1 - LEAST_SPREAD)), middle,
                                        fmax(high, middle * (1 + LEAST_SPREAD))};
    time->undisturbed = undisturbed;
    return PM_LOOP_RAN;
}

static enum pm_loop_refusal run_loop(struct pm_loop_child *child, const struct pm_loop_code *code,
                                     struct pm_clock *clock, const struct pm_effort *effort,
                                     struct pm_loop_time *time) {
    enum pm_loop_refusal why = pm_loop_prepare(child, code);
    if (!why) {
        why = time_loop(child, code, clock, effort, time);
        if (why == PM_LOOP_UNSTEADY && !child->restores) {
            /* What it counts in memory led it away after many executions. */
            child->restores = true;
            why = time_loop(child, code, clock, effort, time);
        }
    }
    time->pages = child->memory.n_pages;
    time->unrolled = why ? 0 : child->counts[1];
    return why;
}

/* ---- the process ----------------------------------------------------------------------------- */

static void on_alarm(int signal) {
    (void)signal;
    shared_pages->times[shared_pages->next++].why = PM_LOOP_TIME;
    shared_pages->runs = false;
    _exit(0);
}

static bool has_vectors(uint8_t vectors) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return vectors == PM_LOOP_SSE || (vectors == PM_LOOP_AVX && __builtin_cpu_supports("avx")) ||
           __builtin_cpu_supports("avx512f");
#else
    (void)vectors;
    return false;
#endif
}

static struct pm_loop_area *map_area(void) {
    void *place = (void *)(uintptr_t)PM_LOOP_CODE;
    struct pm_loop_area *area =
        mmap(place, sizeof *area, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);
    if (area != place)
        return NULL;
    area->leave = (uint64_t)(uintptr_t)pm_loop_leave;
    return area;
}

static void allow_seconds(double seconds) {
    struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)seconds, .tv_usec = (suseconds_t)(fmod(seconds, 1) * 1e6)}};
    setitimer(ITIMER_PROF, &timer, NULL); /* processor time: others may have the rest */
}

void pm_loop_child_main(const struct pm_loop_set *set, const struct pm_loop_options *options,
                        struct pm_loop_shared *shared, int pipe) {
    struct pm_effort effort = {.round_seconds = options->round_seconds > 0 ? options->round_seconds
                                                                           : ROUND_SECONDS,
                               .rounds = options->rounds ? options->rounds : ROUNDS};
    double loop_seconds = options->loop_seconds > 0 ? options->loop_seconds : LOOP_SECONDS;
    struct pm_loop_child *child = pm_alloc(1, sizeof *child);
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct rlimit no_core = {0, 0};
    effort.most_seconds = loop_seconds / (4 * PM_LOOP_SETTINGS); /* of two timings each */
    shared_pages = shared;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        signal(ending[i], SIG_DFL); /* what the parent does then is not for the child */
    setrlimit(RLIMIT_CORE, &no_core);
    child->area = map_area();
    if (!child->area || !pm_loop_memory_init(&child->memory) || !pm_loop_catch_signals()) {
        pm_fail_errno(&shared->err, "memory for copies of loops, which has to be executable");
        _exit(1);
    }
    struct pm_clock *clock = pm_clock_new(&shared->err);
    if (!clock)
        _exit(1);
    shared->has_clock = true;
    /* On a stack of its own: the loop's stack pointer may lead nowhere. */
    sigaction(SIGPROF, &(struct sigaction){.sa_handler = on_alarm, .sa_flags = SA_ONSTACK}, NULL);
    while (shared->next < set->n_times) {
        struct pm_loop_time *time = &shared->times[shared->next];
        const struct pm_loop_code *code = &set->codes[shared->next];
        if (shared->wanted[shared->next]) {
            shared->runs = true;
            allow_seconds(loop_seconds);
            enum pm_loop_refusal why = has_vectors(code->vectors)
                                           ? run_loop(child, code, clock, &effort, time)
                                           : PM_LOOP_NOT_HERE;
            allow_seconds(0);
            time->why = (uint8_t)why;
            shared->widths[shared->next] = pm_clock_best_width(clock);
            shared->runs = false;
            if (write(pipe, "", 1) != 1)
                break;
        }
        shared->next++;
    }
    _exit(0);
}
