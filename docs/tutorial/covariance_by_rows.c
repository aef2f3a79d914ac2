/* Covariances of the columns of a table with N rows and N columns; see docs/tutorial.md. */
#include <stdio.h>
#include <stdlib.h>

static void fill(int n, double *table) {
    for (int row = 0; row < n; row++)
        for (int column = 0; column < n; column++)
            table[row * n + column] = (row * 7 + column * 13) % 101 - 50;
}

static void subtract_means(int n, double *table) {
    for (int column = 0; column < n; column++) {
        double sum = 0;
        for (int row = 0; row < n; row++)
            sum += table[row * n + column];
        for (int row = 0; row < n; row++)
            table[row * n + column] -= sum / n;
    }
}

static void multiply(int n, const double *table, double *covariances) {
    for (int a = 0; a < n; a++)
        for (int row = 0; row < n; row++)
            for (int b = 0; b < n; b++)
                covariances[a * n + b] += table[row * n + a] * table[row * n + b];
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 400;
    double *table = malloc(sizeof(double) * n * n);
    double *covariances = calloc((size_t)n * n, sizeof(double));
    fill(n, table);
    subtract_means(n, table);
    multiply(n, table, covariances);
    printf("%.6f %.6f\n", covariances[1], covariances[n * n - 2]);
    free(table);
    free(covariances);
    return 0;
}
