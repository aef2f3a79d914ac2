/* What the files of clock/ share. */
#ifndef PM_CLOCK_PRIVATE_H
#define PM_CLOCK_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "machines/probe/clock/clock.h"

/* ---- clock_loops.c --------------------------------------------------------------------------- */

enum {
    PM_CHAIN_CYCLES = 3 * 16, /* of one repetition of the chain */
    PM_WIDE_INSTRUCTIONS = 64,
};

/* False: this ISA has no chain whose cycles are known. */
extern const bool pm_has_chain;
/* Seconds of a core cycle by REPETITIONS of the chain. */
double pm_run_chain(uint64_t repetitions);
/* Seconds of an instruction of the loop at full issue width. */
double pm_run_wide(uint64_t repetitions);

/* ---- steal.c --------------------------------------------------------------------------------- */

/* Seconds that the hypervisor has taken from CPU so far, in steps of a clock tick; 0 where the
   system does not say. */
double pm_stolen_seconds(int cpu);

#endif
