/* Source files, found where debug information says that they were, or where they are now. */
#ifndef PM_SOURCE_H
#define PM_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/base.h"

/* Folders in which sources lie that are not where they were compiled. */
struct pm_source_folders {
    PM_ARRAY(const char *, folders); /* the command line's; the array is owned */
};

/* A text as lines, without their ends. */
struct pm_source {
    char *path;              /* where it was found; owned */
    char *text;              /* owned */
    PM_ARRAY(char *, lines); /* lines[0] is line 1; the array is owned */
};

/* Reads the file that PATH, as debug information has it, stands for: the end of PATH in one of
   FOLDERS, the longest first (of /a/b/c.c: b/c.c before c.c), else PATH itself.  NULL with a
   sentence that says how to point at it; freed by pm_source_free. */
struct pm_source *pm_source_read(const char *path, const struct pm_source_folders *folders,
                                 struct pm_error *err);
void pm_source_free(struct pm_source *source); /* NULL is fine */

/* Line NUMBER, from 1; NULL: the text ends before it. */
const char *pm_source_line(const struct pm_source *source, size_t number);

#endif
