/* Prediction intervals: between which bounds a quantity lies at a size that was not measured.

   Model: v(p) = Σ_j c_j f_j(p), k functions, fitted to n measured values y_i with weights 1/y_i, so
   that each value is off by a share of its own size, σ·v_i.  The prediction is linear in the
   measured values, v(p) = Σ_i a_i y_i with a = W²F (FᵀW²F)⁻¹ f(p), hence off by

       s(p) = σ · √(1 + h²),   h² = Σ_i (a_i v_i)² / v(p)²,   σ² = n/(n−k) · (relative error)².

   The logarithm of the true value over v(p) then lies within ± t·s·(1 + D·ln r), where r is the
   factor of extrapolation and t Student's quantile for n−k degrees of freedom, but for at most
   FREEDOM: what a model leaves over is not noise but what its functions cannot say (blocks of a
   constant extent, a loop that sets in late), neighbouring sizes are alike in it, and the terms
   were chosen among others that fit almost as well; so a few residuals that happen to be small say
   little, and an exponent that is a little wrong shows only far out.  FREEDOM and D were chosen on
   counts of mawk, gzip, bzip2, xz, sed, sort, cksum and perl at twice and four times the sizes of
   the fit; README.md has what they give there and on programs that they were not chosen on. Bounds
   are by factors, not by differences, for the same reason.

   Exact models have intervals of no width.  A model whose leave-one-out error is not known, having
   too few sizes, has no interval.  Assumes that the points of a model are the last of its runs.
   Source of the variance: weighted least squares with weights that are not those of the noise. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "core/base/base.h"
#include "fit/stage.h"

enum { LEVEL_POINTS = 3 };

#define FREEDOM 2.0
#define DRIFT 0.75
#define LEAST_VALUE 1e-3   /* of the largest: no value weighs more than one of this size */
#define LONGEST_FACTOR 1e9 /* an interval that reaches further has no bounds */
#define DEPENDENT 1e-11    /* of a column's length: what is left of it is rounding */

/* What the intervals of all models at one place share. */
struct place {
    const struct pm_model_set *set;
    double *runs; /* [run · n_basis + function]; owned */
    double *at;   /* [function]; owned */
    double drift; /* 1 + D·ln r */
    double level;
    double *value;  /* [run]; of the model in hand; owned */
    double *column; /* [function · n_runs + run]: weighted, then orthonormal; owned */
};

/* How far P is beyond what was measured, 1 inside: the largest factor of any parameter. */
static double extrapolation(const struct pm_model_set *set, const struct pm_parameters *p) {
    double factor = 1;
    for (size_t i = 0; i < set->high.n; i++) {
        double value, low = set->low.values[i], high = set->high.values[i];
        if (!pm_parameters_get(p, set->high.names[i], &value) || value <= 0)
            continue;
        if (high > 0)
            factor = fmax(factor, value / high);
        factor = fmax(factor, low / value);
    }
    return factor;
}

static void close_place(struct place *place) {
    free(place->column);
    free(place->value);
    free(place->at);
    free(place->runs);
}

static bool open_place(struct place *place, const struct pm_model_set *set,
                       const struct pm_parameters *at, double level, struct pm_error *err) {
    size_t n_basis = set->basis->n;
    *place = (struct place){
        .set = set,
        .runs = pm_alloc(set->n_runs * n_basis + 1, sizeof *place->runs),
        .at = pm_alloc(n_basis + 1, sizeof *place->at),
        .drift = 1 + DRIFT * log(extrapolation(set, at)),
        .level = level,
        .value = pm_alloc(set->n_runs + 1, sizeof *place->value),
        .column = pm_alloc(set->n_runs * PM_MODEL_MAX_TERMS + 1, sizeof *place->column)};
    bool ok = pm_basis_evaluate(set->basis, at, place->at, err);
    for (size_t i = 0; ok && i < set->n_runs; i++)
        ok = pm_basis_evaluate(set->basis, &set->runs[i], place->runs + i * n_basis, err);
    if (!ok)
        close_place(place);
    return ok;
}

/* h² of MODEL with value V at the place; infinite where its functions depend on each other. */
static double leverage(struct place *place, const struct pm_model *model, double v) {
    size_t n = model->n_points, k = model->n_terms, first = place->set->n_runs - n;
    size_t n_basis = place->set->basis->n;
    double triangle[PM_MODEL_MAX_TERMS][PM_MODEL_MAX_TERMS], z[PM_MODEL_MAX_TERMS], largest = 0;
    for (size_t i = 0; i < n; i++) {
        place->value[i] = pm_model_value(model, place->runs + (first + i) * n_basis);
        largest = fmax(largest, place->value[i]);
    }
    for (size_t i = 0; i < n; i++)
        place->value[i] = fmax(place->value[i], LEAST_VALUE * largest);
    /* W F = Q R, by Gram-Schmidt twice. */
    for (size_t j = 0; j < k; j++) {
        double *q = place->column + j * n, before = 0, after = 0;
        for (size_t i = 0; i < n; i++) {
            q[i] = place->runs[(first + i) * n_basis + model->terms[j]] / place->value[i];
            before += q[i] * q[i];
        }
        for (size_t l = 0; l < j; l++)
            triangle[l][j] = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t l = 0; l < j; l++) {
                const double *other = place->column + l * n;
                double part = 0;
                for (size_t i = 0; i < n; i++)
                    part += other[i] * q[i];
                triangle[l][j] += part;
                for (size_t i = 0; i < n; i++)
                    q[i] -= part * other[i];
            }
        for (size_t i = 0; i < n; i++)
            after += q[i] * q[i];
        if (!(after > DEPENDENT * DEPENDENT * before))
            return INFINITY;
        triangle[j][j] = sqrt(after);
        for (size_t i = 0; i < n; i++)
            q[i] /= triangle[j][j];
    }
    /* a_i v_i = Σ_j Q_ij z_j with Rᵀ z = f(p): the sum of squares is that of z. */
    double sum = 0;
    for (size_t j = 0; j < k; j++) {
        z[j] = place->at[model->terms[j]];
        for (size_t l = 0; l < j; l++)
            z[j] -= triangle[l][j] * z[l];
        z[j] /= triangle[j][j];
        sum += z[j] * z[j];
    }
    return sum / (v * v);
}

/* The interval at the place; NAN if it is not known. */
static struct pm_fit_range range_at(struct place *place, const struct pm_model *model) {
    static const struct pm_fit_range unknown = {NAN, NAN};
    double v = pm_model_value(model, place->at);
    if (model->exact)
        return (struct pm_fit_range){v, v};
    size_t n = model->n_points, k = model->n_terms;
    if (isnan(model->leave_one_out_error) || n <= k || n > place->set->n_runs)
        return unknown;
    double freedom = (double)(n - k), t;
    t = gsl_cdf_tdist_Pinv(0.5 + 0.5 * place->level, fmin(freedom, FREEDOM));
    if (!(v > 0)) /* nothing is predicted, and nothing can be relative to it */
        return (struct pm_fit_range){0, t * model->sigma * place->drift};
    double sigma = model->relative_error * sqrt((double)n / freedom);
    double width = t * place->drift * sigma;
    if (sigma > 0)
        width *= sqrt(1 + leverage(place, model, v));
    if (!(width <= log(LONGEST_FACTOR)))
        return (struct pm_fit_range){0, INFINITY};
    double factor = exp(width);
    return (struct pm_fit_range){v / factor, v * factor};
}

bool pm_fit_interval(const struct pm_model_set *set, const struct pm_model *model,
                     const struct pm_parameters *at, double level, double *low, double *high) {
    struct place place;
    if (!(level > 0 && level < 1) || !open_place(&place, set, at, level, NULL))
        return false;
    struct pm_fit_range range = range_at(&place, model);
    close_place(&place);
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
    bool *known = pm_alloc(structure->n_groups + 1, sizeof *known);
    for (size_t e = 0; e < intervals->n_edges; e++)
        ends[e] = high ? intervals->edges[e].high : intervals->edges[e].low;
    pm_fit_executed(structure, ends, executed, known);
    free(known); /* of the measurements is what counts */
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

static void find_histograms(const struct pm_structure *structure, struct place *place,
                            struct pm_fit_intervals *intervals) {
    const struct pm_model_set *set = place->set;
    double *low = executed_at_end(structure, intervals, false);
    double *high = executed_at_end(structure, intervals, true);
    for (size_t h = 0; h < set->n_histograms; h++) {
        const struct pm_histogram_model *model = &set->histograms[h];
        struct pm_fit_range accesses = range_at(place, &model->accesses);
        if (model->per_execution && model->group < structure->n_groups)
            accesses =
                product(accesses, (struct pm_fit_range){low[model->group], high[model->group]});
        intervals->accesses[h] = accesses;
        intervals->cold[h] = range_at(place, &model->cold);
    }
    free(high);
    free(low);
}

struct pm_fit_intervals *pm_fit_intervals_new(const struct pm_structure *structure,
                                              const struct pm_model_set *set,
                                              const struct pm_parameters *at, double level,
                                              struct pm_error *err) {
    struct place place;
    if (!(level > 0 && level < 1)) {
        pm_fail(err, "an interval's probability is above 0 and below 1, not %g", level);
        return NULL;
    }
    if (set->n_edges != structure->n_edges) {
        pm_fail(err, "the models belong to another build of the program: run `pmodel fit` again");
        return NULL;
    }
    if (!open_place(&place, set, at, level, err))
        return NULL;
    struct pm_fit_intervals *intervals = pm_alloc(1, sizeof *intervals);
    intervals->level = level;
    intervals->n_edges = set->n_edges;
    intervals->n_histograms = set->n_histograms;
    intervals->edges = pm_alloc(set->n_edges + 1, sizeof *intervals->edges);
    intervals->accesses = pm_alloc(set->n_histograms + 1, sizeof *intervals->accesses);
    intervals->cold = pm_alloc(set->n_histograms + 1, sizeof *intervals->cold);
    for (size_t e = 0; e < set->n_edges; e++)
        intervals->edges[e] = range_at(&place, &set->edges[e]);
    find_histograms(structure, &place, intervals);
    close_place(&place);
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

/* ---- the ends as profiles -------------------------------------------------------------------- */

/* MODEL becomes one that gives an end of its interval at the place: all its coefficients are
   multiplied, by UNKNOWN where there is no interval. */
static void move_to_end(struct place *place, struct pm_model *model, bool high, double unknown) {
    double v = pm_model_value(model, place->at);
    struct pm_fit_range range = range_at(place, model);
    double end = high ? fmin(range.high, LONGEST_FACTOR * v) : range.low;
    double factor = isnan(range.low) ? unknown : end / v;
    for (size_t i = 0; i < model->n_terms && v > 0; i++)
        model->coefficients[i] *= factor;
}

/* A distance that is level has no error that was estimated; it stays within a block. */
static void move_distance(struct place *place, struct pm_model *distance, bool high) {
    double v = pm_model_value(distance, place->at);
    bool level = distance->shape == PM_SHAPE_CONSTANT && distance->n_points >= LEVEL_POINTS;
    if (level && distance->n_terms)
        distance->coefficients[0] = fmax(v + (high ? 1 : -1), 0);
    else
        move_to_end(place, distance, high, high ? LONGEST_FACTOR : 0);
}

/* What the short bins get is what the others leave. */
static void move_histogram(struct place *place, struct pm_histogram_model *histogram, bool high) {
    double unknown = high ? 1 : 0;
    move_to_end(place, &histogram->accesses, high, 1);
    move_to_end(place, &histogram->cold, high, unknown);
    for (size_t b = 0; b < histogram->n_bins; b++) {
        struct pm_bin_model *bin = &histogram->bins[b];
        if (!bin->takes_rest)
            move_to_end(place, &bin->count, high, unknown);
        if (!bin->constant_distance)
            move_distance(place, &bin->distance, high);
    }
}

struct pm_profile *pm_fit_instantiate_end(const struct pm_structure *structure,
                                          const struct pm_model_set *set,
                                          const struct pm_parameters *at, double level, bool high,
                                          struct pm_error *err) {
    struct place place;
    if (!open_place(&place, set, at, level, err))
        return NULL;
    struct pm_model_set moved = *set;
    moved.edges = pm_alloc(set->n_edges + 1, sizeof *moved.edges);
    moved.histograms = pm_alloc(set->n_histograms + 1, sizeof *moved.histograms);
    for (size_t e = 0; e < set->n_edges; e++) {
        moved.edges[e] = set->edges[e];
        move_to_end(&place, &moved.edges[e], high, 1);
    }
    for (size_t h = 0; h < set->n_histograms; h++) {
        struct pm_histogram_model *histogram = &moved.histograms[h];
        *histogram = set->histograms[h];
        histogram->bins = pm_alloc(histogram->n_bins + 1, sizeof *histogram->bins);
        for (size_t b = 0; b < histogram->n_bins; b++)
            histogram->bins[b] = set->histograms[h].bins[b];
        move_histogram(&place, histogram, high);
    }
    struct pm_profile *profile = pm_fit_instantiate(structure, &moved, at, err);
    for (size_t h = 0; h < set->n_histograms; h++)
        free(moved.histograms[h].bins);
    free(moved.histograms);
    free(moved.edges);
    close_place(&place);
    return profile;
}
