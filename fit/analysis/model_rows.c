/* From a model set to the rows of `pmodel fit --models`: the formula of every loop's iterations,
   and every flagged model.

   Iterations of a loop are executions of its header: the sum over the edges into the header.  All
   models of a set share one basis, so the sum of models is the sum of their coefficients. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/analysis/model_rows.h"
#include "fit/analysis/model_sum.h"
#include "fit/fit.h"

/* Times the largest measured size: where intervals of models are shown. */
static const double shown_beyond = 2.0;

size_t pm_largest_run(const struct pm_model_set *models) {
    size_t largest = 0;
    double most = -INFINITY;
    for (size_t k = 0; k < models->n_runs; k++) {
        const struct pm_parameters *run = &models->runs[k];
        double sum = 0, high;
        for (size_t p = 0; p < run->n; p++)
            if (pm_parameters_get(&models->high, run->names[p], &high) && high > 0)
                sum += run->values[p] / high;
        if (sum >= most) {
            most = sum;
            largest = k;
        }
    }
    return largest;
}

static struct pm_model_row *add_row(struct pm_model_rows *rows,
                                    const struct pm_structure *structure,
                                    enum pm_model_target target, uint32_t scope) {
    struct pm_model_row *row = PM_PUSH(rows, rows);
    row->target = target;
    row->rows = rows;
    row->place = (struct pm_row_place){structure, scope};
    row->index = row->bin = PM_NONE;
    row->value = row->low = row->high = NAN;
    return row;
}

/* ---- intervals ------------------------------------------------------------------------------ */

/* All parameters beyond their largest measured value. */
static void choose_place(struct pm_model_rows *rows, const struct pm_model_set *models) {
    rows->level = pm_heuristics.interval_level;
    rows->at = models->high;
    for (size_t i = 0; i < rows->at.n; i++) {
        double low = rows->at.values[i];
        pm_parameters_get(&models->low, rows->at.names[i], &low);
        if (low < rows->at.values[i])
            rows->at.values[i] *= shown_beyond;
    }
}

/* Adds the value and the interval of MODEL to the row's: errors of parts of one sum go together. */
static void add_interval(const struct pm_model_rows *rows, const struct pm_model_set *models,
                         const struct pm_model *model, struct pm_model_row *row) {
    double value = NAN, low = NAN, high = NAN;
    if (!pm_model_evaluate(models->basis, model, &rows->at, &value, NULL) ||
        !pm_fit_interval(models, model, &rows->at, rows->level, &low, &high))
        low = high = NAN;
    row->value += value;
    row->low += low;
    row->high += high;
}

/* ---- iterations of loops -------------------------------------------------------------------- */

/* What is not known is not small. */
static double larger(double a, double b) { return isnan(a) || isnan(b) ? NAN : fmax(a, b); }

static void add_loop(struct pm_model_rows *rows, const struct pm_structure *structure,
                     const struct pm_model_set *models, uint32_t scope) {
    const struct pm_scope *loop = &structure->scopes[scope];
    struct pm_model_row *row = add_row(rows, structure, PM_MODEL_OF_ITERATIONS, scope);
    row->relative_error = row->leave_one_out_error = NAN;
    if (!pm_scope_is_counted(structure, scope) || models->n_edges != structure->n_edges)
        return;
    struct pm_model_sum sum = pm_model_sum_new(models->basis);
    const struct pm_routine *routine = &structure->routines[loop->routine];
    row->exact = true;
    row->relative_error = row->leave_one_out_error = 0;
    row->value = row->low = row->high = 0;
    for (uint32_t i = 0; i < routine->n_edges; i++) {
        uint32_t edge = routine->first_edge + i;
        if (structure->edges[edge].to != loop->header)
            continue;
        const struct pm_model *model = &models->edges[edge];
        pm_model_sum_add(&sum, model, 1);
        add_interval(rows, models, model, row);
        row->exact = row->exact && model->exact;
        row->relative_error = fmax(row->relative_error, model->relative_error);
        row->leave_one_out_error = larger(row->leave_one_out_error, model->leave_one_out_error);
    }
    row->formula = pm_model_sum_text(&sum);
    pm_model_sum_free(&sum);
}

/* ---- flagged models ------------------------------------------------------------------------- */

/* Adds MODEL if it is flagged; `what` is left to the caller. NULL if not. */
static struct pm_model_row *add_flagged(struct pm_model_rows *rows,
                                        const struct pm_structure *structure,
                                        const struct pm_model_set *models, uint32_t scope,
                                        enum pm_model_target target, const struct pm_model *model) {
    if (!(model->leave_one_out_error > pm_heuristics.flagged_error) || scope >= structure->n_scopes)
        return NULL;
    struct pm_model_row *row = add_row(rows, structure, target, scope);
    row->formula = pm_model_text(models->basis, model);
    row->relative_error = model->relative_error;
    row->leave_one_out_error = model->leave_one_out_error;
    row->exact = model->exact;
    row->flagged = true;
    row->value = row->low = row->high = 0;
    add_interval(rows, models, model, row);
    return row;
}

static void add_edge(struct pm_model_rows *rows, const struct pm_structure *structure,
                     const struct pm_model_set *models, uint32_t index) {
    const struct pm_edge *edge = &structure->edges[index];
    if (!pm_scope_is_counted(structure, pm_edge_scope(structure, index)))
        return;
    uint32_t scope = edge->to < structure->n_blocks     ? structure->blocks[edge->to].scope
                     : edge->from < structure->n_blocks ? structure->blocks[edge->from].scope
                                                        : structure->routines[edge->routine].scope;
    struct pm_model_row *row =
        add_flagged(rows, structure, models, scope, PM_MODEL_OF_EDGE, &models->edges[index]);
    if (!row)
        return;
    row->index = index;
}

struct histogram_quantity {
    enum pm_model_target target;
    uint32_t bin;
    const struct pm_model *model;
};

static void add_quantity(struct pm_model_rows *rows, const struct pm_structure *structure,
                         const struct pm_model_set *models,
                         const struct pm_histogram_model *histogram,
                         const struct histogram_quantity *quantity) {
    if (histogram->group >= structure->n_groups)
        return;
    const struct pm_group *group = &structure->groups[histogram->group];
    struct pm_model_row *row =
        add_flagged(rows, structure, models, group->scope, quantity->target, quantity->model);
    if (!row)
        return;
    row->index = histogram->group;
    row->bin = quantity->bin;
    row->block_bytes = histogram->block_bytes;
    row->per_execution = histogram->per_execution;
}

static void add_histogram(struct pm_model_rows *rows, const struct pm_structure *structure,
                          const struct pm_model_set *models,
                          const struct pm_histogram_model *histogram) {
    add_quantity(rows, structure, models, histogram,
                 &(struct histogram_quantity){PM_MODEL_OF_ACCESSES, PM_NONE, &histogram->accesses});
    add_quantity(rows, structure, models, histogram,
                 &(struct histogram_quantity){PM_MODEL_OF_COLD, PM_NONE, &histogram->cold});
    for (uint32_t i = 0; i < histogram->n_bins; i++) {
        const struct pm_bin_model *bin = &histogram->bins[i];
        add_quantity(rows, structure, models, histogram,
                     &(struct histogram_quantity){PM_MODEL_OF_BIN_COUNT, i, &bin->count});
        if (!bin->constant_distance)
            add_quantity(rows, structure, models, histogram,
                         &(struct histogram_quantity){PM_MODEL_OF_BIN_DISTANCE, i, &bin->distance});
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

struct pm_model_rows *pm_model_rows_new(const struct pm_structure *structure,
                                        const struct pm_model_set *models) {
    struct pm_model_rows *rows = pm_alloc(1, sizeof *rows);
    choose_place(rows, models);
    for (uint32_t i = 0; i < structure->n_scopes; i++)
        if (structure->scopes[i].kind == PM_SCOPE_LOOP)
            add_loop(rows, structure, models, i);
    for (uint32_t i = 0; i < models->n_edges && i < structure->n_edges; i++)
        add_edge(rows, structure, models, i);
    for (size_t i = 0; i < models->n_histograms; i++)
        add_histogram(rows, structure, models, &models->histograms[i]);
    return rows;
}

void pm_model_rows_free(struct pm_model_rows *rows) {
    for (size_t i = 0; i < rows->n_rows; i++) {
        free(rows->rows[i].formula);
    }
    free(rows->rows);
    free(rows);
}
