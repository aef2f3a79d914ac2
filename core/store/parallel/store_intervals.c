/* The profile store: intervals of runs (core/intervals/intervals.h). */
#include <stdlib.h>

#include "core/store/private.h"

/* ---- kinds ----------------------------------------------------------------------------------- */

bool pm_store_interval_kinds(struct pm_store *store, struct pm_interval_kinds *kinds,
                             struct pm_error *err) {
    *kinds = (struct pm_interval_kinds){0};
    if (PM_READ_ROWS(store, PM_INTERVAL_KINDS, PM_ALL_RUNS, kinds, kinds, err))
        return true;
    free(kinds->kinds);
    return false;
}

/* The one from BEGIN to END, which is added if it is new; its number is known when it is put in. */
static struct pm_interval_kind *find_kind(struct pm_interval_kinds *kinds, uint32_t begin,
                                          uint32_t end) {
    for (size_t i = 0; i < kinds->n_kinds; i++)
        if (kinds->kinds[i].begin == begin && kinds->kinds[i].end == end)
            return &kinds->kinds[i];
    uint32_t last = kinds->n_kinds ? kinds->kinds[kinds->n_kinds - 1].number : 0;
    struct pm_interval_kind *kind = PM_PUSH(kinds, kinds);
    *kind = (struct pm_interval_kind){last + 1, begin, end};
    return kind;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_row(struct pm_store_rows *edges, struct pm_store_rows *histograms, uint32_t kind,
                    const struct pm_interval *of) {
    struct pm_stored_interval row = {kind, of->process, of->thread, of->first, of->n, {0}};
    pm_interval_encode_edges(edges->store->packing, of, &row.edges.data, &row.edges.n);
    pm_rows_put(edges, &row);
    free(row.edges.data);
    for (size_t i = 0; i < of->n_histograms && histograms->ok; i++) {
        struct pm_histogram_row histogram = {.kind = kind,
                                             .process = of->process,
                                             .thread = of->thread,
                                             .first = of->first,
                                             .group = of->histograms[i].group};
        pm_store_put_histogram(histograms, &histogram, &of->histograms[i].histogram);
    }
}

/* NUMBERS: of the paths in the store.  Rows of one kind stand together. */
static bool put_rows(struct pm_store *store, int64_t run, const struct pm_intervals *intervals,
                     const uint32_t *numbers, struct pm_error *err) {
    struct pm_interval_kinds kinds;
    if (!pm_store_interval_kinds(store, &kinds, err))
        return false;
    size_t n_before = kinds.n_kinds;
    struct pm_store_rows edges = pm_rows_to(store, PM_INTERVALS, run, err),
                         histograms = pm_rows_to(store, PM_INTERVAL_HISTOGRAMS, run, err);
    uint32_t kind = 0;
    for (size_t i = 0; i < intervals->n_rows && edges.ok && histograms.ok; i++) {
        const struct pm_interval *row = &intervals->rows[i];
        if (i == 0 || row->begin != row[-1].begin || row->end != row[-1].end)
            kind = find_kind(&kinds, numbers[row->begin], numbers[row->end])->number;
        put_row(&edges, &histograms, kind, row);
    }
    bool ok = pm_rows_end(&edges);
    ok = pm_rows_end(&histograms) && ok &&
         pm_store_put_rows(store, PM_INTERVAL_KINDS, PM_ALL_RUNS, kinds.kinds + n_before,
                           kinds.n_kinds - n_before, err);
    free(kinds.kinds);
    return ok;
}

bool pm_store_put_intervals(struct pm_store *store, const struct pm_parameters *parameters,
                            const struct pm_structure *structure,
                            const struct pm_intervals *intervals, struct pm_error *err) {
    int64_t run = pm_store_replace(store, parameters, PM_INTERVALS, PM_INTERVAL_HISTOGRAMS, err);
    uint32_t *numbers =
        run ? pm_store_put_call_paths(store, structure, &intervals->paths, err) : NULL;
    bool ok = numbers && put_rows(store, run, intervals, numbers, err);
    free(numbers);
    return pm_store_end(store, ok, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct pm_store_rows rows_of_kind(struct pm_store *store, enum pm_table_id table,
                                         int64_t run, uint32_t kind, struct pm_error *err) {
    return pm_rows_where(store, table, run, kind == PM_NONE ? NULL : "kind = ?2", kind, err);
}

/* The ends of its kind. */
static bool set_ends(const struct pm_interval_kinds *kinds, struct pm_interval *row) {
    size_t at = PM_LOWER_BOUND(kinds->n_kinds, i, kinds->kinds[i].number < row->kind);
    if (at == kinds->n_kinds || kinds->kinds[at].number != row->kind)
        return false;
    row->begin = kinds->kinds[at].begin;
    row->end = kinds->kinds[at].end;
    return true;
}

static bool read_rows(struct pm_store *store, int64_t run, uint32_t kind,
                      const struct pm_interval_kinds *kinds, struct pm_intervals *intervals,
                      struct pm_error *err) {
    struct pm_store_rows rows = rows_of_kind(store, PM_INTERVALS, run, kind, err);
    const struct pm_stored_interval *from;
    size_t n_paths = intervals->paths.n_sites ? intervals->paths.n_sites : 1;
    while ((from = pm_rows_next(&rows))) {
        struct pm_interval *row = PM_PUSH(intervals, rows);
        *row = (struct pm_interval){.kind = from->kind,
                                    .process = from->process,
                                    .thread = from->thread,
                                    .first = from->first,
                                    .n = from->n};
        if (!set_ends(kinds, row) || row->begin >= n_paths || row->end >= n_paths || row->n == 0 ||
            !pm_interval_decode_edges(store->packing, from->edges.data, from->edges.n, row))
            pm_rows_damaged(&rows);
    }
    return pm_rows_end(&rows);
}

static bool is_of(const struct pm_interval *row, const struct pm_histogram_row *histogram) {
    return row->kind == histogram->kind && row->process == histogram->process &&
           row->thread == histogram->thread && row->first == histogram->first;
}

/* Histograms come in the order of the rows, of which not all have some. */
static bool read_histograms(struct pm_store *store, int64_t run, uint32_t kind,
                            struct pm_intervals *intervals, struct pm_error *err) {
    struct pm_store_rows rows = rows_of_kind(store, PM_INTERVAL_HISTOGRAMS, run, kind, err);
    const struct pm_histogram_row *from;
    size_t at = 0;
    while ((from = pm_rows_next(&rows))) {
        struct pm_histogram histogram;
        while (at < intervals->n_rows && !is_of(&intervals->rows[at], from))
            at++;
        if (at == intervals->n_rows)
            pm_rows_damaged(&rows);
        else if (pm_store_decode_histogram(&rows, from, &histogram))
            *PM_PUSH(&intervals->rows[at], histograms) =
                (struct pm_group_histogram){from->group, histogram};
    }
    return pm_rows_end(&rows);
}

struct pm_intervals *pm_store_intervals(struct pm_store *store,
                                        const struct pm_parameters *parameters, uint32_t kind,
                                        bool with_histograms, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    struct pm_interval_kinds kinds;
    if (run <= 0 || !pm_store_interval_kinds(store, &kinds, err))
        return NULL;
    struct pm_intervals *intervals = pm_alloc(1, sizeof *intervals);
    bool ok = pm_store_call_paths(store, &intervals->paths, err) &&
              read_rows(store, run, kind, &kinds, intervals, err) && intervals->n_rows > 0 &&
              (!with_histograms || read_histograms(store, run, kind, intervals, err));
    free(kinds.kinds);
    if (ok) {
        pm_intervals_sort(intervals);
        return intervals;
    }
    pm_intervals_free(intervals);
    return NULL;
}

bool pm_store_has_intervals(struct pm_store *store, const struct pm_parameters *parameters,
                            bool with_histograms, bool *found, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    *found = false;
    return run == 0 ||
           (run > 0 &&
            pm_store_has_rows(store, with_histograms ? PM_INTERVAL_HISTOGRAMS : PM_INTERVALS, run,
                              NULL, 0, found, err));
}

bool pm_store_interval_bytes(struct pm_store *store, const struct pm_parameters *parameters,
                             double *bytes, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    *bytes = 0;
    return run == 0 ||
           (run > 0 &&
            pm_store_number(
                store,
                "SELECT (SELECT ifnull(sum(length(edges) + 12), 0) FROM interval WHERE run = ?1)"
                " + (SELECT ifnull(sum(length(data) + 16), 0) FROM interval_histogram"
                " WHERE run = ?1)",
                run, bytes, err));
}
