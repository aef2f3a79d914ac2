/* Distances are told apart by whole blocks where they are short and in steps of two percent where
   they are long: what a histogram says becomes accesses in such cells.

   Of a bin the two ends and the mean are known.  Of the distributions over n distances that have
   this mean the one of largest entropy is taken: P(low + i) ∝ q^i, with the mean
       low + q / (1 − q) − n·q^n / (1 − q^n),
   which is even (q = 1) where the mean is in the middle. */
#include <math.h>

#include "fit/sets/private.h"

enum { WHOLE = 64 }; /* cells of one distance each */
static const double STEP = 1.02;
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

/* log q of the distribution of n whole numbers from 0 on with this mean. */
static double slope_of(double n, double mean) {
    double low = -50, high = 50; /* nearly all at one end */
    for (int step = 0; step < 60; step++) {
        double slope = (low + high) / 2, odd = -expm1(slope), all = -expm1(n * slope);
        double found = fabs(n * slope) < EVEN ? (n - 1) / 2 * (1 + slope * (n + 1) / 6)
                                              : exp(slope) / odd - n * exp(n * slope) / all;
        if (n * slope > 500) /* exp (n · slope) is no number of this machine's */
            found = n - 1 - exp(-slope) / -expm1(-slope);
        if (found < mean)
            low = slope;
        else
            high = slope;
    }
    return (low + high) / 2;
}

/* The share of such a distribution below I. */
static double share_below(double n, double slope, double i) {
    if (fabs(n * slope) < EVEN)
        return i / n;
    if (slope > 0) /* from the other end, where it is large */
        return 1 - expm1((i - n) * slope) / expm1(-n * slope);
    return expm1(i * slope) / expm1(n * slope);
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
        double slope = slope_of(n, bin->mean - bin->low), done = 0;
        for (double from = bin->low; cell <= last; cell++) {
            double to = fmin(pm_distance_begin(cell + 1), bin->high + 1);
            if (to <= from)
                continue;
            double below = share_below(n, slope, to - bin->low);
            add(cells, cell, accesses * fmax(0, below - done), (from + to - 1) / 2);
            done = below;
            from = to;
        }
    }
}
