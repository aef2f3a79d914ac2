/* `pmodel diff`: two builds of a program side by side. */
#ifndef PM_REPORT_DIFF_H
#define PM_REPORT_DIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "measure/matching/matching.h"
#include "core/machine/machine.h"
#include "core/prediction.h"
#include "core/structure/structure.h"
#include "report/options.h"

/* ---- two stores at a size on a machine (report_diff.c) --------------------------------------- */

struct pm_diff_side {
    const char *name; /* of the store */
    const struct pm_structure *structure;
    const struct pm_prediction *prediction;
};

struct pm_diff_report {
    struct pm_diff_side before, after;
    const struct pm_scope_pairs *pairs; /* of the scopes that rows are named after */
    bool time, misses, counts, causes;  /* what a table and CSV show */
};

/* A row a loop or routine's own code, by what changed most: time; if that is not shown, cycles of
   misses, else instructions.  Changes of rows add up to those of the whole; what only one of them
   has counts whole. */
void pm_report_diff(FILE *out, const struct pm_diff_report *report,
                    const struct pm_report_options *options);

/* ---- two programs without runs (report_code.c) ----------------------------------------------- */

/* A loop as the compiler made it. */
struct pm_emitted_loop {
    bool is_there;
    uint32_t vector_bits; /* the widest operation on vectors; 0: none */
    uint32_t unroll;      /* 1: not known to be unrolled */
    uint32_t n_instructions, n_spill_loads, n_spill_stores; /* of its own code */
    double cycles; /* of an iteration of its hottest path if nothing misses; NAN: no machine, or no
                      such path */
    double bounds[PM_CAUSE_WINDOW + 1];
    uint8_t hold;        /* enum pm_cause */
    bool is_lower_bound; /* some of its operations have no cost */
};

struct pm_code_diff_row {
    const struct pm_structure *structure; /* that SCOPE is of: after's if the loop is there */
    uint32_t scope;
    const char *paired_by; /* NULL: only one has it */
    struct pm_emitted_loop before, after;
    double weight;
};

struct pm_code_diff {
    const char *before_name, *after_name;
    const struct pm_structure *before, *after;
    const struct pm_machine *machine;        /* NULL: none was named */
    PM_ARRAY(struct pm_code_diff_row, rows); /* by what changed most; owned */
};

/* What the own code of the loop SCOPE is, without its cycles. */
struct pm_emitted_loop pm_emitted_loop_of(const struct pm_structure *structure, uint32_t scope);

/* A table has the rows in which something changed; with --wide, and in JSON and CSV, all. */
void pm_report_code_diff(FILE *out, const struct pm_code_diff *report,
                         const struct pm_report_options *options);

#endif
