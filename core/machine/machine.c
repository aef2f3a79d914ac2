/* What a machine file says, once it is read; see machine.h. */
#include "core/machine/machine.h"

#include <stdlib.h>

void pm_machine_free(struct pm_machine *machine) {
    if (!machine)
        return;
    for (size_t i = 0; i < machine->n_units; i++)
        free(machine->units[i].name);
    for (size_t i = 0; i < machine->n_levels; i++)
        free(machine->levels[i].name);
    free(machine->levels);
    free(machine->costs);
    free(machine->name);
    free(machine->title);
    free(machine->path);
    free(machine->sources);
    free(machine);
}

/* Of the rows that cover the operation: the narrowest, then the one of its element size. */
const struct pm_cost *pm_machine_cost(const struct pm_machine *machine, enum pm_op_class op_class,
                                      uint32_t width_bits, uint32_t element_bytes) {
    const struct pm_cost *best = NULL;
    for (size_t i = 0; i < machine->n_costs; i++) {
        const struct pm_cost *row = &machine->costs[i];
        if (row->op_class != op_class || (row->width_bits && row->width_bits < width_bits) ||
            (row->element_bytes && row->element_bytes != element_bytes))
            continue;
        uint32_t width = row->width_bits ? row->width_bits : UINT32_MAX;
        uint32_t best_width = best && best->width_bits ? best->width_bits : UINT32_MAX;
        if (!best || width < best_width || (width == best_width && !best->element_bytes))
            best = row;
    }
    return best;
}

double pm_level_capacity_blocks(const struct pm_level *level) {
    return (double)(level->size_bytes / level->block_bytes);
}

uint64_t pm_level_sets(const struct pm_level *level) {
    if (!level->associativity)
        return 1;
    return level->size_bytes / level->block_bytes / level->associativity;
}

bool pm_level_needs_short_distances(const struct pm_level *level) {
    const double merged = 16; /* distances below it are one bin of larger blocks */
    double blocks = pm_level_capacity_blocks(level);
    return (level->associativity ? level->associativity : blocks) < merged || blocks < merged;
}

size_t pm_last_cache(const struct pm_machine *machine) {
    size_t last = 0;
    for (size_t l = 0; l < machine->n_levels; l++)
        if (machine->levels[l].kind == PM_LEVEL_CACHE)
            last = l;
    return last;
}
