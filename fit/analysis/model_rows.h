/* Models as rows, for `pmodel fit`: iterations of loops, and models that are flagged. */
#ifndef PM_MODEL_ROWS_H
#define PM_MODEL_ROWS_H

#include <stdio.h>

#include "core/base/base.h"
#include "core/model.h"
#include "fit/analysis/rows.h"

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
    struct pm_row_place place; /* the loop or routine that it belongs to */
    uint32_t index;            /* of the edge or group; PM_NONE for iterations */
    uint32_t bin;              /* PM_NONE if it is not about a bin */
    uint64_t block_bytes;      /* 0 if it is not about a histogram */
    bool per_execution;        /* accesses: of blocks, for each access */
    char *formula;             /* owned; NULL: not known, the routine has no counters */
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

#endif
