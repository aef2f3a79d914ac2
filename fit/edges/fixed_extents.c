/* Reference groups that walk arrays of fixed extent (Marin & Mellor-Crummey 2004, section 3.1).

   A group in a nest of loops, level 0 the innermost, moves by s(l) bytes for each iteration of the
   loop at level l, which runs t(l) times for each entry.  Within one iteration of level l it walks

       w(l) = max over the levels m < l of |s(m)| · t(m)   bytes.

   In an array whose rows are as long as the size asks for, s(l) grows as w(l) does.  If s(l) is a
   constant, w(l) grows with the size, and the rows do not overlap at any measured size
   (w(l) ≤ |s(l)|), then the extent of the array is fixed.  Where w(l) does not grow, the rows
   have a length of their own; where it exceeds s(l), as in a[i + j], there are no rows.

   Strides and trips are those of the loops as emitted, so that a vector loop's longer stride makes
   up for its fewer trips. */
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"

/* A walk that is longer by less has not grown: peeled iterations. */
static const double extent_growth = 1.1;

static void add_edge(const struct pm_structure *structure, uint32_t e, double count,
                     double *entries, double *iterations) {
    const struct pm_edge *edge = &structure->edges[e];
    if (edge->to == PM_NONE || count <= 0)
        return;
    for (uint32_t loop = structure->blocks[edge->to].loop; loop != PM_NONE;
         loop = pm_outer_loop(structure, loop)) {
        if (structure->scopes[loop].header == edge->to)
            iterations[loop] += count;
        if (pm_is_in_loop(structure, edge->from, loop))
            continue;
        entries[loop] += count;
    }
}

/* Per scope: iterations of the loop for each entry; 0: never entered.  The caller frees. */
static double *count_trips(const struct pm_structure *structure, const struct pm_profile *profile) {
    double *entries = pm_alloc(structure->n_scopes, sizeof *entries);
    double *trips = pm_alloc(structure->n_scopes, sizeof *trips);
    for (uint32_t e = 0; e < structure->n_edges && e < profile->n_edges; e++)
        add_edge(structure, e, profile->edge_counts[e], entries, trips);
    for (size_t s = 0; s < structure->n_scopes; s++)
        trips[s] = entries[s] > 0 ? trips[s] / entries[s] : 0;
    free(entries);
    return trips;
}

/* Bytes that GROUP walks within one iteration of its loop at LEVEL; 0: unknown, or not entered. */
static double walk_of(const struct pm_structure *structure, const struct pm_group *group,
                      uint32_t level, const double *trips) {
    double longest = 0;
    uint32_t loop = group->scope;
    for (uint32_t m = 0; m < level && loop != PM_NONE; m++) {
        const struct pm_stride *stride = &group->strides[m];
        if (structure->scopes[loop].kind != PM_SCOPE_LOOP || trips[loop] <= 0 ||
            stride->kind != PM_STRIDE_CONSTANT)
            return 0;
        longest = fmax(longest, fabs((double)stride->bytes) * trips[loop]);
        loop = pm_outer_loop(structure, loop);
    }
    return longest;
}

/* Shortest and longest walk over the sizes at which there is one; false if it does not grow, or if
   rows overlap. */
static bool walk_grows(const struct pm_structure *structure, const struct pm_group *group,
                       uint32_t level, double *const *trips, size_t n, double *first,
                       double *last) {
    double row = fabs((double)group->strides[level].bytes);
    *first = INFINITY;
    *last = 0;
    for (size_t i = 0; i < n; i++) {
        double walk = walk_of(structure, group, level, trips[i]);
        if (walk <= 0)
            continue;
        *first = fmin(*first, walk);
        *last = fmax(*last, walk);
    }
    return *last > extent_growth * *first && *last <= row;
}

static bool find_level(const struct pm_structure *structure, uint32_t g, double *const *trips,
                       size_t n, struct pm_fixed_extent *found) {
    const struct pm_group *group = &structure->groups[g];
    if (group->flags &
        (PM_GROUP_STRIDES_VARY | PM_GROUP_STACK | PM_GROUP_CONSTANTS | PM_GROUP_PUSHED))
        return false;
    for (uint32_t level = group->n_strides; level-- > 1;) {
        const struct pm_stride *stride = &group->strides[level];
        double first, last;
        if (stride->kind != PM_STRIDE_CONSTANT || stride->bytes == 0 ||
            !walk_grows(structure, group, level, trips, n, &first, &last))
            continue;
        *found = (struct pm_fixed_extent){.group = g,
                                          .level = level,
                                          .stride_bytes = stride->bytes,
                                          .walk_least = first,
                                          .walk_most = last};
        return true;
    }
    return false;
}

/* The most accesses that the group had at any size, in blocks of the smallest size there is. */
static double accesses_of(const struct pm_profile *const *profiles, size_t n, uint32_t group) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        if (!profiles[i]->n_block_sizes)
            continue;
        const struct pm_histogram *histogram =
            pm_profile_histogram(profiles[i], group, profiles[i]->block_sizes[0]);
        if (histogram)
            most = fmax(most, pm_histogram_accesses(histogram));
    }
    return most;
}

size_t pm_fit_fixed_extents(const struct pm_structure *structure,
                            const struct pm_profile *const *profiles, size_t n,
                            struct pm_fixed_extent **found) {
    struct {
        PM_ARRAY(struct pm_fixed_extent, rows);
    } list = {0};
    double **trips = pm_alloc(n, sizeof *trips);
    for (size_t i = 0; i < n; i++)
        trips[i] = count_trips(structure, profiles[i]);
    for (uint32_t g = 0; g < structure->n_groups; g++) {
        struct pm_fixed_extent one;
        if (!find_level(structure, g, trips, n, &one))
            continue;
        one.accesses = accesses_of(profiles, n, g);
        *PM_PUSH(&list, rows) = one;
    }
    for (size_t i = 0; i < n; i++)
        free(trips[i]);
    free(trips);
    *found = list.rows;
    return list.n_rows;
}
