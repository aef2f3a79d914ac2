/* The profile store: histograms of runs, one blob for each group, block size and stream.  They are
   written and read in the order of the table's key, one after the other, so that a run of a large
   program is never in memory as a whole but where a profile is asked for. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/store/private.h"

/* ---- rows ------------------------------------------------------------------------------------ */

bool pm_store_put_histogram(struct pm_store_rows *rows, struct pm_histogram_row *row,
                            const struct pm_histogram *histogram) {
    pm_histogram_encode(rows->store->packing, histogram, &row->data.data, &row->data.n);
    row->block_bytes = histogram->block_bytes;
    row->cold = (uint64_t)llround(histogram->cold_loads + histogram->cold_stores);
    row->accesses = (uint64_t)llround(pm_histogram_accesses(histogram));
    bool ok = pm_rows_put(rows, row);
    free(row->data.data);
    return ok;
}

bool pm_store_decode_histogram(struct pm_store_rows *rows, const struct pm_histogram_row *row,
                               struct pm_histogram *histogram) {
    if (!pm_histogram_decode(rows->store->packing, row->data.data, row->data.n, histogram,
                             rows->err))
        return rows->ok = pm_fail_in(rows->err, "%s: run %lld, group %u", rows->store->path,
                                     (long long)rows->run, row->group);
    if (histogram->block_bytes == row->block_bytes)
        return true;
    pm_histogram_free(histogram);
    return pm_rows_damaged(rows);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Histograms that are parts of the run's, into a table of their own. */
static bool put_parts(struct pm_store *store, enum pm_table_id table, int64_t run,
                      const struct pm_group_histogram *parts, size_t n, struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_to(store, table, run, err);
    for (size_t i = 0; i < n && rows.ok; i++) {
        struct pm_histogram_row row = {.group = parts[i].group};
        pm_store_put_histogram(&rows, &row, &parts[i].histogram);
    }
    return pm_rows_end(&rows);
}

bool pm_store_put_histograms(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                             const struct pm_streams *streams, struct pm_error *err) {
    const struct pm_stream sum = {.kind = PM_STREAM_SUM};
    if (!pm_store_put_rows(store, PM_STREAMS, run, streams ? streams->streams : &sum,
                           streams ? streams->n_streams : 1, err))
        return false;
    struct pm_store_rows rows = pm_rows_to(store, PM_HISTOGRAMS, run, err);
    for (size_t i = 0; !streams && i < profile->n_histograms && rows.ok; i++) {
        struct pm_histogram_row row = {.group = profile->histograms[i].group};
        pm_store_put_histogram(&rows, &row, &profile->histograms[i].histogram);
    }
    for (size_t i = 0; streams && i < streams->n_histograms && rows.ok; i++) {
        const struct pm_stream_histogram *of = &streams->histograms[i];
        struct pm_histogram_row row = {.group = of->group, .stream = of->stream};
        pm_store_put_histogram(&rows, &row, &of->histogram);
    }
    return pm_rows_end(&rows) &&
           (!streams || pm_store_put_rows(store, PM_ESTIMATES, run, streams->estimates,
                                          streams->n_estimates, err)) &&
           put_parts(store, PM_DIRTY, run, profile->dirty, profile->n_dirty, err) &&
           put_parts(store, PM_SEQUENTIAL, run, profile->sequential, profile->n_sequential, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct pm_histogram_cursor {
    struct pm_store_rows rows;
    const struct pm_histogram_row *row;
    struct pm_streams streams; /* without histograms */
};

struct pm_histogram_cursor *pm_store_histograms_of_run(struct pm_store *store, int64_t run,
                                                       struct pm_error *err) {
    struct pm_histogram_cursor *cursor = pm_alloc(1, sizeof *cursor);
    bool ok = PM_READ_ROWS(store, PM_STREAMS, run, &cursor->streams, streams, err);
    if (ok) {
        cursor->rows = pm_rows_of(store, PM_HISTOGRAMS, run, err);
        ok = cursor->rows.ok;
    }
    if (ok)
        return cursor;
    pm_histogram_cursor_free(cursor);
    return NULL;
}

struct pm_histogram_cursor *pm_store_histograms(struct pm_store *store,
                                                const struct pm_parameters *parameters,
                                                struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run > 0)
        return pm_store_histograms_of_run(store, run, err);
    if (run == 0)
        pm_fail(err, "%s: no run of that size", store->path);
    return NULL;
}

void pm_histogram_cursor_free(struct pm_histogram_cursor *cursor) {
    if (!cursor)
        return;
    pm_rows_end(&cursor->rows);
    pm_streams_free(&cursor->streams);
    free(cursor);
}

const struct pm_stream *pm_histogram_cursor_streams(const struct pm_histogram_cursor *cursor,
                                                    size_t *n_streams) {
    *n_streams = cursor->streams.n_streams;
    return cursor->streams.streams;
}

bool pm_histogram_cursor_next(struct pm_histogram_cursor *cursor, struct pm_histogram_place *place,
                              struct pm_error *err) {
    cursor->rows.err = err;
    cursor->row = pm_rows_next(&cursor->rows);
    if (!cursor->row)
        return false;
    if (cursor->row->block_bytes == 0 || cursor->row->stream >= cursor->streams.n_streams) {
        pm_rows_damaged(&cursor->rows);
        return false;
    }
    *place = (struct pm_histogram_place){.group = cursor->row->group,
                                         .block_bytes = cursor->row->block_bytes,
                                         .stream_index = cursor->row->stream,
                                         .stream = &cursor->streams.streams[cursor->row->stream]};
    return true;
}

bool pm_histogram_cursor_read(struct pm_histogram_cursor *cursor, struct pm_histogram *histogram,
                              struct pm_error *err) {
    cursor->rows.err = err;
    return pm_store_decode_histogram(&cursor->rows, cursor->row, histogram);
}

bool pm_store_has_bytes(struct pm_store *store, const struct pm_parameters *parameters, bool *found,
                        struct pm_error *err) {
    struct pm_histogram_cursor *cursor = pm_store_histograms(store, parameters, err);
    struct pm_histogram_place place;
    struct pm_histogram histogram;
    *found = true;
    if (cursor && pm_histogram_cursor_next(cursor, &place, err) &&
        pm_histogram_cursor_read(cursor, &histogram, err)) {
        *found = !isnan(histogram.bytes_touched);
        pm_histogram_free(&histogram);
    }
    pm_histogram_cursor_free(cursor);
    return err->kind == PM_ERROR_NONE;
}

bool pm_store_estimates(struct pm_store *store, const struct pm_parameters *parameters,
                        struct pm_stream_estimate **estimates, size_t *n_estimates,
                        struct pm_error *err) {
    struct {
        PM_ARRAY(struct pm_stream_estimate, rows);
    } list = {0};
    int64_t run = pm_store_find_run(store, parameters, err);
    bool ok = run == 0 || (run > 0 && PM_READ_ROWS(store, PM_ESTIMATES, run, &list, rows, err));
    *estimates = list.rows;
    *n_estimates = list.n_rows;
    return ok;
}

/* The process's whole. */
bool pm_store_read_sums(struct pm_store *store, int64_t run, struct pm_profile *profile,
                        struct pm_error *err) {
    struct pm_histogram_cursor *cursor = pm_store_histograms_of_run(store, run, err);
    struct pm_histogram_sums sums = {0};
    struct pm_histogram_place place;
    struct pm_histogram histogram;
    bool ok = cursor != NULL;
    while (ok && pm_histogram_cursor_next(cursor, &place, err))
        if (place.stream->kind != PM_STREAM_SHARED) {
            ok = pm_histogram_cursor_read(cursor, &histogram, err);
            if (ok)
                pm_histogram_sums_add(&sums, place.group, &histogram);
        }
    ok = ok && cursor->rows.ok;
    pm_histogram_cursor_free(cursor);
    profile->histograms = sums.rows;
    profile->n_histograms = sums.n_rows;
    return ok;
}

void pm_histogram_sums_add(struct pm_histogram_sums *sums, uint32_t group,
                           struct pm_histogram *histogram) {
    struct pm_group_histogram *last = sums->n_rows ? &sums->rows[sums->n_rows - 1] : NULL;
    if (last && last->group == group && last->histogram.block_bytes == histogram->block_bytes) {
        pm_histogram_add(&last->histogram, histogram);
        pm_histogram_free(histogram);
    } else {
        *PM_PUSH(sums, rows) = (struct pm_group_histogram){group, *histogram};
    }
}

/* ---- parts of them --------------------------------------------------------------------------- */

bool pm_store_read_parts(struct pm_store *store, int64_t run, struct pm_profile *profile,
                         struct pm_error *err) {
    static const enum pm_table_id tables[] = {PM_DIRTY, PM_SEQUENTIAL};
    bool ok = true;
    for (size_t t = 0; t < sizeof tables / sizeof *tables && ok; t++) {
        struct pm_store_rows rows = pm_rows_of(store, tables[t], run, err);
        const struct pm_histogram_row *row;
        struct pm_group_histogram part;
        while ((row = pm_rows_next(&rows))) {
            part.group = row->group;
            if (!pm_store_decode_histogram(&rows, row, &part.histogram))
                continue;
            if (tables[t] == PM_DIRTY)
                *PM_PUSH(profile, dirty) = part;
            else
                *PM_PUSH(profile, sequential) = part;
        }
        ok = pm_rows_end(&rows);
    }
    return ok;
}

bool pm_store_has_dirty(struct pm_store *store, const struct pm_parameters *parameters, bool *found,
                        struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    *found = false;
    return run == 0 || (run > 0 && pm_store_has_rows(store, PM_DIRTY, run, NULL, 0, found, err));
}

/* ---- reuse patterns -------------------------------------------------------------------------- */

bool pm_store_put_patterns(struct pm_store *store, const struct pm_parameters *parameters,
                           const struct pm_run_patterns *patterns, struct pm_error *err) {
    int64_t run = pm_store_replace(store, parameters, PM_CARRIED, PM_CARRIED, err);
    struct pm_store_rows rows = pm_rows_to(store, PM_CARRIED, run, err);
    for (size_t i = 0; run && i < patterns->n_groups && rows.ok; i++) {
        const struct pm_group_patterns *group = &patterns->groups[i];
        struct pm_histogram_row row = {
            .group = group->group, .block_bytes = group->block_bytes, .cold = group->n_patterns};
        double reuses = 0;
        for (size_t k = 0; k < group->n_patterns; k++)
            reuses += pm_histogram_accesses(&group->patterns[k].histogram);
        row.accesses = (uint64_t)llround(reuses);
        pm_group_patterns_encode(group, &row.data.data, &row.data.n);
        pm_rows_put(&rows, &row);
        free(row.data.data);
    }
    return pm_store_end(store, pm_rows_end(&rows) && run, err);
}

struct pm_run_patterns *pm_store_patterns(struct pm_store *store,
                                          const struct pm_parameters *parameters,
                                          struct pm_error *err) {
    int64_t run = pm_store_find_whole_run(store, parameters, err);
    if (run <= 0)
        return NULL;
    struct pm_run_patterns *patterns = pm_alloc(1, sizeof *patterns);
    struct pm_store_rows rows = pm_rows_of(store, PM_CARRIED, run, err);
    const struct pm_histogram_row *row;
    while ((row = pm_rows_next(&rows))) {
        struct pm_group_patterns group;
        rows.ok =
            pm_group_patterns_decode(row->data.data, row->data.n, &group, err) ||
            pm_fail_in(err, "%s: run %lld, group %u", store->path, (long long)run, row->group);
        if (rows.ok) {
            group.group = row->group;
            *PM_PUSH(patterns, groups) = group;
        }
    }
    if (pm_rows_end(&rows) && patterns->n_groups > 0)
        return patterns;
    pm_run_patterns_free(patterns);
    return NULL;
}

bool pm_store_has_patterns(struct pm_store *store, const struct pm_parameters *parameters,
                           const uint64_t *block_sizes, size_t n_block_sizes, bool *found,
                           struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    bool ok = run >= 0;
    *found = run > 0 && n_block_sizes > 0;
    if (run > 0 && n_block_sizes == 0)
        return pm_store_has_rows(store, PM_CARRIED, run, NULL, 0, found, err);
    for (size_t i = 0; ok && *found && i < n_block_sizes; i++)
        ok = pm_store_has_rows(store, PM_CARRIED, run, "block_bytes = ?2", (int64_t)block_sizes[i],
                               found, err);
    return ok;
}
