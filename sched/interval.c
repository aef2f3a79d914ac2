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

   The machine's figures: penalties, sizes of caches, bandwidth, as far as the file says between
   what they were measured, and what the elasticities of marked figures make of what these may be
   off by (doubts.c). A machine that is disturbed is slower, never faster: of an interval the fast
   side counts, either way.  Rows of operations are not among them, since s was measured with them
   as they are probed.

   What is left out of the estimate can be on top: operations without a cost, as if they took what
   the others take; calls of code that is not measured; pages that the system brings at their first
   touch.

   Constants from bench/intervals.sh, from one half of the nests (docs/intervals.md). */
#include "sched/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    spread->below =
        hypot(hypot(schedule * (1 - exp(-schedule_error)), less), most_of_it * mispredicted);
    spread->above = hypot(schedule * (exp(schedule_error) - 1), more);
    spread->below_squares = spread->below * spread->below;
    spread->above_squares = spread->above * spread->above;
}

/* ---- figures of the machine ------------------------------------------------------------------ */

struct spreading {
    const struct pm_structure *structure;
    const struct pm_profile *profile;
    const struct pm_machine *machine;
    struct pm_prediction *prediction;
};

/* FIELD of SECTION, NULL: of none; NULL: the file has no interval of it. */
static const struct pm_figure_interval *interval_of(const struct pm_machine *machine,
                                                    const char *section, const char *field) {
    size_t length = section ? strlen(section) : 0;
    for (size_t i = 0; i < machine->n_intervals; i++) {
        const char *name = machine->intervals[i].name;
        if (section ? strncmp(name, section, length) == 0 && name[length] == '.' &&
                          strcmp(name + length + 1, field) == 0
                    : strcmp(name, field) == 0)
            return &machine->intervals[i];
    }
    return NULL;
}

/* By what share of it a time in cycles, VALUE, may be another one. */
static double half_of_cycles(const struct pm_machine *machine, const char *section,
                             const char *field, double value) {
    const struct pm_figure_interval *found = interval_of(machine, section, field);
    return found && found->low > 0 ? fmax(0, value / found->low - 1) : 0;
}

/* … and a rate. */
static double half_of_rate(const struct pm_machine *machine, const char *section, const char *field,
                           double value) {
    const struct pm_figure_interval *found = interval_of(machine, section, field);
    return found && value > 0 ? fmax(0, found->high / value - 1) : 0;
}

static void join(struct pm_cost_sum *self, double cycles) {
    if (!isnan(cycles))
        self->spread.machine = hypot(self->spread.machine, cycles);
}

/* What a miss of level L costs in a scope. */
static double cost_of_miss(const struct pm_level *level, const struct pm_cost_sum *self, size_t l) {
    return self->level_misses[l] > 0 ? self->level_cycles[l] / self->level_misses[l]
                                     : level->miss_penalty_cycles * level->exposed;
}

/* Misses that level L has more, or less, by scope, if its size is at an end of its interval: those
   of fully associative caches of such sizes.  The caller frees. */
static double *misses_of_size(const struct spreading *s, size_t l) {
    const struct pm_level *level = &s->machine->levels[l];
    bool is_cache = level->kind == PM_LEVEL_CACHE;
    double size = is_cache ? (double)level->size_bytes : (double)level->entries;
    double blocks = pm_level_capacity_blocks(level);
    const struct pm_figure_interval *found =
        interval_of(s->machine, level->name, is_cache ? "size" : "entries");
    double *changes = pm_alloc(s->structure->n_scopes, sizeof *changes);
    for (size_t i = 0; found && i < s->profile->n_histograms; i++) {
        const struct pm_group_histogram *h = &s->profile->histograms[i];
        if (h->histogram.block_bytes != level->block_bytes)
            continue;
        double misses = pm_histogram_misses(&h->histogram, blocks);
        double least = pm_histogram_misses(&h->histogram, blocks * found->high / size);
        double most = pm_histogram_misses(&h->histogram, blocks * found->low / size);
        changes[s->structure->groups[h->group].scope] += fmax(misses - least, most - misses);
    }
    return changes;
}

static void spread_level(const struct spreading *s, size_t l) {
    const struct pm_level *level = &s->machine->levels[l];
    double penalty =
        half_of_cycles(s->machine, level->name, "miss_penalty", level->miss_penalty_cycles);
    double *changes = misses_of_size(s, l);
    for (size_t i = 0; i < s->prediction->n_scopes; i++) {
        struct pm_cost_sum *self = &s->prediction->scopes[i].self;
        join(self, penalty * self->level_cycles[l]);
        join(self, changes[i] * cost_of_miss(level, self, l));
    }
    free(changes);
}

static void spread_machine(const struct spreading *s) {
    const struct pm_machine *machine = s->machine;
    double mispredict =
        half_of_cycles(machine, NULL, "mispredict_penalty", machine->mispredict_cycles);
    double page_fault = half_of_cycles(machine, NULL, "page_fault", machine->page_fault_cycles);
    double bandwidth =
        half_of_rate(machine, "memory", "bandwidth_gbs", machine->memory.bandwidth_gbs);
    for (size_t l = 0; l < machine->n_levels; l++)
        spread_level(s, l);
    for (size_t i = 0; i < s->prediction->n_scopes; i++) {
        struct pm_cost_sum *self = &s->prediction->scopes[i].self;
        join(self, mispredict * self->causes[PM_CAUSE_MISPREDICTIONS]);
        join(self, page_fault * self->causes[PM_CAUSE_FIRST_TOUCHES]);
        if (self->causes[PM_CAUSE_BANDWIDTH] > 0)
            join(self, bandwidth * self->cycles);
        join(self, s->prediction->marked_change * self->cycles);
    }
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

void pm_add_spreads(const struct pm_structure *structure, const struct pm_profile *profile,
                    const struct pm_machine *machine, struct pm_prediction *prediction) {
    const struct spreading s = {structure, profile, machine, prediction};
    for (size_t i = 0; i < prediction->n_scopes; i++) {
        struct pm_scope_prediction *scope = &prediction->scopes[i];
        struct pm_cost_sum *self = &scope->self;
        scope->low_iterations = scope->high_iterations = scope->iterations;
        spread_model(self);
        self->spread.missing = missing_cycles(self, machine);
        if (prediction->without_memory)
            self->spread.below = self->spread.above = NAN;
    }
    spread_machine(&s);
}
