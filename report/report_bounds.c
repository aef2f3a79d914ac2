/* `pmodel bound`: loop nests with their lower bounds, as Tables I to IV of Fursin, O'Boyle, Temam &
   Watts 2004 have them.

   JSON: {"format": "pmodel-bounds", "version": 1, program, parameters, "plain_seconds",
   "bound_seconds", "instructions", "instructions_per_cycle", "bound_instructions_per_cycle",
   "cycle_seconds", "recording_over_plain", "total_over_plain", "timed_seconds", "bounded_share",
   "nests": [a nest each]}.  Seconds are those of the runs with timers scaled by what the copies
   took of the same executions.  Instructions of a cycle are derived: counted instructions, over
   seconds in cycles of the probe's clock, which ran before the program did. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/labels/labels.h"
#include "report/report.h"
#include "report/writers/writers.h"

/* Above it the bound is none: other effects than misses are in it. */
static const double most_over_original = 1.02;

struct bound_row {
    struct pm_row_place place;
    const struct pm_nest_bound *nest;
    char *label, *source, *remarks; /* owned */
    double share, original, bound, speed_up;
    double instructions, ipc, bound_ipc;
    bool over;
};

static char *remarks_of(const struct pm_nest_bound *nest, bool over) {
    char *text = pm_strdup("");
    const struct {
        bool is;
        const char *words;
    } all[] = {
        {nest->refusal != NULL, nest->refusal ? nest->refusal : ""},
        {over, "above the original"},
        {nest->biased > 0, "longer dependences cut"},
        {nest->chased > 0, "addresses not waited for"},
        {nest->replayed > 0, "branches replayed"},
        {nest->chained > 0, "loads wait for stores"},
        {nest->cut > 0, "cut at its trip count"},
        {nest->unknown > 0, "unknown aliases"},
        {nest->routines > 0, "calls copied"},
        {nest->library > 0, "calls the mathematical library"},
        {nest->across > 0, "accesses across lines"},
        {nest->shared > 0, "time shared out"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].is)
            pm_append(&text, "%s%s", *text ? "; " : "", all[i].words);
    return text;
}

/* Instructions of a cycle while SECONDS passed; NAN: not known. */
static double per_cycle(const struct pm_bounds *bounds, double instructions, double seconds) {
    bool known = bounds->cycle_seconds > 0 && instructions > 0 && seconds > 0;
    return known ? instructions * bounds->cycle_seconds / seconds : NAN;
}

#define ROW(member_) PM_MEMBER(struct bound_row, member_)
#define PLACE(get_) PM_PLACE(struct bound_row, place, get_)

PM_GETTER(refusal_value, struct bound_row,
          row->nest->refusal ? pm_text(row->nest->refusal) : pm_unknown())
PM_GETTER(executions_value, struct bound_row, pm_number(row->nest->executions))
PM_GETTER(sampled_value, struct bound_row, pm_number(row->nest->sampled))
PM_GETTER(unknown_value, struct bound_row, pm_integer(row->nest->unknown))
PM_GETTER(biased_value, struct bound_row, pm_integer(row->nest->biased))
PM_GETTER(chased_value, struct bound_row, pm_integer(row->nest->chased))
PM_GETTER(replayed_value, struct bound_row, pm_integer(row->nest->replayed))
PM_GETTER(chained_value, struct bound_row, pm_integer(row->nest->chained))
PM_GETTER(routines_value, struct bound_row, pm_integer(row->nest->routines))
PM_GETTER(library_value, struct bound_row, pm_integer(row->nest->library))
PM_GETTER(across_value, struct bound_row, pm_integer(row->nest->across))
PM_GETTER(shared_value, struct bound_row, pm_integer(row->nest->shared))
PM_GETTER(cut_value, struct bound_row, pm_number(row->nest->cut))

static const struct pm_field fields[] = {
    {"label", PM_NAME, ROW(label), .header = "LOOP NEST"},
    {"name", PM_TEXT, PLACE(name)},
    {"key", PM_HEX, PLACE(key)},
    {"source", PM_NAME, ROW(source), .header = "SOURCE", .dispensable = 2},
    {"share", PM_PERCENT, ROW(share), .header = "%"},
    {"seconds", PM_SECONDS, ROW(original), .header = "ORIGINAL"},
    {"bound_seconds", PM_SECONDS, ROW(bound), .header = "LOWER BOUND"},
    {"speed_up", PM_RATE, ROW(speed_up), .header = "SPEED-UP"},
    {"instructions_per_cycle", PM_RATE, ROW(ipc), .header = "~IPC", .dispensable = 4},
    {"bound_instructions_per_cycle", PM_RATE, ROW(bound_ipc), .header = "~AT BOUND",
     .dispensable = 3},
    {"refusal", PM_TEXT, .get = refusal_value},
    {"above_original", PM_YES_NO, ROW(over)},
    {"executions", PM_COUNT, .get = executions_value},
    {"sampled", PM_COUNT, .get = sampled_value},
    {"instructions", PM_COUNT, ROW(instructions)},
    {"unknown_aliases", PM_INTEGER, .get = unknown_value},
    {"biased", PM_INTEGER, .get = biased_value},
    {"chased", PM_INTEGER, .get = chased_value},
    {"replayed", PM_INTEGER, .get = replayed_value},
    {"chained", PM_INTEGER, .get = chained_value},
    {"cut", PM_COUNT, .get = cut_value},
    {"called_routines", PM_INTEGER, .get = routines_value},
    {"library_calls", PM_INTEGER, .get = library_value},
    {"across_lines", PM_INTEGER, .get = across_value},
    {"shared_time", PM_YES_NO, .get = shared_value},
    {"remarks", PM_TEXT, ROW(remarks), .not_in_json = true, .header = "REMARKS", .dispensable = 1},
};

/* Largest share first. */
static int by_share(const void *left, const void *right) {
    const struct bound_row *a = left, *b = right;
    return a->original != b->original ? PM_COMPARE(b->original, a->original)
                                      : PM_COMPARE(a->nest->scope, b->nest->scope);
}

static struct bound_row *make_rows(const struct pm_structure *structure,
                                   const struct pm_bounds *bounds) {
    struct bound_row *rows = pm_alloc(bounds->n_nests + 1, sizeof *rows);
    struct pm_shown_label *labels = pm_alloc(bounds->n_nests + 1, sizeof *labels);
    for (size_t i = 0; i < bounds->n_nests; i++) {
        const struct pm_nest_bound *nest = &bounds->nests[i];
        double original = pm_nest_original(nest), bound = pm_nest_bound_of_original(nest);
        bool over = nest->bound_seconds > most_over_original * nest->sampled_seconds;
        rows[i] = (struct bound_row){
            .place = {structure, nest->scope},
            .nest = nest,
            .label = pm_scope_label(structure, nest->scope),
            .source = pm_scope_source(structure, nest->scope),
            .remarks = remarks_of(nest, over),
            .share = bounds->plain_seconds > 0 ? original / bounds->plain_seconds : NAN,
            .original = original,
            .bound = bound,
            .speed_up = original / bound,
            .instructions = nest->instructions,
            .ipc = per_cycle(bounds, nest->instructions, original),
            .bound_ipc = per_cycle(bounds, nest->instructions, bound),
            .over = over};
        labels[i] = (struct pm_shown_label){&rows[i].label, nest->scope};
    }
    pm_tell_labels_apart(structure, labels, bounds->n_nests);
    free(labels);
    PM_SORT(rows, bounds->n_nests, by_share);
    return rows;
}

static void free_rows(struct bound_row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(rows[i].label);
        free(rows[i].source);
        free(rows[i].remarks);
    }
    free(rows);
}

static double bounded_share(const struct pm_bounds *bounds) {
    return bounds->timed_seconds > 0 ? bounds->bounded_seconds / bounds->timed_seconds : NAN;
}

/* What the program would take if each nest took its bound. */
static double total_bound(const struct pm_bounds *bounds, const struct bound_row *rows) {
    double seconds = bounds->plain_seconds;
    for (size_t i = 0; i < bounds->n_nests; i++)
        if (!isnan(rows[i].bound))
            seconds -= rows[i].original - rows[i].bound;
    return seconds;
}

/* The program as a row of its own; its label is not owned. */
static struct bound_row total_row(const struct pm_structure *structure,
                                  const struct pm_bounds *bounds, const struct bound_row *rows) {
    static const struct pm_nest_bound none = {.executions = NAN, .sampled = NAN};
    static char label[] = "program", nothing[] = "";
    double total = total_bound(bounds, rows);
    return (struct bound_row){.place = {structure, 0},
                              .nest = &none,
                              .label = label,
                              .source = nothing,
                              .remarks = nothing,
                              .share = 1,
                              .original = bounds->plain_seconds,
                              .bound = total,
                              .speed_up = bounds->plain_seconds / total,
                              .instructions = bounds->instructions,
                              .ipc = per_cycle(bounds, bounds->instructions, bounds->plain_seconds),
                              .bound_ipc = per_cycle(bounds, bounds->instructions, total)};
}

static void write_csv(FILE *out, const struct pm_bounds *bounds, const struct bound_row *rows,
                      const struct bound_row *total) {
    struct pm_csv_lines lines = pm_csv_begin(
        out, PM_FIELDS(fields),
        "label name key source share seconds bound_seconds speed_up instructions_per_cycle "
        "bound_instructions_per_cycle refusal above_original executions sampled instructions "
        "unknown_aliases biased chased replayed chained cut "
        "called_routines library_calls across_lines shared_time");
    pm_csv_line(&lines, total);
    for (size_t i = 0; i < bounds->n_nests; i++)
        pm_csv_line(&lines, &rows[i]);
    pm_csv_end(&lines);
}

static void write_table(FILE *out, const struct pm_bounds *bounds, const struct bound_row *rows,
                        const struct bound_row *total, const struct pm_report_options *options) {
    struct pm_table_rows table = pm_table_begin(
        pm_fields_named(PM_FIELDS(fields), "label source share seconds bound_seconds speed_up "
                                           "instructions_per_cycle bound_instructions_per_cycle "
                                           "remarks"));
    pm_table_row(&table, total);
    for (size_t i = 0; i < bounds->n_nests; i++)
        pm_table_row(&table, &rows[i]);
    pm_table_end(out, &table, NULL, options);
    pm_print_line(out, options,
                  "program: if each of these nests took its lower bound. ~IPC: instructions of a "
                  "cycle, derived: those counted, over the time in cycles of the probe's clock");
    pm_print_line(out, options,
                  "%.0f%% of the time in loops has a bound; the runs for it took %.2f times the "
                  "program's own time, recording %.2f times",
                  100 * bounded_share(bounds), bounds->total_over_plain,
                  bounds->recording_over_plain);
}

static void write_json(FILE *out, const struct pm_structure *structure,
                       const struct pm_parameters *at, const struct pm_bounds *bounds,
                       const struct bound_row *rows, const struct bound_row *total) {
    json_t *document = pm_program_document("bounds", structure);
    json_object_set_new(document, "parameters", pm_json_parameters(at));
    json_object_set_new(document, "plain_seconds", pm_json_number(bounds->plain_seconds));
    json_object_set_new(document, "bound_seconds", pm_json_number(total->bound));
    json_object_set_new(document, "instructions", pm_json_number(bounds->instructions));
    json_object_set_new(document, "instructions_per_cycle", pm_json_number(total->ipc));
    json_object_set_new(document, "bound_instructions_per_cycle", pm_json_number(total->bound_ipc));
    json_object_set_new(document, "cycle_seconds",
                        pm_json_number(bounds->cycle_seconds > 0 ? bounds->cycle_seconds : NAN));
    json_object_set_new(document, "recording_over_plain",
                        pm_json_number(bounds->recording_over_plain));
    json_object_set_new(document, "total_over_plain", pm_json_number(bounds->total_over_plain));
    json_object_set_new(document, "timed_seconds", pm_json_number(bounds->timed_seconds));
    json_object_set_new(document, "bounded_share", pm_json_number(bounded_share(bounds)));
    json_object_set_new(document, "nests",
                        pm_fields_array(PM_FIELDS(fields), rows, bounds->n_nests, sizeof *rows));
    pm_json_print(out, document);
}

void pm_report_bounds(FILE *out, const struct pm_structure *structure,
                      const struct pm_parameters *at, const struct pm_bounds *bounds,
                      const struct pm_report_options *options) {
    struct bound_row *rows = make_rows(structure, bounds);
    struct bound_row total = total_row(structure, bounds, rows);
    if (options->format == PM_REPORT_JSON)
        write_json(out, structure, at, bounds, rows, &total);
    else if (options->format == PM_REPORT_CSV)
        write_csv(out, bounds, rows, &total);
    else
        write_table(out, bounds, rows, &total, options);
    free_rows(rows, bounds->n_nests);
}

double pm_bounds_seconds(const struct pm_structure *structure, const struct pm_bounds *bounds) {
    struct bound_row *rows = make_rows(structure, bounds);
    double seconds = total_bound(bounds, rows);
    free_rows(rows, bounds->n_nests);
    return seconds;
}

/* ---- names of loops -------------------------------------------------------------------------- */

bool pm_is_loop_called(const struct pm_structure *structure, uint32_t loop, const char *pattern) {
    char *label = pm_scope_label(structure, loop), *source = pm_scope_source(structure, loop);
    label[strcspn(label, " ")] = '\0'; /* "step/3" */
    bool is = fnmatch(pattern, label, 0) == 0 || strcmp(pattern, source) == 0;
    label[strcspn(label, "/")] = '\0';
    is |= fnmatch(pattern, label, 0) == 0;
    free(label);
    free(source);
    return is;
}
