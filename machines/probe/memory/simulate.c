/* Which of a curve's accesses hit which cache of the detected hierarchy: least recently used lines
   are replaced, sets are a power of two apart, each cache sees what the one before it misses.

   Accesses that go through a working set again and again in one order come to each line once a
   turn. Then a set in which no more lines are than it has ways hits always, and one in which there
   are more misses always, in whatever order: it is enough to count lines by set.  Accesses at
   random are simulated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "machines/probe/memory/private.h"

enum { RANDOM_ACCESSES = 400000 };

struct geometry {
    uint64_t sets, ways, line;
};

/* Where ways are not known, one set of all lines. */
static struct geometry geometry_of(const struct pm_probed_cache *cache) {
    struct geometry geometry = {.sets = 1, .line = 64};
    if (!isnan(cache->line_bytes.estimate))
        geometry.line = (uint64_t)cache->line_bytes.estimate;
    uint64_t lines = (uint64_t)cache->size_bytes.estimate / geometry.line;
    geometry.ways = lines;
    if (!isnan(cache->ways.estimate) && cache->ways.estimate >= 1) {
        geometry.ways = (uint64_t)cache->ways.estimate;
        geometry.sets = lines / geometry.ways ? lines / geometry.ways : 1;
    }
    return geometry;
}

void pm_simulate_turns(const struct pm_memory_probe *probe, uint64_t bytes, uint64_t stride_bytes,
                       double *shares) {
    uint64_t line = geometry_of(&probe->caches[0]).line;
    uint64_t apart = stride_bytes > line ? stride_bytes : line;
    uint64_t n = (bytes + apart - 1) / apart;
    double accesses = (double)((bytes + stride_bytes - 1) / stride_bytes);
    bool *misses = pm_alloc(n, sizeof *misses);
    memset(misses, true, n);
    for (size_t level = 0; level < probe->n_caches; level++) {
        struct geometry geometry = geometry_of(&probe->caches[level]);
        uint32_t *in_set = pm_alloc(geometry.sets, sizeof *in_set);
        uint64_t n_misses = 0;
        for (uint64_t i = 0; i < n; i++)
            in_set[i * apart / geometry.line % geometry.sets] += misses[i];
        for (uint64_t i = 0; i < n; i++) {
            misses[i] =
                misses[i] && in_set[i * apart / geometry.line % geometry.sets] > geometry.ways;
            n_misses += misses[i];
        }
        shares[level] = 1 - (double)n_misses / accesses;
        free(in_set);
    }
    free(misses);
}

/* A set's lines, the most recently used first. */
static bool touch(uint64_t *set, uint64_t ways, uint64_t line) {
    uint64_t i = 0;
    while (i < ways && set[i] != line && set[i] != UINT64_MAX)
        i++;
    bool hits = i < ways && set[i] == line;
    if (i == ways)
        i = ways - 1;
    memmove(set + 1, set, i * sizeof *set);
    set[0] = line;
    return hits;
}

/* Of lines that come at random a full set of one level holds any with the same probability: its
   ways over the lines that fall into it. */
static double random_share(const struct geometry *geometry, uint64_t lines) {
    uint64_t each = lines / geometry->sets, with_one_more = lines % geometry->sets;
    double sets = (double)geometry->sets, ways = (double)geometry->ways;
    double held = (double)with_one_more * fmin((double)each + 1, ways) +
                  (sets - (double)with_one_more) * fmin((double)each, ways);
    return fmin(1, held / (double)lines);
}

void pm_simulate_random(const struct pm_memory_probe *probe, uint64_t bytes, double *shares) {
    enum { MOST_WAYS_TO_SEARCH = 64 };
    struct geometry geometries[PM_MOST_CACHES];
    uint64_t *sets[PM_MOST_CACHES] = {NULL}, hits[PM_MOST_CACHES] = {0}, state = 99;
    size_t n = probe->n_caches;
    uint64_t line = geometry_of(&probe->caches[0]).line, lines = (bytes + line - 1) / line;
    for (size_t level = 0; level < n; level++) {
        geometries[level] = geometry_of(&probe->caches[level]);
        if (geometries[level].ways > MOST_WAYS_TO_SEARCH)
            continue; /* one set of all lines: by its formula */
        sets[level] =
            pm_alloc(geometries[level].sets * geometries[level].ways, sizeof *sets[level]);
        memset(sets[level], 0xff,
               geometries[level].sets * geometries[level].ways * sizeof *sets[level]);
    }
    /* The first half fills the caches. */
    for (uint64_t i = 0; i < 2 * RANDOM_ACCESSES; i++) {
        uint64_t at = pm_random_below(&state, lines);
        for (size_t level = 0; level < n; level++) {
            struct geometry *geometry = &geometries[level];
            if (!sets[level])
                continue;
            uint64_t *set = sets[level] + at % geometry->sets * geometry->ways;
            if (touch(set, geometry->ways, at)) {
                hits[level] += i >= RANDOM_ACCESSES;
                break;
            }
        }
    }
    /* What one level holds is known; what two hold together is counted. */
    double counted = 0;
    for (size_t level = 0; level < n; level++) {
        double alone = random_share(&geometries[level], lines);
        counted += (double)hits[level] / RANDOM_ACCESSES;
        shares[level] = level == 0 ? alone : fmin(1, fmax(counted, alone));
        counted = sets[level] ? counted : shares[level];
        free(sets[level]);
    }
}
