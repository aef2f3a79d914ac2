/* Shared by the files of core/machine/.  Order: fields.c says what can stand in a machine file,
   machine_values.c what a value means; machine_file.c reads a file and hands each section to
   sections.c, which makes it part of the machine; settings.c changes single figures;
   check_machine.c tests the whole.
 */
#ifndef PM_MACHINE_PRIVATE_H
#define PM_MACHINE_PRIVATE_H

#include <confuse.h>
#include <stdarg.h>
#include <stdbool.h>

#include "core/machine/machine.h"

/* ---- fields.c -------------------------------------------------------------------------------- */

enum pm_machine_field_type {
    PM_FIELD_REAL,  /* double */
    PM_FIELD_WHOLE, /* uint32_t */
    PM_FIELD_WIDE,  /* uint64_t */
    PM_FIELD_BYTES, /* uint64_t, may end in KiB */
    PM_FIELD_BOOL,
    PM_FIELD_WORD, /* an enumerator */
    PM_FIELD_TEXT, /* char *; not a figure */
    PM_FIELD_LIST, /* of names; kept by sections.c */
};

/* What may stand before `=` in a section. */
struct pm_machine_field {
    const char *name;
    enum pm_machine_field_type type;
    size_t offset; /* in the section's struct */
    const char *unit;
    double low, high;
    bool power_of_two, required;
    bool is_key;  /* of a cost: says which operations the row is for, so no figure of its own */
    double scale; /* what is kept is the file's number times this; 0: 1 */
    const char *const *words; /* by enumerator, then NULL */
};

struct pm_machine_section {
    const char *name; /* "cache"; "root": outside sections */
    const struct pm_machine_field *fields;
    size_t n_fields;
    size_t trust_offset;
};

enum pm_machine_section_kind {
    PM_SECTION_ROOT,
    PM_SECTION_UNIT,
    PM_SECTION_COST,
    PM_SECTION_BYPASS,
    PM_SECTION_FOREIGN,
    PM_SECTION_CACHE,
    PM_SECTION_TLB,
    PM_SECTION_MEMORY,
    PM_SECTION_PREFETCHER,
    PM_SECTION_CURVE,
    PM_N_SECTIONS
};
extern const struct pm_machine_section pm_sections[PM_N_SECTIONS];

/* The section of the name; NULL. */
const struct pm_machine_section *pm_section_named(const char *name);
/* The number of field NAME of SECTION; −1. */
int pm_field_named(const struct pm_machine_section *section, const char *name);
struct pm_trust *pm_trust_of(const struct pm_machine_section *section, void *content);
/* Is it a figure or a word, which can be unverified? */
bool pm_field_is_figure(const struct pm_machine_field *field);

/* ---- machine_values.c ------------------------------------------------------------------------ */

struct pm_machine_value {
    double number;     /* a word: its enumerator */
    bool has_interval; /* "4.1 (3.9 to 4.4)" */
    double low, high;
};

/* What TEXT says; false with a sentence. */
bool pm_value_parse(const struct pm_machine_field *field, const char *text,
                    struct pm_machine_value *value, struct pm_error *err);
/* Into CONTENT, the section's struct; TEXT for a text. */
void pm_value_store(const struct pm_machine_field *field, const struct pm_machine_value *value,
                    const char *text, void *content);
double pm_value_of(const struct pm_machine_field *field,
                   const void *content); /* in the file's unit */
/* As the file has it; owned by the caller. */
char *pm_value_text(const struct pm_machine_field *field, const void *content);

/* ---- reservation_tables.c
   ----------------------------------------------------------------------------- */

/* Reads "p0 + 2*p5|p1:4@1". */
bool pm_reservation_table_parse(const struct pm_machine *machine, const char *text,
                                struct pm_reservation_table *table, struct pm_error *err);
/* The number of a unit; −1. */
int pm_unit_named(const struct pm_machine *machine, const char *name, size_t length);

/* ---- machine_file.c -------------------------------------------------------------------------- */

/* Who reads: libconfuse's callbacks carry no pointer of ours, so the reader at work stands in a
   variable of the thread. */
struct pm_machine_reader {
    struct pm_machine *machine;
    const struct pm_machine_options *options;
    const char *path;       /* of the file that is being read; the machine's */
    const char *source_tag; /* of an included file: what its `source`s are named by; NULL */
    unsigned depth;
    struct pm_error *err;
    bool failed;
};
extern _Thread_local struct pm_machine_reader *pm_machine_reading;

/* Keeps the first mistake only, with the file that is being read and LINE: what follows it is
   mostly its consequence.  −1, as libconfuse's callbacks return. */
int pm_machine_refuse(int line, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of a section that was read before. */
int pm_machine_refuse_at(const struct pm_trust *trust, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- sections.c ------------------------------------------------------------------------------ */

/* Called when libconfuse has read a section; LINE is where it ends. */
int pm_take_root(cfg_t *section, int line);
int pm_take_unit(cfg_t *section, int line);
int pm_take_cache(cfg_t *section, int line);
int pm_take_tlb(cfg_t *section, int line);
int pm_take_memory(cfg_t *section, int line);
int pm_take_prefetcher(cfg_t *section, int line);
/* machine_rows.c */
int pm_take_cost(cfg_t *section, int line);
int pm_take_bypass(cfg_t *section, int line);
int pm_take_foreign(cfg_t *section, int line);
/* curves.c */
int pm_take_curve(cfg_t *section, int line);

/* Fields, marks and source of SECTION into CONTENT; NAME is that of its figures, NULL none. */
int pm_take_section(cfg_t *section, int line, enum pm_machine_section_kind number, const char *name,
                    void *content);
/* Was what TRUST belongs to read from the file that is being read? */
bool pm_is_of_this_file(const struct pm_trust *trust);
int pm_take_class(const char *text, int line, enum pm_op_class *op_class);
int pm_take_classes(cfg_t *section, const char *list, int line, uint64_t *classes); /* bit set */
void pm_free_cost(struct pm_cost *row); /* what it owns */
/* Keeps or forgets the interval of the figure SECTION.FIELD (SECTION may be NULL). */
void pm_note_interval(struct pm_machine *machine, const char *section, const char *field,
                      const struct pm_machine_value *value);

/* ---- serves.c -------------------------------------------------------------------------------- */

/* The points of a cache's `serves` into LEVEL. */
int pm_take_serves(cfg_t *section, int line, struct pm_level *level);
/* Where LEVEL's size is another one than its response was given with, distances go with it. */
void pm_renew_serves(struct pm_level *level);

/* ---- check_machine.c ------------------------------------------------------------------------- */

/* Bit set of the units that any cost reserves. */
uint64_t pm_units_used(const struct pm_machine *machine);

/* What must hold of the whole: figures that are missing, levels in order, units without use.  Then
   sorts rows and levels. */
bool pm_machine_check(void);

/* ---- settings.c ------------------------------------------------------------------------------ */

/* Changes what SETTING ("L2.size=4MiB") names in the machine that is being read. */
bool pm_machine_set(const char *setting);

/* ---- machine_figures.c ----------------------------------------------------------------------- */

/* Calls VISIT for each section of MACHINE that has fields, in the order of a machine file; NAME is
   "" outside sections. */
typedef void pm_visit_section(void *context, const struct pm_machine_section *section,
                              const char *name, void *content);
void pm_visit_sections(struct pm_machine *machine, pm_visit_section *visit, void *context);

/* ---- lists of classes and words -------------------------------------------------------------- */

const char *
pm_elimination_word(uint32_t bit); /* the word for a bit PM_ELIMINATES_…; NULL: there is none */
/* What a list field holds, "{int_add, logical}"; owned by the caller. */
char *pm_list_text(const struct pm_machine *machine, const struct pm_machine_section *section,
                   const struct pm_machine_field *field, const void *content);

/* ---- comments.c -------------------------------------------------------------------------------
 */

/* Makes spaces of all comments of a machine file's text; its lines keep their numbers. */
void pm_machine_blank_comments(char *text);

#endif
