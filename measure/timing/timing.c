/* Timing a program at one size; see timing.h.

   The steps: a plain run, which says how much time there is → which scopes get timers, so that all
   of them together cost a small share of that (pm_choose_timed_scopes) → a copy of
   each module with these timers and nothing else, in which routines without a timer stay as they
   are → runs of the copy and plain ones, alternately, until the least time of either repeats → the
   raw files of the quickest run → times. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <x86intrin.h>

#include "core/probe_abi.h"
#include "measure/timing/private.h"

struct timing {
    const struct pm_timing_request *request;
    const struct pm_copies *copies;
    struct pm_timing_lifts *lifts;
    const char *folder;
    struct pm_copy *plain, *timed; /* n_files of the copies each */
    uint8_t *chosen;               /* per scope of the copies' structure */
    struct pm_timed_module *modules;
};

/* ---- choosing -------------------------------------------------------------------------------- */

/* Nanoseconds of reading the counter, the greater part of a probe; the least of many rounds. */
static double counter_read_ns(void) {
    enum { ROUNDS = 50, READS = 100 };
    double least = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int i = 0; i < READS; i++)
            (void)*(volatile uint64_t *)&(uint64_t){__rdtsc()};
        clock_gettime(CLOCK_MONOTONIC, &end);
        double ns =
            1e9 * (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec);
        least = fmin(least, ns / READS);
    }
    return least;
}

static void choose(struct timing *t, const struct pm_profile *profile, double plain_seconds) {
    /* Saving registers, the stack of open scopes, and some of its ten cache lines that the program
       has driven out. */
    const double rest_of_a_probe_ns = 35;
    /* Two jumps beside each call.  Of 9 million calls of sin in a finite-element code each took
       0.4 to 0.9 ns longer, of 10 million in a loop of nothing else 0.3 ns, on a core of 4 GHz 0.35
       ns. */
    const double call_seconds = 0.5e-9;
    /* A tenth is far less than what a user who gets no times at all loses; the report says what the
       timed program took over the plain one. */
    const double moving_percent = fmax(10, t->request->cost_percent);
    struct pm_timer_budget budget = {
        .seconds = t->request->cost_percent / 100 * plain_seconds,
        .pair_seconds = 2e-9 * (counter_read_ns() + rest_of_a_probe_ns),
        .moving_seconds = moving_percent / 100 * plain_seconds,
        .call_seconds = call_seconds,
    };
    t->chosen = pm_choose_timed_scopes(t->copies->structure, profile, &budget, NULL);
}

/* ---- copies with timers ---------------------------------------------------------------------- */

bool pm_timing_lift_modules(const struct pm_copies_request *instrument,
                            const struct pm_copies *copies, struct pm_timing_lifts *lifts,
                            struct pm_error *err) {
    if (!lifts->lifted)
        lifts->lifted = pm_alloc(copies->n_files, sizeof *lifts->lifted);
    while (lifts->n_lifted < copies->n_files) {
        struct pm_lifted *lifted = pm_copies_lift_again(instrument, copies, lifts->n_lifted, err);
        if (!lifted)
            return false;
        lifts->lifted[lifts->n_lifted++] = lifted;
    }
    return true;
}

/* The module's own scopes are those of the whole from its place on, but for the program's. */
static uint32_t scope_of_whole(const struct pm_module_place *place, uint32_t scope) {
    return scope == 0 ? 0 : place->first_scope + scope;
}

/* Writes the copy of module I; scopes that no probe can stand for are chosen no more. */
static bool write_copy(struct timing *t, size_t i, uint32_t first_scope, struct pm_error *err) {
    struct pm_lifted *lifted = t->lifts->lifted[i];
    const struct pm_structure *structure = pm_lifted_structure(lifted);
    const struct pm_module_place *place = &t->copies->places[i];
    uint8_t *events = pm_alloc(structure->n_scopes, sizeof *events);
    uint8_t *probed = pm_alloc(structure->n_scopes, sizeof *probed);
    for (uint32_t s = 1; s < structure->n_scopes; s++)
        events[s] = t->chosen[scope_of_whole(place, s)] ? PM_PROBE_SCOPE_PROBED : 0;
    struct pm_instrument_options options = {.no_counters = true,
                                            .only_probed = true,
                                            .calls_move =
                                                t->request->instrument->calls == PM_CALLS_MOVED,
                                            .runtime_path = t->request->instrument->runtime,
                                            .first_scope = first_scope,
                                            .scope_events = events,
                                            .probed = probed};
    bool ok = pm_instrument(lifted, &options, t->timed[i].instrumented, err);
    for (uint32_t s = 1; s < structure->n_scopes && ok; s++)
        t->chosen[scope_of_whole(place, s)] &= probed[s] != 0;
    t->modules[i] =
        (struct pm_timed_module){.placement_hash = pm_placement_hash(structure), .place = place};
    free(events);
    free(probed);
    return ok;
}

static bool make_copies(struct timing *t, struct pm_error *err) {
    uint32_t first_scope = 0;
    if (!pm_timing_lift_modules(t->request->instrument, t->copies, t->lifts, err))
        return false;
    for (size_t i = 0; i < t->copies->n_files; i++) {
        if (!write_copy(t, i, first_scope, err))
            return false;
        first_scope += t->copies->places[i].n_scopes;
    }
    return true;
}

static void list_files(struct timing *t) {
    size_t n = t->copies->n_files;
    t->plain = pm_alloc(n, sizeof *t->plain);
    t->timed = pm_alloc(n, sizeof *t->timed);
    t->modules = pm_alloc(n, sizeof *t->modules);
    for (size_t i = 0; i < n; i++) {
        char *path = t->copies->files[i].original;
        t->plain[i] = (struct pm_copy){.original = path, .instrumented = path};
        t->timed[i] =
            (struct pm_copy){.original = path,
                             .instrumented = pm_sprintf(
                                 "%s/%s", t->folder, basename(t->copies->files[i].instrumented))};
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct repetition {
    double plain_seconds, cpu_seconds;
    double core_share; /* NAN: not known */
    char *raw;
};

static double share_of_core(const struct timing *t) {
    const struct pm_core_gauge *gauge = &t->request->gauge;
    return gauge->share ? gauge->share(gauge->context) : NAN;
}

static bool run_plain(const struct timing *t, struct repetition *repetition, struct pm_error *err) {
    struct pm_launch_result result;
    const struct pm_timing_launcher *l = &t->request->launcher;
    bool ok = l->launch(l->context, t->plain, t->copies->n_files, NULL, NULL, &result, err);
    repetition->plain_seconds = result.cpu_seconds;
    return ok;
}

static bool run_timed(const struct timing *t, struct repetition *repetition, size_t number,
                      struct pm_error *err) {
    struct pm_launch_result result;
    const struct pm_timing_launcher *l = &t->request->launcher;
    repetition->raw = pm_sprintf("%s/times-%zu", t->folder, number);
    if (mkdir(repetition->raw, 0777) != 0)
        return pm_fail_errno(err, "cannot make %s", repetition->raw);
    bool ok =
        l->launch(l->context, t->timed, t->copies->n_files, repetition->raw, NULL, &result, err);
    repetition->cpu_seconds = result.cpu_seconds;
    return ok;
}

/* The least value so far, and the one after it. */
struct two_least {
    double least, next;
};

static void add_value(struct two_least *of, double value) {
    of->next = fmin(of->next, fmax(of->least, value));
    of->least = fmin(of->least, value);
}

static bool repeats(const struct two_least *of) {
    const double alike = 1.02;
    return of->next <= alike * of->least;
}

static bool least_repeats(const struct repetition *repetitions, size_t n) {
    struct two_least plain = {INFINITY, INFINITY}, timed = plain;
    for (size_t i = 0; i < n; i++) {
        add_value(&plain, repetitions[i].plain_seconds);
        add_value(&timed, repetitions[i].cpu_seconds);
    }
    return repeats(&plain) && repeats(&timed);
}

/* The first of REPETITIONS has had its plain run; the others begin with either in turn.  0 after an
   error, else how many there were, at most three times as many as are asked for. */
static size_t run_all(const struct timing *t, struct repetition *repetitions,
                      struct pm_error *err) {
    size_t n = 0, least = t->request->n_runs;
    double before = share_of_core(t);
    for (; n < least || (least > 1 && n < 3 * least && !least_repeats(repetitions, n)); n++) {
        struct repetition *repetition = &repetitions[n];
        bool ok = n == 0  ? run_timed(t, repetition, n, err)
                  : n % 2 ? run_timed(t, repetition, n, err) && run_plain(t, repetition, err)
                          : run_plain(t, repetition, err) && run_timed(t, repetition, n, err);
        if (!ok)
            return 0;
        double after = share_of_core(t);
        repetition->core_share = (before + after) / 2;
        before = after;
    }
    return n;
}

static int by_cpu_seconds(const void *left, const void *right) {
    const struct repetition *a = left, *b = right;
    return PM_COMPARE(a->cpu_seconds, b->cpu_seconds);
}

static double median_ratio(const struct repetition *repetitions, size_t n) {
    double *ratios = pm_alloc(n, sizeof *ratios);
    for (size_t i = 0; i < n; i++)
        ratios[i] = repetitions[i].plain_seconds > 0
                        ? repetitions[i].cpu_seconds / repetitions[i].plain_seconds
                        : 1;
    PM_SORT(ratios, n, pm_compare_doubles);
    double median = (ratios[(n - 1) / 2] + ratios[n / 2]) / 2;
    free(ratios);
    return median;
}

/* Instructions in the own code of scopes whose time no timer around them holds, as a share of all.
 */
static double untimed_share(const struct pm_structure *structure, const struct pm_profile *profile,
                            const struct pm_times *times) {
    uint32_t *owners = pm_times_owners(times, structure);
    double all = 0, untimed = 0;
    for (size_t i = 0; i < structure->n_edges; i++) {
        const struct pm_edge *edge = &structure->edges[i];
        if (edge->to == PM_NONE)
            continue;
        const struct pm_block *block = &structure->blocks[edge->to];
        double instructions = profile->edge_counts[i] * block->n_instructions;
        all += instructions;
        untimed += owners[block->scope] == PM_NONE ? instructions : 0;
    }
    free(owners);
    return all > 0 ? untimed / all : 0;
}

static void note_untimed(const struct timing *t, const struct pm_profile *profile,
                         struct pm_times *times) {
    double share = untimed_share(t->copies->structure, profile, times);
    if (share > 0.05)
        pm_append(&times->notes,
                  "%sRoutines with %.0f%% of the executed instructions have no timer: they are "
                  "called too often to be timed for %.3g%% of the time (--time-cost), or do little "
                  "but call others.",
                  times->notes ? "\n" : "", 100 * share, t->request->cost_percent);
}

static struct pm_times *read_one(const struct timing *t, const struct repetition *repetition,
                                 struct pm_call_times **calls, struct pm_error *err) {
    struct pm_times *times =
        pm_times_ingest(repetition->raw, t->copies->structure, t->chosen, t->modules,
                        t->copies->n_files, repetition->cpu_seconds, calls, err);
    if (!times)
        return NULL;
    times->plain_seconds = repetition->plain_seconds;
    times->core_share = repetition->core_share;
    times->over_plain = median_ratio(repetition, 1);
    times->repetitions = 1;
    times->machine = pm_processor_says("model name");
    return times;
}

/* From the end of MPI_Init to the begin of MPI_Finalize, of the slowest rank; not known: INFINITY.
 */
static double longest_span(const struct pm_call_times *calls) {
    double longest = 0;
    for (size_t i = 0; i < calls->n_spans; i++)
        longest = fmax(longest, calls->spans[i].seconds);
    return longest > 0 ? longest : INFINITY;
}

/* Takes CALLS, or frees them: of the run whose slowest rank was fastest are kept, since what else
   runs on the machine only adds to what ranks wait. */
static void keep_faster(struct pm_call_times **kept, struct pm_call_times *calls) {
    bool is_faster = calls && (!*kept || longest_span(calls) < longest_span(*kept));
    pm_call_times_free(is_faster ? *kept : calls);
    *kept = is_faster ? calls : *kept;
}

/* Times of the first of N repetitions into *TIMES, unless the listener took them, who wants more
 * than these.
 */
static bool read_all(const struct timing *t, const struct pm_parameters *at,
                     const struct repetition *repetitions, size_t n, struct pm_times **times,
                     struct pm_call_times **calls, struct pm_error *err) {
    const struct pm_times_listener *listener = &t->request->listener;
    for (size_t i = 0; i < n; i++) {
        struct pm_call_times *of_calls = NULL;
        struct pm_times *one = read_one(t, &repetitions[i], &of_calls, err);
        if (!one)
            return false;
        keep_faster(calls, of_calls);
        if (listener->take)
            listener->take(listener->context, at, one);
        else if (i == 0)
            *times = one;
        else
            pm_times_free(one);
    }
    return true;
}

static struct pm_times *read_times(const struct timing *t, const struct pm_parameters *at,
                                   struct repetition *repetitions, size_t n,
                                   struct pm_call_times **calls, struct pm_error *err) {
    struct pm_times *times = NULL;
    double plain = INFINITY, share = 0;
    PM_SORT(repetitions, n, by_cpu_seconds);
    bool ok = read_all(t, at, repetitions, n, &times, calls, err);
    if (ok && !times)
        times = read_one(t, &repetitions[0], NULL, err);
    if (!ok || !times) {
        pm_times_free(times);
        pm_call_times_free(*calls);
        *calls = NULL;
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        plain = fmin(plain, repetitions[i].plain_seconds);
        share += repetitions[i].core_share / (double)n;
    }
    times->plain_seconds = plain;
    times->core_share = share;
    times->over_plain = median_ratio(repetitions, n);
    times->repetitions = (uint32_t)n;
    return times;
}

struct pm_times *pm_measure_times(const struct pm_timing_request *request,
                                  const struct pm_copies *copies, const struct pm_profile *profile,
                                  const char *folder, struct pm_timing_lifts *lifts,
                                  struct pm_call_times **calls, struct pm_error *err) {
    struct timing t = {.request = request, .copies = copies, .lifts = lifts, .folder = folder};
    size_t most = 3 * (size_t)request->n_runs, n = 0;
    struct repetition *repetitions = pm_alloc(most, sizeof *repetitions);
    struct pm_times *times = NULL;
    *calls = NULL;
    list_files(&t);
    if (run_plain(&t, &repetitions[0], err)) {
        choose(&t, profile, repetitions[0].plain_seconds);
        if (make_copies(&t, err) && (n = run_all(&t, repetitions, err)) > 0)
            times = read_times(&t, &profile->parameters, repetitions, n, calls, err);
        if (times)
            note_untimed(&t, profile, times);
    }
    for (size_t i = 0; i < most; i++)
        free(repetitions[i].raw);
    for (size_t i = 0; i < copies->n_files; i++)
        free(t.timed[i].instrumented);
    free(repetitions);
    free(t.plain);
    free(t.timed);
    free(t.modules);
    free(t.chosen);
    return times;
}

void pm_timing_lifts_free(struct pm_timing_lifts *lifts) {
    for (size_t i = 0; i < lifts->n_lifted; i++)
        pm_lifted_free(lifts->lifted[i]);
    free(lifts->lifted);
    *lifts = (struct pm_timing_lifts){0};
}
