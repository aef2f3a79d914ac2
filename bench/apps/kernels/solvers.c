/* Solvers and factorisations of dense matrices of constant extents, from their definitions; see
   kernels.h. */
#include "kernels.h"

MATRIX(a, N, N);
MATRIX(b, N, N);
MATRIX(r, N, N);
VECTOR(x, N);
VECTOR(y, N);
VECTOR(z, N);

/* Symmetric, and positive definite because its diagonal dominates. */
static inline void start_matrix(void) {
    MAKE_MATRIX(a, N, N);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++)
            a[i][j] = (double)(-j % 5) / N + 0.5 / N;
        for (int j = i + 1; j < N; j++)
            a[i][j] = 0;
        a[i][i] = 4;
    }
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++)
            a[i][j] = a[j][i];
}

/* L x = y, L the lower half of A. */
static inline void start_triangular_solve(void) {
    start_matrix();
    MAKE_VECTOR(x, N);
    MAKE_VECTOR(y, N);
    for (int i = 0; i < N; i++)
        y[i] = 1 + (double)i / N;
}
static inline void run_triangular_solve(void) {
    for (int i = 0; i < N; i++) {
        x[i] = y[i];
        for (int j = 0; j < i; j++)
            x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
}
static inline void print_triangular_solve(void) { print_vector(x, N); }

/* L X = B for N right sides at once. */
static inline void start_triangular_solves(void) {
    start_matrix();
    MAKE_MATRIX(b, N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[i][j] = (double)(i * j % 11) / N;
}
static inline void run_triangular_solves(void) {
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < i; k++)
            for (int j = 0; j < N; j++)
                b[i][j] -= a[i][k] * b[k][j];
        for (int j = 0; j < N; j++)
            b[i][j] /= a[i][i];
    }
}
static inline void print_triangular_solves(void) { print_matrix(b); }

/* A = L Lᵀ. */
static inline void start_cholesky(void) { start_matrix(); }
static inline void run_cholesky(void) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
        for (int k = 0; k < i; k++)
            a[i][i] -= a[i][k] * a[i][k];
        a[i][i] = sqrt(a[i][i]);
    }
}
static inline void print_cholesky(void) { print_matrix(a); }

/* A = L U, column by column of L and row by row of U. */
static inline void start_lu(void) { start_matrix(); }
static inline void run_lu(void) {
    for (int k = 0; k < N; k++) {
        for (int i = k + 1; i < N; i++)
            a[i][k] /= a[k][k];
        for (int i = k + 1; i < N; i++)
            for (int j = k + 1; j < N; j++)
                a[i][j] -= a[i][k] * a[k][j];
    }
}
static inline void print_lu(void) { print_matrix(a); }

/* A x = y by A = L U, each element by its inner product. */
static inline void start_lu_solve(void) {
    start_triangular_solve();
    MAKE_VECTOR(z, N);
}
static inline void run_lu_solve(void) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[k][j];
            a[i][j] = sum / a[j][j];
        }
        for (int j = i; j < N; j++) {
            double sum = a[i][j];
            for (int k = 0; k < i; k++)
                sum -= a[i][k] * a[k][j];
            a[i][j] = sum;
        }
    }
    for (int i = 0; i < N; i++) {
        double sum = y[i];
        for (int j = 0; j < i; j++)
            sum -= a[i][j] * z[j];
        z[i] = sum;
    }
    for (int i = N - 1; i >= 0; i--) {
        double sum = z[i];
        for (int j = i + 1; j < N; j++)
            sum -= a[i][j] * x[j];
        x[i] = sum / a[i][i];
    }
}
static inline void print_lu_solve(void) { print_vector(x, N); }

/* A = Q R by Gram and Schmidt; Q in B. */
static inline void start_gram_schmidt(void) {
    start_matrix();
    MAKE_MATRIX(b, N, N);
    MAKE_MATRIX(r, N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[i][j] = r[i][j] = 0;
}
static inline void run_gram_schmidt(void) {
    for (int k = 0; k < N; k++) {
        double square = 0;
        for (int i = 0; i < N; i++)
            square += a[i][k] * a[i][k];
        r[k][k] = sqrt(square);
        for (int i = 0; i < N; i++)
            b[i][k] = a[i][k] / r[k][k];
        for (int j = k + 1; j < N; j++) {
            r[k][j] = 0;
            for (int i = 0; i < N; i++)
                r[k][j] += b[i][k] * a[i][j];
            for (int i = 0; i < N; i++)
                a[i][j] -= b[i][k] * r[k][j];
        }
    }
}
static inline void print_gram_schmidt(void) {
    print_matrix(r);
    print_matrix(b);
}

/* Durbin's recursion: the solution of a Toeplitz system, x its right side, y its solution. */
static inline void start_durbin(void) {
    MAKE_VECTOR(x, N);
    MAKE_VECTOR(y, N);
    MAKE_VECTOR(z, N);
    for (int i = 0; i < N; i++)
        x[i] = 1.0 / (2 * N + i);
}
static inline void run_durbin(void) {
    double alpha = -x[0], beta = 1;
    y[0] = -x[0];
    for (int k = 1; k < N; k++) {
        beta *= 1 - alpha * alpha;
        double sum = 0;
        for (int i = 0; i < k; i++)
            sum += x[k - i - 1] * y[i];
        alpha = -(x[k] + sum) / beta;
        for (int i = 0; i < k; i++)
            z[i] = y[i] + alpha * y[k - i - 1];
        for (int i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = alpha;
    }
}
static inline void print_durbin(void) { print_vector(y, N); }

/* ---- statistics of N variables in N observations --------------------------------------------- */

static inline void start_data(void) {
    MAKE_MATRIX(a, N, N);
    MAKE_MATRIX(b, N, N);
    MAKE_VECTOR(x, N);
    MAKE_VECTOR(y, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (double)(i * j % 13) / N + (double)i / N;
}
static inline void centre(void) {
    for (int j = 0; j < N; j++) {
        x[j] = 0;
        for (int i = 0; i < N; i++)
            x[j] += a[i][j];
        x[j] /= N;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] -= x[j];
}

static inline void start_covariance(void) { start_data(); }
static inline void run_covariance(void) {
    centre();
    for (int i = 0; i < N; i++)
        for (int j = i; j < N; j++) {
            b[i][j] = 0;
            for (int k = 0; k < N; k++)
                b[i][j] += a[k][i] * a[k][j];
            b[i][j] /= N - 1;
            b[j][i] = b[i][j];
        }
}
static inline void print_covariance(void) { print_matrix(b); }

static inline void start_correlation(void) { start_data(); }
static inline void run_correlation(void) {
    centre();
    for (int j = 0; j < N; j++) {
        y[j] = 0;
        for (int i = 0; i < N; i++)
            y[j] += a[i][j] * a[i][j];
        y[j] = sqrt(y[j]) + 1e-9;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] /= y[j];
    for (int i = 0; i < N; i++) {
        b[i][i] = 1;
        for (int j = i + 1; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[k][i] * a[k][j];
            b[i][j] = b[j][i] = sum;
        }
    }
}
static inline void print_correlation(void) { print_matrix(b); }

MAIN
