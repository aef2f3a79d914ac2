/* Texts: file names and patterns. */
#ifndef PM_TEXT_H
#define PM_TEXT_H

#include <stdbool.h>

/* What stands behind the last `/` of PATH, within it; "" of NULL. */
const char *pm_base_name(const char *path);

/* Whether TEXT is as PATTERN says: `*` stands for any text, `?` for any character. */
bool pm_matches(const char *pattern, const char *text);

#endif
