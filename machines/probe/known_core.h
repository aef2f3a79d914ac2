/* A core that a shipped machine describes: what is said of it beside what was measured; of this
   folder only. */
#ifndef PM_PROBE_KNOWN_CORE_H
#define PM_PROBE_KNOWN_CORE_H

#include <stdbool.h>
#include <stdio.h>

#include "core/machine/machine.h"
#include "machines/probe/probe.h"

/* The row of CORE for what the form is; NULL: it has none, or not one that a loop of the form shows
   (gathers are several operations, moves may be renamed). */
const struct pm_cost *pm_row_of_form(const struct pm_machine *core, const struct pm_form *form);
/* Cycles an instruction, by the row's units and its slots. */
double pm_row_throughput(const struct pm_machine *core, const struct pm_cost *row);

/* Does what was measured contradict the figure VALUE, whose interval on CORE is that of NAME,
   beyond both intervals? */
bool pm_contradicts(const struct pm_machine *core, const char *name, double value,
                    struct pm_estimate measured);

/* The rows of instructions that were measured and contradict those of CORE. */
void pm_write_contradictions(FILE *to, const struct pm_machine *core,
                             const struct pm_instruction_costs *costs);

#endif
