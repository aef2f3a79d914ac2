/* Stencils and recursions over grids and tables of constant extents, from their definitions; see
   kernels.h. */
#include "kernels.h"

enum { STEPS = 4 };

VECTOR(line, N *N);
VECTOR(next, N *N);
MATRIX(a, N, N);
MATRIX(b, N, N);
MATRIX(p, N, N);
MATRIX(q, N, N);
CUBE(u, N);
CUBE(v, N);

/* Jacobi's iteration on a line of N² points. */
static inline void start_jacobi_1d(void) {
    MAKE_VECTOR(line, N * N);
    MAKE_VECTOR(next, N * N);
    for (int i = 0; i < N * N; i++) {
        line[i] = (double)(i + 2) / N;
        next[i] = (double)(i + 3) / N;
    }
}
static inline void run_jacobi_1d(void) {
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N * N - 1; i++)
            next[i] = 0.33333 * (line[i - 1] + line[i] + line[i + 1]);
        for (int i = 1; i < N * N - 1; i++)
            line[i] = 0.33333 * (next[i - 1] + next[i] + next[i + 1]);
    }
}
static inline void print_jacobi_1d(void) { print_vector(line, N * N); }

static inline void start_plane(void) {
    MAKE_MATRIX(a, N, N);
    MAKE_MATRIX(b, N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (double)i * (j + 2) / N;
            b[i][j] = (double)i * (j + 3) / N;
        }
}

static inline void start_jacobi_2d(void) { start_plane(); }
static inline void run_jacobi_2d(void) {
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i + 1][j] + b[i - 1][j]);
    }
}
static inline void print_jacobi_2d(void) { print_matrix(a); }

/* Gauss and Seidel's: each point from its nine, as they are by now. */
static inline void start_seidel_2d(void) { start_plane(); }
static inline void run_seidel_2d(void) {
    for (int t = 0; t < STEPS; t++)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] +
                           a[i][j + 1] + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) /
                          9;
}
static inline void print_seidel_2d(void) { print_matrix(a); }

/* Alternating directions: tridiagonal systems along columns, then along rows. */
static inline void start_directions(void) {
    start_plane();
    MAKE_MATRIX(p, N, N);
    MAKE_MATRIX(q, N, N);
}
static inline void run_directions(void) {
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++) {
            b[0][i] = 1;
            p[i][0] = 0;
            q[i][0] = b[0][i];
            for (int j = 1; j < N - 1; j++) {
                p[i][j] = -0.3 / (0.3 * p[i][j - 1] - 1.6);
                q[i][j] =
                    (0.2 * a[j][i - 1] + 0.6 * a[j][i] + 0.2 * a[j][i + 1] + 0.3 * q[i][j - 1]) /
                    (1.6 - 0.3 * p[i][j - 1]);
            }
            b[N - 1][i] = 1;
            for (int j = N - 2; j >= 1; j--)
                b[j][i] = p[i][j] * b[j + 1][i] + q[i][j];
        }
        for (int i = 1; i < N - 1; i++) {
            a[i][0] = 1;
            p[i][0] = 0;
            q[i][0] = a[i][0];
            for (int j = 1; j < N - 1; j++) {
                p[i][j] = -0.3 / (0.3 * p[i][j - 1] - 1.6);
                q[i][j] =
                    (0.2 * b[i - 1][j] + 0.6 * b[i][j] + 0.2 * b[i + 1][j] + 0.3 * q[i][j - 1]) /
                    (1.6 - 0.3 * p[i][j - 1]);
            }
            a[i][N - 1] = 1;
            for (int j = N - 2; j >= 1; j--)
                a[i][j] = p[i][j] * a[i][j + 1] + q[i][j];
        }
    }
}
static inline void print_directions(void) { print_matrix(a); }

/* Waves on a staggered grid: two components of one field, one of the other. */
static inline void start_waves(void) {
    start_plane();
    MAKE_MATRIX(p, N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            p[i][j] = (double)i * (j + 1) / N;
}
static inline void run_waves(void) {
    for (int t = 0; t < STEPS; t++) {
        for (int j = 0; j < N; j++)
            a[0][j] = t;
        for (int i = 1; i < N; i++)
            for (int j = 0; j < N; j++)
                a[i][j] -= 0.5 * (p[i][j] - p[i - 1][j]);
        for (int i = 0; i < N; i++)
            for (int j = 1; j < N; j++)
                b[i][j] -= 0.5 * (p[i][j] - p[i][j - 1]);
        for (int i = 0; i < N - 1; i++)
            for (int j = 0; j < N - 1; j++)
                p[i][j] -= 0.7 * (b[i][j + 1] - b[i][j] + a[i + 1][j] - a[i][j]);
    }
}
static inline void print_waves(void) {
    print_matrix(a);
    print_matrix(p);
}

/* Heat in a cube. */
static inline void start_heat_3d(void) {
    MAKE_CUBE(u, N);
    MAKE_CUBE(v, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                u[i][j][k] = v[i][j][k] = (double)(i + j + (N - k)) * 10 / N;
}
static inline void heat_step(double (*to)[N][N], double (*from)[N][N]) {
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            for (int k = 1; k < N - 1; k++)
                to[i][j][k] = 0.25 * from[i][j][k] +
                              0.125 * (from[i + 1][j][k] + from[i - 1][j][k] + from[i][j + 1][k] +
                                       from[i][j - 1][k] + from[i][j][k + 1] + from[i][j][k - 1]);
}
static inline void run_heat_3d(void) {
    for (int t = 0; t < STEPS / 2; t++) {
        heat_step(v, u);
        heat_step(u, v);
    }
}
static inline void print_heat_3d(void) {
    for (int i = 0; i < N; i++)
        print_matrix(u[i]);
}

/* ---- dynamic programming --------------------------------------------------------------------- */

/* Floyd and Warshall's shortest paths. */
static inline void start_paths(void) {
    MAKE_MATRIX(a, N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (i + j) % 13 == 0 || (i + j) % 7 == 0 ? 999 : i * j % 7 + 1;
}
static inline void run_paths(void) {
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                a[i][j] = a[i][j] < a[i][k] + a[k][j] ? a[i][j] : a[i][k] + a[k][j];
}
static inline void print_paths(void) { print_matrix(a); }

/* The most pairs of a sequence that do not cross, by Nussinov. */
static int sequence[N];
static inline void start_pairs(void) {
    MAKE_MATRIX(a, N, N);
    for (int i = 0; i < N; i++)
        sequence[i] = (i + 1) % 4;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = 0;
}
static inline double more(double x, double y) { return x > y ? x : y; }
static inline void run_pairs(void) {
    for (int i = N - 2; i >= 0; i--)
        for (int j = i + 1; j < N; j++) {
            double most = more(a[i][j - 1], a[i + 1][j]);
            if (i < j - 1)
                most = more(most, a[i + 1][j - 1] + (sequence[i] + sequence[j] == 3));
            for (int k = i + 1; k < j; k++)
                most = more(most, a[i][k] + a[k + 1][j]);
            a[i][j] = most;
        }
}
static inline void print_pairs(void) { print_matrix(a); }

/* The longest common subsequence of two sequences. */
static int other[N];
static inline void start_subsequence(void) {
    MAKE_MATRIX(a, N, N);
    for (int i = 0; i < N; i++) {
        sequence[i] = i * 7 % 11;
        other[i] = i * 5 % 13;
        a[i][0] = a[0][i] = 0;
    }
}
static inline void run_subsequence(void) {
    for (int i = 1; i < N; i++)
        for (int j = 1; j < N; j++)
            a[i][j] =
                sequence[i] == other[j] ? a[i - 1][j - 1] + 1 : more(a[i - 1][j], a[i][j - 1]);
}
static inline void print_subsequence(void) { print_matrix(a); }

MAIN
