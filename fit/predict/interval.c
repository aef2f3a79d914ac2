/* Prediction intervals: between which bounds a quantity lies at a size that was not measured.

   Model: v(p) = Σ_j c_j f_j(p), k functions, fitted to n measured values y_i with weights 1/y_i, so
   that each value is off by a share of its own size, σ·v_i.  The prediction is linear in the
   measured values, v(p) = Σ_i a_i y_i with a = W²F (FᵀW²F)⁻¹ f(p), hence off by

       s(p) = σ · √(1 + h²),   h² = Σ_i (a_i v_i)² / v(p)²,   σ² = n/(n−k) · (relative error)².

   The logarithm of the true value over v(p) then lies within ± t·s·(1 + D·ln r), where r is the
   factor of extrapolation and t Student's quantile for n−k degrees of freedom, but for at most
   pm_heuristics.freedom: what a model leaves over is not noise but what its functions cannot say
   (blocks of a constant extent, a loop that small sizes skip), neighbouring sizes are alike in it,
   and the terms were chosen among others that fit almost as well; so a few residuals that happen to
   be small say little, and an exponent that is a little wrong shows only far out.
   pm_heuristics.freedom and D were chosen on counts of mawk, gzip, bzip2, xz, sed, sort, cksum and
   perl at twice and four times the sizes of the fit; docs/log-fitting.md has what they give there
   and on programs that they were not chosen on. Bounds are by factors, not by differences, for the
   same reason.  A share is a difference of logarithms while it is small: of a model that is off by
   more than all, 1 + ln (σ) stands for σ, since what is off by 600% is off by a factor of 7, and
   not by one of e^6.

   Exact models have intervals of no width.  A model whose leave-one-out error is not known, having
   too few sizes, has no interval.  Assumes that the points of a model are the last of its runs.
   Source of the variance: weighted least squares with weights that are not those of the noise. */
#include "fit/predict/predict.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "core/base/base.h"
#include "fit/algebra/algebra.h"
#include "fit/edges/edges.h"
#include "fit/private.h"

/* What the intervals of all models at one target share. */
struct target {
    const struct pm_model_set *set;
    double *runs; /* [run · n_basis + function]; owned */
    struct pm_model_point point;
    double drift; /* 1 + D·ln r */
    double level;
    double *value;               /* [run]; of the model in hand; owned */
    struct pm_least_squares fit; /* of the runs in its functions; owns the columns */
};

double pm_fit_extrapolation(const struct pm_model_set *set, const struct pm_parameters *p,
                            bool *below) {
    double factor = 1;
    bool is_below = false;
    for (size_t i = 0; i < set->high.n; i++) {
        double value, low = set->low.values[i], high = set->high.values[i];
        if (!pm_parameters_get(p, set->high.names[i], &value) || value <= 0)
            continue;
        if (high > 0 && value / high > factor) {
            factor = value / high;
            is_below = false;
        }
        if (low / value > factor) {
            factor = low / value;
            is_below = true;
        }
    }
    if (below)
        *below = is_below;
    return factor;
}

double pm_fit_quantile(double level, double freedom) {
    return gsl_cdf_tdist_Pinv(0.5 + 0.5 * level, fmin(freedom, pm_heuristics.freedom));
}

static void close_target(struct target *target) {
    free(target->fit.columns);
    free(target->value);
    pm_model_point_free(&target->point);
    free(target->runs);
}

static bool open_target(struct target *target, const struct pm_model_set *set,
                        const struct pm_parameters *at, double level, struct pm_error *err) {
    if (!pm_heuristics_read(err))
        return false;
    size_t n_basis = set->basis->n, stride = pm_vector_padded(set->n_runs);
    *target = (struct target){
        .set = set,
        .runs = pm_alloc(set->n_runs * n_basis + 1, sizeof *target->runs),
        .drift = 1 + pm_heuristics.drift * log(pm_fit_extrapolation(set, at, NULL)),
        .level = level,
        .value = pm_alloc(set->n_runs + 1, sizeof *target->value),
        .fit.stride = stride,
        .fit.columns = pm_alloc(PM_LEAST_SQUARES_MAX * stride + 1, sizeof *target->fit.columns)};
    bool ok = pm_model_point_at(set, at, &target->point, err);
    for (size_t i = 0; ok && i < set->n_runs; i++)
        ok = pm_basis_evaluate(set->basis, &set->runs[i], target->runs + i * n_basis, err);
    if (!ok)
        close_target(target);
    return ok;
}

/* h² of MODEL with value V at the target; infinite where its functions depend on each other. */
static double leverage(struct target *target, const struct pm_model *model, double v) {
    size_t n = model->n_points, k = model->n_terms, first = target->set->n_runs - n;
    size_t n_basis = target->set->basis->n;
    double z[PM_MODEL_MAX_TERMS], largest = 0;
    for (size_t i = 0; i < n; i++) {
        target->value[i] = pm_model_value(model, target->runs + (first + i) * n_basis);
        largest = fmax(largest, target->value[i]);
    }
    for (size_t i = 0; i < n; i++)
        target->value[i] = fmax(target->value[i], pm_heuristics.small_value * largest);
    target->fit.n = pm_vector_padded(n);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < target->fit.n; i++)
            target->fit.columns[j * target->fit.stride + i] =
                i < n ? target->runs[(first + i) * n_basis + model->terms[j]] / target->value[i]
                      : 0;
    if (!pm_orthonormalise(&target->fit, k)) /* W F = Q R */
        return INFINITY;
    /* a_i v_i = Σ_j Q_ij z_j with Rᵀ z = f(p): the sum of squares is that of z. */
    double sum = 0;
    for (size_t j = 0; j < k; j++)
        z[j] = target->point.there[model->terms[j]];
    pm_forward_substitute(&target->fit, k, z, z);
    for (size_t j = 0; j < k; j++)
        sum += z[j] * z[j];
    return sum / (v * v);
}

/* The same of a power of a sum: of the line  log v = log a + b · log (sum). */
static double power_leverage(struct target *target, const struct pm_model *model) {
    size_t n = model->n_points, first = target->set->n_runs - n, n_basis = target->set->basis->n;
    double at = log(pm_model_value_at(model, &target->point)), mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        double value = log(pm_model_value(model, target->runs + (first + i) * n_basis));
        mean += value / (double)n;
        square += value * value / (double)n;
    }
    double spread = square - mean * mean;
    if (!(spread > 0))
        return INFINITY;
    return (1 + (at - mean) * (at - mean) / spread) / (double)n;
}

/* As a difference of logarithms, what is off by this share. */
static double in_logarithms(double share) { return share > 1 ? 1 + log(share) : share; }

/* The interval at the target; NAN if it is not known. */
static struct pm_fit_range range_at(struct target *target, const struct pm_model *model) {
    static const struct pm_fit_range unknown = {NAN, NAN};
    double v = pm_model_value_at(model, &target->point);
    if (model->exact)
        return (struct pm_fit_range){v, v};
    size_t n = model->n_points, k = model->power > 0 ? 2 : model->n_terms;
    if (isnan(model->leave_one_out_error) || n <= k || n > target->set->n_runs)
        return unknown;
    double freedom = (double)(n - k), t = pm_fit_quantile(target->level, freedom);
    if (!(v > 0)) /* nothing is predicted, and nothing can be relative to it */
        return (struct pm_fit_range){0, t * model->sigma * target->drift};
    double sigma = in_logarithms(model->relative_error * sqrt((double)n / freedom));
    double width = t * target->drift * sigma;
    if (sigma > 0)
        width *= sqrt(
            1 + (model->power > 0 ? power_leverage(target, model) : leverage(target, model, v)));
    if (!(width <= log(PM_LONGEST_FACTOR)))
        return (struct pm_fit_range){0, INFINITY};
    double factor = exp(width);
    return (struct pm_fit_range){v / factor, v * factor};
}

bool pm_fit_interval(const struct pm_model_set *set, const struct pm_model *model,
                     const struct pm_parameters *at, double level, double *low, double *high) {
    struct target target;
    if (!(level > 0 && level < 1) || !open_target(&target, set, at, level, NULL))
        return false;
    struct pm_fit_range range = range_at(&target, model);
    close_target(&target);
    if (isnan(range.low))
        return false;
    *low = range.low;
    *high = range.high;
    return true;
}

/* ---- all of a program ------------------------------------------------------------------------ */

/* Of one end of all edges: what the groups then execute. */
static double *executed_at_end(const struct pm_structure *structure,
                               const struct pm_fit_intervals *intervals, bool high) {
    double *ends = pm_alloc(intervals->n_edges + 1, sizeof *ends);
    double *executed = pm_alloc(structure->n_groups + 1, sizeof *executed);
    for (size_t e = 0; e < intervals->n_edges; e++)
        ends[e] = high ? intervals->edges[e].high : intervals->edges[e].low;
    pm_fit_group_accesses(structure, ends, executed, NULL);
    free(ends);
    return executed;
}

/* A product of two quantities whose errors have nothing to do with each other. */
static struct pm_fit_range product(struct pm_fit_range a, struct pm_fit_range b) {
    if (!(a.low > 0 && b.low > 0 && isfinite(a.high) && isfinite(b.high)))
        return (struct pm_fit_range){a.low * b.low, a.high * b.high};
    double width = 0.5 * hypot(log(a.high / a.low), log(b.high / b.low));
    double middle = sqrt(a.low * a.high) * sqrt(b.low * b.high);
    double factor = exp(width);
    return (struct pm_fit_range){middle / factor, middle * factor};
}

static void find_histograms(const struct pm_structure *structure, struct target *target,
                            struct pm_fit_intervals *intervals) {
    const struct pm_model_set *set = target->set;
    double *low = executed_at_end(structure, intervals, false);
    double *high = executed_at_end(structure, intervals, true);
    for (size_t h = 0; h < set->n_histograms; h++) {
        const struct pm_histogram_model *model = &set->histograms[h];
        struct pm_fit_range accesses = range_at(target, &model->accesses);
        if (model->per_execution && model->group < structure->n_groups)
            accesses =
                product(accesses, (struct pm_fit_range){low[model->group], high[model->group]});
        intervals->accesses[h] = accesses;
        intervals->cold[h] = range_at(target, &model->cold);
    }
    free(high);
    free(low);
}

struct pm_fit_intervals *pm_fit_intervals_new(const struct pm_structure *structure,
                                              const struct pm_model_set *set,
                                              const struct pm_parameters *at, double level,
                                              struct pm_error *err) {
    struct target target;
    if (!(level > 0 && level < 1)) {
        pm_fail(err, "an interval's probability is above 0 and below 1, not %g", level);
        return NULL;
    }
    if (set->n_edges != structure->n_edges) {
        pm_fail(err, "the models belong to another build of the program: run `pmodel fit` again");
        return NULL;
    }
    if (!open_target(&target, set, at, level, err))
        return NULL;
    struct pm_fit_intervals *intervals = pm_alloc(1, sizeof *intervals);
    intervals->level = level;
    intervals->n_edges = set->n_edges;
    intervals->n_histograms = set->n_histograms;
    intervals->edges = pm_alloc(set->n_edges + 1, sizeof *intervals->edges);
    intervals->accesses = pm_alloc(set->n_histograms + 1, sizeof *intervals->accesses);
    intervals->cold = pm_alloc(set->n_histograms + 1, sizeof *intervals->cold);
    for (size_t e = 0; e < set->n_edges; e++)
        intervals->edges[e] = range_at(&target, &set->edges[e]);
    find_histograms(structure, &target, intervals);
    close_target(&target);
    return intervals;
}

void pm_fit_intervals_free(struct pm_fit_intervals *intervals) {
    if (!intervals)
        return;
    free(intervals->cold);
    free(intervals->accesses);
    free(intervals->edges);
    free(intervals);
}

/* ---- the ends as profiles: each model at its own end ----------------------------------------- */

/* MODEL becomes one that gives an end of its interval at the target: all its coefficients are
   multiplied, by UNKNOWN where there is no interval. */
static void move_to_end(struct target *target, struct pm_model *model, bool high, double unknown) {
    double v = pm_model_value_at(model, &target->point);
    struct pm_fit_range range = range_at(target, model);
    double end = high ? fmin(range.high, PM_LONGEST_FACTOR * v) : range.low;
    double factor = isnan(range.low) ? unknown : end / v;
    if (v > 0)
        pm_model_multiply(model, factor);
}

/* A constant distance has no error that was estimated; it stays within a block. */
static void move_distance(struct target *target, struct pm_model *distance, bool high) {
    double v = pm_model_value_at(distance, &target->point);
    bool constant =
        distance->shape == PM_SHAPE_CONSTANT && distance->n_points >= pm_heuristics.constant_points;
    if (constant && distance->n_terms)
        distance->coefficients[0] = fmax(v + (high ? 1 : -1), 0);
    else
        move_to_end(target, distance, high, high ? PM_LONGEST_FACTOR : 0);
}

/* The short bins take the accesses that the others do not account for. */
static void move_histogram(struct target *target, struct pm_histogram_model *histogram, bool high) {
    double unknown = high ? 1 : 0;
    move_to_end(target, &histogram->accesses, high, 1);
    move_to_end(target, &histogram->cold, high, unknown);
    for (size_t b = 0; b < histogram->n_bins; b++) {
        struct pm_bin_model *bin = &histogram->bins[b];
        if (!bin->takes_rest)
            move_to_end(target, &bin->count, high, unknown);
        if (!bin->constant_distance)
            move_distance(target, &bin->distance, high);
    }
}

/* With the N_HISTOGRAMS first histograms only. */
static struct pm_profile *instantiate_moved(const struct pm_structure *structure,
                                            const struct pm_model_set *set, size_t n_histograms,
                                            const struct pm_parameters *at, double level, bool high,
                                            struct pm_error *err) {
    struct target target;
    if (!open_target(&target, set, at, level, err))
        return NULL;
    struct pm_model_set moved = *set;
    moved.n_histograms = n_histograms;
    moved.edges = pm_alloc(set->n_edges + 1, sizeof *moved.edges);
    moved.histograms = pm_alloc(n_histograms + 1, sizeof *moved.histograms);
    for (size_t e = 0; e < set->n_edges; e++) {
        moved.edges[e] = set->edges[e];
        move_to_end(&target, &moved.edges[e], high, 1);
    }
    moved.totals = pm_alloc(set->n_totals + 1, sizeof *moved.totals);
    for (size_t i = 0; i < set->n_totals; i++) {
        moved.totals[i] = set->totals[i];
        move_to_end(&target, &moved.totals[i].cold, high, high ? PM_LONGEST_FACTOR : 0);
    }
    for (size_t h = 0; h < n_histograms; h++) {
        struct pm_histogram_model *histogram = &moved.histograms[h];
        *histogram = set->histograms[h];
        histogram->bins = pm_alloc(histogram->n_bins + 1, sizeof *histogram->bins);
        for (size_t b = 0; b < histogram->n_bins; b++)
            histogram->bins[b] = set->histograms[h].bins[b];
        move_histogram(&target, histogram, high);
    }
    struct pm_profile *profile = pm_fit_instantiate(structure, &moved, at, err);
    for (size_t h = 0; h < n_histograms; h++)
        free(moved.histograms[h].bins);
    free(moved.histograms);
    free(moved.totals);
    free(moved.edges);
    close_target(&target);
    return profile;
}

/* What builds have not in common is in no model: as large a share may be missing, and all of it
   misses. */
static void add_left_out(const struct pm_model_set *set, struct pm_profile *profile) {
    double share = fmax(set->accesses_left_out, set->first_touches_left_out);
    double most = 1 - 1 / PM_LONGEST_FACTOR;
    double factor = share > 0 ? 1 / (1 - fmin(share, most)) : 1;
    for (size_t i = 0; factor > 1 && i < profile->n_histograms; i++) {
        struct pm_histogram *histogram = &profile->histograms[i].histogram;
        histogram->cold_loads *= factor;
        histogram->cold_stores *= factor;
        histogram->beyond_loads *= factor;
        histogram->beyond_stores *= factor;
        for (size_t b = 0; b < histogram->n_bins; b++) {
            histogram->bins[b].loads *= factor;
            histogram->bins[b].stores *= factor;
        }
    }
}

bool pm_fit_move_to_end(const struct pm_structure *structure, const struct pm_model_set *set,
                        const struct pm_other_misses *others, double level, bool high,
                        struct pm_profile *profile, struct pm_error *err) {
    struct pm_model_set edges = *set;
    edges.n_strides = 0;
    edges.dirty = NULL;
    edges.branches.models = NULL;
    struct pm_profile *executed =
        instantiate_moved(structure, &edges, 0, &profile->parameters, level, high, err);
    if (!executed)
        return false;
    double *counts = profile->edge_counts;
    profile->edge_counts = executed->edge_counts;
    executed->edge_counts = counts;
    pm_profile_free(executed);
    pm_fit_spread(set, others, level, high, profile);
    if (high)
        add_left_out(set, profile);
    return true;
}

/* Of a SET that has tried to hold out sizes. */
static struct pm_profile *end_by_others(const struct pm_structure *structure,
                                        const struct pm_model_set *set,
                                        const struct pm_parameters *at, double level, bool high,
                                        struct pm_error *err) {
    struct pm_other_misses others = {0};
    struct pm_error ignored = {0};
    for (size_t k = 0; k < set->n_held_out; k++) {
        struct pm_profile *other = pm_fit_instantiate(structure, set->held_out[k], at, &ignored);
        if (other)
            pm_other_misses_add(&others, other);
        pm_profile_free(other);
    }
    struct pm_profile *profile = pm_fit_instantiate(structure, set, at, err);
    if (profile && !pm_fit_move_to_end(structure, set, &others, level, high, profile, err)) {
        pm_profile_free(profile);
        profile = NULL;
    }
    free(others.curves);
    return profile;
}

struct pm_profile *pm_fit_instantiate_end(const struct pm_structure *structure,
                                          const struct pm_model_set *set,
                                          const struct pm_parameters *at, double level, bool high,
                                          struct pm_error *err) {
    if (set->held_out_tried)
        return end_by_others(structure, set, at, level, high, err);
    struct pm_profile *profile =
        instantiate_moved(structure, set, set->n_histograms, at, level, high, err);
    if (profile && high)
        add_left_out(set, profile);
    return profile;
}
