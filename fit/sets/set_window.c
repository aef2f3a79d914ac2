/* The blocks that a window of accesses touches, enumerated from the walks of its references.

   A reference that is executed E times in the window walks E elements from its start on.  Where
   a window begins differs from one to the next: by multiples of the strides of the levels that it
   does not span as a whole.  Walks that have these strides in common move together, so that their
   places relative to each other are known: they are a cluster. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/heuristics.h"
#include "fit/sets/private.h"

/* Of a reference in a window: with fewer, most windows have none of it. */
static const double least_executions = 0.5;

enum { MOST_RANGES = 1 << 22 }; /* of one cluster; a larger one counts as spread evenly */

struct enumeration {
    const struct pm_walk *walk;
    struct pm_window_cluster *cluster;
    int64_t block_bytes;
    int block_bits; /* its logarithm; -1: it has none */
};

/* Windows have up to millions of ranges: with divisions their blocks took a third of all time. */
static int64_t block_of(const struct enumeration *e, int64_t address) {
    return e->block_bits >= 0 && address >= 0 ? address >> e->block_bits : address / e->block_bytes;
}

static void add_range(const struct enumeration *e, int64_t from, int64_t to) {
    struct pm_window_cluster *cluster = e->cluster;
    int64_t first = block_of(e, from), last = block_of(e, to);
    if (cluster->n_ranges) {
        struct pm_block_range *before = &cluster->ranges[cluster->n_ranges - 1];
        if (before->group == e->walk->group && first >= before->first &&
            first <= before->last + 1) {
            before->last = last > before->last ? last : before->last;
            return;
        }
    }
    if (cluster->n_ranges < MOST_RANGES)
        *PM_PUSH(cluster, ranges) = (struct pm_block_range){first, last, e->walk->group};
}

/* Takes the ranges from END on away if they are those from BEGIN to END once more: the next column
   of a table is in the blocks of the one before. */
static void drop_if_again(struct pm_window_cluster *cluster, size_t begin, size_t end) {
    size_t n = cluster->n_ranges - end;
    if (end - begin != n)
        return;
    const struct pm_block_range *old = cluster->ranges + begin, *new = cluster->ranges + end;
    for (size_t i = 0; i < n; i++)
        if (old[i].first != new[i].first || old[i].last != new[i].last ||
            old[i].group != new[i].group)
            return;
    cluster->n_ranges = end;
}

/* The first EXECUTIONS elements of the walk's levels below LEVEL, from address BASE on. */
static void enumerate(const struct enumeration *e, uint32_t level, int64_t base,
                      uint64_t executions) {
    const struct pm_walk *walk = e->walk;
    if (!level) {
        add_range(e, base, base + walk->size_bytes - 1);
        return;
    }
    const int64_t stride = walk->levels[level - 1].stride_bytes;
    uint64_t below = 1;
    for (uint32_t l = 0; l + 1 < level; l++)
        below *= walk->levels[l].count;
    uint64_t whole = executions / below, rest = executions % below;
    if (level == 1 && llabs(stride) <= e->block_bytes) { /* no block is stepped over */
        int64_t span = stride * (int64_t)(executions - 1);
        add_range(e, base + (span < 0 ? span : 0),
                  base + (span > 0 ? span : 0) + walk->size_bytes - 1);
        return;
    }
    if (!stride) { /* the same places again */
        enumerate(e, level - 1, base, whole ? below : rest);
        return;
    }
    if (level == 1) { /* as below, but add_range has joined what is the same again */
        for (uint64_t i = 0; i < whole && e->cluster->n_ranges < MOST_RANGES; i++)
            add_range(e, base + (int64_t)i * stride,
                      base + (int64_t)i * stride + walk->size_bytes - 1);
        return;
    }
    size_t begin = e->cluster->n_ranges; /* of the ranges that the iteration before added */
    for (uint64_t i = 0; i < whole && e->cluster->n_ranges < MOST_RANGES; i++) {
        size_t end = e->cluster->n_ranges;
        enumerate(e, level - 1, base + (int64_t)i * stride, below);
        drop_if_again(e->cluster, begin, end);
        begin = e->cluster->n_ranges > end ? end : begin;
    }
    if (rest)
        enumerate(e, level - 1, base + (int64_t)whole * stride, rest);
}

/* How many levels EXECUTIONS elements need, the last of which they may not span as a whole. */
static uint32_t levels_of(const struct pm_walk *walk, uint64_t executions) {
    uint32_t level = 0;
    for (uint64_t spanned = 1; level < walk->n_levels && spanned < executions; level++)
        spanned *= walk->levels[level].count;
    return level;
}

/* The largest room that is there; none: an empty one. */
static struct pm_range_room take_room(struct pm_window *window) {
    size_t largest = 0;
    if (!window->n_rooms)
        return (struct pm_range_room){0};
    for (size_t i = 1; i < window->n_rooms; i++)
        if (window->rooms[i].n > window->rooms[largest].n)
            largest = i;
    struct pm_range_room room = window->rooms[largest];
    window->rooms[largest] = window->rooms[--window->n_rooms];
    return room;
}

static void put_room(struct pm_window *window, struct pm_block_range *ranges, size_t n) {
    if (ranges)
        *PM_PUSH(window, rooms) = (struct pm_range_room){ranges, n};
}

/* Makes the window empty, and keeps its memory. */
static void empty(struct pm_window *window) {
    for (size_t c = 0; c < window->n_clusters; c++) {
        struct pm_window_cluster *cluster = &window->clusters[c];
        put_room(window, cluster->ranges, cluster->cap_ranges);
        free(cluster->groups);
    }
    window->n_clusters = 0;
    window->blocks = 0;
}

static struct pm_window_cluster *cluster_of(struct pm_window *window, const struct pm_walk *walk,
                                            uint32_t level) {
    int64_t strides[PM_MOST_STRIDE_LEVELS] = {0};
    uint32_t n = 0;
    for (level -= level > 0; level < walk->n_levels; level++)
        strides[n++] = walk->levels[level].stride_bytes;
    for (size_t c = 0; c < window->n_clusters; c++) {
        struct pm_window_cluster *cluster = &window->clusters[c];
        if (cluster->space == walk->space && cluster->n_strides == n &&
            !memcmp(cluster->strides, strides, n * sizeof *strides))
            return cluster;
    }
    struct pm_window_cluster *cluster = PM_PUSH(window, clusters);
    struct pm_range_room room = take_room(window);
    *cluster = (struct pm_window_cluster){.ranges = room.ranges, .cap_ranges = room.n};
    cluster->n_strides = n;
    cluster->space = walk->space;
    cluster->page_known = walk->page_known;
    memcpy(cluster->strides, strides, n * sizeof *strides);
    return cluster;
}

static int compare_ranges(const void *left, const void *right) {
    return PM_COMPARE(((const struct pm_block_range *)left)->first,
                      ((const struct pm_block_range *)right)->first);
}

/* Sorts them by their first blocks: by digits, since windows have up to millions of ranges, and
   qsort took three quarters of all time. */
static void sort_ranges(struct pm_window *window, struct pm_window_cluster *cluster) {
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
    struct pm_range_room room = take_room(window);
    if (room.n < n)
        room = (struct pm_range_room){
            pm_realloc(room.ranges, cluster->cap_ranges, sizeof *room.ranges), cluster->cap_ranges};
    struct pm_block_range *from = cluster->ranges, *to = room.ranges;
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
    if (from != cluster->ranges) {
        size_t n_before = cluster->cap_ranges;
        cluster->cap_ranges = room.n;
        room.n = n_before;
    }
    cluster->ranges = from;
    put_room(window, to, room.n);
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

void pm_window_make(const struct pm_rated_walk *walks, size_t n, double accesses,
                    uint64_t block_bytes, struct pm_window *window) {
    int block_bits = block_bytes & (block_bytes - 1) ? -1 : __builtin_ctzll(block_bytes);
    empty(window);
    for (size_t i = 0; i < n; i++) {
        double expected = accesses * walks[i].rate;
        if (expected < least_executions)
            continue;
        uint64_t executions = (uint64_t)fmax(1, ceil(expected - 1e-9));
        uint32_t levels = levels_of(walks[i].walk, executions);
        struct pm_window_cluster *cluster = cluster_of(window, walks[i].walk, levels);
        struct enumeration e = {walks[i].walk, cluster, (int64_t)block_bytes, block_bits};
        if (!cluster->n_groups || cluster->groups[cluster->n_groups - 1] != walks[i].walk->group)
            *PM_PUSH(cluster, groups) = walks[i].walk->group;
        enumerate(&e, levels, walks[i].walk->start, executions);
    }
    for (size_t c = 0; c < window->n_clusters; c++) {
        struct pm_window_cluster *cluster = &window->clusters[c];
        sort_ranges(window, cluster);
        cluster->blocks = distinct_blocks(cluster);
        window->blocks += cluster->blocks;
    }
}

void pm_window_free(struct pm_window *window) {
    empty(window);
    for (size_t i = 0; i < window->n_rooms; i++)
        free(window->rooms[i].ranges);
    free(window->rooms);
    free(window->clusters);
    *window = (struct pm_window){0};
}
