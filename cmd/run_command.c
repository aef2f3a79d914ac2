/* The command as the user gave it; see run_command.h. */
#define _GNU_SOURCE
#include "cmd/run_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cmd/run_substitute.h"
#include "core/base/base.h"
#include "core/probe_abi.h"

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

/* The file that a shell would execute for NAME; absolute, because the run may be elsewhere. */
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

/* Arguments as one would type them. */
char *pm_command_text(char *const *argv) {
    char *text = pm_strdup("");
    for (size_t i = 0; argv[i]; i++) {
        bool plain = *argv[i] && !argv[i][strcspn(argv[i], " \t\n'\"\\$&|;<>()*?#~`!")];
        pm_append(&text, plain ? "%s%s" : "%s'%s'", i ? " " : "", argv[i]);
    }
    return text;
}

void pm_free_strings(char **strings) {
    for (size_t i = 0; strings && strings[i]; i++)
        free(strings[i]);
    free(strings);
}

char **pm_substitute_all(char *const *texts, size_t n, const struct pm_parameters *at,
                         struct pm_error *err) {
    char **result = pm_alloc(n + 1, sizeof *result);
    for (size_t i = 0; i < n; i++) {
        result[i] = pm_substitute(texts[i], at, err);
        if (!result[i]) {
            pm_free_strings(result);
            return NULL;
        }
    }
    return result;
}

size_t pm_count_strings(char *const *strings) {
    size_t n = 0;
    while (strings[n])
        n++;
    return n;
}

/* What must be equal for a run not to be repeated. */
char *pm_settings_text(const struct pm_run_request *request, struct pm_error *err) {
    char *command = pm_command_text(request->argv);
    char *text = pm_sprintf("command %s", command);
    free(command);
    if (request->build)
        pm_append(&text, "\nbuild %s", request->build);
    for (size_t i = 0; i < request->n_environment; i++) {
        pm_append(&text, "\nenv %s", request->environment[i]);
    }
    if (request->shared)
        pm_append(&text, "\nshared");
    if (request->bin_width)
        pm_append(&text, "\nbin-width %s", request->bin_width);
    if (request->sample > 1)
        pm_append(&text, "\nsample 1/%u", request->sample);
    if (request->max_blocks)
        pm_append(&text, "\nmax-blocks %u", request->max_blocks);
    for (size_t i = 0; i < request->events.n_routines; i++) {
        const struct pm_event_routine *routine = &request->events.routines[i];
        pm_append(&text, "\n%s %s",
                  routine->flag == PM_PROBE_SCOPE_STARTS ? "start-at" : "stop-after",
                  routine->name);
    }
    for (size_t i = 0; i < request->n_inputs; i++) {
        char *content = pm_read_text(request->inputs[i].from, err);
        if (!content) {
            free(text);
            return NULL;
        }
        pm_append(&text, "\ninput %s %016llx", request->inputs[i].to,
                  (unsigned long long)XXH3_64bits(content, strlen(content)));
        free(content);
    }
    return text;
}
