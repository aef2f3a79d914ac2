/* Where what was measured in code that is not the same belongs by its source; see matching.h.

   A compiler makes several pieces of code of one source loop (vectorised body, remainder, peeled
   and unrolled copies), and others of them for another trip count.  What a source loop does with
   an object is the same in all builds: its first touches, and its reuses but for the shortest.  So
   a group without a counterpart goes, by the object and the part of the source that all its
   references are in, to what the other build has of that object there, else in the part of the
   source around that, and so on up to the program.  All groups of that object there become one, in
   all runs: a remainder that is straight-line code around the loop in one build is part of the loop
   in another.  Outside loops, what both have directly there goes together without the loops in it.
   What is on the stack or in the constant pool counts as one object.  A call of memset or
   memcpy may be what the compiler made of a loop: it goes together with all data of its place. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/base/base.h"
#include "measure/matching/private.h"

/* An object in a part of the source, and a group that does something with it there. */
struct place {
    uint64_t key;
    uint32_t group;
};

/* One of the builds. */
struct source_side {
    const struct pm_structure *structure;
    uint64_t *scopes;  /* per scope: its place in the source */
    uint64_t *objects; /* per group */
    uint32_t *around;  /* per group: the innermost scope around all of its references */
    PM_ARRAY(struct place, places); /* by key, then group */
};

enum { PRIVATE = PM_GROUP_STACK | PM_GROUP_CONSTANTS | PM_GROUP_PUSHED };

static uint64_t object_key(const struct pm_group *group) {
    uint64_t parts[2] = {(group->flags & PRIVATE) != 0, 0};
    if (!parts[0] && group->object)
        parts[1] = XXH3_64bits(group->object, strlen(group->object));
    return XXH3_64bits(parts, sizeof parts);
}

static uint64_t place_key(const struct source_side *side, uint32_t scope, uint32_t group) {
    uint64_t parts[2] = {side->scopes[scope], side->objects[group]};
    return XXH3_64bits(parts, sizeof parts);
}

/* Directly there, not in a part of it. */
static uint64_t exact_key(const struct source_side *side, uint32_t scope, uint32_t group) {
    uint64_t parts[3] = {side->scopes[scope], side->objects[group], 1};
    return XXH3_64bits(parts, sizeof parts);
}

/* Of any data there. */
static uint64_t any_key(const struct source_side *side, uint32_t scope) {
    return XXH3_64bits(&side->scopes[scope], sizeof side->scopes[scope]);
}

/* The innermost scope that both are in. */
static uint32_t common_scope(const struct pm_structure *s, uint32_t a, uint32_t b) {
    while (a != b)
        if (a > b) /* parents have smaller indices */
            a = s->scopes[a].parent;
        else
            b = s->scopes[b].parent;
    return a;
}

static void find_places(struct source_side *side) {
    const struct pm_structure *s = side->structure;
    side->around = pm_alloc_none(s->n_groups);
    for (size_t r = 0; r < s->n_references; r++) {
        uint32_t *around = &side->around[s->references[r].group];
        uint32_t scope = s->blocks[s->references[r].block].scope;
        *around = *around == PM_NONE ? scope : common_scope(s, *around, scope);
    }
    for (uint32_t g = 0; g < s->n_groups; g++) {
        if (side->around[g] != PM_NONE)
            *PM_PUSH(side, places) = (struct place){exact_key(side, side->around[g], g), g};
        for (uint32_t scope = side->around[g]; scope != PM_NONE; scope = s->scopes[scope].parent) {
            *PM_PUSH(side, places) = (struct place){place_key(side, scope, g), g};
            if (!(s->groups[g].flags & PRIVATE))
                *PM_PUSH(side, places) = (struct place){any_key(side, scope), g};
        }
    }
}

static int compare_places(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    return a->key != b->key ? PM_COMPARE(a->key, b->key) : PM_COMPARE(a->group, b->group);
}

static void side_make(struct source_side *side, const struct pm_structure *s, uint64_t *scopes) {
    *side = (struct source_side){
        .structure = s, .scopes = scopes, .objects = pm_alloc(s->n_groups, sizeof *side->objects)};
    for (uint32_t g = 0; g < s->n_groups; g++)
        side->objects[g] = object_key(&s->groups[g]);
    find_places(side);
    PM_SORT(side->places, side->n_places, compare_places);
}

static void side_free(struct source_side *side) {
    free(side->scopes);
    free(side->objects);
    free(side->around);
    free(side->places);
}

/* The first place of SIDE with this key; the number of places if there is none. */
static size_t find(const struct source_side *side, uint64_t key) {
    size_t at = PM_LOWER_BOUND(side->n_places, i, side->places[i].key < key);
    return at < side->n_places && side->places[at].key == key ? at : side->n_places;
}

/* The key of the smallest part of the source around GROUP of SIDE in which OTHER has its object;
   false if there is none.  IN_ROUTINE: nothing beyond the routine is looked at. */
static bool shared_key(const struct source_side *side, const struct source_side *other,
                       uint32_t group, bool in_routine, uint64_t *key) {
    const struct pm_structure *s = side->structure;
    uint32_t around = side->around[group];
    if (around != PM_NONE && s->scopes[around].kind != PM_SCOPE_LOOP) {
        *key = exact_key(side, around, group);
        if (find(other, *key) < other->n_places)
            return true;
    }
    for (uint32_t scope = around; scope != PM_NONE; scope = s->scopes[scope].parent) {
        *key = place_key(side, scope, group);
        if (find(other, *key) < other->n_places)
            return true;
        *key = any_key(side, scope);
        if ((s->groups[group].flags & PM_GROUP_CALLED) && find(other, *key) < other->n_places)
            return true;
        if (in_routine && s->scopes[scope].kind == PM_SCOPE_ROUTINE)
            break;
    }
    return false;
}

/* All groups of TO at KEY become one; the first of them. */
static uint32_t join_all(struct pm_structure_match *match, const struct source_side *to,
                         uint64_t key) {
    size_t first = find(to, key);
    for (size_t i = first; i < to->n_places && to->places[i].key == key; i++)
        *PM_PUSH(match, joins) =
            (struct pm_group_join){to->places[i].group, to->places[first].group};
    return to->places[first].group;
}

static int compare_joins(const void *left, const void *right) {
    const struct pm_group_join *a = left, *b = right;
    return a->group != b->group ? PM_COMPARE(a->group, b->group) : PM_COMPARE(a->with, b->with);
}

static void keep_each_once(struct pm_structure_match *match) {
    size_t kept = 0;
    PM_SORT(match->joins, match->n_joins, compare_joins);
    for (size_t i = 0; i < match->n_joins; i++)
        if (kept == 0 || compare_joins(&match->joins[kept - 1], &match->joins[i]) != 0)
            match->joins[kept++] = match->joins[i];
    match->n_joins = kept;
}

void pm_match_by_source(struct pm_structure_match *match) {
    struct source_side from, to;
    uint64_t *of_from, *of_to;
    pm_source_keys(match->from, match->to, &of_from, &of_to);
    side_make(&from, match->from, of_from);
    side_make(&to, match->to, of_to);
    bool *taken = pm_alloc(match->to->n_groups, sizeof *taken);
    uint64_t key;
    for (uint32_t g = 0; g < match->from->n_groups; g++) {
        match->holders[g] = match->groups[g];
        if (match->groups[g] != PM_NONE)
            taken[match->groups[g]] = true;
        else if (shared_key(&from, &to, g, false, &key))
            match->holders[g] = join_all(match, &to, key);
    }
    for (uint32_t g = 0; g < match->to->n_groups; g++) {
        if (taken[g])
            continue;
        /* What only TO has in its routine is known nevertheless: FROM does nothing of the kind. */
        *PM_PUSH(match, joins) = (struct pm_group_join){g, g};
        if (shared_key(&to, &from, g, true, &key))
            join_all(match, &to, key);
    }
    keep_each_once(match);
    free(taken);
    side_free(&from);
    side_free(&to);
}
