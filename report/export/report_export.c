/* Measured histograms, one after the other, as JSON or CSV; see export.h. */
#include "report/export/export.h"

#include <stdlib.h>

const char *pm_export_stream_word(const struct pm_stream *stream) {
    return !stream || stream->kind == PM_STREAM_SUM ? "sum"
           : stream->kind == PM_STREAM_SHARED       ? "shared"
                                                    : "thread";
}

struct pm_export *pm_export_new(FILE *out, const struct pm_structure *structure,
                                enum pm_report_format format, bool carried) {
    struct pm_export *export = pm_alloc(1, sizeof *export);
    export->out = out;
    export->structure = structure;
    export->format = format;
    export->carried = carried;
    if (format == PM_REPORT_CSV)
        pm_export_csv_begin(export);
    else
        pm_export_json_begin(export);
    return export;
}

void pm_export_begin_run(struct pm_export *export, const struct pm_export_run *run) {
    free(export->size);
    export->size = pm_parameters_text(run->parameters);
    export->n_histograms = 0;
    if (export->format == PM_REPORT_JSON)
        pm_export_json_begin_run(export, run);
    export->n_runs++;
}

void pm_export_add(struct pm_export *export, const struct pm_export_histogram *item) {
    if (export->format == PM_REPORT_CSV)
        pm_export_csv_add(export, item);
    else
        pm_export_json_add(export, item);
    export->n_histograms++;
}

void pm_export_end_run(struct pm_export *export) {
    if (export->format == PM_REPORT_JSON)
        pm_export_json_end_run(export);
}

void pm_export_end(struct pm_export *export) {
    if (export->format == PM_REPORT_JSON)
        pm_export_json_end(export);
    free(export->size);
    free(export);
}
