/* Shared levels as responses; see shared_level.h. */
#include "core/shared_level/shared_level.h"

#include <math.h>

/* Between the point before I and I itself, where FROM and TO lie.  With A the point before,
       mean of log (x / A) = (to · log (to / A) − from · log (from / A)) / (to − from) − 1. */
static double mean_before(const struct pm_response *response, size_t i, double from, double to) {
    static const double SHORT = 1e-3; /* where the middle is as good, and nothing cancels out */
    const struct pm_response_point *points = response->points;
    if (i == 0 || i == response->n_points)
        return points[i ? i - 1 : 0].share;
    double begin = points[i - 1].distance_bytes;
    double slope = (points[i].share - points[i - 1].share) / log(points[i].distance_bytes / begin);
    double mean = to - from < SHORT * from
                      ? log((from + to) / 2 / begin)
                      : (to * log(to / begin) - from * log(from / begin)) / (to - from) - 1;
    return points[i - 1].share + slope * mean;
}

double pm_response_mean(const struct pm_response *response, double from, double to) {
    const size_t n = response->n_points;
    size_t i = 0;
    while (i < n && response->points[i].distance_bytes <= from)
        i++;
    if (!(to > from))
        return mean_before(response, i, from, from);
    double sum = 0;
    for (double at = from; at < to; i++) {
        double end = i < n ? fmin(to, response->points[i].distance_bytes) : to;
        sum += (end - at) * mean_before(response, i, at, end);
        at = end;
    }
    return sum / (to - from);
}

double pm_response_half_bytes(const struct pm_response *response) {
    const double half = 0.5;
    const struct pm_response_point *points = response->points;
    for (size_t i = 0; i < response->n_points; i++) {
        if (points[i].share > half)
            continue;
        if (i == 0 || points[i].share == half)
            return points[i].distance_bytes;
        double part = (points[i - 1].share - half) / (points[i - 1].share - points[i].share);
        return points[i - 1].distance_bytes *
               pow(points[i].distance_bytes / points[i - 1].distance_bytes, part);
    }
    return points[response->n_points - 1].distance_bytes;
}

struct pm_response pm_response_end(const struct pm_response *response, bool high) {
    struct pm_response end = *response;
    for (size_t i = 0; i < end.n_points; i++)
        end.points[i].share = high ? end.points[i].high : end.points[i].low;
    return end;
}

void pm_response_scale(struct pm_response *response, double factor) {
    for (size_t i = 0; i < response->n_points; i++)
        response->points[i].distance_bytes *= factor;
}

double pm_distance_misses(const struct pm_histogram *histogram, double cache_blocks,
                          const struct pm_response *serves) {
    if (!serves->n_points)
        return pm_fully_associative_misses(histogram, cache_blocks);
    double sum = pm_histogram_always_missing(histogram), block = (double)histogram->block_bytes;
    for (size_t i = 0; i < histogram->n_bins; i++) {
        const struct pm_bin *bin = &histogram->bins[i];
        sum += (bin->loads + bin->stores) *
               (1 - pm_response_mean(serves, bin->low * block, (bin->high + 1) * block));
    }
    return sum;
}
