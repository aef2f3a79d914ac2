/* Chooses the edges that are counted: those off a maximum spanning tree of the control flow graph
   with the virtual edge EXIT → ENTRY (Knuth & Stevenson 1973; Ball & Larus 1994; Marin &
   Mellor-Crummey 2004, section 2.2.1).  The virtual edge and edges that no counter can stand on are
   on the tree first, then those by descending weight.  With E edges and V vertices, ENTRY and EXIT
   among them, E − V + 2 edges are left, one of them more for every call that may not return.

   Needs the CFG, loops in the scope tree, instructions and landings.  Fills edges' weight and
   counter, routines' n_counters and formula, and the structure's n_counters.  A routine whose
   uncountable edges have a cycle gets no counters, and a reason. */
#include "binlift/counters/counters.h"
#include "binlift/counters/trip_counts.h"
#include "binlift/counters/weights.h"

#include <stdlib.h>
#include <string.h>

/* ---- the spanning tree ---------------------------------------------------------------------- */

struct candidate {
    uint32_t edge;
    uint32_t rank; /* lower goes on the tree first, whatever the weight */
    double weight;
    uint8_t place;
};

enum { RANK_MUST = 0, RANK_TAGGED = 1, RANK_USUAL = 2 };

/* Among equal weights the tree takes edges whose counter would need a jump of its own. */
static bool needs_own_code(uint8_t place) {
    return place == PM_PLACE_BRANCH || place == PM_PLACE_ARRIVAL;
}

static int compare_candidates(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (needs_own_code(a->place) != needs_own_code(b->place))
        return needs_own_code(a->place) ? -1 : 1;
    return a->edge < b->edge ? -1 : a->edge > b->edge;
}

static uint32_t find_root(uint32_t *parent, uint32_t v) {
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

/* Joins the trees of A and B; false if they are one already. */
static bool join(uint32_t *parent, uint32_t a, uint32_t b) {
    a = find_root(parent, a);
    b = find_root(parent, b);
    parent[a] = b;
    return a != b;
}

/* Kruskal's algorithm.  Sets OFF_TREE per edge; false if edges without a place have a cycle. */
static bool span(const struct pm_flow *flow, struct candidate *candidates, bool *off_tree) {
    bool possible = true;
    uint32_t *parent = pm_alloc(flow->n_vertices, sizeof *parent);
    for (uint32_t v = 0; v < flow->n_vertices; v++)
        parent[v] = v;
    join(parent, flow->exit, flow->entry);
    if (flow->n_edges) /* qsort must not get NULL */
        qsort(candidates, flow->n_edges, sizeof *candidates, compare_candidates);
    for (uint32_t i = 0; i < flow->n_edges; i++) {
        uint32_t e = candidates[i].edge;
        off_tree[e] = !join(parent, pm_flow_from(flow, e), pm_flow_to(flow, e));
        if (off_tree[e] && candidates[i].rank == RANK_MUST)
            possible = false;
    }
    free(parent);
    return possible;
}

/* Calls after which control may come back or not, by their edge to EXIT. */
static uint32_t count_may_not_return(const struct pm_flow *flow) {
    uint32_t n = 0;
    for (uint32_t e = 0; e < flow->n_edges; e++) {
        uint32_t from = pm_flow_from(flow, e);
        if (flow->edges[e].kind == PM_EDGE_NO_RETURN &&
            flow->first_out[from + 1] - flow->first_out[from] > 1)
            n++;
    }
    return n;
}

/* A back edge that is counted outside its loop costs as often as the loop is entered. */
static void weigh_trip_counts(const struct pm_lifted *lifted, size_t first_trip_count,
                              const struct pm_flow *flow, struct candidate *candidates) {
    uint32_t first_edge = flow->routine->first_edge;
    for (size_t t = first_trip_count; t < lifted->n_trip_counts; t++) {
        const struct pm_trip_count *trip = &lifted->trip_counts[t];
        double weight = 0;
        for (uint32_t w = trip->first_way; w < trip->first_way + trip->n_ways; w++)
            if (!lifted->trip_ways[w].leaves)
                weight += candidates[lifted->trip_ways[w].edge - first_edge].weight;
        struct candidate *candidate = &candidates[trip->edge - first_edge];
        if (weight < candidate->weight)
            candidate->weight = weight;
    }
}

/* Forgets trip counts of edges that are on the tree. */
static void keep_counted_trips(struct pm_lifted *lifted, size_t first_trip_count) {
    size_t n = first_trip_count;
    for (size_t t = first_trip_count; t < lifted->n_trip_counts; t++) {
        const struct pm_trip_count *trip = &lifted->trip_counts[t];
        if (lifted->structure->edges[trip->edge].counter == PM_NONE)
            continue;
        for (uint32_t w = trip->first_way; w < trip->first_way + trip->n_ways; w++)
            lifted->trip_ways[w].trip_count = (uint32_t)n;
        lifted->trip_counts[n++] = *trip;
    }
    lifted->n_trip_counts = n;
}

static void place_in_routine(struct pm_lifted *lifted, uint32_t r,
                             const struct pm_weights_index *known) {
    struct pm_structure *structure = lifted->structure;
    struct pm_routine *routine = &structure->routines[r];
    struct pm_flow *flow = pm_flow_new(structure, r);
    struct pm_edge *edges = structure->edges + routine->first_edge;
    struct candidate *candidates = pm_alloc(flow->n_edges, sizeof *candidates);
    bool *off_tree = pm_alloc(flow->n_edges, sizeof *off_tree);
    uint8_t *places = pm_counter_places(lifted, r);
    double *weights = pm_estimate_weights(flow);
    size_t first_trip_count = lifted->n_trip_counts;
    pm_find_trip_counts(lifted, flow, places);
    if (known)
        pm_known_weights_of(known, structure, r, weights);

    for (uint32_t e = 0; e < flow->n_edges; e++) {
        edges[e].weight = weights[e];
        edges[e].counter = PM_NONE;
        uint32_t rank = places[e] == PM_PLACE_NOWHERE  ? RANK_MUST
                        : places[e] == PM_PLACE_TAGGED ? RANK_TAGGED
                                                       : RANK_USUAL;
        candidates[e] = (struct candidate){e, rank, weights[e], places[e]};
    }
    weigh_trip_counts(lifted, first_trip_count, flow, candidates);
    routine->n_counters = 0;
    routine->n_counters_formula = flow->n_edges - count_may_not_return(flow) + 2 - flow->n_vertices;
    if (span(flow, candidates, off_tree)) {
        for (uint32_t e = 0; e < flow->n_edges; e++)
            if (off_tree[e]) {
                edges[e].counter = structure->n_counters++;
                routine->n_counters++;
            }
    } else if (!routine->reason) {
        routine->reason = pm_strdup("edges that cannot be counted form a cycle");
    }
    keep_counted_trips(lifted, first_trip_count);
    free(weights);
    free(places);
    free(off_tree);
    free(candidates);
    pm_flow_free(flow);
}

void pm_place_counters(struct pm_lifted *lifted, const struct pm_known_weights *known) {
    struct pm_structure *structure = lifted->structure;
    struct pm_weights_index *index = known ? pm_weights_index_new(known) : NULL;
    structure->n_counters = 0;
    for (uint32_t r = 0; r < structure->n_routines; r++)
        if (structure->routines[r].n_blocks && structure->routines[r].state != PM_ROUTINE_REFUSED)
            place_in_routine(lifted, r, index);
    pm_weights_index_free(index);
}
