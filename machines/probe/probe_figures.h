/* How figures are written into a machine file; of this folder only. */
#ifndef PM_PROBE_FIGURES_H
#define PM_PROBE_FIGURES_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/base.h"
#include "machines/probe/memory/memory.h"
#include "machines/probe/probe.h"

bool pm_is_known(struct pm_estimate estimate);

/* BEFORE NAME = "ESTIMATE (LOW to HIGH)" times SCALE; nothing of one that is not known. */
void pm_write_estimate(FILE *to, const char *before, const char *name, struct pm_estimate estimate,
                       double scale);

/* The same of a whole number. */
void pm_write_whole(FILE *to, const char *before, const char *name, struct pm_estimate estimate);

/* Which caches cores share is what the system says of them. */
void pm_write_probed_memory(FILE *to, const struct pm_memory_probe *memory,
                            const struct pm_said *said);

#endif
