/* What interprocedural traces take beyond the sum of their parts (interprocedural.h).

       more(root) = iterations · (T_trace − Σ over regions of  passes · cycles of a pass)

   Roots are loops that call, or have short loops in them, and whose iteration is not too long;
   the largest first.  Code that an outer root covers is no root again.  T_trace is from a trace of
   some iterations in a simulated window: what the second half of them takes.  Cycles of a pass are
   those of a region's paths without mispredictions, nor what filling and draining takes at
   loops' ends, since they are added by themselves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/interprocedural/interprocedural.h"
#include "sched/constants.h"
#include "sched/window/window.h"

enum { MOST_TRACED_OPS = 8000, LEAST_ITERATIONS = 4, MOST_ITERATIONS = 64 };

/* Of the time: from here on a report says it. */
static const double share_to_tell = 0.01;

struct root {
    uint32_t loop;
    double size; /* operations of an iteration */
};

struct tracing {
    const struct pm_frequencies *frequencies;
    const struct pm_target_machine *target;
    struct pm_known_paths *known;
    const struct pm_scope_prediction *scopes;
    struct pm_region_schedule *schedules;
    struct pm_tracer *tracer;
    double *covered; /* by scope: passes that are on traces of roots */
    double *more;    /* by scope: cycles */
    double all_cycles;
    struct pm_dep_graph graph; /* of the trace at hand */
    struct pm_interprocedural *found;
    PM_ARRAY(struct root, roots);
};

/* ---- the time of a trace --------------------------------------------------------------------- */

/* Cycles of the steps behind the first half. */
static double second_half(struct tracing *j, const struct pm_step_trace *trace, size_t half_steps,
                          const struct pm_forwardings *found) {
    const struct pm_machine *machine = j->target->machine;
    struct pm_window_result result = {0};
    size_t first = 0;
    pm_graph_of_path(j->target, trace->steps + trace->n_before, trace->n_steps - trace->n_before,
                     &(struct pm_graph_options){.loop = PM_NONE,
                                                .forwardings = found->items,
                                                .n_forwardings = found->n_items},
                     &j->graph);
    while (first < j->graph.n_nodes && j->graph.nodes[first].step + trace->n_before < half_steps)
        first++;
    pm_window_simulate(&j->graph,
                       &(struct pm_window_limits){.front_end_slots = machine->issue_width,
                                                  .fetch_slots = machine->fetch_width,
                                                  .has_fetch = true,
                                                  .retire_slots = machine->retire_width,
                                                  .window_slots = machine->window,
                                                  .scheduler = machine->scheduler,
                                                  .has_units = true,
                                                  .iterations = 1,
                                                  .timed_from = first,
                                                  .machine = machine},
                       &result);
    return result.timed_cycles;
}

/* All that the time hangs on, but for the structure and the target. */
static struct pm_digest digest_of(const struct pm_step_trace *trace, size_t half_steps) {
    const size_t n = trace->n_steps;
    const uint32_t sizes[] = {(uint32_t)n, (uint32_t)half_steps, (uint32_t)trace->n_before};
    const size_t of_steps = n * sizeof *trace->steps, of_enters = n * sizeof *trace->enters;
    char *content = pm_alloc(sizeof sizes + of_steps + of_enters, 1);
    memcpy(content, sizes, sizeof sizes);
    memcpy(content + sizeof sizes, trace->steps, of_steps);
    memcpy(content + sizeof sizes + of_steps, trace->enters, of_enters);
    struct pm_digest digest = pm_digest_bytes(content, sizeof sizes + of_steps + of_enters);
    free(content);
    return digest;
}

/* What the second half of TRACE takes, and its loads. */
static struct pm_trace_time time_of(struct tracing *j, const struct pm_step_trace *trace,
                                    size_t half_steps) {
    bool is_new;
    struct pm_trace_time *time = pm_known_trace(j->known, digest_of(trace, half_steps), &is_new);
    if (is_new) {
        struct pm_forwardings found = {0};
        pm_trace_forwardings(j->frequencies->structure, trace, NULL, &found);
        time->cycles = second_half(j, trace, half_steps, &found);
        time->n_loads = (double)found.n_loads;
        time->n_forwarded = (double)found.n_forwarded;
        time->n_blocked = (double)found.n_blocked;
        time->n_unknown = (double)found.n_unknown;
        free(found.items);
    }
    return *time;
}

/* ---- the parts ------------------------------------------------------------------------------- */

static double cycles_of_pass(const struct tracing *j, uint32_t region) {
    const struct pm_region_schedule *schedule = &j->schedules[region];
    double passes = j->scopes[region].iterations;
    return passes > 0 ? fmax(0, schedule->cycles - schedule->shadowed_cycles) / passes : 0;
}

/* Of the passes that TRACE has now beyond those BEFORE. */
static double cycles_of_parts(const struct tracing *j, const struct pm_step_trace *trace,
                              const double *before) {
    double sum = 0;
    for (size_t s = 0; s < j->frequencies->structure->n_scopes; s++)
        if (trace->passes[s] > before[s])
            sum += (trace->passes[s] - before[s]) * cycles_of_pass(j, (uint32_t)s);
    return sum;
}

/* ---- roots ----------------------------------------------------------------------------------- */

static int larger_first(const void *left, const void *right) {
    const struct root *a = left, *b = right;
    return a->size != b->size ? PM_COMPARE(b->size, a->size) : PM_COMPARE(a->loop, b->loop);
}

/* Operations of the program that are executed, in all. */
static double all_operations(const struct pm_frequencies *frequencies) {
    double sum = 0;
    for (uint32_t b = 0; b < frequencies->structure->n_blocks; b++)
        sum += frequencies->blocks[b] * frequencies->structure->blocks[b].n_ops;
    return sum;
}

static void find_roots(struct tracing *j) {
    const struct pm_structure *s = j->frequencies->structure;
    double least_operations =
        pm_sched_constants.interprocedural_operations * all_operations(j->frequencies);
    for (uint32_t i = 0; i < s->n_scopes; i++) {
        if (s->scopes[i].kind != PM_SCOPE_LOOP || s->scopes[i].header == PM_NONE ||
            j->scopes[i].iterations <= 0 || !pm_tracer_is_interprocedural(j->tracer, i))
            continue;
        double size = pm_tracer_size(j->tracer, i);
        if (!isfinite(size))
            j->found->apart_cycles += j->schedules[i].cycles;
        else if (size * j->scopes[i].iterations >= least_operations)
            *PM_PUSH(j, roots) = (struct root){i, size};
    }
    PM_SORT(j->roots, j->n_roots, larger_first);
}

static void count_loads(struct tracing *j, const struct pm_trace_time *time, double times) {
    j->found->loads += times * time->n_loads;
    j->found->forwarded += times * time->n_forwarded;
    j->found->blocked += times * time->n_blocked;
    j->found->unknown += times * time->n_unknown;
}

/* MORE cycles of an iteration, of which the parts take PARTS, to the regions of its second half. */
static void share_out(struct tracing *j, const struct pm_step_trace *trace, const double *before,
                      double iterations, double more, double parts) {
    for (size_t s = 0; s < j->frequencies->structure->n_scopes; s++) {
        double passes = trace->passes[s] - before[s];
        if (passes <= 0)
            continue;
        j->covered[s] += iterations * passes;
        if (parts > 0)
            j->more[s] += iterations * more * passes * cycles_of_pass(j, (uint32_t)s) / parts;
    }
}

static void trace_root(struct tracing *j, const struct root *root) {
    size_t n_scopes = j->frequencies->structure->n_scopes;
    double all = j->scopes[root->loop].iterations;
    double uncovered = all - j->covered[root->loop];
    if (uncovered < pm_sched_constants.interprocedural_uncovered * all)
        return;
    unsigned half = (unsigned)fmin(MOST_ITERATIONS, MOST_TRACED_OPS / root->size) / 2;
    half = half < LEAST_ITERATIONS / 2 ? LEAST_ITERATIONS / 2 : half;
    struct pm_step_trace trace = {.passes = pm_alloc(n_scopes, sizeof *trace.passes)};
    double *before = pm_alloc(n_scopes, sizeof *before);
    pm_tracer_begin(j->tracer, root->loop, &trace);
    for (unsigned i = 0; i < half; i++)
        pm_tracer_add(j->tracer, root->loop, &trace);
    size_t half_steps = trace.n_steps;
    for (size_t s = 0; s < n_scopes; s++)
        before[s] = trace.passes[s];
    for (unsigned i = 0; i < half; i++)
        pm_tracer_add(j->tracer, root->loop, &trace);
    double parts = cycles_of_parts(j, &trace, before);
    double iterations = uncovered / half;
    if (iterations * parts >= pm_sched_constants.interprocedural_share * j->all_cycles) {
        struct pm_trace_time time = time_of(j, &trace, half_steps);
        count_loads(j, &time, iterations / 2);
        share_out(j, &trace, before, iterations, fmax(0, time.cycles - parts), parts);
    }
    free(before);
    pm_step_trace_free(&trace);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_more(struct tracing *j) {
    for (size_t s = 0; s < j->frequencies->structure->n_scopes; s++) {
        struct pm_region_schedule *schedule = &j->schedules[s];
        double more = j->more[s];
        if (!(more > 0))
            continue;
        if (more > schedule->cycles)
            schedule->bound = PM_BOUND_LATENCY;
        schedule->cycles += more;
        schedule->causes[PM_CAUSE_WINDOW] += more;
        j->found->more_cycles += more;
    }
}

void pm_add_interprocedural_notes(const struct pm_interprocedural *found,
                                  const struct pm_target_machine *target, double all_cycles,
                                  struct pm_prediction *prediction) {
    if (found->apart_cycles > share_to_tell * all_cycles)
        pm_prediction_note_of(
            prediction, found->apart_cycles / all_cycles,
            "Loops with %.2g%% of the time in their own code call routines, or have "
            "loops in them, but have too long iterations to be followed: what goes "
            "through memory there counts as there in time.",
            100 * found->apart_cycles / all_cycles);
    if (found->more_cycles <= share_to_tell * all_cycles)
        return;
    pm_prediction_note_of(
        prediction, found->more_cycles / all_cycles,
        "%.2g%% of the time is waiting for values that pass through memory between "
        "routines, calls and iterations; %.2g%% of the loads there take what was "
        "just stored, %.2g%% of several stores at once; %.2g%% have an address that "
        "hangs on unknown values, and are taken as independent.",
        100 * found->more_cycles / all_cycles, 100 * found->forwarded / found->loads,
        100 * found->blocked / found->loads, 100 * found->unknown / found->loads);
    if (found->blocked > 0 && target->machine->store_block_cycles <= 0)
        pm_prediction_note_of(
            prediction, found->blocked / found->loads,
            "Machine file %s does not say how long a load waits for several stores "
            "(store_block_latency): until they are retired, at least.",
            target->machine->name);
}

void pm_schedule_interprocedural(const struct pm_frequencies *frequencies,
                                 const struct pm_target_machine *target,
                                 struct pm_known_paths *known,
                                 const struct pm_scope_prediction *scopes,
                                 struct pm_region_schedule *schedules,
                                 struct pm_interprocedural *found) {
    const struct pm_structure *structure = frequencies->structure;
    *found = (struct pm_interprocedural){0};
    if (structure->n_assignments == 0 || !target->machine->out_of_order)
        return;
    struct tracing j = {.frequencies = frequencies,
                        .target = target,
                        .known = known,
                        .scopes = scopes,
                        .schedules = schedules,
                        .tracer = pm_tracer_new(frequencies, scopes),
                        .covered = pm_alloc(structure->n_scopes, sizeof *j.covered),
                        .more = pm_alloc(structure->n_scopes, sizeof *j.more),
                        .found = found};
    for (size_t s = 0; s < structure->n_scopes; s++)
        j.all_cycles += schedules[s].cycles;
    find_roots(&j);
    for (size_t i = 0; i < j.n_roots; i++)
        trace_root(&j, &j.roots[i]);
    add_more(&j);
    pm_tracer_free(j.tracer);
    pm_graph_free(&j.graph);
    free(j.covered);
    free(j.more);
    free(j.roots);
}
