/* What DWARF says of the instructions: source lines and inlined code.  Private to binlift/. */
#ifndef PM_DWARF_H
#define PM_DWARF_H

#include "binlift/debug_file.h"
#include "binlift/lifted.h"

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

    uint32_t *file_slots; /* hash table of files: index + 1 */
    size_t n_file_slots;
    uint32_t *callee_slots; /* hash table of callees: index + 1 */
    size_t n_callee_slots;
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

/* ---- parts of pm_debug_read ------------------------------------------------------------------ */

/* What one unit says, before it is put together with the others.  Files are indexes in its own
   list, PM_NONE; nothing points into what libdw keeps. */
struct pm_line_span { /* from one row of the line table to the next */
    uint64_t low, high;
    uint32_t file, line;
};
struct pm_address_range {
    uint64_t low, high;
};
struct pm_unit_callee {
    struct pm_entry_key key;
    char *linkage_name, *plain_name;
    uint32_t file, line;
};
struct pm_unit_inline {
    uint32_t parent; /* in this list; PM_NONE */
    uint32_t callee;
    uint32_t call_file, call_line;
    uint32_t first_range, n_ranges;
};
struct pm_unit_routine {
    uint64_t address;
    char *name;
    uint32_t file, line;
};
struct pm_unit_facts {
    PM_ARRAY(char *, files);
    PM_ARRAY(struct pm_line_span, spans);
    PM_ARRAY(struct pm_unit_callee, callees);
    PM_ARRAY(struct pm_unit_inline, inlines); /* outer ones first */
    PM_ARRAY(struct pm_address_range, ranges);
    PM_ARRAY(struct pm_unit_routine, routines);
    char *missing_split; /* its entries are in this file, which is not there */
    uint64_t n_rows;     /* that libdw now keeps in memory */
};

/* Numbers pointers in the order in which they come. */
struct pm_pointers {
    PM_ARRAY(const void *, pointers);
    uint32_t *slots; /* hash table: index + 1 */
    size_t n_slots;
};
uint32_t pm_pointer_number(struct pm_pointers *pointers, const void *pointer, bool *is_new);
void pm_pointers_release(struct pm_pointers *pointers);

struct pm_unit_reader {
    Dwarf *dwarf;
    uint64_t number;    /* the unit's, for keys */
    uint64_t low, high; /* only code in here counts */
    struct pm_unit_facts *facts;
    struct pm_pointers files, callees; /* of libdw: paths, entries */
};
/* The index in facts->files of a path that libdw gave for UNIT's line table; PM_NONE for NULL. */
uint32_t pm_unit_file(struct pm_unit_reader *reader, Dwarf_CU *unit, const char *path);

/* Reads the unit whose entry is at OFFSET of .debug_info into FACTS, which is empty. */
void pm_read_unit(Dwarf *dwarf, uint64_t number, uint64_t offset, uint64_t low, uint64_t high,
                  struct pm_unit_facts *facts);
void pm_unit_facts_release(struct pm_unit_facts *facts);

/* Parts of pm_read_unit: dwarf_lines.c, dwarf_inlines.c. */
void pm_read_unit_lines(struct pm_unit_reader *reader, Dwarf_Die *unit);
void pm_read_unit_entries(struct pm_unit_reader *reader, Dwarf_Die *unit);

/* dwarf_names.c: numbers for paths and callees. */
uint32_t pm_debug_file(struct pm_debug *debug, const char *path); /* PM_NONE for NULL */
/* Takes over the names of MADE if it was not known; *IS_NEW tells. */
uint32_t pm_debug_callee(struct pm_debug *debug, struct pm_unit_callee *made, bool *is_new);

#endif
