/* JSON values for facts that may be unknown or not be UTF-8; see writers.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "report/writers/writers.h"

/* Length of the valid UTF-8 sequence at TEXT, 0 if there is none.  jansson is the judge. */
static size_t sequence_bytes(const char *text) {
    size_t left = strnlen(text, 4);
    for (size_t n = 1; n <= left; n++) {
        json_t *value = json_stringn(text, n);
        if (value) {
            json_decref(value);
            return n;
        }
    }
    return 0;
}

json_t *pm_json_text(const char *text) {
    if (!text)
        return json_null();
    json_t *value = json_string(text);
    if (value)
        return value;
    static const char replacement[] = "\xef\xbf\xbd";
    char *clean = pm_alloc(3 * strlen(text) + 1, 1), *end = clean;
    while (*text) {
        size_t n = sequence_bytes(text);
        const char *from = n ? text : replacement;
        size_t n_from = n ? n : sizeof replacement - 1;
        memcpy(end, from, n_from);
        end += n_from;
        text += n ? n : 1;
    }
    value = json_string(clean);
    free(clean);
    return value;
}

json_t *pm_json_number(double value) {
    if (!isfinite(value))
        return json_null();
    if (value == floor(value) && fabs(value) < 0x1p53)
        return json_integer((json_int_t)value);
    return json_real(value);
}

json_t *pm_json_parameters(const struct pm_parameters *parameters) {
    json_t *object = json_object();
    for (size_t i = 0; i < parameters->n; i++)
        json_object_set_new(object, parameters->names[i], pm_json_number(parameters->values[i]));
    return object;
}

json_t *pm_json_integer(uint64_t value) { return json_integer((json_int_t)value); }

json_t *pm_json_hex(uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, value);
    return json_string(text);
}

json_t *pm_json_document(const char *name) {
    json_t *document = json_object();
    char *format = pm_sprintf("pmodel-%s", name);
    json_object_set_new(document, "format", json_string(format));
    json_object_set_new(document, "version", json_integer(1));
    free(format);
    return document;
}

void pm_json_print(FILE *out, json_t *document) {
    json_dumpf(document, out, JSON_INDENT(1));
    fputc('\n', out);
    json_decref(document);
}
