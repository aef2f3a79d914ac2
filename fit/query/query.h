/* Queries on the surface  misses (size, cache)  of a part of the program: each asks for one of
   size, cache and hit ratio where the others are given, which is the intersection of the surface
   with a plane or two (Marin & Mellor-Crummey 2004, end of section 2.3.2; Marin 2003,
   section 3.4.2).

   They work on profiles, measured or predicted.  Misses at a size and cache are those of sets with
   LRU replacement where the cache has such (fit/sets/).  For the smallest cache and the largest
   size caches are fully associative:  misses = accesses whose reuse distance is at least the
   cache's blocks. */
#ifndef PM_QUERY_H
#define PM_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/model.h"
#include "core/base/base.h"
#include "core/machine/machine.h"
#include "core/profile.h"
#include "fit/query/profile_at.h"
#include "fit/sets/sets.h"

/* What a query is about: reference groups whose accesses are added up. */
struct pm_query_groups {
    PM_ARRAY(uint32_t, groups);
};

struct pm_query_cache {
    uint64_t block_bytes;
    double blocks;             /* capacity (pm_level_capacity_blocks); INFINITY: unlimited */
    struct pm_response serves; /* of a shared level, which counts in place of BLOCKS but for what
                                  fits; no points: it is a step */
};

struct pm_query_counts {
    double accesses, cold, misses; /* cold: first touches, which always miss and are in `misses` */
    double beyond; /* of the misses: reuses that are only known to be long (at_least in
                      core/histogram.h), some of which may hit */
};

/* At one size and cache, which is taken as fully associative; all 0 where the groups have no
   histogram of that block size. */
struct pm_query_counts pm_query_count(const struct pm_profile *profile,
                                      const struct pm_query_groups *groups,
                                      const struct pm_query_cache *cache);

/* The misses of GROUPS of STRUCTURE, where MISSES has those of each of the profile's histograms:
   summed up scope by scope, as those of a prediction are (pm_add_totals), so that both are one
   number to the bit. */
double pm_query_sum_misses(const struct pm_structure *structure, const struct pm_profile *profile,
                           const struct pm_query_groups *groups, uint64_t block_bytes,
                           const double *misses);

/* Write-backs that GROUPS cause in CACHE, taken as fully associative
   (core/write_backs/write_backs.h); NAN: not measured. */
double pm_query_write_backs(const struct pm_profile *profile, const struct pm_query_groups *groups,
                            const struct pm_query_cache *cache);

/* (accesses − misses) / accesses; not WITH_COLD: first touches are left out of both, so that an
   unlimited cache has 1.  NAN: no such access. */
double pm_query_hit_ratio(const struct pm_query_counts *counts, bool with_cold);

/* True if COUNTS have at least RATIO; no access at all misses nothing. */
bool pm_query_reaches(const struct pm_query_counts *counts, double ratio, bool with_cold);

/* ---- the smallest cache ---------------------------------------------------------------------- */

/* The smallest whole number of blocks of BLOCK_BYTES with at least hit ratio RATIO, in *BLOCKS;
   false if not even an unlimited cache has it (*BLOCKS is INFINITY).  */
bool pm_query_smallest_cache(const struct pm_profile *profile, const struct pm_query_groups *groups,
                             uint64_t block_bytes, double ratio, bool with_cold, double *blocks);

/* ---- the largest size ------------------------------------------------------------------------ */

/* Sizes among which one is looked for: LOW, LOW + step … (n of them), or the N VALUES, ascending.
 */
struct pm_query_range {
    double low, step;
    uint64_t n;
    double *values; /* NULL: evenly spaced */
};

double pm_query_range_value(const struct pm_query_range *range, uint64_t index);

/* At most MOST ascending INDICES of the range, its ends among them: all, or in steps of about the
   same ratio.  Returns how many. */
size_t pm_query_scan(const struct pm_query_range *range, size_t most, uint64_t *indices);

/* The profiles of all sizes: PROFILE_AT gives that at parameters AT, owned by the caller. */
struct pm_query_surface {
    struct pm_profile *(*profile_at)(void *context, const struct pm_parameters *at,
                                     struct pm_error *err);
    void *context;
    struct pm_parameters fixed; /* of the other parameters */
    const char *name;           /* the parameter that is solved for */
    double largest_measured;    /* value of it */
    struct pm_query_range range;
};

struct pm_profile *pm_query_profile(const struct pm_query_surface *surface, double size,
                                    struct pm_error *err);

struct pm_query_question {
    const struct pm_query_groups *groups;
    struct pm_query_cache cache;
    double ratio;
    bool with_cold;
};

enum pm_query_found {
    PM_QUERY_FOUND = 0,
    PM_QUERY_NONE,   /* no size of the range reaches the ratio */
    PM_QUERY_BEYOND, /* the largest of the range does: the true answer may be larger */
};

struct pm_query_answer {
    enum pm_query_found found;
    double size;         /* largest that reaches the ratio; NONE: the one that comes nearest */
    double failing_size; /* the next larger one looked at, which does not; NAN */
    double gap_size;     /* largest size below `size` looked at that does not; NAN: all do */
    struct pm_query_counts counts;        /* at `size` */
    struct pm_query_counts unlimited;     /* at `size`, in an unlimited cache */
    double extrapolation, relative_error; /* of the profile at `size` */
};

enum { PM_QUERY_MOST_SCANNED = 257 };

/* For each question the largest size of the range whose hit ratio reaches it.  The ratio need not
   be monotone in the size: all sizes of the range are tried, or PM_QUERY_MOST_SCANNED of them, in
   steps of about the same ratio; between the last that reaches it and the next one the border is
   bisected. (So a return to the ratio for fewer sizes than a step is not seen.)  At each size one
   profile serves all questions.  *COARSEST: the largest ratio of neighbouring sizes tried, less 1.
 */
bool pm_query_largest_sizes(const struct pm_query_surface *surface,
                            const struct pm_query_question *questions, size_t n,
                            struct pm_query_answer *answers, double *coarsest,
                            struct pm_error *err);

/* ---- the largest size at which reuses still hit ---------------------------------------------- */

/* A cluster of reuses of one part of the program that outgrow one cache at about the same size (a
   layer condition, in the words of stencil codes: so many rows, or planes, fit). */
struct pm_query_step {
    /* The largest sizes of the range at which (nearly) all, half, and (nearly) any of them still
       hit; where the cluster is spread out they differ.  −INFINITY: below the range, INFINITY:
       beyond it. */
    double all_hit, half_hit, some_hit;
    double share; /* of the part's accesses that it is, at these sizes */
    uint32_t
        histogram; /* the bin model with most of these accesses: its distance says what grows */
    uint32_t bin;
};

struct pm_query_fits {
    PM_ARRAY(struct pm_query_step, steps); /* by half_hit ascending; owned */
    /* Shares of the part's accesses: reuses that miss already at the smallest size of the range,
       there, and accesses that still hit at the largest, there. */
    double missed_share, hit_share;
};

/* What is worth telling in blocks of BLOCK_BYTES: a tenth of the misses for each access of a loop
   that streams through 8-byte numbers, at most a hundredth. */
double pm_query_least_share(uint64_t block_bytes);

/* For each pair (PARTS[i], CACHES[k]) in fits[i · n_caches + k] the sizes at which the distance
   models of the part's groups reach the cache's capacity:

       size(bin) = the largest size of the range with  end · distance (size) < blocks

   for the far end, the mean and the near end of each bin.  A distance is at most that of all blocks
   that there are (as pm_fit_instantiate has it).  Bins whose sizes lie within a tenth of each other
   are one step.  Steps with less than pm_query_least_share of the part's accesses are left out.
   Freed by pm_query_fits_free (each). */
bool pm_query_fits(const struct pm_query_surface *surface, const struct pm_model_set *models,
                   const struct pm_query_groups *const *parts, size_t n_parts,
                   const struct pm_query_cache *caches, size_t n_caches, struct pm_query_fits *fits,
                   struct pm_error *err);
void pm_query_fits_free(struct pm_query_fits *fits); /* what it owns */

/* ---- models as functions of one parameter (surface.c) -----------------------------------------
 */

/* Reads the models of PROGRAM, without which no size can be looked for. */
bool pm_query_needs_models(struct pm_program *program, struct pm_error *err);

/* Are there models that are functions of parameter NAME? */
bool pm_query_depends_on(const struct pm_model_set *models, const char *name);

/* The parameter that the models depend on and FIXED does not give: the one that is solved for, in
   SURFACE with RANGE, which is asked for RANGE_OF, or, where that is NULL, from its smallest
   measured value to PM_QUERY_FACTOR times the largest, in whole numbers.  PROGRAM must have its
   models, and it and the range's values outlive SURFACE.  Errors: there is no such parameter, or
   more than one; RANGE_OF is another. */
enum { PM_QUERY_FACTOR = 16 };
bool pm_query_find_surface(struct pm_program *program, const struct pm_parameters *fixed,
                           const char *range_of, const struct pm_query_range *range,
                           struct pm_query_surface *surface, struct pm_error *err);

/* ---- caches with names (caches.c) ------------------------------------------------------------ */

/* A cache as it is asked for; how many blocks it has is known when the block size is. */
struct pm_query_cache_size {
    double amount; /* bytes, or blocks */
    bool in_blocks;
    uint32_t ways; /* 0: fully associative */
    enum pm_replacement replacement;
    enum pm_indexing indexed;
};

struct pm_query_level_cache { /* a cache with a name */
    char *name;               /* "L2", "512 KiB"; owned */
    char *machine;            /* NULL: of none; owned */
    struct pm_query_cache cache;
    struct pm_set_cache sets; /* the same, in sets: for misses */
    bool writes_through, is_tlb;
    char *serves; /* what a shared level serves, as a sentence; NULL: it is a step; owned */
};

struct pm_query_caches {
    PM_ARRAY(struct pm_query_level_cache, caches); /* owned */
};
/* True if PROFILE has blocks of this size; else the sentence says which it has. */
bool pm_query_check_blocks(const struct pm_profile *profile, uint64_t block_bytes,
                           struct pm_error *err);
/* True if SIZE says more than how large it is. */
bool pm_query_is_organised(const struct pm_query_cache_size *size);
/* Adds caches of these sizes with blocks of BLOCK_BYTES.  Errors: PROFILE has no such blocks, a
   size is not a whole number of them, or of sets of its ways, or a tree has not a power of two. */
bool pm_query_add_caches(struct pm_query_caches *list, const struct pm_query_cache_size *sizes,
                         size_t n_sizes, uint64_t block_bytes, const struct pm_profile *profile,
                         struct pm_error *err);
/* Adds one without name and capacity, which is the answer. */
bool pm_query_add_any_size(struct pm_query_caches *list, uint64_t block_bytes,
                           const struct pm_profile *profile, struct pm_error *err);
/* Adds the levels of a machine. */
void pm_query_add_levels(struct pm_query_caches *list, const struct pm_machine *machine);
void pm_query_caches_free(struct pm_query_caches *list); /* what it owns */

/* ---- shares of the whole (weights.c) ----------------------------------------------------------
 */

/* Misses in CACHES as pm_set_misses has them (fit/sets/sets.h). */
double **pm_query_misses(const struct pm_structure *structure, const struct pm_profile *profile,
                         struct pm_profile *const *ends, const struct pm_query_caches *caches);

/* WEIGHTS (n values) of N sets of groups at PROFILE: the larger of their shares of all accesses and
   of all misses, in any of these caches. */
void pm_query_weights(const struct pm_structure *structure, const struct pm_profile *profile,
                      const struct pm_query_caches *caches,
                      const struct pm_query_groups *const *groups, size_t n, double *weights);

/* ---- all that is asked at once (answers.c) --------------------------------------------------- */

/* Intervals of predictions are of this probability. */

/* Each hit ratio in each cache for each part of the program. */
struct pm_query_asked {
    struct pm_program *program;
    const struct pm_query_groups *const *parts;
    size_t n_parts;
    const struct pm_query_caches *caches;
    const double *ratios;
    size_t n_ratios; /* 0: misses are asked for */
    bool with_cold;
};

struct pm_query_row {
    size_t part;             /* of the parts */
    struct pm_parameters at; /* the size, also where it is the answer */
    const char *cache_name;  /* NULL where the cache is the answer */
    const char *machine;     /* NULL: none */
    struct pm_query_cache cache;
    const struct pm_set_cache *sets; /* the cache that was asked for */
    double wanted;                   /* hit ratio; NAN: not given */
    enum pm_query_found found;
    double failing_size, gap_size;    /* PM_QUERY_SIZE: as in pm_query_answer */
    struct pm_query_counts counts;    /* at this size and cache */
    struct pm_query_counts unlimited; /* at this size, in an unlimited cache */
    /* Between which bounds the answer (misses, blocks of the cache, the size) is with a probability
       of 80%; infinite where a bound is beyond what was looked at; NAN: measured, and neither sets
       nor a response change anything. */
    double low, high;
    double write_backs;         /* at this size and cache; of one that writes through, the stores
                                   that it passes on; NAN: not measured, or a TLB */
    bool predicted;             /* else measured at this very size */
    uint64_t interpolated_from; /* block size that those of the cache's are made of; 0: measured */
    double extrapolation, relative_error; /* as in a profile */
    uint32_t n_threads;                   /* of so many together; 0: of one, or not known */
};

struct pm_query_answers {
    PM_ARRAY(struct pm_query_row, rows); /* owned */
    double coarsest;                     /* as pm_query_largest_sizes gives it */
};

/* Adds the misses at the size of PROFILE, or, with hit ratios, the smallest caches. */
bool pm_query_answer_at(const struct pm_query_asked *asked, const struct pm_profile *profile,
                        struct pm_query_answers *answers, struct pm_error *err);
/* Adds the largest sizes with these hit ratios.  SURFACE: as pm_query_find_surface makes it. */
bool pm_query_answer_size(const struct pm_query_asked *asked,
                          const struct pm_query_surface *surface, struct pm_query_answers *answers,
                          struct pm_error *err);
/* By part first; a part's rows stay in order. */
void pm_query_sort_by_part(struct pm_query_answers *answers, size_t n_parts);

#endif
