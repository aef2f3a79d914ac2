/* A problem size; see parameters.h.  Parameters are kept sorted by name, so that equal sizes are
   equal byte for byte in their canonical text. */
#include "core/parameters.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

static bool is_name(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    return *name == '\0';
}

bool pm_parameters_set(struct pm_parameters *parameters, const char *name, double value,
                       struct pm_error *err) {
    if (!is_name(name))
        return pm_fail(err,
                       "`%.100s` cannot be the name of a parameter: it must be a letter or _ "
                       "followed by letters, digits or _",
                       name);
    if (strlen(name) >= PM_PARAMETER_NAME_SIZE)
        return pm_fail(err, "the parameter name `%.100s` is longer than %d characters", name,
                       PM_PARAMETER_NAME_SIZE - 1);
    if (!isfinite(value))
        return pm_fail(err, "the value of parameter %s is not a finite number", name);
    size_t at = 0;
    while (at < parameters->n && strcmp(parameters->names[at], name) < 0)
        at++;
    if (at == parameters->n || strcmp(parameters->names[at], name) != 0) {
        if (parameters->n == PM_MAX_PARAMETERS)
            return pm_fail(err, "parameter %s is one too many: at most %d are possible", name,
                           PM_MAX_PARAMETERS);
        size_t n_after = parameters->n - at;
        memmove(parameters->names[at + 1], parameters->names[at],
                n_after * sizeof parameters->names[0]);
        memmove(&parameters->values[at + 1], &parameters->values[at],
                n_after * sizeof parameters->values[0]);
        memset(parameters->names[at], 0, sizeof parameters->names[at]);
        memcpy(parameters->names[at], name, strlen(name));
        parameters->n++;
    }
    parameters->values[at] = value == 0 ? 0 : value; /* no negative zero */
    return true;
}

bool pm_parameters_get(const struct pm_parameters *parameters, const char *name, double *value) {
    for (size_t i = 0; i < parameters->n; i++)
        if (strcmp(parameters->names[i], name) == 0) {
            *value = parameters->values[i];
            return true;
        }
    return false;
}

/* Indices of the parameters, names ascending, also where a caller filled the fields itself. */
static void sorted_order(const struct pm_parameters *parameters, size_t order[PM_MAX_PARAMETERS]) {
    for (size_t i = 0; i < parameters->n; i++) {
        size_t j = i;
        for (; j > 0 && strcmp(parameters->names[order[j - 1]], parameters->names[i]) > 0; j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
}

char *pm_parameters_text(const struct pm_parameters *parameters) {
    size_t order[PM_MAX_PARAMETERS];
    sorted_order(parameters, order);
    char *text = pm_strdup("");
    for (size_t i = 0; i < parameters->n; i++) {
        char value[40];
        pm_format_value(parameters->values[order[i]], value, sizeof value);
        pm_append(&text, "%s%s=%s", i ? " " : "", parameters->names[order[i]], value);
    }
    return text;
}

/* One `NAME=VALUE`, which this function may cut up. */
static bool parse_one(char *item, const char *text, struct pm_parameters *parameters,
                      struct pm_error *err) {
    char *equals = strchr(item, '=');
    if (!equals)
        return pm_fail(err, "`%.100s` in `%.200s` is not a parameter: write NAME=VALUE", item,
                       text);
    *equals = '\0';
    double value, known;
    char *end;
    const char *digits = equals + 1;
    value = strtod(digits, &end);
    if (end == digits || *end || !isfinite(value) || isspace((unsigned char)*digits))
        return pm_fail(err, "`%.100s` in `%.200s` is not a number", digits, text);
    if (pm_parameters_get(parameters, item, &known))
        return pm_fail(err, "parameter %.40s is given twice in `%.200s`", item, text);
    return pm_parameters_set(parameters, item, value, err);
}

bool pm_parameters_parse(const char *text, struct pm_parameters *parameters, struct pm_error *err) {
    struct pm_parameters result = {0};
    char *copy = pm_strdup(text), *rest = NULL;
    bool ok = true;
    for (char *item = strtok_r(copy, ", ", &rest); ok && item; item = strtok_r(NULL, ", ", &rest))
        ok = parse_one(item, text, &result, err);
    free(copy);
    if (ok && result.n == 0)
        ok = pm_fail(err, "a problem size is missing: write NAME=VALUE, as in N=256");
    if (ok)
        *parameters = result;
    return ok;
}

bool pm_parameters_add(const char *text, struct pm_parameters *parameters, struct pm_error *err) {
    struct pm_parameters more = {0}, sum = *parameters;
    double known;
    if (!pm_parameters_parse(text, &more, err))
        return false;
    for (size_t i = 0; i < more.n; i++) {
        if (pm_parameters_get(parameters, more.names[i], &known))
            return pm_fail(err, "parameter %s is given twice, the second time in `%.200s`",
                           more.names[i], text);
        if (!pm_parameters_set(&sum, more.names[i], more.values[i], err))
            return false;
    }
    *parameters = sum;
    return true;
}

bool pm_parameters_equal(const struct pm_parameters *a, const struct pm_parameters *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        double value;
        if (!pm_parameters_get(b, a->names[i], &value) || value != a->values[i])
            return false;
    }
    return true;
}

void pm_format_value(double value, char *text, size_t size) {
    if (value == 0)
        value = 0; /* no negative zero */
    if (fabs(value) < 1e15 && value == floor(value)) {
        snprintf(text, size, "%.0f", value);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

/* ---- formulas -------------------------------------------------------------------------------- */

const char *pm_given_formulas_get(const struct pm_given_formulas *formulas, const char *name) {
    for (size_t i = 0; i < formulas->n_list; i++)
        if (strcmp(formulas->list[i].name, name) == 0)
            return formulas->list[i].text;
    return NULL;
}

void pm_given_formulas_add(struct pm_given_formulas *formulas, const char *name, const char *text) {
    struct pm_given_formula *formula = PM_PUSH(formulas, list);
    snprintf(formula->name, sizeof formula->name, "%s", name);
    formula->text = pm_strdup(text);
}

void pm_given_formulas_free(struct pm_given_formulas *formulas) {
    for (size_t i = 0; i < formulas->n_list; i++)
        free(formulas->list[i].text);
    free(formulas->list);
    *formulas = (struct pm_given_formulas){0};
}
