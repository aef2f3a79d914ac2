/* The blocks that a window of accesses touches, enumerated from the walks of its references.

   A reference that is executed E times in the window walks E elements from its start on.  Where
   a window begins differs from one to the next: by multiples of the strides of the levels that it
   does not span as a whole.  Walks that have these strides in common move together, so that their
   places relative to each other are known: they are a cluster.

   Of a cluster of many runs slices of memory are looked at, so few that the effort has a bound
   whatever the size.  They are a prime number of their own length apart, which divides none of the
   strides, so that no walk stays in them or out of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/sets/private.h"

/* Of a reference in a window: with fewer, most windows have none of it. */
static const double least_executions = 0.5;

enum {
    MOST_RUNS = 2048,      /* of all clusters, and … */
    MOST_RUNS_OF_BOX = 16, /* … for each box: more are thinned */
    LEAST_SLICES = 48,     /* that a box reaches over: of fewer its ends decide */
    MOST_APART = 1000003,  /* slices: windows of more are beyond all caches, and … */
    MOST_RANGES = 1 << 20, /* … have so many ranges at the most */
};
static const double MOST_EXECUTIONS = 0x1p62;

/* ---- walks ----------------------------------------------------------------------------------- */

/* A box of a walk in the window that is made. */
struct placed_box {
    struct pm_box box;
    size_t cluster;
    uint32_t group;
};

struct pm_window_walks {
    PM_ARRAY(struct pm_rated_walk, rated);
    struct pm_walk *walks;
    uint64_t block_bytes, granule;
    PM_ARRAY(struct placed_box, boxes);
    struct pm_block_range *room; /* to sort */
    size_t n_room;
    uint32_t *slots; /* [hash]: the number of a cluster of the window that is made + 1; 0: none */
    size_t n_slots;  /* a power of two, more than twice the walks */
};

static int compare_levels(const struct pm_walk *a, const struct pm_walk *b) {
    if (a->n_levels != b->n_levels)
        return PM_COMPARE(a->n_levels, b->n_levels);
    for (uint32_t l = 0; l < a->n_levels; l++) {
        const struct pm_walk_level *of = &a->levels[l], *with = &b->levels[l];
        if (of->stride_bytes != with->stride_bytes)
            return PM_COMPARE(of->stride_bytes, with->stride_bytes);
        if (of->count != with->count)
            return PM_COMPARE(of->count, with->count);
    }
    return 0;
}

/* By what must be the same in walks that are one. */
static int compare_kinds(const struct pm_rated_walk *a, const struct pm_rated_walk *b) {
    if (a->walk->group != b->walk->group)
        return PM_COMPARE(a->walk->group, b->walk->group);
    if (a->walk->space != b->walk->space)
        return PM_COMPARE(a->walk->space, b->walk->space);
    if (a->rate != b->rate)
        return PM_COMPARE(a->rate, b->rate);
    return compare_levels(a->walk, b->walk);
}

static int compare_walks(const void *left, const void *right) {
    const struct pm_rated_walk *a = left, *b = right;
    int kinds = compare_kinds(a, b);
    if (kinds || a->walk->start == b->walk->start)
        return kinds ? kinds : PM_COMPARE(a->walk->size_bytes, b->walk->size_bytes);
    return PM_COMPARE(a->walk->start, b->walk->start);
}

/* Fields of one element that leave no block between them out are one walk. */
static bool joins(const struct pm_rated_walk *a, const struct pm_rated_walk *b,
                  uint64_t block_bytes) {
    return !compare_kinds(a, b) && a->walk->page_known == b->walk->page_known &&
           b->walk->start - a->walk->start < a->walk->size_bytes + (int64_t)block_bytes;
}

struct pm_window_walks *pm_window_walks_new(const struct pm_rated_walk *rated, size_t n,
                                            uint64_t block_bytes, uint64_t granule) {
    struct pm_window_walks *walks = pm_alloc(1, sizeof *walks);
    struct pm_rated_walk *sorted = pm_alloc(n, sizeof *sorted);
    *walks = (struct pm_window_walks){
        .block_bytes = block_bytes, .granule = granule, .walks = pm_alloc(n, sizeof *walks->walks)};
    memcpy(sorted, rated, n * sizeof *sorted);
    PM_SORT(sorted, n, compare_walks);
    for (size_t i = 0; i < n; i++) {
        struct pm_rated_walk *last = walks->n_rated ? &walks->rated[walks->n_rated - 1] : NULL;
        if (last && joins(last, &sorted[i], block_bytes)) {
            struct pm_walk *one = &walks->walks[walks->n_rated - 1];
            int64_t end = sorted[i].walk->start + sorted[i].walk->size_bytes;
            one->size_bytes =
                end - one->start > one->size_bytes ? end - one->start : one->size_bytes;
            continue;
        }
        struct pm_walk *one = &walks->walks[walks->n_rated];
        *one = *sorted[i].walk;
        *PM_PUSH(walks, rated) = (struct pm_rated_walk){one, sorted[i].rate};
    }
    free(sorted);
    for (walks->n_slots = 4; walks->n_slots <= 2 * walks->n_rated;)
        walks->n_slots *= 2;
    walks->slots = pm_alloc(walks->n_slots, sizeof *walks->slots);
    return walks;
}

void pm_window_walks_free(struct pm_window_walks *walks) {
    if (!walks)
        return;
    free(walks->rated);
    free(walks->walks);
    free(walks->boxes);
    free(walks->room);
    free(walks->slots);
    free(walks);
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* The strides by which windows move that need LEVELS levels of WALK; how many. */
static uint32_t moving_strides(const struct pm_walk *walk, uint32_t levels, int64_t *strides) {
    uint32_t n = 0;
    for (levels -= levels > 0; levels < walk->n_levels; levels++)
        strides[n++] = walk->levels[levels].stride_bytes;
    return n;
}

static uint64_t hash_of_kind(const struct pm_walk *walk, const int64_t *strides, uint32_t n) {
    uint64_t hash = walk->space;
    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ (uint64_t)strides[i]) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static struct pm_window_cluster *add_cluster(struct pm_window *window) {
    struct pm_window_cluster old = {0}; /* whose memory it takes */
    if (window->n_clusters < window->n_made)
        old = window->clusters[window->n_clusters];
    struct pm_window_cluster *cluster = PM_PUSH(window, clusters);
    window->n_made = window->n_made > window->n_clusters ? window->n_made : window->n_clusters;
    *cluster = (struct pm_window_cluster){.ranges = old.ranges,
                                          .cap_ranges = old.cap_ranges,
                                          .groups = old.groups,
                                          .cap_groups = old.cap_groups};
    return cluster;
}

/* The number of the cluster of WALK in a window that needs LEVELS of its levels. */
static size_t cluster_of(struct pm_window_walks *walks, struct pm_window *window,
                         const struct pm_walk *walk, uint32_t levels) {
    int64_t strides[PM_MOST_STRIDE_LEVELS] = {0};
    const uint32_t n = moving_strides(walk, levels, strides);
    size_t at = hash_of_kind(walk, strides, n) & (walks->n_slots - 1);
    for (; walks->slots[at]; at = (at + 1) & (walks->n_slots - 1)) {
        const struct pm_window_cluster *cluster = &window->clusters[walks->slots[at] - 1];
        if (cluster->space == walk->space && cluster->n_strides == n &&
            !memcmp(cluster->strides, strides, n * sizeof *strides))
            return walks->slots[at] - 1;
    }
    struct pm_window_cluster *cluster = add_cluster(window);
    cluster->n_strides = n;
    cluster->space = walk->space;
    cluster->page_known = walk->page_known;
    memcpy(cluster->strides, strides, n * sizeof *strides);
    walks->slots[at] = (uint32_t)window->n_clusters;
    return window->n_clusters - 1;
}

/* What the boxes of a cluster come to. */
struct effort {
    double runs, granules; /* granules: that the runs cover, each on its own */
    double longest;        /* granules from one end of a box to the other */
};

static void add_box(struct effort *effort, const struct pm_box *box, uint64_t granule) {
    double runs = pm_box_runs(box), bytes = (double)box->run_bytes;
    effort->runs += runs;
    effort->granules += runs * bytes / (double)granule;
    for (uint32_t d = 0; d < box->n; d++)
        bytes += (double)box->dimensions[d].stride_bytes * (double)(box->dimensions[d].count - 1);
    effort->longest = fmax(effort->longest, bytes / (double)granule);
}

static bool is_prime(uint64_t n) {
    for (uint64_t d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return false;
    return n % 2 != 0;
}

/* Does every walk of cluster C step through all slices that are N granules apart? */
static bool steps_through(const struct pm_window_walks *walks, size_t c, uint64_t n) {
    for (size_t i = 0; i < walks->n_boxes; i++) {
        const struct pm_box *box = &walks->boxes[i].box;
        for (uint32_t d = 0; walks->boxes[i].cluster == c && d < box->n; d++)
            if ((uint64_t)box->dimensions[d].stride_bytes % n == 0)
                return false;
    }
    return true;
}

/* How many granules the slices of cluster C are apart, WANTED or a few more; fewer where its boxes
   do not reach as far. */
static uint64_t thinning_of(const struct pm_window_walks *walks, size_t c, double wanted,
                            const struct effort *effort) {
    wanted = fmin(wanted, effort->longest / LEAST_SLICES);
    if (wanted <= 1)
        return 1;
    uint64_t n = wanted < MOST_APART ? (uint64_t)fmax(3, ceil(wanted)) | 1 : MOST_APART;
    while (n < MOST_APART && !(is_prime(n) && steps_through(walks, c, n)))
        n += 2;
    return n;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

struct enumeration {
    struct pm_window_cluster *cluster;
    int64_t block_bytes;
    uint32_t group;
};

static int64_t block_of(int64_t address, int64_t block_bytes) {
    return (address >= 0 ? address : address - block_bytes + 1) / block_bytes;
}

static bool add_range(void *context, int64_t from, int64_t to) {
    const struct enumeration *e = context;
    struct pm_window_cluster *cluster = e->cluster;
    int64_t first = block_of(from, e->block_bytes), last = block_of(to, e->block_bytes);
    if (cluster->n_ranges) {
        struct pm_block_range *before = &cluster->ranges[cluster->n_ranges - 1];
        if (before->group == e->group && first >= before->first && first <= before->last + 1) {
            before->last = last > before->last ? last : before->last;
            return true;
        }
    }
    *PM_PUSH(cluster, ranges) = (struct pm_block_range){first, last, e->group};
    return cluster->n_ranges < MOST_RANGES;
}

static int compare_ranges(const void *left, const void *right) {
    return PM_COMPARE(((const struct pm_block_range *)left)->first,
                      ((const struct pm_block_range *)right)->first);
}

static struct pm_block_range *room_for(struct pm_window_walks *walks, size_t n) {
    if (walks->n_room < n) {
        walks->room = pm_realloc(walks->room, 2 * n, sizeof *walks->room);
        walks->n_room = 2 * n;
    }
    return walks->room;
}

/* Sorts them by their first blocks: by digits, since qsort took three quarters of all time. */
static void sort_ranges(struct pm_window_walks *walks, struct pm_window_cluster *cluster) {
    enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, FEW = 512 };
    const size_t n = cluster->n_ranges;
    int64_t lowest = INT64_MAX, highest = INT64_MIN;
    bool ascending = true;
    for (size_t i = 0; i < n; i++) {
        int64_t first = cluster->ranges[i].first;
        ascending &= first >= highest;
        lowest = first < lowest ? first : lowest;
        highest = first > highest ? first : highest;
    }
    if (ascending)
        return;
    if (n < FEW) {
        qsort(cluster->ranges, n, sizeof *cluster->ranges, compare_ranges);
        return;
    }
    struct pm_block_range *from = cluster->ranges, *to = room_for(walks, n);
    for (unsigned shift = 0; shift < 64 && (uint64_t)(highest - lowest) >> shift;
         shift += DIGIT_BITS) {
        size_t places[DIGITS] = {0}, place = 0;
        for (size_t i = 0; i < n; i++)
            places[(uint64_t)(from[i].first - lowest) >> shift & (DIGITS - 1)]++;
        for (size_t d = 0; d < DIGITS; d++) {
            size_t count = places[d];
            places[d] = place;
            place += count;
        }
        for (size_t i = 0; i < n; i++)
            to[places[(uint64_t)(from[i].first - lowest) >> shift & (DIGITS - 1)]++] = from[i];
        struct pm_block_range *swap = from;
        from = to;
        to = swap;
    }
    if (from != cluster->ranges)
        memcpy(cluster->ranges, from, n * sizeof *from);
}

static double distinct_blocks(const struct pm_window_cluster *cluster) {
    double blocks = 0;
    int64_t next = INT64_MIN;
    for (size_t i = 0; i < cluster->n_ranges; i++) {
        const struct pm_block_range *range = &cluster->ranges[i];
        int64_t from = range->first > next ? range->first : next;
        if (range->last >= from) {
            blocks += (double)(range->last - from + 1);
            next = range->last + 1;
        }
    }
    return blocks;
}

/* ---- a window -------------------------------------------------------------------------------- */

static void place_boxes(struct pm_window_walks *walks, double accesses, struct pm_window *window) {
    walks->n_boxes = 0;
    memset(walks->slots, 0, walks->n_slots * sizeof *walks->slots);
    for (size_t i = 0; i < walks->n_rated; i++) {
        const struct pm_walk *walk = walks->rated[i].walk;
        double expected = accesses * walks->rated[i].rate;
        if (expected < least_executions)
            continue;
        uint64_t executions = (uint64_t)fmin(MOST_EXECUTIONS, fmax(1, ceil(expected - 1e-9)));
        struct pm_box boxes[PM_MOST_STRIDE_LEVELS + 1];
        uint32_t n = pm_walk_boxes(walk, executions, walks->block_bytes, boxes);
        size_t c = cluster_of(walks, window, walk, pm_walk_levels_of(walk, executions));
        struct pm_window_cluster *cluster = &window->clusters[c];
        if (!cluster->n_groups || cluster->groups[cluster->n_groups - 1] != walk->group)
            *PM_PUSH(cluster, groups) = walk->group;
        for (uint32_t b = 0; b < n; b++)
            *PM_PUSH(walks, boxes) = (struct placed_box){boxes[b], c, walk->group};
    }
}

void pm_window_make(struct pm_window_walks *walks, double accesses, struct pm_window *window) {
    double runs = 0, granules = 0;
    window->n_clusters = 0;
    window->blocks = 0;
    place_boxes(walks, accesses, window);
    struct effort *efforts = pm_alloc(window->n_clusters, sizeof *efforts);
    struct pm_slices *slices = pm_alloc(window->n_clusters, sizeof *slices);
    for (size_t i = 0; i < walks->n_boxes; i++)
        add_box(&efforts[walks->boxes[i].cluster], &walks->boxes[i].box, walks->granule);
    for (size_t c = 0; c < window->n_clusters; c++) {
        runs += efforts[c].runs;
        granules += efforts[c].granules;
    }
    const double most = MOST_RUNS + MOST_RUNS_OF_BOX * (double)walks->n_boxes;
    const double wanted = runs > most ? (runs + granules) / most : 1;
    for (size_t c = 0; c < window->n_clusters; c++) {
        uint64_t thinning = thinning_of(walks, c, wanted, &efforts[c]);
        int64_t width = (int64_t)walks->granule;
        slices[c] = (struct pm_slices){.first = width * (int64_t)(thinning / 3),
                                       .width = width,
                                       .apart = width * (int64_t)thinning};
        window->clusters[c].weight = (double)thinning;
    }
    for (size_t i = 0; i < walks->n_boxes; i++) {
        const struct placed_box *placed = &walks->boxes[i];
        struct enumeration e = {&window->clusters[placed->cluster], (int64_t)walks->block_bytes,
                                placed->group};
        pm_box_visit(&placed->box, &slices[placed->cluster], add_range, &e);
    }
    for (size_t c = 0; c < window->n_clusters; c++) {
        struct pm_window_cluster *cluster = &window->clusters[c];
        sort_ranges(walks, cluster);
        cluster->blocks = distinct_blocks(cluster) * cluster->weight;
        window->blocks += cluster->blocks;
    }
    free(efforts);
    free(slices);
}

void pm_window_free(struct pm_window *window) {
    for (size_t i = 0; i < window->n_made; i++) {
        free(window->clusters[i].ranges);
        free(window->clusters[i].groups);
    }
    free(window->clusters);
    *window = (struct pm_window){0};
}
