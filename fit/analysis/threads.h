/* Misses by thread: of a run's histograms of each stream, for `pmodel report --as threads`. */
#ifndef PM_ANALYSIS_THREADS_H
#define PM_ANALYSIS_THREADS_H

#include "core/base/base.h"
#include "core/machine/machine.h"
#include "core/prediction.h"
#include "core/store/store.h"
#include "core/streams.h"

/* Accesses in blocks of the first level, and misses of each level (fit/sets/), which the thread has
   for itself. */
struct pm_thread_misses {
    struct pm_stream stream;
    double accesses;
    double misses[PM_MAX_LEVELS]; /* of the machine's levels, in their order */
};

/* For each of the machines one for each of the *N streams of CURSOR, which is at its start and is
   of the run that PROFILE is: machine by machine.  Owned by the caller (free). */
struct pm_thread_misses *pm_misses_by_thread(const struct pm_structure *structure,
                                             const struct pm_profile *profile,
                                             struct pm_histogram_cursor *cursor,
                                             const struct pm_machine *const *machines,
                                             size_t n_machines, size_t *n, struct pm_error *err);

#endif
