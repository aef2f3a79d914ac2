/* Sampling a command by ptrace; see outside.h.

   All its processes and threads are followed, from before the first instruction.  At each tick
   those that are running are stopped, which takes microseconds; the instruction's address is looked
   up in the process's map; they go on.  A thread that waits is left alone, so that no system call
   is interrupted.  Precondition: the caller has no other child. */
#define _GNU_SOURCE
#include "measure/outside_time.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In less, most samples are of start-up, and of waiting for a processor. */
#define LEAST_CPU_SECONDS 0.02

enum { TICK_MICROSECONDS = 1000, MOST_PATH = 4096 };

struct task {
    pid_t id;
    bool asked; /* to stop, for a sample */
};

struct following {
    const struct pm_sampled_command *command;
    struct pm_file_times *times;
    PM_ARRAY(struct task, tasks);
    pid_t first;
    bool ended_well;
    double cpu_seconds; /* of tasks that have ended */
};

/* ---- tasks ----------------------------------------------------------------------------------- */

static struct task *task_of(struct following *f, pid_t id) {
    for (size_t i = 0; i < f->n_tasks; i++)
        if (f->tasks[i].id == id)
            return &f->tasks[i];
    struct task *task = PM_PUSH(f, tasks);
    *task = (struct task){.id = id};
    return task;
}

static void forget(struct following *f, pid_t id) {
    for (size_t i = 0; i < f->n_tasks; i++)
        if (f->tasks[i].id == id) {
            f->tasks[i] = f->tasks[--f->n_tasks];
            return;
        }
}

static bool is_running(pid_t id) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)id);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    text[n > 0 ? n : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && name_end[2] == 'R';
}

/* ---- one sample ------------------------------------------------------------------------------ */

static bool is_of_program(const struct following *f, pid_t id) {
    char path[64], target[MOST_PATH];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)id);
    ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    return strcmp(target, f->command->program) == 0;
}

/* The file that is mapped at ADDRESS, owned by the caller; NULL: none. */
static char *file_at(pid_t id, uint64_t address) {
    char path[64], *line = NULL, *found = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)id);
    FILE *maps = fopen(path, "re");
    while (maps && !found && getline(&line, &room, maps) > 0) {
        char *end;
        uint64_t low = strtoull(line, &end, 16);
        uint64_t high = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
        char *slash = strchr(end, '/');
        if (address < low || address >= high)
            continue;
        if (!slash)
            break;
        slash[strcspn(slash, "\n")] = '\0';
        found = pm_strdup(slash);
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

static void take_sample(struct following *f, pid_t id) {
    struct user_regs_struct registers;
    if (!is_of_program(f, id) || ptrace(PTRACE_GETREGS, id, NULL, &registers) != 0)
        return;
    char *file = file_at(id, registers.rip);
    pm_file_times_add(f->times, file, 1);
    free(file);
}

/* ---- what the kernel reports ----------------------------------------------------------------- */

static void go_on(pid_t id, int signal_number) {
    ptrace(PTRACE_CONT, id, NULL, (void *)(intptr_t)signal_number);
}

static void hear(struct following *f, pid_t id, int status) {
    if (!WIFSTOPPED(status)) {
        if (id == f->first)
            f->ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        forget(f, id);
        return;
    }
    struct task *task = task_of(f, id); /* a new one may report before its parent does */
    int event = status >> 16;
    if (event == PTRACE_EVENT_STOP && task->asked)
        take_sample(f, id);
    task->asked = false; /* any other stop takes the place of the one that was asked for */
    go_on(id, event ? 0 : WSTOPSIG(status));
}

static void hear_all(struct following *f) {
    int status;
    struct rusage usage = {0};
    for (pid_t id; (id = wait4(-1, &status, __WALL | WNOHANG, &usage)) > 0;) {
        if (!WIFSTOPPED(status))
            f->cpu_seconds += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                              1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
        hear(f, id, status);
    }
}

static void stop_running(struct following *f) {
    for (size_t i = 0; i < f->n_tasks; i++) {
        struct task *task = &f->tasks[i];
        if (!task->asked && is_running(task->id))
            task->asked = ptrace(PTRACE_INTERRUPT, task->id, NULL, NULL) == 0;
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

static void __attribute__((noreturn)) execute(const struct pm_sampled_command *command, int ready) {
    char byte;
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    while (read(ready, &byte, 1) < 0 && errno == EINTR)
        ;
    for (size_t i = 0; command->environment[i]; i++)
        putenv(command->environment[i]);
    if (!command->folder || chdir(command->folder) == 0)
        execv(command->command_path, command->argv);
    _exit(127);
}

/* Starts it, followed from its first instruction on. */
static bool start(struct following *f) {
    const uintptr_t options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                              PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    f->first = fork();
    if (f->first == 0) {
        close(ends[1]);
        execute(f->command, ends[0]);
    }
    close(ends[0]);
    bool ok = f->first > 0 && ptrace(PTRACE_SEIZE, f->first, NULL, (void *)options) == 0;
    if (ok)
        task_of(f, f->first);
    else if (f->first > 0)
        kill(f->first, SIGKILL);
    close(ends[1]);
    if (!ok && f->first > 0)
        waitpid(f->first, NULL, 0);
    return ok;
}

bool pm_sample_files(const struct pm_sampled_command *command, struct pm_file_times *times) {
    struct following f = {.command = command, .times = times};
    const struct timespec tick = {.tv_nsec = 1000 * TICK_MICROSECONDS};
    bool in_time = true;
    time_t started = time(NULL);
    if (!start(&f))
        return false;
    while (f.n_tasks) {
        nanosleep(&tick, NULL);
        hear_all(&f);
        if (in_time && command->timeout_seconds &&
            time(NULL) - started > (time_t)command->timeout_seconds) {
            in_time = false;
            for (size_t i = 0; i < f.n_tasks; i++)
                kill(f.tasks[i].id, SIGKILL);
        }
        stop_running(&f);
    }
    free(f.tasks);
    return in_time && f.ended_well && f.cpu_seconds >= LEAST_CPU_SECONDS;
}
