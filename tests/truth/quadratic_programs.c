/* Writes quadratic programs with the solver's answers as text, for quadratic_programs.m to check.

       quadratic_programs random COUNT     problems of many kinds, from a fixed seed
       quadratic_programs fit              those that fits of noisy series solve, recorded

   Linked with --wrap=pm_qp_solve and --wrap=pm_qp_nearest, so that the recorded ones are what fit/
   hands over. A line for each problem: n, m, 1 if it was solved and 0 if it has no solution, then
   H, g, A, b and, if solved, x; matrices row by row. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/algebra/algebra.h"
#include "fit/series/series.h"
#include "tests/unit/uniform.h"

enum { MOST_VARIABLES = 8, MOST_CONSTRAINTS = 72, N_KINDS = 8 };

enum pm_qp_result __real_pm_qp_solve(size_t n, const double *h, const double *g, size_t m,
                                     const double *a, const double *b, double *x,
                                     double *multipliers);
enum pm_qp_result __wrap_pm_qp_solve(size_t n, const double *h, const double *g, size_t m,
                                     const double *a, const double *b, double *x,
                                     double *multipliers);
enum pm_qp_result __real_pm_qp_nearest(size_t n, size_t m, double *normals, double *x);
enum pm_qp_result __wrap_pm_qp_nearest(size_t n, size_t m, double *normals, double *x);

static void print_numbers(size_t n, const double *values) {
    for (size_t i = 0; i < n; i++)
        printf(" %.17g", values[i]);
}

static void write_problem(size_t n, const double *h, const double *g, size_t m, const double *a,
                          const double *b, enum pm_qp_result result, const double *x) {
    if (result != PM_QP_SOLVED && result != PM_QP_INFEASIBLE) {
        fprintf(stderr, "a problem of %zu variables and %zu constraints has no answer (%d)\n", n, m,
                (int)result);
        exit(1);
    }
    printf("%zu %zu %d", n, m, result == PM_QP_SOLVED);
    print_numbers(n * n, h);
    print_numbers(n, g);
    print_numbers(m * n, a);
    print_numbers(m, b);
    if (result == PM_QP_SOLVED)
        print_numbers(n, x);
    putchar('\n');
}

enum pm_qp_result __wrap_pm_qp_solve(size_t n, const double *h, const double *g, size_t m,
                                     const double *a, const double *b, double *x,
                                     double *multipliers) {
    enum pm_qp_result result = __real_pm_qp_solve(n, h, g, m, a, b, x, multipliers);
    write_problem(n, h, g, m, a, b, result, x);
    return result;
}

/* The nearest point is the problem with H = 1, g = −x and b = 0; a normal of zeros is left out. */
enum pm_qp_result __wrap_pm_qp_nearest(size_t n, size_t m, double *normals, double *x) {
    double h[MOST_VARIABLES * MOST_VARIABLES] = {0}, from[MOST_VARIABLES];
    double a[MOST_CONSTRAINTS * MOST_VARIABLES], b[MOST_CONSTRAINTS] = {0};
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        h[i * n + i] = 1;
        from[i] = -x[i];
    }
    for (size_t c = 0; c < m; c++) {
        double length = 0;
        for (size_t i = 0; i < n; i++) {
            a[kept * n + i] = normals[i * m + c];
            length += fabs(normals[i * m + c]);
        }
        kept += length > 0;
    }
    enum pm_qp_result result = __real_pm_qp_nearest(n, m, normals, x);
    write_problem(n, h, from, kept, a, b, result, x);
    return result;
}

/* ---- random problems ------------------------------------------------------------------------ */

struct problem {
    size_t n, m;
    double h[MOST_VARIABLES * MOST_VARIABLES], g[MOST_VARIABLES];
    double a[MOST_CONSTRAINTS * MOST_VARIABLES], b[MOST_CONSTRAINTS];
};

/* H = R Rᵀ where the columns of R shrink from 1 to SMALLEST, a little more on the diagonal. */
static void fill_h(struct problem *p, double smallest, double scale) {
    double root[MOST_VARIABLES * MOST_VARIABLES];
    size_t n = p->n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            root[i * n + k] = uniform(-1, 1) * pow(smallest, n > 1 ? (double)k / (n - 1.0) : 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = i == j ? 1e-3 * smallest * smallest : 0;
            for (size_t k = 0; k < n; k++)
                sum += root[i * n + k] * root[j * n + k];
            p->h[i * n + j] = scale * sum;
        }
}

static void fill_constraint(struct problem *p, size_t c, double least_slack, double most_slack) {
    for (size_t i = 0; i < p->n; i++)
        p->a[c * p->n + i] = uniform(-1, 1);
    p->b[c] = -uniform(least_slack, most_slack); /* the origin has this slack */
}

static void copy_constraint(struct problem *p, size_t from, size_t to, double factor) {
    for (size_t i = 0; i < p->n; i++)
        p->a[to * p->n + i] = factor * p->a[from * p->n + i];
    p->b[to] = factor * p->b[from];
}

/* The slopes of powers of x, on a grid: what keeps a fit monotone. */
static void fill_like_a_shape(struct problem *p) {
    for (size_t c = 0; c < p->m; c++) {
        double x = pow(8, (double)c / (double)p->m - 0.5);
        for (size_t i = 0; i < p->n; i++)
            p->a[c * p->n + i] = (double)i * pow(x, (double)i) + (i == 0 ? uniform(-0.1, 0.1) : 0);
        p->b[c] = 0;
    }
}

static void make_problem(struct problem *p, int kind) {
    double scale = kind == 5 ? pow(10, uniform(-6, 6)) : 1;
    p->n = 1 + (size_t)uniform(0, MOST_VARIABLES - 0.001);
    p->m = (size_t)uniform(0, kind == 6 ? MOST_CONSTRAINTS : 20);
    fill_h(p, kind == 1 ? 1e-4 : kind == 7 ? 1e-2 : 0.5, scale);
    for (size_t i = 0; i < p->n; i++)
        p->g[i] = scale * uniform(-3, 3);
    for (size_t c = 0; c < p->m; c++)
        fill_constraint(p, c, kind == 3 ? 0 : kind == 7 ? -0.3 : 0, kind == 3 ? 0 : 1);
    size_t half = p->m / 2;
    for (size_t c = half; kind == 2 && half && c < p->m; c++) /* redundant */
        copy_constraint(p, c - half < half ? c - half : 0, c, pow(10, uniform(-2, 2)));
    for (size_t c = half; kind == 4 && half && c < p->m; c++) { /* some exclude each other */
        copy_constraint(p, c - half < half ? c - half : 0, c, -1);
        p->b[c] += c == half ? uniform(0.1, 1) : -uniform(0, 1);
    }
    if (kind == 6)
        fill_like_a_shape(p);
}

static void write_random(long count) {
    static struct problem p;
    double x[PM_QP_MAX_VARIABLES];
    for (long i = 0; i < count; i++) {
        make_problem(&p, (int)(i % N_KINDS));
        __wrap_pm_qp_solve(p.n, p.h, p.g, p.m, p.a, p.b, x, NULL);
    }
}

/* ---- fits ----------------------------------------------------------------------------------- */

/* Series that grow, fall and bend, with noise, over several designs: their fits break shapes. */
static void write_fits(void) {
    static const double sizes[] = {16, 24, 32, 48, 64, 96, 128, 192};
    static const char *const bases[][5] = {{"1", "N", "N^2", "N^3", "N^4"},
                                           {"1", "N", "N*log2(N)", "N^2", "sqrt(N)"}};
    for (int d = 0; d < 4; d++) {
        struct pm_basis *basis = pm_basis_new(5, bases[d % 2], NULL);
        size_t n = d < 2 ? 6 : 8;
        struct pm_design *design = pm_design_new(basis, "N", sizes, n, NULL);
        struct pm_series_workspace *workspace = pm_series_workspace_new(design);
        for (int i = 0; i < 300; i++) {
            double y[8], power = uniform(-0.5, 3), noise = pow(10, uniform(-3, -0.7));
            for (size_t k = 0; k < n; k++)
                y[k] = 1000 * pow(sizes[k] / 16, power) * (1 + uniform(-noise, noise));
            struct pm_model model;
            pm_series_fit(workspace, y, i % 3 ? PM_SERIES_COUNT : PM_SERIES_DISTANCE, &model);
        }
        pm_series_workspace_free(workspace);
        pm_design_free(design);
        pm_basis_free(basis);
    }
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "random") == 0)
        write_random(atol(argv[2]));
    else if (argc == 2 && strcmp(argv[1], "fit") == 0)
        write_fits();
    else
        return 2;
    return 0;
}
