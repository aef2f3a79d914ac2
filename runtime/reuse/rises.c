/* What the histograms of an analysis rose by since the last time; see reuse.h.

   A copy of all histograms as they stood then is kept and compared with what they are, sixteen bins
   at a time, because the walks leave no trace of which groups they counted for: it costs as much
   as reading both. */
#include <string.h>

#include "runtime/reuse/reuse_state.h"

struct pm_reuse_rises {
    struct pm_touch_histogram *before; /* [n_groups] */
    uint32_t n_groups;
    struct pm_bin_arena arena;
};

/* Who is told, and of which group. */
struct telling {
    void (*tell)(void *context, const struct pm_reuse_rise *rise);
    void *context;
    uint32_t group;
    uint64_t n_both; /* accesses that load and store: each store is a touch at distance 0 */
};

enum { LOAD = 0, STORE = 1, BOTH = 2 };

static void tell(struct telling *telling, uint64_t low, uint64_t loads, uint64_t stores,
                 uint64_t distance_sum) {
    const struct pm_reuse_rise rise = {telling->group, low, loads, stores, distance_sum};
    if (loads || stores)
        telling->tell(telling->context, &rise);
}

/* The accesses of each kind by which NOW is above BEFORE, STRIDE words from kind to kind. */
static void take(uint64_t rose[PM_KINDS], const uint64_t *now, uint64_t *before, size_t stride) {
    for (unsigned kind = 0; kind < PM_KINDS; kind++) {
        rose[kind] = now[kind * stride] - before[kind * stride];
        before[kind * stride] = now[kind * stride];
    }
}

static void take_stack_top(struct telling *telling, const struct pm_touch_histogram *now,
                           struct pm_touch_histogram *before) {
    uint64_t rose[PM_KINDS];
    if (memcmp(now->stack_top, before->stack_top, sizeof now->stack_top) == 0)
        return;
    for (unsigned d = 0; d < PM_STACK_TOP; d++) {
        take(rose, &now->stack_top[0][d], &before->stack_top[0][d], PM_STACK_TOP);
        telling->n_both += rose[BOTH];
        uint64_t loads = rose[LOAD] + rose[BOTH];
        tell(telling, d, loads, rose[STORE], d * (loads + rose[STORE]));
    }
}

static void take_unbounded(struct telling *telling, const uint64_t now[PM_KINDS],
                           uint64_t before[PM_KINDS], uint64_t low) {
    uint64_t rose[PM_KINDS];
    take(rose, now, before, 1);
    telling->n_both += rose[BOTH];
    tell(telling, low, rose[LOAD] + rose[BOTH], rose[STORE], 0);
}

/* COUNT bins of WIDTH distances from LOW on; false: there is no memory. */
static bool take_bins(struct telling *telling, const struct pm_reuse_bin *now,
                      struct pm_reuse_bin **before, size_t count, uint64_t low, uint64_t width,
                      struct pm_bin_arena *arena) {
    enum { TOGETHER = 16 };
    if (!now)
        return true;
    if (!*before && !pm_reuse_new_bins(before, count, arena))
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t left = count - i;
        if (i % TOGETHER == 0 &&
            memcmp(now + i, *before + i, (left < TOGETHER ? left : TOGETHER) * sizeof *now) == 0) {
            i += TOGETHER - 1;
            continue;
        }
        uint64_t rose[PM_KINDS], sum = now[i].distance_sum - (*before)[i].distance_sum;
        take(rose, now[i].count, (*before)[i].count, 1);
        (*before)[i].distance_sum = now[i].distance_sum;
        telling->n_both += rose[BOTH];
        tell(telling, low + i * width, rose[LOAD] + rose[BOTH], rose[STORE], sum);
    }
    return true;
}

static bool take_distances(struct telling *telling, const struct pm_touch_histogram *now,
                           struct pm_touch_histogram *before, struct pm_bin_arena *arena) {
    for (uint64_t i = 0; now->distances && i <= now->distance_mask; i++) {
        const struct pm_distance_bin *bin = &now->distances[i];
        struct pm_distance_bin *was =
            bin->distance ? pm_reuse_distance_bin(before, arena, bin->distance) : NULL;
        uint64_t rose[PM_KINDS];
        if (!bin->distance)
            continue;
        if (!was)
            return false;
        take(rose, bin->count, was->count, 1);
        telling->n_both += rose[BOTH];
        uint64_t loads = rose[LOAD] + rose[BOTH];
        tell(telling, bin->distance, loads, rose[STORE], bin->distance * (loads + rose[STORE]));
    }
    return true;
}

static bool take_group(struct telling *telling, const struct pm_touch_histogram *now,
                       struct pm_touch_histogram *before, struct pm_bin_arena *arena) {
    telling->n_both = 0;
    take_stack_top(telling, now, before);
    take_unbounded(telling, now->cold, before->cold, PM_COLD);
    take_unbounded(telling, now->beyond, before->beyond, PM_BEYOND);
    bool ok = take_bins(telling, now->exact, &before->exact, PM_REUSE_EXACT - PM_STACK_TOP,
                        PM_STACK_TOP, 1, arena);
    for (unsigned i = 0; ok && i < PM_N_OCTAVES; i++) {
        uint64_t low = 1ull << (i + PM_FIRST_OCTAVE);
        ok = take_bins(telling, now->octaves[i], &before->octaves[i], PM_OCTAVE_BINS, low,
                       low / PM_OCTAVE_BINS, arena);
    }
    ok = ok && take_distances(telling, now, before, arena);
    tell(telling, 0, 0, telling->n_both, 0);
    return ok;
}

bool pm_reuse_take_rises(const struct pm_reuse *reuse, struct pm_reuse_rises **rises,
                         void (*tell_rise)(void *context, const struct pm_reuse_rise *rise),
                         void *context) {
    if (!*rises && !(*rises = pm_mmap(sizeof **rises)))
        return false;
    struct pm_reuse_rises *r = *rises;
    if (r->n_groups < reuse->n_groups) {
        if (!pm_mgrow(&r->before, r->n_groups * sizeof *r->before,
                      reuse->n_groups * sizeof *r->before))
            return false;
        r->n_groups = reuse->n_groups;
    }
    struct telling telling = {.tell = tell_rise, .context = context};
    bool ok = true;
    for (uint32_t g = 0; ok && g < reuse->n_groups; g++) {
        telling.group = g;
        ok = take_group(&telling, &reuse->histograms[g], &r->before[g], &r->arena);
    }
    return ok;
}

void pm_reuse_rises_free(struct pm_reuse_rises *rises) {
    if (!rises)
        return;
    for (uint32_t g = 0; g < rises->n_groups; g++)
        if (rises->before[g].distances)
            pm_touch_histogram_free(&rises->before[g]);
    pm_arena_free(&rises->arena.arena);
    pm_munmap(rises->before, rises->n_groups * sizeof *rises->before);
    pm_munmap(rises, sizeof *rises);
}
