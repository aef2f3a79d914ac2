/* The plan of lower bounds: which loop nests can be executed without cache misses, and how (Fursin,
   O'Boyle, Temam & Watts 2004, section 3; README.md says where it differs from the paper).  It
   follows from the lifted program alone, and is constant. */
#ifndef PM_BINLIFT_BOUND_H
#define PM_BINLIFT_BOUND_H

#include "binlift/cfg/cfg.h"
#include "binlift/lifted.h"
#include "core/bound_abi.h"

/* Why a loop is not bounded as a whole.  The first reason that is found. */
enum pm_bound_refusal {
    PM_BOUND_POSSIBLE = 0,
    PM_BOUND_ENTRIES,   /* irreducible, or entered by addresses that are computed or unwound to */
    PM_BOUND_CALLS,     /* of a routine of another file, or by an address */
    PM_BOUND_LONG,      /* a call of a routine that runs long: its own loops have bounds */
    PM_BOUND_RECURSION, /* a call that may lead to itself */
    PM_BOUND_LARGE,     /* more instructions than a copy may have, with all that is called */
    PM_BOUND_UNUSED,    /* never executed */
    PM_BOUND_JUMPS,     /* an indirect jump */
    PM_BOUND_SYSTEM,    /* a system instruction, or one that is not known */
    PM_BOUND_ATOMIC,    /* other threads may wait for what it does */
    PM_BOUND_GATHERS,   /* gathers or scatters */
    PM_BOUND_STRINGS,   /* a string instruction: it loads and stores as often as its operands say */
    PM_BOUND_FRAME,     /* the stack pointer or frame pointer changes in a way that is not known */
    PM_BOUND_COUNTING,  /* `loop` or `jrcxz` on a value that hangs on what was loaded */
    PM_BOUND_FORMS,     /* an operand that no slot can take the place of (pm_isa.shadow_loop) */
    PM_BOUND_N_REFUSALS
};
/* "calls another routine": the end of a sentence that begins with the loop. */
const char *pm_bound_refusal_text(uint8_t refusal);

/* How a nest's shadow loop makes an access. */
struct pm_bound_access {
    uint32_t reference;             /* of the structure */
    uint32_t recorded;              /* the access of the plan, of the same reference, that is
                                       recorded: routines may be called by several nests; PM_NONE:
                                       it has no slot */
    uint32_t load_slot, store_slot; /* in pm_bound_plan.slots; PM_NONE: it is kept, or has no such
                                       half.  Of one that loads and stores: different where load,
                                       operation and store are apart */
    bool has_step; /* from iteration to iteration of the innermost loop in which it moves … */
    int64_t step;  /* … its address moves by so many bytes; 0: it never does */
};

/* What is recorded of it goes there: the value that it loads; of a store the address only. */
static inline uint32_t pm_bound_slot_of(const struct pm_bound_access *access) {
    return access->load_slot != PM_NONE ? access->load_slot : access->store_slot;
}

struct pm_bound_slot {
    uint32_t offset; /* from the first slot of the nest; a multiple of its size */
    uint32_t size_bytes;
};

struct pm_bound_nest {
    uint32_t loop;                            /* scope */
    uint32_t first_block, n_blocks;           /* in pm_bound_plan.blocks */
    uint32_t first_access, n_accesses;        /* in the order of references */
    uint32_t first_slot, n_slots, slot_bytes; /* bytes of all, with gaps */
    uint32_t first_replayed, n_replayed;
    uint32_t first_saved, n_saved;
    uint32_t
        n_unknown; /* pairs of references of which nobody knows whether they meet; taken apart */
    uint32_t n_biased;   /* loads that get what was stored 2 to 16 iterations before; taken apart */
    uint32_t n_chased;   /* loads at addresses that hang on what was loaded: the copy does not wait
                            for that */
    uint32_t n_across;   /* accesses that have slots across two lines of the first cache */
    uint32_t n_routines; /* that it calls, with all that these call */
    uint32_t n_library;  /* calls of routines of the mathematical library, which are executed
                            as they are */
    uint32_t all_unknown; /* of so many loops and called routines nothing is known about any
                             pair */
};

struct pm_bound_plan {
    PM_ARRAY(struct pm_bound_nest, nests); /* ascending by loop */
    PM_ARRAY(uint32_t,
             blocks); /* of each nest ascending, with those of the routines that it calls */
    PM_ARRAY(struct pm_bound_access, accesses);
    PM_ARRAY(struct pm_bound_slot, slots);
    PM_ARRAY(uint32_t, replayed);          /* instructions: conditional branches */
    PM_ARRAY(uint32_t, recorded_branches); /* beside replayed: the first of the same instruction */
    PM_ARRAY(struct pm_bound_saved, saved);
    uint8_t *refusals; /* per scope: of a loop that is in no nest, enum pm_bound_refusal */
};

/* What is known beside the program.  0: nothing. */
struct pm_bound_wishes {
    const bool *wanted; /* per scope: loops that may become nests, or parts of nests; NULL: all */
    const double *edge_counts; /* of the run that is bounded; NULL: unknown.  Basic blocks that it
                                  never executed end a copy, and refuse no nest */
};

/* Needs dependences.  Freed by pm_bound_plan_free. */
struct pm_bound_plan *pm_plan_bounds(const struct pm_lifted *lifted,
                                     const struct pm_bound_wishes *wishes);
void pm_bound_plan_free(struct pm_bound_plan *plan);

/* Per routine, what one call of it takes with all that it calls, if its own instructions took OWN
   (per routine) in the whole run; infinite where it may call itself.  The caller frees. */
double *pm_bound_per_call(const struct pm_structure *structure, const double *edge_counts,
                          const double *own);

/* The values of NEST's slots, slot_bytes, from those that were recorded: of slot I of the plan the
   64 bytes at VALUES + I · STRIDE. */
void pm_bound_fill_slots(const struct pm_bound_plan *plan, const struct pm_bound_nest *nest,
                         const uint8_t *values, size_t stride, uint8_t *slots);

/* Gives as many accesses of NEST slots that lie across lines of the first cache as lie so in the
   loop; before its copy is made.  ADDRESSES: of the first execution of slot I's access at ADDRESSES
   + I · STRIDE bytes; 0: unknown. */
void pm_bound_place_across(const struct pm_lifted *lifted, struct pm_bound_plan *plan,
                           struct pm_bound_nest *nest, const uint64_t *addresses, size_t stride);

/* How a nest or its copy calls. */
enum pm_bound_call {
    PM_BOUND_NO_CALL = 0,
    PM_BOUND_CALLS_INSIDE,  /* a routine of the file, straight */
    PM_BOUND_CALLS_LIBRARY, /* one of the mathematical library that changes nothing but errno */
    PM_BOUND_CALLS_OTHER,
};
/* *ROUTINE: which, if inside.  *N_STORED: pointers that the library stores through, its first
   arguments of the kind. */
uint8_t pm_bound_call_of(const struct pm_lifted *lifted, const struct pm_insn *insn,
                         uint32_t *routine, unsigned *n_stored);

/* ---- copies ---------------------------------------------------------------------------------- */

/* Outcomes of a replayed branch as they came: bit i of the words, 1: taken. */
struct pm_bound_outcomes {
    const uint64_t *bits;
    uint32_t n;          /* at most PM_BOUND_MOST_OUTCOMES */
    uint64_t executions; /* executions of the branch in one execution of the nest, if known: a copy
                            that has replayed so many ends there */
};

/* What was recorded of a nest. */
struct pm_bound_recorded {
    const uint8_t *slots;                     /* slot_bytes: the values; NULL: zeros */
    const struct pm_bound_outcomes *outcomes; /* n_replayed; NULL: none */
};

/* See core/bound_abi.h.  Code begins on the first page behind the data. */
struct pm_shadow_loop {
    PM_ARRAY(uint8_t, data); /* addresses in replays are offsets from the data's first byte */
    uint32_t first_replay;   /* byte of the data */
    uint32_t library_place;  /* the same: 64 bytes that the library may store to */
    PM_ARRAY(uint8_t, code); /* its first byte is the entry */
    PM_ARRAY(struct pm_bound_relocation, relocations);
    uint32_t n_added_insns; /* that the loop does not have: of replayed branches, and where load and
                               store are apart */
    uint32_t n_chained; /* loads and stores at once that should be apart, and are not for want of a
                           register */
};

/* The basic block of a replayed branch. */
uint32_t pm_bound_block_of(const struct pm_lifted *lifted, uint32_t insn);

/* Per instruction the registers that are live before it, in routines with nests.  The caller frees.
 */
pm_live_set *pm_bound_liveness(const struct pm_lifted *lifted, const struct pm_bound_plan *plan);

struct pm_bound_request {
    const struct pm_lifted *lifted;
    const pm_live_set *live; /* pm_bound_liveness */
    const struct pm_bound_plan *plan;
    const struct pm_bound_nest *nest;
    struct pm_bound_recorded recorded; /* 0: nothing */
};

/* Makes a nest's shadow loop.  False: PM_BOUND_FORMS, or an ISA without such copies.  COPY, 0
   before, is the caller's in any case (pm_shadow_loop_free). */
bool pm_make_shadow_loop(const struct pm_bound_request *request, struct pm_shadow_loop *copy);
void pm_shadow_loop_free(struct pm_shadow_loop *copy);

/* What stands in the file of copies that the runtime reads (core/bound_abi.h). */
struct pm_bound_entry {
    uint64_t module; /* pm_placement_hash of the instrumented structure */
    uint32_t every;  /* the copy runs before one of so many executions; at least 1 */
    const struct pm_bound_plan *plan;
    const struct pm_bound_nest *nest;
    const struct pm_shadow_loop *copy;
};

/* These two: false with a sentence if PATH cannot be written. */
bool pm_bound_write_file(const char *path, const struct pm_bound_entry *entries, size_t n,
                         struct pm_error *err);
/* What is to be recorded of PLAN's nests; WATCHED as pm_instrument filled it, MODULE as above;
   MOST_OUTCOMES of a branch, at most PM_BOUND_MOST_OUTCOMES. */
bool pm_bound_write_watch_file(const char *path, const struct pm_lifted *lifted,
                               const struct pm_bound_plan *plan, const uint64_t *watched,
                               uint64_t module, uint32_t most_outcomes, struct pm_error *err);

#endif
