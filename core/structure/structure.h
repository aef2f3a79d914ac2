/* The static structure of a program, as the lifter found it: modules, routines, basic blocks,
   edges, the scope tree, references and their groups, and the generic operations of every basic
   block.  The store keeps it whole, so that fit and report need neither the binary nor the source.

   Everything is a flat array; things name each other by index (PM_NONE: none).  Items of one
   routine are contiguous.  Strings are owned by the structure.  Built by the lifter, read by all.

   It is constant once it is lifted, but for what says how the program was instrumented:
   pm_routine.counted and pm_reference.recorded are copied from the instrumentation plan when the
   copy has been written (binlift/copy/copy.h), for the store and for all who read profiles. */
#ifndef PM_STRUCTURE_H
#define PM_STRUCTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/structure/op_class.h"
#include "core/access.h"
#include "core/base/base.h"

/* ---- modules and routines ------------------------------------------------------------------- */

struct pm_module {
    char *path; /* as given; for people */
    char *name; /* last component of the path */
    uint8_t build_id[20];
    uint32_t build_id_bytes;
    uint64_t code_hash;    /* equal for builds that do the same (binlift/code/identity.c); 0: not
                              known */
    bool has_metadata;     /* at least one routine has `.pmodel` */
    bool has_lines;        /* DWARF line information was found */
    bool only_imports;     /* a library of which only what the modules before it use was lifted */
    uint32_t scope;        /* its PM_SCOPE_MODULE */
    uint64_t text_bytes;   /* size of executable sections */
    uint64_t lifted_bytes; /* of these, proven to be code of lifted routines */
};

enum pm_routine_state {
    PM_ROUTINE_LIFTED = 0,
    PM_ROUTINE_PARTIAL = 1, /* CFG has an unresolved indirect jump: edges to EXIT stand for it */
    PM_ROUTINE_REFUSED = 2, /* left as it is; `reason` says why */
};

/* A range of addresses that is code of a routine (GCC's partitions): what is rarely executed stands
   behind a label `.cold`, far from the rest. */
struct pm_part {
    uint64_t address, size_bytes;
    uint32_t routine;
};

struct pm_routine {
    char *name;                   /* linkage name; made up from the address where there is none */
    char *display_name;           /* demangled, suffixes such as .cold or .constprop folded away */
    uint64_t address, size_bytes; /* of its first part, where it is entered */
    uint32_t module, scope;
    uint32_t first_part, n_parts; /* the hot part, then cold ones by address; so its blocks */
    uint32_t first_block, n_blocks;
    uint32_t first_edge, n_edges;
    uint8_t state;               /* enum pm_routine_state */
    bool has_metadata;           /* joined with `.pmodel` */
    bool counted;                /* as instrumented: its frequencies are known after a run */
    uint32_t n_counters;         /* E − V + 2 and one for each call that may not return */
    uint32_t n_counters_formula; /* E − V + 2 over the CFG without those calls */
    char *reason;                /* of state or of what could not be counted; NULL */
};

/* ---- control flow --------------------------------------------------------------------------- */

struct pm_block { /* basic block */
    uint64_t address;
    uint32_t size_bytes, n_instructions;
    uint32_t routine;
    uint32_t scope; /* innermost scope (loop, inlined code or routine) */
    uint32_t loop;  /* innermost PM_SCOPE_LOOP, PM_NONE outside loops */
    uint32_t first_op, n_ops;
    uint32_t first_reference, n_references;
    uint32_t line; /* of its first instruction that has one; 0 unknown */
};

enum pm_edge_kind {
    PM_EDGE_ENTRY = 0,          /* from the routine's ENTRY (from == PM_NONE) */
    PM_EDGE_FALLTHROUGH = 1,    /* also the return of a call that ends a basic block */
    PM_EDGE_TAKEN = 2,          /* conditional or unconditional jump */
    PM_EDGE_TABLE = 3,          /* indirect jump; one edge for each distinct target */
    PM_EDGE_EXIT = 4,           /* to EXIT (to == PM_NONE): return, tail call, unresolved jump */
    PM_EDGE_NO_RETURN = 5,      /* to EXIT: the call at the block's end did not come back */
    PM_EDGE_INDIRECT_ENTRY = 6, /* ENTRY → landing pad, or what else is reached from outside */
};

struct pm_edge {
    uint32_t from, to; /* basic blocks; PM_NONE is ENTRY (from) or EXIT (to) */
    uint32_t routine;
    uint32_t counter; /* PM_NONE: on the spanning tree, solved from the others */
    uint8_t kind;     /* enum pm_edge_kind */
    double weight;    /* estimated frequency, entry = 1 (section 2.2.1) */
};

/* ---- the scope tree ------------------------------------------------------------------------- */

enum pm_scope_kind {
    PM_SCOPE_PROGRAM = 0,
    PM_SCOPE_MODULE = 1,
    PM_SCOPE_ROUTINE = 2,
    PM_SCOPE_LOOP = 3,
    PM_SCOPE_INLINED = 4, /* code of another routine, inlined: name is the callee */
};

enum pm_scope_flags {
    PM_SCOPE_IRREDUCIBLE = 1,
    PM_SCOPE_VECTOR_BODY = 2,
    PM_SCOPE_REMAINDER = 4,
    PM_SCOPE_FROM_COMPILER = 8, /* joined with a loop of `.pmodel` */
    PM_SCOPE_UNMATCHED = 16, /* of a loop or routine: its own code is not the same in all builds of
                            the store's runs (core/builds/builds.h), so nothing is known of it */
    PM_SCOPE_ROUGH = 32, /* … but counts are known roughly, from those of the store's build and how
                            much work was done there in each run (core/builds/work.c) */
};

struct pm_scope {
    uint8_t kind;
    uint8_t depth; /* of a loop in its routine, 1 = outermost; 0 else */
    uint16_t flags;
    uint32_t parent; /* index, always smaller than its own; PM_NONE for the program (index 0) */
    uint32_t routine;
    uint32_t header; /* basic block: header of a loop, entry of a routine; PM_NONE */
    uint32_t fold;   /* scope under which reports show it (same parent, overlapping lines: section
                        2.3.1); its own index where it is shown itself */
    char *name;      /* routine, module or callee; for a loop the induction variable or NULL */
    char *file;      /* NULL unknown */
    uint32_t line_first, line_last; /* 0 unknown */
    char *call_file;                /* of the call site of inlined code; NULL unknown */
    uint32_t call_file_line;        /* its line; 0 */
    uint64_t address_low, address_high;
    char *trip_count; /* as the compiler writes it; NULL unknown */
    uint32_t unroll;  /* 1 = not known to be unrolled */
    uint64_t key;     /* pm_scope_key */
};

/* Fills `key` of all scopes: XXH3 of the path from the program to the scope, of which each step is
     routine       its name, and the base name of its file
     inlined code  the callee's name, and the line of the call
     loop          its line, and the base name of its file
   and an ordinal among siblings that are otherwise alike (remainder loops after the others, then in
   order of addresses).  A module but the first (the program) is a step too: its file's name up to
   `.so`, so that a library's scopes are its own.  Lines count from the first line of the routine or
   callee that the loop or call is written in, so that lines put in above it change no key.  Neither
   the program's name nor any address takes part, so that a key survives renaming and rebuilding.  A
   routine without a symbol, whose name is made up from its address, counts as having no name. */
struct pm_structure;
void pm_structure_assign_keys(struct pm_structure *structure);
/* For each scope a key of its place in the source, owned by the caller: as `key`, but all that the
   compiler made of one loop (vectorised, remainder, unrolled, peeled) has one, whatever its order.
   A loop's is that of its line and depth in the routine or inlined code that it is written in, so
   that it does not hang on which line loops around it begin in. */
uint64_t *pm_structure_source_keys(const struct pm_structure *structure);
/* For each scope a key as `key`, but without the names of files; owned by the caller. */
uint64_t *pm_structure_path_keys(const struct pm_structure *structure);
/* For each scope a key of the routine or inlined callee that it is written in and its line there,
   wherever that was inlined; 0: that has no name.  Owned by the caller. */
uint64_t *pm_structure_place_keys(const struct pm_structure *structure);
/* False if the routine's name was made up from its address. */
bool pm_has_symbol(const struct pm_routine *routine);

/* ---- references and groups ------------------------------------------------------------------ */

struct pm_reference { /* one memory operand of one instruction, or what a call does there */
    uint64_t address; /* of the instruction */
    uint32_t block, group;
    uint32_t size_bytes; /* of the access; of one element if kind is not plain */
    uint8_t access;      /* enum pm_access */
    uint8_t kind;        /* enum pm_access_kind */
    uint8_t operand;     /* which memory operand of the instruction; of a call also
                            PM_OPERAND_CALLED_LOAD, PM_OPERAND_CALLED_STORE */
    bool recorded;       /* as instrumented: each access of it is recorded */
    /* Its address, if has_address: displacement + base + scale · index, general registers as the
       instruction finds them; PM_REGISTER_NONE: nothing. */
    bool has_address;
    uint8_t base, index, scale;
    int64_t displacement;
};

/* Accesses that an execution of REFERENCE makes: a load, a store, or both. */
static inline unsigned pm_reference_accesses(const struct pm_reference *reference) {
    return reference->access == PM_ACCESS_BOTH ? 2 : 1;
}

/* What a routine of another file does with memory that the caller's arguments say (kind
   PM_ACCESS_CALLED). */
enum { PM_OPERAND_CALLED_LOAD = 2, PM_OPERAND_CALLED_STORE = 3 };

struct pm_stride {
    uint8_t kind;     /* enum pm_stride_kind */
    int64_t bytes;    /* per iteration, if constant */
    char *expression; /* if symbolic; NULL */
};

enum pm_group_flags {
    PM_GROUP_FROM_COMPILER = 1,
    PM_GROUP_IRREGULAR = 2,  /* a stride is indirect */
    PM_GROUP_STACK = 4,      /* spills, saved registers, locals without a name */
    PM_GROUP_CONSTANTS = 8,  /* the constant pool */
    PM_GROUP_PUSHED = 16,    /* on the stack, by push, pop, call, ret, enter, leave */
    PM_GROUP_CALLED = 32,    /* by a routine of the C library, which `object` names, in a call */
    PM_GROUP_UNMATCHED = 64, /* not the same in all builds of the store's runs: no histograms */
    PM_GROUP_STRIDES_VARY = 128, /* other strides in another of these builds */
    PM_GROUP_JOINED = 256,       /* what it does is one with what others of the same data do in the
                                    same part of the source, because a build cannot tell them apart:
                                    `joined_to` (core/builds/builds.h) */
};

struct pm_group {   /* references of one loop with the same strides and the same base object */
    uint32_t scope; /* innermost loop, else routine */
    uint32_t module;
    char *object;      /* name of the base object; NULL unknown */
    char *object_type; /* NULL unknown */
    uint32_t flags;    /* enum pm_group_flags */
    uint32_t n_strides;
    struct pm_stride *strides; /* innermost loop first */
    uint32_t n_loads, n_stores, bytes_min, bytes_max;
    uint32_t joined_to; /* if PM_GROUP_JOINED: a group that is one with it and nearer to the one
                           that has the histograms, which names itself; not kept in the store with
                           the structure, but with its runs */
};

/* ---- generic operations --------------------------------------------------------------------- */

enum { PM_OP_N_DEFS = 3, PM_OP_N_USES = 5, PM_OP_MOST_BITS = 0x7fff };
enum { PM_N_GENERAL_REGISTERS = 32 };
#define PM_REGISTER_NONE 0xff

/* One generic operation; a native instruction becomes one to four, in order.  Registers are numbers
   0…127 of the lifter's ISA: 0–31 general, 32 flags, 33–39 other, 40–71 vector, 72–79 mask, 120–127
   temporaries that link the operations of one instruction.  A vector register stands for all its
   widths. */
struct pm_op {
    uint8_t op_class;               /* enum pm_op_class */
    uint8_t element_bytes;          /* 0 unknown or not applicable */
    uint16_t width_bits : 15;       /* of the data: 64 for a scalar double, 256 for four; at most
                                       PM_OP_MOST_BITS */
    uint16_t instruction_start : 1; /* 1 on the first operation of each instruction */
    uint8_t defs[PM_OP_N_DEFS];
    uint8_t uses[PM_OP_N_USES]; /* for a store the data register is uses[0] */
    uint32_t reference;         /* memory operations: index of the reference; PM_NONE */
    uint32_t mnemonic; /* of the native instruction: 1 + its index in `mnemonics`; 0 not known */
};

/* Instructions of a basic block for which no file of classes has a class (their operation is
   PM_OP_UNKNOWN), by mnemonic. */
struct pm_unknown {
    uint32_t block, count;
    char *mnemonic;
};

/* ---- calls ----------------------------------------------------------------------------------- */

/* A call, or a jump that is one (a tail call), from a basic block to a routine of the structure.
   Those through pointers, and to other modules, are not known. */
struct pm_call {
    uint32_t block, routine;
};

/* A call of a routine of another file, or of an indirect one of the same file, by the symbol that
   it is bound to: of routines of this symbol, variants of an indirect one, the one that is entered.
 */
struct pm_import {
    uint32_t block;
    bool same_file;
    char *symbol;
};

/* ---- what general registers hold ------------------------------------------------------------- */

enum { PM_MOST_ASSIGNED = 3 };
/* Instead of a register's number: the instruction's memory operand; none, of a call. */
enum { PM_ASSIGNED_MEMORY = 0xfd, PM_ASSIGNED_CALL = 0xfb };

/* What an instruction gives to a general register or to its memory operand: constant + Σ factor ·
   what a place held before.  What is not of this kind has none, and op.defs tells.  Of a call the
   constant is the set of general registers that it may change. */
struct pm_assignment {
    uint32_t op;     /* the first one of the instruction */
    uint32_t callee; /* of a call, or a jump that is one: the routine; PM_NONE not known */
    int64_t constant;
    int32_t factors[PM_MOST_ASSIGNED];
    uint8_t places[PM_MOST_ASSIGNED];
    uint8_t place, n_terms;
};

/* ---- dependences through memory ------------------------------------------------------------- */

enum pm_dependence_kind {
    PM_DEPENDS_SAME = 1,    /* the same location, `distance` iterations later */
    PM_DEPENDS_UNKNOWN = 2, /* it may be so, at any distance, in both directions */
};

/* Of two references directly in a loop, at least one a store.  Pairs that are not listed are
   independent.  A reference that loads and stores may depend on itself. */
struct pm_dependence {
    uint32_t scope;    /* the loop; dependences of one loop are contiguous */
    uint32_t from, to; /* references; both PM_NONE: all pairs of the loop that are not listed are
                          unknown */
    uint32_t distance; /* iterations of the loop; 0: `from` stands before `to` in the iteration */
    uint8_t kind;      /* enum pm_dependence_kind */
};

/* ---- the whole ------------------------------------------------------------------------------ */

struct pm_structure {
    PM_ARRAY(struct pm_module, modules);
    PM_ARRAY(struct pm_routine, routines);
    PM_ARRAY(struct pm_part, parts);
    PM_ARRAY(struct pm_block, blocks);
    PM_ARRAY(struct pm_edge, edges);
    PM_ARRAY(struct pm_scope, scopes);
    PM_ARRAY(struct pm_reference, references);
    PM_ARRAY(struct pm_group, groups);
    PM_ARRAY(struct pm_op, ops);
    PM_ARRAY(struct pm_dependence, dependences); /* ascending by scope */
    PM_ARRAY(struct pm_unknown, unknowns);       /* ascending by block, each mnemonic once */
    PM_ARRAY(struct pm_call, calls);             /* ascending by block */
    PM_ARRAY(struct pm_import, imports);         /* the same */
    PM_ARRAY(struct pm_assignment, assignments); /* ascending by op */
    PM_ARRAY(char *, mnemonics);                 /* of instructions, in small letters */
    uint32_t n_counters;
    char *isa;     /* "x86-64" */
    uint64_t hash; /* pm_structure_hash, 0 until computed */
};

/* The mnemonic of the instruction that OP belongs to; NULL: not known. */
const char *pm_op_mnemonic(const struct pm_structure *structure, const struct pm_op *op);

/* Dependences of the loop SCOPE: the first of *N. */
const struct pm_dependence *pm_structure_dependences(const struct pm_structure *structure,
                                                     uint32_t scope, size_t *n);

/* For each basic block the edges that leave it, ascending.  Freed by pm_lists_free. */
struct pm_lists pm_edges_out(const struct pm_structure *structure);

/* The scope that reports show in place of SCOPE.  Folding goes through scopes of one parent; a
   chain that does not end within the number of scopes is damaged and ends where it stands. */
uint32_t pm_fold_root(const struct pm_structure *structure, uint32_t scope);
/* The loop around scope SCOPE, not itself; PM_NONE. */
uint32_t pm_outer_loop(const struct pm_structure *structure, uint32_t scope);
/* Is BLOCK in LOOP or a loop in it?  False of PM_NONE, the routine's ENTRY and EXIT. */
bool pm_is_in_loop(const struct pm_structure *structure, uint32_t block, uint32_t loop);
/* Is SCOPE OUTER or in it? */
bool pm_scope_is_inside(const struct pm_structure *structure, uint32_t scope, uint32_t outer);
/* Is BLOCK in SCOPE?  Code inlined into a loop's header may begin outside the loop. */
bool pm_block_is_inside(const struct pm_structure *structure, uint32_t block, uint32_t scope);
/* The loop, else the routine, whose own code SCOPE is part of: itself, or what its inlined code
   stands in; PM_NONE of modules and the program. */
uint32_t pm_own_scope(const struct pm_structure *structure, uint32_t scope);
/* Of loops, routines and inlined code: are frequencies known after a run?  Not where the routine
   has no counters, and not where builds differ. */
bool pm_scope_is_counted(const struct pm_structure *structure, uint32_t scope);
/* The group that has the histograms of GROUP in the profiles: itself, or one that it is joined to;
   PM_NONE if it is not the same in all builds of the store's runs, and has none. */
uint32_t pm_group_holder(const struct pm_structure *structure, uint32_t group);
/* The same, and GROUP itself in place of PM_NONE. */
uint32_t pm_group_kept_as(const struct pm_structure *structure, uint32_t group);
/* A and B become one.  Of those that are one the one in the deepest loop has the histograms, of
   several the first. */
void pm_groups_join(struct pm_structure *structure, uint32_t a, uint32_t b);
/* Is SCOPE a loop or a routine?  Their own code is what is in no inner loop; no basic block and no
   edge is own code of two. */
bool pm_has_own_code(const struct pm_structure *structure, uint32_t scope);
/* Whose own code a basic block is: its innermost loop, else its routine. */
uint32_t pm_block_scope(const struct pm_structure *structure, uint32_t block);
/* Whose own code an edge is: the innermost loop that both ends are in, else the routine. */
uint32_t pm_edge_scope(const struct pm_structure *structure, uint32_t edge);
/* The loop directly in LOOP that BLOCK is in; LOOP for the blocks directly in it; PM_NONE outside.
 */
uint32_t pm_inner_loop_around(const struct pm_structure *structure, uint32_t block, uint32_t loop);

/* ---- calls from file to file (imports.c) ----------------------------------------------------- */

/* "sin.variant2"; owned by the caller. */
char *pm_variant_name(const char *symbol, unsigned number);
/* Is LIBRARY ("libm.so.6") one of mathematics?  What a program uses of these is measured with it.
 */
bool pm_is_mathematics(const char *library);
/* Of each import whether it is of another module that is measured, too; owned by the caller. */
bool *pm_imports_measured(const struct pm_structure *structure);
/* Which basic block calls which routine, in all modules together: calls and, of imports, those of
   the routines that ran, by EXECUTED (how often each basic block was executed). */
struct pm_known_calls {
    PM_ARRAY(struct pm_call, items); /* owned by the caller */
};
struct pm_known_calls pm_known_calls_find(const struct pm_structure *structure,
                                          const double *executed);

/* ---- all of it ------------------------------------------------------------------------------- */

struct pm_structure *pm_structure_new(void); /* with the program scope (index 0) */
void pm_structure_free(struct pm_structure *structure);

/* XXH3 over everything that frequencies of edges and histograms are indexed by (modules' build-ids,
   blocks, edges, references, groups): equal hash, interchangeable profiles. */
uint64_t pm_structure_hash(const struct pm_structure *structure);

/* Are profiles of A and B interchangeable although their hashes may differ?  So it is for builds of
   the same code with the same loops, references and groups, that differ in lines, file names,
   addresses of data or build-id. */
bool pm_structures_are_alike(const struct pm_structure *a, const struct pm_structure *b);
/* Do A and B have a routine of their own in common, or the program's name, if neither has any but
   `main` and what every program has? */
bool pm_structures_share_names(const struct pm_structure *a, const struct pm_structure *b);

/* The same with the counters, whose places depend on weights: equal hash, the same instrumented
   code, so that one's counters can be solved with the other. */
uint64_t pm_placement_hash(const struct pm_structure *structure);

/* Where the numbers of one module begin in the structure of a program with its libraries. */
struct pm_module_place {
    uint64_t placement_hash; /* pm_placement_hash of the module's own structure */
    uint32_t module, first_routine;
    uint32_t first_counter, n_counters;
    uint32_t first_reference, n_references;
    uint32_t first_group, n_groups;
    uint32_t first_block, n_blocks;
    uint32_t first_scope, n_scopes; /* the module's scope i > 0 is first_scope + i; 0 stays 0 */
};

/* Puts the module that FROM describes behind those of INTO and tells where;
   FROM is left without content.  Keys of scopes and the hash are to be computed anew by the caller.
   False with a sentence, and nothing changed, for another instruction set or too many items. */
bool pm_structure_append(struct pm_structure *into, struct pm_structure *from,
                         struct pm_module_place *place, struct pm_error *err);

/* The structure as bytes (zstd-compressed, versioned, checksummed) for the store, and back.  *BYTES
   is owned by the caller (free).  Decoding checks every index and length. */
void pm_structure_encode(const struct pm_structure *structure, void **bytes, size_t *n_bytes);
struct pm_structure *pm_structure_decode(const void *bytes, size_t n_bytes, struct pm_error *err);

/* ---- routines and loops by name, as options of commands give it and as reports print it -------
 */

/* For each routine whether it is called NAME, by linkage or display name, and in *N_NAMED how many
   are.  NAME: one or more names with commas between them; each is a pattern (pm_matches) unless a
   routine has exactly that name.  Commas within parentheses or angle brackets belong to a name.
   NULL: all.  The caller frees. */
bool *pm_routines_named(const struct pm_structure *structure, const char *name, uint32_t *n_named);
/* Where the first of several such names ends: at a comma, or at the end. */
char *pm_end_of_name(char *name);

/* The name of a routine that NAME, which names none, is most like; the second puts it behind the
   text of *ERR and returns false. */
void pm_nearest_routine(const struct pm_structure *structure, const char *name,
                        struct pm_nearest *nearest);
bool pm_fail_nearest_routine(struct pm_error *err, const struct pm_structure *structure,
                             const char *name);

/* For each scope whether NAME names it, and in *N_NAMED how many it names.  The caller frees.

     main         routines of this name (pm_routines_named: patterns, several with commas), and
                  where such a routine is inlined
     main/2       loops at depth 2 in code of `main`, inlined elsewhere too
     main/2 i     of these the ones with induction variable i, as reports print it
     main/2 :31   of these the ones that begin on line 31
     heat.c:31    loops that begin on line 31 of a file of this name

   Where a routine has exactly that name, it is meant.  What stands in brackets at the end of a
   report's name, "(vector)", may be left out. */
bool *pm_scopes_named(const struct pm_structure *structure, const char *name, uint32_t *n_named);
/* Puts the name of a routine, of inlined code or of a loop, as main/2, that NAME, which names none,
   is most like behind the text of *ERR; returns false. */
bool pm_fail_nearest_scope(struct pm_error *err, const struct pm_structure *structure,
                           const char *name);

/* A step of one iteration: a basic block, or an inner loop that is passed as a whole. */
struct pm_path_step {
    uint32_t block;           /* PM_NONE: */
    uint32_t loop;            /* an inner loop */
    uint32_t first_op, n_ops; /* of the basic block, where a call divides it; 0 operations: all */
};

#endif
