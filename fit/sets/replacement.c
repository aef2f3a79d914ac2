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
   PLRU    as LRU.  A block in the tree leaves at the k-th miss after its touch, as of LRU, but for
           hits of others, which may turn the bits back; chains of its bits with hits at random, or
   in leaves that were not used since, were further off (docs/log-fitting.md). */
#include <math.h>
#include <stdlib.h>

#include "fit/sets/private.h"

enum {
    FURTHER = 4, /* ways: random replacement has lost nearly all by then */
    MOST_ROUNDS = 20,
};
static const double STILL = 1e-4;

struct pm_rule {
    enum pm_replacement replacement;
    double ways;
    uint32_t most;
};

struct pm_rule *pm_rule_new(enum pm_replacement replacement, double ways) {
    struct pm_rule *rule = pm_alloc(1, sizeof *rule);
    if (ways <= 1 || replacement == PM_REPLACEMENT_PLRU)
        replacement = PM_REPLACEMENT_LRU;
    uint32_t most = (uint32_t)ceil(ways) * (replacement == PM_REPLACEMENT_LRU ? 1 : FURTHER);
    *rule = (struct pm_rule){.replacement = replacement, .ways = ways, .most = most};
    return rule;
}

void pm_rule_free(struct pm_rule *rule) { free(rule); }

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
