/* What a machine file says, once it is read; see machine.h. */
#include <math.h>
#include <stdlib.h>

#include "core/machine/private.h"

void pm_machine_free(struct pm_machine *machine) {
    if (!machine)
        return;
    for (size_t i = 0; i < machine->n_units; i++) {
        free(machine->units[i].name);
        free(machine->units[i].does);
        free(machine->units[i].scheduler);
        free(machine->units[i].trust.source);
    }
    for (size_t i = 0; i < machine->n_domains; i++)
        free(machine->domains[i]);
    for (size_t i = 0; i < machine->n_costs; i++)
        pm_free_cost(&machine->costs[i]);
    for (size_t i = 0; i < machine->n_bypasses; i++)
        free(machine->bypasses[i].trust.source);
    for (size_t i = 0; i < PM_N_FOREIGN; i++)
        free(machine->foreign[i].trust.source);
    for (size_t i = 0; i < machine->n_all_levels; i++) {
        free(machine->levels[i].name);
        free(machine->levels[i].trust.source);
    }
    for (size_t i = 0; i < machine->n_prefetchers; i++) {
        free(machine->prefetchers[i].name);
        free(machine->prefetchers[i].level);
        free(machine->prefetchers[i].trust.source);
    }
    for (size_t i = 0; i < machine->n_curves; i++)
        pm_free_curve(&machine->curves[i]);
    for (size_t i = 0; i < machine->n_intervals; i++)
        free(machine->intervals[i].name);
    for (size_t i = 0; i < machine->n_paths; i++)
        free(machine->paths[i]);
    char *const owned[] = {machine->name,        machine->path,     machine->asked_as,
                           machine->changes,     machine->title,    machine->sources,
                           machine->isa,         machine->includes, machine->memory.trust.source,
                           machine->trust.source};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(owned[i]);
    free(machine->levels);
    free(machine->costs);
    free(machine->bypasses);
    free(machine->prefetchers);
    free(machine->curves);
    free(machine->intervals);
    free(machine->paths);
    free(machine);
}

double pm_level_capacity_blocks(const struct pm_level *level) {
    if (level->serves.n_points)
        return floor(pm_response_half_bytes(&level->serves) / (double)level->block_bytes);
    return (double)(level->size_bytes / level->block_bytes);
}

double pm_level_distance_misses(const struct pm_level *level,
                                const struct pm_histogram *histogram) {
    return pm_distance_misses(histogram, pm_level_capacity_blocks(level), &level->serves);
}

uint64_t pm_level_sets(const struct pm_level *level) {
    if (!level->associativity)
        return 1;
    return level->size_bytes / level->block_bytes / level->associativity;
}

bool pm_level_needs_short_distances(const struct pm_level *level) {
    const double merged = 16; /* distances below it are one bin of larger blocks */
    double blocks = pm_level_capacity_blocks(level);
    bool has_sets = level->associativity && !level->serves.n_points;
    return (has_sets ? level->associativity : blocks) < merged || blocks < merged;
}

/* Where the machine file does not say it; probes of Zen 4, Zen 5 and a Redwood Cove found 0.85 to
   0.96. */
static const double usual_cover = 0.9;

static bool follows(const struct pm_prefetcher *prefetcher, double step) {
    return step >= (double)prefetcher->min_stride_bytes &&
           step <= (double)prefetcher->max_stride_bytes;
}

double pm_prefetched_share(const struct pm_machine *machine, double stride_bytes,
                           double line_bytes) {
    double most = 0, step = fmax(stride_bytes, line_bytes);
    for (size_t i = 0; i < machine->n_prefetchers && stride_bytes > 0; i++) {
        const struct pm_prefetcher *p = &machine->prefetchers[i];
        if (follows(p, step))
            most = fmax(most, p->covers > 0 ? p->covers : usual_cover);
    }
    return most;
}

bool pm_says_what_is_prefetched(const struct pm_machine *machine, double line_bytes) {
    for (size_t i = 0; i < machine->n_prefetchers; i++)
        if (follows(&machine->prefetchers[i], line_bytes) && machine->prefetchers[i].covers > 0)
            return true;
    return false;
}

size_t pm_last_cache(const struct pm_machine *machine) {
    size_t last = 0;
    for (size_t l = 0; l < machine->n_levels; l++)
        if (machine->levels[l].kind == PM_LEVEL_CACHE)
            last = l;
    return last;
}

char *pm_machine_gap(const struct pm_machine *machine) {
    for (size_t l = 0; l < machine->n_levels; l++)
        if (machine->levels[l].kind == PM_LEVEL_TLB)
            return NULL;
    return pm_sprintf("Machine file %s describes no TLB: page walks are not in the time.",
                      machine->name);
}
