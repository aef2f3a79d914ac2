/* What the files of this folder share; see ingest.h for what others use. */
#ifndef PM_INGEST_PRIVATE_H
#define PM_INGEST_PRIVATE_H

#include "core/communication/communication.h"
#include "core/profile.h"
#include "measure/ingest/ingest.h"
#include "measure/raw/raw.h"

/* Adds what RAW has of reuse patterns to PATTERNS, over all threads.  PLACES: per module of RAW
   where its numbers are in the structure.  False with a sentence that names PATH if one has no
   place there. */
bool pm_ingest_patterns(struct pm_run_patterns *patterns, const struct pm_raw *raw,
                        const struct pm_module_place *const *places, const char *path,
                        struct pm_error *err);

/* Moves RAW's stores by dirty distance and its sequential touches, of all threads, to PROFILE, for
   pm_sort_histograms. */
bool pm_ingest_parts(struct pm_profile *profile, struct pm_raw *raw,
                     const struct pm_module_place *const *places, const char *path,
                     struct pm_error *err);

/* Adds RAW's branches of all threads to BEHAVIOUR, for pm_behaviour_sort. */
bool pm_ingest_branches(struct pm_behaviour *behaviour, const struct pm_raw *raw,
                        const struct pm_module_place *const *places, const char *path,
                        struct pm_error *err);

/* The same of trips. */
bool pm_ingest_trips(struct pm_behaviour *behaviour, const struct pm_raw *raw,
                     const struct pm_module_place *const *places, const char *path,
                     struct pm_error *err);

/* Adds what RAW knows of strides to STRIDES, for pm_run_strides_sort. */
bool pm_ingest_strides(struct pm_run_strides *strides, const struct pm_raw *raw,
                       const struct pm_module_place *const *places, const char *path,
                       struct pm_error *err);

/* What processes say of their ranks that does not go together. */
struct pm_rank_oddities {
    bool differs, repeats; /* numbers of ranks; one rank is several processes */
    struct pm_rank a, b;   /* two that differ */
    uint64_t library;      /* enum pm_raw_library, of the last one */
};
/* Adds the rank of the process that RAW is of, if it is one. */
void pm_ingest_rank(struct pm_ranks *ranks, struct pm_rank_oddities *odd, const struct pm_raw *raw,
                    uint32_t process);
/* Once all are there, and the profile: in order, with groups, or none with a note. */
void pm_ingest_ranks_end(struct pm_ingested *ingested, const struct pm_rank_oddities *odd,
                         const struct pm_structure *structure, double tolerance);

/* Sums of profiles of basic blocks. */
struct pm_profile_sums {
    const struct pm_structure *structure;
    bool was_there; /* in one raw file at least */
    uint32_t n_served, window;
    struct pm_profiled_block *blocks; /* [n_blocks]; NULL: none yet */
    double *lanes;                    /* [n_references]: elements; NULL: none yet */
};
bool pm_ingest_block_profile(struct pm_profile_sums *sums, const struct pm_raw *raw,
                             const struct pm_module_place *const *places, const char *path,
                             struct pm_error *err);
/* The profile, owned by the caller; NULL: there was none.  It has no levels yet, and in place of
   misses what each level served (core/raw_file.h). */
struct pm_block_profile *pm_profile_sums_end(struct pm_profile_sums *sums,
                                             const double *edge_counts);
void pm_profile_sums_free(struct pm_profile_sums *sums); /* what it owns */

/* Intervals of a run while its files are read. */
struct pm_interval_sums {
    const struct pm_copies *copies;
    struct pm_intervals *intervals; /* NULL: none yet */
    struct pm_edge_solver *solver;  /* likewise */
    bool *inexact;                  /* per routine: in one row at least */
};
struct pm_interval_sums *pm_interval_sums_new(const struct pm_copies *copies);
void pm_interval_sums_free(struct pm_interval_sums *sums); /* NULL: none */
/* Adds the intervals of RAW, of the process with ordinal PROCESS, and takes their histograms out of
   RAW. */
bool pm_ingest_intervals(struct pm_interval_sums *sums, struct pm_raw *raw,
                         const struct pm_module_place *const *places, uint32_t process,
                         const char *path, struct pm_error *err);
/* The intervals, owned by the caller; NULL: there were none.  NOTES gets what is not as it should
   be beside the run's PROFILE and INEXACT routines. */
struct pm_intervals *pm_interval_sums_end(struct pm_interval_sums *sums,
                                          const struct pm_profile *profile, const bool *inexact,
                                          char **notes);

/* Of a build whose numbers are not the store's. */
void pm_communication_of_other_build(struct pm_communication *communication, char **notes);

/* Adds what RAW's threads did while measuring was off. */
void pm_skipped_add_stopped(struct pm_skipped_accesses *stopped, const struct pm_raw *raw);

/* pm_solve_edges for the structure of COPIES, and with it also for routines that are not recorded:
   what these did goes to LEFT_OUT, and their edges get 0, as those of all that are not counted. */
void pm_skipped_solve(const struct pm_copies *copies, const uint64_t *counters,
                      const struct pm_open_call *open_calls, size_t n_open_calls,
                      uint64_t *edge_counts, bool *inexact, struct pm_skipped_accesses *left_out);

#endif
