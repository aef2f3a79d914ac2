/* The quadratic program's solver: random problems must satisfy the optimality conditions of Karush,
   Kuhn and Tucker, and agree with an exhaustive search over all active sets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_linalg.h>

#include "fit/algebra/algebra.h"
#include "tests/unit/uniform.h"

struct problem {
    size_t n, m;
    double h[36], g[6], a[60], b[10];
};

/* H = M Mᵀ + small diagonal, of any scale; some constraints exclude the unconstrained minimum. */
static struct problem random_problem(size_t n, size_t m, bool feasible_origin) {
    struct problem p = {.n = n, .m = m};
    double root[36] = {0}, scale = pow(10, uniform(-4, 4));
    for (size_t i = 0; i < n * n; i++)
        root[i] = uniform(-1, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            for (size_t k = 0; k < n; k++)
                p.h[i * n + j] += scale * root[i * n + k] * root[j * n + k];
            p.h[i * n + j] += i == j ? 1e-3 * scale : 0;
        }
    for (size_t i = 0; i < n; i++)
        p.g[i] = scale * uniform(-3, 3);
    for (size_t i = 0; i < n * m; i++)
        p.a[i] = uniform(-1, 1);
    for (size_t i = 0; i < m; i++)
        p.b[i] = feasible_origin ? uniform(-1, 0) : uniform(-1, 0.5);
    return p;
}

static double objective(const struct problem *p, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j < p->n; j++)
            sum += 0.5 * x[i] * p->h[i * p->n + j] * x[j];
        sum += p->g[i] * x[i];
    }
    return sum;
}

static double slack(const struct problem *p, size_t c, const double *x) {
    double sum = -p->b[c];
    for (size_t i = 0; i < p->n; i++)
        sum += p->a[c * p->n + i] * x[i];
    return sum;
}

static void expect_optimal(const struct problem *p, const double *x, const double *multipliers) {
    double size = 0;
    for (size_t i = 0; i < p->n; i++)
        size += fabs(p->g[i]);
    for (size_t i = 0; i < p->n; i++) {
        double gradient = p->g[i], scale = size;
        for (size_t j = 0; j < p->n; j++) {
            gradient += p->h[i * p->n + j] * x[j];
            scale += fabs(p->h[i * p->n + j] * x[j]);
        }
        for (size_t c = 0; c < p->m; c++)
            gradient -= multipliers[c] * p->a[c * p->n + i];
        assert_true(fabs(gradient) <= 1e-9 * scale);
    }
    for (size_t c = 0; c < p->m; c++) {
        assert_true(multipliers[c] >= 0);
        assert_true(slack(p, c, x) >= -1e-8);
        assert_true(multipliers[c] * slack(p, c, x) <= 1e-7 * size);
    }
}

/* Least objective over all active sets, by solving the equality-constrained problem of each. */
static bool exhaustive(const struct problem *p, double *best) {
    *best = INFINITY;
    for (unsigned set = 0; set < 1u << p->m; set++) {
        size_t k = (size_t)__builtin_popcount(set), size = p->n + k, row = p->n;
        if (k > p->n)
            continue;
        gsl_matrix *matrix = gsl_matrix_calloc(size, size);
        gsl_vector *right = gsl_vector_calloc(size), *x = gsl_vector_calloc(size);
        gsl_permutation *permutation = gsl_permutation_alloc(size);
        for (size_t i = 0; i < p->n; i++) {
            for (size_t j = 0; j < p->n; j++)
                gsl_matrix_set(matrix, i, j, p->h[i * p->n + j]);
            gsl_vector_set(right, i, -p->g[i]);
        }
        for (size_t c = 0; c < p->m; c++)
            if (set >> c & 1) {
                for (size_t i = 0; i < p->n; i++) {
                    gsl_matrix_set(matrix, row, i, p->a[c * p->n + i]);
                    gsl_matrix_set(matrix, i, row, p->a[c * p->n + i]);
                }
                gsl_vector_set(right, row++, p->b[c]);
            }
        int sign;
        gsl_linalg_LU_decomp(matrix, permutation, &sign);
        if (gsl_linalg_LU_lndet(matrix) > -60) {
            gsl_linalg_LU_solve(matrix, permutation, right, x);
            bool feasible = true;
            for (size_t c = 0; c < p->m; c++)
                feasible &= slack(p, c, x->data) >= -1e-9;
            if (feasible && objective(p, x->data) < *best)
                *best = objective(p, x->data);
        }
        gsl_permutation_free(permutation);
        gsl_vector_free(x);
        gsl_vector_free(right);
        gsl_matrix_free(matrix);
    }
    return isfinite(*best);
}

static void random_problems_agree_with_exhaustive_search(void **state) {
    (void)state;
    unsigned n_infeasible = 0, n_constrained = 0;
    for (int i = 0; i < 400; i++) {
        struct problem p =
            random_problem(1 + (size_t)uniform(0, 4), (size_t)uniform(0, 8), i % 4 != 0);
        double x[6], multipliers[10], best;
        enum pm_qp_result result = pm_qp_solve(p.n, p.h, p.g, p.m, p.a, p.b, x, multipliers);
        bool feasible = exhaustive(&p, &best);
        assert_int_equal(result, feasible ? PM_QP_SOLVED : PM_QP_INFEASIBLE);
        n_infeasible += !feasible;
        if (!feasible)
            continue;
        expect_optimal(&p, x, multipliers);
        assert_true(fabs(objective(&p, x) - best) <= 1e-8 * (1e-12 + fabs(best)));
        for (size_t c = 0; c < p.m; c++)
            n_constrained += multipliers[c] > 0;
    }
    assert_true(n_infeasible > 0); /* else the comparison has no teeth */
    assert_true(n_constrained > 100);
}

static void many_larger_problems_satisfy_the_optimality_conditions(void **state) {
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct problem p = random_problem(6, 10, true);
        double x[6], multipliers[10];
        assert_int_equal(pm_qp_solve(p.n, p.h, p.g, p.m, p.a, p.b, x, multipliers), PM_QP_SOLVED);
        expect_optimal(&p, x, multipliers);
    }
}

/* Constraints that all hold in the origin, as those on shape do, have a solution whatever else they
   exclude: most of these have no other. */
static void a_cone_always_has_its_tip(void **state) {
    (void)state;
    unsigned n_tips = 0;
    for (int i = 0; i < 20000; i++) {
        struct problem p = random_problem(1 + (size_t)(i % 6), 10, true);
        double x[6], multipliers[10], length = 0, free_length = 0, none[6];
        memset(p.b, 0, sizeof p.b);
        assert_int_equal(pm_qp_solve(p.n, p.h, p.g, 0, p.a, p.b, none, NULL), PM_QP_SOLVED);
        assert_int_equal(pm_qp_solve(p.n, p.h, p.g, p.m, p.a, p.b, x, multipliers), PM_QP_SOLVED);
        expect_optimal(&p, x, multipliers);
        for (size_t k = 0; k < p.n; k++) {
            length += x[k] * x[k];
            free_length += none[k] * none[k];
        }
        n_tips += length < 1e-24 * free_length;
    }
    assert_true(n_tips > 1000);
}

static void parallel_and_repeated_constraints_do_no_harm(void **state) {
    (void)state;
    double h[] = {2, 0, 0, 2}, g[] = {0, 0}, x[2], multipliers[5];
    double a[] = {1, 1, 1, 1, 2, 2, -1, -1, 0, 0}, b[] = {1, 1, 2, -1, 0};
    assert_int_equal(pm_qp_solve(2, h, g, 5, a, b, x, multipliers), PM_QP_SOLVED);
    assert_true(fabs(x[0] - 0.5) < 1e-12 && fabs(x[1] - 0.5) < 1e-12);
    b[3] = -0.5; /* x+y ≤ 0.5 and ≥ 1 */
    assert_int_equal(pm_qp_solve(2, h, g, 5, a, b, x, NULL), PM_QP_INFEASIBLE);
    h[3] = -1;
    assert_int_equal(pm_qp_solve(2, h, g, 5, a, b, x, NULL), PM_QP_NOT_CONVEX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems_agree_with_exhaustive_search),
        cmocka_unit_test(many_larger_problems_satisfy_the_optimality_conditions),
        cmocka_unit_test(a_cone_always_has_its_tip),
        cmocka_unit_test(parallel_and_repeated_constraints_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
