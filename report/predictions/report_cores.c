/* What a prediction of several threads says beside its rows: how evenly the parallel parts are
   shared out among the cores, and in which loops threads only waited. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/predictions/predictions.h"

struct part_row {
    struct pm_row_place place; /* its routine; the program for what is serial */
    bool serial;
    double seconds, mean_seconds, imbalance;
};

struct spin_loop_row {
    struct pm_row_place place;
    double rounds;
};

static const struct pm_field part_fields[] = {
    {"serial", PM_YES_NO, PM_MEMBER(struct part_row, serial)},
    {"label", PM_TEXT, PM_PLACE(struct part_row, place, label)},
    {"name", PM_TEXT, PM_PLACE(struct part_row, place, name)},
    {"file", PM_TEXT, PM_PLACE(struct part_row, place, file)},
    {"line_first", PM_POSITIVE, PM_PLACE(struct part_row, place, line_first)},
    {"key", PM_HEX, PM_PLACE(struct part_row, place, key)},
    {"seconds", PM_SECONDS, PM_MEMBER(struct part_row, seconds)},
    {"mean_seconds", PM_SECONDS, PM_MEMBER(struct part_row, mean_seconds)},
    {"imbalance", PM_RATE, PM_MEMBER(struct part_row, imbalance)},
};

static const struct pm_field spin_loop_fields[] = {
    {"label", PM_TEXT, PM_PLACE(struct spin_loop_row, place, label)},
    {"name", PM_TEXT, PM_PLACE(struct spin_loop_row, place, name)},
    {"file", PM_TEXT, PM_PLACE(struct spin_loop_row, place, file)},
    {"line_first", PM_POSITIVE, PM_PLACE(struct spin_loop_row, place, line_first)},
    {"key", PM_HEX, PM_PLACE(struct spin_loop_row, place, key)},
    {"rounds", PM_COUNT, PM_MEMBER(struct spin_loop_row, rounds)},
};

static struct part_row part_row(const struct pm_structure *structure,
                                const struct pm_parallel_part *part) {
    bool serial = part->routine == PM_NONE;
    return (struct part_row){
        .place = {structure, serial ? 0 : structure->routines[part->routine].scope},
        .serial = serial,
        .seconds = part->seconds,
        .mean_seconds = part->mean_seconds,
        .imbalance = part->mean_seconds > 0 ? part->seconds / part->mean_seconds : NAN};
}

json_t *pm_cores_json(const struct pm_structure *structure, const struct pm_cores *cores) {
    if (!cores)
        return json_null();
    json_t *object = json_object(), *parts = json_array(), *spin_loops = json_array();
    json_object_set_new(object, "cores", pm_json_integer(cores->n_cores));
    json_object_set_new(object, "threads", pm_json_integer(cores->n_threads));
    json_object_set_new(object, "checked", json_boolean(cores->is_checked));
    json_object_set_new(object, "imbalance", pm_json_number(cores->imbalance));
    json_object_set_new(object, "thread_seconds", pm_json_number(cores->thread_seconds));
    for (size_t i = 0; i < cores->n_parts; i++) {
        struct part_row row = part_row(structure, &cores->parts[i]);
        json_array_append_new(parts, PM_JSON_OBJECT(part_fields, &row));
    }
    for (size_t i = 0; i < cores->spin.n_loops; i++) {
        struct spin_loop_row row = {{structure, cores->spin.loops[i].scope},
                                    cores->spin.loops[i].rounds};
        json_array_append_new(spin_loops, PM_JSON_OBJECT(spin_loop_fields, &row));
    }
    json_object_set_new(object, "parts", parts);
    json_object_set_new(object, "spin_loops", spin_loops);
    return object;
}

/* ---- for people ------------------------------------------------------------------------------ */

static int longest_first(const void *left, const void *right) {
    const struct part_row *a = left, *b = right;
    return PM_COMPARE(b->seconds, a->seconds);
}

static void add_part(struct pm_text_table *table, const struct part_row *row) {
    const struct pm_structure *structure = row->place.structure;
    char *label = row->serial ? pm_strdup("serial") : pm_scope_label(structure, row->place.scope);
    char *source = row->serial ? pm_strdup("") : pm_scope_source(structure, row->place.scope);
    char *imbalance =
        row->serial || isnan(row->imbalance) ? pm_strdup("") : pm_sprintf("%.2f", row->imbalance);
    pm_text_table_cell(table, pm_seconds_text(row->seconds).text);
    pm_text_table_cell(table, row->serial ? "" : pm_seconds_text(row->mean_seconds).text);
    pm_text_table_cell(table, imbalance);
    pm_text_table_cell(table, label);
    pm_text_table_cell(table, source);
    free(imbalance);
    free(source);
    free(label);
}

static void print_parts(FILE *out, const struct pm_structure *structure,
                        const struct pm_prediction *prediction,
                        const struct pm_report_options *options) {
    const struct pm_cores *cores = prediction->cores;
    struct pm_text_table *table = pm_text_table_new();
    struct part_row *rows = pm_alloc(cores->n_parts, sizeof *rows);
    for (size_t i = 0; i < cores->n_parts; i++)
        rows[i] = part_row(structure, &cores->parts[i]);
    PM_SORT(rows, cores->n_parts, longest_first);
    pm_text_table_column(table, "TIME", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "MEAN", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "IMBALANCE", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "PART", PM_COLUMN_TEXT);
    pm_text_table_column(table, "SOURCE", PM_COLUMN_TEXT);
    for (size_t i = 0; i < cores->n_parts; i++)
        if (rows[i].seconds > 0 &&
            !(100 * rows[i].seconds < options->min_percent * prediction->seconds))
            add_part(table, &rows[i]);
    fprintf(out, "parallel parts: the core that takes longest, and the mean of %u\n",
            cores->n_cores);
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
    free(rows);
}

static void print_spin_loops(FILE *out, const struct pm_structure *structure,
                             const struct pm_spin_loops *spin,
                             const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, "ROUNDS", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "LOOP", PM_COLUMN_TEXT);
    pm_text_table_column(table, "SOURCE", PM_COLUMN_TEXT);
    for (size_t i = 0; i < spin->n_loops; i++) {
        char *label = pm_scope_label(structure, spin->loops[i].scope);
        char *source = pm_scope_source(structure, spin->loops[i].scope);
        pm_text_table_cell(table, pm_count_text(spin->loops[i].rounds).text);
        pm_text_table_cell(table, label);
        pm_text_table_cell(table, source);
        free(label);
        free(source);
    }
    fputs("left out: rounds in which a thread only waited for another one\n", out);
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
}

void pm_print_cores(FILE *out, const struct pm_structure *structure,
                    const struct pm_prediction *prediction,
                    const struct pm_report_options *options) {
    if (!prediction->cores)
        return;
    print_parts(out, structure, prediction, options);
    if (prediction->cores->spin.n_loops)
        print_spin_loops(out, structure, &prediction->cores->spin, options);
}
