/* Free fits of one series: each subset of the basis is a candidate.

   y(x) = Σ cᵢ·fᵢ(x), least squares of the residuals divided by the values; solved by Gram-Schmidt,
   twice, on scaled columns, so that the subset becomes orthonormal over the measured sizes.  A
   candidate is judged by its leave-one-out error, residual / (1 − leverage), in which larger sizes
   count more, times a penalty for each term, for a fourth power, and for growth beyond the data.
   Needs the workspace's points. */
#include "fit/candidate.h"

#include <math.h>

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

#define TERM_PENALTY 0.03
#define QUARTIC_PENALTY 4.0 /* a fourth power must pay: it runs away beyond the data */
#define GROWTH_PENALTY 4.0  /* for each power of growth beyond that of the data */
#define FREE_GROWTH 0.5     /* powers that are not charged: lower terms fade as sizes grow */
#define ROUNDING 1e-10      /* relative errors below this are all alike */

bool pm_candidate_orthonormalise(struct pm_series_workspace *w, const struct pm_candidate *c) {
    for (size_t j = 0; j < c->n_terms; j++) {
        double before = 0, after = 0;
        for (size_t i = 0; i < w->n; i++) {
            w->columns[i][j] = w->design->values[w->point[i]][c->terms[j]] * w->weight[i];
            before += w->columns[i][j] * w->columns[i][j];
        }
        for (size_t k = 0; k < j; k++)
            w->triangle[k][j] = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < j; k++) {
                double part = 0;
                for (size_t i = 0; i < w->n; i++)
                    part += w->columns[i][k] * w->columns[i][j];
                w->triangle[k][j] += part;
                for (size_t i = 0; i < w->n; i++)
                    w->columns[i][j] -= part * w->columns[i][k];
            }
        for (size_t i = 0; i < w->n; i++)
            after += w->columns[i][j] * w->columns[i][j];
        if (!(after > 1e-22 * before))
            return false;
        w->triangle[j][j] = sqrt(after);
        for (size_t i = 0; i < w->n; i++)
            w->columns[i][j] /= w->triangle[j][j];
    }
    return true;
}

/* Solves triangle · coefficients = COORDINATES. */
static void back_substitute(const struct pm_series_workspace *w, size_t n_terms,
                            const double *coordinates, double *coefficients) {
    for (size_t j = n_terms; j-- > 0;) {
        double sum = coordinates[j];
        for (size_t k = j + 1; k < n_terms; k++)
            sum -= w->triangle[j][k] * coefficients[k];
        coefficients[j] = sum / w->triangle[j][j];
    }
}

/* Errors of the fit whose orthonormal coordinates are COORDINATES, and a score from them. */
static void estimate_errors(const struct pm_series_workspace *w, struct pm_candidate *c,
                            const double *coordinates) {
    double residual_sum = 0, left_out_sum = 0, emphasised_sum = 0;
    for (size_t i = 0; i < w->n; i++) {
        double residual = w->y[i] * w->weight[i], leverage = 0;
        for (size_t j = 0; j < c->n_terms; j++) {
            residual -= w->columns[i][j] * coordinates[j];
            leverage += w->columns[i][j] * w->columns[i][j];
        }
        double relative = residual / w->emphasis[i], keep = fmax(1 - leverage, 1e-6);
        residual_sum += relative * relative;
        left_out_sum += relative * relative / (keep * keep);
        double excess = fmax(fabs(residual) / keep - w->quantum * w->weight[i], 0);
        emphasised_sum += excess * excess;
    }
    c->residual = sqrt(residual_sum / (double)w->n);
    c->leave_one_out = sqrt(left_out_sum / (double)w->n);
    c->emphasised = sqrt(emphasised_sum / (double)w->n);
    c->score = fmax(c->emphasised, ROUNDING) * (1 + TERM_PENALTY * (double)c->n_terms);
    if (c->terms[c->n_terms - 1] >= w->design->n_gentle)
        c->score *= QUARTIC_PENALTY;
}

/* A candidate that grows much faster beyond the data than the data themselves do must pay for it:
   where values are noisy, a high power that helps a little among them runs away outside.  Growth is
   an exponent, d log y / d log x: the model's from the largest size to the end of the range of
   prediction, the data's over the larger half of the sizes. */
static void charge_growth(const struct pm_series_workspace *w, struct pm_candidate *c) {
    double end = 0, far = 0;
    size_t middle = (w->n - 1) / 2, last = w->n - 1;
    for (size_t j = 0; j < c->n_terms; j++) {
        end += c->coefficients[j] * w->design->values[w->design->n - 1][c->terms[j]];
        far += c->coefficients[j] * w->design->grid[PM_SERIES_GRID - 1][c->terms[j]];
    }
    if (w->y[middle] <= 0 || end <= 0 || far <= 0 || middle == last)
        return;
    double of_data = log(w->y[last] / w->y[middle]) / log(w->x[last] / w->x[middle]);
    double excess = log(far / end) / log(PM_SERIES_REACH) - fmax(of_data, 0) - FREE_GROWTH;
    if (excess > 0)
        c->score *= pow(GROWTH_PENALTY, excess);
}

void pm_candidate_project(const struct pm_series_workspace *w, size_t n, double *projected) {
    for (size_t j = 0; j < n; j++) {
        projected[j] = 0;
        for (size_t i = 0; i < w->n; i++)
            projected[j] += w->columns[i][j] * w->y[i] * w->weight[i];
    }
}

void pm_candidate_judge(const struct pm_series_workspace *w, const double *coordinates,
                        struct pm_candidate *c) {
    back_substitute(w, c->n_terms, coordinates, c->coefficients);
    estimate_errors(w, c, coordinates);
    charge_growth(w, c);
}

static bool solve(struct pm_series_workspace *w, struct pm_candidate *c) {
    double coordinates[MAX_TERMS];
    if (!pm_candidate_orthonormalise(w, c))
        return false;
    pm_candidate_project(w, c->n_terms, coordinates);
    pm_candidate_judge(w, coordinates, c);
    return true;
}

size_t pm_candidates_solve(struct pm_series_workspace *w, size_t n_basis, size_t max_terms) {
    size_t n = 0;
    for (unsigned subset = 1; subset < 1u << n_basis; subset++) {
        if ((size_t)__builtin_popcount(subset) > max_terms)
            continue;
        struct pm_candidate c = {.subset = subset};
        for (size_t i = 0; i < n_basis; i++)
            if (subset >> i & 1)
                c.terms[c.n_terms++] = i;
        if (!solve(w, &c))
            continue;
        size_t at = n++;
        for (; at > 0 && w->candidates[at - 1].score > c.score; at--)
            w->candidates[at] = w->candidates[at - 1];
        w->candidates[at] = c;
    }
    return n;
}
