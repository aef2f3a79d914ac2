/* From the raw files of one run (one a process) to what the store keeps of it. */
#ifndef PM_INGEST_H
#define PM_INGEST_H

#include "core/base/base.h"
#include "core/block_profile/block_profile.h"
#include "core/builds/builds.h"
#include "core/communication/communication.h"
#include "core/intervals/intervals.h"
#include "core/profile.h"
#include "core/ranks/ranks.h"
#include "core/reuse_patterns.h"
#include "core/streams.h"
#include "measure/copies/copies.h"
#include "measure/raw/raw.h"

struct pm_ingested {
    struct pm_profile *profile;       /* without histograms; owned */
    struct pm_streams streams;        /* these, in order; owned */
    struct pm_run_patterns *patterns; /* NULL unless they were measured; owned */
    struct pm_intervals *intervals;   /* likewise */
    struct pm_block_profile *blocks; /* of basic blocks, without levels, and in place of misses what
                                        each served; NULL unless it was measured; owned */
    uint32_t n_served;
    bool *inexact; /* one for each routine; owned */
    uint32_t n_threads, n_processes;
    uint32_t n_truncated;   /* processes that a signal ended */
    uint32_t n_checkpoints; /* of which only what they had written before their end is there */
    int signal;             /* the signal that ended a process; 0: none did, or it is not known */
    double accesses;        /* of one block size, by all threads */
    struct pm_communication *communication; /* NULL: it was not traced; owned */
    struct pm_ranks ranks;                  /* none: it was no MPI program; owned */
    char *missing_ranks; /* "7": of which there is no raw file; NULL: none are; owned */
    char *notes;         /* sentences, one a line; NULL none; owned */
};

/* Adds up the raw files in FOLDER, of processes that loaded one or more of the modules
   COPIES (WITH_CHECKPOINTS: also those that came to no end): counters over processes and threads,
   from which all edges are solved.  Histograms are kept apart by thread.  Ranks of an MPI program
   are grouped with RANK_TOLERANCE (core/ranks/ranks.h).  Errors: no raw file, one of another
   program, a damaged one. */
bool pm_ingest(const char *folder, const struct pm_copies *copies, const struct pm_parameters *at,
               const uint64_t *block_sizes, size_t n_block_sizes, bool with_patterns,
               bool with_checkpoints, double rank_tolerance, struct pm_ingested *ingested,
               struct pm_error *err);
void pm_ingested_free(struct pm_ingested *ingested); /* what it owns */

/* Brings INGESTED, measured with the build FROM, into the numbers of the build TO; DIFFERENCES gets
   what is not the same, and INGESTED a note, if accesses were lost by that. */
void pm_ingested_match(const struct pm_structure *from, const struct pm_structure *to,
                       struct pm_ingested *ingested, struct pm_build_differences *differences);

/* ---- for those who read raw files of their own ------------------------------------------------
 */

/* RAW's call paths, which are added to PATHS, as those of PATHS; the caller frees
   (ingest_intervals.c). */
uint32_t *pm_ingest_paths(struct pm_call_paths *paths, const struct pm_raw *raw,
                          const struct pm_module_place *const *places);

/* Communication of all processes. */
struct pm_communication_sums;
struct pm_communication_sums *pm_communication_sums_new(void);
bool pm_ingest_communication(struct pm_communication_sums *sums, const struct pm_raw *raw,
                             const struct pm_module_place *const *places, uint32_t process,
                             const char *path, struct pm_error *err);
/* What was added until now. */
const struct pm_communication *pm_communication_sums_all(const struct pm_communication_sums *sums);
/* What was added, owned by the caller; NULL: no process traced any.  SUMS is freed. */
struct pm_communication *pm_communication_sums_end(struct pm_communication_sums *sums,
                                                   char **notes);

#endif
