/* `pmodel loops --time`: innermost loops with the cycles of an iteration that the loop runner found
   (machines/probe/loop_runner/), or why there are none.

   JSON: {"format": "pmodel-loop-times", "version": 1, program, "innermost", "ran", "refused": {name
   of the reason: loops}, "loops": [a loop each]}. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/report.h"
#include "report/writers/writers.h"

struct alone {
    struct pm_row_place place;
    char *label, *source; /* owned */
    uint64_t address;
    double cycles, low, high;
    uint32_t instructions, bytes, pages, unrolled;
    uint64_t hash;
    const uint8_t *code; /* `bytes` of them; NULL: not known */
    const char *result, *words;
    bool ran, disturbed;
};

#define ROW(member_) PM_MEMBER(struct alone, member_)
#define PLACE(get_) PM_PLACE(struct alone, place, get_)

static char *cycles_text(double cycles) {
    return isnan(cycles) ? pm_strdup("") : pm_sprintf("%.2f", cycles);
}

static char *hexadecimal(const uint8_t *bytes, size_t n) {
    static const char digits[] = "0123456789abcdef";
    char *text = pm_alloc(2 * n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return text;
}

PM_GETTER(cycles_cell, struct alone, pm_owned_text(cycles_text(row->cycles)))
PM_GETTER(interval_cell, struct alone,
          row->ran ? pm_owned_text(pm_sprintf("%.2f-%.2f%s", row->low, row->high,
                                              row->disturbed ? " (disturbed)" : ""))
                   : pm_text(""))
PM_GETTER(instructions_cell, struct alone,
          row->instructions ? pm_integer(row->instructions) : pm_text(""))
PM_GETTER(pages_cell, struct alone, row->ran ? pm_integer(row->pages) : pm_text(""))
PM_GETTER(hash_value, struct alone, row->instructions ? pm_integer(row->hash) : pm_unknown())
PM_GETTER(code_value, struct alone,
          row->code ? pm_owned_text(hexadecimal(row->code, row->bytes)) : pm_unknown())

static const struct pm_field fields[] = {
    {"label", PM_NAME, ROW(label), .header = "LOOP"},
    {"name", PM_TEXT, PLACE(name)},
    {"key", PM_HEX, PLACE(key)},
    {"source", PM_NAME, ROW(source), .header = "SOURCE", .dispensable = 2},
    {"address", PM_HEX, ROW(address)},
    {"result", PM_TEXT, ROW(result)},
    {"cycles", PM_NUMBER, ROW(cycles), .header = "CYCLES", .cell = cycles_cell},
    {"cycles_low", PM_NUMBER, ROW(low), .header = "80% BETWEEN", .cell = interval_cell},
    {"cycles_high", PM_NUMBER, ROW(high)},
    {"disturbed", PM_YES_NO, ROW(disturbed)},
    {"instructions", PM_POSITIVE, ROW(instructions), .header = "INSTRS", .cell = instructions_cell,
     .dispensable = 1},
    {"bytes", PM_POSITIVE, ROW(bytes)},
    {"hash", PM_HEX, .get = hash_value},
    {"code", PM_TEXT, .get = code_value},
    {"pages", PM_INTEGER, ROW(pages), .header = "PAGES", .cell = pages_cell, .dispensable = 3},
    {"unrolled", PM_INTEGER, ROW(unrolled)},
    {"why_not", PM_TEXT, ROW(words), .not_in_json = true, .header = "NOT RUN"},
};

static struct alone *make_rows(const struct pm_structure *structure,
                               const struct pm_loop_set *set) {
    struct alone *rows = pm_alloc(set->n_times + 1, sizeof *rows);
    struct pm_shown_label *labels = pm_alloc(set->n_times + 1, sizeof *labels);
    for (size_t i = 0; i < set->n_times; i++) {
        const struct pm_loop_time *time = &set->times[i];
        const struct pm_scope *scope = &structure->scopes[time->scope];
        bool ran = time->why == PM_LOOP_RAN;
        rows[i] = (struct alone){.place = {structure, time->scope},
                                 .label = pm_scope_label(structure, time->scope),
                                 .source = pm_scope_source(structure, time->scope),
                                 .address = scope->header == PM_NONE
                                                ? scope->address_low
                                                : structure->blocks[scope->header].address,
                                 .cycles = time->cycles.estimate,
                                 .low = time->cycles.low,
                                 .high = time->cycles.high,
                                 .instructions = time->n_instructions,
                                 .bytes = time->n_bytes,
                                 .pages = time->pages,
                                 .unrolled = time->unrolled,
                                 .hash = time->hash,
                                 .code = pm_loop_set_bytes(set, i),
                                 .result = pm_loop_refusal_name(time->why),
                                 .words = pm_loop_refusal_words(time->why),
                                 .ran = ran,
                                 .disturbed = ran && !time->undisturbed};
        labels[i] = (struct pm_shown_label){&rows[i].label, time->scope};
    }
    pm_tell_labels_apart(structure, labels, set->n_times);
    free(labels);
    return rows;
}

static void write_table(FILE *out, const struct pm_loop_set *set, const struct alone *rows,
                        const size_t *counts, const struct pm_report_options *options) {
    struct pm_fields columns = pm_fields_named(
        PM_FIELDS(fields), "label source cycles cycles_low instructions pages why_not");
    pm_fields_table(out, columns, rows, set->n_times, sizeof *rows, options);
    free(columns.fields);
    char *line = pm_sprintf("innermost loops: %zu, run: %zu", set->n_times, counts[PM_LOOP_RAN]);
    for (unsigned why = PM_LOOP_RAN + 1; why < PM_LOOP_N_REFUSALS; why++)
        if (counts[why])
            pm_append(&line, "; %s: %zu", pm_loop_refusal_words(why), counts[why]);
    pm_print_line(out, options, "%s", line);
    free(line);
}

static void write_json(FILE *out, const struct pm_structure *structure,
                       const struct pm_loop_set *set, const struct alone *rows,
                       const size_t *counts) {
    json_t *document = pm_program_document("loop-times", structure), *refused = json_object();
    for (unsigned why = PM_LOOP_RAN + 1; why < PM_LOOP_N_REFUSALS; why++)
        json_object_set_new(refused, pm_loop_refusal_name(why), pm_json_integer(counts[why]));
    json_object_set_new(document, "innermost", pm_json_integer(set->n_times));
    json_object_set_new(document, "ran", pm_json_integer(counts[PM_LOOP_RAN]));
    json_object_set_new(document, "refused", refused);
    json_object_set_new(document, "loops",
                        pm_fields_array(PM_FIELDS(fields), rows, set->n_times, sizeof *rows));
    pm_json_print(out, document);
}

void pm_report_loop_times(FILE *out, const struct pm_structure *structure,
                          const struct pm_loop_set *set, const struct pm_report_options *options) {
    struct alone *rows = make_rows(structure, set);
    size_t counts[PM_LOOP_N_REFUSALS] = {0};
    for (size_t i = 0; i < set->n_times; i++)
        counts[set->times[i].why]++;
    if (options->format == PM_REPORT_JSON)
        write_json(out, structure, set, rows, counts);
    else if (options->format == PM_REPORT_CSV)
        pm_fields_csv(
            out, PM_FIELDS(fields),
            "label name key source address result cycles cycles_low cycles_high disturbed "
            "instructions bytes hash code pages unrolled",
            rows, set->n_times, sizeof *rows);
    else
        write_table(out, set, rows, counts, options);
    for (size_t i = 0; i < set->n_times; i++) {
        free(rows[i].label);
        free(rows[i].source);
    }
    free(rows);
}
