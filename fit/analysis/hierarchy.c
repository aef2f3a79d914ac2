/* Where does the error of a prediction live?

   Three predictions of a count for the whole program stand beside what was measured: by the model
   fitted to the program's counts, by the sum of models fitted to the counts of each routine, and by
   the sum of the models of all edges.  Routines that are modelled exactly cancel in the difference,
   so that it belongs to the others, and these are named (Marin's thesis 2003, section 4.1.2, finds
   two routines of a Fourier transform so).  Misses have no model of their own at a level above the
   reference groups: there only the sum of the groups' models is compared. */
#include "fit/analysis/hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the largest part of an error: what is named beside it. */
static const double named_share = 0.1;

/* From this share of the largest routine's part on a routine is named. */

/* Values of one quantity for each routine and size. */
struct values {
    double *measured, *own, *parts; /* [scope · n_sizes + size]; own: NULL for misses; owned */
    double *total; /* by the model of the program total, for each size; NULL; owned */
};

struct making {
    struct pm_hierarchy *hierarchy;
    const struct pm_structure *structure;
    struct pm_count_classes classes;
    struct values *values; /* for each class, then for each block size and cache */
    size_t n_values;
};

/* ---- counts of classes ----------------------------------------------------------------------- */

/* [(scope · n_classes + class) · n + column] by routine, from edge counts; owned by the caller. */
static double *count_routines(const struct making *making, const double *const *edge_counts,
                              size_t n) {
    const struct pm_structure *structure = making->structure;
    double **executions = pm_alloc(n, sizeof *executions);
    double *counts = pm_alloc(structure->n_scopes * making->classes.n_classes * n, sizeof *counts);
    for (size_t k = 0; k < n; k++)
        executions[k] = pm_block_executions(structure, edge_counts[k]);
    pm_count_scopes(&(struct pm_counting){.structure = structure,
                                          .classes = &making->classes,
                                          .level = PM_MIX_ROUTINE,
                                          .n_columns = n,
                                          .executions = (const double *const *)executions},
                    counts);
    for (size_t k = 0; k < n; k++)
        free(executions[k]);
    free(executions);
    return counts;
}

static void take_class(const struct making *making, const double *counts, size_t class_index,
                       double *into) {
    size_t n = making->hierarchy->n_sizes, n_classes = making->classes.n_classes;
    for (size_t s = 0; s < making->structure->n_scopes; s++)
        memcpy(into + s * n, counts + (s * n_classes + class_index) * n, n * sizeof *into);
}

/* Measured counts, and those of the edges' models. */
static void count_classes(struct making *making) {
    size_t n = making->hierarchy->n_sizes;
    for (int predicted = 0; predicted < 2; predicted++) {
        const double **edge_counts = pm_alloc(n, sizeof *edge_counts);
        for (size_t k = 0; k < n; k++) {
            const struct pm_validation *size = &making->hierarchy->sizes[k];
            edge_counts[k] = (predicted ? size->predicted : size->measured)->edge_counts;
        }
        double *counts = count_routines(making, edge_counts, n);
        for (size_t c = 0; c < making->classes.n_classes; c++)
            take_class(making, counts, c,
                       predicted ? making->values[c].parts : making->values[c].measured);
        free(counts);
        free(edge_counts);
    }
}

/* What the models fitted to each routine's counts, and to those of the program total, say of the
 * sizes. */
static bool fit_classes(struct making *making, struct pm_error *err) {
    const struct pm_hierarchy_request *request = making->hierarchy->request;
    size_t n_runs = request->models->n_runs, n_classes = making->classes.n_classes;
    size_t n_scopes = making->structure->n_scopes, n = making->hierarchy->n_sizes;
    const double **edge_counts = pm_alloc(n_runs, sizeof *edge_counts);
    for (size_t k = 0; k < n_runs; k++)
        edge_counts[k] = request->fitted[k]->edge_counts;
    double *counts = count_routines(making, edge_counts, n_runs);
    free(edge_counts);
    counts = pm_realloc(counts, (n_scopes + 1) * n_classes * n_runs, sizeof *counts);
    double *totals = counts + n_scopes * n_classes * n_runs;
    memset(totals, 0, n_classes * n_runs * sizeof *totals);
    for (size_t s = 0; s < n_scopes; s++)
        for (size_t i = 0; i < n_classes * n_runs; i++)
            totals[i] += counts[s * n_classes * n_runs + i];
    const char *names[PM_MAX_PARAMETERS];
    struct pm_fit_options options =
        request->fit_options ? *request->fit_options : (struct pm_fit_options){0};
    pm_fit_in_parameters_of(request->models, &options, names);
    struct pm_model_set *set = pm_fit_counts(request->models->runs, n_runs, counts,
                                             (n_scopes + 1) * n_classes, &options, err);
    free(counts);
    bool ok = set != NULL;
    double *basis = ok ? pm_alloc(set->basis->n, sizeof *basis) : NULL;
    for (size_t k = 0; ok && k < n; k++) {
        ok = pm_basis_evaluate(set->basis, &making->hierarchy->sizes[k].measured->parameters, basis,
                               err);
        for (size_t c = 0; ok && c < n_classes; c++) {
            for (size_t s = 0; s < n_scopes; s++)
                making->values[c].own[s * n + k] =
                    pm_model_value(&set->edges[s * n_classes + c], basis);
            making->values[c].total[k] =
                pm_model_value(&set->edges[n_scopes * n_classes + c], basis);
        }
    }
    free(basis);
    pm_model_set_free(set);
    return ok;
}

/* ---- misses ---------------------------------------------------------------------------------- */

static uint32_t routine_scope(const struct pm_structure *structure, uint32_t scope) {
    uint32_t routine = structure->scopes[scope].routine;
    return pm_fold_root(
        structure, routine < structure->n_routines ? structure->routines[routine].scope : scope);
}

static void add_misses(const struct making *making, const struct pm_profile *profile, size_t k,
                       bool predicted) {
    const struct pm_validation_caches *caches = making->hierarchy->request->caches;
    size_t n = making->hierarchy->n_sizes;
    for (size_t h = 0; h < profile->n_histograms; h++) {
        const struct pm_histogram *histogram = &profile->histograms[h].histogram;
        uint32_t group = profile->histograms[h].group;
        uint32_t scope = routine_scope(making->structure, making->structure->groups[group].scope);
        for (size_t b = 0; b < caches->n_block_sizes; b++)
            for (size_t c = 0;
                 histogram->block_bytes == caches->block_sizes[b] && c < caches->n_caches; c++) {
                const struct values *values =
                    &making->values[making->classes.n_classes + b * caches->n_caches + c];
                (predicted ? values->parts : values->measured)[scope * n + k] +=
                    pm_fully_associative_misses(histogram, caches->cache_blocks[c]);
            }
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Sum over all scopes, or those that are not NAMED (NULL: none is), for each size. */
static void sum_scopes(const struct making *making, const double *values, const bool *named,
                       double *sums) {
    size_t n = making->hierarchy->n_sizes;
    for (size_t k = 0; k < n; k++)
        sums[k] = 0;
    for (size_t s = 0; s < making->structure->n_scopes; s++)
        for (size_t k = 0; k < n && !(named && named[s]); k++)
            sums[k] += values[s * n + k];
}

/* Of the whole.  With NAMED, these scopes are taken as predicted rightly. */
static double error_of_sums(const struct making *making, const double *predicted,
                            const double *measured, const bool *named) {
    size_t n = making->hierarchy->n_sizes;
    double *sums = pm_alloc(3 * n, sizeof *sums), *total = sums + 2 * n;
    sum_scopes(making, predicted, named, sums);
    sum_scopes(making, measured, named, sums + n);
    sum_scopes(making, measured, NULL, total);
    for (size_t k = 0; k < n; k++)
        sums[k] = total[k] + (sums[k] - sums[n + k]);
    double error = pm_count_error(sums, total, n);
    free(sums);
    return error;
}

/* Sum over the sizes of what a scope's prediction is off, in shares of the program total. */
static double difference_of(const double *predicted, const double *measured, const double *total,
                            size_t n) {
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        if (total[k] > 0)
            sum += fabs(predicted[k] - measured[k]) / total[k];
    return sum;
}

static int by_part(const void *left, const void *right) {
    const struct pm_hierarchy_row *a = left, *b = right;
    if (a->part != b->part)
        return a->part > b->part ? -1 : 1;
    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    return PM_COMPARE(a->place.scope, b->place.scope);
}

/* Rows of the routines that count anything, and which of them are named. */
static void make_rows(const struct making *making, const struct values *values,
                      struct pm_hierarchy_quantity *quantity, bool *named) {
    const struct pm_structure *structure = making->structure;
    size_t n = making->hierarchy->n_sizes;
    const double *judged = values->own ? values->own : values->parts;
    double *total = pm_alloc(n, sizeof *total), all = 0, most = 0;
    sum_scopes(making, values->measured, NULL, total);
    quantity->measured = total[n - 1];
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const double *measured = values->measured + s * n, *parts = values->parts + s * n;
        double there = 0;
        for (size_t k = 0; k < n; k++)
            there += measured[k] + parts[k];
        if (there == 0)
            continue;
        struct pm_hierarchy_row *row = PM_PUSH(quantity, rows);
        row->place = (struct pm_row_place){structure, s};
        row->share = total[n - 1] > 0 ? measured[n - 1] / total[n - 1] : 0;
        row->own_error = values->own ? pm_count_error(values->own + s * n, measured, n) : NAN;
        row->parts_error = pm_count_error(parts, measured, n);
        row->part = difference_of(judged + s * n, measured, total, n);
        all += row->part;
        most = fmax(most, row->part);
    }
    for (size_t i = 0; i < quantity->n_rows; i++) {
        struct pm_hierarchy_row *row = &quantity->rows[i];
        row->named =
            row->part > pm_heuristics.rounding * (double)n && row->part >= named_share * most;
        named[row->place.scope] = row->named;
        row->part = all > 0 ? row->part / all : 0;
    }
    if (quantity->n_rows)
        qsort(quantity->rows, quantity->n_rows, sizeof *quantity->rows, by_part);
    free(total);
}

static void judge_quantity(const struct making *making, size_t index) {
    const struct values *values = &making->values[index];
    const struct pm_validation_caches *caches = making->hierarchy->request->caches;
    struct pm_hierarchy_quantity *quantity = PM_PUSH(making->hierarchy, quantities);
    bool *named = pm_alloc(making->structure->n_scopes, sizeof *named);
    size_t n_classes = making->classes.n_classes, n = making->hierarchy->n_sizes;
    quantity->name = "misses";
    if (index < n_classes) {
        quantity->name = pm_count_class_name(&making->classes.classes[index]);
    } else {
        quantity->block_bytes = caches->block_sizes[(index - n_classes) / caches->n_caches];
        quantity->cache_blocks = caches->cache_blocks[(index - n_classes) % caches->n_caches];
    }
    make_rows(making, values, quantity, named);
    quantity->total_error = quantity->routines_error = NAN;
    if (values->own) {
        double *total = pm_alloc(n, sizeof *total);
        sum_scopes(making, values->measured, NULL, total);
        quantity->total_error = pm_count_error(values->total, total, n);
        quantity->routines_error = error_of_sums(making, values->own, values->measured, NULL);
        free(total);
    }
    quantity->parts_error = error_of_sums(making, values->parts, values->measured, NULL);
    quantity->rest_error =
        error_of_sums(making, values->own ? values->own : values->parts, values->measured, named);
    free(named);
}

/* ---- the program total
 * ------------------------------------------------------------------------------- */

static void make_values(struct making *making) {
    const struct pm_validation_caches *caches = making->hierarchy->request->caches;
    size_t n = making->hierarchy->n_sizes, all = making->structure->n_scopes * n;
    making->n_values = making->classes.n_classes + caches->n_block_sizes * caches->n_caches;
    making->values = pm_alloc(making->n_values, sizeof *making->values);
    for (size_t i = 0; i < making->n_values; i++) {
        struct values *values = &making->values[i];
        values->measured = pm_alloc(all, sizeof *values->measured);
        values->parts = pm_alloc(all, sizeof *values->parts);
        if (i >= making->classes.n_classes)
            continue;
        values->own = pm_alloc(all, sizeof *values->own);
        values->total = pm_alloc(n, sizeof *values->total);
    }
}

static void free_values(struct making *making) {
    for (size_t i = 0; i < making->n_values; i++) {
        free(making->values[i].measured);
        free(making->values[i].own);
        free(making->values[i].parts);
        free(making->values[i].total);
    }
    free(making->values);
    free(making->classes.classes);
}

static bool make_hierarchy(struct pm_hierarchy *hierarchy, struct pm_error *err) {
    const struct pm_hierarchy_request *request = hierarchy->request;
    struct making making = {.hierarchy = hierarchy, .structure = request->structure};
    if (!pm_count_classes_read(request->classes ? request->classes : "instructions,accesses",
                               &making.classes, err))
        return false;
    make_values(&making);
    count_classes(&making);
    bool ok = fit_classes(&making, err);
    for (size_t k = 0; ok && k < hierarchy->n_sizes; k++) {
        add_misses(&making, hierarchy->sizes[k].measured, k, false);
        add_misses(&making, hierarchy->sizes[k].predicted, k, true);
    }
    for (size_t i = 0; ok && i < making.n_values; i++)
        judge_quantity(&making, i);
    free_values(&making);
    return ok;
}

void pm_hierarchies_free(struct pm_hierarchy *hierarchies, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t q = 0; q < hierarchies[i].n_quantities; q++)
            free(hierarchies[i].quantities[q].rows);
        free(hierarchies[i].quantities);
    }
    free(hierarchies);
}

struct pm_hierarchy *pm_hierarchies_new(const struct pm_hierarchy_request *request, size_t *n,
                                        struct pm_error *err) {
    *n = request->together ? 1 : request->n_sizes;
    struct pm_hierarchy *hierarchies = pm_alloc(*n, sizeof *hierarchies);
    bool ok = true;
    for (size_t i = 0; ok && i < *n; i++) {
        hierarchies[i].request = request;
        hierarchies[i].sizes = &request->sizes[i];
        hierarchies[i].n_sizes = request->together ? request->n_sizes : 1;
        ok = make_hierarchy(&hierarchies[i], err);
    }
    if (ok)
        return hierarchies;
    pm_hierarchies_free(hierarchies, *n);
    return NULL;
}
