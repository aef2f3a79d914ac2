/* Options that several commands have. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "core/base/base.h"

struct pm_report_options pm_default_report_options(void) {
    struct pm_report_options options = {.format = PM_REPORT_TABLE, .min_percent = 0.5};
    struct winsize size;
    if (isatty(STDOUT_FILENO)) {
        const char *no_color = getenv("NO_COLOR");
        options.color = !(no_color && *no_color);
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
            options.width = size.ws_col;
    }
    return options;
}

bool pm_option_format(const char *command, const char *value, enum pm_report_format *format) {
    if (pm_report_format_from_name(value, format))
        return true;
    pm_usage_error(command, "--format is table, json or csv, not \"%s\"", value);
    return false;
}

bool pm_option_number(const char *command, const char *option, const char *value, unsigned low,
                      unsigned *number) {
    char *end;
    errno = 0;
    long read = strtol(value, &end, 10);
    if (errno || end == value || *end || read < (long)low || read > INT_MAX) {
        pm_usage_error(command, "%s takes a whole number of at least %u, not \"%s\"", option, low,
                       value);
        return false;
    }
    *number = (unsigned)read;
    return true;
}

static bool add_block_size(const char *item, uint64_t **sizes, size_t *n, struct pm_error *err) {
    char *end;
    errno = 0;
    unsigned long long size = strtoull(item, &end, 10);
    if (errno || end == item || *end || size == 0 || size & (size - 1) || size > 2u << 20)
        return pm_fail(err, "--block takes powers of two from 1 to 2097152 bytes, not \"%s\"",
                       item);
    for (size_t i = 0; i < *n; i++)
        if ((*sizes)[i] == size)
            return true;
    *sizes = pm_realloc(*sizes, *n + 1, sizeof **sizes);
    (*sizes)[(*n)++] = size;
    return true;
}

static int compare_sizes(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool pm_option_block_sizes(const char *list, uint64_t **sizes, size_t *n, struct pm_error *err) {
    char *copy = pm_strdup(list), *rest = copy;
    bool ok = true;
    for (char *item; ok && (item = strsep(&rest, ","));)
        ok = add_block_size(item, sizes, n, err);
    free(copy);
    if (ok)
        qsort(*sizes, *n, sizeof **sizes, compare_sizes);
    return ok;
}
