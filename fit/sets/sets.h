/* Misses in caches of sets: how many accesses at each reuse distance miss because too many of the
   blocks between lie in the set of their own.  README.md has the model and its order. */
#ifndef PM_SETS_H
#define PM_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/machine/machine.h"
#include "core/profile.h"
#include "core/structure/structure.h"

struct pm_set_cache {
    uint64_t block_bytes;
    double blocks; /* capacity; with ways, a whole number of sets of them */
    uint32_t ways; /* 0: fully associative */
    enum pm_replacement replacement;
    enum pm_indexing indexed;
    bool unified;              /* it holds the code that is executed, too */
    struct pm_response serves; /* where it has points they alone count: what is above, but for the
                                  size of blocks, says nothing of how it is shared */
    double inner_blocks; /* of the caches nearer the core, none of which an exclusive cache holds:
                            they keep blocks from missing as its own do; 0: it is not exclusive */
};
/* The levels of MACHINE, one each; the caller frees. */
struct pm_set_cache *pm_set_caches_of(const struct pm_machine *machine);

/* What is shown as the misses of a level of a machine, or of a cache with sets, comes from here.

   For each of N caches the misses of each of PROFILE's histograms; cold ones and those beyond all
   included; 0 for those of other block sizes.  Where the profile has no strides, caches are taken
   as fully associative.  Each sees every access, but that an exclusive one holds what leaves the
   one before it.  Behind them, unless ENDS is NULL, the misses of the histograms of its two
   profiles, between which PROFILE lies: what enters a cache between two uses is enumerated once for
   both, from PROFILE's walks.  PROFILE's own are the same to the bit with ENDS and without.  Of a
   cache with a response the first of ENDS, which has fewer misses, goes through the high end of its
   intervals, the second through the low one.
   [cache][histogram], freed by pm_set_misses_free. */
double **pm_set_misses(const struct pm_structure *structure, const struct pm_profile *profile,
                       struct pm_profile *const *ends, const struct pm_set_cache *caches, size_t n);
/* The same for the levels of MACHINE, but that ENDS go through responses as they are: between what
   the machine's figures lie is joined to the time apart (sched/machine_interval.c). */
double **pm_set_misses_of_levels(const struct pm_structure *structure,
                                 const struct pm_profile *profile, struct pm_profile *const *ends,
                                 const struct pm_machine *machine);
/* The same of N machines, the levels of one after those of the other: windows that they have in
   common are looked for once. */
double **pm_set_misses_of_machines(const struct pm_structure *structure,
                                   const struct pm_profile *profile, struct pm_profile *const *ends,
                                   const struct pm_machine *const *machines, size_t n);
/* The misses in them of each of N_PARTS histograms, which are parts of PROFILE's. */
double **pm_set_misses_of_parts(const struct pm_structure *structure,
                                const struct pm_profile *profile,
                                const struct pm_group_histogram *parts, size_t n_parts,
                                const struct pm_machine *machine);
/* The share of the accesses whose references have no strides in PROFILE: they count as anywhere. */
double pm_set_unknown_share(const struct pm_structure *structure, const struct pm_profile *profile);
void pm_set_misses_free(double **misses, size_t n);

#endif
