/* Starts the engine on what ranks do, and says what went wrong. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sched/replay/private.h"

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The engine's errors go to FOLDER/errors.  -1: it could not be started. */
static int start_and_wait(char *const *argv, const char *errors_path) {
    pid_t child = fork();
    if (child == 0) {
        int errors = open(errors_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (errors < 0 || dup2(errors, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
            _exit(127);
        execv(argv[0], argv);
        _exit(127);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 ? status : -1;
}

static int start_engine(const struct pm_replay_request *request, const char *folder) {
    char *list = pm_sprintf("%s/list", folder), *result = pm_sprintf("%s/result", folder);
    char *errors = pm_sprintf("%s/errors", folder);
    char *scales =
        pm_sprintf("%.17g:%.17g:%.17g:%s", request->scales.processor, request->scales.bandwidth,
                   request->scales.latency, request->actions->in_flops ? "0" : "1e9");
    /* As smpirun sets them. */
    char *argv[] = {(char *)(uintptr_t)request->engine,
                    "--cfg=surf/precision:1e-9",
                    "--cfg=network/model:SMPI",
                    "--log=root.thresh:critical",
                    (char *)(uintptr_t)request->platform,
                    list,
                    result,
                    scales,
                    NULL};
    int status = start_and_wait(argv, errors);
    free(scales);
    free(errors);
    free(result);
    free(list);
    return status;
}

/* ---- what it left ---------------------------------------------------------------------------- */

/* The whole of a file; NULL: it is not there. */
static char *read_whole(const char *folder, const char *name, size_t *n_bytes) {
    char *path = pm_sprintf("%s/%s", folder, name), *bytes = NULL;
    FILE *file = fopen(path, "r");
    free(path);
    *n_bytes = 0;
    if (!file)
        return NULL;
    size_t n = 0, room = 1 << 16;
    bytes = pm_alloc(room + 1, 1);
    for (size_t got; (got = fread(bytes + n, 1, room - n, file)) > 0;) {
        n += got;
        if (n == room)
            bytes = pm_realloc(bytes, 1 + (room *= 2), 1);
    }
    bytes[n] = '\0';
    fclose(file);
    *n_bytes = n;
    return bytes;
}

/* The last line that the engine wrote says best why it ended. */
static bool fail_engine(const struct pm_replay_request *request, const char *folder, int status,
                        struct pm_error *err) {
    if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return pm_fail(err,
                       "%s cannot be started: the replay needs SimGrid (on Debian libsimgrid-dev, "
                       "and then `make` again)",
                       request->engine);
    size_t n;
    char *errors = read_whole(folder, "errors", &n);
    char *line = errors ? strstr(errors, "exception ") : NULL;
    line = line ? line : errors ? errors : "";
    if (WIFSIGNALED(status) && !strstr(line, "exception "))
        pm_fail(err, "SimGrid was ended by signal %d (%s) in a replay on %s", WTERMSIG(status),
                strsignal(WTERMSIG(status)), request->platform);
    else
        pm_fail(err, "SimGrid gave up on %s: %.*s", request->platform, (int)strcspn(line, "\n"),
                line);
    free(errors);
    return false;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *at) {
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

bool pm_replay_run(const struct pm_replay_request *request, struct pm_replay *replay,
                   struct pm_error *err) {
    if (access(request->platform, R_OK) != 0)
        return pm_fail_errno(err, "cannot read %s", request->platform);
    const char *temporary = getenv("TMPDIR");
    char *folder = pm_sprintf("%s/pmodel-replay-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder)) {
        pm_fail_errno(err, "cannot make a folder below %s", temporary ? temporary : "/tmp");
        free(folder);
        return false;
    }
    bool ok = pm_actions_write(request->actions, folder, err);
    if (ok) {
        double begin = now_seconds();
        int status = start_engine(request, folder);
        replay->engine_seconds = now_seconds() - begin;
        size_t n_bytes;
        char *bytes = read_whole(folder, "result", &n_bytes);
        ok = bytes ? pm_replay_read_result(request, bytes, n_bytes, replay, err)
                   : fail_engine(request, folder, status, err);
        free(bytes);
    }
    if (ok) {
        pm_replay_add_up(request->actions, replay);
        for (size_t r = 0; r < replay->n_ranks; r++)
            replay->seconds = fmax(replay->seconds, replay->ranks[r].seconds);
    }
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(folder);
    return ok;
}

void pm_replay_free(struct pm_replay *replay) {
    for (size_t r = 0; r < replay->n_ranks; r++) {
        free(replay->ranks[r].host);
        free(replay->ranks[r].spans);
    }
    free(replay->ranks);
    *replay = (struct pm_replay){0};
}
