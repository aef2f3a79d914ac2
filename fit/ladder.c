/* One size's reuses by ascending distance, with running sums; see partition.h. */
#include "fit/partition.h"

#include <math.h>

double pm_ladder_accesses(const struct pm_ladder *ladder) { return ladder->before[ladder->n]; }

double pm_ladder_below(const struct pm_ladder *ladder, double distance) {
    if (ladder->n == 0 || !(ladder->distance[0] < distance))
        return 0;
    const double *base = ladder->distance;
    for (size_t n = ladder->n; n > 1;) {
        size_t half = n / 2;
        base = base[half] < distance ? base + half : base;
        n -= half;
    }
    return ladder->before[base - ladder->distance + 1];
}

/* The last entry that begins at or before POSITION.  Without branches that a CPU could guess wrong:
   twice as fast. */
static size_t entry_at(const struct pm_ladder *ladder, double position) {
    const double *base = ladder->before;
    for (size_t n = ladder->n; n > 1;) {
        size_t half = n / 2;
        base = base[half] <= position ? base + half : base;
        n -= half;
    }
    return (size_t)(base - ladder->before);
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
