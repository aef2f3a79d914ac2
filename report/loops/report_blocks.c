/* `pmodel loops --blocks`: basic blocks with the cycles that they take, measured and predicted.

   JSON: {"format": "pmodel-blocks", "version": 1, "machine", "ran", "disturbed", "refused": {name
   of the reason: rows}, "blocks": [a row for each block and form]}. */
#include <math.h>
#include <stdlib.h>

#include "core/prediction.h"
#include "machines/probe/loop_runner/loop_runner.h"
#include "report/report.h"
#include "report/writers/writers.h"

#define ROW(member_) PM_MEMBER(struct pm_block_row, member_)

static char *hexadecimal(const uint8_t *bytes, size_t n) {
    char *text = pm_strdup("");
    for (size_t i = 0; i < n; i++)
        pm_append(&text, "%02x", bytes[i]);
    return text;
}

PM_GETTER(bytes_value, struct pm_block_row, pm_owned_text(hexadecimal(row->bytes, row->n_bytes)))
PM_GETTER(form_value, struct pm_block_row, pm_text(row->is_in_loop ? "loop" : "unrolled"))
PM_GETTER(result_value, struct pm_block_row,
          row->was_run ? pm_text(pm_loop_refusal_name(row->why)) : pm_unknown())
PM_GETTER(words_cell, struct pm_block_row,
          pm_text(row->was_run ? pm_loop_refusal_words(row->why) : ""))
PM_GETTER(hold_value, struct pm_block_row,
          isnan(row->predicted) ? pm_unknown() : pm_text(pm_cause_name(row->hold)))
PM_GETTER(cycles_cell, struct pm_block_row,
          isnan(row->cycles.estimate)
              ? pm_text("")
              : pm_owned_text(pm_sprintf("%.2f%s", row->cycles.estimate,
                                         row->is_disturbed ? " (disturbed)" : "")))
PM_GETTER(predicted_cell, struct pm_block_row,
          isnan(row->predicted) ? pm_text("") : pm_owned_text(pm_sprintf("%.2f", row->predicted)))

static const struct pm_field fields[] = {
    {"line", PM_POSITIVE, ROW(line), .header = "LINE"},
    {"block", PM_NAME, .get = bytes_value, .header = "BLOCK"},
    {"form", PM_TEXT, .get = form_value, .header = "FORM"},
    {"result", PM_TEXT, .get = result_value},
    {"cycles", PM_NUMBER, ROW(cycles.estimate), .header = "CYCLES", .cell = cycles_cell},
    {"cycles_low", PM_NUMBER, ROW(cycles.low)},
    {"cycles_high", PM_NUMBER, ROW(cycles.high)},
    {"disturbed", PM_YES_NO, ROW(is_disturbed)},
    {"instructions", PM_POSITIVE, ROW(n_instructions)},
    {"pages", PM_INTEGER, ROW(pages)},
    {"predicted", PM_NUMBER, ROW(predicted), .header = "PREDICTED", .cell = predicted_cell},
    {"bound", PM_TEXT, .get = hold_value, .header = "BOUND BY"},
    {"why_not", PM_TEXT, .get = words_cell, .not_in_json = true, .header = "NOT RUN"},
};

struct counts {
    size_t run, disturbed, predicted, refused[PM_LOOP_N_REFUSALS];
};

static struct counts count(const struct pm_block_row *rows, size_t n) {
    struct counts counts = {0};
    for (size_t i = 0; i < n; i++) {
        counts.run += rows[i].was_run;
        counts.disturbed += rows[i].is_disturbed;
        counts.predicted += !isnan(rows[i].predicted);
        counts.refused[rows[i].why] += rows[i].was_run;
    }
    return counts;
}

static void write_table(FILE *out, const struct pm_block_row *rows, size_t n,
                        const struct pm_machine *machine, const struct counts *counts,
                        const struct pm_report_options *options) {
    const char *names = counts->run && machine ? "line block form cycles predicted bound why_not"
                        : counts->run          ? "line block form cycles why_not"
                                               : "line block form predicted bound";
    struct pm_fields columns = pm_fields_named(PM_FIELDS(fields), names);
    pm_fields_table(out, columns, rows, n, sizeof *rows, options);
    free(columns.fields);
    char *line = pm_sprintf("blocks: %zu, each unrolled and in a loop", n / 2);
    if (counts->run)
        pm_append(&line, "; run: %zu, disturbed: %zu", counts->refused[PM_LOOP_RAN],
                  counts->disturbed);
    for (unsigned why = PM_LOOP_RAN + 1; why < PM_LOOP_N_REFUSALS; why++)
        if (counts->refused[why])
            pm_append(&line, "; %s: %zu", pm_loop_refusal_words(why), counts->refused[why]);
    if (machine)
        pm_append(&line, "; predicted for %s: %zu", machine->title, counts->predicted);
    pm_print_line(out, options, "%s", line);
    free(line);
}

static void write_json(FILE *out, const struct pm_block_row *rows, size_t n,
                       const struct pm_machine *machine, const struct counts *counts) {
    json_t *document = pm_json_document("blocks"), *refused = json_object();
    for (unsigned why = PM_LOOP_RAN + 1; why < PM_LOOP_N_REFUSALS; why++)
        json_object_set_new(refused, pm_loop_refusal_name(why),
                            pm_json_integer(counts->refused[why]));
    json_object_set_new(document, "machine", machine ? json_string(machine->title) : json_null());
    json_object_set_new(document, "ran", pm_json_integer(counts->refused[PM_LOOP_RAN]));
    json_object_set_new(document, "disturbed", pm_json_integer(counts->disturbed));
    json_object_set_new(document, "refused", refused);
    json_object_set_new(document, "blocks",
                        pm_fields_array(PM_FIELDS(fields), rows, n, sizeof *rows));
    pm_json_print(out, document);
}

void pm_report_blocks(FILE *out, const struct pm_block_row *rows, size_t n,
                      const struct pm_machine *machine, const struct pm_report_options *options) {
    struct counts counts = count(rows, n);
    if (options->format == PM_REPORT_JSON)
        write_json(out, rows, n, machine, &counts);
    else if (options->format == PM_REPORT_CSV)
        pm_fields_csv(out, PM_FIELDS(fields),
                      "line block form result cycles cycles_low cycles_high disturbed instructions "
                      "pages predicted "
                      "bound",
                      rows, n, sizeof *rows);
    else
        write_table(out, rows, n, machine, &counts, options);
}
