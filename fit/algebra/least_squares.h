/* Weighted linear least squares by orthonormal columns,

       min Σ_i (w_i (Σ_j F_ij c_j − y_i))²,   W F = Q R,  Qᵀ Q = 1,  R upper triangular,  R c = Qᵀ W
   y.

   A matrix of N points and K functions is N rows of PM_LEAST_SQUARES_MAX entries. */
#ifndef PM_FIT_LEAST_SQUARES_H
#define PM_FIT_LEAST_SQUARES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/model.h"

enum { PM_LEAST_SQUARES_MAX = PM_MODEL_MAX_TERMS };

/* Replaces the N × K weighted COLUMNS by orthonormal ones with columns_before = columns ·
   triangle (Gram-Schmidt, twice); false if one depends on those before it. */
bool pm_orthonormalise(size_t n, size_t k, double (*columns)[PM_LEAST_SQUARES_MAX],
                       double triangle[PM_LEAST_SQUARES_MAX][PM_LEAST_SQUARES_MAX]);

/* Solves triangle · x = RIGHT, K × K. */
void pm_back_substitute(size_t k, double triangle[PM_LEAST_SQUARES_MAX][PM_LEAST_SQUARES_MAX],
                        const double *right, double *x);

/* Solves triangleᵀ · x = RIGHT, K × K; X may be RIGHT. */
void pm_forward_substitute(size_t k, double triangle[PM_LEAST_SQUARES_MAX][PM_LEAST_SQUARES_MAX],
                           const double *right, double *x);

/* Coordinates of the N weighted values Y · WEIGHT in K orthonormal COLUMNS. */
void pm_rotate(size_t n, size_t k, double (*columns)[PM_LEAST_SQUARES_MAX], const double *y,
               const double *weight, double *rotated);

/* Weighted residual of a point whose row of the orthonormal columns is COLUMN.  REDUNDANCY: 1 −
   leverage; residual / redundancy is what it would be had the point been left out. */
double pm_residual(size_t k, const double *column, double weighted_y, const double *rotated,
                   double *redundancy);

#endif
