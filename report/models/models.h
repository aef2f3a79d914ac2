/* Models as rows: what the three writers of `pmodel fit` have in common; private to report/. */
#ifndef PM_MODELS_H
#define PM_MODELS_H

#include <stdio.h>

#include "report/labels/labels.h"
#include "report/report.h"

/* A model is flagged when the sizes that it was made from, each predicted from the others, come out
   further off than this (root mean square of the relative error). */
#define PM_FLAGGED_ERROR 0.10

/* The run of MODELS at the largest size: the largest sum of parameters, each in units of its
   largest value. */
size_t pm_largest_run(const struct pm_model_set *models);

enum pm_model_target {
    PM_MODEL_OF_ITERATIONS,   /* of a loop: the sum over the edges into its header */
    PM_MODEL_OF_EDGE,         /* executions of an edge */
    PM_MODEL_OF_ACCESSES,     /* of a reference group */
    PM_MODEL_OF_COLD,         /* first touches of blocks by a reference group */
    PM_MODEL_OF_BIN_COUNT,    /* accesses in a bin of a group's histogram */
    PM_MODEL_OF_BIN_DISTANCE, /* their mean reuse distance in blocks */
};

struct pm_model_row {
    enum pm_model_target target;
    const struct pm_model_rows *rows;
    struct pm_place place; /* the loop or routine that it belongs to */
    uint32_t index;        /* of the edge or group; PM_NONE for iterations */
    uint32_t bin;          /* PM_NONE if it is not about a bin */
    uint64_t block_bytes;  /* 0 if it is not about a histogram */
    char *label, *source;  /* of the scope; owned */
    char *what;            /* "accesses of group 3 (u), blocks of 64 bytes"; owned */
    char *formula;         /* owned; NULL: not known, the routine has no counters */
    /* Of a loop's iterations: the largest of its edges. */
    double relative_error, leave_one_out_error;
    bool exact, flagged;
    double value, low, high; /* at `at`, and between which bounds; NAN: not known */
};

struct pm_model_rows {
    PM_ARRAY(struct pm_model_row, rows); /* iterations of loops, then flagged models */
    struct pm_parameters at;             /* a size beyond those measured, to show intervals at */
    double level;                        /* of the intervals */
};

struct pm_model_rows *pm_model_rows_new(const struct pm_structure *structure,
                                        const struct pm_model_set *models);
void pm_model_rows_free(struct pm_model_rows *rows);

/* What the writers need. */
struct pm_models_report {
    const struct pm_structure *structure;
    const struct pm_model_set *models;
    const struct pm_fit_statistics *statistics;
    const struct pm_model_rows *rows; /* NULL: not asked for */
};

/* As a table, JSON or CSV (models_write.c). */
void pm_write_models(FILE *out, const struct pm_models_report *report,
                     const struct pm_report_options *options);

const char *pm_model_target_word(enum pm_model_target target); /* "bin_count", for programs */

#endif
