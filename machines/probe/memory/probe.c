/* The order of the memory probes.

   Neighbours, whom nobody sees, use memory too, and come and go within minutes.  So its latency and
   bandwidths are sampled again between the parts; their intervals hold all samples. */
#include <stdlib.h>
#include <string.h>

#include "machines/probe/memory/private.h"

enum { MOST_SAMPLES = 4 };

struct samples {
    size_t n;
    struct pm_estimate latency[2][MOST_SAMPLES];
    struct pm_estimate one_gbs[PM_N_SWEEP_KINDS][MOST_SAMPLES],
        all_gbs[PM_N_SWEEP_KINDS][MOST_SAMPLES];
};

static bool sample_memory(const struct pm_memory_bench *bench, const struct pm_tlb_costs *tlbs,
                          double cycle_seconds, const struct pm_probe_effort *effort, double share,
                          struct samples *samples, struct pm_memory_probe *probe) {
    struct pm_estimate latency[2], one_gbs[PM_N_SWEEP_KINDS], all_gbs[PM_N_SWEEP_KINDS];
    if (!pm_probe_goes_on(effort, "memory", share))
        return false;
    if (samples->n == MOST_SAMPLES || (effort->quick && samples->n > 0))
        return true;
    pm_sample_memory_latency(bench, tlbs, probe, latency);
    pm_sample_memory_bandwidth(bench, probe, cycle_seconds, one_gbs, all_gbs);
    size_t at = samples->n++;
    for (int dirty = 0; dirty < 2; dirty++) {
        samples->latency[dirty][at] = latency[dirty];
        *(dirty ? &probe->memory_latency_dirty_cycles : &probe->memory_latency_cycles) =
            pm_estimate_of_all(samples->latency[dirty], samples->n);
    }
    for (int kind = 0; kind < PM_N_SWEEP_KINDS; kind++) {
        samples->one_gbs[kind][at] = one_gbs[kind];
        samples->all_gbs[kind][at] = all_gbs[kind];
        probe->memory_gbs[kind] = pm_estimate_of_all(samples->one_gbs[kind], samples->n);
        probe->memory_all_gbs[kind] = pm_estimate_of_all(samples->all_gbs[kind], samples->n);
    }
    return true;
}

void pm_probe_memory(const struct pm_memory_bench *bench, double cycle_seconds,
                     const struct pm_probe_effort *effort, struct pm_memory_probe *probe) {
    struct pm_estimate unknown = pm_estimate_unknown();
    memset(probe, 0, sizeof *probe);
    probe->memory_latency_cycles = probe->memory_latency_dirty_cycles = unknown;
    probe->memory_misses_in_flight = unknown;
    for (int pages = 0; pages < PM_N_PROBE_PAGES; pages++)
        probe->page_walk_cycles[pages] = unknown;
    for (int kind = 0; kind < PM_N_SWEEP_KINDS; kind++)
        probe->memory_gbs[kind] = probe->memory_all_gbs[kind] = unknown;
    struct pm_tlb_costs tlbs;
    struct samples samples = {0};
#define SAMPLE(share) sample_memory(bench, &tlbs, cycle_seconds, effort, share, &samples, probe)
    if (pm_find_tlbs(bench, effort, &tlbs, probe) && pm_find_caches(bench, &tlbs, effort, probe) &&
        SAMPLE(0.18) && pm_find_geometry(bench, &tlbs, effort, probe) &&
        pm_find_parallel(bench, effort, probe) && SAMPLE(0.29) &&
        pm_find_prefetching(bench, effort, probe) && SAMPLE(0.4) &&
        pm_measure_curves(bench, effort, probe))
        SAMPLE(1);
#undef SAMPLE
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
