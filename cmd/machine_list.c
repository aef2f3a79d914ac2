/* Machines by name: where their files are, and those that -m and --set ask for. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "core/base/base.h"
#include "machines/probe/probe.h"

/* ---- by name --------------------------------------------------------------------------------- */

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
    char *shipped = pm_share_path("machines", err);
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

char *pm_core_here(bool may_be_near, struct pm_error *err) {
    char *cores = pm_share_path("machines/x86-64.cores", err), *name = NULL;
    if (cores) {
        struct pm_said said = pm_what_is_said();
        name = pm_recognise_core(cores, &said, may_be_near, err);
        pm_said_free(&said);
    }
    free(cores);
    return name;
}

/* The file of the machine that describes this one's core. */
static char *path_here(struct pm_error *err) {
    char *name = pm_core_here(false, err), *path = NULL;
    if (name)
        path = pm_machine_path(name, err);
    else if (!err->text[0])
        pm_fail(err, "no machine file describes the core of this processor: describe it by `pmodel "
                     "probe -o here.conf`, then -m ./here.conf");
    free(name);
    return path;
}

char *pm_machine_path(const char *name, struct pm_error *err) {
    if (strchr(name, '/') || access(name, F_OK) == 0)
        return pm_strdup(name);
    if (strcmp(name, "here") == 0)
        return path_here(err);
    const char *own = getenv("PMODEL_MACHINES");
    if (own && *own) {
        char *path = pm_sprintf("%s/%s.conf", own, name);
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    char *relative = pm_sprintf("machines/%s.conf", name);
    char *path = pm_share_path(relative, NULL);
    free(relative);
    if (!path)
        complain_unknown_machine(name, err);
    return path;
}

struct pm_machine *pm_find_machine(const char *name, char *const *settings, size_t n_settings,
                                   struct pm_mistake *mistake, struct pm_error *err) {
    const struct pm_machine_options options = {.find = pm_machine_path,
                                               .knows_mnemonic = pm_isa_knows_mnemonic,
                                               .settings = settings,
                                               .n_settings = n_settings,
                                               .mistake = mistake};
    char *path = pm_machine_path(name, err);
    if (!path)
        return NULL;
    struct pm_machine *machine = pm_machine_read_with(path, &options, err);
    if (machine)
        machine->asked_as = pm_strdup(name);
    free(path);
    return machine;
}

/* ---- lists ----------------------------------------------------------------------------------- */

bool pm_add_machine(void *to, char *name, struct pm_error *err) {
    struct pm_machine_list *list = to;
    (void)err;
    *PM_PUSH(list, names) = pm_strdup(name);
    return true;
}

bool pm_add_setting(void *to, char *setting, struct pm_error *err) {
    struct pm_machine_list *list = to;
    if (!strchr(setting, '='))
        return pm_fail(err, "--set takes NAME=VALUE, as in L2.size=4MiB, not \"%s\"", setting);
    *PM_PUSH(list, settings) = pm_strdup(setting);
    return true;
}

/* "r12000" of "r12000:L2.size=4MiB": the machine that a setting is for; NULL: any.  Owned. */
static char *machine_of_setting(const char *setting) {
    size_t length = strcspn(setting, ":=");
    return setting[length] == ':' ? pm_sprintf("%.*s", (int)length, setting) : NULL;
}

/* A setting for a machine that is not asked for would change nothing without a word. */
static bool check_settings(const struct pm_machine_list *list, struct pm_error *err) {
    for (size_t i = 0; i < list->n_settings; i++) {
        if (!list->n_names)
            return pm_fail(err, "--set %s changes the machines of -m: give one", list->settings[i]);
        char *machine = machine_of_setting(list->settings[i]);
        bool is_there = !machine;
        for (size_t k = 0; k < list->n_names && !is_there; k++) {
            char *file = pm_sprintf("%s.conf", machine);
            const char *base = pm_base_name(list->names[k]);
            is_there = strcmp(base, machine) == 0 || strcmp(base, file) == 0;
            free(file);
        }
        if (!is_there)
            pm_fail(err, "--set %s is for machine %s, which -m does not name", list->settings[i],
                    machine);
        free(machine);
        if (!is_there)
            return false;
    }
    return true;
}

bool pm_read_machines(void *to, struct pm_error *err) {
    struct pm_machine_list *list = to;
    bool ok = check_settings(list, err);
    for (size_t i = 0; ok && i < list->n_names; i++) {
        struct pm_machine *machine =
            pm_find_machine(list->names[i], list->settings, list->n_settings, NULL, err);
        ok = machine != NULL;
        if (ok)
            *PM_PUSH(list, machines) = machine;
    }
    return ok;
}

bool pm_add_all_machines(struct pm_machine_list *list, struct pm_error *err) {
    char **names;
    size_t n_names;
    if (!pm_machine_names(&names, &n_names, err))
        return false;
    bool ok = true;
    for (size_t i = 0; i < n_names; i++) {
        struct pm_machine *machine = ok ? pm_find_machine(names[i], NULL, 0, NULL, err) : NULL;
        ok = machine != NULL;
        if (ok)
            *PM_PUSH(list, machines) = machine;
        free(names[i]);
    }
    free(names);
    return ok;
}

void pm_free_machines(struct pm_machine_list *list) {
    for (size_t i = 0; i < list->n_machines; i++)
        pm_machine_free(list->machines[i]);
    for (size_t i = 0; i < list->n_names; i++)
        free(list->names[i]);
    for (size_t i = 0; i < list->n_settings; i++)
        free(list->settings[i]);
    free(list->machines);
    free(list->names);
    free(list->settings);
    *list = (struct pm_machine_list){0};
}
