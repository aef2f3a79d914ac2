/* Two threads that take turns, so that the interleaved stream of both is always the same. Each goes
   through an array of its own and through a common one. nest.c says why arrays and frame are where
   they are. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 4096, PAGE = 65536, ROUNDS = 3 };

static volatile double own[2][MOST] __attribute__((aligned(PAGE)));
static volatile double common[MOST] __attribute__((aligned(PAGE)));
static sem_t turn[2], nobody;
static int n;

/* Nothing of it is on the stack, and the next one is let go last: where nothing else is measured,
   the accesses of all threads have one order only. */
__attribute__((noinline)) static void sweep(volatile double *array, sem_t *next) {
    for (int i = 0; i < n; i++)
        array[i] = array[i] + 1;
    sem_post(next);
}

static void *take_turns(void *number) {
    long me = (long)number;
    for (int round = 0; round < ROUNDS; round++) {
        sem_wait(&turn[me]);
        sweep(own[me], &nobody);
        sweep(common, &turn[1 - me]);
    }
    return NULL;
}

__attribute__((noinline)) static int work(int argc, char **argv) {
    pthread_t threads[2];
    n = getopt(argc, argv, "-") == 1 ? atoi(optarg) : 0;
    if (n < 1 || n > MOST)
        return 3;
    for (long i = 0; i < 2; i++)
        sem_init(&turn[i], 0, 0);
    sem_init(&nobody, 0, 0);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, take_turns, (void *)i);
    sem_post(&turn[0]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%g\n", common[0]);
    return 0;
}

int main(int argc, char **argv) {
    _Alignas(PAGE) volatile int status = work(argc, argv);
    return status;
}
