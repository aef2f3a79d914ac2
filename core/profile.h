/* A profile: what a program does at one problem size, counted or predicted; all that mapping on a
   machine needs beside the structure. */
#ifndef PM_PROFILE_H
#define PM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/behaviour/behaviour.h"
#include "core/histogram.h"
#include "core/parameters.h"
#include "core/base/base.h"
#include "core/strides/strides.h"
#include "core/structure/structure.h"

/* What a run did that is in no histogram, although the analysis was asked for: counted, so that it
   can be told how many accesses were left out.  One that reads and writes is a load and a store. In
   routines that are left out an execution of a reference is one access, whatever its kind; else
   string instructions, masked vectors, gathers and calls of the C library are as many as they are
   where they are analysed. */
enum pm_skipped_reason {
    PM_SKIPPED_STOPPED,   /* measuring was off (markers, --start-at, --stop-after) */
    PM_SKIPPED_LEFT_OUT,  /* in routines that --include and --exclude leave out */
    PM_SKIPPED_UNMATCHED, /* in code that is not the same in the other builds (--build) */
    PM_N_SKIPPED,
};

struct pm_skipped_accesses {
    double loads, stores;
    double executions; /* PM_SKIPPED_STOPPED: how often measuring was switched off in a thread;
                          PM_SKIPPED_LEFT_OUT: how often such a routine was entered;
                          PM_SKIPPED_UNMATCHED: 0 */
};

struct pm_group_histogram {
    uint32_t group;
    struct pm_histogram histogram; /* owned; names its block size */
};

/* The program total for a block size, also of what is in no histogram. */
struct pm_program_total {
    uint64_t block_bytes;
    double accesses; /* touches of blocks */
    double cold;     /* first touches: distinct blocks */
};

/* A block size that was not measured; its histograms are made of those of another one. */
struct pm_interpolated_size {
    uint64_t block_bytes, from_bytes;
};

/* How far off models of misses are where each size is predicted from the others: what each is worth
   at the size, and that times its error. */
struct pm_miss_model_error {
    uint64_t block_bytes;
    double weight, weighted;
};

struct pm_profile {
    struct pm_parameters parameters;
    bool predicted;    /* from models; else measured */
    char *truncated;   /* how the run ended before its end; NULL: it did not; owned */
    double set_spread; /* of a profile at an end of the intervals: misses move by this share of the
                          change that a cache's sets make; else 0 */
    double extrapolation; /* largest ratio of a parameter to its largest measured value, or of its
                             smallest to it; 1 within them, and measured */
    bool below_measured;  /* the latter: it is smaller than any that was measured */
    size_t n_edges;
    double *edge_counts; /* one for each edge of the structure; owned */
    size_t n_histograms;
    struct pm_group_histogram *histograms; /* by (group, block size) ascending; owned */
    size_t n_block_sizes;
    uint64_t *block_sizes; /* that were measured or interpolated, ascending; owned */
    PM_ARRAY(struct pm_interpolated_size, interpolated); /* the latter; owned */
    /* One for each block size; owned.  Empty: not known, because code was dropped.  Measured only.
     */
    PM_ARRAY(struct pm_program_total, totals);
    /* Stores by dirty distance, by (group, block size) ascending; none: not measured.  Owned.
       core/write_backs/write_backs.h */
    PM_ARRAY(struct pm_group_histogram, dirty);
    /* Touches that go on from one block to the next, of the smallest block size, by group; none:
       not measured.  Owned.  core/behaviour/behaviour.h */
    PM_ARRAY(struct pm_group_histogram, sequential);
    struct pm_run_strides strides; /* of references; empty: not known.  Owned, unless … */
    bool borrows_strides;          /* … they are those of another profile, which lives longer */
    struct pm_behaviour behaviour; /* of branches; empty: not measured.  Owned */
    double relative_error; /* of the models that made it, weighted by count; 0 if measured */
    size_t n_inexact_routines;
    PM_ARRAY(struct pm_miss_model_error, miss_errors); /* of these models, by block size; owned */
    /* What each thread did of it: counts of edges, histograms, strides that are the whole's.  None:
       there was one thread, or nobody asked (fit/query/).  Owned. */
    PM_ARRAY(struct pm_profile *, threads);
    char *threads_as; /* the run whose threads share the work so; NULL: it is their own.  Owned */
    struct pm_skipped_accesses skipped[PM_N_SKIPPED]; /* by enum pm_skipped_reason; measured only */
};

void pm_profile_free(struct pm_profile *profile); /* and the struct itself */
/* Of a predicted one, without threads and what is interpolated.  It borrows the strides of PROFILE.
 */
struct pm_profile *pm_profile_copy(const struct pm_profile *profile);

/* True if PROFILE's edges and groups are those of STRUCTURE; else the sentence says that the two do
   not belong together.  A profile from a store is to be checked before it is used. */
bool pm_profile_fits(const struct pm_profile *profile, const struct pm_structure *structure,
                     struct pm_error *err);

/* Takes away what STRUCTURE says is not the same in all builds of the store's runs: counts of edges
   of such code become 0, but for those that enter or leave a loop that is the same
   (core/builds/builds.h), and histograms of such groups go.  Those of groups that are one become
   one histogram. */
void pm_profile_keep_matched(struct pm_profile *profile, const struct pm_structure *structure);

/* Sums over the histograms, one for each block size; the caller frees. */
struct pm_program_total *pm_profile_sums(const struct pm_profile *profile);

/* What the histograms lack of the whole program for the first block size; zeros where nothing is
   missing, NAN where it is not known. */
struct pm_left_out {
    double accesses, first_touches; /* shares, from 0 to 1 */
};
struct pm_left_out pm_profile_left_out(const struct pm_profile *profile);

/* Were counts measured, but no reuse distances at all? */
bool pm_profile_is_without_memory(const struct pm_profile *profile);
/* Whether there are reuse distances in blocks of this size. */
bool pm_profile_has_block_size(const struct pm_profile *profile, uint64_t block_bytes);
/* The block size that those of BLOCK_BYTES were interpolated from; 0: they were not. */
uint64_t pm_profile_interpolated_from(const struct pm_profile *profile, uint64_t block_bytes);

/* Histogram of (GROUP, BLOCK_BYTES), NULL if the group was never accessed or not measured. */
const struct pm_histogram *pm_profile_histogram(const struct pm_profile *profile, uint32_t group,
                                                uint64_t block_bytes);
/* The same in any list of N that ascends by (group, block size). */
const struct pm_histogram *pm_find_histogram(const struct pm_group_histogram *all, size_t n,
                                             uint32_t group, uint64_t block_bytes);
/* Puts *N histograms in order; those of one group and block size become one. */
void pm_sort_histograms(struct pm_group_histogram *all, size_t *n);
/* Its number; n_histograms where there is none. */
size_t pm_profile_find_histogram(const struct pm_profile *profile, uint32_t group,
                                 uint64_t block_bytes);

/* Misses of all histograms of this block size in a fully associative cache of CACHE_BLOCKS: how the
   surface of distances is asked, for sensitivities and for caches that are no machine's.  Those of
   a machine's levels come from fit/sets/. */
double pm_profile_fully_associative_misses(const struct pm_profile *profile, uint64_t block_bytes,
                                           double cache_blocks);

/* How often each basic block is executed, from EDGE_COUNTS (n_edges values): as often as the edges
   into it are taken.  n_blocks values; the caller frees. */
double *pm_block_executions(const struct pm_structure *structure, const double *edge_counts);

/* How often a loop, inlined code or a routine is entered: the sum of the edges that come from
   outside; 0 for modules and the program. */
double pm_scope_entries(const struct pm_structure *structure, const double *edge_counts,
                        uint32_t scope);

/* Adds the accesses of the groups for which IS_LOST[group], by the executions of their references.
 */
void pm_skipped_add_groups(const struct pm_structure *structure, const double *edge_counts,
                           const bool *is_lost, struct pm_skipped_accesses *skipped);

/* What SKIPPED says for this reason, as a sentence that the caller frees; NULL: nothing. */
char *pm_skipped_sentence(const struct pm_skipped_accesses *skipped, enum pm_skipped_reason reason);

#endif
