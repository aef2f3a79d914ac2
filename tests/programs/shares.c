/* Work of known shares for tests/e2e/time.sh.  Each part is also timed by hand, with the thread's
   CPU clock; what that gives is written to the file that argument 2 names, a line for each part.

   The work is a chain of dependent additions, which takes the same time whatever it is part of. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;
static double by_hand[8];
static const char *const names[] = {"one", "two", "three", "tree", "jumping", "short", "forked"};
enum { ONE, TWO, THREE, TREE, JUMPING, SHORT, FORKED, N_PARTS };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline __attribute__((always_inline)) void work(long n) {
    double s = sum;
    for (long i = 0; i < n; i++) {
        s += 1;
        __asm__ volatile("" : "+x"(s));
    }
    sum = s;
}

__attribute__((noipa)) static void one(long n) { work(n); }
__attribute__((noipa)) static void two(long n) { work(2 * n); }
__attribute__((noipa)) static void three(long n) { work(3 * n); }

/* 63 activations that work, one inside the other. */
__attribute__((noipa)) static void tree(int depth, long n) {
    if (depth == 0)
        return;
    work(n);
    tree(depth - 1, n);
    tree(depth - 1, n);
}

static jmp_buf back;

/* Leaves its loop, and itself, by longjmp. */
__attribute__((noipa)) static void jumping(long n) {
    for (;;) {
        work(n);
        longjmp(back, 1);
    }
}

__attribute__((noipa)) static void after_jump(long n) { work(n); }

/* Its loop goes round sixteen times: too short for a timer, and so is each call. */
__attribute__((noipa)) static void short_loop(long n) { work(16 + (n & 1)); }

__attribute__((noipa)) static void calls_short(long n) {
    for (long i = 0; i < n / 64; i++)
        short_loop(i);
}

static void handler(int number) {
    (void)number;
    work(20000);
}

/* A signal each millisecond, whose handler works. */
__attribute__((noipa)) static void interrupted(long n) {
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &every, NULL);
    work(n);
    setitimer(ITIMER_REAL, &never, NULL);
}

__attribute__((noipa)) static void in_child(long n) { work(n); }

static void in_rounds(long n) {
    static void (*const parts[])(long) = {one, two, three, calls_short};
    static const int index[] = {ONE, TWO, THREE, SHORT};
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 4; i++) {
            double begin = now();
            parts[i](n / 20);
            by_hand[index[i]] += now() - begin;
        }
        double begin = now();
        if (setjmp(back) == 0)
            jumping(n / 20);
        by_hand[JUMPING] += now() - begin;
        after_jump(n / 20);
    }
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    in_rounds(n);
    double begin = now();
    tree(6, n / 63);
    by_hand[TREE] = now() - begin;
    interrupted(n);
    if (argc > 3 && strcmp(argv[3], "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            in_child(2 * n);
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    FILE *file = argc > 2 ? fopen(argv[2], "w") : stdout;
    for (int i = 0; file && i < N_PARTS; i++)
        fprintf(file, "%s %.6f\n", names[i], by_hand[i]);
    puts("done");
    return 0;
}
