/* What the folders of fit/ share: words, constants, and the terms of a model.  Private to fit/. */
#ifndef PM_FIT_PRIVATE_H
#define PM_FIT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/histogram.h"
#include "core/model.h"
#include "fit/fit.h"
#include "fit/heuristics.h"

enum {
    PM_FIT_LEAST_SIZES = 3,   /* two say nothing of a third */
    PM_FIT_LEAST_PAGE = 4096, /* bytes: blocks of at least this size are pages */
};

/* What the values of a series are. */
enum pm_series_kind {
    PM_SERIES_COUNT,    /* never negative; monotone, convex, concave as the data are */
    PM_SERIES_BLOCKS,   /* the same of distinct blocks: one more or less is where data lie */
    PM_SERIES_DISTANCE, /* at most two terms of degree 3, non-decreasing and convex */
};

static inline double pm_bin_accesses(const struct pm_bin *bin) { return bin->loads + bin->stores; }

/* Models of N_PROFILES that are checked, in the N_NAMES parameters NAMES (parallel.c). */
struct pm_model_set *pm_fit_profiles(const struct pm_structure *structure,
                                     const struct pm_profile *const *profiles, size_t n_profiles,
                                     const char *const *names, size_t n_names,
                                     const struct pm_fit_options *options,
                                     struct pm_fit_statistics *statistics, struct pm_error *err);

/* FITTED gets those of the N profiles that SET was made from; how many. */
size_t pm_fit_keep_fitted(const struct pm_profile *const *profiles, size_t n,
                          const struct pm_model_set *set, const struct pm_profile **fitted);

/* Takes the parameters of PROFILE into the measured range of SET. */
void pm_fit_widen_range(struct pm_model_set *set, const struct pm_profile *profile);

/* Adds a sentence to the notes, if STATISTICS is not NULL and there is room. */
void pm_fit_note(struct pm_fit_statistics *statistics, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- dumps (dump_fit.c) ---------------------------------------------------------------------- */

/* Which of N profiles SET was made from, in which parameters, by STATISTICS (NULL is allowed). */
void pm_dump_runs(const struct pm_dumping *dumping, const struct pm_profile *const *profiles,
                  size_t n, const struct pm_model_set *set,
                  const struct pm_fit_statistics *statistics);
/* The sum of functions of BASIS that MODEL is, with few digits. */
void pm_dump_sum(const struct pm_dumping *dumping, const struct pm_basis *basis,
                 const struct pm_model *model);
void pm_dump_held_out(const struct pm_dumping *dumping, const struct pm_model_set *set);

/* ---- the terms of a model (models.c) --------------------------------------------------------- */

/* The coefficient of function TERM of the basis, which becomes a term with 0 if it is none yet;
   NULL if there is no room for one more. */
double *pm_model_coefficient(struct pm_model *model, size_t term);

/* Adds COEFFICIENT times function TERM, for which there is room; no term if it is 0. */
void pm_model_add_term(struct pm_model *model, size_t term, double coefficient);

void pm_model_scale(struct pm_model *model, double factor);

/* The number of the function 1; if there is none, how many functions there are. */
size_t pm_constant_function(const struct pm_basis *basis);

/* A constant that N_POINTS values say, whose error is not known. */
struct pm_model pm_model_constant(double value, size_t n_points);

/* A constant where nothing better is known: the last of N values Y, of which each residual times
   WEIGHT over RELATION is a relative error. */
struct pm_model pm_model_last_value(size_t n, const double *y, const double *weight,
                                    const double *relation);

/* Zero at all of N_POINTS sizes. */
struct pm_model pm_model_zero(size_t n_points);

/* Calls VISIT for every model of SET: of edges, accesses, cold accesses, counts and distances. */
void pm_model_set_visit(struct pm_model_set *set,
                        void (*visit)(struct pm_model *model, void *context), void *context);

/* The point AT of SET's models, which are asked beyond the largest size where they are functions of
   one parameter.  False with a sentence if a parameter is missing.  Freed by pm_model_point_free.
 */
bool pm_model_point_at(const struct pm_model_set *set, const struct pm_parameters *at,
                       struct pm_model_point *point, struct pm_error *err);
void pm_model_point_free(struct pm_model_point *point); /* what it owns */

/* No reuse at POINT is longer than this, in blocks of
   BLOCK_BYTES: the number of other blocks that there are, each of which is cold once. */
double pm_model_set_longest_distance(const struct pm_model_set *set, uint64_t block_bytes,
                                     const struct pm_model_point *point);

#endif
