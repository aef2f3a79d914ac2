/* How often the references of a group access memory, from how often their basic blocks execute.

   executed(N) = Σ over the group's recorded references: executions of the basic block, twice for a
   reference that loads and stores.  Counts of edges are mostly exact functions of the size, so
   these are, too. What a histogram has are touches of blocks: an access that straddles two blocks
   touches both, and how many do depends on where the allocator put the data.  So

       touches(N) = executed(N) · share,

   where share is a constant for each (group, block size), at least 1, and for accesses no larger
   than a block at most 2.  Where the measured shares differ, that of the largest size counts:
   there allocators give whole pages, so that data lie alike at all larger sizes.

   Not for groups whose executions are harder to predict than their touches (by the leave-one-out
   errors of the models: vector loops that small sizes skip), with a reference that accesses any
   number of elements in one execution (rep strings, masks, gathers), with blocks whose counts are
   not exact, or whose measured touches do not go with the executions: threads whose records stopped
   early, for instance. */
#include "fit/edges/edges.h"

#include <math.h>
#include <stdlib.h>

#include "core/access.h"
#include "core/base/base.h"
#include "fit/private.h"

/* Per basic block the sum over the edges out of it: where flow is conserved, its executions. */
static void count_leaving(const struct pm_structure *structure, const double *edge_counts,
                          double *leaving) {
    for (size_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].from < structure->n_blocks)
            leaving[structure->edges[e].from] += edge_counts[e];
}

void pm_fit_group_accesses(const struct pm_structure *structure, const double *edge_counts,
                           double *accesses, bool *known) {
    double *executions = pm_block_executions(structure, edge_counts);
    double *leaving = pm_alloc(structure->n_blocks, sizeof *leaving);
    count_leaving(structure, edge_counts, leaving);
    for (size_t g = 0; g < structure->n_groups; g++) {
        accesses[g] = 0;
        if (known) /* of joined ones, what they are joined with is not executed alike */
            known[g] = !(structure->groups[g].flags & PM_GROUP_JOINED);
    }
    for (size_t r = 0; r < structure->n_references; r++) {
        const struct pm_reference *reference = &structure->references[r];
        if (!reference->recorded || reference->group >= structure->n_groups)
            continue;
        uint32_t block = reference->block;
        double count = executions[block];
        accesses[reference->group] += count * pm_reference_accesses(reference);
        if (known)
            known[reference->group] &=
                reference->kind == PM_ACCESS_PLAIN &&
                structure->routines[structure->blocks[block].routine].counted &&
                fabs(count - leaving[block]) <= pm_heuristics.rounding * count;
    }
    free(leaving);
    free(executions);
}

void pm_fit_group_access_errors(const struct pm_structure *structure, const struct pm_model *edges,
                                const double *edge_counts, double *errors) {
    double *executions = pm_block_executions(structure, edge_counts);
    double *wrong = pm_alloc(structure->n_blocks, sizeof *wrong);
    double *accesses = pm_alloc(structure->n_groups, sizeof *accesses);
    for (size_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].to < structure->n_blocks && edge_counts[e] > 0)
            wrong[structure->edges[e].to] += edge_counts[e] * edges[e].leave_one_out_error;
    for (size_t g = 0; g < structure->n_groups; g++)
        errors[g] = 0;
    for (size_t r = 0; r < structure->n_references; r++) {
        const struct pm_reference *reference = &structure->references[r];
        if (!reference->recorded || reference->group >= structure->n_groups)
            continue;
        accesses[reference->group] += executions[reference->block];
        errors[reference->group] += wrong[reference->block];
    }
    for (size_t g = 0; g < structure->n_groups; g++)
        errors[g] = accesses[g] > 0 ? errors[g] / accesses[g] : NAN;
    free(accesses);
    free(wrong);
    free(executions);
}

void pm_fit_largest_accesses(const struct pm_structure *structure, uint32_t *largest_bytes) {
    for (size_t g = 0; g < structure->n_groups; g++)
        largest_bytes[g] = 0;
    for (size_t r = 0; r < structure->n_references; r++) {
        const struct pm_reference *reference = &structure->references[r];
        if (reference->recorded && reference->group < structure->n_groups &&
            reference->size_bytes > largest_bytes[reference->group])
            largest_bytes[reference->group] = reference->size_bytes;
    }
}

double pm_fit_most_touches(uint32_t largest_bytes, uint64_t block_bytes) {
    return fmax(2, ceil((double)largest_bytes / (double)block_bytes) + 1);
}

bool pm_fit_touches_per_access(size_t n, const double *accesses, double *touched, double most,
                               struct pm_model *model) {
    double *shares = touched, low = INFINITY, high = 0, square = 0;
    double all_accesses = 0, all_touched = 0;
    size_t used = 0;
    bool sound = !pm_fit_without(PM_STEP_GROUP_ACCESSES);
    for (size_t k = 0; k < n; k++) {
        if (accesses[k] == 0) {
            sound &= touched[k] == 0;
            continue;
        }
        double share = touched[k] / accesses[k];
        sound &= share >= 1 - pm_heuristics.rounding && share <= most + pm_heuristics.rounding;
        low = fmin(low, share);
        high = fmax(high, share);
        all_accesses += accesses[k];
        all_touched += touched[k]; /* used ≤ k: it is not overwritten yet */
        shares[used++] = share;
    }
    if (sound && used) {
        double share =
            high - low <= pm_heuristics.noise * low ? all_touched / all_accesses : shares[used - 1];
        for (size_t i = 0; i < used; i++)
            square += pow(share / shares[i] - 1, 2) / (double)used;
        *model = (struct pm_model){.n_terms = 1,
                                   .coefficients = {share},
                                   .shape = PM_SHAPE_CONSTANT,
                                   .n_points = (uint16_t)used,
                                   .relative_error = sqrt(square),
                                   .leave_one_out_error = used < 3 ? NAN : sqrt(square),
                                   .sigma = sqrt(square) * share,
                                   .exact = low == high && low == floor(low)};
    }
    return sound && used;
}
