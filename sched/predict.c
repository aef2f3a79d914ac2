/* The mapping stage as a list of passes; see sched/README.md for the model.

       cycles(scope) = schedule + what misses add (scope_memory.c)

   (Marin & Mellor-Crummey 2004, sections 2.4 and 3.2); the schedule of a loop's own body, and of a
   routine's code outside loops, is that of its paths (regions.c).  What holds paths back is worked
   out where a region has a share of the time that anybody looks at. */
#include "sched/cores/cores.h"
#include "sched/constants.h"
#include "sched/interprocedural/interprocedural.h"
#include "sched/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "fit/sets/sets.h"
#include "sched/signature/signature.h"

struct mapping {
    const struct pm_structure *structure;
    const struct pm_machine *machine;
    const struct pm_profile *profile;
    struct pm_target_machine target;
    struct pm_known_paths *known; /* not owned */
    struct pm_frequencies frequencies;
    struct pm_region_schedule *schedules; /* of regions, by scope */
    struct pm_group_misses *groups;       /* by group */
    double *prefetched;                   /* misses by scope and level */
    struct pm_signature signature;        /* PM_TIME_SIGNATURE, and with it: */
    struct pm_patterns *patterns;         /* by scope; else NULL */
    double *executions;                   /* of the rows of costs, in all */
    struct pm_interprocedural interprocedural;
    double split_operations;
    bool pessimistic, simple, without_causes, with_gains;
    bool *is_light;     /* [scope]: regions that are not simulated … */
    size_t n_light;     /* … so many … */
    double light_share; /* … with this share of all operations */
    size_t n_brief;     /* regions of which simulations are brief … */
    double brief_share; /* … with this share of all cycles */
    const struct pm_dumping *dumping;
};

static struct pm_prediction *new_prediction(const struct pm_structure *structure,
                                            const struct pm_profile *profile,
                                            const struct pm_machine *machine) {
    struct pm_prediction *p = pm_alloc(1, sizeof *p);
    p->parameters = profile->parameters;
    p->program = pm_strdup(structure->n_modules ? structure->modules[0].name : "");
    p->machine_title = machine->changes ? pm_sprintf("%s with %s", machine->title, machine->changes)
                                        : pm_strdup(machine->title);
    p->machine_name = pm_strdup(machine->name);
    p->clock_hz = machine->clock_hz;
    p->predicted = profile->predicted;
    p->extrapolation = profile->extrapolation;
    p->below_measured = profile->below_measured;
    p->relative_error = profile->relative_error;
    p->without_memory = pm_profile_is_without_memory(profile);
    p->n_levels = machine->n_levels;
    for (size_t i = 0; i < machine->n_levels; i++) {
        p->level_names[i] = pm_strdup(machine->levels[i].name);
        p->level_kinds[i] = machine->levels[i].kind;
        p->level_block_bytes[i] = machine->levels[i].block_bytes;
        p->level_interpolated_from[i] =
            pm_profile_interpolated_from(profile, machine->levels[i].block_bytes);
    }
    p->n_units = machine->n_units;
    for (size_t i = 0; i < machine->n_units; i++)
        p->unit_names[i] = pm_strdup(machine->units[i].name);
    p->n_scopes = structure->n_scopes;
    p->scopes = pm_alloc(structure->n_scopes, sizeof *p->scopes);
    return p;
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool is_region(const struct mapping *m, uint32_t scope) {
    return m->frequencies.regions.first[scope] < m->frequencies.regions.first[scope + 1];
}

struct weighed_region {
    uint32_t region;
    double operations;
};

static int compare_operations(const void *left, const void *right) {
    const struct weighed_region *a = left, *b = right;
    return a->operations != b->operations ? PM_COMPARE(a->operations, b->operations)
                                          : PM_COMPARE(a->region, b->region);
}

/* Finds the regions that have hardly any operations, all together. */
static void find_light_regions(struct mapping *m) {
    const struct pm_lists *regions = &m->frequencies.regions;
    struct weighed_region *weighed = pm_alloc(m->structure->n_scopes, sizeof *weighed);
    double all = 0, light = 0;
    size_t n = 0;
    m->is_light = pm_alloc(m->structure->n_scopes, sizeof *m->is_light);
    for (uint32_t s = 0; s < m->structure->n_scopes; s++) {
        if (!is_region(m, s))
            continue;
        weighed[n].region = s;
        for (uint32_t k = regions->first[s]; k < regions->first[s + 1]; k++)
            weighed[n].operations += m->frequencies.blocks[regions->items[k]] *
                                     m->structure->blocks[regions->items[k]].n_ops;
        all += weighed[n++].operations;
    }
    PM_SORT(weighed, n, compare_operations);
    for (size_t i = 0; i < n; i++) {
        light += weighed[i].operations;
        if (light > pm_sched_constants.share_not_scheduled * all)
            break;
        m->is_light[weighed[i].region] = true;
        m->n_light += weighed[i].operations > 0;
        m->light_share = all > 0 ? light / all : 0;
    }
    free(weighed);
}

static struct pm_region_request request_of(const struct mapping *m, uint32_t region,
                                           const struct pm_scope_prediction *scopes) {
    return (struct pm_region_request){.frequencies = &m->frequencies,
                                      .target = &m->target,
                                      .known = m->known,
                                      .profile = m->profile,
                                      .region = region,
                                      .entries = scopes[region].entries,
                                      .pessimistic = m->pessimistic,
                                      .is_light = m->is_light[region],
                                      .without_wrong = true};
}

/* Schedules REGION, which takes SHARE of all cycles as far as they are known, as that asks for. */
static void schedule_again(struct mapping *m, uint32_t region,
                           const struct pm_scope_prediction *scopes, double share) {
    struct pm_region_request request = request_of(m, region, scopes);
    struct pm_region_schedule *schedule = &m->schedules[region];
    request.without_wrong = m->is_light[region] || share < pm_sched_constants.share_with_wrong;
    request.is_brief = !request.without_wrong && share < pm_sched_constants.share_in_full;
    m->n_brief += request.is_brief;
    m->brief_share += request.is_brief ? share : 0;
    if (!request.without_wrong && !m->without_causes) {
        request.with_causes = !request.is_brief;
        request.with_gains = m->with_gains && !request.is_brief;
    }
    request.dumping = m->dumping;
    if (!request.without_wrong || m->dumping)
        pm_schedule_region(&request, schedule);
    if (!request.with_gains)
        for (unsigned c = 0; c < PM_N_CAUSES; c++)
            schedule->gains[c] = NAN;
}

static void schedule_regions(struct mapping *m, const struct pm_scope_prediction *scopes) {
    double all_cycles = 0;
    find_light_regions(m);
    for (uint32_t s = 0; s < m->structure->n_scopes; s++)
        if (is_region(m, s)) {
            struct pm_region_request request = request_of(m, s, scopes);
            pm_schedule_region(&request, &m->schedules[s]);
            all_cycles += m->schedules[s].cycles;
        }
    for (uint32_t s = 0; s < m->structure->n_scopes; s++)
        if (is_region(m, s))
            schedule_again(m, s, scopes, all_cycles > 0 ? m->schedules[s].cycles / all_cycles : 0);
    pm_schedule_interprocedural(&m->frequencies, &m->target, m->known, scopes, m->schedules,
                                &m->interprocedural);
    pm_dump_regions(m->dumping, &m->frequencies, m->schedules);
}

/* A region's schedule, to the scopes of its basic blocks by their WEIGHTS, shares of issue slots:
   inlined code is scheduled with its surroundings, but reported by itself. */
static void share_out(const struct mapping *m, uint32_t region, const double *weights,
                      double all_weights, struct pm_scope_prediction *scopes) {
    const struct pm_lists *regions = &m->frequencies.regions;
    const struct pm_region_schedule *schedule = &m->schedules[region];
    uint32_t first = regions->first[region];
    for (uint32_t k = first; k < regions->first[region + 1] && all_weights > 0; k++) {
        struct pm_cost_sum *self = &scopes[m->structure->blocks[regions->items[k]].scope].self;
        double share = weights[k - first] / all_weights;
        for (unsigned c = 0; c < PM_N_CAUSES; c++)
            self->causes[c] += share * schedule->causes[c];
        self->schedule_cycles += share * schedule->cycles;
        self->mispredictions += share * schedule->mispredictions;
        self->assumed_mispredictions += share * schedule->assumed_mispredictions;
    }
}

/* What the own code of REGION executes, and its schedule's cycles. */
static void add_region(struct mapping *m, uint32_t region, double *executions,
                       struct pm_scope_prediction *scopes) {
    const struct pm_lists *regions = &m->frequencies.regions;
    uint32_t first = regions->first[region], end = regions->first[region + 1];
    struct pm_demand demand = {.executions = executions};
    memset(executions, 0, m->machine->n_costs * sizeof *executions);
    double *weights = pm_alloc(end - first, sizeof *weights), all_weights = 0;
    for (uint32_t k = first; k < end; k++) {
        uint32_t b = regions->items[k];
        double count = m->frequencies.blocks[b];
        if (count <= 0)
            continue;
        struct pm_demand before = demand;
        pm_demand_add_block(&m->target, b, count, &demand);
        struct pm_cost_sum *self = &scopes[m->structure->blocks[b].scope].self;
        self->instructions += count * m->structure->blocks[b].n_instructions;
        self->operations += demand.operations - before.operations;
        self->unknown_operations += demand.unknown_operations - before.unknown_operations;
        weights[k - first] = demand.slots - before.slots;
        all_weights += weights[k - first];
    }
    m->split_operations += demand.split_operations;
    for (size_t i = 0; i < m->machine->n_costs; i++)
        m->executions[i] += executions[i];

    const struct pm_region_schedule *schedule = &m->schedules[region];
    struct pm_scope_prediction *p = &scopes[region];
    memcpy(p->gains, schedule->gains, sizeof p->gains);
    p->is_assumed = schedule->is_assumed;
    if (m->structure->scopes[region].kind == PM_SCOPE_LOOP && p->iterations > 0) {
        p->resource_cycles_per_iteration = schedule->resource_cycles;
        p->recurrence_cycles_per_iteration = schedule->recurrence_cycles;
    }
    share_out(m, region, weights, all_weights, scopes);
    free(weights);
}

/* Executed calls of code that is not measured. */
static void count_calls_out(const struct mapping *m, struct pm_scope_prediction *scopes) {
    const struct pm_structure *structure = m->structure;
    bool *is_measured = pm_imports_measured(structure);
    size_t next = 0, next_import = 0;
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        double calls = 0;
        for (uint32_t op = block->first_op; op < block->first_op + block->n_ops; op++)
            calls += structure->ops[op].op_class == PM_OP_CALL;
        for (; next < structure->n_calls && structure->calls[next].block <= b; next++)
            calls -= structure->calls[next].block == b;
        for (; next_import < structure->n_imports && structure->imports[next_import].block <= b;
             next_import++)
            calls -= is_measured[next_import];
        if (calls > 0)
            scopes[block->scope].self.calls_out += calls * m->frequencies.blocks[b];
    }
    free(is_measured);
}

/* ---- the bound ------------------------------------------------------------------------------- */

/* The largest cause of a scope's own cycles. */
static void name_bound(const struct mapping *m, struct pm_scope_prediction *p) {
    const struct pm_cost_sum *self = &p->self;
    if (self->operations <= 0 && self->cycles <= 0)
        return;
    if (2 * self->unknown_operations > self->operations) {
        p->bound = PM_BOUND_UNKNOWN;
        return;
    }
    uint32_t region = pm_own_scope(m->structure, p->scope);
    double largest = self->schedule_cycles;
    if (region != PM_NONE) {
        p->bound = m->schedules[region].bound;
        p->bound_unit = m->schedules[region].unit;
    }
    for (size_t l = 0; l < m->machine->n_levels; l++) {
        if (!(self->level_cycles[l] > largest)) /* perhaps not known */
            continue;
        largest = self->level_cycles[l];
        p->bound = PM_BOUND_LEVEL;
        p->bound_level = (uint8_t)l;
    }
    if (self->causes[PM_CAUSE_BANDWIDTH] > largest) {
        largest = self->causes[PM_CAUSE_BANDWIDTH];
        p->bound = PM_BOUND_BANDWIDTH;
    }
    if (self->causes[PM_CAUSE_FIRST_TOUCHES] > largest)
        p->bound = PM_BOUND_FIRST_TOUCHES;
}

static double schedule_cycles(const struct pm_prediction *prediction) {
    double cycles = 0;
    for (size_t s = 0; s < prediction->n_scopes; s++)
        cycles += prediction->scopes[s].self.schedule_cycles;
    return cycles;
}

static bool check_inputs(const struct pm_structure *structure, const struct pm_profile *profile,
                         const struct pm_machine *machine, struct pm_error *err) {
    if (!pm_sched_constants_read(err))
        return false;
    if (profile->n_edges != structure->n_edges)
        return pm_fail(err,
                       "the profile has %zu edges, the program's structure %zu: they belong to "
                       "different builds; run `pmodel run` again",
                       profile->n_edges, structure->n_edges);
    for (size_t i = 0; i < profile->n_histograms; i++)
        if (profile->histograms[i].group >= structure->n_groups)
            return pm_fail(err,
                           "the profile has a histogram of reference group %u, which the "
                           "program's structure does not have; run `pmodel run` again",
                           (unsigned)profile->histograms[i].group);
    return pm_profile_is_without_memory(profile) || pm_check_block_sizes(profile, machine, err);
}

/* Of which nothing but the costs of SCOPES is read. */
static struct pm_prediction *as_costed(const struct pm_structure *structure,
                                       const struct pm_profile *profile,
                                       const struct pm_machine *machine,
                                       const struct pm_scope_prediction *scopes) {
    struct pm_prediction *prediction = new_prediction(structure, profile, machine);
    memcpy(prediction->scopes, scopes, prediction->n_scopes * sizeof *scopes);
    prediction->seconds = scopes[0].total.cycles / machine->clock_hz;
    return prediction;
}

/* An end of intervals, of which nothing but the costs of scopes is read. */
static struct pm_prediction *predict_end(const struct pm_structure *structure,
                                         const struct pm_profile *profile,
                                         const struct pm_machine *machine,
                                         const struct pm_predict_options *options) {
    struct pm_prediction *prediction = new_prediction(structure, profile, machine);
    pm_predict_end(structure, profile, machine, options, prediction->scopes);
    prediction->seconds = prediction->scopes[0].total.cycles / machine->clock_hz;
    return prediction;
}

/* On one core, with paths that are known. */
static struct pm_prediction *predict_one(const struct pm_structure *structure,
                                         const struct pm_profile *profile,
                                         const struct pm_machine *machine,
                                         const struct pm_predict_options *o, struct pm_error *err) {
    if (o->scopes && o->without_doubts && o->without_spreads)
        return as_costed(structure, profile, machine, o->scopes);
    if (o->estimate)
        return predict_end(structure, profile, machine, o);
    struct mapping m = {.structure = structure,
                        .machine = machine,
                        .profile = profile,
                        .target = pm_target_of(structure, machine),
                        .known = o->known,
                        .pessimistic = o->dependences == PM_DEPS_PESSIMISTIC,
                        .simple = o->time == PM_TIME_SIMPLE,
                        .without_causes = o->without_causes,
                        .with_gains = o->with_gains,
                        .dumping = o->dumping};
    if (o->time == PM_TIME_SIGNATURE && !pm_signature_make(machine, &m.signature, err))
        return NULL;
    pm_dump_profile(m.dumping, profile, machine);
    pm_profile_frequencies(structure, profile, machine, &m.frequencies);
    m.schedules = pm_alloc(structure->n_scopes, sizeof *m.schedules);
    m.executions = pm_alloc(machine->n_costs, sizeof *m.executions);
    m.groups = pm_alloc(structure->n_groups, sizeof *m.groups);
    double *executions = pm_alloc(machine->n_costs, sizeof *executions);

    struct pm_prediction *prediction = new_prediction(structure, profile, machine);
    pm_count_entries(&m.frequencies, prediction->scopes);
    pm_dump_frequencies(m.dumping, &m.frequencies, prediction->scopes);
    schedule_regions(&m, prediction->scopes);
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        if (is_region(&m, s))
            add_region(&m, s, executions, prediction->scopes);
    count_calls_out(&m, prediction->scopes);
    double **own_misses =
        o->misses ? NULL : pm_set_misses_of_levels(structure, profile, NULL, machine);
    double *const *misses = o->misses ? o->misses : own_misses;
    pm_count_misses(&m.frequencies, profile, misses, machine, prediction->scopes, m.groups);
    pm_dump_misses(m.dumping, machine, m.groups);
    m.prefetched = pm_prefetched_misses(structure, machine, m.groups);
    if (o->time == PM_TIME_SIGNATURE && !pm_profile_is_without_memory(profile))
        m.patterns = pm_patterns_of_scopes(&m.frequencies, profile, m.groups, &m.signature);
    const struct pm_mapped mapped = {.frequencies = &m.frequencies,
                                     .profile = profile,
                                     .target = &m.target,
                                     .known = m.known,
                                     .schedules = m.schedules,
                                     .executions = m.executions,
                                     .groups = m.groups,
                                     .prefetched = m.prefetched,
                                     .signature = &m.signature,
                                     .patterns = m.patterns,
                                     .all_cycles = schedule_cycles(prediction),
                                     .pessimistic = m.pessimistic,
                                     .simple = m.simple};
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        pm_add_memory_cycles(&mapped, &prediction->scopes[s]);
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        name_bound(&m, &prediction->scopes[s]);
    pm_add_totals(structure, prediction->scopes);
    prediction->level = pm_heuristics.interval_level;
    prediction->is_signature = m.patterns != NULL;
    prediction->is_synthesised = m.patterns && m.signature.is_synthesised;
    prediction->is_simple = !prediction->is_signature && (m.simple || !machine->out_of_order);
    prediction->seconds = prediction->scopes[0].total.cycles / machine->clock_hz;
    if (!o->without_doubts)
        pm_find_doubts(&mapped, prediction);
    if (!o->without_spreads) {
        pm_add_spreads(&mapped, prediction);
        pm_add_totals(structure, prediction->scopes);
    }
    if (o->scopes) {
        memcpy(prediction->scopes, o->scopes, prediction->n_scopes * sizeof *o->scopes);
        prediction->seconds = prediction->scopes[0].total.cycles / machine->clock_hz;
    }
    pm_dump_costs(m.dumping, prediction);
    pm_add_interprocedural_notes(&m.interprocedural, &m.target, prediction->scopes[0].total.cycles,
                                 prediction);
    if (m.n_light)
        pm_prediction_note(prediction,
                           "%zu loops and routines, with %.2g%% of the operations together, take "
                           "the largest of their bounds: they were not simulated",
                           m.n_light, 100 * m.light_share);
    if (m.n_brief)
        pm_prediction_note(prediction,
                           "%zu loops and routines, with less than %g%% of the cycles each and "
                           "%.2g%% together, were simulated for fewer iterations than others",
                           m.n_brief, 100 * pm_sched_constants.share_in_full, 100 * m.brief_share);
    pm_add_notes(&m.frequencies, profile, misses, &m.target, m.split_operations, prediction);
    if (own_misses)
        pm_set_misses_free(own_misses, machine->n_levels);

    free(executions);
    free(m.schedules);
    free(m.is_light);
    free(m.executions);
    free(m.prefetched);
    free(m.groups);
    free(m.patterns);
    pm_signature_free(&m.signature);
    pm_frequencies_free(&m.frequencies);
    return prediction;
}

struct pm_prediction *pm_predict(const struct pm_structure *structure,
                                 const struct pm_profile *profile, const struct pm_machine *machine,
                                 const struct pm_predict_options *options, struct pm_error *err) {
    struct pm_predict_options o = options ? *options : (struct pm_predict_options){0};
    if (!check_inputs(structure, profile, machine, err))
        return NULL;
    struct pm_known_paths *own = o.known ? NULL : pm_known_paths_new(NULL);
    if (own)
        o.known = own;
    struct pm_prediction *prediction = profile->n_threads > 1
                                           ? pm_predict_cores(structure, profile, machine, &o, err)
                                           : predict_one(structure, profile, machine, &o, err);
    pm_known_paths_free(own);
    return prediction;
}

/* PROFILE's prediction takes the ends of its intervals from those of ENDS, which have no doubts of
   their own.  MISSES: of all three, one after the other; NULL: each finds its own. */
static struct pm_prediction *
predict_all(const struct pm_structure *structure, const struct pm_profile *profile,
            struct pm_profile *const ends[2], const struct pm_machine *machine,
            const struct pm_predict_options *options, double *const *misses, struct pm_error *err) {
    const struct pm_profile *of[] = {profile, ends[0], ends[1]};
    struct pm_prediction *predictions[3] = {0};
    struct pm_predict_options o = *options;
    double *rest[PM_MAX_LEVELS];
    size_t first = 0;
    bool ok = true;
    o.threads_misses = profile->n_threads > 1 ? pm_threads_misses_new(profile, ends) : NULL;
    for (int i = 0; i < 3 && ok; first += of[i++]->n_histograms) {
        for (size_t l = 0; misses && l < machine->n_levels; l++)
            rest[l] = misses[l] + first;
        o.misses = misses ? rest : NULL;
        ok = (predictions[i] = pm_predict(structure, of[i], machine, &o, err)) != NULL;
        o.without_doubts = o.without_causes = o.without_spreads = true;
        o.dumping = NULL;
        o.estimate = ok ? predictions[0]->scopes : NULL;
    }
    pm_threads_misses_free(o.threads_misses);
    if (ok) {
        pm_prediction_take_ends(predictions[0], predictions[1], predictions[2]);
        pm_note_wide_interval(structure, predictions[0]);
    } else {
        pm_prediction_free(predictions[0]);
        predictions[0] = NULL;
    }
    pm_prediction_free(predictions[1]);
    pm_prediction_free(predictions[2]);
    return predictions[0];
}

struct pm_prediction *
pm_predict_between(const struct pm_structure *structure, const struct pm_profile *profile,
                   struct pm_profile *const ends[2], const struct pm_machine *machine,
                   const struct pm_predict_options *options, struct pm_error *err) {
    struct pm_predict_options o = options ? *options : (struct pm_predict_options){0};
    if (!ends || !ends[0] || !ends[1])
        return pm_predict(structure, profile, machine, options, err);
    if (!check_inputs(structure, profile, machine, err))
        return NULL;
    struct pm_known_paths *own = o.known ? NULL : pm_known_paths_new(NULL);
    if (own)
        o.known = own;
    const bool has_misses = o.misses || profile->n_threads > 1;
    double **own_misses =
        has_misses ? NULL : pm_set_misses_of_levels(structure, profile, ends, machine);
    struct pm_prediction *prediction =
        predict_all(structure, profile, ends, machine, &o, own_misses ? own_misses : o.misses, err);
    if (own_misses)
        pm_set_misses_free(own_misses, machine->n_levels);
    pm_known_paths_free(own);
    return prediction;
}
