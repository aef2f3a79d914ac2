/* How figures are written into a machine file; of this folder only. */
#ifndef PM_PROBE_FIGURES_H
#define PM_PROBE_FIGURES_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/base.h"
#include "machines/probe/memory/memory.h"

bool pm_is_known(struct pm_estimate estimate);

/* BEFORE NAME = "ESTIMATE (LOW to HIGH)" times SCALE; nothing of one that is not known. */
void pm_write_estimate(FILE *to, const char *before, const char *name, struct pm_estimate estimate,
                       double scale);

/* The same of a whole number. */
void pm_write_whole(FILE *to, const char *before, const char *name, struct pm_estimate estimate);

void pm_write_probed_memory(FILE *to, const struct pm_memory_probe *memory);

#endif
