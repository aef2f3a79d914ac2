/* The models at one size → a profile.

   Edges: from their models, the least sure ones by flow conservation (edges/edge_flow.c).
   Histograms: count and distance of each bin from its models.  The sum over the bins and the cold
   accesses is the group's touches of blocks, by its executed accesses where the models have it so
   (edges/group_accesses.c): what the long bins do not account for goes to the short ones, whose
   misses nobody notices; where that fails, all bins are scaled alike.  A bin is even between its
   ends. */
#include "fit/predict/predict.h"
#include "fit/strides/strides.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/edges/edges.h"
#include "fit/private.h"

/* Of a parameter: there are not so many bytes in all memories. */
static const double largest_size = 1e18;

struct error_sum {
    double weighted, weight;
};

static double relative_error(const struct pm_model *model) {
    return isnan(model->leave_one_out_error) ? model->relative_error : model->leave_one_out_error;
}

/* A model's value; its error enters SUM by that weight. */
static double value_of(const struct pm_model *model, const struct pm_model_point *point,
                       struct error_sum *sum) {
    double value = pm_model_value_at(model, point);
    sum->weighted += value * relative_error(model);
    sum->weight += value;
    return value;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static char *known_names(const struct pm_model_set *models) {
    char *text = pm_strdup("");
    for (size_t i = 0; i < models->low.n; i++) {
        pm_append(&text, "%s%s", i ? ", " : "", models->low.names[i]);
    }
    return text;
}

static bool fail_unknown(const struct pm_model_set *models, const char *name,
                         struct pm_error *err) {
    char *known = known_names(models);
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < models->low.n; i++)
        pm_nearest_try(&nearest, name, models->low.names[i]);
    pm_fail(err, "the models have no parameter %s; they know: %s", name, known);
    free(known);
    return pm_fail_nearest(err, &nearest);
}

static bool depends_on(const struct pm_model_set *models, const char *name) {
    for (size_t i = 0; i < models->basis->n; i++) {
        const char *const *names;
        size_t n;
        pm_expression_names(models->basis->expressions[i], &names, &n);
        for (size_t k = 0; k < n; k++)
            if (strcmp(names[k], name) == 0)
                return true;
    }
    return false;
}

bool pm_fit_check_parameters(const struct pm_model_set *models,
                             const struct pm_parameters *parameters, struct pm_error *err) {
    char *known = known_names(models);
    bool ok = true;
    for (size_t i = 0; ok && i < parameters->n; i++) {
        const char *name = parameters->names[i];
        double low = 0, high = 0;
        if (!pm_parameters_get(&models->low, name, &low) ||
            !pm_parameters_get(&models->high, name, &high))
            ok = fail_unknown(models, name, err);
        else if (low == high && parameters->values[i] != low)
            ok = pm_fail(err,
                         "%s was %g in all runs, so the models say nothing about %s=%g: run "
                         "the program at other values of it",
                         name, low, name, parameters->values[i]);
        else if (depends_on(models, name) && parameters->values[i] <= 0)
            ok = pm_fail(err, "%s=%g is not a size: it must be above 0", name,
                         parameters->values[i]);
        else if (depends_on(models, name) && parameters->values[i] > largest_size)
            ok = pm_fail(err, "%s=%g is not a size: it must be at most %g", name,
                         parameters->values[i], largest_size);
    }
    for (size_t i = 0; ok && i < models->low.n; i++) {
        double value;
        if (depends_on(models, models->low.names[i]) &&
            !pm_parameters_get(parameters, models->low.names[i], &value))
            ok = pm_fail(err, "the models are functions of %s, which is not given: add -P %s=…",
                         models->low.names[i], models->low.names[i]);
    }
    free(known);
    return ok;
}

/* The given parameters, and those that had one value in all runs; how far beyond the measured range
   they lie. */
static void set_parameters(struct pm_profile *profile, const struct pm_model_set *models,
                           const struct pm_parameters *parameters) {
    profile->parameters = *parameters;
    profile->extrapolation = pm_fit_extrapolation(models, parameters, &profile->below_measured);
    for (size_t i = 0; i < models->high.n; i++) {
        double value, low = models->low.values[i], high = models->high.values[i];
        if (!pm_parameters_get(parameters, models->high.names[i], &value) && low == high)
            pm_parameters_set(&profile->parameters, models->high.names[i], high, NULL);
    }
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* Of code whose counts are rough, flow is not conserved: each edge has its own model. */
static bool has_rough_code(const struct pm_structure *structure, uint32_t routine) {
    for (size_t i = 0; i < structure->n_scopes; i++)
        if (structure->scopes[i].routine == routine &&
            (structure->scopes[i].flags & PM_SCOPE_ROUGH))
            return true;
    return false;
}

/* By how much VALUE may be wrong. */
static double doubt_of(const struct pm_model *model, double value) {
    return model->exact ? 0 : fmax(value * relative_error(model), model->sigma);
}

static void predict_edges(const struct pm_structure *structure, const struct pm_model_set *models,
                          const struct pm_model_point *point, struct pm_profile *profile,
                          struct error_sum *sum) {
    profile->n_edges = models->n_edges;
    profile->edge_counts = pm_alloc(models->n_edges, sizeof *profile->edge_counts);
    double *doubts = pm_alloc(models->n_edges, sizeof *doubts);
    for (size_t e = 0; e < models->n_edges; e++) {
        const struct pm_model *model = &models->edges[e];
        bool counted = structure->edges[e].counter != PM_NONE; /* the sum of errors is of these */
        profile->edge_counts[e] =
            counted ? value_of(model, point, sum) : pm_model_value_at(model, point);
        doubts[e] = doubt_of(model, profile->edge_counts[e]);
    }
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        bool repaired = false;
        if (!routine->counted && routine->n_edges)
            memset(profile->edge_counts + routine->first_edge, 0,
                   routine->n_edges * sizeof *profile->edge_counts);
        if (!routine->counted || has_rough_code(structure, r))
            continue;
        bool solved = pm_fit_solve_routine(structure, r, profile->edge_counts, doubts, &repaired);
        profile->n_inexact_routines += !solved || repaired;
    }
    free(doubts);
}

/* ---- histograms ------------------------------------------------------------------------------ */

/* Scales the bins so that they sum to REUSES. */
static void scale_to(const struct pm_histogram_model *model, double *counts, double reuses) {
    double fixed = 0, flexible = 0;
    for (size_t b = 0; b < model->n_bins; b++)
        *(model->bins[b].takes_rest ? &flexible : &fixed) += counts[b];
    double rest = reuses - fixed;
    bool to_short = !pm_fit_without(PM_STEP_TAKES_REST) && flexible > 0 && rest > 0;
    double all = fixed + flexible;
    for (size_t b = 0; b < model->n_bins && all > 0; b++) {
        if (!to_short)
            counts[b] *= reuses / all;
        else if (model->bins[b].takes_rest)
            counts[b] *= rest / flexible;
    }
}

static int compare_bins(const void *a, const void *b) {
    const struct pm_bin *left = a, *right = b;
    return PM_COMPARE(left->mean, right->mean);
}

size_t pm_fit_order_bins(struct pm_bin *bins, size_t n) {
    size_t kept = 0;
    PM_SORT(bins, n, compare_bins);
    for (size_t i = 1; i < n; i++) {
        struct pm_bin *last = &bins[kept], *bin = &bins[i];
        if (bin->mean - last->mean <= pm_heuristics.rounding * bin->mean) {
            last->loads += bin->loads;
            last->stores += bin->stores;
            last->low = fmin(last->low, bin->low);
            last->high = fmax(last->high, bin->high);
        } else {
            bins[++kept] = *bin;
        }
    }
    for (size_t i = 1; n && i <= kept; i++) {
        struct pm_bin *last = &bins[i - 1], *bin = &bins[i];
        if (last->high < bin->low)
            continue;
        double between = 0.5 * (last->high + bin->low);
        between = fmin(fmax(between, last->mean), bin->mean);
        last->high = between;
        bin->low = nextafter(between, INFINITY);
        bin->mean = fmax(bin->mean, bin->low);
        bin->high = fmax(bin->high, bin->mean);
    }
    return n ? kept + 1 : 0;
}

/* Touches of blocks by a group of which EXECUTED accesses are executed. */
static double touches_of(const struct pm_histogram_model *model, const struct pm_model_point *point,
                         double executed, struct error_sum *sum) {
    struct error_sum share = {0};
    double value = value_of(&model->accesses, point, model->per_execution ? &share : sum);
    if (!model->per_execution)
        return value;
    sum->weighted += share.weighted * executed;
    sum->weight += share.weight * executed;
    return value * executed;
}

/* What the first touches of groups are changed by for those of one block size to be those of the
   whole program, where the set has a model of these: where builds differ a block is touched first
   by another group in each, and the sum of the groups' models says little.  Of too many all keep an
   equal share; what is missing goes to those that had them in the largest run. */
struct cold_sum {
    double factor, missing;
};

static struct cold_sum sum_cold(const struct pm_model_set *models, uint64_t block_bytes,
                                const struct pm_model_point *point) {
    struct cold_sum all = {.factor = 1};
    const struct pm_model *total = NULL;
    double sum = 0;
    for (size_t i = 0; i < models->n_totals; i++)
        if (models->totals[i].block_bytes == block_bytes)
            total = &models->totals[i].cold;
    for (size_t h = 0; total && h < models->n_histograms; h++)
        if (models->histograms[h].block_bytes == block_bytes)
            sum += pm_model_value_at(&models->histograms[h].cold, point);
    double blocks = total ? pm_model_value_at(total, point) : sum;
    if (sum > blocks)
        all.factor = blocks / sum;
    else
        all.missing = blocks - sum;
    return all;
}

static void predict_histogram(const struct pm_histogram_model *model,
                              const struct pm_model_point *point, double accesses, double longest,
                              struct cold_sum all, double *counts, struct pm_histogram *histogram,
                              struct error_sum *sum) {
    double cold = fmin(value_of(&model->cold, point, sum), accesses) * all.factor +
                  all.missing * model->cold_share;
    accesses = fmax(accesses, cold);
    double stores = model->store_share, total = 0;
    for (size_t b = 0; b < model->n_bins; b++) {
        counts[b] = value_of(&model->bins[b].count, point, sum);
        total += counts[b];
    }
    scale_to(model, counts, accesses - cold);
    if (total <= 0) /* where the reuses are is not known: far away is the careful answer */
        cold = accesses;
    histogram->block_bytes = model->block_bytes;
    histogram->sample = 1;
    histogram->bytes_touched = NAN;
    histogram->cold_loads = cold * (1 - stores);
    histogram->cold_stores = cold * stores;
    histogram->bins = pm_alloc(model->n_bins, sizeof *histogram->bins);
    histogram->at_least = model->at_least;
    for (size_t b = 0; b < model->n_bins; b++) {
        if (counts[b] <= 0)
            continue;
        double mean = fmin(pm_model_value_at(&model->bins[b].distance, point), longest);
        if (model->at_least > 0 && mean >= model->at_least * (1 - pm_heuristics.rounding)) {
            histogram->beyond_loads += counts[b] * (1 - stores);
            histogram->beyond_stores += counts[b] * stores;
            continue;
        }
        struct pm_bin *bin = &histogram->bins[histogram->n_bins++];
        bin->mean = mean;
        bin->low = model->bins[b].low * bin->mean;
        bin->high = fmax(fmin(model->bins[b].high * bin->mean, longest), bin->mean);
        bin->loads = counts[b] * (1 - stores);
        bin->stores = counts[b] * stores;
    }
    histogram->n_bins = pm_fit_order_bins(histogram->bins, histogram->n_bins);
}

/* OF_STORES: by dirty distance, of MODELS that know the blocks that are stored to, not all. */
static void predict_histograms(const struct pm_structure *structure,
                               const struct pm_model_set *models, bool of_stores,
                               const struct pm_model_point *point, struct pm_profile *profile,
                               struct error_sum *sum) {
    size_t most_bins = 0;
    for (size_t h = 0; h < models->n_histograms; h++)
        if (models->histograms[h].n_bins > most_bins)
            most_bins = models->histograms[h].n_bins;
    double *counts = pm_alloc(most_bins, sizeof *counts);
    double *longest = pm_alloc(profile->n_block_sizes, sizeof *longest);
    for (size_t b = 0; b < profile->n_block_sizes; b++)
        longest[b] = of_stores || pm_fit_without(PM_STEP_LONGEST_DISTANCE)
                         ? INFINITY
                         : pm_model_set_longest_distance(models, profile->block_sizes[b], point);
    struct cold_sum *colds = pm_alloc(profile->n_block_sizes, sizeof *colds);
    for (size_t b = 0; b < profile->n_block_sizes; b++)
        colds[b] = sum_cold(models, profile->block_sizes[b], point);
    double *executed = pm_alloc(structure->n_groups, sizeof *executed);
    pm_fit_group_accesses(structure, profile->edge_counts, executed, NULL);
    profile->n_histograms = models->n_histograms;
    profile->histograms = pm_alloc(models->n_histograms, sizeof *profile->histograms);
    for (size_t h = 0; h < models->n_histograms; h++) {
        const struct pm_histogram_model *model = &models->histograms[h];
        size_t same = 0;
        while (profile->block_sizes[same] != model->block_bytes)
            same++;
        profile->histograms[h].group = model->group;
        double accesses = touches_of(
            model, point, model->group < structure->n_groups ? executed[model->group] : 0, sum);
        predict_histogram(model, point, accesses, longest[same], colds[same], counts,
                          &profile->histograms[h].histogram, sum);
    }
    free(executed);
    free(colds);
    free(longest);
    free(counts);
}

static void list_block_sizes(const struct pm_model_set *models, struct pm_profile *profile) {
    profile->block_sizes = pm_alloc(models->n_histograms, sizeof *profile->block_sizes);
    for (size_t h = 0; h < models->n_histograms; h++) {
        uint64_t block_bytes = models->histograms[h].block_bytes;
        size_t at =
            PM_LOWER_BOUND(profile->n_block_sizes, i, profile->block_sizes[i] < block_bytes);
        if (at < profile->n_block_sizes && profile->block_sizes[at] == block_bytes)
            continue;
        memmove(profile->block_sizes + at + 1, profile->block_sizes + at,
                (profile->n_block_sizes - at) * sizeof *profile->block_sizes);
        profile->block_sizes[at] = block_bytes;
        profile->n_block_sizes++;
    }
}

/* What PROFILE, predicted but for this, has of stores by dirty distance. */
static bool predict_dirty(const struct pm_structure *structure, const struct pm_model_set *models,
                          const struct pm_parameters *parameters, struct pm_profile *profile,
                          struct pm_error *err) {
    struct pm_model_point point;
    struct error_sum ignored = {0};
    struct pm_profile stores = {.n_edges = profile->n_edges, .edge_counts = profile->edge_counts};
    if (!pm_model_point_at(models, parameters, &point, err))
        return false;
    list_block_sizes(models, &stores);
    predict_histograms(structure, models, true, &point, &stores, &ignored);
    profile->dirty = stores.histograms;
    profile->n_dirty = profile->cap_dirty = stores.n_histograms;
    free(stores.block_sizes);
    pm_model_point_free(&point);
    return true;
}

/* All executions count as analysed: what the models say is of all of them, at most each. */
static bool predict_branches(const struct pm_structure *structure,
                             const struct pm_branch_models *branches,
                             const struct pm_parameters *parameters, struct pm_profile *profile,
                             struct pm_error *err) {
    struct pm_model_point point;
    if (!pm_model_point_at(branches->models, parameters, &point, err))
        return false;
    double *executions = pm_block_executions(structure, profile->edge_counts);
    for (size_t i = 0; i < branches->n_blocks; i++) {
        uint32_t block = branches->blocks[i];
        if (block >= structure->n_blocks || !(executions[block] > 0))
            continue;
        struct pm_measured_branch row = {
            .block = block, .executions = executions[block], .analysed = executions[block]};
        for (unsigned p = 0; p < PM_N_PREDICTORS; p++) {
            const struct pm_model *model = &branches->models->edges[i * PM_N_PREDICTORS + p];
            row.wrong[p] = fmin(pm_model_value_at(model, &point), row.executions);
        }
        pm_behaviour_add_branch(&profile->behaviour, &row);
    }
    free(executions);
    pm_model_point_free(&point);
    return true;
}

struct pm_profile *pm_fit_instantiate(const struct pm_structure *structure,
                                      const struct pm_model_set *models,
                                      const struct pm_parameters *parameters,
                                      struct pm_error *err) {
    if (!pm_heuristics_read(err))
        return NULL;
    if (models->n_edges != structure->n_edges) {
        pm_fail(err, "the models belong to another build of the program: run `pmodel fit` again");
        return NULL;
    }
    struct pm_model_point point;
    if (!pm_fit_check_parameters(models, parameters, err) ||
        !pm_model_point_at(models, parameters, &point, err))
        return NULL;
    struct error_sum sum = {0};
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    profile->predicted = true;
    set_parameters(profile, models, parameters);
    list_block_sizes(models, profile);
    predict_edges(structure, models, &point, profile, &sum);
    predict_histograms(structure, models, false, &point, profile, &sum);
    pm_fit_predict_strides(models, &point, &profile->strides);
    profile->relative_error = sum.weight > 0 ? sum.weighted / sum.weight : 0;
    pm_model_point_free(&point);
    if ((!models->dirty || predict_dirty(structure, models->dirty, parameters, profile, err)) &&
        (!models->branches.models ||
         predict_branches(structure, &models->branches, parameters, profile, err)))
        return profile;
    pm_profile_free(profile);
    return NULL;
}
