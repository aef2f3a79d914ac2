/* Predicted beside measured seconds; see times.h.

   A timer holds what its scope does until another scope with a timer is entered, in whatever
   routine.  So the cost of a routine without a timer is passed to its callers,

       cost to caller c = cost · calls by c / calls by all callers that are known,

   again and again, since a caller may have no timer either.  What is left after MOST_PASSES (of
   routines that only call each other, or are called through pointers alone) is in no nest. */
#include "fit/analysis/predicted_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct passing {
    const struct pm_structure *structure;
    const struct pm_prediction *prediction;
    const uint32_t *owners;         /* of scopes: the scope with the timer */
    double *executed;               /* of basic blocks */
    struct pm_cost_sum *of_scope;   /* what its timer holds, by scope */
    struct pm_cost_sum *of_routine; /* what no timer of its own holds */
    struct pm_cost_sum untimed;
};

/* ---- the cost of each scope ------------------------------------------------------------------ */

static const struct pm_cost_sum *own_cost(const struct passing *p, uint32_t scope) {
    return &p->prediction->scopes[scope].self;
}

/* Where what SCOPE costs is at first. */
static struct pm_cost_sum *holder(const struct passing *p, uint32_t scope) {
    uint32_t owner = p->owners[scope], routine = p->structure->scopes[scope].routine;
    if (owner != PM_NONE)
        return &p->of_scope[owner];
    return routine < p->structure->n_routines ? &p->of_routine[routine] : NULL;
}

static void place_own_costs(struct passing *p) {
    for (uint32_t scope = 0; scope < p->structure->n_scopes; scope++) {
        struct pm_cost_sum *to = holder(p, scope);
        pm_cost_sum_add(to ? to : &p->untimed, own_cost(p, scope));
    }
}

/* ---- from routines to their callers ---------------------------------------------------------- */

/* But of routines by themselves. */
static struct pm_known_calls find_known_calls(const struct passing *p) {
    struct pm_known_calls known = pm_known_calls_find(p->structure, p->executed);
    size_t n = 0;
    for (size_t i = 0; i < known.n_items; i++)
        if (p->structure->blocks[known.items[i].block].routine != known.items[i].routine)
            known.items[n++] = known.items[i];
    known.n_items = n;
    return known;
}

static double *count_known_calls(const struct passing *p, const struct pm_known_calls *known) {
    double *calls = pm_alloc(p->structure->n_routines, sizeof *calls);
    for (size_t i = 0; i < known->n_items; i++)
        calls[known->items[i].routine] += p->executed[known->items[i].block];
    return calls;
}

static void pass_to_callers(struct passing *p) {
    enum { MOST_PASSES = 64 };
    const struct pm_structure *structure = p->structure;
    struct pm_known_calls known = find_known_calls(p);
    double *calls = count_known_calls(p, &known);
    struct pm_cost_sum *passed = pm_alloc(structure->n_routines, sizeof *passed);
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        memcpy(passed, p->of_routine, structure->n_routines * sizeof *passed);
        for (size_t r = 0; r < structure->n_routines; r++)
            if (calls[r] > 0)
                p->of_routine[r] = (struct pm_cost_sum){0};
        for (size_t i = 0; i < known.n_items; i++) {
            const struct pm_call *call = &known.items[i];
            double executed = p->executed[call->block];
            if (executed > 0)
                pm_cost_sum_add_share(holder(p, structure->blocks[call->block].scope),
                                      &passed[call->routine], executed / calls[call->routine]);
        }
    }
    for (size_t r = 0; r < structure->n_routines; r++)
        pm_cost_sum_add(&p->untimed, &p->of_routine[r]);
    free(passed);
    free(calls);
    free(known.items);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

static void set_predicted(struct pm_time_row *row, const struct passing *p,
                          const struct pm_cost_sum *cost) {
    const struct pm_prediction *prediction = p->prediction;
    double hz = prediction->clock_hz;
    row->predicted = pm_estimate_scaled(pm_cycles_between(cost), 1 / hz);
    row->lower = cost->lower_cycles / hz;
    row->upper = cost->upper_cycles / hz;
    row->low_by_models = (cost->cycles + cost->spread.low.cycles) / hz;
    row->high_by_models = (cost->cycles + cost->spread.high.cycles) / hz;
    row->low_schedule_by_models = (cost->schedule_cycles + cost->spread.low.schedule_cycles) / hz;
    row->below_by_machine = cost->spread.machine_below / hz;
    row->above_by_machine = cost->spread.machine_above / hz;
    row->fallback = cost->fallback_cycles / hz;
    row->missing = cost->spread.missing / hz;
    row->parts.schedule = cost->schedule_cycles / hz;
    row->parts.mispredictions = cost->causes[PM_CAUSE_MISPREDICTIONS] / hz;
    row->assumes_branches = cost->assumed_mispredictions > 0;
    row->parts.bandwidth = cost->causes[PM_CAUSE_BANDWIDTH] / hz;
    row->parts.first_touches = cost->causes[PM_CAUSE_FIRST_TOUCHES] / hz;
    for (size_t level = 0; level < prediction->n_levels; level++)
        row->parts.levels[level] = cost->level_cycles[level] / hz;
    row->unknown_share = share_of(cost->unknown_operations, cost->operations);
    row->unrecorded_share =
        share_of(cost->unrecorded_accesses, cost->accesses + cost->unrecorded_accesses);
    row->calls_out = cost->calls_out;
    row->first_touches = cost->first_touches;
}

static struct pm_time_row *add_row(struct pm_time_table *table, enum pm_time_row_kind kind,
                                   const struct pm_structure *structure, uint32_t scope,
                                   size_t n_runs) {
    struct pm_time_row *row = PM_PUSH(table, rows);
    *row = (struct pm_time_row){.kind = kind,
                                .place = {structure, scope},
                                .runs = pm_alloc(n_runs, sizeof *row->runs),
                                .n_runs = n_runs};
    return row;
}

/* Of a nest all timers that are in its row. */
static double nest_seconds(const struct pm_structure *structure, const struct pm_times *times,
                           uint32_t nest) {
    double seconds = 0;
    for (size_t i = 0; i < times->n_scopes; i++)
        if (pm_row_scope(structure, times->scopes[i].scope) == nest)
            seconds += times->scopes[i].seconds;
    return seconds;
}

static void judge(struct pm_time_row *row, double program_seconds, double least_share) {
    double measured = row->measured.estimate;
    row->share = share_of(measured, program_seconds);
    row->error = measured > 0 ? row->predicted.estimate / measured - 1 : NAN;
    row->is_large = row->kind == PM_TIME_NEST && row->share >= least_share;
    row->inside = row->predicted.low <= measured && measured <= row->predicted.high;
}

static int by_time(const void *left, const void *right) {
    const struct pm_time_row *a = left, *b = right;
    if (a->kind != b->kind)
        return PM_COMPARE(a->kind, b->kind);
    return PM_COMPARE(b->measured.estimate, a->measured.estimate);
}

static void add_nests(struct pm_time_table *table, struct passing *p,
                      const struct pm_timed_size *size) {
    const struct pm_structure *structure = p->structure;
    struct pm_cost_sum *of_nest = pm_alloc(structure->n_scopes, sizeof *of_nest);
    bool *is_nest = pm_alloc(structure->n_scopes, sizeof *is_nest);
    for (size_t i = 0; i < size->runs[0]->n_scopes; i++) {
        uint32_t scope = size->runs[0]->scopes[i].scope, nest = pm_row_scope(structure, scope);
        pm_cost_sum_add(&of_nest[nest], &p->of_scope[scope]);
        is_nest[nest] = true;
    }
    for (uint32_t nest = 0; nest < structure->n_scopes; nest++) {
        if (!is_nest[nest])
            continue;
        struct pm_time_row *row = add_row(table, PM_TIME_NEST, structure, nest, size->n_runs);
        set_predicted(row, p, &of_nest[nest]);
        for (size_t r = 0; r < size->n_runs; r++)
            row->runs[r] = nest_seconds(structure, size->runs[r], nest);
    }
    free(is_nest);
    free(of_nest);
}

static void add_total(struct pm_time_table *table, struct passing *p,
                      const struct pm_timed_size *size) {
    struct pm_cost_sum all = {0};
    for (uint32_t scope = 0; scope < p->structure->n_scopes; scope++)
        pm_cost_sum_add(&all, own_cost(p, scope));
    struct pm_time_row *program =
        add_row(table, PM_TIME_PROGRAM, p->structure, PM_NONE, size->n_runs);
    set_predicted(program, p, &all);
    struct pm_time_row *untimed =
        add_row(table, PM_TIME_UNTIMED, p->structure, PM_NONE, size->n_runs);
    program = untimed - 1; /* rows may have moved */
    set_predicted(untimed, p, &p->untimed);
    for (size_t r = 0; r < size->n_runs; r++) {
        program->runs[r] = size->runs[r]->plain_seconds;
        untimed->runs[r] = size->runs[r]->outside_seconds;
    }
}

static double median_over_plain(const struct pm_timed_size *size) {
    double *ratios = pm_alloc(size->n_runs, sizeof *ratios);
    for (size_t r = 0; r < size->n_runs; r++)
        ratios[r] = size->runs[r]->over_plain;
    struct pm_estimate ratio = pm_estimate_of(ratios, size->n_runs, 0);
    free(ratios);
    return ratio.estimate;
}

struct pm_time_table *pm_time_table_new(const struct pm_structure *structure,
                                        const struct pm_timed_size *size, double least_share) {
    struct pm_time_table *table = pm_alloc(1, sizeof *table);
    uint32_t *owners = pm_times_owners(size->runs[0], structure);
    struct passing p = {
        .structure = structure,
        .prediction = size->prediction,
        .owners = owners,
        .executed = pm_block_executions(structure, size->predicted->edge_counts),
        .of_scope = pm_alloc(structure->n_scopes, sizeof *p.of_scope),
        .of_routine = pm_alloc(structure->n_routines, sizeof *p.of_routine),
    };
    place_own_costs(&p);
    pass_to_callers(&p);
    table->least_share = least_share;
    table->over_plain = median_over_plain(size);
    for (size_t r = 0; r < size->n_runs; r++)
        table->core_share += size->runs[r]->core_share / (double)size->n_runs;
    add_total(table, &p, size);
    add_nests(table, &p, size);
    for (size_t i = 0; i < table->n_rows; i++) {
        struct pm_time_row *row = &table->rows[i];
        row->measured = pm_estimate_of(row->runs, row->n_runs, 0); /* sorts them */
        row->median = row->measured.estimate;
        row->measured.low = row->measured.estimate = row->runs[0];
    }
    for (size_t i = 0; i < table->n_rows; i++)
        judge(&table->rows[i], table->rows[0].measured.estimate, least_share);
    PM_SORT(table->rows, table->n_rows, by_time);
    free(p.of_routine);
    free(p.of_scope);
    free(p.executed);
    free(owners);
    return table;
}

void pm_time_table_free(struct pm_time_table *table) {
    for (size_t i = 0; i < table->n_rows; i++)
        free(table->rows[i].runs);
    free(table->rows);
    free(table);
}
