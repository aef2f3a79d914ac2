/* pmodel.so, what `-fplugin=` names: picks the plugin body that was built for the running compiler.

   A body is full of GCC's own symbols, and a compiler of another version stops at the first one it
   does not have, before any version check of the body can speak.  This file therefore uses no
   symbol of GCC: it compares the major version and the target, loads pmodel-MAJOR.so (for a cross
   compiler pmodel-MAJOR-TARGET.so) from its own folder and hands over.  Where that is impossible it
   says why in one sentence, and GCC ends the compilation.

   The structures below repeat gcc-plugin.h, as far as it has been the same since GCC 4.5. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plugin_argument {
    char *key, *value;
};

struct plugin_name_args {
    char *base_name;
    const char *full_name;
    int argc;
    struct plugin_argument *argv;
    const char *version;
    const char *help;
};

struct plugin_gcc_version {
    const char *basever;
    const char *datestamp;
    const char *devphase;
    const char *revision;
    const char *configuration_arguments;
};

typedef int body_init_function(struct plugin_name_args *, struct plugin_gcc_version *);

extern int plugin_is_GPL_compatible;
int plugin_is_GPL_compatible;
int plugin_init(struct plugin_name_args *arguments, struct plugin_gcc_version *compiler);

/* Writes the folder of this very file, without a slash at its end, into FOLDER[PATH_MAX]. */
static void own_folder(const struct plugin_name_args *arguments, char *folder) {
    Dl_info info;
    const char *path = arguments->full_name;
    if (dladdr(&plugin_is_GPL_compatible, &info) && info.dli_fname)
        path = info.dli_fname;
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(folder, PATH_MAX, "%.*s", (int)(slash - path), path);
    else
        snprintf(folder, PATH_MAX, ".");
}

/* A plugin body: the compiler it was built for. */
struct body {
    int major;
    char target[64]; /* "" for the compiler's own machine */
};

/* What the name of a body says ("pmodel-12.so", "pmodel-12-aarch64-linux-gnu.so"); false for other
   names. */
static bool read_body_name(const char *name, struct body *body) {
    int length = 0;
    memset(body, 0, sizeof *body);
    if (sscanf(name, "pmodel-%d.so%n", &body->major, &length) == 1 && length && !name[length])
        return true;
    length = 0;
    if (sscanf(name, "pmodel-%d-%63[^.].so%n", &body->major, body->target, &length) != 2)
        return false;
    return length && !name[length];
}

static int compare_bodies(const void *left, const void *right) {
    const struct body *a = left, *b = right;
    return a->major != b->major ? a->major - b->major : strcmp(a->target, b->target);
}

/* Which bodies FOLDER has, as "GCC 12", "GCC 12 and GCC 12 for aarch64-linux-gnu" … or "no GCC at
   all". */
static void list_bodies(const char *folder, char *text, size_t size) {
    enum { MAX_BODIES = 32 };
    struct body bodies[MAX_BODIES];
    int n = 0;
    DIR *directory = opendir(folder);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)) && n < MAX_BODIES)
        n += read_body_name(entry->d_name, &bodies[n]);
    if (directory)
        closedir(directory);
    qsort(bodies, n, sizeof bodies[0], compare_bodies);

    snprintf(text, size, "no GCC at all");
    size_t used = 0;
    for (int i = 0; i < n && used < size; i++)
        used += snprintf(text + used, size - used, "%sGCC %d%s%s", i ? " and " : "",
                         bodies[i].major, bodies[i].target[0] ? " for " : "", bodies[i].target);
}

/* The machine that the compiler makes code for, into TARGET[64]; "" if that is its own. */
static void find_target(const struct plugin_gcc_version *compiler, char *target) {
    const char *arguments = compiler->configuration_arguments;
    const char *option = arguments ? strstr(arguments, "--target=") : NULL;
    target[0] = 0;
    if (option)
        sscanf(option, "--target=%63[^ ']", target);
    if (strcmp(target, PM_NATIVE_TARGET) == 0)
        target[0] = 0;
}

int plugin_init(struct plugin_name_args *arguments, struct plugin_gcc_version *compiler) {
    char folder[PATH_MAX], body_path[PATH_MAX + 128], bodies[1024];
    char target[64], machine[80] = "", package[128], rebuild[80] = "";
    int major = atoi(compiler->basever);
    own_folder(arguments, folder);
    find_target(compiler, target);
    snprintf(package, sizeof package, "gcc-%d-plugin-dev%s%s", major, target[0] ? "-" : "", target);
    if (target[0]) {
        snprintf(machine, sizeof machine, " for %s", target);
        snprintf(rebuild, sizeof rebuild, "CROSS=%s", target);
    } else {
        snprintf(rebuild, sizeof rebuild, "CC=gcc-%d", major);
    }
    snprintf(body_path, sizeof body_path, "%s/pmodel-%d%s%s.so", folder, major,
             target[0] ? "-" : "", target);
    list_bodies(folder, bodies, sizeof bodies);

    FILE *probe = fopen(body_path, "r");
    if (!probe) {
        fprintf(stderr,
                "pmodel: this compiler is GCC %s%s, and the plugin in %s was built for %s: compile "
                "with a compiler that it was built for, or install %s and rebuild pmodel with "
                "%s.\n",
                compiler->basever, machine, folder, bodies, package, rebuild);
        return 1;
    }
    fclose(probe);

    void *body = dlopen(body_path, RTLD_NOW | RTLD_LOCAL);
    body_init_function *body_init = NULL;
    if (body)
        *(void **)&body_init = dlsym(body, "pm_body_init");
    if (!body_init) {
        const char *reason = dlerror();
        fprintf(stderr,
                "pmodel: %s does not fit this compiler, GCC %s%s (%s): install %s and rebuild "
                "pmodel with %s.\n",
                body_path, compiler->basever, machine, reason ? reason : "no reason given", package,
                rebuild);
        return 1;
    }
    return body_init(arguments, compiler);
}
