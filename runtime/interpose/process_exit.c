/* Ways out of a process that do not come through destructors: _exit and its relatives, and exec.
   (quick_exit is covered by at_quick_exit, signals by signals/default_actions.c.) */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/interpose/interpose.h"
#include "runtime/process.h"
#include "runtime/system.h"

static void leave(int status) {
    pm_process_finish();
    for (;;)
        pm_syscall3(SYS_exit_group, status, 0, 0);
}

PM_EXPORT void _exit(int status) {
    leave(status);
    __builtin_unreachable();
}

PM_EXPORT void _Exit(int status) {
    leave(status);
    __builtin_unreachable();
}

/* As the C library's, which would leave the parent by an _exit of its own. */
PM_EXPORT int daemon(int keep_folder, int keep_files) {
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child > 0)
        _exit(0);
    if (setsid() < 0)
        return -1;
    if (!keep_folder) {
        int ignored = chdir("/");
        (void)ignored;
    }
    if (keep_files)
        return 0;
    int null = open("/dev/null", O_RDWR);
    if (null < 0)
        return -1;
    for (int file = 0; file < 3; file++)
        dup2(null, file);
    if (null > 2)
        close(null);
    return 0;
}

/* ---- exec ------------------------------------------------------------------------------------ */

/* Only a failed exec comes back. */
static int failed(int result) {
    int error = errno;
    pm_process_exec_failed();
    errno = error;
    return result;
}

PM_EXPORT int execve(const char *path, char *const arguments[], char *const environment[]) {
    pm_process_before_exec();
    return failed(PM_ORIGINAL(execve)(path, arguments, environment));
}

PM_EXPORT int execv(const char *path, char *const arguments[]) {
    pm_process_before_exec();
    return failed(PM_ORIGINAL(execv)(path, arguments));
}

PM_EXPORT int execvp(const char *file, char *const arguments[]) {
    pm_process_before_exec();
    return failed(PM_ORIGINAL(execvp)(file, arguments));
}

PM_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[]) {
    pm_process_before_exec();
    return failed(PM_ORIGINAL(execvpe)(file, arguments, environment));
}

PM_EXPORT int fexecve(int file, char *const arguments[], char *const environment[]) {
    pm_process_before_exec();
    return failed(PM_ORIGINAL(fexecve)(file, arguments, environment));
}

PM_EXPORT int execveat(int folder, const char *path, char *const arguments[],
                       char *const environment[], int flags) {
    pm_process_before_exec();
    return failed(PM_ORIGINAL(execveat)(folder, path, arguments, environment, flags));
}

/* Arguments up to and with the NULL that ends them. */
static size_t count_arguments(va_list arguments) {
    size_t count = 2; /* the named one and NULL */
    while (va_arg(arguments, char *))
        count++;
    return count;
}

static void fill_arguments(char **array, const char *first, va_list arguments) {
    *array = (char *)first;
    while (*array)
        *++array = va_arg(arguments, char *);
}

/* Declares ARRAY with the arguments from FIRST to NULL; ARGUMENTS goes on behind them. */
#define COLLECT_ARGUMENTS(array, arguments, first)                                                 \
    va_list arguments;                                                                             \
    va_start(arguments, first);                                                                    \
    size_t count = count_arguments(arguments);                                                     \
    va_end(arguments);                                                                             \
    char *array[count];                                                                            \
    va_start(arguments, first);                                                                    \
    fill_arguments(array, first, arguments)

PM_EXPORT int execl(const char *path, const char *first, ...) {
    COLLECT_ARGUMENTS(array, arguments, first);
    va_end(arguments);
    return execv(path, array);
}

PM_EXPORT int execlp(const char *file, const char *first, ...) {
    COLLECT_ARGUMENTS(array, arguments, first);
    va_end(arguments);
    return execvp(file, array);
}

PM_EXPORT int execle(const char *path, const char *first, ...) {
    COLLECT_ARGUMENTS(array, arguments, first);
    char *const *environment = va_arg(arguments, char *const *);
    va_end(arguments);
    return execve(path, array, environment);
}
