/* From reuse patterns to rows of misses; see carried.h.

     misses (level) of a pattern = those of its reuses that miss in the level's sets (fit/sets/)
     cycles = Σ over levels of  misses · miss penalty · exposed

   as sched/memory.c has it for whole scopes (Marin & Mellor-Crummey 2004, section 3.2). */
#include "fit/analysis/carried.h"

#include <stdlib.h>
#include <string.h>

#include "fit/sets/sets.h"

/* ---- collecting ------------------------------------------------------------------------------ */

struct collection {
    const struct pm_carried_report *report;
    const struct pm_structure *structure;
    struct pm_carried_rows *rows;
};

static struct pm_row_place folded(const struct collection *c, uint32_t scope) {
    return (struct pm_row_place){c->structure,
                                 scope == PM_NONE ? PM_NONE : pm_fold_root(c->structure, scope)};
}

/* A row for the destination GROUP. */
static struct pm_carried_row *add_row(struct collection *c, uint32_t group) {
    struct pm_carried_row *row = PM_PUSH(c->rows, rows);
    *row = (struct pm_carried_row){
        .report = c->report,
        .machine = c->rows->machine,
        .source = folded(c, PM_NONE),
        .carrier = folded(c, PM_NONE),
        .destination = folded(c, c->structure->groups[group].scope),
        .object = c->structure->groups[group].object,
        .is_irregular = (c->structure->groups[group].flags & PM_GROUP_IRREGULAR) != 0,
        .group = c->report->by_group ? group : PM_NONE,
    };
    return row;
}

/* Histograms of patterns, which are parts of the profile's; borrowed. */
struct pattern_histograms {
    PM_ARRAY(struct pm_group_histogram, histograms);
};

static void add_patterns(struct collection *c, const struct pm_run_patterns *patterns) {
    const struct pm_machine *machine = c->rows->machine;
    struct pattern_histograms parts = {0};
    size_t first = c->rows->n_rows;
    for (size_t g = 0; g < patterns->n_groups; g++) {
        const struct pm_group_patterns *group = &patterns->groups[g];
        for (size_t p = 0; p < group->n_patterns; p++) {
            const struct pm_reuse_pattern *pattern = &group->patterns[p];
            struct pm_carried_row *row = add_row(c, group->group);
            row->source = folded(c, pattern->source);
            row->carrier = folded(c, pattern->carrier);
            row->across = pattern->across;
            *PM_PUSH(&parts, histograms) =
                (struct pm_group_histogram){group->group, pattern->histogram};
        }
    }
    double **misses = pm_set_misses_of_parts(c->structure, c->report->profile, parts.histograms,
                                             parts.n_histograms, machine);
    for (size_t l = 0; l < machine->n_levels; l++)
        for (size_t i = 0; i < parts.n_histograms; i++)
            c->rows->rows[first + i].misses[l] = misses[l][i];
    pm_set_misses_free(misses, machine->n_levels);
    free(parts.histograms);
}

static void add_first_touches(struct collection *c, const struct pm_profile *profile) {
    const struct pm_machine *machine = c->rows->machine;
    for (size_t i = 0; i < profile->n_histograms; i++) {
        const struct pm_histogram *histogram = &profile->histograms[i].histogram;
        struct pm_carried_row *row = add_row(c, profile->histograms[i].group);
        row->is_first_touch = true;
        for (size_t l = 0; l < machine->n_levels; l++)
            if (machine->levels[l].block_bytes == histogram->block_bytes)
                row->misses[l] = histogram->cold_loads + histogram->cold_stores;
    }
}

/* ---- joining --------------------------------------------------------------------------------- */

static int compare_what(const void *a, const void *b) {
    const struct pm_carried_row *x = a, *y = b;
    int order = PM_COMPARE(x->is_first_touch, y->is_first_touch);
    if (order == 0)
        order = PM_COMPARE(x->carrier.scope, y->carrier.scope);
    if (order == 0)
        order = PM_COMPARE(x->across, y->across);
    if (order == 0)
        order = PM_COMPARE(x->source.scope, y->source.scope);
    if (order == 0)
        order = PM_COMPARE(x->destination.scope, y->destination.scope);
    if (order == 0)
        order = strcmp(x->object ? x->object : "", y->object ? y->object : "");
    if (order == 0)
        order = PM_COMPARE(x->is_irregular, y->is_irregular);
    if (order == 0)
        order = PM_COMPARE(x->group, y->group);
    return order;
}

static int compare_shares(const void *a, const void *b) {
    const struct pm_carried_row *x = a, *y = b;
    return x->share != y->share ? (x->share < y->share) - (x->share > y->share)
                                : compare_what(a, b);
}

static void join_rows(struct pm_carried_rows *rows) {
    size_t n = 0;
    if (rows->n_rows)
        qsort(rows->rows, rows->n_rows, sizeof *rows->rows, compare_what);
    for (size_t i = 0; i < rows->n_rows; i++) {
        if (n && compare_what(&rows->rows[n - 1], &rows->rows[i]) == 0)
            for (size_t l = 0; l < rows->machine->n_levels; l++)
                rows->rows[n - 1].misses[l] += rows->rows[i].misses[l];
        else
            rows->rows[n++] = rows->rows[i];
    }
    rows->n_rows = n;
}

/* Rows without a miss at any level say nothing. */
static void add_cycles_and_shares(struct pm_carried_rows *rows) {
    size_t n = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        struct pm_carried_row *row = &rows->rows[i];
        bool misses = false;
        for (size_t l = 0; l < rows->machine->n_levels; l++) {
            const struct pm_level *level = &rows->machine->levels[l];
            row->cycles += row->misses[l] * level->miss_penalty_cycles * level->exposed;
            rows->misses[l] += row->misses[l];
            misses |= row->misses[l] > 0;
        }
        rows->cycles += row->cycles;
        if (misses)
            rows->rows[n++] = *row;
    }
    rows->n_rows = n;
    for (size_t i = 0; i < n; i++) {
        struct pm_carried_row *row = &rows->rows[i];
        if (rows->cycles > 0)
            row->share = row->cycles / rows->cycles;
        else
            row->share = rows->misses[0] > 0 ? row->misses[0] / rows->misses[0] : 0;
    }
    if (n)
        qsort(rows->rows, n, sizeof *rows->rows, compare_shares);
}

/* ---- advice ---------------------------------------------------------------------------------- */

static bool is_around(const struct pm_structure *structure, uint32_t outer, uint32_t inner) {
    while (inner != PM_NONE && inner != outer)
        inner = structure->scopes[inner].parent;
    return inner == outer;
}

static enum pm_advice advise(const struct pm_structure *structure,
                             const struct pm_carried_row *row) {
    if (row->carrier.scope == PM_NONE)
        return PM_ADVICE_NONE;
    if (row->is_irregular)
        return PM_ADVICE_RENUMBER;
    if (row->source.scope != row->destination.scope)
        return row->across ? PM_ADVICE_SKEW : PM_ADVICE_FUSE;
    if (row->carrier.scope == row->source.scope)
        return PM_ADVICE_REORDER;
    if (!row->across)
        return PM_ADVICE_CALLS;
    return is_around(structure, row->carrier.scope, row->source.scope) ? PM_ADVICE_BLOCK
                                                                       : PM_ADVICE_SKEW;
}

struct pm_carried_rows *pm_carried_rows_new(const struct pm_carried_report *report,
                                            const struct pm_machine *machine) {
    struct pm_carried_rows *rows = pm_alloc(1, sizeof *rows);
    struct collection collection = {report, report->structure, rows};
    rows->machine = machine;
    add_patterns(&collection, report->patterns);
    add_first_touches(&collection, report->profile);
    join_rows(rows);
    add_cycles_and_shares(rows);
    for (size_t i = 0; i < rows->n_rows; i++)
        rows->rows[i].advice = advise(report->structure, &rows->rows[i]);
    return rows;
}

void pm_carried_rows_free(struct pm_carried_rows *rows) {
    free(rows->rows);
    free(rows);
}
