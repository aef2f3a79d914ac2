/* Which loops reports show as one; see tree.h.  Needs the scopes' final lines.

   Marin & Mellor-Crummey 2004, section 2.3.1: loops with the same parent whose ranges of source
   lines overlap are what the compiler made of one loop (fission, peeling, vector body and
   remainder, unswitching); information about them is folded together.  A loop whose lines are not
   known stands for itself. */
#define _GNU_SOURCE /* qsort_r */
#include "binlift/scopes/scopes.h"

#include <stdlib.h>
#include <string.h>

static int compare_text(const char *left, const char *right) {
    return strcmp(left ? left : "", right ? right : "");
}

/* Loops that may fold stand next to each other, by first line. */
static int compare(const void *left, const void *right, void *context) {
    const struct pm_scope *scopes = context;
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
    const struct pm_scope *a = &scopes[i], *b = &scopes[j];
    if (a->parent != b->parent)
        return PM_COMPARE(a->parent, b->parent);
    int files = compare_text(a->file, b->file);
    if (files)
        return files;
    if (a->line_first != b->line_first)
        return PM_COMPARE(a->line_first, b->line_first);
    return i < j ? -1 : i > j;
}

/* Folds loops BEGIN … END − 1 of ORDER together under the one with the lowest index. */
static void fold(struct pm_structure *structure, const uint32_t *order, size_t begin, size_t end) {
    uint32_t first = PM_NONE;
    for (size_t i = begin; i < end; i++)
        if (order[i] < first)
            first = order[i];
    for (size_t i = begin; i < end; i++)
        structure->scopes[order[i]].fold = first;
}

void pm_fold_loops(struct pm_structure *structure) {
    struct pm_scope *scopes = structure->scopes;
    uint32_t *order = pm_alloc(structure->n_scopes, sizeof *order);
    size_t n = 0;
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        scopes[s].fold = s;
        if (scopes[s].kind == PM_SCOPE_LOOP && scopes[s].line_first)
            order[n++] = s;
    }
    qsort_r(order, n, sizeof *order, compare, scopes);
    for (size_t begin = 0; begin < n;) {
        const struct pm_scope *first = &scopes[order[begin]];
        uint32_t reach = first->line_last;
        size_t end = begin + 1;
        for (; end < n; end++) {
            const struct pm_scope *next = &scopes[order[end]];
            if (next->parent != first->parent || compare_text(next->file, first->file) != 0 ||
                next->line_first > reach)
                break;
            if (next->line_last > reach)
                reach = next->line_last;
        }
        fold(structure, order, begin, end);
        begin = end;
    }
    free(order);
}
