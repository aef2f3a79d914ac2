/* Where things are: the files of this installation. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "core/base/base.h"

/* PREFIX, from PREFIX/bin/pmodel. */
static bool find_prefix(char prefix[PATH_MAX], struct pm_error *err) {
    ssize_t length = readlink("/proc/self/exe", prefix, PATH_MAX - 1);
    if (length < 0)
        return pm_fail_errno(err, "cannot find pmodel's own file through /proc/self/exe");
    prefix[length] = '\0';
    for (int level = 0; level < 2; level++) {
        char *slash = strrchr(prefix, '/');
        if (slash)
            *slash = '\0';
    }
    return true;
}

static char *installed_path(const char *folder, const char *name, struct pm_error *err) {
    char prefix[PATH_MAX];
    if (!find_prefix(prefix, err))
        return NULL;
    char *path = pm_sprintf("%s/%s/%s", prefix, folder, name);
    if (access(path, R_OK) == 0)
        return path;
    pm_fail(err, "%s is missing: install pmodel again (`make install`)", path);
    free(path);
    return NULL;
}

char *pm_library_path(const char *name, struct pm_error *err) {
    return installed_path("lib/pmodel", name, err);
}

char *pm_share_path(const char *name, struct pm_error *err) {
    return installed_path("share/pmodel", name, err);
}

char *pm_launcher_path(const char *name, struct pm_error *err) {
    char *file = pm_sprintf("launchers/%s.conf", name);
    struct pm_error why = {0};
    char *path = pm_share_path(file, &why);
    if (!path)
        pm_fail(
            err,
            "--launcher %s: neither `local`, nor a file, nor in the folder share/pmodel/launchers "
            "of this installation",
            name);
    free(file);
    return path;
}

/* ---- instruction classes, the runtime -------------------------------------------------------- */

bool pm_find_classes(struct pm_lift_options *options, struct pm_error *err) {
    static char *shipped; /* the same for the whole process */
    const char *own = getenv("PMODEL_MACHINES");
    if (!shipped)
        shipped = pm_share_path("machines", err);
    options->classes_folder = shipped;
    options->own_classes_folder = own && *own ? own : NULL;
    return shipped != NULL;
}

static bool pm_read_calls(enum pm_calls *calls, const char *value, struct pm_error *err) {
    *calls = strcmp(value, "moved") == 0 ? PM_CALLS_MOVED : PM_CALLS_KEPT;
    return *calls == PM_CALLS_MOVED || strcmp(value, "kept") == 0 ||
           pm_fail(err, "calls are 'moved' or 'kept', not '%s'", value);
}

bool pm_set_calls(void *to, char *value, struct pm_error *err) {
    return pm_read_calls(to, value, err);
}

bool pm_find_instrumenting(struct pm_copies_request *request, struct pm_error *err) {
    static char *runtime; /* the same for the whole process */
    struct pm_lift_options classes = {0};
    if (!runtime)
        runtime = pm_library_path("libpmodel-rt.so", err);
    if (!runtime || !pm_find_classes(&classes, err))
        return false;
    const char *calls = getenv("PMODEL_CALLS");
    /* What unwinders in measured libraries do depends on the tables that they find. */
    if (!calls)
        calls = request->n_libraries || request->all_libraries ? "kept" : "moved";
    if (!request->calls && !pm_read_calls(&request->calls, calls, err))
        return false;
    request->runtime = runtime;
    request->classes_folder = classes.classes_folder;
    request->own_classes_folder = classes.own_classes_folder;
    return true;
}

/* ---- files that are written ------------------------------------------------------------------ */

/* Can a file be made there?  Asked before what takes long. */
static bool can_be_written(const char *partial, struct pm_error *err) {
    int file = open(partial, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    bool ok = file >= 0 || pm_fail_errno(err, "%s: cannot be written", partial);
    if (file >= 0) {
        close(file);
        remove(partial);
    }
    return ok;
}

/* As a whole, or not at all: signals that end the process wait meanwhile. */
static bool put_file(const char *path, const char *partial, const char *text, size_t n,
                     struct pm_error *err) {
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, &before);
    FILE *to = fopen(partial, "we");
    bool ok = to && fwrite(text, 1, n, to) == n;
    ok = to && fclose(to) == 0 && ok && rename(partial, path) == 0;
    if (!ok) {
        pm_fail_errno(err, "%s: cannot be written", path);
        remove(partial);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ok;
}

bool pm_write_file(const char *path, bool (*write)(FILE *to, void *context, struct pm_error *err),
                   void *context, struct pm_error *err) {
    if (!path)
        return write(stdout, context, err);
    char *partial = pm_sprintf("%s.part", path), *text = NULL;
    size_t n = 0;
    FILE *to = can_be_written(partial, err) ? open_memstream(&text, &n) : NULL;
    bool ok = to && write(to, context, err);
    if (to && fclose(to) != 0)
        ok = ok && pm_fail_errno(err, "%s: cannot be written", path);
    ok = ok && put_file(path, partial, text, n, err);
    free(text);
    free(partial);
    return ok;
}
