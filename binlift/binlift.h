/* The lifting stage: a linked ELF file → its structure (final CFG, loops, scope tree, reference
   groups, generic operations, counter placement), and an instrumented copy of the file. */
#ifndef PM_BINLIFT_H
#define PM_BINLIFT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/dumps/dumps.h"
#include "core/base/base.h"
#include "core/profile.h"
#include "core/structure/structure.h"

struct pm_lifted; /* the structure with the image and the instructions it was read from */

/* Passes after which lifting can end (lift.c), for who needs no more; statistics and
   pm_lifted_refusal are those of the whole only. */
enum pm_lift_end {
    PM_LIFT_ALL = 0,
    PM_LIFT_SUMMARY, /* statistics and routines: no basic blocks, far less memory */
    PM_LIFT_CFG,     /* basic blocks and edges */
    PM_LIFT_SCOPES,  /* and loops, source lines, metadata */
    PM_LIFT_GROUPS,  /* and references and their groups; no counters */
    PM_LIFT_DEPS,    /* and dependences through memory */
};

/* Frequencies of edges from an earlier profile of this program, or of another build of it. */
struct pm_known_weights {
    const struct pm_structure *structure;
    const double *edge_counts; /* [structure->n_edges] */
};

struct pm_bound_plan; /* binlift/bound/bound.h */

struct pm_lift_options {
    bool ignore_metadata;                   /* as if `.pmodel` were not there */
    const struct pm_known_weights *weights; /* counters stand where little ran; NULL: estimated */
    uint8_t end;                            /* enum pm_lift_end */
    /* Only what is reached from symbols with these names is lifted (code/reached.c); NULL: all. */
    char *const *entries;
    size_t n_entries;
    /* Calls of routines with these names (core/structure/structure.h, pm_matches) end an
       interval. INTERVAL_FOUND, if not NULL, is set for each that there is a call for. */
    const char *const *intervals;
    size_t n_intervals;
    bool *interval_found;
    /* Files of instruction classes (machines/README.md), a later one overrides: FOLDER/ISA.classes,
       which must be there; OWN_FOLDER/ISA.classes, which may be; FILE.  Each may be NULL.  Without
       any, only what operands and control flow tell has a class. */
    const char *classes_folder, *own_classes_folder, *classes_file;
};

/* What lifting met, for people; the reports print each that is not zero. */
struct pm_lift_statistics {
    uint64_t n_instructions, n_unknown_instructions; /* without a generic class */
    uint32_t n_routines, n_refused, n_partial;
    uint32_t n_indirect_jumps, n_resolved_jumps; /* PLT and tail calls through pointers left out */
    uint32_t n_with_metadata;
    uint32_t n_loops, n_irreducible; /* if for a summary; else they are in the scope tree */
    uint64_t first_unresolved;       /* address of the first such jump; 0 none */
    /* A sentence on debug information that is there but cannot be read; owned by the lift; NULL. */
    char *debug_note;
    /* As .comment names it: what compiled a part of the file and takes no plugin of ours; owned by
       the lift; NULL. */
    char *other_compiler;
};

/* Reads PATH and builds the structure.  NULL with a sentence for what is not an ELF file of an ISA
   that we know, is static, has no code, or is damaged.  The result is freed by pm_lifted_free. */
struct pm_lifted *pm_lift(const char *path, const struct pm_lift_options *options,
                          struct pm_error *err);
void pm_lifted_free(struct pm_lifted *lifted);

/* ---- source lines of instructions (dwarf/code_lines.c) --------------------------------------- */

struct pm_code_line {
    uint64_t address;
    uint32_t file, line; /* index in files, PM_NONE; 0: not known */
};
struct pm_code_lines {
    PM_ARRAY(struct pm_code_line, rows); /* by address */
    PM_ARRAY(char *, files);             /* as debug information has them */
};
/* Of each instruction of a lifted file; of each basic block of the program's own file, as the
   structure has it.  Freed by pm_code_lines_free. */
struct pm_code_lines *pm_code_lines_read(const struct pm_lifted *lifted);
struct pm_code_lines *pm_code_lines_of_blocks(const struct pm_structure *structure);
void pm_code_lines_free(struct pm_code_lines *lines); /* NULL is fine */

/* The instruction of ISA ("x86-64") at BYTES as text, for people; its length in bytes, 0: it is
   none. */
unsigned pm_print_instruction(const char *isa, const uint8_t *bytes, uint64_t n_bytes,
                              uint64_t address, char *text, unsigned size);

/* ---- the lift beside the compiler's own facts (metadata/check_cfg.c)
   ---------------------------------- */

/* Where the lifter's control flow of a routine parts from the compiler's. */
enum pm_check_cause {
    PM_CHECK_AGREES = 0,
    PM_CHECK_NOT_LIFTED,     /* there is no routine, or it was refused */
    PM_CHECK_TABLE,          /* targets of a jump through a table */
    PM_CHECK_COMPUTED_GOTO,  /* targets of a jump to labels that the program takes the address of */
    PM_CHECK_TAIL_CALL,      /* the compiler leaves the routine by a jump, the lifter stays in it */
    PM_CHECK_COLD,           /* a jump to or from the cold part, or the cold part as a whole */
    PM_CHECK_NO_RETURN,      /* the compiler knows that a call never returns */
    PM_CHECK_CALLEE_STOPS,   /* the lifter knows that, the compiler did not see the callee */
    PM_CHECK_UNREACHABLE,    /* the compiler knows that an instruction's end is never reached */
    PM_CHECK_INDIRECT_ENTRY, /* a place where control arrives unseen, known to one side only */
    PM_CHECK_EXTENT,         /* code that belongs to the routine on one side only */
    PM_CHECK_OTHER,          /* none of these: a mistake of the lifter or of the plugin */
    PM_CHECK_N_CAUSES
};
const char *pm_check_cause_name(enum pm_check_cause cause);

struct pm_check_routine {
    const char *name; /* as people know it; owned by the lift */
    uint64_t address;
    uint8_t cause;                     /* enum pm_check_cause */
    uint64_t at;                       /* where it first shows; 0 if the routine agrees */
    uint32_t n_differences;            /* block starts and successor sets */
    uint32_t n_blocks;                 /* of the compiler, straight lines joined */
    uint32_t n_inner;                  /* of the lifter, in assembler text that branches */
    uint32_t n_tables, n_tables_equal; /* jump tables; with the same set of targets */
    uint64_t table_at;                 /* first jump whose targets are not the same; 0 none */
};

struct pm_check {
    PM_ARRAY(struct pm_check_routine, routines); /* with `.pmodel`, by address */
    uint32_t n_agree, n_tables, n_tables_equal;
    uint32_t n_by_cause[PM_CHECK_N_CAUSES]; /* routines */
};

/* Compares LIFTED with the compiler's final CFG, which WITH_METADATA, a lift of the same code, has
   read from `.pmodel`; both may be the same.  metadata/check_graph.c says what equal means.  Freed
   by pm_check_free, before the lifts. */
struct pm_check *pm_check_cfg(const struct pm_lifted *with_metadata,
                              const struct pm_lifted *lifted);
void pm_check_free(struct pm_check *check);

/* The dynamic linker that the file names (PT_INTERP), in its image; NULL: a library. */
const char *pm_lifted_interpreter(const struct pm_lifted *lifted);
/* What a file uses of others. */
struct pm_imports {
    PM_ARRAY(char *, symbols);
    PM_ARRAY(char *, libraries); /* those whose versions of symbols it asks for ("libm.so.6"): what
                                    it is only linked with is not among them */
};
/* Adds those of LIFTED.  Freed by pm_imports_free. */
void pm_lifted_imports(const struct pm_lifted *lifted, struct pm_imports *imports);
void pm_imports_free(struct pm_imports *imports);

/* Owned by LIFTED. */
struct pm_structure *pm_lifted_structure(struct pm_lifted *lifted);
const struct pm_lift_statistics *pm_lifted_statistics(const struct pm_lifted *lifted);

/* Why the file as a whole cannot be instrumented (static, uses %gs …): a sentence, or NULL. */
const char *pm_lifted_refusal(const struct pm_lifted *lifted);

struct pm_instrument_options {
    bool memory_records;      /* else only edge counters */
    bool no_counters;         /* not even those: code that only moved, to tell what that costs */
    const char *runtime_path; /* absolute path of libpmodel-rt.so, becomes the first DT_NEEDED */
    /* Where the module's counters, references, scopes and branches begin among those of all modules
       that one process may load; the structure's own numbers begin at 0 all the same. */
    uint32_t first_counter, first_reference, first_scope, first_branch;
    bool branches;        /* outcomes of conditional branches are stored */
    const bool *left_out; /* per routine: stays as it is, not counted; NULL: none does */
    /* Per routine: its edges have counters, its accesses are not recorded, and pm_routine.counted
       stays false: what it does is known only as what was left out.  NULL: of none */
    const bool *not_recorded;
    /* Per scope of the structure: whether entering and leaving it (a routine, a loop) is an event;
       bits of enum pm_probe_scope_flags, of which each makes it one.  NULL: none is. */
    const uint8_t *scope_events;
    uint8_t *probed; /* per scope, filled: whether it is; a scope with an exit that no probe can
                        stand on is not.  NULL: who wants to know? */
    bool describe_counters; /* for event handlers: which edge each counter counts */
    bool only_probed;       /* routines without a probe stay as they are */
    /* Nests whose copies are to start with what is recorded of them: routines with one move, too,
       and the first word of each basic block that has to be watched is a jump to a copy of it with
       reports to the runtime, which takes the jump out when it knows enough (core/bound_abi.h).
       WATCHED: per basic block, filled: the link-time address of that jump, 0 of others.  NULL: no
       nests */
    const struct pm_bound_plan *bounds;
    uint64_t *watched;
    bool calls_move; /* with the code around them, where that is certain; else all stay at
                        their old places, and return addresses are the old ones */
};

/* Writes the instrumented copy to OUT_PATH (whole or not at all; mode bits of the original).  Sets
   pm_reference.recorded and pm_routine.counted in the structure, which therefore must be saved
   after this call. */
bool pm_instrument(struct pm_lifted *lifted, const struct pm_instrument_options *options,
                   const char *out_path, struct pm_error *err);

/* Activations that were left for good at a call (count > 0: by longjmp, an exception, exit) or that
   went on behind one without having been entered (count < 0: in the child of a fork).  The same
   address may come several times; an address in no basic block is passed over. */
struct pm_open_call {
    uint32_t module; /* of the structure */
    uint64_t return_address;
    int64_t count;
    bool goes_on; /* what was counted begins (count < 0) or ends there, the activation goes on: so
                     it is no exit, even where the graph has an edge for a call that does not
                     return.  A tail call has left its routine already. */
};

/* From the counters of a run to the frequency of every edge (Knuth & Stevenson; Marin &
   Mellor-Crummey 2004, section 2.2.1).  COUNTERS has structure->n_counters values.  ALSO: per
   routine, whether it is solved although pm_routine.counted is false, because it was instrumented
   but left out of the analysis (pm_instrument_options.not_recorded); NULL: none is.  EDGE_COUNTS
   (n_edges values) and INEXACT (n_routines values: true where the counts break conservation all the
   same; may be NULL) are filled; edges of routines without counters get 0 and are not to be used.
 */
void pm_solve_edges(const struct pm_structure *structure, const uint64_t *counters,
                    const bool *also, const struct pm_open_call *open_calls, size_t n_open_calls,
                    uint64_t *edge_counts, bool *inexact);

/* The same many times, of counters of which few are not zero: only the routines that have one of
   these, or an open call, are solved.  STRUCTURE must outlive it. */
struct pm_edge_solver *pm_edge_solver_new(const struct pm_structure *structure);
void pm_edge_solver_free(struct pm_edge_solver *solver);
/* What is to be solved next. */
void pm_edge_solver_add_count(struct pm_edge_solver *solver, uint32_t counter, uint64_t count);
void pm_edge_solver_add_open_call(struct pm_edge_solver *solver, const struct pm_open_call *call);
/* Solves it, and calls SOLVED (CONTEXT, …) for each routine of STRUCTURE that is counted and that
   it is about, ascending: EDGE_COUNTS of its edges; are they exact?  Then there is nothing to be
   solved again. */
void pm_edge_solver_run(struct pm_edge_solver *solver,
                        void (*solved)(void *context, uint32_t routine, const uint64_t *edge_counts,
                                       bool is_exact),
                        void *context);

/* ---- which loops and routines of a program get timers (counters/timed_scopes.c) ---------------
 */

struct pm_timer_budget {
    double seconds;        /* what all timers of the run may cost together */
    double pair_seconds;   /* cost of one timed entry: a probe at its begin and one at its end */
    double moving_seconds; /* what calls in routines that are moved for probes may cost in addition,
                              together */
    double call_seconds;   /* what one such call costs in addition */
};

/* One value for each scope of STRUCTURE: 1 where a timer is worth its cost.  PROFILE, a measured
   one of STRUCTURE, tells how often each scope is entered.  Owned by the caller.  *COST_SECONDS, if
   not NULL, receives what the chosen timers cost, without what calls do. */
uint8_t *pm_choose_timed_scopes(const struct pm_structure *structure,
                                const struct pm_profile *profile,
                                const struct pm_timer_budget *budget, double *cost_seconds);

/* ---- strides found in the code against the compiler's (formula/check_strides.c) ----------------
 */

struct pm_stride_difference { /* one reference in one loop around it */
    uint32_t reference, loop; /* loop: a scope */
    struct pm_stride compiler, binary;
};

/* References in loops that the compiler describes, once for each loop around them that it knows. */
struct pm_strides_check {
    uint64_t n_agree;            /* equal; of symbolic ones only that both are */
    uint64_t n_binary_unknown;   /* the code alone does not tell, the compiler does */
    uint64_t n_compiler_unknown; /* the other way round */
    uint64_t n_both_unknown;
    PM_ARRAY(struct pm_stride_difference, differences); /* both tell, not the same */
};

/* Needs a program lifted with its metadata; without, all is 0. */
void pm_check_strides(struct pm_lifted *lifted, struct pm_strides_check *check);
void pm_strides_check_free(struct pm_strides_check *check);

/* ---- dumps: what a pass made of routines, as text or for Graphviz (dump/dump.c)
   ------------------- */

extern const struct pm_dump_pass pm_lift_passes[]; /* core/dumps/dumps.h */
enum pm_dump_format { PM_DUMP_TEXT, PM_DUMP_DOT };

bool pm_dump_format_from_name(const char *name, enum pm_dump_format *format);
/* How far a program must be lifted for a dump of PASS, one of these. */
enum pm_lift_end pm_dump_needs(const struct pm_dump_pass *pass);

/* Writes PASS of all routines called ROUTINE (pm_routines_named; NULL: of all).  False with a
   sentence if none is, or if the pass has nothing that could be drawn. */
bool pm_dump(const struct pm_lifted *lifted, const struct pm_dump_pass *pass,
             enum pm_dump_format format, const char *routine, FILE *out, struct pm_error *err);

struct pm_drawing {
    bool instructions;   /* in the boxes, not only their number */
    uint32_t max_blocks; /* a routine with more is drawn as its loop nest only */
};

/* The control-flow graph of the routine called ROUTINE, loops as nested boxes with a legend, for
   Graphviz to lay out.  *COARSE: it was too large for more than its loops.  False with a sentence
   unless exactly one routine is called so. */
bool pm_draw(const struct pm_lifted *lifted, const char *routine, const struct pm_drawing *drawing,
             FILE *out, bool *coarse, struct pm_error *err);

/* Has ISA ("x86-64") an instruction MNEMONIC, in small letters as its maker writes it?  True of an
   ISA that cannot be lifted, of which nothing is known. */
bool pm_isa_knows_mnemonic(const char *isa, const char *mnemonic);

#endif
