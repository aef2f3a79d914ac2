/* The instruction mix as rows: what the three writers of `pmodel loops --mix` have in common;
   private to report/. */
#ifndef PM_MIX_H
#define PM_MIX_H

#include <jansson.h>
#include "core/base/base.h"
#include "report/labels/labels.h"
#include "report/report.h"

/* Operations of one class, width and element. */
struct pm_mix_item {
    uint8_t op_class, element_bytes; /* element_bytes: 0 unknown */
    uint16_t width_bits;
    uint64_t count;
};

/* Instructions without a class, of one mnemonic. */
struct pm_mix_unknown {
    const char *mnemonic; /* the structure's */
    uint64_t count;
};

struct pm_mix_row {
    struct pm_row_place place; /* nowhere: the whole */
    uint32_t block;            /* PM_NONE: no single basic block */
    char *label, *source;      /* owned */
    uint64_t address;
    uint64_t n_instructions, n_operations;
    PM_ARRAY(struct pm_mix_item, items);       /* most frequent first; counts add up to
                                                  n_operations */
    PM_ARRAY(struct pm_mix_unknown, unknowns); /* most frequent first */
};

struct pm_mix {
    PM_ARRAY(struct pm_mix_row, rows); /* by address of the routine; the last one is the whole */
};

/* ROUTINE: only routines of these names (pm_routines_named); NULL all. */
struct pm_mix *pm_mix_new(const struct pm_structure *structure, enum pm_mix_level level,
                          const char *routine);
void pm_mix_free(struct pm_mix *mix);

/* What a column of rows at LEVEL is called: "ROUTINE / LOOP". */
const char *pm_mix_level_header(enum pm_mix_level level);

/* "vfoo 3, vbar 1"; "" for none.  Owned by the caller. */
char *pm_unknowns_label(const struct pm_mix_unknown *unknowns, size_t n);
/* [{mnemonic, count}] */
json_t *pm_unknowns_json(const struct pm_mix_unknown *unknowns, size_t n);
/* All instructions without a class of a structure, most frequent first; owned by the caller. */
struct pm_mix_unknown *pm_unknowns_of(const struct pm_structure *structure, size_t *n);

#endif
