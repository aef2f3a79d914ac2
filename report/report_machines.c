/* `pmodel machines`: a machine as JSON and as a list of figures, what of it is unverified, and in
   what two machines differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/writers/writers.h"

/* ---- figures --------------------------------------------------------------------------------- */

PM_GETTER(figure_unit, struct pm_figure,
          row->unit && * row->unit ? pm_text(row->unit) : pm_absent())

static const struct pm_field figure_fields[] = {
    {"name", PM_TEXT, PM_MEMBER(struct pm_figure, name), .header = "FIGURE"},
    {"value", PM_NAME, PM_MEMBER(struct pm_figure, value), .header = "VALUE"},
    {"number", PM_NUMBER, PM_MEMBER(struct pm_figure, number)},
    {"unit", PM_TEXT, .get = figure_unit, .header = "UNIT"},
    {"unverified", PM_YES_NO, PM_MEMBER(struct pm_figure, unverified)},
    {"source", PM_NAME, PM_MEMBER(struct pm_figure, source), .header = "SOURCE"},
};

static json_t *json_of_figures(const struct pm_figures *figures) {
    return pm_fields_array(PM_FIELDS(figure_fields), figures->figures, figures->n_figures,
                           sizeof *figures->figures);
}

/* ---- the whole as JSON ----------------------------------------------------------------------- */

static json_t *json_of_units(const struct pm_machine *machine) {
    json_t *list = json_array();
    for (size_t i = 0; i < machine->n_units; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:o}", "name", pm_json_text(machine->units[i].name),
                                        "does", pm_json_text(machine->units[i].does)));
    return list;
}

static json_t *json_of_uses(const struct pm_machine *machine, const struct pm_cost *row) {
    json_t *list = json_array();
    for (size_t i = 0; i < row->n_alternatives; i++) {
        char *text = pm_reservation_table_text(machine, &row->alternatives[i]);
        json_array_append_new(list, pm_json_text(text));
        free(text);
    }
    return list;
}

/* 0: not said. */
static json_t *json_of_shape(uint32_t number) {
    return number ? pm_json_integer(number) : json_null();
}

static json_t *json_of_cost(const struct pm_machine *machine, const struct pm_cost *row) {
    json_t *unverified = json_array();
    const char *name;
    for (size_t i = 0; (name = pm_cost_unverified(row, i)); i++)
        json_array_append_new(unverified, json_string(name));
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "mnemonic",
        pm_json_text(row->mnemonic), "class",
        row->mnemonic ? json_null() : json_string(pm_op_class_name(row->op_class)), "width",
        json_of_shape(row->width_bits), "element", json_of_shape(row->element_bytes), "latency",
        pm_json_number(row->latency_cycles), "throughput", pm_json_number(pm_cost_throughput(row)),
        "slots", pm_json_number(pm_cost_slots(row)), "uses", json_of_uses(machine, row), "free",
        row->n_alternatives == 0, "unverified", unverified, "source",
        pm_json_text(row->trust.source));
}

static json_t *json_of_costs(const struct pm_machine *machine) {
    json_t *list = json_array();
    for (size_t i = 0; i < machine->n_costs; i++)
        json_array_append_new(list, json_of_cost(machine, &machine->costs[i]));
    return list;
}

static json_t *json_of_points(const double *points, size_t n) {
    if (!points)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, pm_json_number(points[i]));
    return list;
}

static json_t *json_of_curves(const struct pm_machine *machine) {
    json_t *list = json_array();
    for (size_t i = 0; i < machine->n_curves; i++) {
        const struct pm_curve *curve = &machine->curves[i];
        json_t *hits = json_object();
        for (size_t h = 0; h < curve->n_hits; h++)
            json_object_set_new(hits, curve->hits[h].level,
                                json_of_points(curve->hits[h].share, curve->n_points));
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                            pm_json_text(curve->name), "of", pm_json_text(curve->of),
                            "stride_bytes", pm_json_number(curve->stride_bytes), "threads",
                            pm_json_integer(curve->threads), "working_set_bytes",
                            json_of_points(curve->working_set_bytes, curve->n_points), "value",
                            json_of_points(curve->value, curve->n_points), "low",
                            json_of_points(curve->low, curve->n_points), "high",
                            json_of_points(curve->high, curve->n_points), "hits", hits));
    }
    return list;
}

static void write_json(FILE *out, const struct pm_machine *machine,
                       const struct pm_figures *figures) {
    json_t *document = pm_json_document("machine");
    json_object_set_new(document, "name", pm_json_text(machine->name));
    json_object_set_new(document, "title", pm_json_text(machine->title));
    json_object_set_new(document, "isa", pm_json_text(machine->isa));
    json_object_set_new(document, "includes", pm_json_text(machine->includes));
    json_object_set_new(document, "changes", pm_json_text(machine->changes));
    json_object_set_new(document, "sources", pm_json_text(machine->sources));
    json_object_set_new(document, "not_verified", pm_json_integer(machine->n_unverified));
    json_object_set_new(document, "units", json_of_units(machine));
    json_object_set_new(document, "costs", json_of_costs(machine));
    json_object_set_new(document, "figures", json_of_figures(figures));
    json_object_set_new(document, "curves", json_of_curves(machine));
    pm_json_print(out, document);
}

void pm_report_machine(FILE *out, const struct pm_machine *machine,
                       const struct pm_report_options *options) {
    if (options->format == PM_REPORT_TABLE) {
        pm_machine_write(out, machine);
        return;
    }
    struct pm_figures figures = pm_machine_figures(machine);
    if (options->format == PM_REPORT_JSON) {
        write_json(out, machine, &figures);
    } else {
        struct pm_csv_lines lines =
            pm_csv_begin(out, PM_FIELDS(figure_fields), "name value number unit unverified source");
        for (size_t i = 0; i < figures.n_figures; i++)
            pm_csv_line(&lines, &figures.figures[i]);
        pm_csv_end(&lines);
    }
    pm_figures_free(&figures);
}

/* ---- what is unverified -------------------------------------------------------------------- */

void pm_report_machine_check(FILE *out, const struct pm_machine *machine,
                             const struct pm_report_options *options) {
    struct pm_figures figures = pm_machine_figures(machine);
    struct pm_figures doubtful = {0};
    size_t n_unverified = 0, n_without = 0;
    for (size_t i = 0; i < figures.n_figures; i++) {
        const struct pm_figure *figure = &figures.figures[i];
        bool is_without = !figure->unverified && !figure->source;
        n_unverified += figure->unverified;
        n_without += is_without;
        if (!figure->unverified && !is_without)
            continue;
        struct pm_figure *kept = PM_PUSH(&doubtful, figures);
        *kept = *figure;
        kept->source = figure->unverified ? "unverified" : "no source";
    }
    if (options->format == PM_REPORT_JSON) {
        json_t *document = pm_json_document("machine-check");
        json_object_set_new(document, "name", pm_json_text(machine->name));
        json_object_set_new(document, "figures", pm_json_integer(figures.n_figures));
        json_object_set_new(document, "not_verified", pm_json_integer(n_unverified));
        json_object_set_new(document, "without_source", pm_json_integer(n_without));
        json_object_set_new(document, "doubtful", json_of_figures(&doubtful));
        pm_json_print(out, document);
    } else if (options->format == PM_REPORT_CSV) {
        struct pm_csv_lines lines =
            pm_csv_begin(out, PM_FIELDS(figure_fields), "name value number unit unverified source");
        for (size_t i = 0; i < doubtful.n_figures; i++)
            pm_csv_line(&lines, &doubtful.figures[i]);
        pm_csv_end(&lines);
    } else {
        pm_print_line(out, options,
                      "%s: %zu figures, of which %zu are unverified and %zu have no source.",
                      machine->title, figures.n_figures, n_unverified, n_without);
        for (size_t l = 0; l < machine->n_levels; l++) {
            char *serves = pm_level_serves_text(&machine->levels[l]);
            if (serves)
                pm_print_line(out, options, "%s", serves);
            free(serves);
        }
        struct pm_table_rows rows =
            pm_table_begin(pm_fields_named(PM_FIELDS(figure_fields), "name value unit source"));
        for (size_t i = 0; i < doubtful.n_figures; i++)
            pm_table_row(&rows, &doubtful.figures[i]);
        pm_table_end(out, &rows, NULL, options);
    }
    free(doubtful.figures);
    pm_figures_free(&figures);
}

/* ---- two machines ---------------------------------------------------------------------------- */

struct difference {
    const char *name, *unit, *values[2]; /* NULL: the machine has no such figure */
};

PM_GETTER(first_value, struct difference, row->values[0] ? pm_text(row->values[0]) : pm_absent())
PM_GETTER(second_value, struct difference, row->values[1] ? pm_text(row->values[1]) : pm_absent())

static const struct pm_figure *figure_named(const struct pm_figures *figures, const char *name) {
    for (size_t i = 0; i < figures->n_figures; i++)
        if (strcmp(figures->figures[i].name, name) == 0)
            return &figures->figures[i];
    return NULL;
}

struct differences {
    PM_ARRAY(struct difference, rows);
};

static struct differences compare(const struct pm_figures sides[2]) {
    struct differences found = {0};
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side].n_figures; i++) {
            const struct pm_figure *figure = &sides[side].figures[i];
            const struct pm_figure *other = figure_named(&sides[!side], figure->name);
            if (other && (side == 1 || strcmp(other->value, figure->value) == 0))
                continue;
            struct difference *row = PM_PUSH(&found, rows);
            *row = (struct difference){.name = figure->name, .unit = figure->unit};
            row->values[side] = figure->value;
            row->values[!side] = other ? other->value : NULL;
        }
    return found;
}

void pm_report_machine_difference(FILE *out, const struct pm_machine *a, const struct pm_machine *b,
                                  const struct pm_report_options *options) {
    const struct pm_field fields[] = {
        {"name", PM_TEXT, PM_MEMBER(struct difference, name), .header = "FIGURE"},
        {"unit", PM_TEXT, PM_MEMBER(struct difference, unit), .header = "UNIT"},
        {"first", PM_NAME, .get = first_value, .header = a->name},
        {"second", PM_NAME, .get = second_value, .header = b->name},
    };
    struct pm_figures sides[2] = {pm_machine_figures(a), pm_machine_figures(b)};
    struct differences found = compare(sides);
    if (options->format == PM_REPORT_JSON) {
        json_t *document = pm_json_document("machine-difference");
        json_object_set_new(document, "first", pm_json_text(a->name));
        json_object_set_new(document, "second", pm_json_text(b->name));
        json_object_set_new(
            document, "differences",
            pm_fields_array(PM_FIELDS(fields), found.rows, found.n_rows, sizeof *found.rows));
        pm_json_print(out, document);
    } else if (options->format == PM_REPORT_CSV) {
        struct pm_csv_lines lines = pm_csv_begin(out, PM_FIELDS(fields), "name unit first second");
        for (size_t i = 0; i < found.n_rows; i++)
            pm_csv_line(&lines, &found.rows[i]);
        pm_csv_end(&lines);
    } else if (!found.n_rows) {
        pm_print_line(out, options, "%s and %s have the same figures.", a->name, b->name);
    } else {
        pm_fields_table(out, PM_FIELDS(fields), found.rows, found.n_rows, sizeof *found.rows,
                        options);
    }
    free(found.rows);
    pm_figures_free(&sides[0]);
    pm_figures_free(&sides[1]);
}
