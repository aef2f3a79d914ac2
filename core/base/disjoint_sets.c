/* Disjoint sets, with halved ways to the last parent. */
#include "core/base/disjoint_sets.h"

#include "core/base/base.h"

uint32_t *pm_disjoint_sets_new(uint32_t n) {
    uint32_t *parents = pm_alloc(n, sizeof *parents);
    for (uint32_t i = 0; i < n; i++)
        parents[i] = i;
    return parents;
}

static uint32_t last_parent(uint32_t *parents, uint32_t of) {
    while (parents[of] != of)
        of = parents[of] = parents[parents[of]];
    return of;
}

bool pm_disjoint_sets_join(uint32_t *parents, uint32_t a, uint32_t b) {
    a = last_parent(parents, a);
    b = last_parent(parents, b);
    parents[a] = b;
    return a != b;
}
