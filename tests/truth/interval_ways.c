/* A program whose intervals end in ways out of the ordinary: interval_ways WAY. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUT_OF_LINE __attribute__((noinline, noclone))

static double a[1024];
static volatile int sink;
static jmp_buf out;

OUT_OF_LINE void synchronise(int k) { sink = k; }
OUT_OF_LINE void begin_here(void) { sink = 1; }
OUT_OF_LINE void end_here(void) { sink = 2; }

OUT_OF_LINE static double row(int k, int n) {
    double s = 0;
    for (int j = k; j < n; j++) {
        a[j & 1023] = a[j & 1023] * 0.5 + k;
        s += a[j & 1023];
    }
    return s;
}

OUT_OF_LINE static void leave(int depth) {
    row(0, depth);
    if (depth == 0)
        longjmp(out, 1);
    if (depth == 2)
        synchronise(2);
    leave(depth - 1);
    sink++;
}

static void on_signal(int number) {
    (void)number;
    row(1, 9);
    synchronise(99);
    row(2, 9);
}

static pthread_barrier_t all_there; /* so that none ends before the last one begins */

static void *thread(void *argument) {
    int n = (int)(long)argument;
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < n; i++) {
        row(i, 40);
        if (i % 3)
            synchronise(i);
    }
    return NULL;
}

OUT_OF_LINE static void deep(int n) {
    if (n) {
        deep(n - 1);
        sink++;
        return;
    }
    synchronise(0);
    row(0, 7);
    exit(3);
}

static void start_threads(void) {
    pthread_barrier_init(&all_there, NULL, 3);
    for (int k = 0; k < 3; k++) {
        pthread_t threads[3];
        for (long i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, thread, (void *)(10 * i + 7 + k));
        synchronise(7);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
    }
}

static void fork_one(void) {
    if (fork() == 0) {
        row(0, 5);
        synchronise(1);
        row(0, 6);
        deep(3);
    }
    row(1, 8);
    wait(NULL);
    synchronise(3);
}

static void execute(char *program) {
    static char none[] = "none";
    char *arguments[] = {program, none, NULL};
    row(0, 3);
    execv("/nonexistent", arguments);
    row(0, 4);
    execv(program, arguments);
}

static void go(const char *way, char *program) {
    if (strcmp(way, "longjmp") == 0)
        for (int i = 0; i < 300; i++)
            if (setjmp(out) == 0)
                leave(4);
    if (strcmp(way, "signal") == 0) {
        signal(SIGUSR1, on_signal);
        for (int i = 0; i < 10; i++) {
            row(0, 30);
            raise(SIGUSR1);
            row(0, 30);
        }
    }
    if (strcmp(way, "threads") == 0)
        start_threads();
    if (strcmp(way, "fork") == 0)
        fork_one();
    if (strcmp(way, "exec") == 0)
        execute(program);
    if (strcmp(way, "many") == 0)
        for (int i = 0; i < 5000; i++) {
            row(i % 7, 9);
            synchronise(i);
            if (i % 2)
                synchronise(-i);
        }
    if (strcmp(way, "switch") == 0)
        for (int i = 0; i < 20; i++) {
            begin_here();
            row(0, 9);
            synchronise(i);
            end_here();
            row(0, i);
            synchronise(-i);
        }
    if (strcmp(way, "exit") == 0)
        deep(5);
    if (strcmp(way, "abort") == 0) {
        row(1, 11);
        abort();
    }
}

int main(int argc, char **argv) {
    for (int i = 0; i < 5; i++) {
        row(i, 20);
        synchronise(i);
    }
    go(argc > 1 ? argv[1] : "", argv[0]);
    row(0, 10);
    synchronise(5);
    return 0;
}
