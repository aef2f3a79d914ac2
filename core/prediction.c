/* Predictions; see prediction.h. */
#include "core/prediction.h"

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

void pm_cost_sum_add(struct pm_cost_sum *into, const struct pm_cost_sum *from) {
    into->cycles += from->cycles;
    into->schedule_cycles += from->schedule_cycles;
    for (int c = 0; c < PM_N_CAUSES; c++)
        into->causes[c] += from->causes[c];
    into->mispredictions += from->mispredictions;
    into->lower_cycles += from->lower_cycles;
    into->upper_cycles += from->upper_cycles;
    into->memory_cycles += from->memory_cycles;
    for (int l = 0; l < PM_MAX_LEVELS; l++) {
        into->level_misses[l] += from->level_misses[l];
        into->level_cycles[l] += from->level_cycles[l];
        into->level_write_backs[l] += from->level_write_backs[l];
    }
    into->instructions += from->instructions;
    into->operations += from->operations;
    into->unknown_operations += from->unknown_operations;
    into->accesses += from->accesses;
    into->unrecorded_accesses += from->unrecorded_accesses;
}

void pm_cost_sum_scale(struct pm_cost_sum *sum, double factor) {
    double *const figures[] = {
        &sum->cycles,       &sum->schedule_cycles,    &sum->mispredictions,     &sum->lower_cycles,
        &sum->upper_cycles, &sum->memory_cycles,      &sum->instructions,       &sum->operations,
        &sum->accesses,     &sum->unknown_operations, &sum->unrecorded_accesses};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        *figures[i] *= factor;
    for (int c = 0; c < PM_N_CAUSES; c++)
        sum->causes[c] *= factor;
    for (int l = 0; l < PM_MAX_LEVELS; l++) {
        sum->level_misses[l] *= factor;
        sum->level_cycles[l] *= factor;
        sum->level_write_backs[l] *= factor;
    }
}

/* Children come after their parents, so one walk from the end adds up. */
void pm_add_totals(const struct pm_structure *structure, struct pm_scope_prediction *scopes) {
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
    free(cores->waiting.loops);
    free(cores);
}

bool pm_prediction_is_interpolated(const struct pm_prediction *prediction) {
    bool any = false;
    for (size_t l = 0; l < prediction->n_levels; l++)
        any |= prediction->level_interpolated_from[l] != 0;
    return any;
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
    pm_prediction_free(prediction->low);
    pm_prediction_free(prediction->high);
    free(prediction->scopes);
    free(prediction->program);
    free(prediction->machine_title);
    free(prediction->machine_name);
    free(prediction->measured_up_to);
    free(prediction);
}
