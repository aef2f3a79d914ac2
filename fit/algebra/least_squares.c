/* Weighted linear least squares; see least_squares.h. */
#include "fit/algebra/least_squares.h"

#include <math.h>

#define DEPENDENT 1e-22 /* square of a column's length by which it depends on others */

PM_VECTOR_CLONES bool pm_orthonormalise(struct pm_least_squares *p, size_t k) {
    for (size_t j = 0; j < k; j++) {
        double *column = p->columns + j * p->stride;
        double before = pm_vector_dot(p->n, column, column);
        for (size_t l = 0; l < j; l++)
            p->triangle[l][j] = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t l = 0; l < j; l++) {
                const double *other = p->columns + l * p->stride;
                double part = pm_vector_dot(p->n, other, column);
                p->triangle[l][j] += part;
                pm_vector_add(p->n, column, -part, other, column);
            }
        double after = pm_vector_dot(p->n, column, column);
        if (!(after > DEPENDENT * before))
            return false;
        p->triangle[j][j] = sqrt(after);
        double inverse = 1 / p->triangle[j][j];
        for (size_t i = 0; i < p->n; i += PM_VECTOR_WIDTH)
            PM_VECTOR_AT(column, i) *= inverse;
    }
    return true;
}

void pm_project(const struct pm_least_squares *p, size_t k, const double *target,
                double *coordinates) {
    for (size_t j = 0; j < k; j++)
        coordinates[j] = pm_vector_dot(p->n, p->columns + j * p->stride, target);
}

void pm_back_substitute(const struct pm_least_squares *p, size_t k, const double *right,
                        double *x) {
    for (size_t j = k; j-- > 0;) {
        double sum = right[j];
        for (size_t l = j + 1; l < k; l++)
            sum -= p->triangle[j][l] * x[l];
        x[j] = sum / p->triangle[j][j];
    }
}

void pm_forward_substitute(const struct pm_least_squares *p, size_t k, const double *right,
                           double *x) {
    for (size_t j = 0; j < k; j++) {
        double sum = right[j];
        for (size_t l = 0; l < j; l++)
            sum -= p->triangle[l][j] * x[l];
        x[j] = sum / p->triangle[j][j];
    }
}
