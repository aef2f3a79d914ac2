/* Which shared libraries of a program are instrumented; see private.h.

   What a program needs, the dynamic linker itself lists (`ld.so --list`): it alone knows run paths,
   its cache and the environment.  The list of the runtime library says what must stay as it
   is: code that runs while the runtime consumes records may not make records. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/raw_file.h"
#include "measure/copies/private.h"

#define SYSTEM_INTERPRETER "/lib64/ld-linux-x86-64.so.2" /* by the psABI */

/* ---- asking the dynamic linker --------------------------------------------------------------- */

static void __attribute__((noreturn))
list_in_child(const char *interpreter, const char *file, char *const *environment, int output) {
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDERR_FILENO);
    dup2(output, STDOUT_FILENO);
    for (size_t i = 0; environment[i]; i++)
        putenv(environment[i]);
    execl(interpreter, interpreter, "--list", file, (char *)NULL);
    _exit(127);
}

static char *read_to_end(int input) {
    char *text = pm_strdup(""), buffer[4096];
    for (ssize_t n; (n = read(input, buffer, sizeof buffer)) != 0;) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        pm_append(&text, "%.*s", (int)n, buffer);
    }
    return text;
}

/* What `INTERPRETER --list FILE` prints; owned by the caller. */
static char *list(const char *interpreter, const char *file, char *const *environment,
                  struct pm_error *err) {
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        pm_fail_errno(err, "cannot make a pipe");
        return NULL;
    }
    pid_t child = fork();
    if (child == 0)
        list_in_child(interpreter, file, environment, ends[1]);
    close(ends[1]);
    char *text = read_to_end(ends[0]);
    close(ends[0]);
    if (child > 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return text;
    free(text);
    pm_fail(err, "%s: its dynamic linker %s does not list its libraries (--list)", file,
            interpreter);
    return NULL;
}

static void add_library(struct pm_libraries *libraries, const char *name, const char *path) {
    char *real = realpath(path, NULL);
    for (size_t i = 0; real && i < libraries->n_items; i++)
        if (strcmp(libraries->items[i].path, real) == 0) {
            free(real);
            return;
        }
    if (real)
        *PM_PUSH(libraries, items) =
            (struct pm_library){.name = pm_strdup(pm_base_name(name)), .path = real};
}

/* Lines are "NAME => PATH (ADDRESS)" or "PATH (ADDRESS)"; others name no file. */
static bool read_list(const char *interpreter, const char *file, char *const *environment,
                      struct pm_libraries *libraries, struct pm_error *err) {
    char *text = list(interpreter, file, environment, err), *rest = text;
    for (char *line; text && (line = strsep(&rest, "\n"));) {
        line += strspn(line, " \t");
        char *arrow = strstr(line, " => "), *end = strstr(line, " (0x");
        char *path = arrow ? arrow + 4 : line;
        if (*path != '/' || !end || end < path)
            continue;
        *end = '\0';
        if (arrow)
            *arrow = '\0';
        add_library(libraries, line, path);
    }
    free(text);
    return text != NULL;
}

/* What the runtime runs on stays as it is. */
static bool mark_kept(const char *interpreter, const char *runtime, char *const *environment,
                      struct pm_libraries *libraries, struct pm_error *err) {
    struct pm_libraries kept = {0};
    bool ok = read_list(interpreter, runtime, environment, &kept, err);
    add_library(&kept, interpreter, interpreter);
    add_library(&kept, runtime, runtime);
    for (size_t i = 0; i < libraries->n_items; i++)
        for (size_t k = 0; k < kept.n_items; k++)
            libraries->items[i].is_kept |=
                strcmp(libraries->items[i].path, kept.items[k].path) == 0;
    pm_libraries_free(&kept);
    return ok;
}

/* ---- what was asked for ---------------------------------------------------------------------- */

/* PATTERN is the whole name of a file, or the name without `.so` and what follows. */
static bool names_file(const char *pattern, const char *name) {
    if (fnmatch(pattern, name, 0) == 0)
        return true;
    const char *suffix = strstr(name, ".so");
    while (suffix && suffix[3] && suffix[3] != '.')
        suffix = strstr(suffix + 3, ".so");
    char *stem = suffix ? pm_sprintf("%.*s", (int)(suffix - name), name) : NULL;
    bool same = stem && fnmatch(pattern, stem, 0) == 0;
    free(stem);
    return same;
}

static bool is_named(const char *pattern, const struct pm_library *library) {
    return names_file(pattern, library->name) || names_file(pattern, pm_base_name(library->path));
}

static bool fail_kept(const struct pm_library *library, struct pm_error *err) {
    return pm_fail(err,
                   "--lib: %s cannot be instrumented: what pmodel puts into the program runs on "
                   "it and would measure itself",
                   library->name);
}

static bool fail_unknown(const char *pattern, const char *program,
                         const struct pm_libraries *libraries, struct pm_error *err) {
    char *known = NULL;
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < libraries->n_items; i++) {
        const char *name = libraries->items[i].name;
        if (libraries->items[i].is_kept)
            continue;
        pm_append(&known, "%s%s", known ? ", " : "", name);
        pm_nearest_try(&nearest, pattern, name);
    }
    pm_fail(err,
            "--lib %s: %s needs no such library (it needs %s); one that it loads later is named by "
            "its path",
            pattern, program, known ? known : "none that can be instrumented");
    free(known);
    return pm_fail_nearest(err, &nearest);
}

static bool take_path(const char *path, const char *program, struct pm_libraries *libraries,
                      struct pm_error *err) {
    struct stat status;
    if (stat(path, &status) != 0)
        return pm_fail_errno(err, "--lib %s", path);
    if (!S_ISREG(status.st_mode))
        return pm_fail(err, "--lib %s: not a file", path);
    char *real = realpath(path, NULL);
    if (real && strcmp(real, program) == 0) {
        free(real);
        return pm_fail(err, "--lib %s: this is the program itself", path);
    }
    for (size_t i = 0; real && i < libraries->n_items; i++) {
        struct pm_library *library = &libraries->items[i];
        if (strcmp(library->path, real) != 0)
            continue;
        free(real);
        library->is_asked_for = library->is_named = true;
        return !library->is_kept || fail_kept(library, err);
    }
    free(real);
    return pm_fail(err, "--lib %s: there is no such file any more", path);
}

static bool take_named(const char *pattern, const char *program, struct pm_libraries *libraries,
                       struct pm_error *err) {
    bool found = false, is_glob = strpbrk(pattern, "*?[") != NULL;
    for (size_t i = 0; i < libraries->n_items; i++) {
        struct pm_library *library = &libraries->items[i];
        if (!is_named(pattern, library) || (is_glob && library->is_kept))
            continue;
        if (library->is_kept)
            return fail_kept(library, err);
        library->is_asked_for = library->is_named = found = true;
    }
    return found || fail_unknown(pattern, program, libraries, err);
}

bool pm_libraries_find(const struct pm_copies_request *request, const char *program,
                       const char *interpreter, char *const *environment,
                       struct pm_libraries *libraries, struct pm_error *err) {
    *libraries = (struct pm_libraries){0};
    if (!interpreter)
        interpreter = SYSTEM_INTERPRETER;
    if (!read_list(interpreter, program, environment, libraries, err))
        return false;
    for (size_t i = 0; i < request->n_libraries; i++) /* so that these may be found as kept, too */
        if (strchr(request->libraries[i], '/'))
            add_library(libraries, request->libraries[i], request->libraries[i]);
    if (!mark_kept(interpreter, request->runtime, environment, libraries, err))
        return false;
    for (size_t i = 0; i < libraries->n_items; i++)
        libraries->items[i].is_asked_for = request->all_libraries && !libraries->items[i].is_kept;
    bool ok = true;
    for (size_t i = 0; ok && i < request->n_libraries; i++) {
        const char *asked = request->libraries[i];
        ok = strchr(asked, '/') ? take_path(asked, program, libraries, err)
                                : take_named(asked, program, libraries, err);
    }
    return ok;
}

int pm_libraries_mpi(const struct pm_libraries *libraries) {
    static const struct {
        const char *name;
        int library;
    } known[] = {{"libmpi.so.40", PM_RAW_OPEN_MPI}, {"libmpich.so.12", PM_RAW_MPICH}};
    for (size_t i = 0; i < libraries->n_items; i++)
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (strcmp(libraries->items[i].name, known[k].name) == 0)
                return known[k].library;
    return 0;
}

void pm_libraries_free(struct pm_libraries *libraries) {
    for (size_t i = 0; i < libraries->n_items; i++) {
        free(libraries->items[i].name);
        free(libraries->items[i].path);
    }
    free(libraries->items);
    *libraries = (struct pm_libraries){0};
}
