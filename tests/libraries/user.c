/* user N [LIBRARY [TIMES]]: calls libinner, from two threads, and opens LIBRARY as often as said.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "libraries.h"

static int square(int i) { return i * i % 1000; }

static void *in_thread(void *argument) {
    int n = *(const int *)argument;
    double *values = malloc((size_t)n * sizeof *values);
    for (int i = 0; i < n; i++)
        values[i] = i * 0.5;
    double *sum = malloc(sizeof *sum);
    *sum = inner_sum(values, (size_t)n);
    free(values);
    return sum;
}

static int open_and_count(const char *path, int n) {
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    int (*count)(int) = (int (*)(int))dlsym(library, "later_count");
    int found = count(n);
    dlclose(library);
    return found;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 10, times = argc > 3 ? atoi(argv[3]) : 1;
    pthread_t threads[2];
    printf("%ld %d\n", inner_constructed(), inner_each(n, square));
    for (int t = 0; t < 2; t++)
        if (pthread_create(&threads[t], NULL, in_thread, &n) != 0)
            return 1;
    for (int t = 0; t < 2; t++) {
        void *sum;
        pthread_join(threads[t], &sum);
        printf("%g\n", *(double *)sum);
        free(sum);
    }
    for (int i = 0; argc > 2 && i < times; i++)
        printf("%d\n", open_and_count(argv[2], n + i));
    return 0;
}
