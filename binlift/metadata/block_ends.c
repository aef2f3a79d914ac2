/* What the compiler's final CFG says of the end of one basic block: whether control goes on behind
   a call, and where an indirect jump without a table goes.  Needs metadata that is indexed, and
   decoded instructions. */
#include "binlift/metadata/metadata.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *a, const void *b) {
    const struct pm_metadata_place *x = a, *y = b;
    if (x->address != y->address)
        return PM_COMPARE(x->address, y->address);
    return PM_COMPARE(x->block, y->block);
}

void pm_metadata_index_places(struct pm_metadata *m) {
    for (uint32_t c = 0; c < m->n_contributions; c++) {
        const struct pm_contribution *contribution = &m->contributions[c];
        for (uint32_t i = 0; contribution->used && i < contribution->n_blocks; i++) {
            uint32_t block = contribution->first_block + i;
            *PM_PUSH(m, places) = (struct pm_metadata_place){m->blocks[block].address, c, block};
        }
    }
    PM_SORT(m->places, m->n_places, by_address);
}

/* The first place behind ADDRESS. */
static size_t place_behind(const struct pm_metadata *m, uint64_t address) {
    return PM_LOWER_BOUND(m->n_places, i, m->places[i].address <= address);
}

uint64_t pm_metadata_block_start(const struct pm_lifted *lifted, uint64_t address) {
    uint32_t k = pm_insn_at(lifted, address);
    char text[16] = "";
    if (k == PM_NONE || k == 0)
        return address;
    const struct pm_insn *before = &lifted->insns[k - 1];
    if (before->address + before->length != address || before->is_nop || before->n_memory ||
        before->control != PM_CONTROL_NONE)
        return address;
    lifted->isa->print(pm_insn_bytes(lifted, k - 1), before, text, sizeof text);
    return strncmp(text, "endbr64", 7) == 0 ? before->address : address;
}

/* The compiler's basic block that the code of instruction K belongs to: of those that start at the
   nearest address before it, the last in the layout (the others emit no code).  NULL: none. */
static const struct pm_metadata_place *place_of(const struct pm_lifted *lifted, uint32_t k,
                                                uint64_t *end) {
    const struct pm_metadata *m = lifted->metadata;
    uint64_t address = lifted->insns[k].address;
    size_t behind = m ? place_behind(m, address) : 0;
    if (behind == 0)
        return NULL;
    *end = behind < m->n_places ? pm_metadata_block_start(lifted, m->places[behind].address)
                                : UINT64_MAX;
    const struct pm_metadata_place *place = &m->places[behind - 1];
    return pm_routine_at(lifted, place->address) == pm_routine_at(lifted, address) ? place : NULL;
}

/* Nothing but no-ops between K and END. */
static bool is_last(const struct pm_lifted *lifted, uint32_t k, uint64_t end) {
    uint32_t routine = pm_routine_at(lifted, lifted->insns[k].address);
    for (k++; k < lifted->n_insns && lifted->insns[k].address < end; k++)
        if (!lifted->insns[k].is_nop)
            return pm_routine_at(lifted, lifted->insns[k].address) != routine;
    return true;
}

/* Edges out of the basic block at PLACE, calls' exceptional ones left out unless OF_JUMP. */
static uint32_t add_successors(const struct pm_lifted *lifted,
                               const struct pm_metadata_place *place, bool of_jump,
                               struct pm_addresses *targets, bool *leaves) {
    enum { EXIT = 1 };
    const struct pm_metadata *m = lifted->metadata;
    const struct pm_contribution *c = &m->contributions[place->contribution];
    uint32_t number = m->blocks[place->block].number, n = 0;
    for (uint32_t e = c->first_edge; e < c->first_edge + c->n_edges; e++) {
        const struct pm_metadata_edge *edge = &m->edges[e];
        bool is_unseen = (edge->flags & PM_CFG_EH) || ((edge->flags & PM_CFG_ABNORMAL) && !of_jump);
        if (edge->from != number || (is_unseen && edge->to != EXIT))
            continue;
        n++;
        *leaves |= edge->to == EXIT;
        for (uint32_t b = c->first_block; targets && b < c->first_block + c->n_blocks; b++)
            if (m->blocks[b].number == edge->to)
                *PM_PUSH(targets, addresses) =
                    pm_metadata_block_start(lifted, m->blocks[b].address);
    }
    return n;
}

enum pm_metadata_flow pm_metadata_flow(const struct pm_lifted *lifted, uint32_t k) {
    uint64_t end;
    const struct pm_metadata_place *place = place_of(lifted, k, &end);
    bool leaves = false;
    if (!place)
        return PM_FLOW_NOT_KNOWN;
    if (!is_last(lifted, k, end))
        return PM_FLOW_GOES_ON;
    uint32_t n = add_successors(lifted, place, false, NULL, &leaves);
    return n ? PM_FLOW_GOES_ON : PM_FLOW_STOPS;
}

bool pm_metadata_jump(const struct pm_lifted *lifted, uint32_t k, struct pm_addresses *targets,
                      bool *leaves) {
    uint64_t end;
    const struct pm_metadata_place *place = place_of(lifted, k, &end);
    *leaves = false;
    if (!place || !is_last(lifted, k, end))
        return false;
    /* No edge at all: a goto to a label of the enclosing function. */
    if (add_successors(lifted, place, true, targets, leaves) == 0)
        *leaves = true;
    return true;
}
