/* A structure as rows: what the three writers of `pmodel loops` have in common; private to report/.
 */
#ifndef PM_LOOPS_H
#define PM_LOOPS_H

#include <jansson.h>
#include <stdio.h>

#include "report/labels/labels.h"
#include "report/loops/mix.h"
#include "report/report.h"

/* A routine, a loop, or inlined code that has loops in it. */
struct pm_loop_row {
    const struct pm_loops_report *report;
    struct pm_row_place place;
    const char *record;   /* "loop"; "group", of a line that CSV has for a group of the row */
    unsigned indent;      /* 0 routine */
    char *label, *source; /* owned */
    char *remarks;        /* "vector body, unrolled 4x"; a routine: why it is partial or refused */
    const char *trip_count;         /* NULL unknown */
    uint32_t n_blocks;              /* directly in it; a routine: all of them */
    uint32_t first_group, n_groups; /* in pm_loop_rows.groups: the groups of this very scope */
    /* Of routines only; NULL for loops. */
    const struct pm_routine *routine;
};

/* Sums over the rows' routines, and what the file as a whole has and lacks. */
struct pm_loops_totals {
    uint32_t n_routines, n_lifted, n_partial, n_refused, n_with_metadata;
    uint32_t n_loops, n_references, n_groups, n_blocks, n_edges;
    uint32_t n_counters, n_counters_formula;
    uint64_t text_bytes, lifted_bytes; /* of all modules */
    uint32_t n_nameless;               /* routines without a symbol */
    bool has_metadata, has_lines;      /* in at least one module */
};

struct pm_loop_rows {
    PM_ARRAY(struct pm_loop_row, rows);
    uint32_t *groups; /* indices of groups, by scope; owned */
    struct pm_loops_totals totals;
};

/* ROUTINE: only routines of this name (core/structure/structure.h); NULL all. */
struct pm_loop_rows *pm_loop_rows_new(const struct pm_structure *structure, const char *routine);
void pm_loop_rows_free(struct pm_loop_rows *rows);

/* What the writers need. */
struct pm_loops_report {
    const struct pm_structure *structure;
    const struct pm_lift_statistics *statistics; /* NULL: not known */
    const char *routine;                         /* NULL all */
    bool with_groups;
    struct pm_loop_rows *rows;
};

/* As a table, JSON or CSV (loops_write.c). */
void pm_write_loops(FILE *out, const struct pm_loops_report *report,
                    const struct pm_report_options *options);

/* A reference group with its object, strides, sizes and flags. */
json_t *pm_group_json(const struct pm_structure *structure, uint32_t group);

#endif
