/* What the files that fit in several parameters share.  Private to surface/. */
#ifndef PM_FIT_SURFACE_PRIVATE_H
#define PM_FIT_SURFACE_PRIVATE_H

#include "core/parameters.h"
#include "fit/algebra/algebra.h"
#include "fit/surface/surface.h"

struct pm_surface_axis {
    char name[PM_PARAMETER_NAME_SIZE];
    size_t n_levels;
    double *levels;                             /* ascending; owned */
    size_t n_functions;                         /* function 0 is 1 */
    char *texts[PM_SURFACE_MAX_FUNCTIONS];      /* owned */
    bool for_exact[PM_SURFACE_MAX_FUNCTIONS];   /* only where it reproduces all values exactly */
    double power[PM_SURFACE_MAX_FUNCTIONS];     /* growth beyond the data: d log f / d log x */
    double scale[PM_SURFACE_MAX_FUNCTIONS];     /* value at the largest level */
    double (*values)[PM_SURFACE_MAX_FUNCTIONS]; /* [level][function], not scaled; owned */
    size_t n_grid; /* from the smallest level to pm_heuristics.shape_range · largest */
    double grid[PM_SURFACE_MAX_GRID];
    double grid_values[PM_SURFACE_MAX_GRID][PM_SURFACE_MAX_FUNCTIONS]; /* scaled */
    double grid_slopes[PM_SURFACE_MAX_GRID][PM_SURFACE_MAX_FUNCTIONS]; /* per e-fold, scaled */
};

/* A function of the basis: a product of one function of each axis. */
struct pm_surface_product {
    size_t functions[PM_SURFACE_MAX_AXES];
    bool for_exact;
    bool high_power; /* has a fourth power: it runs away beyond the data and must pay */
    double power;    /* in all */
    double scale;    /* value at the largest levels */
};

/* The points as seen by some of the axes: their distinct places. */
struct pm_surface_projection {
    size_t n;
    size_t *of;    /* [point]: its place; owned */
    size_t *point; /* [place]: a point that lies there; owned */
};

struct pm_surface {
    size_t n, n_axes;
    struct pm_surface_axis axes[PM_SURFACE_MAX_AXES];
    size_t (*level)[PM_SURFACE_MAX_AXES]; /* [point][axis]; owned */
    double *size; /* [point]: geometric mean of value / largest value, ascending; owned */
    size_t n_products;
    struct pm_surface_product *products; /* owned */
    uint16_t *index; /* of each product in the basis of the model set; here its own number; owned */
    double *columns; /* [point · n_products + product], scaled; owned */
    struct pm_surface_projection projections[1 << PM_SURFACE_MAX_AXES]; /* by set of axes */
    size_t *nearest; /* [point]: the nearest of those that come after it, n for the last; owned */
    size_t n_grid;
    size_t (*grid)[PM_SURFACE_MAX_AXES]; /* where shape is looked at: [place][axis]; owned */
    size_t *below; /* [place · n_axes + axis]: the place before it on that axis, or n_grid; owned */
};

/* ---- fitting --------------------------------------------------------------------------------- */

struct pm_surface_workspace {
    const struct pm_surface *surface;
    enum pm_series_kind kind;
    size_t n;                      /* points in use */
    size_t *point;                 /* their indices */
    double *y, *weight, *emphasis; /* of the points in use; weight = emphasis / value */
    double largest;                /* of |y| */
    double quantum;                /* residuals up to this are no reason to prefer another model */
    double most_power;             /* of a product, in all */
    size_t n_levels[PM_SURFACE_MAX_AXES];  /* of the points in use */
    double growth[PM_SURFACE_MAX_AXES];    /* of the data: d log y / d log axis, NAN if not known */
    double (*columns)[PM_MODEL_MAX_TERMS]; /* of a candidate: weighted, then orthonormal */
    double triangle[PM_MODEL_MAX_TERMS][PM_MODEL_MAX_TERMS];
    double *remaining;    /* selection.c: what the chosen terms leave of each column, */
    double *square;       /* how large it was, */
    bool *open;           /* and whether it can still be chosen */
    double *rows;         /* shape.c: constraints, */
    double *bounds;       /* and what they are to be at least: 0 */
    double *hierarchical; /* hierarchical.c: values and weights of each depth, */
    size_t *places;       /* and the places and levels of a line */
};

/* ---- between the files ----------------------------------------------------------------------- */

/* Least squares of the points in use in the candidate's terms: fills coefficients, errors and
   score; false if the terms depend on each other or are more than the points allow. */
bool pm_surface_solve(struct pm_surface_workspace *workspace, struct pm_candidate *candidate);
/* The same from given coordinates in the orthonormal columns, which must be the candidate's. */
void pm_surface_judge(const struct pm_surface_workspace *workspace, const double *rotated,
                      struct pm_candidate *candidate);
/* False if the candidate has more functions of an axis than its levels allow: one less than there
   are, but two where there are fewer than five, unless FOR_EXACT. */
bool pm_surface_allowed(const struct pm_surface_workspace *workspace,
                        const struct pm_candidate *candidate, bool for_exact);
/* True if product J may be a term. */
bool pm_surface_usable(const struct pm_surface_workspace *workspace, size_t j, bool for_exact);

/* Forward and backward selection among the products from CANDIDATE on (no terms: from nothing);
   FOR_EXACT: those for exact models too.  False if nothing can be solved. */
bool pm_surface_select(struct pm_surface_workspace *workspace, bool for_exact, size_t max_terms,
                       struct pm_candidate *candidate);

/* Models in one axis first, then models of their coefficients, the axes taken in order number ORDER
   of the n_axes! that there are: fills the candidate's terms; false if lines are too short. */
bool pm_surface_hierarchical(struct pm_surface_workspace *workspace, bool for_exact, size_t order,
                             struct pm_candidate *candidate);

/* Rational coefficients with a small common denominator near the candidate's that reproduce all
   values, whole numbers, exactly; COEFFICIENTS are those of unscaled products. */
bool pm_surface_exact(struct pm_surface_workspace *workspace, const struct pm_candidate *candidate,
                      double *coefficients);

/* Keeps the candidate if it has the shape that the data have, else solves it again under
   constraints; false if that fails.  SHAPE: enum pm_model_shape. */
bool pm_surface_put_in_shape(struct pm_surface_workspace *workspace, struct pm_candidate *candidate,
                             uint8_t *shape);

#endif
