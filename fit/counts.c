/* Models of any series of counts: of what a routine executes, for instance.

   Each series stands as an edge of a program that has nothing else, so that it gets what an edge's
   count gets, whatever the basis, the parameters and the options are. */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/fit.h"

/* A routine with N_SERIES edges from its entry to its exit. */
static struct pm_structure *structure_of_series(size_t n_series) {
    struct pm_structure *structure = pm_structure_new();
    struct pm_routine *routine = PM_PUSH(structure, routines);
    routine->name = pm_strdup("series");
    routine->display_name = pm_strdup("series");
    routine->counted = true;
    routine->n_counters = (uint32_t)n_series;
    for (size_t s = 0; s < n_series; s++)
        *PM_PUSH(structure, edges) = (struct pm_edge){
            .from = PM_NONE, .to = PM_NONE, .counter = (uint32_t)s, .kind = PM_EDGE_ENTRY};
    routine->n_edges = (uint32_t)n_series;
    structure->n_counters = (uint32_t)n_series;
    return structure;
}

struct pm_model_set *pm_fit_counts(const struct pm_parameters *runs, size_t n_runs,
                                   const double *counts, size_t n_series,
                                   const struct pm_fit_options *options, struct pm_error *err) {
    struct pm_structure *structure = structure_of_series(n_series);
    struct pm_profile *profiles = pm_alloc(n_runs, sizeof *profiles);
    const struct pm_profile **pointers = pm_alloc(n_runs, sizeof *pointers);
    for (size_t k = 0; k < n_runs; k++) {
        profiles[k].parameters = runs[k];
        profiles[k].n_edges = n_series;
        profiles[k].edge_counts = pm_alloc(n_series, sizeof *profiles[k].edge_counts);
        for (size_t s = 0; s < n_series; s++)
            profiles[k].edge_counts[s] = counts[s * n_runs + k];
        pointers[k] = &profiles[k];
    }
    struct pm_model_set *models = pm_fit(structure, pointers, n_runs, options, NULL, err);
    for (size_t k = 0; k < n_runs; k++)
        free(profiles[k].edge_counts);
    free(pointers);
    free(profiles);
    pm_structure_free(structure);
    return models;
}

/* ---- as other models ------------------------------------------------------------------------- */

static bool agree(const struct pm_parameters *a, const struct pm_parameters *b,
                  const char *const *names, size_t n_names) {
    for (size_t i = 0; i < n_names; i++) {
        double left = 0, right = 0;
        pm_parameters_get(a, names[i], &left);
        pm_parameters_get(b, names[i], &right);
        if (left != right)
            return false;
    }
    return true;
}

void pm_fit_in_parameters_of(const struct pm_model_set *set, struct pm_fit_options *options,
                             const char **names) {
    size_t n = pm_model_set_parameters(set, names);
    for (size_t i = 0; i < set->n_runs; i++)
        for (size_t j = 0; j < i; j++)
            if (agree(&set->runs[i], &set->runs[j], names, n))
                return;
    options->parameters = names;
    options->n_parameters = n;
}
