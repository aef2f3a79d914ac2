/* Walks that go on in one way for some time, and then in another, as each pass of a Fourier
   transform has a stride of its own.

   The walks of a carrier change together: those variants of theirs that began at about one time
   are the walks of one time.  Of the reuses at a distance most are of the times whose walks come
   back to a block after so long: a walk does once its lower levels, Π counts executions, are
   through, if the next level's stride takes it back to where it has been.

       share(time | group, d) ~ share(time) · Σ walks  rate · Σ levels  back · min(e/P, P/e)^p

   e      executions of the walk in a window of d blocks
   P      executions after which the level comes back
   back   the share of its blocks that it then meets again
   p      says how sharply

   A window that is longer than the time lasts sees the walks as they usually are. */
#include <math.h>
#include <stdlib.h>

#include "fit/heuristics.h"
#include "fit/sets/private.h"

/* Of the times of a carrier: the power of the ratio between when a walk comes back and when a block
   is used again, with which its share falls. */
static const double time_sharpness = 8.0;

/* How many different innermost strides WALK has in its variants: without their signs, since it
   meets the same blocks on its way back. */
static uint32_t count_strides(const struct pm_walks *walks, const struct pm_walk *walk) {
    const struct pm_walk_variant *variants = &walks->variants[walk->first_variant];
    uint32_t n = 0;
    for (uint32_t v = 0, before; v < walk->n_variants; v++) {
        for (before = 0; before < v; before++)
            if (llabs(variants[before].walk.levels[0].stride_bytes) ==
                llabs(variants[v].walk.levels[0].stride_bytes))
                break;
        n += before == v;
    }
    return n;
}

/* The walk with the most strides, among equals the most executed one; NULL: no walk has more than
   one stride. */
static const struct pm_rated_walk *find_leader(const struct pm_walks *walks,
                                               const struct pm_rated_walk *rated, size_t n) {
    const struct pm_rated_walk *leader = NULL;
    uint32_t most = 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t strides = count_strides(walks, rated[i].walk);
        if (strides < most || strides == 1 ||
            (leader && strides == most && rated[i].rate <= leader->rate))
            continue;
        leader = &rated[i];
        most = strides;
    }
    return leader;
}

/* WALK as it is from SINCE on. */
static const struct pm_walk *walk_since(const struct pm_walks *walks, const struct pm_walk *walk,
                                        double since) {
    const struct pm_walk_variant *nearest = NULL;
    for (uint32_t v = 0; v < walk->n_variants; v++) {
        const struct pm_walk_variant *variant = &walks->variants[walk->first_variant + v];
        if (!nearest || fabs(variant->since - since) < fabs(nearest->since - since))
            nearest = variant;
    }
    return nearest ? &nearest->walk : walk;
}

void pm_walk_times_make(const struct pm_walks *walks, const struct pm_rated_walk *rated, size_t n,
                        struct pm_walk_times *times) {
    const struct pm_rated_walk *leader = find_leader(walks, rated, n);
    const uint32_t n_variants = leader ? leader->walk->n_variants : 0;
    for (uint32_t t = 0; t <= n_variants; t++) {
        const struct pm_walk_variant *variant =
            t ? &walks->variants[leader->walk->first_variant + t - 1] : NULL;
        struct pm_walk_time *time = PM_PUSH(times, times);
        time->share = variant ? variant->share : 1;
        time->phase_accesses = variant ? variant->phase / leader->rate : INFINITY;
        time->walks = pm_alloc(n, sizeof *time->walks);
        time->n_walks = n;
        for (size_t i = 0; i < n; i++)
            time->walks[i] = (struct pm_rated_walk){
                variant ? walk_since(walks, rated[i].walk, variant->since) : rated[i].walk,
                rated[i].rate};
    }
    for (size_t i = 0; n_variants && i < n; i++)
        if (count_strides(walks, rated[i].walk) > 1)
            *PM_PUSH(times, groups) = rated[i].walk->group;
    for (uint32_t t = 1; t <= n_variants; t++)
        times->times[0].share = fmax(0, times->times[0].share - times->times[t].share);
}

void pm_walk_times_free(struct pm_walk_times *times) {
    for (size_t t = 0; t < times->n_times; t++)
        free(times->times[t].walks);
    free(times->times);
    free(times->groups);
    *times = (struct pm_walk_times){0};
}

size_t pm_walk_times_of(const struct pm_walk_times *times, uint32_t group) {
    for (size_t i = 0; i < times->n_groups; i++)
        if (times->groups[i] == group)
            return times->n_times;
    return 1;
}

static double closeness(double executions, double period) {
    return pow(fmin(executions / period, period / executions), time_sharpness);
}

static double walk_fits(const struct pm_walk *walk, double executions, uint64_t block_bytes) {
    double sum = 0, period = 1, span = (double)block_bytes;
    for (uint32_t l = 0; l < walk->n_levels; l++) {
        double stride = fabs((double)walk->levels[l].stride_bytes);
        double count = (double)walk->levels[l].count;
        sum += fmax(0, 1 - stride / span) * closeness(executions, period);
        period *= count;
        span += stride * (count - 1);
    }
    return sum;
}

double pm_walk_time_fits(const struct pm_walk_time *time, uint32_t group, double accesses,
                         uint64_t block_bytes) {
    double sum = 0;
    for (size_t i = 0; i < time->n_walks; i++) {
        const struct pm_rated_walk *rated = &time->walks[i];
        if (rated->walk->group == group && accesses * rated->rate > 0)
            sum += rated->rate * walk_fits(rated->walk, accesses * rated->rate, block_bytes);
    }
    return sum;
}
