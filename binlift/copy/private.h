/* What the files of binlift/copy/ share. */
#ifndef PM_COPY_PRIVATE_H
#define PM_COPY_PRIVATE_H

#include "binlift/copy/copy.h"

/* probes.c.  SCOPE_EVENTS: per scope of the structure, not 0 if it is to be probed, enum
   pm_probe_scope_flags; NULL: none is.  Calls that end an interval are probed
   too, WITH_INTERVALS. */
struct pm_probe_plan *pm_plan_probes(const struct pm_lifted *lifted, const uint8_t *scope_events,
                                     bool with_intervals);
void pm_probe_plan_free(struct pm_probe_plan *plan);

/* read_bytes.c: fills PLAN's read_bytes, and takes off `moves` the routines that they forbid to
   move. */
void pm_find_read_bytes(const struct pm_lifted *lifted, struct pm_instrumentation_plan *plan);

/* moving_blocks.c: fills PLAN's block_moves; needs `moves`. */
void pm_find_moving_blocks(const struct pm_lifted *lifted, struct pm_instrumentation_plan *plan);

/* stored_branches.c: fills PLAN's branch_of and branches; needs block_moves and analysed. */
void pm_find_branches(const struct pm_lifted *lifted, struct pm_instrumentation_plan *plan);

/* moving_calls.c: fills PLAN's unwinding and call_moves; needs block_moves. */
void pm_find_moving_calls(const struct pm_lifted *lifted, struct pm_instrumentation_plan *plan);

/* descriptors.c: what the runtime finds at the segment's start: header, references, scopes and
   names, 16-byte aligned in size.  Tables that come with the new code are put in by pm_instrument.
   The caller frees *BYTES. */
void pm_build_descriptors(const struct pm_lifted *lifted,
                          const struct pm_instrumentation_plan *plan, uint64_t segment_address,
                          uint8_t **bytes, size_t *n_bytes);

#endif
