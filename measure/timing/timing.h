/* Timing a program at one size, after it was counted there. */
#ifndef PM_TIMING_H
#define PM_TIMING_H

#include "binlift/binlift.h"
#include "core/call_times/call_times.h"
#include "core/profile.h"
#include "core/times.h"
#include "measure/copies/copies.h"
#include "measure/launch/launch.h"

/* Runs the command once at the size in question with FILES in place of their originals, silently,
   and checks that it ended as it should.  FOLDER: where it is to write its raw files, of its times
   or, with BOUNDS, of what that file says (PM_ENV_BOUND); NULL: they are not wanted. */
struct pm_timing_launcher {
    bool (*launch)(void *context, const struct pm_copy *files, size_t n_files, const char *folder,
                   const char *bounds, struct pm_launch_result *result, struct pm_error *err);
    void *context;
};

struct pm_timing_request {
    const struct pm_copies_request *instrument; /* runtime and instruction classes */
    unsigned n_runs; /* with timers, and as many without; up to three times as many, until the
                        least CPU time of both repeats */
    struct pm_core_gauge gauge;
    double cost_percent; /* what timers may cost, of the plain program's CPU time */
    struct pm_timing_launcher launcher;
    struct pm_times_listener listener;
};

/* The lifts of each file of the copies, which stay from size to size; zeroed before, then freed by
   pm_timing_lifts_free. */
struct pm_timing_lifts {
    struct pm_lifted **lifted; /* NULL: none yet */
    size_t n_lifted;
};
/* Lifts those files of COPIES that are not there yet.  False with a sentence: a file cannot be
   lifted, or has changed. */
bool pm_timing_lift_modules(const struct pm_copies_request *instrument,
                            const struct pm_copies *copies, struct pm_timing_lifts *lifts,
                            struct pm_error *err);
void pm_timing_lifts_free(struct pm_timing_lifts *lifts); /* what it owns */

/* Runs the command plainly and with timers, and gives the times of the run with timers whose CPU
   time is least; into *CALLS, which the caller owns, what calls of MPI took in the run whose
   slowest rank was fastest (NULL: it calls none, or that is not known).  COPIES: what PROFILE, of
   the same size, was counted with.  Copies and raw files go into FOLDER, which exists.  NULL with a
   sentence if a run fails or a module cannot be instrumented; the caller frees. */
struct pm_times *pm_measure_times(const struct pm_timing_request *request,
                                  const struct pm_copies *copies, const struct pm_profile *profile,
                                  const char *folder, struct pm_timing_lifts *lifts,
                                  struct pm_call_times **calls, struct pm_error *err);

/* The value of NAME ("model name", "flags") in /proc/cpuinfo, of the first core; owned by the
   caller.  NULL: it does not say (processor.c). */
char *pm_processor_says(const char *name);

#endif
