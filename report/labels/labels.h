/* What the reports call scopes, bounds and groups; private to report/.  Strings that functions
   return are owned by the caller (free). */
#ifndef PM_LABELS_H
#define PM_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/prediction.h"
#include "core/structure/structure.h"
#include "fit/analysis/analysis.h"
#include "report/writers/writers.h"

/* Name of the main module; "?" for a structure without modules. */
const char *pm_program_name(const struct pm_structure *structure);

/* {"format": "pmodel-NAME", "version": 1, "program"} */
json_t *pm_program_document(const char *name, const struct pm_structure *structure);

/* ---- scopes, bounds and groups --------------------------------------------------------------- */

/* "step/3 i": routine, depth and induction variable or line of a loop; "main" for a routine's own
   code.  Owned by the caller. */
char *pm_scope_label(const struct pm_structure *structure, uint32_t scope);
/* "heat.c:31", "?" if unknown.  Owned by the caller. */
char *pm_scope_source(const struct pm_structure *structure, uint32_t scope);

/* Basic blocks of LOOP at which control comes in from outside it, ascending; *N of them, owned by
   the caller. */
uint32_t *pm_loop_entries(const struct pm_structure *structure, uint32_t loop, size_t *n);
/* As pm_scope_label, without what tells vector body, remainder and irreducible loops apart: for a
   row in which several of them were added up. */
char *pm_scope_label_folded(const struct pm_structure *structure, uint32_t scope);
/* A label as it is shown, and the scope that it is of. */
struct pm_shown_label {
    char **text; /* owned by the row that it is in */
    uint32_t scope;
};
/* Appends to each of N labels that looks as another does, and has the same source line, the call
   site of its inlined code, "axpy/2 i (at fem.c:48)", or its address, "axpy/2 i (0x1c70)"
   (apart.c). */
void pm_tell_labels_apart(const struct pm_structure *structure, const struct pm_shown_label *labels,
                          size_t n);
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

/* ---- place.c: where a row is in the program -------------------------------------------------- */

/* Fields of a pm_row_place (fit/analysis/rows.h) that is a member of the rows. */
#define PM_PLACE(type, member_, get_) .offset = offsetof(type, member_), .get = pm_place_##get_

struct pm_field_value pm_place_program(const void *place);
struct pm_field_value pm_place_label(const void *place);
struct pm_field_value pm_place_label_folded(const void *place);
struct pm_field_value pm_place_source(const void *place); /* "heat.c:31" */
struct pm_field_value pm_place_name(const void *place);   /* whole, as pm_code_name */
struct pm_field_value pm_place_kind(const void *place);
struct pm_field_value pm_place_depth(const void *place);
struct pm_field_value pm_place_file(const void *place);
struct pm_field_value pm_place_line_first(const void *place);
struct pm_field_value pm_place_line_last(const void *place);
struct pm_field_value pm_place_key(const void *place);
struct pm_field_value pm_place_module(const void *place);

#endif
