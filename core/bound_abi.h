/* Shadow loops, from which lower bounds are measured, as binlift/bound/ makes them and the
   runtime executes them.  Plain C without includes of other parts, as probe_abi.h.

   A copy is a block of memory: first its data (slots, then one pm_bound_replay for each replayed
   branch, then the rings of their outcomes), from the next page on its code.  Wherever it stands it
   must be moved as a whole; only what pm_bound_relocation says depends on the place. */
#ifndef PM_BOUND_ABI_H
#define PM_BOUND_ABI_H

#include <stdint.h>

/* The outcomes of a replayed branch.  A word of a ring holds 63 of them, the first in the highest
   bit, 1: taken, and below the last a 1 that ends it; the last word of all may hold fewer.  A word
   of 0 ends the ring. */
struct pm_bound_replay {
    uint64_t word;     /* what is left of the word at hand; 1 << 63: nothing */
    uint64_t rest;     /* the same without the 1 that ends it */
    uint64_t next;     /* address of the next word */
    uint64_t first;    /* address of the ring */
    int64_t budget;    /* how often the ring may still begin anew; below 0 the copy ends through
                          PM_CB_BOUND_OVER, since the nest itself runs no longer than that */
    uint64_t spill;    /* of the code that takes the next word */
    uint64_t signs[2]; /* PM_BOUND_NOTHING_LEFT, which a vector is tested with */
};

enum { PM_BOUND_OUTCOMES_OF_WORD = 63, PM_BOUND_MOST_OUTCOMES = 65536 };

#define PM_BOUND_NOTHING_LEFT (UINT64_C(1) << 63)

/* A signed 32-bit field of the code that is relative to the byte TO_END bytes behind its start, and
   tells of a place outside the copy. */
struct pm_bound_relocation {
    uint32_t at; /* in the code */
    uint32_t to_end;
    uint64_t target; /* link-time address */
};

/* Bytes that kept stores write: a general register and a displacement, as both are all through the
   nest.  They are saved before the copy runs, and restored. */
struct pm_bound_saved {
    int64_t displacement;
    uint32_t size_bytes;
    uint32_t base;
};

/* ---- the file that PM_ENV_BOUND names ----------------------------------------------------------

   This header, n_nests times struct pm_bound_file_nest, and what their offsets, from the file's
   start, lead to. */
#define PM_ENV_BOUND "PMODEL_BOUND"
#define PM_BOUND_MAGIC "PMBOUND"
#define PM_BOUND_VERSION 2

enum { PM_BOUND_PAGE_BYTES = 4096, PM_BOUND_MOST_SAVED_BYTES = 65536 };

struct pm_bound_file {
    char magic[8]; /* PM_BOUND_MAGIC */
    uint32_t version, n_nests;
    uint64_t n_bytes; /* of the file */
};

struct pm_bound_file_nest {
    uint64_t module; /* pm_probe_header.structure_hash */
    uint32_t scope;  /* index in the module's structure */
    uint32_t every;  /* the copy runs before one of so many executions */
    uint32_t slot_bytes, data_bytes, code_bytes;
    uint32_t first_replay, n_replayed; /* in the data */
    uint32_t n_relocations, n_saved;
    uint32_t reserved;
    uint64_t data, code;  /* data_bytes, code_bytes */
    uint64_t relocations; /* struct pm_bound_relocation */
    uint64_t saved;       /* struct pm_bound_saved */
};

/* ---- recording ---------------------------------------------------------------------------------

   What copies start with is recorded in a run of its own.  A basic block that is watched begins
   with a jump to a copy of it in which loads that have slots, and branches that are replayed,
   report themselves through PM_CB_CALLED_PATH: PM_CB_EVENT holds the number of the access << 1, its
   address stands in the spill slot PM_BOUND_REPORT_ADDRESS; or PM_BOUND_REPORT_BRANCH, the number
   of the branch << 1, and 1 if it is taken.  When all accesses of a block have been executed, and
   of its branch enough, the runtime takes the jump out.

   The file that PM_ENV_BOUND names is then this header, and behind each other its three tables. */
#define PM_BOUND_WATCH_MAGIC "PMWATCH"
#define PM_BOUND_REPORT_BRANCH (1u << 31)
#define PM_BOUND_REPORT_ADDRESS 5 /* PM_CB_SPILL + 8 · this */

struct pm_bound_watch_file {
    char magic[8];
    uint32_t version; /* PM_BOUND_VERSION */
    uint32_t n_accesses, n_branches, n_blocks, n_slots;
    uint32_t most_outcomes; /* of a branch; at most PM_BOUND_MOST_OUTCOMES */
    uint64_t module;        /* pm_probe_header.structure_hash */
};

enum { PM_BOUND_SLOT_BYTES = 64 };

struct pm_bound_watched_access {
    uint32_t slot;       /* of all nests together */
    uint32_t size_bytes; /* at most PM_BOUND_SLOT_BYTES; 0: a store, of which the address counts */
    uint32_t block;      /* in the table of blocks; of those that are not recorded UINT32_MAX */
    uint32_t reserved;
};

struct pm_bound_watched_branch {
    uint32_t block;
    uint32_t reserved;
};

struct pm_bound_watched_block {
    uint64_t jump;      /* link-time address */
    uint32_t n_reports; /* accesses and branches in it */
    uint32_t reserved;
};

#endif
