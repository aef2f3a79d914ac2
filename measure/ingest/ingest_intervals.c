/* Intervals of a run: the edges of each row from what its counters rose by.

   The calls of the path at which intervals of a kind begin are open then: their activations go on
   without having been entered in the interval; those of the path at which they end are left open.
   So the same flow that gives a run's edges gives an interval's, and what one interval leaves open
   the next one of the thread resumes: the rows add up to the run (which is checked, edge by edge).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/ingest/private.h"

struct pm_interval_sums *pm_interval_sums_new(const struct pm_copies *copies) {
    struct pm_interval_sums *sums = pm_alloc(1, sizeof *sums);
    sums->copies = copies;
    sums->inexact = pm_alloc(copies->structure->n_routines, sizeof *sums->inexact);
    return sums;
}

void pm_interval_sums_free(struct pm_interval_sums *sums) {
    if (!sums)
        return;
    if (sums->solver)
        pm_edge_solver_free(sums->solver);
    pm_intervals_free(sums->intervals);
    free(sums->inexact);
    free(sums);
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* Each call of PATH is open; N activations of each are left (> 0) or resumed. */
static void add_path(struct pm_interval_sums *sums, uint32_t path, int64_t n) {
    const struct pm_call_paths *paths = &sums->intervals->paths;
    for (; path != PM_NO_PATH; path = paths->sites[path].parent) {
        const struct pm_open_call call = {.module = paths->sites[path].module,
                                          .return_address = paths->sites[path].return_address,
                                          .count = n,
                                          .goes_on = true};
        pm_edge_solver_add_open_call(sums->solver, &call);
    }
}

static void keep_edges(void *context, uint32_t r, const uint64_t *edge_counts, bool is_exact) {
    struct pm_interval_sums *sums = context;
    const struct pm_routine *routine = &sums->copies->structure->routines[r];
    struct pm_interval *row = &sums->intervals->rows[sums->intervals->n_rows - 1];
    if (sums->copies->not_recorded && sums->copies->not_recorded[r])
        return;
    sums->inexact[r] |= !is_exact;
    for (uint32_t e = 0; e < routine->n_edges; e++)
        if (edge_counts[e])
            *PM_PUSH(row, edges) = (struct pm_edge_count){routine->first_edge + e, edge_counts[e]};
}

static int by_edge(const void *left, const void *right) {
    const struct pm_edge_count *a = left, *b = right;
    return PM_COMPARE(a->edge, b->edge);
}

static void add_row(struct pm_interval_sums *sums, const struct pm_raw_interval_row *from,
                    const struct pm_module_place *const *places, const uint32_t *paths,
                    uint32_t process) {
    struct pm_interval *row = PM_PUSH(sums->intervals, rows);
    *row = (struct pm_interval){.process = process,
                                .thread = (uint32_t)from->thread,
                                .begin = paths[from->head.begin],
                                .end = paths[from->head.end],
                                .kind = PM_NONE,
                                .first = from->head.first,
                                .n = from->head.n};
    for (uint32_t i = 0; i < from->head.n_counts; i++)
        pm_edge_solver_add_count(
            sums->solver, places[from->counts[i].module]->first_counter + from->counts[i].counter,
            from->counts[i].count);
    for (uint32_t i = 0; i < from->head.n_frames; i++) {
        const struct pm_raw_interval_frame *frame = &from->frames[i];
        const struct pm_open_call call = {.module = places[frame->module]->module,
                                          .return_address = frame->return_address,
                                          .count = frame->count};
        pm_edge_solver_add_open_call(sums->solver, &call);
    }
    add_path(sums, row->begin, -(int64_t)row->n);
    add_path(sums, row->end, (int64_t)row->n);
    pm_edge_solver_run(sums->solver, keep_edges, sums);
    PM_SORT(row->edges, row->n_edges, by_edge);
}

/* ---- a file ---------------------------------------------------------------------------------- */

uint32_t *pm_ingest_paths(struct pm_call_paths *paths, const struct pm_raw *raw,
                          const struct pm_module_place *const *places) {
    uint32_t *numbers = pm_alloc(raw->n_paths + 1, sizeof *numbers);
    for (size_t i = 1; i < raw->n_paths; i++) {
        const struct pm_raw_call_site *site = &raw->paths[i].site;
        numbers[i] = pm_call_paths_add(paths, numbers[site->parent], places[site->module]->module,
                                       site->return_address);
        pm_call_paths_set_callee(paths, numbers[i], raw->paths[i].callee);
    }
    return numbers;
}

/* The row that a part of a histogram belongs to, of those from FIRST on; NULL. */
static struct pm_interval *find_row(struct pm_intervals *intervals, size_t first,
                                    const struct pm_raw_interval_part *part,
                                    const uint32_t *paths) {
    for (size_t i = first; i < intervals->n_rows; i++) {
        struct pm_interval *row = &intervals->rows[i];
        if (row->thread == part->histogram.thread && row->first == part->of.first &&
            row->begin == paths[part->of.begin] && row->end == paths[part->of.end])
            return row;
    }
    return NULL;
}

static bool add_histograms(struct pm_interval_sums *sums, struct pm_raw *raw,
                           const struct pm_module_place *const *places, const uint32_t *paths,
                           size_t first, const char *path, struct pm_error *err) {
    struct pm_interval *row = NULL;
    for (size_t i = 0; i < raw->n_interval_parts; i++) {
        struct pm_raw_interval_part *part = &raw->interval_parts[i];
        const struct pm_module_place *place = places[part->histogram.module];
        /* Those of a row stand together. */
        if (i == 0 || memcmp(&part[-1].of, &part->of, sizeof part->of) != 0 ||
            part[-1].histogram.thread != part->histogram.thread)
            row = find_row(sums->intervals, first, part, paths);
        if (!row || part->histogram.group >= place->n_groups)
            return pm_fail(err, "%s: a histogram of an interval that is not there", path);
        *PM_PUSH(row, histograms) = (struct pm_group_histogram){
            place->first_group + part->histogram.group, part->histogram.histogram};
        part->histogram.histogram = (struct pm_histogram){0};
    }
    return true;
}

bool pm_ingest_intervals(struct pm_interval_sums *sums, struct pm_raw *raw,
                         const struct pm_module_place *const *places, uint32_t process,
                         const char *path, struct pm_error *err) {
    if (raw->n_intervals == 0)
        return true;
    if (!sums->intervals) {
        sums->intervals = pm_alloc(1, sizeof *sums->intervals);
        sums->solver = pm_edge_solver_new(sums->copies->structure);
    }
    size_t first = sums->intervals->n_rows;
    uint32_t *paths = pm_ingest_paths(&sums->intervals->paths, raw, places);
    for (size_t i = 0; i < raw->n_intervals; i++)
        add_row(sums, &raw->intervals[i], places, paths, process);
    bool ok = add_histograms(sums, raw, places, paths, first, path, err);
    free(paths);
    return ok;
}

/* ---- the run --------------------------------------------------------------------------------- */

static int by_group(const void *left, const void *right) {
    const struct pm_group_histogram *a = left, *b = right;
    return a->group != b->group ? PM_COMPARE(a->group, b->group)
                                : PM_COMPARE(a->histogram.block_bytes, b->histogram.block_bytes);
}

/* A sentence if the rows do not add up to the run's edges; the caller frees. */
static char *compare_sums(const struct pm_intervals *intervals, const struct pm_profile *profile) {
    double *sums = pm_alloc(profile->n_edges, sizeof *sums), off = 0, all = 0;
    size_t n_off = 0;
    for (size_t i = 0; i < intervals->n_rows; i++)
        pm_interval_add_edges(&intervals->rows[i], sums);
    for (size_t e = 0; e < profile->n_edges; e++) {
        double difference = fabs(sums[e] - profile->edge_counts[e]);
        n_off += difference > 0;
        off += difference;
        all += profile->edge_counts[e];
    }
    free(sums);
    return n_off ? pm_sprintf("the intervals' counts do not add up to the run's: %zu of %zu edges "
                              "differ, by %.3g%% of all",
                              n_off, profile->n_edges, all > 0 ? 100 * off / all : 100)
                 : NULL;
}

static void note_inexact(const struct pm_interval_sums *sums, const bool *inexact, char **notes) {
    size_t n = 0;
    for (size_t r = 0; r < sums->copies->structure->n_routines; r++)
        n += sums->inexact[r] && !inexact[r];
    if (n == 0)
        return;
    char *note = pm_sprintf("counts of %zu routines are inexact in some of the intervals", n);
    pm_add_note(notes, note);
    free(note);
}

struct pm_intervals *pm_interval_sums_end(struct pm_interval_sums *sums,
                                          const struct pm_profile *profile, const bool *inexact,
                                          char **notes) {
    struct pm_intervals *intervals = sums->intervals;
    if (!intervals)
        return NULL;
    sums->intervals = NULL;
    pm_intervals_sort(intervals);
    for (size_t i = 0; i < intervals->n_rows; i++)
        PM_SORT(intervals->rows[i].histograms, intervals->rows[i].n_histograms, by_group);
    note_inexact(sums, inexact, notes);
    char *note = compare_sums(intervals, profile);
    if (note)
        pm_add_note(notes, note);
    free(note);
    return intervals;
}
