/* What the files that fit one series share: the points, the candidates, the shape.  Private to
   series.c (the model), candidates.c (free fits) and shape.c (fits under constraints). */
#ifndef PM_CANDIDATE_H
#define PM_CANDIDATE_H

#include "fit/series.h"

/* A subset of the basis with its coefficients and what they are worth. */
struct pm_candidate {
    unsigned subset;
    size_t n_terms;
    size_t terms[PM_MODEL_MAX_TERMS];        /* indices of basis functions, ascending */
    double coefficients[PM_MODEL_MAX_TERMS]; /* of scaled basis functions */
    double residual, leave_one_out;          /* root mean squares, relative */
    double emphasised; /* leave-one-out error with larger sizes counting more */
    double score;      /* the smallest wins */
};

struct pm_series_workspace {
    const struct pm_design *design;
    size_t n;               /* points in use */
    size_t *point;          /* their indices among the sizes */
    double *x, *y, *weight; /* of points */
    double *emphasis;       /* of points: of the weight, what is not relative error */
    double largest;         /* of |y| */
    double quantum;         /* residuals up to this are no reason to prefer another model */
    double (*columns)[PM_MODEL_MAX_TERMS]; /* weighted basis, then orthonormal */
    double triangle[PM_MODEL_MAX_TERMS]
                   [PM_MODEL_MAX_TERMS];       /* weighted basis = columns · triangle */
    struct pm_candidate *candidates;           /* all subsets, best first */
    long double *extended;                     /* refine.c: columns; [function · n + point] */
    double *unscaled;                          /* refine.c: functions as they are, likewise */
    struct pm_series_workspace **alternatives; /* of the design's */
};

/* Which way a series goes, by its data. */
struct pm_shape {
    int direction; /* +1 growing, −1 falling, 0 neither over the measured sizes */
    int beyond;    /* direction beyond the largest size */
    int curvature; /* +1 convex, −1 concave, 0 not known */
};

/* ---- candidates.c -----------------------------------------------------------------------------
 */

/* All subsets of the first N_BASIS functions with at most MAX_TERMS terms, solved without
   constraints, into the workspace's candidates, best first; how many. */
size_t pm_candidates_solve(struct pm_series_workspace *workspace, size_t n_basis, size_t max_terms);

/* Fills the workspace's columns and triangle for the candidate's terms; false if these depend on
   each other. */
bool pm_candidate_orthonormalise(struct pm_series_workspace *workspace,
                                 const struct pm_candidate *candidate);

/* The weighted values in the coordinates of the first N columns. */
void pm_candidate_project(const struct pm_series_workspace *workspace, size_t n, double *projected);

/* Coefficients, errors and score of the fit whose orthonormal coordinates are COORDINATES; needs
   the columns and the triangle of the candidate. */
void pm_candidate_judge(const struct pm_series_workspace *workspace, const double *coordinates,
                        struct pm_candidate *candidate);

/* ---- refine.c ---------------------------------------------------------------------------------
 */

/* COEFFICIENTS of the unscaled functions, with all digits that data have which the candidate
   explains but for rounding.  True if they are fractions that reproduce these data exactly. */
bool pm_candidate_refine(struct pm_series_workspace *workspace,
                         const struct pm_candidate *candidate, double *coefficients);

/* ---- shape.c ----------------------------------------------------------------------------------
 */

struct pm_shape pm_shape_of(const struct pm_series_workspace *workspace, enum pm_series_kind kind);

/* The best of the first N_CANDIDATES that has SHAPE, free or constrained; false if there is none.
 */
bool pm_shape_choose(struct pm_series_workspace *workspace, size_t n_candidates,
                     const struct pm_shape *shape, struct pm_candidate *best);

#endif
