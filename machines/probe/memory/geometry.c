/* Ways and lines.

   Addresses that are a power of two apart, at least as far as the cache is large, lie in one set;
   as many as it has ways hit, one more, and the set misses.  If that one is moved by a line, it
   lies in the next set, and all hit again: no prefetcher can make that look otherwise.  Of a cache
   that is indexed by physical addresses the set is known only within huge pages; without these,
   lines that conflict are searched for (probe_conflicts.c). */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "machines/probe/memory/private.h"

enum { MOST_LINE = 512, MOST_WAYS = 40, LEVELS_WITH_WAYS = 2 };
static const double SOME_MISS = 0.3;

static double chase_cycles(const struct pm_memory_bench *bench, enum pm_probe_pages pages,
                           uint64_t *offsets, unsigned n) {
    uint64_t state = 777 + n;
    pm_shuffle(offsets, n, &state);
    const struct pm_chase chase = {.offsets = offsets, .n = n, .chains = 1, .pages = pages};
    return bench->chase(bench->context, &chase).estimate;
}

/* Cycles an access to N addresses of one set, of which the last is MOVED by some bytes.  Their
   pages may lie in one set of a TLB as well (of 96 entries in 16 sets six pages do, where the cache
   has twelve ways): what the same pages cost with their lines in different sets is taken off. */
static double conflict_cycles(const struct pm_memory_bench *bench, enum pm_probe_pages pages,
                              const struct pm_memory_probe *probe, uint64_t apart, unsigned n,
                              uint64_t moved) {
    enum { SURELY_A_LINE = 128, LEAST_PAGE = 4096 };
    uint64_t same_set[MOST_WAYS], spread[MOST_WAYS];
    for (unsigned i = 0; i < n; i++) {
        same_set[i] = i * apart;
        spread[i] = i * apart + i * SURELY_A_LINE % LEAST_PAGE;
    }
    same_set[n - 1] += moved;
    double of_pages =
        chase_cycles(bench, pages, spread, n) - probe->caches[0].latency_cycles.estimate;
    return chase_cycles(bench, pages, same_set, n) - fmax(0, of_pages);
}

/* Cycles beyond which a set of LEVEL misses: some of its accesses, where another than the least
   recently used line is replaced. */
static double missing_cycles(const struct pm_memory_probe *probe, size_t level) {
    double own = probe->caches[level].latency_cycles.estimate;
    double next = level + 1 < probe->n_caches ? probe->caches[level + 1].latency_cycles.estimate
                                              : probe->memory_latency_cycles.estimate;
    return own + SOME_MISS * (next - own);
}

static uint64_t apart_in_set(const struct pm_probed_cache *cache) {
    return (uint64_t)exp2(ceil(log2(cache->size_bytes.estimate)));
}

static void find_ways(const struct pm_memory_bench *bench, enum pm_probe_pages pages,
                      const struct pm_probe_effort *effort, struct pm_memory_probe *probe,
                      size_t level) {
    struct pm_probed_cache *cache = &probe->caches[level];
    double limit = missing_cycles(probe, level);
    uint64_t apart = apart_in_set(cache);
    for (unsigned n = 2;
         n <= MOST_WAYS && (n + 1) * apart <= bench->most_bytes && pm_probe_goes_on(effort); n++)
        /* One that was disturbed is no step: the next must say the same. */
        if (conflict_cycles(bench, pages, probe, apart, n, 0) > limit &&
            conflict_cycles(bench, pages, probe, apart, n + 1, 0) > limit) {
            if (n > 2)
                cache->ways = pm_estimate_exactly(n - 1);
            return;
        }
}

/* Of the first cache; the others' lines are as long. */
static void find_line(const struct pm_memory_bench *bench, enum pm_probe_pages pages,
                      struct pm_memory_probe *probe) {
    struct pm_probed_cache *first = &probe->caches[0];
    uint64_t apart = apart_in_set(first);
    if (isnan(first->ways.estimate))
        return;
    unsigned n = (unsigned)first->ways.estimate + 1;
    for (uint64_t moved = 8; moved <= MOST_LINE; moved *= 2)
        if (conflict_cycles(bench, pages, probe, apart, n, moved) < missing_cycles(probe, 0)) {
            for (size_t i = 0; i < probe->n_caches; i++)
                probe->caches[i].line_bytes = pm_estimate_exactly((double)moved);
            return;
        }
}

/* A cache whose sets are a power of two has only some sizes; where none of them is what was
   measured, the ways were not found rightly. */
static void agree_on_size(struct pm_probed_cache *cache) {
    static const double TOLERANCE = 0.05;
    struct pm_estimate *found = &cache->size_bytes;
    double way = cache->ways.estimate * cache->line_bytes.estimate;
    if (isnan(way))
        return;
    double size = way * exp2(round(log2(found->estimate / way)));
    if (size >= found->low * (1 - TOLERANCE) && size <= found->high * (1 + TOLERANCE))
        *found = (struct pm_estimate){fmin(size, found->low), size, fmax(size, found->high)};
    else
        cache->ways = pm_estimate_unknown();
}

void pm_find_geometry(const struct pm_memory_bench *bench, const struct pm_tlb_costs *tlbs,
                      const struct pm_probe_effort *effort, struct pm_memory_probe *probe) {
    find_ways(bench, tlbs->pages, effort, probe, 0);
    find_line(bench, tlbs->pages, probe);
    for (size_t level = 1; level < probe->n_caches && level < LEVELS_WITH_WAYS; level++)
        if (tlbs->page_bytes > bench->page_bytes[PM_PAGES_SMALL])
            find_ways(bench, tlbs->pages, effort, probe, level);
        else
            probe->caches[level].ways = pm_ways_by_conflicts(bench, probe, level, effort);
    for (size_t level = 0; level < probe->n_caches && level < LEVELS_WITH_WAYS; level++)
        agree_on_size(&probe->caches[level]);
}
