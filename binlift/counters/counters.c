/* Chooses the edges that are counted: those off a maximum spanning tree of the control flow graph
   with the virtual edge EXIT → ENTRY (Knuth & Stevenson 1973; Ball & Larus 1994; Marin &
   Mellor-Crummey 2004, section 2.2.1).  The virtual edge and edges that no counter can stand on are
   on the tree first, then those by descending weight.  With E edges and V vertices, ENTRY and EXIT
   among them, E − V + 2 edges are left, one of them more for every call that may not return.

   Needs the CFG, loops in the scope tree, instructions and indirect entries.  A routine in which
   edges that cannot be counted form a cycle gets no counters. */
#include "binlift/counters/private.h"

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
        return PM_COMPARE(a->rank, b->rank);
    if (a->weight != b->weight)
        return PM_COMPARE(b->weight, a->weight);
    if (needs_own_code(a->place) != needs_own_code(b->place))
        return needs_own_code(a->place) ? -1 : 1;
    return PM_COMPARE(a->edge, b->edge);
}

/* Kruskal's algorithm.  Sets OFF_TREE per edge; false if edges without a place have a cycle. */
static bool span(const struct pm_flow *flow, struct candidate *candidates, bool *off_tree) {
    bool possible = true;
    uint32_t *connected = pm_disjoint_sets_new(flow->n_vertices);
    pm_disjoint_sets_join(connected, flow->exit, flow->entry);
    PM_SORT(candidates, flow->n_edges, compare_candidates);
    for (uint32_t i = 0; i < flow->n_edges; i++) {
        uint32_t e = candidates[i].edge;
        off_tree[e] = !pm_disjoint_sets_join(connected, pm_flow_from(flow, e), pm_flow_to(flow, e));
        if (off_tree[e] && candidates[i].rank == RANK_MUST)
            possible = false;
    }
    free(connected);
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
static void weigh_trip_counts(const struct pm_counter_plan *plan, size_t first_trip_count,
                              const struct pm_flow *flow, struct candidate *candidates) {
    uint32_t first_edge = flow->routine->first_edge;
    for (size_t t = first_trip_count; t < plan->n_trip_counts; t++) {
        const struct pm_trip_count *trip = &plan->trip_counts[t];
        double weight = 0;
        for (uint32_t w = trip->first_edge; w < trip->first_edge + trip->n_edges; w++)
            if (!plan->trip_edges[w].is_exit)
                weight += candidates[plan->trip_edges[w].edge - first_edge].weight;
        struct candidate *candidate = &candidates[trip->edge - first_edge];
        if (weight < candidate->weight)
            candidate->weight = weight;
    }
}

/* Forgets trip counts of edges that are on the tree. */
static void keep_counted_trips(struct pm_counter_plan *plan, size_t first_trip_count) {
    size_t n = first_trip_count;
    for (size_t t = first_trip_count; t < plan->n_trip_counts; t++) {
        const struct pm_trip_count *trip = &plan->trip_counts[t];
        if (plan->counter_of[trip->edge] == PM_NONE)
            continue;
        for (uint32_t w = trip->first_edge; w < trip->first_edge + trip->n_edges; w++)
            plan->trip_edges[w].trip_count = (uint32_t)n;
        plan->trip_counts[n++] = *trip;
    }
    plan->n_trip_counts = n;
}

static struct candidate *find_candidates(const struct pm_flow *flow,
                                         const struct pm_counter_plan *plan,
                                         size_t first_trip_count) {
    struct candidate *candidates = pm_alloc(flow->n_edges, sizeof *candidates);
    uint32_t first_edge = flow->routine->first_edge;
    for (uint32_t e = 0; e < flow->n_edges; e++) {
        uint8_t place = plan->places[first_edge + e];
        uint32_t rank = place == PM_PLACE_NOWHERE  ? RANK_MUST
                        : place == PM_PLACE_TAGGED ? RANK_TAGGED
                                                   : RANK_USUAL;
        candidates[e] = (struct candidate){e, rank, plan->weights[first_edge + e], place};
    }
    weigh_trip_counts(plan, first_trip_count, flow, candidates);
    return candidates;
}

static void plan_routine(const struct pm_lifted *lifted, const struct pm_flow *flow, uint32_t r,
                         const struct pm_weights_index *known, struct pm_counter_plan *plan) {
    struct pm_counted_routine *routine = &plan->routines[r];
    uint32_t first_edge = flow->routine->first_edge;
    bool *off_tree = pm_alloc(flow->n_edges, sizeof *off_tree);
    size_t first_trip_count = plan->n_trip_counts;
    pm_estimate_weights(flow, plan->weights + first_edge);
    pm_find_trip_counts(lifted, flow, plan);
    if (known)
        pm_known_weights_of(known, lifted->structure, r, plan->weights + first_edge);

    struct candidate *candidates = find_candidates(flow, plan, first_trip_count);
    routine->n_formula = flow->n_edges - count_may_not_return(flow) + 2 - flow->n_vertices;
    routine->has_cycle = !span(flow, candidates, off_tree);
    for (uint32_t e = 0; e < flow->n_edges && !routine->has_cycle; e++)
        if (off_tree[e]) {
            plan->counter_of[first_edge + e] = plan->n_counters++;
            routine->n_counters++;
        }
    keep_counted_trips(plan, first_trip_count);
    free(off_tree);
    free(candidates);
}

struct pm_counter_plan *pm_plan_counters(const struct pm_lifted *lifted,
                                         const struct pm_known_weights *known) {
    const struct pm_structure *structure = lifted->structure;
    struct pm_counter_plan *plan = pm_alloc(1, sizeof *plan);
    struct pm_weights_index *index = known ? pm_weights_index_new(known) : NULL;
    plan->counter_of = pm_alloc(structure->n_edges, sizeof *plan->counter_of);
    plan->weights = pm_alloc(structure->n_edges, sizeof *plan->weights);
    plan->places = pm_alloc(structure->n_edges, sizeof *plan->places);
    plan->routines = pm_alloc(structure->n_routines, sizeof *plan->routines);
    for (size_t e = 0; e < structure->n_edges; e++)
        plan->counter_of[e] = PM_NONE;
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        if (!routine->n_edges && !routine->n_blocks)
            continue;
        struct pm_flow *flow = pm_flow_new(structure, r);
        pm_find_counter_places(lifted, flow, plan->places + routine->first_edge);
        if (routine->n_blocks && routine->state != PM_ROUTINE_REFUSED)
            plan_routine(lifted, flow, r, index, plan);
        pm_flow_free(flow);
    }
    pm_weights_index_free(index);
    return plan;
}

void pm_counter_plan_free(struct pm_counter_plan *plan) {
    if (!plan)
        return;
    free(plan->counter_of);
    free(plan->weights);
    free(plan->places);
    free(plan->routines);
    free(plan->trip_counts);
    free(plan->trip_edges);
    free(plan);
}

void pm_mark_counters(struct pm_structure *structure, const struct pm_counter_plan *plan) {
    structure->n_counters = plan->n_counters;
    for (size_t e = 0; e < structure->n_edges; e++) {
        structure->edges[e].counter = plan->counter_of[e];
        structure->edges[e].weight = plan->weights[e];
    }
    for (size_t r = 0; r < structure->n_routines; r++) {
        struct pm_routine *routine = &structure->routines[r];
        const struct pm_counted_routine *planned = &plan->routines[r];
        routine->n_counters = planned->n_counters;
        routine->n_counters_formula = planned->n_formula;
        if (planned->has_cycle && !routine->reason)
            routine->reason = pm_strdup("edges that cannot be counted form a cycle");
    }
}
