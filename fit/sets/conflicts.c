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

   These are independent, and X is their sum: its distribution is their convolution. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/sets/private.h"

enum {
    MOST_CLUSTERS = 32, /* of others, the largest: blocks of the rest count as anywhere */
    MOST_CLASSES = 256, /* residue classes that are told apart; larger moduli count as this one */
    PAGE_BYTES = 4096,  /* what allocators and linkers keep to */
};

/* Distributions are WAYS + 1 numbers: P(i blocks in a set), and in the last place P(ways or more).
 */
struct others {
    uint64_t n_classes;
    double *p; /* [class of the set][blocks]; NULL: not made yet */
};

struct pm_conflicts {
    const struct pm_window *window;
    uint64_t block_bytes, n_sets;
    uint32_t ways;
    size_t n_clusters;
    uint32_t **in_set;     /* [cluster][set]: blocks; NULL: not counted yet */
    bool *is_small;        /* [cluster]: not one of the largest */
    double small_blocks;   /* of these */
    struct others *others; /* [cluster]: all but it; [n_clusters]: all, moved at random */
};

/* SUM becomes the distribution of the sum of both. */
static void convolve(double *sum, const double *with, uint32_t ways) {
    double result[ways + 1];
    memset(result, 0, sizeof result);
    for (uint32_t j = 0; j <= ways; j++)
        for (uint32_t i = 0; with[j] > 0 && i <= ways; i++)
            result[i + j < ways ? i + j : ways] += sum[i] * with[j];
    memcpy(sum, result, sizeof result);
}

/* N blocks, each in the set with probability 1/s; N need not be whole. */
static void convolve_random(double *sum, double n, uint64_t n_sets, uint32_t ways) {
    double p[ways + 1], left = 1, term = exp(n * log1p(-1 / (double)n_sets));
    for (uint32_t i = 0; i < ways; i++) {
        p[i] = fmin(left, term);
        left -= p[i];
        term *= fmax(0, n - i) / (double)(i + 1) / (double)(n_sets - 1);
    }
    p[ways] = left;
    convolve(sum, p, ways);
}

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t gcd_of_strides(const struct pm_window_cluster *cluster, uint64_t with) {
    for (uint32_t i = 0; i < cluster->n_strides; i++)
        with = gcd(with, (uint64_t)llabs(cluster->strides[i]));
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
        bytes = a->page_known && b->page_known ? gcd(bytes, PAGE_BYTES) : 1;
    if (bytes % conflicts->block_bytes)
        return 1;
    uint64_t classes = bytes / conflicts->block_bytes;
    return classes > MOST_CLASSES ? gcd(classes, MOST_CLASSES) : classes;
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

/* Blocks of CLUSTER in each set, of GROUP only or of all (PM_NONE); how many. */
static uint64_t count_in_sets(const struct pm_window_cluster *cluster, uint32_t group,
                              uint64_t n_sets, uint32_t *in_set) {
    int64_t first = 0, last = -1;
    uint64_t n = 0;
    for (size_t i = 0; i <= cluster->n_ranges; i++) {
        const struct pm_block_range *range = i < cluster->n_ranges ? &cluster->ranges[i] : NULL;
        if (range && group != PM_NONE && range->group != group)
            continue;
        if (range && last >= first && range->first <= last + 1) {
            last = range->last > last ? range->last : last;
            continue;
        }
        if (last >= first) {
            add_range(first, last, n_sets, in_set);
            n += (uint64_t)(last - first) + 1;
        }
        if (range) {
            first = range->first;
            last = range->last;
        }
    }
    return n;
}

/* Blocks of cluster C in each set. */
static const uint32_t *in_set_of(const struct pm_conflicts *conflicts, size_t c) {
    uint32_t **in_set = &conflicts->in_set[c];
    if (!*in_set) {
        *in_set = pm_alloc(conflicts->n_sets, sizeof **in_set);
        count_in_sets(&conflicts->window->clusters[c], PM_NONE, conflicts->n_sets, *in_set);
    }
    return *in_set;
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

struct pm_conflicts *pm_conflicts_new(const struct pm_window *window, uint64_t block_bytes,
                                      uint64_t n_sets, uint32_t ways) {
    const size_t n = window->n_clusters;
    struct pm_conflicts *conflicts = pm_alloc(1, sizeof *conflicts);
    *conflicts = (struct pm_conflicts){.window = window,
                                       .block_bytes = block_bytes,
                                       .n_sets = n_sets,
                                       .ways = ways,
                                       .n_clusters = n,
                                       .in_set = pm_alloc(n, sizeof(uint32_t *)),
                                       .is_small = pm_alloc(n, sizeof(bool)),
                                       .others = pm_alloc(n + 1, sizeof(struct others))};
    find_small(conflicts);
    return conflicts;
}

void pm_conflicts_free(struct pm_conflicts *conflicts) {
    if (!conflicts)
        return;
    for (size_t c = 0; c < conflicts->n_clusters; c++)
        free(conflicts->in_set[c]);
    for (size_t c = 0; c <= conflicts->n_clusters; c++)
        free(conflicts->others[c].p);
    free(conflicts->in_set);
    free(conflicts->is_small);
    free(conflicts->others);
    free(conflicts);
}

/* Adds to each class of OTHERS the blocks of cluster C, which is known modulo CLASSES sets. */
static void add_cluster(const struct pm_conflicts *conflicts, size_t c, uint64_t classes,
                        struct others *others) {
    const uint32_t ways = conflicts->ways;
    double *p = pm_alloc(classes * (ways + 1), sizeof *p);
    double share = (double)classes / (double)conflicts->n_sets;
    const uint32_t *in_set = in_set_of(conflicts, c);
    for (uint64_t s = 0; s < conflicts->n_sets; s++) {
        uint32_t blocks = in_set[s];
        p[s % classes * (ways + 1) + (blocks < ways ? blocks : ways)] += share;
    }
    for (uint64_t k = 0; k < others->n_classes; k++)
        convolve(others->p + k * (ways + 1), p + k % classes * (ways + 1), ways);
    free(p);
}

/* Those of the block's own cluster C; n_clusters: it is of none. */
static const struct others *others_of(const struct pm_conflicts *conflicts, size_t c) {
    struct others *others = &conflicts->others[c];
    const size_t n = conflicts->n_clusters;
    const uint32_t ways = conflicts->ways;
    if (others->p)
        return others;
    uint64_t *classes = pm_alloc(n, sizeof *classes);
    others->n_classes = 1;
    for (size_t o = 0; o < n; o++) {
        const struct pm_window_cluster *clusters = conflicts->window->clusters;
        classes[o] = c < n && o != c && !conflicts->is_small[o]
                         ? known_classes(conflicts, &clusters[c], &clusters[o])
                         : 1;
        others->n_classes = others->n_classes / gcd(others->n_classes, classes[o]) * classes[o];
    }
    others->p = pm_alloc(others->n_classes * (ways + 1), sizeof *others->p);
    for (uint64_t k = 0; k < others->n_classes; k++)
        others->p[k * (ways + 1)] = 1;
    for (size_t o = 0; o < n; o++)
        if (o != c && !conflicts->is_small[o])
            add_cluster(conflicts, o, classes[o], others);
    double small = conflicts->small_blocks;
    if (c < n && conflicts->is_small[c])
        small -= conflicts->window->clusters[c].blocks;
    for (uint64_t k = 0; small > 0 && k < others->n_classes; k++)
        convolve_random(others->p + k * (ways + 1), small, conflicts->n_sets, ways);
    free(classes);
    return others;
}

static void convolve_even(double *sum, double n, uint64_t n_sets, uint32_t ways) {
    double p[ways + 1], mean = n / (double)n_sets, below = floor(mean);
    memset(p, 0, sizeof p);
    p[(uint32_t)fmin(below, ways)] += 1 - (mean - below);
    p[(uint32_t)fmin(below + 1, ways)] += mean - below;
    convolve(sum, p, ways);
}

static bool has_group(const struct pm_window_cluster *cluster, uint32_t group) {
    for (size_t i = 0; i < cluster->n_groups; i++)
        if (cluster->groups[i] == group)
            return true;
    return false;
}

/* Adds to MISSES the group's blocks of cluster C that find WAYS others or more; how many there are.
 */
static double add_own(const struct pm_conflicts *conflicts, size_t c, uint32_t group,
                      const double *around, double *misses) {
    const uint32_t ways = conflicts->ways;
    if (!has_group(&conflicts->window->clusters[c], group))
        return 0;
    uint32_t *mine = pm_alloc(conflicts->n_sets, sizeof *mine);
    uint64_t n = count_in_sets(&conflicts->window->clusters[c], group, conflicts->n_sets, mine);
    const struct others *others = n ? others_of(conflicts, c) : NULL;
    const uint32_t *in_set = in_set_of(conflicts, c);
    for (uint64_t k = 0; n && k < others->n_classes; k++) {
        double own[ways + 1];
        memset(own, 0, sizeof own);
        for (uint64_t s = k; s < conflicts->n_sets; s += others->n_classes)
            if (mine[s]) {
                uint32_t blocks = in_set[s] - 1;
                own[blocks < ways ? blocks : ways] += mine[s];
            }
        convolve(own, others->p + k * (ways + 1), ways);
        convolve(own, around, ways);
        *misses += own[ways];
    }
    free(mine);
    return (double)n;
}

double pm_conflicts_miss_share(const struct pm_conflicts *conflicts, uint32_t group, double random,
                               double even) {
    const uint32_t ways = conflicts->ways;
    const size_t n = conflicts->n_clusters;
    double around[ways + 1], misses = 0, blocks = 0;
    memset(around, 0, sizeof around);
    around[0] = 1;
    convolve_random(around, random, conflicts->n_sets, ways);
    convolve_even(around, even, conflicts->n_sets, ways);
    for (size_t c = 0; c < n; c++)
        blocks += add_own(conflicts, c, group, around, &misses);
    if (blocks > 0)
        return misses / blocks;
    convolve(around, others_of(conflicts, n)->p, ways);
    return around[ways];
}
