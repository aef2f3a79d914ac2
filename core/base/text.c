/* Texts; see text.h. */
#include "core/base/text.h"

#include <string.h>

const char *pm_base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

/* After a mismatch the last `*` takes one character more; earlier ones need not be tried again. */
bool pm_matches(const char *pattern, const char *text) {
    const char *after_star = NULL, *retry = NULL;
    while (*text) {
        if (*pattern == '*') {
            after_star = ++pattern;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (after_star) {
            pattern = after_star;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
