/* Is the own code of two loops or routines the same?  See matching.h.

   Both graphs are walked at once from the header or the entry.  Edges out of two vertices go
   together in the order of their kinds; where they lead, the vertices go together from then on.  An
   inner loop is one vertex: out of it lead its exits, in the order of its own walk if that
   succeeded, else only where all of them lead to one place. */
#include <stdlib.h>

#include "core/base/base.h"
#include "measure/matching/private.h"

#define MOST_ALIKE 1.5 /* an unrolled or wider body has nearly twice as much */

/* ---- one side -------------------------------------------------------------------------------- */

/* For each loop the edges that leave it, or, if ENTERING, that enter it; one may cross several. */
static struct pm_lists edges_across(const struct pm_structure *structure, bool entering) {
    struct {
        PM_ARRAY(uint32_t, loops);
        PM_ARRAY(uint32_t, edges);
    } crossed = {0};
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        uint32_t inside = entering ? edge->to : edge->from;
        uint32_t outside = entering ? edge->from : edge->to;
        uint32_t loop = inside == PM_NONE ? PM_NONE : structure->blocks[inside].loop;
        for (; loop != PM_NONE && !pm_is_in_loop(structure, outside, loop);
             loop = pm_outer_loop(structure, loop)) {
            *PM_PUSH(&crossed, loops) = loop;
            *PM_PUSH(&crossed, edges) = e;
        }
    }
    struct pm_lists lists =
        pm_lists_by_key(crossed.loops, crossed.edges, crossed.n_loops, structure->n_scopes);
    free(crossed.loops);
    free(crossed.edges);
    return lists;
}

/* Those of one vertex are few: by kind, else as they stand. */
static void sort_by_kind(const struct pm_structure *structure, uint32_t *edges, size_t n) {
    for (size_t i = 1; i < n; i++) {
        uint32_t edge = edges[i];
        size_t at = i;
        for (; at > 0 && structure->edges[edges[at - 1]].kind > structure->edges[edge].kind; at--)
            edges[at] = edges[at - 1];
        edges[at] = edge;
    }
}

static void add_vertices(struct pm_match_side *side) {
    const struct pm_structure *s = side->structure;
    enum { NOT_DATA = PM_GROUP_STACK | PM_GROUP_CONSTANTS | PM_GROUP_PUSHED };
    for (uint32_t b = 0; b < s->n_blocks; b++) {
        uint32_t scope = pm_block_scope(s, b);
        side->n_vertices[scope]++;
        side->instructions[scope] += s->blocks[b].n_instructions;
        for (uint32_t r = 0; r < s->blocks[b].n_references; r++) {
            const struct pm_reference *reference = &s->references[s->blocks[b].first_reference + r];
            if (!(s->groups[reference->group].flags & NOT_DATA))
                side->bytes[scope] += reference->size_bytes;
        }
    }
    for (uint32_t i = 0; i < s->n_scopes; i++) {
        if (s->scopes[i].kind != PM_SCOPE_LOOP || s->scopes[i].routine >= s->n_routines)
            continue;
        uint32_t around = pm_outer_loop(s, i);
        side->n_vertices[around != PM_NONE ? around : s->routines[s->scopes[i].routine].scope]++;
    }
}

void pm_match_side_make(struct pm_match_side *side, const struct pm_structure *structure) {
    *side = (struct pm_match_side){
        .structure = structure,
        .out_of = pm_edges_out(structure),
        .exits = edges_across(structure, false),
        .entries = edges_across(structure, true),
        .n_vertices = pm_alloc(structure->n_scopes, sizeof *side->n_vertices),
        .vertex = pm_alloc_none(structure->n_blocks + structure->n_scopes),
        .instructions = pm_alloc(structure->n_scopes, sizeof *side->instructions),
        .bytes = pm_alloc(structure->n_scopes, sizeof *side->bytes),
    };
    for (size_t b = 0; b < structure->n_blocks; b++)
        sort_by_kind(structure, side->out_of.items + side->out_of.first[b],
                     side->out_of.first[b + 1] - side->out_of.first[b]);
    add_vertices(side);
}

void pm_match_side_free(struct pm_match_side *side) {
    pm_lists_free(&side->out_of);
    pm_lists_free(&side->exits);
    pm_lists_free(&side->entries);
    free(side->n_vertices);
    free(side->vertex);
    free(side->instructions);
    free(side->bytes);
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Of the scopes FROM and TO, counterparts of each other. */
struct walk {
    struct pm_matcher *m;
    uint32_t from, to;
    struct {
        PM_ARRAY(uint32_t, vertices); /* of FROM, in the order in which they were met */
    } met;
    struct {
        PM_ARRAY(uint32_t, edges); /* of FROM that leave the scope, and those of TO, in turn */
    } left;
};

/* Where an edge leads, within the code of SCOPE. */
enum place { TO_EXIT, OUT_OF_SCOPE, TO_BLOCK, TO_LOOP };

static enum place place_of(const struct pm_structure *s, uint32_t scope, uint32_t block,
                           uint32_t *vertex) {
    *vertex = PM_NONE;
    if (block == PM_NONE)
        return TO_EXIT;
    uint32_t part = block, loop = s->blocks[block].loop;
    if (s->scopes[scope].kind == PM_SCOPE_LOOP) {
        loop = pm_inner_loop_around(s, block, scope);
        if (loop == PM_NONE)
            return OUT_OF_SCOPE;
        if (loop == scope)
            loop = PM_NONE;
    } else {
        for (uint32_t outer = loop; outer != PM_NONE; outer = pm_outer_loop(s, outer))
            loop = outer;
    }
    *vertex = loop == PM_NONE ? part : (uint32_t)s->n_blocks + loop;
    return loop == PM_NONE ? TO_BLOCK : TO_LOOP;
}

static bool is_same_loop(const struct walk *w, uint32_t from, uint32_t to) {
    const struct pm_matcher *m = w->m;
    return m->match->scopes[from - m->from.structure->n_blocks] == to - m->to.structure->n_blocks;
}

/* Both enter an inner loop: at the headers, or, where its code is the same, at blocks that are. */
static bool enter_alike(const struct walk *w, uint32_t from, uint32_t to, uint32_t at_from,
                        uint32_t at_to) {
    const struct pm_structure *a = w->m->from.structure, *b = w->m->to.structure;
    bool from_header = a->scopes[from - a->n_blocks].header == at_from;
    bool to_header = b->scopes[to - b->n_blocks].header == at_to;
    return from_header || to_header ? from_header && to_header
                                    : w->m->from.vertex[at_from] == at_to;
}

static bool meet(struct walk *w, uint32_t from, uint32_t to) {
    struct pm_matcher *m = w->m;
    if (m->from.vertex[from] != PM_NONE || m->to.vertex[to] != PM_NONE)
        return m->from.vertex[from] == to && m->to.vertex[to] == from;
    m->from.vertex[from] = to;
    m->to.vertex[to] = from;
    *PM_PUSH(&w->met, vertices) = from;
    return true;
}

static bool pair_edges(struct walk *w, uint32_t from, uint32_t to) {
    struct pm_matcher *m = w->m;
    const struct pm_structure *a = m->from.structure, *b = m->to.structure;
    const struct pm_edge *of_a = &a->edges[from], *of_b = &b->edges[to];
    uint32_t vertex_a, vertex_b;
    enum place place = place_of(a, w->from, of_a->to, &vertex_a);
    if (place != place_of(b, w->to, of_b->to, &vertex_b) || of_a->kind != of_b->kind)
        return false;
    if (place == OUT_OF_SCOPE || (place == TO_EXIT && a->scopes[w->from].kind == PM_SCOPE_LOOP)) {
        *PM_PUSH(&w->left, edges) = from;
        *PM_PUSH(&w->left, edges) = to;
        return true;
    }
    m->inside[from] = to;
    if (place == TO_EXIT)
        return true;
    if (place == TO_LOOP && !(is_same_loop(w, vertex_a, vertex_b) &&
                              enter_alike(w, vertex_a, vertex_b, of_a->to, of_b->to)))
        return false;
    return meet(w, vertex_a, vertex_b);
}

static bool leave_block(struct walk *w, uint32_t from, uint32_t to) {
    const struct pm_lists *of_a = &w->m->from.out_of, *of_b = &w->m->to.out_of;
    uint32_t n = of_a->first[from + 1] - of_a->first[from];
    bool alike = n == of_b->first[to + 1] - of_b->first[to];
    for (uint32_t i = 0; alike && i < n; i++)
        alike = pair_edges(w, of_a->items[of_a->first[from] + i], of_b->items[of_b->first[to] + i]);
    return alike;
}

/* All lead to where the first leads. */
static bool is_one_exit(const struct pm_structure *s, uint32_t scope, const uint32_t *edges,
                        uint32_t n) {
    uint32_t first, other;
    enum place place = n ? place_of(s, scope, s->edges[edges[0]].to, &first) : TO_EXIT;
    for (uint32_t i = 1; i < n; i++)
        if (place_of(s, scope, s->edges[edges[i]].to, &other) != place || other != first)
            return false;
    return true;
}

/* Of an inner loop whose own code differs the exits cannot be told apart: all that leave it FROM
   are counted at the first that does TO. */
static bool leave_other_loop(struct walk *w, const uint32_t *from, uint32_t n_from,
                             const uint32_t *to, uint32_t n_to) {
    struct pm_matcher *m = w->m;
    const struct pm_structure *a = m->from.structure, *b = m->to.structure;
    if (!is_one_exit(a, w->from, from, n_from) || !is_one_exit(b, w->to, to, n_to))
        return false;
    if (n_from == 0 || n_to == 0)
        return n_from == n_to;
    uint32_t vertex_a, vertex_b;
    enum place place = place_of(a, w->from, a->edges[from[0]].to, &vertex_a);
    if (place != place_of(b, w->to, b->edges[to[0]].to, &vertex_b) || place == OUT_OF_SCOPE ||
        (place == TO_LOOP && !is_same_loop(w, vertex_a, vertex_b)))
        return false;
    for (uint32_t i = 0; i < n_from; i++)
        m->inside[from[i]] = to[0];
    return place == TO_EXIT || meet(w, vertex_a, vertex_b);
}

static bool leave_loop(struct walk *w, uint32_t from, uint32_t to) {
    struct pm_matcher *m = w->m;
    const struct pm_lists *of_a = &m->from.exits, *of_b = &m->to.exits;
    uint32_t n = of_a->first[from + 1] - of_a->first[from];
    uint32_t n_to = of_b->first[to + 1] - of_b->first[to];
    const uint32_t *edges = of_a->items + of_a->first[from];
    if (m->match->own_from[from] != PM_MATCHES)
        return leave_other_loop(w, edges, n, of_b->items + of_b->first[to], n_to);
    bool alike = n == n_to;
    for (uint32_t i = 0; alike && i < n; i++)
        alike = m->leaving[edges[i]] != PM_NONE && pair_edges(w, edges[i], m->leaving[edges[i]]);
    return alike;
}

/* ENTRY's edges: the entry itself, then landing pads as they stand. */
static uint32_t list_entries(const struct pm_structure *s, const struct pm_routine *routine,
                             uint32_t *edges) {
    uint32_t n = 0;
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++)
        if (s->edges[e].from == PM_NONE)
            edges[n++] = e;
    sort_by_kind(s, edges, n);
    return n;
}

static bool enter_routine(struct walk *w) {
    const struct pm_structure *a = w->m->from.structure, *b = w->m->to.structure;
    const struct pm_routine *of_a = &a->routines[a->scopes[w->from].routine];
    const struct pm_routine *of_b = &b->routines[b->scopes[w->to].routine];
    uint32_t *edges_a = pm_alloc(of_a->n_edges, sizeof *edges_a);
    uint32_t *edges_b = pm_alloc(of_b->n_edges, sizeof *edges_b);
    uint32_t n = list_entries(a, of_a, edges_a);
    bool alike = n == list_entries(b, of_b, edges_b);
    for (uint32_t i = 0; alike && i < n; i++)
        alike = pair_edges(w, edges_a[i], edges_b[i]);
    free(edges_a);
    free(edges_b);
    return alike;
}

static bool enter_loop(struct walk *w) {
    const struct pm_structure *a = w->m->from.structure, *b = w->m->to.structure;
    uint32_t from = a->scopes[w->from].header, to = b->scopes[w->to].header;
    return from != PM_NONE && to != PM_NONE && a->blocks[from].loop == w->from &&
           b->blocks[to].loop == w->to && meet(w, from, to);
}

static bool walk_all(struct walk *w) {
    const struct pm_matcher *m = w->m;
    uint32_t blocks_from = (uint32_t)m->from.structure->n_blocks;
    uint32_t blocks_to = (uint32_t)m->to.structure->n_blocks;
    bool is_loop = m->from.structure->scopes[w->from].kind == PM_SCOPE_LOOP;
    bool alike = is_loop ? enter_loop(w) : enter_routine(w);
    for (size_t i = 0; alike && i < w->met.n_vertices; i++) {
        uint32_t from = w->met.vertices[i], to = m->from.vertex[from];
        alike = from < blocks_from ? leave_block(w, from, to)
                                   : leave_loop(w, from - blocks_from, to - blocks_to);
    }
    return alike && w->met.n_vertices == m->from.n_vertices[w->from] &&
           w->met.n_vertices == m->to.n_vertices[w->to];
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static bool is_about(double a, double b) { return a <= MOST_ALIKE * b && b <= MOST_ALIKE * a; }

/* One iteration, as emitted, does what one of the other does. */
static bool same_body(const struct pm_matcher *m, uint32_t from, uint32_t to) {
    const struct pm_scope *a = &m->from.structure->scopes[from];
    const struct pm_scope *b = &m->to.structure->scopes[to];
    enum { KIND = PM_SCOPE_VECTOR_BODY | PM_SCOPE_REMAINDER };
    return a->unroll == b->unroll && (a->flags & KIND) == (b->flags & KIND) &&
           is_about(m->from.instructions[from], m->to.instructions[to]) &&
           is_about(m->from.bytes[from], m->to.bytes[to]);
}

static bool is_counted(const struct pm_structure *s, uint32_t scope) {
    return s->scopes[scope].routine < s->n_routines &&
           s->routines[s->scopes[scope].routine].counted;
}

enum pm_mismatch pm_match_own_code(struct pm_matcher *m, uint32_t scope) {
    struct walk w = {.m = m, .from = scope, .to = m->match->scopes[scope]};
    if (!is_counted(m->from.structure, w.from) || !is_counted(m->to.structure, w.to))
        return PM_MISMATCH_NOT_COUNTED;
    bool alike = walk_all(&w);
    bool same = alike && (m->from.structure->scopes[scope].kind != PM_SCOPE_LOOP ||
                          same_body(m, w.from, w.to));
    for (size_t i = 0; same && i < w.left.n_edges; i += 2)
        m->leaving[w.left.edges[i]] = w.left.edges[i + 1];
    free(w.met.vertices);
    free(w.left.edges);
    return same ? PM_MATCHES : alike ? PM_MISMATCH_BODY : PM_MISMATCH_FLOW;
}
