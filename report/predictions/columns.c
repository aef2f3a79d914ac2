/* Which rows and columns of a prediction are shown; see columns.h.  Needs the rows of rows.c. */
#define _GNU_SOURCE
#include "report/predictions/columns.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- fields of levels ------------------------------------------------------------------------ */

/* What there is of each level of the machine. */
struct level_figure {
    const char *name; /* names the figure for all levels; `L1_misses` and so on name one level's */
    const char *short_name;
    const char *suffix; /* of the column's head, after the level's name */
    enum pm_field_kind kind;
    size_t offset; /* of the first level's, a double */
};

static const struct level_figure level_figures[] = {
    {"misses_per_iteration", "misses/it", "/it", PM_RATE,
     offsetof(struct pm_row, misses_per_iteration)},
    {"misses_per_kilo_instruction", "misses/ki", "/ki", PM_RATE,
     offsetof(struct pm_row, misses_per_kilo_instruction)},
    {"misses", "misses", "", PM_COUNT, offsetof(struct pm_row, self.level_misses)},
    {"miss_cycles", "cycles", " CYC", PM_COUNT, offsetof(struct pm_row, self.level_cycles)},
};
enum { N_LEVEL_FIGURES = sizeof level_figures / sizeof *level_figures };

static char *keep(struct pm_columns *columns, char *text) {
    return *PM_PUSH(columns, texts) = text;
}

static void add_level(struct pm_columns *columns, const struct pm_prediction *prediction,
                      const struct level_figure *figure, size_t level) {
    const char *name = prediction->level_names[level];
    bool is_interpolated = prediction->level_interpolated_from[level] != 0;
    *PM_PUSH(&columns->fields, fields) = (struct pm_field){
        .name = keep(columns, pm_sprintf("%s_%s", name, figure->name)),
        .kind = figure->kind,
        .offset = figure->offset + level * sizeof(double),
        .member = PM_DOUBLE,
        .header =
            keep(columns, pm_sprintf("%s%s%s", is_interpolated ? "~" : "", name, figure->suffix)),
        PM_MARKED(">", struct pm_row, misses_are_lower_bound),
        .dispensable = 2,
    };
}

static bool is_word(const char *word, size_t length, const char *name) {
    return name && strlen(name) == length && strncasecmp(word, name, length) == 0;
}

/* Adds what WORD says of levels; false: nothing. */
static bool add_levels(struct pm_columns *columns, const struct pm_prediction *prediction,
                       const char *word, size_t length) {
    for (int f = 0; f < N_LEVEL_FIGURES; f++) {
        const struct level_figure *figure = &level_figures[f];
        bool all = is_word(word, length, figure->name) || is_word(word, length, figure->short_name);
        bool found = all;
        for (size_t level = 0; level < prediction->n_levels; level++) {
            const char *name = prediction->level_names[level];
            char *head = pm_sprintf("%s%s", name, figure->suffix);
            char *whole = pm_sprintf("%s_%s", name, figure->name);
            bool is = all || is_word(word, length, head) || is_word(word, length, whole);
            if (is && !prediction->without_memory)
                add_level(columns, prediction, figure, level);
            found |= is;
            free(head);
            free(whole);
        }
        if (found)
            return true;
    }
    return false;
}

/* ---- lists of fields ------------------------------------------------------------------------- */

static bool fail_unknown(const char *word, size_t length, const struct pm_prediction *prediction,
                         struct pm_error *err) {
    char *written = pm_sprintf("%.*s", (int)length, word), *names = NULL;
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < pm_row_fields.n_fields; i++) {
        const struct pm_field *field = &pm_row_fields.fields[i];
        if (!field->header)
            continue;
        pm_append(&names, "%s%s", names ? ", " : "", field->name);
        pm_nearest_try(&nearest, written, field->name);
        pm_nearest_try(&nearest, written, field->header);
    }
    for (int f = 0; f < N_LEVEL_FIGURES; f++) {
        pm_append(&names, ", %s", level_figures[f].name);
        pm_nearest_try(&nearest, written, level_figures[f].name);
    }
    char *guess = *nearest.name ? pm_sprintf(" (did you mean %s?)", nearest.name) : pm_strdup("");
    pm_fail(err, "no field is called \"%s\"%s: there are %s; of one level %s/it, %s/ki", written,
            guess, names, prediction->n_levels ? prediction->level_names[0] : "L1",
            prediction->n_levels ? prediction->level_names[0] : "L1");
    free(guess);
    free(names);
    free(written);
    return false;
}

static bool add_word(struct pm_columns *columns, const struct pm_prediction *prediction,
                     const char *word, size_t length, struct pm_error *err) {
    for (size_t i = 0; i < pm_row_fields.n_fields; i++) {
        const struct pm_field *field = &pm_row_fields.fields[i];
        if (field->header &&
            (is_word(word, length, field->name) || is_word(word, length, field->header))) {
            *PM_PUSH(&columns->fields, fields) = *field;
            return true;
        }
    }
    return add_levels(columns, prediction, word, length) ||
           fail_unknown(word, length, prediction, err);
}

static bool add_list(struct pm_columns *columns, const struct pm_prediction *prediction,
                     const char *list, struct pm_error *err) {
    for (const char *word = list; *word; word += *word == ',') {
        word += strspn(word, " ");
        size_t length = strcspn(word, ",");
        if (!add_word(columns, prediction, word, length, err))
            return false;
        word += length;
    }
    return true;
}

bool pm_columns_make(const struct pm_prediction *prediction, const char *own,
                     const struct pm_report_options *options, struct pm_columns *columns,
                     struct pm_error *err) {
    const char *chosen = options->fields;
    bool has_own = !chosen || *chosen == '+';
    *columns = (struct pm_columns){0};
    if ((!has_own || add_list(columns, prediction, own, err)) &&
        (!chosen || add_list(columns, prediction, chosen + (*chosen == '+'), err)))
        return true;
    pm_columns_free(columns);
    return false;
}

void pm_columns_free(struct pm_columns *columns) {
    for (size_t i = 0; i < columns->n_texts; i++)
        free(columns->texts[i]);
    free(columns->texts);
    free(columns->fields.fields);
    *columns = (struct pm_columns){0};
}

/* ---- rows ------------------------------------------------------------------------------------ */

bool pm_row_is_called(const struct pm_row *row, const char *pattern) {
    const struct pm_structure *structure = row->place.structure;
    const struct pm_scope *scope = &structure->scopes[row->place.scope];
    if (!pattern)
        return true;
    char *loop = pm_scope_label(structure, row->place.scope);
    loop[strcspn(loop, " ")] = '\0'; /* "step/3" */
    char *routine = pm_sprintf("%.*s", (int)strcspn(loop, "/"), loop);
    const char *slash = scope->file ? strrchr(scope->file, '/') : NULL;
    const char *const names[] = {loop,
                                 routine,
                                 row->label,
                                 row->source,
                                 pm_code_name(structure, row->place.scope),
                                 scope->file,
                                 slash ? slash + 1 : NULL};
    bool is = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is |= names[i] && fnmatch(pattern, names[i], 0) == 0;
    free(loop);
    free(routine);
    return is;
}

struct order {
    const struct pm_field *field;
};

static int compare_by(const void *left, const void *right, void *context) {
    const struct pm_row *a = *(const struct pm_row *const *)left;
    const struct pm_row *b = *(const struct pm_row *const *)right;
    const struct order *order = context;
    int result = PM_COMPARE(b->counted, a->counted);
    if (result == 0)
        result = pm_field_compare(order->field, a, b);
    return result ? result : PM_COMPARE(a, b); /* as they were: by time */
}

const struct pm_row **pm_rows_in_order(const struct pm_rows *rows,
                                       const struct pm_prediction *prediction,
                                       const struct pm_report_options *options,
                                       struct pm_error *err) {
    const struct pm_row **in_order = pm_alloc(rows->n_rows + 1, sizeof *in_order);
    for (size_t i = 0; i < rows->n_rows; i++)
        in_order[i] = &rows->rows[i];
    if (!options->sort)
        return in_order;
    struct pm_columns columns = {0};
    bool ok = add_list(&columns, prediction, options->sort, err) &&
              (columns.fields.n_fields > 0 || pm_fail(err, "give a field"));
    if (ok) {
        struct order order = {columns.fields.fields};
        qsort_r(in_order, rows->n_rows, sizeof *in_order, compare_by, &order);
    } else {
        pm_fail_in(err, "--sort");
        free(in_order);
        in_order = NULL;
    }
    pm_columns_free(&columns);
    return in_order;
}
