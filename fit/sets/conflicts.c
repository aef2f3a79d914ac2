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

/* Distributions are STEPS + 1 numbers: P(i · step blocks in a set), what lies between going to both
   neighbours, so that means stay; in the last place P(steps · step or more). */
struct others {
    uint64_t n_classes;
    double *p; /* [class of the set][blocks]; NULL: not made yet */
};

struct pm_conflicts {
    const struct pm_window *window;
    uint64_t block_bytes, n_sets; /* sets of one colour */
    double colours;
    uint32_t most; /* blocks that are told apart in the end */
    uint32_t steps;
    double step; /* blocks */
    size_t n_clusters;
    uint32_t *
        *in_set; /* [cluster][set]: blocks, each for the cluster's weight; NULL: not counted yet */
    struct pm_lists *of_group; /* [cluster][group of it]: ranges; made with in_set */
    bool *is_small;            /* [cluster]: not one of the largest */
    double small_blocks;       /* of these */
    uint32_t group;            /* of whose blocks … */
    double
        *of_window; /* … this is the distribution of others of the window; PM_NONE: of none yet */
    struct others *others; /* [cluster]: all but it; [n_clusters]: all, moved at random */
};

/* SUM becomes the distribution of the sum of both. */
static void convolve(double *sum, const double *with, uint32_t steps) {
    double result[steps + 1];
    memset(result, 0, sizeof result);
    for (uint32_t j = 0; j <= steps; j++)
        for (uint32_t i = 0; with[j] > 0 && i <= steps; i++)
            result[i + j < steps ? i + j : steps] += sum[i] * with[j];
    memcpy(sum, result, sizeof result);
}

/* Adds P to the place of BLOCKS in a distribution. */
static void add_at(const struct pm_conflicts *conflicts, double blocks, double p, double *to) {
    double place = blocks / conflicts->step, below = floor(place);
    if (below >= conflicts->steps) {
        to[conflicts->steps] += p;
        return;
    }
    to[(uint32_t)below] += p * (1 - (place - below));
    if (place > below)
        to[(uint32_t)below + 1] += p * (place - below);
}

/* The probability that of N blocks, which need not be whole, I are where each is with
   probability 1/OF, from that of I − 1; both as logarithms. */
static double next_binomial(double log_p, double n, double of, double i) {
    return n > i - 1 ? log_p + log((n - i + 1) / i / (of - 1)) : -INFINITY;
}

/* N blocks, each in the set with probability 1/s. */
static void convolve_random(const struct pm_conflicts *conflicts, double *sum, double n) {
    const double sets = (double)conflicts->n_sets, most = conflicts->steps * conflicts->step;
    double p[conflicts->steps + 1], left = 1, log_p = n * log1p(-1 / sets);
    if (n <= 0)
        return;
    memset(p, 0, sizeof p);
    if (conflicts->n_sets == 1) {
        add_at(conflicts, n, 1, p);
        left = 0;
    }
    for (double i = 0; i < most && left > 0; i++) {
        double share = fmin(left, exp(log_p));
        add_at(conflicts, i, share, p);
        left -= share;
        log_p = next_binomial(log_p, n, sets, i + 1);
    }
    p[conflicts->steps] += left;
    convolve(sum, p, conflicts->steps);
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
    uint64_t bytes = conflicts->n_sets * conflicts->block_bytes;
    bool move_together = a->n_strides == b->n_strides &&
                         !memcmp(a->strides, b->strides, a->n_strides * sizeof *a->strides);
    if (!move_together)
        bytes = gcd_of_strides(a, gcd_of_strides(b, bytes));
    if (a->space != b->space)
        bytes = a->page_known && b->page_known ? pm_greatest_divisor(bytes, PAGE_BYTES) : 1;
    if (bytes % conflicts->block_bytes)
        return 1;
    uint64_t classes = bytes / conflicts->block_bytes;
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
        *in_set = pm_alloc(conflicts->n_sets, sizeof **in_set);
        count_in_sets(cluster, NULL, cluster->n_ranges, conflicts->n_sets, *in_set);
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

static void find_small(struct pm_conflicts *conflicts) {
    const size_t n = conflicts->n_clusters;
    const struct pm_window_cluster *clusters = conflicts->window->clusters;
    if (n <= MOST_CLUSTERS)
        return;
    double *blocks = pm_alloc(n, sizeof *blocks);
    for (size_t c = 0; c < n; c++)
        blocks[c] = clusters[c].blocks;
    qsort(blocks, n, sizeof *blocks, compare_downwards);
    for (size_t c = 0; c < n; c++) {
        conflicts->is_small[c] = clusters[c].blocks < blocks[MOST_CLUSTERS - 1];
        conflicts->small_blocks += conflicts->is_small[c] ? clusters[c].blocks : 0;
    }
    free(blocks);
}

/* How many blocks are told apart in the sets of one colour: more than that are MOST or more of its
   own in nearly all sets. */
static double most_of_colour(uint32_t most, double colours) {
    return colours > 1 ? colours * (most + 4 * sqrt(most) + 4) : most;
}

struct pm_conflicts *pm_conflicts_new(const struct pm_window *window, uint64_t block_bytes,
                                      const struct pm_set_shape *shape) {
    const size_t n = window->n_clusters;
    const uint64_t of_page = PAGE_BYTES / block_bytes;
    const bool has_colours = shape->random_pages && of_page && shape->n_sets > of_page;
    const double colours = has_colours ? (double)shape->n_sets / (double)of_page : 1;
    const double most = most_of_colour(shape->most, colours);
    const double step = fmax(1, ceil(most / (colours > 1 ? MOST_COLOUR_STEPS : MOST_STEPS)));
    struct pm_conflicts *conflicts = pm_alloc(1, sizeof *conflicts);
    *conflicts = (struct pm_conflicts){.window = window,
                                       .block_bytes = block_bytes,
                                       .n_sets = has_colours ? of_page : shape->n_sets,
                                       .colours = colours,
                                       .most = shape->most,
                                       .steps = (uint32_t)ceil(most / step),
                                       .step = step,
                                       .n_clusters = n,
                                       .group = PM_NONE,
                                       .in_set = pm_alloc(n, sizeof(uint32_t *)),
                                       .of_group = pm_alloc(n, sizeof(struct pm_lists)),
                                       .is_small = pm_alloc(n, sizeof(bool)),
                                       .others = pm_alloc(n + 1, sizeof(struct others))};
    conflicts->of_window = pm_alloc(conflicts->steps + 1, sizeof *conflicts->of_window);
    find_small(conflicts);
    return conflicts;
}

void pm_conflicts_free(struct pm_conflicts *conflicts) {
    if (!conflicts)
        return;
    for (size_t c = 0; c < conflicts->n_clusters; c++) {
        free(conflicts->in_set[c]);
        pm_lists_free(&conflicts->of_group[c]);
    }
    for (size_t c = 0; c <= conflicts->n_clusters; c++)
        free(conflicts->others[c].p);
    free(conflicts->in_set);
    free(conflicts->of_group);
    free(conflicts->is_small);
    free(conflicts->of_window);
    free(conflicts->others);
    free(conflicts);
}

/* Adds to each class of OTHERS the blocks of cluster C, which is known modulo CLASSES sets. */
static void add_cluster(const struct pm_conflicts *conflicts, size_t c, uint64_t classes,
                        struct others *others) {
    const uint32_t places = conflicts->steps + 1;
    double *p = pm_alloc(classes * places, sizeof *p);
    double share = (double)classes / (double)conflicts->n_sets;
    const uint32_t *in_set = in_set_of(conflicts, c);
    const double weight = conflicts->window->clusters[c].weight;
    for (uint64_t s = 0; s < conflicts->n_sets; s++)
        add_at(conflicts, weight * in_set[s], share, p + s % classes * places);
    for (uint64_t k = 0; k < others->n_classes; k++)
        convolve(others->p + k * places, p + k % classes * places, conflicts->steps);
    free(p);
}

/* Those of the block's own cluster C; n_clusters: it is of none. */
static const struct others *others_of(const struct pm_conflicts *conflicts, size_t c) {
    struct others *others = &conflicts->others[c];
    const size_t n = conflicts->n_clusters;
    const uint32_t places = conflicts->steps + 1;
    if (others->p)
        return others;
    uint64_t *classes = pm_alloc(n, sizeof *classes);
    others->n_classes = 1;
    for (size_t o = 0; o < n; o++) {
        const struct pm_window_cluster *clusters = conflicts->window->clusters;
        classes[o] = c < n && o != c && !conflicts->is_small[o]
                         ? known_classes(conflicts, &clusters[c], &clusters[o])
                         : 1;
        others->n_classes =
            others->n_classes / pm_greatest_divisor(others->n_classes, classes[o]) * classes[o];
    }
    others->p = pm_alloc(others->n_classes * places, sizeof *others->p);
    for (uint64_t k = 0; k < others->n_classes; k++)
        others->p[k * places] = 1;
    for (size_t o = 0; o < n; o++)
        if (o != c && !conflicts->is_small[o])
            add_cluster(conflicts, o, classes[o], others);
    double small = conflicts->small_blocks;
    if (c < n && conflicts->is_small[c])
        small -= conflicts->window->clusters[c].blocks;
    for (uint64_t k = 0; small > 0 && k < others->n_classes; k++)
        convolve_random(conflicts, others->p + k * places, small);
    free(classes);
    return others;
}

static void convolve_even(const struct pm_conflicts *conflicts, double *sum, double n) {
    double p[conflicts->steps + 1], mean = n / (double)conflicts->n_sets, below = floor(mean);
    memset(p, 0, sizeof p);
    add_at(conflicts, below, 1 - (mean - below), p);
    add_at(conflicts, below + 1, mean - below, p);
    convolve(sum, p, conflicts->steps);
}

/* Adds to SUM, for each of the group's blocks of cluster C, the distribution of how many others are
   in its set; how many blocks these are. */
static double add_own(const struct pm_conflicts *conflicts, size_t c, uint32_t group, double *sum) {
    const struct pm_window_cluster *cluster = &conflicts->window->clusters[c];
    const uint32_t steps = conflicts->steps, place = place_of_group(cluster, group);
    const double weight = cluster->weight;
    if (place == PM_NONE)
        return 0;
    const struct pm_lists *ranges = ranges_of_groups(conflicts, c);
    const uint32_t first = ranges->first[place];
    uint32_t *mine = pm_alloc(conflicts->n_sets, sizeof *mine);
    uint64_t n = count_in_sets(cluster, ranges->items + first, ranges->first[place + 1] - first,
                               conflicts->n_sets, mine);
    const struct others *others = n ? others_of(conflicts, c) : NULL;
    const uint32_t *in_set = in_set_of(conflicts, c);
    for (uint64_t k = 0; n && k < others->n_classes; k++) {
        double own[steps + 1];
        bool is_any = false;
        memset(own, 0, sizeof own);
        for (uint64_t s = k; s < conflicts->n_sets; s += others->n_classes)
            if (mine[s]) {
                add_at(conflicts, weight * in_set[s] - 1, weight * mine[s], own);
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

/* The distribution P (most + 1 places) of the blocks of one colour, from SUM of all colours. */
static void spread_over_colours(const struct pm_conflicts *conflicts, const double *sum,
                                double *p) {
    const uint32_t most = conflicts->most;
    memset(p, 0, (most + 1) * sizeof *p);
    for (uint32_t s = 0; s <= conflicts->steps; s++) {
        double n = s * conflicts->step, left = sum[s], log_p = n * log1p(-1 / conflicts->colours);
        for (uint32_t i = 0; i < most && left > 0; i++) {
            double share = fmin(left, sum[s] * exp(log_p));
            p[i] += share;
            left -= share;
            log_p = next_binomial(log_p, n, conflicts->colours, i + 1);
        }
        p[most] += left;
    }
}

/* The same of blocks that are counted by more than one: P has most + 1 places. */
static void spread_over_steps(const struct pm_conflicts *conflicts, const double *sum, double *p) {
    memset(p, 0, (conflicts->most + 1) * sizeof *p);
    for (uint32_t s = 0; s <= conflicts->steps; s++)
        p[(uint32_t)fmin(s * conflicts->step, conflicts->most)] += sum[s];
}

/* The distribution of how many others of the window are in the set of a block of GROUP. */
static const double *of_window(struct pm_conflicts *conflicts, uint32_t group) {
    const uint32_t steps = conflicts->steps;
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
    double sum[conflicts->steps + 1];
    memcpy(sum, of_window(conflicts, group), sizeof sum);
    convolve_random(conflicts, sum, random);
    convolve_even(conflicts, sum, even);
    if (conflicts->colours > 1)
        spread_over_colours(conflicts, sum, p);
    else
        spread_over_steps(conflicts, sum, p);
}
