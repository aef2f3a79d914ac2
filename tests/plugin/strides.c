/* Loops whose strides, lines and trip counts are known; tests/e2e/plugin.sh compares. Not
   inlined, so that each routine's metadata is its own. */
struct cell {
    double value;
    int neighbour;
    char padding[20];
};

double grid[50][40][30];

/* strides 8, 240, 9600 */
__attribute__((noinline)) void fill(double x) {
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 40; j++)
            for (int k = 0; k < 30; k++)
                grid[i][j][k] = x * k + j;
}

/* innermost over the first index: 9600, then 8, then 240 */
__attribute__((noinline)) double transposed(void) {
    double sum = 0;
    for (int j = 0; j < 40; j++)
        for (int k = 0; k < 30; k++)
            for (int i = 0; i < 50; i++)
                sum += grid[i][j][k] * sum;
    return sum;
}

/* a field of a structure of 32 bytes, backwards: -32 */
__attribute__((noinline)) double backwards(const struct cell *cells, int n) {
    double sum = 0;
    for (int i = n - 1; i >= 0; i--)
        sum = sum * 0.5 + cells[i].value;
    return sum;
}

/* 4 for the index, indirect for what it leads to */
__attribute__((noinline)) double gather(const double *table, const int *index, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum * 0.5 + table[index[i]];
    return sum;
}

/* 8 inside; 8*width, a symbol, outside */
__attribute__((noinline)) double rows(const double *image, long height, long width) {
    double sum = 0;
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++)
            sum = sum * 0.5 + image[y * width + x];
    return sum;
}

/* vectorised: the stride is the vector's size */
__attribute__((noinline)) void triad(double *restrict a, const double *restrict b,
                                     const double *restrict c, int n) {
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 3.0 * c[i];
}
