/* `pmodel diff` of two programs: each is lifted, loops are paired, and each is scheduled. */
#include <math.h>
#include <stdlib.h>

#include "cmd/diff/diff.h"
#include "report/report.h"

struct side {
    struct pm_lifted *lifted;
    const struct pm_structure *structure;
    bool *loops; /* for each scope: is it one? */
    struct pm_emitted_loop *codes;
};

static bool lift(const char *path, struct side *side, struct pm_error *err) {
    struct pm_lift_options options = {0};
    if (!pm_find_classes(&options, err) || !(side->lifted = pm_lift(path, &options, err)))
        return false;
    side->structure = pm_lifted_structure(side->lifted);
    side->loops = pm_alloc(side->structure->n_scopes, sizeof *side->loops);
    side->codes = pm_alloc(side->structure->n_scopes, sizeof *side->codes);
    for (uint32_t s = 0; s < side->structure->n_scopes; s++) {
        side->loops[s] = side->structure->scopes[s].kind == PM_SCOPE_LOOP;
        if (side->loops[s])
            side->codes[s] = pm_emitted_loop_of(side->structure, s);
    }
    return true;
}

/* Innermost loops only: of others an iteration is mostly that of the loops in them. */
static void add_cycles(const struct pm_machine *machine, struct side *side) {
    struct pm_target_machine target = pm_target_of(side->structure, machine);
    const struct pm_schedule_options options = {0};
    struct pm_loop_schedules schedules;
    bool *innermost = pm_innermost_loops(side->structure);
    pm_schedule_loops(&target, NULL, innermost, &options, &schedules);
    for (size_t i = 0; i < schedules.n_items; i++) {
        const struct pm_loop_schedule *item = &schedules.items[i];
        struct pm_emitted_loop *code = &side->codes[item->scope];
        if (item->n_steps == 0)
            continue;
        code->cycles = item->schedule.cycles;
        code->hold = item->schedule.hold;
        code->is_lower_bound = item->schedule.n_unknown_operations > 0;
        for (unsigned h = 0; h < PM_N_HOLDS; h++)
            code->bounds[h] = item->schedule.bounds[h];
    }
    pm_loop_schedules_free(&schedules);
    free(innermost);
}

static void side_free(struct side *side) {
    free(side->loops);
    free(side->codes);
    pm_lifted_free(side->lifted);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double changed(double before, double after) {
    double more = fmax(before, after);
    return more > 0 ? fabs(after - before) / more : 0;
}

/* How much of it changed: cycles count most, then what they come from. */
static double weight_of(const struct pm_emitted_loop *a, const struct pm_emitted_loop *b) {
    double cycles = isnan(a->cycles) || isnan(b->cycles) ? 0 : changed(a->cycles, b->cycles);
    return 4 * cycles + 2 * changed(a->vector_bits, b->vector_bits) +
           changed(a->n_spill_loads + a->n_spill_stores, b->n_spill_loads + b->n_spill_stores) +
           changed(a->n_instructions, b->n_instructions) + changed(a->unroll, b->unroll);
}

static void add_row(struct pm_code_diff *report, const struct pm_structure *structure,
                    uint32_t scope, const char *by, const struct pm_emitted_loop *before,
                    const struct pm_emitted_loop *after) {
    struct pm_emitted_loop none = {.cycles = NAN};
    struct pm_code_diff_row *row = PM_PUSH(report, rows);
    *row = (struct pm_code_diff_row){.structure = structure,
                                     .scope = scope,
                                     .paired_by = by,
                                     .before = before ? *before : none,
                                     .after = after ? *after : none};
    if (before && after)
        row->weight = weight_of(before, after);
}

static int by_weight(const void *left, const void *right) {
    const struct pm_code_diff_row *a = left, *b = right;
    if (!a->paired_by != !b->paired_by)
        return a->paired_by ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    if (a->structure != b->structure)
        return a->before.is_there ? -1 : 1;
    return PM_COMPARE(a->scope, b->scope);
}

static void add_rows(struct pm_code_diff *report, const struct side *before,
                     const struct side *after) {
    struct pm_scope_pairs pairs =
        pm_scope_pairs_make(before->structure, before->loops, after->structure, after->loops);
    for (uint32_t s = 0; s < before->structure->n_scopes; s++) {
        uint32_t other = pairs.b_of_a[s];
        if (before->loops[s] && other == PM_NONE)
            add_row(report, before->structure, s, NULL, &before->codes[s], NULL);
        else if (before->loops[s])
            add_row(report, after->structure, other, pm_pairing_word((enum pm_pairing)pairs.by[s]),
                    &before->codes[s], &after->codes[other]);
    }
    for (uint32_t s = 0; s < after->structure->n_scopes; s++)
        if (after->loops[s] && pairs.a_of_b[s] == PM_NONE)
            add_row(report, after->structure, s, NULL, NULL, &after->codes[s]);
    pm_scope_pairs_free(&pairs);
    PM_SORT(report->rows, report->n_rows, by_weight);
}

bool pm_diff_code(const char *before, const char *after, const struct pm_machine *machine,
                  const struct pm_report_options *options, struct pm_error *err) {
    struct side sides[2] = {{0}};
    struct pm_code_diff report = {.before_name = before, .after_name = after, .machine = machine};
    bool ok = lift(before, &sides[0], err) && lift(after, &sides[1], err);
    if (ok) {
        report.before = sides[0].structure;
        report.after = sides[1].structure;
        for (int i = 0; i < 2 && machine; i++)
            add_cycles(machine, &sides[i]);
        add_rows(&report, &sides[0], &sides[1]);
        pm_report_code_diff(stdout, &report, options);
    }
    free(report.rows);
    side_free(&sides[0]);
    side_free(&sides[1]);
    return ok;
}
