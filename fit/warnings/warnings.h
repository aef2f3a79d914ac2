/* What must be known before an answer from models or profiles is read.  Each function looks at an
   answer and adds sentences to a list (core/warnings.h), or none. */
#ifndef PM_FIT_WARNINGS_H
#define PM_FIT_WARNINGS_H

#include "core/machine/machine.h"
#include "core/model.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/structure/structure.h"
#include "core/times.h"
#include "core/warnings.h"

/* What an answer is made of. */
struct pm_origin {
    const struct pm_structure *structure;
    const struct pm_model_set *models; /* NULL: there are none */
    const struct pm_profile *profile;  /* at the size of the origin; NULL: it is of no one size, and
                                          is judged at the largest measured one */
};

/* Does STRUCTURE have code or data that some builds have not, and of which nothing is known? */
bool pm_is_of_unlike_builds(const struct pm_structure *structure);

/* Adds what is wrong with any figure of ORIGIN; of models, nothing if its profile was measured. */
void pm_warn(const struct pm_origin *origin, struct pm_warnings *warnings);

/* ---- poor models (poor.c): off by the heuristic flagged_error or more on average ----------
 */

/* Those of executed instructions. */
void pm_warn_of_counts(const struct pm_origin *origin, struct pm_warnings *warnings);
/* Those of misses in blocks of N sizes; BLOCK_BYTES NULL: in all that there are models of. */
void pm_warn_of_misses(const struct pm_origin *origin, const uint64_t *block_bytes, size_t n,
                       struct pm_warnings *warnings);
/* Those of what makes up the time of PREDICTION, which was made of the answer's profile: of
   instructions by the cycles without misses, of misses by those that they cost. */
void pm_warn_of_time(const struct pm_origin *origin, const struct pm_prediction *prediction,
                     const struct pm_machine *machine, struct pm_warnings *warnings);

/* ---- other code (outside.c) ------------------------------------------------------------------ */

/* The share of time in files that were not measured, in the run of size AT. */
void pm_warn_of_outside(const struct pm_file_times *times, const struct pm_parameters *at,
                        struct pm_warnings *warnings);

#endif
