/* Picking and reading runs of a store. */
#ifndef PM_RUNS_OF_STORE_H
#define PM_RUNS_OF_STORE_H

#include <stdbool.h>

#include "core/parameters.h"
#include "core/base/base.h"
#include "core/store/store.h"

/* True if RUN has every value that WANTED names. */
bool pm_run_matches(const struct pm_parameters *run, const struct pm_parameters *wanted);

/* True if runs like KNOWN have all parameters that WANTED names; else the sentence says which there
   are. */
bool pm_check_parameter_names(const struct pm_parameters *known, const struct pm_parameters *wanted,
                              struct pm_error *err);

/* The profiles of the N runs SIZES, which fit STRUCTURE; NULL with a sentence.  Owned by the
   caller: pm_profiles_free, which takes NULL too. */
struct pm_profile **pm_read_profiles(struct pm_store *store, const struct pm_structure *structure,
                                     const struct pm_parameters *sizes, size_t n,
                                     struct pm_error *err);
void pm_profiles_free(struct pm_profile **profiles, size_t n);

#endif
