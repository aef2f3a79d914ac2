/* From the raw files of a timed run of an MPI program (one a process) to times of its calls. */
#ifndef PM_MEASURE_CALL_TIMES_H
#define PM_MEASURE_CALL_TIMES_H

#include "core/call_times/call_times.h"
#include "measure/copies/copies.h"
#include "measure/raw/raw.h"

struct pm_call_times_sums;
struct pm_call_times_sums *pm_call_times_sums_new(void);

/* Adds a process.  PLACES: per module of RAW where its numbers are in the structure.  False with a
   sentence that names PATH. */
bool pm_call_times_sums_add(struct pm_call_times_sums *sums, const struct pm_raw *raw,
                            const struct pm_module_place *const *places, const char *path,
                            struct pm_error *err);

/* What was added, owned by the caller; NULL: no process called MPI, or none was asked to look at
   the clock.  SUMS is freed. */
struct pm_call_times *pm_call_times_sums_end(struct pm_call_times_sums *sums);
void pm_call_times_sums_free(struct pm_call_times_sums *sums); /* NULL is allowed */

#endif
