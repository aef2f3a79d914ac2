/* `pmodel fit`: the fields of a model, and the report as a table, JSON and CSV.  Needs the rows of
   fit/analysis/model_rows.c where models are asked for.

   JSON: {"format": "pmodel-models", "version": 1, program, runs, parameters, summary, "models": […]
   where asked for}.  CSV: one line with the summary, or a line for each model.  Errors are
   fractions of 1. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/report.h"

struct models_report {
    const struct pm_structure *structure;
    const struct pm_model_set *models;
    const struct pm_fit_statistics *statistics;
    const struct pm_model_rows *rows; /* NULL: not asked for */
};

/* ---- the fields of a model ------------------------------------------------------------------- */

static const char *target_word(enum pm_model_target target) {
    static const char *const words[] = {
        [PM_MODEL_OF_ITERATIONS] = "iterations", [PM_MODEL_OF_EDGE] = "edge",
        [PM_MODEL_OF_ACCESSES] = "accesses",     [PM_MODEL_OF_COLD] = "cold",
        [PM_MODEL_OF_BIN_COUNT] = "bin_count",   [PM_MODEL_OF_BIN_DISTANCE] = "bin_distance",
    };
    return words[target];
}

/* "0x401136", where control comes from or goes to. */
static char *edge_end(const struct pm_structure *structure, uint32_t block, const char *outside) {
    return block < structure->n_blocks ? pm_sprintf("0x%" PRIx64, structure->blocks[block].address)
                                       : pm_strdup(outside);
}

static char *edge_description(const struct pm_structure *structure, const struct pm_edge *edge) {
    char *from = edge_end(structure, edge->from, "entry");
    char *to = edge_end(structure, edge->to, "exit");
    char *text = pm_sprintf("edge %s to %s", from, to);
    free(from);
    free(to);
    return text;
}

/* "iterations", "accesses in bin 2 of group 3 (u), blocks of 64 bytes". */
static char *description(const struct pm_model_row *row) {
    const struct pm_structure *structure = row->place.structure;
    if (row->target == PM_MODEL_OF_ITERATIONS)
        return pm_strdup("iterations");
    if (row->target == PM_MODEL_OF_EDGE)
        return edge_description(structure, &structure->edges[row->index]);
    const char *object = structure->groups[row->index].object;
    char *text = pm_strdup(row->target == PM_MODEL_OF_COLD           ? "cold accesses"
                           : row->target == PM_MODEL_OF_BIN_DISTANCE ? "reuse distance"
                           : row->target == PM_MODEL_OF_ACCESSES && row->per_execution
                               ? "touches for each access"
                               : "accesses");
    if (row->bin != PM_NONE)
        pm_append(&text, " in bin %" PRIu32, row->bin);
    pm_append(&text, " of group %" PRIu32 " (%s), blocks of %s", row->index, object ? object : "?",
              pm_bytes_text(row->block_bytes).text);
    return text;
}

static bool is_edge(const void *row) {
    return ((const struct pm_model_row *)row)->target == PM_MODEL_OF_EDGE;
}
static bool is_no_edge(const void *row) { return !is_edge(row); }

static struct pm_field_value index_if(uint32_t index, bool known) {
    return known && index != PM_NONE ? pm_integer(index) : pm_unknown();
}

/* "-3% to +4%", how far off the value beyond the measured sizes may be. */
static struct pm_field_value relative_interval(const struct pm_model_row *row) {
    if (isnan(row->low) || isnan(row->value))
        return pm_text("?");
    if (row->low == row->high || row->value == 0)
        return pm_text(row->low == row->high ? "exact" : "?");
    char *text = pm_sprintf("-%s%% to +", pm_percent_text(1 - row->low / row->value).text);
    if (isinf(row->high))
        pm_append(&text, "?");
    else
        pm_append(&text, "%s%%", pm_percent_text(row->high / row->value - 1).text);
    return pm_owned_text(text);
}

/* Where the quantity lies at a size beyond those measured. */
static struct pm_field_value interval(const struct pm_model_row *row) {
    json_t *object = json_object();
    json_object_set_new(object, "parameters", pm_json_parameters(&row->rows->at));
    json_object_set_new(object, "value", pm_json_number(row->value));
    json_object_set_new(object, "low", pm_json_number(row->low));
    json_object_set_new(object, "high", pm_json_number(row->high));
    json_object_set_new(object, "level", pm_json_number(row->rows->level));
    return pm_json_value(object);
}

PM_GETTER(row_description, struct pm_model_row, pm_owned_text(description(row)))
PM_GETTER(row_quantity, struct pm_model_row, pm_text(target_word(row->target)))
PM_GETTER(row_edge, struct pm_model_row, index_if(row->index, is_edge(row)))
PM_GETTER(row_group, struct pm_model_row, index_if(row->index, !is_edge(row)))
PM_GETTER(row_interval, struct pm_model_row, interval(row))
PM_GETTER(row_at, struct pm_model_row, pm_owned_text(pm_parameters_text(&row->rows->at)))
PM_GETTER(row_level, struct pm_model_row, pm_number(row->rows->level))
PM_GETTER(error_cell, struct pm_model_row,
          row->exact ? pm_text("exact") : pm_percent_value(row->relative_error))
PM_GETTER(left_out_cell, struct pm_model_row, pm_percent_value(row->leave_one_out_error))
PM_GETTER(interval_cell, struct pm_model_row, relative_interval(row))
PM_GETTER(formula_cell, struct pm_model_row, pm_text(row->formula ? row->formula : "?"))

#define ROW(member_) PM_MEMBER(struct pm_model_row, member_)
#define PLACE(get_) PM_PLACE(struct pm_model_row, place, get_)
#define NOT_IN_JSON .not_in_json = true

static const struct pm_field fields[] = {
    {"quantity", PM_TEXT, .get = row_quantity},
    {"label", PM_NAME, PLACE(label), .header = "LOOP"},
    {"file", PM_TEXT, PLACE(file)},
    {"line_first", PM_POSITIVE, PLACE(line_first)},
    {"key", PM_HEX, PLACE(key)},
    {"module", PM_TEXT, PLACE(module)},
    {"edge", PM_INDEX, .get = row_edge, .json_when = is_edge},
    {"group", PM_INDEX, .get = row_group, .json_when = is_no_edge},
    {"bin", PM_INDEX, ROW(bin)},
    {"block_bytes", PM_POSITIVE, ROW(block_bytes)},
    {"description", PM_TEXT, .get = row_description, .header = "MODEL OF"},
    {"formula", PM_TEXT, ROW(formula), .header = "FORMULA", .cell = formula_cell},
    {"relative_error", PM_PERCENT, ROW(relative_error), .header = "ERROR", .cell = error_cell},
    {"leave_one_out_error", PM_PERCENT, ROW(leave_one_out_error), .header = "LEFT OUT",
     .cell = left_out_cell, .dispensable = 1},
    {"exact", PM_YES_NO, ROW(exact)},
    {"flagged", PM_YES_NO, ROW(flagged)},
    {"interval", PM_JSON_ONLY, .get = row_interval, .cell = interval_cell, .dispensable = 2},
    {"program", PM_TEXT, PLACE(program), NOT_IN_JSON},
    {"source", PM_NAME, PLACE(source), NOT_IN_JSON, .header = "SOURCE", .dispensable = 3},
    {"at", PM_TEXT, .get = row_at, NOT_IN_JSON},
    {"value", PM_COUNT, ROW(value), NOT_IN_JSON},
    {"low", PM_COUNT, ROW(low), NOT_IN_JSON},
    {"high", PM_COUNT, ROW(high), NOT_IN_JSON},
    {"level", PM_NUMBER, .get = row_level, NOT_IN_JSON},
};

/* ---- the fields of the summary --------------------------------------------------------------- */

PM_GETTER(report_program, struct models_report, pm_text(pm_program_name(row->structure)))
PM_GETTER(report_runs, struct models_report, pm_integer(row->models->n_runs))

#define STATISTIC(name_, member_)                                                                  \
    { name_, PM_INTEGER, PM_MEMBER(struct pm_fit_statistics, member_) }

static const struct pm_field outlier_fields[] = {
    {"block_bytes", PM_INTEGER, PM_MEMBER(struct pm_outlier_size, block_bytes)},
    {"groups", PM_INTEGER, PM_MEMBER(struct pm_outlier_size, n_groups)},
    {"of_groups", PM_INTEGER, PM_MEMBER(struct pm_outlier_size, of_groups)},
    {"share", PM_PERCENT, PM_MEMBER(struct pm_outlier_size, share)},
    {"difference", PM_PERCENT, PM_MEMBER(struct pm_outlier_size, difference)},
};

static struct pm_field_value left_out_sizes(const void *at) {
    const struct pm_fit_statistics *statistics = at;
    json_t *array = json_array();
    for (size_t i = 0; i < statistics->n_left_out; i++)
        json_array_append_new(array, pm_json_integer(statistics->left_out[i]));
    return pm_json_value(array);
}

static struct pm_field_value notes(const void *at) {
    const struct pm_fit_statistics *statistics = at;
    json_t *array = json_array();
    for (size_t i = 0; i < statistics->n_notes; i++)
        json_array_append_new(array, pm_json_text(statistics->notes[i]));
    return pm_json_value(array);
}

static struct pm_field_value outlier_sizes(const void *at) {
    const struct pm_fit_statistics *statistics = at;
    json_t *array = json_array();
    for (size_t i = 0; i < statistics->n_outliers; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "parameters",
                            pm_json_parameters(&statistics->outliers[i].parameters));
        pm_fields_set(object, PM_FIELDS(outlier_fields), &statistics->outliers[i]);
        json_object_set_new(object, "dropped", json_boolean(statistics->outliers_dropped));
        json_array_append_new(array, object);
    }
    return pm_json_value(array);
}

static const char *role_word(enum pm_parameter_role role) {
    static const char *const words[] = {
        [PM_PARAMETER_TAKEN] = "taken",     [PM_PARAMETER_FORMULA] = "formula",
        [PM_PARAMETER_FOLLOWS] = "follows", [PM_PARAMETER_WORSE] = "worse",
        [PM_PARAMETER_IDLE] = "idle",       [PM_PARAMETER_NOT_ASKED] = "not_asked",
    };
    return words[role];
}

PM_GETTER(parameter_role, struct pm_fit_parameter, pm_text(role_word(row->role)))

static const struct pm_field parameter_fields[] = {
    {"role", PM_TEXT, .get = parameter_role},
    {"formula", PM_TEXT, PM_MEMBER(struct pm_fit_parameter, formula)},
    {"error", PM_NUMBER, PM_MEMBER(struct pm_fit_parameter, error)},
};

/* Which of the varying parameters models are functions of, and why not of the others. */
static struct pm_field_value parameters(const void *at) {
    const struct pm_fit_statistics *statistics = at;
    json_t *array = json_array();
    for (size_t i = 0; i < statistics->n_parameters; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "name", pm_json_text(statistics->parameters[i].name));
        pm_fields_set(object, PM_FIELDS(parameter_fields), &statistics->parameters[i]);
        json_array_append_new(array, object);
    }
    return pm_json_value(array);
}

static const struct pm_field summary_fields[] = {
    {"parameters", PM_JSON_ONLY, .get = parameters},
    STATISTIC("models", n_models),
    STATISTIC("exact", n_exact),
    STATISTIC("constant", n_constant),
    STATISTIC("flagged", n_flagged),
    STATISTIC("histograms", n_histograms),
    STATISTIC("bins", n_bins),
    {"block_bytes_left_out", PM_JSON_ONLY, .get = left_out_sizes},
    {"notes", PM_JSON_ONLY, .get = notes},
    {"outlier_sizes", PM_JSON_ONLY, .get = outlier_sizes},
    {"seconds", PM_SECONDS, PM_MEMBER(struct pm_fit_statistics, seconds)},
    {"n_outliers", PM_INTEGER, PM_MEMBER(struct pm_fit_statistics, n_outliers),
     .csv_name = "outlier_sizes", NOT_IN_JSON},
};

/* Of the whole report, in CSV before and after the first of the summary. */
static const struct pm_field report_fields[] = {
    {"program", PM_TEXT, .get = report_program},
    {"runs", PM_INTEGER, .get = report_runs},
};

/* ---- table ----------------------------------------------------------------------------------- */

/* "N from 24 to 64", "M from 7 to 21, N from 24 to 64". */
static char *range_text(const struct pm_model_set *models) {
    char *text = pm_strdup("");
    for (size_t i = 0; i < models->low.n; i++) {
        char low[PM_NUMBER_TEXT_SIZE], high[PM_NUMBER_TEXT_SIZE];
        double highest = models->low.values[i];
        pm_parameters_get(&models->high, models->low.names[i], &highest);
        pm_format_value(models->low.values[i], low, sizeof low);
        pm_format_value(highest, high, sizeof high);
        pm_append(&text, "%s%s from %s to %s", *text ? ", " : "", models->low.names[i], low, high);
    }
    return text;
}

/* Block sizes without models, and what to do about it. */
static void print_left_out(FILE *out, const struct pm_fit_statistics *statistics,
                           const struct pm_report_options *options) {
    if (statistics->n_left_out == 0)
        return;
    char *sizes = pm_strdup("");
    for (size_t i = 0; i < statistics->n_left_out; i++) {
        pm_append(&sizes, "%s%llu", i ? ", " : "", (unsigned long long)statistics->left_out[i]);
    }
    pm_print_line(out, options,
                  "no models for blocks of %s bytes: not every run measured them (`pmodel "
                  "run --block` with all sizes that you need)",
                  sizes);
    free(sizes);
}

/* Sizes that do not go with the others, and what to do about it. */
static void print_outliers(FILE *out, const struct pm_fit_statistics *statistics,
                           const struct pm_report_options *options) {
    for (size_t i = 0; i < statistics->n_outliers; i++) {
        const struct pm_outlier_size *size = &statistics->outliers[i];
        char *at = pm_parameters_text(&size->parameters);
        pm_print_line(out, options,
                      "%s %s: %zu of %zu groups with %s%% of the touches of blocks of %s "
                      "are off by %s%% (median) from what the other sizes say",
                      at, statistics->outliers_dropped ? "was left out" : "is an outlier",
                      size->n_groups, size->of_groups, pm_percent_text(size->share).text,
                      pm_bytes_text(size->block_bytes).text,
                      pm_percent_text(size->difference).text);
        free(at);
    }
    if (statistics->n_outliers && !statistics->outliers_dropped)
        pm_print_line(out, options,
                      "data may be aligned otherwise there: `pmodel fit --drop-outliers` makes "
                      "the models without");
}

/* Where more than one parameter varies, what became of each. */
static void print_parameters(FILE *out, const struct pm_fit_statistics *statistics,
                             const struct pm_report_options *options) {
    char *taken = pm_strdup("");
    double error = NAN;
    for (size_t i = 0; i < statistics->n_parameters; i++)
        if (statistics->parameters[i].role == PM_PARAMETER_TAKEN) {
            pm_append(&taken, "%s%s", *taken ? ", " : "", statistics->parameters[i].name);
            error = statistics->parameters[i].error;
        }
    if (statistics->n_parameters > 1)
        pm_print_line(out, options, "models are functions of %s", taken);
    for (size_t i = 0; i < statistics->n_parameters && statistics->n_parameters > 1; i++) {
        const struct pm_fit_parameter *parameter = &statistics->parameters[i];
        const char *name = parameter->name;
        if (parameter->role == PM_PARAMETER_FORMULA)
            pm_print_line(out, options, "not of %s, which was given as %s", name,
                          parameter->formula);
        else if (parameter->role == PM_PARAMETER_FOLLOWS)
            pm_print_line(out, options, "not of %s, which follows from the others", name);
        else if (parameter->role == PM_PARAMETER_WORSE && isnan(parameter->error))
            pm_print_line(out, options, "not of %s, which goes with %s (--in %s: in that one)",
                          name, taken, name);
        else if (parameter->role == PM_PARAMETER_WORSE)
            pm_print_line(out, options,
                          "not of %s, which goes with %s: of a sample of what was measured, each "
                          "size predicted from the others, it is off by %s%% in %s, by %s%% in %s "
                          "(--in %s: in that one all the same)",
                          name, taken, pm_percent_text(parameter->error).text, name,
                          pm_percent_text(error).text, taken, name);
        else if (parameter->role == PM_PARAMETER_IDLE)
            pm_print_line(out, options,
                          "not of %s, which changes nothing that was counted: of runs that differ "
                          "in it only, one is kept",
                          name);
    }
    free(taken);
}

static void print_summary(FILE *out, const struct models_report *report,
                          const struct pm_report_options *options) {
    const struct pm_fit_statistics *s = report->statistics;
    char *range = range_text(report->models);
    pm_print_title(out, options, "%s: %zu runs, %s", pm_program_name(report->structure),
                   report->models->n_runs, range);
    pm_print_line(out, options,
                  "%zu models in %s: %zu exact, %zu constant, %zu flagged "
                  "(leave-one-out error above %s%%)",
                  s->n_models, pm_seconds_text(s->seconds).text, s->n_exact, s->n_constant,
                  s->n_flagged, pm_percent_text(pm_heuristics.flagged_error).text);
    fprintf(out, "  %zu histograms with %zu bins\n", s->n_histograms, s->n_bins);
    print_parameters(out, s, options);
    print_left_out(out, s, options);
    for (size_t i = 0; i < s->n_notes; i++)
        pm_print_line(out, options, "%s", s->notes[i]);
    print_outliers(out, s, options);
    free(range);
}

static void print_rows(FILE *out, const struct pm_model_rows *rows, bool flagged,
                       const struct pm_report_options *options) {
    struct pm_fields columns = pm_fields_named(
        PM_FIELDS(fields),
        flagged ? "label source description relative_error leave_one_out_error interval formula"
                : "label source relative_error leave_one_out_error interval formula");
    char *place = pm_parameters_text(&rows->at);
    char *title = pm_sprintf("%.0f%% AT %s", 100 * rows->level, place);
    columns.fields[columns.n_fields - 2].header = title;
    columns.fields[columns.n_fields - 1].header = flagged ? "FORMULA" : "ITERATIONS";
    struct pm_table_rows table = pm_table_begin(columns);
    for (size_t i = 0; i < rows->n_rows; i++)
        if (rows->rows[i].flagged == flagged)
            pm_table_row(&table, &rows->rows[i]);
    pm_table_end(out, &table, flagged ? "\nflagged models:\n" : "\niterations of loops:\n",
                 options);
    free(title);
    free(place);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *range_json(const struct pm_model_set *models) {
    json_t *object = json_object();
    for (size_t i = 0; i < models->low.n; i++) {
        double high = models->low.values[i];
        pm_parameters_get(&models->high, models->low.names[i], &high);
        json_t *range = json_object();
        json_object_set_new(range, "low", pm_json_number(models->low.values[i]));
        json_object_set_new(range, "high", pm_json_number(high));
        json_object_set_new(object, models->low.names[i], range);
    }
    return object;
}

static void write_json(FILE *out, const struct models_report *report,
                       const struct pm_report_options *options) {
    json_t *document = pm_json_document("models");
    pm_fields_set(document, PM_FIELDS(report_fields), report);
    pm_json_set_warnings(document, options);
    json_object_set_new(document, "parameters", range_json(report->models));
    json_object_set_new(document, "summary", PM_JSON_OBJECT(summary_fields, report->statistics));
    if (report->rows)
        json_object_set_new(document, "models",
                            pm_fields_array(PM_FIELDS(fields), report->rows->rows,
                                            report->rows->n_rows, sizeof *report->rows->rows));
    pm_json_print(out, document);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_summary(FILE *out, const struct models_report *report) {
    struct pm_csv csv = {.out = out};
    struct pm_fields summary =
        pm_fields_named(PM_FIELDS(summary_fields),
                        "models exact constant flagged histograms bins seconds n_outliers");
    pm_fields_csv_names(&csv, PM_FIELDS(report_fields));
    pm_fields_csv_names(&csv, summary);
    pm_csv_end_line(&csv);
    pm_fields_csv_values(&csv, PM_FIELDS(report_fields), report);
    pm_fields_csv_values(&csv, summary, report->statistics);
    pm_csv_end_line(&csv);
    free(summary.fields);
}

void pm_report_models(FILE *out, const struct pm_structure *structure,
                      const struct pm_model_set *models, const struct pm_fit_statistics *statistics,
                      bool with_models, const struct pm_report_options *options) {
    struct pm_model_rows *rows = with_models ? pm_model_rows_new(structure, models) : NULL;
    struct models_report report = {structure, models, statistics, rows};
    pm_print_warnings(out, options);
    if (options->format == PM_REPORT_JSON) {
        write_json(out, &report, options);
    } else if (options->format == PM_REPORT_CSV && rows) {
        pm_fields_csv(out, PM_FIELDS(fields),
                      "program quantity label file line_first key module edge group bin "
                      "block_bytes formula relative_error leave_one_out_error exact flagged at "
                      "value low high level",
                      rows->rows, rows->n_rows, sizeof *rows->rows);
    } else if (options->format == PM_REPORT_CSV) {
        write_summary(out, &report);
    } else {
        print_summary(out, &report, options);
        if (rows) {
            print_rows(out, rows, false, options);
            print_rows(out, rows, true, options);
        }
    }
    if (rows)
        pm_model_rows_free(rows);
}
