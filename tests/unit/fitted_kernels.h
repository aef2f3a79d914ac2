/* Models of the kernels of fit_traces.h: fitted to a few sizes, and asked for another one.  For the
   tests of fit/ only. */
#ifndef PM_FITTED_KERNELS_H
#define PM_FITTED_KERNELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fit/fit.h"
#include "tests/unit/fit_traces.h"

enum { N_SIZES = 6 };

struct fitted {
    struct pm_structure *structure;
    struct pm_profile *profiles[N_SIZES];
    struct pm_model_set *models;
};

/* KERNEL at the first N_SIZES of SIZES; its first N_EDGES loop bodies are edges with counters. */
static struct fitted fit_kernel(size_t kernel, const uint64_t *sizes, size_t n_sizes,
                                uint32_t n_edges, unsigned n_threads) {
    struct pm_error err = {0};
    const struct pm_fit_options options = {.n_threads = n_threads};
    struct fitted f = {.structure = pm_structure_new()};
    for (uint32_t e = 0; e < n_edges; e++)
        PM_PUSH(f.structure, edges)->counter = e;
    f.structure->n_counters = n_edges;
    for (size_t i = 0; i < n_sizes; i++)
        f.profiles[i] = measure(kernel, sizes[i], 64, n_edges);
    f.models = pm_fit(f.structure, (const struct pm_profile *const *)f.profiles, n_sizes, &options,
                      NULL, &err);
    if (!f.models)
        fail_msg("%s", err.text);
    return f;
}

static void fitted_free(struct fitted *f) {
    pm_model_set_free(f->models);
    for (int i = 0; i < N_SIZES; i++) /* NULL where fewer were measured */
        pm_profile_free(f->profiles[i]);
    pm_structure_free(f->structure);
}

/* PROFILE, unless it is NULL because of ERR. */
static struct pm_profile *made(struct pm_profile *profile, const struct pm_error *err) {
    if (!profile)
        fail_msg("%s", err->text);
    return profile;
}

static struct pm_profile *predict(const struct fitted *f, double n) {
    struct pm_error err = {0};
    struct pm_parameters at = {.n = 1, .names = {"N"}, .values = {n}};
    return made(pm_fit_instantiate(f->structure, f->models, &at, &err), &err);
}

static double all_misses(const struct pm_profile *profile, double cache_blocks) {
    double sum = 0;
    for (size_t h = 0; h < profile->n_histograms; h++)
        sum += pm_fully_associative_misses(&profile->histograms[h].histogram, cache_blocks);
    return sum;
}

#endif
