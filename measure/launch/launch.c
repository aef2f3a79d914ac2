/* Starting the user's command with instrumented copies in place of the originals. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/probe_abi.h"
#include "measure/command/command.h"
#include "measure/interruption.h"
#include "measure/launch/descendants.h"
#include "measure/launch/launch.h"

enum { INTERRUPTION_GRACE_SECONDS = 5 };

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- in the child ---------------------------------------------------------------------------- */

/* What the child writes to the status pipe before it executes the command. */
struct message {
    enum { MESSAGE_DIRECT = 1, MESSAGE_FAILED } kind;
    int error;
    char what[64];
};

static void send_message(int pipe, int kind, const char *what) {
    struct message message = {.kind = kind, .error = errno};
    snprintf(message.what, sizeof message.what, "%s", what);
    ssize_t ignored = write(pipe, &message, sizeof message);
    (void)ignored;
}

static bool write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return ok;
}

/* A mount namespace of its own: directly where we may, else inside a user namespace in which we are
   who we were. */
static bool enter_namespace(void) {
    if (unshare(CLONE_NEWNS) == 0)
        return true;
    char map[64];
    unsigned user = geteuid(), group = getegid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    snprintf(map, sizeof map, "%u %u 1", user, user);
    if (!write_file("/proc/self/uid_map", map) || !write_file("/proc/self/setgroups", "deny"))
        return false;
    snprintf(map, sizeof map, "%u %u 1", group, group);
    return write_file("/proc/self/gid_map", map);
}

static bool mount_over(const struct pm_launch *launch) {
    bool ok = enter_namespace() && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    for (size_t i = 0; ok && i < launch->n_files; i++)
        ok = mount(launch->files[i].instrumented, launch->files[i].original, NULL, MS_BIND, NULL) ==
             0;
    return ok;
}

static bool is_program(const struct pm_launch *launch) {
    char *real = realpath(launch->command_path, NULL);
    bool same = real && strcmp(real, launch->files[0].original) == 0;
    free(real);
    return same;
}

/* Where the copy lies when it cannot lie over the program: in the program's folder, so that $ORIGIN
   is the same.  Owned by the caller. */
static char *neighbour_path(const struct pm_launch *launch, pid_t child) {
    const char *slash = strrchr(launch->files[0].original, '/');
    return pm_sprintf("%.*s/.%s.pmodel-%d", (int)(slash - launch->files[0].original),
                      launch->files[0].original, slash + 1, (int)child);
}

static bool copy_file(const char *from, const char *to) {
    int source = open(from, O_RDONLY | O_CLOEXEC);
    int target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    bool ok = source >= 0 && target >= 0;
    for (ssize_t n = 1; ok && n > 0;)
        ok = (n = sendfile(target, source, NULL, 1 << 30)) >= 0;
    if (source >= 0)
        close(source);
    if (target >= 0)
        close(target);
    return ok;
}

/* The file to execute where there is no mount namespace. */
static const char *direct_path(const struct pm_launch *launch) {
    char *neighbour = neighbour_path(launch, getpid());
    return copy_file(launch->files[0].instrumented, neighbour) ? neighbour
                                                               : launch->files[0].instrumented;
}

static void write_nowhere(void) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
}

/* Puts FIRST before what the list NAME in the environment has. */
static void put_first(const char *name, const char *first) {
    const char *rest = getenv(name);
    char *list = pm_sprintf("%s%s%s", first, rest && *rest ? ":" : "", rest ? rest : "");
    setenv(name, list, 1);
    free(list);
}

/* In a process that loads an instrumented library but is not instrumented itself the runtime would
   come behind the C library, whose functions it has to stand before. */
static void set_environment(const struct pm_launch *launch, bool in_place) {
    for (size_t i = 0; launch->environment[i]; i++)
        putenv(launch->environment[i]);
    if (launch->wrapper) /* launchers and shells that get it, too, do nothing with it */
        put_first("LD_PRELOAD", launch->wrapper);
    bool has_libraries =
        launch->n_files > 1 && launch->files[1].instrumented != launch->files[1].original;
    if (!has_libraries)
        return;
    put_first("LD_PRELOAD", launch->runtime);
    setenv(PM_ENV_LIBRARIES, "1", 1);
    if (!in_place) {
        char *copy = pm_strdup(launch->files[1].instrumented);
        put_first("LD_LIBRARY_PATH", dirname(copy));
        free(copy);
    }
}

static void __attribute__((noreturn))
run_child(const struct pm_launch *launch, int error_pipe, int status_pipe) {
    const char *path = launch->command_path;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (launch->timeout_seconds > 0)
        setpgid(0, 0); /* so that remaining processes can be found when their parents are gone */
    if (launch->output_to_errors)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    if (launch->silent)
        write_nowhere();
    dup2(error_pipe, STDERR_FILENO);
    bool in_place = mount_over(launch);
    if (!in_place) {
        if (!is_program(launch)) {
            send_message(status_pipe, MESSAGE_FAILED, "mount");
            _exit(127);
        }
        path = direct_path(launch);
        send_message(status_pipe, MESSAGE_DIRECT, "");
    }
    if (launch->folder && chdir(launch->folder) != 0) {
        send_message(status_pipe, MESSAGE_FAILED, "enter the folder");
        _exit(127);
    }
    set_environment(launch, in_place);
    execv(path, launch->argv);
    send_message(status_pipe, MESSAGE_FAILED, "execute");
    _exit(127);
}

bool pm_launch_become(const struct pm_launch *launch, struct pm_error *err) {
    bool in_place = mount_over(launch);
    const char *path = in_place ? launch->command_path : launch->files[0].instrumented;
    set_environment(launch, in_place);
    execv(path, launch->argv);
    return pm_fail_errno(err, "cannot execute %s", path);
}

/* ---- in the parent --------------------------------------------------------------------------- */

/* Passes on what is there, to TO (negative: nowhere); false at the end of the stream. */
static bool pass_on(int from, int to, struct pm_launch_result *result) {
    char buffer[4096];
    ssize_t n = read(from, buffer, sizeof buffer);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    for (ssize_t done = 0, step; to >= 0 && done < n; done += step)
        if ((step = write(to, buffer + done, (size_t)(n - done))) < 0)
            break;
    pm_tail_add(&result->tail, buffer, (size_t)n);
    return true;
}

/* The command that is to end, and what it started. */
struct ending {
    pid_t child;
    bool has_group; /* the command's own: the terminal's signals do not reach it */
    struct pm_descendants all;
    double kill_at; /* 0: it is not to end yet */
};

/* NUMBER: a signal, or 0 for a command that has got one already. */
static void end_command(struct ending *ending, int number, double grace) {
    pm_descendants_find(&ending->all, ending->child);
    if (number)
        pm_descendants_signal(&ending->all, number);
    if (number && ending->has_group)
        kill(-ending->child, number);
    ending->kill_at = now_seconds() + grace;
}

/* The command has ended; what it started may need a moment longer. */
static void end_rest(struct ending *ending) {
    ending->all.ids[0] = ending->all.ids[--ending->all.n_ids]; /* the command was waited for */
    while (pm_descendants_live(&ending->all) && now_seconds() < ending->kill_at)
        poll(NULL, 0, 10);
    pm_descendants_signal(&ending->all, SIGKILL);
    if (ending->has_group)
        kill(-ending->child, SIGKILL);
}

/* Waits for the child, passing on its standard error; ends it at the deadline. */
static void attend(pid_t child, int error_pipe, int to, const struct pm_launch *launch,
                   struct pm_launch_result *result) {
    double deadline = launch->timeout_seconds > 0 ? now_seconds() + launch->timeout_seconds : 0;
    struct rusage usage;
    struct ending ending = {.child = child, .has_group = launch->timeout_seconds > 0};
    bool open_stream = true;
    for (;;) {
        struct pollfd poll_for = {.fd = open_stream ? error_pipe : -1, .events = POLLIN};
        int ready = poll(&poll_for, 1, 20);
        if (ready > 0 && !pass_on(error_pipe, to, result))
            open_stream = false;
        if (deadline && !ending.kill_at && now_seconds() > deadline) {
            result->timed_out = true;
            end_command(&ending, launch->grace_seconds > 0 ? SIGTERM : SIGKILL,
                        launch->grace_seconds);
        }
        if (pm_interrupting_signal() && !result->interrupted) {
            result->interrupted = true;
            bool has_got_it = pm_interruption_is_everybodys() && !ending.has_group;
            end_command(&ending, has_got_it ? 0 : pm_interrupting_signal(),
                        INTERRUPTION_GRACE_SECONDS);
        }
        if (ending.kill_at && now_seconds() >= ending.kill_at)
            end_command(&ending, SIGKILL, 1);
        if (ready <= 0 || !open_stream)
            if (wait4(child, &result->status, WNOHANG, &usage) == child)
                break;
    }
    if (ending.kill_at)
        end_rest(&ending);
    pm_descendants_free(&ending.all);
    fcntl(error_pipe, F_SETFL, O_NONBLOCK);
    while (poll(&(struct pollfd){.fd = error_pipe, .events = POLLIN}, 1, 0) > 0 &&
           pass_on(error_pipe, to, result))
        ;
    result->peak_bytes = 1024.0 * (double)usage.ru_maxrss;
    result->cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                          1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static bool hear_child(int status_pipe, const struct pm_launch *launch,
                       struct pm_launch_result *result, struct pm_error *err) {
    struct message message;
    bool ok = true;
    while (read(status_pipe, &message, sizeof message) == (ssize_t)sizeof message) {
        if (message.kind == MESSAGE_DIRECT) {
            result->in_place = false;
            continue;
        }
        errno = message.error;
        if (strcmp(message.what, "mount") == 0)
            pm_fail_errno(err,
                          "%s is not the program itself, and this system does not let us lay the "
                          "instrumented copy over %s (mount namespace)",
                          launch->command_path, launch->files[0].original);
        else
            pm_fail_errno(err, "cannot %s %s", message.what,
                          message.what[0] == 'e' && message.what[1] == 'x' ? launch->command_path
                                                                           : launch->folder);
        ok = false;
    }
    return ok;
}

bool pm_launch_run(const struct pm_launch *launch, struct pm_launch_result *result,
                   struct pm_error *err) {
    int error_pipe[2], status_pipe[2];
    *result = (struct pm_launch_result){.in_place = true};
    if (pipe2(error_pipe, O_CLOEXEC) != 0)
        return pm_fail_errno(err, "cannot make a pipe");
    if (pipe2(status_pipe, O_CLOEXEC) != 0) {
        close(error_pipe[0]);
        close(error_pipe[1]);
        return pm_fail_errno(err, "cannot make a pipe");
    }
    fflush(NULL);
    pm_interruption_hold();
    double start = now_seconds();
    pid_t child = fork();
    if (child == 0)
        run_child(launch, error_pipe[1], status_pipe[1]);
    close(error_pipe[1]);
    close(status_pipe[1]);
    bool ok = child > 0 || pm_fail_errno(err, "cannot start a process");
    if (ok) {
        ok = hear_child(status_pipe[0], launch, result, err); /* until it executes */
        attend(child, error_pipe[0], launch->silent ? -1 : STDERR_FILENO, launch, result);
        result->wall_seconds = now_seconds() - start;
    }
    if (child > 0 && !result->in_place) {
        char *neighbour = neighbour_path(launch, child);
        unlink(neighbour);
        free(neighbour);
    }
    pm_interruption_release();
    close(error_pipe[0]);
    close(status_pipe[0]);
    return ok;
}

char *pm_launch_ending(const struct pm_launch *launch, const struct pm_launch_result *result) {
    if (result->timed_out)
        return pm_sprintf("was ended after %.0f s (--timeout)", launch->timeout_seconds);
    if (WIFEXITED(result->status))
        return pm_sprintf("ended with status %d", WEXITSTATUS(result->status));
    return pm_sprintf("was ended by signal %d (%s)", WTERMSIG(result->status),
                      strsignal(WTERMSIG(result->status)));
}

bool pm_launch_check(const struct pm_launch *launch, struct pm_launch_result *result,
                     struct pm_error *err) {
    if (!result->timed_out && WIFEXITED(result->status) && WEXITSTATUS(result->status) == 0)
        return true;
    char *ending = pm_launch_ending(launch, result), *command = pm_command_text(launch->argv);
    const char *line = pm_tail_last_line(&result->tail);
    pm_fail(err, "`%s` %s%s%s; the run is left out", command, ending,
            *line ? ", last saying: " : " and wrote no error", line);
    free(command);
    free(ending);
    return false;
}
