/* Memory that is there: allocation that ends the process with one sentence when memory runs out,
   and growable arrays on top of it.  Not for runtime/, which lives inside a user's program. */
#ifndef PM_ALLOC_H
#define PM_ALLOC_H

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

void *pm_alloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull)); /* zeroed */
void *pm_realloc(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *pm_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *pm_sprintf(const char *format, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));
char *pm_vsprintf(const char *format, va_list arguments)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 0)));

/* Appends to *TEXT, an owned string that may move; NULL counts as empty. */
void pm_append(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A growable array is three fields next to each other: T *NAME; size_t n_NAME, cap_NAME.
   PM_PUSH (holder, NAME) makes room for one more, zeroes it and gives its address. */
#define PM_ARRAY(type, name)                                                                       \
    type *name;                                                                                    \
    size_t n_##name, cap_##name
#define PM_PUSH(holder, name)                                                                      \
    ((holder)->name = pm_grow((holder)->name, (holder)->n_##name, &(holder)->cap_##name,           \
                              sizeof *(holder)->name),                                             \
     &(holder)->name[(holder)->n_##name++])

/* Gives ARRAY with twice the capacity. */
void *pm_double(void *array, size_t *capacity, size_t size) __attribute__((returns_nonnull));

/* Makes room in ARRAY for element COUNT, zeroed; gives the array.  Here, since a call for each
   element took a tenth of the time of long lists. */
static inline void *pm_grow(void *array, size_t count, size_t *capacity, size_t size) {
    if (count == *capacity)
        array = pm_double(array, capacity, size);
    memset((char *)array + count * size, 0, size);
    return array;
}

#endif
