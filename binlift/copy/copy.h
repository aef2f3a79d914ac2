/* The instrumented copy of a program.  pm_instrument (binlift.h) decides what is measured where,
   the instrumentation plan; has the ISA make the new code for it (pm_isa.rewrite); and writes the
   file. The plan is complete before any code is made, and stays as it is: the ISA, the descriptors
   and what the structure keeps of it (pm_mark_instrumented) only read it. */
#ifndef PM_BINLIFT_COPY_H
#define PM_BINLIFT_COPY_H

#include "binlift/counters/counters.h"
#include "binlift/unwinding/unwinding.h"
#include "core/probe_abi.h"

/* ---- probes: which scopes are entered and left on which edge --------------------------------- */

/* Events as in core/probe_abi.h, the scope counted within the module. */
struct pm_probe_plan {
    uint32_t *first; /* per edge, n_edges + 1: its events are events[first[e]] … in order */
    PM_ARRAY(uint32_t, events);
    uint8_t *places;    /* per edge: enum pm_counter_place, where its events happen; IN_TARGET is
                           the target's very start, IN_SOURCE right before the source's last
                           instruction, FALLTHROUGH behind it */
    uint8_t *probed;    /* per scope: all its entries and exits are events */
    uint32_t *iterates; /* per basic block: the probed loop whose iterations begin at its start, and
                           are events; PM_NONE */
    bool *has_probe;    /* per routine */
};

/* ---- the plan -------------------------------------------------------------------------------- */

/* Addresses low … high − 1. */
struct pm_byte_range {
    uint64_t low, high;
};

struct pm_instrumentation_plan {
    const struct pm_instrument_options *options; /* the caller's */
    const struct pm_counter_plan *counters;      /* the lift's */
    struct pm_probe_plan *probes;

    bool *moves;       /* per routine: its code moves to the new text */
    bool *block_moves; /* per basic block: it is proven to be code of a routine that moves, so
                          its old bytes may be overwritten */
    bool *call_moves;  /* per instruction: a call that is made from the new text, and comes back
                          there; NULL: none is */
    struct pm_unwinding *unwinding; /* what is known of frames, if a call moves; NULL */
    bool *analysed;                 /* per routine: it is not only counted */
    bool *records;                  /* per routine: what it accesses is recorded */
    bool *recorded;                 /* per reference */
    uint32_t *branch_of; /* per basic block: the branch at its end in `branches`; PM_NONE */
    PM_ARRAY(struct pm_probe_branch, branches); /* whose outcomes are stored; ascending by block */
    bool *counted;        /* per routine: the frequencies of its edges are known after a run */
    uint8_t *scope_flags; /* per scope, for the descriptors: enum pm_probe_scope_flags */
    PM_ARRAY(struct pm_byte_range, read_bytes); /* of the text, which instructions read as data:
                                                   they keep their value; ascending by low */
};

/* OPTIONS must outlive the plan, and so must LIFTED.  Freed by pm_instrumentation_plan_free. */
struct pm_instrumentation_plan *
pm_plan_instrumentation(const struct pm_lifted *lifted,
                        const struct pm_instrument_options *options);
void pm_instrumentation_plan_free(struct pm_instrumentation_plan *plan);

/* Makes STRUCTURE the one of the program as it was instrumented, for the store and for all who read
   profiles: pm_reference.recorded and pm_routine.counted.  Nothing else writes these. */
void pm_mark_instrumented(struct pm_structure *structure,
                          const struct pm_instrumentation_plan *plan);

/* The counter of EDGE; PM_NONE: it has none, or this copy does not count. */
static inline uint32_t pm_counter_of(const struct pm_instrumentation_plan *plan, uint32_t edge) {
    return plan->options->no_counters ? PM_NONE : plan->counters->counter_of[edge];
}

static inline bool pm_has_events(const struct pm_instrumentation_plan *plan, uint32_t edge) {
    return plan->probes->first[edge] != plan->probes->first[edge + 1];
}

/* Is any of N_BYTES bytes at ADDRESS read as data (read_bytes.c)? */
bool pm_is_read_as_data(const struct pm_instrumentation_plan *plan, uint64_t address,
                        uint64_t n_bytes);

/* ---- the new code, as an ISA makes it -------------------------------------------------------- */

/* Where the program goes on behind the event of an interval's end. */
struct pm_interval_place {
    uint64_t address;
    uint32_t insn; /* the call or jump that ends it */
};

/* The caller frees what the pointers hold. */
struct pm_new_code {
    uint8_t *code; /* for the address that was asked for */
    uint32_t code_bytes;
    uint8_t *image; /* the file's bytes, the old text patched: control that arrives there goes on in
                       the new code */
    PM_ARRAY(struct pm_probe_address_record, address_records); /* references that share a record */
    PM_ARRAY(struct pm_probe_access, accesses);
    PM_ARRAY(struct pm_probe_trap, traps); /* old addresses whose trap instruction stands for a
                                              jump; ascending */
    PM_ARRAY(struct pm_interval_place, interval_ends);
    /* If calls move: */
    PM_ARRAY(struct pm_moved_place, places);       /* of the new code, by old instructions */
    PM_ARRAY(struct pm_moved_place, returns);      /* of moved calls */
    PM_ARRAY(struct pm_moved_place, landing_pads); /* of exceptions; ascending by `old` */
};

/* What the record of a reference that has one of its own holds behind its address, in units of 16
   bytes, by enum pm_access_kind: new code appends it, descriptors tell the runtime. */
uint8_t pm_payload_slots(uint8_t kind);

#endif
