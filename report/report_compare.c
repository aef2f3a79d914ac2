/* `pmodel compare`: its fields, and the comparison as a table, JSON and CSV. */
#include <stdlib.h>

#include "report/compare.h"
#include "report/writers/writers.h"

struct compare_row {
    const struct pm_comparison *comparison;
    const struct pm_ranked_machine *ranked;
    size_t rank; /* from 1 */
};

static const struct pm_estimate *seconds_of(const struct compare_row *row, size_t program) {
    const struct pm_ranking_request *r = &row->comparison->ranking;
    return &r->seconds[program * r->n_machines + row->ranked->machine];
}

static bool is_lower_bound(const struct compare_row *row) {
    const struct pm_ranking_request *r = &row->comparison->ranking;
    bool is = false;
    for (size_t p = 0; p < r->n_programs; p++)
        is |= row->comparison->is_lower_bound[p * r->n_machines + row->ranked->machine];
    return is;
}

static struct pm_number_text score_text(const struct compare_row *row, double score) {
    return row->comparison->ranking.geometric ? pm_rate_text(score) : pm_seconds_text(score);
}

/* "12.1 s to 12.9 s"; "" without an interval. */
static struct pm_field_value interval_cell(const void *at) {
    const struct compare_row *row = at;
    const struct pm_estimate *score = &row->ranked->score;
    if (score->low == score->high)
        return pm_text("");
    struct pm_number_text low = score_text(row, score->low), high = score_text(row, score->high);
    return pm_owned_text(pm_sprintf("%s to %s", low.text, high.text));
}

/* "2", or "1-3": the ranks that the intervals allow. */
static struct pm_field_value rank_cell(const void *at) {
    const struct pm_ranked_machine *ranked = ((const struct compare_row *)at)->ranked;
    return pm_owned_text(ranked->best_rank == ranked->worst_rank
                             ? pm_sprintf("%u", ranked->best_rank)
                             : pm_sprintf("%u-%u", ranked->best_rank, ranked->worst_rank));
}

static json_t *seconds_json(const struct compare_row *row) {
    static const struct pm_field fields[] = {
        {"estimate", PM_NUMBER, PM_MEMBER(struct pm_estimate, estimate)},
        {"low", PM_NUMBER, PM_MEMBER(struct pm_estimate, low)},
        {"high", PM_NUMBER, PM_MEMBER(struct pm_estimate, high)},
    };
    json_t *array = json_array();
    for (size_t p = 0; p < row->comparison->ranking.n_programs; p++)
        json_array_append_new(array, PM_JSON_OBJECT(fields, seconds_of(row, p)));
    return array;
}

#define GETTER(name_, value_) PM_GETTER(name_, struct compare_row, value_)
#define MACHINE (row->comparison->machines[row->ranked->machine])
GETTER(machine_name, pm_text(MACHINE->name))
GETTER(machine_title, pm_text(MACHINE->title))
GETTER(best_rank, pm_integer(row->ranked->best_rank))
GETTER(worst_rank, pm_integer(row->ranked->worst_rank))
GETTER(score, pm_number(row->ranked->score.estimate))
GETTER(score_low, pm_number(row->ranked->score.low))
GETTER(score_high, pm_number(row->ranked->score.high))
GETTER(score_cell, pm_owned_text(pm_sprintf("%s%s", is_lower_bound(row) ? ">" : "",
                                            score_text(row, row->ranked->score.estimate).text)))
GETTER(by_best, pm_number(row->ranked->by_best))
GETTER(lower_bound, pm_integer(is_lower_bound(row)))
GETTER(seconds, pm_json_value(seconds_json(row)))
#undef GETTER

static const struct pm_field fields[] = {
    {"name", PM_TEXT, .get = machine_name, .header = "-m"},
    {"title", PM_NAME, .get = machine_title, .header = "MACHINE", .dispensable = 2},
    {"rank", PM_INTEGER, PM_MEMBER(struct compare_row, rank), .header = "RANK", .cell = rank_cell},
    {"best_rank", PM_INTEGER, .get = best_rank},
    {"worst_rank", PM_INTEGER, .get = worst_rank},
    {"score", PM_NUMBER, .get = score, .header = "ALL", .cell = score_cell},
    {"low", PM_NUMBER, .get = score_low, .header = "BETWEEN", .cell = interval_cell,
     .dispensable = 1},
    {"high", PM_NUMBER, .get = score_high},
    {"by_best", PM_RATE, .get = by_best, .header = "BY BEST"},
    {"is_lower_bound", PM_YES_NO, .get = lower_bound},
    {"seconds", PM_JSON_ONLY, .get = seconds},
};

/* ---- table ----------------------------------------------------------------------------------- */

static void write_title(FILE *out, const struct pm_comparison *c,
                        const struct pm_report_options *options) {
    pm_print_title(out, options, "%zu machines by %s of %zu program%s", c->ranking.n_machines,
                   c->ranking.geometric ? "the weighted geometric mean, over the fastest,"
                                        : "the weighted sum of the times",
                   c->ranking.n_programs, c->ranking.n_programs == 1 ? "" : "s");
    for (size_t p = 0; p < c->ranking.n_programs; p++) {
        const struct pm_compared_program *program = &c->programs[p];
        char *size = pm_parameters_text(&program->at);
        pm_print_line(out, options, "%s: %s%s%s, weight %.4g, %s", program->store, program->name,
                      *size ? " " : "", size, program->weight,
                      program->predicted ? "predicted" : "measured at this size");
        free(size);
    }
}

/* Neighbours in the ranking whose intervals overlap. */
static void write_verdict(FILE *out, const struct pm_comparison *c,
                          const struct pm_ranked_machine *ranked,
                          const struct pm_report_options *options) {
    size_t n = c->ranking.n_machines;
    bool has_any = false;
    for (size_t p = 0; p < c->ranking.n_programs; p++)
        has_any |= c->programs[p].has_interval;
    if (!has_any)
        pm_print_note(out, options,
                      "There are no intervals, so that how sure the ranking is is not known.");
    else if (pm_ranking_survives(ranked, n))
        pm_print_note(out, options,
                      "The ranking survives the intervals (%.0f%%): no two of them "
                      "overlap.",
                      100 * c->level);
    for (size_t i = 0; has_any && i + 1 < n; i++)
        if (ranked[i + 1].score.low <= ranked[i].score.high)
            pm_print_note(out, options, "%s and %s are not told apart: their intervals overlap.",
                          c->machines[ranked[i].machine]->name,
                          c->machines[ranked[i + 1].machine]->name);
}

/* Columns of the programs' times hold texts of their own. */
static void write_table(FILE *out, const struct pm_comparison *c, const struct compare_row *rows,
                        const struct pm_report_options *options) {
    size_t n = c->ranking.n_machines;
    struct pm_fields columns = pm_fields_named(PM_FIELDS(fields), "rank score low by_best");
    struct pm_fields last = pm_fields_named(PM_FIELDS(fields), "name title");
    struct pm_text_table *table = pm_text_table_new();
    bool is_bound = false;
    pm_fields_columns(table, columns);
    for (size_t p = 0; p < c->ranking.n_programs; p++)
        pm_text_table_column(table, c->programs[p].name, PM_COLUMN_NUMBER);
    pm_fields_columns(table, last);
    for (size_t i = 0; i < n; i++) {
        pm_fields_cells(table, columns, NULL, &rows[i]);
        for (size_t p = 0; p < c->ranking.n_programs; p++)
            pm_text_table_cell(table, pm_seconds_text(seconds_of(&rows[i], p)->estimate).text);
        pm_fields_cells(table, last, NULL, &rows[i]);
        is_bound |= is_lower_bound(&rows[i]);
    }
    write_title(out, c, options);
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
    free(columns.fields);
    free(last.fields);
    write_verdict(out, c, rows[0].ranked, options);
    if (is_bound)
        pm_print_note(out, options,
                      ">: a lower bound, because operations have no cost in the "
                      "machine file or no reuse distances were measured.");
}

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

static json_t *programs_json(const struct pm_comparison *c) {
    static const struct pm_field of_program[] = {
        {"store", PM_TEXT, PM_MEMBER(struct pm_compared_program, store)},
        {"program", PM_TEXT, PM_MEMBER(struct pm_compared_program, name)},
        {"weight", PM_NUMBER, PM_MEMBER(struct pm_compared_program, weight)},
        {"predicted", PM_YES_NO, PM_MEMBER(struct pm_compared_program, predicted)},
    };
    json_t *array = json_array();
    for (size_t p = 0; p < c->ranking.n_programs; p++) {
        json_t *object = PM_JSON_OBJECT(of_program, &c->programs[p]);
        json_object_set_new(object, "parameters", pm_json_parameters(&c->programs[p].at));
        json_array_append_new(array, object);
    }
    return array;
}

static void write_json(FILE *out, const struct pm_comparison *c, const struct compare_row *rows,
                       const struct pm_report_options *options) {
    json_t *document = pm_json_document("compare");
    size_t n = c->ranking.n_machines;
    json_object_set_new(document, "mean", json_string(c->ranking.geometric ? "geometric" : "sum"));
    json_object_set_new(document, "level", pm_json_number(c->level));
    json_object_set_new(document, "survives", json_boolean(pm_ranking_survives(rows[0].ranked, n)));
    json_object_set_new(document, "programs", programs_json(c));
    json_object_set_new(document, "machines",
                        pm_fields_array(PM_FIELDS(fields), rows, n, sizeof *rows));
    pm_json_set_warnings(document, options);
    pm_json_print(out, document);
}

void pm_report_comparison(FILE *out, const struct pm_comparison *comparison,
                          const struct pm_report_options *options) {
    size_t n = comparison->ranking.n_machines;
    struct pm_ranked_machine *ranked = pm_alloc(n, sizeof *ranked);
    struct compare_row *rows = pm_alloc(n, sizeof *rows);
    pm_rank_machines(&comparison->ranking, ranked);
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct compare_row){comparison, &ranked[i], i + 1};
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, write_table(out, comparison, rows, options),
                 write_json(out, comparison, rows, options),
                 pm_fields_csv(out, PM_FIELDS(fields),
                               "rank best_rank worst_rank name title score low high by_best "
                               "is_lower_bound",
                               rows, n, sizeof *rows));
    free(rows);
    free(ranked);
}
