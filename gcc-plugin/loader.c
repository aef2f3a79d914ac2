/* pmodel.so, what `-fplugin=` names: picks the plugin body that was built for the running compiler.

   A body is full of GCC's own symbols, and a compiler of another version stops at the first one it
   does not have, before any version check of the body can speak.  This file therefore uses no
   symbol of GCC: it compares the major version, loads pmodel-MAJOR.so from its own folder and hands
   over.  Where that is impossible it says why in one sentence, and GCC ends the compilation.

   The structures below repeat gcc-plugin.h, as far as it has been the same since GCC 4.5. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
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

/* The major version in the name of a body ("pmodel-12.so"), 0 for other names. */
static int body_version(const char *name) {
    int major = 0, length = 0;
    if (sscanf(name, "pmodel-%d.so%n", &major, &length) != 1 || length == 0 || name[length])
        return 0;
    return major;
}

static int compare_ints(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Which bodies FOLDER has, as "GCC 12", "GCC 12 and GCC 13" … or "no GCC at all". */
static void list_bodies(const char *folder, char *text, size_t size) {
    enum { MAX_BODIES = 32 };
    int majors[MAX_BODIES], n = 0;
    DIR *directory = opendir(folder);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)) && n < MAX_BODIES)
        if (body_version(entry->d_name))
            majors[n++] = body_version(entry->d_name);
    if (directory)
        closedir(directory);
    qsort(majors, n, sizeof majors[0], compare_ints);

    snprintf(text, size, "no GCC at all");
    size_t used = 0;
    for (int i = 0; i < n && used < size; i++)
        used += snprintf(text + used, size - used, "%sGCC %d", i ? " and " : "", majors[i]);
}

int plugin_init(struct plugin_name_args *arguments, struct plugin_gcc_version *compiler) {
    char folder[PATH_MAX], body_path[PATH_MAX + 32], bodies[512];
    int major = atoi(compiler->basever);
    own_folder(arguments, folder);
    snprintf(body_path, sizeof body_path, "%s/pmodel-%d.so", folder, major);
    list_bodies(folder, bodies, sizeof bodies);

    FILE *probe = fopen(body_path, "r");
    if (!probe) {
        fprintf(stderr,
                "pmodel: this compiler is GCC %s, and the plugin in %s was built for %s: compile "
                "with a compiler that it was built for, or install gcc-%d-plugin-dev and rebuild "
                "pmodel with CC=gcc-%d.\n",
                compiler->basever, folder, bodies, major, major);
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
                "pmodel: %s does not fit this compiler, GCC %s (%s): install gcc-%d-plugin-dev and "
                "rebuild pmodel with CC=gcc-%d.\n",
                body_path, compiler->basever, reason ? reason : "no reason given", major, major);
        return 1;
    }
    return body_init(arguments, compiler);
}
