/* What misses add to the time of a region by the signature (`--time signature`), in place of what
   the window or the papers' formula says.

       cycles = max(schedule, Σ over patterns of  words · t(m))      out of order
                schedule + Σ over patterns of  words · (t(m) − t₀)   in order

   t(m) is read.c's, t₀ the same if all hit the first cache.  The curves were measured with as many
   accesses under way as the machine allows, so what overlaps is in them; that computing goes on
   meanwhile is what out of order means here.  Accesses that hit take what single loads take where
   they are at random, because the curve's own numbers are drawn in between there.  Loads that wait
   for each other are not told from those that do not. */
#include <math.h>

#include "sched/signature/private.h"

void pm_signature_memory_cycles(const struct pm_signature *signature,
                                const struct pm_patterns *patterns, struct pm_cost_sum *self) {
    double hits = 0, misses = 0, levels[PM_MAX_LEVELS] = {0};
    for (int kind = 0; kind < PM_N_PATTERN_KINDS; kind++)
        for (int bin = 0; bin < PM_N_STRIDE_BINS; bin++) {
            const struct pm_pattern *pattern = &patterns->of[kind][bin];
            struct pm_read_rate rate;
            if (!(pattern->words > 0))
                continue;
            pm_signature_read(signature, kind == PM_PATTERN_STORES, (enum pm_stride_bin)bin,
                              pattern, &rate);
            hits += bin == PM_STRIDE_BIN_RANDOM ? pattern->references * signature->word_cycles
                                                : pattern->words * rate.hit_cycles;
            for (size_t l = 0; l < signature->n_caches; l++) {
                levels[l] += pattern->words * rate.level_cycles[l];
                misses += pattern->words * rate.level_cycles[l];
            }
        }
    double more = signature->machine->out_of_order
                      ? fmax(0, fmin(misses, hits + misses - self->schedule_cycles))
                      : misses;
    for (size_t l = 0; l < signature->machine->n_levels; l++)
        self->level_cycles[l] = misses > 0 ? more * levels[l] / misses : 0;
    self->memory_cycles = more;
    self->causes[PM_CAUSE_BANDWIDTH] = 0;
}
