/* `pmodel loops --summary`: a line for each file.  Needs structures that were lifted for a summary;
   their statistics are all that is shown. */
#include <math.h>
#include <stdlib.h>

#include "report/report.h"
#include "report/writers/writers.h"

static struct pm_field_value covered_text(uint64_t lifted, uint64_t text) {
    return text ? pm_owned_text(pm_sprintf("%.1f", 100.0 * (double)lifted / (double)text))
                : pm_text("?");
}

PM_GETTER(first_unresolved, struct pm_summary,
          row->statistics.first_unresolved ? pm_integer(row->statistics.first_unresolved)
                                           : pm_unknown())
PM_GETTER(covered_cell, struct pm_summary, covered_text(row->lifted_bytes, row->text_bytes))
PM_GETTER(metadata_cell, struct pm_summary, pm_text(row->has_metadata ? "yes" : "no"))
PM_GETTER(lines_cell, struct pm_summary, pm_text(row->has_lines ? "yes" : "no"))

#define ROW(member_) PM_INTEGER, PM_MEMBER(struct pm_summary, member_)

static const struct pm_field fields[] = {
    {"file", PM_NAME, PM_MEMBER(struct pm_summary, path), .header = "FILE"},
    {"routines", ROW(statistics.n_routines), .header = "ROUTINES"},
    {"partial", ROW(statistics.n_partial), .header = "PARTIAL"},
    {"refused", ROW(statistics.n_refused), .header = "REFUSED"},
    {"instructions", ROW(statistics.n_instructions), .header = "INSTRS", .dispensable = 1},
    {"text_bytes", ROW(text_bytes)},
    {"lifted_bytes", ROW(lifted_bytes), .header = "TEXT %", .cell = covered_cell},
    {"loops", ROW(statistics.n_loops), .header = "LOOPS"},
    {"irreducible", ROW(statistics.n_irreducible)},
    {"indirect_jumps", ROW(statistics.n_indirect_jumps), .csv_name = "indirect",
     .header = "INDIRECT", .dispensable = 3},
    {"resolved_jumps", ROW(statistics.n_resolved_jumps), .csv_name = "resolved",
     .header = "RESOLVED", .dispensable = 3},
    {"first_unresolved", PM_HEX, .get = first_unresolved},
    {"has_metadata", PM_YES_NO, PM_MEMBER(struct pm_summary, has_metadata)},
    {"has_lines", PM_YES_NO, PM_MEMBER(struct pm_summary, has_lines)},
    {"metadata", PM_TEXT, .cell = metadata_cell, .not_in_json = true, .header = "METADATA",
     .dispensable = 2},
    {"lines", PM_TEXT, .cell = lines_cell, .not_in_json = true, .header = "LINES",
     .dispensable = 2},
};

void pm_report_summaries(FILE *out, const struct pm_summary *summaries, size_t n,
                         const struct pm_report_options *options) {
    if (options->format == PM_REPORT_TABLE) {
        struct pm_fields columns = pm_fields_named(
            PM_FIELDS(fields), "file routines partial refused instructions lifted_bytes loops "
                               "indirect_jumps resolved_jumps metadata lines");
        pm_fields_table(out, columns, summaries, n, sizeof *summaries, options);
        free(columns.fields);
    } else if (options->format == PM_REPORT_CSV) {
        pm_fields_csv(
            out, PM_FIELDS(fields),
            "file routines partial refused instructions text_bytes lifted_bytes loops "
            "irreducible indirect_jumps resolved_jumps first_unresolved has_metadata has_lines",
            summaries, n, sizeof *summaries);
    } else {
        json_t *document = pm_json_document("summary");
        json_object_set_new(document, "files",
                            pm_fields_array(PM_FIELDS(fields), summaries, n, sizeof *summaries));
        pm_json_print(out, document);
    }
}
