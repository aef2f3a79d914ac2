/* What commands that show predictions share: the profile of a store at a size with the ends of its
   intervals, and predictions from it on machines. */
#ifndef PM_PREDICTING_H
#define PM_PREDICTING_H

#include "cmd/cmd.h"
#include "core/bounds/bounds.h"
#include "core/store/store.h"
#include "core/times.h"
#include "fit/query/query.h"
#include "sched/sched.h"

/* The profile at a size; of a predicted one those of both ends of its intervals; of a measured one
   what was timed and bounded, if anything was. */
struct pm_profiles_at {
    struct pm_profile *profile, *ends[2];
    struct pm_times *times;
    struct pm_bounds *bounds;
};
bool pm_find_profiles(struct pm_program *program, const struct pm_parameters *at,
                      struct pm_profiles_at *found, struct pm_error *err);
void pm_free_profiles(struct pm_profiles_at *found); /* what it owns; also after an error */

/* On one machine, with the ends of its interval; NULL after an error. */
struct pm_prediction *pm_predict_at(const struct pm_structure *structure,
                                    const struct pm_profiles_at *found,
                                    const struct pm_machine *machine,
                                    const struct pm_predict_options *options, struct pm_error *err);

/* A store at one size on all machines ON. */
struct pm_predicting {
    const char *store_path;
    const struct pm_parameters *at; /* n == 0: the largest measured size */
    const struct pm_machine_list *on;
    const struct pm_predict_options *options;
    bool interpolate; /* block sizes that were not measured */
};
struct pm_predicted {
    struct pm_store *store;
    struct pm_program program;
    struct pm_profiles_at found;
    size_t n_predictions;
    struct pm_prediction **predictions; /* one for each machine */
};
/* Errors as of the stages; a block size that a machine needs and no run has.  Freed by
   pm_predicted_free, also after an error. */
bool pm_predicted_make(const struct pm_predicting *request, struct pm_predicted *predicted,
                       struct pm_error *err);
void pm_predicted_free(struct pm_predicted *predicted);

#endif
