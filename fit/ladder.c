/* One size's reuses by ascending distance, with running sums; see partition.h. */
#include "fit/partition.h"

#include <math.h>

double pm_ladder_accesses(const struct pm_ladder *ladder) { return ladder->before[ladder->n]; }

double pm_ladder_below(const struct pm_ladder *ladder, double distance) {
    size_t low = 0, high = ladder->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ladder->distance[middle] < distance)
            low = middle + 1;
        else
            high = middle;
    }
    return ladder->before[low];
}

/* The last entry that begins at or before POSITION. */
static size_t entry_at(const struct pm_ladder *ladder, double position) {
    size_t low = 0, high = ladder->n;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        if (ladder->before[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double distance_sum(const struct pm_ladder *ladder, double position) {
    size_t i = entry_at(ladder, position);
    return ladder->distance_before[i] + (position - ladder->before[i]) * ladder->distance[i];
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
