/* How many of the blocks between lie in the set of the block that is used again.

   X      the number of blocks of others in its set; the reuse misses if X ≥ k, the ways
   own    the cluster of the window that the block is of: how many of its blocks are in a set is
          known for each set, and the block's set is one of those that its group touches:
              P(own = x) = share of the group's blocks whose set has x + 1 blocks of the cluster
   other clusters are moved against it from window to window by multiples of γ bytes, the greatest
          common divisor of the strides by which the two move (and of the page, where data are apart
          by an unknown number of pages): so their blocks are in sets of one residue class of the
          block's own, modulo γ / block bytes, and within the class in one as likely as in another
   random blocks are in it with probability 1/s each (binomial, s: the sets)
   even   ones leave ⌊m⌋ or ⌈m⌉ in each set, m on average

   These are independent, and X is their sum: its distribution is their convolution.

   Where pages are of random colours, as many as the page offset leaves of the set undecided, n
   blocks at the page offset of the reused one are in its set with probability 1/colours each: all
   of the above is then of n, in sets that are those of one page, and X is binomial. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/sets/private.h"

enum {
    MOST_CLUSTERS = 32, /* of others, the largest: blocks of the rest count as anywhere */
    MOST_CLASSES = 256, /* residue classes that are told apart; larger moduli count as this one */
    MOST_STEPS = 256, /* of numbers of blocks: more than these are counted by twos, by threes … */
    MOST_COLOUR_STEPS = 128, /* the same where they are thinned afterwards */
};

/* Of the blocks of a window: clusters of fewer count as anywhere, too. */
static const double least_cluster = 0.002;
/* Blocks in a set: more are as good as normally distributed. */
static const double MANY = 256;

/* Distributions are STEPS + 1 numbers: P(i · step blocks in a set), what lies between going to both
   neighbours, so that means stay; in the last place P(steps · step or more). */
struct others {
    uint64_t n_classes;
    double *p; /* [class of the set][blocks]; NULL: not made yet */
};

/* Blocks of a cluster that is known modulo so many sets. */
struct classed {
    uint64_t classes;
    double *p; /* as of others */
};
struct classed_list {
    PM_ARRAY(struct classed, items);
};

struct pm_conflicts {
    const struct pm_window *window;
    const struct pm_set_shape *shape;
    size_t n_clusters;
    /* [cluster][set]: blocks, each for the cluster's weight; NULL: not counted yet */
    uint32_t **in_set;
    struct pm_lists *of_group;    /* [cluster][group of it]: ranges; no lists: not made yet */
    bool *is_small;               /* [cluster]: not one of the largest */
    double small_blocks;          /* of these */
    struct classed_list *classed; /* [cluster]: as far as they were asked for */
    struct others *others;        /* [cluster]: all but it; [n_clusters]: all, moved at random */
    uint32_t group;               /* PM_NONE, or the one whose blocks' … */
    double *of_window;            /* … distribution of others of the window this is */
};

/* SUM becomes the distribution of the sum of both. */
static void convolve(double *restrict sum, const double *restrict with, uint32_t steps) {
    double result[steps + 1], beyond = 0; /* of SUM, with which J more are beyond */
    memset(result, 0, sizeof result);
    for (uint32_t j = 0; j <= steps; j++) {
        const double share = with[j];
        beyond += sum[steps - j];
        if (share <= 0)
            continue;
        for (uint32_t i = 0; i < steps - j; i++)
            result[i + j] += sum[i] * share;
        result[steps] += beyond * share;
    }
    memcpy(sum, result, sizeof result);
}

/* Adds P to the place of BLOCKS in a distribution. */
static void add_at(const struct pm_set_shape *shape, double blocks, double p, double *to) {
    double place = blocks / shape->step;
    if (place >= shape->steps) {
        to[shape->steps] += p;
        return;
    }
    uint32_t below = (uint32_t)place;
    to[below] += p * (1 - (place - below));
    to[below + 1] += p * (place - below);
}

/* P[i], i from 0 to before MOST: the probability that of N blocks, which need not be whole, I are
   where each is with probability 1/OF; gives that of MOST and more. */
static double binomial(double n, double of, uint32_t most, double *p) {
    double left = 1, share = exp(n * log1p(-1 / of));
    for (uint32_t i = 0; i < most; i++) {
        p[i] = fmin(left, share);
        left -= p[i];
        share = n > i ? share * (n - i) / (i + 1) / (of - 1) : 0;
    }
    return left;
}

/* Adds the distribution of so many blocks in a set that they are as good as normally distributed.
 */
static void add_normal(const struct pm_set_shape *shape, double mean, double deviation, double *p) {
    double below = 0;
    for (uint32_t k = 0; k < shape->steps; k++) {
        double up_to = ((k + 0.5) * shape->step - mean) / deviation;
        double share = up_to < -8 ? 0 : up_to > 8 ? 1 : erfc(-up_to * M_SQRT1_2) / 2;
        p[k] += share - below;
        below = share;
    }
    p[shape->steps] += 1 - below;
}

/* P becomes the distribution of N blocks, each in the set with probability 1/s. */
static void random_blocks(const struct pm_set_shape *shape, double n, double *p) {
    const double sets = (double)shape->n_sets, mean = n / sets;
    memset(p, 0, (shape->steps + 1) * sizeof *p);
    if (shape->n_sets == 1)
        add_at(shape, n, 1, p);
    else if (mean > MANY)
        add_normal(shape, mean, sqrt(mean * (1 - 1 / sets)), p);
    else {
        uint32_t most = (uint32_t)fmin(shape->steps * shape->step, mean + 12 * sqrt(mean) + 40);
        double of_blocks[most];
        double left = binomial(n, sets, most, of_blocks);
        for (uint32_t i = 0; i < most; i++)
            add_at(shape, i, of_blocks[i], p);
        add_at(shape, most, left, p);
    }
}

static uint64_t gcd_of_strides(const struct pm_window_cluster *cluster, uint64_t with) {
    for (uint32_t i = 0; i < cluster->n_strides; i++)
        with = pm_greatest_divisor(with, (uint64_t)llabs(cluster->strides[i]));
    return with;
}

/* Modulo how many sets the places of two clusters relative to each other are known. */
static uint64_t known_classes(const struct pm_conflicts *conflicts,
                              const struct pm_window_cluster *a,
                              const struct pm_window_cluster *b) {
    uint64_t bytes = conflicts->shape->n_sets * conflicts->shape->block_bytes;
    bool move_together = a->n_strides == b->n_strides &&
                         !memcmp(a->strides, b->strides, a->n_strides * sizeof *a->strides);
    if (!move_together)
        bytes = gcd_of_strides(a, gcd_of_strides(b, bytes));
    if (a->space != b->space)
        bytes = a->page_known && b->page_known ? pm_greatest_divisor(bytes, PAGE_BYTES) : 1;
    if (bytes % conflicts->shape->block_bytes)
        return 1;
    uint64_t classes = bytes / conflicts->shape->block_bytes;
    return classes > MOST_CLASSES ? pm_greatest_divisor(classes, MOST_CLASSES) : classes;
}

/* Adds the blocks FIRST … LAST to the sets that they are in. */
static void add_range(int64_t first, int64_t last, uint64_t n_sets, uint32_t *in_set) {
    uint64_t length = (uint64_t)(last - first) + 1, rounds = length / n_sets;
    if (rounds)
        for (uint64_t s = 0; s < n_sets; s++)
            in_set[s] += (uint32_t)rounds;
    uint64_t set = (uint64_t)first % n_sets;
    for (uint64_t rest = length % n_sets; rest; rest--) {
        in_set[set]++;
        set = set + 1 == n_sets ? 0 : set + 1;
    }
}

/* Adds the blocks of the N ranges of CLUSTER that ITEMS lists (NULL: all), ascending, to the sets
   that they are in; how many. */
static uint64_t count_in_sets(const struct pm_window_cluster *cluster, const uint32_t *items,
                              size_t n, uint64_t n_sets, uint32_t *in_set) {
    int64_t first = 0, last = -1;
    uint64_t sum = 0;
    for (size_t i = 0; i <= n; i++) {
        const struct pm_block_range *range = i == n ? NULL : &cluster->ranges[items ? items[i] : i];
        if (range && last >= first && range->first <= last + 1) {
            last = range->last > last ? range->last : last;
            continue;
        }
        if (last >= first) {
            add_range(first, last, n_sets, in_set);
            sum += (uint64_t)(last - first) + 1;
        }
        if (range) {
            first = range->first;
            last = range->last;
        }
    }
    return sum;
}

/* The number of GROUP among those of CLUSTER; PM_NONE: it has none of it. */
static uint32_t place_of_group(const struct pm_window_cluster *cluster, uint32_t group) {
    size_t at = PM_LOWER_BOUND(cluster->n_groups, i, cluster->groups[i] < group);
    return at < cluster->n_groups && cluster->groups[at] == group ? (uint32_t)at : PM_NONE;
}

/* Blocks of cluster C in each set. */
static const uint32_t *in_set_of(const struct pm_conflicts *conflicts, size_t c) {
    const struct pm_window_cluster *cluster = &conflicts->window->clusters[c];
    uint32_t **in_set = &conflicts->in_set[c];
    if (!*in_set) {
        *in_set = pm_alloc(conflicts->shape->n_sets, sizeof **in_set);
        count_in_sets(cluster, NULL, cluster->n_ranges, conflicts->shape->n_sets, *in_set);
    }
    return *in_set;
}

/* The ranges of each group of cluster C. */
static const struct pm_lists *ranges_of_groups(const struct pm_conflicts *conflicts, size_t c) {
    const struct pm_window_cluster *cluster = &conflicts->window->clusters[c];
    struct pm_lists *lists = &conflicts->of_group[c];
    if (!lists->first) {
        uint32_t *places = pm_alloc(cluster->n_ranges, sizeof *places);
        for (size_t i = 0; i < cluster->n_ranges; i++)
            places[i] = place_of_group(cluster, cluster->ranges[i].group);
        *lists = pm_lists_by_key(places, NULL, cluster->n_ranges, cluster->n_groups);
        free(places);
    }
    return lists;
}

static int compare_downwards(const void *left, const void *right) {
    return PM_COMPARE(*(const double *)right, *(const double *)left);
}

/* Those that are not of the largest, or as good as nothing. */
static void find_small(struct pm_conflicts *conflicts) {
    const size_t n = conflicts->n_clusters;
    const struct pm_window_cluster *clusters = conflicts->window->clusters;
    double least = least_cluster * conflicts->window->blocks;
    double *blocks = pm_alloc(n, sizeof *blocks);
    for (size_t c = 0; c < n; c++)
        blocks[c] = clusters[c].blocks;
    PM_SORT(blocks, n, compare_downwards);
    if (n > MOST_CLUSTERS)
        least = fmax(least, blocks[MOST_CLUSTERS - 1]);
    free(blocks);
    for (size_t c = 0; c < n; c++) {
        conflicts->is_small[c] = clusters[c].blocks < least;
        conflicts->small_blocks += conflicts->is_small[c] ? clusters[c].blocks : 0;
    }
}

/* How many blocks are told apart in the sets of one colour: more than that are MOST or more of its
   own in nearly all sets. */
static double most_of_colour(uint32_t most, double colours) {
    return colours > 1 ? colours * (most + 4 * sqrt(most) + 4) : most;
}

void pm_set_shape_make(uint64_t n_sets, bool random_pages, uint32_t most, uint64_t block_bytes,
                       struct pm_set_shape *shape) {
    const uint64_t of_page = PAGE_BYTES / block_bytes;
    const bool has_colours = random_pages && of_page && n_sets > of_page;
    const double colours = has_colours ? (double)n_sets / (double)of_page : 1;
    const double most_steps = most_of_colour(most, colours);
    const double step = fmax(1, ceil(most_steps / (colours > 1 ? MOST_COLOUR_STEPS : MOST_STEPS)));
    const uint32_t steps = (uint32_t)ceil(most_steps / step);
    *shape = (struct pm_set_shape){.block_bytes = block_bytes,
                                   .n_sets = has_colours ? of_page : n_sets,
                                   .colours = colours,
                                   .most = most,
                                   .steps = steps,
                                   .step = step,
                                   .thinned = pm_alloc((steps + 1) * (most + 1), sizeof(double))};
    for (uint32_t s = 0; s <= steps; s++) {
        double *p = shape->thinned + s * (most + 1);
        if (colours > 1)
            p[most] = binomial(s * step, colours, most, p);
        else
            p[(uint32_t)fmin(s * step, most)] = 1;
    }
}

void pm_set_shape_free(struct pm_set_shape *shape) { free(shape->thinned); }

struct pm_conflicts *pm_conflicts_new(const struct pm_window *window,
                                      const struct pm_set_shape *shape) {
    const size_t n = window->n_clusters;
    struct pm_conflicts *conflicts = pm_alloc(1, sizeof *conflicts);
    *conflicts = (struct pm_conflicts){.window = window,
                                       .shape = shape,
                                       .n_clusters = n,
                                       .in_set = pm_alloc(n, sizeof(uint32_t *)),
                                       .of_group = pm_alloc(n, sizeof(struct pm_lists)),
                                       .is_small = pm_alloc(n, sizeof(bool)),
                                       .classed = pm_alloc(n, sizeof(struct classed_list)),
                                       .others = pm_alloc(n + 1, sizeof(struct others)),
                                       .group = PM_NONE,
                                       .of_window = pm_alloc(shape->steps + 1, sizeof(double))};
    find_small(conflicts);
    return conflicts;
}

void pm_conflicts_free(struct pm_conflicts *conflicts) {
    if (!conflicts)
        return;
    for (size_t c = 0; c < conflicts->n_clusters; c++) {
        free(conflicts->in_set[c]);
        pm_lists_free(&conflicts->of_group[c]);
        for (size_t i = 0; i < conflicts->classed[c].n_items; i++)
            free(conflicts->classed[c].items[i].p);
        free(conflicts->classed[c].items);
    }
    free(conflicts->classed);
    for (size_t c = 0; c <= conflicts->n_clusters; c++)
        free(conflicts->others[c].p);
    free(conflicts->in_set);
    free(conflicts->of_group);
    free(conflicts->is_small);
    free(conflicts->of_window);
    free(conflicts->others);
    free(conflicts);
}

/* Blocks of cluster C in the sets of each of CLASSES residue classes.  It is asked for by all other
   clusters, which mostly know it modulo as many. */
static const double *in_classes(const struct pm_conflicts *conflicts, size_t c, uint64_t classes) {
    struct classed_list *list = &conflicts->classed[c];
    for (size_t i = 0; i < list->n_items; i++)
        if (list->items[i].classes == classes)
            return list->items[i].p;
    const uint32_t places = conflicts->shape->steps + 1;
    double *p = pm_alloc(classes * places, sizeof *p);
    double share = (double)classes / (double)conflicts->shape->n_sets;
    const uint32_t *in_set = in_set_of(conflicts, c);
    const double weight = conflicts->window->clusters[c].weight;
    for (uint64_t s = 0; s < conflicts->shape->n_sets; s++)
        add_at(conflicts->shape, weight * in_set[s], share, p + s % classes * places);
    *PM_PUSH(list, items) = (struct classed){classes, p};
    return p;
}

static uint64_t least_multiple(uint64_t a, uint64_t b) { return a / pm_greatest_divisor(a, b) * b; }

/* Adds to OTHERS the blocks of cluster C, which is known modulo CLASSES sets.  It has as many
   classes as all clusters so far tell apart. */
static void add_cluster(const struct pm_conflicts *conflicts, size_t c, uint64_t classes,
                        struct others *others) {
    const uint32_t places = conflicts->shape->steps + 1;
    const double *p = in_classes(conflicts, c, classes);
    const uint64_t before = others->n_classes;
    others->n_classes = least_multiple(before, classes);
    for (uint64_t k = before; k < others->n_classes; k++)
        memcpy(others->p + k * places, others->p + k % before * places, places * sizeof *others->p);
    for (uint64_t k = 0; k < others->n_classes; k++)
        convolve(others->p + k * places, p + k % classes * places, conflicts->shape->steps);
}

/* Those of the block's own cluster C; n_clusters: it is of none. */
static const struct others *others_of(const struct pm_conflicts *conflicts, size_t c) {
    struct others *others = &conflicts->others[c];
    const size_t n = conflicts->n_clusters;
    const uint32_t places = conflicts->shape->steps + 1;
    if (others->p)
        return others;
    uint64_t *classes = pm_alloc(n, sizeof *classes), all_classes = 1;
    others->n_classes = 1;
    for (size_t o = 0; o < n; o++) {
        const struct pm_window_cluster *clusters = conflicts->window->clusters;
        classes[o] = c < n && o != c && !conflicts->is_small[o]
                         ? known_classes(conflicts, &clusters[c], &clusters[o])
                         : 1;
        all_classes = least_multiple(all_classes, classes[o]);
    }
    others->p = pm_alloc(all_classes * places, sizeof *others->p);
    others->p[0] = 1;
    for (size_t o = 0; o < n; o++)
        if (o != c && !conflicts->is_small[o])
            add_cluster(conflicts, o, classes[o], others);
    double small = conflicts->small_blocks;
    if (c < n && conflicts->is_small[c])
        small -= conflicts->window->clusters[c].blocks;
    double anywhere[places];
    if (small > 0)
        random_blocks(conflicts->shape, small, anywhere);
    for (uint64_t k = 0; small > 0 && k < others->n_classes; k++)
        convolve(others->p + k * places, anywhere, conflicts->shape->steps);
    free(classes);
    return others;
}

static void convolve_even(const struct pm_set_shape *shape, double *sum, double n) {
    if (n <= 0)
        return;
    double p[shape->steps + 1], mean = n / (double)shape->n_sets, below = floor(mean);
    memset(p, 0, sizeof p);
    add_at(shape, below, 1 - (mean - below), p);
    add_at(shape, below + 1, mean - below, p);
    convolve(sum, p, shape->steps);
}

/* Adds to SUM, for each of the group's blocks of cluster C, the distribution of how many others are
   in its set; how many blocks these are. */
static double add_own(const struct pm_conflicts *conflicts, size_t c, uint32_t group, double *sum) {
    const struct pm_window_cluster *cluster = &conflicts->window->clusters[c];
    const uint32_t steps = conflicts->shape->steps, place = place_of_group(cluster, group);
    const double weight = cluster->weight;
    if (place == PM_NONE)
        return 0;
    const struct pm_lists *ranges = ranges_of_groups(conflicts, c);
    const uint32_t first = ranges->first[place];
    uint32_t *mine = pm_alloc(conflicts->shape->n_sets, sizeof *mine);
    uint64_t n = count_in_sets(cluster, ranges->items + first, ranges->first[place + 1] - first,
                               conflicts->shape->n_sets, mine);
    const struct others *others = n ? others_of(conflicts, c) : NULL;
    const uint32_t *in_set = in_set_of(conflicts, c);
    for (uint64_t k = 0; n && k < others->n_classes; k++) {
        double own[steps + 1];
        bool is_any = false;
        memset(own, 0, sizeof own);
        for (uint64_t s = k; s < conflicts->shape->n_sets; s += others->n_classes)
            if (mine[s]) {
                add_at(conflicts->shape, weight * in_set[s] - 1, weight * mine[s], own);
                is_any = true;
            }
        if (!is_any)
            continue;
        convolve(own, others->p + k * (steps + 1), steps);
        for (uint32_t i = 0; i <= steps; i++)
            sum[i] += own[i];
    }
    free(mine);
    return weight * (double)n;
}

/* The distribution of how many others of the window are in the set of a block of GROUP. */
static const double *of_window(struct pm_conflicts *conflicts, uint32_t group) {
    const uint32_t steps = conflicts->shape->steps;
    double *sum = conflicts->of_window, blocks = 0;
    if (conflicts->group == group)
        return sum;
    conflicts->group = group;
    memset(sum, 0, (steps + 1) * sizeof *sum);
    for (size_t c = 0; c < conflicts->n_clusters; c++)
        blocks += add_own(conflicts, c, group, sum);
    if (blocks <= 0)
        memcpy(sum, others_of(conflicts, conflicts->n_clusters)->p, (steps + 1) * sizeof *sum);
    for (uint32_t i = 0; blocks > 0 && i <= steps; i++)
        sum[i] /= blocks;
    return sum;
}

void pm_conflicts_count(struct pm_conflicts *conflicts, uint32_t group, double random, double even,
                        double *p) {
    const struct pm_set_shape *shape = conflicts->shape;
    double sum[shape->steps + 1];
    memcpy(sum, of_window(conflicts, group), sizeof sum);
    double anywhere[shape->steps + 1];
    if (random > 0) {
        random_blocks(shape, random, anywhere);
        convolve(sum, anywhere, shape->steps);
    }
    convolve_even(shape, sum, even);
    memset(p, 0, (shape->most + 1) * sizeof *p);
    for (uint32_t s = 0; s <= shape->steps; s++)
        for (uint32_t x = 0; sum[s] > 0 && x <= shape->most; x++)
            p[x] += sum[s] * shape->thinned[s * (shape->most + 1) + x];
}
