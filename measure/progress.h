/* What a measurement reports while it goes on. */
#ifndef PM_MEASURE_PROGRESS_H
#define PM_MEASURE_PROGRESS_H

#include <stddef.h>

#include "core/base/base.h"
#include "core/parameters.h"

/* Each function may be NULL: then nobody wants to know. */
struct pm_progress {
    void *context; /* of the functions */
    void (*say)(void *context, const char *sentence);
    /* What a command writes that builds the program. */
    void (*pass_on)(void *context, const char *bytes, size_t n_bytes);
    /* A size was not measured; the others still are. */
    void (*fail)(void *context, const struct pm_error *why);
    /* SIZES[done] of the N is measured next, those before it are done; NULL: nobody wants to know.
     */
    void (*step)(void *context, const struct pm_parameters *sizes, size_t done, size_t n);
};

void pm_progress_say(const struct pm_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
