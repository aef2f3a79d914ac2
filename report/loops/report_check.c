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

/* ---- the fields of a routine ----------------------------------------------------------------- */

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

/* A routine of one of the two checks. */
struct routine_row {
    const char *program, *lift; /* "plain" */
    struct pm_check_routine routine;
};

static struct routine_row routine_row(const struct pm_check_report *report, bool plain, size_t i) {
    const struct pm_check *check = plain ? report->plain : report->with_metadata;
    return (struct routine_row){pm_program_name(report->structure),
                                plain ? "plain" : "with metadata", check->routines[i]};
}

PM_GETTER(row_agrees, struct routine_row, pm_integer(is_equal(&row->routine)))
PM_GETTER(row_cause, struct routine_row, pm_text(cause_of(&row->routine)))
PM_GETTER(row_cause_unless_equal, struct routine_row,
          pm_text(is_equal(&row->routine) ? NULL : cause_of(&row->routine)))
PM_GETTER(row_at, struct routine_row,
          is_equal(&row->routine) ? pm_unknown() : pm_integer(first_place(&row->routine)))
PM_GETTER(at_cell, struct routine_row,
          pm_owned_text(pm_sprintf("0x%" PRIx64, first_place(&row->routine))))

#define ROW(member_) PM_MEMBER(struct routine_row, member_)

/* What both checks say of a routine, and what each says. */
static const struct pm_field routine_fields[] = {
    {"name", PM_NAME, ROW(routine.name), .csv_name = "routine", .header = "ROUTINE"},
    {"address", PM_HEX, ROW(routine.address)},
    {"basic_blocks", PM_INTEGER, ROW(routine.n_blocks)},
    {"jump_tables", PM_INTEGER, ROW(routine.n_tables)},
    {"program", PM_TEXT, ROW(program), .not_in_json = true},
    {"lifted", PM_TEXT, ROW(lift), .not_in_json = true, .header = "LIFTED"},
    {"any_cause", PM_TEXT, .get = row_cause, .csv_name = "cause", .not_in_json = true,
     .header = "CAUSE"},
    {"at", PM_HEX, .get = row_at, .not_in_json = true, .header = "FIRST AT", .cell = at_cell,
     .dispensable = 1},
    {"differences", PM_INTEGER, ROW(routine.n_differences), .not_in_json = true, .header = "PLACES",
     .dispensable = 2},
    {"inner_basic_blocks", PM_INTEGER, ROW(routine.n_inner), .not_in_json = true},
    {"jump_tables_equal", PM_INTEGER, ROW(routine.n_tables_equal), .not_in_json = true},
};
static const struct pm_field side_fields[] = {
    {"agrees", PM_YES_NO, .get = row_agrees},
    {"cause", PM_TEXT, .get = row_cause_unless_equal},
    {"at", PM_HEX, .get = row_at},
    {"differences", PM_INTEGER, ROW(routine.n_differences)},
    {"inner_basic_blocks", PM_INTEGER, ROW(routine.n_inner)},
    {"jump_tables_equal", PM_INTEGER, ROW(routine.n_tables_equal)},
};

/* ---- the fields of a stride that is not the compiler's --------------------------------------- */

struct stride_row {
    struct pm_row_place place;
    uint64_t address;
    struct pm_stride compiler, binary;
};

static struct stride_row stride_row(const struct pm_check_report *report, size_t i) {
    const struct pm_stride_difference *d = &report->strides->differences[i];
    return (struct stride_row){{report->structure, d->loop},
                               report->structure->references[d->reference].address,
                               d->compiler,
                               d->binary};
}

static char *stride_text(const struct pm_stride *stride) {
    if (stride->kind == PM_STRIDE_CONSTANT)
        return pm_sprintf("%" PRId64, stride->bytes);
    if (stride->kind == PM_STRIDE_SYMBOLIC && stride->expression)
        return pm_strdup(stride->expression);
    return pm_strdup(pm_stride_kind_word(stride->kind));
}

PM_GETTER(stride_source, struct stride_row,
          pm_owned_text(pm_scope_source(row->place.structure, row->place.scope)))
PM_GETTER(stride_compiler, struct stride_row, pm_owned_text(stride_text(&row->compiler)))
PM_GETTER(stride_code, struct stride_row, pm_owned_text(stride_text(&row->binary)))
PM_GETTER(address_cell, struct stride_row, pm_owned_text(pm_sprintf("0x%" PRIx64, row->address)))

static const struct pm_field stride_fields[] = {
    {"address", PM_HEX, PM_MEMBER(struct stride_row, address), .header = "REFERENCE",
     .cell = address_cell},
    {"loop", PM_NAME, PM_PLACE(struct stride_row, place, label), .header = "LOOP"},
    {"compiler", PM_TEXT, .get = stride_compiler, .header = "COMPILER"},
    {"code", PM_TEXT, .get = stride_code, .header = "CODE"},
    {"source", PM_NAME, .get = stride_source, .not_in_json = true, .header = "SOURCE",
     .dispensable = 1},
};

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
    pm_print_line(out, options, "%s", text);
    free(text);
}

static void print_strides(FILE *out, const struct pm_strides_check *strides,
                          const struct pm_report_options *options) {
    pm_print_line(out, options,
                  "strides: %" PRIu64 " equal, %zu not; %" PRIu64
                  " only the compiler knows, %" PRIu64 " only the code tells, %" PRIu64 " neither",
                  strides->n_agree, strides->n_differences, strides->n_binary_unknown,
                  strides->n_compiler_unknown, strides->n_both_unknown);
}

static void print_stride_rows(FILE *out, const struct pm_check_report *report,
                              const struct pm_report_options *options) {
    struct pm_table_rows table = pm_table_begin(
        pm_fields_named(PM_FIELDS(stride_fields), "address loop source compiler code"));
    for (size_t i = 0; i < report->strides->n_differences; i++) {
        struct stride_row row = stride_row(report, i);
        pm_table_row(&table, &row);
    }
    pm_table_end(out, &table, "\n", options);
}

/* Routines that are not as the compiler says. */
static void print_routines(FILE *out, const struct pm_check_report *report,
                           const struct pm_report_options *options) {
    struct pm_table_rows table = pm_table_begin(
        pm_fields_named(PM_FIELDS(routine_fields), "name lifted any_cause at differences"));
    for (int plain = 0; plain < 2; plain++)
        for (size_t i = 0; i < report->plain->n_routines; i++) {
            struct routine_row row = routine_row(report, plain, i);
            if (is_equal(&row.routine))
                continue;
            pm_table_row(&table, &row);
        }
    pm_table_end(out, &table, "\n", options);
}

static void write_table(FILE *out, const struct pm_check_report *report,
                        const struct pm_report_options *options) {
    pm_print_title(out, options, "%s: the lift beside the compiler's own facts",
                   pm_program_name(report->structure));
    fputc('\n', out);
    print_summary(out, "with metadata", report->with_metadata, options);
    print_summary(out, report->copy ? report->copy : "without", report->plain, options);
    print_strides(out, report->strides, options);
    print_routines(out, report, options);
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

static json_t *routines_json(const struct pm_check_report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->plain->n_routines; i++) {
        struct routine_row with = routine_row(report, false, i);
        struct routine_row plain = routine_row(report, true, i);
        json_t *object = PM_JSON_OBJECT(routine_fields, &with);
        json_object_set_new(object, "with_metadata", PM_JSON_OBJECT(side_fields, &with));
        json_object_set_new(object, "plain", PM_JSON_OBJECT(side_fields, &plain));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *strides_check_json(const struct pm_check_report *report) {
    static const struct pm_field fields[] = {
        {"equal", PM_INTEGER, PM_MEMBER(struct pm_strides_check, n_agree)},
        {"only_compiler", PM_INTEGER, PM_MEMBER(struct pm_strides_check, n_binary_unknown)},
        {"only_code", PM_INTEGER, PM_MEMBER(struct pm_strides_check, n_compiler_unknown)},
        {"neither", PM_INTEGER, PM_MEMBER(struct pm_strides_check, n_both_unknown)},
    };
    json_t *object = PM_JSON_OBJECT(fields, report->strides), *array = json_array();
    for (size_t i = 0; i < report->strides->n_differences; i++) {
        struct stride_row row = stride_row(report, i);
        json_array_append_new(array, PM_JSON_OBJECT(stride_fields, &row));
    }
    json_object_set_new(object, "differences", array);
    return object;
}

static void write_json(FILE *out, const struct pm_check_report *report) {
    json_t *document = pm_program_document("check", report->structure);
    json_object_set_new(document, "copy", pm_json_text(report->copy));
    json_object_set_new(document, "with_metadata", summary_json(report->with_metadata));
    json_object_set_new(document, "plain", summary_json(report->plain));
    json_object_set_new(document, "strides", strides_check_json(report));
    json_object_set_new(document, "routines", routines_json(report));
    pm_json_print(out, document);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void write_csv(FILE *out, const struct pm_check_report *report) {
    struct pm_csv_lines lines =
        pm_csv_begin(out, PM_FIELDS(routine_fields),
                     "program lifted name address any_cause at differences "
                     "basic_blocks inner_basic_blocks jump_tables jump_tables_equal");
    for (int plain = 0; plain < 2; plain++)
        for (size_t i = 0; i < report->plain->n_routines; i++) {
            struct routine_row row = routine_row(report, plain, i);
            pm_csv_line(&lines, &row);
        }
    pm_csv_end(&lines);
}

void pm_report_check(FILE *out, const struct pm_check_report *report,
                     const struct pm_report_options *options) {
    PM_BY_FORMAT(options, write_table(out, report, options), write_json(out, report),
                 write_csv(out, report));
}
