/* What DWARF says of the instructions: source lines and inlined code; and where debug information
   is found. */
#ifndef PM_BINLIFT_DWARF_H
#define PM_BINLIFT_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"

struct pm_lifted;

struct pm_callee {                   /* a routine that is inlined somewhere */
    char *linkage_name, *plain_name; /* NULL: not said */
    char *name;                      /* for people, made when first asked for */
    uint32_t file, line;             /* where it is declared: index in files, PM_NONE; 0 */
};

struct pm_inline {   /* one DW_TAG_inlined_subroutine: a callee at one call site */
    uint32_t parent; /* the inlined code that it is called from, smaller; PM_NONE: the routine */
    uint32_t depth;  /* 1 = called from the routine itself */
    uint32_t callee;
    uint32_t call_file, call_line; /* index in files, PM_NONE; 0 unknown */
};

struct pm_declaration { /* of a routine; file PM_NONE, name NULL: not known */
    uint32_t file, line;
    char *name; /* as in the source */
};

/* Which entry of the debug information. */
struct pm_entry_key {
    uint64_t section; /* 0: debug file; 1: its supplement; else 2 + number of a split unit */
    uint64_t offset;
};

struct pm_debug {
    bool has_lines;
    PM_ARRAY(char *, files);
    PM_ARRAY(struct pm_callee, callees);
    PM_ARRAY(struct pm_inline, inlines);
    uint32_t *insn_file;   /* n_insns: index in files, PM_NONE unknown */
    uint32_t *insn_line;   /* n_insns: 0 unknown */
    uint32_t *insn_inline; /* n_insns: innermost inlined code, PM_NONE: the routine's own */
    struct pm_declaration *declarations; /* of routines */
    size_t n_declarations;

    char *note; /* a sentence on what could not be read; NULL: nothing */

    struct pm_map file_map, callee_map;
    PM_ARRAY(struct pm_entry_key, callee_keys); /* beside callees */
};

/* Reads DWARF 2 to 5 of the lifted file, or of its separate debug file where the machine has it
   (debug_file.h says where).  Always gives a result; everything in it is unknown where there is no
   DWARF.  Freed by pm_debug_free. */
struct pm_debug *pm_debug_read(const struct pm_lifted *lifted);
void pm_debug_free(struct pm_debug *debug);

/* Innermost inlined code that both are in; PM_NONE if that is the routine itself. */
uint32_t pm_inline_common(const struct pm_debug *debug, uint32_t left, uint32_t right);
/* Name of a callee for people; owned by DEBUG. */
const char *pm_callee_name(struct pm_debug *debug, uint32_t callee);

#endif
