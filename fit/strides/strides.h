/* Models of strides: how references go through memory at any size, from how they did at the
   measured ones.

   A stride in bytes, the number of elements of a run, and how far a reference's lowest address
   is from another's are series like the counts of edges, and mostly exact: 8·N comes back as
   such.  A level is modelled where most runs have it with the same direction. */
#ifndef PM_FIT_STRIDES_H
#define PM_FIT_STRIDES_H

#include "core/model.h"
#include "core/profile.h"
#include "fit/items.h"

/* levels.c: lists the references whose strides the largest size knows, as models without levels;
   then the levels of model number I. */
void pm_fit_list_strides(const struct pm_fit_job *job);
void pm_fit_stride_levels(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t i);

/* variants.c: behind the levels, the ways in which it goes on from time to time; and those at
   POINT, of which ONE has the address, added to STRIDES before it. */
void pm_fit_stride_variants(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t i);
void pm_fit_predict_variants(const struct pm_stride_model *model,
                             const struct pm_model_point *point, struct pm_reference_strides *one,
                             struct pm_run_strides *strides);

/* offsets.c: where they are relative to each other. */
void pm_fit_stride_offsets(const struct pm_fit_job *job, struct pm_fit_worker *worker);

/* evaluate_strides.c: adds the strides at POINT of a reference to STRIDES. */
void pm_fit_predict_strides(const struct pm_stride_model *model, const struct pm_model_point *point,
                            struct pm_run_strides *strides);

#endif
