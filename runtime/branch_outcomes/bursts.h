/* Bursts: which of a thread's outcomes reference predictors judge. */
#ifndef PM_RUNTIME_BURSTS_H
#define PM_RUNTIME_BURSTS_H

#include <stdint.h>

/* What is done with the outcomes of a thread's buffer N, from 0 on: they are counted only, learnt,
   or learnt and judged. */
enum pm_burst { PM_BURST_NONE, PM_BURST_LEARNS, PM_BURST_JUDGES };
enum pm_burst pm_branch_burst(uint64_t n);

#endif
