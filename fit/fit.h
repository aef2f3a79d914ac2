/* The modelling stage: measurements at several sizes → functions of the size for every edge and for
   every bin of every histogram; and back: the models at one size → a profile. */
#ifndef PM_FIT_H
#define PM_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/model.h"
#include "core/pm_error.h"
#include "core/profile.h"
#include "core/structure.h"

enum { PM_FIT_MAX_LEFT_OUT = 8 };

struct pm_fit_options {
    unsigned n_threads; /* 0: all that OpenMP offers */
};

/* What fitting met, for people. */
struct pm_fit_statistics {
    size_t n_models, n_exact, n_constant;
    size_t n_flagged; /* leave-one-out error above 10% */
    size_t n_histograms, n_bins;
    /* Block sizes that some runs measured and others did not, ascending: they have no models. */
    size_t n_left_out;
    uint64_t left_out[PM_FIT_MAX_LEFT_OUT]; /* bytes; the smallest if there are more */
    double seconds;
};

/* Fits models to N_PROFILES measured profiles (distinct sizes, one common structure, in any order)
   in one parameter: the one that varies.  Errors: fewer than 3 sizes; more than one parameter
   varies independently; profiles of different structures.  A parameter that is a function of the
   varying one is kept as measured range only.  The result is owned by the caller. */
struct pm_model_set *pm_fit(const struct pm_structure *structure,
                            const struct pm_profile *const *profiles, size_t n_profiles,
                            const struct pm_fit_options *options,
                            struct pm_fit_statistics *statistics, struct pm_error *err);

/* The profile that MODELS predict at PARAMETERS.  An unknown parameter is an error that names the
   known ones.  Edge counts satisfy flow conservation: chords are evaluated, the others solved. */
struct pm_profile *pm_fit_instantiate(const struct pm_structure *structure,
                                      const struct pm_model_set *models,
                                      const struct pm_parameters *parameters, struct pm_error *err);

#endif
