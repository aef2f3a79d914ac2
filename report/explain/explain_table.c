/* `pmodel report --as loop` for people: what is known of a loop, on one screen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/explain/private.h"

/* ---- the head -------------------------------------------------------------------------------- */

/* "in step/3 j, step/2 i, step"; owned by the caller. */
static char *surroundings(const struct pm_structure *structure, uint32_t scope) {
    char *text = pm_strdup("");
    for (uint32_t s = structure->scopes[scope].parent;
         s != PM_NONE && structure->scopes[s].kind >= PM_SCOPE_ROUTINE;
         s = structure->scopes[s].parent) {
        char *label = pm_scope_label_folded(structure, s);
        pm_append(&text, "%s%s", *text ? ", " : "in ", label);
        free(label);
    }
    return text;
}

static char *size_text(const struct pm_prediction *p) {
    char *parameters = pm_parameters_text(&p->parameters);
    if (!p->predicted)
        pm_append(&parameters, "%smeasured at this size", *parameters ? ", " : "");
    else if (p->extrapolation > 1)
        pm_append(&parameters, ", %s %s, so extrapolated %.1fx",
                  p->below_measured ? "below what was measured, up to" : "measured up to",
                  p->measured_up_to ? p->measured_up_to : "?", p->extrapolation);
    return parameters;
}

/* " (80%: 1 s to 2 s)"; "" without an interval; owned by the caller. */
static char *interval_text(const struct pm_row *row) {
    if (isnan(row->low.seconds) || isnan(row->high.seconds))
        return pm_strdup("");
    struct pm_number_text low = pm_seconds_text(row->low.seconds),
                          high = pm_seconds_text(row->high.seconds);
    return pm_sprintf(" (%.0f%%: %s to %s)", 100 * row->prediction->level, low.text, high.text);
}

static void write_head(FILE *out, const struct pm_explanation *e, const struct pm_row *row,
                       const struct pm_report_options *options) {
    char *remarks = pm_scope_remarks(e->structure, e->scope);
    char *around = surroundings(e->structure, e->scope);
    char *size = size_text(e->prediction), *interval = interval_text(row);
    pm_print_title(out, options, "%s  %s%s%s%s%s", row->label, row->source, *around ? "  " : "",
                   around, *remarks ? "; " : "", remarks);
    struct pm_number_text seconds = pm_seconds_text(row->seconds),
                          whole = pm_seconds_text(e->prediction->seconds);
    char *line = pm_sprintf("%s  %s%son %s: %s%s%s, %s%% of %s", e->prediction->program, size,
                            *size ? "  " : "", e->prediction->machine_title,
                            row->time_is_lower_bound ? ">" : "", seconds.text, interval,
                            pm_percent_text(row->share).text, whole.text);
    pm_print_wrapped(out, "", "  ", line, options->width);
    free(line);
    free(remarks);
    free(around);
    free(size);
    free(interval);
}

static void write_also(FILE *out, const struct pm_explanation *e,
                       const struct pm_report_options *options) {
    enum { MOST_NAMED = 6 };
    if (e->n_also == 0)
        return;
    char *names = pm_strdup("");
    for (size_t i = 0; i < e->n_also && i < MOST_NAMED; i++) {
        char *label = pm_scope_label_folded(e->structure, e->also[i]);
        char *source = pm_scope_source(e->structure, e->also[i]);
        pm_append(&names, "%s%s (%s)", i ? ", " : "", label, source);
        free(label);
        free(source);
    }
    if (e->n_also > MOST_NAMED)
        pm_append(&names, " and %zu more", e->n_also - MOST_NAMED);
    pm_print_line(out, options, "Of what is called so this has most time; others: %s.", names);
    free(names);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void write_counts(FILE *out, const struct pm_explanation *e, const struct pm_row *row,
                         const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, "EXECUTED", PM_COLUMN_TEXT);
    pm_text_table_column(table, "TIMES", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "AN ITERATION", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "ERROR %", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "AS A FUNCTION OF THE SIZE", PM_COLUMN_NAME);
    for (int i = 0; i < PM_N_LOOP_FIGURES; i++) {
        const struct pm_loop_count *count = &e->counts[i];
        bool is_per_iteration = i > PM_LOOP_ITERATIONS;
        pm_text_table_cell(table, pm_loop_figure_words((enum pm_loop_figure)i));
        pm_text_table_cell(table, pm_count_text(count->count).text);
        pm_text_table_cell(
            table, is_per_iteration ? pm_rate_text(count->count / row->iterations).text : "");
        pm_text_table_cell(table,
                           count->formula ? pm_percent_text(count->relative_error).text : "");
        pm_text_table_cell(table, count->formula ? count->formula : e->has_models ? "?" : "");
    }
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
    if (e->trips.longest > e->trips.shortest)
        pm_print_line(out, options,
                      "Trips: %s to %s of an entry, %s on average; half of the iterations are in "
                      "entries of up to %s.",
                      pm_count_text(e->trips.shortest).text, pm_count_text(e->trips.longest).text,
                      pm_count_text(e->trips.mean).text, pm_count_text(e->trips.usual).text);
}

/* ---- cycles ---------------------------------------------------------------------------------- */

static struct pm_field_value holds_cell(const void *at) {
    const struct pm_cause_row *row = at;
    return pm_text(row->holds ? "<- holds" : "");
}
PM_GETTER(gain_cell, struct pm_cause_row,
          isnan(row->gain) ? pm_text("?") : pm_copied_text(pm_rate_text(row->gain).text))

static void write_causes(FILE *out, const struct pm_explanation *e, const struct pm_row *row,
                         const struct pm_report_options *options) {
    static const double least_share = 0.0005;
    static const struct pm_field fields[] = {
        {"cycles", PM_RATE, PM_MEMBER(struct pm_cause_row, cycles), .header = "CYCLES/IT"},
        {"share", PM_PERCENT, PM_MEMBER(struct pm_cause_row, share), .header = "%"},
        {"gain", PM_RATE, PM_MEMBER(struct pm_cause_row, gain), .header = "GAIN",
         .cell = gain_cell},
        {"words", PM_NAME, PM_MEMBER(struct pm_cause_row, words), .header = "GO TO"},
        {"holds", PM_TEXT, .cell = holds_cell},
    };
    struct pm_cause_rows causes = pm_cause_rows_make(e, row);
    struct pm_table_rows table =
        pm_table_begin(pm_fields_named(PM_FIELDS(fields), "cycles share gain words holds"));
    for (size_t i = 0; i < causes.n_rows; i++)
        if (causes.rows[i].share >= least_share || isnan(causes.rows[i].share))
            pm_table_row(&table, &causes.rows[i]);
    pm_table_end(out, &table, NULL, options);
    struct pm_number_text all = pm_rate_text(row->self.cycles / row->iterations),
                          lower = pm_rate_text(row->self.lower_cycles / row->iterations),
                          upper = pm_rate_text(row->self.upper_cycles / row->iterations);
    if (e->prediction->without_memory)
        pm_print_line(out, options, "%s in all, if nothing misses.", all.text);
    else
        pm_print_line(out, options,
                      "%s in all; %s if every miss were prefetched in time, %s if each were waited "
                      "for alone. GAIN: what would be saved if this alone vanished.",
                      all.text, lower.text, upper.text);
    pm_cause_rows_free(&causes);
}

/* ---- reference groups ------------------------------------------------------------------------ */

PM_GETTER(object_cell, struct pm_explained_group,
          pm_text(row->group->object                      ? row->group->object
                  : row->group->flags &PM_GROUP_STACK     ? "(stack)"
                  : row->group->flags &PM_GROUP_CONSTANTS ? "(constants)"
                                                          : "?"))
PM_GETTER(access_cell, struct pm_explained_group,
          pm_text(row->group->n_loads && row->group->n_stores ? "rw"
                  : row->group->n_stores                      ? "w"
                                                              : "r"))
PM_GETTER(unused_cell, struct pm_explained_group,
          isnan(row->figures->unused_share)
              ? pm_text("")
              : pm_copied_text(pm_percent_text(row->figures->unused_share).text))
PM_GETTER(conflicts_cell, struct pm_explained_group,
          isnan(row->conflict_share) ? pm_text("")
                                     : pm_copied_text(pm_percent_text(row->conflict_share).text))

PM_GETTER(sequential_cell, struct pm_explained_group,
          isnan(row->sequential_share)
              ? pm_text("")
              : pm_copied_text(pm_percent_text(row->sequential_share).text))

/* "step/2 i across 80%" */
static struct pm_field_value carrier_cell(const void *at) {
    const struct pm_explained_group *row = at;
    if (!row->carrier)
        return pm_text("");
    char *share = pm_sprintf(" %s%%", pm_percent_text(row->carrier_share).text), *text;
    if (row->carrier->is_first_touch) {
        text = pm_sprintf("first touch%s", share);
    } else {
        const struct pm_row_place *carrier = &row->carrier->carrier;
        char *label = carrier->scope == PM_NONE
                          ? pm_strdup("?")
                          : pm_scope_label_folded(carrier->structure, carrier->scope);
        bool is_loop = carrier->scope != PM_NONE &&
                       carrier->structure->scopes[carrier->scope].kind == PM_SCOPE_LOOP;
        text = pm_sprintf("%s%s%s", label,
                          !is_loop               ? ""
                          : row->carrier->across ? " across"
                                                 : " within",
                          share);
        free(label);
    }
    free(share);
    return pm_owned_text(text);
}

static const struct pm_field group_fields[] = {
    {"object", PM_NAME, .cell = object_cell, .header = "DATA"},
    {"access", PM_TEXT, .cell = access_cell, .dispensable = 3},
    {"strides", PM_NAME, PM_MEMBER(struct pm_explained_group, strides), .header = "STRIDES"},
    {"share", PM_PERCENT, PM_MEMBER(struct pm_explained_group, share), .header = "%"},
    {"conflicts", PM_PERCENT, .cell = conflicts_cell, .header = "CONFL %", .dispensable = 1},
    {"sequential", PM_PERCENT, .cell = sequential_cell, .header = "SEQ %", .dispensable = 1},
    {"unused", PM_PERCENT, .cell = unused_cell, .header = "UNUSED %", .dispensable = 2},
    {"carrier", PM_NAME, .cell = carrier_cell, .header = "REUSE CARRIED BY"},
};

static void write_groups(FILE *out, const struct pm_explanation *e, const struct pm_row *row,
                         const struct pm_report_options *options) {
    enum { MOST_SHOWN = 10 };
    struct pm_explained_groups groups = pm_explained_groups_make(e, row);
    struct pm_fields fields =
        pm_fields_named(PM_FIELDS(group_fields), "object access strides share");
    bool is_sequential_known = false;
    for (size_t i = 0; i < groups.n_rows; i++)
        is_sequential_known |= !isnan(groups.rows[i].sequential_share);
    char *names = pm_sprintf("conflicts%s%s%s", is_sequential_known ? " sequential" : "",
                             e->bytes_at ? " unused" : "", e->carried ? " carrier" : "");
    struct pm_fields rest = pm_fields_named(PM_FIELDS(group_fields), names);
    free(names);
    char *titles[PM_MAX_LEVELS] = {NULL};
    for (size_t l = 0; !e->prediction->without_memory && l < e->prediction->n_levels; l++) {
        titles[l] = pm_sprintf("%s/it", e->prediction->level_names[l]);
        *PM_PUSH(&fields, fields) =
            (struct pm_field){.name = e->prediction->level_names[l],
                              .kind = PM_RATE,
                              PM_MEMBER(struct pm_explained_group, per_iteration[l]),
                              .header = titles[l]};
    }
    for (size_t i = 0; i < rest.n_fields; i++)
        *PM_PUSH(&fields, fields) = rest.fields[i];
    free(rest.fields);
    size_t n_hidden = 0, n_shown = 0;
    struct pm_table_rows table = pm_table_begin(fields);
    for (size_t i = 0; i < groups.n_rows; i++) {
        bool is_small = !(100 * groups.rows[i].share >= options->min_percent);
        if (n_shown >= MOST_SHOWN || (is_small && n_shown > 0 && !options->wide)) {
            n_hidden++;
            continue;
        }
        pm_table_row(&table, &groups.rows[i]);
        n_shown++;
    }
    pm_table_end(out, &table, "\n", options);
    if (n_hidden)
        pm_print_line(out, options, "%zu more groups with little cost (--wide, --format json).",
                      n_hidden);
    for (size_t l = 0; l < PM_MAX_LEVELS; l++)
        free(titles[l]);
    pm_explained_groups_free(&groups);
}

/* ---- what to try, and what is not known -------------------------------------------------------
 */

static void write_suggestions(FILE *out, const struct pm_explanation *e, const struct pm_row *row,
                              const struct pm_report_options *options) {
    enum { MOST_SHOWN = 3 };
    if (e->suggestions.n_list == 0)
        return;
    fputs("\nwhat to try (whether dependences allow it was not checked):\n", out);
    for (size_t i = 0; i < e->suggestions.n_list && i < MOST_SHOWN; i++) {
        const struct pm_suggestion *suggestion = &e->suggestions.list[i];
        char *sentence = pm_suggestion_sentence(e, suggestion);
        double share = fmin(1, suggestion->cycles / row->self.cycles);
        pm_print_note(out, options, "%s (up to %s%% of its time): %s.",
                      pm_suggestion_word(suggestion->kind), pm_percent_text(share).text, sentence);
        free(sentence);
    }
}

static void write_unknown(FILE *out, const struct pm_explanation *e, const struct pm_row *row,
                          const struct pm_report_options *options) {
    bool has_memory = !e->prediction->without_memory;
    if (row->time_is_lower_bound)
        pm_print_note(out, options, "The time is a lower bound (>): %s.",
                      e->prediction->without_memory
                          ? "no reuse distances were measured"
                          : "at least 1% of its operations have no cost in the machine file");
    if (!e->has_models)
        pm_print_note(out, options,
                      "Functions of the size, and the sizes at which it falls out of "
                      "levels: `pmodel fit` makes them.");
    if (!e->carried && has_memory)
        pm_print_note(out, options,
                      "What carries its reuse was not measured: the same `pmodel run` with --carry "
                      "and -m %s adds it.",
                      e->machine->name);
    if (!e->bytes_at && has_memory)
        pm_print_note(out, options,
                      "How much of its blocks is never used was not measured: the "
                      "same `pmodel run` with --bytes adds it.");
    if (e->carried_at || e->bytes_at)
        pm_print_note(out, options, "%s%s%s%s%s%s.",
                      e->carried_at ? "What carries reuse was measured at " : "",
                      e->carried_at && *e->carried_at ? e->carried_at
                      : e->carried_at                 ? "one size"
                                                      : "",
                      e->carried_at && e->bytes_at ? ", unused bytes at " : "",
                      !e->carried_at && e->bytes_at ? "Unused bytes were measured at " : "",
                      e->bytes_at ? (*e->bytes_at ? e->bytes_at : "one size") : "", "");
}

/* ---- source and code ------------------------------------------------------------------------- */

static void write_source(FILE *out, const struct pm_explanation *e, const struct pm_row *row,
                         const struct pm_report_options *options) {
    enum { MOST_LINES = 24 };
    if (e->source_missing)
        pm_print_note(out, options, "%s", e->source_missing);
    if (!e->source)
        return;
    fputc('\n', out);
    for (uint32_t line = row->line_first; line && line <= row->line_last; line++) {
        const char *text = pm_source_line(e->source, line);
        if (!text)
            break;
        if (line >= row->line_first + MOST_LINES) {
            pm_print_line(out, options, "… up to line %u", row->line_last);
            break;
        }
        char *shown = pm_sprintf("%5u  %s", line, text);
        for (char *at = shown; *at; at++)
            if (*at == '\t')
                *at = ' ';
        fprintf(out, "%.*s\n", options->width && !options->wide ? (int)options->width : 1000,
                shown);
        free(shown);
    }
}

static void write_code(FILE *out, const struct pm_explanation *e,
                       const struct pm_report_options *options) {
    if (!e->code)
        return;
    fputc('\n', out);
    if (e->code_detail)
        pm_report_instructions(out, e->code, e->code_detail, options);
    else
        pm_print_note(out, options, "There is no path back to its header, so no code to show.");
}

void pm_write_explanation(FILE *out, const struct pm_explanation *e, const struct pm_row *row,
                          const struct pm_report_options *options) {
    write_head(out, e, row, options);
    write_also(out, e, options);
    fputc('\n', out);
    write_counts(out, e, row, options);
    fputc('\n', out);
    write_causes(out, e, row, options);
    write_groups(out, e, row, options);
    for (size_t i = 0; i < e->n_fits; i++) {
        fputc('\n', out);
        pm_report_fits_of_one(out, &e->fits[i], options);
    }
    write_suggestions(out, e, row, options);
    write_unknown(out, e, row, options);
    write_source(out, e, row, options);
    write_code(out, e, options);
}
