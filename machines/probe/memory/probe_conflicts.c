/* Ways of a cache that is indexed by physical addresses, which nobody tells us.

   Lines at the same offset of their pages, and of pages at random, are added one by one until a set
   has one more than it has ways: a chain through all of them is then slower by a miss of nearly
   each line of this set.  A line without which the chain is as fast as before lies in it, so there
   are as many such as ways, and one.  All lines lie in one set of the first cache, which holds
   none of them as long as there are some times its ways. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "machines/probe/memory/private.h"

enum {
    LINE = 64,
    MOST_PAGES = 700,
    TRIES = 8,
    AGREE = 3,
    AGREE_QUICK = 2,
    FIRST_CACHES_WAYS = 3,
    AT_LEAST = 24
};
static const uint64_t DRAWN_FROM = 256 << 20;
/* A set that overflows misses so many times a turn; most replacement policies lose more. */
static const double LEAST_MISSES = 2;
/* Of the slower chain's surplus: less is left without a line of the set. */
static const double GONE = 0.5;
/* Where a TLB overflows, instead, every line counts. */
static const double MOST_OF_ALL = 0.5;

struct conflict {
    const struct pm_memory_bench *bench;
    const struct pm_probe_effort *effort;
    double miss_cycles;     /* what a miss of this cache adds */
    uint64_t *offsets;      /* of one line in each page; those in use first */
    size_t n, n_all, least; /* in use; pages; so many begin, that L1 holds none */
};

/* Cycles of a turn through the first N lines but WITHOUT (N: all of them). */
static double turn_cycles(const struct conflict *conflict, size_t without) {
    uint64_t order[MOST_PAGES], state = 99;
    size_t n = 0;
    for (size_t i = 0; i < conflict->n; i++)
        if (i != without)
            order[n++] = conflict->offsets[i];
    pm_shuffle(order, n, &state);
    const struct pm_chase chase = {
        .offsets = order, .n = n, .chains = 1, .pages = PM_PAGES_SMALL, .coarse = true};
    return conflict->bench->chase(conflict->bench->context, &chase).estimate * (double)n;
}

/* Adds lines until a set overflows; what a turn then takes, and took before.  False: none did. */
static bool add_until_slower(struct conflict *conflict, double *before, double *after) {
    double limit = LEAST_MISSES * conflict->miss_cycles;
    *before = turn_cycles(conflict, conflict->n);
    while (conflict->n < conflict->n_all && pm_probe_goes_on(conflict->effort)) {
        double line_cycles = *before / (double)conflict->n;
        conflict->n++;
        *after = turn_cycles(conflict, conflict->n);
        /* Neither was disturbed, if it comes again. */
        if (*after - *before - line_cycles > limit) {
            double again = turn_cycles(conflict, conflict->n - 1) + line_cycles;
            *after = fmin(*after, turn_cycles(conflict, conflict->n));
            *before = fmax(*before + line_cycles, again);
            if (*after - *before > limit)
                return true;
        }
        *before = *after;
    }
    return false;
}

/* Of the lines in use, those without which no set overflows. */
static size_t count_conflicting(const struct conflict *conflict, double before, double after) {
    double line_cycles = before / (double)conflict->n, gone = before + GONE * (after - before);
    size_t n = 0;
    for (size_t i = 0; i < conflict->n; i++)
        n += turn_cycles(conflict, i) + line_cycles < gone;
    return n;
}

/* 0: not found. */
static unsigned try_once(struct conflict *conflict, uint64_t *state) {
    double before, after;
    uint64_t line = pm_random_below(state, 4096 / LINE) * LINE;
    for (size_t i = 0; i < conflict->n_all; i++)
        conflict->offsets[i] = conflict->offsets[i] / 4096 * 4096 + line;
    pm_shuffle(conflict->offsets, conflict->n_all, state);
    conflict->n = conflict->least;
    while (add_until_slower(conflict, &before, &after)) {
        size_t n = count_conflicting(conflict, before, after);
        if ((double)n < MOST_OF_ALL * (double)conflict->n)
            return n > 1 ? (unsigned)n - 1 : 0;
    }
    return 0;
}

struct pm_estimate pm_ways_by_conflicts(const struct pm_memory_bench *bench,
                                        const struct pm_memory_probe *probe, size_t level,
                                        const struct pm_probe_effort *effort) {
    const struct pm_probed_cache *cache = &probe->caches[level];
    double next = level + 1 < probe->n_caches ? probe->caches[level + 1].latency_cycles.estimate
                                              : probe->memory_latency_cycles.estimate;
    double first_ways = probe->caches[0].ways.estimate;
    uint64_t page = bench->page_bytes[PM_PAGES_SMALL], state = 0xC0FFEE123456789;
    struct conflict conflict = {
        .bench = bench,
        .effort = effort,
        .miss_cycles = next - cache->latency_cycles.estimate,
        .offsets = pm_alloc(MOST_PAGES, sizeof *conflict.offsets),
        .least = (size_t)fmax(AT_LEAST, isnan(first_ways) ? 0 : FIRST_CACHES_WAYS * first_ways)};
    uint64_t region = (bench->most_bytes < DRAWN_FROM ? bench->most_bytes : DRAWN_FROM) / page;
    unsigned found[TRIES];
    struct pm_estimate ways = pm_estimate_unknown();
    for (int i = 0; i < TRIES && isnan(ways.estimate) && pm_probe_goes_on(effort); i++) {
        /* Pages of its own for each try. */
        uint64_t apart = region / MOST_PAGES, first = pm_random_below(&state, apart ? apart : 1);
        for (conflict.n_all = 0; conflict.n_all < MOST_PAGES && apart; conflict.n_all++)
            conflict.offsets[conflict.n_all] = (conflict.n_all * apart + first) * page;
        found[i] = conflict.n_all ? try_once(&conflict, &state) : 0;
        int same = 0;
        for (int j = 0; j <= i; j++)
            same += found[j] == found[i];
        if (found[i] && same >= (effort->quick ? AGREE_QUICK : AGREE))
            ways = pm_estimate_exactly(found[i]);
    }
    free(conflict.offsets);
    return ways;
}
