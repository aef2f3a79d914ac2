/* On the node: the job of a folder is run as pmodel runs a command here, the copies over their
   originals in a mount namespace.

   A command that starts ranks on other nodes (srun, mpirun) does so outside that namespace.  There,
   arguments that name the program are replaced by a script, `rank/NAME`, which comes here again,
   on the node of the rank, and becomes the program with the copies and the environment in place. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/probe_abi.h"
#include "measure/command/command.h"
#include "measure/interruption.h"
#include "measure/launchers/private.h"
#include "measure/private.h"

static char *host_name(void) {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return pm_strdup(name);
}

/* Are the files of this node those that were instrumented?  Inside a namespace that has the copies
   in place they are there already: *IN_PLACE. */
static bool check_files(const struct pm_job_order *order, bool *in_place, struct pm_error *err) {
    *in_place = true;
    for (size_t i = 0; i < order->launch.n_files; i++) {
        const struct pm_copy *file = &order->files[i];
        uint64_t found, copy;
        char *host = host_name();
        bool ok = pm_hash_file(file->original, &found, err) &&
                  pm_hash_file(file->instrumented, &copy, err);
        if (!ok)
            pm_fail_in(err, "%s", host);
        else if (found != order->hashes[2 * i] && found != order->hashes[2 * i + 1])
            ok = pm_fail(err,
                         "%s: %s is another file here than the one that was instrumented: is its "
                         "folder shared by all nodes, and was it built again meanwhile?",
                         host, file->original);
        else if (copy != order->hashes[2 * i + 1])
            ok = pm_fail(err, "%s: the copy %s is damaged: call again", host, file->instrumented);
        free(host);
        if (!ok)
            return false;
        *in_place &= found == order->hashes[2 * i + 1];
    }
    return true;
}

/* ---- raw files -------------------------------------------------------------------------------
   They are called by process numbers, which are those of a node: ranks write theirs into a folder
   of their node, and when all have ended they come together as NODE-NAME. */

/* What is allocated stays: the process becomes another one, or ends. */
static bool use_folder_of_node(const char *folder, struct pm_launch *launch, struct pm_error *err) {
    char *raw = pm_job_raw_folder(folder), *host = host_name();
    char *own = pm_sprintf("%s/%s", raw, host);
    size_t n = pm_count_strings(launch->environment);
    char **environment = pm_alloc(n + 2, sizeof *environment);
    memcpy(environment, launch->environment, n * sizeof *environment);
    environment[n] = pm_sprintf(PM_ENV_OUT "=%s", own);
    launch->environment = environment;
    bool ok = pm_make_folder(own, err);
    free(own);
    free(host);
    free(raw);
    return ok;
}

/* All of the folder PATH, which is called NODE, into RAW. */
static bool gather_node(const char *raw, const char *node, struct pm_error *err) {
    char *path = pm_sprintf("%s/%s", raw, node);
    DIR *folder = opendir(path);
    bool ok = true;
    for (struct dirent *entry; ok && folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        char *from = pm_sprintf("%s/%s", path, entry->d_name),
             *to = pm_sprintf("%s/%s-%s", raw, node, entry->d_name);
        ok = rename(from, to) == 0 || pm_fail_errno(err, "cannot rename %s", from);
        free(from);
        free(to);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
    free(path);
    return ok;
}

static bool gather_raw_files(const char *folder, struct pm_error *err) {
    char *raw = pm_job_raw_folder(folder);
    struct dirent **entries;
    struct stat status;
    int n = scandir(raw, &entries, NULL, alphasort);
    bool ok = n >= 0 || pm_fail_errno(err, "cannot read %s", raw);
    for (int i = 0; i < n; i++) {
        char *path = pm_sprintf("%s/%s", raw, entries[i]->d_name);
        if (ok && entries[i]->d_name[0] != '.' && stat(path, &status) == 0 &&
            S_ISDIR(status.st_mode))
            ok = gather_node(raw, entries[i]->d_name, err);
        free(path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    free(raw);
    return ok;
}

/* ---- one rank -------------------------------------------------------------------------------- */

bool pm_job_become_rank(const char *folder, char *const *argv, struct pm_error *err) {
    struct pm_job_order order;
    bool in_place = false;
    if (pm_job_order_read(folder, &order, err) && check_files(&order, &in_place, err)) {
        struct pm_launch launch = order.launch;
        launch.argv = argv;
        launch.command_path = order.files[0].original;
        if (in_place)
            execv(launch.command_path, launch.argv);
        if (use_folder_of_node(folder, &launch, err))
            pm_launch_become(&launch, err);
    }
    pm_job_put_failure(folder, err);
    pm_job_order_free(&order);
    return false;
}

/* The script that becomes a rank, NAME as the program is called; owned by the caller. */
static char *make_rank_script(const char *folder, const char *name, struct pm_error *err) {
    char pmodel[4096];
    ssize_t length = readlink("/proc/self/exe", pmodel, sizeof pmodel - 1);
    pmodel[length > 0 ? length : 0] = '\0';
    char *parent = pm_sprintf("%s/rank", folder);
    char *path = pm_sprintf("%s/%s", parent, pm_base_name(name));
    char *quoted_pmodel = pm_shell_quoted(pmodel), *quoted_folder = pm_shell_quoted(folder),
         *quoted_name = pm_shell_quoted(name);
    char *text = pm_sprintf("#!/bin/sh\nexec %s run-one --rank %s %s \"$@\"\n", quoted_pmodel,
                            quoted_folder, quoted_name);
    bool ok = pm_make_folder(parent, err) && pm_put_file_whole(path, text, true, err);
    free(text);
    free(quoted_pmodel);
    free(quoted_folder);
    free(quoted_name);
    free(parent);
    if (ok)
        return path;
    free(path);
    return NULL;
}

/* Does ARGUMENT name the program? */
static bool names_program(const char *argument, const char *program) {
    struct pm_error ignored = {0};
    struct stat status;
    if (strchr(argument, '/') ? access(argument, X_OK) != 0 : !*argument || *argument == '-')
        return false;
    char *path = pm_find_command(argument, &ignored);
    char *real = path && stat(path, &status) == 0 ? realpath(path, NULL) : NULL;
    bool names = real && strcmp(real, program) == 0;
    free(real);
    free(path);
    return names;
}

/* Relative paths are those of the run's folder, which we are in. */
static bool prepare_ranks(const char *folder, struct pm_job_order *order, struct pm_error *err) {
    const char *program = order->files[0].original;
    bool is_program = names_program(order->launch.command_path, program);
    for (size_t i = 1; order->spans_nodes && !is_program && order->argv[i]; i++) {
        if (!names_program(order->argv[i], program))
            continue;
        char *script = make_rank_script(folder, order->argv[i], err);
        if (!script)
            return false;
        free(order->argv[i]);
        order->argv[i] = script;
    }
    return true;
}

/* ---- the job --------------------------------------------------------------------------------- */

/* Standard output and errors of the command go to files of the folder. */
static bool redirect(const char *folder, struct pm_error *err) {
    static const char *const names[] = {"output", "errors"};
    fflush(NULL);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    for (int i = 0; i < 2; i++) {
        char *path = pm_sprintf("%s/%s", folder, names[i]);
        int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
        bool ok = file >= 0 && dup2(file, i == 0 ? STDOUT_FILENO : STDERR_FILENO) >= 0;
        if (!ok)
            pm_fail_errno(err, "%s: cannot be written", path);
        if (file >= 0)
            close(file);
        free(path);
        if (!ok)
            return false;
    }
    return true;
}

static bool run_order(const char *folder, struct pm_job_order *order,
                      struct pm_launch_result *result, struct pm_error *err) {
    bool in_place;
    char *raw = pm_job_raw_folder(folder);
    bool ok = pm_make_folder(raw, err);
    free(raw);
    ok = ok && check_files(order, &in_place, err);
    if (ok && chdir(order->launch.folder) != 0)
        ok = pm_fail_errno(err, "cannot enter %s", order->launch.folder);
    return ok && prepare_ranks(folder, order, err) && redirect(folder, err) &&
           pm_launch_run(&order->launch, result, err) && gather_raw_files(folder, err);
}

bool pm_job_run(const char *folder, struct pm_error *err) {
    struct pm_job_order order;
    struct pm_launch_result result = {0};
    struct pm_error why = {0};
    double started = (double)time(NULL);
    if (!pm_job_order_read(folder, &order, err)) {
        pm_job_order_free(&order);
        return false; /* it is not waited for any more */
    }
    pm_interruption_begin();
    pm_interruption_hold();
    bool ok = run_order(folder, &order, &result, &why);
    bool is_written = pm_job_put_result(folder, &result, started, &why, err);
    pm_interruption_release();
    pm_job_order_free(&order);
    if (is_written && !ok)
        *err = why;
    return ok && is_written;
}
