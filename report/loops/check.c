/* `pmodel loops --check`: where the lift parts from the compiler's own facts, with metadata and
   without, as a table for people, JSON or CSV.  {"format": "pmodel-check", "version": 1, program,
   copy, "with_metadata": {routines, agree, jump_tables, jump_tables_equal, causes}, "plain": the
   same, "strides": {equal, only_compiler, only_code, neither, differences}, "routines": [all, each
   with both]}.  CSV has the routines. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/loops/loops.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

/* ---- what all three say --------------------------------------------------------------------- */

static bool is_equal(const struct pm_check_routine *routine) {
    return routine->cause == PM_CHECK_AGREES && routine->n_tables == routine->n_tables_equal;
}

/* The first place that is not as the compiler says. */
static uint64_t first_place(const struct pm_check_routine *routine) {
    return routine->cause == PM_CHECK_AGREES ? routine->table_at : routine->at;
}

static const char *cause_of(const struct pm_check_routine *routine) {
    enum pm_check_cause cause = routine->cause;
    if (cause == PM_CHECK_AGREES && routine->n_tables != routine->n_tables_equal)
        cause = PM_CHECK_TABLE;
    return pm_check_cause_name(cause);
}

static char *stride_text(const struct pm_stride *stride) {
    if (stride->kind == PM_STRIDE_CONSTANT)
        return pm_sprintf("%" PRId64, stride->bytes);
    if (stride->kind == PM_STRIDE_SYMBOLIC && stride->expression)
        return pm_strdup(stride->expression);
    return pm_strdup(pm_stride_kind_word(stride->kind));
}

/* ---- for people ----------------------------------------------------------------------------- */

static void print_summary(FILE *out, const char *title, const struct pm_check *check,
                          const struct pm_report_options *options) {
    char *text = pm_sprintf(
        "%s: %" PRIu32 " of %zu routines have the compiler's control flow, %" PRIu32 " of %" PRIu32
        " jump tables its targets",
        title, check->n_agree, check->n_routines, check->n_tables_equal, check->n_tables);
    for (unsigned cause = 1; cause < PM_CHECK_N_CAUSES; cause++)
        if (check->n_by_cause[cause])
            pm_append(&text, "; %s: %" PRIu32, pm_check_cause_name(cause),
                      check->n_by_cause[cause]);
    pm_print_wrapped(out, "  ", "    ", text, options->width);
    free(text);
}

static void add_routine_rows(struct pm_text_table *table, const char *lift,
                             const struct pm_check *check) {
    for (size_t i = 0; i < check->n_routines; i++) {
        const struct pm_check_routine *routine = &check->routines[i];
        if (is_equal(routine))
            continue;
        char *at = pm_sprintf("0x%" PRIx64, first_place(routine));
        char *n = pm_sprintf("%" PRIu32, routine->n_differences);
        pm_text_table_cell(table, routine->name);
        pm_text_table_cell(table, lift);
        pm_text_table_cell(table, cause_of(routine));
        pm_text_table_cell(table, at);
        pm_text_table_cell(table, n);
        free(at);
        free(n);
    }
}

static void print_strides(FILE *out, const struct pm_strides_check *strides,
                          const struct pm_report_options *options) {
    char *text =
        pm_sprintf("strides: %" PRIu64 " equal, %zu not; %" PRIu64
                   " only the compiler knows, %" PRIu64 " only the code tells, %" PRIu64 " neither",
                   strides->n_agree, strides->n_differences, strides->n_binary_unknown,
                   strides->n_compiler_unknown, strides->n_both_unknown);
    pm_print_wrapped(out, "  ", "    ", text, options->width);
    free(text);
}

static void print_stride_rows(FILE *out, const struct pm_check_report *report,
                              const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, "REFERENCE", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "LOOP", PM_COLUMN_NAME);
    pm_text_table_column(table, "SOURCE", PM_COLUMN_NAME);
    pm_text_table_column(table, "COMPILER", PM_COLUMN_TEXT);
    pm_text_table_column(table, "CODE", PM_COLUMN_TEXT);
    for (size_t i = 0; i < report->strides->n_differences; i++) {
        const struct pm_stride_difference *d = &report->strides->differences[i];
        char *cells[] = {
            pm_sprintf("0x%" PRIx64, report->structure->references[d->reference].address),
            pm_scope_label(report->structure, d->loop), pm_scope_source(report->structure, d->loop),
            stride_text(&d->compiler), stride_text(&d->binary)};
        for (size_t c = 0; c < sizeof cells / sizeof cells[0]; c++) {
            pm_text_table_cell(table, cells[c]);
            free(cells[c]);
        }
    }
    if (report->strides->n_differences) {
        fputc('\n', out);
        pm_text_table_print(out, table, options->width, options->color);
    }
    pm_text_table_free(table);
}

static void write_table(FILE *out, const struct pm_check_report *report,
                        const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    char *title = pm_sprintf("%s: the lift beside the compiler's own facts",
                             pm_program_name(report->structure));
    pm_print_bold(out, title, options->color);
    fputc('\n', out);
    free(title);
    print_summary(out, "with metadata", report->with_metadata, options);
    char *plain = report->copy ? pm_sprintf("%s", report->copy) : pm_strdup("without");
    print_summary(out, plain, report->plain, options);
    free(plain);
    print_strides(out, report->strides, options);
    pm_text_table_column(table, "ROUTINE", PM_COLUMN_NAME);
    pm_text_table_column(table, "LIFTED", PM_COLUMN_TEXT);
    pm_text_table_column(table, "CAUSE", PM_COLUMN_TEXT);
    pm_text_table_column(table, "FIRST AT", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "PLACES", PM_COLUMN_NUMBER);
    add_routine_rows(table, "with metadata", report->with_metadata);
    add_routine_rows(table, "plain", report->plain);
    bool all_equal = true;
    for (size_t i = 0; i < report->plain->n_routines; i++)
        all_equal = all_equal && is_equal(&report->plain->routines[i]) &&
                    is_equal(&report->with_metadata->routines[i]);
    if (!all_equal) {
        fputc('\n', out);
        pm_text_table_print(out, table, options->width, options->color);
    }
    pm_text_table_free(table);
    print_stride_rows(out, report, options);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *summary_json(const struct pm_check *check) {
    json_t *object = json_object(), *causes = json_object();
    for (unsigned cause = 0; cause < PM_CHECK_N_CAUSES; cause++)
        if (check->n_by_cause[cause])
            json_object_set_new(causes, pm_check_cause_name(cause),
                                json_integer(check->n_by_cause[cause]));
    json_object_set_new(object, "routines", pm_json_integer(check->n_routines));
    json_object_set_new(object, "agree", json_integer(check->n_agree));
    json_object_set_new(object, "jump_tables", json_integer(check->n_tables));
    json_object_set_new(object, "jump_tables_equal", json_integer(check->n_tables_equal));
    json_object_set_new(object, "causes", causes);
    return object;
}

static json_t *side_json(const struct pm_check_routine *routine) {
    json_t *object = json_object();
    bool equal = is_equal(routine);
    json_object_set_new(object, "agrees", json_boolean(equal));
    json_object_set_new(object, "cause", equal ? json_null() : json_string(cause_of(routine)));
    json_object_set_new(object, "at", equal ? json_null() : pm_json_hex(first_place(routine)));
    json_object_set_new(object, "differences", json_integer(routine->n_differences));
    json_object_set_new(object, "inner_basic_blocks", json_integer(routine->n_inner));
    json_object_set_new(object, "jump_tables_equal", json_integer(routine->n_tables_equal));
    return object;
}

static json_t *routines_json(const struct pm_check_report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->plain->n_routines; i++) {
        const struct pm_check_routine *with = &report->with_metadata->routines[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", pm_json_text(with->name));
        json_object_set_new(object, "address", pm_json_hex(with->address));
        json_object_set_new(object, "basic_blocks", json_integer(with->n_blocks));
        json_object_set_new(object, "jump_tables", json_integer(with->n_tables));
        json_object_set_new(object, "with_metadata", side_json(with));
        json_object_set_new(object, "plain", side_json(&report->plain->routines[i]));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *strides_json(const struct pm_check_report *report) {
    const struct pm_strides_check *strides = report->strides;
    json_t *object = json_object(), *array = json_array();
    json_object_set_new(object, "equal", pm_json_integer(strides->n_agree));
    json_object_set_new(object, "only_compiler", pm_json_integer(strides->n_binary_unknown));
    json_object_set_new(object, "only_code", pm_json_integer(strides->n_compiler_unknown));
    json_object_set_new(object, "neither", pm_json_integer(strides->n_both_unknown));
    for (size_t i = 0; i < strides->n_differences; i++) {
        const struct pm_stride_difference *d = &strides->differences[i];
        json_t *item = json_object();
        char *label = pm_scope_label(report->structure, d->loop);
        char *compiler = stride_text(&d->compiler), *binary = stride_text(&d->binary);
        json_object_set_new(item, "address",
                            pm_json_hex(report->structure->references[d->reference].address));
        json_object_set_new(item, "loop", pm_json_text(label));
        json_object_set_new(item, "compiler", pm_json_text(compiler));
        json_object_set_new(item, "code", pm_json_text(binary));
        json_array_append_new(array, item);
        free(label);
        free(compiler);
        free(binary);
    }
    json_object_set_new(object, "differences", array);
    return object;
}

static void write_json(FILE *out, const struct pm_check_report *report) {
    json_t *document = pm_json_document("check");
    json_object_set_new(document, "program", pm_json_text(pm_program_name(report->structure)));
    json_object_set_new(document, "copy", pm_json_text(report->copy));
    json_object_set_new(document, "with_metadata", summary_json(report->with_metadata));
    json_object_set_new(document, "plain", summary_json(report->plain));
    json_object_set_new(document, "strides", strides_json(report));
    json_object_set_new(document, "routines", routines_json(report));
    pm_json_print(out, document);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void write_csv_rows(struct pm_csv *csv, const struct pm_check_report *report,
                           const char *lift, const struct pm_check *check) {
    for (size_t i = 0; i < check->n_routines; i++) {
        const struct pm_check_routine *routine = &check->routines[i];
        pm_csv_text(csv, pm_program_name(report->structure));
        pm_csv_text(csv, lift);
        pm_csv_text(csv, routine->name);
        pm_csv_hex(csv, routine->address);
        pm_csv_text(csv, cause_of(routine));
        if (is_equal(routine))
            pm_csv_text(csv, NULL);
        else
            pm_csv_hex(csv, first_place(routine));
        pm_csv_integer(csv, routine->n_differences);
        pm_csv_integer(csv, routine->n_blocks);
        pm_csv_integer(csv, routine->n_inner);
        pm_csv_integer(csv, routine->n_tables);
        pm_csv_integer(csv, routine->n_tables_equal);
        pm_csv_end_line(csv);
    }
}

static void write_csv(FILE *out, const struct pm_check_report *report) {
    static const char *const names[] = {"program",
                                        "lifted",
                                        "routine",
                                        "address",
                                        "cause",
                                        "at",
                                        "differences",
                                        "basic_blocks",
                                        "inner_basic_blocks",
                                        "jump_tables",
                                        "jump_tables_equal"};
    struct pm_csv csv = {.out = out};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pm_csv_text(&csv, names[i]);
    pm_csv_end_line(&csv);
    write_csv_rows(&csv, report, "with metadata", report->with_metadata);
    write_csv_rows(&csv, report, "plain", report->plain);
}

void pm_report_check(FILE *out, const struct pm_check_report *report,
                     const struct pm_report_options *options) {
    if (options->format == PM_REPORT_JSON)
        write_json(out, report);
    else if (options->format == PM_REPORT_CSV)
        write_csv(out, report);
    else
        write_table(out, report, options);
}
