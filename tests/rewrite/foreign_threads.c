/* Threads that are made by the C library's pthread_create, found by its handle, while others count
   and access memory: each has to have a control block of its own. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
enum { N_THREADS = 3, N_STEPS = 400000 };

static void *work(void *argument) {
    static _Thread_local unsigned table[256];
    unsigned state = *(unsigned *)argument;
    for (int i = 0; i < N_STEPS; i++) {
        state = state * 1103515245 + 12345;
        if (state >> 16 & 1)
            table[state >> 24] += state;
    }
    for (int i = 0; i < 256; i++)
        state = state * 31 + table[i];
    *(unsigned *)argument = state;
    return NULL;
}

int main(void) {
    pthread_t threads[N_THREADS];
    unsigned states[N_THREADS + 1] = {1, 2, 3, 4};
    create_function *create =
        (create_function *)dlsym(dlopen("libc.so.6", RTLD_LAZY), "pthread_create");
    for (int i = 0; i < N_THREADS; i++)
        if (create(&threads[i], NULL, work, &states[i]) != 0)
            return 1;
    work(&states[N_THREADS]);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%u %u %u %u\n", states[0], states[1], states[2], states[3]);
    return 0;
}
