/* Which reference groups of two builds are the same; see matching.h.

   In loops whose own code is the same, basic blocks go together.  Where two such blocks have the
   same references in the same order, their groups go together, if all references agree.  Groups
   that this leaves over, because the compiler put references into another order, go together if
   there is one on each side that looks like the other. */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "measure/matching/private.h"

enum { OF_ONE_BUILD = PM_GROUP_UNMATCHED | PM_GROUP_STRIDES_VARY | PM_GROUP_JOINED };

static bool same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

/* A stride may be a constant in one build and a formula in the other. */
static unsigned stride_class(const struct pm_stride *stride) {
    enum { NONE, REGULAR, INDIRECT };
    if (stride->kind == PM_STRIDE_INDIRECT)
        return INDIRECT;
    return stride->kind == PM_STRIDE_CONSTANT && stride->bytes == 0 ? NONE : REGULAR;
}

static bool look_alike(const struct pm_group *a, const struct pm_group *b) {
    if ((a->flags & ~OF_ONE_BUILD) != (b->flags & ~OF_ONE_BUILD) || a->n_strides != b->n_strides ||
        a->n_loads != b->n_loads || a->n_stores != b->n_stores || a->bytes_min != b->bytes_min ||
        a->bytes_max != b->bytes_max || !same_text(a->object, b->object))
        return false;
    for (uint32_t i = 0; i < a->n_strides; i++)
        if (stride_class(&a->strides[i]) != stride_class(&b->strides[i]))
            return false;
    return true;
}

static bool same_strides(const struct pm_group *a, const struct pm_group *b) {
    for (uint32_t i = 0; i < a->n_strides; i++)
        if (a->strides[i].kind != b->strides[i].kind ||
            a->strides[i].bytes != b->strides[i].bytes ||
            !same_text(a->strides[i].expression, b->strides[i].expression))
            return false;
    return true;
}

/* ---- by their references --------------------------------------------------------------------- */

/* What the references say so far; a group that two different ones claim
   has no counterpart. */
struct claims {
    uint32_t *of_from, *of_to;
    bool *contested_from, *contested_to;
};

static void claim(struct claims *claims, uint32_t from, uint32_t to) {
    if (claims->of_from[from] != PM_NONE && claims->of_from[from] != to)
        claims->contested_from[from] = true;
    if (claims->of_to[to] != PM_NONE && claims->of_to[to] != from)
        claims->contested_to[to] = true;
    claims->of_from[from] = to;
    claims->of_to[to] = from;
}

static bool same_reference(const struct pm_reference *a, const struct pm_reference *b) {
    return a->access == b->access && a->size_bytes == b->size_bytes && a->kind == b->kind &&
           a->operand == b->operand;
}

static void claim_block(const struct pm_matcher *m, uint32_t from, uint32_t to,
                        struct claims *claims) {
    const struct pm_structure *a = m->from.structure, *b = m->to.structure;
    const struct pm_reference *of_a = a->references + a->blocks[from].first_reference;
    const struct pm_reference *of_b = b->references + b->blocks[to].first_reference;
    uint32_t n = a->blocks[from].n_references;
    bool alike = n == b->blocks[to].n_references;
    for (uint32_t i = 0; alike && i < n; i++)
        alike = same_reference(&of_a[i], &of_b[i]) &&
                look_alike(&a->groups[of_a[i].group], &b->groups[of_b[i].group]);
    for (uint32_t i = 0; i < n; i++)
        if (alike)
            claim(claims, of_a[i].group, of_b[i].group);
}

static void claim_all(const struct pm_matcher *m, struct claims *claims) {
    const struct pm_structure *s = m->from.structure;
    for (uint32_t block = 0; block < s->n_blocks; block++)
        if (m->match->own_from[pm_block_scope(s, block)] == PM_MATCHES &&
            m->from.vertex[block] != PM_NONE)
            claim_block(m, block, m->from.vertex[block], claims);
}

/* ---- by their looks -------------------------------------------------------------------------- */

/* Groups of each scope, chained: the first of scope s is first[s], after g comes next[g]. */
struct by_scope {
    uint32_t *first, *next;
};

static struct by_scope groups_by_scope(const struct pm_structure *s) {
    struct by_scope by = {pm_alloc_none(s->n_scopes), pm_alloc_none(s->n_groups)};
    for (uint32_t g = (uint32_t)s->n_groups; g-- > 0;) {
        by.next[g] = by.first[s->groups[g].scope];
        by.first[s->groups[g].scope] = g;
    }
    return by;
}

static void free_by_scope(struct by_scope *by) {
    free(by->first);
    free(by->next);
}

/* The only group of scope TO that looks like LIKE and has no counterpart yet; PM_NONE if there is
   none, or if another of FROM looks so too. */
static uint32_t only_one(const struct pm_matcher *m, const struct by_scope *from,
                         const struct by_scope *to, const bool *taken, uint32_t like) {
    const struct pm_structure *a = m->from.structure, *b = m->to.structure;
    const struct pm_group *group = &a->groups[like];
    uint32_t found = PM_NONE;
    for (uint32_t g = to->first[m->match->scopes[group->scope]]; g != PM_NONE; g = to->next[g]) {
        if (taken[g] || !look_alike(group, &b->groups[g]))
            continue;
        if (found != PM_NONE)
            return PM_NONE;
        found = g;
    }
    for (uint32_t g = from->first[group->scope]; g != PM_NONE && found != PM_NONE;
         g = from->next[g])
        if (g != like && m->match->groups[g] == PM_NONE && look_alike(group, &a->groups[g]))
            found = PM_NONE;
    return found;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool is_of_same_code(const struct pm_structure *s, const uint8_t *own, uint32_t group) {
    uint32_t scope = pm_own_scope(s, s->groups[group].scope);
    return scope != PM_NONE && own[scope] == PM_MATCHES;
}

void pm_match_groups(struct pm_matcher *m) {
    const struct pm_structure *a = m->from.structure, *b = m->to.structure;
    struct pm_structure_match *match = m->match;
    struct claims claims = {.of_from = pm_alloc_none(a->n_groups),
                            .of_to = pm_alloc_none(b->n_groups),
                            .contested_from = pm_alloc(a->n_groups, sizeof(bool)),
                            .contested_to = pm_alloc(b->n_groups, sizeof(bool))};
    bool *taken = pm_alloc(b->n_groups, sizeof *taken);
    struct by_scope of_a = groups_by_scope(a), of_b = groups_by_scope(b);
    claim_all(m, &claims);
    for (uint32_t g = 0; g < a->n_groups; g++) {
        uint32_t to = claims.of_from[g];
        if (to == PM_NONE || claims.contested_from[g] || claims.contested_to[to])
            continue;
        match->groups[g] = to;
        taken[to] = true;
    }
    for (uint32_t g = 0; g < a->n_groups; g++) {
        if (match->groups[g] != PM_NONE || !is_of_same_code(a, match->own_from, g))
            continue;
        uint32_t to = only_one(m, &of_a, &of_b, taken, g);
        if (to == PM_NONE)
            continue;
        match->groups[g] = to;
        taken[to] = true;
    }
    for (uint32_t g = 0; g < b->n_groups; g++)
        match->group_is_lost[g] = !taken[g] && is_of_same_code(b, match->own_to, g);
    for (uint32_t g = 0; g < a->n_groups; g++)
        if (match->groups[g] != PM_NONE)
            match->strides_vary[match->groups[g]] =
                !same_strides(&a->groups[g], &b->groups[match->groups[g]]);
    free_by_scope(&of_a);
    free_by_scope(&of_b);
    free(taken);
    free(claims.of_from);
    free(claims.of_to);
    free(claims.contested_from);
    free(claims.contested_to);
}
