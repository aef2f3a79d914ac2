/* Short texts without the C library's formatting, which may take locks or allocate. */
#ifndef PM_RUNTIME_APPEND_TEXT_H
#define PM_RUNTIME_APPEND_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Text in `bytes`, always ended by NUL; what does not fit is cut. */
struct pm_text {
    char *bytes;
    size_t size, used;
};

static inline void pm_text_add(struct pm_text *text, const char *more) {
    while (*more && text->used + 1 < text->size)
        text->bytes[text->used++] = *more++;
    if (text->used < text->size)
        text->bytes[text->used] = 0;
}

static inline void pm_text_number(struct pm_text *text, uint64_t number) {
    char digits[24];
    unsigned first = sizeof digits - 1;
    digits[first] = 0;
    do
        digits[--first] = (char)('0' + number % 10);
    while (number /= 10);
    pm_text_add(text, digits + first);
}

#endif
