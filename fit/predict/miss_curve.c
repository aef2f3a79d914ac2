/* The misses of a fully associative cache of C blocks are the accesses whose distances are C or
   more.  Within a cell a bin's accesses are where pm_bin_missing_share has them. */
#include "fit/predict/miss_curve.h"

#include <math.h>

#include "core/histogram.h"

double pm_cell_begin(size_t cell) {
    return cell == 0 ? 0 : exp2((double)(cell - 1) / PM_CELLS_PER_OCTAVE);
}

size_t pm_cell_of(double distance) {
    if (!(distance >= 1))
        return 0;
    size_t cell = 1 + (size_t)(log2(distance) * PM_CELLS_PER_OCTAVE);
    cell = cell < PM_MAX_CELLS ? cell : PM_MAX_CELLS - 1;
    if (distance < pm_cell_begin(cell)) /* where the logarithm was rounded */
        return cell - 1;
    return cell + 1 < PM_MAX_CELLS && distance >= pm_cell_begin(cell + 1) ? cell + 1 : cell;
}

static void add_bin(const struct pm_bin *bin, double *in_cells) {
    double all = bin->loads + bin->stores, left = 1;
    for (size_t cell = pm_cell_of(bin->low);; cell++) {
        double beyond =
            cell + 1 < PM_MAX_CELLS ? pm_bin_missing_share(bin, pm_cell_begin(cell + 1)) : 0;
        in_cells[cell] += all * (left - beyond);
        left = beyond;
        if (!(left > 0))
            return;
    }
}

void pm_count_cells(const struct pm_profile *profile, uint64_t block_bytes, double *in_cells) {
    for (size_t cell = 0; cell <= PM_MAX_CELLS; cell++)
        in_cells[cell] = 0;
    for (size_t h = 0; h < profile->n_histograms; h++) {
        const struct pm_histogram *histogram = &profile->histograms[h].histogram;
        if (histogram->block_bytes != block_bytes)
            continue;
        in_cells[PM_MAX_CELLS] += pm_histogram_always_missing(histogram);
        for (size_t b = 0; b < histogram->n_bins; b++)
            add_bin(&histogram->bins[b], in_cells);
    }
}

void pm_misses_from_cells(const double *in_cells, double *misses) {
    misses[PM_MAX_CELLS] = in_cells[PM_MAX_CELLS];
    for (size_t cell = PM_MAX_CELLS; cell-- > 0;)
        misses[cell] = misses[cell + 1] + in_cells[cell];
}
