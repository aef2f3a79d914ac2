/* The reuses whose misses hang on the sets: who carries them, and how many blocks of others are in
   the set when they come.  For each carrier from short to long, so that one window serves all of
   about one length. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/sets/private.h"

/* Times a cache's blocks: reuses with more between miss in any set. */
static const double longest_reuse = 4.0;
/* Of a reuse: times with a smaller share are left out. */
static const double least_time = 0.01;
/* Of the reuses that sets may decide, by weight: the rest are as in one set. */
static const double sets_kept = 0.999;
/* Blocks between: caches of that many ways and more share windows, of what is touched from so far.
 */
static const double most_far = 8.0;
/* Of the touches from afar in a scope, the walks that have the most: the rest are even. */
static const double walks_kept = 0.999;

enum {
    PARTS_OF_CELL = 2,    /* distances that are told apart in one */
    MOST_WORK = 10000000, /* walks, sets and numbers of a cache that are looked at: some seconds */
};

static int compare_reuses(const void *left, const void *right) {
    const struct pm_carried_reuses *a = left, *b = right;
    if (a->scope != b->scope)
        return PM_COMPARE(a->scope, b->scope);
    if (a->cell != b->cell)
        return PM_COMPARE(a->cell, b->cell);
    return PM_COMPARE(a->histogram, b->histogram);
}

static const double LEAST_P = 1e-9; /* smaller probabilities are rounding, or as good as it */

/* How much sets may change the misses of ACCESSES at DISTANCE, in a cache of BLOCKS. */
static double weight_of(double accesses, double distance, double blocks) {
    return accesses * fmin(1, distance / blocks);
}

/* Distances whose misses may hang on the sets of CACHE, from the first one to before the other. */
struct doubtful {
    double from, to;
};

static struct doubtful doubtful_distances(const struct pm_ruled_cache *cache) {
    /* In a single set the code may be nearly all that is between. */
    return (struct doubtful){
        cache->unified && cache->n_sets == 1 ? 1 : pm_rule_least_distance(cache->rule),
        longest_reuse * cache->blocks};
}

/* Of reuses in one cell: with less, all of them together may be left out. */
static double least_weight(const struct pm_histograms_of *of, const struct pm_ruled_cache *cache) {
    const struct doubtful doubtful = doubtful_distances(cache);
    double sum = 0, n = 0;
    for (size_t h = 0; h < of->n; h++)
        for (size_t i = 0; i < of->cells[h].n_cells; i++) {
            const struct pm_distance_cell *cell = &of->cells[h].cells[i];
            if (cell->distance < doubtful.from || cell->distance >= doubtful.to)
                continue;
            sum += weight_of(cell->accesses, cell->distance, cache->blocks);
            n++;
        }
    return n > 0 ? (1 - sets_kept) * sum / n : 0;
}

/* What is done with the reuses of a histogram whose misses hang on the sets. */
struct listing {
    const struct pm_sets *sets;
    const struct pm_histograms_of *of;
    size_t number; /* of the first histogram of OF */
    const struct pm_ruled_cache *cache;
    struct doubtful doubtful;
    double least;                  /* of cells: with less, all are as in one set */
    struct pm_carried_parts parts; /* memory that all histograms share */
    struct pm_reuse_list *list;
    size_t most;               /* that are listed */
    double sum;                /* of the weights of all … */
    PM_ARRAY(double, weights); /* … and the MOST largest of them, or up to twice as many */
    double least_of_most;      /* of those that were the largest; 0: all are still there */
    double least_kept;         /* weight of reuses that are listed; the others are as in one set */
};

static bool is_looked_at(const struct listing *listing, const struct pm_distance_cell *cell) {
    return cell->distance >= listing->doubtful.from && cell->distance < listing->doubtful.to &&
           weight_of(cell->accesses, cell->distance, listing->cache->blocks) >= listing->least;
}

static size_t place_of(const struct pm_sets *sets, const struct pm_distance_cell *cell) {
    return cell->cell < sets->n_cells ? cell->cell : sets->n_cells - 1;
}

/* Who carries the reuses of histogram H in CELL, as listing->parts. */
static void find_parts(struct listing *listing, size_t h, const struct pm_distance_cell *cell) {
    const struct pm_sets *sets = listing->sets;
    const uint32_t group = listing->of->histograms[h].group;
    listing->parts.n_parts = 0;
    pm_carriers_find(sets->carriers, sets->structure->groups[group].scope, place_of(sets, cell),
                     &listing->parts);
}

static int compare_downwards(const void *left, const void *right) {
    return PM_COMPARE(*(const double *)right, *(const double *)left);
}

static void add_weight(struct listing *listing, double weight) {
    listing->sum += weight;
    if (weight <= listing->least_of_most)
        return;
    *PM_PUSH(listing, weights) = weight;
    if (listing->n_weights != 2 * listing->most)
        return;
    PM_SORT(listing->weights, listing->n_weights, compare_downwards);
    listing->n_weights = listing->most;
    listing->least_of_most = listing->weights[listing->most - 1];
}

/* The least weight of the reuses that weigh most, which make up nearly all: a program with
   thousands of routines has most of those that weigh less. */
static double least_kept(struct listing *listing) {
    double so_far = 0, least = 0;
    PM_SORT(listing->weights, listing->n_weights, compare_downwards);
    for (size_t i = 0; i < listing->n_weights && i < listing->most; i++) {
        if (so_far >= sets_kept * listing->sum)
            break;
        least = listing->weights[i];
        so_far += least;
    }
    return least;
}

/* Weighs the reuses of histogram H whose misses hang on the sets; the others' misses are counted.
 */
static void weigh_reuses(struct listing *listing, size_t h) {
    const struct pm_distance_cells *cells = &listing->of->cells[h];
    const double blocks = listing->cache->blocks;
    double *misses = &listing->list->misses[listing->number + h];
    *misses = cells->always_missing;
    for (size_t i = 0; i < cells->n_cells; i++) {
        const struct pm_distance_cell *cell = &cells->cells[i];
        if (!is_looked_at(listing, cell)) {
            *misses += cell->distance >= listing->doubtful.from && cell->distance >= blocks
                           ? cell->accesses
                           : 0;
            continue;
        }
        find_parts(listing, h, cell);
        for (size_t p = 0; p < listing->parts.n_parts; p++)
            add_weight(listing, weight_of(cell->accesses * listing->parts.parts[p].share,
                                          cell->distance, blocks));
    }
}

/* Lists those of histogram H that weigh enough; of the others misses are counted. */
static void list_reuses(struct listing *listing, size_t h) {
    const struct pm_distance_cells *cells = &listing->of->cells[h];
    const double blocks = listing->cache->blocks;
    struct pm_reuse_list *list = listing->list;
    for (size_t i = 0; i < cells->n_cells; i++) {
        const struct pm_distance_cell *cell = &cells->cells[i];
        if (!is_looked_at(listing, cell))
            continue;
        find_parts(listing, h, cell);
        for (size_t p = 0; p < listing->parts.n_parts; p++) {
            const struct pm_carried_part *part = &listing->parts.parts[p];
            const double accesses = cell->accesses * part->share;
            if (weight_of(accesses, cell->distance, blocks) >= listing->least_kept)
                *PM_PUSH(list, reuses) =
                    (struct pm_carried_reuses){.scope = part->scope,
                                               .cell = (uint32_t)place_of(listing->sets, cell),
                                               .group = listing->of->histograms[h].group,
                                               .histogram = listing->number + h,
                                               .accesses = accesses,
                                               .distance = cell->distance};
            else if (cell->distance >= blocks)
                list->misses[listing->number + h] += accesses;
        }
    }
}

struct rated_walks {
    PM_ARRAY(struct pm_rated_walk, walks);
};

/* Touches of blocks after FAR others or more. */
static double touches_from_afar(const struct pm_distance_cells *cells, double far) {
    double touches = cells->always_missing;
    for (size_t i = 0; i < cells->n_cells; i++)
        touches += cells->cells[i].distance >= far ? cells->cells[i].accesses : 0;
    return touches;
}

struct weighed_group {
    uint32_t group;
    double touches;
};

static int compare_weights(const void *left, const void *right) {
    const struct weighed_group *a = left, *b = right;
    return a->touches != b->touches ? PM_COMPARE(b->touches, a->touches)
                                    : PM_COMPARE(a->group, b->group);
}

/* For each group whether its walks are of those that have most touches from afar in CARRIER; the
   caller frees. */
static bool *groups_kept(const struct pm_sets *sets, const struct pm_carrier *carrier, double far) {
    const struct pm_structure *structure = sets->structure;
    bool *kept = pm_alloc(structure->n_groups, sizeof *kept);
    struct weighed_group *groups = pm_alloc(structure->n_groups, sizeof *groups);
    double sum = 0, so_far = 0;
    size_t n = 0;
    for (uint32_t g = 0; g < structure->n_groups; g++) {
        double share = sets->walks.is_regular[g]
                           ? pm_carrier_share(sets->carriers, carrier, structure->groups[g].scope)
                           : 0;
        double touches = share > 0 ? share * touches_from_afar(&sets->groups[g], far) : 0;
        if (touches > 0)
            groups[n++] = (struct weighed_group){g, touches};
        sum += touches;
    }
    PM_SORT(groups, n, compare_weights);
    for (size_t i = 0; i < n && so_far < walks_kept * sum; i++) {
        kept[groups[i].group] = true;
        so_far += groups[i].touches;
    }
    free(groups);
    return kept;
}

static void rate_walks(const struct pm_sets *sets, const struct pm_carrier *carrier, double far,
                       struct rated_walks *rated) {
    bool *kept = groups_kept(sets, carrier, far);
    for (size_t w = 0; w < sets->walks.n_walks; w++) {
        const struct pm_walk *walk = &sets->walks.walks[w];
        uint32_t block = sets->structure->references[walk->reference].block;
        double share = kept[walk->group] ? pm_carrier_share(sets->carriers, carrier,
                                                            sets->structure->blocks[block].scope)
                                         : 0;
        if (share > 0)
            *PM_PUSH(rated, walks) = (struct pm_rated_walk){
                .walk = walk, .rate = share * walk->executions / carrier->accesses};
    }
    free(kept);
}

/* A reuse of one of the lists. */
struct listed_reuse {
    uint64_t granule; /* of windows, and … */
    double far;       /* … from where the touches are that are in them */
    const struct pm_carried_reuses *reuse;
    double distance; /* of which windows are looked at: nearly its own */
    bool is_regular;
    uint32_t list;
    size_t number;
};

/* A carrier at one of its times. */
struct view {
    const struct pm_walk_time *time;
    struct pm_window_walks *walks;
    struct pm_window_search *search;
    /* For the blocks that are looked at: */
    const struct pm_window *window;
    double accesses;
    struct pm_conflicts **conflicts; /* [list]; NULL: not made yet */
};

/* The reuses that one scope carries. */
struct carried {
    const struct pm_sets *sets;
    const struct pm_carrier *carrier;
    size_t n_lists;
    const struct pm_set_shape *shapes; /* [list] */
    double *code;                      /* [list]: blocks of it between */
    struct pm_walk_times times;
    struct view *views; /* [time] */
};

/* The code that CARRIER executes in about as many accesses as touch all of the cache. */
static double code_between(const struct pm_sets *sets, const struct pm_carrier *carrier,
                           const struct pm_ruled_cache *cache) {
    size_t full = pm_distance_n_cells(cache->blocks);
    double accesses = full < sets->n_cells ? carrier->window[full] : INFINITY;
    return cache->unified
               ? pm_carrier_code_blocks(sets->carriers, carrier, fmin(accesses, carrier->accesses),
                                        sets->block_bytes)
               : 0;
}

/* Slices of memory of this length have all sets of the cache alike. */
static uint64_t granule_of(const struct pm_sets *sets, const struct pm_ruled_cache *cache) {
    uint64_t bytes = (cache->random_pages ? 1 : cache->n_sets) * sets->block_bytes;
    return bytes / pm_greatest_divisor(bytes, PAGE_BYTES) * PAGE_BYTES;
}

static void views_make(struct carried *carried, uint64_t granule) {
    const struct pm_walk_times *times = &carried->times;
    carried->views = pm_alloc(times->n_times, sizeof *carried->views);
    for (size_t v = 0; v < times->n_times; v++) {
        const struct pm_walk_time *time = &times->times[v];
        struct view *view = &carried->views[v];
        view->time = time;
        view->walks =
            pm_window_walks_new(time->walks, time->n_walks, carried->sets->block_bytes, granule);
        view->search = pm_window_search_new(
            view->walks, fmin(carried->carrier->accesses, 2 * time->phase_accesses));
        view->conflicts = pm_alloc(carried->n_lists, sizeof *view->conflicts);
    }
}

static void forget_conflicts(const struct carried *carried, struct view *view) {
    for (size_t l = 0; l < carried->n_lists; l++) {
        pm_conflicts_free(view->conflicts[l]);
        view->conflicts[l] = NULL;
    }
}

/* The carrier of the first of REUSES. */
static void carried_make(const struct pm_sets *sets, const struct listed_reuse *reuses,
                         struct pm_reuse_list *const *lists, const struct pm_set_shape *shapes,
                         size_t n_lists, struct carried *carried) {
    struct rated_walks rated = {0};
    *carried = (struct carried){.sets = sets,
                                .carrier = pm_carrier_of(sets->carriers, reuses->reuse->scope),
                                .n_lists = n_lists,
                                .shapes = shapes,
                                .code = pm_alloc(n_lists, sizeof *carried->code)};
    for (size_t l = 0; l < n_lists; l++)
        carried->code[l] = code_between(sets, carried->carrier, &lists[l]->cache);
    rate_walks(sets, carried->carrier, reuses->far, &rated);
    pm_walk_times_make(&sets->walks, rated.walks, rated.n_walks, &carried->times);
    free(rated.walks);
    views_make(carried, reuses->granule);
}

static void carried_free(struct carried *carried) {
    for (size_t v = 0; v < carried->times.n_times; v++) {
        struct view *view = &carried->views[v];
        forget_conflicts(carried, view);
        free(view->conflicts);
        pm_window_search_free(view->search);
        pm_window_walks_free(view->walks);
    }
    free(carried->views);
    free(carried->code);
    pm_walk_times_free(&carried->times);
}

/* Blocks of regular walks between the reuses in CELL that are DISTANCE apart, RANDOM others. */
static double blocks_between(const struct carried *carried, uint32_t cell, double distance,
                             bool is_regular, double *random) {
    *random = fmin(distance, carried->carrier->random_blocks[cell]);
    /* With the block itself, where its walk is known. */
    return distance - *random + (is_regular ? 1 : 0);
}

/* SHARES [view]: of a reuse of GROUP: times that do not last as long count as the first one. */
static void share_out(const struct carried *carried, uint32_t group, size_t n, double *shares) {
    double usual = 0, sum = 0;
    for (size_t v = n; v-- > 0;) {
        const struct view *view = &carried->views[v];
        bool lasts = view->accesses <= view->time->phase_accesses;
        usual += lasts && v ? 0 : view->time->share;
        shares[v] = v == 0 ? usual : lasts ? view->time->share : 0;
        shares[v] *= n == 1 ? 1
                            : pm_walk_time_fits(view->time, group, view->accesses,
                                                carried->sets->block_bytes);
        sum += shares[v];
    }
    for (size_t v = 0; v < n; v++)
        shares[v] = sum > 0 ? shares[v] / sum : v == 0;
}

/* P[x]: as of pm_conflicts_count, of REUSE at all of its times, in the cache of list L. */
static void count_in_views(const struct carried *carried, size_t l,
                           const struct pm_carried_reuses *reuse, double *p) {
    const struct pm_set_shape *shape = &carried->shapes[l];
    const size_t n = pm_walk_times_of(&carried->times, reuse->group);
    double at_time[shape->most + 1], shares[n], sum = 0, random;
    double blocks = blocks_between(carried, reuse->cell, reuse->distance,
                                   carried->sets->walks.is_regular[reuse->group], &random);
    share_out(carried, reuse->group, n, shares);
    memset(p, 0, (shape->most + 1) * sizeof *p);
    for (size_t v = 0; v < n; v++) {
        struct view *view = &carried->views[v];
        if (shares[v] < least_time)
            continue;
        if (!view->conflicts[l])
            view->conflicts[l] = pm_conflicts_new(view->window, shape);
        double even = fmax(0, blocks - view->window->blocks) + carried->code[l];
        pm_conflicts_count(view->conflicts[l], reuse->group, random, even, at_time);
        sum += shares[v];
        for (uint32_t x = 0; x <= shape->most; x++)
            p[x] += shares[v] * at_time[x];
    }
    for (uint32_t x = 0; x <= shape->most; x++)
        p[x] = p[x] / sum < LEAST_P ? 0 : p[x] / sum;
}

/* Those that share windows are together, then those that share conflicts. */
static int compare_listed(const void *left, const void *right) {
    const struct listed_reuse *a = left, *b = right;
    if (a->granule != b->granule)
        return PM_COMPARE(a->granule, b->granule);
    if (a->far != b->far)
        return PM_COMPARE(a->far, b->far);
    if (a->reuse->scope != b->reuse->scope)
        return PM_COMPARE(a->reuse->scope, b->reuse->scope);
    if (a->reuse->cell != b->reuse->cell)
        return PM_COMPARE(a->reuse->cell, b->reuse->cell);
    if (a->distance != b->distance)
        return PM_COMPARE(a->distance, b->distance);
    if (a->is_regular != b->is_regular)
        return PM_COMPARE(a->is_regular, b->is_regular);
    if (a->list != b->list)
        return PM_COMPARE(a->list, b->list);
    if (a->reuse->group != b->reuse->group)
        return PM_COMPARE(a->reuse->group, b->reuse->group);
    return PM_COMPARE(a->number, b->number);
}

/* Whole blocks, or parts of a cell: what a reuse has more between counts as spread evenly. */
static double rounded_distance(const struct pm_carried_reuses *reuse) {
    double width = pm_distance_begin(reuse->cell + 1) - pm_distance_begin(reuse->cell);
    double unit = fmax(1, floor(width / PARTS_OF_CELL));
    return rint(reuse->distance / unit) * unit;
}

static bool shares_walks(const struct listed_reuse *a, const struct listed_reuse *b) {
    return a->granule == b->granule && a->far == b->far && a->reuse->scope == b->reuse->scope;
}

/* How many of the first of N reuses share windows: all are of one carrier. */
static size_t count_sharing(const struct listed_reuse *reuses, size_t n) {
    size_t same = 1;
    while (same < n && reuses[same].reuse->cell == reuses->reuse->cell &&
           reuses[same].distance == reuses->distance &&
           reuses[same].is_regular == reuses->is_regular)
        same++;
    return same;
}

/* Finds the windows of N reuses that share them, in as many views as one of them has times. */
static void find_windows(struct carried *carried, const struct listed_reuse *reuses, size_t n) {
    const uint32_t cell = reuses->reuse->cell;
    size_t n_views = 0;
    double random;
    for (size_t i = 0; i < n; i++) {
        size_t times = pm_walk_times_of(&carried->times, reuses[i].reuse->group);
        n_views = times > n_views ? times : n_views;
    }
    double blocks = blocks_between(carried, cell, reuses->distance, reuses->is_regular, &random);
    for (size_t v = 0; v < n_views; v++) {
        struct view *view = &carried->views[v];
        forget_conflicts(carried, view);
        view->window = pm_window_search_for(view->search, blocks, carried->carrier->window[cell],
                                            &view->accesses);
    }
}

/* Fills in what is between for the N reuses, which one scope carries. */
static void count_between(const struct pm_sets *sets, struct pm_reuse_list *const *lists,
                          const struct pm_set_shape *shapes, size_t n_lists,
                          const struct listed_reuse *reuses, size_t n) {
    struct carried carried;
    carried_make(sets, reuses, lists, shapes, n_lists, &carried);
    for (size_t i = 0, same = 0; i < n; i++) {
        const uint32_t l = reuses[i].list, most = carried.shapes[l].most;
        struct pm_carried_reuses *reuse = &lists[l]->reuses[reuses[i].number];
        double p[most + 1];
        float narrow[most + 1], *to = narrow;
        if (i == same) {
            same += count_sharing(&reuses[i], n - i);
            find_windows(&carried, &reuses[i], same - i);
        }
        count_in_views(&carried, l, reuse, p);
        if (lists[l]->counts)
            to = &lists[l]->counts[reuses[i].number * lists[l]->n_counts];
        for (uint32_t x = 0; x <= most; x++)
            to[x] = (float)p[x];
        reuse->code = carried.code[l];
        reuse->share = pm_rule_lru_share(lists[l]->cache.rule, &(struct pm_between){.p = to});
    }
    carried_free(&carried);
}

/* Adds those of a profile, whose histograms have numbers from NUMBER on.  Reuses are found twice,
   because those that are not listed would take ten times as much memory as the others. */
static void add_profile(const struct pm_sets *sets, const struct pm_histograms_of *of,
                        size_t number, const struct pm_ruled_cache *cache,
                        struct pm_reuse_list *list) {
    struct listing listing = {.sets = sets,
                              .of = of,
                              .number = number,
                              .cache = cache,
                              .doubtful = doubtful_distances(cache),
                              .least = least_weight(of, cache),
                              .list = list,
                              .most = MOST_WORK /
                                      (cache->n_sets + sets->walks.n_walks + list->n_counts)};
    for (size_t h = 0; h < of->n; h++)
        weigh_reuses(&listing, h);
    listing.least_kept = least_kept(&listing);
    free(listing.weights);
    for (size_t h = 0; h < of->n; h++)
        list_reuses(&listing, h);
    free(listing.parts.parts);
}

void pm_cells_of_make(const struct pm_sets *sets, struct pm_histograms_of *of) {
    of->cells = pm_alloc(of->n, sizeof *of->cells);
    for (size_t h = 0; h < of->n; h++)
        if (of->histograms[h].histogram.block_bytes == sets->block_bytes)
            pm_distance_cells_make(&of->histograms[h].histogram, &of->cells[h]);
}

void pm_cells_of_free(struct pm_histograms_of *of) {
    for (size_t h = 0; h < of->n; h++)
        free(of->cells[h].cells);
    free(of->cells);
    of->cells = NULL;
}

void pm_reuse_list_make(const struct pm_sets *sets, const struct pm_histograms_of *of, size_t n,
                        const struct pm_ruled_cache *cache, struct pm_reuse_list *list) {
    size_t n_histograms = 0;
    for (size_t i = 0; i < n; i++)
        n_histograms += of[i].n;
    *list = (struct pm_reuse_list){.cache = *cache,
                                   .n_counts = pm_rule_most(cache->rule) + 1,
                                   .n_histograms = n_histograms,
                                   .misses = pm_alloc(n_histograms, sizeof(double))};
    for (size_t i = 0, number = 0; i < n; number += of[i++].n)
        add_profile(sets, &of[i], number, cache, list);
    PM_SORT(list->reuses, list->n_reuses, compare_reuses);
    if (cache->n_sets > 1 && !pm_rule_is_lru(cache->rule))
        list->counts = pm_alloc(list->n_reuses * list->n_counts, sizeof *list->counts);
    for (size_t i = 0; cache->n_sets == 1 && i < list->n_reuses; i++) {
        struct pm_carried_reuses *reuse = &list->reuses[i];
        reuse->code = i && reuse[-1].scope == reuse->scope
                          ? reuse[-1].code
                          : code_between(sets, pm_carrier_of(sets->carriers, reuse->scope), cache);
        reuse->share = pm_rule_lru_share(
            cache->rule, &(struct pm_between){.exactly = reuse->distance + reuse->code});
    }
}

void pm_reuse_lists_count(const struct pm_sets *sets, struct pm_reuse_list *const *lists,
                          size_t n_lists) {
    struct {
        PM_ARRAY(struct listed_reuse, reuses);
        PM_ARRAY(size_t, scopes); /* where the reuses of one begin */
    } all = {0};
    struct pm_set_shape *shapes = pm_alloc(n_lists, sizeof *shapes);
    for (size_t l = 0; l < n_lists; l++)
        pm_set_shape_make(lists[l]->cache.n_sets, lists[l]->cache.random_pages,
                          pm_rule_most(lists[l]->cache.rule), sets->block_bytes, &shapes[l]);
    for (uint32_t l = 0; l < n_lists; l++)
        for (size_t i = 0; lists[l]->cache.n_sets > 1 && i < lists[l]->n_reuses; i++) {
            const struct pm_ruled_cache *cache = &lists[l]->cache;
            const struct pm_carried_reuses *reuse = &lists[l]->reuses[i];
            *PM_PUSH(&all, reuses) =
                (struct listed_reuse){.granule = granule_of(sets, cache),
                                      .far = fmin(most_far, pm_rule_least_distance(cache->rule)),
                                      .reuse = reuse,
                                      .distance = rounded_distance(reuse),
                                      .is_regular = sets->walks.is_regular[reuse->group],
                                      .list = l,
                                      .number = i};
        }
    PM_SORT(all.reuses, all.n_reuses, compare_listed);
    for (size_t i = 0; i < all.n_reuses; i++)
        if (!i || !shares_walks(&all.reuses[i - 1], &all.reuses[i]))
            *PM_PUSH(&all, scopes) = i;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t s = 0; s < all.n_scopes; s++) {
        size_t first = all.scopes[s], end = s + 1 < all.n_scopes ? all.scopes[s + 1] : all.n_reuses;
        count_between(sets, lists, shapes, n_lists, &all.reuses[first], end - first);
    }
    for (size_t l = 0; l < n_lists; l++)
        pm_set_shape_free(&shapes[l]);
    free(shapes);
    free(all.reuses);
    free(all.scopes);
}

void pm_reuse_list_free(struct pm_reuse_list *list) {
    free(list->reuses);
    free(list->counts);
    free(list->misses);
}
