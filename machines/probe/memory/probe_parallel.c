/* What goes on at the same time: misses in flight, by independent chains, and bandwidths. */
#include <math.h>

#include "machines/probe/memory/private.h"

enum { BLOCK = 64 };

/* The largest k · t(1) / t(k), t(k) being the time of a step along all of k chains. */
static struct pm_estimate in_flight(const struct pm_memory_bench *bench, uint64_t bytes,
                                    bool quick) {
    static const unsigned all[] = {2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64};
    static const unsigned few[] = {4, 8, 12, 16, 24, 32, 64};
    const unsigned *chains = quick ? few : all;
    size_t n = quick ? sizeof few / sizeof *few : sizeof all / sizeof *all;
    enum pm_probe_pages pages = pm_largest_pages(bench);
    struct pm_estimate most = pm_estimate_unknown();
    for (size_t i = 0; i < n; i++) {
        /* One chain each time anew: what neighbours do to a shared cache changes. */
        struct pm_estimate one = pm_chase_random(bench, bytes, BLOCK, pages, 1, false);
        struct pm_estimate many = pm_chase_random(bench, bytes, BLOCK, pages, chains[i], false);
        double parallel = one.estimate / many.estimate;
        if (isnan(parallel) || parallel <= most.estimate)
            continue;
        most = (struct pm_estimate){one.low / many.high, parallel, one.high / many.low};
    }
    return most;
}

/* Elements of 8 bytes; a copy moves twice as many. */
static struct pm_estimate bytes_a_cycle(const struct pm_memory_bench *bench, uint64_t bytes,
                                        enum pm_sweep_kind kind, unsigned threads) {
    const struct pm_sweep sweep = {.kind = kind,
                                   .bytes = bytes / 1024 * 1024,
                                   .stride_bytes = 8,
                                   .threads = threads,
                                   .pages = pm_largest_pages(bench)};
    struct pm_estimate cycles = bench->sweep(bench->context, &sweep);
    double moved = kind == PM_SWEEP_COPY ? 16 : 8;
    return (struct pm_estimate){moved / cycles.high, moved / cycles.estimate, moved / cycles.low};
}

void pm_sample_memory_bandwidth(const struct pm_memory_bench *bench,
                                const struct pm_memory_probe *probe, double cycle_seconds,
                                struct pm_estimate *one_gbs, struct pm_estimate *all_gbs) {
    uint64_t bytes = pm_bytes_in_level(bench, probe, probe->n_caches);
    double gbs = 1e-9 / cycle_seconds;
    for (int kind = 0; kind < PM_N_SWEEP_KINDS; kind++) {
        enum pm_sweep_kind sweep = (enum pm_sweep_kind)kind;
        one_gbs[kind] = pm_estimate_scaled(bytes_a_cycle(bench, bytes, sweep, 1), gbs);
        all_gbs[kind] = pm_estimate_scaled(bytes_a_cycle(bench, bytes, sweep, bench->threads),
                                           gbs * bench->threads);
    }
}

void pm_sample_cache_bandwidth(const struct pm_memory_bench *bench,
                               const struct pm_memory_probe *probe, size_t level,
                               struct pm_estimate *bandwidth) {
    uint64_t bytes = pm_bytes_in_level(bench, probe, level);
    for (int kind = 0; kind < PM_N_SWEEP_KINDS; kind++)
        bandwidth[kind] = bytes_a_cycle(bench, bytes, (enum pm_sweep_kind)kind, 1);
}

bool pm_find_misses_in_flight(const struct pm_memory_bench *bench,
                              const struct pm_probe_effort *effort, struct pm_memory_probe *probe) {
    for (size_t level = 0; level < probe->n_caches; level++) {
        double share = 0.2 + 0.1 * (double)level / (double)probe->n_caches;
        if (!pm_probe_goes_on(effort, "misses in flight", share))
            return false;
        /* What misses this level is answered by the next one. */
        uint64_t bytes = pm_bytes_in_level(bench, probe, level + 1);
        probe->caches[level].misses_in_flight = in_flight(bench, bytes, effort->quick);
    }
    probe->memory_misses_in_flight = probe->caches[probe->n_caches - 1].misses_in_flight;
    return true;
}
