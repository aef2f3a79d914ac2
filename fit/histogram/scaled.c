/* Groups whose reuses spread over all that they can reach: random accesses.

   The blocks that a program touches are its extent, E (x).  An access to a place that the loop does
   not determine is reused after a time that grows with the number of places: of uniformly random
   ones among E blocks the q-th quantile of the distances is E · g (q), of ones in a band it stays,
   of ones that follow a power law it is about E^b with an exponent that grows with q, and streams
   in between add a share of E.  So the distances are cut at equal shares of the reuses, at all
   sizes alike, and the mean distance of each part is the best of
       D (x) = c,   c · E (x),   a + c · E (x),   a · E (x)^b   with 0 < b ≤ 1,
   E being without its constant part, as of blocks that are there at any size, and of the simplest
   form that is met within a block or two: what lies otherwise in memory must not make a cubic.  A
   part that was short stays a share of the reuses.
   No gaps, no constant distances, no clean cut: what these find in such a group are bins of the
   measured histogram, whose ends are crossed at one size and not at another.

   Which of the two models a group gets is decided by trial: both are made of the sizes but the
   largest, whose misses they predict.  The scaled one may be a little worse there, and by as much
   as the distances vary by chance: d of them are met with a deviation of √d / 2 at most.

   Assumes one parameter (several have no largest size), and a program whose data grow together.

   Source: of this project; equal shares from Marin & Mellor-Crummey 2004, section 2.3.2. */
#include "fit/histogram/private.h"

#include <math.h>

#include "core/base/base.h"

/* ---- the extent ------------------------------------------------------------------------------ */

/* The number of the function 1 among those of DESIGN; none: n_functions. */
static size_t constant_function(const struct pm_design *design) {
    for (size_t f = 0; f < design->n_functions; f++) {
        bool one = true;
        for (size_t k = 0; k < design->n && one; k++)
            one = design->functions[k * design->n_functions + f] == 1;
        if (one)
            return f;
    }
    return design->n_functions;
}

/* Whether EXTENT is larger at each size than at the one before. */
static bool grows(const struct pm_design *design, const struct pm_model *extent) {
    double before = 0;
    for (size_t k = 0; k < design->n; k++) {
        double here = pm_design_model_value(design, extent, k);
        if (here <= before)
            return false;
        before = here;
    }
    return true;
}

bool pm_fit_extent(struct pm_partition *p, const double *blocks, struct pm_model *extent) {
    const struct pm_design *design = p->design;
    pm_series_fit(p->series, blocks, PM_SERIES_BLOCKS, extent);
    extent->exact = false;
    size_t constant = constant_function(design);
    struct pm_model without = *extent;
    without.n_terms = 0;
    for (size_t i = 0; i < extent->n_terms; i++)
        if (extent->terms[i] != constant)
            pm_model_add_term(&without, extent->terms[i], extent->coefficients[i]);
    if (grows(design, &without))
        *extent = without;
    return grows(design, extent);
}

/* ---- one distance ---------------------------------------------------------------------------- */

/* z = offset + slope · t, by weighted least squares; one of the two may be fixed at 0. */
struct line {
    bool has_offset, has_slope;
    double w, t, z, tt, tz; /* sums of weights, and weighted ones */
    double offset, slope;
};

static void line_add(struct line *line, double weight, double t, double z) {
    line->w += weight;
    line->t += weight * t;
    line->z += weight * z;
    line->tt += weight * t * t;
    line->tz += weight * t * z;
}

static void line_solve(struct line *line) {
    double determinant = line->w * line->tt - line->t * line->t;
    line->offset = line->slope = 0;
    if (line->has_offset && line->has_slope) {
        line->slope = determinant > 0 ? (line->w * line->tz - line->t * line->z) / determinant : 0;
        line->offset = (line->z - line->slope * line->t) / line->w;
    } else if (line->has_offset) {
        line->offset = line->z / line->w;
    } else {
        line->slope = line->tz / line->tt;
    }
}

/* 1 − leverage: what is left of an error at T in the residual. */
static double redundancy(const struct line *line, double weight, double t) {
    double determinant = line->w * line->tt - line->t * line->t, h;
    if (line->has_offset && line->has_slope)
        h = determinant > 0 ? (line->tt - 2 * t * line->t + t * t * line->w) / determinant : 1;
    else
        h = line->has_offset ? 1 / line->w : t * t / line->tt;
    return fmax(1 - weight * h, pm_heuristics.least_redundancy);
}

enum form { CONSTANT, PROPORTIONAL, LINEAR, POWER, N_FORMS };

/* A distance of some form, and its errors. */
struct scaled {
    struct line line;
    double residual, leave_one_out, sigma; /* relative, relative, blocks */
    size_t n;
};

static double relation_of(double mean) { return fmax(mean, 1); }

/* Larger sizes count more: predictions are of still larger ones. */
static double weight_of(enum form form, double mean, double extent, double largest) {
    double relative = form == POWER ? mean / relation_of(mean) : 1 / relation_of(mean);
    return relative * relative * extent / largest;
}

static double value_at(const struct scaled *scaled, enum form form, double extent) {
    if (form == POWER)
        return exp(scaled->line.offset + scaled->line.slope * log(extent));
    return scaled->line.offset + scaled->line.slope * extent;
}

/* MEAN (NAN: none) at each size, as FORM of EXTENT; false where it has not that form. */
static bool fit_form(size_t n, const double *mean, const double *extent, enum form form,
                     struct scaled *scaled) {
    *scaled = (struct scaled){
        .line = {.has_offset = form != PROPORTIONAL, .has_slope = form != CONSTANT}};
    for (size_t k = 0; k < n; k++) {
        if (isnan(mean[k]) || (form == POWER && mean[k] <= 0))
            continue;
        line_add(&scaled->line, weight_of(form, mean[k], extent[k], extent[n - 1]),
                 form == POWER ? log(extent[k]) : extent[k],
                 form == POWER ? log(mean[k]) : mean[k]);
        scaled->n++;
    }
    size_t n_parameters = 1 + (form >= LINEAR);
    if (scaled->n <= n_parameters || scaled->line.w <= 0)
        return false;
    line_solve(&scaled->line);
    double slope = scaled->line.slope, weights = 0, residual = 0, others = 0, square = 0;
    if (slope < 0 || (form == POWER && (slope < pm_heuristics.least_power || slope > 1)))
        return false;
    for (size_t k = 0; k < n; k++) {
        if (isnan(mean[k]))
            continue;
        double weight = weight_of(form, mean[k], extent[k], extent[n - 1]);
        double wrong = value_at(scaled, form, extent[k]) - mean[k];
        double relative = wrong / relation_of(mean[k]), size = extent[k] / extent[n - 1];
        double left = redundancy(&scaled->line, weight, form == POWER ? log(extent[k]) : extent[k]);
        weights += size;
        residual += size * relative * relative;
        others += size * pow(relative / left, 2);
        square += wrong * wrong;
    }
    scaled->residual = sqrt(residual / weights);
    scaled->leave_one_out = sqrt(others / weights);
    scaled->sigma = sqrt(square / (double)(scaled->n - n_parameters));
    return true;
}

/* Which of DISTANCE blocks are met is partly chance: the deviation, as a share. */
static double blur(double distance) { return pm_heuristics.blur / sqrt(relation_of(distance)); }

/* The longest distance at any of N sizes. */
static double longest_measured(size_t n, const struct pm_histogram *const *histograms) {
    double longest = 0;
    for (size_t k = 0; k < n; k++)
        if (histograms[k] && histograms[k]->n_bins)
            longest = fmax(longest, histograms[k]->bins[histograms[k]->n_bins - 1].mean);
    return longest;
}

static void as_model(const struct scaled *scaled, enum form form, const struct pm_model *extent,
                     size_t constant, double longest, struct pm_model *model) {
    double slope = scaled->line.slope, offset = scaled->line.offset;
    *model = form == CONSTANT ? pm_model_constant(offset, scaled->n) : *extent;
    model->shape = form == CONSTANT ? PM_SHAPE_CONSTANT : PM_SHAPE_INCREASING;
    if (form == POWER) {
        model->power = slope;
        pm_model_multiply(model, exp(offset));
    } else if (form != CONSTANT) {
        pm_model_multiply(model, slope);
        if (form == LINEAR)
            pm_model_add_term(model, constant, offset);
    } else if (offset == 0) {
        model->n_terms = 0;
    } else {
        model->terms[0] = (uint16_t)constant;
    }
    /* What few blocks show of a law is blurred at all sizes alike, so that no residual shows it. */
    double blurred = form == CONSTANT ? 0 : blur(longest);
    model->relative_error = hypot(scaled->residual, blurred);
    model->leave_one_out_error = hypot(scaled->leave_one_out, blurred);
    model->sigma = scaled->sigma;
    model->n_points = (uint16_t)scaled->n;
}

/* The best form of MEAN at each size. */
static void fit_distance(const struct pm_partition *p, const double *mean, const double *extents,
                         const struct pm_model *extent, size_t constant, struct pm_model *model) {
    double best = INFINITY, longest = 0;
    for (size_t k = 0; k < p->design->n; k++)
        longest = fmax(longest, mean[k]); /* NAN is none */
    *model = pm_model_zero(p->design->n);
    for (enum form form = CONSTANT; form < N_FORMS; form++) {
        struct scaled scaled;
        if ((form == LINEAR && constant == p->design->n_functions) ||
            !fit_form(p->design->n, mean, extents, form, &scaled) || scaled.leave_one_out >= best)
            continue;
        best = scaled.leave_one_out;
        as_model(&scaled, form, extent, constant, longest, model);
    }
}

/* ---- all of a group -------------------------------------------------------------------------- */

static void fit_scaled(struct pm_partition *p, const struct pm_histogram *const *histograms,
                       const struct pm_model *extent, struct pm_histogram_model *model) {
    double *extents = p->row + p->design->n;
    size_t constant = constant_function(p->design);
    pm_partition_cut_at_shares(p, histograms);
    pm_segments_to_bound(p, model->at_least);
    pm_sort_segments(p);
    model->n_bins = p->n_segments;
    model->bins = pm_bin_model_arena_alloc(&p->bins, p->n_segments);
    pm_fit_segment_counts(p, model->bins);
    for (size_t k = 0; k < p->design->n; k++)
        extents[k] = pm_design_model_value(p->design, extent, k);
    for (size_t i = 0; i < p->n_segments; i++) {
        fit_distance(p, p->segments[i].mean, extents, extent, constant, &model->bins[i].distance);
        pm_fit_ends(p, &p->segments[i], &model->bins[i]);
    }
}

/* Misses of MODEL's bins at SIZE in a cache of CACHE_BLOCKS, each bin being a step at its mean. */
static double misses_of(const struct pm_design *design, size_t size,
                        const struct pm_histogram_model *model, double cache_blocks) {
    double misses = 0;
    for (size_t b = 0; b < model->n_bins; b++)
        if (pm_design_model_value(design, &model->bins[b].distance, size) >= cache_blocks)
            misses += pm_design_model_value(design, &model->bins[b].count, size);
    return misses;
}

/* Error of the misses by MODEL at the sizes of P after the first N_BEFORE: of all caches together,
   so that one whose size some distances just reach does not decide. */
static double trial_error(const struct pm_partition *p, size_t n_before,
                          const struct pm_histogram *const *histograms,
                          const struct pm_histogram_model *model) {
    double wrong = 0, all = 0;
    for (size_t k = n_before; k < p->design->n; k++)
        for (size_t c = 0; c < pm_heuristics.scaled_caches; c++) {
            double blocks = ldexp(1, (int)c);
            double measured = pm_accesses_between(histograms[k], blocks, INFINITY);
            wrong += fabs(misses_of(p->design, k, model, blocks) - measured);
            all += measured;
        }
    return all > 0 ? wrong / all : 0;
}

bool pm_fit_scales(struct pm_partition *p, const struct pm_extent *extent,
                   struct pm_partition *trial, const struct pm_extent *trial_extent,
                   const struct pm_histogram *const *histograms, struct pm_histogram_model *model) {
    if (!extent->grows || !trial_extent->grows || model->n_bins == 0)
        return false;
    struct pm_histogram_model with_gaps = {0}, scaled = {0};
    pm_fit_histogram(trial, histograms, &with_gaps);
    double least = trial_error(p, trial->design->n, histograms, &with_gaps);
    pm_bin_model_arena_return(&trial->bins, with_gaps.n_bins);
    fit_scaled(trial, histograms, &trial_extent->blocks, &scaled);
    double error = trial_error(p, trial->design->n, histograms, &scaled);
    pm_bin_model_arena_return(&trial->bins, scaled.n_bins);
    double chance = blur(longest_measured(p->design->n, histograms));
    if (!(error < pm_heuristics.scales_alike * least + chance))
        return false;
    fit_scaled(p, histograms, &extent->blocks, model);
    return true;
}
