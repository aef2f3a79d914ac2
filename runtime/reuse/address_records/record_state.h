/* How address records are analysed (address_records.h): what the files of this folder share.

   What an execution touches.  A base is one of the addresses of an address record's record, 1 …
   PM_RECORD_ADDRESSES; base 0 stands for fixed addresses.  The class of a base is which of its
   accesses lie in which block, counted from the block of its address: it depends on the address
   modulo the block size only, and holds over intervals of it.  A base whose address is near that of
   an earlier one, as those of a[i] and a[i + 1] in two registers, follows it: its blocks are
   counted from the other's.  Classes and distances of followers are the shape of an execution.  A
   touch sequence is what is known of all executions of a shape: the touches in their order, and
   which of them are first touches of a block within the execution, if bases that do not follow each
   other go to different blocks.

   Small address records, as interpreters and compilers have thousands of, go access by access as
   long as their executions seldom repeat (direct.h): that takes two or three cache lines of what is
   known of an address record, where the ways below take a dozen, and the stack top stays in
   registers from record to record.

   How an execution of any other is accounted for, from the cheapest way to the dearest:
     Repeat.  The record before was of the same address record, and every address still is in the
     interval
   in which it was.  Then every touch has a distance that the sequence tells: the stack top
   (analysis.h)
     begins with the execution's blocks, in the order of their last touches.  One vector comparison
     and an increment account for all accesses of the record.
     Known transition of the stack top.  The record has the shape that followed the last one's
     before,
   or one that the address record had lately; and its blocks are at places of the stack top where
   the blocks of
     such an execution were before, mostly those of the transition that followed the last one.  Each
     is seen by one vector comparison.  The distances of first touches follow from the places.
     Blocks that were not in the stack top, or fell out before they were touched, are far: their
     slots are found all together, then they are touched one after the other, and counted in the
     sequence while their distances stay in a bin.  One permutation makes the new stack top.
     Look-up.  The blocks are searched in the stack top, and where they were is remembered as a new
     transition.  Where transitions rarely apply, first touches are made without them.
     One by one, as without address records: executions in which bases meet in a block although none
     follows the other, that touch more blocks than the stack top holds, or of an address record
     with more shapes than
   are kept. How often sequences and
   transitions were used is turned into counts at the end (pm_record_reuse_flush).  What each of
   these methods gained: docs/log-measuring.md. */
#ifndef PM_RUNTIME_REUSE_ADDRESS_RECORDS_RECORD_STATE_H
#define PM_RUNTIME_REUSE_ADDRESS_RECORDS_RECORD_STATE_H

#include "runtime/modules.h"
#include "runtime/reuse/reuse_state.h"
#include "runtime/reuse/address_records/address_records.h"

enum {
    PM_RECORD_BASES = 16,
    PM_RECENT_SEQUENCES = 8,  /* of an address record, tried one after the other */
    PM_MOST_SEQUENCES = 1024, /* of an address record: 2 MiB; where bases are near each other at
                                 random, each execution has a shape of its own */
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
    PM_DIRECT_ACCESSES = 11, /* of a small address record at most */
    PM_FEW_ACCESSES = 6,     /* of which fewer cost less one by one than a transition does */
    /* A small address record goes access by access for PM_FIRST_DIRECT executions, each time twice
       as many, when it has no credit left: each repeat adds PM_REPEAT_CREDIT, up to
       PM_DIRECT_CREDIT, each other execution takes 1. */
    PM_DIRECT_CREDIT = 64,
    PM_REPEAT_CREDIT = 2,
    PM_FIRST_DIRECT = 1 << 8,
    PM_MOST_DIRECT = 1 << 14,
    PM_TABLED_SHIFT = 8, /* blocks up to this size have a class for each byte in a table */
};
_Static_assert((int)PM_RECORD_BASES == PM_RECORD_ADDRESSES + 1, "base 0 is for fixed addresses");
_Static_assert(2 * PM_RECORD_ACCESSES < 256, "two boundaries an access, a class in a byte");

/* What the touches of an execution depend on, a byte for each base. */
struct pm_record_shape {
    uint8_t class_of[PM_RECORD_BASES];
    uint8_t leader[PM_RECORD_BASES]; /* the base that it follows, itself if none */
    int8_t ahead[PM_RECORD_BASES];   /* blocks from the leader's address to its own */
};

/* Where in the stack top the blocks of an execution of SEQUENCE were, and what that makes of the
   stack top.
 */
struct pm_top_transition {
    struct pm_touch_sequence *sequence;
    struct pm_top_transition
        *next;        /* of the address record's execution that followed, lately; or NULL */
    uint64_t n;       /* executions */
    uint32_t present; /* bit m: the m-th block was in the stack top, at */
    uint8_t place[PM_STACK_TOP];
    uint32_t far;                  /* bit m: it was not there when it was touched, */
    uint8_t evicted[PM_STACK_TOP]; /* and the i-th of these pushed out what was at this place */
    uint8_t from[PM_STACK_TOP]; /* the stack top behind it: from which place, or PM_STACK_TOP + m:
                                     the m-th block */
    uint8_t distance[PM_STACK_TOP];                   /* of first touches; PM_STACK_TOP: far */
    struct pm_carrying *carryings[PM_TRIED_CARRIERS]; /* lately (reuse/carriers.h) */
};

/* A touch that is not the first one of its access. */
struct pm_continued_touch {
    uint32_t group;
    uint8_t kind, block; /* enum pm_access − 1; the m-th of its sequence */
};

/* Which touches an execution of a shape makes. */
struct pm_touch_sequence {
    uint64_t begin[PM_RECORD_BASES],
        length[PM_RECORD_BASES]; /* of the classes, in bytes of a block */
    struct pm_record_shape shape;
    bool has_followers;
    bool ends_as_it_begins; /* last touches come in the order of first touches */
    uint32_t n_blocks;      /* first touches; 0: more than the stack top holds */
    uint8_t base[PM_STACK_TOP];
    uint8_t order[PM_STACK_TOP]; /* the i-th most recent block behind the execution is the
                                      order[i]-th that it touched first */
    int64_t relative[PM_STACK_TOP];
    uint32_t group[PM_STACK_TOP]; /* of the access that touches it first, and its kind */
    uint8_t kind[PM_STACK_TOP];
    uint32_t n_continued; /* 0 if there are no larger blocks */
    struct pm_continued_touch *continued;
    struct pm_carried_sequence *carried;   /* reuse/carriers.h; NULL: nobody asks for carriers */
    struct pm_bin_cache far[PM_STACK_TOP]; /* first touches that were not in the stack top */
    struct pm_touch_sequence *next;        /* of the execution that followed, lately */
    uint64_t n_single;                     /* executions whose first touches were looked up */
    uint64_t n_repeats;                    /* executions of which nothing was */
    int32_t confidence; /* that a known transition applies; below 0 none is tried, until so many
                           executions later */
    int32_t backoff;    /* so many the next time */
    uint32_t n_transitions;
    struct pm_top_transition *transitions[PM_TRANSITIONS]; /* the last one found here first */
};

struct pm_record_base {
    uint32_t n_bounds;
    uint32_t *bounds;  /* ascending, 1 … block − 1: bounds[c − 1] is where class c begins */
    uint8_t *class_of; /* [block size]; NULL: too many bytes for a table */
};

/* An access of a small address record. */
struct pm_direct_access {
    uint64_t offset;    /* from its address */
    uint32_t histogram; /* in pm_reuse.histograms, in bytes */
    uint8_t word;       /* of the record; 0: OFFSET is the address */
    uint8_t last_byte;  /* its size − 1 */
    uint8_t kind;       /* enum pm_access − 1 */
    uint8_t reserved;
};

/* Of one address record. */
struct pm_record_state {
    uint32_t n_words;
    uint32_t n_accesses;   /* in `direct`; 0: the address record is not small */
    int32_t n_direct;      /* so many executions to come go access by access */
    int16_t credit;        /* that they need not do so after these */
    uint16_t direct_turns; /* n_direct the next time */
    struct pm_direct_access direct[PM_DIRECT_ACCESSES];     /* in order */
    uint64_t low[PM_RECORD_BASES], length[PM_RECORD_BASES]; /* each word's interval */
    const struct pm_address_record *record;
    uint32_t words; /* a bit for each */
    uint32_t n_recent;
    bool begins_larger; /* an access of the execution before goes over into another larger block */
    struct pm_touch_sequence *last;                        /* of the execution before; NULL: none */
    struct pm_top_transition *last_transition;             /* the same */
    struct pm_touch_sequence *recent[PM_RECENT_SEQUENCES]; /* the last one found here first */
    uint32_t n_sequences, sequence_mask;                   /* all of them in a hash table */
    struct pm_touch_sequence **sequences;
    struct pm_record_base bases[PM_RECORD_BASES];
};

struct pm_record_reuse {
    struct pm_reuse *reuse;
    struct pm_record_state **states; /* by number of the address record; NULL: not executed yet */
    struct pm_sampled_record **sampled; /* in their place where only some blocks are */
    bool dirty;                         /* sequences have counts */
    struct pm_record_state *last;       /* whose blocks are the most recent; NULL: nobody's */
    struct pm_arena arena;
    int32_t first_direct; /* executions of a small record that go access by access at first */
};

static inline struct pm_touch_histogram *
pm_direct_histogram(const struct pm_reuse *reuse, const struct pm_direct_access *access) {
    return (struct pm_touch_histogram *)((char *)reuse->histograms + access->histogram);
}

/* The walk over records, for each vector extension (record_walk.h). */
typedef const uint64_t *pm_record_walk(struct pm_record_reuse *address_records,
                                       const uint64_t *words, const uint64_t *end);
pm_record_walk pm_record_walk_sse2, pm_record_walk_avx2, pm_record_walk_avx512;

/* The state of address record NUMBER, made at its first execution; NULL: no such address record is
   known, or there is no memory (reuse->failed). */
struct pm_record_state *pm_record_state(struct pm_record_reuse *address_records, uint64_t number);

/* BYTES of zeroed memory at the begin of a cache line; NULL: none, and reuse->failed is set. */
void *pm_record_take(struct pm_record_reuse *address_records, size_t bytes);

static inline const struct pm_probe_reference *
pm_record_reference(const struct pm_record_access *access) {
    return &pm_references[access->reference];
}

/* The sequence of the record at WORDS, made if need be, as the most recent of STATE; NULL: the
   address record has too many already, or there is no memory (reuse->failed). */
struct pm_touch_sequence *pm_record_find_sequence(struct pm_record_reuse *address_records,
                                                  struct pm_record_state *state,
                                                  const uint64_t *words);

/* Remembers where an execution of SEQUENCE found its blocks: FOUND[m] has the bit of its place,
   none if it was not in the stack top.  The transition, which may be known already; NULL: no
   memory. */
struct pm_top_transition *pm_record_learn(struct pm_record_reuse *address_records,
                                          struct pm_touch_sequence *sequence,
                                          const uint32_t *found);

/* The same without remembering it. */
struct pm_top_transition pm_record_transition(struct pm_touch_sequence *sequence,
                                              const uint32_t *found);

/* A touch of an execution. */
struct pm_record_touch {
    const struct pm_probe_reference *reference;
    const struct pm_probe_reference *before; /* which touched the block last, in this execution or
                                                in one like it just before */
    unsigned block;                          /* number of the block, by first touches */
    unsigned distance;                       /* if the execution before was like it */
    bool again;                              /* the block was touched before in this execution */
};

/* Calls TAKE for each touch that an execution of SEQUENCE makes, in order. */
void pm_record_each_touch(const struct pm_address_record *record,
                          const struct pm_touch_sequence *sequence, unsigned shift,
                          void (*take)(void *context, const struct pm_record_touch *touch),
                          void *context);

/* Adds to the histograms what TRANSITION, or SEQUENCE of RECORD, counts; it begins to count anew.
   Transitions go first: they count executions of their sequence. */
void pm_record_flush_transition(struct pm_reuse *reuse, struct pm_touch_sequence *sequence,
                                struct pm_top_transition *transition);
void pm_record_flush_sequence(struct pm_reuse *reuse, const struct pm_address_record *record,
                              struct pm_touch_sequence *sequence);

#endif
