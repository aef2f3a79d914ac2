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

/* A model's value at the size, and how far off it is. */
struct valued {
    double value, error;
};

/* A bin at the size. */
struct valued_bin {
    struct valued count;
    double distance, low, high; /* LOW, HIGH: as shares of the distance */
    double sequential;          /* share of the accesses */
    bool takes_rest;
};

/* A histogram at the size, before the sums over all of them are known. */
struct valued_histogram {
    uint32_t group;
    uint64_t block_bytes;
    struct valued accesses, cold;
    bool per_execution;
    double at_least, store_share, cold_share;
    double sequential_cold; /* share of the first touches */
    bool knows_sequential;
    size_t first_bin, n_bins;
};

struct pm_instance {
    const struct pm_structure *structure;
    struct pm_model_point point;
    struct pm_profile *profile; /* owned */
    bool of_stores;             /* by dirty distance: there are histograms only */
    struct error_sum edges;
    PM_ARRAY(struct valued_histogram, histograms);
    PM_ARRAY(struct valued_bin, bins);
};

static double relative_error(const struct pm_model *model) {
    return isnan(model->leave_one_out_error) ? model->relative_error : model->leave_one_out_error;
}

static struct valued valued_at(const struct pm_model *model, const struct pm_model_point *point) {
    return (struct valued){pm_model_value_at(model, point), relative_error(model)};
}

/* Its error enters SUM by that weight. */
static void add_error(struct error_sum *sum, double weight, double error) {
    sum->weighted += weight * error;
    sum->weight += weight;
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
        profile->edge_counts[e] = pm_model_value_at(model, point);
        if (counted)
            add_error(sum, profile->edge_counts[e], relative_error(model));
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

void pm_instance_add_histogram(struct pm_instance *instance,
                               const struct pm_histogram_model *model) {
    const struct pm_model_point *point = &instance->point;
    *PM_PUSH(instance, histograms) =
        (struct valued_histogram){.group = model->group,
                                  .block_bytes = model->block_bytes,
                                  .accesses = valued_at(&model->accesses, point),
                                  .cold = valued_at(&model->cold, point),
                                  .per_execution = model->per_execution,
                                  .at_least = model->at_least,
                                  .store_share = model->store_share,
                                  .sequential_cold = model->sequential_cold,
                                  .knows_sequential = model->knows_sequential,
                                  .cold_share = model->cold_share,
                                  .first_bin = instance->n_bins,
                                  .n_bins = model->n_bins};
    for (size_t b = 0; b < model->n_bins; b++) {
        const struct pm_bin_model *bin = &model->bins[b];
        const struct valued count = valued_at(&bin->count, point);
        *PM_PUSH(instance, bins) = (struct valued_bin){
            .count = count,
            .distance = count.value > 0 ? pm_model_value_at(&bin->distance, point) : 0,
            .low = bin->low,
            .high = bin->high,
            .sequential = bin->sequential,
            .takes_rest = bin->takes_rest};
    }
    struct pm_profile *profile = instance->profile;
    size_t at = 0;
    while (at < profile->n_miss_errors &&
           profile->miss_errors[at].block_bytes != model->block_bytes)
        at++;
    if (at == profile->n_miss_errors)
        PM_PUSH(profile, miss_errors)->block_bytes = model->block_bytes;
    pm_miss_errors_add(model, point->there, &profile->miss_errors[at]);
}

/* Scales COUNTS of the bins so that they sum to REUSES. */
static void scale_to(const struct valued_bin *bins, size_t n, double *counts, double reuses) {
    double fixed = 0, flexible = 0;
    for (size_t b = 0; b < n; b++)
        *(bins[b].takes_rest ? &flexible : &fixed) += counts[b];
    double rest = reuses - fixed;
    bool to_short = !pm_fit_without(PM_STEP_TAKES_REST) && flexible > 0 && rest > 0;
    double all = fixed + flexible;
    for (size_t b = 0; b < n && all > 0; b++) {
        if (!to_short)
            counts[b] *= reuses / all;
        else if (bins[b].takes_rest)
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
static double touches_of(const struct valued_histogram *of, double executed,
                         struct error_sum *sum) {
    const struct valued *accesses = &of->accesses;
    double weighted = accesses->value * accesses->error;
    sum->weighted += of->per_execution ? weighted * executed : weighted;
    sum->weight += of->per_execution ? accesses->value * executed : accesses->value;
    return of->per_execution ? accesses->value * executed : accesses->value;
}

/* What all histograms of a block size share. */
struct block_sums {
    /* What their first touches are changed by to be those of the whole program, where the set has a
       model of these: where builds differ a block is touched first by another group in each, and
       the sum of the groups' models says little.  Of too many all keep an equal share; what is
       missing goes to those that had them in the largest run. */
    double cold_factor, cold_missing;
    double longest; /* distance, in blocks */
};

/* By dirty distance a set knows the blocks that are stored to, not all: any distance is possible.
 */
static struct block_sums sums_of(const struct pm_instance *instance, const struct pm_model_set *set,
                                 uint64_t block_bytes) {
    struct block_sums sums = {.cold_factor = 1, .longest = INFINITY};
    const struct pm_model *total = NULL;
    double sum = 0;
    for (size_t i = 0; i < set->n_totals && !total; i++)
        if (set->totals[i].block_bytes == block_bytes)
            total = &set->totals[i].cold;
    for (size_t h = 0; h < instance->n_histograms; h++)
        if (instance->histograms[h].block_bytes == block_bytes)
            sum += instance->histograms[h].cold.value;
    double blocks = total ? pm_model_value_at(total, &instance->point) : sum;
    if (sum > blocks)
        sums.cold_factor = blocks / sum;
    else
        sums.cold_missing = blocks - sum;
    if (!instance->of_stores && !pm_fit_without(PM_STEP_LONGEST_DISTANCE) &&
        (total || set->first_touches_left_out <= 0))
        sums.longest = fmax(blocks - 1, 0);
    return sums;
}

/* What of a HISTOGRAM that is predicted is sequential: SEQUENTIAL has its bins then. */
static void end_sequential(const struct valued_histogram *of, const struct pm_histogram *histogram,
                           double cold, double beyond, struct pm_histogram *sequential) {
    sequential->block_bytes = of->block_bytes;
    sequential->sample = 1;
    sequential->bytes_touched = NAN;
    sequential->at_least = histogram->at_least;
    sequential->cold_loads = cold * of->sequential_cold;
    sequential->beyond_loads = beyond;
    sequential->n_bins = pm_fit_order_bins(sequential->bins, sequential->n_bins);
}

/* SEQUENTIAL: zeroed, and what of it is so, where that is known. */
static void make_histogram(const struct valued_histogram *of, const struct valued_bin *bins,
                           const struct block_sums *all, double accesses, double *counts,
                           struct pm_histogram *histogram, struct pm_histogram *sequential,
                           struct error_sum *sum) {
    add_error(sum, of->cold.value, of->cold.error);
    double cold =
        fmin(of->cold.value, accesses) * all->cold_factor + all->cold_missing * of->cold_share;
    accesses = fmax(accesses, cold);
    double stores = of->store_share, total = 0;
    for (size_t b = 0; b < of->n_bins; b++) {
        counts[b] = bins[b].count.value;
        add_error(sum, counts[b], bins[b].count.error);
        total += counts[b];
    }
    scale_to(bins, of->n_bins, counts, accesses - cold);
    if (total <= 0) /* where the reuses are is not known: far away is the careful answer */
        cold = accesses;
    histogram->block_bytes = of->block_bytes;
    histogram->sample = 1;
    histogram->bytes_touched = NAN;
    histogram->cold_loads = cold * (1 - stores);
    histogram->cold_stores = cold * stores;
    histogram->bins = pm_alloc(of->n_bins, sizeof *histogram->bins);
    histogram->at_least = of->at_least;
    if (of->knows_sequential)
        sequential->bins = pm_alloc(of->n_bins, sizeof *sequential->bins);
    double beyond = 0;
    for (size_t b = 0; b < of->n_bins; b++) {
        if (counts[b] <= 0)
            continue;
        double mean = fmin(bins[b].distance, all->longest);
        if (of->at_least > 0 && mean >= of->at_least * (1 - pm_heuristics.rounding)) {
            histogram->beyond_loads += counts[b] * (1 - stores);
            histogram->beyond_stores += counts[b] * stores;
            beyond += counts[b] * bins[b].sequential;
            continue;
        }
        struct pm_bin *bin = &histogram->bins[histogram->n_bins++];
        bin->mean = mean;
        bin->low = bins[b].low * bin->mean;
        bin->high = fmax(fmin(bins[b].high * bin->mean, all->longest), bin->mean);
        bin->loads = counts[b] * (1 - stores);
        bin->stores = counts[b] * stores;
        if (of->knows_sequential && bins[b].sequential > 0) {
            struct pm_bin *part = &sequential->bins[sequential->n_bins++];
            *part = *bin;
            part->loads = counts[b] * bins[b].sequential;
            part->stores = 0;
        }
    }
    if (of->knows_sequential)
        end_sequential(of, histogram, cold, beyond, sequential);
    histogram->n_bins = pm_fit_order_bins(histogram->bins, histogram->n_bins);
}

/* The block sizes that PROFILE has models of, ascending. */
static void list_block_sizes(struct pm_profile *profile) {
    profile->block_sizes = pm_alloc(profile->n_miss_errors, sizeof *profile->block_sizes);
    for (size_t i = 0; i < profile->n_miss_errors; i++) {
        uint64_t block_bytes = profile->miss_errors[i].block_bytes;
        size_t at =
            PM_LOWER_BOUND(profile->n_block_sizes, k, profile->block_sizes[k] < block_bytes);
        memmove(profile->block_sizes + at + 1, profile->block_sizes + at,
                (profile->n_block_sizes - at) * sizeof *profile->block_sizes);
        profile->block_sizes[at] = block_bytes;
        profile->n_block_sizes++;
    }
}

/* The histograms of INSTANCE's profile, of which COUNTS_OF_EDGES are known. */
static void make_histograms(const struct pm_instance *instance, const struct pm_model_set *set,
                            const double *counts_of_edges, struct error_sum *sum) {
    const struct pm_structure *structure = instance->structure;
    struct pm_profile *profile = instance->profile;
    list_block_sizes(profile);
    struct block_sums *sums = pm_alloc(profile->n_block_sizes, sizeof *sums);
    double *executed = pm_alloc(structure->n_groups, sizeof *executed);
    size_t most_bins = 0;
    for (size_t b = 0; b < profile->n_block_sizes; b++)
        sums[b] = sums_of(instance, set, profile->block_sizes[b]);
    for (size_t h = 0; h < instance->n_histograms; h++)
        if (instance->histograms[h].n_bins > most_bins)
            most_bins = instance->histograms[h].n_bins;
    double *counts = pm_alloc(most_bins, sizeof *counts);
    pm_fit_group_accesses(structure, counts_of_edges, executed, NULL);
    profile->n_histograms = instance->n_histograms;
    profile->histograms = pm_alloc(profile->n_histograms, sizeof *profile->histograms);
    for (size_t h = 0; h < instance->n_histograms; h++) {
        const struct valued_histogram *of = &instance->histograms[h];
        size_t same = 0;
        while (profile->block_sizes[same] != of->block_bytes)
            same++;
        double accesses =
            touches_of(of, of->group < structure->n_groups ? executed[of->group] : 0, sum);
        profile->histograms[h].group = of->group;
        struct pm_group_histogram sequential = {.group = of->group};
        make_histogram(of, &instance->bins[of->first_bin], &sums[same], accesses, counts,
                       &profile->histograms[h].histogram, &sequential.histogram, sum);
        if (of->knows_sequential)
            *PM_PUSH(profile, sequential) = sequential;
    }
    if (!instance->of_stores && !pm_fit_without(PM_STEP_LARGER_BLOCKS))
        pm_shorten_larger_blocks_of(structure, profile);
    free(counts);
    free(executed);
    free(sums);
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct pm_instance *pm_instance_new(const struct pm_structure *structure,
                                    const struct pm_model_set *set,
                                    const struct pm_parameters *parameters, bool of_stores,
                                    struct pm_error *err) {
    struct pm_model_point point;
    if (!pm_heuristics_read(err))
        return NULL;
    if (!of_stores && set->n_edges != structure->n_edges) {
        pm_fail(err, "the models belong to another build of the program: run `pmodel fit` again");
        return NULL;
    }
    if ((!of_stores && !pm_fit_check_parameters(set, parameters, err)) ||
        !pm_model_point_at(set, parameters, &point, err))
        return NULL;
    struct pm_instance *instance = pm_alloc(1, sizeof *instance);
    *instance = (struct pm_instance){.structure = structure,
                                     .point = point,
                                     .profile = pm_alloc(1, sizeof *instance->profile),
                                     .of_stores = of_stores};
    instance->profile->predicted = true;
    set_parameters(instance->profile, set, parameters);
    if (!of_stores)
        predict_edges(structure, set, &point, instance->profile, &instance->edges);
    return instance;
}

void pm_instance_free(struct pm_instance *instance) {
    if (!instance)
        return;
    pm_profile_free(instance->profile);
    pm_model_point_free(&instance->point);
    free(instance->histograms);
    free(instance->bins);
    free(instance);
}

void pm_instance_add_strides(struct pm_instance *instance, const struct pm_stride_model *model) {
    pm_fit_predict_strides(model, &instance->point, &instance->profile->strides);
}

void pm_instance_add_dirty(struct pm_instance *instance, struct pm_instance *dirty,
                           const struct pm_model_set *dirty_set) {
    struct pm_profile *profile = instance->profile, *stores = dirty->profile;
    struct error_sum ignored = {0};
    make_histograms(dirty, dirty_set, profile->edge_counts, &ignored);
    profile->dirty = stores->histograms;
    profile->n_dirty = profile->cap_dirty = stores->n_histograms;
    stores->histograms = NULL;
    stores->n_histograms = 0;
    pm_instance_free(dirty);
}

struct pm_profile *pm_instance_profile(struct pm_instance *instance, const struct pm_model_set *set,
                                       struct pm_error *err) {
    struct pm_profile *profile = instance->profile;
    struct error_sum sum = instance->edges;
    make_histograms(instance, set, profile->edge_counts, &sum);
    profile->relative_error = sum.weight > 0 ? sum.weighted / sum.weight : 0;
    if (!set->branches.models ||
        pm_predict_behaviour(instance->structure, &set->branches, profile, err))
        instance->profile = NULL;
    else
        profile = NULL;
    pm_instance_free(instance);
    return profile;
}

static void add_histograms(struct pm_instance *instance, const struct pm_model_set *set) {
    for (size_t h = 0; h < set->n_histograms; h++)
        pm_instance_add_histogram(instance, &set->histograms[h]);
}

struct pm_profile *pm_fit_instantiate(const struct pm_structure *structure,
                                      const struct pm_model_set *models,
                                      const struct pm_parameters *parameters,
                                      struct pm_error *err) {
    struct pm_instance *instance = pm_instance_new(structure, models, parameters, false, err);
    struct pm_instance *dirty =
        instance && models->dirty ? pm_instance_new(structure, models->dirty, parameters, true, err)
                                  : NULL;
    if (!instance || (models->dirty && !dirty)) {
        pm_instance_free(instance);
        return NULL;
    }
    add_histograms(instance, models);
    for (size_t i = 0; i < models->n_strides; i++)
        pm_instance_add_strides(instance, &models->strides[i]);
    if (dirty) {
        add_histograms(dirty, models->dirty);
        pm_instance_add_dirty(instance, dirty, models->dirty);
    }
    return pm_instance_profile(instance, models, err);
}
