/* What one unit of DWARF says, before it is put together with the others.  Private to
   binlift/dwarf/. */
#ifndef PM_DWARF_UNIT_H
#define PM_DWARF_UNIT_H

#include "binlift/dwarf/debug_file.h"
#include "binlift/dwarf/dwarf.h"
#include "binlift/lifted.h"

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
    struct pm_map map;
};
uint32_t pm_pointer_number(struct pm_pointers *pointers, const void *pointer, bool *is_new);

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

/* Parts of pm_read_unit: line_tables.c, inlines.c. */
void pm_read_unit_lines(struct pm_unit_reader *reader, Dwarf_Die *unit);
void pm_read_unit_entries(struct pm_unit_reader *reader, Dwarf_Die *unit);

/* files_and_callees.c: numbers for paths and callees. */
uint32_t pm_debug_file(struct pm_debug *debug, const char *path); /* PM_NONE for NULL */
/* Takes over the names of MADE if it was not known; *IS_NEW tells. */
uint32_t pm_debug_callee(struct pm_debug *debug, struct pm_unit_callee *made, bool *is_new);

#endif
