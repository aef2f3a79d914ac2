/* What the passes of binlift/ share: the image, the instructions, and the structure that they
   build. Private to binlift/.  The order of the passes stands in lift.c. */
#ifndef PM_LIFTED_H
#define PM_LIFTED_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binlift/binlift.h"
#include "binlift/isa.h"
#include "core/base/base.h"

/* ---- the file ------------------------------------------------------------------------------- */

struct pm_section {
    const char *name; /* in the image */
    Elf64_Shdr header;
};

struct pm_image {
    char *path;
    uint8_t *bytes; /* the file, private mapping (read-only for all passes) */
    size_t n_bytes;
    const Elf64_Ehdr *header;
    const Elf64_Phdr *segments;
    size_t n_segments;
    PM_ARRAY(struct pm_section, sections);
    bool is_pie, is_shared; /* is_shared: a library (no PT_INTERP) */
    uint8_t build_id[20];
    uint32_t build_id_bytes;
};

/* File bytes behind link-time ADDRESS, NULL unless N_BYTES are mapped from the file there. */
const uint8_t *pm_image_at(const struct pm_image *image, uint64_t address, uint64_t n_bytes);
const struct pm_section *pm_image_section(const struct pm_image *image, const char *name);
const struct pm_section *pm_image_section_at(const struct pm_image *image, uint64_t address);
bool pm_section_is_code(const struct pm_section *section); /* executable and in the file */
void pm_image_release(struct pm_image *image);

/* A range of code that has unwinding information (.eh_frame), with its exception table. */
struct pm_frame {
    uint64_t address, size_bytes;
    uint64_t lsda;  /* address in .gcc_except_table; 0 none */
    bool is_signal; /* where handlers of signals return to: starts a byte before its code */
};
struct pm_frames {
    PM_ARRAY(struct pm_frame, frames); /* ascending by address */
};
void pm_read_frames(const struct pm_image *image, struct pm_frames *frames); /* eh_frame.c */

/* Addresses where exceptions of FRAME land, appended to *PADS. */
struct pm_addresses {
    PM_ARRAY(uint64_t, addresses);
};
/* A word that the dynamic linker fills in. */
struct pm_relocation {
    uint64_t place;
    uint64_t value;     /* link-time; 0 where SYMBOL is of another file */
    const char *symbol; /* in the image; NULL none */
};

void pm_read_landing_pads(const struct pm_image *image, const struct pm_frame *frame,
                          struct pm_addresses *pads); /* eh_frame.c */

/* ---- code ----------------------------------------------------------------------------------- */

struct pm_jump_table {
    uint32_t insn;    /* the indirect jump */
    uint64_t address; /* of the table in data; 0 if only the compiler told the targets */
    uint32_t first_target, n_targets; /* in pm_lifted.table_targets, in table order */
    uint8_t entry_bytes;              /* 0: not known: the compiler told the targets, or several
                                         places give them */
    bool of_labels;                   /* of a computed goto, not of a `switch` */
};

/* Beside struct pm_routine of the same index. */
struct pm_routine_code {
    uint32_t first_insn,
        n_insns; /* contiguous; covers its parts, one after the other, each ascending */
    bool interior_references; /* address of an inner instruction is taken (data or code): control
                                 may arrive at those landings by means that the CFG does not see */
    bool may_not_return;      /* exit, longjmp, throw or unknown code may be called from it */
};

/* A part of a routine, for look-ups by address. */
struct pm_range {
    uint64_t address, size_bytes;
    uint32_t routine;
    uint32_t first_insn, n_insns; /* 0 if it is refused */
};

/* Which addresses start instructions, and which: a bit for each byte of text, and for each 64 bytes
   the number of the first instruction that starts there (PM_NONE: two parts meet there, search). */
struct pm_insn_index {
    uint64_t *starts;
    uint32_t *first;
    uint64_t n_chunks;
};

/* Beside struct pm_block of the same index. */
struct pm_block_code {
    uint32_t first_insn, n_insns;
    bool landing; /* control may arrive from outside the visible CFG at this block's start: entries,
                     jump-table targets, landing pads of exceptions, address-taken labels */
};

struct pm_lifted {
    struct pm_image image;
    const struct pm_isa *isa;
    struct pm_classes *classes; /* resolved for the ISA; NULL where no file was given */
    struct pm_structure *structure;
    struct pm_lift_statistics statistics;
    char *refusal;

    PM_ARRAY(struct pm_insn, insns);   /* of all routines, routine by routine */
    PM_ARRAY(struct pm_pool *, pools); /* what insns point to */
    uint32_t gs_routine;               /* one that uses %gs; PM_NONE */
    PM_ARRAY(struct pm_routine_code, routine_codes);
    PM_ARRAY(struct pm_block_code, block_codes);
    PM_ARRAY(struct pm_jump_table, tables);
    PM_ARRAY(uint64_t, table_targets);
    struct pm_data_symbols *data_symbols; /* from pm_build_groups on */
    uint32_t *insn_references;            /* n_insns + 1: first reference of each instruction in
                                             structure->references; operands that are implicit have one too */
    uint64_t text_low, text_high;         /* span of the executable sections */
    struct pm_insn_index insn_index;
    PM_ARRAY(struct pm_range, ranges); /* the parts of all routines, ascending by address */

    struct pm_frames frames;                     /* of .eh_frame */
    struct pm_addresses inner_entries;           /* symbols within a larger routine: landings */
    PM_ARRAY(struct pm_relocation, relocations); /* of the dynamic linker, ascending by place */
    uint8_t *insn_marks;                         /* enum pm_insn_mark of each instruction */
    bool *ends_interval;  /* of each instruction; NULL: none does (intervals.c) */
    uint32_t *insn_block; /* basic block of each instruction; PM_NONE: padding that control does not
                             reach (no-ops after a jump) */
    uint32_t
        *clobbers; /* per routine: general registers that a call of it may change (clobbers.c) */
    PM_ARRAY(struct pm_trip_count, trip_counts); /* counters outside their loops (trip_counts.h) */
    PM_ARRAY(struct pm_trip_way, trip_ways);
    struct pm_metadata *metadata; /* what `.pmodel` says; NULL: none or not asked for */
    struct pm_loops *loops;       /* between pm_find_loops and pm_build_scopes */
};

enum pm_insn_mark {
    PM_MARK_LEADER = 1,  /* a basic block starts here */
    PM_MARK_LANDING = 2, /* becomes pm_block_code.landing */
    PM_MARK_OUTSIDE = 4, /* control arrives from outside its routine: an edge PM_EDGE_LANDING */
    PM_MARK_MAY_NOT_RETURN = 8,
    PM_MARK_NEVER_RETURNS = 16,
    PM_MARK_TAIL_CALL = 64,  /* an indirect jump that leaves its routine for good */
    PM_MARK_PART_END = 32,   /* the last of its part: the next one stands elsewhere */
    PM_MARK_MAY_LEAVE = 128, /* an indirect jump with the stack as it was on entry */
};

/* Instruction that starts exactly at ADDRESS, or PM_NONE. */
uint32_t pm_insn_at(const struct pm_lifted *lifted, uint64_t address);
/* Basic block that starts exactly at ADDRESS, or PM_NONE. */
uint32_t pm_block_at(const struct pm_lifted *lifted, uint64_t address);
/* Bytes of an instruction. */
const uint8_t *pm_insn_bytes(const struct pm_lifted *lifted, uint32_t insn);
/* The first instruction at ADDRESS or after it, and the one after INSN, in the order of addresses;
   PM_NONE at the end. */
uint32_t pm_first_insn_from(const struct pm_lifted *lifted, uint64_t address);
uint32_t pm_insn_after(const struct pm_lifted *lifted, uint32_t insn);
/* The part that covers ADDRESS, or NULL. */
const struct pm_range *pm_range_at(const struct pm_lifted *lifted, uint64_t address);
/* Routine that covers ADDRESS, or PM_NONE. */
uint32_t pm_routine_at(const struct pm_lifted *lifted, uint64_t address);

/* The word at ADDRESS as the loaded program (at its link-time address) has it; false: not there. */
bool pm_word_at(const struct pm_lifted *lifted, uint64_t address, uint64_t *word);
/* Where a direct or indirect call or jump goes if that is fixed: through the PLT or the GOT, or
   straight.  *ADDRESS is 0 and *NAME set for a routine of another file. */
bool pm_call_target(const struct pm_lifted *lifted, const struct pm_insn *insn, uint64_t *address,
                    const char **name);
/* General registers that the call INSN may change (clobbers.c). */
uint32_t pm_call_clobbers(const struct pm_lifted *lifted, const struct pm_insn *insn);
/* Of the call or tail call INSN of a routine of the C library that accesses memory as its arguments
   say: which it is; NULL (called.c). */
struct pm_called_routine {
    const char *name;
    uint8_t called; /* enum pm_called */
    uint8_t access; /* enum pm_access */
    uint8_t scale;  /* an element has 1 << scale bytes */
};
const struct pm_called_routine *pm_called_routine(const struct pm_lifted *lifted,
                                                  const struct pm_insn *insn);
/* Does it call a routine by which threads wait for each other? */
bool pm_call_synchronises(const struct pm_lifted *lifted, const struct pm_insn *insn);
/* The jump table of the indirect jump INSN, or NULL. */
const struct pm_jump_table *pm_table_of(const struct pm_lifted *lifted, uint32_t insn);

/* In jump_tables.c, for computed gotos: is ADDRESS in the data of the file?  The entries of the
   table of offsets from a label that FORM describes, appended to *TARGETS; false: not all are known
   to lead into ROUTINE.  The jump INSN goes to TARGETS, and nowhere else (none: not known). */
bool pm_is_data(const void *image, uint64_t address);
bool pm_read_label_table(const struct pm_lifted *lifted, uint32_t routine,
                         const struct pm_table_form *form, struct pm_addresses *targets);
void pm_set_targets(struct pm_lifted *lifted, uint32_t routine, uint32_t insn,
                    const struct pm_addresses *targets);

/* Entries of tables that lead out of the ROUTINE of their jump, before parts are joined
   (jump_tables.c); needs marks of instructions. */
struct pm_table_exit {
    uint64_t target;
    uint32_t routine;
};
struct pm_table_exits {
    PM_ARRAY(struct pm_table_exit, items);
};
void pm_find_table_exits(struct pm_lifted *lifted, struct pm_table_exits *exits);

/* May control go on from instruction K to the one behind it?  (ways.c) */
bool pm_runs_on(const struct pm_lifted *lifted, uint32_t k);
/* Jumps within ROUTINE, direct ones and those through known tables, ascending by where they lead
   (ways.c). */
struct pm_ways {
    PM_ARRAY(struct pm_way, items);
};
void pm_find_ways(const struct pm_lifted *lifted, uint32_t routine, struct pm_ways *ways);
/* The first of WAYS that leads to INSN or behind it. */
size_t pm_first_way(const struct pm_way *ways, size_t n, uint32_t insn);

/* ---- what `.pmodel` tells the CFG (metadata.c) --------------------------------------------------
   For after pm_read_metadata; without metadata both answer false. */

/* The call instruction at ADDRESS does not return. */
bool pm_metadata_no_return(const struct pm_lifted *lifted, uint64_t address);
/* The indirect jump at ADDRESS goes to *TARGETS (N, in table order; owned by the metadata). */
bool pm_metadata_table(const struct pm_lifted *lifted, uint64_t address, const uint64_t **targets,
                       size_t *n);

/* In metadata_cfg.c: does control go on behind the call K? */
enum pm_metadata_flow { PM_FLOW_NOT_KNOWN, PM_FLOW_GOES_ON, PM_FLOW_STOPS };
enum pm_metadata_flow pm_metadata_flow(const struct pm_lifted *lifted, uint32_t k);
/* Where the indirect jump K goes by the compiler's CFG: *TARGETS are appended to; *LEAVES: out of
   the routine.  False: not known. */
bool pm_metadata_jump(const struct pm_lifted *lifted, uint32_t k, struct pm_addresses *targets,
                      bool *leaves);

/* ---- passes that are more than one file needs --------------------------------------------------
   Each in the file named after it, in the order of lift.c.  Those that can refuse the whole file
   return false. */
bool pm_read_image(const char *path, struct pm_image *image, struct pm_error *err); /* image.c */
/* refusal.c: a sentence, owned by the caller; NULL. */
char *pm_find_refusal(const struct pm_lifted *lifted);
void pm_find_routines(struct pm_lifted *lifted);    /* routines.c: symbols, else .eh_frame */
void pm_read_relocations(struct pm_lifted *lifted); /* relocations.c */
void pm_decode_routines(struct pm_lifted *lifted);  /* decode.c */
void pm_free_pools(struct pm_lifted *lifted);       /* for pm_lifted_free */
/* insn_index.c: look-ups by address, anew after parts or instructions changed. */
void pm_index_ranges(struct pm_lifted *lifted);
void pm_index_insns(struct pm_lifted *lifted);
/* metadata.c: `.pmodel`, whole and checked; not called if metadata is to be ignored. */
bool pm_read_metadata(struct pm_lifted *lifted, struct pm_error *err);
void pm_join_parts(struct pm_lifted *lifted);       /* parts.c: cold parts into their routines */
void pm_find_tables(struct pm_lifted *lifted);      /* jump_tables.c: tables, table_targets */
void pm_find_landings(struct pm_lifted *lifted);    /* landings.c: relocations, data words, LSDAs */
void pm_find_no_returns(struct pm_lifted *lifted);  /* no_return.c: calls that do not come back */
void pm_find_tail_calls(struct pm_lifted *lifted);  /* tail_call.c: PM_MARK_TAIL_CALL */
void pm_find_label_jumps(struct pm_lifted *lifted); /* labels.c: computed gotos, into tables */
/* intervals.c: calls that end an interval, where asked for */
void pm_find_intervals(struct pm_lifted *lifted, const struct pm_lift_options *options);
void pm_build_cfg(struct pm_lifted *lifted); /* cfg.c: blocks, edges */
/* operations.c; their `reference` is still an operand's number. */
void pm_translate_blocks(struct pm_lifted *lifted);
/* The graph for a summary: each routine's graph only while VISIT looks at it. */
void pm_visit_cfg(struct pm_lifted *lifted,
                  void (*visit)(struct pm_lifted *lifted, uint32_t routine));
/* summary.c: into statistics, instead of keeping loops and what depends on them. */
void pm_count_loops(struct pm_lifted *lifted);
void pm_find_clobbers(struct pm_lifted *lifted);
void pm_find_loops(struct pm_lifted *lifted);   /* loops.c: natural loops, irreducible regions */
void pm_build_scopes(struct pm_lifted *lifted); /* scopes.c: tree, DWARF lines and inlining */
/* metadata_join.c: metadata → scopes; then folds loops and assigns keys, with metadata or not. */
bool pm_join_metadata(struct pm_lifted *lifted, struct pm_error *err);
void pm_build_groups(
    struct pm_lifted *lifted); /* groups.c: references (of operations too), groups */
void pm_find_dependences(struct pm_lifted *lifted); /* deps.c: dependences through memory */
/* counters.c: spanning tree.  KNOWN: weights from an earlier profile; NULL: estimated. */
void pm_place_counters(struct pm_lifted *lifted, const struct pm_known_weights *known);

/* For pm_lifted_free; NULL is fine. */
void pm_free_metadata(struct pm_metadata *metadata);
void pm_free_loops(struct pm_loops *loops);

#endif
