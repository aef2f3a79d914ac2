/* `pmodel show`: what its files have in common; private to the folder. */
#ifndef PM_CMD_EXPORT_PRIVATE_H
#define PM_CMD_EXPORT_PRIVATE_H

#include "ask/ask.h"
#include "cmd/cmd.h"
#include "cmd/options.h"

struct pm_export_request {
    const char *store_path, *output; /* output: NULL standard output */
    struct pm_parameters at;         /* which runs; n == 0: all */
    struct pm_block_sizes blocks;    /* none: all */
    const char *routines, *groups;   /* NULL all */
    enum pm_report_format format;
    bool histograms, carried, strides, intervals, threads, shared;
    /* Predictions for other tools. */
    bool callgrind, folded, extrap;
    struct pm_machine_list on;
    struct pm_predict_options predict;
    struct pm_selection_words selection;
    const char *of; /* of folded stacks: which figure; NULL: cycles */
};

/* Callgrind, folded stacks and Extra-P's lines (predictions.c). */
bool pm_export_predictions_to(FILE *out, const struct pm_export_request *request,
                              struct pm_error *err);

#endif
