/* `pmodel bound`: loop nests with their lower bounds, as Tables I to IV of Fursin, O'Boyle, Temam &
   Watts 2004 have them.

   JSON: {"format": "pmodel-bounds", "version": 1, program, parameters, "plain_seconds",
   "recording_over_plain", "total_over_plain", "timed_seconds", "bounded_share", "nests": [a nest
   each]}.  Seconds are those of the runs with timers scaled by what the copies took of the same
   executions. */
#include <math.h>
#include <stdlib.h>

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
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].is)
            pm_append(&text, "%s%s", *text ? "; " : "", all[i].words);
    return text;
}

#define ROW(member_) PM_MEMBER(struct bound_row, member_)
#define PLACE(get_) PM_PLACE(struct bound_row, place, get_)

PM_GETTER(refusal_value, struct bound_row,
          row->nest->refusal ? pm_text(row->nest->refusal) : pm_unknown())
PM_GETTER(executions_value, struct bound_row, pm_number(row->nest->executions))
PM_GETTER(sampled_value, struct bound_row, pm_number(row->nest->sampled))
PM_GETTER(instructions_value, struct bound_row, pm_number(row->nest->instructions))
PM_GETTER(unknown_value, struct bound_row, pm_integer(row->nest->unknown))
PM_GETTER(biased_value, struct bound_row, pm_integer(row->nest->biased))
PM_GETTER(chased_value, struct bound_row, pm_integer(row->nest->chased))
PM_GETTER(replayed_value, struct bound_row, pm_integer(row->nest->replayed))
PM_GETTER(chained_value, struct bound_row, pm_integer(row->nest->chained))
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
    {"refusal", PM_TEXT, .get = refusal_value},
    {"above_original", PM_YES_NO, ROW(over)},
    {"executions", PM_COUNT, .get = executions_value},
    {"sampled", PM_COUNT, .get = sampled_value},
    {"instructions", PM_COUNT, .get = instructions_value},
    {"unknown_aliases", PM_INTEGER, .get = unknown_value},
    {"biased", PM_INTEGER, .get = biased_value},
    {"chased", PM_INTEGER, .get = chased_value},
    {"replayed", PM_INTEGER, .get = replayed_value},
    {"chained", PM_INTEGER, .get = chained_value},
    {"cut", PM_COUNT, .get = cut_value},
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
        double bound = pm_nest_bound_seconds(nest);
        /* As the timers have it: events and copies disturb the nest that follows. */
        double original = nest->timed_seconds;
        bound = nest->seconds > 0 ? bound * original / nest->seconds : NAN;
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
            .over = over};
        labels[i] = (struct pm_shown_label){&rows[i].label, nest->scope};
    }
    pm_tell_labels_apart(structure, labels, bounds->n_nests);
    free(labels);
    PM_SORT(rows, bounds->n_nests, by_share);
    return rows;
}

static double bounded_share(const struct pm_bounds *bounds) {
    return bounds->timed_seconds > 0 ? bounds->bounded_seconds / bounds->timed_seconds : NAN;
}

/* What the program would take if each nest took its bound. */
static double whole_bound(const struct pm_bounds *bounds, const struct bound_row *rows) {
    double seconds = bounds->plain_seconds;
    for (size_t i = 0; i < bounds->n_nests; i++)
        if (!isnan(rows[i].bound))
            seconds -= rows[i].original - rows[i].bound;
    return seconds;
}

static void write_table(FILE *out, const struct pm_bounds *bounds, const struct bound_row *rows,
                        const struct pm_report_options *options) {
    struct pm_fields columns = pm_fields_named(
        PM_FIELDS(fields), "label source share seconds bound_seconds speed_up remarks");
    pm_fields_table(out, columns, rows, bounds->n_nests, sizeof *rows, options);
    free(columns.fields);
    double whole = whole_bound(bounds, rows);
    pm_print_line(out, options,
                  "program: %s, without the misses of these nests %s (%.2f times as fast)",
                  pm_seconds_text(bounds->plain_seconds).text, pm_seconds_text(whole).text,
                  bounds->plain_seconds / whole);
    pm_print_line(out, options,
                  "%.0f%% of the time in loops has a bound; the runs for it took %.2f times the "
                  "program's own time, recording %.2f times",
                  100 * bounded_share(bounds), bounds->total_over_plain,
                  bounds->recording_over_plain);
}

static void write_json(FILE *out, const struct pm_structure *structure,
                       const struct pm_parameters *at, const struct pm_bounds *bounds,
                       const struct bound_row *rows) {
    json_t *document = pm_program_document("bounds", structure);
    json_object_set_new(document, "parameters", pm_json_parameters(at));
    json_object_set_new(document, "plain_seconds", pm_json_number(bounds->plain_seconds));
    json_object_set_new(document, "bound_seconds", pm_json_number(whole_bound(bounds, rows)));
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
    if (options->format == PM_REPORT_JSON)
        write_json(out, structure, at, bounds, rows);
    else if (options->format == PM_REPORT_CSV)
        pm_fields_csv(out, PM_FIELDS(fields),
                      "label name key source share seconds bound_seconds speed_up refusal "
                      "above_original executions sampled instructions unknown_aliases biased "
                      "chased replayed chained cut",
                      rows, bounds->n_nests, sizeof *rows);
    else
        write_table(out, bounds, rows, options);
    for (size_t i = 0; i < bounds->n_nests; i++) {
        free(rows[i].label);
        free(rows[i].source);
        free(rows[i].remarks);
    }
    free(rows);
}
