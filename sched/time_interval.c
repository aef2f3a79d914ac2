/* What the time of each scope may be off by, for an interval that holds the truth with a
   probability of 80% (core/prediction.h joins what stands here with the intervals of counts and
   misses, and adds scopes up).

   The model of time, downwards and upwards, independent parts joined as √Σ squares:

       schedule        S · (1 − e^−s),  S · (e^s − 1)          S: its cycles but for mispredictions
       exposed misses  c · (1 − (lower / c)^d),  c · ((upper / c)^u − 1)
       mispredictions  0.9 of them, downwards: as many as counted is the most

   s is how far schedules are from the clock.  The estimate c stands between `lower`, every miss
   prefetched, and `upper`, every miss alone; the truth does as well, but where nobody knows: d and
   u are how far along it is found, as shares of the distance between the logarithms.

   Nothing is below the schedule as short as it may be, S · e^−s and a tenth of the mispredictions,
   without a miss.

   The machine's figures have a low and a high side of their own (machine_interval.c).

   What is left out of the estimate can be on top: operations without a cost, as if they took what
   the others take; calls of code that is not measured; pages that the system brings at their first
   touch.

   Constants from bench/accuracy/time/intervals.sh, from one half of the nests (docs/intervals.md).
 */
#include "sched/schedule.h"

#include <math.h>

/* s: innermost loops alone are within 0.2 (docs/schedule.md, four of five), nests of whole programs
   are not: of 33 that are mostly a schedule half are within 0.43.  Without it 60% of the nests that
   it was chosen on are held, with it 82%. */
static const double schedule_error = 0.45;
/* d, u: the least that were tried, since the figures of a probed machine are uncertain enough; they
   are what there is for machine files without intervals. */
static const double share_downwards = 0.1, share_upwards = 0.1;
/* What is evenly spread between nothing and its most is above a tenth of it with the probability
   that the lower end of an 80% interval has. */
static const double most_of_it = 0.9;
/* Calls of the C library's sine and cosine took 47 to 77 cycles on two processors. */
static const double call_cycles = 100;
/* Of first touches, where the machine file does not say it: what pages of 4 KiB take in a guest of
   today (1.0 to 1.4 µs), and 0.1 to 0.5 µs without one. */
static const double first_touch_seconds = 1.2e-6;

/* ---- the model of time ----------------------------------------------------------------------- */

static void spread_model(struct pm_cost_sum *self) {
    struct pm_spread *spread = &self->spread;
    double mispredicted = self->causes[PM_CAUSE_MISPREDICTIONS];
    double schedule = fmax(0, self->schedule_cycles - mispredicted);
    double lower = fmin(self->lower_cycles, self->cycles);
    double upper = fmax(self->upper_cycles, self->cycles), less = 0, more = 0;
    if (self->cycles > 0) {
        less = self->cycles * (1 - pow(lower / self->cycles, share_downwards));
        more = self->cycles * (pow(upper / self->cycles, share_upwards) - 1);
    }
    double shorter = schedule * (1 - exp(-schedule_error));
    spread->below = hypot(hypot(shorter, less), most_of_it * mispredicted);
    spread->above = hypot(schedule * (exp(schedule_error) - 1), more);
    spread->least = schedule - shorter + (1 - most_of_it) * mispredicted;
    spread->below_squares = spread->below * spread->below;
    spread->above_squares = spread->above * spread->above;
}

/* ---- what is left out ------------------------------------------------------------------------ */

static double missing_cycles(const struct pm_cost_sum *self, const struct pm_machine *machine) {
    double known = self->operations - self->unknown_operations;
    double unknown = known > 0 ? self->schedule_cycles * self->unknown_operations / known : 0;
    return unknown + self->calls_out * call_cycles +
           (machine->page_fault_cycles > 0
                ? 0
                : self->first_touches * first_touch_seconds * machine->clock_hz);
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
