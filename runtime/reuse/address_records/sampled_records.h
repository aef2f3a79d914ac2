/* Address records where only some blocks are sampled: most executions touch none of them, which one
   test of all that they may touch tells; then they are only counted.

   May touch.  An access at a constant from a base of its address record (record_state.h) lies in a
   block or two, counted from the block of the base's address: which ones depends on where in its
   block that address is.  All that are possible are the base's candidates.  They are fewer where
   addresses have something in common: the remainder by `align` that all of the base's addresses so
   far had. An address without it makes `align` smaller and the tables anew, once for each power of
   two at most. The candidates of an execution are hashed at once.  Accesses that have a sampled
   candidate are looked at one by one.

   Touches.  An access touches one block more than usual where it straddles a border, which again
   depends on where in its block its base is: those for which that is possible with the base's
   remainder are tested at each execution, and counted by their place.  So the number of touches of
   each group is exact.

   That takes about half the time of looking up each execution's touch sequence, as where all
   blocks are sampled (docs/log-measuring.md). */
#ifndef PM_RUNTIME_REUSE_ADDRESS_RECORDS_SAMPLED_RECORDS_H
#define PM_RUNTIME_REUSE_ADDRESS_RECORDS_SAMPLED_RECORDS_H

#include "runtime/reuse/address_records/record_state.h"

enum {
    PM_SAMPLED_LANES = 8,       /* tables are whole vectors of it */
    PM_SAMPLED_CANDIDATES = 64, /* an address record with more is looked at access by access */
    PM_LARGEST_ALIGNMENT = 64,
};

/* Of one address record. */
struct pm_sampled_record {
    /* Of each word: what its addresses so far had in common.  Of a record that has something else
       there, an address differs in bits of the mask. */
    uint64_t align_mask[PM_RECORD_BASES] __attribute__((aligned(64)));
    uint64_t align_value[PM_RECORD_BASES] __attribute__((aligned(64)));
    /* Blocks, counted from that of the address in a word. */
    uint32_t candidate_word[PM_SAMPLED_CANDIDATES] __attribute__((aligned(64)));
    uint32_t candidate_block[PM_SAMPLED_CANDIDATES] __attribute__((aligned(64)));
    uint64_t candidate_accesses[PM_SAMPLED_CANDIDATES]; /* a bit for each that may touch it */
    /* An address of WORD straddles if its place in its block is FIRST or one of the LENGTH − 1 that
       follow, around the end of the block. */
    uint32_t straddle_word[PM_RECORD_ACCESSES] __attribute__((aligned(64)));
    uint32_t straddle_first[PM_RECORD_ACCESSES] __attribute__((aligned(64)));
    uint32_t straddle_length[PM_RECORD_ACCESSES] __attribute__((aligned(64)));
    uint32_t straddle_count[PM_RECORD_ACCESSES] __attribute__((aligned(64)));
    uint64_t straddle_accesses[PM_RECORD_ACCESSES];
    const struct pm_address_record *record;
    uint32_t n_words;
    uint32_t n_candidates, n_straddles; /* multiples of PM_SAMPLED_LANES */
    uint32_t n_executions;              /* not in the groups' touches yet */
    uint64_t always; /* accesses to look at in each execution: at a fixed address that is sampled,
                        or all, if there are too many candidates */
};
_Static_assert(PM_RECORD_ACCESSES % PM_SAMPLED_LANES == 0 && PM_RECORD_ACCESSES <= 64,
               "whole vectors, and a bit each");

/* The state of the address record whose first record is at WORDS; NULL: it is not known, or there
   is no memory. */
struct pm_sampled_record *pm_sampled_record(struct pm_record_reuse *address_records,
                                            const uint64_t *words);

/* WORDS is a record of STATE's with an address whose remainder is new. */
void pm_sampled_record_align(struct pm_reuse *reuse, struct pm_sampled_record *state,
                             const uint64_t *words);

/* Adds the touches of the executions so far. */
void pm_sampled_record_flush(struct pm_reuse *reuse, struct pm_sampled_record *state);

pm_record_walk pm_sampled_walk_sse2, pm_sampled_walk_avx2, pm_sampled_walk_avx512;

#endif
