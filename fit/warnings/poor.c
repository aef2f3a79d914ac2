/* Poor models: the mean leave-one-out error of what an answer is made of, each model weighted by
   its value at the answer's size.  That is how far off each measured size is where it is predicted
   from the others: a lower bound, as a rule, of how far off sizes beyond them are. */
#include <math.h>
#include <stdlib.h>

#include "fit/analysis/analysis.h"
#include "fit/fit.h"
#include "fit/predict/predict.h"
#include "fit/private.h"
#include "fit/warnings/private.h"

static const char advice[] = "`pmodel fit --flagged` lists them, and what to do";

/* Values of the basis functions at the size of ANSWER; NULL if they have none. Owned by the caller.
 */
static double *basis_at(const struct pm_origin *origin) {
    const struct pm_model_set *models = origin->models;
    const struct pm_parameters *at =
        origin->profile ? &origin->profile->parameters : &models->runs[pm_largest_run(models)];
    double *basis = pm_alloc(models->basis->n + 1, sizeof *basis);
    if (pm_basis_evaluate(models->basis, at, basis, NULL))
        return basis;
    free(basis);
    return NULL;
}

struct mean {
    double weighted, weight;
};

static void add_error(struct mean *mean, const struct pm_model *model, double weight) {
    if (!(weight > 0))
        return;
    mean->weighted += weight * pm_judged_error(model);
    mean->weight += weight;
}

static double value_of(struct mean mean) {
    return mean.weight > 0 ? mean.weighted / mean.weight : NAN;
}

static double error_of_instructions(const struct pm_origin *origin, const double *basis) {
    const struct pm_structure *structure = origin->structure;
    struct mean mean = {0};
    for (size_t e = 0; e < structure->n_edges && e < origin->models->n_edges; e++) {
        const struct pm_model *model = &origin->models->edges[e];
        if (structure->edges[e].to < structure->n_blocks)
            add_error(&mean, model,
                      pm_model_value(model, basis) *
                          structure->blocks[structure->edges[e].to].n_instructions);
    }
    return value_of(mean);
}

/* ---- misses ---------------------------------------------------------------------------------- */

/* At the size of the profile, if there is one, which knows it. */
static double error_of_misses(const struct pm_origin *origin, const double *basis,
                              uint64_t block_bytes) {
    const struct pm_model_set *models = origin->models;
    const struct pm_profile *profile = origin->profile;
    struct pm_miss_model_error sum = {.block_bytes = block_bytes};
    for (size_t i = 0; profile && i < profile->n_miss_errors; i++)
        if (profile->miss_errors[i].block_bytes == block_bytes)
            return pm_miss_error_of(&profile->miss_errors[i]);
    for (size_t h = 0; !profile && h < models->n_histograms; h++)
        if (models->histograms[h].block_bytes == block_bytes)
            pm_miss_errors_add(&models->histograms[h], basis, &sum);
    return pm_miss_error_of(&sum);
}

static void take_next(uint64_t own, uint64_t block_bytes, uint64_t *next) {
    if (own > block_bytes && (*next == 0 || own < *next))
        *next = own;
}

/* The smallest above BLOCK_BYTES; 0: there is none. */
static uint64_t next_block_size(const struct pm_origin *origin, uint64_t block_bytes) {
    const struct pm_profile *profile = origin->profile;
    uint64_t next = 0;
    for (size_t i = 0; profile && i < profile->n_miss_errors; i++)
        take_next(profile->miss_errors[i].block_bytes, block_bytes, &next);
    for (size_t h = 0; !profile && h < origin->models->n_histograms; h++)
        take_next(origin->models->histograms[h].block_bytes, block_bytes, &next);
    return next;
}

/* ---- warnings -------------------------------------------------------------------------------- */

void pm_warn_of_counts(const struct pm_origin *origin, struct pm_warnings *warnings) {
    double *basis = pm_is_of_models(origin) ? basis_at(origin) : NULL;
    double error = basis ? error_of_instructions(origin, basis) : NAN;
    if (error >= pm_heuristics.flagged_error)
        pm_warning_add(warnings, PM_WARNING_POOR_MODELS, error,
                       "the models of executed instructions are poor: of each measured size, "
                       "predicted from the others, they are off by %.0f%% on average; %s.",
                       100 * error, advice);
    free(basis);
}

void pm_warn_of_misses(const struct pm_origin *origin, const uint64_t *block_bytes, size_t n,
                       struct pm_warnings *warnings) {
    double *basis = pm_is_of_models(origin) ? basis_at(origin) : NULL, worst = NAN;
    uint64_t bytes = 0, worst_bytes = 0;
    for (size_t i = 0; basis && (!block_bytes || i < n); i++) {
        bytes = block_bytes ? block_bytes[i] : next_block_size(origin, bytes);
        if (bytes == 0)
            break;
        double error = error_of_misses(origin, basis, bytes);
        if (isnan(worst) || error > worst) {
            worst = error;
            worst_bytes = bytes;
        }
    }
    if (worst >= pm_heuristics.flagged_error)
        pm_warning_add(warnings, PM_WARNING_POOR_MODELS, worst,
                       "the models of misses are poor: of each measured size, predicted from the "
                       "others, those of blocks of %llu bytes are off by %.0f%% on average; %s.",
                       (unsigned long long)worst_bytes, 100 * worst, advice);
    free(basis);
}

void pm_warn_of_time(const struct pm_origin *origin, const struct pm_prediction *prediction,
                     const struct pm_machine *machine, struct pm_warnings *warnings) {
    double *basis = pm_is_of_models(origin) ? basis_at(origin) : NULL;
    if (!basis)
        return;
    const struct pm_cost_sum *total = &prediction->scopes[0].total;
    struct mean mean = {total->schedule_cycles * fmax(error_of_instructions(origin, basis), 0),
                        total->schedule_cycles};
    for (size_t l = 0; !prediction->without_memory && l < machine->n_levels; l++) {
        double error = error_of_misses(origin, basis, machine->levels[l].block_bytes);
        mean.weighted += isnan(error) ? 0 : error * total->level_cycles[l];
        mean.weight += total->level_cycles[l];
    }
    double error = value_of(mean);
    if (error >= pm_heuristics.flagged_error)
        pm_warning_add(
            warnings, PM_WARNING_POOR_MODELS, error,
            "the models are poor: of each measured size, predicted from the others, what "
            "makes up the time on %s is off by %.0f%% on average; %s.",
            machine->name, 100 * error, advice);
    free(basis);
}
