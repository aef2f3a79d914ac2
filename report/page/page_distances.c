/* Reuse distances of rows: how large a share of a row's accesses has distances in each slot.

       slot = min (254, round (4 · log2 (distance + 1))),   255: first touches, and beyond what was
   kept

   Four slots an octave are as fine as a picture shows.  Accesses of a bin that is wider than a slot
   are spread evenly over its distances.  A share is a part of 65535. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/analysis/analysis.h"
#include "report/page/private.h"

enum { ALWAYS_MISSING = PM_PAGE_SLOTS - 1, ALL = 65535 };

static size_t slot_of(double distance) {
    double slot = round(PM_PAGE_SLOTS_AN_OCTAVE * log2(distance + 1));
    return (size_t)fmin(fmax(slot, 0), ALWAYS_MISSING - 1);
}

/* The largest distance that is nearer to SLOT than to the next one. */
static double end_of_slot(size_t slot) {
    return exp2(((double)slot + 0.5) / PM_PAGE_SLOTS_AN_OCTAVE) - 1;
}

static void add_bin(double *slots, const struct pm_bin *bin) {
    double accesses = bin->loads + bin->stores, width = bin->high - bin->low, from = bin->low;
    size_t slot = slot_of(bin->low), last = slot_of(bin->high);
    if (slot == last || !(width > 0)) {
        slots[slot_of(bin->mean)] += accesses;
        return;
    }
    for (; slot <= last; slot++) {
        double to = slot == last ? bin->high : fmin(end_of_slot(slot), bin->high);
        slots[slot] += accesses * fmax(to - from, 0) / width;
        from = fmax(to, from);
    }
}

/* One row of the page: its scope, how many slots, then which, and their shares. */
struct slots_of_row {
    uint32_t scope;
    uint16_t n;
};

static void put(struct pm_page_bytes *to, const void *from, size_t size) {
    for (size_t i = 0; i < size; i++)
        *PM_PUSH(to, bytes) = ((const uint8_t *)from)[i];
}

static void put_row(struct pm_page_bytes *to, uint32_t scope, const double *slots) {
    uint8_t which[PM_PAGE_SLOTS];
    uint16_t shares[PM_PAGE_SLOTS];
    struct slots_of_row row = {.scope = scope};
    double all = 0;
    for (size_t i = 0; i < PM_PAGE_SLOTS; i++)
        all += slots[i];
    for (size_t i = 0; i < PM_PAGE_SLOTS; i++) {
        double share = all > 0 ? round(ALL * slots[i] / all) : 0;
        if (share < 1)
            continue;
        which[row.n] = (uint8_t)i;
        shares[row.n++] = (uint16_t)share;
    }
    put(to, &row, sizeof row);
    put(to, which, row.n);
    put(to, shares, row.n * sizeof *shares);
}

void pm_page_distances_make(const struct pm_structure *structure, const struct pm_profile *profile,
                            uint64_t block_bytes, struct pm_page_bytes *to) {
    double **rows = pm_alloc(structure->n_scopes, sizeof *rows);
    for (size_t h = 0; h < profile->n_histograms; h++) {
        const struct pm_histogram *histogram = &profile->histograms[h].histogram;
        if (histogram->block_bytes != block_bytes)
            continue;
        uint32_t row =
            pm_row_scope(structure, structure->groups[profile->histograms[h].group].scope);
        if (!rows[row])
            rows[row] = pm_alloc(PM_PAGE_SLOTS, sizeof **rows);
        for (size_t b = 0; b < histogram->n_bins; b++)
            add_bin(rows[row], &histogram->bins[b]);
        rows[row][ALWAYS_MISSING] += pm_histogram_always_missing(histogram);
    }
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        if (rows[s]) {
            put_row(to, s, rows[s]);
            free(rows[s]);
        }
    free(rows);
}

/* ---- all sizes ------------------------------------------------------------------------------- */

/* The distances of one size and block size, scope by scope. */
struct reading {
    const uint8_t *at, *end;
};

/* The slots of SCOPE, if it is the next; NULL: it has none. */
static const uint8_t *read_row(struct reading *from, uint32_t scope, size_t *n) {
    struct slots_of_row row;
    *n = 0;
    while (from->at < from->end) {
        memcpy(&row, from->at, sizeof row);
        if (row.scope > scope)
            return NULL;
        const uint8_t *slots = from->at + sizeof row;
        from->at = slots + row.n * 3;
        if (row.scope < scope)
            continue;
        *n = row.n;
        return slots;
    }
    return NULL;
}

void pm_page_put_distances(const struct pm_html_page *page, const uint32_t *scopes, size_t n,
                           struct pm_page_bytes *to) {
    struct pm_page_bytes counts = {0}, slots = {0}, high = {0}, low = {0};
    struct reading *from = pm_alloc(page->n_points, sizeof *from);
    for (size_t b = 0; b < page->n_block_sizes; b++) {
        for (size_t p = 0; p < page->n_points; p++) {
            const struct pm_page_bytes *bytes = &page->distances[p * page->n_block_sizes + b];
            from[p] = (struct reading){bytes->bytes, bytes->bytes + bytes->n_bytes};
        }
        for (size_t r = 0; r < n; r++)
            for (size_t p = 0; p < page->n_points; p++) {
                size_t n_slots;
                const uint8_t *row = read_row(&from[p], scopes[r], &n_slots);
                *PM_PUSH(&counts, bytes) = (uint8_t)n_slots;
                for (size_t i = 0; i < n_slots; i++) {
                    uint16_t share;
                    memcpy(&share, row + n_slots + 2 * i, sizeof share);
                    *PM_PUSH(&slots, bytes) = row[i];
                    *PM_PUSH(&high, bytes) = (uint8_t)(share >> 8);
                    *PM_PUSH(&low, bytes) = (uint8_t)share;
                }
            }
    }
    const struct pm_page_bytes *planes[] = {&counts, &slots, &high, &low};
    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++) {
        put(to, planes[i]->bytes, planes[i]->n_bytes);
        free(planes[i]->bytes);
    }
    free(from);
}
