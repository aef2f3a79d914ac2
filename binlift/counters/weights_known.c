/* Frequencies of edges from an earlier profile, in place of the estimates of weights_estimated.c:
   of the same build, or of another one for those routines whose control flow is the same.  A
   routine is recognised by its name and by the shape of its graph; where several have both, by its
   address too.  What did not run in the profile keeps its estimates.

   Needs the CFG, on both sides. */
#define _GNU_SOURCE
#include "binlift/counters/private.h"

#include <stdlib.h>
#include <string.h>

struct pm_weights_index {
    const struct pm_structure *structure;
    const double *edge_counts;
    uint32_t *by_name; /* routines, ascending by name */
};

static int compare_names(const void *left, const void *right, void *routines) {
    const struct pm_routine *all = routines;
    return strcmp(all[*(const uint32_t *)left].name, all[*(const uint32_t *)right].name);
}

struct pm_weights_index *pm_weights_index_new(const struct pm_known_weights *known) {
    const struct pm_structure *structure = known->structure;
    struct pm_weights_index *index = pm_alloc(1, sizeof *index);
    index->structure = structure;
    index->edge_counts = known->edge_counts;
    index->by_name = pm_alloc(structure->n_routines, sizeof *index->by_name);
    for (uint32_t r = 0; r < structure->n_routines; r++)
        index->by_name[r] = r;
    if (structure->n_routines)
        qsort_r(index->by_name, structure->n_routines, sizeof *index->by_name, compare_names,
                structure->routines);
    return index;
}

void pm_weights_index_free(struct pm_weights_index *index) {
    if (!index)
        return;
    free(index->by_name);
    free(index);
}

static uint32_t relative(uint32_t block, uint32_t first) {
    return block == PM_NONE ? PM_NONE : block - first;
}

static bool same_shape(const struct pm_structure *a, const struct pm_routine *in_a,
                       const struct pm_structure *b, const struct pm_routine *in_b) {
    if (in_a->n_blocks != in_b->n_blocks || in_a->n_edges != in_b->n_edges)
        return false;
    for (uint32_t e = 0; e < in_a->n_edges; e++) {
        const struct pm_edge *of_a = &a->edges[in_a->first_edge + e];
        const struct pm_edge *of_b = &b->edges[in_b->first_edge + e];
        if (of_a->kind != of_b->kind ||
            relative(of_a->from, in_a->first_block) != relative(of_b->from, in_b->first_block) ||
            relative(of_a->to, in_a->first_block) != relative(of_b->to, in_b->first_block))
            return false;
    }
    return true;
}

/* The profile's routine that ROUTINE is; NULL if there is none, or several that cannot be
 * distinguished. */
static const struct pm_routine *find_same(const struct pm_weights_index *index,
                                          const struct pm_structure *structure,
                                          const struct pm_routine *routine) {
    const struct pm_structure *known = index->structure;
    const struct pm_routine *found = NULL;
    size_t first = PM_LOWER_BOUND(
        known->n_routines, i, strcmp(known->routines[index->by_name[i]].name, routine->name) < 0);
    for (size_t i = first; i < known->n_routines; i++) {
        const struct pm_routine *candidate = &known->routines[index->by_name[i]];
        if (strcmp(candidate->name, routine->name) != 0)
            break;
        if (!candidate->counted || !same_shape(known, candidate, structure, routine))
            continue;
        if (candidate->address == routine->address)
            return candidate;
        if (found)
            return NULL;
        found = candidate;
    }
    return found;
}

bool pm_known_weights_of(const struct pm_weights_index *index, const struct pm_structure *structure,
                         uint32_t r, double *weights) {
    const struct pm_routine *routine = &structure->routines[r];
    const struct pm_routine *same = find_same(index, structure, routine);
    double sum = 0;
    for (uint32_t e = 0; same && e < same->n_edges; e++)
        sum += index->edge_counts[same->first_edge + e];
    if (!(sum > 0))
        return false;
    memcpy(weights, index->edge_counts + same->first_edge, same->n_edges * sizeof *weights);
    return true;
}
