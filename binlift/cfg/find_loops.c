/* Finds the natural loops and the irreducible regions of every routine and how they nest.  Needs
   basic blocks and edges; reads nothing else.

   A loop is a strongly connected region of the CFG.  Where one basic block is its only entry, that
   is the header and the loop is natural; else the region is irreducible and all its entries count
   as headers.  Without the edges back to its headers the region falls apart into the loops inside
   it (B. Steensgaard, "Sequentializing program dependence graphs for irreducible programs", 1993;
   for reducible graphs these are the natural loops, those with a common header being one).  They
   stay one although their back edges may be of two source loops: `for (;;) { a; if (x) continue; b;
   }` and `do { do a; while (x); b; } while (1);` have the same graph, so nothing in the code tells
   them apart, and trip counts of a region that is entered once would be a guess.  GCC splits such a
   loop in its middle end and joins it again in the final code.  What is entered from outside the
   visible CFG (landing pads, places whose address is taken) counts as entered from ENTRY, so a loop
   with an indirect entry inside is irreducible.

   Strongly connected regions: R. Tarjan, "Depth-first search and linear graph algorithms", 1972.
   The work is proportional to edges times depth of nesting. */
#include "binlift/cfg/cfg.h"
#include "binlift/cfg/jumps.h"
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

#define NOT_SEEN UINT32_MAX

struct region { /* basic blocks nodes[begin] … nodes[end − 1] are strongly connected */
    uint32_t begin, end;
    uint32_t parent; /* loop around it, PM_NONE */
    uint32_t lowest; /* basic block */
};

struct search {
    const struct pm_routine *routine;
    struct pm_loops *loops;

    /* successors of basic block b (numbers count from the routine's first): to[out[b]…], and
       predecessors: from[in[b]…] */
    uint32_t *out, *to, *in, *from;
    uint8_t *entered;      /* by the routine's entry: 1; by an indirect entry: 2 */
    uint32_t *nodes;       /* basic blocks, each region in one piece */
    uint32_t *region;      /* of each basic block: number of the region that it was last put into */
    uint8_t *is_header;    /* of a loop that was found: edges to it are gone */
    uint32_t *visit, *low; /* Tarjan's numbers; visit NOT_SEEN */
    uint32_t *next, *path, *stack;
    uint8_t *on_stack;
    uint32_t n_regions;
    PM_ARRAY(struct region, waiting); /* a stack: the next region to look at is the last */
};

/* ---- the graph ------------------------------------------------------------------------------- */

/* Lists of neighbours from edges: FIRST has room for n_blocks + 1 numbers, zeroed. */
static void collect(const struct pm_edge *edges, const struct pm_routine *routine, bool backwards,
                    uint32_t *first, uint32_t *neighbours) {
    for (int filling = 0; filling < 2; filling++) {
        for (uint32_t e = 0; e < routine->n_edges; e++) {
            if (edges[e].from == PM_NONE || edges[e].to == PM_NONE)
                continue;
            uint32_t here = (backwards ? edges[e].to : edges[e].from) - routine->first_block;
            uint32_t there = (backwards ? edges[e].from : edges[e].to) - routine->first_block;
            if (filling)
                neighbours[--first[here]] = there;
            else
                first[here]++;
        }
        for (uint32_t b = 1; !filling && b <= routine->n_blocks; b++)
            first[b] += first[b - 1];
    }
}

static void collect_graph(struct search *s, const struct pm_edge *edges) {
    collect(edges, s->routine, false, s->out, s->to);
    collect(edges, s->routine, true, s->in, s->from);
    for (uint32_t e = 0; e < s->routine->n_edges; e++)
        if (edges[e].from == PM_NONE && edges[e].to != PM_NONE)
            s->entered[edges[e].to - s->routine->first_block] |=
                edges[e].kind == PM_EDGE_INDIRECT_ENTRY ? 2 : 1;
}

/* ---- strongly connected regions -------------------------------------------------------------- */

static bool is_edge(const struct search *s, uint32_t from, uint32_t to) {
    return s->region[from] == s->region[to] && !s->is_header[to];
}

static bool has_cycle(const struct search *s, uint32_t begin, uint32_t end) {
    if (end - begin > 1)
        return true;
    uint32_t b = s->nodes[begin];
    for (uint32_t e = s->out[b]; e < s->out[b + 1]; e++)
        if (s->to[e] == b && !s->is_header[b])
            return true;
    return false;
}

/* A component is complete: ROOT and what lies above it on the stack go to nodes[at…]. */
static uint32_t take_component(struct search *s, uint32_t root, uint32_t *n_stack, uint32_t at,
                               uint32_t parent) {
    struct region found = {.begin = at, .parent = parent, .lowest = root};
    uint32_t b;
    do {
        b = s->stack[--*n_stack];
        s->on_stack[b] = 0;
        s->nodes[at++] = b;
        if (b < found.lowest)
            found.lowest = b;
    } while (b != root);
    found.end = at;
    if (has_cycle(s, found.begin, found.end))
        *PM_PUSH(s, waiting) = found;
    return at;
}

/* Goes depth-first through what ROOT reaches in its region; components go to nodes[at…]. */
static uint32_t walk(struct search *s, uint32_t root, uint32_t *n_visited, uint32_t at,
                     uint32_t parent) {
    uint32_t depth = 0, n_stack = 0;
    s->path[depth++] = root;
    s->visit[root] = NOT_SEEN;
    while (depth > 0) {
        uint32_t b = s->path[depth - 1];
        if (s->visit[b] == NOT_SEEN) {
            s->visit[b] = s->low[b] = (*n_visited)++;
            s->next[b] = s->out[b];
            s->stack[n_stack++] = b;
            s->on_stack[b] = 1;
        }
        bool descends = false;
        for (; s->next[b] < s->out[b + 1] && !descends; s->next[b]++) {
            uint32_t to = s->to[s->next[b]];
            if (!is_edge(s, b, to))
                continue;
            descends = s->visit[to] == NOT_SEEN;
            if (descends)
                s->path[depth++] = to;
            else if (s->on_stack[to] && s->visit[to] < s->low[b])
                s->low[b] = s->visit[to];
        }
        if (descends)
            continue;
        depth--;
        if (depth > 0 && s->low[b] < s->low[s->path[depth - 1]])
            s->low[s->path[depth - 1]] = s->low[b];
        if (s->low[b] == s->visit[b])
            at = take_component(s, b, &n_stack, at, parent);
    }
    return at;
}

static int compare_lowest(const void *left, const void *right) {
    const struct region *a = left, *b = right;
    return a->lowest > b->lowest ? -1 : a->lowest < b->lowest;
}

/* Splits nodes[begin] … nodes[end − 1] into components; those with cycles wait to be looked at, so
   that the one with the lowest address comes first. */
static void split(struct search *s, uint32_t begin, uint32_t end, uint32_t parent) {
    uint32_t n_visited = 0, at = begin, number = ++s->n_regions;
    uint32_t *members = pm_alloc(end - begin, sizeof *members);
    size_t first = s->n_waiting;
    memcpy(members, s->nodes + begin, (end - begin) * sizeof *members);
    for (uint32_t i = 0; i < end - begin; i++) {
        s->region[members[i]] = number;
        s->visit[members[i]] = NOT_SEEN;
    }
    for (uint32_t i = 0; i < end - begin; i++)
        if (s->visit[members[i]] == NOT_SEEN)
            at = walk(s, members[i], &n_visited, at, parent);
    if (s->n_waiting - first > 1)
        qsort(s->waiting + first, s->n_waiting - first, sizeof *s->waiting, compare_lowest);
    free(members);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* 0: no edge leads to B from outside its region; 1: some do; 2: all of them are indirect
   entries. */
static int how_entered(const struct search *s, uint32_t b) {
    bool from_outside = s->entered[b] & 1;
    for (uint32_t e = s->in[b]; e < s->in[b + 1] && !from_outside; e++)
        from_outside = s->region[s->from[e]] != s->region[b];
    return from_outside ? 1 : s->entered[b] ? 2 : 0;
}

/* Makes a loop of REGION.  Of several entries the lowest that is not a mere indirect entry is
   `header`; of none (unreachable code) the lowest basic block. */
static uint32_t make_loop(struct search *s, const struct region *region) {
    uint32_t number = ++s->n_regions, header = PM_NONE, indirect_entry = PM_NONE, n_entries = 0;
    for (uint32_t i = region->begin; i < region->end; i++)
        s->region[s->nodes[i]] = number;
    for (uint32_t i = region->begin; i < region->end; i++) {
        uint32_t b = s->nodes[i];
        int entered = how_entered(s, b);
        if (entered == 1 && b < header)
            header = b;
        if (entered == 2 && b < indirect_entry)
            indirect_entry = b;
        s->is_header[b] = entered != 0;
        n_entries += entered != 0;
    }
    if (header == PM_NONE)
        header = indirect_entry != PM_NONE ? indirect_entry : region->lowest;
    s->is_header[header] = 1;
    uint32_t index = (uint32_t)s->loops->n_loops, first_block = s->routine->first_block;
    uint32_t depth = region->parent == PM_NONE ? 1 : s->loops->loops[region->parent].depth + 1;
    *PM_PUSH(s->loops, loops) = (struct pm_loop){.header = first_block + header,
                                                 .parent = region->parent,
                                                 .depth = depth,
                                                 .irreducible = n_entries > 1};
    for (uint32_t i = region->begin; i < region->end; i++)
        s->loops->block_loop[first_block + s->nodes[i]] = index;
    return index;
}

void pm_find_loops_of(const struct pm_structure *structure, uint32_t r, struct pm_loops *loops) {
    const struct pm_routine *routine = &structure->routines[r];
    size_t n = routine->n_blocks, first = loops->n_loops;
    uint32_t *room = pm_alloc(13 * (n + 1) + 2 * (size_t)routine->n_edges, sizeof *room);
    uint32_t *at = room;
#define TAKE(count) ((at += (count)) - (count))
    struct search s = {.routine = routine, .loops = loops};
    s.out = TAKE(n + 1);
    s.in = TAKE(n + 1);
    s.nodes = TAKE(n);
    s.region = TAKE(n);
    s.visit = TAKE(n);
    s.low = TAKE(n);
    s.next = TAKE(n);
    s.path = TAKE(n);
    s.stack = TAKE(n);
    s.to = TAKE(routine->n_edges);
    s.from = TAKE(routine->n_edges);
    s.entered = (uint8_t *)TAKE(n);
    s.is_header = (uint8_t *)TAKE(n);
    s.on_stack = (uint8_t *)TAKE(n);
#undef TAKE
    for (uint32_t b = 0; b < n; b++)
        s.nodes[b] = b;
    collect_graph(&s, structure->edges + routine->first_edge);
    split(&s, 0, (uint32_t)n, PM_NONE);
    while (s.n_waiting > 0) {
        struct region region = s.waiting[--s.n_waiting];
        split(&s, region.begin, region.end, make_loop(&s, &region));
    }
    for (size_t l = first; l < loops->n_loops; l++)
        loops->loops[l].routine = r;
    free(s.waiting);
    free(room);
}

void pm_find_loops(struct pm_lifted *lifted) {
    const struct pm_structure *structure = lifted->structure;
    struct pm_loops *loops = pm_alloc(1, sizeof *loops);
    loops->block_loop = pm_alloc(structure->n_blocks, sizeof *loops->block_loop);
    loops->first_loop = pm_alloc(structure->n_routines + 1, sizeof *loops->first_loop);
    memset(loops->block_loop, 0xff, structure->n_blocks * sizeof *loops->block_loop);
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        loops->first_loop[r] = (uint32_t)loops->n_loops;
        if (structure->routines[r].n_blocks > 0)
            pm_find_loops_of(structure, r, loops);
    }
    loops->first_loop[structure->n_routines] = (uint32_t)loops->n_loops;
    pm_free_loops(lifted->loops);
    lifted->loops = loops;
}

void pm_free_loops(struct pm_loops *loops) {
    if (!loops)
        return;
    free(loops->loops);
    free(loops->block_loop);
    free(loops->first_loop);
    free(loops);
}
