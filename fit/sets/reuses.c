/* The reuses whose misses hang on the sets: who carries them, and how many blocks of others are in
   the set when they come.  For each carrier from short to long, so that one window serves all of
   about one length. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "fit/heuristics.h"
#include "fit/sets/private.h"

/* Times a cache's blocks: reuses with more between miss in any set. */
static const double longest_reuse = 4.0;
/* Ratio of lengths in which a window is searched for. */
static const double window_step = 1.2;
/* Then between two of them, until it lacks no more of a distance than this share, or a block: what
 * is lacking counts as spread evenly. */
static const double window_close = 0.005;
/* Of a reuse: times with a smaller share are left out. */
static const double least_time = 0.01;
/* Of the reuses that sets may decide, by weight: the rest are as in one set. */
static const double sets_kept = 0.999;
/* Of the touches from afar in a scope, the walks that have the most: the rest are even. */
static const double walks_kept = 0.999;

enum {
    MOST_STEPS = 8,       /* of a search for a window */
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

/* Adds those of HISTOGRAM, number H, whose misses hang on the sets; the others' go to *MISSES. */
static void list_reuses(const struct pm_sets *sets, const struct pm_group_histogram *histogram,
                        size_t h, const struct pm_ruled_cache *cache, struct pm_reuse_list *list,
                        double *misses) {
    struct pm_carried_parts parts = {0};
    struct pm_distance_cells cells;
    pm_distance_cells_make(&histogram->histogram, &cells);
    *misses = cells.always_missing;
    /* In a single set the code may be nearly all that is between. */
    const double least =
        cache->unified && cache->n_sets == 1 ? 1 : pm_rule_least_distance(cache->rule);
    for (size_t i = 0; i < cells.n_cells; i++) {
        const struct pm_distance_cell *cell = &cells.cells[i];
        if (cell->distance < least)
            continue;
        if (cell->distance >= longest_reuse * cache->blocks) {
            *misses += cell->accesses;
            continue;
        }
        parts.n_parts = 0;
        size_t number = cell->cell < sets->n_cells ? cell->cell : sets->n_cells - 1;
        pm_carriers_find(sets->carriers, sets->structure->groups[histogram->group].scope, number,
                         &parts);
        for (size_t p = 0; p < parts.n_parts; p++)
            *PM_PUSH(list, reuses) =
                (struct pm_carried_reuses){.scope = parts.parts[p].scope,
                                           .cell = (uint32_t)number,
                                           .group = histogram->group,
                                           .histogram = h,
                                           .accesses = cell->accesses * parts.parts[p].share,
                                           .distance = cell->distance};
    }
    free(cells.cells);
    free(parts.parts);
}

struct rated_walks {
    PM_ARRAY(struct pm_rated_walk, walks);
};

/* Touches of blocks that are in no cache of one set of WAYS: what they touch may be far from it. */
static double touches_from_afar(const struct pm_distance_cells *cells, double ways) {
    double touches = cells->always_missing;
    for (size_t i = 0; i < cells->n_cells; i++)
        touches += cells->cells[i].distance >= ways ? cells->cells[i].accesses : 0;
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
static bool *groups_kept(const struct pm_sets *sets, const struct pm_carrier *carrier,
                         double ways) {
    const struct pm_structure *structure = sets->structure;
    bool *kept = pm_alloc(structure->n_groups, sizeof *kept);
    struct weighed_group *groups = pm_alloc(structure->n_groups, sizeof *groups);
    double sum = 0, so_far = 0;
    size_t n = 0;
    for (uint32_t g = 0; g < structure->n_groups; g++) {
        double share = sets->walks.is_regular[g]
                           ? pm_carrier_share(sets->carriers, carrier, structure->groups[g].scope)
                           : 0;
        double touches = share > 0 ? share * touches_from_afar(&sets->groups[g], ways) : 0;
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

static void rate_walks(const struct pm_sets *sets, const struct pm_carrier *carrier, double ways,
                       struct rated_walks *rated) {
    bool *kept = groups_kept(sets, carrier, ways);
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

static void find_times(const struct pm_sets *sets, const struct pm_carrier *carrier, double ways,
                       struct pm_walk_times *times) {
    struct rated_walks rated = {0};
    rate_walks(sets, carrier, ways, &rated);
    pm_walk_times_make(&sets->walks, rated.walks, rated.n_walks, times);
    free(rated.walks);
}

/* A window whose walks touch nearly as many blocks as are asked for, but not more; and one that is
   longer, whose walks touch more, or that is all of the carrier. */
struct growing_window {
    double accesses, longer_accesses, most_accesses;
    struct pm_window now, longer, between; /* between: while it grows */
};

static void swap(struct pm_window *a, struct pm_window *b) {
    struct pm_window old = *a;
    *a = *b;
    *b = old;
}

static void make_longer(const struct pm_sets *sets, const struct pm_walk_time *time,
                        double accesses, struct growing_window *window) {
    window->longer_accesses = fmin(accesses, window->most_accesses);
    pm_window_make(time->walks, time->n_walks, window->longer_accesses, sets->block_bytes,
                   &window->longer);
}

/* Grows WINDOW for BLOCKS, which are hardly less than the last time; true if it did. */
static bool grow(const struct pm_sets *sets, const struct pm_walk_time *time, double blocks,
                 struct growing_window *window) {
    bool grown = false;
    if (!window->longer_accesses)
        make_longer(sets, time, 1, window);
    while (window->longer.blocks <= blocks && window->accesses < window->most_accesses) {
        swap(&window->now, &window->longer);
        window->accesses = window->longer_accesses;
        make_longer(sets, time, window->accesses * window_step, window);
        grown = true;
    }
    const double close = fmax(1, window_close * blocks);
    for (int step = 0;
         step < MOST_STEPS && blocks - window->now.blocks > close && window->longer.blocks > blocks;
         step++) {
        double share = (blocks - window->now.blocks) / (window->longer.blocks - window->now.blocks);
        double accesses = window->accesses + fmin(fmax(share, 0.1), 0.9) *
                                                 (window->longer_accesses - window->accesses);
        pm_window_make(time->walks, time->n_walks, accesses, sets->block_bytes, &window->between);
        bool fits = window->between.blocks <= blocks;
        swap(&window->between, fits ? &window->now : &window->longer);
        *(fits ? &window->accesses : &window->longer_accesses) = accesses;
        grown |= fits;
    }
    return grown;
}

/* A carrier at one of its times, as far as its reuses have been looked at. */
struct view {
    const struct pm_walk_time *time;
    struct growing_window window;
    struct pm_conflicts *conflicts; /* of the window; NULL: not made yet */
    double share;                   /* of the reuse that is looked at */
};

/* Grows the windows of the N views for BLOCKS, and finds their shares of REUSE: times that do not
   last as long count as the first one. */
static void share_out(const struct pm_sets *sets, const struct pm_carried_reuses *reuse,
                      double blocks, struct view *views, size_t n) {
    double usual = 0, sum = 0;
    for (size_t v = n; v-- > 0;) {
        struct view *view = &views[v];
        if (grow(sets, view->time, blocks, &view->window)) {
            pm_conflicts_free(view->conflicts);
            view->conflicts = NULL;
        }
        bool lasts = view->window.accesses <= view->time->phase_accesses;
        usual += lasts && v ? 0 : view->time->share;
        view->share = v == 0 ? usual : lasts ? view->time->share : 0;
        view->share *= n == 1 ? 1
                              : pm_walk_time_fits(view->time, reuse->group, view->window.accesses,
                                                  sets->block_bytes);
        sum += view->share;
    }
    for (size_t v = 0; v < n; v++)
        views[v].share = sum > 0 ? views[v].share / sum : v == 0;
}

/* P[x]: as of pm_conflicts_count, of REUSE at all of its times. */
static void count_in_views(const struct pm_sets *sets, const struct pm_carrier *carrier,
                           const struct pm_set_shape *shape, const struct pm_carried_reuses *reuse,
                           struct view *views, size_t n, double *p) {
    double random = fmin(reuse->distance, carrier->random_blocks[reuse->cell]);
    /* With the block itself, where its walk is known. */
    double blocks = reuse->distance - random + (sets->walks.is_regular[reuse->group] ? 1 : 0);
    double *at_time = pm_alloc(shape->most + 1, sizeof *at_time);
    double sum = 0;
    share_out(sets, reuse, blocks, views, n);
    memset(p, 0, (shape->most + 1) * sizeof *p);
    for (size_t v = 0; v < n; v++) {
        struct view *view = &views[v];
        if (view->share < least_time)
            continue;
        if (!view->conflicts)
            view->conflicts = pm_conflicts_new(&view->window.now, sets->block_bytes, shape);
        double even = fmax(0, blocks - view->window.now.blocks) + reuse->code;
        pm_conflicts_count(view->conflicts, reuse->group, random, even, at_time);
        sum += view->share;
        for (uint32_t x = 0; x <= shape->most; x++)
            p[x] += view->share * at_time[x];
    }
    for (uint32_t x = 0; x <= shape->most; x++)
        p[x] /= sum;
    free(at_time);
}

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

static struct view *views_new(const struct pm_walk_times *times, const struct pm_carrier *carrier) {
    struct view *views = pm_alloc(times->n_times, sizeof *views);
    for (size_t v = 0; v < times->n_times; v++)
        views[v] =
            (struct view){.time = &times->times[v],
                          .window = {.most_accesses = fmin(carrier->accesses,
                                                           2 * times->times[v].phase_accesses)}};
    return views;
}

static void views_free(struct view *views, size_t n) {
    for (size_t v = 0; v < n; v++) {
        pm_conflicts_free(views[v].conflicts);
        pm_window_free(&views[v].window.now);
        pm_window_free(&views[v].window.longer);
        pm_window_free(&views[v].window.between);
    }
    free(views);
}

/* Fills in what is between for the N reuses of LIST from number FIRST on, which one scope carries,
   ascending by cell. */
static void count_between(const struct pm_sets *sets, const struct pm_carrier *carrier,
                          const struct pm_ruled_cache *cache, const struct pm_walk_times *times,
                          struct pm_reuse_list *list, size_t first, size_t n) {
    const struct pm_set_shape shape = {cache->n_sets, cache->random_pages,
                                       pm_rule_most(cache->rule)};
    const double code = code_between(sets, carrier, cache);
    struct view *views = views_new(times, carrier);
    double *p = pm_alloc(shape.most + 1, sizeof *p);
    float *narrow = pm_alloc(shape.most + 1, sizeof *narrow);
    for (size_t i = first; i < first + n; i++) {
        struct pm_carried_reuses *reuse = &list->reuses[i];
        reuse->code = code;
        count_in_views(sets, carrier, &shape, reuse, views, pm_walk_times_of(times, reuse->group),
                       p);
        float *to = list->counts ? &list->counts[i * list->n_counts] : narrow;
        for (uint32_t x = 0; x <= shape.most; x++)
            to[x] = p[x] < LEAST_P ? 0 : (float)p[x];
        reuse->share = pm_rule_lru_share(cache->rule, &(struct pm_between){.p = to});
    }
    free(p);
    free(narrow);
    views_free(views, times->n_times);
}

static int compare_downwards(const void *left, const void *right) {
    return PM_COMPARE(*(const double *)right, *(const double *)left);
}

/* How much sets may change the misses of REUSE, in a cache of BLOCKS. */
static double weight_of(const struct pm_carried_reuses *reuse, double blocks) {
    return reuse->accesses * fmin(1, reuse->distance / blocks);
}

/* Takes reuses off LIST, from number FIRST on, that weigh least, which a program with thousands of
   routines has most of, and keeps MOST at most; the misses of the others are those of one set. */
static void drop_light(struct pm_reuse_list *list, size_t first, double blocks, size_t most) {
    const size_t n = list->n_reuses - first;
    double *weights = pm_alloc(n, sizeof *weights);
    double sum = 0, so_far = 0, least = 0;
    size_t kept = first;
    for (size_t i = 0; i < n; i++)
        sum += weights[i] = weight_of(&list->reuses[first + i], blocks);
    PM_SORT(weights, n, compare_downwards);
    for (size_t i = 0; i < n && i < most && so_far < sets_kept * sum; i++) {
        least = weights[i];
        so_far += least;
    }
    free(weights);
    for (size_t i = first; i < list->n_reuses; i++) {
        const struct pm_carried_reuses *reuse = &list->reuses[i];
        if (weight_of(reuse, blocks) >= least)
            list->reuses[kept++] = *reuse;
        else if (reuse->distance >= blocks)
            list->misses[reuse->histogram] += reuse->accesses;
    }
    list->n_reuses = kept;
}

/* In sets, for each carrier. */
static void count_in_sets(const struct pm_sets *sets, const struct pm_ruled_cache *cache,
                          struct pm_reuse_list *list) {
    uint32_t *scopes = pm_alloc(list->n_reuses, sizeof *scopes);
    for (size_t i = 0; i < list->n_reuses; i++)
        scopes[i] = list->reuses[i].scope;
    struct pm_lists of_scope =
        pm_lists_by_key(scopes, NULL, list->n_reuses, sets->structure->n_scopes);
    free(scopes);
    if (!pm_rule_is_lru(cache->rule))
        list->counts = pm_alloc(list->n_reuses * list->n_counts, sizeof *list->counts);
#pragma omp parallel for schedule(dynamic, 1)
    for (uint32_t s = 0; s < sets->structure->n_scopes; s++) {
        uint32_t first = of_scope.first[s], n = of_scope.first[s + 1] - first;
        if (!n)
            continue;
        const struct pm_carrier *carrier = pm_carrier_of(sets->carriers, s);
        struct pm_walk_times times = {0};
        find_times(sets, carrier, pm_rule_least_distance(cache->rule), &times);
        count_between(sets, carrier, cache, &times, list, first, n);
        pm_walk_times_free(&times);
    }
    pm_lists_free(&of_scope);
}

/* Adds those of a profile, whose histograms have numbers from NUMBER on. */
static void add_profile(const struct pm_sets *sets, const struct pm_histograms_of *of,
                        size_t number, const struct pm_ruled_cache *cache,
                        struct pm_reuse_list *list) {
    const size_t first = list->n_reuses;
    for (size_t h = 0; h < of->n; h++)
        if (of->histograms[h].histogram.block_bytes == sets->block_bytes)
            list_reuses(sets, &of->histograms[h], number + h, cache, list,
                        &list->misses[number + h]);
    drop_light(list, first, cache->blocks,
               MOST_WORK / (cache->n_sets + sets->walks.n_walks + list->n_counts));
}

void pm_reuse_list_make(const struct pm_sets *sets, const struct pm_histograms_of *of, size_t n,
                        const struct pm_ruled_cache *cache, struct pm_reuse_list *list) {
    size_t n_histograms = 0;
    for (size_t i = 0; i < n; i++)
        n_histograms += of[i].n;
    *list = (struct pm_reuse_list){.n_counts = pm_rule_most(cache->rule) + 1,
                                   .n_histograms = n_histograms,
                                   .misses = pm_alloc(n_histograms, sizeof(double))};
    for (size_t i = 0, number = 0; i < n; number += of[i++].n)
        add_profile(sets, &of[i], number, cache, list);
    PM_SORT(list->reuses, list->n_reuses, compare_reuses);
    if (cache->n_sets > 1) {
        count_in_sets(sets, cache, list);
        return;
    }
    for (size_t i = 0; i < list->n_reuses; i++) {
        struct pm_carried_reuses *reuse = &list->reuses[i];
        reuse->code = i && reuse[-1].scope == reuse->scope
                          ? reuse[-1].code
                          : code_between(sets, pm_carrier_of(sets->carriers, reuse->scope), cache);
        reuse->share = pm_rule_lru_share(
            cache->rule, &(struct pm_between){.exactly = reuse->distance + reuse->code});
    }
}

void pm_reuse_list_free(struct pm_reuse_list *list) {
    free(list->reuses);
    free(list->counts);
    free(list->misses);
}
