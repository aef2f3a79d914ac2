/* Traces: what is executed in an iteration of a loop, in order, with callees and short inner loops.

   Edge counts tell the paths of each region and how often each is taken (paths/).  A region that is
   passed several times takes its paths in turn: always the one that is most behind, so that their
   shares are right after any number of passes.  An inner loop is passed until it is the turn of a
   path that leaves it.  Loops of more than MOST_OPS operations in an entry stay a step, as in paths
   of regions; so do calls that are not known, or come back to a routine that is under way, and
   those behind MOST_OPS_OF_PASS operations of one iteration: sizes are means, a single pass may be
   longer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/interprocedural/interprocedural.h"
#include "sched/paths/paths.h"

enum { MOST_OPS = 4000, MOST_OPS_OF_PASS = 16 * MOST_OPS, MOST_DEPTH = 12 };

struct turns {
    struct pm_paths paths;
    double *behind; /* per path: passes that it should have had */
    double executions;
    bool is_made;
};

enum size_state { SIZE_NEW = 0, SIZE_BUSY, SIZE_DONE };

struct pm_tracer {
    const struct pm_frequencies *frequencies;
    const struct pm_structure *structure;
    const struct pm_scope_prediction *scopes; /* entries, iterations */
    struct pm_lists inner;                    /* by scope: loops directly in it */
    struct turns *turns;                      /* by scope */
    double *sizes;                            /* by scope: operations of a pass */
    uint8_t *states;
    uint32_t under_way[MOST_DEPTH]; /* routines */
    unsigned depth;
    size_t most_ops; /* of the trace: beyond, calls are not followed */
};

/* The loops directly in each loop, and in each routine. */
static struct pm_lists inner_loops(const struct pm_structure *structure) {
    uint32_t *outer = pm_alloc(structure->n_scopes, sizeof *outer);
    for (uint32_t i = 0; i < structure->n_scopes; i++) {
        const struct pm_scope *scope = &structure->scopes[i];
        outer[i] = PM_NONE;
        if (scope->kind != PM_SCOPE_LOOP || scope->header == PM_NONE || scope->routine == PM_NONE)
            continue;
        outer[i] = pm_outer_loop(structure, i);
        if (outer[i] == PM_NONE)
            outer[i] = structure->routines[scope->routine].scope;
    }
    struct pm_lists lists = pm_lists_by_key(outer, NULL, structure->n_scopes, structure->n_scopes);
    free(outer);
    return lists;
}

struct pm_tracer *pm_tracer_new(const struct pm_frequencies *frequencies,
                                const struct pm_scope_prediction *scopes) {
    const struct pm_structure *structure = frequencies->structure;
    struct pm_tracer *tracer = pm_alloc(1, sizeof *tracer);
    tracer->scopes = scopes;
    tracer->inner = inner_loops(structure);
    tracer->frequencies = frequencies;
    tracer->structure = structure;
    tracer->turns = pm_alloc(structure->n_scopes, sizeof *tracer->turns);
    tracer->sizes = pm_alloc(structure->n_scopes, sizeof *tracer->sizes);
    tracer->states = pm_alloc(structure->n_scopes, sizeof *tracer->states);
    return tracer;
}

void pm_tracer_free(struct pm_tracer *tracer) {
    for (size_t s = 0; s < tracer->structure->n_scopes; s++) {
        pm_paths_free(&tracer->turns[s].paths);
        free(tracer->turns[s].behind);
    }
    pm_lists_free(&tracer->inner);
    free(tracer->turns);
    free(tracer->sizes);
    free(tracer->states);
    free(tracer);
}

void pm_step_trace_free(struct pm_step_trace *trace) {
    free(trace->steps);
    free(trace->enters);
    free(trace->passes);
    *trace = (struct pm_step_trace){0};
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The first assignment of OP or an operation behind it. */
static size_t first_assignment(const struct pm_structure *s, uint32_t op) {
    return PM_LOWER_BOUND(s->n_assignments, i, s->assignments[i].op < op);
}

/* The first call of a known routine among the operations FIRST … END − 1; NULL. */
static const struct pm_assignment *next_call(const struct pm_structure *s, uint32_t first,
                                             uint32_t end) {
    for (size_t i = first_assignment(s, first); i < s->n_assignments && s->assignments[i].op < end;
         i++)
        if (s->assignments[i].place == PM_ASSIGNED_CALL && s->assignments[i].callee != PM_NONE)
            return &s->assignments[i];
    return NULL;
}

static uint32_t end_of_instruction(const struct pm_structure *s, uint32_t op, uint32_t end) {
    for (op++; op < end && !s->ops[op].instruction_start;)
        op++;
    return op;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static double passes_of(const struct pm_tracer *tracer, uint32_t region) {
    return tracer->scopes[region].iterations;
}

static double entries_of(const struct pm_tracer *tracer, uint32_t region) {
    return tracer->scopes[region].entries;
}

static double size_of(struct pm_tracer *tracer, uint32_t region);

static double size_of_entry(struct pm_tracer *tracer, uint32_t loop) {
    double entries = entries_of(tracer, loop);
    return entries > 0 ? size_of(tracer, loop) * passes_of(tracer, loop) / entries : 0;
}

static bool is_short(struct pm_tracer *tracer, uint32_t loop) {
    return size_of_entry(tracer, loop) <= MOST_OPS;
}

/* Operations of BLOCK with the routines that it calls. */
static double size_of_block(struct pm_tracer *tracer, uint32_t b) {
    const struct pm_structure *s = tracer->structure;
    const struct pm_block *block = &s->blocks[b];
    uint32_t end = block->first_op + block->n_ops;
    double size = block->n_ops;
    const struct pm_assignment *call = next_call(s, block->first_op, end);
    for (; call; call = next_call(s, call->op + 1, end))
        size += size_of(tracer, s->routines[call->callee].scope);
    return size;
}

static double size_of(struct pm_tracer *tracer, uint32_t region) {
    const struct pm_lists *regions = &tracer->frequencies->regions, *inner = &tracer->inner;
    if (tracer->states[region] == SIZE_DONE)
        return tracer->sizes[region];
    if (tracer->states[region] == SIZE_BUSY)
        return 0; /* it comes back to itself: such calls are not followed */
    tracer->states[region] = SIZE_BUSY;
    double sum = 0, passes = passes_of(tracer, region);
    for (uint32_t k = regions->first[region]; k < regions->first[region + 1]; k++) {
        double executions = tracer->frequencies->blocks[regions->items[k]];
        if (executions > 0)
            sum += executions * size_of_block(tracer, regions->items[k]);
    }
    for (uint32_t k = inner->first[region]; k < inner->first[region + 1]; k++)
        if (is_short(tracer, inner->items[k]))
            sum += entries_of(tracer, inner->items[k]) * size_of_entry(tracer, inner->items[k]);
    tracer->states[region] = SIZE_DONE;
    return tracer->sizes[region] = passes > 0 ? sum / passes : 0;
}

double pm_tracer_size(struct pm_tracer *tracer, uint32_t loop) {
    double size = size_of(tracer, loop);
    return size > 0 && size <= MOST_OPS ? size : INFINITY;
}

bool pm_tracer_is_interprocedural(struct pm_tracer *tracer, uint32_t loop) {
    const struct pm_structure *s = tracer->structure;
    const struct pm_lists *regions = &tracer->frequencies->regions;
    for (uint32_t k = regions->first[loop]; k < regions->first[loop + 1]; k++) {
        const struct pm_block *block = &s->blocks[regions->items[k]];
        const struct pm_assignment *call =
            next_call(s, block->first_op, block->first_op + block->n_ops);
        if (tracer->frequencies->blocks[regions->items[k]] > 0 && call)
            return true;
    }
    for (uint32_t k = tracer->inner.first[loop]; k < tracer->inner.first[loop + 1]; k++)
        if (entries_of(tracer, tracer->inner.items[k]) > 0 &&
            is_short(tracer, tracer->inner.items[k]))
            return true;
    return false;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static struct turns *turns_of(struct pm_tracer *tracer, uint32_t region) {
    struct turns *turns = &tracer->turns[region];
    if (turns->is_made)
        return turns;
    turns->is_made = true;
    pm_paths_of_region(tracer->frequencies, region, &turns->paths);
    turns->behind = pm_alloc(turns->paths.n_items, sizeof *turns->behind);
    for (size_t i = 0; i < turns->paths.n_items; i++)
        turns->executions += turns->paths.items[i].executions;
    return turns;
}

/* The path whose turn it is, with RETURNING among those that return only; NULL: no path is known.
 */
static const struct pm_region_path *next_path(struct turns *turns, bool returning) {
    size_t best = turns->paths.n_items;
    double sum = 0;
    for (size_t i = 0; i < turns->paths.n_items; i++)
        if (!returning || turns->paths.items[i].returns)
            sum += turns->paths.items[i].executions;
    for (size_t i = 0; i < turns->paths.n_items; i++) {
        if (returning && !turns->paths.items[i].returns)
            continue;
        turns->behind[i] += turns->paths.items[i].executions / sum;
        if (best == turns->paths.n_items || turns->behind[i] > turns->behind[best])
            best = i;
    }
    if (best == turns->paths.n_items)
        return NULL;
    turns->behind[best] -= 1;
    return &turns->paths.items[best];
}

static void push_step(struct pm_step_trace *trace, struct pm_path_step step, bool enters) {
    *PM_PUSH(trace, steps) = step;
    *PM_PUSH(trace, enters) = enters;
}

static bool add_pass(struct pm_tracer *tracer, uint32_t region, bool returning,
                     struct pm_step_trace *trace);

static bool can_be_entered(const struct pm_tracer *tracer, uint32_t routine,
                           const struct pm_step_trace *trace) {
    for (unsigned d = 0; d < tracer->depth; d++)
        if (tracer->under_way[d] == routine)
            return false;
    return tracer->depth < MOST_DEPTH && trace->n_ops < tracer->most_ops &&
           passes_of(tracer, tracer->structure->routines[routine].scope) > 0;
}

static void add_block(struct pm_tracer *tracer, uint32_t b, struct pm_step_trace *trace) {
    const struct pm_structure *s = tracer->structure;
    const struct pm_block *block = &s->blocks[b];
    uint32_t first = block->first_op, end = block->first_op + block->n_ops;
    trace->n_ops += block->n_ops;
    const struct pm_assignment *call = next_call(s, first, end);
    for (; call; call = next_call(s, call->op + 1, end)) {
        uint32_t callee = call->callee;
        if (!can_be_entered(tracer, callee, trace))
            continue;
        uint32_t behind = end_of_instruction(s, call->op, end);
        push_step(trace,
                  (struct pm_path_step){
                      .block = b, .loop = PM_NONE, .first_op = first, .n_ops = behind - first},
                  true);
        first = behind;
        tracer->under_way[tracer->depth++] = callee;
        add_pass(tracer, s->routines[callee].scope, false, trace);
        tracer->depth--;
    }
    if (first < end)
        push_step(trace,
                  (struct pm_path_step){
                      .block = b, .loop = PM_NONE, .first_op = first, .n_ops = end - first},
                  false);
}

/* An entry of an inner loop: passes until one leaves. */
static void add_loop(struct pm_tracer *tracer, uint32_t loop, struct pm_step_trace *trace) {
    size_t first = trace->n_ops;
    if (!is_short(tracer, loop) || tracer->structure->scopes[loop].header == PM_NONE) {
        push_step(trace, (struct pm_path_step){.block = PM_NONE, .loop = loop}, false);
        return;
    }
    while (trace->n_ops - first < 2 * MOST_OPS && add_pass(tracer, loop, false, trace))
        ;
}

/* True: it came back to the header. */
static bool add_pass(struct pm_tracer *tracer, uint32_t region, bool returning,
                     struct pm_step_trace *trace) {
    const struct turns *turns = turns_of(tracer, region);
    const struct pm_region_path *path = next_path(&tracer->turns[region], returning);
    if (!path)
        return false;
    bool returns = path->returns;
    trace->passes[region]++;
    for (uint32_t i = path->first_step; i < path->first_step + path->n_steps; i++)
        if (turns->paths.steps[i].block != PM_NONE)
            add_block(tracer, turns->paths.steps[i].block, trace);
        else
            add_loop(tracer, turns->paths.steps[i].loop, trace);
    return returns;
}

/* What stands before LOOP on the most frequent path of REGION that has it as a step. */
static void add_way_to(struct pm_tracer *tracer, uint32_t region, uint32_t loop,
                       struct pm_step_trace *trace) {
    const struct pm_paths *paths = &turns_of(tracer, region)->paths;
    for (size_t i = 0; i < paths->n_items; i++) {
        const struct pm_path_step *steps = &paths->steps[paths->items[i].first_step];
        uint32_t n = 0;
        while (n < paths->items[i].n_steps && steps[n].loop != loop)
            n++;
        if (n == paths->items[i].n_steps)
            continue;
        for (uint32_t k = 0; k < n; k++)
            push_step(trace, steps[k], false);
        return;
    }
}

void pm_tracer_begin(struct pm_tracer *tracer, uint32_t loop, struct pm_step_trace *trace) {
    const struct pm_structure *s = tracer->structure;
    uint32_t around[MOST_DEPTH], n = 0;
    around[n++] = loop;
    while (n + 1 < MOST_DEPTH && pm_outer_loop(s, around[n - 1]) != PM_NONE) {
        around[n] = pm_outer_loop(s, around[n - 1]);
        n++;
    }
    around[n++] = s->routines[s->scopes[loop].routine].scope;
    while (--n > 0)
        add_way_to(tracer, around[n], around[n - 1], trace);
    trace->n_before = trace->n_steps;
}

void pm_tracer_add(struct pm_tracer *tracer, uint32_t loop, struct pm_step_trace *trace) {
    tracer->depth = 0;
    tracer->most_ops = trace->n_ops + MOST_OPS_OF_PASS;
    tracer->under_way[tracer->depth++] = tracer->structure->scopes[loop].routine;
    add_pass(tracer, loop, true, trace);
}
