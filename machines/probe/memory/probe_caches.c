/* Sizes and latencies of caches, and the latency of memory: a chain of loads through all blocks of
   a working set in a random order, which no prefetcher follows, takes the latency of the smallest
   cache that holds it, and what the TLBs add, which is known and taken off.  The latency rises in
   steps; a step begins where a cache is full. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "machines/probe/memory/private.h"

enum { MOST_PLATEAUS = 6, BLOCK = 64, MOST_PASSES = 8, MOST_PASSES_QUICK = 4, MEMORY_DRAWS = 3 };
static const double COARSE_BYTES = 4 << 20;
static const double FIRST_BYTES = 4096;
static const double MOST_BYTES = 512 << 20, MOST_BYTES_QUICK = 96 << 20;
static const double MOST_LAST_BYTES = 128 << 20;
/* Of a last cache that neighbours use, too, only a part is seen: memory is far from all of it. */
static const double LEAST_IN_MEMORY = 128 << 20;
static const double CACHES_SHARE = 0.25; /* of the time left */
/* Another cache is slower by so much; less is a blurred edge. */
static const double LEAST_STEP = 1.4;
static const double SAME_LATENCY = 0.2, SAME_BY = 0.6;
/* Of sizes, from the first of a plateau to its last: more than half a step of random pages. */
static const double LEAST_SPAN = 1.6;

struct latency_of {
    const struct pm_memory_bench *bench;
    const struct pm_tlb_costs *tlbs;
    const struct pm_memory_probe *probe;
};

/* ESTIMATE without what the TLBs add. */
static struct pm_estimate without_tlbs(const struct latency_of *of, double bytes,
                                       struct pm_estimate estimate) {
    double cycles = pm_tlb_cycles(of->probe, of->tlbs, bytes);
    return (struct pm_estimate){estimate.low - cycles, estimate.estimate - cycles,
                                estimate.high - cycles};
}

/* In pages that are drawn anew, as they fall into sets at random where these are indexed by them.
 */
static struct pm_estimate latency_at(const void *context, double size) {
    const struct latency_of *of = context;
    return without_tlbs(
        of, size, pm_chase_pages(of->bench, (uint64_t)(size / BLOCK) * BLOCK, BLOCK, of->tlbs));
}

/* Sizes are of the form m · 2ᵏ with m = 4, 5 or 6: the nearest one that the interval holds.  Where
   it holds none, as of a last cache that neighbours take a part of, whole pages: every line divides
   them. */
static void round_size(struct pm_estimate *size) {
    static const double PAGE = 4096;
    double best = NAN;
    for (int m = 4; m < 7; m++) {
        double candidate = m * exp2(round(log2(size->estimate / m)));
        if (candidate >= size->low * 0.95 && candidate <= size->high * 1.05 &&
            !(fabs(log(candidate / size->estimate)) >= fabs(log(best / size->estimate))))
            best = candidate;
    }
    if (isnan(best))
        best = fmax(PAGE, PAGE * round(size->estimate / PAGE));
    *size = (struct pm_estimate){fmin(size->low, best), best, fmax(size->high, best)};
}

static struct pm_estimate latency_of_plateau(const struct pm_step_curve *curve,
                                             const struct pm_plateau *plateau) {
    double values[PM_MOST_POINTS];
    size_t n = 0;
    for (size_t i = plateau->first; i <= plateau->last; i++)
        values[n++] = curve->value[i];
    return pm_estimate_of(values, n, 0.01);
}

uint64_t pm_bytes_in_level(const struct pm_memory_bench *bench, const struct pm_memory_probe *probe,
                           size_t level) {
    double before = level ? probe->caches[level - 1].size_bytes.estimate : 0;
    if (level == probe->n_caches)
        return (uint64_t)fmin(fmax(4 * probe->caches[level - 1].size_bytes.high, LEAST_IN_MEMORY),
                              (double)bench->most_bytes / 2) /
               4096 * 4096;
    double own = probe->caches[level].size_bytes.estimate;
    if (level == 0)
        return (uint64_t)(own / 2) / 512 * 512;
    /* Far from both; but less than a half of its own, for what others have there. */
    return (uint64_t)fmin(own * 0.6, fmax(sqrt(before * own), 3 * before)) / 512 * 512;
}

/* What is hardly slower than the plateau before it is a part of it. */
static size_t merge_close(struct pm_plateau *plateaus, size_t n) {
    size_t n_kept = n > 0;
    for (size_t i = 1; i < n; i++)
        if (plateaus[i].value < LEAST_STEP * plateaus[n_kept - 1].value)
            plateaus[n_kept - 1].last = plateaus[i].last;
        else
            plateaus[n_kept++] = plateaus[i];
    return n_kept;
}

/* Where plateaus are more than levels can be, neighbours have pushed a part of a shared cache out
   while the curve was measured.  The two that differ least become one.  LAST: of each plateau the
   last point that is surely in it. */
static size_t merge_supernumerary(struct pm_plateau *plateaus, size_t n, size_t *last) {
    for (size_t i = 0; i < n; i++)
        last[i] = plateaus[i].last;
    while (n > PM_MOST_CACHES + 1) {
        size_t k = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (plateaus[i + 1].value / plateaus[i].value <
                plateaus[k + 1].value / plateaus[k].value)
                k = i;
        plateaus[k].last = plateaus[k + 1].last;
        n--;
        for (size_t i = k + 1; i < n; i++) {
            plateaus[i] = plateaus[i + 1];
            last[i] = last[i + 1];
        }
    }
    return n;
}

bool pm_find_caches(const struct pm_memory_bench *bench, const struct pm_tlb_costs *tlbs,
                    const struct pm_probe_effort *effort, struct pm_memory_probe *probe) {
    struct pm_step_curve curve;
    struct pm_plateau plateaus[MOST_PLATEAUS];
    size_t last[MOST_PLATEAUS];
    struct latency_of of = {bench, tlbs, probe};
    double most = fmin(effort->quick ? MOST_BYTES_QUICK : MOST_BYTES, (double)bench->most_bytes);
    pm_choose_sizes(&curve, FIRST_BYTES, COARSE_BYTES, most);
    pm_probe_part(effort, "sizes of caches", CACHES_SHARE, 2 * curve.n);
    pm_measure_steps(&curve, effort->quick ? MOST_PASSES_QUICK : MOST_PASSES, effort, latency_at,
                     &of);
    size_t n = pm_find_plateaus(&curve, LEAST_SPAN, SAME_LATENCY, SAME_BY, plateaus, MOST_PLATEAUS);
    n = merge_supernumerary(plateaus, merge_close(plateaus, n), last);
    for (size_t i = 0; i + 1 < n; i++) {
        struct pm_probed_cache *cache = PM_PUSH(probe, caches);
        *cache = (struct pm_probed_cache){
            .size_bytes = pm_locate_step(&curve, &plateaus[i], &plateaus[i + 1]),
            .latency_cycles = latency_of_plateau(&curve, &plateaus[i]),
            .line_bytes = pm_estimate_unknown(),
            .ways = pm_estimate_unknown(),
            .misses_in_flight = pm_estimate_unknown(),
        };
        for (int kind = 0; kind < PM_N_SWEEP_KINDS; kind++)
            cache->bandwidth[kind] = pm_estimate_unknown();
        cache->size_bytes.low = fmin(cache->size_bytes.low, curve.size[last[i]]);
        round_size(&cache->size_bytes);
    }
    if (n > 1) /* until it is sampled */
        probe->memory_latency_cycles = latency_of_plateau(&curve, &plateaus[n - 1]);
    return probe->n_caches > 0;
}

void pm_sample_memory_latency(const struct pm_memory_bench *bench, const struct pm_tlb_costs *tlbs,
                              const struct pm_memory_probe *probe,
                              const struct pm_probe_effort *effort, struct pm_estimate cycles[2]) {
    struct latency_of of = {bench, tlbs, probe};
    uint64_t bytes = pm_bytes_in_level(bench, probe, probe->n_caches);
    for (int dirty = 0; dirty < 2; dirty++) {
        struct pm_estimate draws[MEMORY_DRAWS];
        size_t n = 0;
        for (; n < (effort->quick ? 1 : MEMORY_DRAWS) && pm_probe_goes_on(effort); n++)
            draws[n] = without_tlbs(&of, (double)bytes,
                                    pm_chase_random(bench, bytes, BLOCK, tlbs->pages, 1, dirty));
        cycles[dirty] = pm_estimate_least_of(draws, n);
    }
}

struct pm_estimate pm_sample_last_size(const struct pm_memory_bench *bench,
                                       const struct pm_tlb_costs *tlbs,
                                       const struct pm_memory_probe *probe) {
    static const double NEAR = 1.15;
    const struct pm_probed_cache *last = &probe->caches[probe->n_caches - 1];
    struct latency_of of = {bench, tlbs, probe};
    double half = (last->latency_cycles.estimate + probe->memory_latency_cycles.estimate) / 2;
    double low = probe->n_caches > 1 ? last[-1].size_bytes.estimate : FIRST_BYTES;
    double high = fmin(MOST_LAST_BYTES, (double)bench->most_bytes);
    while (high / low > NEAR) {
        double middle = sqrt(low * high);
        if (latency_at(&of, middle).estimate > half)
            high = middle;
        else
            low = middle;
    }
    return (struct pm_estimate){low, sqrt(low * high), high};
}
