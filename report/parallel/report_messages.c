/* Numbers and sizes of messages as formulas of the size, and at a size.

   JSON: {"format": "pmodel-messages", "version": 1, "program", "parameters", "messages": [a row
   each]}; CSV: a line for each row. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/parallel/parallel.h"

#define ROW(member_) PM_MEMBER(struct pm_message_row, member_)

PM_GETTER(role_cell, struct pm_message_row, pm_text(row->role ? row->role : "all together"))
PM_GETTER(error_cell, struct pm_message_row,
          !row->formula ? pm_unknown()
          : row->exact  ? pm_text("exact")
                        : pm_percent_value(row->relative_error))

static const struct pm_field fields[] = {
    {"role", PM_TEXT, ROW(role), .cell = role_cell, .header = "ROLE"},
    {"call", PM_NAME, ROW(call), .header = "CALL"},
    {"path", PM_TEXT, ROW(path)},
    {"operation", PM_TEXT, ROW(operation)},
    {"quantity", PM_TEXT, ROW(quantity), .header = "WHAT"},
    {"value", PM_COUNT, ROW(value), .header = "COUNT"},
    {"low", PM_COUNT, ROW(low)},
    {"high", PM_COUNT, ROW(high)},
    {"exact", PM_YES_NO, ROW(exact)},
    {"relative_error", PM_NUMBER, ROW(relative_error), .cell = error_cell, .header = "ERROR"},
    {"formula", PM_TEXT, ROW(formula), .header = "MODEL"},
};

void pm_messages_report_free(struct pm_messages_report *report) {
    for (size_t i = 0; i < report->n_rows; i++) {
        free(report->rows[i].call);
        free(report->rows[i].path);
        free(report->rows[i].formula);
    }
    free(report->rows);
    *report = (struct pm_messages_report){0};
}

static void write_json(FILE *out, const struct pm_messages_report *report,
                       const struct pm_report_options *options) {
    json_t *document = pm_program_document("messages", report->structure);
    pm_json_set_warnings(document, options);
    json_object_set_new(document, "parameters",
                        report->at ? pm_json_parameters(report->at) : json_null());
    json_object_set_new(
        document, "messages",
        pm_fields_array(PM_FIELDS(fields), report->rows, report->n_rows, sizeof *report->rows));
    pm_json_print(out, document);
}

static void write_table(FILE *out, const struct pm_messages_report *report,
                        const struct pm_report_options *options) {
    char *at = report->at ? pm_parameters_text(report->at) : pm_strdup("");
    pm_print_title(out, options, "%s%s%s: messages and bytes, of one rank of each role, and of all",
                   pm_program_name(report->structure), *at ? "  " : "", at);
    pm_fields_table(
        out,
        pm_fields_named(PM_FIELDS(fields), *at ? "role call quantity value relative_error formula"
                                               : "role call quantity relative_error formula"),
        report->rows, report->n_rows, sizeof *report->rows, options);
    free(at);
}

void pm_report_messages(FILE *out, const struct pm_messages_report *report,
                        const struct pm_report_options *options) {
    if (options->format == PM_REPORT_JSON) {
        write_json(out, report, options);
        return;
    }
    pm_print_warnings(out, options);
    if (options->format == PM_REPORT_CSV)
        pm_fields_csv(out, PM_FIELDS(fields),
                      "role call path operation quantity value low high exact relative_error "
                      "formula",
                      report->rows, report->n_rows, sizeof *report->rows);
    else
        write_table(out, report, options);
}
