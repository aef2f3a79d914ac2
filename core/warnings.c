/* Sentences that stand before the figures of an answer; see warnings.h. */
#include "core/warnings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void pm_warning_add(struct pm_warnings *warnings, enum pm_warning_kind kind, double share,
                    const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = pm_vsprintf(format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < warnings->n_list; i++)
        if (strcmp(warnings->list[i].text, text) == 0) {
            free(text);
            return;
        }
    PM_PUSH(warnings, list);
    size_t at = warnings->n_list - 1;
    for (; at > 0 && warnings->list[at - 1].kind > kind; at--)
        warnings->list[at] = warnings->list[at - 1];
    warnings->list[at] = (struct pm_warning){kind, share, text};
}

void pm_warnings_free(struct pm_warnings *warnings) {
    for (size_t i = 0; i < warnings->n_list; i++)
        free(warnings->list[i].text);
    free(warnings->list);
    *warnings = (struct pm_warnings){0};
}

const char *pm_warning_word(enum pm_warning_kind kind) {
    static const char *const words[PM_N_WARNINGS] = {
        [PM_WARNING_EQUAL_COUNTS] = "equal_counts",
        [PM_WARNING_TRUNCATED] = "truncated",
        [PM_WARNING_DROPPED] = "dropped",
        [PM_WARNING_POOR_MODELS] = "poor_models",
        [PM_WARNING_FEW_SIZES] = "few_sizes",
        [PM_WARNING_BELOW_MEASURED] = "below_measured",
        [PM_WARNING_FAR] = "far",
        [PM_WARNING_OUTSIDE] = "outside",
        [PM_WARNING_UNKNOWN] = "unknown",
    };
    return words[kind];
}
