/* What the files of instructions/ share. */
#ifndef PM_PROBE_INSTRUCTIONS_PRIVATE_H
#define PM_PROBE_INSTRUCTIONS_PRIVATE_H

#include "machines/probe/instructions/instructions.h"

/* Cycles of the multiset: the least of several loops made anew, because what disturbs only slows.
 */
double pm_multiset_cycles(struct pm_clock *clock, const struct pm_form_count *copies, size_t n);
struct pm_estimate pm_loop_cycles(struct pm_clock *clock, struct pm_probe_loop *loop);

/* ---- latencies.c ----------------------------------------------------------------------------- */

void pm_measure_latencies(struct pm_clock *clock, struct pm_instruction_costs *costs);

/* ---- probe_units.c --------------------------------------------------------------------------- */

void pm_measure_units(struct pm_clock *clock, const struct pm_probe_effort *effort,
                      struct pm_instruction_costs *costs);

/* ---- probe_window.c, probe_branches.c, forwarding.c ------------------------------------------ */

struct pm_estimate pm_measure_window(struct pm_clock *clock);
struct pm_estimate pm_measure_scheduler(struct pm_clock *clock);
struct pm_estimate pm_measure_mispredict(struct pm_clock *clock);
double pm_measure_taken_jumps(struct pm_clock *clock);
struct pm_estimate pm_measure_store_forwarding(struct pm_clock *clock);
struct pm_estimate pm_measure_store_block(struct pm_clock *clock);
struct pm_estimate pm_measure_store_line(struct pm_clock *clock);

#endif
