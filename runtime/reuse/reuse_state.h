/* How reuse distances are found (reuse.h): what the files of this folder share.

   How.  Blocks are ordered by last touch, in two parts.
     Stack top: the 16 most recent ones, in vector registers while a batch is walked.  One
     comparison finds a block's place, which is the distance; one masked shift brings it to the
     front. Rest: a block that falls out of the stack top gets the next time stamp; when it is
     touched again its stamp is taken back.  The distance of a block with stamp t is 16 plus the
     number of stamps in use after t.  It is exact because blocks fall out of the stack top in the
     order of their last touches.
   Stamps are bits of a bitmap, with counts over it (stamps.h).  When they run out, those in
   use are numbered anew.  A block's stamp is in its slot, which is found through two
   tables (shadow.h), so that block numbers are 64 bits wide while stamps are 32.
   A slot keeps its number until its page is given back, which only happens if memory is bounded.

   Bounded (max_blocks > 0).  When the stamps are numbered anew, of the blocks below the stack top
   only the max_blocks most recent ones keep theirs.  A page without stamps is given back; which of
   its blocks were touched stays known, in one bit each, so that a first touch is always told from a
   forgotten block's, exactly.  A touch at a distance of max_blocks or more is PM_BEYOND, whether
   the block was forgotten already or not.

   Sampled (sample = R > 1): only blocks whose hash is in the lowest R-th part of its range are
   sampled, and the others are not even looked up.  A block that is touched d sampled blocks after
   its last touch counts as R touches at a distance of about R·d (reuse_result.c). */
#ifndef PM_RUNTIME_REUSE_REUSE_STATE_H
#define PM_RUNTIME_REUSE_REUSE_STATE_H

#include "runtime/reuse/touch_histogram.h"
#include "runtime/reuse/reuse.h"
#include "runtime/system.h"

/* No block: what the stack top holds before 16 blocks were touched. */
#define PM_NO_BLOCK UINT64_MAX

enum {
    PM_PAGE_BLOCKS = 64,
    PM_REGION_PAGES = 256,
    PM_REGION_SHIFT = 14,
    PM_LINE_STAMPS = 256, /* of the bitmap; a count each */
    PM_LINE_WORDS = 4,
    PM_CURSORS = 8,
};

/* What a slot holds. */
enum {
    PM_SLOT_NEVER = 0,     /* the block was never touched */
    PM_SLOT_FORGOTTEN = 1, /* it was, but too long ago */
    PM_SLOT_FRONT = 2,     /* it is in the stack top; so it is if the slot's stamp is not in use */
    PM_FIRST_STAMP = 3,
};

/* Touches of sampled blocks by eighths of these blocks, for the standard error: far[k] those whose
   estimated distance has k > 0 binary digits. */
enum { PM_SUBSAMPLES = 8 };
_Static_assert((int)PM_SUBSAMPLES == (int)PM_RAW_SUBSAMPLES, "as the raw file has them");
struct pm_subsample {
    uint64_t far[65], unbounded; /* cold, or beyond */
};

struct pm_shadow_region {
    uint64_t key;    /* block >> PM_REGION_SHIFT, + 1; 0: empty */
    uint32_t *pages; /* their numbers; 0 none */
};

/* Stamps 0 … capacity − 1 that are in use or were not given out yet are set.  Counts are of set
   stamps; a node is the counts of neighbours that are summed for one number. */
struct pm_stamps {
    uint32_t next;     /* to be given out */
    uint32_t n_in_use; /* of those below next */
    uint64_t capacity; /* a multiple of PM_LINE_STAMPS */
    uint64_t *bits;
    uint16_t *per_line; /* per 2^8 stamps, nodes of 32 */
    uint16_t *per_13;   /* per 2^13, nodes of 32 */
    uint32_t *per_18;   /* per 2^18, nodes of 32 */
    uint32_t *per_23;
    uint32_t *before; /* while stamps are numbered anew: stamps in use before a word */
    size_t bytes;     /* of the memory that all these share */

    /* Words of `bits` whose ranks are known: the number of stamps in use before them. */
    uint32_t cursor_words[PM_CURSORS] __attribute__((aligned(32)));
    uint32_t cursor_ranks[PM_CURSORS] __attribute__((aligned(32)));
    uint32_t cursor_pending[PM_CURSORS]
        __attribute__((aligned(32))); /* not yet subtracted from counts */
    uint32_t next_cursor;

    uint32_t oldest_young[2]; /* of sequential_touches.c; since stamps were numbered anew */
};

/* Touches that go on from one block to the next, by group (sequential_touches.h). */
struct pm_sequential {
    struct pm_touch_histogram *histograms; /* [n] */
    uint32_t n;
    uint64_t n_far; /* touches outside the stack top so far */
};

struct pm_reuse {
    uint64_t stack_top[PM_STACK_TOP] __attribute__((aligned(64))); /* most recent first */
    unsigned shift;
    bool failed; /* out of memory: nothing is analysed any more */
    enum pm_reuse_variant variant;
    struct pm_reuse_options options;
    uint32_t sample_threshold;       /* hashes of blocks that are sampled: 0 … sample_threshold */
    struct pm_subsample *subsamples; /* [PM_SUBSAMPLES]; NULL: all blocks are sampled */
    uint64_t bound;                  /* distances from here on are PM_BEYOND */
    uint64_t n_blocks;               /* distinct blocks touched */
    bool far_often;                  /* in the last batch: look ahead */
    bool near_is_one_bin;       /* distances below PM_STACK_TOP are not told apart (larger.h) */
    struct pm_far_touches *far; /* for larger blocks (larger_size.h); NULL: there are none */
    struct pm_sequential *sequential; /* owned; NULL: nobody asked */
    struct pm_piece *piece;           /* where cold means open (pieces.h); NULL: nowhere */

    struct pm_touch_histogram *histograms; /* [n_groups] */
    uint32_t n_groups;
    struct pm_bin_arena arena;

    /* The shadow table, shadow.h. */
    uint32_t *slots;
    struct pm_shadow_region *regions;
    uint64_t region_mask; /* number of entries of `regions` − 1 */
    uint64_t n_regions, n_pages, room_pages;
    struct pm_arena tables; /* of regions */
    uint64_t *masks;        /* of pages that were given back */
    uint64_t n_masks, room_masks;
    uint32_t free_mask;
    uint32_t *free_pages;
    uint64_t n_free, room_free;

    uint64_t least_capacity;
    struct pm_stamps stamps;
};

/* A hash of 32 bits, of a block's lowest 32, in operations that vector extensions have.  Within
   4096 neighbouring blocks it is spread evenly (multiples of the golden ratio), so that of a dense
   range about n/R blocks are sampled: the variance is a fiftieth of a random choice's.  From one
   such region to the next it is random.  With even spread all over, most strides too would have
   even shares, but some, in step with the multiples, would have none, or several times too many,
   and their standard error would not tell. */
enum { PM_HASH_REGION_SHIFT = 12, PM_HASH_MIX_SHIFT = 15 };
#define PM_HASH_BLOCK 0x9e3779b9u
#define PM_HASH_REGION 0x85ebca6bu
#define PM_HASH_MIXED 0x846ca68bu
static inline uint32_t pm_block_hash(uint64_t block) {
    uint32_t low = (uint32_t)block, region = (low >> PM_HASH_REGION_SHIFT) * PM_HASH_REGION;
    return low * PM_HASH_BLOCK + (region ^ region >> PM_HASH_MIX_SHIFT) * PM_HASH_MIXED;
}

/* Under sampling: whether a touch of BLOCK is to be analysed.  Whoever asks also counts the touch,
   sampled or not, in its group's `touches`. */
static inline bool pm_is_sampled(const struct pm_reuse *reuse, uint64_t block) {
    return pm_block_hash(block) <= reuse->sample_threshold;
}

/* The distance that DISTANCE sampled blocks stand for, with one of SAMPLE sampled: the blocks of
   a region are evenly chosen, so that there are about SAMPLE - 1 others before the next one.  That
   no sampled block came between mostly means that hardly any block did. */
static inline uint64_t pm_estimated_distance(uint64_t sample, uint64_t distance) {
    return distance ? (distance + 1) * sample - 1 : 0;
}

/* Which of PM_SUBSAMPLES parts of the sampled blocks BLOCK is of. */
static inline uint32_t pm_subsample_of(const struct pm_reuse *reuse, uint64_t block) {
    return (uint32_t)(pm_block_hash(block) * reuse->options.sample * PM_SUBSAMPLES >> 32);
}

/* Tells that the sampled BLOCK was touched at DISTANCE > 0 (not scaled; PM_COLD, PM_BEYOND); only
   if reuse->subsamples. */
static inline void pm_reuse_note_sample(struct pm_reuse *reuse, uint64_t block, uint64_t distance) {
    struct pm_subsample *subsample = &reuse->subsamples[pm_subsample_of(reuse, block)];
    uint64_t estimate = pm_estimated_distance(reuse->options.sample, distance);
    if (distance >= PM_BEYOND)
        subsample->unbounded++;
    else
        subsample->far[64 - __builtin_clzll(estimate)]++;
}

/* Makes room for groups below N_GROUPS.  False: no memory. */
bool pm_reuse_make_histograms(struct pm_reuse *reuse, uint32_t n_groups);

/* The walk over a batch, for each vector extension (walk.h). */
typedef void pm_reuse_walk(struct pm_reuse *reuse, const struct pmodel_access *accesses,
                           size_t count);
pm_reuse_walk pm_reuse_walk_sse2, pm_reuse_walk_avx2, pm_reuse_walk_avx512;

/* Who touches, for larger blocks (larger/) and in pieces. */
struct pm_toucher {
    uint32_t group, kind; /* enum pm_access − 1 */
};

/* TOUCHER touches BLOCK, which is neither in the stack top nor has a stamp: PM_COLD or
   PM_BEYOND. */
uint64_t pm_reuse_touch_unstamped(struct pm_reuse *reuse, uint64_t block,
                                  struct pm_toucher toucher);

/* For touch.h: TOUCHER touches BLOCK, which has no stamp any more, at DISTANCE. */
void pm_sequential_note(struct pm_reuse *reuse, uint64_t block, uint64_t distance,
                        struct pm_toucher toucher);

/* Where reuse->sequential is there: room for groups below N_GROUPS (false: no memory); the end. */
bool pm_sequential_make_histograms(struct pm_reuse *reuse, uint32_t n_groups);
void pm_sequential_free(struct pm_reuse *reuse);

/* For pieces.c: BLOCK, which has this slot, is touched for the first time in the piece. */
void pm_piece_touched(struct pm_reuse *reuse, uint64_t block, uint64_t slot,
                      struct pm_toucher toucher);

/* Memory is bounded, and there are so many blocks that some should be forgotten. */
bool pm_reuse_has_too_many(const struct pm_reuse *reuse);

/* Numbers the stamps in use anew; forgets blocks if there are too many. */
void pm_reuse_compact(struct pm_reuse *reuse);

#endif
