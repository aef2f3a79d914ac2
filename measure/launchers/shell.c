/* Commands of a queue, run in a shell, and the templates that they are made of. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/interruption.h"
#include "measure/launchers/private.h"

enum { MOST_OUTPUT = 1 << 24, MOST_END_SECONDS = 5 };

/* ---- templates ------------------------------------------------------------------------------- */

char *pm_shell_quoted(const char *text) {
    char *quoted = pm_strdup("'");
    for (; *text; text++)
        if (*text == '\'')
            pm_append(&quoted, "'\\''");
        else
            pm_append(&quoted, "%c", *text);
    pm_append(&quoted, "'");
    return quoted;
}

static const struct pm_filling *find_filling(const struct pm_filling *fillings, size_t n,
                                             const char *name, size_t length) {
    for (size_t i = 0; i < n; i++)
        if (strlen(fillings[i].name) == length && strncmp(fillings[i].name, name, length) == 0)
            return &fillings[i];
    return NULL;
}

/* `{LAST}` is a name to be replaced; `${HOME}`, `{a,b}` and `{}` are the shell's. */
char *pm_fill_in(const char *template, const struct pm_filling *fillings, size_t n,
                 const char *path, struct pm_error *err) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *text = pm_strdup("");
    for (const char *p = template; *p;) {
        size_t length = *p == '{' && (p == template || p[-1] != '$') ? strspn(p + 1, letters) : 0;
        if (length == 0 || p[1 + length] != '}') {
            pm_append(&text, "%c", *p++);
            continue;
        }
        const struct pm_filling *filling = find_filling(fillings, n, p + 1, length);
        if (!filling) {
            pm_fail(err, "%s: {%.*s} means nothing in `%s`", path, (int)length, p + 1, template);
            free(text);
            return NULL;
        }
        pm_append(&text, "%s", filling->text);
        p += length + 2;
    }
    return text;
}

/* ---- commands -------------------------------------------------------------------------------- */

static void run_child(const char *command, int output, int errors) {
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    setpgid(0, 0); /* so that the terminal's Ctrl-C, which is for us, does not end it half done */
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* False at the end of the stream. */
static bool take(int from, struct pm_output_tail *tail, FILE *all) {
    char buffer[4096];
    ssize_t n = read(from, buffer, sizeof buffer);
    if (n > 0 && tail)
        pm_tail_add(tail, buffer, (size_t)n);
    if (n > 0 && all && ftell(all) < MOST_OUTPUT)
        fwrite(buffer, 1, (size_t)n, all);
    return n > 0 || (n < 0 && errno == EINTR);
}

/* A command that hangs, as one that asks a queue which does not answer, is ended once we are to
 * end.
 */
static void listen_to(pid_t child, int output, int errors, FILE *all, struct pm_output_tail *tail) {
    struct pollfd from[] = {{.fd = output, .events = POLLIN}, {.fd = errors, .events = POLLIN}};
    double end = 0;
    while (from[0].fd >= 0 || from[1].fd >= 0) {
        if (poll(from, 2, 1000) < 0 && errno != EINTR)
            return;
        if (pm_interrupting_signal() && end == 0)
            end = pm_now_seconds() + MOST_END_SECONDS;
        if (end != 0 && pm_now_seconds() > end)
            kill(-child, SIGKILL);
        if (from[0].fd >= 0 && from[0].revents && !take(from[0].fd, NULL, all))
            from[0].fd = -1;
        if (from[1].fd >= 0 && from[1].revents && !take(from[1].fd, tail, NULL))
            from[1].fd = -1;
    }
}

static bool check_status(const char *command, int status, struct pm_output_tail *tail,
                         struct pm_error *err) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    const char *line = pm_tail_last_line(tail);
    return pm_fail(err, "`%s` %s %d%s%s", command,
                   WIFEXITED(status) ? "ended with status" : "was ended by signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
                   *line ? ", last saying: " : " and wrote no error", line);
}

bool pm_shell(const char *command, char **output, struct pm_error *err) {
    int outputs[2], errors[2], status = 0;
    size_t n_bytes = 0;
    struct pm_output_tail tail = {0};
    *output = NULL;
    if (pipe2(outputs, O_CLOEXEC) != 0)
        return pm_fail_errno(err, "cannot run `%s`", command);
    if (pipe2(errors, O_CLOEXEC) != 0) {
        close(outputs[0]);
        close(outputs[1]);
        return pm_fail_errno(err, "cannot run `%s`", command);
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_child(command, outputs[1], errors[1]);
    close(outputs[1]);
    close(errors[1]);
    FILE *all = open_memstream(output, &n_bytes);
    if (child > 0 && all)
        listen_to(child, outputs[0], errors[0], all, &tail);
    if (all)
        fclose(all);
    close(outputs[0]);
    close(errors[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    bool ok = child > 0 ? check_status(command, status, &tail, err)
                        : pm_fail_errno(err, "cannot run `%s`", command);
    if (ok)
        return true;
    free(*output);
    *output = NULL;
    return false;
}
