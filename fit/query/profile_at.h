/* What a store has of a program, and profiles at sizes: measured, or from the models. */
#ifndef PM_PROFILE_AT_H
#define PM_PROFILE_AT_H

#include <stdbool.h>

#include "core/base/base.h"
#include "core/model.h"
#include "core/parameters.h"
#include "core/profile.h"
#include "core/reuse_patterns.h"
#include "core/store/store.h"
#include "fit/predict/predict.h"

struct pm_program {
    struct pm_store *store;         /* not owned */
    struct pm_structure *structure; /* owned, and so on */
    struct pm_model_set *models;    /* NULL: not read yet, or not fitted (pm_program_models) */
    struct pm_model_set *brief;     /* these without histograms, strides and inner sets, from the
                                       first prediction on; NULL: none was made of the store */
    struct pm_parameters *runs;     /* ascending */
    size_t n_runs;                  /* at least 1 */
    bool *is_whole;                 /* for each run: it came to its end */
    char *measured_up_to;           /* "N=64": the largest whole run */
    /* Block sizes that all profiles made here get from the nearest measured one (interpolate.c). */
    PM_ARRAY(uint64_t, interpolate);
};

/* Errors: no run yet.  Freed by pm_program_close, also after an error. */
bool pm_program_open(struct pm_program *program, struct pm_store *store, struct pm_error *err);
void pm_program_close(struct pm_program *program);
/* The same, with a STRUCTURE in whose numbers the runs are, and which becomes the program's. */
bool pm_program_open_as(struct pm_program *program, struct pm_store *store,
                        struct pm_structure *structure, struct pm_error *err);

/* Owned by the program.  NULL if they cannot be read, or, without a sentence, if there are none. */
const struct pm_model_set *pm_program_models(struct pm_program *program, struct pm_error *err);
/* Those that were read, of which there may be the brief ones only; NULL: none were. */
const struct pm_model_set *pm_program_known_models(const struct pm_program *program);
/* They are read again when they are needed. */
void pm_program_forget_models(struct pm_program *program);

/* What the models predict at AT, with ends of the intervals of probability LEVEL unless that is 0:
   by those that pm_program_models has read, which is quick for many sizes, else by those in the
   store as they are read, which takes little memory.  Freed by pm_predicted_free; without what is
   interpolated.  False without a sentence: there are none. */
bool pm_program_predict(struct pm_program *program, const struct pm_parameters *at, double level,
                        struct pm_predicted *predicted, struct pm_error *err);

/* The largest run, of those that came to their end if one did, that has the values of AT; NULL:
   none.  ONLY_WHOLE: none of those that did not come to their end. */
const struct pm_parameters *pm_program_run(const struct pm_program *program,
                                           const struct pm_parameters *at, bool only_whole);

/* The profile of the run that pm_program_run finds, or that of the models, with ends as of
   pm_program_predict; owned by the caller.  NULL, or false, with a sentence: no such run, no
   models, a parameter that the runs do not have. */
struct pm_profile *pm_profile_of_run(const struct pm_program *program,
                                     const struct pm_parameters *at, struct pm_error *err);
bool pm_profile_of_models(struct pm_program *program, const struct pm_parameters *at, double level,
                          struct pm_predicted *predicted, struct pm_error *err);

/* What `pmodel run --carry` left of the largest run that has the values of AT and was made with it,
   and the PROFILE of that run; both are owned by the caller.  NULL with a sentence. */
struct pm_run_patterns *pm_patterns_at(const struct pm_program *program,
                                       const struct pm_parameters *at, struct pm_profile **profile,
                                       struct pm_error *err);

/* Gives PROFILE, made by one of the above, what each thread did of it (thread_profiles.c):
   measured, that of the run; else by the shares that threads have in the nearest run.  Nothing
   happens where there was one thread, or where several processes ran. */
bool pm_program_add_threads(const struct pm_program *program, struct pm_profile *profile,
                            struct pm_error *err);

/* ---- block sizes that were not measured (interpolate.c) ----------------------------------------
 */

/* Histograms of the N BLOCK_SIZES, those that PROFILE lacks, from the nearest that were measured.
 */
void pm_profile_interpolate(struct pm_profile *profile, const uint64_t *block_sizes, size_t n);
/* TO, which the caller frees: what FROM would be in blocks of BLOCK_BYTES. */
void pm_histogram_in_blocks(const struct pm_histogram *from, uint64_t block_bytes,
                            struct pm_histogram *to);

/* Gives PROFILE, which may be NULL, what PROGRAM interpolates; returns it. */
struct pm_profile *pm_program_interpolate(const struct pm_program *program,
                                          struct pm_profile *profile);

/* ---- runs of a store ------------------------------------------------------------------------- */

/* True if RUN has every value that WANTED names. */
bool pm_run_matches(const struct pm_parameters *run, const struct pm_parameters *wanted);

/* The run whose parameters are nearest to AT by their ratios, of those that came to their end if
   one did; of two as near the larger one. */
const struct pm_parameters *pm_nearest_run(const struct pm_program *program,
                                           const struct pm_parameters *at);

/* What READ finds of the run AT or, if that has no parameters, of the largest run of which there is
   any: then AT becomes its parameters.  READ: NULL, without a sentence where the run has none. NULL
   with a sentence if there is no such run or READ gave one; without if none has any.  PATH: of the
   store. */
void *pm_find_of_run(const struct pm_program *program, const char *path, struct pm_parameters *at,
                     void *(*read)(struct pm_store *, const struct pm_parameters *,
                                   struct pm_error *),
                     struct pm_error *err);

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
