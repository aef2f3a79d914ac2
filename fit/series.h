/* Fitting one series: values at the measured sizes → a model.  Private to fit/. */
#ifndef PM_SERIES_H
#define PM_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/model.h"
#include "core/pm_error.h"

enum { PM_SERIES_GRID = 24 };

/* Predictions are kept in shape up to this many times the largest measured size. */
#define PM_SERIES_REACH 8.0

/* What all series of a fit share: the sizes and the basis functions at them.  Read-only once made.
 */
struct pm_design {
    size_t n;  /* sizes */
    double *x; /* ascending; owned */
    size_t n_basis;
    bool monomials;                   /* basis function i is x^i */
    double scale[PM_MODEL_MAX_TERMS]; /* of each basis function: its value at the largest size */
    double (*values)[PM_MODEL_MAX_TERMS]; /* [size][function], scaled; owned */
    /* From the smallest size to PM_SERIES_REACH times the largest, scaled: values, first
       differences and second divided differences. */
    double grid_x[PM_SERIES_GRID];
    double grid[PM_SERIES_GRID][PM_MODEL_MAX_TERMS];
    double slope[PM_SERIES_GRID][PM_MODEL_MAX_TERMS];
    double curvature[PM_SERIES_GRID - 1][PM_MODEL_MAX_TERMS];
};

/* X: N sizes above 0, ascending and distinct.  PARAMETER is the one that BASIS is a function of. */
struct pm_design *pm_design_new(const struct pm_basis *basis, const char *parameter,
                                const double *x, size_t n, struct pm_error *err);
void pm_design_free(struct pm_design *design);

enum pm_series_kind {
    PM_SERIES_COUNT,    /* never negative; monotone, convex, concave as the data are */
    PM_SERIES_DISTANCE, /* at most two terms of degree 3, non-decreasing and convex */
};

/* Memory of one thread; nothing is allocated while fitting. */
struct pm_series_workspace;
struct pm_series_workspace *pm_series_workspace_new(const struct pm_design *design);
void pm_series_workspace_free(struct pm_series_workspace *workspace);

/* Fits Y (one value for each size, NAN where there is none).  Sizes before the first that is not
   zero are left out for counts: the quantity sets in later. */
void pm_series_fit(struct pm_series_workspace *workspace, const double *y, enum pm_series_kind kind,
                   struct pm_model *model);

/* How well a free polynomial of degree 3 at most predicts each of Y[FROM …] from the others: the
   leave-one-out error, relative; 0 for all zeros. */
double pm_series_predictability(struct pm_series_workspace *workspace, const double *y,
                                size_t from);

/* The polynomial of least degree ≤ MAX_DEGREE with rational coefficients of a small common
   denominator that reproduces all of Y (integers) exactly, if it takes clearly less to write down
   than Y itself.  COEFFICIENTS has max_degree + 1 entries. */
bool pm_exact_polynomial(size_t n, const double *x, const double *y, size_t max_degree,
                         double *coefficients);

#endif
