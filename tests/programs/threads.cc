// Threads and exceptions for tests/e2e/time.sh: four threads that work alike, and an OpenMP region;
// then loops that are left by an exception, caught by a loop around them and by a caller.
#include <pthread.h>
#include <cstdio>
#include <cstdlib>

static inline __attribute__((always_inline)) double work(long n) {
    double sum = 0;
    for (long i = 0; i < n; i++) {
        sum += 1;
        __asm__ volatile("" : "+x"(sum));
    }
    return sum;
}

static long size = 1000000;

extern "C" __attribute__((noinline)) void *thread_work(void *) {
    work(size);
    return nullptr;
}

extern "C" __attribute__((noinline)) void throwing(long n) {
    for (;;) {
        work(n);
        throw 1;
    }
}

extern "C" __attribute__((noinline)) void passing(long n) {
    for (int i = 0; i < 2; i++)
        throwing(n);
}

/* Catches in its own loop and goes on working there. */
extern "C" __attribute__((noinline)) int catching(long n) {
    int caught = 0;
    for (int i = 0; i < 20; i++) {
        try {
            passing(n / 20);
        } catch (int) {
            caught++;
        }
        work(n / 20);
    }
    return caught;
}

extern "C" __attribute__((noinline)) void parallel(long n) {
#pragma omp parallel num_threads(2)
    work(n);
}

int main(int argc, char **argv) {
    if (argc > 1)
        size = atol(argv[1]);
    pthread_t threads[4];
    for (pthread_t &thread : threads)
        pthread_create(&thread, nullptr, thread_work, nullptr);
    for (pthread_t &thread : threads)
        pthread_join(thread, nullptr);
    parallel(size);
    printf("%d\n", catching(size));
    return 0;
}
