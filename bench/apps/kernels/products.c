/* Products of matrices and vectors of constant extents, from their definitions; see kernels.h. */
#include "kernels.h"

MATRIX(a, N, N);
MATRIX(b, N, N);
MATRIX(c, N, N);
MATRIX(d, N, N);
VECTOR(x, N);
VECTOR(y, N);
VECTOR(z, N);
VECTOR(w, N);

static inline void start_product(void) {
    MAKE_MATRIX(a, N, N);
    MAKE_MATRIX(b, N, N);
    MAKE_MATRIX(c, N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (double)(i * j % N) / N;
            b[i][j] = (double)(i * (j + 1) % N) / N;
            c[i][j] = (double)((i + j) % N) / N;
        }
}

/* C = C/2 + 3 A B, row by row. */
static inline void start_product_ikj(void) { start_product(); }
static inline void run_product_ikj(void) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            c[i][j] *= 0.5;
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                c[i][j] += 3 * a[i][k] * b[k][j];
    }
}
static inline void print_product_ikj(void) { print_matrix(c); }

/* C = A B, element by element. */
static inline void start_product_ijk(void) { start_product(); }
static inline void run_product_ijk(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            c[i][j] = 0;
            for (int k = 0; k < N; k++)
                c[i][j] += a[i][k] * b[k][j];
        }
}
static inline void print_product_ijk(void) { print_matrix(c); }

/* C = A Bᵀ. */
static inline void start_product_transposed(void) { start_product(); }
static inline void run_product_transposed(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[j][k];
            c[i][j] = sum;
        }
}
static inline void print_product_transposed(void) { print_matrix(c); }

/* The lower half of C = C/2 + AᵀA. */
static inline void start_normal_matrix(void) { start_product(); }
static inline void run_normal_matrix(void) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++)
            c[i][j] *= 0.5;
        for (int k = 0; k < N; k++)
            for (int j = 0; j <= i; j++)
                c[i][j] += a[k][i] * a[k][j];
    }
}
static inline void print_normal_matrix(void) { print_matrix(c); }

/* D = A B, C = D A. */
static inline void start_two_products(void) {
    start_product();
    MAKE_MATRIX(d, N, N);
}
static inline void run_two_products(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            d[i][j] = 0;
            for (int k = 0; k < N; k++)
                d[i][j] += a[i][k] * b[k][j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            c[i][j] *= 0.25;
            for (int k = 0; k < N; k++)
                c[i][j] += d[i][k] * a[k][j];
        }
}
static inline void print_two_products(void) { print_matrix(c); }

/* B = AᵀB, A lower triangular with ones on the diagonal. */
static inline void start_triangular_product(void) { start_product(); }
static inline void run_triangular_product(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            for (int k = i + 1; k < N; k++)
                b[i][j] += a[k][i] * b[k][j];
            b[i][j] *= 1.5;
        }
}
static inline void print_triangular_product(void) { print_matrix(b); }

/* ---- matrices and vectors -------------------------------------------------------------------- */

static inline void start_vectors(void) {
    MAKE_MATRIX(a, N, N);
    MAKE_VECTOR(x, N);
    MAKE_VECTOR(y, N);
    MAKE_VECTOR(z, N);
    MAKE_VECTOR(w, N);
    for (int i = 0; i < N; i++) {
        x[i] = (double)i / N;
        y[i] = (double)(i + 1) / N;
        z[i] = (double)(i % 7) / 7;
        w[i] = 0;
        for (int j = 0; j < N; j++)
            a[i][j] = (double)(i * (j + 2) % N) / N;
    }
}

/* A += x yᵀ + z wᵀ; z += Aᵀ y; w = A z. */
static inline void start_rank_two(void) { start_vectors(); }
static inline void run_rank_two(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] += x[i] * y[j] + z[i] * w[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            z[i] += 0.5 * a[j][i] * y[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            w[i] += 0.5 * a[i][j] * z[j];
}
static inline void print_rank_two(void) { print_vector(w, N); }

/* x += A y; z += Aᵀ w. */
static inline void start_both_sides(void) { start_vectors(); }
static inline void run_both_sides(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            x[i] += a[i][j] * y[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            z[i] += a[j][i] * y[j];
}
static inline void print_both_sides(void) {
    print_vector(x, N);
    print_vector(z, N);
}

/* In one sweep of A: w += Aᵀ x; z = A y. */
static inline void start_both_at_once(void) { start_vectors(); }
static inline void run_both_at_once(void) {
    for (int i = 0; i < N; i++) {
        z[i] = 0;
        for (int j = 0; j < N; j++) {
            w[j] += x[i] * a[i][j];
            z[i] += a[i][j] * y[j];
        }
    }
}
static inline void print_both_at_once(void) {
    print_vector(w, N);
    print_vector(z, N);
}

/* w = Aᵀ (A x). */
static inline void start_normal_vector(void) { start_vectors(); }
static inline void run_normal_vector(void) {
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++)
            sum += a[i][j] * x[j];
        for (int j = 0; j < N; j++)
            w[j] += a[i][j] * sum;
    }
}
static inline void print_normal_vector(void) { print_vector(w, N); }

MAIN
