/* How much less than predicted random accesses may miss in pages.

   Where a group of random accesses was measured in few pages, each of them has some of the
   popular lines, and all are about as popular; of many pages, most have none.  So the few do not
   show how much a cache gains by the popular ones, and misses may be fewer than they say.  The
   lines, of which there were many, say how few: no more is gained, it is assumed, than where each
   line is in any of the pages with equal probability.

   Accesses that are independent of each other, with any popularity, touch f (T) of a group's E
   lines in T accesses, so that a line is untouched then with a probability of 1 − f (T) / E in the
   mean.  Of the E / n pages of n lines each, all n are untouched with its n-th power:
       F (T) = E / n · (1 − (1 − f (T) / E)^n)
   Misses are the growth of what is touched: with m of lines, M of pages,
       M = dF / dT = dF / df · df / dT = (1 − f / E)^(n−1) · m
   in a cache that holds what is touched in T: d = f + s lines, F + s / n pages, s being what other
   groups of the loop, which walk, touch meanwhile.  Of the misses that fill the cache, the group's
   own are a part: df / dd = m (d) / (misses of all groups of the loop).  E is what they are in the
   smallest cache that holds all that the loop touches.  Bins near that distance blur it downwards,
   which makes the bound the lower.

   Source: of this project; misses as the growth of what is touched: Denning & Schwartz, "Properties
   of the working-set model", CACM 15(3), 1972. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/items.h"
#include "fit/predict/miss_curve.h"
#include "fit/predict/predict.h"

enum { STEPS_PER_OCTAVE = 16, MAX_STEPS = 48 * STEPS_PER_OCTAVE };

/* A group in small and in large blocks, which have RATIO small ones each. */
struct pair {
    const struct pm_histogram *small, *large;
    double ratio;
};

/* What scattered small blocks would miss in caches of so many large BLOCKS. */
struct curve {
    size_t n;
    struct {
        double small, touched; /* d, f */
        double blocks, misses;
    } points[MAX_STEPS + 1];
};

static double longest_of(const struct pm_histogram *histogram) {
    return histogram->n_bins ? histogram->bins[histogram->n_bins - 1].high : 0;
}

/* The reuses of HISTOGRAM at CACHE_BLOCKS or more. */
static double reuses_from(const struct pm_histogram *histogram, double cache_blocks) {
    double sum = 0;
    for (size_t b = histogram->n_bins; b-- > 0 && histogram->bins[b].high >= cache_blocks;)
        sum += pm_bin_accesses(&histogram->bins[b]) *
               pm_bin_missing_share(&histogram->bins[b], cache_blocks);
    return sum;
}

/* The misses in small blocks of all groups in the loop of GROUP. */
static double loop_misses(const struct pm_structure *structure, const struct pm_profile *profile,
                          uint32_t group, uint64_t block_bytes, double cache_blocks) {
    double sum = 0;
    for (size_t h = 0; h < profile->n_histograms; h++) {
        const struct pm_group_histogram *other = &profile->histograms[h];
        if (other->histogram.block_bytes == block_bytes && other->group < structure->n_groups &&
            structure->groups[other->group].scope == structure->groups[group].scope)
            sum += reuses_from(&other->histogram, cache_blocks) +
                   pm_histogram_always_missing(&other->histogram);
    }
    return sum;
}

/* The group's lines, E: what a cache that holds all that the loop touches misses of the group. */
static double find_curve(const struct pm_structure *structure, const struct pm_profile *profile,
                         uint32_t group, const struct pair *pair, struct curve *curve) {
    double longest = longest_of(pair->small), before = 0, touched = 0, own = 0;
    for (curve->n = 0; curve->n <= MAX_STEPS && before < longest; curve->n++) {
        double small = fmin(exp2((double)curve->n / STEPS_PER_OCTAVE), longest);
        double all = loop_misses(structure, profile, group, pair->small->block_bytes, small);
        own = reuses_from(pair->small, small) + pm_histogram_always_missing(pair->small);
        touched += all > 0 ? (small - before) * own / all : 0;
        curve->points[curve->n].small = before = small;
        curve->points[curve->n].touched = touched;
        curve->points[curve->n].misses = own;
        if (all <= small)
            break;
    }
    for (size_t i = 0; i < curve->n && own > 0; i++) {
        double left = fmax(1 - curve->points[i].touched / own, 0);
        double beside = fmax(curve->points[i].small - curve->points[i].touched, 0);
        curve->points[i].blocks = (own * (1 - pow(left, pair->ratio)) + beside) / pair->ratio;
        curve->points[i].misses *= pow(left, pair->ratio - 1);
    }
    return own;
}

/* Every page misses once in the loop, whatever its cache. */
static void add_fewer(const struct pair *pair, const struct curve *curve, double lines,
                      double *fewer) {
    double least = lines / pair->ratio, longest = longest_of(pair->large);
    size_t i = 0;
    for (size_t cell = 1; cell < PM_MAX_CELLS && pm_cell_begin(cell) <= longest; cell++) {
        double blocks = pm_cell_begin(cell);
        while (i < curve->n && curve->points[i].blocks < blocks)
            i++;
        double misses = fmax(i < curve->n ? curve->points[i].misses : 0, least);
        fewer[cell] += fmax(reuses_from(pair->large, blocks) - misses, 0);
    }
}

/* The longest distance of MODEL at the largest measured size; INFINITY within the measured ones. */
static double longest_measured(const struct pm_histogram_model *model,
                               const struct pm_model_point *point) {
    double longest = point->at_largest ? 0 : INFINITY;
    for (size_t b = 0; b < model->n_bins && point->at_largest; b++)
        longest = fmax(longest, model->bins[b].high *
                                    pm_model_value(&model->bins[b].distance, point->at_largest));
    return longest;
}

void pm_fit_scattered(const struct pm_structure *structure, const struct pm_model_set *set,
                      const struct pm_profile *profile, uint64_t block_bytes, double *fewer) {
    struct pm_model_point point;
    struct pm_error ignored = {0};
    for (size_t cell = 0; cell <= PM_MAX_CELLS; cell++)
        fewer[cell] = 0;
    if (pm_fit_without(PM_STEP_SCATTERED) || block_bytes < PM_FIT_LEAST_PAGE ||
        !pm_model_point_at(set, &profile->parameters, &point, &ignored))
        return;
    struct curve *curve = pm_alloc(1, sizeof *curve);
    for (size_t h = 1; h < profile->n_histograms; h++) {
        uint32_t group = profile->histograms[h].group;
        struct pair pair = {.small = &profile->histograms[h - 1].histogram,
                            .large = &profile->histograms[h].histogram};
        if (pair.large->block_bytes != block_bytes || profile->histograms[h - 1].group != group ||
            pair.small->block_bytes >= PM_FIT_LEAST_PAGE ||
            !pm_fit_is_irregular(structure, group, set->n_runs) ||
            longest_measured(&set->histograms[h], &point) > (double)pm_heuristics.popular_pages)
            continue;
        pair.ratio = (double)(block_bytes / pair.small->block_bytes);
        double lines = find_curve(structure, profile, group, &pair, curve);
        add_fewer(&pair, curve, lines, fewer);
    }
    free(curve);
    pm_model_point_free(&point);
}
