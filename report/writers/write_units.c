/* Numbers as a person reads them: three significant digits and a prefix that fits.  What is not
   known comes as NAN and is written "?", never 0. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/writers/writers.h"

static struct pm_number_text __attribute__((format(printf, 1, 2))) number(const char *format, ...) {
    struct pm_number_text result;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result.text, sizeof result.text, format, arguments);
    va_end(arguments);
    return result;
}

/* VALUE to three significant digits, so that 999.7 takes the next prefix and not "1000". */
static double three_digits(double value) {
    char text[PM_NUMBER_TEXT_SIZE];
    snprintf(text, sizeof text, "%.2e", value);
    return strtod(text, NULL);
}

/* Digits after the point that make three significant ones of a VALUE below 1000. */
static int decimals(double value) {
    double size = fabs(value);
    return size >= 100 ? 0 : size >= 10 ? 1 : 2;
}

struct pm_number_text pm_seconds_text(double seconds) {
    static const struct {
        double size;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    enum { N_UNITS = sizeof units / sizeof units[0] };
    if (isnan(seconds))
        return number("?");
    if (seconds == 0)
        return number("0 s");
    double rounded = three_digits(seconds);
    size_t unit = 0;
    while (unit + 1 < N_UNITS && fabs(rounded) < units[unit].size)
        unit++;
    double value = rounded / units[unit].size;
    return number("%.*f %s", decimals(value), value, units[unit].name);
}

struct pm_number_text pm_count_text(double count) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    enum { N_PREFIXES = sizeof prefixes / sizeof prefixes[0] };
    if (isnan(count))
        return number("?");
    if (fabs(count) < 1000 && count == floor(count))
        return number("%.0f", count);
    double value = three_digits(count);
    size_t prefix = 0;
    while (prefix + 1 < N_PREFIXES && fabs(value) >= 1000) {
        value /= 1000;
        prefix++;
    }
    if (fabs(value) >= 1000)
        return number("%.2e", count);
    return number("%.*f%s", decimals(value), value, prefixes[prefix]);
}

struct pm_number_text pm_rate_text(double rate) {
    double size = fabs(rate);
    if (isnan(rate) || size >= 100)
        return pm_count_text(rate);
    if (rate == 0)
        return number("0");
    if (size >= 0.1)
        return number("%.*f", decimals(rate), rate);
    if (size >= 0.00095)
        return number("%.3f", rate);
    return number("%.0e", rate);
}

struct pm_number_text pm_percent_text(double share) {
    double percent = 100 * share;
    if (isnan(percent))
        return number("?");
    if (percent > 0 && percent < 0.05)
        return number("<0.1");
    return number("%.*f", fabs(percent) >= 9.95 ? 0 : 1, percent);
}

struct pm_number_text pm_bytes_text(uint64_t bytes) {
    static const char *const units[] = {" bytes", " KiB", " MiB", " GiB"};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof units[0] && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    return number("%" PRIu64 "%s", bytes, units[unit]);
}
