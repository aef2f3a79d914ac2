/* A smooth curve through most of the points, and which points are not on it.

   Curve: log y = a + b·log x + c·(log x)², which follows what grows like a power of the size, or
   passes from one power to another.  It is not fitted by least squares, which a few points that lie
   far off would bend towards themselves and hide; it is the curve through three of the points from
   which the h-th smallest deviation is least, h = n/2 + 2: least median of squares (Rousseeuw,
   Journal of the American Statistical Association 79 (1984)), which bears n − h points that are
   arbitrarily wrong.  All triples are tried, or, of many points, a fixed choice of them.

   Most series have no outliers: a cheap look by least squares, from leave-one-out residuals, comes
   first. */
#include "fit/algebra/robust_curve.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/heuristics.h"

/* Times the deviation from the curve that most points stay within. */
static const double outlier_far = 4.0;
/* Leave-one-out residuals below this share of outlier_least: no outlier. */
static const double outlier_calm = 0.5;
/* Of points, through which curves are tried. */
enum { most_triples = 400 };

enum { P = 3 };

struct pm_robust {
    size_t n, h, n_triples;
    double *hat; /* n × n: fitted = hat · log y; owned */
    uint32_t (*triples)[P];
    double *through; /* [triple][n][P]: the curve through these points at all sizes; owned */
};

/* Inverts the P×P matrix A into INVERSE; false if it is as good as singular. */
static bool invert(const double a[P][P], double inverse[P][P]) {
    double work[P][2 * P] = {{0}};
    for (size_t i = 0; i < P; i++) {
        memcpy(work[i], a[i], sizeof a[i]);
        work[i][P + i] = 1;
    }
    for (size_t i = 0; i < P; i++) {
        size_t pivot = i;
        for (size_t r = i + 1; r < P; r++)
            if (fabs(work[r][i]) > fabs(work[pivot][i]))
                pivot = r;
        if (fabs(work[pivot][i]) < 1e-12)
            return false;
        for (size_t j = 0; j < 2 * P; j++) {
            double value = work[i][j];
            work[i][j] = work[pivot][j];
            work[pivot][j] = value;
        }
        for (size_t r = 0; r < P; r++) {
            double factor = r == i ? 0 : work[r][i] / work[i][i];
            for (size_t j = 0; j < 2 * P; j++)
                work[r][j] -= factor * work[i][j];
        }
    }
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++)
            inverse[i][j] = work[i][P + j] / work[i][i];
    return true;
}

/* 1, t, t² with t the logarithm of the size, from −1 at the smallest to 1 at the largest. */
static void powers_of(const double *x, size_t n, double (*powers)[P]) {
    double low = log(x[0]), high = log(x[n - 1]);
    for (size_t k = 0; k < n; k++) {
        double t = 2 * (log(x[k]) - low) / (high - low) - 1;
        powers[k][0] = 1;
        powers[k][1] = t;
        powers[k][2] = t * t;
    }
}

static void make_hat(struct pm_robust *robust, const double (*powers)[P]) {
    size_t n = robust->n;
    double normal[P][P] = {{0}}, inverse[P][P];
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < P; i++)
            for (size_t j = 0; j < P; j++)
                normal[i][j] += powers[k][i] * powers[k][j];
    robust->hat = pm_alloc(n * n, sizeof *robust->hat);
    if (!invert(normal, inverse))
        return;
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < n; l++)
            for (size_t i = 0; i < P; i++)
                for (size_t j = 0; j < P; j++)
                    robust->hat[k * n + l] += powers[k][i] * inverse[i][j] * powers[l][j];
}

static void add_triple(struct pm_robust *robust, const double (*powers)[P], const size_t *members) {
    double of_members[P][P], inverse[P][P];
    for (size_t i = 0; i < P; i++)
        memcpy(of_members[i], powers[members[i]], sizeof of_members[i]);
    if (!invert(of_members, inverse))
        return;
    double *through = robust->through + robust->n_triples * robust->n * P;
    for (size_t i = 0; i < P; i++)
        robust->triples[robust->n_triples][i] = (uint32_t)members[i];
    for (size_t k = 0; k < robust->n; k++)
        for (size_t j = 0; j < P; j++)
            for (size_t i = 0; i < P; i++)
                through[k * P + j] += powers[k][i] * inverse[i][j];
    robust->n_triples++;
}

/* Every STEP-th triple in order, so that the choice is even over the sizes. */
static void make_triples(struct pm_robust *robust, const double (*powers)[P]) {
    size_t n = robust->n, all = n * (n - 1) * (n - 2) / 6, at = 0;
    size_t step = (all + most_triples - 1) / most_triples;
    robust->triples = pm_alloc(most_triples, sizeof *robust->triples);
    robust->through = pm_alloc(most_triples * n * P, sizeof *robust->through);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            for (size_t c = b + 1; c < n; c++)
                if (at++ % step == 0)
                    add_triple(robust, powers, (const size_t[P]){a, b, c});
}

struct pm_robust *pm_robust_new(const double *x, size_t n) {
    struct pm_robust *robust = pm_alloc(1, sizeof *robust);
    double(*powers)[P] = pm_alloc(n, sizeof *powers);
    robust->n = n;
    robust->h = n / 2 + 2;
    powers_of(x, n, powers);
    make_hat(robust, (const double(*)[P])powers);
    make_triples(robust, (const double(*)[P])powers);
    free(powers);
    return robust;
}

void pm_robust_free(struct pm_robust *robust) {
    if (!robust)
        return;
    free(robust->hat);
    free(robust->triples);
    free(robust->through);
    free(robust);
}

size_t pm_robust_most_outliers(const struct pm_robust *robust) { return robust->n - robust->h; }

/* No leave-one-out residual of least squares is large. */
static bool is_calm(const struct pm_robust *robust, const double *log_y, double least) {
    size_t n = robust->n;
    for (size_t k = 0; k < n; k++) {
        double residual = log_y[k];
        for (size_t l = 0; l < n; l++)
            residual -= robust->hat[k * n + l] * log_y[l];
        if (fabs(residual) > outlier_calm * least * fmax(1 - robust->hat[k * n + k], 1e-6))
            return false;
    }
    return true;
}

/* The H-th smallest of N values if it is below BOUND, else BOUND; SORTED gets the smallest. */
static double smallest(const double *values, size_t n, size_t h, double bound, double *sorted) {
    size_t n_sorted = 0;
    for (size_t k = 0; k < n; k++) {
        if (n - k + n_sorted < h)
            return bound;
        if (values[k] >= bound)
            continue;
        size_t at = n_sorted < h ? n_sorted++ : h;
        if (at == h && values[k] >= sorted[h - 1])
            continue;
        at = at == h ? h - 1 : at;
        for (; at > 0 && sorted[at - 1] > values[k]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = values[k];
    }
    return n_sorted == h ? sorted[h - 1] : bound;
}

/* Deviations of log y from the curve through triple T. */
static void deviations(const struct pm_robust *robust, size_t t, const double *log_y,
                       double *deviation) {
    const double *through = robust->through + t * robust->n * P;
    const uint32_t *members = robust->triples[t];
    for (size_t k = 0; k < robust->n; k++) {
        double curve = 0;
        for (size_t j = 0; j < P; j++)
            curve += through[k * P + j] * log_y[members[j]];
        deviation[k] = fabs(log_y[k] - curve);
    }
}

bool pm_robust_outliers(const struct pm_robust *robust, const double *y, double least,
                        double *scratch, bool *outlying) {
    size_t n = robust->n, best_triple = 0;
    double *log_y = scratch, *deviation = scratch + n, *sorted = scratch + 2 * n, best = DBL_MAX;
    for (size_t k = 0; k < n; k++) {
        log_y[k] = log(y[k]);
        outlying[k] = false;
    }
    if (is_calm(robust, log_y, least))
        return false;
    for (size_t t = 0; t < robust->n_triples; t++) {
        deviations(robust, t, log_y, deviation);
        double reached = smallest(deviation, n, robust->h, best, sorted);
        if (reached < best) {
            best = reached;
            best_triple = t;
        }
    }
    bool any = false;
    deviations(robust, best_triple, log_y, deviation);
    for (size_t k = 0; k < n; k++) {
        outlying[k] = deviation[k] > fmax(log1p(least), outlier_far * best);
        any |= outlying[k];
    }
    return any;
}
