/* From the raw files of one run to its reuse patterns (core/reuse_patterns.h). */
#ifndef PM_RUN_PATTERNS_H
#define PM_RUN_PATTERNS_H

#include "core/raw_read.h"
#include "core/reuse_patterns.h"

/* Adds what RAW has of them to PATTERNS, over all threads.  PLACES: per module of RAW where its
   numbers are in the structure.  False with a sentence that names PATH if one has no place there.
 */
bool pm_ingest_patterns(struct pm_run_patterns *patterns, const struct pm_raw *raw,
                        const struct pm_module_place *const *places, const char *path,
                        struct pm_error *err);

#endif
