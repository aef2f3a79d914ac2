/* `pmodel fit --flagged` as a table, JSON and CSV.  Needs the rows of flagged.c. */
#include <math.h>
#include <stdlib.h>

#include "report/models/flagged.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

/* "executions", "accesses to u, blocks of 64 bytes". */
static char *what_label(const struct pm_structure *structure, const struct pm_flagged_row *row) {
    if (row->group == PM_NONE)
        return pm_strdup("executions");
    const char *object = structure->groups[row->group].object;
    if (row->block_bytes == 0)
        return object ? pm_sprintf("accesses to %s", object)
                      : pm_sprintf("accesses of group %u", row->group);
    return object ? pm_sprintf("accesses to %s, blocks of %s", object,
                               pm_bytes_text(row->block_bytes).text)
                  : pm_sprintf("accesses of group %u, blocks of %s", row->group,
                               pm_bytes_text(row->block_bytes).text);
}

/* ---- table ----------------------------------------------------------------------------------- */

static void add_row(struct pm_text_table *table, const struct pm_structure *structure,
                    const struct pm_flagged_row *row) {
    char *what = what_label(structure, row), *why = pm_flaws_label(row);
    char *number = pm_sprintf("%zu of %zu", row->n_flagged, row->n_models);
    char *error =
        isnan(row->error) ? pm_strdup("?") : pm_sprintf("%s%%", pm_percent_text(row->error).text);
    pm_text_table_cell(table, pm_percent_text(row->weight).text);
    pm_text_table_cell(table, row->label);
    pm_text_table_cell(table, row->source);
    pm_text_table_cell(table, what);
    pm_text_table_cell(table, number);
    pm_text_table_cell(table, error);
    pm_text_table_cell(table, why);
    free(error);
    free(number);
    free(why);
    free(what);
}

static void print_advice(FILE *out, unsigned flaws, unsigned width) {
    fputs("\nwhat to do:\n", out);
    for (int flaw = 0; flaw < PM_N_FLAWS; flaw++) {
        if (!(flaws >> flaw & 1))
            continue;
        char *line = pm_sprintf("%s: %s", pm_flaw_reason((enum pm_flaw)flaw),
                                pm_flaw_advice((enum pm_flaw)flaw));
        pm_print_wrapped(out, "  ", "    ", line, width);
        free(line);
    }
}

static void write_table(FILE *out, const struct pm_flagged *flagged,
                        const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    size_t n_shown = flagged->n_rows;
    unsigned shown_flaws = 0;
    double shown = 0;
    if (options->max_rows && n_shown > options->max_rows)
        n_shown = options->max_rows;
    char *title =
        pm_sprintf("%s: %zu flagged scopes and histograms, models of %zu runs",
                   pm_program_name(flagged->structure), flagged->n_rows, flagged->models->n_runs);
    pm_print_bold(out, title, options->color);
    free(title);
    pm_text_table_column(table, "%", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "ROUTINE / LOOP", PM_COLUMN_NAME);
    pm_text_table_column(table, "SOURCE", PM_COLUMN_NAME);
    pm_text_table_column(table, "MODELS OF", PM_COLUMN_TEXT);
    pm_text_table_column(table, "FLAGGED", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "LEFT OUT", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "WHY", PM_COLUMN_TEXT);
    for (size_t i = 0; i < n_shown; i++) {
        add_row(table, flagged->structure, &flagged->rows[i]);
        shown_flaws |= flagged->rows[i].flaws;
        shown = flagged->rows[i].weight;
    }
    if (n_shown)
        pm_text_table_print(out, table, options->width, options->color);
    pm_text_table_free(table);
    if (n_shown < flagged->n_rows)
        fprintf(out, "%zu more of at most %s%% each\n", flagged->n_rows - n_shown,
                pm_percent_text(shown).text);
    if (n_shown)
        print_advice(out, shown_flaws, options->width);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *row_json(const struct pm_structure *structure, const struct pm_flagged_row *row) {
    const struct pm_scope *scope = &structure->scopes[row->scope];
    json_t *object = json_object(), *reasons = json_array();
    bool executions = row->group == PM_NONE;
    char *what = what_label(structure, row);
    json_object_set_new(object, "label", pm_json_text(row->label));
    json_object_set_new(object, "kind", json_string(pm_scope_kind_word(scope->kind)));
    json_object_set_new(object, "file", pm_json_text(scope->file));
    json_object_set_new(object, "line_first", pm_json_line_number(scope->line_first));
    json_object_set_new(object, "key", pm_json_hex(scope->key));
    json_object_set_new(object, "module", pm_json_text(pm_scope_module(structure, row->scope)));
    json_object_set_new(object, "quantity", json_string(executions ? "executions" : "histogram"));
    json_object_set_new(object, "group", executions ? json_null() : pm_json_integer(row->group));
    json_object_set_new(object, "block_bytes",
                        executions ? json_null() : pm_json_integer(row->block_bytes));
    json_object_set_new(object, "description", pm_json_text(what));
    json_object_set_new(object, "weight", pm_json_number(row->weight));
    json_object_set_new(object, "models", pm_json_integer(row->n_models));
    json_object_set_new(object, "flagged", pm_json_integer(row->n_flagged));
    json_object_set_new(object, "leave_one_out_error", pm_json_number(row->error));
    for (int flaw = 0; flaw < PM_N_FLAWS; flaw++)
        if (row->flaws >> flaw & 1)
            json_array_append_new(reasons, json_string(pm_flaw_word((enum pm_flaw)flaw)));
    json_object_set_new(object, "reasons", reasons);
    json_object_set_new(object, "period", row->period ? json_integer(row->period) : json_null());
    free(what);
    return object;
}

static void write_json(FILE *out, const struct pm_flagged *flagged) {
    json_t *document = pm_json_document("flagged"), *rows = json_array(), *advice = json_object();
    for (size_t i = 0; i < flagged->n_rows; i++)
        json_array_append_new(rows, row_json(flagged->structure, &flagged->rows[i]));
    for (int flaw = 0; flaw < PM_N_FLAWS; flaw++)
        if (flagged->flaws >> flaw & 1)
            json_object_set_new(advice, pm_flaw_word((enum pm_flaw)flaw),
                                json_string(pm_flaw_advice((enum pm_flaw)flaw)));
    json_object_set_new(document, "program", pm_json_text(pm_program_name(flagged->structure)));
    json_object_set_new(document, "runs", pm_json_integer(flagged->models->n_runs));
    json_object_set_new(document, "rows", rows);
    json_object_set_new(document, "advice", advice);
    pm_json_print(out, document);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_csv(FILE *out, const struct pm_flagged *flagged) {
    static const char *const names[] = {"program",
                                        "label",
                                        "file",
                                        "line_first",
                                        "key",
                                        "module",
                                        "group",
                                        "block_bytes",
                                        "weight",
                                        "description",
                                        "models",
                                        "flagged",
                                        "leave_one_out_error",
                                        "reasons"};
    struct pm_csv csv = {.out = out};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pm_csv_text(&csv, names[i]);
    pm_csv_end_line(&csv);
    for (size_t i = 0; i < flagged->n_rows; i++) {
        const struct pm_flagged_row *row = &flagged->rows[i];
        const struct pm_scope *scope = &flagged->structure->scopes[row->scope];
        char *what = what_label(flagged->structure, row), *why = pm_flaws_label(row);
        pm_csv_text(&csv, pm_program_name(flagged->structure));
        pm_csv_text(&csv, row->label);
        pm_csv_text(&csv, scope->file);
        pm_csv_line_number(&csv, scope->line_first);
        pm_csv_hex(&csv, scope->key);
        pm_csv_text(&csv, pm_scope_module(flagged->structure, row->scope));
        pm_csv_number(&csv, row->group == PM_NONE ? NAN : row->group);
        pm_csv_number(&csv, row->group == PM_NONE ? NAN : (double)row->block_bytes);
        pm_csv_number(&csv, row->weight);
        pm_csv_text(&csv, what);
        pm_csv_integer(&csv, row->n_models);
        pm_csv_integer(&csv, row->n_flagged);
        pm_csv_number(&csv, row->error);
        pm_csv_text(&csv, why);
        pm_csv_end_line(&csv);
        free(why);
        free(what);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

void pm_report_flagged(FILE *out, const struct pm_structure *structure,
                       const struct pm_model_set *models, const struct pm_profile *const *profiles,
                       const struct pm_report_options *options) {
    struct pm_flagged *flagged = pm_flagged_new(structure, models, profiles);
    switch (options->format) {
    case PM_REPORT_JSON:
        write_json(out, flagged);
        break;
    case PM_REPORT_CSV:
        write_csv(out, flagged);
        break;
    default:
        write_table(out, flagged, options);
    }
    pm_flagged_free(flagged);
}
