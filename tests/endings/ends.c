/* Ways in which a process ends, one a call: `ends WAY`.  Before that it works a little, so that
   there is something to measure.  What it prints first is what it sees of its own signals. */
#define _GNU_SOURCE
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile double values[4096];
static volatile int zero;

static double work(int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        values[i % 4096] += i;
        sum += values[(7 * i) % 4096];
    }
    return sum;
}

static void work_for_ever(void) {
    for (;;)
        work(1000);
}

static int recurse(int n) {
    volatile char room[256];
    room[n % 256] = (char)n;
    return n < 0 ? 0 : recurse(n + 1) + room[n % 256];
}

static void report(const char *what) {
    ssize_t ignored = write(1, what, strlen(what));
    (void)ignored;
}

/* ---- in threads ------------------------------------------------------------------------------ */

static void *overflow(void *unused) {
    (void)unused;
    recurse(0);
    return NULL;
}

static void *work_in_thread(void *unused) {
    (void)unused;
    work_for_ever();
    return NULL;
}

static void *abort_in_thread(void *unused) {
    (void)unused;
    work(1000);
    abort();
}

static void start(void *(*what)(void *), int n) {
    pthread_t id;
    for (int i = 0; i < n; i++)
        if (pthread_create(&id, NULL, what, NULL) != 0)
            exit(3);
}

/* ---- handlers -------------------------------------------------------------------------------- */

static void say(int number) {
    (void)number;
    report("handler\n");
}

static void say_and_raise(int number) {
    report("handler\n");
    signal(number, SIG_DFL);
    raise(number);
}

static void install(int number, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

/* Where a handler with SA_ONSTACK runs, beside a variable of the code that it interrupts. */
static char *interrupted_at, *alternate;
static volatile sig_atomic_t n_on_stack;

static void look_at_stack(int number) {
    char here;
    (void)number;
    long distance = interrupted_at - &here;
    bool is_near = distance > 0 && distance < 100000;
    bool is_alternate = alternate && &here >= alternate && &here < alternate + 65536;
    report(is_near ? "near\n" : is_alternate ? "alternate\n" : "elsewhere\n");
    n_on_stack = n_on_stack + 1;
}

/* Vector registers must survive a frame that was moved. */
static void raise_with_vectors(int number) {
    double before[8];
    for (int i = 0; i < 8; i++)
        before[i] = work(10 + i);
    __asm__ volatile("movupd %0, %%xmm8" : : "m"(before[0]) : "xmm8");
    raise(number);
    double after[2];
    __asm__ volatile("movupd %%xmm8, %0" : "=m"(after[0]) : : "memory");
    report(after[0] == before[0] ? "kept\n" : "lost\n");
}

/* ---- what it sees ---------------------------------------------------------------------------- */

static void print_action(int number, const struct sigaction *action) {
    unsigned long mask;
    memcpy(&mask, &action->sa_mask, sizeof mask);
    printf("%d: %s flags %x mask %lx restorer %d\n", number,
           action->sa_handler == SIG_DFL   ? "default"
           : action->sa_handler == SIG_IGN ? "ignored"
                                           : "handler",
           (unsigned)action->sa_flags, mask, action->sa_restorer != NULL);
}

static void print_stack(void) {
    stack_t stack;
    memset(&stack, 1, sizeof stack);
    int result = sigaltstack(NULL, &stack);
    printf("stack: %d %s flags %d size %zu\n", result,
           stack.ss_sp == alternate ? alternate ? "set" : "none" : "foreign", stack.ss_flags,
           stack.ss_size);
    stack_t direct;
    memset(&direct, 1, sizeof direct);
    syscall(SYS_sigaltstack, NULL, &direct);
    printf("the same: %d\n", direct.ss_sp == stack.ss_sp && direct.ss_flags == stack.ss_flags);
}

static void set_stack(void *memory, size_t size, int flags) {
    stack_t stack = {.ss_sp = memory, .ss_size = size, .ss_flags = flags}, old = {0};
    errno = 0;
    int result = sigaltstack(&stack, &old);
    printf("set: %d errno %d; before: flags %d size %zu\n", result, errno, old.ss_flags,
           old.ss_size);
    if (result == 0)
        alternate = flags & SS_DISABLE ? NULL : memory;
}

static void look(void) {
    struct sigaction action, old;
    for (int number = 1; number < 65; number++)
        if (sigaction(number, NULL, &action) == 0)
            print_action(number, &action);
    action = (struct sigaction){.sa_handler = SIG_DFL, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGTERM, &action, &old);
    print_action(SIGTERM, &old);
    sigaction(SIGTERM, NULL, &old);
    print_action(SIGTERM, &old);
    printf("signal: %d %d %d\n", signal(SIGINT, SIG_IGN) == SIG_DFL, signal(SIGINT, say) == SIG_IGN,
           signal(SIGINT, SIG_DFL) == say);
    printf("sigset: %d %d", sigset(SIGINT, SIG_HOLD) == SIG_DFL, sigset(SIGINT, say) == SIG_HOLD);
    printf(" %d %d\n", sigset(SIGINT, SIG_DFL) == say, sigignore(SIGINT));
    printf("after that: %d\n", signal(SIGINT, SIG_DFL) == SIG_IGN);
    install(SIGSEGV, say, 0);
    sigaction(SIGSEGV, NULL, &old);
    print_action(SIGSEGV, &old);
    install(SIGUSR1, say, (int)SA_RESETHAND);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &old);
    print_action(SIGUSR1, &old);
    static char memory[65536];
    print_stack();
    set_stack(memory, 100, 0);
    set_stack(memory, sizeof memory, 0);
    print_stack();
    set_stack(NULL, 0, SS_DISABLE);
    print_stack();
    set_stack(memory, sizeof memory, 77);
    char here;
    interrupted_at = &here;
    install(SIGUSR2, look_at_stack, SA_ONSTACK);
    raise_with_vectors(SIGUSR2);
    set_stack(memory, sizeof memory, 0);
    raise(SIGUSR2);
    install(SIGUSR2, look_at_stack, 0);
    raise(SIGUSR2);
    install(SIGBUS, look_at_stack, 0);
    raise_with_vectors(SIGBUS);
    fflush(stdout);
}

/* ---- the ways -------------------------------------------------------------------------------- */

static void limit(int resource, rlim_t soft) {
    struct rlimit limit = {soft, RLIM_INFINITY};
    setrlimit(resource, &limit);
}

static void wait_for_signal(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    raise(SIGTERM);
    raise(SIGHUP);
    sigdelset(&all, SIGTERM);
    sigsuspend(&all);
}

static void end_child(void) {
    pid_t child = fork();
    if (child == 0) {
        work(1000);
        abort();
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child: %x\n", (unsigned)status);
}

static void end_vfork_child(void) {
    pid_t child = vfork();
    if (child == 0) {
        kill(getpid(), SIGTERM);
        _exit(9);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child: %x\n", (unsigned)status);
}

static void write_to_closed(void) {
    int ends[2];
    if (pipe(ends) != 0)
        exit(3);
    close(ends[0]);
    ssize_t ignored = write(ends[1], "x", 1);
    (void)ignored;
}

static void write_too_much(void) {
    limit(RLIMIT_FSIZE, 1);
    FILE *file = tmpfile();
    ssize_t ignored = write(fileno(file), "abc", 3);
    ignored = write(fileno(file), "abc", 3);
    (void)ignored;
}

static void exec_itself(char *program, const char *way, const char *then) {
    if (strcmp(way, "exec-ignored") == 0)
        signal(SIGTERM, SIG_IGN);
    execl(program, program, then, (char *)NULL);
}

static void ask_for_signal(int number) {
    printf("ready\n");
    fflush(stdout);
    alarm(20);
    if (number == 0)
        work_for_ever();
    start(work_in_thread, 3);
    for (;;)
        pause();
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    printf("%d\n", work(20000) > 0);
    fflush(stdout);
    if (strncmp(way, "raise-", 6) == 0)
        raise(atoi(way + 6));
    else if (strcmp(way, "look") == 0)
        look();
    else if (strcmp(way, "abort") == 0)
        abort();
    else if (strcmp(way, "assert") == 0)
        assert(zero == 1);
    else if (strcmp(way, "null") == 0)
        *(volatile int *)(long)zero = 1;
    else if (strcmp(way, "divide") == 0)
        printf("%d\n", argc / zero);
    else if (strcmp(way, "illegal") == 0)
        __builtin_trap();
    else if (strcmp(way, "overflow") == 0)
        recurse(0);
    else if (strcmp(way, "overflow-thread") == 0)
        start(overflow, 1), pause();
    else if (strcmp(way, "overflow-handler") == 0)
        install(SIGSEGV, say, 0), recurse(0);
    else if (strcmp(way, "abort-thread") == 0)
        start(work_in_thread, 2), start(abort_in_thread, 1), pause();
    else if (strcmp(way, "reset") == 0)
        install(SIGTERM, say, (int)SA_RESETHAND), raise(SIGTERM), raise(SIGTERM);
    else if (strcmp(way, "again") == 0)
        install(SIGINT, say_and_raise, 0), raise(SIGINT);
    else if (strcmp(way, "suspend") == 0)
        wait_for_signal();
    else if (strcmp(way, "alarm") == 0)
        ualarm(20000, 0), work_for_ever();
    else if (strcmp(way, "cpu") == 0)
        limit(RLIMIT_CPU, 1), work_for_ever();
    else if (strcmp(way, "pipe") == 0)
        write_to_closed();
    else if (strcmp(way, "file-size") == 0)
        write_too_much();
    else if (strcmp(way, "child") == 0)
        end_child();
    else if (strcmp(way, "vfork") == 0)
        end_vfork_child();
    else if (strncmp(way, "exec-", 5) == 0)
        exec_itself(argv[0], way, "raise-15");
    else if (strcmp(way, "ask") == 0)
        ask_for_signal(0);
    else if (strcmp(way, "ask-threads") == 0)
        ask_for_signal(1);
    return 0;
}
