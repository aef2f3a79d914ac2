/* One size's reuses by ascending distance, with running sums; see partition.h. */
#include "fit/partition.h"

#include <math.h>
#include <stdlib.h>

double pm_ladder_accesses(const struct pm_ladder *ladder) { return ladder->before[ladder->n]; }

double pm_ladder_below(const struct pm_ladder *ladder, double distance) {
    if (ladder->n == 0 || !(ladder->distance[0] < distance))
        return 0;
    const double *base = ladder->distance;
    for (size_t n = ladder->n; n > 1;) {
        size_t half = n / 2;
        base += half * (base[half] < distance);
        n -= half;
    }
    return ladder->before[base - ladder->distance + 1];
}

static bool is_entry_at(const struct pm_ladder *ladder, size_t i, double position) {
    return i < ladder->n && (i == 0 || ladder->before[i] <= position) &&
           (i + 1 == ladder->n || position < ladder->before[i + 1]);
}

/* The last entry that begins at or before POSITION.  A cut is looked at from many sides, so that it
   is mostly one of the last two that were looked for; the search has no branches that a CPU could
   guess wrong. */
static size_t entry_at(const struct pm_ladder *ladder, double position) {
    size_t *latest = ladder->latest;
    if (is_entry_at(ladder, latest[0], position))
        return latest[0];
    size_t other = latest[1];
    latest[1] = latest[0];
    if (!is_entry_at(ladder, other, position)) {
        const double *base = ladder->before;
        for (size_t n = ladder->n; n > 1;) {
            size_t half = n / 2;
            base += half * (base[half] <= position);
            n -= half;
        }
        other = (size_t)(base - ladder->before);
    }
    latest[0] = other;
    return other;
}

static double distance_sum(const struct pm_ladder *ladder, double position) {
    size_t i = entry_at(ladder, position);
    return ladder->distance_before[i] + (position - ladder->before[i]) * ladder->distance[i];
}

/* Distances of an entry are even between its ends. */
static double square_of(const struct pm_ladder *ladder, size_t i) {
    double width = ladder->high[i] - ladder->low[i];
    return ladder->distance[i] * ladder->distance[i] + width * width / 12;
}

static double square_sum(const struct pm_ladder *ladder, double position) {
    size_t i = entry_at(ladder, position);
    return ladder->square_before[i] + (position - ladder->before[i]) * square_of(ladder, i);
}

double pm_ladder_spread(const struct pm_ladder *ladder, double from, double to) {
    double mean = pm_ladder_mean(ladder, from, to);
    double square = (square_sum(ladder, to) - square_sum(ladder, from)) / (to - from);
    return sqrt(fmax(square - mean * mean, 0));
}

double pm_ladder_mean(const struct pm_ladder *ladder, double from, double to) {
    if (ladder->n == 0 || to - from <= 1e-9)
        return NAN;
    return (distance_sum(ladder, to) - distance_sum(ladder, from)) / (to - from);
}

size_t pm_ladder_first(const struct pm_ladder *ladder, double from) {
    return entry_at(ladder, from + 1e-6 * (1 + from * 1e-6));
}

size_t pm_ladder_last(const struct pm_ladder *ladder, double to) {
    return entry_at(ladder, to - 1e-6 * (1 + to * 1e-6));
}

/* ---- filling -------------------------------------------------------------------------------- */

void pm_ladder_reserve(struct pm_ladder *ladder, size_t n) {
    if (n <= ladder->capacity && ladder->before)
        return;
    ladder->capacity = 2 * n;
    ladder->distance = pm_realloc(ladder->distance, 2 * n + 1, sizeof(double));
    ladder->low = pm_realloc(ladder->low, 2 * n + 1, sizeof(double));
    ladder->high = pm_realloc(ladder->high, 2 * n + 1, sizeof(double));
    ladder->before = pm_realloc(ladder->before, 2 * n + 1, sizeof(double));
    ladder->distance_before = pm_realloc(ladder->distance_before, 2 * n + 1, sizeof(double));
    ladder->square_before = pm_realloc(ladder->square_before, 2 * n + 1, sizeof(double));
    ladder->gap = pm_realloc(ladder->gap, 2 * n + 1, sizeof(double));
    ladder->latest = pm_realloc(ladder->latest, 2, sizeof *ladder->latest);
}

void pm_ladder_free(struct pm_ladder *ladder) {
    free(ladder->distance);
    free(ladder->low);
    free(ladder->high);
    free(ladder->before);
    free(ladder->distance_before);
    free(ladder->square_before);
    free(ladder->gap);
    free(ladder->latest);
}

static void add_entry(struct pm_ladder *ladder, const struct pm_bin *bin) {
    double count = bin->loads + bin->stores;
    if (count <= 0)
        return;
    size_t at = ladder->n++;
    ladder->distance[at] = bin->mean;
    ladder->low[at] = bin->low;
    ladder->high[at] = bin->high;
    ladder->before[at + 1] = ladder->before[at] + count;
    ladder->distance_before[at + 1] = ladder->distance_before[at] + count * bin->mean;
    ladder->square_before[at + 1] = ladder->square_before[at] + count * square_of(ladder, at);
    /* + 4: between 1 and 2 there is no gap worth a name */
    ladder->gap[at] = at ? log((bin->mean + 4) / (ladder->distance[at - 1] + 4)) : 0;
}

void pm_ladder_fill(struct pm_ladder *ladder, const struct pm_histogram *histogram,
                    const bool taken[PM_PARTITION_SHORT]) {
    pm_ladder_reserve(ladder, histogram ? histogram->n_bins + 1 : 0);
    ladder->n = 0;
    ladder->latest[0] = ladder->latest[1] = 0;
    ladder->before[0] = ladder->distance_before[0] = ladder->square_before[0] = 0;
    if (!histogram)
        return;
    double last = 0;
    for (size_t i = 0; i < histogram->n_bins; i++) {
        const struct pm_bin *bin = &histogram->bins[i];
        if (bin->low != bin->high || bin->low >= PM_PARTITION_SHORT || !taken[(int)bin->low])
            add_entry(ladder, bin);
        last = bin->high;
    }
    struct pm_bin beyond = {.loads = histogram->beyond_loads, .stores = histogram->beyond_stores};
    beyond.low = beyond.mean = beyond.high = fmax(histogram->at_least, last);
    add_entry(ladder, &beyond);
}

double pm_ladder_reuses(const struct pm_histogram *histogram) {
    double sum = histogram ? histogram->beyond_loads + histogram->beyond_stores : 0;
    for (size_t i = 0; histogram && i < histogram->n_bins; i++)
        sum += histogram->bins[i].loads + histogram->bins[i].stores;
    return sum;
}
