/* Frequencies of edges from an earlier profile, so that counters stand where little ran. */
#include <stdlib.h>

#include "core/store/store.h"
#include "measure/copies/private.h"

/* Adds the run's share of every edge among all: a large run says no more about what is hot than a
   small one. */
static bool add_run(struct pm_store *store, const struct pm_parameters *at,
                    struct pm_edge_weights *weights, struct pm_error *err) {
    struct pm_profile *profile = pm_store_profile(store, at, err);
    if (!profile || !pm_profile_fits(profile, weights->structure, err)) {
        if (profile)
            pm_profile_free(profile);
        return false;
    }
    double sum = 0;
    for (size_t e = 0; e < profile->n_edges; e++)
        sum += profile->edge_counts[e];
    for (size_t e = 0; sum > 0 && e < profile->n_edges; e++)
        weights->edge_counts[e] += profile->edge_counts[e] / sum;
    pm_profile_free(profile);
    return true;
}

static bool add_runs(struct pm_store *store, const char *path, struct pm_edge_weights *weights,
                     struct pm_error *err) {
    struct pm_parameters *runs = NULL;
    size_t n_runs = 0;
    bool ok = pm_store_runs(store, &runs, &n_runs, err) &&
              (n_runs > 0 || pm_fail(err, "%s holds no run yet that could weigh edges", path));
    for (size_t i = 0; ok && i < n_runs; i++)
        ok = add_run(store, &runs[i], weights, err);
    free(runs);
    return ok;
}

struct pm_edge_weights *pm_edge_weights_read(const char *path, struct pm_error *err) {
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    if (!store)
        return NULL;
    struct pm_edge_weights *weights = pm_alloc(1, sizeof *weights);
    weights->structure = pm_store_structure(store, err);
    bool ok = weights->structure != NULL;
    if (ok) {
        weights->edge_counts = pm_alloc(weights->structure->n_edges, sizeof(double));
        weights->known = (struct pm_known_weights){weights->structure, weights->edge_counts};
        ok = add_runs(store, path, weights, err);
    }
    pm_store_close(store);
    if (ok)
        return weights;
    pm_edge_weights_free(weights);
    return NULL;
}

void pm_edge_weights_free(struct pm_edge_weights *weights) {
    if (!weights)
        return;
    if (weights->structure)
        pm_structure_free(weights->structure);
    free(weights->edge_counts);
    free(weights);
}
