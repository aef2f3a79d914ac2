/* Models in several parameters: values at the points of a design → a sum of products of functions
   of one parameter each,  y(p, q …) = Σ cⱼ · f_a(j)(p) · g_b(j)(q) · …

   An axis is a parameter that varies independently of the others; a level one of its values; a
   point a run.  Product 0 is 1.  The points stand by ascending geometric mean of the axes' values.
   Who fits series goes through series/series.h, which has the same interface for one parameter.
   Source: Marin's thesis (Rice University, 2003), sections 3.4.1 and 4.1.1; see surface.c. */
#ifndef PM_FIT_SURFACE_H
#define PM_FIT_SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/model.h"
#include "fit/private.h"

/* The axes, the points and the products; read-only while series are fitted. */
struct pm_surface;

/* NAMES: the axes.  POINTS: n rows of n_axes values above 0, distinct, by ascending
   pm_surface_order.  TEXTS: N_TEXTS functions of one axis each that replace the default ones of
   that axis; none: 1, x … x^4, and for exact counts at powers of two functions with log2(x).
   Errors: a function that is not of one axis, too few levels or runs, axes that do not vary
   independently enough to tell their product from their sum. */
struct pm_surface *pm_surface_new(const char *const *names, size_t n_axes, const double *points,
                                  size_t n, const char *const *texts, size_t n_texts,
                                  struct pm_error *err);
void pm_surface_free(struct pm_surface *surface);

/* Product J as text, "N^2*MM"; owned by the caller. */
char *pm_surface_text(const struct pm_surface *surface, size_t j);

/* Order of two points, as qsort wants it: by geometric mean, then by the axes' values. */
int pm_surface_compare(const double *a, const double *b, size_t n_axes);

size_t pm_surface_n_points(const struct pm_surface *surface);
size_t pm_surface_n_products(const struct pm_surface *surface);

/* Makes product J function NUMBER of the model set's list; before, it has its own number. */
void pm_surface_number_product(struct pm_surface *surface, size_t j, uint16_t number);

/* Value at point K of the product that is function NUMBER of that list; 0 if there is none. */
double pm_surface_function(const struct pm_surface *surface, size_t number, size_t k);

/* Size of point K: the geometric mean of value / largest value. */
double pm_surface_size(const struct pm_surface *surface, size_t k);

/* The nearest of the points that come after K; the number of points for the last. */
size_t pm_surface_nearest(const struct pm_surface *surface, size_t k);

/* As pm_design_steps (series/series.h). */
void pm_surface_steps(const struct pm_surface *surface, size_t from, size_t to, double *up,
                      double *down);

/* ---- fitting --------------------------------------------------------------------------------- */

/* Memory of one thread; nothing is allocated while fitting. */
struct pm_surface_workspace;
struct pm_surface_workspace *pm_surface_workspace_new(const struct pm_surface *surface);
void pm_surface_workspace_free(struct pm_surface_workspace *workspace);

/* As pm_series_fit and pm_series_predictability, in several parameters. */
void pm_surface_fit(struct pm_surface_workspace *workspace, const double *y,
                    enum pm_series_kind kind, struct pm_model *model);
double pm_surface_predictability(struct pm_surface_workspace *workspace, const double *y);

#endif
