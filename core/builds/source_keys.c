/* Which loops of two builds are of one source loop; see structure.h for the keys.

   A loop's key has its line, which debug information gives for its first instruction; that may be
   another line in another build, of loops around others most of all.  Such a loop is nevertheless
   the one of the other build that has no counterpart either, at the same depth of the same routine
   or inlined code, whose first innermost loop is of the same line. */
#include <stdlib.h>
#include <xxhash.h>

#include "core/base/base.h"
#include "core/builds/builds.h"

struct alias {
    uint64_t look; /* routine or inlined code, depth, line of the first innermost loop */
    uint32_t scope;
};

static int compare_aliases(const void *left, const void *right) {
    const struct alias *a = left, *b = right;
    return a->look != b->look ? PM_COMPARE(a->look, b->look) : PM_COMPARE(a->scope, b->scope);
}

static int compare_keys(const void *left, const void *right) {
    return PM_COMPARE(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* Per loop: the smallest line of the loops in it that have no loop in them, its own of such a one.
 */
static uint32_t *first_lines(const struct pm_structure *s) {
    uint32_t *lines = pm_alloc(s->n_scopes, sizeof *lines);
    for (uint32_t i = (uint32_t)s->n_scopes; i-- > 0;) { /* inner loops first */
        if (s->scopes[i].kind != PM_SCOPE_LOOP)
            continue;
        uint32_t outer = pm_outer_loop(s, i);
        lines[i] = lines[i] ? lines[i] : s->scopes[i].line_first;
        if (outer != PM_NONE && (lines[outer] == 0 || lines[i] < lines[outer]))
            lines[outer] = lines[i];
    }
    return lines;
}

/* The loops of S whose keys OTHER does not have, by look.  SORTED: the N keys of OTHER. */
static struct alias *list_single(const struct pm_structure *s, const uint64_t *keys,
                                 const uint64_t *sorted, size_t n, size_t *n_single) {
    uint32_t *lines = first_lines(s);
    struct alias *single = pm_alloc(s->n_scopes, sizeof *single);
    *n_single = 0;
    for (uint32_t i = 0; i < s->n_scopes; i++) {
        size_t at = PM_LOWER_BOUND(n, k, sorted[k] < keys[i]);
        if (s->scopes[i].kind != PM_SCOPE_LOOP || (at < n && sorted[at] == keys[i]))
            continue;
        uint32_t around = i;
        while (around != PM_NONE && s->scopes[around].kind == PM_SCOPE_LOOP)
            around = s->scopes[around].parent;
        uint64_t parts[3] = {around == PM_NONE ? 0 : keys[around], s->scopes[i].depth, lines[i]};
        single[(*n_single)++] = (struct alias){XXH3_64bits(parts, sizeof parts), i};
    }
    PM_SORT(single, *n_single, compare_aliases);
    free(lines);
    return single;
}

static uint64_t *sorted_keys(const uint64_t *keys, size_t n) {
    uint64_t *sorted = pm_alloc(n, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = keys[i];
    PM_SORT(sorted, n, compare_keys);
    return sorted;
}

void pm_source_keys(const struct pm_structure *from, const struct pm_structure *to,
                    uint64_t **of_from, uint64_t **of_to) {
    *of_from = pm_structure_source_keys(from);
    *of_to = pm_structure_source_keys(to);
    uint64_t *sorted_from = sorted_keys(*of_from, from->n_scopes);
    uint64_t *sorted_to = sorted_keys(*of_to, to->n_scopes);
    size_t n_from, n_to;
    struct alias *a = list_single(from, *of_from, sorted_to, to->n_scopes, &n_from);
    struct alias *b = list_single(to, *of_to, sorted_from, from->n_scopes, &n_to);
    for (size_t i = 0; i < n_from; i++) {
        size_t at = PM_LOWER_BOUND(n_to, k, b[k].look < a[i].look);
        if (at < n_to && b[at].look == a[i].look)
            (*of_from)[a[i].scope] = (*of_to)[b[at].scope];
    }
    free(a);
    free(b);
    free(sorted_from);
    free(sorted_to);
}
