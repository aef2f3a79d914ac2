/* Larger blocks come back no later than the smaller ones in them.

   Of an access whose smaller block was touched before, the larger one was touched then, too, or
   after that, and what lies between are at most as many larger blocks as smaller ones.  So of the
   accesses of a group as many as have a distance of d larger blocks or more have one of d smaller
   blocks or more: the k-th longest distances compare.  Models of both are made by themselves, and
   where pages are shorter than what lies between two elements only at sizes beyond those that were
   measured, distances of pages grow with the square there although those of lines do not.

   That is asked of groups that come to another larger block in each iteration, of which the larger
   blocks between are nearly those of the smaller size; of others it gains nothing, and the smaller
   blocks' models may be the worse ones.  A part of a bin that lies above the bin of smaller blocks
   at its place, as a whole, goes there. First touches stay, which are those of the program
   (instantiate.c). */
#include <math.h>
#include <stdlib.h>

#include "fit/predict/predict.h"

#include "core/base/base.h"

/* The accesses of a histogram from the longest distance on. */
struct descent {
    const struct pm_histogram *histogram;
    size_t bin;    /* bins below it are left; n_bins: and what is beyond */
    bool is_cold;  /* first touches are not through yet */
    double left;   /* accesses of the place */
    bool has_some; /* false: all are through */
};

static double accesses_at(const struct descent *at) {
    const struct pm_histogram *h = at->histogram;
    if (at->is_cold)
        return h->cold_loads + h->cold_stores;
    return at->bin == h->n_bins ? h->beyond_loads + h->beyond_stores
                                : h->bins[at->bin].loads + h->bins[at->bin].stores;
}

static struct descent descent_of(const struct pm_histogram *histogram) {
    struct descent at = {
        .histogram = histogram, .bin = histogram->n_bins, .is_cold = true, .has_some = true};
    at.left = accesses_at(&at);
    return at;
}

static void descend(struct descent *at) {
    if (at->is_cold)
        at->is_cold = false;
    else if (at->bin == 0)
        at->has_some = false;
    else
        at->bin--;
    at->left = at->has_some ? accesses_at(at) : 0;
}

/* The bin of smaller blocks that the place of larger ones cannot be above, and is; NULL: none. */
static const struct pm_bin *bin_below(const struct descent *larger, const struct descent *smaller) {
    const struct pm_histogram *h = larger->histogram, *of = smaller->histogram;
    if (larger->is_cold || smaller->is_cold || smaller->bin == of->n_bins)
        return NULL;
    double low = larger->bin == h->n_bins ? h->at_least : h->bins[larger->bin].low;
    return low > of->bins[smaller->bin].high ? &of->bins[smaller->bin] : NULL;
}

/* SHARE of the loads and stores FROM go to INTO. */
static void move(double *loads, double *stores, double share, struct pm_bin *into) {
    into->loads += *loads * share;
    into->stores += *stores * share;
    *loads *= 1 - share;
    *stores *= 1 - share;
}

/* Takes ACCESSES, all that is left of its place or less, to a copy of BIN at the end of BINS. */
static void move_to(struct pm_histogram *larger, const struct descent *at, double accesses,
                    const struct pm_bin *bin, struct pm_bin *into) {
    double *loads = &larger->beyond_loads, *stores = &larger->beyond_stores;
    if (at->bin < larger->n_bins) {
        loads = &larger->bins[at->bin].loads;
        stores = &larger->bins[at->bin].stores;
    }
    double all = *loads + *stores;
    *into = (struct pm_bin){.low = bin->low, .high = bin->high, .mean = bin->mean};
    if (all > 0)
        move(loads, stores, fmin(accesses / all, 1), into);
}

void pm_shorten_larger_blocks(const struct pm_histogram *smaller, struct pm_histogram *larger) {
    struct pm_bin *moved = NULL;
    size_t n_moved = 0, room = 0;
    struct descent above = descent_of(larger), below = descent_of(smaller);
    while (above.has_some && below.has_some) {
        double accesses = fmin(above.left, below.left);
        const struct pm_bin *bin = accesses > 0 ? bin_below(&above, &below) : NULL;
        if (bin) {
            moved = pm_grow(moved, n_moved, &room, sizeof *moved);
            move_to(larger, &above, accesses, bin, &moved[n_moved++]);
        }
        above.left -= accesses;
        below.left -= accesses;
        if (above.left <= 0)
            descend(&above);
        if (below.left <= 0)
            descend(&below);
    }
    if (!n_moved)
        return;
    size_t kept = 0;
    struct pm_bin *bins = pm_alloc(larger->n_bins + n_moved, sizeof *bins);
    for (size_t i = 0; i < larger->n_bins; i++)
        if (larger->bins[i].loads + larger->bins[i].stores > 0)
            bins[kept++] = larger->bins[i];
    for (size_t i = 0; i < n_moved; i++)
        bins[kept++] = moved[i];
    free(moved);
    free(larger->bins);
    larger->bins = bins;
    larger->n_bins = pm_fit_order_bins(bins, kept);
}

/* ---- of a profile ---------------------------------------------------------------------------- */

static int compare_blocks(const void *a, const void *b) {
    const struct pm_group_histogram *left = *(struct pm_group_histogram *const *)a;
    const struct pm_group_histogram *right = *(struct pm_group_histogram *const *)b;
    return left->group != right->group
               ? PM_COMPARE(left->group, right->group)
               : PM_COMPARE(left->histogram.block_bytes, right->histogram.block_bytes);
}

/* Per group: how far its references go from one iteration to the next at this size, in bytes, as
   far as is known. */
static double *steps_of_groups(const struct pm_structure *structure,
                               const struct pm_run_strides *strides) {
    double *steps = pm_alloc(structure->n_groups, sizeof *steps);
    for (size_t i = 0; i < strides->n_references; i++) {
        const struct pm_reference_strides *of = &strides->references[i];
        uint32_t group = structure->references[of->reference].group, l = 0;
        while (l < of->n_levels && of->levels[l].stride_bytes == 0)
            l++;
        if (group != PM_NONE && l < of->n_levels)
            steps[group] = fmax(steps[group], fabs(of->levels[l].stride_bytes));
    }
    return steps;
}

void pm_shorten_larger_blocks_of(const struct pm_structure *structure, struct pm_profile *profile) {
    struct pm_group_histogram **order = pm_alloc(profile->n_histograms, sizeof(void *));
    double *steps = steps_of_groups(structure, &profile->strides);
    for (size_t h = 0; h < profile->n_histograms; h++)
        order[h] = &profile->histograms[h];
    PM_SORT(order, profile->n_histograms, compare_blocks);
    for (size_t h = 1; h < profile->n_histograms; h++) {
        uint32_t group = order[h]->group;
        if (group == order[h - 1]->group && group < structure->n_groups &&
            steps[group] >= (double)order[h]->histogram.block_bytes)
            pm_shorten_larger_blocks(&order[h - 1]->histogram, &order[h]->histogram);
    }
    free(steps);
    free(order);
}
