/* The file that a command names, and the command as text. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/command/command.h"

char *pm_absolute_path(const char *path, struct pm_error *err) {
    if (path[0] == '/')
        return pm_strdup(path);
    char *folder = get_current_dir_name();
    if (!folder) {
        pm_fail_errno(err, "cannot tell the current folder");
        return NULL;
    }
    char *whole = pm_sprintf("%s/%s", folder, path);
    free(folder);
    return whole;
}

char *pm_find_command(const char *name, struct pm_error *err) {
    if (strchr(name, '/')) {
        if (access(name, X_OK) == 0)
            return pm_absolute_path(name, err);
        pm_fail(err, "%s: %s", name, access(name, F_OK) ? "no such program" : "not executable");
        return NULL;
    }
    const char *path = getenv("PATH");
    char *copy = pm_strdup(path ? path : "/usr/bin:/bin"), *rest = copy, *found = NULL;
    for (char *folder; !found && (folder = strsep(&rest, ":"));) {
        char *file = pm_sprintf("%s/%s", *folder ? folder : ".", name);
        struct stat status;
        if (access(file, X_OK) == 0 && stat(file, &status) == 0 && S_ISREG(status.st_mode))
            found = pm_absolute_path(file, err);
        free(file);
    }
    free(copy);
    if (!found)
        pm_fail(err, "%s: no such program in PATH", name);
    return found;
}

bool pm_is_script(const char *path) {
    char start[2] = "";
    FILE *file = fopen(path, "r");
    bool script = file && fread(start, 1, 2, file) == 2 && start[0] == '#' && start[1] == '!';
    if (file)
        fclose(file);
    return script;
}

/* "mpirun", "mpirun.openmpi", "mpiexec.hydra". */
static bool is_launcher(const char *command) {
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun"};
    const char *name = pm_base_name(command);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(name, names[i], n) == 0 && (name[n] == '\0' || name[n] == '.'))
            return true;
    }
    return false;
}

static char *program_file(const char *argument) {
    struct stat status;
    char *path = *argument == '-' ? NULL : pm_find_command(argument, NULL);
    if (path && stat(path, &status) == 0 && S_ISREG(status.st_mode) && !pm_is_script(path))
        return path;
    free(path);
    return NULL;
}

char *pm_launched_program(char *const *argv) {
    if (!is_launcher(argv[0]))
        return NULL;
    for (int with_slash = 1; with_slash >= 0; with_slash--)
        for (size_t i = 1; argv[i]; i++) {
            bool has_slash = strchr(argv[i], '/') != NULL;
            char *path = has_slash == with_slash ? program_file(argv[i]) : NULL;
            if (path)
                return path;
        }
    return NULL;
}

char *pm_command_text(char *const *argv) {
    char *text = pm_strdup("");
    for (size_t i = 0; argv[i]; i++) {
        bool plain = *argv[i] && !argv[i][strcspn(argv[i], " \t\n'\"\\$&|;<>()*?#~`!")];
        pm_append(&text, plain ? "%s%s" : "%s'%s'", i ? " " : "", argv[i]);
    }
    return text;
}
