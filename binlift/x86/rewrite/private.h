/* What the passes of the rewriter share; README.md says what the new text looks like. */
#ifndef PM_X86_REWRITE_PRIVATE_H
#define PM_X86_REWRITE_PRIVATE_H

#include "binlift/copy/copy.h"
#include "binlift/x86/rewrite/code_buffer.h"
#include "binlift/x86/rewrite/rewrite.h"
#include "core/probe_abi.h"

/* In sets of live registers and flags (cfg/cfg.h): what there is of both on x86-64. */
#define PM_LIVE_REGISTERS UINT64_C(0xffff)
#define PM_LIVE_ALL (PM_LIVE_REGISTERS | PM_LIVE_FLAGS)

/* How the rewriter uses the spill slots of the control block. */
enum {
    PM_SLOT_SCRATCH = PM_CB_SPILL,      /* around a few added instructions */
    PM_SLOT_POINTER = PM_CB_SPILL + 8,  /* the register that holds next, over a segment */
    PM_SLOT_FLAGS = PM_CB_SPILL + 16,   /* %rax while it holds flags */
    PM_SLOT_TARGET = PM_CB_SPILL + 24,  /* target of an indirect call that moved */
    PM_SLOT_ADDRESS = PM_CB_SPILL + 40, /* the register that holds addresses, over a segment */
    PM_SLOT_TAG = PM_CB_SPILL + 32,     /* which indirect jump was taken last; 0 none */
    PM_SLOT_BRANCH = PM_CB_SPILL + 56,  /* the register that points into the buffer of branches */
    PM_SLOT_TRIP = PM_CB_SPILL + 48,    /* what counts the iterations, as the loop was entered */
};

/* A run of instructions of one basic block that share one check of the buffer and one register that
   points into it. */
struct pm_segment {
    uint32_t first, last; /* instructions; the check stands before first, the bump before last */
    uint32_t n_bytes;     /* of all its records */
    uint8_t pointer;      /* register that points into the buffer */
    uint8_t address; /* register for addresses, where an instruction finds none that is dead; the
                        program's value waits in PM_SLOT_ADDRESS.  PM_REGISTER_NONE: each spills
                        one for itself */
    bool spills_pointer; /* the program's value waits in PM_SLOT_POINTER */
    bool saves_flags;    /* flags are live at the check */
};

/* What is stored for a reference, and at which byte of its segment's records
   (plan_address_records.c); −1: not stored. */
struct pm_record_place {
    uint32_t address_record; /* which begins with it; PM_NONE: the record is the reference's own */
    int32_t header_at;       /* the record's first word */
    int32_t address_at;      /* the address */
};

enum pm_call_form {
    PM_CALL_NONE = 0,
    PM_CALL_IN_PLACE, /* new code jumps to the old call, which pushes the old return address */
    PM_CALL_PUSHES,   /* new code pushes the old return address itself, for want of room */
    PM_CALL_MOVED,    /* new code calls, and the call comes back there */
};

/* An old address at which control may arrive, and how it gets from there to its new place. */
enum pm_trampoline_form {
    PM_TRAMPOLINE_JUMP, /* by a jump of 5 bytes */
    PM_TRAMPOLINE_HOP,  /* by a jump of 2 bytes to such a jump near by */
    PM_TRAMPOLINE_TRAP, /* by a trap instruction, and the runtime */
};

struct pm_trampoline {
    uint64_t from;
    uint64_t hole; /* of a hop: where its long jump stands */
    uint8_t form;  /* enum pm_trampoline_form */
};

/* From a place in the new code on, the frame is as at the old instruction at OLD; 0: it is none. */
struct pm_frame_mark {
    struct pm_code_place place;
    uint64_t old;
};

/* Behind the event of an interval's end, before the instruction INSN. */
struct pm_interval_mark {
    struct pm_code_place place;
    uint32_t insn;
};

struct pm_rewrite {
    const struct pm_lifted *lifted;
    const struct pm_instrumentation_plan *plan;
    struct pm_new_code *made;
    bool sets_direction_flag; /* the file has an std instruction */

    pm_live_set *live;   /* per instruction: live before it */
    uint8_t *call_forms; /* per instruction: enum pm_call_form */
    uint32_t *entries;   /* per basic block: label for control that arrives from outside; the label
                            of the block's first instruction if nothing is to be done there;
                            PM_NONE if the block does not move */
    bool *sets_tag;      /* per basic block: its indirect jump stores its tag */
    bool *clears_tag;    /* per basic block: such a jump may arrive here */

    struct pm_record_place *record_places; /* per reference, of basic blocks that were planned */

    struct pm_watched *watched; /* watched_blocks.c; NULL: nothing is recorded for lower bounds */

    struct pm_code code; /* label i < lifted->n_insns is the new place of instruction i */
    PM_ARRAY(struct pm_trampoline, trampolines); /* ascending */
    /* If calls move, as the code grows: */
    PM_ARRAY(struct pm_frame_mark, frame_marks);
    PM_ARRAY(struct pm_frame_mark, returns); /* places where moved calls return, and where they did
                                              */
    PM_ARRAY(struct pm_interval_mark, interval_ends);
};

/* ---- the passes, in order ------------------------------------------------------------------- */
void pm_x86_plan_trampolines(struct pm_rewrite *rewrite); /* trampolines.c */
void pm_x86_plan_entries(struct pm_rewrite *rewrite);     /* block_entries.c */
void pm_x86_emit_routines(struct pm_rewrite *rewrite);    /* emit.c */
/* patch_old_text.c: traps, trampolines and calls into the image that is made, a copy of the file,
   and the table of traps; needs the layout; false if a jump would span more than 2 GiB. */
bool pm_x86_patch_old_text(struct pm_rewrite *rewrite);
/* frames.c: where frames are as they were in the old code, and where calls and exceptions come to;
   needs the layout. */
void pm_x86_list_frames(struct pm_rewrite *rewrite);
/* probe_code.c: where the events of intervals' ends are; needs the layout. */
void pm_x86_list_interval_ends(struct pm_rewrite *rewrite);

/* ---- parts of emission ---------------------------------------------------------------------- */

/* Where code outside a routine's visible flow goes to reach ADDRESS: its new place if that is
   known, else the address itself. */
struct pm_target pm_x86_outer_target(const struct pm_rewrite *rewrite, uint64_t address);

/* frames.c: what is appended next has the frame of the old instruction at OLD; 0: of none. */
void pm_x86_mark_frame(struct pm_rewrite *rewrite, uint64_t old);
/* The address of the new code for control that arrives at the old ADDRESS, which moved
   (patch_old_text.c). */
uint64_t pm_x86_new_address(const struct pm_rewrite *rewrite, uint64_t address);

/* Where code is added at a basic block, and for which edge: edges, PM_NONE where there is none
   (instrumentation_points.c). */
struct pm_block_points {
    uint32_t in_target, in_source;  /* counted anywhere in the block */
    uint32_t fallthrough, branch;   /* on the edge itself, out of the block */
    uint32_t loop_entry, loop_exit; /* into or out of a loop that is counted by a register
                                       (counters/counters.h): right at the block's first
                                       instruction, before the jump at its end */
    uint32_t event_in, event_out;   /* with events at its start, before its last instruction */
    uint32_t taken;          /* not an edge: the block that its direct branch or jump goes to */
    uint32_t pre_head;       /* a branch to it whose added code stands right in front of it */
    uint32_t pre_head_label; /* of that code */
};

struct pm_points {
    struct pm_block_points *blocks;
    uint32_t *trip_entries, *trip_exits; /* per edge: in pm_counter_plan.trip_edges; PM_NONE */
    bool *is_trip;                       /* per edge: counted outside its loop */
};

struct pm_points *pm_x86_find_points(struct pm_rewrite *rewrite);
void pm_x86_points_free(struct pm_points *points);
/* Appends the code that is added on EDGE itself; and, of that, what edges into loops and out of
   them need. */
void pm_x86_put_edge(struct pm_rewrite *rewrite, const struct pm_points *points, uint32_t edge,
                     pm_live_set live);
void pm_x86_put_trip_edges(struct pm_rewrite *rewrite, const struct pm_points *points,
                           uint32_t edge, pm_live_set live);

/* Where the counter stands in the control block (counter_code.c). */
uint32_t pm_x86_counter_offset(const struct pm_rewrite *rewrite, uint32_t counter);

/* trip_code.c: the code on an edge into a loop or out of it whose back edge is counted there. */
void pm_x86_put_trip_edge(struct pm_rewrite *rewrite, const struct pm_trip_edge *edge,
                          pm_live_set live);

/* branch_code.c: stores the outcome of the branch at the end of BLOCK, right before it, if that is
   a record an execution. */
void pm_x86_put_outcome(struct pm_rewrite *rewrite, uint32_t block);
/* … stores how often the back edge of the loop that BLOCK is the only branch of was taken, which is
   in REG, where the loop is left, if that is a record a visit; changes flags.  TAKEN: registers
   that must stay as they are. */
void pm_x86_put_visit(struct pm_rewrite *rewrite, uint32_t block, unsigned reg, pm_live_set taken);

/* counter_code.c: counts.  LIVE: live where the counter stands; RESERVED: registers that may not be
   touched even to be restored. */
void pm_x86_put_counter(struct pm_rewrite *rewrite, uint32_t counter, pm_live_set live,
                        pm_live_set reserved);

/* probe_code.c: goes to the runtime's PATH (PM_CB_…_PATH) with WORD in PM_CB_EVENT. */
void pm_x86_put_report(struct pm_code *code, uint32_t word, uint32_t path);
/* … reports the events of EDGE to the runtime. */
void pm_x86_put_probes(struct pm_rewrite *rewrite, uint32_t edge);
/* … that an iteration begins at the start of BLOCK, if one does. */
void pm_x86_put_iteration(struct pm_rewrite *rewrite, uint32_t block);

/* watched_blocks.c: what is recorded for lower bounds. */
void pm_x86_find_watched(struct pm_rewrite *rewrite);
void pm_x86_watched_free(struct pm_watched *watched); /* NULL is fine */
bool pm_x86_is_watched(const struct pm_rewrite *rewrite, uint32_t block);
/* At the start of BLOCK. */
void pm_x86_put_watched_jump(struct pm_rewrite *rewrite, uint32_t block);
/* Out of line.  TAKEN: where a direct branch or jump at its end goes. */
void pm_x86_put_watched(struct pm_rewrite *rewrite, uint32_t block, struct pm_target taken);
/* Needs the layout. */
void pm_x86_tell_watched(const struct pm_rewrite *rewrite);
/* record_code.c: the operand's address into REG; that of a gather without its index. */
void pm_x86_put_address(struct pm_rewrite *rewrite, const struct pm_memory_operand *memory,
                        unsigned reg);

/* block_entries.c: the code that runs when control arrives at BLOCK from outside, if entries[BLOCK]
   is a label of its own.  Binds that label; control then goes on to the block's first instruction.
 */
void pm_x86_put_entry(struct pm_rewrite *rewrite, uint32_t block);

/* relocate.c: instruction INSN at its new place.  TAKEN: where a direct branch or jump goes. */
void pm_x86_put_instruction(struct pm_rewrite *rewrite, uint32_t insn, struct pm_target taken);

/* relocate.c: the condition of the branch at BYTES, as in opcodes. */
uint8_t pm_x86_condition(const uint8_t *bytes);

/* relocate.c: the conditional branch at BYTES, and jrcxz, loop … of LENGTH bytes, anew. */
void pm_x86_put_branch(struct pm_code *code, const uint8_t *bytes, struct pm_target taken);
void pm_x86_put_loop_branch(struct pm_code *code, const uint8_t *bytes, unsigned length,
                            struct pm_target taken);

/* record_segments.c: segments of BLOCK; the caller frees. */
struct pm_segment *pm_x86_plan_segments(struct pm_rewrite *rewrite, uint32_t block,
                                        uint32_t *n_segments);
/* plan_address_records.c: what the records of SEGMENT look like: record_places, address records,
   n_bytes. */
void pm_x86_plan_address_records(struct pm_rewrite *rewrite, struct pm_segment *segment);

/* record_code.c: before the first instruction of SEGMENT, before each, and before the last. */
void pm_x86_put_segment_start(struct pm_rewrite *rewrite, const struct pm_segment *segment,
                              uint32_t slow_label, uint32_t back_label);
void pm_x86_put_records(struct pm_rewrite *rewrite, const struct pm_segment *segment,
                        uint32_t insn);
/* Does what is put before INSN store an address? */
bool pm_x86_stores_address(const struct pm_rewrite *rewrite, uint32_t insn);
void pm_x86_put_segment_end(struct pm_rewrite *rewrite, const struct pm_segment *segment);
/* The call of the runtime when the buffer is full, out of line. */
void pm_x86_put_slow_path(struct pm_rewrite *rewrite, const struct pm_segment *segment,
                          uint32_t slow_label, uint32_t back_label);
/* What INSN itself accesses is found out by the runtime, because it may stop early. */
static inline bool pm_x86_stops_early(const struct pm_insn *insn) {
    return insn->n_memory > 0 && insn->memory[0].stops_early;
}
/* Behind the last of the references of INSN, from lifted->insn_references[insn] on, for which
   the new code stores an address: the runtime finds out about the others (probe_code.c), which
   are those of a called routine or of an instruction that may stop early. */
static inline uint32_t pm_x86_end_references(const struct pm_lifted *lifted, uint32_t insn) {
    const struct pm_insn *code = &lifted->insns[insn];
    return lifted->insn_references[insn] + (pm_x86_stops_early(code) ? 0 : code->n_memory);
}
/* probe_code.c: has the runtime find out what INSN accesses, or the routine of the C library that
   it calls, where that is so. */
void pm_x86_put_called(struct pm_rewrite *rewrite, uint32_t insn);
/* Registers that hold the segment's values between its first and last instruction. */
static inline pm_live_set pm_segment_registers(const struct pm_segment *segment) {
    pm_live_set set = PM_LIVE_BIT(segment->pointer);
    return segment->address == PM_REGISTER_NONE ? set : set | PM_LIVE_BIT(segment->address);
}

#endif
