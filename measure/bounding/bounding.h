/* Lower bounds of a program's loop nests at one size, after it was counted and timed there (Fursin,
   O'Boyle, Temam & Watts 2004, section 4).

   The steps: nests that take a share of the time (by the timers) → a copy of the program that
   records what their copies start with, and one run of it → the nests' copies, and a copy of the
   program with events at the nests → a run in which each nest's shadow loop runs before it. */
#ifndef PM_BOUNDING_H
#define PM_BOUNDING_H

#include "core/bounds/bounds.h"
#include "core/profile.h"
#include "core/times.h"
#include "measure/copies/copies.h"
#include "measure/timing/timing.h"

struct pm_bounding_request {
    const struct pm_copies_request *instrument; /* runtime and instruction classes */
    double least_share; /* of the timers' seconds in all loops and routines that a nest must take */
    struct pm_nest_choice choice; /* instead of the share, if it is one */
    double cycle_seconds;         /* of this processor; 0: unknown */
    unsigned every; /* of so many executions one has its copy run before it; 0: as many as cost
                       little */
    struct pm_timing_launcher launcher;
};

/* Bounds nests of the program itself, not of libraries.  COPIES: what PROFILE, of the same size,
   was counted with; TIMES: of the same size.  Copies and raw files go into FOLDER, which exists.
   NULL with a sentence if a run fails or the program cannot be instrumented; the caller frees. */
struct pm_bounds *pm_measure_bounds(const struct pm_bounding_request *request,
                                    const struct pm_copies *copies,
                                    const struct pm_profile *profile, const struct pm_times *times,
                                    const char *folder, struct pm_timing_lifts *lifts,
                                    struct pm_error *err);

#endif
