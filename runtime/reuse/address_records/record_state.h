/* How bundles are analysed (address_records.h): what the files of this folder share.

   What an execution touches.  A base is one of the addresses of a bundle's record, 1 …
   PM_BUNDLE_ADDRESSES; base 0 stands for fixed addresses.  The class of a base is which of its
   accesses lie in which block, counted from the block of its address: it depends on the address
   modulo the block size only, and holds over intervals of it.  A base whose address is near that of
   an earlier one, as those of a[i] and a[i + 1] in two registers, follows it: its blocks are
   counted from the other's.  Classes and distances of followers are the shape of an execution.  A
   touch sequence is what is known of all executions of a shape: the touches in their order, and
   which of them are first touches of a block within the execution, if bases that do not follow each
   other go to different blocks.

   Small bundles, as interpreters and compilers have thousands of, go access by access as long as
   their executions seldom repeat (direct.h): that takes two or three cache lines of what is known
   of a bundle, where the ways below take a dozen, and the front stays in registers from record to
   record.

   How an execution of any other is accounted for, from the cheapest way to the dearest:
     Repeat.  The record before was of the same bundle, and every address still is in the interval
   in which it was.  Then every touch has a distance that the sequence tells: the front (analysis.h)
     begins with the execution's blocks, in the order of their last touches.  One vector comparison
     and an increment account for all accesses of the record.
     Known transition of the front.  The record has the shape that followed the last one's before,
   or one that the bundle had lately; and its blocks are at places of the front where the blocks of
     such an execution were before, mostly those of the transition that followed the last one.  Each
     is seen by one vector comparison.  The distances of first touches follow from the places.
     Blocks that were not in the front, or fell out before they were touched, are far: their slots
     are found all together, then they are touched one after the other, and counted in the sequence
     while their distances stay in a bin.  One permutation makes the new front.
     Look-up.  The blocks are searched in the front, and where they were is remembered as a new
     transition.  Where transitions rarely apply, first touches are made without them.
     One by one, as without bundles: executions in which bases meet in a block although none follows
     the other, that touch more blocks than the front holds, or of a bundle with more shapes than
   are kept. How often sequences and
   transitions were used is turned into counts at the end (pm_bundle_reuse_flush).  What each of
   these methods gained: docs/log-measuring.md. */
#ifndef PM_RUNTIME_REUSE_ADDRESS_RECORDS_RECORD_STATE_H
#define PM_RUNTIME_REUSE_ADDRESS_RECORDS_RECORD_STATE_H

#include "runtime/modules.h"
#include "runtime/reuse/reuse_state.h"
#include "runtime/reuse/address_records/address_records.h"

enum {
    PM_BUNDLE_BASES = 16,
    PM_RECENT_SEQUENCES = 8,  /* of a bundle, tried one after the other */
    PM_MOST_SEQUENCES = 1024, /* of a bundle: 2 MiB; where bases are near each other at random, each
                                 execution has a shape of its own */
    PM_TRANSITIONS = 32,      /* of a sequence */
    PM_TRIED_TRANSITIONS = 3, /* besides the expected one */
    PM_TRIED_CARRIERS = 4,    /* of a transition */
    /* Transitions are tried as long as at least three of four executions make a known one: each
       that does adds 1 to the confidence, up to PM_CONFIDENT, each that does not takes
       PM_MISS_PENALTY.  Below zero they are not tried for some executions, each time twice as many.
     */
    PM_CONFIDENT = 128,
    PM_MISS_PENALTY = 3,
    PM_FIRST_BACKOFF = 1 << 10,
    PM_LONGEST_BACKOFF = 1 << 16,
    PM_FEW_BLOCKS = 4,       /* are touched in turn when transitions are not tried */
    PM_NEAR_BLOCKS = 64,     /* within which a base follows another */
    PM_DIRECT_ACCESSES = 11, /* of a small bundle at most */
    PM_FEW_ACCESSES = 6,     /* of which fewer cost less one by one than a transition does */
    /* A small bundle goes access by access for PM_FIRST_DIRECT executions, each time twice as many,
       when it has no credit left: each repeat adds PM_REPEAT_CREDIT, up to PM_DIRECT_CREDIT, each
       other execution takes 1. */
    PM_DIRECT_CREDIT = 64,
    PM_REPEAT_CREDIT = 2,
    PM_FIRST_DIRECT = 1 << 8,
    PM_MOST_DIRECT = 1 << 14,
    PM_TABLED_SHIFT = 8, /* blocks up to this size have a class for each byte in a table */
};
_Static_assert((int)PM_BUNDLE_BASES == PM_BUNDLE_ADDRESSES + 1, "base 0 is for fixed addresses");
_Static_assert(2 * PM_BUNDLE_ACCESSES < 256, "two boundaries an access, a class in a byte");

/* What the touches of an execution depend on, a byte for each base. */
struct pm_bundle_shape {
    uint8_t class_of[PM_BUNDLE_BASES];
    uint8_t leader[PM_BUNDLE_BASES]; /* the base that it follows, itself if none */
    int8_t ahead[PM_BUNDLE_BASES];   /* blocks from the leader's address to its own */
};

/* Where in the front the blocks of an execution of SEQUENCE were, and what that makes of the front.
 */
struct pm_front_transition {
    struct pm_touch_sequence *sequence;
    struct pm_front_transition *next; /* of the bundle's execution that followed, lately; or NULL */
    uint64_t n;                       /* executions */
    uint32_t present;                 /* bit m: the m-th block was in the front, at */
    uint8_t place[PM_REUSE_FRONT];
    uint32_t far;                    /* bit m: it was not there when it was touched, */
    uint8_t evicted[PM_REUSE_FRONT]; /* and the i-th of these pushed out what was at this place */
    uint8_t from[PM_REUSE_FRONT]; /* the front behind it: from which place, or PM_REUSE_FRONT + m:
                                     the m-th block */
    uint8_t distance[PM_REUSE_FRONT];                 /* of first touches; PM_REUSE_FRONT: far */
    struct pm_carrying *carryings[PM_TRIED_CARRIERS]; /* lately (reuse/carriers.h) */
};

/* A touch that is not the first one of its access. */
struct pm_continued_touch {
    uint32_t group;
    uint8_t kind, block; /* enum pm_access − 1; the m-th of its sequence */
};

/* Which touches an execution of a shape makes. */
struct pm_touch_sequence {
    uint64_t begin[PM_BUNDLE_BASES],
        length[PM_BUNDLE_BASES]; /* of the classes, in bytes of a block */
    struct pm_bundle_shape shape;
    bool has_followers;
    bool ends_as_it_begins; /* last touches come in the order of first touches */
    uint32_t n_blocks;      /* first touches; 0: more than the front holds */
    uint8_t base[PM_REUSE_FRONT];
    uint8_t order[PM_REUSE_FRONT]; /* the i-th most recent block behind the execution is the
                                      order[i]-th that it touched first */
    int64_t relative[PM_REUSE_FRONT];
    uint32_t group[PM_REUSE_FRONT]; /* of the access that touches it first, and its kind */
    uint8_t kind[PM_REUSE_FRONT];
    uint32_t n_continued; /* 0 if there are no larger blocks */
    struct pm_continued_touch *continued;
    struct pm_carried_sequence *carried;     /* reuse/carriers.h; NULL: nobody asks for carriers */
    struct pm_bin_cache far[PM_REUSE_FRONT]; /* first touches that were not in the front */
    struct pm_touch_sequence *next;          /* of the execution that followed, lately */
    uint64_t n_single;                       /* executions whose first touches were looked up */
    uint64_t n_repeats;                      /* executions of which nothing was */
    int32_t confidence; /* that a known transition applies; below 0 none is tried, until so many
                           executions later */
    int32_t backoff;    /* so many the next time */
    uint32_t n_transitions;
    struct pm_front_transition *transitions[PM_TRANSITIONS]; /* the last one found here first */
};

struct pm_bundle_base {
    uint32_t n_bounds;
    uint32_t *bounds;  /* ascending, 1 … block − 1: bounds[c − 1] is where class c begins */
    uint8_t *class_of; /* [block size]; NULL: too many bytes for a table */
};

/* An access of a small bundle. */
struct pm_direct_access {
    uint64_t offset;    /* from its address */
    uint32_t histogram; /* in pm_reuse.histograms, in bytes */
    uint8_t word;       /* of the record; 0: OFFSET is the address */
    uint8_t last_byte;  /* its size − 1 */
    uint8_t kind;       /* enum pm_access − 1 */
    uint8_t reserved;
};

/* Of one bundle. */
struct pm_bundle_state {
    uint32_t n_words;
    uint32_t n_accesses;   /* in `direct`; 0: the bundle is not small */
    int32_t n_direct;      /* so many executions to come go access by access */
    int16_t credit;        /* that they need not do so after these */
    uint16_t direct_turns; /* n_direct the next time */
    struct pm_direct_access direct[PM_DIRECT_ACCESSES];     /* in order */
    uint64_t low[PM_BUNDLE_BASES], length[PM_BUNDLE_BASES]; /* each word's interval */
    const struct pm_bundle *bundle;
    uint32_t words; /* a bit for each */
    uint32_t n_recent;
    bool begins_larger; /* an access of the execution before goes over into another larger block */
    struct pm_touch_sequence *last;                        /* of the execution before; NULL: none */
    struct pm_front_transition *last_transition;           /* the same */
    struct pm_touch_sequence *recent[PM_RECENT_SEQUENCES]; /* the last one found here first */
    uint32_t n_sequences, sequence_mask;                   /* all of them in a hash table */
    struct pm_touch_sequence **sequences;
    struct pm_bundle_base bases[PM_BUNDLE_BASES];
};

struct pm_bundle_reuse {
    struct pm_reuse *reuse;
    struct pm_bundle_state **states; /* by number of the bundle; NULL: not executed yet */
    struct pm_sampled_bundle *
        *sampled; /* in their place where only some blocks are (sampled_records.h) */
    bool dirty;   /* sequences have counts */
    struct pm_bundle_state *last; /* whose blocks are on top of the front; NULL: nobody's */
    struct pm_arena arena;
    int32_t first_direct; /* executions of a small bundle that go access by access at first */
};

static inline struct pm_touch_histogram *
pm_direct_histogram(const struct pm_reuse *reuse, const struct pm_direct_access *access) {
    return (struct pm_touch_histogram *)((char *)reuse->histograms + access->histogram);
}

/* The walk over records, for each vector extension (record_walk.h). */
typedef const uint64_t *pm_bundle_walk(struct pm_bundle_reuse *bundles, const uint64_t *words,
                                       const uint64_t *end);
pm_bundle_walk pm_bundle_walk_sse2, pm_bundle_walk_avx2, pm_bundle_walk_avx512;

/* The state of bundle NUMBER, made at its first execution; NULL: no such bundle is known, or there
   is no memory (reuse->failed). */
struct pm_bundle_state *pm_bundle_state(struct pm_bundle_reuse *bundles, uint64_t number);

/* BYTES of zeroed memory at the begin of a cache line; NULL: none, and reuse->failed is set. */
void *pm_bundle_take(struct pm_bundle_reuse *bundles, size_t bytes);

static inline const struct pm_probe_reference *
pm_bundle_reference(const struct pm_bundle_access *access) {
    return &pm_references[access->reference];
}

/* The sequence of the record at WORDS, made if need be, as the most recent of STATE; NULL: the
   bundle has too many already, or there is no memory (reuse->failed). */
struct pm_touch_sequence *pm_bundle_find_sequence(struct pm_bundle_reuse *bundles,
                                                  struct pm_bundle_state *state,
                                                  const uint64_t *words);

/* Remembers where an execution of SEQUENCE found its blocks: FOUND[m] has the bit of its place,
   none if it was not in the front.  The transition, which may be known already; NULL: no memory. */
struct pm_front_transition *pm_bundle_learn(struct pm_bundle_reuse *bundles,
                                            struct pm_touch_sequence *sequence,
                                            const uint32_t *found);

/* The same without remembering it. */
struct pm_front_transition pm_bundle_transition(struct pm_touch_sequence *sequence,
                                                const uint32_t *found);

/* A touch of an execution. */
struct pm_bundle_touch {
    const struct pm_probe_reference *reference;
    const struct pm_probe_reference *before; /* which touched the block last, in this execution or
                                                in one like it just before */
    unsigned block;                          /* number of the block, by first touches */
    unsigned distance;                       /* if the execution before was like it */
    bool again;                              /* the block was touched before in this execution */
};

/* Calls TAKE for each touch that an execution of SEQUENCE makes, in order. */
void pm_bundle_each_touch(const struct pm_bundle *bundle, const struct pm_touch_sequence *sequence,
                          unsigned shift,
                          void (*take)(void *context, const struct pm_bundle_touch *touch),
                          void *context);

/* Adds to the histograms what TRANSITION, or SEQUENCE of BUNDLE, counts; it begins to count anew.
   Transitions go first: they count executions of their sequence. */
void pm_bundle_flush_transition(struct pm_reuse *reuse, struct pm_touch_sequence *sequence,
                                struct pm_front_transition *transition);
void pm_bundle_flush_sequence(struct pm_reuse *reuse, const struct pm_bundle *bundle,
                              struct pm_touch_sequence *sequence);

#endif
