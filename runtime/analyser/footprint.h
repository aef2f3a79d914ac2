/* Which bytes of memory a thread has touched, and which group of references was the first to.

   Model.  The footprint of a stream of accesses is the set of bytes that they touch.  Each byte
   belongs to the group of the access that touched it first, so that the groups' numbers of bytes
   add up to the footprint.  Beside the blocks that a group was the first to touch, they tell how
   much of these blocks is of use (spatial locality, fragmentation).  Nothing is rounded, and blocks
   play no part.  Addresses count modulo 2^64.

   How.  One bit a byte, in pages of 4096 bytes that a hash table finds and that are made when they
   are touched.  An access goes by words of 64 bits, however long it is.  Most executions of an
   address record (core/probe_abi.h) touch nothing new, which footprint_records.c sees from its
   addresses alone; of the others only the accesses of addresses that may touch something go one by
   one. Memory: 520 bytes for each page of 4096 bytes that was touched, and 32 to 64 of the table: a
   seventh of what a program touches if it touches whole pages, 584 bytes for a byte that is alone
   in its page.
   Time: docs/log-measuring.md. */
#ifndef PM_RUNTIME_ANALYSER_FOOTPRINT_H
#define PM_RUNTIME_ANALYSER_FOOTPRINT_H

#include "runtime/page_table.h"
#include "runtime/pmodel_handler.h"

enum {
    PM_FOOTPRINT_PAGE_SHIFT = 12,
    PM_FOOTPRINT_PAGE_BYTES = 1 << PM_FOOTPRINT_PAGE_SHIFT,
    PM_FOOTPRINT_WORD_BYTES = 64,                                               /* a bit for each */
    PM_FOOTPRINT_N_TOUCHED = PM_FOOTPRINT_PAGE_BYTES / PM_FOOTPRINT_WORD_BYTES, /* the word behind
                                        a page's bits: how many are set */
};

struct pm_footprint {
    bool failed;                /* out of memory: nothing is known any more */
    struct pm_page last;        /* found last */
    struct pm_page_table pages; /* by address / 4096 + 1; a bit a byte */
    uint64_t *bytes;            /* [n_groups] */
    uint32_t n_groups;
    struct pm_footprint_address_records *address_records; /* NULL: none was executed yet */
};

struct pm_footprint *pm_footprint_new(void); /* NULL: no memory */
void pm_footprint_free(struct pm_footprint *footprint);

/* Adds COUNT accesses, all of groups below N_GROUPS; what is no access (carried.h) is passed
   over. */
void pm_footprint_accesses(struct pm_footprint *footprint, uint32_t n_groups,
                           const struct pmodel_access *batch, size_t count);

/* The same of the records from WORDS up to END, all of them of known address records
   (runtime/modules.h); events in between are passed over. */
void pm_footprint_records(struct pm_footprint *footprint, const uint64_t *words,
                          const uint64_t *end);

/* The bytes that GROUP was the first to touch. */
uint64_t pm_footprint_bytes(const struct pm_footprint *footprint, uint32_t group);

/* Forgets which bytes were touched, as if a new thread began; the groups' numbers stay. */
void pm_footprint_forget(struct pm_footprint *footprint);

/* ---- what the files of footprints share ------------------------------------------------------ */

static inline uint64_t pm_footprint_key(uint64_t address) {
    return (address >> PM_FOOTPRINT_PAGE_SHIFT) + 1;
}

/* Room for groups up to N_GROUPS; false, and it has failed: no memory. */
bool pm_footprint_make_groups(struct pm_footprint *footprint, uint32_t n_groups);

/* GROUP, for which there is room, touches SIZE bytes from ADDRESS on. */
void pm_footprint_touch(struct pm_footprint *footprint, uint32_t group, uint64_t address,
                        uint64_t size);

/* Of the address records (footprint_records.c): nothing is known to be touched any more; and the
   end. */
void pm_footprint_forget_records(struct pm_footprint_address_records *address_records);
void pm_footprint_free_records(struct pm_footprint_address_records *address_records);

#endif
