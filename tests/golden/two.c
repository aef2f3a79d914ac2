/* Two parameters: A rows of B numbers. nest.c says why arrays and frame are where they are. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 64, PAGE = 65536 };

static double matrix[MOST * MOST] __attribute__((aligned(PAGE)));
static double vector[MOST] __attribute__((aligned(PAGE)));
static volatile double result;

__attribute__((noinline)) static double multiply(int a, int b) {
    double sum = 0;
    for (int i = 0; i < a; i++)
        for (int j = 0; j < b; j++)
            sum += matrix[i * b + j] * vector[j];
    return sum;
}

__attribute__((noinline)) static void clear(int b) {
    for (int j = 0; j < b; j++)
        vector[j] = 1.5;
}

__attribute__((noinline)) static int work(int argc, char **argv) {
    int a = getopt(argc, argv, "-") == 1 ? atoi(optarg) : 0;
    int b = getopt(argc, argv, "-") == 1 ? atoi(optarg) : 0;
    if (a < 1 || b < 1 || a > MOST || b > MOST)
        return 3;
    clear(b);
    result = multiply(a, b) + multiply(a, b);
    puts("done");
    return 0;
}

int main(int argc, char **argv) {
    _Alignas(PAGE) volatile int status = work(argc, argv);
    return status;
}
