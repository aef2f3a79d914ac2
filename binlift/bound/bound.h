/* The plan of lower bounds: which loop nests can be executed without cache misses, and how (Fursin,
   O'Boyle, Temam & Watts 2004, section 3; README.md says where it differs from the paper).  It
   follows from the lifted program alone, and is constant. */
#ifndef PM_BINLIFT_BOUND_H
#define PM_BINLIFT_BOUND_H

#include "binlift/lifted.h"

/* Why a loop is not bounded as a whole.  The first reason that is found. */
enum pm_bound_refusal {
    PM_BOUND_POSSIBLE = 0,
    PM_BOUND_ENTRIES,  /* irreducible, or entered by addresses that are computed or unwound to */
    PM_BOUND_CALLS,    /* a call, or an exit by a jump to another routine in the middle */
    PM_BOUND_JUMPS,    /* an indirect jump */
    PM_BOUND_SYSTEM,   /* a system instruction, or one that is not known */
    PM_BOUND_ATOMIC,   /* other threads may wait for what it does */
    PM_BOUND_STRINGS,  /* a string instruction: it loads and stores as often as its operands say */
    PM_BOUND_PUSHES,   /* push, pop: the stack pointer moves */
    PM_BOUND_FRAME,    /* the stack pointer or frame pointer changes */
    PM_BOUND_COUNTING, /* `loop` or `jrcxz` on a value that hangs on what was loaded */
    PM_BOUND_N_REFUSALS
};
/* "calls another routine": the end of a sentence that begins with the loop. */
const char *pm_bound_refusal_text(uint8_t refusal);

/* How the copy of a nest makes an access. */
struct pm_bound_access {
    uint32_t reference;             /* of the structure */
    uint32_t load_slot, store_slot; /* in pm_bound_plan.slots; PM_NONE: it is kept, or has no such
                                       half.  Of one that loads and stores: different where load,
                                       operation and store are apart */
};

struct pm_bound_slot {
    uint32_t offset; /* from the first slot of the nest; a multiple of its size */
    uint32_t size_bytes;
};

/* Bytes that kept stores write: a general register and a displacement, as both are all through the
   nest. */
struct pm_bound_saved {
    int64_t displacement;
    uint32_t size_bytes;
    uint8_t base;
};

struct pm_bound_nest {
    uint32_t loop;                            /* scope */
    uint32_t first_access, n_accesses;        /* in the order of references */
    uint32_t first_slot, n_slots, slot_bytes; /* bytes of all, with gaps */
    uint32_t first_replayed, n_replayed;
    uint32_t first_saved, n_saved;
    uint32_t
        n_unknown; /* pairs of references of which nobody knows whether they meet; taken apart */
    uint32_t n_biased; /* loads that get what was stored 2 to 16 iterations before; taken apart */
    bool all_unknown;  /* of some loop of it nothing is known about any pair */
};

struct pm_bound_plan {
    PM_ARRAY(struct pm_bound_nest, nests); /* ascending by loop */
    PM_ARRAY(struct pm_bound_access, accesses);
    PM_ARRAY(struct pm_bound_slot, slots);
    PM_ARRAY(uint32_t, replayed); /* instructions: conditional branches */
    PM_ARRAY(struct pm_bound_saved, saved);
    uint8_t *refusals; /* per scope: of a loop that is in no nest, enum pm_bound_refusal */
};

/* Needs dependences.  WANTED: per scope, loops that may become nests, or parts of nests; NULL: all.
   Freed by pm_bound_plan_free. */
struct pm_bound_plan *pm_plan_bounds(const struct pm_lifted *lifted, const bool *wanted);
void pm_bound_plan_free(struct pm_bound_plan *plan);

#endif
