/* Exact counts with remainders: what the compiler makes of a loop over N elements, V at a time.

       y(x) = s(x) · Σ C_k x^k + Σ D_k x^k        C_k, D_k fractions (exact.c)

   s is one of, with r = (x + a) mod V,
       floor((x + a) / V)       iterations of the vector loop
       r                        iterations of what is left, one at a time
       min(1, r)                whether something is left
       floor(r / (V / 2))       whether half a vector is
   Loops around it give the powers of x.  Of offsets a that give the same quotients at all measured
   sizes the one counts with r = 0 at some of them; the fewest terms are tried first, the narrowest
   vectors, and a that is 0 or negative, since loops leave out what is at borders.
   As with logarithms only what reproduces every value, in fewer bits than the values, is taken:
   the trend of such counts, which is what a polynomial finds, is off by a tenth and more at small
   sizes, and may have another power.
   Source: of this project. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/series/private.h"

/* A count with a remainder has so many values that are not zero. */
static const double remainder_values = 3.0;

enum { MOST_TERMS = PM_REMAINDER_STEPPED + PM_REMAINDER_SMOOTH };

static const int widths[] = {2, 4, 8, 16, 32};
enum { N_WIDTHS = sizeof widths / sizeof *widths };

/* How many powers of x with s, and without. */
static const struct {
    uint8_t n_stepped, n_smooth;
} candidates[] = {{1, 0}, {1, 1}, {2, 0}, {1, 2}, {2, 1}, {3, 0},
                  {2, 2}, {3, 1}, {3, 2}, {2, 3}, {3, 3}};
enum { N_CANDIDATES = sizeof candidates / sizeof *candidates };

/* Widths and offsets that are tried, as bits: what choosing one among them takes to write down. */
static const double bits_of_all = 8;
/* Vectors that a loop does without: borders, and the last time round, which does not come back. */
static const int most_left_out = 3;

static double rest_of(double x, int width, int offset) {
    return x + offset - width * floor((x + offset) / width);
}

static double value_of(enum pm_remainder_kind kind, double x, int width, int offset) {
    double rest = rest_of(x, width, offset);
    switch (kind) {
    case PM_REMAINDER_QUOTIENT:
        return floor((x + offset) / width);
    case PM_REMAINDER_REST:
        return rest;
    case PM_REMAINDER_ANY:
        return rest > 0;
    default:
        return floor(2 * rest / width);
    }
}

struct trial {
    size_t n;
    const double *x, *y;
    double *steps;       /* s */
    long double *values; /* [term · n + size] */
    double *rows;        /* [term · stride + size], weights behind them */
    size_t stride;
    double bits_of_choice;
};

static bool fits(const struct trial *t, size_t c, long double *exact) {
    size_t n_stepped = candidates[c].n_stepped, n_terms = n_stepped + candidates[c].n_smooth;
    double *weight = t->rows + MOST_TERMS * t->stride;
    struct pm_least_squares problem = {.n = t->stride, .stride = t->stride, .columns = t->rows};
    if (n_terms >= t->n)
        return false;
    memset(exact, 0, MOST_TERMS * sizeof *exact);
    for (size_t j = 0; j < n_terms; j++)
        for (size_t k = 0; k < t->n; k++) {
            bool is_stepped = j < n_stepped;
            long double power = powl(t->x[k], (long double)(is_stepped ? j : j - n_stepped));
            t->values[j * t->n + k] = is_stepped ? t->steps[k] * power : power;
            t->rows[j * t->stride + k] = (double)t->values[j * t->n + k] * weight[k];
        }
    if (!pm_orthonormalise(&problem, n_terms))
        return false;
    for (size_t i = 0; i <= PM_REFINEMENTS; i++)
        pm_exact_improve(&problem, t->n, n_terms, t->values, t->y, weight, exact);
    bool whole;
    return pm_exact_round(t->n, n_terms, t->values, t->y, t->bits_of_choice, exact, &whole);
}

/* Do the quotients by this offset differ from those by others, and remainders from size to size? */
static bool tells(const struct trial *t, int width, int offset) {
    double first = rest_of(t->x[0], width, offset), least = first, most = first;
    for (size_t k = 1; k < t->n; k++) {
        double rest = rest_of(t->x[k], width, offset);
        least = fmin(least, rest);
        most = fmax(most, rest);
    }
    return least == 0 && most > 0;
}

static bool try_step(const struct trial *t, enum pm_remainder_kind kind, int width, int offset,
                     size_t c, struct pm_remainder_model *model) {
    long double exact[MOST_TERMS];
    bool varies = false;
    for (size_t k = 0; k < t->n; k++) {
        t->steps[k] = value_of(kind, t->x[k], width, offset);
        varies |= t->steps[k] != t->steps[0];
    }
    if (!varies || !fits(t, c, exact))
        return false;
    *model = (struct pm_remainder_model){
        .kind = (uint8_t)kind, .width = (uint16_t)width, .offset = (int16_t)offset};
    for (size_t j = 0; j < candidates[c].n_stepped; j++)
        model->stepped[j] = (double)exact[j];
    for (size_t j = 0; j < candidates[c].n_smooth; j++)
        model->smooth[j] = (double)exact[candidates[c].n_stepped + j];
    return true;
}

static bool try_offset(const struct trial *t, int width, int offset, size_t c,
                       struct pm_remainder_model *model) {
    if (!tells(t, width, offset))
        return false;
    for (unsigned kind = 0; kind < PM_N_REMAINDERS; kind++) {
        bool repeats = kind != PM_REMAINDER_QUOTIENT && (offset > 0 || offset <= -width);
        if (!repeats && (kind != PM_REMAINDER_HALF || width > 2) &&
            try_step(t, kind, width, offset, c, model))
            return true;
    }
    return false;
}

static bool search_all(const struct trial *t, struct pm_remainder_model *model) {
    for (size_t c = 0; c < N_CANDIDATES; c++)
        for (size_t w = 0; w < N_WIDTHS; w++) {
            for (int offset = 0; offset > -most_left_out * widths[w]; offset--)
                if (try_offset(t, widths[w], offset, c, model))
                    return true;
            for (int offset = 1; offset < widths[w]; offset++)
                if (try_offset(t, widths[w], offset, c, model))
                    return true;
        }
    return false;
}

static bool search_known(const struct trial *t, const struct pm_remainder_model *known,
                         size_t n_known, struct pm_remainder_model *model) {
    for (size_t c = 0; c < N_CANDIDATES; c++)
        for (size_t i = 0; i < n_known; i++)
            if (try_offset(t, known[i].width, known[i].offset, c, model))
                return true;
    return false;
}

bool pm_fit_remainders(size_t n, const double *x, const double *y,
                       const struct pm_remainder_model *known, size_t n_known,
                       struct pm_remainder_model *model) {
    size_t n_values = 0, stride = pm_vector_padded(n);
    if (pm_fit_without(PM_STEP_EXACT))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!pm_is_whole(x[i]) || !pm_is_whole(y[i]))
            return false;
        n_values += y[i] != 0;
    }
    if (n_values < remainder_values)
        return false;
    struct trial t = {.n = n, .x = x, .y = y, .stride = stride};
    t.steps = pm_alloc(n, sizeof *t.steps);
    t.values = pm_alloc(MOST_TERMS * n, sizeof *t.values);
    t.rows = pm_alloc((MOST_TERMS + 1) * stride, sizeof *t.rows);
    for (size_t k = 0; k < n; k++)
        t.rows[MOST_TERMS * stride + k] = 1 / fmax(fabs(y[k]), 1);
    t.bits_of_choice = (known ? log2((double)n_known) : bits_of_all) +
                       log2((double)N_CANDIDATES * PM_N_REMAINDERS);
    bool found = known ? search_known(&t, known, n_known, model) : search_all(&t, model);
    free(t.steps);
    free(t.values);
    free(t.rows);
    return found;
}

char *pm_remainder_text(const struct pm_remainder_model *model, const char *name, size_t power) {
    enum { ROOM = 256 };
    char shifted[PM_PARAMETER_NAME_SIZE + 16], *text = pm_alloc(ROOM, 1);
    if (model->offset)
        snprintf(shifted, sizeof shifted, "(%s %c %d)", name, model->offset < 0 ? '-' : '+',
                 abs(model->offset));
    else
        snprintf(shifted, sizeof shifted, "%s", name);
    size_t at = 0;
    if (power == 1)
        at = (size_t)snprintf(text, ROOM, "%s*", name);
    else if (power > 1)
        at = (size_t)snprintf(text, ROOM, "%s^%zu*", name, power);
    char *rest = text + at;
    size_t room = ROOM - at;
    if (model->kind == PM_REMAINDER_QUOTIENT)
        snprintf(rest, room, "floor(%s/%d)", shifted, model->width);
    else if (model->kind == PM_REMAINDER_REST)
        snprintf(rest, room, "(%s%%%d)", shifted, model->width);
    else if (model->kind == PM_REMAINDER_ANY)
        snprintf(rest, room, "min(1, %s%%%d)", shifted, model->width);
    else
        snprintf(rest, room, "floor(%s%%%d/%d)", shifted, model->width, model->width / 2);
    return text;
}
