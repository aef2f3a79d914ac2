/* Misses of policies other than LRU, which hang on how many of the blocks between miss: a fixed
   point.  A carrier with A touches of blocks, M of which miss, has

       r(d) = M/A · T(d)/d

   misses for each of the d blocks between, T(d) being the touches in which they are touched
   (carriers.c).  Until the cache is full, which takes T(its blocks) of the whole program's touches,
   nothing is replaced.  LRU's misses are the beginning. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/sets/private.h"

enum { MOST_ROUNDS = 60, PART_ROUNDS = 12 };
static const double STILL = 1e-4; /* of all misses */

/* What is sought: for all of the program, and then used for parts of its histograms. */
struct fixed_point {
    double *of_group;   /* [group]: misses, for a sum */
    double *of_routine; /* [routine]: the same */
    double *always; /* [scope]: of a carrier's touches of blocks, those that miss in any set … */
    double *sometimes; /* [scope]: … and those that hang on the sets */
    double *renewals;  /* [group]: misses that no policy avoids */
    double *spans;     /* [group]: misses in their set that its other reuses span, all together */
    double filling;    /* of all touches of blocks: the share before the cache is full */
    double replaced;   /* of the misses after that: nearly all */
    struct pm_lists of_area; /* [area]: groups */
};

static void fixed_point_make(const struct pm_sets *sets, struct fixed_point *point) {
    const struct pm_structure *structure = sets->structure;
    const uint32_t n = structure->n_groups;
    *point = (struct fixed_point){.of_group = pm_alloc(n, sizeof(double)),
                                  .of_routine = pm_alloc(structure->n_routines, sizeof(double)),
                                  .always = pm_alloc(structure->n_scopes, sizeof(double)),
                                  .sometimes = pm_alloc(structure->n_scopes, sizeof(double)),
                                  .renewals = pm_alloc(n, sizeof(double)),
                                  .spans = pm_alloc(n, sizeof(double)),
                                  .replaced = 1,
                                  .of_area = pm_lists_by_key(sets->walks.area, NULL, n, n)};
}

static void fixed_point_free(struct fixed_point *point) {
    free(point->of_group);
    free(point->of_routine);
    free(point->always);
    free(point->sometimes);
    free(point->renewals);
    free(point->spans);
    pm_lists_free(&point->of_area);
}

/* ---- reuses at a point -------------------------------------------------------------------------
 */

/* How many misses a block's uses in CARRIER span from one miss that no policy avoids to the next:
   of the groups that touch the same data. */
static double span_in(const struct pm_sets *sets, const struct pm_carrier *carrier, uint32_t area,
                      const struct fixed_point *point) {
    double spans = 0, renewals = 0;
    for (uint32_t i = point->of_area.first[area]; i < point->of_area.first[area + 1]; i++) {
        uint32_t group = point->of_area.items[i];
        double share =
            pm_carrier_share(sets->carriers, carrier, sets->structure->groups[group].scope);
        spans += share * point->spans[group];
        renewals += share * point->renewals[group];
    }
    return renewals > 0 ? spans / renewals : INFINITY;
}

/* For FIFO. */
static void find_spans(const struct pm_sets *sets, const struct fixed_point *point,
                       struct pm_reuse_list *list) {
    const uint32_t n = sets->structure->n_groups;
    double *known = pm_alloc(n, sizeof *known);
    uint32_t *known_in = pm_alloc(n, sizeof *known_in); /* a scope + 1 */
    for (size_t i = 0; i < list->n_reuses; i++) {
        struct pm_carried_reuses *reuse = &list->reuses[i];
        uint32_t area = sets->walks.area[reuse->group];
        if (known_in[area] != reuse->scope + 1) {
            known[area] = span_in(sets, pm_carrier_of(sets->carriers, reuse->scope), area, point);
            known_in[area] = reuse->scope + 1;
        }
        reuse->span = known[area];
    }
    free(known);
    free(known_in);
}

/* Touches in which one block more than REUSE's distance is touched: it is the last of them. */
static double touches_between(const struct pm_sets *sets, const struct pm_carrier *carrier,
                              const struct pm_carried_reuses *reuse) {
    size_t cell = reuse->cell + 1 < sets->n_cells ? reuse->cell : sets->n_cells - 2;
    double from = pm_distance_begin(cell), width = pm_distance_begin(cell + 1) - from;
    double slope = (carrier->window[cell + 1] - carrier->window[cell]) / width;
    double touches = carrier->window[cell] + slope * (reuse->distance + 1 - from);
    return touches < carrier->accesses ? touches : carrier->accesses; /* not if it is INFINITY */
}

/* Moves the shares of LIST's reuses half of the way to what they are at POINT. */
static void use(const struct pm_sets *sets, const struct pm_ruled_cache *cache,
                const struct fixed_point *point, struct pm_reuse_list *list) {
    find_spans(sets, point, list);
#pragma omp parallel for
    for (size_t i = 0; i < list->n_reuses; i++) {
        struct pm_carried_reuses *reuse = &list->reuses[i];
        const struct pm_carrier *carrier = pm_carrier_of(sets->carriers, reuse->scope);
        double for_block =
            fmax(1, touches_between(sets, carrier, reuse) / reuse->distance) * point->replaced;
        const struct pm_between between = {.p = list->counts ? &list->counts[i * list->n_counts]
                                                             : NULL,
                                           .exactly = reuse->distance + reuse->code,
                                           .always = point->always[reuse->scope] * for_block,
                                           .sometimes = point->sometimes[reuse->scope] * for_block,
                                           .share = reuse->share,
                                           .span = reuse->span};
        double share = pm_rule_miss_share(cache->rule, &between, &reuse->fifo);
        reuse->share += (share * (1 - point->filling) - reuse->share) / 2;
    }
}

/* Misses of each of LIST's histograms. */
static void add_up(const struct pm_reuse_list *list, double *misses) {
    for (size_t h = 0; h < list->n_histograms; h++)
        misses[h] = list->misses[h];
    for (size_t i = 0; i < list->n_reuses; i++)
        misses[list->reuses[i].histogram] += list->reuses[i].accesses * list->reuses[i].share;
}

/* What OF_HISTOGRAM says, for each touch of a block in the carriers of LIST. */
static void find_carriers(const struct pm_sets *sets, const struct pm_reuse_list *list,
                          const double *of_histogram, struct fixed_point *point, double *to) {
    memset(point->of_group, 0, sets->structure->n_groups * sizeof *point->of_group);
    for (size_t h = 0; h < sets->profile->n_histograms; h++)
        point->of_group[sets->profile->histograms[h].group] += of_histogram[h];
    struct pm_carried_sum carried = {point->of_group, point->of_routine};
    pm_carried_sum_begin(sets->carriers, &carried);
    for (size_t i = 0; i < list->n_reuses; i++) {
        uint32_t scope = list->reuses[i].scope;
        if (i && list->reuses[i - 1].scope == scope)
            continue;
        const struct pm_carrier *carrier = pm_carrier_of(sets->carriers, scope);
        to[scope] = pm_carried_sum_in(sets->carriers, carrier, &carried) / carrier->accesses;
    }
}

static void sum_spans(const struct pm_sets *sets, const struct pm_reuse_list *list,
                      struct fixed_point *point) {
    const uint32_t n = sets->structure->n_groups;
    memset(point->renewals, 0, n * sizeof *point->renewals);
    memset(point->spans, 0, n * sizeof *point->spans);
    for (size_t h = 0; h < sets->profile->n_histograms; h++)
        point->renewals[sets->profile->histograms[h].group] += list->misses[h];
    for (size_t i = 0; i < list->n_reuses; i++) {
        const struct pm_carried_reuses *reuse = &list->reuses[i];
        const struct pm_fifo_share *fifo = &reuse->fifo;
        point->renewals[reuse->group] += reuse->accesses * fifo->longer;
        point->spans[reuse->group] += reuse->accesses * (1 - fifo->longer) * fifo->shorter_span;
    }
}

/* ---- the fixed point ------------------------------------------------------------------------- */

static double first_touches(const struct pm_sets *sets) {
    double sum = 0;
    for (size_t h = 0; h < sets->profile->n_histograms; h++) {
        const struct pm_histogram *histogram = &sets->profile->histograms[h].histogram;
        if (histogram->block_bytes == sets->block_bytes)
            sum += histogram->cold_loads + histogram->cold_stores;
    }
    return sum;
}

/* The share of all touches of blocks after which a cache of BLOCKS is full; 0: it never is. */
static double filling_share(const struct pm_sets *sets, double blocks, double touched) {
    const struct pm_carrier *all = pm_carrier_of(sets->carriers, 0);
    size_t cell = pm_distance_n_cells(blocks);
    if (touched <= blocks)
        return 0;
    return cell < sets->n_cells && all->window[cell] < all->accesses
               ? all->window[cell] / all->accesses
               : blocks / touched;
}

/* LIST is of the profile's histograms. */
static void settle(const struct pm_sets *sets, const struct pm_ruled_cache *cache,
                   struct pm_reuse_list *list, struct fixed_point *point) {
    const size_t n = sets->profile->n_histograms;
    double *misses = pm_alloc(n, sizeof *misses);
    const double touched = first_touches(sets);
    double before = 0;
    point->filling = filling_share(sets, cache->blocks, touched);
    find_carriers(sets, list, list->misses, point, point->always);
    for (int round = 0, still = 0; round < MOST_ROUNDS && still < 3; round++) {
        double now = 0;
        if (round)
            use(sets, cache, point, list);
        sum_spans(sets, list, point);
        add_up(list, misses);
        for (size_t h = 0; h < n; h++) {
            now += misses[h];
            misses[h] = fmax(0, misses[h] - list->misses[h]);
        }
        find_carriers(sets, list, misses, point, point->sometimes);
        if (now > 0)
            point->replaced =
                fmax(0, 1 - fmin(cache->blocks, touched) / now) / (1 - point->filling);
        still = fabs(now - before) <= STILL * now ? still + 1 : 0;
        before = now;
    }
    free(misses);
}

/* The reuses that a question is about. */
struct answer {
    struct pm_reuse_list own, others;
    bool has_own, has_others;
};

static void count_misses(const struct pm_sets *sets, const struct pm_policy_question *question,
                         struct answer *answer) {
    const bool is_lru = pm_rule_is_lru(question->cache.rule);
    struct fixed_point point;
    if (!is_lru) {
        fixed_point_make(sets, &point);
        settle(sets, &question->cache, &answer->own, &point);
    }
    if (question->misses)
        add_up(&answer->own, question->misses);
    for (int round = 0; answer->has_others && !is_lru && round < PART_ROUNDS; round++)
        use(sets, &question->cache, &point, &answer->others);
    if (answer->has_others)
        add_up(&answer->others, question->misses_of_others);
    if (!is_lru)
        fixed_point_free(&point);
}

void pm_count_policy_misses(const struct pm_sets *sets, const struct pm_histograms_of *others,
                            size_t n_others, const struct pm_policy_question *questions, size_t n) {
    struct answer *answers = pm_alloc(n, sizeof *answers);
    struct pm_reuse_list **lists = pm_alloc(2 * n, sizeof *lists);
    struct pm_histograms_of *of = pm_alloc(n_others, sizeof *of);
    size_t n_lists = 0;
    for (size_t i = 0; i < n_others; i++) {
        of[i] = others[i];
        pm_cells_of_make(sets, &of[i]);
    }
    for (size_t i = 0; i < n; i++) {
        const struct pm_ruled_cache *cache = &questions[i].cache;
        answers[i].has_own = questions[i].misses || !pm_rule_is_lru(cache->rule);
        answers[i].has_others = n_others > 0;
        if (answers[i].has_own) {
            lists[n_lists++] = &answers[i].own;
            pm_reuse_list_make(sets, &sets->whole, 1, cache, &answers[i].own);
        }
        if (answers[i].has_others) {
            lists[n_lists++] = &answers[i].others;
            pm_reuse_list_make(sets, of, n_others, cache, &answers[i].others);
        }
    }
    pm_reuse_lists_count(sets, lists, n_lists);
    for (size_t i = 0; i < n; i++)
        count_misses(sets, &questions[i], &answers[i]);
    for (size_t l = 0; l < n_lists; l++)
        pm_reuse_list_free(lists[l]);
    for (size_t i = 0; i < n_others; i++)
        pm_cells_of_free(&of[i]);
    free(of);
    free(lists);
    free(answers);
}
