/* fork, OpenMP threads, thread-local variables, IFUNC resolvers and .preinit_array, which run
   before any constructor. */
#include <omp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int plus_one(int x) { return x + 1; }
static int twice(int x) { return x * 2; }
static int choose(int key) {
    volatile int bits = key;
    return bits & 1;
}
static int (*resolve(void))(int) { return choose(3) ? plus_one : twice; }
int chosen(int x) __attribute__((ifunc("resolve")));

static void before_all(int argc, char **argv, char **environment) {
    (void)argv, (void)environment;
    choose(argc);
}
__attribute__((section(".preinit_array"), used)) static void (*early)(int, char **,
                                                                      char **) = before_all;

static _Thread_local long local[16];

__attribute__((noinline)) static long use_local(long n) {
    for (long i = 0; i < n; i++)
        local[i & 15] += i;
    long sum = 0;
    for (int i = 0; i < 16; i++)
        sum += local[i];
    return sum;
}

int main(void) {
    enum { N = 100000 };
    static double values[N];
    double sum = 0;
    long locals = 0;
    printf("chosen %d\n", chosen(20));
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < N; i++)
        values[i] = i % 17;
#pragma omp parallel for num_threads(4) reduction(+ : sum, locals)
    for (int i = 0; i < 400; i++) {
        for (int k = i; k < N; k += 400)
            sum += values[k];
        locals += use_local(100) > 0;
    }
    printf("sum %.0f, locals %ld\n", sum, locals);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("child %ld\n", use_local(1000) > 0 ? 1L : 0L);
        fflush(stdout);
        _exit(chosen(4));
    }
    int status;
    waitpid(child, &status, 0);
    printf("child ended with %d\n", WEXITSTATUS(status));
    return 0;
}
