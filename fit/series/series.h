/* Fitting one series: values at the measured sizes → a model.

   A design is what all series at the same sizes with the same basis share; a workspace is the
   memory of one thread.  An axis is a parameter that varies independently of the others, a level
   one of its values.  With one axis, sizes are its levels, and functions of the basis are given;
   with several, a size is a run, and functions are products of one function of each axis.
   Lengths are numbers of sizes, errors are relative.
   Source: Marin & Mellor-Crummey 2004, section 2.3.1, and, in several parameters, Marin's thesis
   (Rice University, 2003), sections 3.4.1 and 4.1.1; README.md says what is added to them. */
#ifndef PM_FIT_SERIES_H
#define PM_FIT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/dumps/dumps.h"
#include "core/model.h"
#include "fit/private.h"

/* The measured sizes as a line through the space of parameters. */
struct pm_path {
    const char *parameter; /* the one that varies */
    size_t n;
    const double *x;                  /* n values of it above 0, ascending and distinct */
    const struct pm_parameters *runs; /* all parameters at each; NULL: there is no other */
    /* Several parameters vary: their names.  Then it is no line; runs are in pm_fit_sort's order.
     */
    size_t n_axes;
    const char *const *axes;
};

/* All parameters where the varying one is X; those that only go along with it are known at the
   measured sizes, straight between them and a power beyond. */
bool pm_path_at(const struct pm_path *path, double x, struct pm_parameters *at,
                struct pm_error *err);

/* Size number J of N at which shape is looked at, from the smallest measured one to
   pm_heuristics.shape_range times the largest. */
double pm_path_grid(const struct pm_path *path, size_t j, size_t n);

/* A function of a design's basis: a product of one function of each axis. */
struct pm_function {
    uint16_t index; /* in the list of the model set */
    bool steep;     /* has a fourth power: it runs away beyond the data, and must pay */
    bool for_exact; /* only where it reproduces all values exactly */
    double scale;   /* what it is divided by: a power of two, which costs no digit */
    double power;   /* growth beyond the data, of all axes: d log f / d log x */
    uint8_t factors[PM_FIT_MAX_AXES]; /* functions of the axes */
};

/* What series of a fit share: the sizes and the basis functions at them.  Read-only once made. */
struct pm_design {
    size_t n;  /* sizes */
    double *x; /* of several axes the geometric mean of value / largest, ascending; owned */
    /* Functions of the model set's list at the sizes, [size · n_functions + function]; owned. */
    size_t n_functions;
    double *functions;

    size_t n_axes;
    struct pm_axis *axes;              /* owned */
    size_t (*level)[PM_FIT_MAX_AXES];  /* [size][axis]; owned */
    size_t *nearest;                   /* [size]: the nearest of those behind it; owned */
    struct pm_projection *projections; /* [set of axes]; owned */

    size_t n_basis;
    size_t n_gentle; /* one axis: steep functions are behind these */
    struct pm_function *basis;
    size_t stride;  /* entries of a row */
    double *values; /* row f: scaled function f at the sizes; owned */
    /* Ways out of the data: along all axes, and, if there are several, along each.  Functions at
       the last size, and [way · n_basis + function] where such axes end; owned. */
    double *end, *far;
    double reach[1 + PM_FIT_MAX_AXES]; /* [way]: geometric mean of how much these axes grow */

    /* Where shape is looked at: grid points of the axes, less those that are not admissible. */
    size_t n_places, place_stride;
    uint8_t (*places)[PM_FIT_MAX_AXES]; /* [place][axis]: point of the axis's grid; owned */
    double *place_x;                    /* [axis · place_stride + place]: its value; owned */

    /* Other bases at the same sizes, which a series takes where they do so well as to be worth
       their price: logarithms, and what `--search` tries.  Owned. */
    size_t n_alternatives;
    struct pm_design **alternatives;
    /* Of an alternative: its score against that of the design's own functions below which a series
       takes it, and whether distances do not. */
    double gain;
    bool counts_only;
};

/* At most PM_MODEL_MAX_TERMS functions; a function's `index` counts those of BASIS from 0.  Errors:
   a size that is not above 0; a function without a finite value at a measured size or in the range
   of prediction. */
struct pm_design *pm_design_on_path(const struct pm_basis *basis, const struct pm_path *path,
                                    struct pm_error *err);
/* The same where PARAMETER, N values X, is the only one. */
struct pm_design *pm_design_new(const struct pm_basis *basis, const char *parameter,
                                const double *x, size_t n, struct pm_error *err);
/* The design in several parameters NAMES.  POINTS: n rows of n_axes values above 0, distinct, by
   ascending pm_design_compare.  TEXTS: N_TEXTS functions of one axis each that replace the default
   ones of that axis; none: 1, x … x^4, and for exact counts at powers of two functions with
   log2(x).  A function's `index` is its own number.  Errors: a function that is not of one axis,
   too few levels or runs, axes that do not vary independently enough to tell their product from
   their sum. */
struct pm_design *pm_design_on_axes(const char *const *names, size_t n_axes, const double *points,
                                    size_t n, const char *const *texts, size_t n_texts,
                                    struct pm_error *err);
void pm_design_free(struct pm_design *design);

/* Function J of several axes as text, "N^2*MM"; owned by the caller. */
char *pm_design_text(const struct pm_design *design, size_t j);

/* Order of two points, as qsort wants it: by geometric mean, then by the axes' values. */
int pm_design_compare(const double *a, const double *b, size_t n_axes);

/* Makes the terms of models numbers in a list of N functions, that of a model set, in which the
   design's own function has its `index`. */
void pm_design_number_functions(struct pm_design *design, size_t n);

/* Value of MODEL, whose terms are such numbers, at measured size number SIZE. */
double pm_design_model_value(const struct pm_design *design, const struct pm_model *model,
                             size_t size);

/* The nearest size after K: the next one, if there is one parameter. */
size_t pm_design_nearest(const struct pm_design *design, size_t k);

/* How the sizes FROM and TO differ: the sums of log(to / from) over the parameters that grow and
   over those that shrink (negative). */
void pm_design_steps(const struct pm_design *design, size_t from, size_t to, double *up,
                     double *down);

/* Memory of one thread; nothing is allocated while fitting. */
struct pm_series_workspace;
struct pm_series_workspace *pm_series_workspace_new(const struct pm_design *design);
void pm_series_workspace_free(struct pm_series_workspace *workspace);

/* Fits Y (one value for each size, NAN where there is none).  Sizes before the first that is not
   zero are left out for counts: the quantity sets in later. */
void pm_series_fit(struct pm_series_workspace *workspace, const double *y, enum pm_series_kind kind,
                   struct pm_model *model);

/* The same of executions, which are whole numbers: a model that is nearer to them than to what they
   would be without rounding is no better for it, unless it is exact. */
void pm_series_fit_executions(struct pm_series_workspace *workspace, const double *y,
                              struct pm_model *model);

/* What the series are of that a workspace fits from here on, for the dump of their candidates
   (dump_candidates.c). */
struct pm_series_subject {
    const struct pm_dumping *dumping; /* NULL: nobody wants to know */
    const struct pm_basis *basis;     /* functions of the model set, which terms are numbers in */
    char what[128];                   /* "edge b0 -> b1" */
};
void pm_series_about(struct pm_series_workspace *workspace,
                     const struct pm_series_subject *subject);

/* How well a free polynomial of degree 3 at most predicts each of Y[FROM …] from the others: the
   leave-one-out error, relative; 0 for all zeros. */
double pm_series_predictability(struct pm_series_workspace *workspace, const double *y,
                                size_t from);

/* The same for a decision: where the error is known to be at most ACCEPTED, or to be above
   HOPELESS, before it is known exactly, the result is another value on the same side.  Several
   times as fast in one parameter. */
double pm_series_predictability_within(struct pm_series_workspace *workspace, const double *y,
                                       size_t from, double accepted, double hopeless);

/* Whether Y might be reproduced by whole or fractional coefficients: that all values are multiples
   of one of the fractions that are tried. */
bool pm_exact_is_possible(size_t n, const double *y);

/* A count Y at the N sizes X in the basis of a model set (PM_FIT_BASIS), if sizes are powers of two
   and some small set of functions reproduces all values exactly; else false, and MODEL is left as
   it is.  See exact_logarithms.c. */
bool pm_fit_logarithms(size_t n, const double *x, const double *y, struct pm_model *model);

/* A count of what a loop over x elements makes of them, `width` at a time (exact_remainders.c):
       y = s · Σ stepped[k] x^k + Σ smooth[k] x^k */
enum pm_remainder_kind {
    PM_REMAINDER_QUOTIENT, /* s = floor((x + offset) / width) */
    PM_REMAINDER_ANY,      /* s = min(1, r), r = (x + offset) mod width */
    PM_REMAINDER_HALF,     /* s = floor(r / (width / 2)) */
    PM_REMAINDER_REST,     /* s = r */
    PM_N_REMAINDERS
};
enum { PM_REMAINDER_STEPPED = 3, PM_REMAINDER_SMOOTH = 3 };
struct pm_remainder_model {
    uint8_t kind; /* enum pm_remainder_kind */
    uint16_t width;
    int16_t offset;
    double stepped[PM_REMAINDER_STEPPED], smooth[PM_REMAINDER_SMOOTH];
};

/* A count Y at the N sizes X, if such a function reproduces all values exactly; else false.  KNOWN:
   only widths and offsets of these, which are likely, so that fewer values prove them; or NULL. */
bool pm_fit_remainders(size_t n, const double *x, const double *y,
                       const struct pm_remainder_model *known, size_t n_known,
                       struct pm_remainder_model *model);
/* x^POWER · s as a function of parameter NAME; the caller frees. */
char *pm_remainder_text(const struct pm_remainder_model *model, const char *name, size_t power);

/* Least squares over the basis, as far as a model has terms, with coefficients ≥ 0; see
   nonnegative.c.  Y: NAN where there is no value. */
void pm_fit_nonnegative(const struct pm_design *design, const double *y, struct pm_model *model);

#endif
