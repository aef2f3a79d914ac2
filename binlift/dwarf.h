/* What DWARF says of the instructions: source lines and inlined code.  Private to binlift/. */
#ifndef PM_DWARF_H
#define PM_DWARF_H

#include <elfutils/libdw.h>

#include "binlift/lifted.h"

struct pm_inline {   /* one DW_TAG_inlined_subroutine: a callee at one call site */
    uint32_t parent; /* the inlined code that it is called from, smaller; PM_NONE: the routine */
    uint32_t depth;  /* 1 = called from the routine itself */
    char *name;      /* of the callee, for people */
    uint32_t file, line; /* where the callee is declared: index in files, PM_NONE; 0 */
    uint32_t call_line;  /* 0 unknown */
};

struct pm_declaration { /* of a routine; file PM_NONE: not known */
    uint32_t file, line;
};

struct pm_debug {
    bool has_lines;
    PM_ARRAY(char *, files);
    PM_ARRAY(struct pm_inline, inlines);
    uint32_t *insn_file;   /* n_insns: index in files, PM_NONE unknown */
    uint32_t *insn_line;   /* n_insns: 0 unknown */
    uint32_t *insn_inline; /* n_insns: innermost inlined code, PM_NONE: the routine's own */
    struct pm_declaration *declarations; /* n_routines */

    uint32_t *file_slots; /* hash table of files: index + 1 */
    size_t n_file_slots;
};

/* Reads DWARF 4 or 5 of the lifted file, or of its separate debug file where the machine has it.
   Always gives a result; everything in it is unknown where there is no DWARF.  Freed by
   pm_debug_free. */
struct pm_debug *pm_debug_read(const struct pm_lifted *lifted);
void pm_debug_free(struct pm_debug *debug);

/* Innermost inlined code that both are in; PM_NONE if that is the routine itself. */
uint32_t pm_inline_common(const struct pm_debug *debug, uint32_t left, uint32_t right);

/* ---- parts of pm_debug_read ---------------------------------------------------------------------
 */

/* Number of PATH among the files; PM_NONE for NULL. */
uint32_t pm_debug_file(struct pm_debug *debug, const char *path);
void pm_debug_add_lines(const struct pm_lifted *lifted, struct pm_debug *debug, Dwarf_Die *unit);
void pm_debug_add_inlines(const struct pm_lifted *lifted, struct pm_debug *debug, Dwarf_Die *unit);

#endif
