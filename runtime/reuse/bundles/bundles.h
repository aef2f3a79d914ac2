/* Reuse distances of whole bundles (core/probe_abi.h) at once, of one thread for one block size:
   what an execution of a basic block touches is mostly known before.

   Words.  A lane is one of the addresses of a bundle's record, 1 … PM_BUNDLE_ADDRESSES; lane 0
   stands for fixed addresses.  The class of a lane is which of its accesses lie in which block,
   counted from the block of its address: it depends on the address modulo the block size only, and
   holds over intervals of it.  A lane whose address is near that of an earlier one, as those of
   a[i] and a[i + 1] in two registers, follows it: its blocks are counted from the other's.  A
   template is what is known when classes and distances of followers are: the touches in their
   order, and which of them are first touches of a block within the execution, if lanes that do not
   follow each other go to different blocks.

   How.
     Repeats.  If the record before was of the same bundle, and every address still is in the
     interval in which it was, every touch has a distance that the template tells: the front
     (reuse_distance.h) begins with the execution's blocks, in the order of their last touches.  One
     vector comparison and an increment account for all accesses of the record.
     Placements.  Else the record mostly has the shape that followed the last one's before, or one
     that the bundle had lately; and its blocks are at places of the front where such blocks were
     before, again mostly in the placement that followed the last one.  Each is seen by one vector
     comparison.  The distances of first touches follow from the places.  Those of blocks that were
     not in the front, or fell out before they were touched, are far: their slots are found all
     together, then they are touched one after the other, and counted in the template while they
     stay in a bin.  All other touches have distances that the template tells.  One permutation
     makes the new front.
     Look-ups.  Else the blocks are searched in the front, and where they were is remembered as a
     placement.  Where that rarely serves, the first touches are made without it.  One by one, as
     without bundles, go executions in which lanes meet in a block although none follows the other,
     that touch more blocks than the front holds, or of a bundle with more shapes than are kept.
     Sampling.  All blocks of an execution are hashed at once, and if none is watched, as is usual,
     the execution is only counted; the others go one by one.
   How often templates and placements were used is turned into counts at the end.  Nothing is
   sampled or rounded: the histograms equal those of the accesses one by one. Gains, CPU time of
   whole runs whose step fits the second-level cache, AVX-512: expecting the shape that followed, 0
   to 10%; counting far touches in the template, 10% (matmul_ikj, heat); finding their slots
   together, 5 to 10%; placements in which blocks fall out before they are touched, and 32 instead
   of 4 of a template, the expected one first, 10 to 20% (adi, ssor, fft), nothing where subscripts
   are random (cg). */
#ifndef PM_RUNTIME_REUSE_BUNDLES_H
#define PM_RUNTIME_REUSE_BUNDLES_H

#include "runtime/modules.h"
#include "runtime/reuse/reuse.h"

enum {
    PM_LANES = 16,
    PM_RECENT_TEMPLATES = 8,  /* of a bundle, tried one after the other */
    PM_MOST_TEMPLATES = 1024, /* of a bundle: 2 MiB; where lanes are near each other at random, each
                                 execution has a shape of its own */
    PM_PLACEMENTS = 32,       /* of a template */
    PM_TRIED_PLACEMENTS = 3,  /* besides the expected one */
    /* Placements are trusted while at least three of four executions are placed as one of them
       was; else they are not tried for so many executions, each time twice as many. */
    PM_TRUST = 128,
    PM_DISAPPOINTED = 3,
    PM_DISTRUST = 1 << 10,
    PM_MOST_DISTRUST = 1 << 16,
    PM_FEW_BLOCKS = 4,   /* are touched in turn when there is no trust */
    PM_FOLLOWS = 64,     /* blocks within which a lane follows another */
    PM_TABLED_SHIFT = 8, /* blocks up to this size have a class for each byte in a table */
};
_Static_assert((int)PM_LANES == PM_BUNDLE_ADDRESSES + 1, "lane 0 is for fixed addresses");
_Static_assert(2 * PM_BUNDLE_ACCESSES < 256, "two boundaries an access, a class in a byte");

/* What the touches of an execution depend on, a byte for each lane. */
struct pm_shape {
    uint8_t class_of[PM_LANES];
    uint8_t leader[PM_LANES]; /* the lane that it follows, itself if none */
    int8_t ahead[PM_LANES];   /* blocks from the leader's address to its own */
};

/* Where in the front the blocks of an execution of TEMPLATE were. */
struct pm_placement {
    struct pm_template *template;
    struct pm_placement *next; /* that of the bundle's execution that followed, lately; or NULL */
    uint64_t n;                /* executions */
    uint32_t present;          /* bit m: the m-th block was in the front, at */
    uint8_t place[PM_REUSE_FRONT];
    uint32_t far;                    /* bit m: it was not there when it was touched, */
    uint8_t evicted[PM_REUSE_FRONT]; /* and the i-th of these pushed out what was at this place */
    uint8_t from[PM_REUSE_FRONT]; /* the front behind it: from which place, or PM_REUSE_FRONT + m:
                                     the m-th block */
};

/* Which touches an execution of a shape makes. */
struct pm_template {
    uint64_t begin[PM_LANES], length[PM_LANES]; /* of the classes, in bytes of a block */
    struct pm_shape shape;
    bool has_followers;
    bool ends_as_it_begins; /* last touches come in the order of first touches */
    uint32_t n_blocks;      /* first touches; 0: more than the front holds */
    uint8_t lane[PM_REUSE_FRONT];
    uint8_t order[PM_REUSE_FRONT]; /* the i-th most recent block behind the execution is the
                                      order[i]-th that it touched first */
    int64_t relative[PM_REUSE_FRONT];
    uint32_t group[PM_REUSE_FRONT]; /* of the access that touches it first, and its kind */
    uint8_t kind[PM_REUSE_FRONT];
    struct pm_tally far[PM_REUSE_FRONT]; /* first touches that were not in the front */
    struct pm_template *next;            /* that of the execution that followed, lately */
    uint64_t n_single;                   /* executions whose first touches were looked up */
    uint64_t n_repeats;                  /* executions of which nothing was */
    uint64_t n_unwatched; /* under sampling: executions that touched no watched block */
    int32_t trust; /* in placements: below 0 they are not tried, until so many executions later */
    int32_t distrust; /* the next time */
    uint32_t n_placements;
    struct pm_placement *placements[PM_PLACEMENTS]; /* the last one found here first */
};

struct pm_lane {
    uint32_t n_bounds;
    uint32_t *bounds;  /* ascending, 1 … block − 1: bounds[c − 1] is where class c begins */
    uint8_t *class_of; /* [block size]; NULL: too many bytes for a table */
};

struct pm_bundle_state {
    uint64_t low[PM_LANES], length[PM_LANES]; /* of each word: the interval that it is in */
    const struct pm_bundle *bundle;
    uint32_t n_words;
    uint32_t words; /* a bit for each */
    uint32_t n_recent;
    struct pm_template *last;                        /* of the execution before; NULL: none */
    struct pm_placement *placed;                     /* the same */
    struct pm_template *recent[PM_RECENT_TEMPLATES]; /* the last one found here first */
    uint32_t n_templates, template_mask;             /* all of them in a hash table */
    struct pm_template **templates;
    struct pm_lane lanes[PM_LANES];
};

struct pm_bundle_reuse {
    struct pm_reuse *reuse;
    struct pm_bundle_state **states; /* by number of the bundle; NULL: not executed yet */
    bool dirty;                      /* templates have counts */
    struct pm_bundle_state *last;    /* whose blocks are on top of the front; NULL: nobody's */
    struct pm_arena arena;
};

/* The analysis of bundles above REUSE, which stays the caller's.  NULL without memory. */
struct pm_bundle_reuse *pm_bundle_reuse_new(struct pm_reuse *reuse);
void pm_bundle_reuse_free(struct pm_bundle_reuse *bundles);

/* Analyses the records from WORDS up to END, which stand in a buffer with room for PM_LANES words
   more: those of known bundles up to the first other record.  Where that is. */
const uint64_t *pm_bundle_reuse_walk(struct pm_bundle_reuse *bundles, const uint64_t *words,
                                     const uint64_t *end);

/* Touches that are not those of bundles come in between. */
static inline void pm_bundle_reuse_interrupt(struct pm_bundle_reuse *bundles) {
    bundles->last = NULL;
}

/* Adds to the histograms of `reuse` what templates account for; they begin to count anew. */
void pm_bundle_reuse_settle(struct pm_bundle_reuse *bundles);

/* ---- between the files of this part ---------------------------------------------------------- */

typedef const uint64_t *pm_bundle_walk(struct pm_bundle_reuse *bundles, const uint64_t *words,
                                       const uint64_t *end);
pm_bundle_walk pm_bundle_walk_sse2, pm_bundle_walk_avx2, pm_bundle_walk_avx512;

/* The state of bundle NUMBER, made at its first execution; NULL: no such bundle is known, or there
   is no memory (reuse->failed). */
struct pm_bundle_state *pm_bundle_state(struct pm_bundle_reuse *bundles, uint64_t number);

/* The template of the record at WORDS, made if need be, as the most recent of STATE; NULL: the
   bundle has too many already, or there is no memory (reuse->failed). */
struct pm_template *pm_bundle_find_template(struct pm_bundle_reuse *bundles,
                                            struct pm_bundle_state *state, const uint64_t *words);

/* Remembers where an execution of TEMPLATE found its blocks: FOUND[m] has the bit of its place,
   none if it was not in the front.  The placement, which may be known already; NULL: no memory. */
struct pm_placement *pm_bundle_learn(struct pm_bundle_reuse *bundles, struct pm_template *template,
                                     const uint32_t *found);

#endif
