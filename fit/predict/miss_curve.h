/* The misses of a whole program by the size of the cache, in cells of a quarter of an octave. */
#ifndef PM_FIT_MISS_CURVE_H
#define PM_FIT_MISS_CURVE_H

#include "core/profile.h"
#include "fit/heuristics.h"

enum { PM_MAX_CELLS = 48 * PM_CELLS_PER_OCTAVE };

/* Cell 0 has distances below 1, cell i > 0 those from 2^((i − 1)/4) blocks on; behind the last cell
   are the accesses that always miss. */
double pm_cell_begin(size_t cell);

/* The cell of a distance. */
size_t pm_cell_of(double distance);

/* IN_CELLS[cell]: accesses of PROFILE in blocks of BLOCK_BYTES by distance; [PM_MAX_CELLS]: those
   that always miss. */
void pm_count_cells(const struct pm_profile *profile, uint64_t block_bytes, double *in_cells);

/* MISSES[cell]: of a cache of pm_cell_begin (cell) blocks; [PM_MAX_CELLS]: of any cache. */
void pm_misses_from_cells(const double *in_cells, double *misses);

/* Misses in blocks of one size, as of pm_misses_from_cells, by what one set of models says. */
struct pm_miss_curve {
    size_t set;
    uint64_t block_bytes;
    double misses[PM_MAX_CELLS + 1];
};

#endif
