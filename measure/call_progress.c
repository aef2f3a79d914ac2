/* What a measurement reports while it goes on; see progress.h. */
#define _GNU_SOURCE
#include "measure/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void pm_progress_say(const struct pm_progress *progress, const char *format, ...) {
    char *sentence = NULL;
    if (!progress->say)
        return;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&sentence, format, arguments) >= 0)
        progress->say(progress->context, sentence);
    va_end(arguments);
    free(sentence);
}
