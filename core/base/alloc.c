/* Memory that is there; see alloc.h. */
#include "core/base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void __attribute__((noreturn)) out_of_memory(size_t count, size_t size) {
    fprintf(stderr, "pmodel: out of memory (%zu elements of %zu bytes)\n", count, size);
    exit(1);
}

void *pm_alloc(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        out_of_memory(count, size);
    return memory;
}

void *pm_realloc(void *old, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        out_of_memory(count, size);
    void *memory = realloc(old, bytes ? bytes : 1);
    if (!memory)
        out_of_memory(count, size);
    return memory;
}

char *pm_strdup(const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(pm_alloc(bytes, 1), text, bytes);
}

char *pm_vsprintf(const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    size_t size = (size_t)vsnprintf(NULL, 0, format, again) + 1;
    va_end(again);
    char *text = pm_alloc(size, 1);
    vsnprintf(text, size, format, arguments);
    return text;
}

char *pm_sprintf(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = pm_vsprintf(format, arguments);
    va_end(arguments);
    return text;
}

void pm_append(char **text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t used = *text ? strlen(*text) : 0;
    size_t more = (size_t)vsnprintf(NULL, 0, format, arguments) + 1;
    *text = pm_realloc(*text, used + more, 1);
    vsnprintf(*text + used, more, format, again);
    va_end(again);
    va_end(arguments);
}

void *pm_double(void *array, size_t *capacity, size_t size) {
    *capacity = *capacity ? 2 * *capacity : 16;
    return pm_realloc(array, *capacity, size);
}
