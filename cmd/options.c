/* Options that several commands have. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd.h"

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
