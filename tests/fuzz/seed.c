/* The program that seeds are made of: small, but with loops, a switch, indirect accesses, calls
   through pointers, and an exit that does not return. */
#include <stdio.h>
#include <stdlib.h>

static double grid[64 * 64];
static int order[64];

static void sweep(int n) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            grid[i * n + j] = 0.25 * (grid[(i - 1) * n + j] + grid[(i + 1) * n + j]);
}

static double gather(int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += grid[order[i]];
    return sum;
}

static int __attribute__((noinline)) choose(int kind) {
    switch (kind) {
    case 0:
        return puts("none");
    case 1:
        return puts("one");
    case 2:
        return puts("a pair");
    case 3:
        return puts("a few");
    case 4:
        return putchar('\n');
    case 5:
        return puts("many");
    default:
        exit(0);
    }
}

static int (*volatile through)(int) = choose;

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 8;
    for (int i = 0; i < n; i++)
        order[i] = (i * 5) % n;
    for (int step = 0; step < 3; step++)
        sweep(n);
    if (gather(n) < 0)
        exit(1);
    return through(n % 6) < 0;
}
