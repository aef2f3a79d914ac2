/* Long reuses of large blocks, from those of the small ones that they consist of.

   Where data are walked as a whole, as many bytes are touched between two touches of a large block
   of B bytes as between two touches of one of the small blocks of b bytes in it, and it is touched
   again once where these are B / b times.  So from some cache size C₀ on, in blocks,
       misses_B (C) = misses_b ((C − rest) · B / b) · b / B        for all C ≥ C₀,
   rest being the blocks that are touched in part, about one for each array.  Small blocks are B / b
   times as many and as far apart: of a few pages, rounded to whole ones, nobody can say whether
   they grow as a row or as a plane, but of the lines one can.

   It does not hold below C₀.  Where rows shorter than a page are walked by columns, a page holds
   several steps of one column; it is met again as many times as it has lines, and that until the
   rows outgrow it.  What holds is tried: C₀ is the least of 2^i · dense_tail_from large blocks at
   which the law reproduces the misses of a family of groups, at the larger half of the measured
   sizes and in caches of C₀, 2 C₀, 4 C₀ …  A family is a loop nest's groups (joint.c), because
   which of these is the first in a page is not which is the first in a line; each gets of the
   family's tail the share that it had at those sizes. Assumes nothing of strides. Source: of this
   project; like dense_cold.c for first touches. */
#include "fit/histogram/private.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"

/* What is tried as the rest. */
static const double rests[] = {PM_FIT_RESTS};

struct tail {
    const struct pm_design *design;
    const struct pm_joint_groups *family; /* in large blocks */
    double ratio;                         /* small blocks in a large one */
    size_t first, n;                      /* the tail is BINS from first up to n */
    double rest;                          /* large blocks */
    struct tail_bin {
        const struct pm_bin_model *model; /* of a member, in small blocks */
        double distance;                  /* at the largest size, in small blocks */
    } * bins;                             /* ascending */
};

static int compare_bins(const void *left, const void *right) {
    const struct tail_bin *a = left, *b = right;
    return PM_COMPARE(a->distance, b->distance);
}

/* The histogram of the same group in the smallest blocks, among models that begin at FIRST. */
static const struct pm_histogram_model *in_small_blocks(const struct pm_histogram_model *large,
                                                        const struct pm_histogram_model *first) {
    const struct pm_histogram_model *small = large;
    while (small > first && small[-1].group == large->group)
        small--;
    return small;
}

/* The bins of all members in small blocks; false where there are none. */
static bool list_bins(struct tail *tail, const struct pm_histogram_model *models) {
    const struct pm_joint_groups *family = tail->family;
    size_t n = 0;
    for (size_t m = 0; m < family->n; m++)
        n += in_small_blocks(family->members[m].model, models)->n_bins;
    tail->bins = pm_alloc(n + 1, sizeof *tail->bins);
    for (size_t m = 0; m < family->n; m++) {
        const struct pm_histogram_model *large = family->members[m].model;
        const struct pm_histogram_model *small = in_small_blocks(large, models);
        tail->ratio = (double)large->block_bytes / (double)small->block_bytes;
        if (small == large || large->block_bytes % small->block_bytes != 0)
            return false;
        for (size_t b = 0; b < small->n_bins; b++)
            tail->bins[tail->n++] = (struct tail_bin){
                &small->bins[b],
                pm_design_model_value(tail->design, &small->bins[b].distance, tail->design->n - 1)};
    }
    PM_SORT(tail->bins, tail->n, compare_bins);
    return tail->n > 0;
}

/* What MODEL has at SIZE, in its own blocks. */
static struct pm_bin bin_at(const struct pm_design *design, const struct pm_bin_model *model,
                            size_t size) {
    double mean = pm_design_model_value(design, &model->distance, size);
    return (struct pm_bin){.low = model->low * mean,
                           .mean = mean,
                           .high = model->high * mean,
                           .loads = pm_design_model_value(design, &model->count, size)};
}

/* Where the tail begins at SIZE, in large blocks. */
static double begin_of(const struct tail *tail, size_t size) {
    double least = INFINITY;
    for (size_t b = tail->first; b < tail->n; b++)
        least = fmin(least, bin_at(tail->design, tail->bins[b].model, size).low);
    return least / tail->ratio + tail->rest;
}

/* Misses of a cache of CACHE large blocks at SIZE by the law. */
static double misses_by_law(const struct tail *tail, size_t size, double cache) {
    double misses = 0;
    for (size_t b = tail->first; b < tail->n; b++) {
        struct pm_bin bin = bin_at(tail->design, tail->bins[b].model, size);
        misses += bin.loads * pm_bin_missing_share(&bin, (cache - tail->rest) * tail->ratio);
    }
    return misses / tail->ratio;
}

/* Measured misses of member M, or of all members together. */
static double member_misses(const struct tail *tail, size_t m, size_t size, double cache) {
    return pm_accesses_between(tail->family->members[m].histograms[size], cache, INFINITY);
}

static double measured_misses(const struct tail *tail, size_t size, double cache) {
    double misses = 0;
    for (size_t m = 0; m < tail->family->n; m++)
        misses += member_misses(tail, m, size, cache);
    return misses;
}

/* Mean error of the law over sizes and caches, each at most 1; +∞ where too few say anything. */
static double error_of_law(const struct tail *tail) {
    double sum = 0;
    size_t n = 0;
    for (size_t k = tail->design->n / 2; k < tail->design->n; k++)
        for (double cache = fmax(floor(begin_of(tail, k)), 1);; cache *= 2) {
            double measured = measured_misses(tail, k, cache);
            double expected = misses_by_law(tail, k, cache), larger = fmax(measured, expected);
            if (!(larger >= (double)pm_heuristics.least_count))
                break;
            sum += fabs(expected - measured) / larger;
            n++;
        }
    return n >= pm_heuristics.dense_tail_caches ? sum / (double)n : INFINITY;
}

/* Chooses the rest with the least error, which it returns. */
static double choose_rest(struct tail *tail) {
    double least = INFINITY, best = 0;
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        tail->rest = rests[i];
        double error = error_of_law(tail);
        if (error < least) {
            least = error;
            best = rests[i];
        }
    }
    tail->rest = best;
    return least;
}

/* A bin of large blocks made from BIN of small ones; the present member gets SHARE of it. */
static struct pm_bin_model in_large_blocks(const struct tail *tail, const struct pm_bin_model *bin,
                                           double share, double error, uint16_t constant) {
    struct pm_bin_model large = *bin;
    pm_model_scale(&large.count, share / tail->ratio);
    pm_model_scale(&large.distance, 1 / tail->ratio);
    double *of_constant =
        large.distance.power > 0 ? NULL : pm_model_coefficient(&large.distance, constant);
    if (of_constant)
        *of_constant += tail->rest;
    large.count.relative_error = hypot(large.count.relative_error, error);
    large.count.leave_one_out_error = hypot(large.count.leave_one_out_error, error);
    large.constant_distance = large.takes_rest = false;
    return large;
}

/* Member M's bins: its own up to the tail, then SHARE of the tail. */
static void replace_bins(struct pm_partition *p, const struct tail *tail, size_t m, double share,
                         double error, uint16_t constant) {
    struct pm_histogram_model *model = tail->family->members[m].model;
    size_t last = tail->design->n - 1, n = 0;
    double begin = begin_of(tail, last) * (1 - pm_heuristics.similar);
    struct pm_bin_model *bins =
        pm_bin_model_arena_alloc(&p->bins, model->n_bins + tail->n - tail->first);
    for (size_t b = 0; b < model->n_bins; b++)
        if (pm_design_model_value(tail->design, &model->bins[b].distance, last) < begin)
            bins[n++] = model->bins[b];
    for (size_t b = tail->first; b < tail->n && share > 0; b++)
        bins[n++] = in_large_blocks(tail, tail->bins[b].model, share, error, constant);
    model->bins = bins;
    model->n_bins = n;
}

static void replace_all(struct pm_partition *p, const struct tail *tail, double error,
                        uint16_t constant) {
    size_t n = tail->family->n;
    double *shares = pm_alloc(n, sizeof *shares), all = 0;
    for (size_t k = tail->design->n / 2; k < tail->design->n; k++)
        for (size_t m = 0; m < n; m++) {
            double misses = member_misses(tail, m, k, begin_of(tail, k));
            shares[m] += misses;
            all += misses;
        }
    for (size_t m = 0; m < n && all > 0; m++)
        replace_bins(p, tail, m, shares[m] / all, error, constant);
    free(shares);
}

bool pm_fit_dense_tail(struct pm_partition *p, const struct pm_joint_groups *family,
                       const struct pm_model_set *set) {
    struct tail tail = {.design = p->design, .family = family};
    double error = INFINITY, begin = (double)pm_heuristics.dense_tail_from;
    size_t constant = pm_constant_function(set->basis);
    if (pm_fit_without(PM_STEP_DENSE_TAIL) || constant == set->basis->n ||
        family->members[0].model->block_bytes < PM_FIT_LEAST_PAGE)
        return false;
    for (bool any = list_bins(&tail, set->histograms); any; begin *= 2) {
        while (tail.first < tail.n && tail.bins[tail.first].distance < begin * tail.ratio)
            tail.first++;
        any = tail.first < tail.n;
        error = any ? choose_rest(&tail) : INFINITY;
        if (error <= pm_heuristics.dense_tail)
            break;
    }
    bool holds = error <= pm_heuristics.dense_tail;
    if (holds)
        replace_all(p, &tail, error, (uint16_t)constant);
    free(tail.bins);
    return holds;
}
