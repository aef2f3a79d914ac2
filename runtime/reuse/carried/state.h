/* How the carriers of reuses are found (carried.h): what the files of this folder share.

   Time is counted in entries and iterations.  A table holds for each block the time and the
   scope of the last touch in one word; activations hold the times of their entry and of their last
   iteration, both ascending from the outermost to the innermost, so that the carrier is found from
   the top of the stack, by binary search if it is not near.  Everything else, and the distances,
   are those of pm_reuse.  The table is apart from its slots, because two thirds of all touches find
   their block in the front and need no slot.  Accesses go one by one: bundles were
   tried without gain (docs/log-measuring.md). */
#ifndef PM_RUNTIME_REUSE_CARRIED_STATE_H
#define PM_RUNTIME_REUSE_CARRIED_STATE_H

#include "runtime/page_table.h"
#include "runtime/reuse/analysis.h"
#include "runtime/reuse/carried/carried.h"

/* A word of time and scope: scopes are below PM_MAX_SCOPES, times below 2^42. */
enum { PM_CARRIED_SCOPE_BITS = 22 };
#define PM_CARRIED_SCOPE_MASK ((1u << PM_CARRIED_SCOPE_BITS) - 1)
#define PM_CARRIED_TICK (1ull << PM_CARRIED_SCOPE_BITS)
_Static_assert(PM_CARRIED_OUTSIDE > PM_CARRIED_SCOPE_MASK, "no scope's number");

/* Where a reuse comes from and what carries it, in one word that is never 0. */
static inline uint64_t pm_carried_key(uint32_t source, uint32_t carrier, bool across) {
    return 1ull << 63 | (uint64_t)across << 45 | (uint64_t)carrier << 22 | source;
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

enum { PM_LAST_PAGE_BLOCKS = 512, PM_LAST_NEAR = 256 };

struct pm_carried {
    struct pm_reuse *reuse; /* its histograms hold cold touches; owned */
    bool failed;            /* out of memory: nothing is analysed any more */
    uint64_t now;           /* the time, with no scope */

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

void pm_carried_open(struct pm_carried *carried, uint32_t scope);
void pm_carried_close(struct pm_carried *carried, uint32_t scope);

/* The activation that was open at the time of LAST, not among the NEAR innermost ones. */
const struct pm_carried_activation *pm_carried_search(const struct pm_carried *carried,
                                                      uint64_t last, uint32_t near);

/* The number of the histogram of (GROUP, KEY), which is none of the recent ones but becomes one;
   PM_NO_PATTERN: no memory. */
#define PM_NO_PATTERN UINT32_MAX
uint32_t pm_carried_find_pattern(struct pm_carried *carried, uint32_t group, uint64_t key);

#endif
