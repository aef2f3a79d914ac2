/* `pmodel report --as loop`: its rows, as JSON and CSV; explain_table.c is for people. */
#include <math.h>
#include <stdlib.h>

#include "report/explain/private.h"

/* ---- counts ---------------------------------------------------------------------------------- */

const char *pm_loop_figure_name(enum pm_loop_figure figure) {
    static const char *const names[PM_N_LOOP_FIGURES] = {
        [PM_LOOP_ENTRIES] = "entries",
        [PM_LOOP_ITERATIONS] = "iterations",
        [PM_LOOP_INSTRUCTIONS] = "instructions",
        [PM_LOOP_FP_OPERATIONS] = "fp_operations",
        [PM_LOOP_LOADS] = "loads",
        [PM_LOOP_STORES] = "stores",
    };
    return names[figure];
}

const char *pm_loop_figure_words(enum pm_loop_figure figure) {
    return figure == PM_LOOP_FP_OPERATIONS ? "floating-point op." : pm_loop_figure_name(figure);
}

static const struct pm_field count_fields[] = {
    {"count", PM_COUNT, PM_MEMBER(struct pm_loop_count, count)},
    {"formula", PM_TEXT, PM_MEMBER(struct pm_loop_count, formula)},
    {"relative_error", PM_NUMBER, PM_MEMBER(struct pm_loop_count, relative_error)},
};

/* ---- causes ---------------------------------------------------------------------------------- */

static void add_cause(struct pm_cause_rows *rows, const struct pm_row *row, const char *name,
                      char *words, double cycles, double gain) {
    *PM_PUSH(rows, rows) =
        (struct pm_cause_row){.name = name,
                              .words = words,
                              .owned = words,
                              .cycles = cycles / row->iterations,
                              .share = row->self.cycles > 0 ? cycles / row->self.cycles : NAN,
                              .gain = gain / row->iterations};
}

struct pm_cause_rows pm_cause_rows_make(const struct pm_explanation *e, const struct pm_row *row) {
    struct pm_cause_rows rows = {0};
    const struct pm_prediction *p = e->prediction;
    for (int c = 0; c < PM_N_CAUSES; c++) {
        if (c == PM_CAUSE_BANDWIDTH)
            for (size_t l = 0; !p->without_memory && l < p->n_levels; l++)
                add_cause(&rows, row, p->level_names[l],
                          pm_sprintf("misses of %s", p->level_names[l]), row->self.level_cycles[l],
                          e->level_gains[l]);
        double gain = c == PM_CAUSE_BANDWIDTH ? row->self.causes[c] : row->gains[c];
        add_cause(&rows, row, pm_cause_name((enum pm_cause)c),
                  pm_strdup(pm_cause_words((enum pm_cause)c)), row->self.causes[c], gain);
    }
    size_t most = 0;
    for (size_t i = 1; i < rows.n_rows; i++)
        if (rows.rows[i].cycles > rows.rows[most].cycles)
            most = i;
    rows.rows[most].holds = rows.rows[most].cycles > 0;
    return rows;
}

void pm_cause_rows_free(struct pm_cause_rows *rows) {
    for (size_t i = 0; i < rows->n_rows; i++)
        free(rows->rows[i].owned);
    free(rows->rows);
}

static const struct pm_field cause_fields[] = {
    {"cause", PM_TEXT, PM_MEMBER(struct pm_cause_row, name)},
    {"cycles_per_iteration", PM_RATE, PM_MEMBER(struct pm_cause_row, cycles)},
    {"share", PM_PERCENT, PM_MEMBER(struct pm_cause_row, share)},
    {"gain_cycles_per_iteration", PM_RATE, PM_MEMBER(struct pm_cause_row, gain)},
    {"holds", PM_YES_NO, PM_MEMBER(struct pm_cause_row, holds)},
};

/* ---- reference groups ------------------------------------------------------------------------ */

/* The strides that the code shows; where it leaves one open, those of the run, innermost first. */
static char *strides_text(const struct pm_group *group) {
    char *text = pm_strides_label(group);
    if (!*text) {
        free(text);
        return pm_strdup(group->flags & PM_GROUP_IRREGULAR ? "indirect" : "?");
    }
    return text;
}

/* What counts of a carried row where a group's are compared. */
static double weight_of(const struct pm_carried_row *row) {
    return row->cycles > 0 ? row->cycles : 1e-9 * row->misses[0];
}

static void find_carrier(const struct pm_explanation *e, struct pm_explained_group *row) {
    double all = 0, most = 0;
    row->carrier_share = NAN;
    for (size_t i = 0; e->carried && i < e->carried->n_rows; i++) {
        const struct pm_carried_row *carried = &e->carried->rows[i];
        if (carried->group != row->figures->group)
            continue;
        double weight = weight_of(carried);
        all += weight;
        if (weight > most) {
            most = weight;
            row->carrier = carried;
        }
    }
    if (all > 0)
        row->carrier_share = most / all;
}

/* The share of PART, of some levels, in their misses of the group, each level's by what a miss of
   it costs the loop. */
static double share_of_part(const struct pm_explanation *e, const struct pm_row *loop,
                            const struct pm_loop_group *group, const double *part) {
    double all = 0, sum = 0;
    bool is_known = false;
    for (size_t l = 0; l < e->prediction->n_levels; l++) {
        double misses = loop->self.level_misses[l];
        double cost = misses > 0 ? loop->self.level_cycles[l] / misses : 0;
        if (isnan(group->misses[l]) || isnan(part[l]))
            continue;
        is_known = true;
        all += cost * group->misses[l];
        sum += cost * part[l];
    }
    return all > 0 ? sum / all : isnan(group->cycles) || !is_known ? NAN : 0;
}

struct pm_explained_groups pm_explained_groups_make(const struct pm_explanation *e,
                                                    const struct pm_row *loop) {
    struct pm_explained_groups rows = {0};
    for (size_t i = 0; i < e->groups.n_groups; i++) {
        const struct pm_loop_group *figures = &e->groups.groups[i];
        struct pm_explained_group *row = PM_PUSH(&rows, rows);
        *row = (struct pm_explained_group){
            .explanation = e,
            .loop = loop,
            .figures = figures,
            .group = &e->structure->groups[figures->group],
            .place = {e->structure, e->structure->groups[figures->group].scope},
            .conflict_share = share_of_part(e, loop, figures, figures->conflicts),
            .sequential_share = share_of_part(e, loop, figures, figures->sequential),
            .share =
                loop->self.memory_cycles > 0 ? figures->cycles / loop->self.memory_cycles : NAN,
        };
        for (size_t l = 0; l < e->prediction->n_levels; l++)
            row->per_iteration[l] = figures->misses[l] / loop->iterations;
        row->strides = strides_text(row->group);
        find_carrier(e, row);
    }
    return rows;
}

void pm_explained_groups_free(struct pm_explained_groups *groups) {
    for (size_t i = 0; i < groups->n_rows; i++)
        free(groups->rows[i].strides);
    free(groups->rows);
}

static json_t *by_level(const struct pm_prediction *prediction, const double *figures) {
    json_t *object = json_object();
    for (size_t l = 0; l < prediction->n_levels; l++)
        json_object_set_new(object, prediction->level_names[l], pm_json_number(figures[l]));
    return object;
}

#define GETTER(name_, value_) PM_GETTER(name_, struct pm_explained_group, value_)
#define LEVELS(member_) pm_json_value(by_level(row->explanation->prediction, row->figures->member_))
GETTER(group_number, pm_integer(row->figures->group))
GETTER(group_object, pm_text(row->group->object))
GETTER(group_loads, pm_integer(row->group->n_loads))
GETTER(group_stores, pm_integer(row->group->n_stores))
GETTER(group_irregular, pm_integer((row->group->flags & PM_GROUP_IRREGULAR) != 0))
GETTER(group_kind, pm_owned_text(pm_group_flags_label(row->group)))
GETTER(group_accesses, pm_number(row->figures->accesses))
GETTER(group_cycles, pm_number(row->figures->cycles))
GETTER(group_misses, LEVELS(misses))
GETTER(group_conflicts, LEVELS(conflicts))
GETTER(group_first_touches, LEVELS(first_touches))
GETTER(group_sequential, LEVELS(sequential))
GETTER(group_unused, pm_number(row->figures->unused_share))
GETTER(group_carrier, row->carrier && !row->carrier->is_first_touch
                          ? pm_place_label_folded(&row->carrier->carrier)
                          : pm_unknown())
GETTER(group_across, row->carrier && row->carrier->carrier.scope != PM_NONE
                         ? pm_integer(row->carrier->across)
                         : pm_unknown())
GETTER(group_from, row->carrier && !row->carrier->is_first_touch
                       ? pm_place_label_folded(&row->carrier->source)
                       : pm_unknown())
GETTER(group_program, pm_text(row->explanation->prediction->program))
GETTER(group_parameters,
       pm_owned_text(pm_parameters_text(&row->explanation->prediction->parameters)))
GETTER(group_machine, pm_text(row->explanation->prediction->machine_name))
GETTER(group_loop, pm_text(row->loop->label))

#define ROW(member_) PM_MEMBER(struct pm_explained_group, member_)
static const struct pm_field group_fields[] = {
    {"group", PM_INTEGER, .get = group_number},
    {"object", PM_TEXT, .get = group_object},
    {"strides", PM_TEXT, ROW(strides)},
    {"loads", PM_INTEGER, .get = group_loads},
    {"stores", PM_INTEGER, .get = group_stores},
    {"irregular", PM_YES_NO, .get = group_irregular},
    {"kind", PM_TEXT, .get = group_kind},
    {"accesses", PM_NUMBER, .get = group_accesses},
    {"miss_cycles", PM_NUMBER, .get = group_cycles},
    {"share_of_miss_cycles", PM_NUMBER, ROW(share)},
    {"misses", PM_JSON_ONLY, .get = group_misses},
    {"conflicts", PM_JSON_ONLY, .get = group_conflicts},
    {"first_touches", PM_JSON_ONLY, .get = group_first_touches},
    {"sequential", PM_JSON_ONLY, .get = group_sequential},
    {"conflict_share", PM_NUMBER, ROW(conflict_share)},
    {"sequential_share", PM_NUMBER, ROW(sequential_share)},
    {"unused_share", PM_NUMBER, .get = group_unused},
    {"carried_by", PM_TEXT, .get = group_carrier},
    {"across", PM_YES_NO, .get = group_across},
    {"from", PM_TEXT, .get = group_from},
    {"carried_share", PM_NUMBER, ROW(carrier_share)},
    {"program", PM_TEXT, .get = group_program, .not_in_json = true},
    {"parameters", PM_TEXT, .get = group_parameters, .not_in_json = true},
    {"machine", PM_TEXT, .get = group_machine, .not_in_json = true},
    {"loop", PM_TEXT, .get = group_loop, .not_in_json = true},
};

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *counts_json(const struct pm_explanation *e) {
    json_t *object = json_object();
    for (int i = 0; i < PM_N_LOOP_FIGURES; i++)
        json_object_set_new(object, pm_loop_figure_name((enum pm_loop_figure)i),
                            PM_JSON_OBJECT(count_fields, &e->counts[i]));
    return object;
}

static const struct pm_field trips_fields[] = {
    {"mean", PM_NUMBER, PM_MEMBER(struct pm_trips_summary, mean)},
    {"shortest", PM_NUMBER, PM_MEMBER(struct pm_trips_summary, shortest)},
    {"longest", PM_NUMBER, PM_MEMBER(struct pm_trips_summary, longest)},
    {"usual", PM_NUMBER, PM_MEMBER(struct pm_trips_summary, usual)},
};

static json_t *suggestions_json(const struct pm_explanation *e, const struct pm_row *row) {
    json_t *array = json_array();
    for (size_t i = 0; i < e->suggestions.n_list; i++) {
        const struct pm_suggestion *suggestion = &e->suggestions.list[i];
        char *sentence = pm_suggestion_sentence(e, suggestion);
        json_t *object = json_object();
        json_object_set_new(object, "try", pm_json_text(pm_suggestion_word(suggestion->kind)));
        json_object_set_new(object, "cycles", pm_json_number(suggestion->cycles));
        json_object_set_new(object, "share", pm_json_number(suggestion->cycles / row->self.cycles));
        json_object_set_new(object, "sentence", pm_json_text(sentence));
        json_array_append_new(array, object);
        free(sentence);
    }
    return array;
}

static void write_json(FILE *out, const struct pm_explanation *e, const struct pm_row *row,
                       const struct pm_report_options *options) {
    json_t *document = pm_program_document("explain", e->structure), *fits = json_array();
    struct pm_cause_rows causes = pm_cause_rows_make(e, row);
    struct pm_explained_groups groups = pm_explained_groups_make(e, row);
    json_object_set_new(document, "parameters", pm_json_parameters(&e->prediction->parameters));
    json_object_set_new(document, "machine", pm_json_text(e->prediction->machine_name));
    json_object_set_new(document, "machine_title", pm_json_text(e->prediction->machine_title));
    json_object_set_new(document, "seconds", pm_json_number(e->prediction->seconds));
    pm_json_set_warnings(document, options);
    json_object_set_new(document, "loop", pm_fields_json(pm_row_fields, row));
    json_object_set_new(document, "counts", counts_json(e));
    json_object_set_new(document, "trips",
                        isnan(e->trips.mean) ? json_null()
                                             : PM_JSON_OBJECT(trips_fields, &e->trips));
    json_object_set_new(
        document, "causes",
        pm_fields_array(PM_FIELDS(cause_fields), causes.rows, causes.n_rows, sizeof *causes.rows));
    json_object_set_new(
        document, "groups",
        pm_fields_array(PM_FIELDS(group_fields), groups.rows, groups.n_rows, sizeof *groups.rows));
    for (size_t i = 0; i < e->n_fits; i++) {
        json_t *of_parameter = json_object();
        json_object_set_new(of_parameter, "parameter", pm_json_text(e->fits[i].solved));
        json_object_set_new(of_parameter, "levels", pm_fits_json_of_one(&e->fits[i]));
        json_array_append_new(fits, of_parameter);
    }
    json_object_set_new(document, "fits", fits);
    json_object_set_new(document, "carried_measured_at", pm_json_text(e->carried_at));
    json_object_set_new(document, "bytes_measured_at", pm_json_text(e->bytes_at));
    json_object_set_new(document, "suggestions", suggestions_json(e, row));
    json_object_set_new(document, "legality_checked", json_false());
    pm_json_print(out, document);
    pm_cause_rows_free(&causes);
    pm_explained_groups_free(&groups);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_csv(FILE *out, const struct pm_explanation *e, const struct pm_row *row) {
    struct pm_explained_groups groups = pm_explained_groups_make(e, row);
    struct pm_fields fields = pm_fields_named(
        PM_FIELDS(group_fields),
        "program parameters machine loop group object strides loads stores "
        "irregular kind accesses miss_cycles share_of_miss_cycles "
        "conflict_share sequential_share unused_share carried_by across from carried_share");
    for (size_t l = 0; l < e->prediction->n_levels; l++)
        *PM_PUSH(&fields, fields) =
            (struct pm_field){.name = e->prediction->level_names[l],
                              .kind = PM_NUMBER,
                              PM_MEMBER(struct pm_explained_group, per_iteration[l])};
    struct pm_csv csv = {.out = out};
    pm_fields_csv_names(&csv, fields);
    pm_csv_end_line(&csv);
    for (size_t i = 0; i < groups.n_rows; i++) {
        pm_fields_csv_values(&csv, fields, &groups.rows[i]);
        pm_csv_end_line(&csv);
    }
    free(fields.fields);
    pm_explained_groups_free(&groups);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void pm_report_explanation(FILE *out, const struct pm_explanation *e,
                           const struct pm_report_options *options) {
    struct pm_rows *rows = pm_rows_new(e->structure, e->prediction, NULL, NULL);
    uint32_t at = rows->row_of_scope[e->scope];
    pm_print_warnings(out, options);
    if (at != PM_NONE)
        PM_BY_FORMAT(options, pm_write_explanation(out, e, &rows->rows[at], options),
                     write_json(out, e, &rows->rows[at], options),
                     write_csv(out, e, &rows->rows[at]));
    pm_rows_free(rows);
}
