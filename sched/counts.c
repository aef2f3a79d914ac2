/* Executions of basic blocks from those of edges, and which blocks are scheduled together.

   A basic block is executed as often as the edges into it are taken.  No block belongs to more than
   one region (Marin & Mellor-Crummey 2004, section 2.4: from the inside out): the region of a loop
   is its body without inner loops, the region of a routine its code outside loops.  Inlined code is
   scheduled with what surrounds it. */
#include "sched/schedule.h"

#include <stdlib.h>

uint32_t pm_region_of_block(const struct pm_structure *structure, uint32_t block) {
    const struct pm_block *b = &structure->blocks[block];
    return b->loop != PM_NONE ? b->loop : structure->routines[b->routine].scope;
}

uint32_t pm_region_of_scope(const struct pm_structure *structure, uint32_t scope) {
    while (structure->scopes[scope].kind == PM_SCOPE_INLINED &&
           structure->scopes[scope].parent != PM_NONE)
        scope = structure->scopes[scope].parent;
    return scope;
}

/* Parents have smaller indices than their children. */
bool pm_scope_is_inside(const struct pm_structure *structure, uint32_t scope, uint32_t outer) {
    while (scope != PM_NONE && scope > outer)
        scope = structure->scopes[scope].parent;
    return scope == outer;
}

static bool block_is_inside(const struct pm_structure *structure, uint32_t block, uint32_t scope) {
    const struct pm_block *b = &structure->blocks[block];
    bool is_loop = structure->scopes[scope].kind == PM_SCOPE_LOOP;
    return pm_scope_is_inside(structure, is_loop ? b->loop : b->scope, scope);
}

/* Groups ITEMS by KEY: items of key k are order[first[k]] … order[first[k + 1] − 1], ascending. */
static void group_by(const uint32_t *keys, size_t n_items, size_t n_keys, uint32_t **first,
                     uint32_t **order) {
    *first = pm_alloc(n_keys + 1, sizeof **first);
    *order = pm_alloc(n_items, sizeof **order);
    for (size_t i = 0; i < n_items; i++)
        if (keys[i] != PM_NONE)
            (*first)[keys[i] + 1]++;
    for (size_t k = 0; k < n_keys; k++)
        (*first)[k + 1] += (*first)[k];
    uint32_t *next = pm_alloc(n_keys, sizeof *next);
    for (size_t k = 0; k < n_keys; k++)
        next[k] = (*first)[k];
    for (size_t i = 0; i < n_items; i++)
        if (keys[i] != PM_NONE)
            (*order)[next[keys[i]]++] = (uint32_t)i;
    free(next);
}

void pm_counts_make(const struct pm_structure *structure, const double *edge_counts,
                    struct pm_counts *counts) {
    *counts = (struct pm_counts){.structure = structure, .edges = edge_counts};
    counts->blocks = pm_alloc(structure->n_blocks, sizeof *counts->blocks);
    uint32_t *from = pm_alloc(structure->n_edges, sizeof *from);
    for (size_t i = 0; i < structure->n_edges; i++) {
        from[i] = structure->edges[i].from;
        if (structure->edges[i].to != PM_NONE)
            counts->blocks[structure->edges[i].to] += edge_counts[i];
    }
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        if (structure->scopes[pm_region_of_block(structure, b)].flags & PM_SCOPE_UNMATCHED)
            counts->blocks[b] = 0; /* of edges that cross its border only */
    group_by(from, structure->n_edges, structure->n_blocks, &counts->out_first, &counts->out);
    free(from);
    uint32_t *region = pm_alloc(structure->n_blocks, sizeof *region);
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        region[b] = pm_region_of_block(structure, b);
    group_by(region, structure->n_blocks, structure->n_scopes, &counts->member_first,
             &counts->members);
    free(region);
}

void pm_counts_free(struct pm_counts *counts) {
    free(counts->blocks);
    free(counts->out_first);
    free(counts->out);
    free(counts->member_first);
    free(counts->members);
}

double pm_scope_entries(const struct pm_counts *counts, uint32_t scope) {
    const struct pm_structure *structure = counts->structure;
    const struct pm_scope *s = &structure->scopes[scope];
    if (s->routine == PM_NONE)
        return 0;
    const struct pm_routine *routine = &structure->routines[s->routine];
    double entries = 0;
    for (uint32_t i = routine->first_edge; i < routine->first_edge + routine->n_edges; i++) {
        const struct pm_edge *edge = &structure->edges[i];
        if (edge->to == PM_NONE)
            continue;
        if (s->kind == PM_SCOPE_ROUTINE)
            entries += edge->kind == PM_EDGE_ENTRY ? counts->edges[i] : 0;
        else if ((s->kind == PM_SCOPE_INLINED || edge->to == s->header) &&
                 block_is_inside(structure, edge->to, scope) &&
                 (edge->from == PM_NONE || !block_is_inside(structure, edge->from, scope)))
            entries += counts->edges[i];
    }
    return entries;
}
