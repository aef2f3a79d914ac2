/* At which point of which basic block code is added, and for which edge: counters, probes, and what
   stands on the edges into loops and out of them whose back edge is counted there
   (counters/counters.h).

   Follows from the instrumentation plan.  Labels of code in front of blocks are made here. */
#include "binlift/counters/counters.h"
#include "binlift/x86/rewrite/private.h"

#include <stdlib.h>
#include <string.h>

static bool has_trip_edge(const struct pm_points *points, uint32_t edge) {
    return points->trip_entries[edge] != PM_NONE || points->trip_exits[edge] != PM_NONE;
}

static void find_trip_edges(const struct pm_rewrite *rewrite, struct pm_points *points) {
    const struct pm_counter_plan *plan = rewrite->plan->counters;
    for (size_t e = 0; e < rewrite->lifted->structure->n_edges; e++)
        points->trip_entries[e] = points->trip_exits[e] = PM_NONE;
    for (size_t t = 0; !rewrite->plan->options->no_counters && t < plan->n_trip_counts; t++) {
        const struct pm_trip_count *trip = &plan->trip_counts[t];
        points->is_trip[trip->edge] = true;
        for (uint32_t w = trip->first_edge; w < trip->first_edge + trip->n_edges; w++) {
            const struct pm_trip_edge *edge = &plan->trip_edges[w];
            (edge->is_exit ? points->trip_exits : points->trip_entries)[edge->edge] = w;
        }
    }
}

/* Has code added on EDGE itself, behind its branch or where it falls through; false: PLACE is
   elsewhere.  A branch's code stands in front of the block that it goes to, if of all branches to
   it this is the one that is taken most. */
static bool put_on_edge(const struct pm_edge *edges, struct pm_points *points, uint32_t number,
                        uint8_t place) {
    const struct pm_edge *edge = &edges[number];
    if (place == PM_PLACE_FALLTHROUGH) {
        points->blocks[edge->from].fallthrough = number;
        return true;
    }
    if (place != PM_PLACE_BRANCH)
        return false;
    points->blocks[edge->from].branch = number;
    if (edge->to == PM_NONE)
        return true;
    uint32_t *hottest = &points->blocks[edge->to].pre_head;
    if (*hottest == PM_NONE || edges[*hottest].weight < edge->weight)
        *hottest = number;
    return true;
}

static void add_trip_edge(const struct pm_lifted *lifted, struct pm_points *points,
                          const struct pm_edge *edge, uint32_t number, uint8_t place) {
    if (place == PM_PLACE_IN_TARGET)
        points->blocks[edge->to].loop_entry = number;
    else if (pm_last_insn(lifted, edge->from)->control == PM_CONTROL_JUMP)
        points->blocks[edge->from].loop_exit = number;
    else
        points->blocks[edge->from].fallthrough = number;
}

static void add_edge(const struct pm_rewrite *rewrite, struct pm_points *points, uint32_t number) {
    const struct pm_edge *edges = rewrite->lifted->structure->edges, *edge = &edges[number];
    uint8_t place = rewrite->plan->counters->places[number],
            event_place = rewrite->plan->probes->places[number];
    if (edge->kind == PM_EDGE_TAKEN)
        points->blocks[edge->from].taken = edge->to;
    if (pm_counter_of(rewrite->plan, number) != PM_NONE && !points->is_trip[number] &&
        !put_on_edge(edges, points, number, place)) {
        if (place == PM_PLACE_IN_TARGET)
            points->blocks[edge->to].in_target = number;
        else if (place == PM_PLACE_IN_SOURCE)
            points->blocks[edge->from].in_source = number;
    }
    if (has_trip_edge(points, number) && !put_on_edge(edges, points, number, place))
        add_trip_edge(rewrite->lifted, points, edge, number, place);
    if (pm_has_events(rewrite->plan, number) && !put_on_edge(edges, points, number, event_place)) {
        if (event_place == PM_PLACE_IN_TARGET)
            points->blocks[edge->to].event_in = number;
        else if (event_place == PM_PLACE_IN_SOURCE)
            points->blocks[edge->from].event_out = number;
    }
}

struct pm_points *pm_x86_find_points(struct pm_rewrite *rewrite) {
    const struct pm_structure *structure = rewrite->lifted->structure;
    struct pm_points *points = pm_alloc(1, sizeof *points);
    points->blocks = pm_alloc(structure->n_blocks, sizeof *points->blocks);
    points->trip_entries = pm_alloc(structure->n_edges, sizeof *points->trip_entries);
    points->trip_exits = pm_alloc(structure->n_edges, sizeof *points->trip_exits);
    points->is_trip = pm_alloc(structure->n_edges, sizeof *points->is_trip);
    memset(points->blocks, 0xff, structure->n_blocks * sizeof *points->blocks); /* PM_NONE */
    find_trip_edges(rewrite, points);
    for (uint32_t i = 0; i < structure->n_edges; i++)
        add_edge(rewrite, points, i);
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        if (points->blocks[b].pre_head != PM_NONE)
            points->blocks[b].pre_head_label = pm_code_new_labels(&rewrite->code, 1);
    return points;
}

void pm_x86_points_free(struct pm_points *points) {
    free(points->blocks);
    free(points->trip_entries);
    free(points->trip_exits);
    free(points->is_trip);
    free(points);
}

static bool is_on_edge(uint8_t place) {
    return place == PM_PLACE_FALLTHROUGH || place == PM_PLACE_BRANCH;
}

void pm_x86_put_trip_edges(struct pm_rewrite *rewrite, const struct pm_points *points,
                           uint32_t edge, pm_live_set live) {
    const struct pm_trip_edge *edges = rewrite->plan->counters->trip_edges;
    if (points->trip_exits[edge] != PM_NONE)
        pm_x86_put_trip_edge(rewrite, &edges[points->trip_exits[edge]], live);
    if (points->trip_entries[edge] != PM_NONE)
        pm_x86_put_trip_edge(rewrite, &edges[points->trip_entries[edge]], live);
}

/* Edges of loops first: the register that counts the iterations of a loop that is left may be dead,
   and the counter may take it; of one that is entered it is alive. */
void pm_x86_put_edge(struct pm_rewrite *rewrite, const struct pm_points *points, uint32_t edge,
                     pm_live_set live) {
    uint8_t place = rewrite->plan->counters->places[edge];
    if (place != PM_PLACE_IN_TARGET)
        pm_x86_put_trip_edges(rewrite, points, edge, live);
    if (pm_counter_of(rewrite->plan, edge) != PM_NONE && !points->is_trip[edge] &&
        is_on_edge(place))
        pm_x86_put_counter(rewrite, pm_counter_of(rewrite->plan, edge), live, 0);
    if (is_on_edge(rewrite->plan->probes->places[edge]))
        pm_x86_put_probes(rewrite, edge);
}
