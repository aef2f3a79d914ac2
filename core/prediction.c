/* Predictions; see prediction.h. */
#include "core/prediction.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    const char *name, *words;
} causes[PM_N_CAUSES] = {
#define PM_CAUSE_TEXT(id, name, words) [id] = {name, words},
    PM_CAUSES(PM_CAUSE_TEXT)
#undef PM_CAUSE_TEXT
};

const char *pm_cause_name(enum pm_cause cause) { return causes[cause].name; }
const char *pm_cause_words(enum pm_cause cause) { return causes[cause].words; }

static void add_change(struct pm_cost_change *into, const struct pm_cost_change *from,
                       double share) {
    into->cycles += share * from->cycles;
    into->schedule_cycles += share * from->schedule_cycles;
    for (int l = 0; l < PM_MAX_LEVELS; l++)
        into->level_misses[l] += share * from->level_misses[l];
}

static void add_spread(struct pm_spread *into, const struct pm_spread *from, double share) {
    add_change(&into->low, &from->low, share);
    add_change(&into->high, &from->high, share);
    into->below += share * from->below;
    into->above += share * from->above;
    into->below_squares += share * share * from->below_squares;
    into->above_squares += share * share * from->above_squares;
    into->machine_below += share * from->machine_below;
    into->machine_above += share * from->machine_above;
    into->least += share * from->least;
    into->missing += share * from->missing;
}

void pm_cost_sum_add_share(struct pm_cost_sum *into, const struct pm_cost_sum *from, double share) {
    into->cycles += share * from->cycles;
    into->schedule_cycles += share * from->schedule_cycles;
    for (int c = 0; c < PM_N_CAUSES; c++)
        into->causes[c] += share * from->causes[c];
    into->mispredictions += share * from->mispredictions;
    into->assumed_mispredictions += share * from->assumed_mispredictions;
    into->lower_cycles += share * from->lower_cycles;
    into->upper_cycles += share * from->upper_cycles;
    into->fallback_cycles += share * from->fallback_cycles;
    into->memory_cycles += share * from->memory_cycles;
    for (int l = 0; l < PM_MAX_LEVELS; l++) {
        into->level_misses[l] += share * from->level_misses[l];
        into->level_cycles[l] += share * from->level_cycles[l];
        into->level_write_backs[l] += share * from->level_write_backs[l];
    }
    into->instructions += share * from->instructions;
    into->operations += share * from->operations;
    into->unknown_operations += share * from->unknown_operations;
    into->accesses += share * from->accesses;
    into->unrecorded_accesses += share * from->unrecorded_accesses;
    into->calls_out += share * from->calls_out;
    into->first_touches += share * from->first_touches;
    add_spread(&into->spread, &from->spread, share);
}

void pm_cost_sum_add(struct pm_cost_sum *into, const struct pm_cost_sum *from) {
    pm_cost_sum_add_share(into, from, 1);
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* Of two loops of one program: how far errors of the model of time go together, as a correlation.
   Of the nests of the example programs it was 0.28 (docs/intervals.md). */
static const double errors_in_common = 0.3;

double pm_spread_joined(double sum, double squares) {
    return sqrt(errors_in_common * sum * sum + (1 - errors_in_common) * squares);
}

/* The logarithm of the factor by which CYCLES go down, or up. */
static double log_down(double by, double cycles) {
    const double most = 0.999; /* there is always something left */
    return -log(1 - fmin(fmax(by, 0) / cycles, most));
}
static double log_up(double by, double cycles) { return log(1 + fmax(by, 0) / cycles); }

static double joined_logs(double counts, double model, double machine) {
    return sqrt(counts * counts + model * model + machine * machine);
}

static double least_cycles(const struct pm_cost_sum *cost) {
    double fewer = fmin(0, cost->spread.low.schedule_cycles);
    return cost->schedule_cycles > 0
               ? cost->spread.least * fmax(0, 1 + fewer / cost->schedule_cycles)
               : 0;
}

struct pm_estimate pm_cycles_between(const struct pm_cost_sum *cost) {
    const struct pm_spread *s = &cost->spread;
    double cycles = cost->cycles;
    if (isnan(s->below + s->above + s->low.cycles + s->high.cycles))
        return (struct pm_estimate){NAN, cycles, NAN};
    if (!(cycles > 0))
        return (struct pm_estimate){cycles, cycles, cycles + fmax(0, s->high.cycles) + s->missing};
    double down = joined_logs(log_down(-s->low.cycles, cycles),
                              log_down(pm_spread_joined(s->below, s->below_squares), cycles),
                              log_down(s->machine_below, cycles));
    double up = joined_logs(log_up(s->high.cycles, cycles),
                            log_up(pm_spread_joined(s->above, s->above_squares), cycles),
                            log_up(s->machine_above, cycles));
    double low = fmax(cycles * exp(-down), least_cycles(cost));
    return (struct pm_estimate){low, cycles, cycles * exp(up) + s->missing};
}

struct pm_estimate pm_prediction_seconds(const struct pm_prediction *prediction) {
    struct pm_estimate seconds = pm_estimate_scaled(pm_cycles_between(&prediction->scopes[0].total),
                                                    1 / prediction->clock_hz);
    seconds.estimate = prediction->seconds;
    if (!(prediction->level > 0))
        seconds.low = seconds.high = NAN;
    return seconds;
}

static void take_end(struct pm_cost_change *change, const struct pm_cost_sum *end,
                     const struct pm_cost_sum *estimate) {
    change->cycles = end->cycles - estimate->cycles;
    change->schedule_cycles = end->schedule_cycles - estimate->schedule_cycles;
    for (int l = 0; l < PM_MAX_LEVELS; l++)
        change->level_misses[l] = end->level_misses[l] - estimate->level_misses[l];
}

void pm_prediction_take_ends(struct pm_prediction *prediction, const struct pm_prediction *low,
                             const struct pm_prediction *high) {
    for (size_t i = 0; i < prediction->n_scopes; i++) {
        struct pm_scope_prediction *scope = &prediction->scopes[i];
        scope->low_iterations = low->scopes[i].iterations;
        scope->high_iterations = high->scopes[i].iterations;
        take_end(&scope->self.spread.low, &low->scopes[i].self, &scope->self);
        take_end(&scope->self.spread.high, &high->scopes[i].self, &scope->self);
        take_end(&scope->total.spread.low, &low->scopes[i].total, &scope->total);
        take_end(&scope->total.spread.high, &high->scopes[i].total, &scope->total);
    }
}

/* Children come after their parents, so one walk from the end adds up. */
void pm_add_totals(const struct pm_structure *structure, struct pm_scope_prediction *scopes) {
    for (size_t s = 0; s < structure->n_scopes; s++)
        scopes[s].total = (struct pm_cost_sum){0};
    for (size_t s = structure->n_scopes; s-- > 0;) {
        pm_cost_sum_add(&scopes[s].total, &scopes[s].self);
        if (structure->scopes[s].parent != PM_NONE)
            pm_cost_sum_add(&scopes[structure->scopes[s].parent].total, &scopes[s].total);
    }
}

void pm_cores_free(struct pm_cores *cores) {
    if (!cores)
        return;
    free(cores->parts);
    free(cores->spin.loops);
    free(cores);
}

bool pm_prediction_is_interpolated(const struct pm_prediction *prediction) {
    bool any = false;
    for (size_t l = 0; l < prediction->n_levels; l++)
        any |= prediction->level_interpolated_from[l] != 0;
    return any;
}

bool pm_prediction_is_without_misses(const struct pm_prediction *prediction) {
    const double nothing = 0.5; /* a miss in the whole run */
    for (size_t l = 0; l < prediction->n_levels; l++)
        if (!(prediction->scopes[0].total.level_misses[l] < nothing))
            return false;
    return prediction->n_levels > 0 && !prediction->without_memory;
}

void pm_prediction_free(struct pm_prediction *prediction) {
    if (!prediction)
        return;
    for (size_t i = 0; i < prediction->n_levels; i++)
        free(prediction->level_names[i]);
    for (size_t i = 0; i < prediction->n_units; i++)
        free(prediction->unit_names[i]);
    for (size_t i = 0; i < prediction->n_notes; i++)
        free(prediction->notes[i]);
    free(prediction->notes);
    for (size_t i = 0; i < prediction->n_doubts; i++) {
        free(prediction->doubts[i].name);
        free(prediction->doubts[i].value);
    }
    pm_cores_free(prediction->cores);
    free(prediction->scopes);
    free(prediction->program);
    free(prediction->machine_title);
    free(prediction->machine_name);
    free(prediction->measured_up_to);
    free(prediction);
}
