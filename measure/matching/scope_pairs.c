/* Scopes of two builds side by side, although the source was changed between them; see matching.h.

   For each way of pairing every scope that is left gets a key, 0: none.  A key that exactly one
   scope of each has makes a pair; the scope keys themselves are such already. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "measure/matching/matching.h"

struct keyed {
    uint64_t key;
    uint32_t scope;
};

struct side {
    const struct pm_structure *structure;
    const bool *wanted;
    const uint32_t *other; /* PM_NONE: not in a pair yet */
};

static int by_key(const void *left, const void *right) {
    const struct keyed *a = left, *b = right;
    return a->key != b->key ? PM_COMPARE(a->key, b->key) : PM_COMPARE(a->scope, b->scope);
}

/* Scopes that are left, by key. */
static struct keyed *list_left(const struct side *side, const uint64_t *keys, size_t *n) {
    struct keyed *list = pm_alloc(side->structure->n_scopes, sizeof *list);
    *n = 0;
    for (uint32_t s = 0; s < side->structure->n_scopes; s++)
        if (side->wanted[s] && side->other[s] == PM_NONE && keys[s])
            list[(*n)++] = (struct keyed){keys[s], s};
    PM_SORT(list, *n, by_key);
    return list;
}

static size_t end_of_key(const struct keyed *list, size_t n, size_t first) {
    size_t end = first;
    while (end < n && list[end].key == list[first].key)
        end++;
    return end;
}

/* KEYS_A and KEYS_B are freed. */
static void pair_unique(struct pm_scope_pairs *pairs, const struct side *a, uint64_t *keys_a,
                        const struct side *b, uint64_t *keys_b, enum pm_pairing by) {
    size_t n_a, n_b, i = 0, k = 0;
    struct keyed *of_a = list_left(a, keys_a, &n_a), *of_b = list_left(b, keys_b, &n_b);
    while (i < n_a && k < n_b) {
        size_t end_a = end_of_key(of_a, n_a, i), end_b = end_of_key(of_b, n_b, k);
        if (of_a[i].key == of_b[k].key && end_a == i + 1 && end_b == k + 1) {
            pairs->b_of_a[of_a[i].scope] = of_b[k].scope;
            pairs->a_of_b[of_b[k].scope] = of_a[i].scope;
            pairs->by[of_a[i].scope] = (uint8_t)by;
        }
        bool a_is_less = of_a[i].key < of_b[k].key, b_is_less = of_b[k].key < of_a[i].key;
        i = b_is_less ? i : end_a;
        k = a_is_less ? k : end_b;
    }
    free(of_a);
    free(of_b);
    free(keys_a);
    free(keys_b);
}

static uint64_t *scope_keys(const struct pm_structure *structure) {
    uint64_t *keys = pm_alloc(structure->n_scopes, sizeof *keys);
    for (size_t s = 0; s < structure->n_scopes; s++)
        keys[s] = structure->scopes[s].key;
    return keys;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* What one object is to a loop. */
static uint64_t hash_use(const struct pm_group *group) {
    uint64_t parts[2] = {XXH3_64bits(group->object, strlen(group->object)),
                         (group->n_loads > 0) + 2u * (group->n_stores > 0)};
    return XXH3_64bits(parts, sizeof parts);
}

/* For each loop the objects that its own code loads and stores; IN_ROUTINES: and its routine's
   name.  0: it has none, or is not innermost.  Uses are added up once each, so that their order and
   number do not matter. */
static uint64_t *data_keys(const struct pm_structure *structure, bool in_routines) {
    size_t n = structure->n_scopes;
    uint64_t *keys = pm_alloc(n, sizeof *keys);
    struct keyed *uses = pm_alloc(structure->n_groups, sizeof *uses);
    size_t n_uses = 0;
    for (uint32_t g = 0; g < structure->n_groups; g++) {
        const struct pm_group *group = &structure->groups[g];
        uint32_t scope = group->scope;
        if (!group->object || structure->scopes[scope].kind != PM_SCOPE_LOOP)
            continue;
        uses[n_uses++] = (struct keyed){hash_use(group), pm_fold_root(structure, scope)};
    }
    PM_SORT(uses, n_uses, by_key);
    for (size_t i = 0; i < n_uses; i++)
        if (i == 0 || by_key(&uses[i], &uses[i - 1]) != 0)
            keys[uses[i].scope] += uses[i].key | 1;
    free(uses);
    for (uint32_t s = 0; s < n;
         s++) { /* the data of inner loops are also data of the loops around them */
        const struct pm_scope *scope = &structure->scopes[s];
        uint32_t around = scope->kind == PM_SCOPE_LOOP ? pm_outer_loop(structure, s) : PM_NONE;
        if (around != PM_NONE)
            keys[pm_fold_root(structure, around)] = 0;
        if (in_routines && keys[s] && scope->routine < structure->n_routines) {
            const char *name = structure->routines[scope->routine].name;
            keys[s] += name ? XXH3_64bits(name, strlen(name)) : 0;
        }
    }
    return keys;
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct pm_scope_pairs pm_scope_pairs_make(const struct pm_structure *a, const bool *wanted_a,
                                          const struct pm_structure *b, const bool *wanted_b) {
    struct pm_scope_pairs pairs = {.b_of_a = pm_alloc(a->n_scopes, sizeof(uint32_t)),
                                   .a_of_b = pm_alloc(b->n_scopes, sizeof(uint32_t)),
                                   .by = pm_alloc(a->n_scopes, 1)};
    const struct side of_a = {a, wanted_a, pairs.b_of_a}, of_b = {b, wanted_b, pairs.a_of_b};
    memset(pairs.b_of_a, 0xff, a->n_scopes * sizeof *pairs.b_of_a);
    memset(pairs.a_of_b, 0xff, b->n_scopes * sizeof *pairs.a_of_b);
    pair_unique(&pairs, &of_a, scope_keys(a), &of_b, scope_keys(b), PM_PAIRED_BY_KEY);
    pair_unique(&pairs, &of_a, pm_structure_path_keys(a), &of_b, pm_structure_path_keys(b),
                PM_PAIRED_BY_PATH);
    pair_unique(&pairs, &of_a, pm_structure_place_keys(a), &of_b, pm_structure_place_keys(b),
                PM_PAIRED_BY_PLACE);
    for (int in_routines = 1; in_routines >= 0; in_routines--)
        pair_unique(&pairs, &of_a, data_keys(a, in_routines), &of_b, data_keys(b, in_routines),
                    PM_PAIRED_BY_DATA);
    return pairs;
}

void pm_scope_pairs_free(struct pm_scope_pairs *pairs) {
    free(pairs->b_of_a);
    free(pairs->a_of_b);
    free(pairs->by);
}

const char *pm_pairing_word(enum pm_pairing pairing) {
    static const char *const words[PM_N_PAIRINGS] = {"key", "path", "place", "data"};
    return words[pairing];
}
