/* Which loops and routines of a program get timers; see timed_scopes.c. */
#ifndef PM_TIMED_SCOPES_H
#define PM_TIMED_SCOPES_H

#include "core/profile.h"
#include "core/structure/structure.h"

struct pm_timer_budget {
    double seconds;      /* that all timers of the run may cost together */
    double pair_seconds; /* that one entry costs: a probe where it begins, one where it ends */
    double call_seconds; /* that a call costs more in a routine that was moved to put probes in */
};

/* One value for each scope of STRUCTURE: 1 where a timer is worth its cost.  PROFILE, a measured
   one of STRUCTURE, tells how often each scope is entered.  Owned by the caller.  *COST_SECONDS, if
   not NULL, receives what the chosen timers cost. */
uint8_t *pm_choose_timed_scopes(const struct pm_structure *structure,
                                const struct pm_profile *profile,
                                const struct pm_timer_budget *budget, double *cost_seconds);

#endif
