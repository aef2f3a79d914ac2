/* Two builds of one program side by side; see matching.h.

   Scopes by key; then own code, inner loops before what is around them (match_flow.c);
   then what enters loops from code that is not the same; then groups (match_groups.c), and what is
   left of them by source (match_source.c). */
#define _GNU_SOURCE
#include "measure/matching/matching.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "measure/matching/private.h"

/* ---- scopes ---------------------------------------------------------------------------------- */

static int compare_keys(const void *left, const void *right, void *scopes) {
    const struct pm_scope *all = scopes;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return all[a].key != all[b].key ? PM_COMPARE(all[a].key, all[b].key) : PM_COMPARE(a, b);
}

static uint32_t *by_key(const struct pm_structure *structure) {
    uint32_t *order = pm_alloc(structure->n_scopes, sizeof *order);
    for (uint32_t i = 0; i < structure->n_scopes; i++)
        order[i] = i;
    qsort_r(order, structure->n_scopes, sizeof *order, compare_keys, structure->scopes);
    return order;
}

/* A routine without a symbol has a name made up from its address: its key is its ordinal. */
static bool has_name(const struct pm_structure *s, uint32_t scope) {
    return s->scopes[scope].kind != PM_SCOPE_ROUTINE || s->scopes[scope].routine >= s->n_routines ||
           pm_has_symbol(&s->routines[s->scopes[scope].routine]);
}

/* Number of scopes with one key from place I on. */
static size_t n_alike(const struct pm_structure *s, const uint32_t *order, size_t i) {
    size_t n = 1;
    while (i + n < s->n_scopes && s->scopes[order[i + n]].key == s->scopes[order[i]].key)
        n++;
    return n;
}

static void match_scopes(struct pm_structure_match *match) {
    const struct pm_structure *a = match->from, *b = match->to;
    uint32_t *order_a = by_key(a), *order_b = by_key(b);
    for (size_t i = 0, k = 0; i < a->n_scopes && k < b->n_scopes;) {
        const struct pm_scope *of_a = &a->scopes[order_a[i]], *of_b = &b->scopes[order_b[k]];
        size_t n_a = n_alike(a, order_a, i), n_b = n_alike(b, order_b, k);
        if (of_a->key == of_b->key && n_a == 1 && n_b == 1 && of_a->kind == of_b->kind &&
            has_name(a, order_a[i]) && has_name(b, order_b[k]))
            match->scopes[order_a[i]] = order_b[k];
        uint64_t key_a = of_a->key, key_b = of_b->key;
        i += key_a <= key_b ? n_a : 0;
        k += key_b <= key_a ? n_b : 0;
    }
    /* A scope is the same only if all around it are. */
    for (uint32_t i = 1; i < a->n_scopes; i++)
        if (match->scopes[a->scopes[i].parent] == PM_NONE)
            match->scopes[i] = PM_NONE;
    free(order_a);
    free(order_b);
}

static void match_own_code(struct pm_matcher *m) {
    struct pm_structure_match *match = m->match;
    for (uint32_t i = 0; i < match->to->n_scopes; i++)
        match->own_to[i] = PM_MISMATCH_ABSENT;
    for (uint32_t i = (uint32_t)match->from->n_scopes; i-- > 0;) {
        uint32_t to = match->scopes[i];
        match->own_from[i] = to == PM_NONE                     ? PM_MISMATCH_ABSENT
                             : pm_has_own_code(match->from, i) ? pm_match_own_code(m, i)
                                                               : PM_MATCHES;
        if (to != PM_NONE)
            match->own_to[to] = match->own_from[i];
    }
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* The counterpart of EDGE, if it leaves a loop whose own code is the same. */
static uint32_t leaving(const struct pm_matcher *m, uint32_t edge) {
    const struct pm_structure *s = m->from.structure;
    const struct pm_edge *e = &s->edges[edge];
    uint32_t loop = e->from == PM_NONE ? PM_NONE : s->blocks[e->from].loop;
    for (; loop != PM_NONE && !pm_is_in_loop(s, e->to, loop); loop = pm_outer_loop(s, loop))
        if (m->match->own_from[loop] == PM_MATCHES)
            return m->leaving[edge];
    return PM_NONE;
}

static bool is_of_same_code(const struct pm_structure *s, const uint8_t *own, uint32_t edge) {
    return own[pm_edge_scope(s, edge)] == PM_MATCHES;
}

/* The edge of TO on which all those of FROM are counted that enter LOOP from code that differs:
   the first such one that is not counted as leaving another loop.  *KNOWN: no edge then counts for
   another one, so that the sum of the edges that enter the header is right. */
static uint32_t entry_of(const struct pm_matcher *m, const uint32_t *left_by, uint32_t loop,
                         bool *known) {
    const struct pm_structure *a = m->from.structure, *b = m->to.structure;
    uint32_t to_loop = m->match->scopes[loop], first = PM_NONE;
    const struct pm_lists *in_a = &m->from.entries, *in_b = &m->to.entries;
    bool needed = false;
    *known = true;
    for (uint32_t i = in_b->first[to_loop]; i < in_b->first[to_loop + 1]; i++) {
        uint32_t edge = in_b->items[i], by = left_by[edge];
        if (is_of_same_code(b, m->match->own_to, edge))
            continue;
        *known &= b->edges[edge].to == b->scopes[to_loop].header;
        if (by == PM_NONE)
            first = first == PM_NONE ? edge : first;
        else
            *known &= a->edges[by].to == a->scopes[loop].header;
    }
    for (uint32_t i = in_a->first[loop]; i < in_a->first[loop + 1]; i++) {
        uint32_t edge = in_a->items[i], to = leaving(m, edge);
        if (is_of_same_code(a, m->match->own_from, edge))
            continue;
        *known &= a->edges[edge].to == a->scopes[loop].header;
        if (to == PM_NONE)
            needed = true;
        else
            *known &= b->edges[to].to == b->scopes[to_loop].header;
    }
    *known &= !needed || first != PM_NONE;
    return first;
}

static uint32_t *list_left_by(const struct pm_matcher *m) {
    uint32_t *left_by = pm_alloc_none(m->to.structure->n_edges);
    for (uint32_t e = 0; e < m->from.structure->n_edges; e++) {
        uint32_t to =
            is_of_same_code(m->from.structure, m->match->own_from, e) ? PM_NONE : leaving(m, e);
        if (to != PM_NONE)
            left_by[to] = e;
    }
    return left_by;
}

/* Gives up loops whose number of entries would not be known; true if there was one. */
static bool drop_unknown(struct pm_matcher *m, const uint32_t *left_by) {
    struct pm_structure_match *match = m->match;
    bool any = false;
    for (uint32_t i = 0; i < match->from->n_scopes; i++) {
        bool known = true;
        if (match->from->scopes[i].kind != PM_SCOPE_LOOP || match->own_from[i] != PM_MATCHES)
            continue;
        entry_of(m, left_by, i, &known);
        if (known)
            continue;
        match->own_from[i] = match->own_to[match->scopes[i]] = PM_MISMATCH_FLOW;
        any = true;
    }
    return any;
}

static void match_edges(struct pm_matcher *m) {
    struct pm_structure_match *match = m->match;
    const struct pm_structure *a = m->from.structure;
    uint32_t *left_by = list_left_by(m);
    while (drop_unknown(m, left_by)) {
        free(left_by);
        left_by = list_left_by(m);
    }
    for (uint32_t e = 0; e < a->n_edges; e++)
        match->edges[e] = is_of_same_code(a, match->own_from, e) ? m->inside[e] : leaving(m, e);
    for (uint32_t i = 0; i < a->n_scopes; i++) {
        bool known;
        if (a->scopes[i].kind != PM_SCOPE_LOOP || match->own_from[i] != PM_MATCHES)
            continue;
        uint32_t entry = entry_of(m, left_by, i, &known);
        for (uint32_t k = m->from.entries.first[i]; k < m->from.entries.first[i + 1]; k++) {
            uint32_t edge = m->from.entries.items[k];
            if (match->edges[edge] == PM_NONE)
                match->edges[edge] = entry;
        }
    }
    free(left_by);
}

/* ---- modules that are the same as a whole ---------------------------------------------------- */

static bool same_build(const struct pm_module *a, const struct pm_module *b) {
    return a->build_id_bytes > 0 && a->build_id_bytes == b->build_id_bytes &&
           memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
}

static uint32_t next_routine(const struct pm_structure *s, uint32_t module, uint32_t from) {
    while (from < s->n_routines && s->routines[from].module != module)
        from++;
    return from;
}

static uint32_t next_group(const struct pm_structure *s, uint32_t module, uint32_t from) {
    while (from < s->n_groups && s->groups[from].module != module)
        from++;
    return from;
}

static void take_routine(struct pm_structure_match *match, const struct pm_routine *a,
                         const struct pm_routine *b) {
    for (uint32_t e = 0; e < a->n_edges; e++)
        match->edges[a->first_edge + e] = b->first_edge + e;
}

/* Scopes of one routine stand in one order in both builds. */
static void take_scopes(struct pm_structure_match *match, uint32_t from_routine,
                        uint32_t to_routine) {
    uint32_t k = 0;
    for (uint32_t i = 0; i < match->from->n_scopes; i++) {
        if (match->from->scopes[i].routine != from_routine)
            continue;
        while (k < match->to->n_scopes && match->to->scopes[k].routine != to_routine)
            k++;
        if (k == match->to->n_scopes)
            return;
        match->scopes[i] = k;
        match->own_from[i] = match->own_to[k] =
            match->from->routines[from_routine].counted && match->to->routines[to_routine].counted
                ? PM_MATCHES
                : PM_MISMATCH_NOT_COUNTED;
        k++;
    }
}

static void take_module(struct pm_structure_match *match, uint32_t a, uint32_t b) {
    const struct pm_structure *from = match->from, *to = match->to;
    uint32_t i = next_routine(from, a, 0), k = next_routine(to, b, 0);
    while (i < from->n_routines && k < to->n_routines &&
           from->routines[i].n_edges == to->routines[k].n_edges) {
        take_routine(match, &from->routines[i], &to->routines[k]);
        take_scopes(match, i, k);
        i = next_routine(from, a, i + 1);
        k = next_routine(to, b, k + 1);
    }
    i = next_group(from, a, 0);
    k = next_group(to, b, 0);
    while (i < from->n_groups && k < to->n_groups) {
        match->groups[i] = k;
        match->group_is_lost[k] = false;
        i = next_group(from, a, i + 1);
        k = next_group(to, b, k + 1);
    }
}

static void take_equal_modules(struct pm_structure_match *match) {
    for (uint32_t a = 0; a < match->from->n_modules; a++)
        for (uint32_t b = 0; b < match->to->n_modules; b++)
            if (same_build(&match->from->modules[a], &match->to->modules[b])) {
                take_module(match, a, b);
                break;
            }
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct pm_structure_match *pm_structure_match(const struct pm_structure *from,
                                              const struct pm_structure *to) {
    struct pm_structure_match *match = pm_alloc(1, sizeof *match);
    *match = (struct pm_structure_match){
        .from = from,
        .to = to,
        .scopes = pm_alloc_none(from->n_scopes),
        .own_from = pm_alloc(from->n_scopes, sizeof *match->own_from),
        .own_to = pm_alloc(to->n_scopes, sizeof *match->own_to),
        .edges = pm_alloc_none(from->n_edges),
        .groups = pm_alloc_none(from->n_groups),
        .holders = pm_alloc_none(from->n_groups),
        .group_is_lost = pm_alloc(to->n_groups, sizeof *match->group_is_lost),
        .strides_vary = pm_alloc(to->n_groups, sizeof *match->strides_vary),
    };
    struct pm_matcher m = {.match = match,
                           .inside = pm_alloc_none(from->n_edges),
                           .leaving = pm_alloc_none(from->n_edges)};
    pm_match_side_make(&m.from, from);
    pm_match_side_make(&m.to, to);
    match_scopes(match);
    match_own_code(&m);
    match_edges(&m);
    pm_match_groups(&m);
    take_equal_modules(match);
    pm_match_by_source(match);
    pm_match_side_free(&m.from);
    pm_match_side_free(&m.to);
    free(m.inside);
    free(m.leaving);
    return match;
}

void pm_structure_match_free(struct pm_structure_match *match) {
    if (!match)
        return;
    free(match->scopes);
    free(match->own_from);
    free(match->own_to);
    free(match->edges);
    free(match->groups);
    free(match->holders);
    free(match->joins);
    free(match->group_is_lost);
    free(match->strides_vary);
    free(match);
}
