/* A small dense quadratic program. */
#ifndef PM_FIT_QUADRATIC_PROGRAM_H
#define PM_FIT_QUADRATIC_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

enum { PM_QP_MAX_VARIABLES = 16 };

enum pm_qp_result {
    PM_QP_SOLVED,
    PM_QP_INFEASIBLE,  /* no point satisfies all constraints */
    PM_QP_NOT_CONVEX,  /* H is not positive definite */
    PM_QP_NO_PROGRESS, /* rounding errors kept the method from ending */
};

/* Minimises ½ xᵀHx + gᵀx subject to Ax ≥ b.

   H is n×n, symmetric, positive definite (its lower triangle is read); g has n entries; A is m×n,
   all row by row; b has m entries.  X (n entries) is filled if solved, MULTIPLIERS (m entries, ≥ 0,
   or NULL) then too.  n ≤ PM_QP_MAX_VARIABLES.  Allocates nothing. Source: Goldfarb & Idnani,
   Mathematical Programming 27 (1983), the dual active-set method. */
enum pm_qp_result pm_qp_solve(size_t n, const double *h, const double *g, size_t m, const double *a,
                              const double *b, double *x, double *multipliers);

/* Moves X to the nearest point that satisfies all constraints: minimises |x − x₀|² subject to
   Σᵢ normals[i·m + c] · xᵢ ≥ 0 for each c < m.

   The problem above with H = 1 and b = 0, laid out for many constraints: M is a multiple of
   PM_VECTOR_WIDTH; NORMALS has another m entries for what is made of them; a normal of zeros is no
   constraint.  X is left as it is if there is no solution. */
enum pm_qp_result pm_qp_nearest(size_t n, size_t m, double *normals, double *x);

#endif
