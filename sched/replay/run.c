/* Starts the engine and reads what it found out.

   Its result is a line "pmodel-replay 1 RANKS ENDING", then for each rank as doubles: how many
   actions it began, whether it came to its end, begin and end of each of them in seconds (the end
   of one that is under way is -1); then a line for each rank with its host. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
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

/* ---- its result ------------------------------------------------------------------------------ */

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

/* What the rank is at: the first of its actions that has no end. */
static char *text_of_waiting(const struct pm_actions *actions, size_t rank, size_t begun) {
    const struct pm_rank_actions *list = &actions->ranks[rank];
    if (begun == 0 || begun > list->n_actions)
        return pm_strdup("an action that it never began");
    const struct pm_action *a = &list->actions[begun - 1];
    bool has_partner = a->kind >= PM_ACTION_SEND && a->kind <= PM_ACTION_WAIT;
    char *text = pm_sprintf("%s", a->label < actions->n_labels && actions->labels[a->label][0]
                                      ? actions->labels[a->label]
                                      : pm_action_name(a->kind));
    if (has_partner)
        pm_append(&text, " (%s rank %" PRId32 ", tag %" PRId32 ")",
                  a->kind == PM_ACTION_SEND || a->kind == PM_ACTION_ISEND || a->is_send ? "to"
                                                                                        : "from",
                  a->partner, a->tag);
    return text;
}

/* The first two ranks that are not done and what they wait for. */
static bool fail_deadlock(const struct pm_actions *actions, const struct pm_replay *replay,
                          const bool *is_done, const size_t *begun, struct pm_error *err) {
    char *text = NULL;
    unsigned n_stuck = 0;
    for (size_t r = 0; r < replay->n_ranks; r++) {
        if (is_done[r])
            continue;
        if (n_stuck++ < 2) {
            char *at = text_of_waiting(actions, r, begun[r]);
            pm_append(&text, "%s rank %zu is at %s, its action %zu", text ? ";" : "", r, at,
                      begun[r]);
            free(at);
        }
    }
    pm_fail(err, "deadlock: %u of %zu ranks never come to their end;%s", n_stuck, replay->n_ranks,
            text ? text : "");
    free(text);
    return false;
}

static bool take_rank(const struct pm_actions *actions, size_t r, struct pm_reader *reader,
                      struct pm_rank_times *times, bool *is_done, size_t *begun) {
    double head[2] = {0};
    pm_take_into(reader, head, sizeof head);
    size_t n = (size_t)head[0], n_actions = actions->ranks[r].n_actions;
    *is_done = head[1] != 0;
    *begun = n;
    if (reader->fault || n > n_actions || (*is_done && n != n_actions))
        return false;
    times->spans = pm_alloc(n_actions, sizeof *times->spans);
    for (size_t i = 0; i < n; i++)
        pm_take_into(reader, &times->spans[i], 2 * sizeof(double));
    return !reader->fault;
}

static void take_hosts(struct pm_reader *reader, struct pm_replay *replay) {
    size_t n = pm_bytes_left(reader);
    const char *names = pm_take(reader, n), *end = names + n;
    for (size_t r = 0; names && r < replay->n_ranks; r++) {
        const char *stop = memchr(names, '\n', (size_t)(end - names));
        if (!stop)
            return;
        replay->ranks[r].host = pm_sprintf("%.*s", (int)(stop - names), names);
        names = stop + 1;
    }
}

static bool read_result(const struct pm_replay_request *request, const char *bytes, size_t n_bytes,
                        struct pm_replay *replay, struct pm_error *err) {
    const struct pm_actions *actions = request->actions;
    size_t n_ranks = 0;
    int n_head = 0;
    const char *end = memchr(bytes, '\n', n_bytes);
    if (!end || sscanf(bytes, "pmodel-replay 1 %zu %n", &n_ranks, &n_head) < 1 || n_head == 0)
        return pm_fail(err, "what the engine wrote is no result of a replay");
    char *ending = pm_sprintf("%.*s", (int)(end - bytes) - n_head, bytes + n_head);
    bool is_done = strcmp(ending, "done") == 0, is_stuck = strcmp(ending, "deadlock") == 0;
    bool ok = is_done || is_stuck || pm_fail(err, "%s: %s", request->platform, ending);
    free(ending);
    if (!ok)
        return false;
    if (n_ranks != actions->n_ranks)
        return pm_fail(err, "the engine replayed %zu ranks in place of %zu", n_ranks,
                       actions->n_ranks);
    struct pm_reader reader = pm_reader_of(end + 1, n_bytes - (size_t)(end + 1 - bytes));
    bool *done = pm_alloc(n_ranks, sizeof *done);
    size_t *begun = pm_alloc(n_ranks, sizeof *begun);
    for (size_t r = 0; ok && r < n_ranks; r++)
        if (!take_rank(actions, r, &reader, PM_PUSH(replay, ranks), &done[r], &begun[r]))
            ok = pm_fail(err, "the engine's result does not fit the actions of rank %zu", r);
    if (ok && is_stuck)
        ok = fail_deadlock(actions, replay, done, begun, err);
    if (ok)
        take_hosts(&reader, replay);
    free(begun);
    free(done);
    return ok;
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
        ok = bytes ? read_result(request, bytes, n_bytes, replay, err)
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
