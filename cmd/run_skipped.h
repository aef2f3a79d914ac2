/* What a run left out of its analysis (core/profile.h): summed up, and from counters of routines
   that are not recorded. */
#ifndef PM_RUN_SKIPPED_H
#define PM_RUN_SKIPPED_H

#include "binlift/binlift.h"
#include "cmd/run_instrument.h"
#include "core/raw_read.h"
#include "core/profile.h"

/* Adds what RAW's threads did while measuring was off. */
void pm_skipped_add_stopped(struct pm_skipped_accesses *stopped, const struct pm_raw *raw);

/* pm_solve_edges for the structure of COPIES, and with it also for routines that are not recorded:
   what these did goes to LEFT_OUT, and their edges get 0, as those of all that are not counted. */
void pm_skipped_solve(const struct pm_run_copies *copies, const uint64_t *counters,
                      const struct pm_open_call *open_calls, size_t n_open_calls,
                      uint64_t *edge_counts, bool *inexact, struct pm_skipped_accesses *left_out);

#endif
