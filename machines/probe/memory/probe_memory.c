/* The order of the memory probes.

   Neighbours, whom nobody sees, use memory and shared caches too, and come and go within minutes;
   who shares the core takes a part of its own caches' bandwidth.  So the latency of memory, the
   size of the last cache and all bandwidths are sampled again between the parts, and what was best
   counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machines/probe/memory/private.h"

enum { MOST_SAMPLES = 4, MEASUREMENTS_OF_SAMPLE = 30 };
/* Of the time left. */
static const double SAMPLE_SHARE = 0.12, GEOMETRY_SHARE = 0.2, IN_FLIGHT_SHARE = 0.15,
                    PREFETCHING_SHARE = 0.2, CURVES_SHARE = 0.7;

/* One figure, as it was at several moments. */
struct sampled {
    struct pm_estimate at[MOST_SAMPLES];
};

struct sampled_cache {
    struct sampled bandwidth[PM_N_SWEEP_KINDS];
};

struct sampler {
    const struct pm_memory_bench *bench;
    const struct pm_probe_effort *effort;
    double cycle_seconds;
    size_t n;
    struct sampled latency, latency_dirty, last_size;
    struct sampled memory_gbs[PM_N_SWEEP_KINDS], memory_all_gbs[PM_N_SWEEP_KINDS];
    struct sampled_cache *caches; /* n_caches of the probe */
};

/* Adds NOW to what was sampled, and gives what all samples say. */
static struct pm_estimate with(struct sampled *sampled, size_t n_before, struct pm_estimate now) {
    sampled->at[n_before] = now;
    return pm_estimate_least_of(sampled->at, n_before + 1);
}

/* The same of a rate, of which the greatest counts. */
static struct pm_estimate with_rate(struct sampled *sampled, size_t n_before,
                                    struct pm_estimate now) {
    return pm_estimate_inverse(1, with(sampled, n_before, pm_estimate_inverse(1, now)));
}

/* Samples all once more. */
static void sample(struct sampler *sampler, const struct pm_tlb_costs *tlbs,
                   struct pm_memory_probe *probe) {
    struct pm_estimate latency[2], one_gbs[PM_N_SWEEP_KINDS], all_gbs[PM_N_SWEEP_KINDS];
    size_t n = sampler->n;
    if (n == MOST_SAMPLES || (sampler->effort->quick && n > 1) ||
        !pm_probe_part(sampler->effort, "bandwidths, latency of memory", SAMPLE_SHARE,
                       MEASUREMENTS_OF_SAMPLE))
        return;
    if (!sampler->caches)
        sampler->caches = pm_alloc(probe->n_caches, sizeof *sampler->caches);
    pm_sample_memory_latency(sampler->bench, tlbs, probe, sampler->effort, latency);
    pm_sample_memory_bandwidth(sampler->bench, probe, sampler->effort, sampler->cycle_seconds,
                               one_gbs, all_gbs);
    if (!isnan(latency[0].estimate)) /* else it stays that of the curve */
        probe->memory_latency_cycles = with(&sampler->latency, n, latency[0]);
    probe->memory_latency_dirty_cycles = with(&sampler->latency_dirty, n, latency[1]);
    for (int kind = 0; kind < PM_N_SWEEP_KINDS; kind++) {
        probe->memory_gbs[kind] = with_rate(&sampler->memory_gbs[kind], n, one_gbs[kind]);
        probe->memory_all_gbs[kind] = with_rate(&sampler->memory_all_gbs[kind], n, all_gbs[kind]);
    }
    /* Its estimate stays the one of the whole curve. */
    struct pm_estimate *size = &probe->caches[probe->n_caches - 1].size_bytes, sizes;
    if (!sampler->effort->quick) {
        sizes = with(&sampler->last_size, n, pm_sample_last_size(sampler->bench, tlbs, probe));
        size->low = fmin(size->low, sizes.low);
        size->high = fmax(size->high, sizes.high);
    }
    for (size_t level = 0; level < probe->n_caches; level++) {
        struct pm_estimate now[PM_N_SWEEP_KINDS];
        pm_sample_cache_bandwidth(sampler->bench, probe, sampler->effort, level, now);
        for (int kind = 0; kind < PM_N_SWEEP_KINDS; kind++)
            probe->caches[level].bandwidth[kind] =
                with_rate(&sampler->caches[level].bandwidth[kind], n, now[kind]);
    }
    sampler->n++;
}

void pm_memory_probe_begin(struct pm_memory_probe *probe) {
    struct pm_estimate unknown = pm_estimate_unknown();
    memset(probe, 0, sizeof *probe);
    probe->memory_latency_cycles = probe->memory_latency_dirty_cycles = unknown;
    probe->memory_misses_in_flight = unknown;
    for (int pages = 0; pages < PM_N_PROBE_PAGES; pages++)
        probe->page_walk_cycles[pages] = unknown;
    for (int kind = 0; kind < PM_N_SWEEP_KINDS; kind++)
        probe->memory_gbs[kind] = probe->memory_all_gbs[kind] = unknown;
}

void pm_probe_memory(const struct pm_memory_bench *bench, double cycle_seconds,
                     const struct pm_probe_effort *effort, struct pm_memory_probe *probe) {
    struct pm_tlb_costs tlbs;
    pm_memory_probe_begin(probe);
    struct sampler sampler = {.bench = bench, .effort = effort, .cycle_seconds = cycle_seconds};
    pm_find_tlbs(bench, effort, &tlbs, probe);
    if (!pm_probe_ends(effort) && pm_find_caches(bench, &tlbs, effort, probe)) {
        if (pm_probe_part(effort, "lines and ways of caches", GEOMETRY_SHARE, 300))
            pm_find_geometry(bench, &tlbs, effort, probe);
        sample(&sampler, &tlbs, probe);
        if (pm_probe_part(effort, "misses in flight", IN_FLIGHT_SHARE, 60))
            pm_find_misses_in_flight(bench, effort, probe);
        sample(&sampler, &tlbs, probe);
        if (pm_probe_part(effort, "prefetching", PREFETCHING_SHARE, effort->quick ? 24 : 168))
            pm_find_prefetching(bench, effort, probe);
        sample(&sampler, &tlbs, probe);
        if (pm_probe_part(effort, "curves", CURVES_SHARE, effort->quick ? 80 : 1500))
            pm_measure_curves(bench, effort, probe);
        sample(&sampler, &tlbs, probe);
    }
    free(sampler.caches);
}

void pm_memory_probe_free(struct pm_memory_probe *probe) {
    for (size_t i = 0; i < probe->n_curves; i++) {
        struct pm_probed_curve *curve = &probe->curves[i];
        for (size_t level = 0; curve->hits && level < probe->n_caches; level++)
            free(curve->hits[level].share);
        free(curve->hits);
        free(curve->working_set_bytes);
        free(curve->value);
    }
    free(probe->curves);
    free(probe->caches);
    free(probe->tlbs);
    free(probe->prefetches);
    memset(probe, 0, sizeof *probe);
}
