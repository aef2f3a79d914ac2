/* `pmodel report --as scaling` as a table for each machine, JSON and CSV; see scale.h. */
#include "report/scale/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/labels/labels.h"
#include "report/writers/writers.h"

void pm_scale_free(struct pm_scale *scale) {
    for (size_t i = 0; i < scale->n_points; i++) {
        struct pm_scale_point *point = &scale->points[i];
        for (size_t m = 0; m < scale->n_machines; m++) {
            if (point->predicted && point->predicted[m])
                pm_prediction_free(point->predicted[m]);
            if (point->measured && point->measured[m])
                pm_prediction_free(point->measured[m]);
        }
        free(point->predicted);
        free(point->measured);
        pm_times_free(point->times);
    }
    for (size_t i = 0; i < scale->n_steps; i++) {
        free(scale->steps[i].level);
        free(scale->steps[i].label);
        free(scale->steps[i].source);
    }
    free(scale->points);
    free(scale->steps);
    scale->points = NULL;
    scale->steps = NULL;
}

/* ---- a line: one size on one machine, predicted or measured ---------------------------------- */

struct scale_line {
    const struct pm_scale_point *point;
    const struct pm_prediction *prediction;
    bool is_measured;
    double seconds, low, high; /* by the model, or, measured, by the clock; NAN */
    double cycles, schedule, bandwidth, first_touches;  /* for a unit; measured: NAN, and of the
                                                           clock */
    double misses[PM_MAX_LEVELS], costs[PM_MAX_LEVELS]; /* for a unit */
};

static struct scale_line line_of(const struct pm_scale_point *point, size_t machine,
                                 bool is_measured) {
    const struct pm_prediction *p =
        is_measured ? point->measured[machine] : point->predicted[machine];
    const struct pm_cost_sum *all = &p->scopes[0].total;
    struct pm_estimate seconds = pm_prediction_seconds(p);
    struct scale_line line = {.point = point, .prediction = p, .is_measured = is_measured};
    line.seconds = !is_measured ? p->seconds : point->times ? point->times->plain_seconds : NAN;
    line.low = is_measured ? NAN : seconds.low;
    line.high = is_measured ? NAN : seconds.high;
    line.cycles = line.seconds * p->clock_hz / point->unit;
    line.schedule = is_measured ? NAN : all->schedule_cycles / point->unit;
    line.first_touches = is_measured ? NAN : all->causes[PM_CAUSE_FIRST_TOUCHES] / point->unit;
    line.bandwidth = is_measured ? NAN : all->causes[PM_CAUSE_BANDWIDTH] / point->unit;
    for (size_t level = 0; level < p->n_levels; level++) {
        line.misses[level] = all->level_misses[level] / point->unit;
        line.costs[level] = is_measured ? NAN : all->level_cycles[level] / point->unit;
    }
    return line;
}

static const char *source_word(const struct scale_line *line) {
    return line->is_measured ? "measured" : "predicted";
}

static char *extrapolation_text(const struct scale_line *line) {
    if (line->is_measured)
        return NULL;
    return line->prediction->below_measured
               ? pm_sprintf("below %.1fx", line->prediction->extrapolation)
               : pm_sprintf("%.1fx", line->prediction->extrapolation);
}

/* ---- for people ------------------------------------------------------------------------------ */

#define GETTER(name_, value_) PM_GETTER(name_, struct scale_line, value_)
GETTER(line_source, pm_text(source_word(row)))
GETTER(line_extrapolation, pm_owned_text(extrapolation_text(row)))
static struct pm_field_value line_between(const void *at) {
    const struct scale_line *line = at;
    if (isnan(line->low))
        return pm_text("");
    return pm_owned_text(
        pm_sprintf("%s-%s", pm_seconds_text(line->low).text, pm_seconds_text(line->high).text));
}

static struct pm_field_value line_size(const void *at) {
    char text[PM_NUMBER_TEXT_SIZE];
    pm_format_value(((const struct scale_line *)at)->point->value, text, sizeof text);
    return pm_copied_text(text);
}

#define ROW(member_) PM_MEMBER(struct scale_line, member_)
static const struct pm_field line_fields[] = {
    {"size", PM_NUMBER, .get = line_size},
    {"source", PM_TEXT, .get = line_source, .header = "FROM"},
    {"extrapolation", PM_TEXT, .get = line_extrapolation, .header = "BEYOND"},
    {"seconds", PM_SECONDS, ROW(seconds), .header = "TIME"},
    {"between", PM_TEXT, .get = line_between, .header = "80% BETWEEN", .dispensable = 2},
    {"cycles", PM_RATE, ROW(cycles), .header = "CYCLES"},
    {"schedule", PM_RATE, ROW(schedule), .header = "SCHEDULE"},
    {"bandwidth", PM_RATE, ROW(bandwidth), .header = "BANDWIDTH"},
    {"first_touches", PM_RATE, ROW(first_touches), .header = "FIRST TOUCHES"},
};

/* A column for the cost and one for the misses of each level; their names are in TITLES. */
static struct pm_fields columns_of(const struct pm_scale *scale, size_t machine,
                                   char *titles[2 * PM_MAX_LEVELS]) {
    const struct pm_machine *on = scale->machines[machine];
    struct pm_fields fields = pm_fields_named(
        PM_FIELDS(line_fields), on->page_fault_cycles > 0
                                    ? "size source extrapolation seconds between cycles schedule "
                                      "bandwidth first_touches"
                                    : "size source extrapolation seconds between cycles schedule "
                                      "bandwidth");
    fields.fields[0].header = scale->parameter;
    for (size_t level = 0; level < on->n_levels; level++) {
        *PM_PUSH(&fields, fields) = (struct pm_field){.name = on->levels[level].name,
                                                      .kind = PM_RATE,
                                                      ROW(costs[level]),
                                                      .header = on->levels[level].name,
                                                      .dispensable = 1};
        titles[level] = pm_sprintf("%s MISSES", on->levels[level].name);
    }
    for (size_t level = 0; level < on->n_levels; level++)
        *PM_PUSH(&fields, fields) = (struct pm_field){
            .name = titles[level], .kind = PM_RATE, ROW(misses[level]), .header = titles[level]};
    return fields;
}

static void print_machine(FILE *out, const struct pm_scale *scale, size_t machine,
                          const struct pm_report_options *options) {
    char *titles[2 * PM_MAX_LEVELS] = {NULL};
    struct pm_table_rows rows = pm_table_begin(columns_of(scale, machine, titles));
    pm_print_title(out, options, "%s on %s: cycles and misses of each level, per %s",
                   pm_program_name(scale->structure), scale->machines[machine]->title,
                   scale->per ? scale->per : "run");
    for (size_t i = 0; i < scale->n_points; i++)
        for (int measured = 0; measured < 2; measured++) {
            const struct pm_scale_point *point = &scale->points[i];
            if (!(measured ? point->measured : point->predicted))
                continue;
            struct scale_line line = line_of(point, machine, measured);
            pm_table_row(&rows, &line);
        }
    pm_table_end(out, &rows, NULL, options);
    for (size_t level = 0; level < scale->machines[machine]->n_levels; level++)
        free(titles[level]);
}

/* What is not in the figures, and what there is none of. */
static void print_nothing(FILE *out, const struct pm_scale *scale, size_t machine,
                          const struct pm_report_options *options) {
    bool without_misses = scale->n_points > 0;
    for (size_t i = 0; i < scale->n_points; i++) {
        struct pm_prediction *const *of = scale->points[i].predicted;
        of = of ? of : scale->points[i].measured;
        without_misses &= of && pm_prediction_is_without_misses(of[machine]);
    }
    char *gap = pm_machine_gap(scale->machines[machine]);
    if (gap)
        pm_print_note(out, options, "%s", gap);
    if (without_misses)
        pm_print_note(out, options,
                      "No access misses any level at these sizes: the time is that of the "
                      "schedule.");
    free(gap);
}

static void print_steps(FILE *out, const struct pm_scale *scale, size_t machine,
                        const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    bool any = false;
    char *title = pm_sprintf("HITS UP TO %s", scale->parameter);
    pm_text_table_column(table, title, PM_COLUMN_NUMBER);
    pm_text_table_column(table, "LEVEL", PM_COLUMN_TEXT);
    pm_text_table_column(table, "% OF ITS ACCESSES", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "LOOP", PM_COLUMN_NAME);
    pm_text_table_column(table, "SOURCE", PM_COLUMN_NAME);
    for (size_t i = 0; i < scale->n_steps; i++) {
        const struct pm_scale_step *step = &scale->steps[i];
        if (step->machine != machine || 100 * step->weight < options->min_percent ||
            step->share < PM_SCALE_LEAST_SHARE)
            continue;
        any = true;
        pm_text_table_cell(table, pm_count_text(floor(step->size)).text);
        pm_text_table_cell(table, step->level);
        pm_text_table_cell(table, pm_percent_text(step->share).text);
        pm_text_table_cell(table, step->label);
        pm_text_table_cell(table, step->source);
    }
    if (any) {
        fprintf(out, "\nsizes at which loops fall out of levels\n");
        pm_text_table_print(out, table, options);
    }
    pm_text_table_free(table);
    free(title);
}

/* The processor that measured times are of. */
static const char *timed_on(const struct pm_scale *scale) {
    for (size_t i = 0; i < scale->n_points; i++)
        if (scale->points[i].times && scale->points[i].times->machine)
            return scale->points[i].times->machine;
    return NULL;
}

static void print_tables(FILE *out, const struct pm_scale *scale,
                         const struct pm_report_options *options) {
    for (size_t m = 0; m < scale->n_machines; m++) {
        if (m)
            fputc('\n', out);
        print_machine(out, scale, m, options);
        print_nothing(out, scale, m, options);
        print_steps(out, scale, m, options);
    }
    if (timed_on(scale))
        pm_print_note(out, options,
                      "TIME of measured sizes is that of a clock on %s, CYCLES are it "
                      "by the clock rate of the machine described.",
                      timed_on(scale));
}

/* ---- for programs ---------------------------------------------------------------------------- */

static json_t *levels_json(const struct pm_prediction *p, const double *values, double unit) {
    json_t *object = json_object();
    for (size_t level = 0; level < p->n_levels; level++)
        json_object_set_new(object, p->level_names[level], pm_json_number(values[level] / unit));
    return object;
}

static json_t *figures_json(const struct scale_line *line) {
    const struct pm_prediction *p = line->prediction;
    const struct pm_cost_sum *all = &p->scopes[0].total;
    json_t *object = json_object();
    json_object_set_new(object, "machine", pm_json_text(p->machine_name));
    json_object_set_new(object, "source", json_string(source_word(line)));
    json_object_set_new(object, "extrapolation", pm_json_number(p->extrapolation));
    json_object_set_new(object, "below_measured", json_boolean(p->below_measured));
    json_object_set_new(object, "seconds", pm_json_number(line->seconds));
    json_object_set_new(object, "low_seconds", pm_json_number(line->low));
    json_object_set_new(object, "high_seconds", pm_json_number(line->high));
    json_object_set_new(object, "cycles_per_unit", pm_json_number(line->cycles));
    json_object_set_new(object, "level_misses", levels_json(p, all->level_misses, 1));
    json_object_set_new(object, "level_misses_per_unit",
                        levels_json(p, all->level_misses, line->point->unit));
    if (line->is_measured)
        return object;
    json_object_set_new(object, "cycles", pm_json_number(all->cycles));
    json_object_set_new(object, "schedule_cycles", pm_json_number(all->schedule_cycles));
    json_object_set_new(object, "bandwidth_cycles",
                        pm_json_number(all->causes[PM_CAUSE_BANDWIDTH]));
    json_object_set_new(object, "first_touches_cycles",
                        pm_json_number(all->causes[PM_CAUSE_FIRST_TOUCHES]));
    json_object_set_new(object, "level_cycles", levels_json(p, all->level_cycles, 1));
    json_object_set_new(object, "schedule_cycles_per_unit", pm_json_number(line->schedule));
    json_object_set_new(object, "level_cycles_per_unit",
                        levels_json(p, all->level_cycles, line->point->unit));
    return object;
}

static json_t *point_json(const struct pm_scale *scale, const struct pm_scale_point *point) {
    json_t *object = json_object(), *figures = json_array();
    for (size_t m = 0; m < scale->n_machines; m++)
        for (int measured = 0; measured < 2; measured++)
            if (measured ? point->measured != NULL : point->predicted != NULL) {
                struct scale_line line = line_of(point, m, measured);
                json_array_append_new(figures, figures_json(&line));
            }
    json_object_set_new(object, "parameters", pm_json_parameters(&point->at));
    json_object_set_new(object, "value", pm_json_number(point->value));
    json_object_set_new(object, "unit", pm_json_number(point->unit));
    json_object_set_new(object, "figures", figures);
    return object;
}

static json_t *machine_json(const struct pm_machine *machine) {
    json_t *object = json_object(), *levels = json_array();
    for (size_t level = 0; level < machine->n_levels; level++)
        json_array_append_new(levels, pm_json_text(machine->levels[level].name));
    json_object_set_new(object, "name", pm_json_text(machine->name));
    json_object_set_new(object, "title", pm_json_text(machine->title));
    json_object_set_new(object, "clock_hz", pm_json_number(machine->clock_hz));
    json_object_set_new(object, "levels", levels);
    return object;
}

static json_t *step_json(const struct pm_scale *scale, const struct pm_scale_step *step) {
    json_t *object = json_object();
    json_object_set_new(object, "machine", pm_json_text(scale->machines[step->machine]->name));
    json_object_set_new(object, "level", pm_json_text(step->level));
    json_object_set_new(object, "hits_up_to", pm_json_number(step->size));
    json_object_set_new(object, "share_of_accesses", pm_json_number(step->share));
    json_object_set_new(object, "weight", pm_json_number(step->weight));
    json_object_set_new(object, "label", pm_json_text(step->label));
    json_object_set_new(object, "source", pm_json_text(step->source));
    return object;
}

static void write_json(FILE *out, const struct pm_scale *scale,
                       const struct pm_report_options *options) {
    json_t *document = pm_program_document("scale", scale->structure), *machines = json_array(),
           *sizes = json_array(), *steps = json_array();
    pm_json_set_warnings(document, options);
    for (size_t m = 0; m < scale->n_machines; m++)
        json_array_append_new(machines, machine_json(scale->machines[m]));
    for (size_t i = 0; i < scale->n_points; i++)
        json_array_append_new(sizes, point_json(scale, &scale->points[i]));
    for (size_t i = 0; i < scale->n_steps; i++)
        json_array_append_new(steps, step_json(scale, &scale->steps[i]));
    json_object_set_new(document, "parameter", pm_json_text(scale->parameter));
    json_object_set_new(document, "per", pm_json_text(scale->per ? scale->per : "1"));
    json_object_set_new(document, "measured_low", pm_json_number(scale->measured_low));
    json_object_set_new(document, "measured_high", pm_json_number(scale->measured_high));
    json_object_set_new(document, "timed_on", pm_json_text(timed_on(scale)));
    json_object_set_new(document, "machines", machines);
    json_object_set_new(document, "sizes", sizes);
    json_object_set_new(document, "steps", steps);
    pm_json_print(out, document);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* One quantity of a line. */
struct scale_cell {
    const struct scale_line *line;
    const char *quantity, *part; /* "cycles", "L2" */
    double value;
};

PM_GETTER(cell_parameters, struct scale_cell,
          pm_owned_text(pm_parameters_text(&row->line->point->at)))
PM_GETTER(cell_size, struct scale_cell, pm_number(row->line->point->value))
PM_GETTER(cell_machine, struct scale_cell, pm_text(row->line->prediction->machine_name))
PM_GETTER(cell_source, struct scale_cell, pm_text(source_word(row->line)))
PM_GETTER(cell_extrapolation, struct scale_cell, pm_number(row->line->prediction->extrapolation))
PM_GETTER(cell_per_unit, struct scale_cell, pm_number(row->value / row->line->point->unit))

static const struct pm_field cell_fields[] = {
    {"parameters", PM_TEXT, .get = cell_parameters},
    {"size", PM_NUMBER, .get = cell_size},
    {"machine", PM_TEXT, .get = cell_machine},
    {"source", PM_TEXT, .get = cell_source},
    {"extrapolation", PM_NUMBER, .get = cell_extrapolation},
    {"quantity", PM_TEXT, PM_MEMBER(struct scale_cell, quantity)},
    {"part", PM_TEXT, PM_MEMBER(struct scale_cell, part)},
    {"value", PM_NUMBER, PM_MEMBER(struct scale_cell, value)},
    {"per_unit", PM_NUMBER, .get = cell_per_unit},
};

static void write_cell(struct pm_csv_lines *lines, const struct scale_line *line,
                       const char *quantity, const char *part, double value) {
    pm_csv_line(lines, &(struct scale_cell){line, quantity, part, value});
}

static void write_line(struct pm_csv_lines *lines, const struct scale_line *line) {
    const struct pm_prediction *p = line->prediction;
    const struct pm_cost_sum *all = &p->scopes[0].total;
    write_cell(lines, line, "seconds", "total", line->seconds);
    if (!line->is_measured) {
        write_cell(lines, line, "seconds", "low", line->low);
        write_cell(lines, line, "seconds", "high", line->high);
        write_cell(lines, line, "cycles", "schedule", all->schedule_cycles);
        write_cell(lines, line, "cycles", "bandwidth", all->causes[PM_CAUSE_BANDWIDTH]);
        write_cell(lines, line, "cycles", "first_touches", all->causes[PM_CAUSE_FIRST_TOUCHES]);
    }
    for (size_t level = 0; level < p->n_levels && !line->is_measured; level++)
        write_cell(lines, line, "cycles", p->level_names[level], all->level_cycles[level]);
    for (size_t level = 0; level < p->n_levels; level++)
        write_cell(lines, line, "misses", p->level_names[level], all->level_misses[level]);
}

static void write_csv(FILE *out, const struct pm_scale *scale) {
    struct pm_csv_lines lines =
        pm_csv_begin(out, PM_FIELDS(cell_fields),
                     "parameters size machine source extrapolation quantity part value per_unit");
    for (size_t i = 0; i < scale->n_points; i++)
        for (size_t m = 0; m < scale->n_machines; m++)
            for (int measured = 0; measured < 2; measured++)
                if (measured ? scale->points[i].measured != NULL
                             : scale->points[i].predicted != NULL) {
                    struct scale_line line = line_of(&scale->points[i], m, measured);
                    write_line(&lines, &line);
                }
    pm_csv_end(&lines);
}

void pm_report_scale(FILE *out, const struct pm_scale *scale,
                     const struct pm_report_options *options) {
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, print_tables(out, scale, options), write_json(out, scale, options),
                 write_csv(out, scale));
}
