/* Building the program for one size; see run_build.h. */
#define _GNU_SOURCE
#include "cmd/run_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/raw_folder.h"
#include "cmd/run_instrument.h"
#include "cmd/run_substitute.h"
#include "core/base/base.h"

enum { TAIL = 4096 };

/* Passes on what comes from PIPE, unless it is to be QUIET, and keeps the end of it. */
static void pass_on(int pipe, bool quiet, char tail[TAIL + 1]) {
    size_t kept = 0;
    char part[TAIL];
    ssize_t n;
    while ((n = read(pipe, part, sizeof part)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        size_t length = (size_t)n;
        if (!quiet)
            fwrite(part, 1, length, stderr);
        if (kept + length > TAIL) {
            size_t gone = kept + length - TAIL;
            memmove(tail, tail + gone, kept - gone);
            kept -= gone;
        }
        memcpy(tail + kept, part, length);
        kept += length;
    }
    tail[kept] = '\0';
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

static char *last_line(char *text) {
    size_t end = strlen(text);
    while (end && strchr(" \t\r\n", text[end - 1]))
        text[--end] = '\0';
    char *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

static bool check_status(const char *command, int status, char *tail, struct pm_error *err) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    const char *words = last_line(tail);
    return pm_fail(err, "--build `%s` %s %d%s%s; that size is left out", command,
                   WIFEXITED(status) ? "ended with status" : "was ended by signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
                   *words ? ", last saying: " : " and wrote nothing", words);
}

static bool run_command(const char *command, bool quiet, struct pm_error *err) {
    int ends[2], status;
    char tail[TAIL + 1];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pm_fail_errno(err, "cannot run --build `%s`", command);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_shell(command, ends[1]);
    close(ends[1]);
    if (child > 0)
        pass_on(ends[0], quiet, tail);
    close(ends[0]);
    if (child < 0)
        return pm_fail_errno(err, "cannot run --build `%s`", command);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return pm_fail_errno(err, "cannot wait for --build `%s`", command);
    return check_status(command, status, tail, err);
}

bool pm_run_build(const struct pm_run_request *request, const struct pm_parameters *at,
                  struct pm_error *err) {
    char *command = pm_substitute(request->build, at, err);
    if (!command)
        return pm_fail_in(err, "--build");
    pm_run_say(request, "%s", command);
    bool ok = run_command(command, request->quiet, err);
    free(command);
    return ok;
}

void pm_run_match(const struct pm_structure *from, const struct pm_structure *to,
                  struct pm_ingested *ingested, struct pm_build_differences *differences) {
    struct pm_structure_match *match = pm_structure_match(from, to);
    pm_build_differences_list(match, ingested->profile->edge_counts, differences);
    pm_match_profile(match, ingested->profile);
    pm_match_streams(match, &ingested->streams);
    bool *inexact = pm_match_inexact(match, ingested->inexact);
    free(ingested->inexact);
    ingested->inexact = inexact;
    char *note = pm_build_differences_sentence(differences);
    if (note)
        pm_add_note(&ingested->notes, note);
    free(note);
    pm_structure_match_free(match);
}
