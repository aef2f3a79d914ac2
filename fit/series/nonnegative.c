/* Least squares with coefficients that are not negative: the paper's way to keep a model from
   oscillating, for the partition of the paper only, PM_FIT_WITHOUT=partition.

       min Σ ((Σ cᵢ·fᵢ(x_s) − y_s) / y_s)²   subject to cᵢ ≥ 0

   over the basis, of several parameters over as many of its functions as a model has terms, those
   that grow least.  Such a model of functions that rise is not negative and does not fall; it
   cannot be (n − 2)³, whose lower terms are negative, which is what it costs.
   Source: Marin & Mellor-Crummey 2004, section 2.3.1: quadratic programming, with restrictions
   "to reduce or remove oscillations". */
#include <float.h>

#include "fit/series/private.h"

/* Of the diagonal: keeps that quadratic program convex. */
static const double ridge = 1e-11;

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

/* Values below LEAST count as this in the denominator of a relative error. */
static double weight_of(double least, double y) { return 1 / fmax(fabs(y), least); }

static size_t n_functions(const struct pm_design *design) {
    return design->n_basis < MAX_TERMS ? design->n_basis : MAX_TERMS;
}

/* COEFFICIENTS of the scaled basis without the size LEFT_OUT (≥ n: none). */
static bool solve(const struct pm_design *design, const double *y, double least, size_t left_out,
                  double *coefficients) {
    size_t n = n_functions(design);
    double h[MAX_TERMS * MAX_TERMS] = {0}, g[MAX_TERMS] = {0};
    double a[MAX_TERMS * MAX_TERMS] = {0}, b[MAX_TERMS] = {0};
    for (size_t s = 0; s < design->n; s++) {
        if (isnan(y[s]) || s == left_out)
            continue;
        double square = pow(weight_of(least, y[s]), 2);
        const double *value = design->values + s;
        for (size_t i = 0; i < n; i++) {
            g[i] -= square * y[s] * value[i * design->stride];
            for (size_t j = 0; j < n; j++)
                h[i * n + j] += square * value[i * design->stride] * value[j * design->stride];
        }
    }
    for (size_t i = 0; i < n; i++) {
        h[i * n + i] += ridge * h[i * n + i] + DBL_MIN;
        a[i * n + i] = 1;
    }
    return pm_qp_solve(n, h, g, n, a, b, coefficients, NULL) == PM_QP_SOLVED;
}

static double value_at(const struct pm_design *design, const double *coefficients, size_t s) {
    double sum = 0;
    for (size_t i = 0; i < n_functions(design); i++)
        sum += coefficients[i] * design->values[i * design->stride + s];
    return sum;
}

/* Root mean square of the relative errors where each size is predicted from the others. */
static double leave_one_out(const struct pm_design *design, const double *y, double least) {
    double sum = 0, coefficients[MAX_TERMS];
    size_t n = 0;
    for (size_t s = 0; s < design->n; s++) {
        if (isnan(y[s]))
            continue;
        if (!solve(design, y, least, s, coefficients))
            return NAN;
        sum += pow((value_at(design, coefficients, s) - y[s]) * weight_of(least, y[s]), 2);
        n++;
    }
    return n < 3 ? NAN : sqrt(sum / (double)n);
}

void pm_fit_nonnegative(const struct pm_design *design, const double *y, struct pm_model *model) {
    double coefficients[MAX_TERMS], largest = 0, squares = 0, relative = 0;
    *model = (struct pm_model){.leave_one_out_error = NAN};
    for (size_t s = 0; s < design->n; s++) {
        model->n_points += !isnan(y[s]);
        largest = isnan(y[s]) ? largest : fmax(largest, y[s]);
    }
    double least = fmax(pm_heuristics.small_value * largest, DBL_MIN);
    model->shape = PM_SHAPE_INCREASING;
    if (largest == 0 || !solve(design, y, least, design->n, coefficients))
        return; /* zero */
    for (size_t s = 0; s < design->n; s++) {
        if (isnan(y[s]))
            continue;
        double wrong = value_at(design, coefficients, s) - y[s];
        squares += wrong * wrong / model->n_points;
        relative += pow(wrong * weight_of(least, y[s]), 2) / model->n_points;
    }
    for (size_t i = 0; i < n_functions(design); i++)
        if (coefficients[i] > 0)
            pm_model_add_term(model, design->basis[i].index,
                              coefficients[i] / design->basis[i].scale);
    model->sigma = sqrt(squares);
    model->relative_error = sqrt(relative);
    model->leave_one_out_error = leave_one_out(design, y, least);
}
