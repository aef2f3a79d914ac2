/* Which scopes are entered and left on which edge, for programs that report it (core/probe_abi.h,
   enum pm_event_what).  The plan is made by probes.c; the rewriter puts the probes.  */
#ifndef PM_BINLIFT_COPY_H
#define PM_BINLIFT_COPY_H

#include "binlift/counters/counters.h"
#include "core/probe_abi.h"

/* Events as in core/probe_abi.h, the scope counted within the module. */
struct pm_probe_plan {
    uint32_t *first; /* per edge, n_edges + 1: its events are events[first[e]] … in order */
    PM_ARRAY(uint32_t, events);
    uint8_t *places;    /* per edge: enum pm_counter_place, where its events happen; IN_TARGET is
                           the target's very start, IN_SOURCE right before the source's last
                           instruction, FALLTHROUGH behind it */
    uint8_t *probed;    /* per scope: all its entries and exits are events */
    uint32_t *iterates; /* per basic block: the probed loop whose iterations begin at its start, and
                           are events; PM_NONE */
    bool *has_probe;    /* per routine */
};

/* SCOPE_EVENTS: per scope of the structure, not 0 if it is to be probed, enum pm_probe_scope_flags;
   NULL: none is.  Calls that end an interval are probed in any case.  Freed by pm_probe_plan_free.
 */
struct pm_probe_plan *pm_plan_probes(const struct pm_lifted *lifted, const uint8_t *scope_events);
void pm_probe_plan_free(struct pm_probe_plan *plan);

static inline bool pm_has_events(const struct pm_probe_plan *plan, uint32_t edge) {
    return plan->first[edge] != plan->first[edge + 1];
}

#endif
