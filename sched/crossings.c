/* Accesses that lie across two lines of the first cache.

   Such a load or store takes its unit twice.  A reference of w bytes comes to addresses a + k · g,
   g the greatest common divisor of its strides and the line L, of which those cross whose place in
   the line is beyond L − w:

       share = #{k : (a + k · g) mod L + w > L, 0 ≤ k < L / g} · g / L

   a as it was in the run, or at the predicted size where the models know places in pages
   (core/strides/strides.h).  Where they do not, all places that multiples of LEAST_ALIGNMENT are at
   are equally likely.  Assumed: all multiples of g are come to equally often. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "sched/schedule.h"

/* What compilers align numbers to. */
static const double least_alignment = 8;

static double share_unknown(double size, double line) {
    return fmax(0, fmin(size, line) - fmin(size, least_alignment)) / line;
}

static double crossing_share(const struct pm_reference_strides *strides, bool is_measured,
                             uint32_t size, uint64_t line) {
    if (size > line)
        return 1;
    if (!strides || !(is_measured || strides->page_known))
        return share_unknown(size, (double)line);
    uint64_t step = line;
    for (uint32_t l = 0; l < strides->n_levels; l++) {
        double stride = fabs(strides->levels[l].stride_bytes);
        if (stride >= 1 && stride < 1e15)
            step = pm_greatest_divisor(step, (uint64_t)llround(stride));
    }
    uint64_t first = (uint64_t)llround(fmod(strides->lowest, (double)line));
    return pm_share_across(first, step, size, line);
}

void pm_crossings_of_path(const struct pm_structure *structure, const struct pm_profile *profile,
                          uint64_t line_bytes, const struct pm_path_step *steps, size_t n_steps,
                          struct pm_crossings *crossings) {
    crossings->n_shares = 0;
    for (size_t i = 0; i < n_steps; i++) {
        if (steps[i].block == PM_NONE)
            continue;
        const struct pm_block *block = &structure->blocks[steps[i].block];
        for (uint32_t r = 0; r < block->n_references; r++) {
            uint32_t reference = block->first_reference + r;
            *PM_PUSH(crossings, shares) = crossing_share(
                pm_strides_of_reference(&profile->strides, reference), !profile->predicted,
                structure->references[reference].size_bytes, line_bytes);
        }
    }
}
