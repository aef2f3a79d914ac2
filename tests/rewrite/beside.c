/* Work enough to fill many buffers of memory records, before and after each way in which a thread,
   a process or a routine ends or goes on.  What is accessed does not depend on how threads are
   scheduled, and their numbers do not either.  Without an argument: prints the ways.  A second
   argument divides the work, for those who run a way many times. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

enum { N = 1 << 14, THREADS = 5 };
static long tables[THREADS + 1][N] __attribute__((aligned(4096)));

static long divisor = 1;

/* Some 2 STEPS accesses at all distances. */
__attribute__((noinline)) static long work(long *table, long steps, uint64_t seed) {
    long sum = 0, n = steps / divisor;
    for (long i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t range = (uint64_t)N >> (seed >> 61);
        sum += table[(seed >> 20) % range] + i;
        table[(seed >> 33) % range] = sum;
    }
    return sum;
}

static long some(uint64_t seed) { return work(tables[0], 30000, seed); }

/* ---- threads --------------------------------------------------------------------------------- */

static pthread_barrier_t all_there;

static void *in_thread(void *number) {
    long which = (long)number;
    pthread_barrier_wait(&all_there);
    long sum = 0;
    for (long round = 0; round < 6; round++)
        sum += work(tables[which], 10000 * which + 1000 * round, (uint64_t)(which + round));
    if (which == 2)
        pthread_exit((void *)sum);
    return (void *)sum;
}

static int in_c11_thread(void *number) { return (int)(long)in_thread(number); }

static void threads(void) {
    for (int round = 0; round < 3; round++) {
        pthread_t ids[THREADS];
        thrd_t other;
        void *result;
        pthread_barrier_init(&all_there, NULL, THREADS);
        for (long i = 0; i < THREADS - 1; i++)
            pthread_create(&ids[i], NULL, in_thread, (void *)(i + 1));
        thrd_create(&other, in_c11_thread, (void *)(long)THREADS);
        some(3);
        for (int i = 0; i < THREADS - 1; i++) {
            pthread_join(ids[i], &result);
            printf("%ld\n", (long)result);
        }
        thrd_join(other, NULL);
        pthread_barrier_destroy(&all_there);
    }
}

static void *exits(void *unused) {
    (void)unused;
    printf("%ld\n", work(tables[1], 40000, 9));
    exit(3);
}

static void exit_in_thread(void) {
    pthread_t id;
    some(4);
    pthread_create(&id, NULL, exits, NULL);
    pthread_join(id, NULL);
}

/* The last thread ends, and so does the process, without exit: it writes nothing, but it ends. */
static void last_thread(void) {
    printf("%ld\n", some(5) + some(6));
    fflush(stdout);
    syscall(SYS_exit, 0);
}

/* ---- processes ------------------------------------------------------------------------------- */

static int in_copy(void *unused) {
    (void)unused;
    return some(10) == 1;
}

static long fork_by(int way) {
    static char stack[1 << 16] __attribute__((aligned(64)));
    if (way == 0)
        return fork();
    if (way == 1)
        return syscall(SYS_fork);
    return clone(in_copy, stack + sizeof stack, SIGCHLD, NULL);
}

static void forks(void) {
    for (int i = 0; i < 6; i++) {
        some((uint64_t)i);
        long child = fork_by(i % 3);
        if (child == 0) {
            some(7);
            if (i < 3)
                exit(0);
            _exit(0);
        }
        some(20 + (uint64_t)i);
        int status;
        waitpid((pid_t)child, &status, 0);
        printf("%d\n", status);
    }
}

/* By an instruction that the runtime does not see, and with memory in common. */
static void unseen(void) {
    for (int i = 0; i < 4; i++) {
        int status;
        long child;
        some((uint64_t)i);
        __asm__ volatile("syscall" : "=a"(child) : "0"((long)SYS_fork) : "rcx", "r11", "memory");
        if (child == 0) {
            work(tables[3], 200000, 1);
            _exit(7);
        }
        waitpid((pid_t)child, &status, 0);
        printf("%d\n", status);
        pid_t sharing = vfork();
        if (sharing == 0) {
            work(tables[4], 200000, 2);
            _exit(5);
        }
        waitpid(sharing, &status, 0);
        printf("%d\n", status);
    }
}

static char *self;

static void executes(void) {
    char *arguments[] = {self, "longjmps", NULL};
    printf("%ld\n", some(11));
    fflush(stdout);
    execv("/nowhere/at/all", arguments);
    some(12);
    execv(self, arguments);
}

/* ---- routines -------------------------------------------------------------------------------- */

static sigjmp_buf place;

static void deeper(int n) {
    some((uint64_t)n);
    if (n == 0)
        siglongjmp(place, 1);
    deeper(n - 1);
}

static void longjmps(void) {
    for (volatile int i = 0; i < 4; i++)
        if (sigsetjmp(place, 1) == 0)
            deeper(i);
    printf("%ld\n", some(13));
}

static volatile int jumps;

static void handler(int number) {
    work(tables[2], number == SIGUSR1 ? 5 : 20000, (uint64_t)number);
    if (number == SIGUSR1)
        raise(SIGUSR2);
    if (jumps)
        siglongjmp(place, 1);
}

static void signals(void) {
    signal(SIGUSR1, handler);
    signal(SIGUSR2, handler);
    for (volatile int i = 0; i < 300; i++) {
        work(tables[1], 200, 4);
        jumps = i % 7 == 3;
        if (sigsetjmp(place, 1) == 0)
            raise(SIGUSR1);
    }
    printf("%ld\n", some(14));
}

static const struct {
    const char *name;
    void (*function)(void);
} ways[] = {
    {"threads", threads},
    {"exit_in_thread", exit_in_thread},
    {"forks", forks},
    {"executes", executes},
    {"longjmps", longjmps},
    {"signals", signals},
    {"last_thread", last_thread},
    {"unseen", unseen},
};

int main(int argc, char **argv) {
    self = argv[0];
    if (argc > 2)
        divisor = atol(argv[2]);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (argc < 2)
            puts(ways[i].name);
        else if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].function();
    }
    return 0;
}
