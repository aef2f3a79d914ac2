/* The values of a machine file, from text and to text: figures in their ranges, with or without the
   interval that they were measured to lie in, and words. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

/* ---- from text ------------------------------------------------------------------------------- */

static const struct suffix {
    const char *name;
    double scale;
} suffixes[] = {{"GiB", 1073741824}, {"MiB", 1048576}, {"KiB", 1024}, {"B", 1}, {"", 1}};
enum { N_SUFFIXES = sizeof suffixes / sizeof suffixes[0] };

/* The number that *AT begins with, with its unit; NAN if there is none.  *AT moves behind it. */
static double take_number(const struct pm_machine_field *field, const char **at) {
    char *end;
    double number = strtod(*at, &end);
    if (end == *at || !isfinite(number))
        return NAN;
    while (*end == ' ')
        end++;
    *at = end;
    for (size_t i = 0; i < N_SUFFIXES; i++) {
        size_t length = strlen(suffixes[i].name);
        if (strncmp(end, suffixes[i].name, length) == 0 && length) {
            *at = end + length;
            return field->type == PM_FIELD_BYTES ? number * suffixes[i].scale : NAN;
        }
    }
    return number;
}

/* "(3.9 to 4.4)" at AT, to the end of the text. */
static bool take_interval(const struct pm_machine_field *field, const char *at,
                          struct pm_machine_value *value) {
    if (*at++ != '(')
        return false;
    value->low = take_number(field, &at);
    while (*at == ' ')
        at++;
    if (strncmp(at, "to ", 3) != 0)
        return false;
    at += 3;
    value->high = take_number(field, &at);
    value->has_interval = value->low <= value->number && value->number <= value->high;
    return value->has_interval && strcmp(at, ")") == 0;
}

static bool is_whole(const struct pm_machine_field *field) { return field->type != PM_FIELD_REAL; }

static bool parse_figure(const struct pm_machine_field *field, const char *text,
                         struct pm_machine_value *value, struct pm_error *err) {
    const char *at = text;
    value->number = take_number(field, &at);
    while (*at == ' ')
        at++;
    bool has_more = *at != '\0';
    if (isnan(value->number) || (has_more && !take_interval(field, at, value)))
        return pm_fail(err, "`%s = %s` is not a number%s", field->name, text,
                       field->type == PM_FIELD_BYTES ? " of bytes (32768 or 32KiB)"
                       : has_more ? " (4, or between quotes with an interval, \"4 (3.9 to 4.4)\")"
                                  : "");
    if (value->number < field->low || value->number > field->high)
        return pm_fail(err, "`%s = %s` is out of range: it must lie between %g and %.15g",
                       field->name, text, field->low, field->high);
    if (is_whole(field) && value->number != floor(value->number))
        return pm_fail(err, "`%s = %s` must be a whole number", field->name, text);
    uint64_t whole = is_whole(field) ? (uint64_t)value->number : 0;
    if (field->power_of_two && (whole & (whole - 1)))
        return pm_fail(err, "`%s = %s` must be a power of two", field->name, text);
    return true;
}

static bool parse_bool(const struct pm_machine_field *field, const char *text,
                       struct pm_machine_value *value, struct pm_error *err) {
    static const char *const words[2][3] = {{"false", "no", "off"}, {"true", "yes", "on"}};
    for (int is = 0; is < 2; is++)
        for (int i = 0; i < 3; i++)
            if (strcmp(text, words[is][i]) == 0) {
                value->number = is;
                return true;
            }
    return pm_fail(err, "`%s = %s` is none of false, true", field->name, text);
}

static bool parse_word(const struct pm_machine_field *field, const char *text,
                       struct pm_machine_value *value, struct pm_error *err) {
    char known[64] = "";
    for (size_t i = 0; field->words[i]; i++) {
        if (strcmp(field->words[i], text) == 0) {
            value->number = (double)i;
            return true;
        }
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 field->words[i]);
    }
    return pm_fail(err, "`%s = %s` is none of %s", field->name, text, known);
}

bool pm_value_parse(const struct pm_machine_field *field, const char *text,
                    struct pm_machine_value *value, struct pm_error *err) {
    *value = (struct pm_machine_value){0};
    switch (field->type) {
    case PM_FIELD_BOOL:
        return parse_bool(field, text, value, err);
    case PM_FIELD_WORD:
        return parse_word(field, text, value, err);
    case PM_FIELD_TEXT:
    case PM_FIELD_LIST:
        return true;
    default:
        return parse_figure(field, text, value, err);
    }
}

/* ---- in a section's struct ------------------------------------------------------------------- */

void pm_value_store(const struct pm_machine_field *field, const struct pm_machine_value *value,
                    const char *text, void *content) {
    void *at = (char *)content + field->offset;
    switch (field->type) {
    case PM_FIELD_REAL:
        *(double *)at = value->number * (field->scale != 0 ? field->scale : 1);
        break;
    case PM_FIELD_WHOLE:
        *(uint32_t *)at = (uint32_t)value->number;
        break;
    case PM_FIELD_WIDE:
    case PM_FIELD_BYTES:
        *(uint64_t *)at = (uint64_t)value->number;
        break;
    case PM_FIELD_BOOL:
        *(bool *)at = value->number != 0;
        break;
    case PM_FIELD_WORD:
        *(unsigned *)at = (unsigned)value->number;
        break;
    case PM_FIELD_TEXT:
        free(*(char **)at);
        *(char **)at = pm_strdup(text);
        break;
    case PM_FIELD_LIST:
        break;
    }
}

double pm_value_of(const struct pm_machine_field *field, const void *content) {
    const void *at = (const char *)content + field->offset;
    switch (field->type) {
    case PM_FIELD_REAL:
        return *(const double *)at / (field->scale != 0 ? field->scale : 1);
    case PM_FIELD_WHOLE:
        return *(const uint32_t *)at;
    case PM_FIELD_WIDE:
    case PM_FIELD_BYTES:
        return (double)*(const uint64_t *)at;
    default:
        return NAN;
    }
}

/* ---- to text --------------------------------------------------------------------------------- */

static char *number_text(const struct pm_machine_field *field, double number) {
    if (field->type == PM_FIELD_BYTES)
        for (size_t i = 0; i < N_SUFFIXES; i++) {
            double scale = suffixes[i].scale;
            if (scale > 1 && number >= scale && fmod(number, scale) == 0)
                return pm_sprintf("%.15g%s", number / scale, suffixes[i].name);
        }
    char text[40];
    snprintf(text, sizeof text, "%.15g", number);
    if (strtod(text, NULL) != number)
        snprintf(text, sizeof text, "%.17g", number);
    return pm_strdup(text);
}

char *pm_value_text(const struct pm_machine_field *field, const void *content) {
    const void *at = (const char *)content + field->offset;
    switch (field->type) {
    case PM_FIELD_BOOL:
        return pm_strdup(*(const bool *)at ? "true" : "false");
    case PM_FIELD_WORD:
        return pm_strdup(field->words[*(const unsigned *)at]);
    case PM_FIELD_TEXT:
        return pm_strdup(*(char *const *)at ? *(char *const *)at : "");
    case PM_FIELD_LIST:
        return pm_strdup("");
    default:
        return number_text(field, pm_value_of(field, content));
    }
}
