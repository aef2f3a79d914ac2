/* What the files of this folder share; see timing.h for what others use. */
#ifndef PM_TIMING_PRIVATE_H
#define PM_TIMING_PRIVATE_H

#include "measure/timing/timing.h"

struct pm_timed_module {
    uint64_t placement_hash; /* of the module's own structure, as its copy carries it */
    const struct pm_module_place *place;
};

/* Adds up the raw files in FOLDER over processes and threads.  CHOSEN: the scopes of STRUCTURE with
   timers, one value each.  CPU_SECONDS: user and system time of the run; what of it is in no scope
   is `outside_seconds`.  NULL with a sentence for no raw file, one of another program, a damaged
   one.  The caller frees.  *CALLS: of MPI, as of pm_measure_times; CALLS NULL: they are not wanted.
 */
struct pm_times *pm_times_ingest(const char *folder, const struct pm_structure *structure,
                                 const uint8_t *chosen, const struct pm_timed_module *modules,
                                 size_t n_modules, double cpu_seconds, struct pm_call_times **calls,
                                 struct pm_error *err);

#endif
