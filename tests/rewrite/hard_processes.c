/* Processes in every form: fork, also from threads and handlers, vfork, exec, posix_spawn, system,
   popen, daemon, and the ends of processes.  `hard_processes WAY` runs one; all print what they see
   to standard output in an order that is fixed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *self;
static volatile long sink;

__attribute__((noinline)) static long work(long n) {
    static long table[128];
    for (long i = 0; i < n; i++) {
        table[i & 127] += i * 3;
        sink += table[(i * 5) & 127];
    }
    return sink & 0xff;
}

static int status_of(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void forks(void) {
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            work(100 * i);
            if (i % 2)
                exit(i);
            _exit(i);
        }
        printf("fork %d\n", status_of(child));
        fflush(stdout);
    }
    long child = syscall(SYS_fork);
    if (child == 0) {
        work(10);
        syscall(SYS_exit_group, 21L);
    }
    printf("SYS_fork %d\n", status_of((pid_t)child));
    child = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
    if (child == 0)
        _exit((int)(work(10) != 0x1ff) + 21);
    printf("SYS_clone %d\n", status_of((pid_t)child));
}

static void *fork_in_thread(void *unused) {
    (void)unused;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        exit((int)(work(300) >= 0) + 4);
    return (void *)(intptr_t)status_of(child);
}
static volatile int from_handler;
static void fork_in_handler(int number) {
    pid_t child = fork();
    if (child == 0)
        _exit((int)(work(number) >= 0) + 6);
    from_handler = status_of(child);
}
static void forks_inside(void) {
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, fork_in_thread, NULL);
        pthread_join(thread, &result);
        printf("thread %d\n", (int)(intptr_t)result);
    }
    signal(SIGUSR1, fork_in_handler);
    for (int i = 0; i < 3; i++) {
        raise(SIGUSR1);
        printf("handler %d\n", from_handler);
    }
}

/* The child of vfork has our stack; it may call. */
__attribute__((noinline)) static void replace(int code) {
    char text[16];
    snprintf(text, sizeof text, "%d", code);
    execl(self, self, "end", text, (char *)NULL);
    _exit(99);
}
static void vforks(void) {
    for (volatile int i = 0; i < 4; i++) {
        pid_t child = vfork();
        if (child == 0) {
            if (i == 3)
                _exit(33);
            replace(10 + i);
        }
        printf("vfork %d\n", status_of(child));
    }
}

static void execs(void) {
    char *const arguments[] = {self, "end", "17", NULL};
    for (int i = 0; i < 6; i++) {
        pid_t child = fork();
        if (child == 0) {
            work(50);
            if (execve("/nonexistent/program", arguments, environ) == 0)
                _exit(98);
            work(50);
            switch (i) {
            case 0:
                execv(self, arguments);
                break;
            case 1:
                execve(self, arguments, environ);
                break;
            case 2:
                execvp(self, arguments);
                break;
            case 3:
                execlp(self, self, "end", "18", (char *)NULL);
                break;
            case 4:
                fexecve(open(self, O_RDONLY | O_CLOEXEC), arguments, environ);
                break;
            default:
                syscall(SYS_execve, self, arguments, environ);
            }
            _exit(97);
        }
        printf("exec %d\n", status_of(child));
    }
    pid_t child;
    posix_spawn(&child, self, NULL, NULL, arguments, environ);
    printf("posix_spawn %d\n", status_of(child));
}

static void shells(void) {
    char command[4200], line[100] = "";
    snprintf(command, sizeof command, "'%s' end 5", self);
    printf("system %d\n", WEXITSTATUS(system(command)));
    snprintf(command, sizeof command, "'%s' say", self);
    FILE *pipe = popen(command, "r");
    if (!fgets(line, sizeof line, pipe))
        puts("popen failed");
    printf("popen %d: %s", WEXITSTATUS(pclose(pipe)), line);
}

static void demon(void) {
    int ends[2];
    char text[64] = "";
    if (pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        work(20);
        if (daemon(0, 0) != 0)
            _exit(96);
        char folder[32] = "";
        if (!getcwd(folder, sizeof folder))
            folder[0] = '?';
        int length = snprintf(text, sizeof text, "in %s, leader %d, work %d\n", folder,
                              getsid(0) != getpid() ? 0 : 1, work(5) >= 0);
        if (write(ends[1], text, (size_t)length) != length)
            _exit(95);
        exit(0);
    }
    close(ends[1]);
    printf("daemon %d ", status_of(child));
    ssize_t n = read(ends[0], text, sizeof text - 1);
    printf("%.*s", (int)n, text);
}

/* ---- beginnings and ends --------------------------------------------------------------------- */

#define ORDERED(n)                                                                                 \
    __attribute__((constructor(n))) static void construct_##n(void) { work(n); }                   \
    __attribute__((destructor(n))) static void destruct_##n(void) {                                \
        if (self && work(1) >= 0 && getenv("SAY_ENDS"))                                            \
            puts("destructor " #n);                                                                \
    }
ORDERED(1000)
ORDERED(2000)
ORDERED(3000)

static void at_end(void) { printf("atexit %d\n", work(3) >= 0); }
static void on_end(int status, void *value) {
    printf("on_exit %d %ld\n", status, (long)(intptr_t)value);
}
static void at_quick_end(void) {
    printf("at_quick_exit %d\n", work(3) >= 0);
    fflush(stdout);
}
static void ends(void) {
    setenv("SAY_ENDS", "1", 1);
    atexit(at_end);
    on_exit(on_end, (void *)7);
    if (at_quick_exit(at_quick_end) != 0)
        puts("at_quick_exit failed");
    fflush(stdout);
    static const char *const names[] = {"exit",  "_exit",   "quick_exit",
                                        "abort", "SIGKILL", "SIGSEGV"};
    for (int i = 0; i < 6; i++) {
        pid_t child = fork();
        if (child == 0) {
            work(10);
            if (i == 0)
                exit(40);
            if (i == 1)
                _exit(41);
            if (i == 2)
                quick_exit(42);
            if (i == 3)
                abort();
            if (i == 4)
                kill(getpid(), SIGKILL);
            *(volatile char *)16 = 1;
        }
        printf("%s %d\n", names[i], status_of(child));
        fflush(stdout);
    }
}

static const struct way {
    const char *name;
    void (*go)(void);
} ways[] = {
    {"forks", forks},   {"forks_inside", forks_inside},
    {"vforks", vforks}, {"execs", execs},
    {"shells", shells}, {"daemon", demon},
    {"ends", ends},
};

int main(int argc, char **argv) {
    static char path[4096];
    self = realpath("/proc/self/exe", path);
    if (argc > 2 && strcmp(argv[1], "end") == 0)
        return work(7) >= 0 ? atoi(argv[2]) : 94;
    if (argc > 1 && strcmp(argv[1], "say") == 0)
        return printf("said %d\n", work(7) >= 0) < 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc < 2 || strcmp(argv[1], ways[i].name) == 0)
            ways[i].go();
    return 0;
}
