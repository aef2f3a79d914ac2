/* What DWARF says of the instructions: source lines and inlined code.  Private to binlift/. */
#ifndef PM_DWARF_H
#define PM_DWARF_H

#include "binlift/dwarf_unit.h"
#include "binlift/lifted.h"

struct pm_callee {                         /* a routine that is inlined somewhere */
    const char *linkage_name, *plain_name; /* in the debug file; NULL: not said */
    char *name;                            /* for people, made when first asked for */
    uint32_t file, line;                   /* where it is declared: index in files, PM_NONE; 0 */
};

struct pm_inline {   /* one DW_TAG_inlined_subroutine: a callee at one call site */
    uint32_t parent; /* the inlined code that it is called from, smaller; PM_NONE: the routine */
    uint32_t depth;  /* 1 = called from the routine itself */
    uint32_t callee;
    uint32_t call_file, call_line; /* index in files, PM_NONE; 0 unknown */
};

struct pm_declaration { /* of a routine; file PM_NONE, name NULL: not known */
    uint32_t file, line;
    const char *name; /* as in the source; in the debug file */
};

struct pm_debug {
    bool has_lines;
    PM_ARRAY(char *, files);
    PM_ARRAY(struct pm_callee, callees);
    PM_ARRAY(struct pm_inline, inlines);
    uint32_t *insn_file;   /* n_insns: index in files, PM_NONE unknown */
    uint32_t *insn_line;   /* n_insns: 0 unknown */
    uint32_t *insn_inline; /* n_insns: innermost inlined code, PM_NONE: the routine's own */
    struct pm_declaration *declarations; /* n_routines */

    struct pm_dwarf *dwarf;
    uint32_t *file_slots; /* hash table of files: index + 1 */
    size_t n_file_slots;
    uint32_t *callee_slots; /* hash table of callees: index + 1 */
    size_t n_callee_slots;
    struct pm_dwarf_reference *callee_entries; /* beside callees */
    size_t cap_callee_entries;
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

/* ---- parts of pm_debug_read ---------------------------------------------------------------------
 */

/* What one unit says, before it is put together with the others. */
struct pm_unit_inline {
    uint32_t parent; /* in this list; PM_NONE */
    struct pm_dwarf_reference origin;
    uint32_t call_file, call_line;
    uint32_t first_range, n_ranges;
};
struct pm_unit_routine {
    uint64_t address;
    struct pm_dwarf_reference entry;
};
struct pm_unit_facts {
    struct pm_line_spans lines;
    const struct pm_dwarf_unit *entries;      /* whose entries and files these are: the split one */
    PM_ARRAY(struct pm_unit_inline, inlines); /* outer ones first */
    PM_ARRAY(struct pm_address_range, ranges);
    PM_ARRAY(struct pm_unit_routine, routines);
};

/* Reads the entries of facts->entries that have code between LOW and HIGH (dwarf_inlines.c). */
void pm_read_unit_entries(uint64_t low, uint64_t high, struct pm_unit_facts *facts);

/* dwarf_names.c: numbers for paths, units' files, and callees. */
uint32_t pm_debug_file(struct pm_debug *debug, const char *path); /* PM_NONE for NULL */
/* Number of file FILE of UNIT's line table. */
uint32_t pm_debug_unit_file(struct pm_debug *debug, const struct pm_dwarf_unit *unit,
                            uint32_t file);
uint32_t pm_debug_callee(struct pm_debug *debug, struct pm_dwarf_reference origin);
/* Where the entry, or what it goes back to, is declared. */
struct pm_callee pm_debug_describe(struct pm_debug *debug, struct pm_dwarf_reference entry);

#endif
