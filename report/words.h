/* How the reports write numbers and name things; private to report/.  Strings that functions return
   are owned by the caller (free). */
#ifndef PM_WORDS_H
#define PM_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/prediction.h"
#include "core/structure/structure.h"

/* ---- units.c: numbers as a person reads them; "?" for NAN ------------------------------------ */

enum { PM_NUMBER_TEXT_SIZE = 32 };
struct pm_number_text {
    char text[PM_NUMBER_TEXT_SIZE];
};

struct pm_number_text pm_seconds_text(double seconds); /* "1.93 s", "171 ms", "12.3 us", "40 ns" */
struct pm_number_text pm_count_text(double count);     /* "12", "1.53k", "20.1M" */
struct pm_number_text pm_rate_text(double rate);       /* "0.75", "0.002", "2e-05", "12.3" */
struct pm_number_text
pm_percent_text(double share); /* 0.89 → "89", 0.0123 → "1.2", 1e-5 → "<0.1" */
struct pm_number_text pm_bytes_text(uint64_t bytes); /* "64 bytes", "4 KiB", "2 MiB" */

/* ---- labels.c: scopes, bounds and groups in words -------------------------------------------- */

/* As pm_scope_label, without what tells vector body, remainder and irreducible loops apart: for a
   row in which several of them were added up. */
/* Basic blocks of LOOP at which control comes in from outside it, ascending; *N of them, owned by
   the caller. */
uint32_t *pm_loop_entries(const struct pm_structure *structure, uint32_t loop, size_t *n);
char *pm_scope_label_folded(const struct pm_structure *structure, uint32_t scope);
/* "vector body, unrolled 4x": what sets a loop apart; "" if nothing does. */
char *pm_scope_remarks(const struct pm_structure *structure, uint32_t scope);
const char *pm_scope_kind_word(uint8_t kind);       /* "loop" */
const char *pm_routine_state_word(uint8_t state);   /* "lifted" */
const char *pm_bound_kind_word(uint8_t bound);      /* "level", for programs */
const char *pm_level_kind_word(uint8_t level_kind); /* "cache" */

/* "L2 misses", "fp adder": what limits a scope, for people.  "-" for a scope that never ran. */
char *pm_bound_label(const struct pm_prediction *prediction, uint8_t bound, uint8_t unit,
                     uint8_t level);

const char *pm_stride_kind_word(uint8_t kind);            /* "constant" */
char *pm_stride_label(const struct pm_stride *stride);    /* "8", "8*N", "indirect", "?" */
char *pm_strides_label(const struct pm_group *group);     /* the same for all levels: "8, 8*N" */
char *pm_group_flags_label(const struct pm_group *group); /* "irregular, stack"; "" none */

/* A C++ name without result type, template arguments and parameters (short_names.c).  Owned by the
   caller. */
char *pm_short_name(const char *name);

/* Name of the module that SCOPE is in; NULL for the program's scope. */
const char *pm_scope_module(const struct pm_structure *structure, uint32_t scope);
/* Whole name of the code that SCOPE is in: the routine's, or the callee's in inlined code. */
const char *pm_code_name(const struct pm_structure *structure, uint32_t scope);

#endif
