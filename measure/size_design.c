/* Which sizes to run; see design.h. */
#define _GNU_SOURCE
#include "measure/size_design.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/expression/expression.h"
#include "measure/command/command.h"

enum { MAX_VALUES = 100000 }; /* more is a mistake in a range */

/* One -P, or the file of --design: a list of values, of one parameter or of several that go
   together, or a formula. */
struct dimension {
    size_t n_names;
    char names[PM_MAX_PARAMETERS][PM_PARAMETER_NAME_SIZE];
    PM_ARRAY(double, values);      /* n_names for each point */
    struct pm_expression *formula; /* NULL: a list */
    size_t at;                     /* the point, while the product is walked */
};

struct dimensions {
    PM_ARRAY(struct dimension, all);
};

/* ---- reading one -P -------------------------------------------------------------------------- */

static bool read_number(const char *text, const char *end, double *value) {
    char *stop;
    if (text == end)
        return false;
    *value = strtod(text, &stop);
    return stop == end && isfinite(*value);
}

/* "24:64:8" or "24:64" between TEXT and END; COLON is the first. */
static bool add_range(struct dimension *dimension, const char *text, const char *colon,
                      const char *end, struct pm_error *err) {
    const char *second = memchr(colon + 1, ':', (size_t)(end - colon - 1));
    double low, high, step = 1;
    int length = (int)(end - text);
    if (!read_number(text, colon, &low) || !read_number(colon + 1, second ? second : end, &high) ||
        (second && !read_number(second + 1, end, &step)))
        return pm_fail(err, "\"%.*s\" is no range: write LOW:HIGH or LOW:HIGH:STEP", length, text);
    if (high < low)
        return pm_fail(err, "the range %.*s descends: write the smaller value first", length, text);
    if (step <= 0)
        return pm_fail(err, "the step of the range %.*s must be above 0", length, text);
    if ((high - low) / step > MAX_VALUES)
        return pm_fail(err, "the range %.*s has more than %d values", length, text, MAX_VALUES);
    size_t n = (size_t)floor((high - low) / step * (1 + 1e-12)) + 1;
    for (size_t i = 0; i < n; i++)
        *PM_PUSH(dimension, values) = low + (double)i * step;
    return true;
}

/* "24" or a range between TEXT and END; false without a sentence for what may be a formula. */
static bool add_item(struct dimension *dimension, const char *text, const char *end,
                     struct pm_error *err) {
    const char *colon = memchr(text, ':', (size_t)(end - text));
    double value;
    if (colon)
        return add_range(dimension, text, colon, end, err);
    if (!read_number(text, end, &value))
        return false;
    *PM_PUSH(dimension, values) = value;
    return true;
}

/* A point of several parameters, "16:5", between TEXT and END. */
static bool add_tuple(struct dimension *dimension, const char *text, const char *end,
                      struct pm_error *err) {
    (void)err;
    for (size_t i = 0; i < dimension->n_names; i++) {
        const char *stop = memchr(text, ':', (size_t)(end - text));
        bool is_last = i + 1 == dimension->n_names;
        if (is_last != !stop || !read_number(text, stop ? stop : end, PM_PUSH(dimension, values)))
            return false;
        text = stop ? stop + 1 : end;
    }
    return true;
}

/* What ADD reads between commas; none of it if one item is wrong. */
static bool read_items(struct dimension *dimension, const char *text,
                       bool (*add)(struct dimension *, const char *text, const char *end,
                                   struct pm_error *err),
                       struct pm_error *err) {
    for (const char *item = text;; item++) {
        const char *end = item + strcspn(item, ",");
        if (!add(dimension, item, end, err)) {
            dimension->n_values = 0;
            return false;
        }
        item = end;
        if (*end == '\0')
            return true;
    }
}

/* Adds the name between TEXT and END; one that is there already, here or before, is refused. */
static bool add_name(const struct dimensions *dimensions, struct dimension *dimension,
                     const char *text, const char *end, struct pm_error *err) {
    struct pm_parameters probe = {0}; /* checks the name */
    if (dimension->n_names == PM_MAX_PARAMETERS || end == text ||
        end - text >= PM_PARAMETER_NAME_SIZE)
        return pm_fail(err, "\"%.*s\" is no parameter's name, or one too many", (int)(end - text),
                       text);
    char *name = dimension->names[dimension->n_names++];
    memcpy(name, text, (size_t)(end - text));
    if (!pm_parameters_set(&probe, name, 0, err))
        return false;
    for (size_t i = 0; i < dimensions->n_all; i++)
        for (size_t k = 0; k < dimensions->all[i].n_names; k++)
            if (dimensions->all[i].names[k] != name &&
                strcmp(dimensions->all[i].names[k], name) == 0)
                return pm_fail(err, "%s is given twice", name);
    return true;
}

static bool read_spec(struct dimensions *dimensions, const char *spec, struct pm_error *err) {
    const char *equals = strchr(spec, '=');
    if (!equals || equals == spec)
        return pm_fail(err, "-P %s: write NAME=VALUES, as in N=24,32,40 or N=24:64:8", spec);
    struct dimension *dimension = PM_PUSH(dimensions, all);
    for (const char *name = spec; name <= equals;) {
        const char *end = name + strcspn(name, ",=");
        if (!add_name(dimensions, dimension, name, end, err))
            return pm_fail_in(err, "-P %s", spec);
        name = end + 1;
    }
    if (dimension->n_names > 1)
        return read_items(dimension, equals + 1, add_tuple, err) ||
               pm_fail(err, "-P %s: write points of %zu values, as in A,B=16:1,16:5 for two runs",
                       spec, dimension->n_names);
    struct pm_error why = {0};
    if (read_items(dimension, equals + 1, add_item, &why))
        return true;
    if (why.kind)
        return pm_fail(err, "-P %s: %s", spec, why.text);
    dimension->formula = pm_expression_parse(equals + 1, err);
    return dimension->formula || pm_fail_in(err, "-P %s", spec);
}

/* ---- reading a file of points ---------------------------------------------------------------- */

static const char *const separators = ", \t\r";

/* The next field of a line, ended by a NUL; NULL at its end. */
static char *next_field(char **line) {
    char *field = *line + strspn(*line, separators);
    size_t length = strcspn(field, separators);
    if (length == 0)
        return NULL;
    *line = field[length] ? field + length + 1 : field + length;
    field[length] = '\0';
    return field;
}

static bool read_names(struct dimensions *dimensions, struct dimension *dimension, char *line,
                       struct pm_error *err) {
    for (char *field; (field = next_field(&line));)
        if (!add_name(dimensions, dimension, field, field + strlen(field), err))
            return false;
    return true;
}

static bool read_point(struct dimension *dimension, char *line, struct pm_error *err) {
    size_t n = 0;
    for (char *field; (field = next_field(&line)); n++) {
        double value = 0;
        if (!read_number(field, field + strlen(field), &value))
            return pm_fail(err, "\"%s\" is no number", field);
        *PM_PUSH(dimension, values) = value;
    }
    return n == dimension->n_names ||
           pm_fail(err, "%zu values, where the first line has %zu names", n, dimension->n_names);
}

/* The first line has names, each other one a point; empty ones and what follows # mean nothing. */
static bool read_points(struct dimensions *dimensions, char *text, struct pm_error *err) {
    struct dimension *dimension = PM_PUSH(dimensions, all);
    size_t number = 0;
    for (char *line; (line = strsep(&text, "\n"));) {
        number++;
        line[strcspn(line, "#")] = '\0';
        if (line[strspn(line, separators)] == '\0')
            continue;
        if (dimension->n_names ? !read_point(dimension, line, err)
                               : !read_names(dimensions, dimension, line, err))
            return pm_fail_in(err, "line %zu", number);
    }
    return dimension->n_values > 0 ||
           pm_fail(err, "no points: write names into the first line, values into the others");
}

static bool read_design(struct dimensions *dimensions, const char *path, struct pm_error *err) {
    char *text = pm_read_text(path, err);
    if (!text)
        return false;
    bool ok = read_points(dimensions, text, err) || pm_fail_in(err, "--design %s", path);
    free(text);
    return ok;
}

/* ---- one point of the product ---------------------------------------------------------------- */

static bool evaluate(const struct pm_expression *expression, const struct pm_parameters *at,
                     double *value, struct pm_error *err) {
    const char *names[PM_MAX_PARAMETERS];
    for (size_t i = 0; i < at->n; i++)
        names[i] = at->names[i];
    return pm_expression_evaluate(expression, at->n, names, at->values, value, err);
}

/* Formulas may use each other: those that can be evaluated are, until none is left. */
static bool add_formulas(const struct dimensions *dimensions, struct pm_parameters *at,
                         struct pm_error *err) {
    for (bool progress = true; progress;) {
        progress = false;
        const struct dimension *waiting = NULL;
        for (size_t i = 0; i < dimensions->n_all; i++) {
            const struct dimension *dimension = &dimensions->all[i];
            double value;
            if (!dimension->formula || pm_parameters_get(at, dimension->names[0], &value))
                continue;
            if (!evaluate(dimension->formula, at, &value, err)) {
                waiting = dimension;
                continue;
            }
            if (!isfinite(value))
                return pm_fail(err, "-P %s: the formula has no finite value", dimension->names[0]);
            if (!pm_parameters_set(at, dimension->names[0], value, err))
                return false;
            progress = true;
        }
        if (!waiting)
            return true;
        if (!progress)
            return pm_fail_in(err, "-P %s", waiting->names[0]);
    }
    return true;
}

static bool make_point(const struct dimensions *dimensions, struct pm_parameters *at,
                       struct pm_error *err) {
    *at = (struct pm_parameters){0};
    for (size_t i = 0; i < dimensions->n_all; i++) {
        const struct dimension *dimension = &dimensions->all[i];
        for (size_t k = 0; !dimension->formula && k < dimension->n_names; k++)
            if (!pm_parameters_set(at, dimension->names[k],
                                   dimension->values[dimension->at * dimension->n_names + k], err))
                return false;
    }
    return add_formulas(dimensions, at, err);
}

/* The next point of the product, the last list fastest; false after the last. */
static bool advance(struct dimensions *dimensions) {
    for (size_t i = dimensions->n_all; i-- > 0;) {
        struct dimension *dimension = &dimensions->all[i];
        if (dimension->formula)
            continue;
        if (++dimension->at < dimension->n_values / dimension->n_names)
            return true;
        dimension->at = 0;
    }
    return false;
}

static void free_dimensions(struct dimensions *dimensions) {
    for (size_t i = 0; i < dimensions->n_all; i++) {
        free(dimensions->all[i].values);
        pm_expression_free(dimensions->all[i].formula);
    }
    free(dimensions->all);
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct size_list {
    PM_ARRAY(struct pm_parameters, sizes);
};

static bool add_point(const struct dimensions *dimensions, const struct pm_expression *where,
                      struct size_list *list, struct pm_error *err) {
    struct pm_parameters at;
    double admitted = 1;
    if (!make_point(dimensions, &at, err))
        return false;
    if (where && !evaluate(where, &at, &admitted, err))
        return pm_fail_in(err, "--where");
    if (admitted == 0)
        return true;
    for (size_t i = 0; i < list->n_sizes; i++)
        if (pm_parameters_equal(&list->sizes[i], &at)) {
            char *text = pm_parameters_text(&at);
            pm_fail(err, "-P or --design gives the size %s twice", text);
            free(text);
            return false;
        }
    *PM_PUSH(list, sizes) = at;
    return true;
}

static bool walk(struct dimensions *dimensions, const struct pm_expression *where,
                 struct size_list *list, struct pm_error *err) {
    do
        if (!add_point(dimensions, where, list, err))
            return false;
    while (advance(dimensions) && list->n_sizes <= MAX_VALUES);
    return list->n_sizes > 0 || pm_fail(err, "--where leaves no size to run");
}

bool pm_size_design_expand(const struct pm_size_design *design, struct pm_parameters **sizes,
                           size_t *n_sizes, struct pm_error *err) {
    struct dimensions dimensions = {0};
    struct size_list list = {0};
    struct pm_expression *where = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < design->n_specs; i++)
        ok = read_spec(&dimensions, design->specs[i], err);
    if (ok && design->file)
        ok = read_design(&dimensions, design->file, err);
    if (ok && design->where) {
        where = pm_expression_parse(design->where, err);
        ok = where || pm_fail_in(err, "--where");
    }
    ok = ok && walk(&dimensions, where, &list, err);
    pm_expression_free(where);
    free_dimensions(&dimensions);
    if (!ok) {
        free(list.sizes);
        return false;
    }
    *sizes = list.sizes;
    *n_sizes = list.n_sizes;
    return true;
}

void pm_size_design_formulas(const struct pm_size_design *design,
                             struct pm_given_formulas *formulas) {
    for (size_t i = 0; i < design->n_specs; i++) {
        struct dimensions dimensions = {0};
        struct pm_error err = {0};
        if (read_spec(&dimensions, design->specs[i], &err) && dimensions.all[0].formula)
            pm_given_formulas_add(formulas, dimensions.all[0].names[0],
                                  strchr(design->specs[i], '=') + 1);
        free_dimensions(&dimensions);
    }
}

bool pm_size_design_is_formula(const struct pm_size_design *design, const char *name) {
    struct pm_given_formulas formulas = {0};
    pm_size_design_formulas(design, &formulas);
    bool is_formula = pm_given_formulas_get(&formulas, name) != NULL;
    pm_given_formulas_free(&formulas);
    return is_formula;
}

void pm_size_design_free(struct pm_size_design *design) {
    for (size_t i = 0; i < design->n_specs; i++)
        free(design->specs[i]);
    free(design->specs);
    free(design->where);
    free(design->file);
}

char *pm_points_text(const struct pm_parameters *points, size_t n_points,
                     bool (*is_formula)(const void *context, const char *name),
                     const void *context) {
    const char *names[PM_MAX_PARAMETERS];
    size_t n = 0;
    char *text = pm_strdup("");
    for (size_t i = 0; n_points && i < points[0].n; i++)
        if (!is_formula(context, points[0].names[i]))
            names[n++] = points[0].names[i];
    for (size_t i = 0; i < n; i++)
        pm_append(&text, "%s%s", i ? "," : "", names[i]);
    for (size_t p = 0; p < n_points; p++)
        for (size_t i = 0; i < n; i++) {
            double value = 0;
            char number[64];
            pm_parameters_get(&points[p], names[i], &value);
            pm_format_value(value, number, sizeof number);
            pm_append(&text, "%s%s", i ? ":" : p ? "," : "=", number);
        }
    return text;
}
