/* Counts of what is executed, by scope and class, measured and as functions of the size: for
   `pmodel report --as formulas` and `pmodel validate --hierarchy`. */
#ifndef PM_COUNTS_H
#define PM_COUNTS_H

#include <stdio.h>

#include "core/base/base.h"
#include "fit/analysis/model_sum.h"
#include "fit/analysis/rows.h"
#include "fit/fit.h"

/* ---- what is counted ------------------------------------------------------------------------- */

enum pm_count_kind {
    PM_COUNT_OF_CLASS,     /* generic operations of one class */
    PM_COUNT_INSTRUCTIONS, /* native ones */
    PM_COUNT_OPERATIONS,   /* generic ones of all classes */
    PM_COUNT_ACCESSES,     /* loads and stores of recorded references */
};

struct pm_count_class {
    enum pm_count_kind kind;
    enum pm_op_class op_class; /* of PM_COUNT_OF_CLASS */
};

struct pm_count_classes {
    PM_ARRAY(struct pm_count_class, classes);
};

/* LIST: names with commas between, those of op_class.h and patterns of them, `instructions`,
   `operations`, `accesses`, `all` (every class); each is taken once.  A name that there is not is
   an error.  CLASSES is freed by the caller (free (classes->classes)). */
bool pm_count_classes_read(const char *list, struct pm_count_classes *classes,
                           struct pm_error *err);
const char *pm_count_class_name(const struct pm_count_class *class);

/* What one execution of BLOCK counts of each of CLASSES.  ELEMENTS: a vector
   operation counts as many as it has elements. */
void pm_count_block(const struct pm_structure *structure, uint32_t block,
                    const struct pm_count_classes *classes, bool elements, double *counts);

/* COUNTS[(scope · n_classes + class) · n_columns + COLUMN] += for all scopes that have rows at
   LEVEL what EXECUTIONS of basic blocks (n_blocks values) count.  LEFT_OUT: for each routine, or
   NULL. */
struct pm_counting {
    const struct pm_structure *structure;
    const struct pm_count_classes *classes;
    enum pm_mix_level level;
    bool elements;
    const bool *left_out;
    size_t n_columns;
    const double *const *executions; /* one for each column */
};
void pm_count_scopes(const struct pm_counting *counting, double *counts);

/* The scope whose row BLOCK is in: as pm_mix_scope, and folded loops in one row. */
uint32_t pm_count_scope(const struct pm_structure *structure, uint32_t block,
                        enum pm_mix_level level);

/* Root mean square of the relative differences of the N values PREDICTED and MEASURED; those of a
   MEASURED 0 are left out if PREDICTED is below a half, else infinite.  NAN if none is left. */
double pm_count_error(const double *predicted, const double *measured, size_t n);

/* `pmodel report --as formulas`: how often things are executed, as functions of the size. */
struct pm_counts_request {
    enum pm_mix_level level; /* not PM_MIX_BLOCK */
    bool edges;              /* edges of the control flow in place of scopes and classes */
    const char *classes;     /* "fp_add,fp_mult"; NULL: instructions */
    bool elements;           /* a vector operation counts as many as it has elements */
    const char *routines;    /* only these (core/structure/structure.h); NULL all */
    const bool *left_out;    /* routines that are not counted; NULL none */
    const char *interval;    /* counts for each call of these routines; NULL: of whole runs */
    bool by_count;           /* else by place */
    double least_share;      /* of the count of the class; below it rows are left out */
    size_t most_rows;        /* only so many, with the largest shares; 0: no limit */
    const struct pm_parameters *at; /* counts and shares are predicted for; NULL: as measured at
                                       the largest size */
};
/* ---- rows -------------------------------------------------------------------------------------*/

/* One class in one scope; or an edge. */
struct pm_count_row {
    const struct pm_class_counts *counts;
    struct pm_row_place place;
    uint32_t edge;                /* PM_NONE: it is not one */
    size_t class_index;           /* 0 of edges */
    const double *measured;       /* in each run */
    const struct pm_model *model; /* in pm_class_counts.set, or the store's, of edges */
    char *formula;                /* of `model`; owned */
    double count;                 /* at the size that shares are of */
    double low, high;             /* of a predicted count: 80% prediction interval; NAN unknown */
    double share;                 /* of the class's count in all rows */
    /* The sum of the models of the edges into its basic blocks; NULL, NAN for edges. */
    char *sum_formula;
    double sum_error;
};

struct pm_class_counts {
    const struct pm_structure *structure;
    const struct pm_counts_request *request;
    struct pm_count_classes classes;
    size_t n_runs;
    const struct pm_parameters *runs;
    struct pm_parameters at;  /* the size that counts and shares are of */
    bool predicted;           /* at a size that was asked for: counts are the models' */
    struct pm_model_set *set; /* of the series; NULL where rows are edges; owned */
    const struct pm_basis *basis;
    PM_ARRAY(struct pm_count_row, rows);
    size_t n_left_out;    /* rows below the threshold */
    size_t n_not_counted; /* routines without counters */
    size_t n_unmatched;   /* loops and routines that are not the same in all builds */
    double *measured;     /* owned */
    double **executions;  /* of basic blocks in each run; owned */
};

/* Of all routines that are asked for; NULL with a sentence.  PROFILES: of the runs that MODELS were
   made from, in that order.  OPTIONS: as MODELS were made.  MODELS and REQUEST must outlive the
   counts.  Errors: a class, a routine or a parameter that there is not. */
struct pm_class_counts *pm_class_counts_new(const struct pm_structure *structure,
                                            const struct pm_model_set *models,
                                            const struct pm_profile *const *profiles,
                                            const struct pm_fit_options *fit_options,
                                            const struct pm_counts_request *request,
                                            struct pm_error *err);
void pm_class_counts_free(struct pm_class_counts *counts);

#endif
