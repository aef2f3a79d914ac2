/* Smaller blocks bound larger ones.

   Blocks of B bytes consist of whole blocks of b bytes where b divides B, so that between two
   touches of the same memory there are at most as many distinct large blocks as small ones, and
   memory that was never touched in large blocks was not in small ones:
       d_B(a) ≤ d_b(a)  for each access a,  hence  Q_B(r) ≤ Q_b(r)  for each rank r
   where Q(r) is the distance that r accesses of the group exceed.  Measured histograms obey this;
   predicted ones must be made to.  It matters for pages: while an array's planes are smaller than
   a page, a distance in pages grows with a high power of the size, and later it does not; the
   smaller blocks have passed that point at the measured sizes.
   Source: of this project; the property is that of partitions of memory one of which refines the
   other. */
#include "fit/predict/predict.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/private.h"

/* How far the longest distances of the smaller blocks are used up, from the longest down. */
struct descent {
    const struct pm_histogram *histogram;
    size_t n_left;   /* bins */
    double used;     /* accesses of the bin n_left − 1 */
    double infinite; /* cold accesses not used up */
};

struct bound {
    double count, low, high; /* of distances, evenly spread; infinite for cold accesses */
};

/* The next at most COUNT accesses; all that are wanted, without a bound, where none is left. */
static struct bound descend(struct descent *from, double count) {
    if (from->infinite > 0 || from->n_left == 0) {
        double taken = from->n_left == 0 ? count : fmin(count, from->infinite);
        from->infinite -= taken;
        return (struct bound){taken, INFINITY, INFINITY};
    }
    const struct pm_bin *bin = &from->histogram->bins[from->n_left - 1];
    double all = pm_bin_accesses(bin), taken = fmin(count, all - from->used);
    double width = bin->high - bin->low, first = from->used / all;
    from->used += taken;
    struct bound bound = {taken, bin->high - width * from->used / all, bin->high - width * first};
    if (from->used >= all * (1 - 1e-12)) {
        from->n_left--;
        from->used = 0;
    }
    return bound;
}

/* BIN in parts, each under its bound; how many. */
static size_t bounded_bins(const struct pm_bin *bin, struct descent *from, struct pm_bin *bounded) {
    double all = pm_bin_accesses(bin), left = all, bound_sum = 0;
    size_t n = 0;
    while (left > all * 1e-12) {
        struct bound bound = descend(from, left);
        double share = bound.count / all, mean = 0.5 * (bound.low + bound.high);
        left -= bound.count;
        bound_sum += share * (isinf(mean) ? bin->mean : mean);
        if (bound.count <= 0)
            continue;
        bounded[n++] = (struct pm_bin){.low = fmin(bin->low, bound.low),
                                       .mean = fmin(bin->mean, mean),
                                       .high = fmin(bin->high, bound.high),
                                       .loads = bin->loads * share,
                                       .stores = bin->stores * share};
    }
    if (n == 0 || bin->mean <= bound_sum) { /* as a whole it is within its bounds */
        bounded[0] = *bin;
        return 1;
    }
    return n;
}

void pm_fit_bound_by_smaller(struct pm_histogram *large, const struct pm_histogram *small) {
    double unbounded = small->cold_loads + small->cold_stores;
    struct descent from = {small, small->n_bins, 0,
                           unbounded + small->beyond_loads + small->beyond_stores};
    double cold = large->cold_loads + large->cold_stores;
    cold += large->beyond_loads + large->beyond_stores;
    while (cold > 0)
        cold -= descend(&from, cold).count;
    /* Each bin of either ends at most one part; one more for those without a bound. */
    struct pm_bin *bins = pm_alloc(2 * large->n_bins + small->n_bins + 2, sizeof *bins);
    size_t n = 0;
    for (size_t i = large->n_bins; i-- > 0;)
        n += bounded_bins(&large->bins[i], &from, bins + n);
    free(large->bins);
    large->bins = bins;
    large->n_bins = pm_fit_order_bins(bins, n);
}
