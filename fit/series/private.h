/* What the files that fit one series share: the points, the candidates, the shape.  Private to
   series/. */
#ifndef PM_FIT_SERIES_PRIVATE_H
#define PM_FIT_SERIES_PRIVATE_H

#include "fit/algebra/algebra.h"
#include "fit/series/series.h"

struct pm_surface_workspace;

struct pm_ranked {
    double score;
    unsigned subset; /* bit i: basis function i */
};

/* What the terms on the way to a node of the tree of subsets leave; see candidates.c. */
struct pm_tree_level {
    double *columns;  /* row i: weighted basis function i without its part in the terms' span */
    double *left;     /* row: weighted values without theirs */
    double *leverage; /* row: of the points */
    /* The functions' values at the largest size and at the end of the range of prediction, under
       the same operations as the columns; and the fit's. */
    double end[PM_MODEL_MAX_TERMS], far[PM_MODEL_MAX_TERMS];
    double end_value, far_value;
};

struct pm_series_workspace {
    const struct pm_design *design;
    struct pm_surface_workspace *surface; /* in several parameters: then only this is used */
    size_t stride;                        /* entries of a row */
    size_t n;                             /* points in use: entry i of a row is point i */
    size_t n_padded;  /* a multiple of PM_VECTOR_WIDTH; rows are zero from n on */
    size_t *point;    /* indices of the points among the sizes */
    double *x, *y;    /* rows */
    double *weight;   /* row: of residuals */
    double *emphasis; /* row: of the weight, what is not relative error */
    double *relation; /* row: weighted residuals over relative errors, of the value or a thousandth
                         of the largest */
    double *target;   /* row: weighted y */
    double
        *tolerated; /* row: weighted residuals up to this are no reason to prefer another model */
    double *functions; /* row i: scaled basis function i at the points */
    double largest;    /* of |y| */

    struct pm_tree_level levels[PM_MODEL_MAX_TERMS + 1];
    double squares[PM_MODEL_MAX_TERMS]; /* of the weighted functions' lengths */
    double free_growth;                 /* beyond the data; see candidates.c */
    double penalty_power;               /* of growth beyond that */
    size_t n_free_of_penalty;           /* functions of the basis that cost no more than others */
    struct pm_ranked *ranked;           /* all subsets, best first */

    /* Of the candidate that was solved last. */
    double *columns; /* row j: orthonormal column of term j */
    double triangle[PM_MODEL_MAX_TERMS][PM_MODEL_MAX_TERMS]; /* weighted basis = columns · this */

    double *grid[3]; /* PM_SERIES_GRID entries for each function: values, slopes, curvatures */
    void *memory;    /* of all rows */

    long double *extended; /* extended_precision.c: columns; [function · n + point] */
    double *unscaled;      /* extended_precision.c: functions as they are, likewise */
    struct pm_series_workspace **alternatives; /* of the design's */
};

/* Which way a series goes, by its data. */
struct pm_series_shape {
    int direction; /* +1 growing, −1 falling, 0 neither over the measured sizes */
    int beyond;    /* direction beyond the largest size */
    int curvature; /* +1 convex, −1 concave, 0 not known */
    bool demanded; /* the quantity demands the direction, whatever the data say */
};

/* ---- candidates.c ---------------------------------------------------------------------------- */

/* Ranks all subsets of the first N_BASIS functions with at most MAX_TERMS terms by their free fits:
   the workspace's `ranked`, best first; how many there are. */
size_t pm_candidates_rank(struct pm_series_workspace *workspace, size_t n_basis, size_t max_terms);

/* The error `emphasised` of the best of them; 1 if there is none.  The search ends early where that
   error is known to be at most ACCEPTED or to be above HOPELESS: then the result is another
   value on the same side. */
double pm_candidates_error(struct pm_series_workspace *workspace, size_t n_basis, size_t max_terms,
                           double accepted, double hopeless);

/* A score that no candidate of the first N_BASIS functions is below. */
double pm_candidates_least_score(struct pm_series_workspace *workspace, size_t n_basis);

/* Fits the functions of SUBSET, with more care than a ranking needs; false if they depend on each
   other. */
bool pm_candidate_solve(struct pm_series_workspace *workspace, unsigned subset,
                        struct pm_candidate *candidate);

/* The weighted values in the coordinates of the first N columns. */
void pm_candidate_project(const struct pm_series_workspace *workspace, size_t n, double *projected);

/* Coefficients, errors and score of the fit whose orthonormal coordinates are COORDINATES; needs
   the columns and the triangle of the candidate. */
void pm_candidate_judge(struct pm_series_workspace *workspace, const double *coordinates,
                        struct pm_candidate *candidate);

/* ---- extended_precision.c
 * ---------------------------------------------------------------------------------
 */

/* COEFFICIENTS of the unscaled functions, with all digits that data have which the candidate
   explains but for rounding.  True if they are fractions that reproduce these data exactly. */
bool pm_candidate_refine(struct pm_series_workspace *workspace,
                         const struct pm_candidate *candidate, double *coefficients);

/* ---- shape.c --------------------------------------------------------------------------------- */

struct pm_series_shape pm_series_shape_of(const struct pm_series_workspace *workspace,
                                          enum pm_series_kind kind);

/* The best of the first N_RANKED that has SHAPE, free or constrained; false if there is none. */
bool pm_shape_choose(struct pm_series_workspace *workspace, size_t n_ranked,
                     const struct pm_series_shape *shape, struct pm_candidate *best);

/* ---- exact.c --------------------------------------------------------------------------------- */

/* FUNCTIONS has the N values of each.  Rounds COEFFICIENTS,
   which reproduce Y but for rounding, to multiples of one small fraction if they then still do,
   and take less to write down than Y; else leaves them.  *WHOLE: so are all values of functions,
   and nothing was left to rounding but of Y. */
bool pm_exact_round(size_t n, size_t n_terms, const double *functions, const double *y,
                    double *coefficients, bool *whole);

#endif
