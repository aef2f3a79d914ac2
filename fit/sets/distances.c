/* Distances are told apart by whole blocks where they are short and in steps of two percent where
   they are long: what a histogram says becomes accesses in such cells.

   Of a bin the two ends and the mean are known.  Of the distributions over n distances that have
   this mean the one of largest entropy is taken: P(low + i) ∝ q^i, with the mean
       low + q / (1 − q) − n·q^n / (1 − q^n),
   which is even (q = 1) where the mean is in the middle. */
#include <math.h>

#include "fit/sets/private.h"

enum {
    WHOLE = 64, /* cells of one distance each */
    MOST_STEPS = 100,
};
static const double STEP = 1.02;
static const double EXACT = 1e-13;
static const double EVEN = 1e-5; /* n · log q: the distribution is even but for rounding */

double pm_distance_begin(size_t cell) {
    return cell <= WHOLE ? (double)cell : WHOLE * pow(STEP, (double)(cell - WHOLE));
}

static size_t cell_of(double distance) {
    if (distance < WHOLE)
        return distance > 0 ? (size_t)distance : 0;
    size_t cell = WHOLE + (size_t)(log(distance / WHOLE) / log(STEP));
    return pm_distance_begin(cell + 1) <= distance ? cell + 1 : cell;
}

size_t pm_distance_n_cells(double most) { return cell_of(most) + 1; }

static void add(struct pm_distance_cells *cells, size_t cell, double accesses, double distance) {
    struct pm_distance_cell *last = cells->n_cells ? &cells->cells[cells->n_cells - 1] : NULL;
    if (!last || last->cell != cell) {
        last = PM_PUSH(cells, cells);
        last->cell = (uint32_t)cell;
    }
    last->accesses += accesses;
    if (last->accesses > 0)
        last->distance += (distance - last->distance) * accesses / last->accesses;
}

/* The mean of n whole numbers from 0 on, distributed with log q = SLOPE. */
static double mean_of(double n, double slope) {
    if (fabs(n * slope) < EVEN)
        return (n - 1) / 2 * (1 + slope * (n + 1) / 6);
    if (n * slope > 500) /* exp (n · slope) is no number of this machine's */
        return n - 1 - exp(-slope) / -expm1(-slope);
    return exp(slope) / -expm1(slope) - n * exp(n * slope) / -expm1(n * slope);
}

/* log q of the distribution of n whole numbers from 0 on with this mean, which rises with it: by
   the method of false position, of whose ends none is kept for long (Illinois). */
static double slope_of(double n, double mean) {
    double low = -50, high = 50; /* nearly all at one end */
    double below = -mean, above = n - 1 - mean;
    for (int step = 0, side = 0; step < MOST_STEPS && high - low > EXACT * fabs(low + high);
         step++) {
        double slope =
            step % 3 == 2 ? (low + high) / 2 : low - below * (high - low) / (above - below);
        double off = mean_of(n, slope) - mean;
        bool is_low = off < 0;
        if (is_low) {
            low = slope;
            below = off;
            above /= side == 1 ? 2 : 1;
        } else {
            high = slope;
            above = off;
            below /= side == -1 ? 2 : 1;
        }
        side = is_low ? 1 : -1;
    }
    return (low + high) / 2;
}

/* Such a distribution. */
struct entropic {
    double n, slope;
    double whole; /* of slopes upwards: expm1 (−n · slope), of others expm1 (n · slope) */
};

static struct entropic entropic_of(double n, double mean) {
    double slope = slope_of(n, mean);
    return (struct entropic){n, slope, expm1(-fabs(n * slope))};
}

/* The share of it below I. */
static double share_below(const struct entropic *of, double i) {
    if (fabs(of->n * of->slope) < EVEN)
        return i / of->n;
    if (of->slope > 0) /* from the other end, where it is large */
        return 1 - expm1((i - of->n) * of->slope) / of->whole;
    return expm1(i * of->slope) / of->whole;
}

void pm_distance_cells_make(const struct pm_histogram *histogram, struct pm_distance_cells *cells) {
    *cells = (struct pm_distance_cells){.always_missing = pm_histogram_always_missing(histogram)};
    for (size_t i = 0; i < histogram->n_bins; i++) {
        const struct pm_bin *bin = &histogram->bins[i];
        double accesses = bin->loads + bin->stores, n = bin->high - bin->low + 1;
        size_t cell = cell_of(bin->low), last = cell_of(bin->high);
        if (cell == last) {
            add(cells, cell, accesses, bin->mean);
            continue;
        }
        const struct entropic entropic = entropic_of(n, bin->mean - bin->low);
        double done = 0;
        for (double from = bin->low; cell <= last; cell++) {
            double to = fmin(pm_distance_begin(cell + 1), bin->high + 1);
            if (to <= from)
                continue;
            double below = share_below(&entropic, to - bin->low);
            add(cells, cell, accesses * fmax(0, below - done), (from + to - 1) / 2);
            done = below;
            from = to;
        }
    }
}
