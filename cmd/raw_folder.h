/* The raw files that the processes of one run left. */
#ifndef PM_RAW_FOLDER_H
#define PM_RAW_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/base.h"

/* Calls ADD (TO, path, err) for each raw file in FOLDER, in the order of their names, until one
   fails; *N_FILES is how many there were.  Fails where a process says that it could not write. */
bool pm_add_raw_files(const char *folder,
                      bool (*add)(void *to, const char *path, struct pm_error *), void *to,
                      size_t *n_files, struct pm_error *err);

/* Adds a sentence to *NOTES, one a line, unless it is there. */
void pm_add_note(char **notes, const char *note);

#endif
