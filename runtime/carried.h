/* Which loop carries each reuse: one thread's accesses for one block size, with the loops and
   routines that the thread enters, iterates and leaves.

   Model (G. Marin and J. Mellor-Crummey, "Pinpointing and Exploiting Opportunities for Enhancing
   Data Reuse", ISPASS 2008; the tool MIAMI).  A reuse is a touch of a block that was touched
   before (reuse_distance.h).  It has
     source       the scope of the access that touched the block last: the innermost loop that this
                  code is directly in, else its routine.  Inlined code is in the loop or routine
                  that it was inlined to;
     destination  the reference group of the access that touches it now;
     carrier      of the activations of loops and routines that are open now, the innermost one that
                  was entered before the last touch: source and destination are both inside it, in
                  no smaller activation are both.  PM_CARRIED_OUTSIDE: none of them was, as between
                  two calls from code that is not measured;
     across       true if an iteration of the carrier began since the last touch, so that source and
                  destination lie in different ones.  An iteration begins whenever control comes to
                  the loop's header.  Of a routine, whose body is executed once an activation,
   false. A first touch has none of these.  An access that loads and stores is a load, and then a
   store that reuses what the load touched: its source is its own scope, its carrier the innermost
   activation.

   Activations.  A routine that calls itself is open as often as it was entered and not left, and
   the carrier is one of these activations, named by its scope.  A loop or routine whose entries and
   exits cannot all be told (binlift/copy/probes.c) is never open: the next one around it carries.
   What is left by longjmp, an exception or the end of its thread is closed as runtime/events.h
   says.  A handler of a signal opens its scopes within what it interrupted; it is told of when it
   returns, so that what it touches may come before the last part of what it interrupted.  Each
   thread has activations and blocks of its own.  Where measuring is switched off activations go on,
   accesses do not.

   How.  Time is counted in entries and iterations.  A table holds for each block the time and the
   scope of the last touch in one word; activations hold the times of their entry and of their last
   iteration, both ascending from the outermost to the innermost, so that the carrier is found from
   the top of the stack, by halving if it is not near.  Everything else, and the distances, are
   those of pm_reuse.  The table is apart from its slots, because two thirds of all touches find
   their block in the front and need no slot.  Accesses go one by one.  Tried without gain: the
   blocks of a bundle looked up with the templates of reuse_bundles.h, which saves what an execution
   touches again, but not its first touches, which are the most (a stencil took 13% longer, a sparse
   product 80%). */
#ifndef PM_RUNTIME_CARRIED_H
#define PM_RUNTIME_CARRIED_H

#include "runtime/reuse_distance.h"

/* In a batch of accesses an item whose `kind` is one of these is no access: the loop or routine
   numbered `group` is entered or left, or begins an iteration. */
enum pm_carried_event { PM_CARRIED_ENTER = 4, PM_CARRIED_LEAVE = 5, PM_CARRIED_ITERATE = 6 };

/* A word of time and scope: scopes are below PM_MAX_SCOPES, times below 2^42. */
enum { PM_CARRIED_SCOPE_BITS = 22 };
#define PM_CARRIED_SCOPE_MASK ((1u << PM_CARRIED_SCOPE_BITS) - 1)
#define PM_CARRIED_TICK (1ull << PM_CARRIED_SCOPE_BITS)

/* Number of what is around all scopes, as carrier. */
#define PM_CARRIED_OUTSIDE (1u << PM_CARRIED_SCOPE_BITS)

/* Where a reuse comes from and what carries it, in one word that is never 0. */
static inline uint64_t pm_carried_key(uint32_t source, uint32_t carrier, bool across) {
    return 1ull << 63 | (uint64_t)across << 45 | (uint64_t)carrier << 22 | source;
}
static inline uint32_t pm_carried_source(uint64_t key) { return key & PM_CARRIED_SCOPE_MASK; }
static inline uint32_t pm_carried_carrier(uint64_t key) { return key >> 22 & 0x7fffff; }
static inline bool pm_carried_across(uint64_t key) { return key >> 45 & 1; }

struct pm_activation {
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

/* Last touches of PM_LAST_PAGE_BLOCKS neighbouring blocks. */
struct pm_last_page {
    uint64_t key; /* block / PM_LAST_PAGE_BLOCKS + 1; 0: empty */
    uint64_t *touches;
};

struct pm_carried {
    struct pm_reuse *reuse; /* its histograms hold cold touches; owned */
    bool failed;            /* out of memory: nothing is analysed any more */
    uint64_t now;           /* the time, with no scope */

    struct pm_activation *open; /* [0]: what is around all scopes */
    uint32_t n_open;            /* with that */

    struct pm_last_page near[PM_LAST_NEAR]; /* pages met last, by the low bits of their key */
    struct pm_last_page *pages;             /* all, a hash table */
    uint64_t page_mask, n_pages;
    struct pm_arena page_arena;

    struct pm_recent_patterns *recent; /* [reuse->n_groups] */
    uint32_t n_recent;
    struct pm_carried_pattern *patterns; /* all, a hash table */
    uint64_t pattern_mask;
    uint32_t n_patterns;
    struct pm_group_histogram *histograms; /* [room_histograms], n_patterns are in use */
    uint64_t room_histograms;
};

/* An analysis for blocks of 2^SHIFT bytes; CAPACITY as pm_reuse_new.  NULL without memory. */
struct pm_carried *pm_carried_new(unsigned shift, uint64_t capacity, enum pm_reuse_variant variant);
void pm_carried_free(struct pm_carried *carried);

/* Analyses COUNT accesses and events, all accesses of groups below N_GROUPS; GROUP_SCOPES: the
   scope that each of these is in. */
void pm_carried_accesses(struct pm_carried *carried, uint32_t n_groups,
                         const uint32_t *group_scopes, const struct pmodel_access *batch,
                         size_t count);

/* Forgets all blocks and closes all scopes, as if a new thread began. */
void pm_carried_forget_blocks(struct pm_carried *carried);

/* Fills the histograms of carried->reuse: of each group the sum over its patterns.  May be called
   again when more has been analysed. */
void pm_carried_sum(struct pm_carried *carried);

/* ---- between the files of this part ---------------------------------------------------------- */

typedef void pm_carried_walk(struct pm_carried *carried, const uint32_t *group_scopes,
                             const struct pmodel_access *batch, size_t count);
pm_carried_walk pm_carried_walk_sse2, pm_carried_walk_avx2, pm_carried_walk_avx512;

void pm_carried_open(struct pm_carried *carried, uint32_t scope);
void pm_carried_close(struct pm_carried *carried, uint32_t scope);

/* The activation that was open at the time of LAST, not among the NEAR innermost ones. */
const struct pm_activation *pm_carried_search(const struct pm_carried *carried, uint64_t last,
                                              uint32_t near);

/* The page with KEY, made if need be; NULL: no memory. */
uint64_t *pm_carried_page(struct pm_carried *carried, uint64_t key);

/* The number of the histogram of (GROUP, KEY), which is none of the recent ones but becomes one;
   PM_NO_PATTERN: no memory. */
#define PM_NO_PATTERN UINT32_MAX
uint32_t pm_carried_find_pattern(struct pm_carried *carried, uint32_t group, uint64_t key);

#endif
