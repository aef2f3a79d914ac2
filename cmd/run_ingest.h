/* From the raw files of one run (one a process) to the profile that the store keeps. */
#ifndef PM_RUN_INGEST_H
#define PM_RUN_INGEST_H

#include "cmd/run_instrument.h"
#include "core/base/base.h"
#include "core/profile.h"
#include "core/store/store.h"
#include "core/streams.h"

struct pm_ingested {
    struct pm_profile *profile;       /* without histograms; owned */
    struct pm_streams streams;        /* these, in order; owned */
    struct pm_run_patterns *patterns; /* NULL unless they were measured; owned */
    bool *inexact;                    /* one for each routine; owned */
    uint32_t n_threads, n_processes;
    double accesses; /* of one block size, by all threads */
    char *notes;     /* sentences, one a line; NULL none; owned */
};

/* Adds up the raw files in FOLDER, of processes that loaded one or more of the modules
   COPIES: counters over processes and threads,
   from which all edges are solved.  Histograms are kept apart by thread.  Errors: no
   raw file, one of another program, a damaged one. */
bool pm_ingest(const char *folder, const struct pm_run_copies *copies,
               const struct pm_parameters *at, const uint64_t *block_sizes, size_t n_block_sizes,
               bool with_patterns, struct pm_ingested *ingested, struct pm_error *err);
void pm_ingested_free(struct pm_ingested *ingested); /* what it owns */

#endif
