/* Which models are of poor quality, and why.

   A model is flagged if it is not exact and was made from fewer than five sizes, or if its
   leave-one-out error is above the limit or not known; a histogram also if too few blocks were
   watched, or if distances beyond a bound are unknown.  Why a series is badly predicted its
   regularity tells (fit/series/regularity.c); of the bins of a histogram only the models are at
   hand. */
#include "fit/analysis/flagged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/analysis/model_rows.h"
#include "fit/fit.h"

struct judging {
    struct pm_flagged *flagged;
    const struct pm_structure *structure;
    const struct pm_model_set *models;
    const struct pm_profile *const *profiles;
    size_t n, largest; /* profiles; the one at the largest size */
    double *x;      /* of each run, if the models are in one parameter and it ascends; else NULL */
    double *basis;  /* values of the basis functions at the largest size */
    double *series; /* n values */
    double instructions; /* executed at the largest size */
    double *touches;     /* there, of each of its profile's block sizes */
    struct pm_fixed_extent *extents;
    size_t n_extents;
};

/* ---- one model ------------------------------------------------------------------------------- */

static unsigned flaw_of_regularity(enum pm_regularity regularity) {
    switch (regularity) {
    case PM_REGULARITY_PERIODIC:
        return 1u << PM_FLAW_PERIODIC;
    case PM_REGULARITY_JUMPS:
        return 1u << PM_FLAW_JUMPS;
    case PM_REGULARITY_SMOOTH:
        return 1u << PM_FLAW_FORM;
    default:
        return 1u << PM_FLAW_ERROR;
    }
}

/* Flaws of MODEL, into ROW; true if there are any.  SERIES: its values at all sizes, or NULL. */
static bool judge(const struct judging *judging, const struct pm_model *model, const double *series,
                  struct pm_flagged_row *row) {
    double error = model->leave_one_out_error;
    unsigned found = 0, period = 0;
    size_t n = judging->n, first = 0;
    row->n_models++;
    if (model->exact || (error == 0 && model->n_points >= 2))
        return false;
    while (series && first < n && series[first] == 0)
        first++;
    bool few = isnan(error) || model->n_points < pm_heuristics.enough_sizes;
    bool late = series ? first > 0 : model->n_points + 1u < n;
    if (few)
        found |= 1u << (late ? PM_FLAW_LATE : PM_FLAW_FEW);
    if (error > pm_heuristics.flagged_error) {
        enum pm_regularity regularity = PM_REGULARITY_UNKNOWN;
        if (series && judging->x)
            regularity = pm_fit_regularity(n - first, judging->x + first, series + first, &period);
        if (regularity != PM_REGULARITY_UNKNOWN || !few)
            found |= flaw_of_regularity(regularity);
    }
    if (!found)
        return false;
    row->n_flagged++;
    row->flaws |= found;
    row->period = row->period > period ? row->period : period;
    row->error = fmax(row->error, error); /* the one that is known */
    return true;
}

static struct pm_flagged_row new_row(const struct pm_structure *structure, uint32_t scope) {
    return (struct pm_flagged_row){.place = {structure, scope}, .group = PM_NONE, .error = NAN};
}

static void keep_row(const struct judging *judging, struct pm_flagged_row *row) {
    judging->flagged->flaws |= row->flaws;
    *PM_PUSH(judging->flagged, rows) = *row;
}

/* ---- executions ------------------------------------------------------------------------------ */

/* Edges into basic blocks: what is known of these gives the instructions. */
static void add_executions(const struct judging *judging) {
    const struct pm_structure *structure = judging->structure;
    struct pm_flagged_row *rows = pm_alloc(structure->n_scopes, sizeof *rows);
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        rows[s] = new_row(judging->structure, s);
    for (size_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (edge->to >= structure->n_blocks ||
            !pm_scope_is_counted(structure, pm_edge_scope(structure, (uint32_t)e)))
            continue;
        const struct pm_block *block = &structure->blocks[edge->to];
        for (size_t k = 0; k < judging->n; k++)
            judging->series[k] = judging->profiles[k]->edge_counts[e];
        struct pm_flagged_row *row = &rows[pm_row_scope(structure, block->scope)];
        if (judge(judging, &judging->models->edges[e], judging->series, row))
            row->weight += judging->series[judging->largest] * block->n_instructions;
    }
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        if (rows[s].n_flagged == 0)
            continue;
        rows[s].weight = judging->instructions > 0 ? rows[s].weight / judging->instructions : 0;
        keep_row(judging, &rows[s]);
    }
    free(rows);
}

/* ---- histograms ------------------------------------------------------------------------------ */

static const struct pm_histogram *histogram_at(const struct judging *judging, size_t k,
                                               const struct pm_histogram_model *model) {
    return pm_profile_histogram(judging->profiles[k], model->group, model->block_bytes);
}

static double cold_of(const struct pm_histogram *histogram) {
    return histogram ? pm_histogram_always_missing(histogram) : 0;
}

/* Accesses whose number or distance is not known well, of TOUCHES at the largest size. */
static double judge_models(const struct judging *judging, const struct pm_histogram_model *model,
                           double touches, struct pm_flagged_row *row) {
    double *series = judging->series, weight = 0;
    for (size_t k = 0; k < judging->n; k++) {
        const struct pm_histogram *histogram = histogram_at(judging, k, model);
        series[k] = histogram ? pm_histogram_accesses(histogram) : 0;
    }
    bool all = judge(judging, &model->accesses, model->per_execution ? NULL : series, row);
    for (size_t k = 0; k < judging->n; k++)
        series[k] = cold_of(histogram_at(judging, k, model));
    if (judge(judging, &model->cold, series, row))
        weight += series[judging->largest];
    for (size_t b = 0; b < model->n_bins; b++) {
        const struct pm_bin_model *bin = &model->bins[b];
        bool flagged = judge(judging, &bin->count, NULL, row);
        if (!bin->constant_distance)
            flagged |= judge(judging, &bin->distance, NULL, row);
        weight += flagged ? pm_model_value(&bin->count, judging->basis) : 0;
    }
    return all ? touches : fmin(weight, touches);
}

/* What was measured with less than all blocks. */
static double judge_data(const struct judging *judging, const struct pm_histogram_model *model,
                         double touches, struct pm_flagged_row *row) {
    double weight = 0;
    for (size_t k = 0; k < judging->n; k++) {
        const struct pm_histogram *histogram = histogram_at(judging, k, model);
        if (!histogram)
            continue;
        double beyond = histogram->beyond_loads + histogram->beyond_stores;
        double watched = cold_of(histogram) / (double)(histogram->sample ? histogram->sample : 1);
        if (histogram->at_least > 0 && beyond > 0) {
            row->flaws |= 1u << PM_FLAW_BOUNDED;
            if (k == judging->largest)
                weight = fmax(weight, beyond);
        }
        /* Of so many independent blocks the relative standard error is 1 / √watched. */
        if (k == judging->largest && histogram->sample > 1 &&
            watched * pm_heuristics.flagged_error * pm_heuristics.flagged_error < 1) {
            row->flaws |= 1u << PM_FLAW_SAMPLED;
            weight = touches;
        }
    }
    return weight;
}

/* Whether rows of what the group accesses lie as far apart at every size. */
static double judge_extent(const struct judging *judging, const struct pm_histogram_model *model,
                           double touches, struct pm_flagged_row *row) {
    for (size_t i = 0; i < judging->n_extents; i++)
        if (judging->extents[i].group == model->group) {
            row->flaws |= 1u << PM_FLAW_EXTENT;
            row->stride_bytes = (double)judging->extents[i].stride_bytes;
            row->walk_most = judging->extents[i].walk_most;
            return touches;
        }
    return 0;
}

/* Touches by all groups at the largest size, for each block size. */
static double *sum_touches(const struct pm_profile *profile) {
    double *touches = pm_alloc(profile->n_block_sizes + 1, sizeof *touches);
    for (size_t h = 0; h < profile->n_histograms; h++)
        for (size_t b = 0; b < profile->n_block_sizes; b++)
            if (profile->histograms[h].histogram.block_bytes == profile->block_sizes[b])
                touches[b] += pm_histogram_accesses(&profile->histograms[h].histogram);
    return touches;
}

static double share_of_touches(const struct judging *judging, uint64_t block_bytes,
                               double touches) {
    const struct pm_profile *profile = judging->profiles[judging->largest];
    for (size_t b = 0; b < profile->n_block_sizes; b++)
        if (profile->block_sizes[b] == block_bytes && judging->touches[b] > 0)
            return touches / judging->touches[b];
    return 0;
}

static void add_histograms(const struct judging *judging) {
    for (size_t h = 0; h < judging->models->n_histograms; h++) {
        const struct pm_histogram_model *model = &judging->models->histograms[h];
        if (model->group >= judging->structure->n_groups)
            continue;
        const struct pm_histogram *last = histogram_at(judging, judging->largest, model);
        double touches = last ? pm_histogram_accesses(last) : 0;
        struct pm_flagged_row row = new_row(
            judging->structure,
            pm_row_scope(judging->structure, judging->structure->groups[model->group].scope));
        row.group = model->group;
        row.block_bytes = model->block_bytes;
        double weight = judge_models(judging, model, touches, &row);
        weight = fmax(weight, judge_data(judging, model, touches, &row));
        weight = fmax(weight, judge_extent(judging, model, touches, &row));
        if (!row.flaws)
            continue;
        row.weight = share_of_touches(judging, model->block_bytes, weight);
        keep_row(judging, &row);
    }
}

/* ---- builds that differ -----------------------------------------------------------------------
 */

static void keep_unmatched(const struct judging *judging, uint32_t scope, uint32_t group) {
    struct pm_flagged_row row = new_row(judging->structure, scope);
    row.group = group;
    row.flaws = 1u << PM_FLAW_BUILDS;
    row.weight = NAN;
    keep_row(judging, &row);
}

/* Scopes whose counts are rough or have no models, and groups that have none, because builds differ
   (--build). */
static void add_unmatched(const struct judging *judging) {
    const struct pm_structure *structure = judging->structure;
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        if (structure->scopes[s].flags & (PM_SCOPE_UNMATCHED | PM_SCOPE_ROUGH))
            keep_unmatched(judging, s, PM_NONE);
    for (uint32_t g = 0; g < structure->n_groups; g++)
        if ((structure->groups[g].flags & PM_GROUP_UNMATCHED) &&
            pm_group_holder(structure, g) == PM_NONE)
            keep_unmatched(judging, pm_row_scope(structure, structure->groups[g].scope), g);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* What is not known comes first. */
static int by_weight(const void *left, const void *right) {
    const struct pm_flagged_row *a = left, *b = right;
    double of_a = isnan(a->weight) ? INFINITY : a->weight;
    double of_b = isnan(b->weight) ? INFINITY : b->weight;
    if (of_a != of_b)
        return of_a > of_b ? -1 : 1;
    if (a->place.scope != b->place.scope)
        return a->place.scope < b->place.scope ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->block_bytes < b->block_bytes ? -1 : a->block_bytes > b->block_bytes;
}

/* The sizes, if the basis is of one parameter. */
static double *sizes_of(const struct pm_model_set *models) {
    const char *parameter = NULL;
    for (size_t i = 0; i < models->basis->n; i++) {
        const char *const *names;
        size_t n;
        pm_expression_names(models->basis->expressions[i], &names, &n);
        for (size_t k = 0; k < n; k++) {
            if (parameter && strcmp(parameter, names[k]) != 0)
                return NULL;
            parameter = names[k];
        }
    }
    double *x = parameter ? pm_alloc(models->n_runs, sizeof *x) : NULL;
    for (size_t k = 0; x && k < models->n_runs; k++)
        if (!pm_parameters_get(&models->runs[k], parameter, &x[k]) ||
            !(x[k] > (k ? x[k - 1] : 0))) {
            free(x);
            return NULL;
        }
    return x;
}

static double instructions_of(const struct pm_structure *structure,
                              const struct pm_profile *profile) {
    double *executions = pm_block_executions(structure, profile->edge_counts), sum = 0;
    for (size_t b = 0; b < structure->n_blocks; b++)
        sum += executions[b] * structure->blocks[b].n_instructions;
    free(executions);
    return sum;
}

struct pm_flagged *pm_flagged_new(const struct pm_structure *structure,
                                  const struct pm_model_set *models,
                                  const struct pm_profile *const *profiles) {
    struct pm_flagged *flagged = pm_alloc(1, sizeof *flagged);
    struct judging judging = {.flagged = flagged,
                              .structure = structure,
                              .models = models,
                              .profiles = profiles,
                              .n = models->n_runs};
    flagged->structure = structure;
    flagged->models = models;
    judging.largest = pm_largest_run(models);
    judging.instructions = instructions_of(structure, profiles[judging.largest]);
    judging.n_extents = pm_fit_fixed_extents(structure, profiles, models->n_runs, &judging.extents);
    judging.touches = sum_touches(profiles[judging.largest]);
    judging.x = sizes_of(models);
    judging.series = pm_alloc(judging.n, sizeof *judging.series);
    judging.basis = pm_alloc(models->basis->n, sizeof *judging.basis);
    pm_basis_evaluate(models->basis, &models->runs[judging.largest], judging.basis, NULL);
    add_executions(&judging);
    add_histograms(&judging);
    add_unmatched(&judging);
    if (flagged->n_rows)
        qsort(flagged->rows, flagged->n_rows, sizeof *flagged->rows, by_weight);
    free(judging.extents);
    free(judging.touches);
    free(judging.basis);
    free(judging.series);
    free(judging.x);
    return flagged;
}

void pm_flagged_free(struct pm_flagged *flagged) {
    free(flagged->rows);
    free(flagged);
}
