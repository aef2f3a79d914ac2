/* `pmodel machines --curves`: the curves of machines as figures, and where parts of a program lie
 * on them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/labels/labels.h"
#include "report/signature/private.h"

static const char *kind_word(const struct pm_curve *curve) {
    return pm_curve_is_of_writes(curve) ? "stores" : "loads";
}

static char *stride_label(const struct pm_curve *curve) {
    return curve->stride_bytes > 0 ? pm_sprintf("%.0f bytes", curve->stride_bytes)
                                   : pm_strdup("random");
}

/* ---- table ------------------------------------------------------------------------------------
 */

/* Those of parts that are placed: by which curve. */
static void print_placed(FILE *out, const struct pm_convolved_program *program,
                         const struct pm_convolution *convolution,
                         const struct pm_report_options *options) {
    struct pm_part_row *rows = pm_part_rows(program->structure, convolution);
    char *size = pm_parameters_text(&program->at);
    struct pm_table_rows table = pm_table_begin(pm_fields_named(
        pm_part_fields, "number label source memory_share hit_percents slowest_pattern "
                        "working_set_bytes words_per_second"));
    for (size_t i = 0; i < convolution->n_parts; i++)
        if (100 * rows[i].part->weight >= options->min_percent)
            pm_table_row(&table, &rows[i]);
    pm_print_title(out, options, "%s  %s", pm_program_name(program->structure), size);
    pm_table_end(out, &table, NULL, options);
    free(size);
    free(rows);
}

static void print_curves(FILE *out, const struct pm_signature *signature,
                         const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, "MB/S", PM_COLUMN_TEXT);
    pm_text_table_column(table, "STRIDE", PM_COLUMN_NUMBER);
    for (size_t l = 0; l < signature->n_caches; l++)
        pm_text_table_column(table, signature->machine->levels[l].name, PM_COLUMN_NUMBER);
    pm_text_table_column(table, "MEMORY", PM_COLUMN_NUMBER);
    for (size_t i = 0; i < signature->n_curves; i++) {
        const struct pm_curve *curve = &signature->curves[i];
        char *stride = stride_label(curve);
        pm_text_table_cell(table, kind_word(curve));
        pm_text_table_cell(table, stride);
        for (size_t l = 0; l <= signature->n_caches; l++) {
            double rate = pm_signature_plateau(signature, curve, l);
            char *cell = isnan(rate) ? pm_strdup("?")
                                     : pm_sprintf("%.0f", rate * pm_megabytes_a_second(signature));
            pm_text_table_cell(table, cell);
            free(cell);
        }
        free(stride);
    }
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
}

static void print_tables(FILE *out, const struct pm_signature *signatures, size_t n,
                         const struct pm_convolved_program *program,
                         const struct pm_convolution *convolutions,
                         const struct pm_report_options *options) {
    for (size_t i = 0; i < n; i++) {
        const struct pm_signature *signature = &signatures[i];
        if (i)
            fputc('\n', out);
        pm_print_title(out, options, "%s: rates of one thread that each level gives",
                       signature->machine->title);
        print_curves(out, signature, options);
        if (signature->is_synthesised)
            pm_print_note(out, options,
                          "Synthesised from the machine's description: nobody measured it.");
        if (convolutions)
            print_placed(out, program, &convolutions[i], options);
    }
}

/* ---- JSON, CSV ---------------------------------------------------------------------------------
 */

struct point_row {
    const struct pm_signature *signature;
    const struct pm_curve *curve;
    size_t point;
};

static json_t *hits_json(const struct point_row *row) {
    json_t *object = json_object();
    for (size_t k = 0; k < row->curve->n_hits; k++)
        json_object_set_new(object, row->curve->hits[k].level,
                            pm_json_number(row->curve->hits[k].share[row->point]));
    return object;
}

static char *hits_text(const struct point_row *row) {
    char *text = pm_strdup("");
    for (size_t k = 0; k < row->curve->n_hits; k++)
        pm_append(&text, "%s%.6g", k ? " " : "", row->curve->hits[k].share[row->point]);
    return text;
}

static double end_of(const double *ends, size_t point) { return ends ? ends[point] : NAN; }

PM_GETTER(machine_value, struct point_row, pm_text(row->signature->machine->name))
PM_GETTER(synthesised_value, struct point_row, pm_integer(row->signature->is_synthesised))
PM_GETTER(kind_value, struct point_row, pm_text(kind_word(row->curve)))
PM_GETTER(stride_value, struct point_row, pm_number(row->curve->stride_bytes))
PM_GETTER(set_value, struct point_row, pm_number(row->curve->working_set_bytes[row->point]))
PM_GETTER(rate_value, struct point_row, pm_number(row->curve->value[row->point]))
PM_GETTER(low_value, struct point_row, pm_number(end_of(row->curve->low, row->point)))
PM_GETTER(high_value, struct point_row, pm_number(end_of(row->curve->high, row->point)))
PM_GETTER(bytes_value, struct point_row,
          pm_number(row->curve->value[row->point] * row->signature->machine->clock_hz))
PM_GETTER(hits_value, struct point_row, pm_json_value(hits_json(row)))
PM_GETTER(hits_csv, struct point_row, pm_owned_text(hits_text(row)))

static const struct pm_field point_fields[] = {
    {"machine", PM_TEXT, .get = machine_value, .not_in_json = true},
    {"synthesised", PM_YES_NO, .get = synthesised_value, .not_in_json = true},
    {"of", PM_TEXT, .get = kind_value, .not_in_json = true},
    {"stride_bytes", PM_NUMBER, .get = stride_value, .not_in_json = true},
    {"working_set_bytes", PM_NUMBER, .get = set_value},
    {"bytes_per_cycle", PM_NUMBER, .get = rate_value},
    {"low_bytes_per_cycle", PM_NUMBER, .get = low_value},
    {"high_bytes_per_cycle", PM_NUMBER, .get = high_value},
    {"bytes_per_second", PM_NUMBER, .get = bytes_value},
    {"hit_rates", PM_JSON_ONLY, .get = hits_value},
    {"hit_shares", PM_TEXT, .get = hits_csv, .not_in_json = true},
};

static json_t *curves_json(const struct pm_signature *signature) {
    json_t *curves = json_array();
    for (size_t i = 0; i < signature->n_curves; i++) {
        const struct pm_curve *curve = &signature->curves[i];
        json_t *points = json_array();
        for (size_t k = 0; k < curve->n_points; k++) {
            struct point_row row = {signature, curve, k};
            json_array_append_new(points, PM_JSON_OBJECT(point_fields, &row));
        }
        json_array_append_new(curves,
                              json_pack("{s:s,s:s,s:o,s:o}", "name", curve->name, "of",
                                        kind_word(curve), "stride_bytes",
                                        pm_json_number(curve->stride_bytes), "points", points));
    }
    return curves;
}

static void print_json(FILE *out, const struct pm_signature *signatures, size_t n,
                       const struct pm_convolved_program *program,
                       const struct pm_convolution *convolutions) {
    json_t *document = pm_json_document("signature"), *machines = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct pm_signature *signature = &signatures[i];
        json_t *machine = json_pack(
            "{s:o,s:b,s:o,s:o}", "machine", pm_json_text(signature->machine->name), "synthesised",
            (int)signature->is_synthesised, "clock_hz",
            pm_json_number(signature->machine->clock_hz), "curves", curves_json(signature));
        if (convolutions) {
            struct pm_part_row *rows = pm_part_rows(program->structure, &convolutions[i]);
            json_object_set_new(
                machine, "parts",
                pm_fields_array(pm_part_fields, rows, convolutions[i].n_parts, sizeof *rows));
            free(rows);
        }
        json_array_append_new(machines, machine);
    }
    json_object_set_new(document, "machines", machines);
    pm_json_print(out, document);
}

static void print_csv(FILE *out, const struct pm_signature *signatures, size_t n) {
    struct pm_csv_lines lines =
        pm_csv_begin(out, PM_FIELDS(point_fields),
                     "machine synthesised of stride_bytes working_set_bytes bytes_per_cycle "
                     "low_bytes_per_cycle high_bytes_per_cycle bytes_per_second hit_shares");
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < signatures[i].n_curves; c++)
            for (size_t k = 0; k < signatures[i].curves[c].n_points; k++) {
                struct point_row row = {&signatures[i], &signatures[i].curves[c], k};
                pm_csv_line(&lines, &row);
            }
    pm_csv_end(&lines);
}

void pm_report_signatures(FILE *out, const struct pm_signature *signatures, size_t n,
                          const struct pm_convolved_program *program,
                          const struct pm_convolution *convolutions,
                          const struct pm_report_options *options) {
    PM_BY_FORMAT(options, print_tables(out, signatures, n, program, convolutions, options),
                 print_json(out, signatures, n, program, convolutions),
                 print_csv(out, signatures, n));
}

/* ---- drawing -----------------------------------------------------------------------------------
 */

enum { MOST_MARKS = 12 };

static size_t place_parts(const struct pm_signature *signature,
                          const struct pm_convolved_program *program,
                          const struct pm_convolution *convolution, struct pm_curve_mark *marks,
                          char **labels) {
    size_t n = 0;
    for (size_t i = 0; i < convolution->n_parts && n < MOST_MARKS; i++, n++) {
        const struct pm_convolved_part *part = &convolution->parts[i];
        const struct pm_pattern *pattern = &part->part->patterns.of[part->kind][part->bin];
        struct pm_read_rate rate;
        pm_signature_read(signature, part->kind == PM_PATTERN_STORES, (enum pm_stride_bin)part->bin,
                          pattern, &rate);
        char *label = pm_part_label(program->structure, part->part);
        char *mostly = pm_pattern_label(part->kind, part->bin);
        labels[n] = pm_sprintf("%s: %.3g%% of the references, mostly %s", label, 100 * part->weight,
                               mostly);
        marks[n] = (struct pm_curve_mark){.curve = (size_t)(rate.curve - signature->curves),
                                          .working_set_bytes = rate.working_set_bytes,
                                          .value = PM_WORD_BYTES / rate.cycles,
                                          .weight = part->weight,
                                          .number = i + 1,
                                          .label = labels[n]};
        free(label);
        free(mostly);
    }
    return n;
}

void pm_report_signature_svg(FILE *out, const struct pm_signature *signature,
                             const struct pm_convolved_program *program,
                             const struct pm_convolution *convolution) {
    struct pm_curve_mark marks[MOST_MARKS];
    char *labels[MOST_MARKS];
    struct pm_curves_drawing drawing = {
        .machine = signature->machine,
        .title = signature->is_synthesised
                     ? ": MB/s against the working set, in bytes; synthesised, not measured"
                     : ": MB/s against the working set, in bytes, by stride",
        .curves = signature->curves,
        .n_curves = signature->n_curves,
        .rate_factor = pm_megabytes_a_second(signature),
        .rate_unit = "MB/s",
        .is_log = true,
        .marks = marks};
    if (convolution)
        drawing.n_marks = place_parts(signature, program, convolution, marks, labels);
    pm_draw_curves(out, &drawing);
    for (size_t i = 0; i < drawing.n_marks; i++)
        free(labels[i]);
}
