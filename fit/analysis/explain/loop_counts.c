/* Counts of one loop's own code, and functions of the size that are fitted to them; see explain.h.

   As for `pmodel report --as formulas`, a formula is fitted to the loop's own counts, not summed
   from the models of its edges (fit/analysis/analysis_counts.c). */
#include "fit/analysis/explain/explain.h"

#include <math.h>
#include <stdlib.h>

#include "fit/analysis/counts.h"
#include "fit/fit.h"

/* ---- one execution of a basic block ---------------------------------------------------------- */

static double fp_operations(const struct pm_structure *structure, uint32_t block) {
    static struct pm_count_class list[] = {
        {PM_COUNT_OF_CLASS, PM_OP_FP_ADD}, {PM_COUNT_OF_CLASS, PM_OP_FP_MULT},
        {PM_COUNT_OF_CLASS, PM_OP_FP_DIV}, {PM_COUNT_OF_CLASS, PM_OP_FP_SQRT},
        {PM_COUNT_OF_CLASS, PM_OP_FP_FMA},
    };
    enum { N = sizeof list / sizeof *list };
    const struct pm_count_classes classes = {.classes = list, .n_classes = N};
    double counts[N];
    pm_count_block(structure, block, &classes, true, counts);
    return counts[0] + counts[1] + counts[2] + counts[3] + 2 * counts[4];
}

static void add_block(const struct pm_structure *structure, uint32_t block, double executions,
                      double *figures) {
    const struct pm_block *b = &structure->blocks[block];
    figures[PM_LOOP_INSTRUCTIONS] += executions * b->n_instructions;
    figures[PM_LOOP_FP_OPERATIONS] += executions * fp_operations(structure, block);
    for (uint32_t r = 0; r < b->n_references; r++) {
        uint8_t access = structure->references[b->first_reference + r].access;
        figures[PM_LOOP_LOADS] += access & PM_ACCESS_LOAD ? executions : 0;
        figures[PM_LOOP_STORES] += access & PM_ACCESS_STORE ? executions : 0;
    }
}

void pm_loop_figures(const struct pm_structure *structure, uint32_t scope,
                     const double *edge_counts, double figures[PM_N_LOOP_FIGURES]) {
    double *blocks = pm_block_executions(structure, edge_counts);
    for (int i = 0; i < PM_N_LOOP_FIGURES; i++)
        figures[i] = 0;
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        if (blocks[b] > 0 && pm_count_scope(structure, b, PM_MIX_LOOP) == scope)
            add_block(structure, b, blocks[b], figures);
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const struct pm_scope *member = &structure->scopes[s];
        if (!pm_has_own_code(structure, s) || pm_row_scope(structure, s) != scope)
            continue;
        double entries = pm_scope_entries(structure, edge_counts, s);
        bool is_loop = member->kind == PM_SCOPE_LOOP && member->header != PM_NONE;
        figures[PM_LOOP_ENTRIES] += entries;
        figures[PM_LOOP_ITERATIONS] += is_loop ? blocks[member->header] : entries;
    }
    free(blocks);
}

struct pm_trips_summary pm_loop_trips(const struct pm_structure *structure, uint32_t scope,
                                      const struct pm_behaviour *behaviour) {
    struct pm_trips_summary most = pm_trips_summary(NULL, 0);
    double most_iterations = 0;
    for (size_t i = 0, n; i < behaviour->n_trips; i += n) {
        const struct pm_measured_trips *rows =
            pm_behaviour_trips(behaviour, behaviour->trips[i].block, &n);
        uint32_t loop = structure->blocks[rows->block].loop;
        double iterations = 0;
        for (size_t k = 0; k < n; k++)
            iterations += rows[k].iterations;
        if (loop == PM_NONE || pm_row_scope(structure, loop) != scope ||
            iterations <= most_iterations)
            continue;
        most_iterations = iterations;
        most = pm_trips_summary(rows, n);
    }
    return most;
}

/* ---- formulas -------------------------------------------------------------------------------- */

/* SERIES: [figure][run]. */
static void fit_formulas(const struct pm_model_set *models, const double *series,
                         struct pm_loop_count *counts) {
    const char *names[PM_MAX_PARAMETERS];
    struct pm_fit_options options = {.n_threads = 1};
    struct pm_error ignored = {0};
    pm_fit_in_parameters_of(models, &options, names);
    struct pm_model_set *set =
        pm_fit_counts(models->runs, models->n_runs, series, PM_N_LOOP_FIGURES, &options, &ignored);
    for (int i = 0; set && i < PM_N_LOOP_FIGURES; i++) {
        counts[i].formula = pm_model_text(set->basis, &set->edges[i]);
        counts[i].relative_error = set->edges[i].relative_error;
    }
    pm_model_set_free(set);
}

void pm_loop_counts_make(const struct pm_structure *structure, uint32_t scope,
                         const struct pm_profile *profile, const struct pm_model_set *models,
                         const struct pm_profile *const *profiles, struct pm_loop_count *counts) {
    double figures[PM_N_LOOP_FIGURES];
    pm_loop_figures(structure, scope, profile->edge_counts, figures);
    for (int i = 0; i < PM_N_LOOP_FIGURES; i++)
        counts[i] = (struct pm_loop_count){.count = figures[i], .relative_error = NAN};
    if (!models)
        return;
    size_t n = models->n_runs;
    double *series = pm_alloc(PM_N_LOOP_FIGURES * n, sizeof *series);
    for (size_t k = 0; k < n; k++) {
        pm_loop_figures(structure, scope, profiles[k]->edge_counts, figures);
        for (int i = 0; i < PM_N_LOOP_FIGURES; i++)
            series[(size_t)i * n + k] = figures[i];
    }
    fit_formulas(models, series, counts);
    free(series);
}

void pm_loop_counts_free(struct pm_loop_count *counts) {
    for (int i = 0; i < PM_N_LOOP_FIGURES; i++)
        free(counts[i].formula);
}
