/* Timing a program at one size: `pmodel run --time`. */
#ifndef PM_RUN_TIMES_H
#define PM_RUN_TIMES_H

#include "binlift/binlift.h"
#include "cmd/run_instrument.h"
#include "cmd/run_launch.h"
#include "core/profile.h"
#include "core/times.h"

/* Runs the command once at the size in question with FILES in place of their originals, silently,
   and checks that it ended as it should.  TIMES_FOLDER: where it is to write its times; NULL: they
   are not wanted. */
struct pm_run_launcher {
    bool (*launch)(void *context, const struct pm_run_copy *files, size_t n_files,
                   const char *times_folder, struct pm_launch_result *result, struct pm_error *err);
    void *context;
};

/* What stays from size to size; zeroed before, then freed by pm_run_timer_free. */
struct pm_run_timer {
    struct pm_lifted **lifted; /* of each file of the copies; NULL: none yet */
    size_t n_lifted;
    char *runtime;
};
void pm_run_timer_free(struct pm_run_timer *timer); /* what it owns */

/* Runs the command plainly and with timers, REQUEST->time_runs times each, and gives the times of
   the run with timers whose CPU time is the median.  COPIES: what PROFILE, of the same size, was
   counted with.  Copies and raw files go into FOLDER, which exists.  NULL with a sentence if a run
   fails or a module cannot be instrumented; the caller frees. */
struct pm_times *pm_run_times(struct pm_run_timer *timer, const struct pm_run_request *request,
                              const struct pm_run_copies *copies, const struct pm_profile *profile,
                              const struct pm_run_launcher *launcher, const char *folder,
                              struct pm_error *err);

#endif
