/* Exact reuse distances of one thread's accesses for one block size.

   Model.  A block is 2^shift bytes, aligned.  The accesses of a thread in program order are turned
   into touches of blocks: an access touches every block that holds one of its bytes, in ascending
   order.  The reuse distance of a touch is the number d of distinct other blocks touched since the
   last touch of the same block; a first touch has none and is cold.  An LRU cache of C blocks hits
   iff d < C (Marin & Mellor-Crummey 2004, section 2.2.2).
   Assumed: addresses do not wrap around, and no access touches block 2^64 − 1 (which has no user
   memory); a thread touches fewer than 2^30 blocks of a size (else the analysis gives up and says
   so); other threads' accesses do not count.  Nothing is sampled or rounded.

   How.  Blocks are ordered by last touch, in two parts.
     Front: the 16 most recent ones, in vector registers while a batch is walked.  One comparison
     finds a block's place, which is the distance; one masked shift brings it to the front.
     Rest: a block that falls out of the front gets the next time stamp.  Stamps in use are bits of
     a bitmap, with counts per 2^9, 2^14, 2^19 and 2^24 bits over it.  The distance of a block with
     stamp t is 16 plus the number of bits after t.  It is exact because blocks fall out of the
     front in the order of their last touches.
   When the stamps run out, those in use are numbered anew from 1 (amortised: at least three
   quarters of the stamps are free afterwards, or their number doubles). A shadow table gives a
   block's slot, which holds its stamp: a hash table of pages of 1024 blocks, so that block numbers
   are 64 bits wide while slots and stamps are 32. Memory: 4 bytes a slot, and 8 to 16 bytes for
   each block touched. */
#ifndef PM_RUNTIME_REUSE_DISTANCE_H
#define PM_RUNTIME_REUSE_DISTANCE_H

#include "runtime/pmodel_handler.h"
#include "runtime/reuse_histogram.h"

enum pm_reuse_variant { PM_REUSE_SSE2, PM_REUSE_AVX2, PM_REUSE_AVX512, PM_REUSE_N_VARIANTS };

/* No block: what the front holds before 16 blocks were touched. */
#define PM_NO_BLOCK UINT64_MAX
enum { PM_SHADOW_PAGE_BLOCKS = 1024 };

struct pm_shadow_page {
    uint64_t key; /* block / PM_SHADOW_PAGE_BLOCKS + 1; 0: empty */
    uint64_t first_slot;
};

struct pm_reuse {
    uint64_t front[PM_REUSE_FRONT] __attribute__((aligned(64))); /* most recent first */
    unsigned shift;
    bool failed; /* out of memory: nothing is analysed any more */
    enum pm_reuse_variant variant;
    uint64_t n_blocks; /* distinct blocks touched */
    uint64_t n_far;    /* touches of blocks that were not in the front */
    bool far_often;    /* in the last batch: look ahead */

    struct pm_group_histogram *histograms; /* [n_groups] */
    uint32_t n_groups;
    struct pm_arena arena;

    /* Shadow table: slots[slot of a block] is the stamp it had when it was last outside the front,
       0 if it never was.  Meaningless while the block is in the front. */
    uint32_t *slots;
    struct pm_shadow_page *pages;
    uint64_t page_mask; /* number of entries of `pages` − 1 */
    uint64_t n_pages, room_pages;

    /* Stamps. */
    uint32_t next_stamp;
    uint64_t capacity;  /* stamps run from 1 to capacity − 1; a power of two */
    uint32_t *owner;    /* stamp → slot */
    uint64_t *bits;     /* the stamps in use */
    uint16_t *per_line; /* … counted per 2^9 stamps */
    uint32_t *per_14, *per_19, *per_24;
    size_t index_bytes; /* of the memory that `bits` and the counts share */
};

/* The best variant that this CPU can run. */
enum pm_reuse_variant pm_reuse_best_variant(void);

/* An analysis for blocks of 2^SHIFT bytes; CAPACITY stamps at first (a power of two from 512).
   NULL without memory.  Free with pm_reuse_free. */
struct pm_reuse *pm_reuse_new(unsigned shift, uint64_t capacity, enum pm_reuse_variant variant);
void pm_reuse_free(struct pm_reuse *reuse);

/* Analyses COUNT accesses, all of groups below N_GROUPS. */
void pm_reuse_accesses(struct pm_reuse *reuse, uint32_t n_groups,
                       const struct pmodel_access *accesses, size_t count);

/* Forgets all blocks, as if a new thread began; histograms and n_blocks stay. */
void pm_reuse_forget_blocks(struct pm_reuse *reuse);

/* ---- between the files of this part ---------------------------------------------------------- */

typedef void pm_reuse_walk(struct pm_reuse *reuse, const struct pmodel_access *accesses,
                           size_t count);
pm_reuse_walk pm_reuse_walk_sse2, pm_reuse_walk_avx2, pm_reuse_walk_avx512;

/* Where to look for a page, after a mask.  Neighbouring pages are far apart on purpose: a program's
   arrays would else form long runs of taken entries and collide as wholes. */
static inline uint64_t pm_shadow_hash(uint64_t key) { return key * 0x9e3779b97f4a7c15 >> 32; }

/* Makes the page KEY, whose blocks were never touched.  False: no memory. */
bool pm_reuse_new_page(struct pm_reuse *reuse, uint64_t key);

/* Numbers the stamps in use anew. */
void pm_reuse_compact(struct pm_reuse *reuse);

#endif
