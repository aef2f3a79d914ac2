/* What the files of memory/ share. */
#ifndef PM_PROBE_MEMORY_PRIVATE_H
#define PM_PROBE_MEMORY_PRIVATE_H

#include "machines/probe/memory/memory.h"

/* ---- kernels.c ------------------------------------------------------------------------------- */

enum { PM_MOST_CHAINS = 64 };

/* STEPS loads along each of CHAINS chains that begin at STARTS; these are moved on. */
void pm_follow_chains(void **starts, unsigned chains, uint64_t steps, bool writes);

/* Goes over BYTES from BUFFER once (pm_stream); OTHER: where a copy goes. */
void pm_run_sweep(enum pm_sweep_kind kind, uint8_t *buffer, uint8_t *other, uint64_t bytes,
                  uint64_t stride_bytes, uint64_t *random);

#endif
