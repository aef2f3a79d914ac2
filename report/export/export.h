/* Measured histograms for other programs (`pmodel show --as histograms`), one after the other, so
   that none but the present one is in memory; or those of reuse patterns (`pmodel show
   --carried`). */
#ifndef PM_EXPORT_H
#define PM_EXPORT_H

#include <stdio.h>

#include "core/histogram.h"
#include "core/intervals/intervals.h"
#include "core/parameters.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/streams.h"
#include "core/structure/structure.h"
#include "report/options.h"
#include "core/reuse_patterns.h"

/* A run whose histograms follow. */
struct pm_export_run {
    const struct pm_parameters *parameters;
    uint32_t n_threads, n_processes;
    const char *notes; /* sentences, one a line; NULL none */
    /* Of runs in which not all blocks were watched; their streams are indices in STREAMS. */
    const struct pm_stream_estimate *estimates;
    size_t n_estimates;
    const struct pm_stream *streams;
    size_t n_streams;
};

struct pm_export_histogram {
    uint32_t group;
    const struct pm_stream *stream; /* NULL: all threads of all processes, added up */
    const struct pm_histogram *histogram;
    const struct pm_reuse_pattern *pattern; /* whose histogram it is; NULL: of the whole group */
};

/* CARRIED: all that is added are patterns.  FORMAT is JSON or CSV; OUT and STRUCTURE stay the
 * caller's and must outlive the export. */
struct pm_export *pm_export_new(FILE *out, const struct pm_structure *structure,
                                enum pm_report_format format, bool carried);
void pm_export_begin_run(struct pm_export *export, const struct pm_export_run *run);
void pm_export_add(struct pm_export *export, const struct pm_export_histogram *item);
void pm_export_end_run(struct pm_export *export);
void pm_export_end(struct pm_export *export); /* ends the document and frees EXPORT */

/* Intervals of runs, one run after the other, between a begin and an end (export_intervals.c).
   IS_FIRST: no run came before. */
void pm_export_intervals_begin(FILE *out, enum pm_report_format format);
void pm_export_intervals(FILE *out, const struct pm_structure *structure,
                         const struct pm_parameters *at, const struct pm_intervals *intervals,
                         bool is_first, enum pm_report_format format);
void pm_export_intervals_end(FILE *out, enum pm_report_format format);

/* The strides (core/strides/strides.h) of the references of the groups that are CHOSEN (n_groups
   flags), for each of N runs (export_strides.c). */
void pm_export_strides(FILE *out, const struct pm_structure *structure,
                       struct pm_profile *const *profiles, size_t n, const bool *chosen,
                       enum pm_report_format format);

/* ---- predictions (export_predictions.c) -------------------------------------------------------
 */

/* A profile as callgrind writes it, for callgrind_annotate and KCachegrind: cycles, instructions
   and misses of every row of a report. */
void pm_export_callgrind(FILE *out, const struct pm_structure *structure,
                         const struct pm_prediction *prediction);
/* Folded stacks, a line for each row, for flame graphs.  The first frame says what the numbers are:
   FIGURE is called as callgrind's events are.  Error: there is no such. */
bool pm_export_folded(FILE *out, const struct pm_structure *structure,
                      const struct pm_prediction *prediction, const char *figure,
                      struct pm_error *err);
/* Lines of JSON for Extra-P, a line for each row and quantity; PREDICTION is of a run's counts. */
void pm_export_extrap(FILE *out, const struct pm_structure *structure,
                      const struct pm_prediction *prediction);

/* ---- between the files of this part ---------------------------------------------------------- */

struct pm_export {
    FILE *out;
    const struct pm_structure *structure;
    enum pm_report_format format;
    bool carried;
    char *size;                  /* of the present run, "N=64" */
    size_t n_runs, n_histograms; /* runs begun; histograms of the present one */
};

/* "thread", "shared" or "sum". */
const char *pm_export_stream_word(const struct pm_stream *stream);

void pm_export_json_begin(struct pm_export *export);
void pm_export_json_begin_run(struct pm_export *export, const struct pm_export_run *run);
void pm_export_json_add(struct pm_export *export, const struct pm_export_histogram *item);
void pm_export_json_end_run(struct pm_export *export);
void pm_export_json_end(struct pm_export *export);
void pm_export_csv_begin(struct pm_export *export);
void pm_export_csv_add(struct pm_export *export, const struct pm_export_histogram *item);

#endif
