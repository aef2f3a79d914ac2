/* `pmodel show`: the runs of a store.

   JSON: {"format": "pmodel-runs", "version": 1, "runs": [{size, block_bytes, measured,
   truncated}]}; CSV: a line for each. */
#include "report/report.h"
#include "report/writers/writers.h"

static const struct pm_field fields[] = {
    {"size", PM_NAME, PM_MEMBER(struct pm_stored_run, size), .header = "SIZE"},
    {"block_bytes", PM_TEXT, PM_MEMBER(struct pm_stored_run, blocks), .header = "BLOCKS"},
    {"measured", PM_TEXT, PM_MEMBER(struct pm_stored_run, extras), .header = "BESIDE COUNTS"},
    {"truncated", PM_TEXT, PM_MEMBER(struct pm_stored_run, truncated), .header = "TRUNCATED"},
};

void pm_report_stored_runs(FILE *out, const struct pm_stored_run *runs, size_t n,
                           const struct pm_report_options *options) {
    bool any_truncated = false;
    for (size_t i = 0; i < n; i++)
        any_truncated |= runs[i].truncated != NULL;
    if (options->format == PM_REPORT_TABLE) {
        pm_fields_table(
            out,
            pm_fields_named(PM_FIELDS(fields), any_truncated ? "size block_bytes measured truncated"
                                                             : "size block_bytes measured"),
            runs, n, sizeof *runs, options);
    } else if (options->format == PM_REPORT_CSV) {
        pm_fields_csv(out, PM_FIELDS(fields), "size block_bytes measured truncated", runs, n,
                      sizeof *runs);
    } else {
        json_t *document = pm_json_document("runs");
        json_object_set_new(document, "runs",
                            pm_fields_array(PM_FIELDS(fields), runs, n, sizeof *runs));
        pm_json_print(out, document);
    }
}
