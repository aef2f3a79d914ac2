/* Intervals of a run; see intervals.h. */
#include "core/intervals/intervals.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

void pm_interval_free(struct pm_interval *interval) {
    for (size_t i = 0; i < interval->n_histograms; i++)
        pm_histogram_free(&interval->histograms[i].histogram);
    free(interval->histograms);
    free(interval->edges);
    *interval = (struct pm_interval){0};
}

void pm_intervals_free(struct pm_intervals *intervals) {
    if (!intervals)
        return;
    for (size_t i = 0; i < intervals->n_rows; i++)
        pm_interval_free(&intervals->rows[i]);
    free(intervals->rows);
    pm_call_paths_free(&intervals->paths);
    free(intervals);
}

static int compare_rows(const void *left, const void *right) {
    const struct pm_interval *a = left, *b = right;
    int order = PM_COMPARE(a->begin, b->begin);
    if (order == 0)
        order = PM_COMPARE(a->end, b->end);
    if (order == 0)
        order = PM_COMPARE(a->process, b->process);
    if (order == 0)
        order = PM_COMPARE(a->thread, b->thread);
    return order ? order : PM_COMPARE(a->first, b->first);
}

void pm_intervals_sort(struct pm_intervals *intervals) {
    PM_SORT(intervals->rows, intervals->n_rows, compare_rows);
}

void pm_intervals_count(const struct pm_intervals *intervals, uint64_t *n, size_t *n_kinds) {
    *n = *n_kinds = 0;
    for (size_t i = 0; i < intervals->n_rows; i++) {
        const struct pm_interval *row = &intervals->rows[i];
        *n += row->n;
        *n_kinds += i == 0 || row[-1].begin != row->begin || row[-1].end != row->end;
    }
}

void pm_interval_add_edges(const struct pm_interval *row, double *edge_counts) {
    for (size_t i = 0; i < row->n_edges; i++)
        edge_counts[row->edges[i].edge] += (double)row->edges[i].count;
}

/* Edges ascend, and so do groups. */
static bool row_fits(const struct pm_interval *row, const struct pm_structure *structure) {
    bool fits = row->n_edges == 0 || row->edges[row->n_edges - 1].edge < structure->n_edges;
    for (size_t i = 0; i < row->n_histograms; i++)
        fits &= row->histograms[i].group < structure->n_groups;
    return fits;
}

bool pm_intervals_fit(const struct pm_intervals *intervals, const struct pm_structure *structure,
                      struct pm_error *err) {
    for (size_t i = 0; i < intervals->n_rows; i++) {
        const struct pm_interval *row = &intervals->rows[i];
        if (!row_fits(row, structure) ||
            !pm_call_path_fits(structure, &intervals->paths, row->begin) ||
            !pm_call_path_fits(structure, &intervals->paths, row->end))
            return pm_fail(err, "the intervals do not belong to this structure: measure again");
    }
    return true;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

struct bytes {
    PM_ARRAY(uint8_t, bytes);
};

static void put_uleb(struct bytes *to, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        *PM_PUSH(to, bytes) = (uint8_t)(value | 0x80);
    *PM_PUSH(to, bytes) = (uint8_t)value;
}

/* How many, the steps from edge to edge, then the counts: numbers that are alike stand together. */
void pm_interval_encode_edges(struct pm_packing *packing, const struct pm_interval *interval,
                              void **bytes, size_t *n_bytes) {
    struct bytes plain = {0};
    put_uleb(&plain, interval->n_edges);
    for (size_t i = 0; i < interval->n_edges; i++)
        put_uleb(&plain, interval->edges[i].edge - (i ? interval->edges[i - 1].edge : 0));
    for (size_t i = 0; i < interval->n_edges; i++)
        put_uleb(&plain, interval->edges[i].count);
    size_t room = ZSTD_compressBound(plain.n_bytes);
    *bytes = pm_alloc(room, 1);
    *n_bytes = pm_pack(packing, *bytes, room, plain.bytes, plain.n_bytes);
    free(plain.bytes);
}

static bool decode(struct pm_reader *in, struct pm_interval *interval) {
    uint64_t n = pm_take_uleb(in), edge = 0;
    if (n > pm_bytes_left(in)) /* an edge takes two bytes at least */
        return false;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t step = pm_take_uleb(in);
        if (step > UINT32_MAX || (i && step == 0) || (edge += step) >= PM_NONE)
            return false;
        PM_PUSH(interval, edges)->edge = (uint32_t)edge;
    }
    for (uint64_t i = 0; i < n; i++)
        if ((interval->edges[i].count = pm_take_uleb(in)) == 0)
            return false;
    return !in->fault && pm_bytes_left(in) == 0;
}

bool pm_interval_decode_edges(struct pm_packing *packing, const void *bytes, size_t n_bytes,
                              struct pm_interval *interval) {
    size_t n_plain;
    void *plain = pm_unpack_with(packing, bytes, n_bytes, &n_plain);
    struct pm_reader in = pm_reader_of(plain, plain ? n_plain : 0);
    bool ok = plain && decode(&in, interval);
    free(plain);
    return ok;
}
