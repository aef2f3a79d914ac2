/* Loops for a summary: counted, not kept.  Needs what cfg.c needs. */
#include "binlift/cfg/cfg.h"
#include "binlift/cfg/jumps.h"
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

static void count(struct pm_lifted *lifted, uint32_t routine) {
    const struct pm_structure *structure = lifted->structure;
    struct pm_loops loops = {0};
    if (structure->n_blocks == 0)
        return;
    loops.block_loop = pm_alloc(structure->n_blocks, sizeof *loops.block_loop);
    memset(loops.block_loop, 0xff, structure->n_blocks * sizeof *loops.block_loop);
    pm_find_loops_of(structure, routine, &loops);
    lifted->statistics.n_loops += (uint32_t)loops.n_loops;
    for (size_t i = 0; i < loops.n_loops; i++)
        lifted->statistics.n_irreducible += loops.loops[i].irreducible;
    free(loops.loops);
    free(loops.block_loop);
}

void pm_summarise(struct pm_lifted *lifted) {
    struct pm_module *module = &lifted->structure->modules[0];
    const struct pm_section *lines = pm_image_section(&lifted->image, ".debug_line");
    module->has_lines = lines && lines->header.sh_type != SHT_NOBITS;
    module->has_metadata = lifted->metadata != NULL;
    pm_visit_cfg(lifted, count);
}
