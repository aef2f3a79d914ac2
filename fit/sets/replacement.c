/* Which block a set gives up for another, and so which reuses miss.

   x      blocks of others in the set between a block's touch and its reuse
   r      misses for each of these blocks (policies.c), so that y = x·r come to the set between
   k      ways

   LRU     the reuse misses if x ≥ k.
   Random  each miss leaves it with probability 1 − 1/k (Berg and Hagersten 2004):
               P(miss) = 1 − (1 − 1/k)^y
   FIFO    a block leaves k misses after it came, however often it was used.  A reuse with y ≥ k
           misses, and renews the block.  Where there are only shorter ones, every ⌊k/y⌋ + 1st does.
           Where the shorter ones from one renewal to the next span w·k misses together, w being
           distributed exponentially from block to block, fewer of them do, because the block is
           renewed before:
               P(miss) = 1 / ((e^(1/w) − 1) · w) / (⌊k/y⌋ + 1)
   PLRU    a binary tree of bits that point away from what was used.  A block has log2 k of them on
           its way, none of which points to it after its touch; read as a number, the root's bit
           being the last, a miss in the set adds one, and replaces the block where all point to it
           already; a hit elsewhere sets the bit where the ways part, and clears those above.  A
           block that is used for the first time since, and hits, is in a leaf that was not used
           since; in which, is even; and min(1, r) of the blocks miss.  A chain of k states, from
           which a table over x and r is made.  Without hits it is LRU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/sets/private.h"

enum {
    FURTHER = 4, /* ways: random replacement has lost nearly all by then */
    MOST_LEVELS = 8,
    MOST_TREE = 1 << MOST_LEVELS, /* ways; what has more is taken as LRU */
    MISS_STEPS = 32,              /* of min(1, r) in the table */
    MOST_ROUNDS = 20,
};
static const double STILL = 1e-4;

struct pm_rule {
    enum pm_replacement replacement;
    double ways;
    uint32_t most;
    double *evicted; /* PLRU: [step of r][x ≤ most] */
};

static bool is_power_of_two(double value) {
    uint64_t whole = (uint64_t)value;
    return value == (double)whole && whole && !(whole & (whole - 1));
}

/* A block in a tree: the probabilities of its states, and how many leaves that part from its way at
   each level were not used since its touch. */
struct tree {
    uint32_t levels;
    double p[MOST_TREE], unused[MOST_LEVELS];
};

/* One more block is used, which misses with MISS; what of P replaced the block is lost.  A block
   that is used for the first time since, and hits, is in a leaf that was not used since. */
static void step_tree(struct tree *tree, double miss) {
    const uint32_t ways = 1u << tree->levels;
    double next[MOST_TREE] = {0}, used[MOST_LEVELS] = {0}, left = 0, alive = 0;
    for (uint32_t level = 0; level < tree->levels; level++)
        left += tree->unused[level];
    const double hit = (1 - miss) * fmin(1, left);
    for (uint32_t state = 0; state < ways; state++) {
        double p = tree->p[state];
        uint32_t to = (uint32_t)__builtin_ctz(~state);
        alive += p;
        if (state + 1 < ways) {
            next[state + 1] += p * (1 - hit);
            used[to] += p * (1 - hit);
        }
        for (uint32_t level = 0; level < tree->levels && hit > 0; level++) {
            uint32_t bit = 1u << level;
            next[(state & ~(bit - 1)) | bit] += p * hit * tree->unused[level] / left;
            used[level] += p * hit * tree->unused[level] / left;
        }
    }
    for (uint32_t level = 0; level < tree->levels && alive > 0; level++)
        tree->unused[level] = fmax(0, tree->unused[level] - used[level] / alive);
    memcpy(tree->p, next, ways * sizeof *next);
}

static void make_tree_table(struct pm_rule *rule) {
    const uint32_t levels = (uint32_t)__builtin_ctz((uint32_t)rule->ways), places = rule->most + 1;
    rule->evicted = pm_alloc((size_t)(MISS_STEPS + 1) * places, sizeof *rule->evicted);
    for (uint32_t m = 0; m <= MISS_STEPS; m++) {
        struct tree tree = {.levels = levels, .p = {1}};
        for (uint32_t level = 0; level < levels; level++)
            tree.unused[level] = rule->ways / (2 << level);
        for (uint32_t x = 1; x < places; x++) {
            double left = 0;
            step_tree(&tree, (double)m / MISS_STEPS);
            for (uint32_t state = 0; state < 1u << levels; state++)
                left += tree.p[state];
            rule->evicted[m * places + x] = 1 - left;
        }
    }
}

struct pm_rule *pm_rule_new(enum pm_replacement replacement, double ways) {
    struct pm_rule *rule = pm_alloc(1, sizeof *rule);
    bool has_tree = is_power_of_two(ways) && ways <= MOST_TREE;
    if (ways <= 1 || (replacement == PM_REPLACEMENT_PLRU && !has_tree))
        replacement = PM_REPLACEMENT_LRU;
    *rule =
        (struct pm_rule){.replacement = replacement, .ways = ways, .most = (uint32_t)ceil(ways)};
    if (replacement != PM_REPLACEMENT_LRU)
        rule->most *= FURTHER;
    if (replacement == PM_REPLACEMENT_PLRU)
        make_tree_table(rule);
    return rule;
}

void pm_rule_free(struct pm_rule *rule) {
    free(rule->evicted);
    free(rule);
}

uint32_t pm_rule_most(const struct pm_rule *rule) { return rule->most; }

bool pm_rule_is_lru(const struct pm_rule *rule) { return rule->replacement == PM_REPLACEMENT_LRU; }

double pm_rule_least_distance(const struct pm_rule *rule) {
    return pm_rule_is_lru(rule) ? floor(rule->ways) : 1;
}

/* The probability that MOST or more blocks are between. */
static double share_from(const struct pm_between *between, uint32_t end, uint32_t most) {
    double share = 0;
    for (uint32_t x = most; x <= end; x++)
        share += between->p[x];
    return share;
}

double pm_rule_lru_share(const struct pm_rule *rule, const struct pm_between *between) {
    double below = floor(rule->ways), part = rule->ways - below;
    if (!between->p)
        return fmin(1, fmax(0, between->exactly - rule->ways + 1));
    return (1 - part) * share_from(between, rule->most, (uint32_t)below) +
           (part > 0 ? part * share_from(between, rule->most, (uint32_t)below + 1) : 0);
}

static double random_share(double ways, double misses) { return -expm1(misses * log1p(-1 / ways)); }

/* Of reuses that span MISSES, fewer than WAYS. */
static double fifo_share(double ways, double misses, double span) {
    if (misses <= 0 || span <= 0)
        return 0;
    double times = span / ways, n = floor(ways / misses);
    return (isinf(times) ? 1 : 1 / expm1(1 / times) / times) / (n + 1);
}

static double tree_share(const struct pm_rule *rule, double x, double misses_per_block) {
    double place = fmin(1, misses_per_block) * MISS_STEPS, below = floor(place);
    const double *at =
        &rule->evicted[(size_t)below * (rule->most + 1) + (size_t)fmin(x, rule->most)];
    return at[0] + (place > below ? (place - below) * (at[rule->most + 1] - at[0]) : 0);
}

/* Of reuses with X blocks between.  In a set with more of these than others, more of them miss: one
   of each block's misses, as far as sets decide, is of a reuse like this one. */
static double share_at(const struct pm_rule *rule, const struct pm_between *between, double x,
                       double *span) {
    double alike = between->share > 0 ? fmin(1, between->sometimes / between->share) : 0, share = 1;
    for (int step = 0; step < MOST_ROUNDS; step++) {
        double now,
            per_block = between->always + between->sometimes + alike * (share - between->share);
        *span = x * per_block;
        if (rule->replacement == PM_REPLACEMENT_RANDOM)
            now = random_share(rule->ways, *span);
        else if (rule->replacement == PM_REPLACEMENT_PLRU)
            now = tree_share(rule, x, per_block);
        else
            now = *span >= rule->ways ? 1 : fifo_share(rule->ways, *span, between->span);
        if (fabs(now - share) <= STILL)
            return now;
        share = now;
    }
    return share;
}

double pm_rule_miss_share(const struct pm_rule *rule, const struct pm_between *between,
                          struct pm_fifo_share *fifo) {
    double share = 0, shorter = 0, span;
    *fifo = (struct pm_fifo_share){0};
    if (pm_rule_is_lru(rule))
        return pm_rule_lru_share(rule, between);
    for (uint32_t x = 0; x <= rule->most; x++) {
        double p = between->p ? between->p[x] : 1, at = between->p ? x : between->exactly;
        if (p > 0) {
            share += p * share_at(rule, between, at, &span);
            bool is_longer = span >= rule->ways;
            *(is_longer ? &fifo->longer : &shorter) += p;
            fifo->shorter_span += is_longer ? 0 : p * span;
        }
        if (!between->p)
            break;
    }
    if (shorter > 0)
        fifo->shorter_span /= shorter;
    return fmin(1, share);
}
