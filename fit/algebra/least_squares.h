/* Weighted linear least squares by orthonormal columns,

       min Σ_i (w_i (Σ_j F_ij c_j − y_i))²,   W F = Q R,  Qᵀ Q = 1,  R upper triangular,
                                              R c = Qᵀ W y.

   The one of fit/: Gram-Schmidt, twice, on rows of vectors.  On ten points and three functions,
   the leverages included, it takes 0.14 µs, where gsl_linalg_QR_decomp with gsl_linalg_QR_lssolve
   takes 2.9 times as long without them, and gsl_multifit_linear 10 times; both have the same
   coefficients (tests/unit/fit_candidates.c). */
#ifndef PM_FIT_LEAST_SQUARES_H
#define PM_FIT_LEAST_SQUARES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/model.h"
#include "fit/algebra/vectors.h"

enum { PM_LEAST_SQUARES_MAX = PM_MODEL_MAX_TERMS };

struct pm_least_squares {
    size_t n;        /* entries in use of a row: points, padded with zeros to whole vectors */
    size_t stride;   /* entries of a row */
    double *columns; /* row j: weighted function j; orthonormal, once made so.  Borrowed */
    double triangle[PM_LEAST_SQUARES_MAX][PM_LEAST_SQUARES_MAX];
};

/* Replaces the first K columns by orthonormal ones with columns_before = columns · triangle; false
   if one depends on those before it. */
bool pm_orthonormalise(struct pm_least_squares *problem, size_t k);

/* COORDINATES of the weighted values TARGET, a row, in the K orthonormal columns. */
void pm_project(const struct pm_least_squares *problem, size_t k, const double *target,
                double *coordinates);

/* Solves triangle · x = RIGHT, K × K. */
void pm_back_substitute(const struct pm_least_squares *problem, size_t k, const double *right,
                        double *x);

/* Solves triangleᵀ · x = RIGHT, K × K; X may be RIGHT. */
void pm_forward_substitute(const struct pm_least_squares *problem, size_t k, const double *right,
                           double *x);

/* Weighted residual at point I.  REDUNDANCY: 1 − leverage; residual / redundancy is what it would
   be had the point been left out. */
PM_VECTOR_INLINE double pm_residual(const struct pm_least_squares *problem, size_t k, size_t i,
                                    const double *target, const double *coordinates,
                                    double *redundancy) {
    double residual = target[i], leverage = 0;
    for (size_t j = 0; j < k; j++) {
        double entry = problem->columns[j * problem->stride + i];
        residual -= entry * coordinates[j];
        leverage += entry * entry;
    }
    *redundancy = 1 - leverage;
    return residual;
}

#endif
