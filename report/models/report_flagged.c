/* `pmodel fit --flagged`: the fields of a row, and the report as a table, JSON and CSV.  Needs the
   rows of fit/analysis/flagged.c. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/report.h"

/* ---- flaws in words -------------------------------------------------------------------------- */

static const struct {
    const char *word, *reason, *advice;
} flaws[] = {
#define PM_FLAW_WORDS(id, word, reason, advice) {word, reason, advice},
    PM_FLAWS(PM_FLAW_WORDS)
#undef PM_FLAW_WORDS
};

static char *flaws_label(const struct pm_flagged_row *row) {
    char *label = pm_strdup("");
    for (int flaw = 0; flaw < PM_N_FLAWS; flaw++) {
        if (!(row->flaws >> flaw & 1))
            continue;
        pm_append(&label, "%s%s", *label ? ", " : "", flaws[flaw].reason);
        if (flaw == PM_FLAW_PERIODIC)
            pm_append(&label, " (%u)", row->period);
        if (flaw == PM_FLAW_EXTENT)
            pm_append(&label, " (%.0f bytes, of which %.0f are used)", fabs(row->stride_bytes),
                      row->walk_most);
    }
    return label;
}

/* ---- the fields of a row --------------------------------------------------------------------- */

static bool is_histogram(const struct pm_flagged_row *row) { return row->group != PM_NONE; }

/* "executions", "accesses to u, blocks of 64 bytes". */
static char *what_label(const struct pm_flagged_row *row) {
    if (!is_histogram(row))
        return pm_strdup("executions");
    const char *object = row->place.structure->groups[row->group].object;
    char *label = object ? pm_sprintf("accesses to %s", object)
                         : pm_sprintf("accesses of group %u", row->group);
    if (row->block_bytes)
        pm_append(&label, ", blocks of %s", pm_bytes_text(row->block_bytes).text);
    return label;
}

static struct pm_field_value reasons(unsigned found) {
    json_t *array = json_array();
    for (int flaw = 0; flaw < PM_N_FLAWS; flaw++)
        if (found >> flaw & 1)
            json_array_append_new(array, json_string(flaws[flaw].word));
    return pm_json_value(array);
}

PM_GETTER(row_quantity, struct pm_flagged_row,
          pm_text(is_histogram(row) ? "histogram" : "executions"))
PM_GETTER(row_block_bytes, struct pm_flagged_row,
          is_histogram(row) ? pm_integer(row->block_bytes) : pm_unknown())
PM_GETTER(row_description, struct pm_flagged_row, pm_owned_text(what_label(row)))
PM_GETTER(row_reasons, struct pm_flagged_row, reasons(row->flaws))
PM_GETTER(row_why, struct pm_flagged_row, pm_owned_text(flaws_label(row)))
PM_GETTER(flagged_cell, struct pm_flagged_row,
          pm_owned_text(pm_sprintf("%zu of %zu", row->n_flagged, row->n_models)))
PM_GETTER(error_cell, struct pm_flagged_row, pm_percent_value(row->error))

#define ROW(member_) PM_MEMBER(struct pm_flagged_row, member_)
#define PLACE(get_) PM_PLACE(struct pm_flagged_row, place, get_)

static const struct pm_field fields[] = {
    {"label", PM_NAME, PLACE(label_folded), .header = "ROUTINE / LOOP"},
    {"kind", PM_TEXT, PLACE(kind)},
    {"file", PM_TEXT, PLACE(file)},
    {"line_first", PM_POSITIVE, PLACE(line_first)},
    {"key", PM_HEX, PLACE(key)},
    {"module", PM_TEXT, PLACE(module)},
    {"quantity", PM_TEXT, .get = row_quantity},
    {"group", PM_INDEX, ROW(group)},
    {"block_bytes", PM_INTEGER, .get = row_block_bytes},
    {"description", PM_TEXT, .get = row_description, .header = "MODELS OF"},
    {"weight", PM_PERCENT, ROW(weight), .header = "%"},
    {"models", PM_INTEGER, ROW(n_models)},
    {"flagged", PM_INTEGER, ROW(n_flagged), .header = "FLAGGED", .cell = flagged_cell,
     .dispensable = 1},
    {"leave_one_out_error", PM_PERCENT, ROW(error), .header = "LEFT OUT", .cell = error_cell,
     .dispensable = 2},
    {"reasons", PM_JSON_ONLY, .get = row_reasons},
    {"period", PM_POSITIVE, ROW(period)},
    {"program", PM_TEXT, PLACE(program), .not_in_json = true},
    {"source", PM_NAME, PLACE(source), .not_in_json = true, .header = "SOURCE", .dispensable = 3},
    {"why", PM_TEXT, .get = row_why, .csv_name = "reasons", .not_in_json = true, .header = "WHY"},
};

/* ---- the three formats ----------------------------------------------------------------------- */

static void print_advice(FILE *out, unsigned found, const struct pm_report_options *options) {
    fputs("\nwhat to do:\n", out);
    for (int flaw = 0; flaw < PM_N_FLAWS; flaw++) {
        if (!(found >> flaw & 1))
            continue;
        pm_print_line(out, options, "%s: %s", flaws[flaw].reason, flaws[flaw].advice);
    }
}

static void write_table(FILE *out, const struct pm_flagged *flagged,
                        const struct pm_report_options *options) {
    struct pm_fields columns = pm_fields_named(
        PM_FIELDS(fields), "weight label source description flagged leave_one_out_error why");
    size_t n_shown = flagged->n_rows;
    unsigned shown_flaws = 0;
    if (options->max_rows && n_shown > options->max_rows)
        n_shown = options->max_rows;
    pm_print_title(out, options, "%s: %zu flagged scopes and histograms, models of %zu runs",
                   pm_program_name(flagged->structure), flagged->n_rows, flagged->models->n_runs);
    for (size_t i = 0; i < n_shown; i++)
        shown_flaws |= flagged->rows[i].flaws;
    if (n_shown)
        pm_fields_table(out, columns, flagged->rows, n_shown, sizeof *flagged->rows, options);
    free(columns.fields);
    if (n_shown < flagged->n_rows)
        fprintf(out, "%zu more of at most %s%% each\n", flagged->n_rows - n_shown,
                pm_percent_text(n_shown ? flagged->rows[n_shown - 1].weight : 0).text);
    if (n_shown)
        print_advice(out, shown_flaws, options);
}

static void write_json(FILE *out, const struct pm_flagged *flagged,
                       const struct pm_report_options *options) {
    json_t *document = pm_program_document("flagged", flagged->structure), *advice = json_object();
    for (int flaw = 0; flaw < PM_N_FLAWS; flaw++)
        if (flagged->flaws >> flaw & 1)
            json_object_set_new(advice, flaws[flaw].word, json_string(flaws[flaw].advice));
    pm_json_set_warnings(document, options);
    json_object_set_new(document, "runs", pm_json_integer(flagged->models->n_runs));
    json_object_set_new(
        document, "rows",
        pm_fields_array(PM_FIELDS(fields), flagged->rows, flagged->n_rows, sizeof *flagged->rows));
    json_object_set_new(document, "advice", advice);
    pm_json_print(out, document);
}

void pm_report_flagged(FILE *out, const struct pm_structure *structure,
                       const struct pm_model_set *models, const struct pm_profile *const *profiles,
                       const struct pm_report_options *options) {
    struct pm_flagged *flagged = pm_flagged_new(structure, models, profiles);
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, write_table(out, flagged, options), write_json(out, flagged, options),
                 pm_fields_csv(out, PM_FIELDS(fields),
                               "program label file line_first key module group block_bytes weight "
                               "description models flagged leave_one_out_error why",
                               flagged->rows, flagged->n_rows, sizeof *flagged->rows));
    pm_flagged_free(flagged);
}
