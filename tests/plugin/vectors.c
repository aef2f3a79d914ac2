/* What the vectoriser and the expansion of blocks make: masked accesses, scatters, gathers, an
   outer loop that only broadcasts for its inner one, remainders, copies and clearing in line. */
#include <string.h>

void masked(double *restrict a, const double *restrict b, const int *restrict c, int n) {
    for (int i = 0; i < n; i++)
        if (c[i] > 0)
            a[i] = b[i] * 2;
}

void scatter(double *restrict a, const double *restrict b, const int *restrict c, int n) {
    for (int i = 0; i < n; i++)
        a[c[i]] = b[i];
}

void gathered(double *restrict a, const double *restrict b, const int *restrict c, int n) {
    for (int i = 0; i < n; i++)
        a[i] = b[c[i]] * 2;
}

void broadcast(double *restrict a, const double *restrict b, const double *restrict s, int n,
               int m) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * m + j] = b[i * m + j] * s[i];
}

void remainder_of(short *restrict a, const short *restrict b, int n) {
    for (int i = 0; i < n; i++)
        a[i] = (short)(b[i] * 3);
}

void copy_blocks(char *to, const char *from, int n) {
    for (int i = 0; i < n; i++)
        memcpy(to + 64 * i, from + 128 * i, 64);
}

void clear_blocks(char *to, int n) {
    for (int i = 0; i < n; i++)
        memset(to + 64 * i, 0, 48);
}
