/* Which inlined code a loop or a basic block belongs to; see tree.h.  Needs loops and DWARF.

   The instructions that keep a loop going belong to the code that wrote the loop: the jumps back to
   its header and the jumps out of it.  What inlined code they share is the loop's, and so are its
   callers'; but where the condition itself is inlined code, less than half of the loop is in
   there, and the loop belongs to the caller. */
#include "binlift/cfg/cfg.h"
#include "binlift/dwarf/dwarf.h"
#include "binlift/lifted.h"
#include "binlift/scopes/tree.h"

#include <stdlib.h>
#include <string.h>

enum { UNSET = PM_NONE - 1 };

static bool contains(const struct pm_loops *loops, uint32_t outer, uint32_t inner) {
    while (inner != PM_NONE && inner > outer)
        inner = loops->loops[inner].parent;
    return inner == outer;
}

static uint32_t last_insn_inline(const struct pm_lifted *lifted, const struct pm_debug *debug,
                                 uint32_t block) {
    const struct pm_block_code *code = &lifted->block_codes[block];
    return debug->insn_inline[code->first_insn + code->n_insns - 1];
}

/* For every loop what its jumps back and out share. */
static void find_shared(const struct pm_lifted *lifted, const struct pm_debug *debug,
                        uint32_t *shared) {
    const struct pm_structure *structure = lifted->structure;
    const struct pm_loops *loops = lifted->loops;
    for (size_t i = 0; i < loops->n_loops; i++)
        shared[i] = UNSET;
    for (size_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (edge->from == PM_NONE || lifted->block_codes[edge->from].n_insns == 0)
            continue;
        uint32_t to_loop = edge->to == PM_NONE ? PM_NONE : loops->block_loop[edge->to];
        uint32_t place = last_insn_inline(lifted, debug, edge->from);
        for (uint32_t l = loops->block_loop[edge->from]; l != PM_NONE; l = loops->loops[l].parent) {
            bool stays = to_loop != PM_NONE && contains(loops, l, to_loop);
            if (!stays && edge->kind != PM_EDGE_EXIT && edge->kind != PM_EDGE_NO_RETURN)
                shared[l] = shared[l] == UNSET ? place : pm_inline_common(debug, shared[l], place);
            if (!stays)
                continue;
            if (edge->to == loops->loops[l].header)
                shared[l] = shared[l] == UNSET ? place : pm_inline_common(debug, shared[l], place);
            break; /* it stays in the loops around, too */
        }
    }
}

static bool is_within(const struct pm_debug *debug, uint32_t place, uint32_t outer) {
    while (place != PM_NONE && place > outer)
        place = debug->inlines[place].parent;
    return place == outer;
}

uint32_t *pm_place_loops(const struct pm_lifted *lifted, const struct pm_debug *debug) {
    const struct pm_structure *structure = lifted->structure;
    const struct pm_loops *loops = lifted->loops;
    uint32_t *place = pm_alloc(loops->n_loops, sizeof *place);
    uint32_t *total = pm_alloc(loops->n_loops, sizeof *total);
    uint32_t *inside = pm_alloc(loops->n_loops, sizeof *inside);
    find_shared(lifted, debug, place);
    for (size_t i = 0; i < loops->n_loops; i++)
        if (place[i] == UNSET)
            place[i] = PM_NONE;
    for (bool moved = debug->n_inlines > 0; moved;) {
        moved = false;
        memset(total, 0, loops->n_loops * sizeof *total);
        memset(inside, 0, loops->n_loops * sizeof *inside);
        for (size_t b = 0; b < structure->n_blocks; b++)
            for (uint32_t l = loops->block_loop[b]; l != PM_NONE; l = loops->loops[l].parent) {
                const struct pm_block_code *code = &lifted->block_codes[b];
                if (place[l] == PM_NONE)
                    continue;
                total[l] += code->n_insns;
                for (uint32_t i = 0; i < code->n_insns; i++)
                    inside[l] +=
                        is_within(debug, debug->insn_inline[code->first_insn + i], place[l]);
            }
        for (size_t l = 0; l < loops->n_loops; l++)
            if (place[l] != PM_NONE && 2 * inside[l] < total[l]) {
                place[l] = debug->inlines[place[l]].parent;
                moved = true;
            }
    }
    free(total);
    free(inside);
    return place;
}

uint32_t pm_place_block(const struct pm_lifted *lifted, const struct pm_debug *debug,
                        uint32_t block) {
    /* the majority, if there is one (Boyer & Moore): else what all have in common */
    const struct pm_block_code *code = &lifted->block_codes[block];
    const uint32_t *places = debug->insn_inline + code->first_insn;
    uint32_t most = PM_NONE, lead = 0, common = UNSET, n = 0;
    for (uint32_t i = 0; i < code->n_insns; i++) {
        if (lead == 0)
            most = places[i];
        lead += places[i] == most ? 1 : -1;
        common = common == UNSET ? places[i] : pm_inline_common(debug, common, places[i]);
    }
    for (uint32_t i = 0; i < code->n_insns; i++)
        n += places[i] == most;
    return 2 * n > code->n_insns ? most : common == UNSET ? PM_NONE : common;
}
