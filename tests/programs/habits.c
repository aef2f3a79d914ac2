/* Loops of which it is known what would help them, a routine each. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 16384, ROWS = 4096, COLUMNS = 24, FAR = 1024, FEW = 64 };

double a[N], b[N];
double matrix[ROWS][COLUMNS + 4];
struct {
    double used, unused[7];
} records[N];
int chosen[N];
double rows[FEW * FAR];
volatile double result;
volatile int passes = 3;
volatile double factor = 0.999;

/* The second loop uses what the first one stored, too late: fuse. */
__attribute__((noipa)) static void two_loops(void) {
    double sum = 0;
    for (int i = 0; i < N; i++)
        a[i] = a[i] * 0.5 + b[i];
    for (int i = 0; i < N; i++)
        sum += a[i] * b[i];
    result = sum;
}

/* A line is used again in the next column: interchange. */
__attribute__((noipa)) static void by_columns(void) {
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++)
            matrix[i][j] += 1;
}

/* Of each line an eighth is used: split. */
__attribute__((noipa)) static void one_member(void) {
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += records[i].used;
    result = sum;
}

/* The lines are used again, but in no order: sort. */
__attribute__((noipa)) static void picked(void) {
    double sum = 0;
    for (int pass = 0; pass < passes; pass++)
        for (int i = 0; i < N; i++)
            sum += b[chosen[i]];
    result = sum;
}

/* A few lines that fall into one set: pad. */
__attribute__((noipa)) static void same_sets(void) {
    for (int pass = 0; pass < 40 * passes; pass++)
        for (int i = 0; i < FEW; i++)
            rows[i * FAR] += 1;
}

/* Each iteration waits for the one before: several chains. */
__attribute__((noipa)) static void chain(void) {
    double x = 1, c = factor;
    for (int i = 0; i < 20 * N; i++)
        x = x * c + 1e-3;
    result = x;
}

int main(int argc, char **argv) {
    int times = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < N; i++)
        chosen[i] = (int)((i * 7919L) % N);
    for (int t = 0; t < times; t++) {
        two_loops();
        by_columns();
        one_member();
        picked();
        same_sets();
        chain();
    }
    return 0;
}
