/* A profile: what a program does at one problem size; see profile.h. */
#include "core/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

static void free_histograms(struct pm_group_histogram *all, size_t n) {
    for (size_t i = 0; i < n; i++)
        pm_histogram_free(&all[i].histogram);
    free(all);
}

void pm_profile_free(struct pm_profile *profile) {
    if (!profile)
        return;
    free_histograms(profile->histograms, profile->n_histograms);
    free_histograms(profile->dirty, profile->n_dirty);
    free_histograms(profile->sequential, profile->n_sequential);
    free(profile->edge_counts);
    free(profile->truncated);
    free(profile->block_sizes);
    free(profile->totals);
    free(profile->interpolated);
    free(profile->miss_errors);
    if (!profile->borrows_strides)
        pm_run_strides_free(&profile->strides);
    pm_behaviour_free(&profile->behaviour);
    for (size_t i = 0; i < profile->n_threads; i++)
        pm_profile_free(profile->threads[i]);
    free(profile->threads);
    free(profile->threads_as);
    free(profile);
}

static int compare_histograms(const void *left, const void *right) {
    const struct pm_group_histogram *a = left, *b = right;
    return a->group != b->group ? PM_COMPARE(a->group, b->group)
                                : PM_COMPARE(a->histogram.block_bytes, b->histogram.block_bytes);
}

static size_t find(const struct pm_group_histogram *all, size_t n, uint32_t group,
                   uint64_t block_bytes) {
    const struct pm_group_histogram wanted = {group, {.block_bytes = block_bytes}};
    size_t at = PM_LOWER_BOUND(n, i, compare_histograms(&all[i], &wanted) < 0);
    return at < n && compare_histograms(&all[at], &wanted) == 0 ? at : n;
}

const struct pm_histogram *pm_find_histogram(const struct pm_group_histogram *all, size_t n,
                                             uint32_t group, uint64_t block_bytes) {
    size_t at = find(all, n, group, block_bytes);
    return at < n ? &all[at].histogram : NULL;
}

void pm_sort_histograms(struct pm_group_histogram *all, size_t *n) {
    size_t kept = 0;
    PM_SORT(all, *n, compare_histograms);
    for (size_t i = 0; i < *n; i++) {
        struct pm_group_histogram *last = kept ? &all[kept - 1] : NULL;
        if (last && compare_histograms(last, &all[i]) == 0) {
            pm_histogram_add(&last->histogram, &all[i].histogram);
            pm_histogram_free(&all[i].histogram);
        } else {
            all[kept++] = all[i];
        }
    }
    *n = kept;
}

static void *copy_of(const void *from, size_t n, size_t size) {
    void *to = pm_alloc(n, size);
    if (n)
        memcpy(to, from, n * size);
    return to;
}

static struct pm_group_histogram *copy_histograms(const struct pm_group_histogram *from, size_t n) {
    struct pm_group_histogram *to = copy_of(from, n, sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[i].histogram.bins =
            copy_of(from[i].histogram.bins, from[i].histogram.n_bins, sizeof(struct pm_bin));
    return to;
}

struct pm_profile *pm_profile_copy(const struct pm_profile *profile) {
    struct pm_profile *copy = pm_alloc(1, sizeof *copy);
    *copy = *profile;
    copy->edge_counts = copy_of(profile->edge_counts, profile->n_edges, sizeof(double));
    copy->histograms = copy_histograms(profile->histograms, profile->n_histograms);
    copy->block_sizes = copy_of(profile->block_sizes, profile->n_block_sizes, sizeof(uint64_t));
    copy->dirty = copy_histograms(profile->dirty, profile->n_dirty);
    copy->cap_dirty = profile->n_dirty;
    copy->sequential = copy_histograms(profile->sequential, profile->n_sequential);
    copy->cap_sequential = profile->n_sequential;
    copy->miss_errors =
        copy_of(profile->miss_errors, profile->n_miss_errors, sizeof *copy->miss_errors);
    copy->cap_miss_errors = profile->n_miss_errors;
    copy->behaviour.branches = copy_of(profile->behaviour.branches, profile->behaviour.n_branches,
                                       sizeof *copy->behaviour.branches);
    copy->behaviour.cap_branches = profile->behaviour.n_branches;
    copy->behaviour.trips = copy_of(profile->behaviour.trips, profile->behaviour.n_trips,
                                    sizeof *copy->behaviour.trips);
    copy->behaviour.cap_trips = profile->behaviour.n_trips;
    copy->borrows_strides = true;
    return copy;
}

size_t pm_profile_find_histogram(const struct pm_profile *profile, uint32_t group,
                                 uint64_t block_bytes) {
    return find(profile->histograms, profile->n_histograms, group, block_bytes);
}

const struct pm_histogram *pm_profile_histogram(const struct pm_profile *profile, uint32_t group,
                                                uint64_t block_bytes) {
    return pm_find_histogram(profile->histograms, profile->n_histograms, group, block_bytes);
}

double pm_profile_fully_associative_misses(const struct pm_profile *profile, uint64_t block_bytes,
                                           double cache_blocks) {
    double sum = 0;
    for (size_t h = 0; h < profile->n_histograms; h++)
        if (profile->histograms[h].histogram.block_bytes == block_bytes)
            sum += pm_fully_associative_misses(&profile->histograms[h].histogram, cache_blocks);
    return sum;
}

bool pm_profile_is_without_memory(const struct pm_profile *profile) {
    return profile->n_block_sizes == 0;
}

bool pm_profile_has_block_size(const struct pm_profile *profile, uint64_t block_bytes) {
    for (size_t i = 0; i < profile->n_block_sizes; i++)
        if (profile->block_sizes[i] == block_bytes)
            return true;
    return false;
}

uint64_t pm_profile_interpolated_from(const struct pm_profile *profile, uint64_t block_bytes) {
    for (size_t i = 0; i < profile->n_interpolated; i++)
        if (profile->interpolated[i].block_bytes == block_bytes)
            return profile->interpolated[i].from_bytes;
    return 0;
}

static bool histograms_fit(const struct pm_group_histogram *all, size_t n,
                           const struct pm_structure *structure) {
    bool fit = true;
    for (size_t i = 0; i < n && fit; i++)
        fit = all[i].group < structure->n_groups;
    return fit;
}

bool pm_profile_fits(const struct pm_profile *profile, const struct pm_structure *structure,
                     struct pm_error *err) {
    bool fits = profile->n_edges == structure->n_edges;
    fits = fits && histograms_fit(profile->histograms, profile->n_histograms, structure) &&
           histograms_fit(profile->dirty, profile->n_dirty, structure) &&
           histograms_fit(profile->sequential, profile->n_sequential, structure);
    size_t n_strides = profile->strides.n_references;
    if (n_strides) /* ascending */
        fits &= profile->strides.references[n_strides - 1].reference < structure->n_references;
    size_t n_branches = profile->behaviour.n_branches;
    if (n_branches) /* likewise */
        fits &= profile->behaviour.branches[n_branches - 1].block < structure->n_blocks;
    size_t n_trips = profile->behaviour.n_trips;
    if (n_trips)
        fits &= profile->behaviour.trips[n_trips - 1].block < structure->n_blocks;
    return fits || pm_fail(err, "a run's counts do not fit the program's structure: the store is "
                                "damaged; measure again");
}

double *pm_block_executions(const struct pm_structure *structure, const double *edge_counts) {
    double *blocks = pm_alloc(structure->n_blocks, sizeof *blocks);
    for (size_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].to < structure->n_blocks)
            blocks[structure->edges[e].to] += edge_counts[e];
    return blocks;
}

double pm_scope_entries(const struct pm_structure *structure, const double *edge_counts,
                        uint32_t scope) {
    const struct pm_scope *s = &structure->scopes[scope];
    if (s->routine == PM_NONE)
        return 0;
    const struct pm_routine *routine = &structure->routines[s->routine];
    double entries = 0;
    for (uint32_t i = routine->first_edge; i < routine->first_edge + routine->n_edges; i++) {
        const struct pm_edge *edge = &structure->edges[i];
        if (edge->to == PM_NONE)
            continue;
        if (s->kind == PM_SCOPE_ROUTINE)
            entries += edge->kind == PM_EDGE_ENTRY ? edge_counts[i] : 0;
        else if ((s->kind == PM_SCOPE_INLINED || edge->to == s->header) &&
                 pm_block_is_inside(structure, edge->to, scope) &&
                 (edge->from == PM_NONE || !pm_block_is_inside(structure, edge->from, scope)))
            entries += edge_counts[i];
    }
    return entries;
}

/* ---- the whole program ----------------------------------------------------------------------- */

struct pm_program_total *pm_profile_sums(const struct pm_profile *profile) {
    struct pm_program_total *sums = pm_alloc(profile->n_block_sizes, sizeof *sums);
    for (size_t b = 0; b < profile->n_block_sizes; b++)
        sums[b].block_bytes = profile->block_sizes[b];
    for (size_t i = 0; i < profile->n_histograms; i++) {
        const struct pm_histogram *histogram = &profile->histograms[i].histogram;
        for (size_t b = 0; b < profile->n_block_sizes; b++)
            if (sums[b].block_bytes == histogram->block_bytes) {
                sums[b].accesses += pm_histogram_accesses(histogram);
                sums[b].cold += histogram->cold_loads + histogram->cold_stores;
            }
    }
    return sums;
}

/* What is missing of WHOLE where PART is there. */
static double missing(double part, double whole) {
    return whole > part ? (whole - part) / whole : 0;
}

struct pm_left_out pm_profile_left_out(const struct pm_profile *profile) {
    struct pm_left_out out = {0};
    if (profile->n_block_sizes == 0)
        return out;
    if (profile->n_totals == 0)
        return (struct pm_left_out){NAN, NAN};
    struct pm_program_total *sums = pm_profile_sums(profile);
    for (size_t i = 0; i < profile->n_totals; i++)
        if (profile->totals[i].block_bytes == sums[0].block_bytes)
            out = (struct pm_left_out){missing(sums[0].accesses, profile->totals[i].accesses),
                                       missing(sums[0].cold, profile->totals[i].cold)};
    free(sums);
    return out;
}

/* ---- accesses that are not analysed ---------------------------------------------------------- */

void pm_skipped_add_groups(const struct pm_structure *structure, const double *edge_counts,
                           const bool *is_lost, struct pm_skipped_accesses *skipped) {
    double *executions = pm_block_executions(structure, edge_counts);
    for (size_t r = 0; r < structure->n_references; r++) {
        const struct pm_reference *reference = &structure->references[r];
        if (!is_lost[reference->group])
            continue;
        double times = executions[reference->block];
        skipped->loads += reference->access & PM_ACCESS_LOAD ? times : 0;
        skipped->stores += reference->access & PM_ACCESS_STORE ? times : 0;
    }
    free(executions);
}

char *pm_skipped_sentence(const struct pm_skipped_accesses *skipped,
                          enum pm_skipped_reason reason) {
    if (skipped->loads == 0 && skipped->stores == 0 && skipped->executions == 0)
        return NULL;
    if (reason == PM_SKIPPED_STOPPED)
        return pm_sprintf("%.0f loads and %.0f stores were not analysed because measuring was off",
                          skipped->loads, skipped->stores);
    if (reason == PM_SKIPPED_UNMATCHED)
        return pm_sprintf("%.0f loads and %.0f stores are left out because their code is not the "
                          "same in the builds for other sizes",
                          skipped->loads, skipped->stores);
    return pm_sprintf("%.0f loads and %.0f stores were not analysed because their routines are "
                      "left out, which were entered %.0f times",
                      skipped->loads, skipped->stores, skipped->executions);
}

/* ---- builds that differ ---------------------------------------------------------------------- */

static bool is_unmatched(const struct pm_structure *structure, uint32_t scope) {
    return (structure->scopes[scope].flags & PM_SCOPE_UNMATCHED) != 0;
}

/* The innermost loop around INSIDE, but not around OUTSIDE, that is the same in all builds; or
   PM_NONE. */
static uint32_t crossed_loop(const struct pm_structure *structure, uint32_t inside,
                             uint32_t outside) {
    uint32_t loop = inside == PM_NONE ? PM_NONE : structure->blocks[inside].loop;
    for (; loop != PM_NONE && !pm_is_in_loop(structure, outside, loop);
         loop = pm_outer_loop(structure, loop))
        if (!is_unmatched(structure, loop))
            return loop;
    return PM_NONE;
}

static void keep_edges(struct pm_profile *profile, const struct pm_structure *structure) {
    uint32_t *entry = pm_alloc(structure->n_scopes, sizeof *entry); /* of each loop, plus 1 */
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (!is_unmatched(structure, pm_edge_scope(structure, e)) ||
            crossed_loop(structure, edge->from, edge->to) != PM_NONE)
            continue;
        uint32_t entered = crossed_loop(structure, edge->to, edge->from);
        if (entered != PM_NONE && entry[entered] == 0)
            entry[entered] = e + 1;
        else if (entered != PM_NONE)
            profile->edge_counts[entry[entered] - 1] += profile->edge_counts[e];
        if (entered == PM_NONE || entry[entered] != e + 1)
            profile->edge_counts[e] = 0;
    }
    free(entry);
}

/* Leaves the histograms of groups that all builds have. */
static void keep_histograms(struct pm_group_histogram *all, size_t *n,
                            const struct pm_structure *structure) {
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++) {
        uint32_t holder =
            all[i].group < structure->n_groups ? pm_group_holder(structure, all[i].group) : PM_NONE;
        if (holder == PM_NONE)
            pm_histogram_free(&all[i].histogram);
        else
            all[kept++] = (struct pm_group_histogram){holder, all[i].histogram};
    }
    *n = kept;
    pm_sort_histograms(all, n);
}

void pm_profile_keep_matched(struct pm_profile *profile, const struct pm_structure *structure) {
    if (profile->n_edges != structure->n_edges)
        return;
    keep_edges(profile, structure);
    keep_histograms(profile->histograms, &profile->n_histograms, structure);
    keep_histograms(profile->dirty, &profile->n_dirty, structure);
    keep_histograms(profile->sequential, &profile->n_sequential, structure);
}
