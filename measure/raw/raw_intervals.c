/* Reads call paths and intervals of a raw file. */
#include <stdlib.h>
#include <string.h>

#include "measure/raw/sections.h"

static const char *take_text(struct pm_reader *in) {
    const void *end = memchr(in->at, 0, pm_bytes_left(in));
    return end ? pm_take(in, (uint64_t)((const uint8_t *)end - in->at) + 1) : NULL;
}

bool pm_raw_read_paths(struct pm_raw *raw, struct pm_reader *in) {
    uint64_t n = pm_take_unsigned(in, 8);
    if (in->fault || raw->n_paths || n == 0 ||
        n > pm_bytes_left(in) / (sizeof(struct pm_raw_call_site) + 1))
        return false;
    PM_PUSH(raw, paths); /* path 0 */
    for (uint64_t i = 1; i <= n; i++) {
        struct pm_raw_path *path = PM_PUSH(raw, paths);
        memcpy(&path->site, pm_take(in, sizeof path->site), sizeof path->site);
        if (path->site.parent >= i || path->site.module >= raw->n_modules)
            return false;
    }
    for (uint64_t i = 1; i <= n; i++) {
        const char *callee = take_text(in);
        if (!callee)
            return false;
        raw->paths[i].callee = pm_strdup(callee);
    }
    return true;
}

static bool is_path(const struct pm_raw *raw, uint32_t path) {
    return path == 0 || path < raw->n_paths;
}

/* N items of SIZE bytes; NULL: there are not so many.  Owned by the caller. */
static void *take_items(struct pm_reader *in, uint32_t n, size_t size) {
    const void *bytes = pm_take(in, (uint64_t)n * size);
    return bytes ? memcpy(pm_alloc(n ? n : 1, size), bytes, n * size) : NULL;
}

static bool counts_are_valid(const struct pm_raw *raw, const struct pm_raw_interval_row *row) {
    for (uint32_t i = 0; i < row->head.n_counts; i++) {
        const struct pm_raw_interval_count *count = &row->counts[i];
        if (count->module >= raw->n_modules || count->count == 0 ||
            count->counter >= raw->modules[count->module].n_counters)
            return false;
    }
    return true;
}

static bool frames_are_valid(const struct pm_raw *raw, const struct pm_raw_interval_row *row) {
    for (uint32_t i = 0; i < row->head.n_frames; i++)
        if (row->frames[i].module >= raw->n_modules || row->frames[i].count == 0)
            return false;
    return true;
}

bool pm_raw_read_intervals(struct pm_raw *raw, struct pm_reader *in) {
    uint64_t thread = pm_take_unsigned(in, 8);
    while (!in->fault && pm_bytes_left(in)) {
        struct pm_raw_interval_row *row = PM_PUSH(raw, intervals);
        row->thread = thread;
        pm_take_into(in, &row->head, sizeof row->head);
        row->counts = take_items(in, row->head.n_counts, sizeof *row->counts);
        row->frames = take_items(in, row->head.n_frames, sizeof *row->frames);
        if (!row->counts || !row->frames || !is_path(raw, row->head.begin) ||
            !is_path(raw, row->head.end) || row->head.n == 0 ||
            row->head.first > INT64_MAX - row->head.n || !counts_are_valid(raw, row) ||
            !frames_are_valid(raw, row))
            return false;
    }
    return !in->fault && thread <= UINT32_MAX;
}

bool pm_raw_read_interval_histogram(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_interval_part *part = PM_PUSH(raw, interval_parts);
    pm_take_into(in, &part->of, sizeof part->of);
    return pm_raw_take_histogram(raw, &part->histogram, in) && is_path(raw, part->of.begin) &&
           is_path(raw, part->of.end) && part->histogram.thread <= UINT32_MAX;
}

void pm_raw_free_intervals(struct pm_raw *raw) {
    for (size_t i = 0; i < raw->n_paths; i++)
        free(raw->paths[i].callee);
    for (size_t i = 0; i < raw->n_intervals; i++) {
        free(raw->intervals[i].counts);
        free(raw->intervals[i].frames);
    }
    for (size_t i = 0; i < raw->n_interval_parts; i++)
        pm_histogram_free(&raw->interval_parts[i].histogram.histogram);
    free(raw->paths);
    free(raw->intervals);
    free(raw->interval_parts);
}
