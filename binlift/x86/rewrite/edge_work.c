/* What is done on each edge, and at which place of which block: counters, and what stands on the
   ways into loops and out of them whose back edge is counted there (counters/counters.h).

   Needs places of counters.  Labels of pre-heads are made here. */
#include "binlift/counters/counters.h"
#include "binlift/x86/rewrite/rewrite.h"

#include <stdlib.h>
#include <string.h>

static bool has_trip_way(const struct pm_edge_work *work, uint32_t edge) {
    return work->trip_enters[edge] != PM_NONE || work->trip_leaves[edge] != PM_NONE;
}

static void find_trip_ways(const struct pm_rewrite *rewrite, struct pm_edge_work *work) {
    const struct pm_lifted *lifted = rewrite->lifted;
    for (size_t e = 0; e < lifted->structure->n_edges; e++)
        work->trip_enters[e] = work->trip_leaves[e] = PM_NONE;
    for (size_t t = 0; !rewrite->options->no_counters && t < lifted->n_trip_counts; t++) {
        const struct pm_trip_count *trip = &lifted->trip_counts[t];
        work->is_trip[trip->edge] = true;
        for (uint32_t w = trip->first_way; w < trip->first_way + trip->n_ways; w++) {
            const struct pm_trip_way *way = &lifted->trip_ways[w];
            (way->leaves ? work->trip_leaves : work->trip_enters)[way->edge] = w;
        }
    }
}

/* Something is to be done on EDGE itself, behind its branch or on the way of its fall-through;
   false: PLACE is elsewhere.  A branch's work stands in front of the block that it goes to, if it
   is the one that is taken most. */
static bool put_on_edge(const struct pm_edge *edges, struct pm_edge_work *work, uint32_t number,
                        uint8_t place) {
    const struct pm_edge *edge = &edges[number];
    if (place == PM_PLACE_FALLTHROUGH) {
        work->blocks[edge->from].fallthrough = number;
        return true;
    }
    if (place != PM_PLACE_BRANCH)
        return false;
    work->blocks[edge->from].branch = number;
    if (edge->to == PM_NONE)
        return true;
    uint32_t *hottest = &work->blocks[edge->to].pre_head;
    if (*hottest == PM_NONE || edges[*hottest].weight < edge->weight)
        *hottest = number;
    return true;
}

static void sort_in_trip_way(const struct pm_lifted *lifted, struct pm_edge_work *work,
                             const struct pm_edge *edge, uint32_t number, uint8_t place) {
    if (place == PM_PLACE_IN_TARGET)
        work->blocks[edge->to].way_in = number;
    else if (pm_last_insn(lifted, edge->from)->control == PM_CONTROL_JUMP)
        work->blocks[edge->from].way_out = number;
    else
        work->blocks[edge->from].fallthrough = number;
}

static void sort_in_edge(const struct pm_rewrite *rewrite, struct pm_edge_work *work,
                         uint32_t number) {
    const struct pm_edge *edges = rewrite->lifted->structure->edges, *edge = &edges[number];
    uint8_t place = rewrite->places[number], event_place = rewrite->probes->places[number];
    if (edge->kind == PM_EDGE_TAKEN)
        work->blocks[edge->from].taken = edge->to;
    if (pm_is_counted(rewrite, number) && !work->is_trip[number] &&
        !put_on_edge(edges, work, number, place)) {
        if (place == PM_PLACE_IN_TARGET)
            work->blocks[edge->to].in_target = number;
        else if (place == PM_PLACE_IN_SOURCE)
            work->blocks[edge->from].in_source = number;
    }
    if (has_trip_way(work, number) && !put_on_edge(edges, work, number, place))
        sort_in_trip_way(rewrite->lifted, work, edge, number, place);
    if (pm_has_events(rewrite->probes, number) && !put_on_edge(edges, work, number, event_place)) {
        if (event_place == PM_PLACE_IN_TARGET)
            work->blocks[edge->to].event_in = number;
        else if (event_place == PM_PLACE_IN_SOURCE)
            work->blocks[edge->from].event_out = number;
    }
}

struct pm_edge_work *pm_x86_plan_edge_work(struct pm_rewrite *rewrite) {
    const struct pm_structure *structure = rewrite->lifted->structure;
    struct pm_edge_work *work = pm_alloc(1, sizeof *work);
    work->blocks = pm_alloc(structure->n_blocks, sizeof *work->blocks);
    work->trip_enters = pm_alloc(structure->n_edges, sizeof *work->trip_enters);
    work->trip_leaves = pm_alloc(structure->n_edges, sizeof *work->trip_leaves);
    work->is_trip = pm_alloc(structure->n_edges, sizeof *work->is_trip);
    memset(work->blocks, 0xff, structure->n_blocks * sizeof *work->blocks); /* PM_NONE */
    find_trip_ways(rewrite, work);
    for (uint32_t i = 0; i < structure->n_edges; i++)
        sort_in_edge(rewrite, work, i);
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        if (work->blocks[b].pre_head != PM_NONE)
            work->blocks[b].pre_head_label = pm_code_new_labels(&rewrite->code, 1);
    return work;
}

void pm_x86_edge_work_free(struct pm_edge_work *work) {
    free(work->blocks);
    free(work->trip_enters);
    free(work->trip_leaves);
    free(work->is_trip);
    free(work);
}

static bool is_on_edge(uint8_t place) {
    return place == PM_PLACE_FALLTHROUGH || place == PM_PLACE_BRANCH;
}

void pm_x86_put_trip_ways(struct pm_rewrite *rewrite, const struct pm_edge_work *work,
                          uint32_t edge, pm_live_set live) {
    const struct pm_trip_way *ways = rewrite->lifted->trip_ways;
    if (work->trip_leaves[edge] != PM_NONE)
        pm_x86_put_trip_way(rewrite, &ways[work->trip_leaves[edge]], live);
    if (work->trip_enters[edge] != PM_NONE)
        pm_x86_put_trip_way(rewrite, &ways[work->trip_enters[edge]], live);
}

/* Ways of loops first: what is left may be counted by a register that is dead, and that the counter
   may take; what is entered, by one that is alive. */
void pm_x86_put_edge(struct pm_rewrite *rewrite, const struct pm_edge_work *work, uint32_t edge,
                     pm_live_set live) {
    const struct pm_lifted *lifted = rewrite->lifted;
    uint8_t place = rewrite->places[edge];
    if (place != PM_PLACE_IN_TARGET)
        pm_x86_put_trip_ways(rewrite, work, edge, live);
    if (pm_is_counted(rewrite, edge) && !work->is_trip[edge] && is_on_edge(place))
        pm_x86_put_counter(rewrite, lifted->structure->edges[edge].counter, live, 0);
    if (is_on_edge(rewrite->probes->places[edge]))
        pm_x86_put_probes(rewrite, edge);
}
