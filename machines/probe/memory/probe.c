/* The order of the memory probes. */
#include <stdlib.h>
#include <string.h>

#include "machines/probe/memory/private.h"

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
    if (pm_find_tlbs(bench, effort, &tlbs, probe) && pm_find_caches(bench, &tlbs, effort, probe) &&
        pm_find_geometry(bench, &tlbs, effort, probe) &&
        pm_find_parallel(bench, cycle_seconds, effort, probe) &&
        pm_find_prefetching(bench, effort, probe))
        pm_measure_curves(bench, effort, probe);
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
