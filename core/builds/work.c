/* Executions of code that is not the same in all builds; see builds.h.

   In a run of another build such code of the store's structure, the loop or routine U, counts as
   executed as in the run of the store's own build (the base), times the share of its work:

       count(e) = base(e) · s(U)   for each edge e of U's own code.

   s(U) of an innermost loop is the ratio of the bytes that its reference groups access, and those
   that they are one with by source, in this run to those in the base: it is the same whatever the
   compiler unrolled, vectorised or peeled.  Of other loops and of routines, and where no group of U
   moves, it is the ratio of the iterations (entries) of all that the compiler made of the same
   source; where these are not known either, that of what is around U.  Of loops in U that are the
   same in both builds entries and exits are known, and stay as they are. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/builds/builds.h"

void pm_build_work_free(struct pm_build_work *work) {
    free(work->group_bytes);
    free(work->iterations);
    *work = (struct pm_build_work){0};
}

/* Per scope: how often the header of a loop or the entry of a routine is executed. */
static double *count_headers(const struct pm_structure *s, const double *edge_counts) {
    double *executions = pm_block_executions(s, edge_counts);
    double *headers = pm_alloc(s->n_scopes, sizeof *headers);
    for (size_t i = 0; i < s->n_scopes; i++)
        if (s->scopes[i].kind == PM_SCOPE_LOOP && s->scopes[i].header < s->n_blocks)
            headers[i] = executions[s->scopes[i].header];
    for (size_t e = 0; e < s->n_edges; e++)
        if (s->edges[e].kind == PM_EDGE_ENTRY)
            headers[s->routines[s->edges[e].routine].scope] += edge_counts[e];
    free(executions);
    return headers;
}

struct keyed {
    uint64_t key;
    double count;
};

static int compare_keyed(const void *left, const void *right) {
    const struct keyed *a = left, *b = right;
    return PM_COMPARE(a->key, b->key);
}

/* For each scope of TO the sum of HEADERS over the scopes of FROM that are of the same source. */
static double *sum_by_source(const struct pm_structure *from, const double *headers,
                             const struct pm_structure *to) {
    uint64_t *of_from, *of_to;
    pm_source_keys(from, to, &of_from, &of_to);
    struct keyed *sorted = pm_alloc(from->n_scopes, sizeof *sorted);
    double *sums = pm_alloc(to->n_scopes, sizeof *sums);
    for (size_t i = 0; i < from->n_scopes; i++)
        sorted[i] = (struct keyed){of_from[i], headers[i]};
    PM_SORT(sorted, from->n_scopes, compare_keyed);
    for (size_t i = 0; i < to->n_scopes; i++)
        for (size_t at = PM_LOWER_BOUND(from->n_scopes, k, sorted[k].key < of_to[i]);
             at < from->n_scopes && sorted[at].key == of_to[i]; at++)
            sums[i] += sorted[at].count;
    free(sorted);
    free(of_from);
    free(of_to);
    return sums;
}

void pm_build_work_measure(const struct pm_structure *from, const double *edge_counts,
                           const struct pm_structure *to, const uint32_t *holders,
                           struct pm_build_work *work) {
    double *executions = pm_block_executions(from, edge_counts);
    double *headers = count_headers(from, edge_counts);
    *work = (struct pm_build_work){.n_groups = to->n_groups,
                                   .n_scopes = to->n_scopes,
                                   .group_bytes = pm_alloc(to->n_groups, sizeof(double)),
                                   .iterations = sum_by_source(from, headers, to)};
    for (size_t r = 0; r < from->n_references; r++) {
        const struct pm_reference *reference = &from->references[r];
        uint32_t group = holders ? holders[reference->group] : reference->group;
        double times = executions[reference->block] * pm_reference_accesses(reference);
        if (group != PM_NONE)
            work->group_bytes[group] += times * reference->size_bytes;
    }
    free(headers);
    free(executions);
}

/* ---- shares of the base ---------------------------------------------------------------------- */

static bool moves(const struct pm_group *group) {
    return group->n_strides > 0 && group->strides[0].kind == PM_STRIDE_CONSTANT &&
           group->strides[0].bytes != 0;
}

/* Per group that has histograms: what is accessed by all that are one with it. */
static double *sum_joined(const struct pm_structure *s, const double *group_bytes) {
    double *sums = pm_alloc(s->n_groups, sizeof *sums);
    for (uint32_t g = 0; g < s->n_groups; g++) {
        uint32_t holder = pm_group_holder(s, g);
        if (holder != PM_NONE)
            sums[holder] += group_bytes[g];
    }
    return sums;
}

/* Per scope s(U): 1 where nothing is known. */
static double *find_shares(const struct pm_structure *s, const struct pm_build_work *run,
                           const struct pm_build_work *base) {
    double *shares = pm_alloc(s->n_scopes, sizeof *shares);
    double *in_run = pm_alloc(s->n_scopes, sizeof *in_run);
    double *in_base = pm_alloc(s->n_scopes, sizeof *in_base);
    double *of_run = sum_joined(s, run->group_bytes), *of_base = sum_joined(s, base->group_bytes);
    bool *has_inner = pm_alloc(s->n_scopes, sizeof *has_inner);
    for (uint32_t g = 0; g < s->n_groups; g++) {
        uint32_t own = pm_own_scope(s, s->groups[g].scope), holder = pm_group_holder(s, g);
        if (own == PM_NONE || holder == PM_NONE || !moves(&s->groups[g]))
            continue;
        in_run[own] += of_run[holder];
        in_base[own] += of_base[holder];
    }
    for (uint32_t i = 0; i < s->n_scopes; i++)
        if (s->scopes[i].kind == PM_SCOPE_LOOP && pm_outer_loop(s, i) != PM_NONE)
            has_inner[pm_outer_loop(s, i)] = true;
    for (uint32_t i = 0; i < s->n_scopes; i++) {
        bool is_leaf = s->scopes[i].kind == PM_SCOPE_LOOP && !has_inner[i];
        if (is_leaf && in_base[i] > 0)
            shares[i] = in_run[i] / in_base[i];
        else if (pm_has_own_code(s, i) && base->iterations[i] > 0)
            shares[i] = run->iterations[i] / base->iterations[i];
        else
            shares[i] = s->scopes[i].parent == PM_NONE ? 1 : shares[s->scopes[i].parent];
    }
    free(has_inner);
    free(of_run);
    free(of_base);
    free(in_run);
    free(in_base);
    return shares;
}

/* ---- counts of edges ------------------------------------------------------------------------- */

/* The innermost loop around INSIDE, but not around OUTSIDE, whose code is the same; PM_NONE. */
static uint32_t crossed(const struct pm_structure *s, const bool *differs, uint32_t inside,
                        uint32_t outside) {
    uint32_t loop = inside == PM_NONE ? PM_NONE : s->blocks[inside].loop;
    for (; loop != PM_NONE && !pm_is_in_loop(s, outside, loop); loop = pm_outer_loop(s, loop))
        if (!differs[loop])
            return loop;
    return PM_NONE;
}

void pm_build_work_scale(const struct pm_structure *s, const bool *differs,
                         const double *base_counts, const struct pm_build_work *work,
                         double *edge_counts) {
    struct pm_build_work base;
    pm_build_work_measure(s, base_counts, s, NULL, &base);
    double *shares = find_shares(s, work, &base);
    double *known =
        pm_alloc(s->n_scopes, sizeof *known); /* entries of each loop that is the same */
    double *based = pm_alloc(s->n_scopes, sizeof *based); /* … in the base */
    for (uint32_t e = 0; e < s->n_edges; e++) {
        uint32_t entered = differs[pm_edge_scope(s, e)]
                               ? crossed(s, differs, s->edges[e].to, s->edges[e].from)
                               : PM_NONE;
        if (entered == PM_NONE)
            continue;
        known[entered] += edge_counts[e];
        based[entered] += base_counts[e];
    }
    for (uint32_t e = 0; e < s->n_edges; e++) {
        const struct pm_edge *edge = &s->edges[e];
        uint32_t own = pm_edge_scope(s, e);
        if (!differs[own])
            continue;
        uint32_t entered = crossed(s, differs, edge->to, edge->from);
        if (entered != PM_NONE)
            edge_counts[e] = based[entered] > 0 ? base_counts[e] * known[entered] / based[entered]
                                                : edge_counts[e];
        else if (crossed(s, differs, edge->from, edge->to) == PM_NONE)
            edge_counts[e] = base_counts[e] * shares[own];
    }
    free(known);
    free(based);
    free(shares);
    pm_build_work_free(&base);
}
