/* The most frequent path of a loop: from its header, always along the most frequent edge that stays
   in the loop, back to the header (Marin & Mellor-Crummey 2004, section 2.4).  An inner loop is
   passed as one step and left by its most frequent exit that stays inside the outer loop. */
#include "sched/schedule.h"

#include <stdlib.h>

/* The most frequent edge out of block FROM to a block of LOOP; PM_NONE if it was never taken. */
static uint32_t hot_edge(const struct pm_frequencies *frequencies, uint32_t from, uint32_t loop,
                         uint32_t not_into, uint32_t best) {
    const struct pm_structure *structure = frequencies->structure;
    const struct pm_lists *out = &frequencies->out;
    for (uint32_t k = out->first[from]; k < out->first[from + 1]; k++) {
        uint32_t edge = out->items[k], to = structure->edges[edge].to;
        if (to == PM_NONE ||
            frequencies->edges[edge] <= (best == PM_NONE ? 0 : frequencies->edges[best]))
            continue;
        uint32_t inner = pm_inner_loop_around(structure, to, loop);
        if (inner != PM_NONE && inner != not_into)
            best = edge;
    }
    return best;
}

static uint32_t hot_exit(const struct pm_frequencies *frequencies, uint32_t inner, uint32_t loop) {
    const struct pm_structure *structure = frequencies->structure;
    const struct pm_routine *routine = &structure->routines[structure->scopes[inner].routine];
    uint32_t best = PM_NONE;
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++)
        if (pm_inner_loop_around(structure, b, loop) == inner)
            best = hot_edge(frequencies, b, loop, inner, best);
    return best;
}

size_t pm_hot_path(const struct pm_frequencies *frequencies, uint32_t loop,
                   struct pm_path_step *path) {
    const struct pm_structure *structure = frequencies->structure;
    uint32_t header = structure->scopes[loop].header;
    if (header == PM_NONE || frequencies->blocks[header] <= 0)
        return 0;
    const struct pm_routine *routine = &structure->routines[structure->scopes[loop].routine];
    size_t n_steps = 0, most_steps = routine->n_blocks;
    uint32_t block = header;
    do {
        if (n_steps == most_steps)
            return 0; /* went round inside: an irreducible loop without a way back */
        uint32_t inner = pm_inner_loop_around(structure, block, loop);
        bool is_own = inner == loop;
        path[n_steps++] = is_own ? (struct pm_path_step){.block = block, .loop = PM_NONE}
                                 : (struct pm_path_step){.block = PM_NONE, .loop = inner};
        uint32_t edge = is_own ? hot_edge(frequencies, block, loop, PM_NONE, PM_NONE)
                               : hot_exit(frequencies, inner, loop);
        if (edge == PM_NONE)
            return 0;
        block = structure->edges[edge].to;
    } while (block != header);
    return n_steps;
}
