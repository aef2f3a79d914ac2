/* From models to a profile at one size, and between which bounds it is.  Most of the interface is
   in fit/fit.h (pm_fit_instantiate, pm_fit_interval …), because commands and reports use it. */
#ifndef PM_FIT_PREDICT_H
#define PM_FIT_PREDICT_H

#include "core/histogram.h"
#include "core/store/store.h"
#include "fit/fit.h"
#include "fit/predict/miss_curve.h"

/* An interval that reaches further has no bounds. */
#define PM_LONGEST_FACTOR 1e9
/* Of a program: fewer are none. */
#define PM_LEAST_MISSES 0.5
/* Blocks: what smaller caches miss bounds the intervals of no larger one, because those are
 * calibrated from here on. */
enum { PM_SPREAD_SMALLEST = 64 };

/* Sorts N bins by distance, joins those at one distance, and moves the ends of neighbours that
   overlap to a place between their means; returns how many are left. */
size_t pm_fit_order_bins(struct pm_bin *bins, size_t n);

/* Of one group: no block of LARGER comes back after more others than a block of SMALLER, in as many
   accesses from the longest distance on; see larger_blocks.c. */
void pm_shorten_larger_blocks(const struct pm_histogram *smaller, struct pm_histogram *larger);
/* The same of all histograms of PROFILE, at one size with its strides, where it is asked for. */
void pm_shorten_larger_blocks_of(const struct pm_structure *structure, struct pm_profile *profile);

/* What the models BRANCHES say at the size of PROFILE, whose counts of edges are there, is added to
   its behaviour (predicted_behaviour.c).  Errors: a parameter that is missing. */
bool pm_predict_behaviour(const struct pm_structure *structure,
                          const struct pm_branch_models *branches, struct pm_profile *profile,
                          struct pm_error *err);

/* How far P is beyond the runs of SET, 1 inside: the largest factor of any parameter, above the
   largest or (*BELOW, which may be NULL) below the smallest value. */
double pm_fit_extrapolation(const struct pm_model_set *set, const struct pm_parameters *p,
                            bool *below);

/* The two-sided quantile of the intervals' distribution at probability LEVEL, with FREEDOM degrees
   of freedom at most; see interval.c. */
double pm_fit_quantile(double level, double freedom);

/* Fills the residuals of SET, which was made of the N PROFILES; see residuals.c. */
void pm_fit_residuals(const struct pm_structure *structure,
                      const struct pm_profile *const *profiles, size_t n, struct pm_model_set *set);

/* ---- a profile in the making, of models that come one after the other (instantiate.c) ---------
 */

struct pm_instance;
/* Of SET, whose edges are used at once.  OF_STORES: it is one of stores by dirty distance.  Errors
   as of pm_fit_instantiate. */
struct pm_instance *pm_instance_new(const struct pm_structure *structure,
                                    const struct pm_model_set *set,
                                    const struct pm_parameters *parameters, bool of_stores,
                                    struct pm_error *err);
void pm_instance_free(struct pm_instance *instance); /* NULL is allowed */
void pm_instance_add_histogram(struct pm_instance *instance,
                               const struct pm_histogram_model *model);
void pm_instance_add_strides(struct pm_instance *instance, const struct pm_stride_model *model);
/* DIRTY, of stores, to which all of DIRTY_SET was added, becomes a part of INSTANCE; it is freed.
 */
void pm_instance_add_dirty(struct pm_instance *instance, struct pm_instance *dirty,
                           const struct pm_model_set *dirty_set);
/* The profile, when all of SET was added; owned by the caller.  INSTANCE is freed, also after an
   error. */
struct pm_profile *pm_instance_profile(struct pm_instance *instance, const struct pm_model_set *set,
                                       struct pm_error *err);

/* Adds the models of misses of HISTOGRAM, which BASIS gives values, to SUM (miss_errors.c). */
void pm_miss_errors_add(const struct pm_histogram_model *histogram, const double *basis,
                        struct pm_miss_model_error *sum);
/* Off by so much on average; NAN: there are none. */
double pm_miss_error_of(const struct pm_miss_model_error *sum);
/* What is not known, or more than the whole, counts as the whole. */
double pm_judged_error(const struct pm_model *model);

/* ---- from a store (take_models.c) ------------------------------------------------------------ */

/* A profile, and the ends of its interval, fewer misses first; owned. */
struct pm_predicted {
    struct pm_profile *profile, *ends[2];
};
void pm_predicted_free(struct pm_predicted *predicted); /* what it owns */

/* What the models in STORE predict at AT, with ends at LEVEL unless that is 0; no ends either where
   no sizes were tried to be held out.  Gives their set without histograms, strides and inner sets,
   owned by the caller; NULL without a sentence: there are none.  Other errors as of
   pm_fit_instantiate. */
struct pm_model_set *pm_fit_take_models(struct pm_store *store,
                                        const struct pm_structure *structure,
                                        const struct pm_parameters *at, double level,
                                        struct pm_predicted *predicted, struct pm_error *err);

/* ---- between which bounds (spread.c) --------------------------------------------------------- */

/* What the sets without the largest sizes say of misses at a size. */
struct pm_other_misses {
    PM_ARRAY(struct pm_miss_curve, curves); /* of all sets and block sizes; owned */
    size_t n_sets;
};
/* Adds those of PROFILE, which one more set predicts. */
void pm_other_misses_add(struct pm_other_misses *others, const struct pm_profile *profile);

/* Moves the accesses of PROFILE, which SET predicts at its parameters, to an end of the intervals
   of the program's misses.  SET has tried to hold out sizes. */
void pm_fit_spread(const struct pm_model_set *set, const struct pm_other_misses *others,
                   double level, bool high, struct pm_profile *profile);

/* PROFILE, which SET predicts, becomes the profile at an end of the intervals (fit.h); of SET only
   basis, runs and edges are asked for. */
bool pm_fit_move_to_end(const struct pm_structure *structure, const struct pm_model_set *set,
                        const struct pm_other_misses *others, double level, bool high,
                        struct pm_profile *profile, struct pm_error *err);

#endif
