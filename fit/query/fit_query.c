/* Misses of profiles, the smallest cache, and the largest size: the equations are in query.h.  The
   smallest cache is bisected, because misses fall with the cache; the largest size is scanned
   first, because the hit ratio need not be monotone in the size. */
#include "fit/query/query.h"

#include <math.h>
#include <stdlib.h>

#include "core/write_backs/write_backs.h"
#include "fit/heuristics.h"

/* ---- at one size and cache ------------------------------------------------------------------- */

struct pm_query_counts pm_query_count(const struct pm_profile *profile,
                                      const struct pm_query_groups *groups,
                                      const struct pm_query_cache *cache) {
    struct pm_query_counts counts = {0};
    for (size_t i = 0; i < groups->n_groups; i++) {
        const struct pm_histogram *histogram =
            pm_profile_histogram(profile, groups->groups[i], cache->block_bytes);
        if (!histogram)
            continue;
        counts.accesses += pm_histogram_accesses(histogram);
        counts.cold += histogram->cold_loads + histogram->cold_stores;
        counts.misses += pm_distance_misses(histogram, cache->blocks, &cache->serves);
        if (histogram->at_least < cache->blocks)
            counts.beyond += histogram->beyond_loads + histogram->beyond_stores;
    }
    return counts;
}

double pm_query_write_backs(const struct pm_profile *profile, const struct pm_query_groups *groups,
                            const struct pm_query_cache *cache) {
    double sum = pm_profile_has_dirty(profile, cache->block_bytes) ? 0 : NAN;
    for (size_t i = 0; i < groups->n_groups && !isnan(sum); i++)
        sum += pm_write_backs(profile, groups->groups[i], cache->block_bytes, cache->blocks,
                              &cache->serves);
    return sum;
}

double pm_query_sum_misses(const struct pm_structure *structure, const struct pm_profile *profile,
                           const struct pm_query_groups *groups, uint64_t block_bytes,
                           const double *misses) {
    const size_t n_scopes = structure->n_scopes;
    double *own = pm_alloc(n_scopes, sizeof *own), *total = pm_alloc(n_scopes, sizeof *total);
    for (size_t i = 0; i < groups->n_groups; i++) {
        size_t h = pm_profile_find_histogram(profile, groups->groups[i], block_bytes);
        own[structure->groups[groups->groups[i]].scope] +=
            h < profile->n_histograms ? misses[h] : 0;
    }
    for (size_t s = n_scopes; s-- > 0;) {
        total[s] += own[s];
        if (structure->scopes[s].parent != PM_NONE)
            total[structure->scopes[s].parent] += total[s];
    }
    double sum = n_scopes ? total[0] : 0;
    free(own);
    free(total);
    return sum;
}

double pm_query_hit_ratio(const struct pm_query_counts *counts, bool with_cold) {
    double all = counts->accesses - (with_cold ? 0 : counts->cold);
    return all > 0 ? (counts->accesses - counts->misses) / all : NAN;
}

bool pm_query_reaches(const struct pm_query_counts *counts, double ratio, bool with_cold) {
    double all = counts->accesses - (with_cold ? 0 : counts->cold);
    return counts->accesses - counts->misses >= (ratio - pm_heuristics.rounding) * all;
}

/* ---- the smallest cache ---------------------------------------------------------------------- */

static double longest_distance(const struct pm_profile *profile,
                               const struct pm_query_groups *groups, uint64_t block_bytes) {
    double longest = 0;
    for (size_t i = 0; i < groups->n_groups; i++) {
        const struct pm_histogram *histogram =
            pm_profile_histogram(profile, groups->groups[i], block_bytes);
        if (histogram && histogram->n_bins)
            longest = fmax(longest, histogram->bins[histogram->n_bins - 1].high);
    }
    return longest;
}

bool pm_query_smallest_cache(const struct pm_profile *profile, const struct pm_query_groups *groups,
                             uint64_t block_bytes, double ratio, bool with_cold, double *blocks) {
    struct pm_query_cache cache = {.block_bytes = block_bytes, .blocks = INFINITY};
    struct pm_query_counts counts = pm_query_count(profile, groups, &cache);
    *blocks = INFINITY;
    if (!pm_query_reaches(&counts, ratio, with_cold))
        return false;
    double low = -1, high = floor(longest_distance(profile, groups, block_bytes)) + 1;
    /* high reaches it, low does not; beyond 2^53 there is no number between two neighbours. */
    while (cache.blocks = floor(low + (high - low) / 2),
           cache.blocks > low && cache.blocks < high) {
        counts = pm_query_count(profile, groups, &cache);
        *(pm_query_reaches(&counts, ratio, with_cold) ? &high : &low) = cache.blocks;
    }
    *blocks = high;
    return true;
}

/* ---- the largest size ------------------------------------------------------------------------ */

double pm_query_range_value(const struct pm_query_range *range, uint64_t index) {
    return range->values ? range->values[index] : range->low + (double)index * range->step;
}

/* The first index whose value is at least VALUE; the last one if none is. */
static uint64_t index_of(const struct pm_query_range *range, double value) {
    return PM_LOWER_BOUND(range->n - 1, i, pm_query_range_value(range, i) < value);
}

size_t pm_query_scan(const struct pm_query_range *range, size_t most, uint64_t *indices) {
    size_t n = 0;
    if (range->n <= most) {
        for (; n < range->n; n++)
            indices[n] = n;
        return n;
    }
    double first = pm_query_range_value(range, 0), last = pm_query_range_value(range, range->n - 1);
    for (size_t i = 0; i < most; i++) {
        double part = (double)i / (double)(most - 1);
        double value = first > 0 ? first * pow(last / first, part) : first + part * (last - first);
        uint64_t index = i + 1 < most ? index_of(range, value) : range->n - 1;
        if (n == 0 || index > indices[n - 1])
            indices[n++] = index;
    }
    return n;
}

struct pm_profile *pm_query_profile(const struct pm_query_surface *surface, double size,
                                    struct pm_error *err) {
    struct pm_parameters at[] = {surface->fixed};
    return pm_parameters_set(at, surface->name, size, err)
               ? surface->profile_at(surface->context, at, err)
               : NULL;
}

/* What the scan has found for one question. */
struct bracket {
    bool any;
    uint64_t best;    /* largest index that reaches the ratio; if not `any`, the nearest one */
    uint64_t failing; /* the next larger one tried; equal to `best` where there is none */
    uint64_t gap;     /* largest below `best` that was tried and does not */
    bool has_gap;
    double nearest; /* hit ratio at `best` while not `any` */
};

static void look(struct bracket *bracket, const struct pm_query_question *question,
                 const struct pm_profile *profile, uint64_t index, uint64_t before) {
    struct pm_query_counts counts = pm_query_count(profile, question->groups, &question->cache);
    if (pm_query_reaches(&counts, question->ratio, question->with_cold)) {
        bool before_does = bracket->any && bracket->failing == bracket->best;
        if (index > 0 && !before_does) {
            bracket->gap = before;
            bracket->has_gap = true;
        }
        bracket->any = true;
        bracket->best = bracket->failing = index;
        return;
    }
    double ratio = pm_query_hit_ratio(&counts, question->with_cold);
    if (!bracket->any && (index == 0 || ratio > bracket->nearest)) {
        bracket->nearest = ratio;
        bracket->best = bracket->failing = index;
    } else if (bracket->any && bracket->failing == bracket->best) {
        bracket->failing = index;
    }
}

static const uint64_t not_open = UINT64_MAX;

/* Which index is to be tried next; not_open where `best` and `failing` are neighbours. */
static uint64_t next_index(const struct bracket *bracket) {
    bool is_open = bracket->any && bracket->failing > bracket->best + 1;
    return is_open ? bracket->best + (bracket->failing - bracket->best) / 2 : not_open;
}

/* Makes `best` and `failing` neighbours; each profile serves all questions that want it next. */
static bool bisect(struct bracket *brackets, const struct pm_query_surface *surface,
                   const struct pm_query_question *questions, size_t n, struct pm_error *err) {
    for (;;) {
        uint64_t index = not_open;
        for (size_t q = 0; q < n; q++)
            if (next_index(&brackets[q]) < index)
                index = next_index(&brackets[q]);
        if (index == not_open)
            return true;
        struct pm_profile *profile =
            pm_query_profile(surface, pm_query_range_value(&surface->range, index), err);
        if (!profile)
            return false;
        for (size_t q = 0; q < n; q++) {
            if (next_index(&brackets[q]) != index)
                continue;
            struct pm_query_counts counts =
                pm_query_count(profile, questions[q].groups, &questions[q].cache);
            bool reached = pm_query_reaches(&counts, questions[q].ratio, questions[q].with_cold);
            *(reached ? &brackets[q].best : &brackets[q].failing) = index;
        }
        pm_profile_free(profile);
    }
}

static void answer(const struct bracket *bracket, const struct pm_query_range *range,
                   const struct pm_query_question *question, const struct pm_profile *profile,
                   struct pm_query_answer *result) {
    struct pm_query_cache unlimited = {.block_bytes = question->cache.block_bytes,
                                       .blocks = INFINITY};
    result->found = !bracket->any                       ? PM_QUERY_NONE
                    : bracket->best == bracket->failing ? PM_QUERY_BEYOND
                                                        : PM_QUERY_FOUND;
    result->size = pm_query_range_value(range, bracket->best);
    result->failing_size =
        result->found == PM_QUERY_FOUND ? pm_query_range_value(range, bracket->failing) : NAN;
    result->gap_size = bracket->has_gap ? pm_query_range_value(range, bracket->gap) : NAN;
    result->counts = pm_query_count(profile, question->groups, &question->cache);
    result->unlimited = pm_query_count(profile, question->groups, &unlimited);
    result->extrapolation = profile->extrapolation;
    result->relative_error = profile->relative_error;
}

static bool answer_all(const struct bracket *brackets, const struct pm_query_surface *surface,
                       const struct pm_query_question *questions, size_t n,
                       struct pm_query_answer *answers, struct pm_error *err) {
    bool *answered = pm_alloc(n, sizeof *answered), ok = true;
    for (size_t first = 0; first < n && ok; first++) {
        if (answered[first])
            continue;
        uint64_t index = brackets[first].best;
        struct pm_profile *profile =
            pm_query_profile(surface, pm_query_range_value(&surface->range, index), err);
        ok = profile != NULL;
        for (size_t q = first; q < n && ok; q++) {
            if (answered[q] || brackets[q].best != index)
                continue;
            answer(&brackets[q], &surface->range, &questions[q], profile, &answers[q]);
            answered[q] = true;
        }
        if (profile)
            pm_profile_free(profile);
    }
    free(answered);
    return ok;
}

static bool scan(const struct pm_query_surface *surface, const uint64_t *indices, size_t n_indices,
                 const struct pm_query_question *questions, size_t n, struct bracket *brackets,
                 struct pm_error *err) {
    for (size_t i = 0; i < n_indices; i++) {
        struct pm_profile *profile =
            pm_query_profile(surface, pm_query_range_value(&surface->range, indices[i]), err);
        if (!profile)
            return false;
        for (size_t q = 0; q < n; q++)
            look(&brackets[q], &questions[q], profile, indices[i], i ? indices[i - 1] : 0);
        pm_profile_free(profile);
    }
    return true;
}

bool pm_query_largest_sizes(const struct pm_query_surface *surface,
                            const struct pm_query_question *questions, size_t n,
                            struct pm_query_answer *answers, double *coarsest,
                            struct pm_error *err) {
    uint64_t indices[PM_QUERY_MOST_SCANNED];
    size_t n_indices = pm_query_scan(&surface->range, PM_QUERY_MOST_SCANNED, indices);
    struct bracket *brackets = pm_alloc(n, sizeof *brackets);
    *coarsest = 0;
    for (size_t i = 1; i < n_indices; i++)
        *coarsest = fmax(*coarsest, pm_query_range_value(&surface->range, indices[i]) /
                                            pm_query_range_value(&surface->range, indices[i - 1]) -
                                        1);
    bool ok = scan(surface, indices, n_indices, questions, n, brackets, err) &&
              bisect(brackets, surface, questions, n, err) &&
              answer_all(brackets, surface, questions, n, answers, err);
    free(brackets);
    return ok;
}
