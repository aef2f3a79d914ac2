/* `pmodel diff` of two programs: what the compiler made of each loop, without any run.

   JSON: {"format": "pmodel-diff-code", "version": 1, "before": path, "after": path, machine,
   "rows":
   [{label …, "before": {vector_bits, unroll, instructions, spill_loads, spill_stores, cycles,
   bounds, bound}, "after": {…}}]}. */
#include <math.h>
#include <stdlib.h>

#include "report/diff/diff.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"
#include "sched/sched.h"

/* ---- what a loop is made of ------------------------------------------------------------------ */

static bool is_on_vector(const struct pm_op *op) {
    return op->element_bytes && op->width_bits > 8u * op->element_bytes &&
           pm_op_class_kind(op->op_class) != 'm';
}

struct pm_emitted_loop pm_emitted_loop_of(const struct pm_structure *structure, uint32_t scope) {
    const struct pm_scope *loop = &structure->scopes[scope];
    struct pm_emitted_loop code = {.is_there = true, .unroll = loop->unroll, .cycles = NAN};
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        if (block->loop != scope)
            continue;
        code.n_instructions += block->n_instructions;
        for (uint32_t i = 0; i < block->n_ops; i++) {
            const struct pm_op *op = &structure->ops[block->first_op + i];
            if (is_on_vector(op) && op->width_bits > code.vector_bits)
                code.vector_bits = op->width_bits;
        }
        for (uint32_t i = 0; i < block->n_references; i++) {
            const struct pm_reference *r = &structure->references[block->first_reference + i];
            bool is_spill =
                r->group != PM_NONE && structure->groups[r->group].flags & PM_GROUP_STACK;
            code.n_spill_loads += is_spill && r->access & PM_ACCESS_LOAD;
            code.n_spill_stores += is_spill && r->access & PM_ACCESS_STORE;
        }
    }
    return code;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* A row, and where it is. */
struct code_row {
    struct pm_row_place place;
    const struct pm_code_diff_row *row;
    char *label, *source; /* owned */
};

static json_t *code_json(const struct pm_emitted_loop *code) {
    static const struct pm_field fields[] = {
        {"vector_bits", PM_INTEGER, PM_MEMBER(struct pm_emitted_loop, vector_bits)},
        {"unroll", PM_INTEGER, PM_MEMBER(struct pm_emitted_loop, unroll)},
        {"instructions", PM_INTEGER, PM_MEMBER(struct pm_emitted_loop, n_instructions)},
        {"spill_loads", PM_INTEGER, PM_MEMBER(struct pm_emitted_loop, n_spill_loads)},
        {"spill_stores", PM_INTEGER, PM_MEMBER(struct pm_emitted_loop, n_spill_stores)},
        {"cycles", PM_NUMBER, PM_MEMBER(struct pm_emitted_loop, cycles)},
        {"cycles_are_lower_bound", PM_YES_NO, PM_MEMBER(struct pm_emitted_loop, is_lower_bound)},
    };
    json_t *object = PM_JSON_OBJECT(fields, code), *bounds = json_object();
    bool is_scheduled = !isnan(code->cycles);
    for (unsigned h = 0; h < PM_N_HOLDS; h++)
        json_object_set_new(bounds, pm_cause_name((enum pm_cause)h),
                            pm_json_number(is_scheduled ? code->bounds[h] : NAN));
    json_object_set_new(object, "bounds", bounds);
    json_object_set_new(object, "bound",
                        is_scheduled ? json_string(pm_cause_name((enum pm_cause)code->hold))
                                     : json_null());
    return object;
}

/* "128 > 256", "128" if both are so, "" where nothing is known. */
static struct pm_field_value both(const struct pm_code_diff_row *row, const char *before,
                                  const char *after) {
    if (!row->before.is_there || !row->after.is_there)
        return pm_copied_text(row->before.is_there ? before : after);
    return strcmp(before, after) == 0 ? pm_copied_text(after)
                                      : pm_owned_text(pm_sprintf("%s > %s", before, after));
}

static struct pm_field_value both_numbers(const struct pm_code_diff_row *row, uint32_t before,
                                          uint32_t after) {
    char from[16], to[16];
    snprintf(from, sizeof from, "%u", before);
    snprintf(to, sizeof to, "%u", after);
    return both(row, from, to);
}

static struct pm_field_value cycles_cell(const void *at) {
    const struct pm_code_diff_row *row = ((const struct code_row *)at)->row;
    const struct pm_emitted_loop *codes[2] = {&row->before, &row->after};
    char texts[2][PM_NUMBER_TEXT_SIZE + 1];
    for (int i = 0; i < 2; i++)
        snprintf(texts[i], sizeof texts[i], "%s%s", codes[i]->is_lower_bound ? ">" : "",
                 isnan(codes[i]->cycles) ? "?" : pm_rate_text(codes[i]->cycles).text);
    return both(row, texts[0], texts[1]);
}

static const char *hold_text(const struct pm_emitted_loop *code) {
    return isnan(code->cycles) ? "" : pm_cause_name((enum pm_cause)code->hold);
}

#define GETTER(name_, value_) PM_GETTER(name_, struct code_row, value_)
#define BOTH(name_, member_)                                                                       \
    GETTER(name_##_cell, both_numbers(row->row, row->row->before.member_, row->row->after.member_))
#define SIDES(name_, member_, get_)                                                                \
    GETTER(before_##name_,                                                                         \
           row->row->before.is_there ? get_(row->row->before.member_) : pm_unknown())              \
    GETTER(after_##name_, row->row->after.is_there ? get_(row->row->after.member_) : pm_unknown())
BOTH(vector, vector_bits)
BOTH(unroll, unroll)
BOTH(instructions, n_instructions)
GETTER(spills_cell,
       both_numbers(row->row, row->row->before.n_spill_loads + row->row->before.n_spill_stores,
                    row->row->after.n_spill_loads + row->row->after.n_spill_stores))
GETTER(hold_cell, both(row->row, hold_text(&row->row->before), hold_text(&row->row->after)))
GETTER(paired_by, pm_text(row->row->paired_by))
GETTER(before_json,
       row->row->before.is_there ? pm_json_value(code_json(&row->row->before)) : pm_unknown())
GETTER(after_json,
       row->row->after.is_there ? pm_json_value(code_json(&row->row->after)) : pm_unknown())
SIDES(vector, vector_bits, pm_integer)
SIDES(unroll, unroll, pm_integer)
SIDES(instructions, n_instructions, pm_integer)
SIDES(spill_loads, n_spill_loads, pm_integer)
SIDES(spill_stores, n_spill_stores, pm_integer)
SIDES(cycles, cycles, pm_number)

#define SIDE_FIELDS(name_, kind_)                                                                  \
    {"before_" #name_, kind_, .get = before_##name_, .not_in_json = true}, {                       \
        "after_" #name_, kind_, .get = after_##name_, .not_in_json = true                          \
    }
#define PLACE(get_) PM_PLACE(struct code_row, place, get_)
static const struct pm_field fields[] = {
    {"label", PM_NAME, PM_MEMBER(struct code_row, label), .header = "LOOP"},
    {"name", PM_TEXT, PLACE(name)},
    {"file", PM_TEXT, PLACE(file)},
    {"line_first", PM_POSITIVE, PLACE(line_first)},
    {"key", PM_HEX, PLACE(key)},
    {"paired_by", PM_TEXT, .get = paired_by},
    {"before", PM_JSON_ONLY, .get = before_json},
    {"after", PM_JSON_ONLY, .get = after_json},
    SIDE_FIELDS(vector, PM_INTEGER),
    SIDE_FIELDS(unroll, PM_INTEGER),
    SIDE_FIELDS(instructions, PM_INTEGER),
    SIDE_FIELDS(spill_loads, PM_INTEGER),
    SIDE_FIELDS(spill_stores, PM_INTEGER),
    SIDE_FIELDS(cycles, PM_NUMBER),
    {"source", PM_NAME, PM_MEMBER(struct code_row, source), .not_in_json = true, .header = "SOURCE",
     .dispensable = 2},
    {"vector", PM_NUMBER, .cell = vector_cell, .not_in_json = true, .header = "VECTOR BITS"},
    {"unrolled", PM_NUMBER, .cell = unroll_cell, .not_in_json = true, .header = "UNROLLED",
     .dispensable = 1},
    {"instructions", PM_NUMBER, .cell = instructions_cell, .not_in_json = true, .header = "INSTRS"},
    {"spills", PM_NUMBER, .cell = spills_cell, .not_in_json = true, .header = "SPILLS"},
    {"cycles", PM_NUMBER, .cell = cycles_cell, .not_in_json = true, .header = "CYCLES/IT"},
    {"hold", PM_TEXT, .cell = hold_cell, .not_in_json = true, .header = "HELD BY"},
};

/* ---- rows ------------------------------------------------------------------------------------ */

static struct code_row *make_rows(const struct pm_code_diff *report) {
    struct code_row *rows = pm_alloc(report->n_rows + 1, sizeof *rows);
    for (size_t i = 0; i < report->n_rows; i++) {
        const struct pm_code_diff_row *row = &report->rows[i];
        char *label = pm_scope_label(row->structure, row->scope);
        bool is_sure = !row->paired_by || strcmp(row->paired_by, "key") == 0;
        rows[i] = (struct code_row){.place = {row->structure, row->scope},
                                    .row = row,
                                    .label = pm_sprintf("%s%s%s", is_sure ? "" : "~", label,
                                                        !row->after.is_there    ? " (only before)"
                                                        : !row->before.is_there ? " (only after)"
                                                                                : ""),
                                    .source = pm_scope_source(row->structure, row->scope)};
        free(label);
    }
    return rows;
}

static void write_table(FILE *out, const struct pm_code_diff *report, const struct code_row *rows,
                        const struct pm_report_options *options) {
    struct pm_fields columns = pm_fields_named(
        PM_FIELDS(fields), report->machine
                               ? "label source vector unrolled instructions spills cycles hold"
                               : "label source vector unrolled instructions spills");
    struct pm_table_rows table = pm_table_begin(columns);
    size_t n_same = 0, n_hidden = 0;
    for (size_t i = 0; i < report->n_rows; i++) {
        bool is_same = report->rows[i].weight == 0 && report->rows[i].paired_by;
        bool is_full = options->max_rows && table.n_rows >= options->max_rows;
        if (options->wide || (!is_same && !is_full))
            pm_table_row(&table, &rows[i]);
        else if (is_same)
            n_same++;
        else
            n_hidden++;
    }
    pm_print_title(out, options, "%s, then %s: loops%s%s", report->before_name, report->after_name,
                   report->machine ? " on " : "", report->machine ? report->machine->title : "");
    pm_table_end(out, &table, "", options);
    if (n_same)
        pm_print_line(out, options, "%zu loops are the same in both (--wide shows them).", n_same);
    if (n_hidden)
        pm_print_line(out, options, "%zu more loops changed.", n_hidden);
    if (!report->machine)
        pm_print_note(out, options,
                      "With a machine (-m) also cycles of an iteration, if nothing "
                      "misses, and what holds it.");
}

static void write_json(FILE *out, const struct pm_code_diff *report, const struct code_row *rows) {
    json_t *document = pm_json_document("diff-code");
    json_object_set_new(document, "before", pm_json_text(report->before_name));
    json_object_set_new(document, "after", pm_json_text(report->after_name));
    json_object_set_new(document, "machine",
                        pm_json_text(report->machine ? report->machine->name : NULL));
    json_object_set_new(document, "rows",
                        pm_fields_array(PM_FIELDS(fields), rows, report->n_rows, sizeof *rows));
    pm_json_print(out, document);
}

void pm_report_code_diff(FILE *out, const struct pm_code_diff *report,
                         const struct pm_report_options *options) {
    struct code_row *rows = make_rows(report);
    PM_BY_FORMAT(
        options, write_table(out, report, rows, options), write_json(out, report, rows),
        pm_fields_csv(out, PM_FIELDS(fields),
                      "label name file line_first key paired_by before_vector after_vector "
                      "before_unroll after_unroll before_instructions after_instructions "
                      "before_spill_loads after_spill_loads before_spill_stores "
                      "after_spill_stores before_cycles after_cycles",
                      rows, report->n_rows, sizeof *rows));
    for (size_t i = 0; i < report->n_rows; i++) {
        free(rows[i].label);
        free(rows[i].source);
    }
    free(rows);
}
