/* What the files that fit one series share: axes, points, candidates, shape.  Private to series/.
 */
#ifndef PM_FIT_SERIES_PRIVATE_H
#define PM_FIT_SERIES_PRIVATE_H

#include <math.h>

#include "core/parameters.h"
#include "fit/algebra/algebra.h"
#include "fit/series/series.h"

/* Relative errors below this are all alike. */
#define PM_LEAST_ERROR 1e-10
/* Relative error up to which a fit explains its data: rounding of a badly conditioned solution. */
#define PM_EXPLAINED 1e-8
/* Of the value: violations of a shape by less are rounding. */
#define PM_SHAPE_TOLERANCE 1e-6
/* Subsets of a basis that are tried: all of ten functions; of products, pairs where there are no
 * more. */
enum { PM_MOST_SUBSETS = 1023 };
/* Sets of products, the best that are solved, that are tried in shape. */
enum { PM_KEPT_SETS = 32 };
/* Of a solution before it is rounded to fractions. */
enum { PM_REFINEMENTS = 3 };

/* ---- the design ------------------------------------------------------------------------------ */

enum { PM_SHAPE_VALUE, PM_SHAPE_SLOPE, PM_SHAPE_CURVATURE, PM_SHAPE_ROWS };

struct pm_axis {
    char name[PM_PARAMETER_NAME_SIZE];
    size_t n_levels;
    double *levels; /* ascending; owned */
    size_t n_functions;
    uint16_t number[PM_MODEL_MAX_TERMS];  /* of each in the basis; of several axes 0 is 1 */
    char *texts[PM_MODEL_MAX_TERMS];      /* of several axes; owned */
    bool for_exact[PM_MODEL_MAX_TERMS];   /* only where it reproduces all values exactly */
    bool steep[PM_MODEL_MAX_TERMS];       /* grows like a fourth power, or more, */
    double power[PM_MODEL_MAX_TERMS];     /* beyond the data: d log f / d log x */
    double scale[PM_MODEL_MAX_TERMS];     /* a power of two near the largest value */
    double (*values)[PM_MODEL_MAX_TERMS]; /* [level][function], not scaled; owned */
    size_t n_grid;                        /* from the smallest level to … · the largest */
    double grid[PM_SERIES_GRID];
    /* Scaled functions on the grid: f, d f / d log x, and differences of d f / d x. */
    double shape[PM_SHAPE_ROWS][PM_MODEL_MAX_TERMS][PM_SERIES_GRID];
};

/* The points as seen by some of the axes: their distinct places. */
struct pm_projection {
    size_t n;
    size_t *of;    /* [point]: its place; owned */
    size_t *point; /* [place]: a point that lies there; owned */
};

/* The line along AXIS that each point lies on. */
static inline const size_t *pm_design_lines(const struct pm_design *design, size_t axis) {
    return design->projections[((1u << design->n_axes) - 1) & ~(1u << axis)].of;
}

/* The level of point K on AXIS. */
static inline double pm_design_at(const struct pm_design *design, size_t k, size_t axis) {
    return design->axes[axis].levels[design->level[k][axis]];
}

/* Fills AXIS, whose n_grid is set, with BASIS at the sizes of PATH and on the grid. */
bool pm_axis_fill(struct pm_axis *axis, const struct pm_basis *basis, const struct pm_path *path,
                  struct pm_error *err);

/* Completes a design that has its axes and the levels of its points.  Functions of several axes
   stand by ascending value at the largest levels. */
void pm_design_complete(struct pm_design *design);

/* Some functions of a basis with their coefficients, and what these are worth. */
struct pm_candidate {
    size_t n_terms;
    size_t terms[PM_MODEL_MAX_TERMS];        /* numbers of functions, ascending */
    double coefficients[PM_MODEL_MAX_TERMS]; /* of scaled functions */
    double residual, leave_one_out;          /* root mean squares, relative */
    double emphasised; /* leave-one-out error with larger sizes counting more */
    double rounding;   /* what the rounding of counts to whole numbers adds to that error */
    double redundancy; /* the least of a point: 1 − leverage */
    double score;      /* the smallest wins */
};

/* ---- fitting --------------------------------------------------------------------------------- */

struct pm_ranked {
    double score;
    unsigned subset; /* one axis: bit i is function i; several: number of a candidate found */
};

/* Which way a series goes along one axis, by its data. */
struct pm_direction {
    int within;    /* +1 growing, −1 falling, 0 neither over the measured sizes */
    int beyond;    /* direction beyond the largest size */
    int curvature; /* +1 convex, −1 concave, 0 not known */
};
struct pm_series_shape {
    struct pm_direction axes[PM_FIT_MAX_AXES];
    bool demanded; /* the quantity demands it, whatever the data say */
};

/* Of several axes: which terms may be chosen. */
struct pm_term_limits {
    bool for_exact;    /* functions that are only for exact models, too */
    bool gentle;       /* no fourth powers */
    double most_power; /* of a product, in all */
    size_t most_terms;
    bool pairs; /* all of them are tried */
};

/* Which sizes are points, and what follows from that alone: entry i of a row is point i. */
struct pm_series_points {
    size_t n;
    size_t *point;     /* indices among the sizes; owned, as all */
    size_t *next;      /* [axis · stride + i]: the next point on its line, n if there is none */
    double *emphasis;  /* row: of the weight, what is not relative error */
    double *functions; /* row f: scaled function f at the points */
    size_t n_levels[PM_FIT_MAX_AXES];                     /* of the points, */
    double first[PM_FIT_MAX_AXES], last[PM_FIT_MAX_AXES]; /* the least and the largest */
    /* Of the line along each axis through the last point: the point in its middle, n if there is
       none, and the logarithm of how much larger the last one is. */
    size_t middle[PM_FIT_MAX_AXES];
    double log_ratio[PM_FIT_MAX_AXES];
};
enum { PM_POINT_SETS = 4 }; /* kept: all sizes, all but the smallest … take turns */

struct pm_series_workspace {
    const struct pm_design *design;
    size_t stride;                     /* entries of a row */
    const struct pm_series_points *at; /* the points in use, */
    size_t n;                          /* how many, */
    size_t n_padded; /* and as a multiple of PM_VECTOR_WIDTH: rows are zero from n on */
    struct pm_series_points points[PM_POINT_SETS];
    size_t oldest;       /* of these */
    size_t *in_question; /* indices of points to be taken */
    double *y;           /* row */
    double *weight;      /* row: of residuals */
    double *relation; /* row: weighted residuals over relative errors, of the value or a thousandth
                         of the largest */
    double *target;   /* row: weighted y */
    double
        *tolerated;  /* row: weighted residuals up to this are no reason to prefer another model */
    double largest;  /* of |y| */
    bool is_rounded; /* what the rounding of counts adds to an error is in the score */
    double free_growth[1 + PM_FIT_MAX_AXES];   /* [way]: beyond the data; see points.c */
    double penalty_power[1 + PM_FIT_MAX_AXES]; /* [way]: of growth beyond that */
    size_t n_free_of_penalty;                  /* one axis: functions that cost no more */
    struct pm_ranked *ranked;                  /* candidates, best first */

    struct pm_least_squares solved; /* of the candidate that was solved last */
    double *owned_rows;             /* of several axes */
    const double
        *place_rows; /* shape.c: [(kind · PM_MODEL_MAX_TERMS + row) · place_stride + place] */
    size_t place_row[PM_MODEL_MAX_TERMS]; /* of each term */
    double *signs, *other_signs;          /* shape.c: of the constraints */
    double *normals;                      /* shape.c: of the same, and a row for pm_qp_nearest */
    long double *exact_values;            /* exact.c: [term · n + point] */

    struct pm_series_subject about;            /* the series, for dumps */
    struct pm_tree *tree;                      /* one axis: subsets.c */
    struct pm_series_workspace **alternatives; /* of the design's */

    struct pm_candidate *found; /* several axes: the best of those that were solved; several.c */
    size_t n_found;
    double *remaining; /* select_functions.c: row j: what the chosen terms leave of function j, */
    double *square;    /* how large it was, */
    bool *open;        /* and whether it can still be chosen */
    double *depths;    /* hierarchical.c: values and weights of each depth, */
    size_t *line;      /* and the places and levels of a line */
};

PM_VECTOR_INLINE double *pm_row(const struct pm_series_workspace *w, double *rows, size_t i) {
    return rows + i * w->stride;
}

/* ---- points.c -------------------------------------------------------------------------------- */

/* Memory for the sets of points. */
void pm_points_allocate(struct pm_series_workspace *workspace);
void pm_points_free(struct pm_series_workspace *workspace);

/* Takes the sizes of Y that have a value, from number FROM on; ONSET: without zeros that no value
   lies below, on all axes. */
void pm_points_take(struct pm_series_workspace *workspace, const double *y, size_t from,
                    enum pm_series_kind kind, bool onset);

/* ---- candidate.c ----------------------------------------------------------------------------- */

/* Fits the terms of CANDIDATE; false if they depend on each other, or are none, or as many as
   points. */
bool pm_candidate_solve(struct pm_series_workspace *workspace, struct pm_candidate *candidate);

/* Coefficients, errors and score of the fit whose orthonormal coordinates are COORDINATES; needs
   the columns and the triangle of the candidate. */
void pm_candidate_judge(const struct pm_series_workspace *workspace, const double *coordinates,
                        struct pm_candidate *candidate);

/* Standard deviation of the residuals. */
double pm_candidate_sigma(const struct pm_series_workspace *workspace,
                          const struct pm_candidate *candidate);

/* What an error is multiplied with for growth from END to FAR on WAY: pm_heuristics.growth_penalty
   for each power too many. */
PM_VECTOR_INLINE double pm_growth_penalty(const struct pm_series_workspace *w, size_t way,
                                          double end, double far) {
    double free = w->free_growth[way];
    if (end <= 0 || far <= 0 || far <= end * free)
        return 1;
    return pow(far / (end * free), w->penalty_power[way]);
}

/* The score of an error by itself: a price for each term, and for a STEEP one. */
PM_VECTOR_INLINE double pm_score(double emphasised, size_t n_terms, bool steep) {
    double score =
        pm_larger(emphasised, PM_LEAST_ERROR) * (1 + pm_heuristics.term_penalty * (double)n_terms);
    return steep ? score * pm_heuristics.high_power_penalty : score;
}

/* Adds a candidate to the N that are ranked. */
PM_VECTOR_INLINE void pm_rank(struct pm_ranked *ranked, size_t n, double score, unsigned subset) {
    size_t at = n;
    for (; at > 0; at--) {
        const struct pm_ranked *before = &ranked[at - 1];
        if (before->score < score || (before->score == score && before->subset < subset))
            break;
        ranked[at] = *before;
    }
    ranked[at] = (struct pm_ranked){score, subset};
}

/* ---- subsets.c: one axis --------------------------------------------------------------------- */

struct pm_tree *pm_tree_new(const struct pm_design *design);
void pm_tree_free(struct pm_tree *tree);

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

/* ---- several axes ---------------------------------------------------------------------------- */

/* False if the candidate has more functions of an axis than its levels allow: one less than there
   are, but two where there are fewer than five, unless they are for exact models. */
bool pm_terms_allowed(const struct pm_series_workspace *workspace,
                      const struct pm_term_limits *limits, const struct pm_candidate *candidate);

/* As pm_candidate_solve, and keeps the candidate among the best; false also if a point alone
   decides a coefficient. */
bool pm_terms_solve(struct pm_series_workspace *workspace, struct pm_candidate *candidate);

/* select_functions.c: forward and backward selection among the products from CANDIDATE on (no
   terms: from nothing).  False if nothing can be solved. */
bool pm_terms_select(struct pm_series_workspace *workspace, const struct pm_term_limits *limits,
                     struct pm_candidate *candidate);

/* hierarchical.c: models in one axis first, then models of their coefficients, the axes taken in
   order number ORDER of the n_axes! that there are: fills the candidate's terms; false if lines are
   too short. */
bool pm_terms_of_coefficients(struct pm_series_workspace *workspace, bool for_exact, size_t order,
                              struct pm_candidate *candidate);

/* several.c: as pm_series_fit and pm_series_predictability. */
void pm_several_fit(struct pm_series_workspace *workspace, const double *y,
                    enum pm_series_kind kind, struct pm_model *model);
double pm_several_predictability(struct pm_series_workspace *workspace, const double *y,
                                 size_t from);

/* ---- shape.c --------------------------------------------------------------------------------- */

struct pm_series_shape pm_series_shape_of(const struct pm_series_workspace *workspace,
                                          enum pm_series_kind kind);

/* The best of the first N_RANKED that has SHAPE, free or constrained; false if there is none. */
bool pm_shape_choose(struct pm_series_workspace *workspace, size_t n_ranked,
                     const struct pm_series_shape *shape, struct pm_candidate *best);

/* ---- dump_candidates.c ----------------------------------------------------------------------- */

/* How a candidate came to its place. */
enum pm_candidate_fate {
    PM_CANDIDATE_UNSOLVED, /* its terms depend on each other */
    PM_CANDIDATE_OUTSIDE,  /* it is not in shape, nor could be put there */
    PM_CANDIDATE_FREE,     /* it is in shape as it is */
    PM_CANDIDATE_PUT,      /* it was put in shape */
    PM_N_CANDIDATE_FATES,
};
/* Candidate C is number RANK of those of the series with SHAPE; IS_BEST: of those so far. */
void pm_dump_candidate(const struct pm_series_workspace *workspace,
                       const struct pm_series_shape *shape, size_t rank,
                       const struct pm_candidate *c, enum pm_candidate_fate fate, bool is_best);

/* ---- exact.c --------------------------------------------------------------------------------- */

/* COEFFICIENTS of the unscaled functions, with all digits that data have which the candidate
   explains but for rounding.  True if they are fractions that reproduce these data exactly. */
bool pm_candidate_refine(struct pm_series_workspace *workspace,
                         const struct pm_candidate *candidate, double *coefficients);

/* Adds to COEFFICIENTS the least-squares solution for what they leave of the N values Y; the
   columns of PROBLEM, orthonormal, are FUNCTIONS, [term · n + point], times WEIGHT. */
void pm_exact_improve(const struct pm_least_squares *problem, size_t n, size_t n_terms,
                      const long double *functions, const double *y, const double *weight,
                      long double *coefficients);

/* FUNCTIONS has the N values of each.  Rounds COEFFICIENTS, which reproduce Y but for rounding, to
   multiples of one small fraction if they then still do, and take less to write down than Y, with
   MORE_BITS; else leaves them.  *WHOLE: so are all values of functions, and nothing was left to
   rounding but of Y. */
bool pm_exact_round(size_t n, size_t n_terms, const long double *functions, const double *y,
                    double more_bits, long double *coefficients, bool *whole);

/* ---- series.c: the model --------------------------------------------------------------------- */

/* A constant: the last value. */
struct pm_model pm_points_constant(const struct pm_series_workspace *workspace);

/* Fills MODEL and returns true if the points have one value. */
bool pm_points_equal(const struct pm_series_workspace *workspace, struct pm_model *model);

/* Whether a distance stays the same within one block, for the larger half of the sizes at least. */
bool pm_points_settle(const struct pm_series_workspace *workspace);

void pm_set_model(struct pm_series_workspace *workspace, const struct pm_candidate *best,
                  const struct pm_series_shape *shape, struct pm_model *model);

#endif
