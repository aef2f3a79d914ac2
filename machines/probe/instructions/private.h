/* What the files of instructions/ share. */
#ifndef PM_PROBE_INSTRUCTIONS_PRIVATE_H
#define PM_PROBE_INSTRUCTIONS_PRIVATE_H

#include "machines/probe/instructions/instructions.h"

/* Cycles of the multiset. */
double pm_multiset_cycles(struct pm_clock *clock, const struct pm_form_count *copies, size_t n);
/* What a FIGURE is after another visit, by a loop made anew: disturbances, and how the loop lies in
   memory, only make more.  AGREE: visits that say the same. */
enum { PM_ENOUGH_VISITS = 2 };
void pm_visit(struct pm_estimate *figure, unsigned *agree, struct pm_estimate now);
struct pm_estimate pm_loop_cycles(struct pm_clock *clock, struct pm_probe_loop *loop);

/* ---- latencies.c ----------------------------------------------------------------------------- */

/* Of instructions whose result is their own source, where it does not repeat yet; then of the
   others. */
void pm_measure_chains(struct pm_clock *clock, const struct pm_probe_effort *effort,
                       struct pm_instruction_costs *costs);
void pm_measure_crossings(struct pm_clock *clock, const struct pm_probe_effort *effort,
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
