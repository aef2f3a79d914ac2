/* Paths with frequencies, widest first (paths.h).

   The region is a graph without cycles: its nodes are its own basic blocks and the loops directly
   in it, which each are one node; ways back to the header, and out of the region, end in one place.
   The widest path to each node is found in one walk in topological order; a path's frequency is
   taken off its edges, so that each path uses up at least one. */
#include <stdlib.h>
#include <string.h>

#include "sched/paths/paths.h"
#include "sched/sched.h"

enum { MOST_PATHS = 64 };

/* What is left of an edge is nothing below this share of the region's flow: counts that are
   predicted do not add up exactly. */
static const double least_share = 1e-6;

struct link { /* from node to node; `to` N_NODES: the end */
    uint32_t from, to;
    double left;
    bool returns;
};

struct region {
    const struct pm_structure *structure;
    uint32_t scope;
    bool is_loop;
    PM_ARRAY(struct pm_path_step, nodes); /* in topological order once `order` is made */
    PM_ARRAY(struct link, links);
    uint32_t first_block, *node_of_block; /* of the routine's basic blocks; PM_NONE: not in it */
    uint32_t *order;                      /* nodes, each before those that it leads to */
    double flow;
};

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The region itself for its own basic blocks, the loop directly in it for others; PM_NONE. */
static uint32_t part_of(const struct region *region, uint32_t block) {
    if (region->is_loop)
        return pm_inner_loop_around(region->structure, block, region->scope);
    uint32_t loop = region->structure->blocks[block].loop, outer = loop;
    while (outer != PM_NONE) {
        loop = outer;
        outer = pm_outer_loop(region->structure, outer);
    }
    return loop == PM_NONE ? region->scope : loop;
}

static void add_nodes(struct region *region, const struct pm_routine *routine) {
    region->first_block = routine->first_block;
    region->node_of_block = pm_alloc(routine->n_blocks, sizeof *region->node_of_block);
    for (uint32_t b = 0; b < routine->n_blocks; b++) {
        uint32_t part = part_of(region, routine->first_block + b), node = PM_NONE;
        for (uint32_t n = 0; n < region->n_nodes && part != region->scope; n++)
            if (region->nodes[n].loop == part)
                node = n;
        if (part != PM_NONE && node == PM_NONE) {
            node = (uint32_t)region->n_nodes;
            *PM_PUSH(region, nodes) =
                part == region->scope
                    ? (struct pm_path_step){.block = routine->first_block + b, .loop = PM_NONE}
                    : (struct pm_path_step){.block = PM_NONE, .loop = part};
        }
        region->node_of_block[b] = part == PM_NONE ? PM_NONE : node;
    }
}

/* ---- links ----------------------------------------------------------------------------------- */

static uint32_t node_of(const struct region *region, uint32_t block) {
    return block == PM_NONE ? PM_NONE : region->node_of_block[block - region->first_block];
}

/* Edges that no path can tell apart are one link. */
static void add_link(struct region *region, uint32_t from, uint32_t to, double executions,
                     bool returns) {
    for (size_t l = 0; l < region->n_links; l++) {
        struct link *link = &region->links[l];
        if (link->from == from && link->to == to && link->returns == returns) {
            link->left += executions;
            return;
        }
    }
    *PM_PUSH(region, links) =
        (struct link){.from = from, .to = to, .left = executions, .returns = returns};
}

/* Edges that come in (from PM_NONE or outside) start paths: they are links from nowhere. */
static void add_links(struct region *region, const struct pm_frequencies *frequencies,
                      const struct pm_routine *routine) {
    const struct pm_structure *structure = region->structure;
    uint32_t header = structure->scopes[region->scope].header, end = (uint32_t)region->n_nodes;
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        uint32_t from = node_of(region, edge->from), to = node_of(region, edge->to);
        bool returns = region->is_loop && edge->to == header && from != PM_NONE;
        if (frequencies->edges[e] <= 0 || (from == PM_NONE && to == PM_NONE) ||
            (from == to && !returns))
            continue;
        add_link(region, from, returns || to == PM_NONE ? end : to, frequencies->edges[e], returns);
        if (returns) /* and the next pass begins */
            add_link(region, PM_NONE, to, frequencies->edges[e], false);
    }
    for (size_t l = 0; l < region->n_links; l++)
        region->flow += region->links[l].from == PM_NONE ? region->links[l].left : 0;
}

/* Nodes in an order in which links lead forward; links that would not are left out of paths: they
   are of irreducible loops. */
static void order_nodes(struct region *region) {
    size_t n = region->n_nodes, n_ordered = 0;
    uint32_t *n_before = pm_alloc(n, sizeof *n_before), *place = pm_alloc(n, sizeof *place);
    region->order = pm_alloc(n, sizeof *region->order);
    memset(place, 0xff, n * sizeof *place);
    for (size_t l = 0; l < region->n_links; l++)
        if (region->links[l].from != PM_NONE && region->links[l].to < n)
            n_before[region->links[l].to]++;
    while (n_ordered < n) {
        uint32_t next = PM_NONE;
        for (uint32_t i = 0; i < n; i++)
            if (place[i] == PM_NONE && (next == PM_NONE || n_before[i] < n_before[next]))
                next = i;
        place[next] = (uint32_t)n_ordered;
        region->order[n_ordered++] = next;
        for (size_t l = 0; l < region->n_links; l++)
            if (region->links[l].from == next && region->links[l].to < n &&
                n_before[region->links[l].to] > 0)
                n_before[region->links[l].to]--;
    }
    for (size_t l = 0; l < region->n_links; l++) {
        struct link *link = &region->links[l];
        if (link->from != PM_NONE && link->to < n && place[link->to] <= place[link->from])
            link->from = link->to = PM_NONE;
    }
    free(n_before);
    free(place);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* The widest path from outside to the end: per node, and the end, the link that it comes by. */
static double widest_path(const struct region *region, uint32_t *by) {
    size_t n = region->n_nodes;
    double *width = pm_alloc(n + 1, sizeof *width);
    for (size_t i = 0; i <= n; i++)
        by[i] = PM_NONE;
    for (uint32_t l = 0; l < region->n_links; l++) {
        const struct link *link = &region->links[l];
        if (link->from == PM_NONE && link->to != PM_NONE && link->left > width[link->to]) {
            width[link->to] = link->left;
            by[link->to] = l;
        }
    }
    for (size_t i = 0; i < n; i++)
        for (uint32_t l = 0; l < region->n_links; l++) {
            const struct link *link = &region->links[l];
            if (link->from != region->order[i])
                continue;
            double through = width[link->from] < link->left ? width[link->from] : link->left;
            if (through > width[link->to]) {
                width[link->to] = through;
                by[link->to] = l;
            }
        }
    double widest = width[n];
    free(width);
    return widest;
}

static void take_path(struct region *region, const uint32_t *by, double executions,
                      struct pm_paths *paths) {
    uint32_t n_steps = 0, end = (uint32_t)region->n_nodes;
    struct pm_region_path *path = PM_PUSH(paths, items);
    *path =
        (struct pm_region_path){.first_step = (uint32_t)paths->n_steps, .executions = executions};
    path->returns = region->links[by[end]].returns;
    for (uint32_t at = end; at != PM_NONE; at = region->links[by[at]].from) {
        region->links[by[at]].left -= executions;
        n_steps += at != end;
    }
    path->n_steps = n_steps;
    for (uint32_t i = 0; i < n_steps; i++)
        (void)PM_PUSH(paths, steps);
    for (uint32_t at = region->links[by[end]].from; at != PM_NONE; at = region->links[by[at]].from)
        paths->steps[path->first_step + --n_steps] = region->nodes[at];
}

/* Edge counts tell the paths where no more paths were found than edges that are chosen between. */
static bool is_open(const struct region *region, size_t n_paths) {
    size_t n_choices = 0;
    for (uint32_t i = 0; i < region->n_nodes; i++) {
        size_t n_out = 0;
        for (size_t l = 0; l < region->n_links; l++)
            n_out += region->links[l].from == i;
        n_choices += n_out > 1;
    }
    return n_choices > 1 && n_paths > 1;
}

void pm_paths_of_region(const struct pm_frequencies *frequencies, uint32_t scope,
                        struct pm_paths *paths) {
    const struct pm_structure *structure = frequencies->structure;
    const struct pm_routine *routine = &structure->routines[structure->scopes[scope].routine];
    struct region region = {.structure = structure,
                            .scope = scope,
                            .is_loop = structure->scopes[scope].kind == PM_SCOPE_LOOP};
    *paths = (struct pm_paths){.items = paths->items,
                               .cap_items = paths->cap_items,
                               .steps = paths->steps,
                               .cap_steps = paths->cap_steps};
    add_nodes(&region, routine);
    add_links(&region, frequencies, routine);
    order_nodes(&region);
    uint32_t *by = pm_alloc(region.n_nodes + 1, sizeof *by);
    double covered = 0;
    while (paths->n_items < MOST_PATHS) {
        double executions = widest_path(&region, by);
        if (executions <= least_share * region.flow)
            break;
        take_path(&region, by, executions, paths);
        covered += executions;
    }
    paths->left_executions = region.flow > covered ? region.flow - covered : 0;
    paths->is_assumed = is_open(&region, paths->n_items);
    free(by);
    free(region.nodes);
    free(region.links);
    free(region.node_of_block);
    free(region.order);
}

void pm_paths_free(struct pm_paths *paths) {
    free(paths->items);
    free(paths->steps);
    *paths = (struct pm_paths){0};
}
