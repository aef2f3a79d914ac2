/* Where things are: the files of this installation, and machine files by name. */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
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

static char *share_path(const char *name, struct pm_error *err) {
    return installed_path("share/pmodel", name, err);
}

/* ---- machine files --------------------------------------------------------------------------- */

struct name_list {
    PM_ARRAY(char *, names);
};

static void add_names(struct name_list *list, const char *folder) {
    static const char suffix[] = ".conf";
    DIR *stream = opendir(folder);
    if (!stream)
        return;
    for (struct dirent *entry; (entry = readdir(stream));) {
        size_t length = strlen(entry->d_name);
        if (length < sizeof suffix || strcmp(entry->d_name + length - sizeof suffix + 1, suffix))
            continue;
        char *name = pm_strdup(entry->d_name);
        name[length - sizeof suffix + 1] = '\0';
        bool known = false;
        for (size_t i = 0; i < list->n_names && !known; i++)
            known = strcmp(list->names[i], name) == 0;
        if (known)
            free(name);
        else
            *PM_PUSH(list, names) = name;
    }
    closedir(stream);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool pm_machine_names(char ***names, size_t *n_names, struct pm_error *err) {
    struct name_list list = {0};
    const char *own = getenv("PMODEL_MACHINES");
    if (own && *own)
        add_names(&list, own);
    char *shipped = share_path("machines", err);
    if (!shipped)
        return false;
    add_names(&list, shipped);
    free(shipped);
    if (list.n_names)
        qsort(list.names, list.n_names, sizeof *list.names, compare_names);
    *names = list.names;
    *n_names = list.n_names;
    return true;
}

static void complain_unknown_machine(const char *name, struct pm_error *err) {
    char **names;
    size_t n_names;
    if (!pm_machine_names(&names, &n_names, err))
        return;
    char *all = pm_strdup("");
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < n_names; i++) {
        pm_nearest_try(&nearest, name, names[i]);
        pm_append(&all, "%s%s", i ? ", " : "", names[i]);
        free(names[i]);
    }
    pm_fail(err, "no machine \"%s\": there are %s; a file of your own is named by its path", name,
            all);
    pm_fail_nearest(err, &nearest);
    free(all);
    free(names);
}

char *pm_machine_path(const char *name, struct pm_error *err) {
    if (strchr(name, '/') || access(name, F_OK) == 0)
        return pm_strdup(name);
    const char *own = getenv("PMODEL_MACHINES");
    if (own && *own) {
        char *path = pm_sprintf("%s/%s.conf", own, name);
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    char *relative = pm_sprintf("machines/%s.conf", name);
    char *path = share_path(relative, NULL);
    free(relative);
    if (!path)
        complain_unknown_machine(name, err);
    return path;
}

struct pm_machine *pm_find_machine(const char *name, struct pm_error *err) {
    char *path = pm_machine_path(name, err);
    if (!path)
        return NULL;
    struct pm_machine *machine = pm_machine_read(path, err);
    free(path);
    return machine;
}

/* ---- instruction classes, the runtime
 * --------------------------------------------------------------------- */

bool pm_find_classes(struct pm_lift_options *options, struct pm_error *err) {
    static char *shipped; /* the same for the whole process */
    const char *own = getenv("PMODEL_MACHINES");
    if (!shipped)
        shipped = share_path("machines", err);
    options->classes_folder = shipped;
    options->own_classes_folder = own && *own ? own : NULL;
    return shipped != NULL;
}

bool pm_find_instrumenting(struct pm_copies_request *request, struct pm_error *err) {
    static char *runtime; /* the same for the whole process */
    struct pm_lift_options classes = {0};
    if (!runtime)
        runtime = pm_library_path("libpmodel-rt.so", err);
    if (!runtime || !pm_find_classes(&classes, err))
        return false;
    request->runtime = runtime;
    request->classes_folder = classes.classes_folder;
    request->own_classes_folder = classes.own_classes_folder;
    return true;
}

/* ---- lists of machines ----------------------------------------------------------------------- */

bool pm_add_all_machines(struct pm_machine_list *list, struct pm_error *err) {
    char **names;
    size_t n_names;
    if (!pm_machine_names(&names, &n_names, err))
        return false;
    bool ok = true;
    for (size_t i = 0; i < n_names; i++) {
        ok = ok && pm_add_machine(list, names[i], err);
        free(names[i]);
    }
    free(names);
    return ok;
}

void pm_free_machines(struct pm_machine_list *list) {
    for (size_t i = 0; i < list->n_machines; i++)
        pm_machine_free(list->machines[i]);
    free(list->machines);
    *list = (struct pm_machine_list){0};
}
