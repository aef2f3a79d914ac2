/* From measured edge counts to functions of the size, for each class in each scope.

   A row's model is fitted to the row's own counts, not summed from models of edges: what varies
   from size to size in single edges (a vector loop and its remainder) is often smooth in the sum,
   and each model has an error of its own (Marin's thesis 2003, section 3.4.1).  The sum of the
   models of the edges into the row's basic blocks stands beside it, for comparison. */
#include "fit/analysis/counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/structure/structure.h"
#include "fit/analysis/model_rows.h"

/* ---- which routines -------------------------------------------------------------------------- */

/* One flag for each routine; NULL with a sentence.  Owned by the caller. */
static bool *left_out_routines(const struct pm_structure *structure,
                               const struct pm_counts_request *request, struct pm_error *err) {
    uint32_t n_named;
    bool *left_out = pm_routines_named(structure, request->routines, &n_named);
    if (request->routines && n_named == 0) {
        pm_fail(err, "no routine is called %s", request->routines);
        pm_fail_nearest_routine(err, structure, request->routines);
        free(left_out);
        return NULL;
    }
    for (size_t r = 0; r < structure->n_routines; r++)
        left_out[r] = !left_out[r] || (request->left_out && request->left_out[r]);
    return left_out;
}

/* Calls of the routines that end an interval, in each run; false with a sentence. */
static bool count_intervals(const struct pm_class_counts *counts,
                            const struct pm_profile *const *profiles, double *intervals,
                            struct pm_error *err) {
    const struct pm_structure *structure = counts->structure;
    const char *names = counts->request->interval;
    uint32_t n_named;
    bool *named = pm_routines_named(structure, names, &n_named), counted = true;
    for (size_t r = 0; r < structure->n_routines; r++)
        counted &= !named[r] || structure->routines[r].counted;
    bool ok = n_named > 0;
    if (!ok) {
        pm_fail(err,
                "--interval %s: no routine is called so among those in the store; those of "
                "libraries need `pmodel run --lib`",
                names);
        pm_fail_nearest_routine(err, structure, names);
    }
    ok = ok && (counted || pm_fail(err, "--interval %s: its calls were not counted", names));
    for (size_t k = 0; ok && k < counts->n_runs; k++) {
        intervals[k] = 0;
        for (size_t e = 0; e < structure->n_edges; e++)
            if (structure->edges[e].kind == PM_EDGE_ENTRY && named[structure->edges[e].routine])
                intervals[k] += profiles[k]->edge_counts[e];
        if (intervals[k] <= 0) {
            char *size = pm_parameters_text(&counts->runs[k]);
            ok = pm_fail(err, "--interval %s: never called in the run %s", names, size);
            free(size);
        }
    }
    free(named);
    return ok;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_zero(const double *values, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (values[k] != 0)
            return false;
    return true;
}

static struct pm_count_row *add_row(struct pm_class_counts *counts, uint32_t scope,
                                    const double *measured) {
    struct pm_count_row *row = PM_PUSH(counts, rows);
    row->counts = counts;
    row->place = (struct pm_row_place){counts->structure, scope};
    row->edge = PM_NONE;
    row->measured = measured;
    row->sum_error = row->low = row->high = NAN;
    return row;
}

/* Rows of scopes with their models.  INTERVALS: what counts are divided by, or NULL. */
static bool make_scope_rows(struct pm_class_counts *counts, const bool *left_out,
                            const double *intervals, const struct pm_fit_options *fit_options,
                            struct pm_error *err) {
    const struct pm_structure *structure = counts->structure;
    size_t n = counts->n_runs, n_classes = counts->classes.n_classes, n_series = 0;
    counts->measured = pm_alloc(structure->n_scopes * n_classes * n, sizeof *counts->measured);
    pm_count_scopes(&(struct pm_counting){.structure = structure,
                                          .classes = &counts->classes,
                                          .level = counts->request->level,
                                          .elements = counts->request->elements,
                                          .left_out = left_out,
                                          .n_columns = n,
                                          .executions = (const double *const *)counts->executions},
                    counts->measured);
    /* Series that are anything at all move to the front. */
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        for (size_t c = 0; c < n_classes; c++) {
            double *from = counts->measured + (s * n_classes + c) * n;
            if (is_zero(from, n))
                continue;
            double *to = counts->measured + n_series++ * n;
            for (size_t k = 0; k < n; k++)
                to[k] = from[k] / (intervals ? intervals[k] : 1);
            add_row(counts, s, to)->class_index = c;
        }
    if (n_series == 0)
        return pm_fail(err, "nothing of this was counted in any run");
    counts->set = pm_fit_counts(counts->runs, n, counts->measured, n_series, fit_options, err);
    if (!counts->set)
        return false;
    counts->basis = counts->set->basis;
    for (size_t i = 0; i < counts->n_rows; i++)
        counts->rows[i].model = &counts->set->edges[i];
    return true;
}

static uint32_t scope_of_edge(const struct pm_structure *structure, const struct pm_edge *edge) {
    uint32_t block = edge->from < structure->n_blocks ? edge->from : edge->to;
    return block < structure->n_blocks
               ? pm_fold_root(structure, pm_mix_scope(structure, block, PM_MIX_LOOP))
               : structure->routines[edge->routine].scope;
}

/* Rows of edges, with the models that the store has. */
static bool make_edge_rows(struct pm_class_counts *counts, const struct pm_model_set *models,
                           const bool *left_out, const struct pm_profile *const *profiles,
                           struct pm_error *err) {
    const struct pm_structure *structure = counts->structure;
    size_t n = counts->n_runs;
    counts->measured = pm_alloc(structure->n_edges * n, sizeof *counts->measured);
    counts->basis = models->basis;
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        double *measured = counts->measured + e * n;
        for (size_t k = 0; k < n; k++)
            measured[k] = profiles[k]->edge_counts[e];
        if (left_out[edge->routine] || is_zero(measured, n))
            continue;
        struct pm_count_row *row = add_row(counts, scope_of_edge(structure, edge), measured);
        row->edge = e;
        row->model = &models->edges[e];
    }
    return counts->n_rows || pm_fail(err, "no edge of these routines was taken in any run");
}

/* ---- counts at one size, shares, order ------------------------------------------------------- */

/* Counts at the size asked for, else measured at the largest one; and each row's share. */
static bool count_rows_at_size(struct pm_class_counts *counts, const struct pm_model_set *models,
                               struct pm_error *err) {
    const struct pm_parameters *at = counts->request->at;
    const struct pm_model_set *set = counts->set ? counts->set : models;
    size_t largest = pm_largest_run(models), n_classes = counts->classes.n_classes;
    double *values = pm_alloc(counts->basis->n, sizeof *values);
    double *totals = pm_alloc(n_classes + 1, sizeof *totals);
    counts->predicted = at != NULL;
    counts->at = at ? *at : counts->runs[largest];
    bool ok = !at || (pm_fit_check_parameters(set, at, err) &&
                      pm_basis_evaluate(counts->basis, at, values, err));
    for (size_t i = 0; ok && i < counts->n_rows; i++) {
        struct pm_count_row *row = &counts->rows[i];
        row->count = at ? pm_model_value(row->model, values) : row->measured[largest];
        if (at && !pm_fit_interval(set, row->model, at, pm_heuristics.interval_level, &row->low,
                                   &row->high))
            row->low = row->high = NAN;
        totals[row->class_index] += row->count;
    }
    for (size_t i = 0; ok && i < counts->n_rows; i++) {
        struct pm_count_row *row = &counts->rows[i];
        row->share = totals[row->class_index] > 0 ? row->count / totals[row->class_index] : 0;
    }
    free(totals);
    free(values);
    return ok;
}

static int by_share(const void *left, const void *right) {
    const struct pm_count_row *a = left, *b = right;
    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    if (a->place.scope != b->place.scope)
        return a->place.scope < b->place.scope ? -1 : 1;
    if (a->class_index != b->class_index)
        return a->class_index < b->class_index ? -1 : 1;
    return a->edge < b->edge ? -1 : a->edge > b->edge;
}

static int by_count(const void *left, const void *right) {
    const struct pm_count_row *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return by_share(left, right);
}

static int by_place(const void *left, const void *right) {
    const struct pm_count_row *a = left, *b = right;
    if (a->edge != b->edge)
        return a->edge < b->edge ? -1 : 1;
    if (a->place.scope != b->place.scope)
        return a->place.scope < b->place.scope ? -1 : 1;
    return a->class_index < b->class_index ? -1 : a->class_index > b->class_index;
}

static void free_row(struct pm_count_row *row) {
    free(row->formula);
    free(row->sum_formula);
}

static void choose_rows(struct pm_class_counts *counts) {
    const struct pm_counts_request *request = counts->request;
    size_t all = counts->n_rows, kept = all;
    qsort(counts->rows, all, sizeof *counts->rows, by_share);
    while (kept > 0 && counts->rows[kept - 1].share < request->least_share)
        kept--;
    if (request->most_rows && kept > request->most_rows)
        kept = request->most_rows;
    for (size_t i = kept; i < all; i++)
        free_row(&counts->rows[i]);
    counts->n_rows = kept;
    counts->n_left_out = all - kept;
    if (kept)
        qsort(counts->rows, kept, sizeof *counts->rows, request->by_count ? by_count : by_place);
}

/* ---- sums of the edges' models --------------------------------------------------------------- */

/* ROW_OF: the row of each (scope, class), PM_NONE where it is not shown. */
static void add_edge_models(const struct pm_class_counts *counts, const struct pm_model_set *models,
                            const bool *left_out, const uint32_t *row_of,
                            struct pm_model_sum *sums) {
    const struct pm_structure *structure = counts->structure;
    size_t n_classes = counts->classes.n_classes;
    double *of_block = pm_alloc(n_classes, sizeof *of_block);
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        uint32_t block = structure->edges[e].to;
        if (block >= structure->n_blocks || left_out[structure->edges[e].routine])
            continue;
        size_t scope = pm_count_scope(structure, block, counts->request->level);
        pm_count_block(structure, block, &counts->classes, counts->request->elements, of_block);
        for (size_t c = 0; c < n_classes; c++)
            if (of_block[c] > 0 && row_of[scope * n_classes + c] != PM_NONE)
                pm_model_sum_add(&sums[row_of[scope * n_classes + c]], &models->edges[e],
                                 of_block[c]);
    }
    free(of_block);
}

static double error_of_sum(const struct pm_class_counts *counts, const struct pm_count_row *row,
                           const struct pm_model_sum *sum) {
    double *values = pm_alloc(sum->basis->n, sizeof *values);
    double *predicted = pm_alloc(counts->n_runs, sizeof *predicted);
    for (size_t k = 0; k < counts->n_runs; k++)
        predicted[k] = pm_basis_evaluate(sum->basis, &counts->runs[k], values, NULL)
                           ? pm_model_sum_value(sum, values)
                           : NAN;
    double error = pm_count_error(predicted, row->measured, counts->n_runs);
    free(predicted);
    free(values);
    return error;
}

static void sum_edge_models(struct pm_class_counts *counts, const struct pm_model_set *models,
                            const bool *left_out) {
    size_t n_classes = counts->classes.n_classes, n = counts->structure->n_scopes * n_classes;
    uint32_t *row_of = pm_alloc(n, sizeof *row_of);
    struct pm_model_sum *sums = pm_alloc(counts->n_rows, sizeof *sums);
    memset(row_of, 0xff, n * sizeof *row_of);
    for (size_t i = 0; i < counts->n_rows; i++) {
        row_of[counts->rows[i].place.scope * n_classes + counts->rows[i].class_index] = (uint32_t)i;
        sums[i] = pm_model_sum_new(models->basis);
    }
    add_edge_models(counts, models, left_out, row_of, sums);
    for (size_t i = 0; i < counts->n_rows; i++) {
        counts->rows[i].sum_formula = pm_model_sum_text(&sums[i]);
        counts->rows[i].sum_error = error_of_sum(counts, &counts->rows[i], &sums[i]);
        pm_model_sum_free(&sums[i]);
    }
    free(sums);
    free(row_of);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool make_counts(struct pm_class_counts *counts, const struct pm_model_set *models,
                        const struct pm_profile *const *profiles, const bool *left_out,
                        const struct pm_fit_options *fit_options, struct pm_error *err) {
    const struct pm_counts_request *request = counts->request;
    double *intervals = pm_alloc(counts->n_runs, sizeof *intervals);
    bool ok = !request->interval || count_intervals(counts, profiles, intervals, err);
    if (ok && request->edges)
        ok = make_edge_rows(counts, models, left_out, profiles, err);
    else if (ok)
        ok = make_scope_rows(counts, left_out, request->interval ? intervals : NULL, fit_options,
                             err);
    ok = ok && count_rows_at_size(counts, models, err);
    free(intervals);
    if (!ok)
        return false;
    choose_rows(counts);
    for (size_t i = 0; i < counts->n_rows; i++)
        counts->rows[i].formula = pm_model_text(counts->basis, counts->rows[i].model);
    if (!request->edges && !request->interval)
        sum_edge_models(counts, models, left_out);
    return true;
}

void pm_class_counts_free(struct pm_class_counts *counts) {
    for (size_t i = 0; i < counts->n_rows; i++)
        free_row(&counts->rows[i]);
    for (size_t k = 0; counts->executions && k < counts->n_runs; k++)
        free(counts->executions[k]);
    free(counts->executions);
    free(counts->rows);
    free(counts->measured);
    free(counts->classes.classes);
    pm_model_set_free(counts->set);
    free(counts);
}

struct pm_class_counts *pm_class_counts_new(const struct pm_structure *structure,
                                            const struct pm_model_set *models,
                                            const struct pm_profile *const *profiles,
                                            const struct pm_fit_options *fit_options,
                                            const struct pm_counts_request *request,
                                            struct pm_error *err) {
    struct pm_class_counts *counts = pm_alloc(1, sizeof *counts);
    *counts = (struct pm_class_counts){
        .structure = structure, .request = request, .n_runs = models->n_runs, .runs = models->runs};
    const char *classes = request->classes ? request->classes : "instructions";
    bool *left_out = left_out_routines(structure, request, err);
    bool ok = left_out && pm_count_classes_read(classes, &counts->classes, err);
    if (ok) {
        counts->executions = pm_alloc(counts->n_runs, sizeof *counts->executions);
        for (size_t k = 0; k < counts->n_runs; k++)
            counts->executions[k] = pm_block_executions(structure, profiles[k]->edge_counts);
        for (size_t r = 0; r < structure->n_routines; r++)
            counts->n_not_counted += !left_out[r] && !structure->routines[r].counted;
        for (size_t s = 0; s < structure->n_scopes; s++)
            counts->n_unmatched += (structure->scopes[s].flags & PM_SCOPE_UNMATCHED) != 0;
        const char *names[PM_MAX_PARAMETERS];
        struct pm_fit_options options = fit_options ? *fit_options : (struct pm_fit_options){0};
        pm_fit_in_parameters_of(models, &options, names);
        ok = make_counts(counts, models, profiles, left_out, &options, err);
    }
    free(left_out);
    if (ok)
        return counts;
    pm_class_counts_free(counts);
    return NULL;
}
