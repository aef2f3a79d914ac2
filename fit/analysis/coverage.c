/* Held-out sizes against prediction intervals.

   For each model of something that is measured by itself (edges with a counter, the touches of
   blocks by a group and the cold ones among them) an interval at the measured size, for several
   levels; an interval holds if the measured value is inside, ends included.  Counts are whole
   numbers, so that an interval reaches half a count further than its ends.  Exact models have
   intervals of no width, which a coverage in per cent says nothing about: they are counted apart,
   as right or not. */
#include "fit/analysis/coverage.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/fit.h"

/* Counts are whole numbers: ends of intervals within this of one have it. */
static const double half_a_count = 0.5;

const double pm_coverage_levels[PM_N_COVERAGE_LEVELS] = {0.5, 0.8, 0.95};

const char *pm_coverage_word(enum pm_coverage_quantity quantity) {
    static const char *const words[PM_N_COVERAGES] = {"edges", "accesses", "cold", "misses"};
    return words[quantity];
}

static bool is_inside(struct pm_fit_range range, double measured) {
    return measured >= range.low - half_a_count && measured <= range.high + half_a_count;
}

/* One model; RANGES has its interval at each level. */
static void count_one(struct pm_coverage *coverage, bool exact,
                      const struct pm_fit_range ranges[PM_N_COVERAGE_LEVELS], double measured) {
    if (measured == 0 && ranges[0].low == 0 && ranges[0].high == 0)
        return;
    if (exact) {
        coverage->exact++;
        coverage->exact_right += is_inside(ranges[0], measured);
        return;
    }
    if (isnan(ranges[0].low)) {
        coverage->unknown++;
        return;
    }
    coverage->n++;
    for (size_t l = 0; l < PM_N_COVERAGE_LEVELS; l++)
        coverage->inside[l] += is_inside(ranges[l], measured);
}

/* A group that was not accessed has no histogram, and one whose block size was not measured
 * neither.
 */
static bool was_measured(const struct pm_profile *measured, uint64_t block_bytes) {
    for (size_t b = 0; b < measured->n_block_sizes; b++)
        if (measured->block_sizes[b] == block_bytes)
            return true;
    return false;
}

static void count_histogram(struct pm_fit_intervals *const *intervals,
                            const struct pm_model_set *models, size_t h,
                            const struct pm_profile *measured, struct pm_coverage *coverage) {
    const struct pm_histogram_model *model = &models->histograms[h];
    struct pm_fit_range accesses[PM_N_COVERAGE_LEVELS], cold[PM_N_COVERAGE_LEVELS];
    if (!was_measured(measured, model->block_bytes))
        return;
    const struct pm_histogram *histogram =
        pm_profile_histogram(measured, model->group, model->block_bytes);
    for (size_t l = 0; l < PM_N_COVERAGE_LEVELS; l++) {
        accesses[l] = intervals[l]->accesses[h];
        cold[l] = intervals[l]->cold[h];
    }
    bool exact = accesses[0].low == accesses[0].high;
    count_one(&coverage[PM_COVERAGE_ACCESSES], exact, accesses,
              histogram ? pm_histogram_accesses(histogram) : 0);
    count_one(&coverage[PM_COVERAGE_COLD], model->cold.exact, cold,
              histogram ? pm_histogram_always_missing(histogram) : 0);
}

/* The program's misses of each cache, taken as fully associative, between those of the profiles at
 * both ends. */
static void count_misses(const struct pm_structure *structure, const struct pm_model_set *models,
                         const struct pm_profile *measured,
                         const struct pm_validation_caches *caches, struct pm_coverage *coverage) {
    struct pm_profile *ends[PM_N_COVERAGE_LEVELS][2] = {{0}};
    bool ok = true;
    for (size_t i = 0; ok && i < 2 * PM_N_COVERAGE_LEVELS; i++) {
        ends[i / 2][i % 2] = pm_fit_instantiate_end(structure, models, &measured->parameters,
                                                    pm_coverage_levels[i / 2], i % 2 != 0, NULL);
        ok = ends[i / 2][i % 2] != NULL;
    }
    for (size_t b = 0; ok && b < caches->n_block_sizes; b++)
        for (size_t c = 0; c < caches->n_caches; c++) {
            struct pm_fit_range ranges[PM_N_COVERAGE_LEVELS];
            double blocks = caches->cache_blocks[c];
            for (size_t l = 0; l < PM_N_COVERAGE_LEVELS; l++)
                ranges[l] = (struct pm_fit_range){
                    pm_profile_fully_associative_misses(ends[l][0], caches->block_sizes[b], blocks),
                    pm_profile_fully_associative_misses(ends[l][1], caches->block_sizes[b],
                                                        blocks)};
            count_one(
                coverage, ranges[0].low == ranges[0].high, ranges,
                pm_profile_fully_associative_misses(measured, caches->block_sizes[b], blocks));
        }
    for (size_t i = 0; i < 2 * PM_N_COVERAGE_LEVELS; i++)
        if (ends[i / 2][i % 2])
            pm_profile_free(ends[i / 2][i % 2]);
}

void pm_coverage_count(const struct pm_structure *structure, const struct pm_model_set *models,
                       const struct pm_profile *measured, const struct pm_validation_caches *caches,
                       struct pm_coverage coverage[PM_N_COVERAGES]) {
    struct pm_fit_intervals *intervals[PM_N_COVERAGE_LEVELS] = {0};
    bool ok = true;
    for (size_t q = 0; q < PM_N_COVERAGES; q++)
        coverage[q] = (struct pm_coverage){0};
    for (size_t l = 0; l < PM_N_COVERAGE_LEVELS && ok; l++) {
        intervals[l] = pm_fit_intervals_new(structure, models, &measured->parameters,
                                            pm_coverage_levels[l], NULL);
        ok = intervals[l] != NULL;
    }
    for (size_t e = 0; ok && e < structure->n_edges; e++) {
        struct pm_fit_range ranges[PM_N_COVERAGE_LEVELS];
        if (structure->edges[e].counter == PM_NONE)
            continue;
        for (size_t l = 0; l < PM_N_COVERAGE_LEVELS; l++)
            ranges[l] = intervals[l]->edges[e];
        count_one(&coverage[PM_COVERAGE_EDGES], models->edges[e].exact, ranges,
                  measured->edge_counts[e]);
    }
    for (size_t h = 0; ok && h < models->n_histograms; h++)
        count_histogram(intervals, models, h, measured, coverage);
    if (ok && caches->n_block_sizes)
        count_misses(structure, models, measured, caches, &coverage[PM_COVERAGE_MISSES]);
    for (size_t l = 0; l < PM_N_COVERAGE_LEVELS; l++)
        pm_fit_intervals_free(intervals[l]);
}

struct pm_coverage pm_coverage_sum(const struct pm_coverage *coverage, size_t n) {
    struct pm_coverage sum = {0};
    for (size_t i = 0; i < n; i++) {
        sum.exact += coverage[i].exact;
        sum.exact_right += coverage[i].exact_right;
        sum.unknown += coverage[i].unknown;
        sum.n += coverage[i].n;
        for (size_t l = 0; l < PM_N_COVERAGE_LEVELS; l++)
            sum.inside[l] += coverage[i].inside[l];
    }
    return sum;
}
