/* Finding and reading source files; see source.h. */
#include "core/source/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

/* The path that exists; NULL: none does.  Owned by the caller. */
static char *find(const char *path, const struct pm_source_folders *folders) {
    for (size_t i = 0; folders && i < folders->n_folders; i++)
        for (const char *rest = path; rest; rest = strchr(rest, '/')) {
            rest += strspn(rest, "/");
            char *candidate = pm_sprintf("%s/%s", folders->folders[i], rest);
            if (is_file(candidate))
                return candidate;
            free(candidate);
        }
    return is_file(path) ? pm_strdup(path) : NULL;
}

static char *read_all(FILE *file) {
    char *text = NULL;
    size_t room = 0, n = 0, got;
    do {
        room = 2 * room + 4096;
        text = pm_realloc(text, room, 1);
        got = fread(text + n, 1, room - n - 1, file);
        n += got;
    } while (got > 0);
    text[n] = '\0';
    return text;
}

static void cut_into_lines(struct pm_source *source) {
    for (char *at = source->text; *at;) {
        *PM_PUSH(source, lines) = at;
        size_t length = strcspn(at, "\n");
        char *end = at + length;
        at = *end ? end + 1 : end;
        if (length && end[-1] == '\r')
            end[-1] = '\0';
        *end = '\0';
    }
}

struct pm_source *pm_source_read(const char *path, const struct pm_source_folders *folders,
                                 struct pm_error *err) {
    char *found = find(path, folders);
    FILE *file = found ? fopen(found, "re") : NULL;
    if (!file) {
        if (found)
            pm_fail_errno(err, "%s: cannot be read", found);
        else
            pm_fail(
                err,
                "%s: the source is not where the program was compiled: --source-dir FOLDER says "
                "where it is now",
                path);
        free(found);
        return NULL;
    }
    struct pm_source *source = pm_alloc(1, sizeof *source);
    source->path = found;
    source->text = read_all(file);
    cut_into_lines(source);
    fclose(file);
    return source;
}

void pm_source_free(struct pm_source *source) {
    if (!source)
        return;
    free(source->path);
    free(source->text);
    free(source->lines);
    free(source);
}

const char *pm_source_line(const struct pm_source *source, size_t number) {
    return number >= 1 && number <= source->n_lines ? source->lines[number - 1] : NULL;
}
