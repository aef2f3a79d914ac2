/* The end of what a process wrote, for messages. */
#include <string.h>

#include "measure/launch/launch.h"

void pm_tail_add(struct pm_output_tail *tail, const char *bytes, size_t n) {
    if (n > PM_OUTPUT_TAIL) {
        bytes += n - PM_OUTPUT_TAIL;
        n = PM_OUTPUT_TAIL;
    }
    if (tail->length + n > PM_OUTPUT_TAIL) {
        size_t gone = tail->length + n - PM_OUTPUT_TAIL;
        memmove(tail->text, tail->text + gone, tail->length - gone);
        tail->length -= gone;
    }
    for (size_t i = 0; i < n; i++)
        tail->text[tail->length++] = bytes[i] ? bytes[i] : ' ';
    tail->text[tail->length] = '\0';
}

const char *pm_tail_last_line(struct pm_output_tail *tail) {
    size_t end = tail->length;
    while (end && strchr(" \t\r\n", tail->text[end - 1]))
        end--;
    tail->text[end] = '\0';
    char *line = strrchr(tail->text, '\n');
    return line ? line + 1 : tail->text;
}
