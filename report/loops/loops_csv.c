/* `pmodel loops --format csv`: a line for each routine, loop and piece of inlined code, and, where
   groups are asked for, one for each reference group, right after the line of its scope.  `record`
   says which; fields that do not apply or are not known are empty.  Needs the rows of loops.c. */
#include <stdlib.h>

#include "report/loops/loops.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static void write_header(struct pm_csv *csv) {
    static const char *const names[] = {
        "program",      "record",     "label",       "indent",           "depth",      "key",
        "file",         "line_first", "line_last",   "address",          "trip_count", "unroll",
        "basic_blocks", "edges",      "counters",    "counters_formula", "state",      "remarks",
        "group",        "object",     "object_type", "strides_bytes",    "loads",      "stores",
        "bytes_min",    "bytes_max",  "group_flags"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pm_csv_text(csv, names[i]);
    pm_csv_end_line(csv);
}

static void write_empty(struct pm_csv *csv, unsigned n) {
    while (n-- > 0)
        pm_csv_text(csv, NULL);
}

/* The fields up to `address`, the same for a scope and for its groups. */
static void write_place(struct pm_csv *csv, const struct pm_loops_report *report,
                        const struct pm_loop_row *row, const char *record) {
    const struct pm_scope *scope = &report->structure->scopes[row->scope];
    pm_csv_text(csv, pm_program_name(report->structure));
    pm_csv_text(csv, record);
    pm_csv_text(csv, row->label);
    pm_csv_integer(csv, row->indent);
    pm_csv_integer(csv, scope->depth);
    pm_csv_hex(csv, scope->key);
    pm_csv_text(csv, scope->file);
    pm_csv_line_number(csv, scope->line_first);
    pm_csv_line_number(csv, scope->line_last);
    pm_csv_hex(csv, row->routine ? row->routine->address : scope->address_low);
}

static void write_scope(struct pm_csv *csv, const struct pm_loops_report *report,
                        const struct pm_loop_row *row) {
    const struct pm_scope *scope = &report->structure->scopes[row->scope];
    const struct pm_routine *routine = row->routine;
    write_place(csv, report, row, pm_scope_kind_word(scope->kind));
    pm_csv_text(csv, row->trip_count);
    if (scope->kind == PM_SCOPE_LOOP)
        pm_csv_integer(csv, scope->unroll);
    else
        write_empty(csv, 1);
    pm_csv_integer(csv, row->n_blocks);
    if (routine && routine->state != PM_ROUTINE_REFUSED) {
        pm_csv_integer(csv, routine->n_edges);
        pm_csv_integer(csv, routine->n_counters);
        pm_csv_integer(csv, routine->n_counters_formula);
    } else {
        write_empty(csv, 3);
    }
    pm_csv_text(csv, routine ? pm_routine_state_word(routine->state) : NULL);
    pm_csv_text(csv, row->remarks);
    write_empty(csv, 9);
    pm_csv_end_line(csv);
}

static void write_group(struct pm_csv *csv, const struct pm_loops_report *report,
                        const struct pm_loop_row *row, uint32_t index) {
    const struct pm_group *group = &report->structure->groups[index];
    char *strides = pm_strides_label(group), *flags = pm_group_flags_label(group);
    write_place(csv, report, row, "group");
    write_empty(csv, 8);
    pm_csv_integer(csv, index);
    pm_csv_text(csv, group->object);
    pm_csv_text(csv, group->object_type);
    pm_csv_text(csv, strides);
    pm_csv_integer(csv, group->n_loads);
    pm_csv_integer(csv, group->n_stores);
    pm_csv_integer(csv, group->bytes_min);
    pm_csv_integer(csv, group->bytes_max);
    pm_csv_text(csv, flags);
    pm_csv_end_line(csv);
    free(strides);
    free(flags);
}

void pm_write_loops_csv(FILE *out, const struct pm_loops_report *report) {
    struct pm_csv csv = {.out = out};
    write_header(&csv);
    for (size_t i = 0; i < report->rows->n_rows; i++) {
        const struct pm_loop_row *row = &report->rows->rows[i];
        write_scope(&csv, report, row);
        for (uint32_t j = 0; report->with_groups && j < row->n_groups; j++)
            write_group(&csv, report, row, report->rows->groups[row->first_group + j]);
    }
}
