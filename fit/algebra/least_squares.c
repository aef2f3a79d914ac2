/* Weighted linear least squares; see least_squares.h. */
#include "fit/algebra/least_squares.h"

#include <math.h>

enum { MAX = PM_LEAST_SQUARES_MAX };

bool pm_orthonormalise(size_t n, size_t k, double (*columns)[MAX], double triangle[MAX][MAX]) {
    for (size_t j = 0; j < k; j++) {
        double before = 0, after = 0;
        for (size_t i = 0; i < n; i++)
            before += columns[i][j] * columns[i][j];
        for (size_t l = 0; l < j; l++)
            triangle[l][j] = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t l = 0; l < j; l++) {
                double part = 0;
                for (size_t i = 0; i < n; i++)
                    part += columns[i][l] * columns[i][j];
                triangle[l][j] += part;
                for (size_t i = 0; i < n; i++)
                    columns[i][j] -= part * columns[i][l];
            }
        for (size_t i = 0; i < n; i++)
            after += columns[i][j] * columns[i][j];
        if (!(after > 1e-22 * before))
            return false;
        triangle[j][j] = sqrt(after);
        for (size_t i = 0; i < n; i++)
            columns[i][j] /= triangle[j][j];
    }
    return true;
}

void pm_back_substitute(size_t k, double triangle[MAX][MAX], const double *right, double *x) {
    for (size_t j = k; j-- > 0;) {
        double sum = right[j];
        for (size_t l = j + 1; l < k; l++)
            sum -= triangle[j][l] * x[l];
        x[j] = sum / triangle[j][j];
    }
}

void pm_forward_substitute(size_t k, double triangle[MAX][MAX], const double *right, double *x) {
    for (size_t j = 0; j < k; j++) {
        double sum = right[j];
        for (size_t l = 0; l < j; l++)
            sum -= triangle[l][j] * x[l];
        x[j] = sum / triangle[j][j];
    }
}

void pm_rotate(size_t n, size_t k, double (*columns)[MAX], const double *y, const double *weight,
               double *rotated) {
    for (size_t j = 0; j < k; j++) {
        rotated[j] = 0;
        for (size_t i = 0; i < n; i++)
            rotated[j] += columns[i][j] * y[i] * weight[i];
    }
}

double pm_residual(size_t k, const double *column, double weighted_y, const double *rotated,
                   double *redundancy) {
    double residual = weighted_y, leverage = 0;
    for (size_t j = 0; j < k; j++) {
        residual -= column[j] * rotated[j];
        leverage += column[j] * column[j];
    }
    *redundancy = 1 - leverage;
    return residual;
}
