/* Errors as values; see error.h. */
#include "core/base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void write_text(struct pm_error *err, enum pm_error_kind kind, const char *format,
                       va_list arguments) {
    err->kind = kind;
    vsnprintf(err->text, sizeof err->text, format, arguments);
}

bool pm_fail(struct pm_error *err, const char *format, ...) {
    if (!err)
        return false;
    va_list arguments;
    va_start(arguments, format);
    write_text(err, PM_ERROR_INPUT, format, arguments);
    va_end(arguments);
    return false;
}

/* Errors that a path of the user's is to blame for, not the system. */
static bool is_input_errno(int number) {
    return number == ENOENT || number == ENOTDIR || number == EISDIR || number == ENAMETOOLONG ||
           number == ELOOP;
}

bool pm_fail_errno(struct pm_error *err, const char *format, ...) {
    int saved = errno;
    if (!err)
        return false;
    va_list arguments;
    va_start(arguments, format);
    write_text(err, PM_ERROR_SYSTEM, format, arguments);
    va_end(arguments);
    if (is_input_errno(saved))
        err->kind = PM_ERROR_INPUT;
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(saved));
    return false;
}

bool pm_fail_in(struct pm_error *err, const char *format, ...) {
    if (!err)
        return false;
    char inner[PM_ERROR_TEXT_SIZE];
    memcpy(inner, err->text, sizeof inner);
    enum pm_error_kind kind = err->kind == PM_ERROR_NONE ? PM_ERROR_INPUT : err->kind;
    va_list arguments;
    va_start(arguments, format);
    write_text(err, kind, format, arguments);
    va_end(arguments);
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, ": %s", inner);
    return false;
}
