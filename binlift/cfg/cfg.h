/* Control flow: from decoded instructions to basic blocks, edges and loops.  Passes first find
   where control goes (cold parts of routines, jump tables, computed gotos, indirect entries, calls
   that do not come back, tail calls); then the graph is built once.  The passes fill struct
   pm_lifted (binlift/lifted.h), which owns what they make. */
#ifndef PM_BINLIFT_CFG_H
#define PM_BINLIFT_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binlift/binlift.h"
#include "binlift/isa.h"
#include "core/base/base.h"
#include "core/structure/structure.h"

struct pm_jump_table {
    uint32_t insn;    /* the indirect jump */
    uint64_t address; /* of the table in data; 0 if only the metadata has the targets */
    uint32_t first_target, n_targets; /* in pm_lifted.table_targets, in table order */
    uint8_t entry_bytes;              /* 0: not known: the metadata has the targets, or several
                                         places give them */
    bool of_labels;                   /* of a computed goto, not of a `switch` */
};

/* Beside struct pm_routine of the same index. */
struct pm_routine_code {
    uint32_t first_insn,
        n_insns; /* contiguous; covers its parts, one after the other, each ascending */
    bool interior_references; /* address of an inner instruction is taken (data or code): control
                                 may arrive at those indirect entries by means that the CFG does not
                                 see */
    bool entered_by_offset;   /* offset_entries.c: an interpreter in assembly language */
    bool is_resolver;         /* of an indirect symbol whose variants have its name now */
    bool may_not_return;      /* exit, longjmp, throw or unknown code may be called from it */
};

/* Beside struct pm_block of the same index. */
struct pm_block_code {
    uint32_t first_insn, n_insns;
    bool indirect_entry; /* control may arrive from outside the visible CFG at its start: entries,
                            jump-table targets, landing pads of exceptions, address-taken labels */
};

enum pm_insn_mark {
    PM_MARK_LEADER = 1,         /* a basic block starts here */
    PM_MARK_INDIRECT_ENTRY = 2, /* becomes pm_block_code.indirect_entry */
    PM_MARK_OUTSIDE = 4,        /* from outside its routine: an edge PM_EDGE_INDIRECT_ENTRY */
    PM_MARK_MAY_NOT_RETURN = 8,
    PM_MARK_NEVER_RETURNS = 16,
    PM_MARK_TAIL_CALL = 64,  /* an indirect jump that leaves its routine for good */
    PM_MARK_PART_END = 32,   /* the last of its part: the next one stands elsewhere */
    PM_MARK_MAY_LEAVE = 128, /* an indirect jump with the stack as it was on entry */
};

/* ---- passes that find where control goes, in this order -------------------------------------- */

void pm_join_parts(struct pm_lifted *lifted);          /* cold_parts.c: into their routines */
void pm_find_tables(struct pm_lifted *lifted);         /* jump_tables.c: tables, table_targets */
void pm_find_offset_entries(struct pm_lifted *lifted); /* offset_entries.c: inner_entries */
void pm_find_indirect_entries(
    struct pm_lifted *lifted); /* indirect_entries.c: relocations, data words, LSDAs */
void pm_find_no_returns(struct pm_lifted *lifted);  /* no_return.c: calls that do not come back */
void pm_find_tail_calls(struct pm_lifted *lifted);  /* tail_calls.c: PM_MARK_TAIL_CALL */
void pm_find_label_jumps(struct pm_lifted *lifted); /* computed_gotos.c: into tables */
/* interval_calls.c: calls that end an interval, where asked for */
void pm_find_intervals(struct pm_lifted *lifted, const struct pm_lift_options *options);
/* What the call or jump INSN calls; "" where that is not known. */
const char *pm_interval_callee(const struct pm_lifted *lifted, const struct pm_insn *insn);

/* The jump table of the indirect jump INSN, or NULL (jump_tables.c). */
const struct pm_jump_table *pm_table_of(const struct pm_lifted *lifted, uint32_t insn);

/* ---- the graph ------------------------------------------------------------------------------- */

void pm_build_cfg(struct pm_lifted *lifted);  /* cfg.c: basic blocks, edges */
void pm_find_calls(struct pm_lifted *lifted); /* calls.c: structure->calls */
/* summary.c, instead of the graph and what depends on it: loops are counted, not kept, and the
   module says whether it has lines and metadata. */
void pm_summarise(struct pm_lifted *lifted);
/* Basic block that starts exactly at ADDRESS, or PM_NONE. */
uint32_t pm_block_at(const struct pm_lifted *lifted, uint64_t address);

/* clobbers.c: general registers that a call of each routine, that the call INSN, may change. */
void pm_find_clobbers(struct pm_lifted *lifted);
uint32_t pm_call_clobbers(const struct pm_lifted *lifted, const struct pm_insn *insn);

/* ---- one routine's graph (flow.c): basic blocks by their place in the routine, then ENTRY and
   EXIT ------------------------------------------------------------------------------------------
 */

struct pm_flow {
    const struct pm_structure *structure;
    const struct pm_routine *routine;
    uint32_t n_blocks, n_vertices; /* n_blocks + 2 */
    uint32_t entry, exit;          /* vertices */
    uint32_t n_edges;
    const struct pm_edge *edges; /* of the routine */
    uint32_t *first_out, *out; /* edges that leave vertex v: out[first_out[v] … first_out[v+1]) */
    uint32_t *first_in, *in;
};

/* Needs edges whose ends lie in ROUTINE.  Freed by pm_flow_free. */
struct pm_flow *pm_flow_new(const struct pm_structure *structure, uint32_t routine);
void pm_flow_free(struct pm_flow *flow);

static inline uint32_t pm_flow_from(const struct pm_flow *flow, uint32_t edge) {
    uint32_t from = flow->edges[edge].from;
    return from == PM_NONE ? flow->entry : from - flow->routine->first_block;
}

static inline uint32_t pm_flow_to(const struct pm_flow *flow, uint32_t edge) {
    uint32_t to = flow->edges[edge].to;
    return to == PM_NONE ? flow->exit : to - flow->routine->first_block;
}

/* Vertices that ENTRY reaches, in reverse post-order (ENTRY first).  Fills POSITION (n_vertices;
   PM_NONE where unreachable) and ORDER; returns how many. */
uint32_t pm_flow_order(const struct pm_flow *flow, uint32_t *order, uint32_t *position);

/* ---- natural loops, irreducible regions (find_loops.c) --------------------------------------- */

struct pm_loop {
    uint32_t routine;
    uint32_t
        header; /* basic block; of several entries the lowest that is not a mere indirect entry */
    uint32_t parent;  /* index of the next loop outside, smaller than its own; PM_NONE */
    uint32_t depth;   /* 1 = outermost */
    bool irreducible; /* can be entered elsewhere than at its header */
};

struct pm_loops {
    PM_ARRAY(struct pm_loop, loops); /* of all routines, in their order; in a routine outer loops
                                        first, else by address */
    uint32_t *block_loop;            /* n_blocks: innermost loop, PM_NONE outside loops */
    uint32_t *first_loop;            /* n_routines + 1: each routine's first loop */
};

void pm_find_loops(struct pm_lifted *lifted);
void pm_free_loops(struct pm_loops *loops); /* NULL is fine */

/* ---- live general registers and flags (liveness.c); vector registers are not looked at ------- */

/* General registers (bits 0–31, by number) and flags (bits 32–37), as in pm_register_set.general.
 */
typedef uint64_t pm_live_set;
#define PM_LIVE_FLAGS PM_FLAGS_MASK
#define PM_LIVE_BIT(number) (UINT64_C(1) << (number))

static inline pm_live_set pm_live_from(struct pm_register_set set) {
    return set.general & (UINT64_C(0xffffffff) | PM_FLAGS_MASK);
}

/* For each instruction what is live before it; nothing is known of routines for which FOLLOWED is
   false, and what goes there finds all live.  *AT_ENDS (may be NULL): for each basic block what is
   live where it ends.  The caller frees both. */
pm_live_set *pm_find_liveness(const struct pm_lifted *lifted, const bool *followed,
                              pm_live_set **at_ends);

#endif
