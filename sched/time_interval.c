/* What the time of each scope may be off by, for an interval that holds the truth with a
   probability of 80% (core/prediction.h joins what stands here with the intervals of counts and
   misses, and adds scopes up).

   The model of time, downwards and upwards, independent parts joined as √Σ squares:

       schedule        S · (1 − e^−s),  S · (e^s − 1)          S: its cycles but for mispredictions
       exposed misses  c · (1 − (lower / c)^d),  c · ((upper / c)^u − 1)
       mispredictions  0.9 of them, downwards, of branches that were not measured: as many as
   counted is the most

   s is how far schedules are from the clock.  The estimate c stands between `lower`, every miss
   prefetched, and `upper`, every miss alone; the truth does as well, but where nobody knows: d and
   u are how far along it is found, as shares of the distance between the logarithms.

   Nothing is below the schedule as short as it may be, S · e^−s, a tenth of the
   mispredictions that are assumed, and all that are measured, without a miss.

   The machine's figures have a low and a high side of their own (machine_interval.c).

   What is left out of the estimate can be on top: operations without a cost, as if they took what
   the others take; calls of code that is not measured; pages that the system brings at their first
   touch.

   Constants from bench/accuracy/time/intervals.sh, from one half of the nests (docs/intervals.md).
 */
#include "sched/schedule.h"
#include "sched/constants.h"

#include <math.h>

/* ---- the model of time ----------------------------------------------------------------------- */

static void spread_model(struct pm_cost_sum *self) {
    struct pm_spread *spread = &self->spread;
    double mispredicted = self->causes[PM_CAUSE_MISPREDICTIONS];
    double assumed = self->mispredictions > 0
                         ? mispredicted * (self->assumed_mispredictions / self->mispredictions)
                         : mispredicted;
    double schedule = fmax(0, self->schedule_cycles - mispredicted);
    double lower = fmin(self->lower_cycles, self->cycles);
    double upper = fmax(self->upper_cycles, self->cycles), less = 0, more = 0;
    if (self->cycles > 0) {
        less = self->cycles * (1 - pow(lower / self->cycles, pm_sched_constants.share_downwards));
        more = self->cycles * (pow(upper / self->cycles, pm_sched_constants.share_upwards) - 1);
    }
    double shorter = schedule * (1 - exp(-pm_sched_constants.schedule_error));
    spread->below = hypot(hypot(shorter, less), pm_sched_constants.most_of_it * assumed);
    spread->above = hypot(schedule * (exp(pm_sched_constants.schedule_error) - 1), more);
    spread->least = schedule - shorter + mispredicted - pm_sched_constants.most_of_it * assumed;
    spread->below_squares = spread->below * spread->below;
    spread->above_squares = spread->above * spread->above;
}

/* ---- what is left out ------------------------------------------------------------------------ */

static double missing_cycles(const struct pm_cost_sum *self, const struct pm_machine *machine) {
    double known = self->operations - self->unknown_operations;
    double unknown = known > 0 ? self->schedule_cycles * self->unknown_operations / known : 0;
    return unknown + self->calls_out * pm_sched_constants.call_cycles +
           (machine->page_fault_cycles > 0
                ? 0
                : self->first_touches * pm_sched_constants.first_touch_seconds * machine->clock_hz);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void pm_add_spreads(const struct pm_mapped *mapped, struct pm_prediction *prediction) {
    for (size_t i = 0; i < prediction->n_scopes; i++) {
        struct pm_scope_prediction *scope = &prediction->scopes[i];
        struct pm_cost_sum *self = &scope->self;
        scope->low_iterations = scope->high_iterations = scope->iterations;
        spread_model(self);
        self->spread.missing = missing_cycles(self, mapped->target->machine);
        if (prediction->without_memory)
            self->spread.below = self->spread.above = NAN;
    }
    pm_add_machine_spreads(mapped, prediction);
}
