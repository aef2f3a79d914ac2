/* `pmodel report --as roofline`: loops under a machine's roofs, as a table, JSON or CSV. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/signature/private.h"

struct point_row {
    struct pm_row_place place;
    const struct pm_roofs *roofs;
    const struct pm_roofline_point *point;
    const char *store;
    double share, flops_rate, limit;
    const char *roof; /* the lowest one above the point */
};

/* The lowest roof above POINT: units, or a level by what it moves. */
static void find_roof(struct point_row *row) {
    double peak = row->roofs->flops_per_second;
    row->limit = peak > 0 ? peak : INFINITY;
    row->roof = peak > 0 ? "units" : NULL;
    for (size_t l = 0; l < row->roofs->n_roofs; l++) {
        double bytes = row->point->bytes[l];
        double limit = bytes > 0 ? row->point->flops / bytes * row->roofs->roofs[l].bytes_per_second
                                 : INFINITY;
        if (limit >= row->limit || isnan(limit))
            continue;
        row->limit = limit;
        row->roof = row->roofs->roofs[l].name;
    }
}

static char *intensities(const struct point_row *row) {
    char *text = pm_strdup("");
    for (size_t l = 0; l < row->roofs->n_roofs; l++) {
        double bytes = row->point->bytes[l];
        pm_append(&text, "%s%s", l ? " " : "",
                  bytes > 0 ? pm_rate_text(row->point->flops / bytes).text : "-");
    }
    return text;
}

static json_t *intensities_json(const struct point_row *row) {
    json_t *object = json_object();
    for (size_t l = 0; l < row->roofs->n_roofs; l++)
        json_object_set_new(object, row->roofs->roofs[l].name,
                            pm_json_number(row->point->flops / row->point->bytes[l]));
    return object;
}

PM_GETTER(flops_value, struct point_row, pm_number(row->point->flops))
PM_GETTER(seconds_value, struct point_row, pm_number(row->point->seconds))
PM_GETTER(rate_cell, struct point_row, pm_owned_text(pm_rate_label(row->flops_rate, "FLOP/s")))
PM_GETTER(limit_cell, struct point_row, pm_owned_text(pm_rate_label(row->limit, "FLOP/s")))
PM_GETTER(reached_value, struct point_row, pm_number(row->flops_rate / row->limit))
PM_GETTER(intensity_value, struct point_row, pm_owned_text(intensities(row)))
PM_GETTER(intensity_json, struct point_row, pm_json_value(intensities_json(row)))

#define ROW(member_) PM_MEMBER(struct point_row, member_)
#define PLACE(get_) PM_PLACE(struct point_row, place, get_)

static const struct pm_field fields[] = {
    {"store", PM_TEXT, ROW(store), .not_in_json = true},
    {"share", PM_PERCENT, ROW(share), .header = "%"},
    {"seconds", PM_SECONDS, .get = seconds_value, .header = "TIME"},
    {"label", PM_NAME, PLACE(label), .header = "LOOP"},
    {"source", PM_NAME, PLACE(source), .header = "SOURCE", .dispensable = 2},
    {"key", PM_HEX, PLACE(key)},
    {"flops", PM_COUNT, .get = flops_value},
    {"flops_per_second", PM_NUMBER, ROW(flops_rate), .header = "RATE", .cell = rate_cell},
    {"limit_flops_per_second", PM_NUMBER, ROW(limit), .header = "ROOF", .cell = limit_cell},
    {"reached_share", PM_PERCENT, .get = reached_value, .header = "OF IT%"},
    {"roof", PM_TEXT, ROW(roof), .header = "OF"},
    {"intensities", PM_JSON_ONLY, .get = intensity_json},
    {"flops_per_byte", PM_TEXT, .get = intensity_value, .not_in_json = true,
     .header = "FLOP/BYTE BY LEVEL", .dispensable = 1},
};

static struct point_row *make_rows(const struct pm_roofs *roofs,
                                   const struct pm_rooflined_program *program) {
    size_t n = program->roofline.n_points;
    struct point_row *rows = pm_alloc(n + 1, sizeof *rows);
    double seconds = 0;
    for (size_t i = 0; i < n; i++)
        seconds += program->roofline.points[i].seconds;
    for (size_t i = 0; i < n; i++) {
        const struct pm_roofline_point *point = &program->roofline.points[i];
        rows[i] = (struct point_row){.place = {program->structure, point->scope},
                                     .roofs = roofs,
                                     .point = point,
                                     .store = program->name,
                                     .share = point->seconds / seconds,
                                     .flops_rate = point->flops / point->seconds};
        find_roof(&rows[i]);
    }
    return rows;
}

/* ---- the three formats ------------------------------------------------------------------------
 */

static void print_roofs(FILE *out, const struct pm_signature *signature,
                        const struct pm_roofs *roofs, const struct pm_report_options *options) {
    char *text = pm_rate_label(roofs->flops_per_second, "FLOP/s");
    char *line = pm_sprintf("units %s", roofs->flops_per_second > 0 ? text : "?");
    for (size_t l = 0; l < roofs->n_roofs; l++) {
        char *rate = pm_rate_label(roofs->roofs[l].bytes_per_second, "B/s");
        pm_append(&line, ", %s %s", roofs->roofs[l].name, rate);
        free(rate);
    }
    pm_print_title(out, options, "%s: %s", signature->machine->title, line);
    if (signature->is_synthesised)
        pm_print_note(out, options,
                      "The roofs of levels are made from the machine's description: nobody "
                      "measured them.");
    free(line);
    free(text);
}

static void print_table(FILE *out, const struct pm_signature *signature,
                        const struct pm_roofs *roofs, const struct pm_rooflined_program *programs,
                        size_t n, const struct pm_report_options *options) {
    print_roofs(out, signature, roofs, options);
    for (size_t p = 0; p < n; p++) {
        struct point_row *rows = make_rows(roofs, &programs[p]);
        char *size = pm_parameters_text(&programs[p].at);
        char *title = pm_sprintf("%s%s  %s\n", n > 1 ? p ? "after: " : "before: " : "",
                                 programs[p].name, size);
        struct pm_table_rows table = pm_table_begin(pm_fields_named(
            PM_FIELDS(fields), "seconds share label source flops_per_second "
                               "limit_flops_per_second reached_share roof flops_per_byte"));
        for (size_t i = 0; i < programs[p].roofline.n_points; i++)
            if (100 * rows[i].share >= options->min_percent)
                pm_table_row(&table, &rows[i]);
        pm_table_end(out, &table, title, options);
        free(title);
        free(size);
        free(rows);
    }
}

static void print_json(FILE *out, const struct pm_signature *signature,
                       const struct pm_roofs *roofs, const struct pm_rooflined_program *programs,
                       size_t n, const struct pm_report_options *options) {
    json_t *document = pm_json_document("roofline"), *all = json_object(), *array = json_array();
    json_object_set_new(document, "machine", pm_json_text(signature->machine->name));
    json_object_set_new(document, "synthesised", json_boolean(signature->is_synthesised));
    json_object_set_new(
        document, "flops_per_second",
        pm_json_number(roofs->flops_per_second > 0 ? roofs->flops_per_second : NAN));
    for (size_t l = 0; l < roofs->n_roofs; l++)
        json_object_set_new(all, roofs->roofs[l].name,
                            pm_json_number(roofs->roofs[l].bytes_per_second));
    json_object_set_new(document, "bytes_per_second", all);
    for (size_t p = 0; p < n; p++) {
        struct point_row *rows = make_rows(roofs, &programs[p]);
        json_array_append_new(
            array, json_pack("{s:o,s:o,s:o,s:o}", "program",
                             pm_json_text(pm_program_name(programs[p].structure)), "store",
                             pm_json_text(programs[p].name), "parameters",
                             pm_json_parameters(&programs[p].at), "points",
                             pm_fields_array(PM_FIELDS(fields), rows, programs[p].roofline.n_points,
                                             sizeof *rows)));
        free(rows);
    }
    json_object_set_new(document, "programs", array);
    pm_json_set_warnings(document, options);
    pm_json_print(out, document);
}

static void print_csv(FILE *out, const struct pm_roofs *roofs,
                      const struct pm_rooflined_program *programs, size_t n) {
    struct pm_csv_lines lines =
        pm_csv_begin(out, PM_FIELDS(fields),
                     "store label source key seconds share flops flops_per_second "
                     "limit_flops_per_second reached_share roof flops_per_byte");
    for (size_t p = 0; p < n; p++) {
        struct point_row *rows = make_rows(roofs, &programs[p]);
        for (size_t i = 0; i < programs[p].roofline.n_points; i++)
            pm_csv_line(&lines, &rows[i]);
        free(rows);
    }
    pm_csv_end(&lines);
}

void pm_report_roofline(FILE *out, const struct pm_signature *signature,
                        const struct pm_roofs *roofs, const struct pm_rooflined_program *programs,
                        size_t n, const struct pm_report_options *options) {
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, print_table(out, signature, roofs, programs, n, options),
                 print_json(out, signature, roofs, programs, n, options),
                 print_csv(out, roofs, programs, n));
}
