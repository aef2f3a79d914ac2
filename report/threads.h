/* Misses of each thread by itself (`pmodel report --threads`). */
#ifndef PM_THREADS_REPORT_H
#define PM_THREADS_REPORT_H

#include "core/machine/machine.h"
#include "core/prediction.h"
#include "core/streams.h"
#include "report/report.h"

/* Accesses in blocks of the first level, and misses of a cache of each level's size that it has for
   itself. */
struct pm_thread_misses {
    struct pm_stream stream;
    double accesses;
    double misses[PM_MAX_LEVELS]; /* of the machine's levels, in their order */
};

/* A table with a line for each of the N streams, those that never accessed anything left out. */
void pm_report_threads(FILE *out, const struct pm_machine *machine,
                       const struct pm_thread_misses *threads, size_t n,
                       const struct pm_report_options *options);

#endif
