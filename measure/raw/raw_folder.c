/* All raw files that the processes of one run left. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "measure/raw/raw.h"

static bool is_raw_file(const char *suffix, bool with_checkpoints) {
    return strcmp(suffix, ".raw") == 0 || (with_checkpoints && strcmp(suffix, ".checkpoint") == 0);
}

bool pm_add_raw_files(const char *folder, const char *what, bool with_checkpoints,
                      bool (*add)(void *to, const char *path, struct pm_error *), void *to,
                      struct pm_error *err) {
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    size_t n_files = 0;
    if (n < 0)
        return pm_fail_errno(err, "cannot read %s", folder);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        const char *suffix = strrchr(entries[i]->d_name, '.');
        if (ok && suffix && is_raw_file(suffix, with_checkpoints)) {
            char *path = pm_sprintf("%s/%s", folder, entries[i]->d_name);
            ok = add(to, path, err);
            n_files++;
            free(path);
        } else if (ok && suffix && strcmp(suffix, ".error") == 0) {
            ok = pm_fail(err, "a process of the run could not write what it measured (disk full, "
                              "or no right to write in TMPDIR?)");
        }
        free(entries[i]);
    }
    free(entries);
    return ok && (n_files > 0 ||
                  pm_fail(err,
                          "the command wrote no %s: does it run the program (--exe names it), and "
                          "did that end in the usual way?",
                          what));
}

void pm_add_note(char **notes, const char *note) {
    if (!*notes || !strstr(*notes, note))
        pm_append(notes, "%s%s", *notes ? "\n" : "", note);
}
