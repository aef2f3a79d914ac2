/* The section `.pmodel`: what the compiler knew of a routine, beside its code.  Written by the GCC
   plugin as assembler text, read by the lifter; this header is shared by C++ (plugin) and C.

   One contribution per emitted function, without SHF_ALLOC, SHF_LINK_ORDER to the function's own
   section (in its COMDAT group where it has one), so that the linker drops both together.  After
   linking the section is the concatenation of contributions; between two there may be zero bytes
   of padding.

   A contribution (all little-endian, unaligned):
     u32 magic            PM_SECTION_MAGIC
     u16 version          PM_SECTION_VERSION; a reader refuses others with a sentence
     u16 flags            enum pm_section_flags
     u32 payload_bytes    from the end of this header to the end of the contribution
     u64 base             address of the function's symbol (relocated by the linker)
     u64 cold_base        address of the first label in the function's cold part; 0 = none
     payload              records, one after the other

   A record is one byte enum pm_record_kind, then fields.  `u` is ULEB128, `s` is SLEB128, `str` is
   a `u`, the number of a string: strings are numbered from 1 in the order of their PM_RECORD_STRING
   within the contribution, 0 is "not known".  A string stands before its first use.
   `at` is a place in the code, two fields: u part (0 hot, 1 cold), u offset from that part's base.
   Loops, references and objects are numbered from 1 within a contribution, 0 is "none"; a basic
   block carries GCC's own index (0 entry, 1 exit).

   Several contributions with the same base (COMDAT duplicates kept by a linker) are alike; the
   first counts.  base = 0 is a contribution whose code the linker dropped: a reader skips it. */
#ifndef PM_SECTION_H
#define PM_SECTION_H

#include "core/access.h"

#define PM_SECTION_NAME ".pmodel"
#define PM_SECTION_MAGIC 0x4c444d50u /* "PMDL" */
#define PM_SECTION_VERSION 2
#define PM_SECTION_HEADER_BYTES 28

enum pm_section_flags {
    PM_SECTION_OPTIMIZED = 1, /* strides and trip counts were asked for (-O1 and above) */
};

enum pm_record_kind {
    /* bytes, NUL. */
    PM_RECORD_STRING = 1,
    /* str compiler ("GNU C17 12.2.0"), str options of interest ("-O3 -march=…"). */
    PM_RECORD_PRODUCER = 2,
    /* u loop, u parent loop, u depth (1 = outermost), str file, u line of the loop,
       u last line of a statement in it (0 unknown), str trip count (latch executions before
       vectorising and unrolling, in the program's variables: "n - 1"; "…" stands for what has no
       name; string 0 unknown), u unroll factor (1 = not unrolled), u enum pm_loop_flags, str
       induction variable. */
    PM_RECORD_LOOP = 3,
    /* u object, str name (source name; "?" if it has none), str type as the language writes it,
       u enum pm_object_kind. */
    PM_RECORD_OBJECT = 4,
    /* u reference, u loop, u object, u enum pm_reference_flags, u size in bytes (0 unknown),
       str source text of the access, str file, u line, u number of levels; then for each level,
       innermost loop first: u loop, u enum pm_stride_kind, and for PM_STRIDE_CONSTANT s bytes an
       iteration of the loop as it is emitted (vectorising and unrolling multiply it), for
       PM_STRIDE_SYMBOLIC str expression; nothing more for the other kinds.  The levels are all
       loops around the reference's loop, itself first. */
    PM_RECORD_REFERENCE = 5,
    /* at, u basic block, u loop: a basic block of the final CFG starts here. */
    PM_RECORD_BLOCK = 6,
    /* u from, u to (basic blocks), u enum pm_cfg_edge_flags: an edge of the final CFG. */
    PM_RECORD_EDGE = 7,
    /* at, u reference (0 none), u enum pm_operand_class, u enum pm_access (1 load, 2 store, 3
       both), u loop: the instruction at this place accesses memory.  Several for one place: several
       operands, in the order of the instruction pattern. */
    PM_RECORD_MEMORY = 8,
    /* at, u number, then `at` for each entry: an indirect jump and its table's targets in order. */
    PM_RECORD_JUMP_TABLE = 9,
    /* at: the call here does not return. */
    PM_RECORD_NORETURN = 10,
    /* u reference, u n, n times u reference: the first and each of the others are directly in the
       same loop, at least one of the two is a store, and the compiler cannot prove them apart.  A
       pair stands once.  Two references of a loop with PM_LOOP_ALIAS_KNOWN, at least one a store,
       that are not listed never touch the same bytes while the loop is executed once, over all its
       iterations.  Of a reference and itself, and of two loads, nothing is said. */
    PM_RECORD_MAY_ALIAS = 11,
};

enum pm_loop_flags {
    PM_LOOP_IRREDUCIBLE = 1,
    PM_LOOP_VECTORIZED = 2,   /* body made by the vectoriser */
    PM_LOOP_REMAINDER = 4,    /* prologue or epilogue of a vectorised loop */
    PM_LOOP_LATE = 8,         /* found on the final CFG only, tied to no source loop */
    PM_LOOP_ALIAS_KNOWN = 16, /* pairs of its references that are not listed are independent */
};

enum pm_object_kind {
    PM_OBJECT_UNKNOWN = 0,
    PM_OBJECT_GLOBAL = 1,
    PM_OBJECT_LOCAL = 2,     /* on the stack */
    PM_OBJECT_PARAMETER = 3, /* reached through a pointer parameter */
    PM_OBJECT_POINTER = 4,   /* reached through another pointer */
};

enum pm_reference_flags {
    PM_REFERENCE_STORE = 1,
    PM_REFERENCE_VOLATILE = 2,
    PM_REFERENCE_MASKED = 4, /* conditional on a vector mask */
    PM_REFERENCE_GATHER = 8, /* a gather or scatter */
};

enum pm_cfg_edge_flags { PM_CFG_FALLTHRU = 1, PM_CFG_ABNORMAL = 2, PM_CFG_EH = 4 };

enum pm_operand_class {
    PM_OPERAND_SOURCE = 0, /* an access of the source program */
    PM_OPERAND_SPILL = 1,
    PM_OPERAND_FRAME = 2, /* other stack traffic: prologue, arguments */
    PM_OPERAND_CONSTANT_POOL = 3,
    PM_OPERAND_JUMP_TABLE = 4,
    PM_OPERAND_CALL_TARGET = 5,
    PM_OPERAND_ASM = 6,
    PM_OPERAND_OTHER = 7,
};

#endif
