/* Puts what the process measured into a raw file. */
#ifndef PM_RUNTIME_RAW_CONTENT_H
#define PM_RUNTIME_RAW_CONTENT_H

#include "runtime/raw/raw.h"

struct pm_raw_run {
    uint64_t process_id, parent_id, start_unix_ns, wall_ns, cpu_ns;
    uint64_t flags; /* enum pm_raw_flags */
};

/* All sections: run, modules, counters and histograms of all threads, notes. */
void pm_raw_add_content(struct pm_raw_builder *builder, const struct pm_raw_run *run);

#endif
