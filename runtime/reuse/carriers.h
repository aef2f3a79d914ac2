/* How the carriers of reuses are found (carried.h): what the files of reuse/carried and the walk
   over address records (address_records/carried_record_walk.h) share.

   Time is counted in entries and iterations.  A table holds for each block the time and the
   scope of the last touch in one word; activations hold the times of their entry and of their last
   iteration, both ascending from the outermost to the innermost, so that the carrier is found from
   the top of the stack, by binary search if it is not near.  Everything else, and the distances,
   are those of pm_reuse.  The table is apart from its slots, because two thirds of all touches find
   their block in the stack top and need no slot.

   Address records are followed as in reuse/address_records/record_state.h, and what carries their
   touches with them:
     Words of blocks in the stack top stand in a row beside it, and change places with them by the
     same permutation.  The table is asked only for a block that was not in the stack top, and gets
     the word of one that falls out.
     A touch of a block that the execution touched before is carried by the innermost activation.
     The first touches of a repeat have the same time behind them, and so one carrier: a repeat is
     one look at the stack and one increment.
     First touches of another execution: the keys of all of them are computed at once, a vector
     comparison for each activation that one of them looks at.  They are as a rule those of an
     earlier execution with the same distances; then it is an increment too.
   How often it was is turned into counts of patterns at the end
   (address_records/carried_records.c).  Records of iterations of the innermost open loop are taken
   in the same walk. */
#ifndef PM_RUNTIME_REUSE_CARRIERS_H
#define PM_RUNTIME_REUSE_CARRIERS_H

#include "runtime/page_table.h"
#include "runtime/reuse/reuse_state.h"
#include "runtime/reuse/carried_reuse/carried_reuse.h"

struct pm_address_record;
struct pm_record_reuse;
struct pm_record_state;
struct pm_touch_sequence;

/* A word of time and scope: scopes are below PM_MAX_SCOPES, times below 2^42. */
enum { PM_CARRIED_SCOPE_BITS = 22 };
#define PM_CARRIED_SCOPE_MASK ((1u << PM_CARRIED_SCOPE_BITS) - 1)
#define PM_CARRIED_TICK (1ull << PM_CARRIED_SCOPE_BITS)
_Static_assert(PM_CARRIED_OUTSIDE > PM_CARRIED_SCOPE_MASK, "no scope's number");

#define PM_CARRIED_ACROSS (1ull << 45)

/* Where a reuse comes from and what carries it, in one word that is never 0. */
static inline uint64_t pm_carried_key(uint32_t source, uint32_t carrier, bool across) {
    return 1ull << 63 | (across ? PM_CARRIED_ACROSS : 0) | (uint64_t)carrier << 22 | source;
}
static inline uint32_t pm_carried_source(uint64_t key) { return key & PM_CARRIED_SCOPE_MASK; }
static inline uint32_t pm_carried_carrier(uint64_t key) { return key >> 22 & 0x7fffff; }
static inline bool pm_carried_across(uint64_t key) { return key >> 45 & 1; }

struct pm_carried_activation {
    uint64_t entered, iterated; /* times, with no scope */
    uint32_t scope;
};

/* Reuses of one group, by one key. */
struct pm_carried_pattern {
    uint64_t key; /* 0: empty */
    uint32_t group;
    uint32_t histogram; /* in `histograms` */
};

/* The patterns that a group had lately: most groups have no others.  One cache line a group, where
   the table of all patterns would take one for each of them. */
enum { PM_RECENT_PATTERNS = 5 };
struct pm_recent_patterns {
    uint64_t keys[PM_RECENT_PATTERNS];       /* 0: none */
    uint32_t histograms[PM_RECENT_PATTERNS]; /* in `histograms` */
    uint32_t next;                           /* to be replaced */
} __attribute__((aligned(64)));

/* Executions of a touch sequence whose first touches had the same distances and keys. */
struct pm_carrying {
    uint64_t keys[PM_STACK_TOP]; /* of the m-th block's; 0: it is cold, or there is none */
    uint8_t distance[PM_STACK_TOP];
    uint32_t histograms[PM_STACK_TOP];
    uint64_t n;               /* those in the stack top are not in the histograms yet */
    struct pm_bin_cache *far; /* [PM_STACK_TOP] of others; NULL: there are none */
};

/* Executions of a touch sequence while SCOPE was the innermost that was open. */
struct pm_carried_count {
    uint64_t first; /* repeats: key of all first touches, without their source; 0: only touches of
                       what the execution touched before are counted here */
    uint64_t n;
    uint32_t scope;
};

enum { PM_CARRIED_COUNTS = 8, PM_CARRYINGS = 32, PM_CARRYINGS_KEPT = 8 };

/* What is known of a touch sequence beside struct pm_touch_sequence. */
struct pm_carried_sequence {
    uint64_t scopes[PM_STACK_TOP];  /* of the access that touches the m-th block last */
    uint64_t ordered[PM_STACK_TOP]; /* the same by place behind an execution; else 0 */
    uint64_t below[PM_STACK_TOP];   /* all bits where places are not the execution's */
    bool touches_again;             /* a block, or loads and stores at once */
    uint32_t repeat, again;         /* counts in use */
    struct pm_carried_count counts[PM_CARRIED_COUNTS];
    uint32_t n_counts, n_carryings, n_replaced;
    struct pm_carrying *carryings[PM_CARRYINGS];
    const struct pm_address_record *address_record;
    struct pm_touch_sequence *sequence;
    struct pm_carried_sequence *next; /* of all */
};

enum { PM_LAST_PAGE_BLOCKS = 512, PM_LAST_NEAR = 256 };

struct pm_carried {
    struct pm_reuse *reuse; /* its histograms hold cold touches; owned */
    bool failed;            /* out of memory: nothing is analysed any more */
    uint64_t now;           /* the time, with no scope */
    const uint32_t *group_scopes;

    /* Words of the blocks in the stack top, by place; 0 where there is none.  Those of blocks that
       the last execution touched are not up to date while it repeats: they are of the time
       TOUCHED. */
    uint64_t lasts[PM_STACK_TOP] __attribute__((aligned(64)));
    uint64_t touched;
    bool repeats;
    struct pm_record_reuse *address_records; /* owned */
    struct pm_carried_sequence *sequences;   /* all */

    struct pm_carried_activation *open; /* [0]: what is around all scopes */
    uint32_t n_open;                    /* with that */

    struct pm_page_table pages;        /* last touches of PM_LAST_PAGE_BLOCKS neighbouring blocks */
    struct pm_page near[PM_LAST_NEAR]; /* pages met last, by the low bits of their key */

    struct pm_recent_patterns *recent; /* [reuse->n_groups] */
    uint32_t n_recent;
    struct pm_carried_pattern *patterns; /* all, a hash table */
    uint64_t pattern_mask;
    uint32_t n_patterns;
    struct pm_touch_histogram *histograms; /* [room_histograms], n_patterns are in use */
    uint64_t room_histograms;
};

/* The walk over a batch, for each vector extension (walk.h). */
typedef void pm_carried_walk(struct pm_carried *carried, const uint32_t *group_scopes,
                             const struct pmodel_access *batch, size_t count);
pm_carried_walk pm_carried_walk_sse2, pm_carried_walk_avx2, pm_carried_walk_avx512;

typedef const uint64_t *pm_carried_record_walk(struct pm_carried *carried, const uint64_t *words,
                                               const uint64_t *end,
                                               const struct pm_carried_iteration *iteration);
pm_carried_record_walk pm_carried_record_walk_sse2, pm_carried_record_walk_avx2,
    pm_carried_record_walk_avx512;

/* Makes what STATE's SEQUENCE needs, before its first execution.  NULL: no memory. */
struct pm_carried_sequence *pm_carried_sequence(struct pm_carried *carried,
                                                const struct pm_record_state *state,
                                                struct pm_touch_sequence *sequence);

/* The number of the count of SCOPE and FIRST, which may take another's place. */
uint32_t pm_carried_find_count(struct pm_carried *carried, struct pm_carried_sequence *sequence,
                               uint64_t first, uint32_t scope);

/* For an execution with these DISTANCEs and KEYS, to be counted there, HAS_FAR if some are not in
   the stack top; NULL: it is to be counted
   touch by touch. */
struct pm_carrying *pm_carried_make(struct pm_carried *carried,
                                    struct pm_carried_sequence *sequence, const uint8_t *distance,
                                    const uint64_t *keys, bool has_far);

/* Adds to the histograms what sequences count; they begin to count anew. */
void pm_carried_flush(struct pm_carried *carried);

void pm_carried_open(struct pm_carried *carried, uint32_t scope);
void pm_carried_close(struct pm_carried *carried, uint32_t scope);

/* The activation that was open at the time of LAST, not among the NEAR innermost ones. */
const struct pm_carried_activation *pm_carried_search(const struct pm_carried *carried,
                                                      uint64_t last, uint32_t near);

/* The number of the histogram of (GROUP, KEY), which is none of the recent ones but becomes one;
   PM_NO_PATTERN: no memory. */
#define PM_NO_PATTERN UINT32_MAX
uint32_t pm_carried_find_pattern(struct pm_carried *carried, uint32_t group, uint64_t key);

/* Room for all groups of the analysis; false: no memory. */
bool pm_carried_make_groups(struct pm_carried *carried);

/* The words of the stack top's blocks go to the table, or come from there. */
void pm_carried_store_lasts(struct pm_carried *carried);
void pm_carried_load_lasts(struct pm_carried *carried);

#endif
