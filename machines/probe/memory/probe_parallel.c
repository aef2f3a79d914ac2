/* What goes on at the same time: misses in flight, by independent chains, and bandwidths.

   As many misses are under way as chains do not slow each other: k · t(1) / t(k).  Of misses that
   the next level answers that may be fewer than the level has room for, since bandwidth ends it
   first: 14 cycles each and one in two cycles are 7, where 20 misses to memory were under way.  A
   miss of an outer level is one of each inner level, too, so that these have room for as many. */
#include <math.h>

#include "machines/probe/memory/private.h"

enum { BLOCK = 64, MOST_COUNTS = 16 };

/* The largest k · t(1) / t(k), t(k) being the time of a step along all of k chains. */
static struct pm_estimate in_flight(const struct pm_memory_bench *bench, uint64_t bytes,
                                    const struct pm_probe_effort *effort) {
    static const unsigned all[] = {64, 48, 32, 24, 20, 16, 12, 10, 8, 6, 4, 2};
    static const unsigned few[] = {64, 32, 24, 16, 12, 8, 4};
    const unsigned *chains = effort->quick ? few : all;
    size_t n = effort->quick ? sizeof few / sizeof *few : sizeof all / sizeof *all;
    enum pm_probe_pages pages = pm_largest_pages(bench);
    /* One chain is measured often: what neighbours do to a shared cache changes. */
    struct pm_estimate ones[MOST_COUNTS], least = pm_estimate_unknown();
    size_t n_ones = 0;
    for (size_t i = 0; i < n && pm_probe_goes_on(effort); i++) {
        ones[n_ones++] = pm_chase_random(bench, bytes, BLOCK, pages, 1, false);
        struct pm_estimate many = pm_chase_random(bench, bytes, BLOCK, pages, chains[i], false);
        if (!(many.estimate >= least.estimate))
            least = many;
    }
    struct pm_estimate one = pm_estimate_least_of(ones, n_ones);
    return (struct pm_estimate){one.low / least.high, one.estimate / least.estimate,
                                one.high / least.low};
}

/* Elements of 8 bytes; a copy moves twice as many.  Unknown when the time is over. */
static struct pm_estimate bytes_a_cycle(const struct pm_memory_bench *bench,
                                        const struct pm_probe_effort *effort, uint64_t bytes,
                                        enum pm_sweep_kind kind, unsigned threads) {
    if (!pm_probe_goes_on(effort))
        return pm_estimate_unknown();
    const struct pm_sweep sweep = {.kind = kind,
                                   .bytes = bytes / 1024 * 1024,
                                   .stride_bytes = 8,
                                   .threads = threads,
                                   .pages = pm_largest_pages(bench)};
    return pm_estimate_inverse(kind == PM_SWEEP_COPY ? 16 : 8,
                               bench->sweep(bench->context, &sweep));
}

void pm_sample_memory_bandwidth(const struct pm_memory_bench *bench,
                                const struct pm_memory_probe *probe,
                                const struct pm_probe_effort *effort, double cycle_seconds,
                                struct pm_estimate *one_gbs, struct pm_estimate *all_gbs) {
    uint64_t bytes = pm_bytes_in_level(bench, probe, probe->n_caches);
    double gbs = 1e-9 / cycle_seconds;
    for (int kind = 0; kind < PM_N_SWEEP_KINDS; kind++) {
        enum pm_sweep_kind sweep = (enum pm_sweep_kind)kind;
        one_gbs[kind] = pm_estimate_scaled(bytes_a_cycle(bench, effort, bytes, sweep, 1), gbs);
        all_gbs[kind] = pm_estimate_scaled(
            bytes_a_cycle(bench, effort, bytes, sweep, bench->threads), gbs * bench->threads);
    }
}

void pm_sample_cache_bandwidth(const struct pm_memory_bench *bench,
                               const struct pm_memory_probe *probe,
                               const struct pm_probe_effort *effort, size_t level,
                               struct pm_estimate *bandwidth) {
    uint64_t bytes = pm_bytes_in_level(bench, probe, level);
    for (int kind = 0; kind < PM_N_SWEEP_KINDS; kind++)
        bandwidth[kind] = bytes_a_cycle(bench, effort, bytes, (enum pm_sweep_kind)kind, 1);
}

void pm_find_misses_in_flight(const struct pm_memory_bench *bench,
                              const struct pm_probe_effort *effort, struct pm_memory_probe *probe) {
    for (size_t level = 0; level < probe->n_caches && pm_probe_goes_on(effort); level++) {
        /* What misses this level is answered by the next one. */
        uint64_t bytes = pm_bytes_in_level(bench, probe, level + 1);
        probe->caches[level].misses_in_flight = in_flight(bench, bytes, effort);
    }
    for (size_t level = probe->n_caches - 1; level-- > 0;) {
        struct pm_estimate *inner = &probe->caches[level].misses_in_flight;
        const struct pm_estimate outer = probe->caches[level + 1].misses_in_flight;
        if (outer.estimate > inner->estimate)
            *inner = outer;
    }
    probe->memory_misses_in_flight = probe->caches[probe->n_caches - 1].misses_in_flight;
}
