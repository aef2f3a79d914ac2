/* Building the program for one size. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/command/command.h"
#include "measure/interruption.h"
#include "measure/launch/descendants.h"
#include "measure/launch/launch.h"

/* pmodel was told to end. */
static void end_build(pid_t child) {
    struct pm_descendants all = {0};
    pm_descendants_find(&all, child);
    if (!pm_interruption_is_everybodys())
        pm_descendants_signal(&all, SIGTERM);
    pm_descendants_free(&all);
}

/* Passes on what comes from CHILD through PIPE, and keeps the end of it. */
static void pass_on(pid_t child, int pipe, const struct pm_progress *progress,
                    struct pm_output_tail *tail) {
    char bytes[4096];
    ssize_t n;
    while ((n = read(pipe, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0 && pm_interrupting_signal())
            end_build(child);
        if (n < 0)
            continue;
        if (progress->pass_on)
            progress->pass_on(progress->context, bytes, (size_t)n);
        pm_tail_add(tail, bytes, (size_t)n);
    }
}

static void run_shell(const char *command, int output) {
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO); /* the input is the program's */
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static bool check_status(const char *command, int status, struct pm_output_tail *tail,
                         struct pm_error *err) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    const char *line = pm_tail_last_line(tail);
    return pm_fail(err, "--build `%s` %s %d%s%s; that size is left out", command,
                   WIFEXITED(status) ? "ended with status" : "was ended by signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
                   *line ? ", last saying: " : " and wrote nothing", line);
}

static bool run_command(const char *command, const struct pm_progress *progress,
                        struct pm_error *err) {
    int ends[2], status;
    struct pm_output_tail tail = {0};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pm_fail_errno(err, "cannot run --build `%s`", command);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_shell(command, ends[1]);
    close(ends[1]);
    if (child > 0)
        pass_on(child, ends[0], progress, &tail);
    close(ends[0]);
    if (child < 0)
        return pm_fail_errno(err, "cannot run --build `%s`", command);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return pm_fail_errno(err, "cannot wait for --build `%s`", command);
    return check_status(command, status, &tail, err);
}

bool pm_build_program(const char *command, const struct pm_parameters *at,
                      const struct pm_progress *progress, struct pm_error *err) {
    char *substituted = pm_substitute(command, at, err);
    if (!substituted)
        return pm_fail_in(err, "--build");
    pm_progress_say(progress, "%s", substituted);
    pm_interruption_hold();
    bool ok = run_command(substituted, progress, err);
    pm_interruption_release();
    free(substituted);
    return ok;
}
