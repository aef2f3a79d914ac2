/* `{N}` in arguments, environment and input files. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/command/command.h"

struct text {
    PM_ARRAY(char, bytes);
};

static void append(struct text *out, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        *PM_PUSH(out, bytes) = bytes[i];
}

/* Length of the name at TEXT, 0 if there is none. */
static size_t name_length(const char *text) {
    if (!isalpha((unsigned char)*text) && *text != '_')
        return 0;
    size_t n = 1;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n;
}

static bool fail_unknown(const char *name, size_t length, const struct pm_parameters *at,
                         struct pm_error *err) {
    char known[PM_MAX_PARAMETERS * (PM_PARAMETER_NAME_SIZE + 2) + 1] = "";
    char *written = pm_sprintf("%.*s", (int)length, name);
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < at->n; i++) {
        strcat(strcat(known, *known ? ", " : ""), at->names[i]);
        pm_nearest_try(&nearest, written, at->names[i]);
    }
    pm_fail(err,
            "{%s} is no parameter (%s%s): give it with -P, or write {{%s}} for the text itself",
            written, *known ? "there are " : "there are none", known, written);
    free(written);
    return pm_fail_nearest(err, &nearest);
}

static bool append_value(struct text *out, const char *name, size_t length,
                         const struct pm_parameters *at, struct pm_error *err) {
    char buffer[64];
    if (length == 3 && strncmp(name, "PWD", 3) == 0) {
        char *folder = get_current_dir_name();
        if (!folder)
            return pm_fail_errno(err, "cannot tell the current folder");
        append(out, folder, strlen(folder));
        free(folder);
        return true;
    }
    for (size_t i = 0; i < at->n; i++) {
        if (strlen(at->names[i]) == length && strncmp(at->names[i], name, length) == 0) {
            pm_format_value(at->values[i], buffer, sizeof buffer);
            append(out, buffer, strlen(buffer));
            return true;
        }
    }
    return fail_unknown(name, length, at, err);
}

bool pm_mentions(const char *text, const char *name) {
    size_t own = strlen(name);
    for (const char *p = text; *p;) {
        size_t length = *p == '{' ? name_length(p + 1) : 0;
        size_t quoted = p[0] == '{' && p[1] == '{' ? name_length(p + 2) : 0;
        if (quoted && p[2 + quoted] == '}' && p[3 + quoted] == '}')
            p += quoted + 4;
        else if (length == own && strncmp(p + 1, name, own) == 0 && p[1 + own] == '}')
            return true;
        else
            p++;
    }
    return false;
}

char *pm_substitute(const char *text, const struct pm_parameters *at, struct pm_error *err) {
    struct text out = {0};
    for (const char *p = text; *p;) {
        size_t length = *p == '{' ? name_length(p + 1) : 0;
        size_t quoted = p[0] == '{' && p[1] == '{' ? name_length(p + 2) : 0;
        if (quoted && p[2 + quoted] == '}' && p[3 + quoted] == '}') {
            append(&out, p + 1, quoted + 2);
            p += quoted + 4;
        } else if (length && p[1 + length] == '}') {
            if (!append_value(&out, p + 1, length, at, err)) {
                free(out.bytes);
                return NULL;
            }
            p += length + 2;
        } else {
            append(&out, p++, 1);
        }
    }
    append(&out, "", 1);
    return out.bytes;
}

char **pm_substitute_all(char *const *texts, size_t n, const struct pm_parameters *at,
                         struct pm_error *err) {
    char **result = pm_alloc(n + 1, sizeof *result);
    for (size_t i = 0; i < n; i++) {
        result[i] = pm_substitute(texts[i], at, err);
        if (!result[i]) {
            pm_free_strings(result);
            return NULL;
        }
    }
    return result;
}

size_t pm_count_strings(char *const *strings) {
    size_t n = 0;
    while (strings[n])
        n++;
    return n;
}

void pm_free_strings(char **strings) {
    for (size_t i = 0; strings && strings[i]; i++)
        free(strings[i]);
    free(strings);
}

char *pm_read_text(const char *path, struct pm_error *err) {
    FILE *file = fopen(path, "r");
    if (!file) {
        pm_fail_errno(err, "cannot read %s", path);
        if (err)
            err->kind = PM_ERROR_INPUT;
        return NULL;
    }
    struct text content = {0};
    char buffer[65536];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        append(&content, buffer, n);
    bool ok = !ferror(file);
    fclose(file);
    append(&content, "", 1);
    if (ok)
        return content.bytes;
    free(content.bytes);
    pm_fail(err, "cannot read %s whole", path);
    return NULL;
}

bool pm_substitute_file(const char *from, const char *to, const struct pm_parameters *at,
                        struct pm_error *err) {
    char *template = pm_read_text(from, err);
    if (!template)
        return false;
    char *content = pm_substitute(template, at, err);
    free(template);
    if (!content)
        return pm_fail_in(err, "%s", from);
    FILE *file = fopen(to, "w");
    bool ok = file && fputs(content, file) >= 0;
    if (file && fclose(file) != 0)
        ok = false;
    free(content);
    return ok || pm_fail_errno(err, "cannot write %s", to);
}
