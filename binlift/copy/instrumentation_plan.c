/* The instrumentation plan: which code moves, which references are recorded, which routines are
   counted, which scopes have probes.  It follows from the lifted program and from the options
   alone, before any new code is made.

   A routine moves if all of it is known to be code that works elsewhere too, if nothing reads its
   instructions as data where control may arrive, and if the options leave something to be measured
   in it.  Whatever moves is counted, and recorded, but for routines and kinds of measurement that
   the options leave out. */
#include "binlift/bound/bound.h"
#include "binlift/copy/private.h"

#include <stdlib.h>

static bool can_move(const struct pm_lifted *lifted, uint32_t r) {
    const struct pm_routine *routine = &lifted->structure->routines[r];
    const struct pm_routine_code *code = &lifted->routine_codes[r];
    if (routine->state == PM_ROUTINE_REFUSED || !routine->n_blocks || !code->n_insns)
        return false;
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
        if (lifted->insns[k].uses_unsupported)
            return false;
    return true;
}

/* Of the nests of lower bounds, with what they call. */
static void mark_nests(const struct pm_lifted *lifted, const struct pm_bound_plan *bounds,
                       bool *has_nest) {
    for (size_t i = 0; bounds && i < bounds->n_blocks; i++)
        has_nest[lifted->structure->blocks[bounds->blocks[i]].routine] = true;
}

static void choose_routines(const struct pm_lifted *lifted, struct pm_instrumentation_plan *plan) {
    const struct pm_instrument_options *options = plan->options;
    size_t n = lifted->structure->n_routines;
    bool *has_nest = pm_alloc(n, sizeof *has_nest);
    plan->moves = pm_alloc(n, sizeof *plan->moves);
    mark_nests(lifted, options->bounds, has_nest);
    for (uint32_t r = 0; r < n; r++)
        plan->moves[r] = can_move(lifted, r) &&
                         (plan->probes->has_probe[r] || !options->only_probed || has_nest[r]) &&
                         !(options->left_out && options->left_out[r]);
    free(has_nest);
    pm_find_read_bytes(lifted, plan);
}

static void choose_measurements(const struct pm_lifted *lifted,
                                struct pm_instrumentation_plan *plan) {
    const struct pm_instrument_options *options = plan->options;
    size_t n = lifted->structure->n_routines;
    plan->records = pm_alloc(n, sizeof *plan->records);
    plan->counted = pm_alloc(n, sizeof *plan->counted);
    plan->analysed = pm_alloc(n, sizeof *plan->analysed);
    for (size_t r = 0; r < n; r++) {
        bool analysed = plan->moves[r] && !(options->not_recorded && options->not_recorded[r]);
        plan->analysed[r] = analysed;
        plan->records[r] = analysed && options->memory_records;
        plan->counted[r] =
            analysed && !options->no_counters && plan->counters->routines[r].n_counters > 0;
    }
}

static void choose_references(const struct pm_lifted *lifted,
                              struct pm_instrumentation_plan *plan) {
    const struct pm_structure *structure = lifted->structure;
    plan->recorded = pm_alloc(structure->n_references, sizeof *plan->recorded);
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block_code *code = &lifted->block_codes[b];
        if (!plan->block_moves[b] || !plan->records[structure->blocks[b].routine])
            continue;
        for (uint32_t r = lifted->insn_references[code->first_insn];
             r < lifted->insn_references[code->first_insn + code->n_insns]; r++)
            plan->recorded[r] = true;
    }
}

static void choose_scope_flags(const struct pm_structure *structure,
                               struct pm_instrumentation_plan *plan) {
    plan->scope_flags = pm_alloc(structure->n_scopes, sizeof *plan->scope_flags);
    for (size_t s = 0; s < structure->n_scopes; s++)
        if (plan->probes->probed[s] && plan->moves[structure->scopes[s].routine])
            plan->scope_flags[s] = plan->options->scope_events[s] | PM_PROBE_SCOPE_PROBED;
}

struct pm_instrumentation_plan *
pm_plan_instrumentation(const struct pm_lifted *lifted,
                        const struct pm_instrument_options *options) {
    struct pm_instrumentation_plan *plan = pm_alloc(1, sizeof *plan);
    plan->options = options;
    plan->counters = lifted->counters;
    plan->probes = pm_plan_probes(lifted, options->scope_events, !options->no_counters);
    choose_routines(lifted, plan);
    pm_find_moving_blocks(lifted, plan);
    if (options->calls_move)
        pm_find_moving_calls(lifted, plan);
    choose_measurements(lifted, plan);
    choose_references(lifted, plan);
    pm_find_branches(lifted, plan);
    choose_scope_flags(lifted->structure, plan);
    return plan;
}

void pm_instrumentation_plan_free(struct pm_instrumentation_plan *plan) {
    if (!plan)
        return;
    pm_probe_plan_free(plan->probes);
    free(plan->moves);
    free(plan->block_moves);
    free(plan->call_moves);
    pm_unwinding_free(plan->unwinding);
    free(plan->analysed);
    free(plan->records);
    free(plan->recorded);
    free(plan->branch_of);
    free(plan->branches);
    free(plan->counted);
    free(plan->scope_flags);
    free(plan->read_bytes);
    free(plan);
}

void pm_mark_instrumented(struct pm_structure *structure,
                          const struct pm_instrumentation_plan *plan) {
    for (size_t r = 0; r < structure->n_references; r++)
        structure->references[r].recorded = plan->recorded[r];
    for (size_t r = 0; r < structure->n_routines; r++)
        structure->routines[r].counted = plan->counted[r];
}
