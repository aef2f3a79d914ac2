/* Where things are in the scope tree: loops around loops, and whose own code a basic block, an edge
   or inlined code is; see structure.h. */
#include "core/structure/structure.h"

uint32_t pm_outer_loop(const struct pm_structure *structure, uint32_t scope) {
    for (scope = structure->scopes[scope].parent; scope != PM_NONE;
         scope = structure->scopes[scope].parent) {
        if (structure->scopes[scope].kind == PM_SCOPE_LOOP)
            return scope;
        if (structure->scopes[scope].kind == PM_SCOPE_ROUTINE)
            break; /* of another routine, where a clone stands under its source */
    }
    return PM_NONE;
}

bool pm_has_own_code(const struct pm_structure *structure, uint32_t scope) {
    return structure->scopes[scope].kind == PM_SCOPE_LOOP ||
           structure->scopes[scope].kind == PM_SCOPE_ROUTINE;
}

uint32_t pm_own_scope(const struct pm_structure *structure, uint32_t scope) {
    while (scope != PM_NONE && structure->scopes[scope].kind == PM_SCOPE_INLINED)
        scope = structure->scopes[scope].parent;
    return scope != PM_NONE && pm_has_own_code(structure, scope) ? scope : PM_NONE;
}

bool pm_scope_is_counted(const struct pm_structure *structure, uint32_t scope) {
    uint32_t own = pm_own_scope(structure, scope);
    if (own == PM_NONE || (structure->scopes[own].flags & PM_SCOPE_UNMATCHED))
        return false;
    uint32_t routine = structure->scopes[own].routine;
    return routine < structure->n_routines && structure->routines[routine].counted;
}

/* The group that all that are one with GROUP are joined to. */
static uint32_t last_joined(const struct pm_structure *structure, uint32_t group) {
    while ((structure->groups[group].flags & PM_GROUP_JOINED) &&
           structure->groups[group].joined_to != group)
        group = structure->groups[group].joined_to;
    return group;
}

static bool has_histograms_before(const struct pm_structure *structure, uint32_t a, uint32_t b) {
    unsigned depth_a = structure->scopes[structure->groups[a].scope].depth;
    unsigned depth_b = structure->scopes[structure->groups[b].scope].depth;
    return depth_a != depth_b ? depth_a > depth_b : a < b;
}

void pm_groups_join(struct pm_structure *structure, uint32_t a, uint32_t b) {
    uint32_t last_a = last_joined(structure, a), last_b = last_joined(structure, b);
    uint32_t holder = has_histograms_before(structure, last_a, last_b) ? last_a : last_b;
    structure->groups[last_a].flags |= PM_GROUP_JOINED;
    structure->groups[last_b].flags |= PM_GROUP_JOINED;
    structure->groups[last_a].joined_to = structure->groups[last_b].joined_to = holder;
}

uint32_t pm_group_holder(const struct pm_structure *structure, uint32_t group) {
    const struct pm_group *g = &structure->groups[group];
    uint32_t own = pm_own_scope(structure, g->scope);
    if (g->flags & PM_GROUP_JOINED)
        return last_joined(structure, group);
    bool is_matched = !(g->flags & PM_GROUP_UNMATCHED) &&
                      (own == PM_NONE || !(structure->scopes[own].flags & PM_SCOPE_UNMATCHED));
    return is_matched ? group : PM_NONE;
}

uint32_t pm_group_kept_as(const struct pm_structure *structure, uint32_t group) {
    uint32_t holder = pm_group_holder(structure, group);
    return holder == PM_NONE ? group : holder;
}

uint32_t pm_block_scope(const struct pm_structure *structure, uint32_t block) {
    const struct pm_block *b = &structure->blocks[block];
    return b->loop != PM_NONE ? b->loop : structure->routines[b->routine].scope;
}

uint32_t pm_edge_scope(const struct pm_structure *structure, uint32_t edge) {
    const struct pm_edge *e = &structure->edges[edge];
    uint32_t loop =
        e->from == PM_NONE || e->to == PM_NONE ? PM_NONE : structure->blocks[e->from].loop;
    while (loop != PM_NONE && !pm_is_in_loop(structure, e->to, loop))
        loop = pm_outer_loop(structure, loop);
    return loop != PM_NONE ? loop : structure->routines[e->routine].scope;
}

/* Parents have smaller indices than their children. */
bool pm_scope_is_inside(const struct pm_structure *structure, uint32_t scope, uint32_t outer) {
    while (scope != PM_NONE && scope > outer)
        scope = structure->scopes[scope].parent;
    return scope == outer;
}

bool pm_block_is_inside(const struct pm_structure *structure, uint32_t block, uint32_t scope) {
    const struct pm_block *b = &structure->blocks[block];
    bool is_loop = structure->scopes[scope].kind == PM_SCOPE_LOOP;
    return pm_scope_is_inside(structure, is_loop ? b->loop : b->scope, scope);
}

bool pm_is_in_loop(const struct pm_structure *structure, uint32_t block, uint32_t loop) {
    return block != PM_NONE && pm_inner_loop_around(structure, block, loop) != PM_NONE;
}

uint32_t pm_inner_loop_around(const struct pm_structure *structure, uint32_t block, uint32_t loop) {
    uint32_t inner = PM_NONE, at = structure->blocks[block].loop;
    while (at != PM_NONE && at > loop) { /* outer ones have smaller numbers */
        inner = at;
        at = pm_outer_loop(structure, at);
    }
    return at != loop ? PM_NONE : inner == PM_NONE ? loop : inner;
}

uint32_t pm_fold_root(const struct pm_structure *structure, uint32_t scope) {
    for (size_t steps = 0; steps < structure->n_scopes; steps++) {
        uint32_t fold = structure->scopes[scope].fold;
        if (fold == scope || fold >= structure->n_scopes ||
            structure->scopes[fold].kind != structure->scopes[scope].kind)
            break;
        scope = fold;
    }
    return scope;
}
