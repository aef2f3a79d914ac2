/* Which bytes of memory a thread has touched, and which group of references was the first to.

   Model.  The footprint of a stream of accesses is the set of bytes that they touch.  Each byte
   belongs to the group of the access that touched it first, so that the groups' numbers of bytes
   add up to the footprint.  Beside the blocks that a group was the first to touch, they tell how
   much of these blocks is of use (spatial locality, fragmentation).  Nothing is rounded, and blocks
   play no part.  Addresses count modulo 2^64.

   How.  One bit a byte, in pages of 4096 bytes that a hash table finds and that are made when they
   are touched.  An access goes by words of 64 bits, however long it is.
   Memory: 512 bytes for each page of 4096 bytes that was touched, and 32 to 64 of the table: a
   seventh of what a program touches if it touches whole pages, 576 bytes for a byte that is alone
   in its page.
   Time: 2.6 ns an access (the stencils of bench/apps/adi). */
#ifndef PM_RUNTIME_ANALYSER_FOOTPRINT_H
#define PM_RUNTIME_ANALYSER_FOOTPRINT_H

#include "runtime/page_table.h"
#include "runtime/pmodel_handler.h"

enum { PM_FOOTPRINT_PAGE_SHIFT = 12 };

struct pm_footprint {
    bool failed;                /* out of memory: nothing is known any more */
    struct pm_page last;        /* found last */
    struct pm_page_table pages; /* by address / 4096 + 1; a bit a byte */
    uint64_t *bytes;            /* [n_groups] */
    uint32_t n_groups;
};

struct pm_footprint *pm_footprint_new(void); /* NULL: no memory */
void pm_footprint_free(struct pm_footprint *footprint);

/* Adds COUNT accesses, all of groups below N_GROUPS; what is no access (carried.h) is passed
   over. */
void pm_footprint_accesses(struct pm_footprint *footprint, uint32_t n_groups,
                           const struct pmodel_access *batch, size_t count);

/* The bytes that GROUP was the first to touch. */
uint64_t pm_footprint_bytes(const struct pm_footprint *footprint, uint32_t group);

/* Forgets which bytes were touched, as if a new thread began; the groups' numbers stay. */
void pm_footprint_forget(struct pm_footprint *footprint);

#endif
