/* Signals in every form: at a high rate from a timer and from a second thread, by handlers that the
   system call installs, on other stacks, waited for; and jumps out of handlers.  What is printed
   does not depend on when signals come. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long table[64];
static volatile sig_atomic_t n_handled, deepest, depth;

__attribute__((noinline)) static long disturb(int number) {
    long sum = 0;
    for (int i = 0; i < 64; i++) {
        table[i] += i ^ number;
        sum += table[(i * 7) & 63];
    }
    return sum;
}

static void on_signal(int number) {
    int error = errno;
    depth++;
    if (depth > deepest)
        deepest = depth;
    disturb(number);
    n_handled++;
    depth--;
    errno = error;
}

/* Enough live values that every register is taken. */
__attribute__((noinline)) static uint64_t mix(uint64_t *a, int n) {
    uint64_t x = 1, y = 2, z = 3, w = 4, u = 5, v = 6, q = 7, r = 8, s = 9;
    for (int i = 0; i < n; i++) {
        x += a[i & 255];
        y ^= x + a[(i + 1) & 255];
        z += y * 3;
        w ^= z >> 3;
        u += w + a[(i + 2) & 255];
        v ^= u << 1;
        q += v;
        r ^= q + a[(i + 3) & 255];
        s += r;
        x ^= s >> 5;
        a[i & 255] += x;
    }
    return x + y + z + w + u + v + q + r + s;
}

static uint64_t mixed(int rounds) {
    static uint64_t numbers[256];
    uint64_t sum = 0;
    for (unsigned i = 0; i < 256; i++)
        numbers[i] = i * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < rounds; i++)
        sum += mix(numbers, 20000);
    return sum;
}

/* ---- the system call, with a way back of our own --------------------------------------------- */

struct kernel_action {
    void (*handler)(int);
    uint64_t flags;
    void (*restorer)(void);
    uint64_t mask;
};
void come_back(void);
__asm__(".text\n.type come_back, @function\ncome_back:\n    movq $15, %rax\n    syscall\n"
        ".size come_back, .-come_back\n");

static void install_directly(int number, void (*handler)(int), uint64_t flags) {
    struct kernel_action action = {handler, flags | 0x04000000, come_back, 0}, old;
    if (syscall(SYS_rt_sigaction, number, &action, &old, 8L) != 0 ||
        syscall(SYS_rt_sigaction, number, NULL, &old, 8L) != 0 || old.handler != handler)
        puts("rt_sigaction failed");
}

/* ---- storms ---------------------------------------------------------------------------------- */

static pthread_t main_thread;
static volatile int stop;
static void *send_signals(void *unused) {
    (void)unused;
    while (!stop) {
        pthread_kill(main_thread, SIGUSR1);
        pthread_kill(main_thread, SIGUSR2);
        usleep(50);
    }
    return NULL;
}

static void storm(const char *name) {
    struct itimerval fast = {{0, 200}, {0, 200}}, off = {{0, 0}, {0, 0}};
    pthread_t sender;
    n_handled = 0;
    stop = 0;
    main_thread = pthread_self();
    setitimer(ITIMER_REAL, &fast, NULL);
    pthread_create(&sender, NULL, send_signals, NULL);
    uint64_t sum = mixed(60);
    stop = 1;
    pthread_join(sender, NULL);
    setitimer(ITIMER_REAL, &off, NULL);
    printf("%s: %016llx, signals %s\n", name, (unsigned long long)sum,
           n_handled > 3 ? "came" : "missing");
}

static void storms(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    static const int numbers[] = {SIGALRM, SIGUSR1, SIGUSR2};
    for (int i = 0; i < 3; i++)
        sigaction(numbers[i], &action, NULL);
    storm("sigaction");
    for (int i = 0; i < 3; i++)
        install_directly(numbers[i], on_signal, SA_RESTART | SA_NODEFER);
    storm("rt_sigaction");
    static char stack[1 << 16];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    for (int i = 0; i < 3; i++)
        sigaction(numbers[i], &action, NULL);
    storm("sigaltstack");
    for (int i = 0; i < 3; i++)
        signal(numbers[i], SIG_IGN);
}

/* ---- flags ----------------------------------------------------------------------------------- */

static void nest(int number) {
    depth++;
    if (depth > deepest)
        deepest = depth;
    disturb(number);
    if (depth < 20)
        raise(number);
    depth--;
}

static void flags(void) {
    struct sigaction action = {.sa_handler = nest, .sa_flags = SA_NODEFER}, old;
    deepest = depth = 0;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &old);
    printf("nested %d, handler %s\n", (int)deepest, old.sa_handler == nest ? "kept" : "lost");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        action = (struct sigaction){.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
        sigaction(SIGUSR2, &action, NULL);
        n_handled = 0;
        raise(SIGUSR2);
        sigaction(SIGUSR2, NULL, &old);
        printf("once %d, %s\n", (int)n_handled, old.sa_handler == SIG_DFL ? "reset" : "kept");
        fflush(stdout);
        raise(SIGUSR2);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child: signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static volatile uintptr_t faulted;
static sigjmp_buf after_fault;
static void on_fault(int number, siginfo_t *info, void *context) {
    (void)context;
    faulted = (uintptr_t)info->si_addr;
    disturb(number);
    siglongjmp(after_fault, 1);
}
static void faults(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    for (volatile long i = 1; i < 4; i++)
        if (sigsetjmp(after_fault, 1) == 0)
            *(volatile char *)(i * 16) = 1;
        else
            printf("fault at %ld\n", (long)faulted);
    signal(SIGSEGV, SIG_DFL);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void waits(void) {
    sigset_t all, most;
    struct timespec second = {5, 0};
    siginfo_t info;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    disturb(1);
    kill(getpid(), SIGUSR1);
    int number = 0;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigwait(&one, &number);
    union sigval value = {.sival_int = 1234};
    sigqueue(getpid(), SIGUSR1, value);
    sigtimedwait(&one, &info, &second);
    printf("sigwait %d, sigtimedwait %d\n", number == SIGUSR1, info.si_value.sival_int);

    int file = signalfd(-1, &one, 0);
    struct signalfd_siginfo read_info = {0};
    kill(getpid(), SIGUSR1);
    if (read(file, &read_info, sizeof read_info) != sizeof read_info)
        puts("signalfd failed");
    close(file);
    printf("signalfd %d\n", read_info.ssi_signo == SIGUSR1);

    /* The handler runs with all else blocked. */
    struct sigaction action = {.sa_handler = on_signal};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
    n_handled = 0;
    kill(getpid(), SIGUSR2);
    sigfillset(&most);
    sigdelset(&most, SIGUSR2);
    sigsuspend(&most);
    printf("sigsuspend %d, errno %d\n", (int)n_handled, errno == EINTR);
    uint64_t none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, 8L);
    disturb(2);
}

/* ---- SIGEV_THREAD ---------------------------------------------------------------------------- */

static volatile int n_expired;
static volatile uint64_t expired_sum;
static void on_expiry(union sigval value) {
    static uint64_t numbers[256];
    memset(numbers, 0, sizeof numbers);
    expired_sum = mix(numbers, 3000);
    __atomic_fetch_add(&n_expired, value.sival_int, __ATOMIC_RELAXED);
}
static void expire(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 1};
    struct itimerspec once = {{0, 0}, {0, 3000000}};
    timer_t timer;
    event.sigev_notify_function = on_expiry;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    uint64_t sum = 0;
    for (int i = 1; i < 6; i++) {
        timer_settime(timer, 0, &once, NULL);
        do
            sum = mixed(2);
        while (__atomic_load_n(&n_expired, __ATOMIC_RELAXED) < i);
    }
    timer_delete(timer);
    printf("expired %d, %016llx %016llx\n", n_expired, (unsigned long long)sum,
           (unsigned long long)expired_sum);
}

int main(void) {
    storms();
    flags();
    faults();
    waits();
    expire();
    return 0;
}
