/* Units of DWARF 2 to 5, their abbreviations, and entries (DIEs) with the attributes that the
   lifter uses.  Reading is by many threads at a time: once pm_dwarf_open has returned, nothing here
   changes.  Private to binlift/. */
#ifndef PM_DWARF_UNIT_H
#define PM_DWARF_UNIT_H

#include "binlift/debug_file.h"

#define PM_DWARF_NONE UINT64_MAX

/* ---- bytes: a reader that stays at the end once it has run over it ------------------------------
 */

struct pm_cursor {
    const uint8_t *at, *end;
    bool failed;
};

struct pm_cursor pm_cursor_at(struct pm_span span, uint64_t offset); /* failed: beyond it */
uint64_t pm_take(struct pm_cursor *cursor, unsigned n_bytes);        /* little-endian, at most 8 */
uint64_t pm_take_uleb(struct pm_cursor *cursor);
int64_t pm_take_sleb(struct pm_cursor *cursor);
const char *pm_take_string(struct pm_cursor *cursor); /* NULL: does not end */
void pm_skip(struct pm_cursor *cursor, uint64_t n_bytes);
/* The string at OFFSET of SPAN; NULL: none, or it does not end. */
const char *pm_string_at(struct pm_span span, uint64_t offset);

/* ---- units ---------------------------------------------------------------------------------- */

enum { PM_DWARF_VARIES = 0xff };

struct pm_abbreviation_attribute {
    uint16_t name, form;
    uint8_t n_bytes;  /* PM_DWARF_VARIES: not fixed by the form */
    int64_t constant; /* of DW_FORM_implicit_const */
};

struct pm_abbreviation {
    uint16_t tag; /* 0: no such code */
    bool has_children;
    uint32_t first_attribute, n_attributes;
    uint32_t fixed_bytes; /* of all attributes; UINT32_MAX: they vary */
};

/* How the fields of one unit, or of one line table, are to be read. */
struct pm_dwarf_encoding {
    const struct pm_span *sections;
    uint16_t version;
    uint8_t address_bytes, offset_bytes;
};

struct pm_dwarf_unit {
    struct pm_dwarf_encoding encoding;
    struct pm_dwarf_set *set;
    struct pm_span sections[PM_N_DWARF_SECTIONS];    /* of its file, or of its share of a package */
    uint64_t offset, first_entry, end;               /* in .debug_info */
    PM_ARRAY(struct pm_abbreviation, abbreviations); /* by code */
    PM_ARRAY(struct pm_abbreviation_attribute, attributes);
    uint64_t low_pc, address_base, string_offsets_base, range_lists_base;
    uint64_t ranges_base; /* of what is split from this unit, DWARF 4 */
    uint64_t lines;       /* offset in .debug_line, PM_DWARF_NONE */
    uint64_t split_id;
    const char *folder, *split_name;
    bool has_code; /* may have routines: neither a type unit nor a shared part */
    bool is_split;
    struct pm_dwarf_unit *split; /* with this unit's entries, in another file */
    struct pm_dwarf_unit *skeleton;

    bool has_files; /* pm_dwarf_unit_files was here */
    PM_ARRAY(uint32_t, files);
};

/* The units of one file, ascending by offset. */
struct pm_dwarf_set {
    struct pm_debug_file *file;
    struct pm_dwarf_set *supplementary;
    PM_ARRAY(struct pm_dwarf_unit *, units);
};

struct pm_dwarf {
    PM_ARRAY(struct pm_dwarf_set *, sets); /* the first is of the program's own debug file */
};

/* Reads the headers of all units of FILE, which it takes over, and of the files that it refers to.
   PROGRAM is the lifted file's path. */
struct pm_dwarf *pm_dwarf_open(struct pm_debug_file *file, const char *program);
void pm_dwarf_close(struct pm_dwarf *dwarf);

/* Parts of pm_dwarf_open: dwarf_split.c finds the entries of skeleton units elsewhere. */
void pm_dwarf_find_splits(struct pm_dwarf *dwarf, const char *program);
struct pm_dwarf_set *pm_dwarf_add_set(struct pm_dwarf *dwarf, struct pm_debug_file *file);
/* Reads the units in SECTIONS from offset BEGIN to END of .debug_info into SET. */
void pm_dwarf_add_units(struct pm_dwarf_set *set, const struct pm_span *sections, uint64_t begin,
                        uint64_t end, const struct pm_dwarf_unit *skeleton);

/* ---- entries -------------------------------------------------------------------------------- */

struct pm_dwarf_reference {
    const struct pm_dwarf_unit *unit; /* NULL: none */
    uint64_t offset;                  /* in its .debug_info */
};

struct pm_entry {
    uint16_t tag; /* 0: end of siblings, or damage */
    bool has_children;
    uint64_t offset, next;    /* next: its first child, or what follows */
    uint64_t sibling;         /* 0 not given */
    uint64_t low_pc, high_pc; /* low_pc PM_DWARF_NONE: none */
    uint64_t ranges;          /* offset in .debug_ranges or .debug_rnglists, PM_DWARF_NONE */
    struct pm_dwarf_reference origin; /* abstract origin or specification */
    const char *name, *linkage_name;
    uint32_t file, line;           /* where it is declared; 0 not said (file: UINT32_MAX) */
    uint32_t call_file, call_line; /* the same of a call site */
};

/* The entry at OFFSET; attributes are read only if WANTED says so of its tag (else only `sibling`),
   so that the rest is passed over fast. */
struct pm_entry pm_read_entry(const struct pm_dwarf_unit *unit, uint64_t offset,
                              bool (*wanted)(uint16_t tag));

struct pm_dwarf_value {
    uint64_t number;
    const char *string;
    bool is_address, is_constant;
    struct pm_dwarf_reference reference;
};
/* One attribute's value.  UNIT may be NULL where the form refers to no other unit (line tables). */
struct pm_dwarf_value pm_take_value(const struct pm_dwarf_encoding *encoding,
                                    const struct pm_dwarf_unit *unit, struct pm_cursor *cursor,
                                    uint16_t form, int64_t constant);

/* ---- ranges of addresses -------------------------------------------------------------------- */

struct pm_address_range {
    uint64_t low, high;
};
struct pm_address_ranges {
    PM_ARRAY(struct pm_address_range, ranges);
};
/* Empties *RANGES and fills it with those of ENTRY (dwarf_ranges.c). */
void pm_entry_ranges(const struct pm_dwarf_unit *unit, const struct pm_entry *entry,
                     struct pm_address_ranges *ranges);
/* Word INDEX of the unit's address table; PM_DWARF_NONE: not there. */
uint64_t pm_dwarf_address(const struct pm_dwarf_unit *unit, uint64_t index);

/* ---- line tables (dwarf_lines.c) ---------------------------------------------------------------
 */

struct pm_line_span { /* from one row to the next */
    uint64_t low, high;
    uint32_t file, line; /* file as numbered in the table */
};
struct pm_line_spans {
    PM_ARRAY(struct pm_line_span, spans);
};
/* Appends the rows of UNIT's table whose sequences lie between LOW and HIGH. */
void pm_read_line_spans(const struct pm_dwarf_unit *unit, uint64_t low, uint64_t high,
                        struct pm_line_spans *spans);
/* Calls ADD with the path of every file of UNIT's table, in the order of their numbers (from 0);
   NULL for number 0 where the version has none. */
void pm_each_line_file(const struct pm_dwarf_unit *unit, void (*add)(void *context, char *path),
                       void *context);

#endif
