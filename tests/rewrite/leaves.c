/* Routines that are left from inside, each way on its own: `leaves WAY`; without an argument the
   ways are listed.  Counts of all basic blocks stay exact. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/pmodel.h"

static jmp_buf target;
static volatile long sink;

/* Recursion with a loop around the call: the call ends no basic block. */
__attribute__((noinline, noipa)) static long descend(int depth, void (*bottom)(void)) {
    long sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += i * depth;
        if (depth == 0)
            bottom();
        else
            sum += descend(depth - 1, bottom);
        sink += sum;
    }
    return sum;
}

static void jump(void) { longjmp(target, 1); }

/* The call that is left is in the middle of a long basic block, in a routine without a loop. */
__attribute__((noinline, noipa)) static long straight(void (*bottom)(void)) {
    sink += 3;
    bottom();
    sink += 5;
    return sink;
}

static void by_longjmp(void) {
    for (volatile int i = 0; i < 7; i++)
        if (setjmp(target) == 0)
            descend(i, jump);
    for (volatile int i = 0; i < 5; i++)
        if (setjmp(target) == 0)
            straight(jump);
}

static int compare(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    if (a == 50 || b == 50)
        descend(2, jump);
    return (a > b) - (a < b);
}

/* Through qsort, which is not instrumented. */
static void by_callback(void) {
    int values[200];
    for (volatile int round = 0; round < 3; round++) {
        for (int i = 0; i < 200; i++)
            values[i] = (i * 37 + round) % 200;
        if (setjmp(target) == 0)
            qsort(values, 200, sizeof *values, compare);
    }
}

static sigjmp_buf signal_target;
static void on_signal(int number) {
    sink += number;
    siglongjmp(signal_target, 1);
}
static void send(void) { raise(SIGUSR1); }

static void by_handler(void) {
    signal(SIGUSR1, on_signal);
    for (volatile int i = 0; i < 6; i++)
        if (sigsetjmp(signal_target, 1) == 0)
            descend(i, send);
}

/* The handler's stack may lie above or below the one that it jumps to. */
static void by_alternative_stack(void) {
    static char below[65536];
    stack_t stack = {.ss_sp = below, .ss_size = sizeof below};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (volatile int i = 0; i < 6; i++)
        if (sigsetjmp(signal_target, 1) == 0)
            descend(i, send);
}

static void leave(void) { exit(3); }
static void leave_at_once(void) { _exit(4); }
static void leave_quickly(void) { quick_exit(5); }

static void by_exit(void) { descend(6, leave); }
static void by__exit(void) { descend(5, leave_at_once); }
static void by_quick_exit(void) { straight(leave_quickly); }

static void end_thread(void) { pthread_exit(NULL); }
static void *exiting(void *depth) {
    descend((int)(long)depth, end_thread);
    return NULL;
}
static void by_pthread_exit(void) {
    for (long i = 0; i < 9; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, exiting, (void *)i);
        pthread_join(thread, NULL);
    }
    straight(end_thread); /* the first thread, too */
}

static void wait_for_end(void) {
    pthread_cancel(pthread_self());
    for (;;)
        pthread_testcancel();
}
static void *waiting(void *depth) {
    descend((int)(long)depth, wait_for_end);
    return NULL;
}
static void by_cancellation(void) {
    for (long i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, waiting, (void *)i);
        pthread_join(thread, NULL);
    }
}

/* Threads that wait where they are until the process ends. */
static sem_t ready;
static void wait_forever(void) {
    sem_post(&ready);
    for (;;)
        pause();
}
static void *staying(void *depth) {
    descend((int)(long)depth, wait_forever);
    return NULL;
}
static void by_other_threads(void) {
    sem_init(&ready, 0, 0);
    for (long i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, staying, (void *)i);
    }
    for (int i = 0; i < 4; i++)
        sem_wait(&ready);
    usleep(200000);
    straight(leave);
}

/* Both processes go on from the middle; what the parent had entered, the child only leaves. */
static int n_forked;
static void split(void) {
    if (n_forked++ != 5)
        return;
    pid_t child = fork();
    if (child > 0)
        waitpid(child, NULL, 0);
}
static void by_fork(void) {
    descend(3, split);
    straight(split);
}
/* What was there before the fork. */
static void end_there(void) {
    if (n_forked++ == 5)
        exit(0);
}
static void before_fork(void) { descend(3, end_there); }

/* Measured from the middle of one activation to the middle of another: nothing is entered. */
static void stop_there(void) { pmodel_stop(); }
static void start_there(void) { pmodel_start(); }
static void by_markers(void) {
    straight(stop_there);
    descend(2, stop_there);
    straight(start_there);
    descend(2, start_there);
    straight(stop_there);
    straight(start_there);
    exit(0);
}

static const struct way {
    const char *name;
    void (*go)(void);
} ways[] = {
    {"longjmp", by_longjmp},
    {"callback", by_callback},
    {"handler", by_handler},
    {"alternative_stack", by_alternative_stack},
    {"exit", by_exit},
    {"_exit", by__exit},
    {"quick_exit", by_quick_exit},
    {"pthread_exit", by_pthread_exit},
    {"cancellation", by_cancellation},
    {"other_threads", by_other_threads},
    {"before_fork", before_fork},
};

/* Not to be compared with callgrind as they are. */
static const struct way others[] = {{"fork", by_fork}, {"markers", by_markers}};

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc < 2)
            puts(ways[i].name);
        else if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].go();
    for (size_t i = 0; argc > 1 && i < sizeof others / sizeof *others; i++)
        if (strcmp(argv[1], others[i].name) == 0)
            others[i].go();
    return 0;
}
