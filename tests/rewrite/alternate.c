/* Two threads that take turns, by a barrier: each goes over 2048 blocks of 64 bytes, all of them
   its own ("disjoint") or all the other's as well ("common").  A third argument makes a third
   thread that waits all the time and has touched its own memory before. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 2048, TURNS = 20 };
static volatile long tables[3][BLOCKS][8] __attribute__((aligned(4096)));
static pthread_barrier_t turn, end;
static int common;

__attribute__((noinline)) static void sweep(volatile long (*table)[8]) {
    for (int i = 0; i < BLOCKS; i++)
        (void)table[i][0];
}

static void *take_turns(void *number) {
    long which = (long)number;
    for (long i = 0; i < TURNS; i++) {
        if (i % 2 == which)
            sweep(tables[common ? 0 : which]);
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

static void *wait_only(void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++)
        (void)tables[2][i][0];
    pthread_barrier_wait(&end);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t ids[2], waiting;
    common = argc > 1 && strcmp(argv[1], "common") == 0;
    pthread_barrier_init(&turn, NULL, 2);
    pthread_barrier_init(&end, NULL, 2);
    if (argc > 2)
        pthread_create(&waiting, NULL, wait_only, NULL);
    for (long i = 0; i < 2; i++)
        pthread_create(&ids[i], NULL, take_turns, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], NULL);
    if (argc > 2) {
        pthread_barrier_wait(&end);
        pthread_join(waiting, NULL);
    }
    puts("done");
    return 0;
}
