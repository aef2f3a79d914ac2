/* What all surfaces of a fit share: the axes with their functions at the levels, the products at
   the points, the points as seen by some axes, and the grid on which shape is looked at.

   The grid reaches from the smallest level of each axis to pm_heuristics.shape_range times the
   largest, but not to places that the design says are inadmissible: where no run has the largest p
   beside the smallest q, p/q stays below the largest that was run.  (MM is at most a third of NLON:
   counts that are negative beyond that are none.) */
#include "fit/surface/private.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

enum {
    MAX_AXES = PM_SURFACE_MAX_AXES,
    MAX_FUNCTIONS = PM_SURFACE_MAX_FUNCTIONS,
    DEGREE = 4,
    N_LOGS = 3
};

/* ---- order ----------------------------------------------------------------------------------- */

int pm_surface_compare(const double *a, const double *b, size_t n_axes) {
    double left = 0, right = 0;
    for (size_t i = 0; i < n_axes; i++) {
        left += log(a[i]);
        right += log(b[i]);
    }
    left = round(left * 1e9); /* 2·8 and 4·4 are alike */
    right = round(right * 1e9);
    if (left != right)
        return left < right ? -1 : 1;
    for (size_t i = 0; i < n_axes; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* ---- axes ------------------------------------------------------------------------------------ */

static bool set_levels(struct pm_surface *s, size_t axis, const double *points,
                       struct pm_error *err) {
    struct pm_surface_axis *a = &s->axes[axis];
    a->levels = pm_alloc(s->n, sizeof *a->levels);
    for (size_t k = 0; k < s->n; k++) {
        double value = points[k * s->n_axes + axis];
        if (!(value > 0))
            return pm_fail(err, "%s=%g is not a size that can be fitted: it must be above 0",
                           a->name, value);
        size_t at = PM_LOWER_BOUND(a->n_levels, i, a->levels[i] < value);
        if (at < a->n_levels && a->levels[at] == value)
            continue;
        memmove(a->levels + at + 1, a->levels + at, (a->n_levels - at) * sizeof *a->levels);
        a->levels[at] = value;
        a->n_levels++;
    }
    for (size_t k = 0; k < s->n; k++)
        s->level[k][axis] =
            PM_LOWER_BOUND(a->n_levels, i, a->levels[i] < points[k * s->n_axes + axis]);
    return true;
}

static bool are_powers_of_two(const struct pm_surface_axis *a) {
    for (size_t l = 0; l < a->n_levels; l++)
        if (!pm_is_power_of_two(a->levels[l]))
            return false;
    return true;
}

static void add_function(struct pm_surface_axis *a, char *text, bool for_exact) {
    a->texts[a->n_functions] = text;
    a->for_exact[a->n_functions++] = for_exact;
}

static void add_default_functions(struct pm_surface_axis *a) {
    for (int i = 1; i <= DEGREE; i++)
        add_function(a, i == 1 ? pm_strdup(a->name) : pm_sprintf("%s^%d", a->name, i), false);
    for (int i = 0; i < N_LOGS && are_powers_of_two(a); i++)
        add_function(a,
                     i == 0   ? pm_sprintf("log2(%s)", a->name)
                     : i == 1 ? pm_sprintf("%s*log2(%s)", a->name, a->name)
                              : pm_sprintf("%s^%d*log2(%s)", a->name, i, a->name),
                     true);
}

static bool is_axis(const struct pm_surface *s, const char *name) {
    for (size_t i = 0; i < s->n_axes; i++)
        if (strcmp(s->axes[i].name, name) == 0)
            return true;
    return false;
}

/* The user's functions of this axis.  One of several parameters is an error. */
static bool add_functions(struct pm_surface *s, size_t axis, const char *const *texts, size_t n,
                          struct pm_error *err) {
    struct pm_surface_axis *a = &s->axes[axis];
    for (size_t i = 0; i < n; i++) {
        struct pm_expression *expression = pm_expression_parse(texts[i], err);
        if (!expression)
            return false;
        const char *const *names;
        size_t n_names;
        pm_expression_names(expression, &names, &n_names);
        bool own = n_names > 0 && strcmp(names[0], a->name) == 0;
        bool one = n_names == 0 || (n_names == 1 && is_axis(s, names[0]));
        pm_expression_free(expression);
        if (!one)
            return pm_fail(err,
                           "basis: `%s` is not a function of one of the parameters that vary by "
                           "themselves: give functions of one of them each, their products are "
                           "formed from these",
                           texts[i]);
        if (!own)
            continue;
        if (a->n_functions == MAX_FUNCTIONS)
            return pm_fail(err, "the basis has more than %d functions of %s", MAX_FUNCTIONS - 1,
                           a->name);
        add_function(a, pm_strdup(texts[i]), false);
    }
    return true;
}

static bool evaluate(const struct pm_basis *basis, const char *name, double x, double *values,
                     struct pm_error *err) {
    struct pm_parameters at = {0};
    if (!pm_parameters_set(&at, name, x, err) || !pm_basis_evaluate(basis, &at, values, err))
        return false;
    for (size_t f = 0; f < basis->n; f++)
        if (!isfinite(values[f]))
            return pm_fail(err, "the basis function `%s` has no value at %s=%g", basis->texts[f],
                           name, x);
    return true;
}

static bool fill_axis(struct pm_surface_axis *a, size_t n_grid, struct pm_error *err) {
    struct pm_basis *basis = pm_basis_new(a->n_functions, (const char *const *)a->texts, err);
    bool ok = basis != NULL;
    a->values = pm_alloc(a->n_levels, sizeof *a->values);
    for (size_t l = 0; ok && l < a->n_levels; l++)
        ok = evaluate(basis, a->name, a->levels[l], a->values[l], err);
    for (size_t f = 0; ok && f < a->n_functions; f++) {
        double last = fabs(a->values[a->n_levels - 1][f]);
        a->scale[f] = last > 0 ? last : 1;
    }
    double low = a->levels[0], high = pm_heuristics.shape_range * a->levels[a->n_levels - 1];
    a->n_grid = n_grid;
    for (size_t g = 0; ok && g < n_grid; g++) {
        double before[MAX_FUNCTIONS], after[MAX_FUNCTIONS];
        double x = low * pow(high / low, (double)g / (double)(n_grid - 1));
        a->grid[g] = x;
        ok = evaluate(basis, a->name, x, a->grid_values[g], err) &&
             evaluate(basis, a->name, x * (1 - pm_heuristics.slope_step), before, err) &&
             evaluate(basis, a->name, x * (1 + pm_heuristics.slope_step), after, err);
        for (size_t f = 0; ok && f < a->n_functions; f++) {
            a->grid_values[g][f] /= a->scale[f];
            a->grid_slopes[g][f] =
                (after[f] - before[f]) / (2 * pm_heuristics.slope_step * a->scale[f]);
        }
    }
    for (size_t f = 0; ok && f < a->n_functions; f++) {
        double far = fabs(a->grid_values[n_grid - 1][f]) * a->scale[f];
        double last = fabs(a->values[a->n_levels - 1][f]);
        a->power[f] = last > 0 && far > 0 ? log(far / last) / log(pm_heuristics.shape_range) : 0;
    }
    pm_basis_free(basis);
    return ok;
}

static bool new_axis(struct pm_surface *s, size_t axis, const char *name, const double *points,
                     const char *const *texts, size_t n_texts, struct pm_error *err) {
    static const size_t n_grid[MAX_AXES + 1] = {0, PM_SURFACE_MAX_GRID, PM_SURFACE_MAX_GRID, 6, 5};
    struct pm_surface_axis *a = &s->axes[axis];
    if (!set_levels(s, axis, points, err))
        return false;
    if (a->n_levels < PM_SURFACE_LEAST_LEVELS)
        return pm_fail(err,
                       "%s has only %zu values in the runs, and models need %d at least: run "
                       "more, as in `pmodel run -P %s=%g,%g,%g,%g`",
                       name, a->n_levels, PM_SURFACE_LEAST_LEVELS, name, a->levels[0],
                       a->levels[a->n_levels - 1], 1.5 * a->levels[a->n_levels - 1],
                       2 * a->levels[a->n_levels - 1]);
    add_function(a, pm_strdup("1"), false);
    if (!add_functions(s, axis, texts, n_texts, err))
        return false;
    if (a->n_functions == 1)
        add_default_functions(a);
    return fill_axis(a, n_grid[s->n_axes], err);
}

/* ---- products -------------------------------------------------------------------------------- */

static int compare_products(const void *a, const void *b) {
    const struct pm_surface_product *left = a, *right = b;
    if (left->scale != right->scale)
        return left->scale < right->scale ? -1 : 1;
    return memcmp(left->functions, right->functions, sizeof left->functions);
}

/* Product number CODE of all that there are; false if it grows too much to be of use. */
static bool make_product(const struct pm_surface *s, size_t code,
                         struct pm_surface_product *product) {
    size_t n_functions = 0;
    *product = (struct pm_surface_product){.scale = 1};
    for (size_t i = 0; i < s->n_axes; i++) {
        const struct pm_surface_axis *a = &s->axes[i];
        size_t f = code % a->n_functions;
        code /= a->n_functions;
        product->functions[i] = f;
        product->for_exact |= a->for_exact[f];
        product->high_power |= a->power[f] > pm_heuristics.high_power;
        product->scale *= a->scale[f];
        product->power += a->power[f];
        n_functions += f != 0;
    }
    return n_functions < 2 || product->power <= pm_heuristics.product_power;
}

/* Value of product J, not scaled, at point K. */
static double product_value(const struct pm_surface *s, size_t j, size_t k) {
    double value = 1;
    for (size_t i = 0; i < s->n_axes; i++)
        value *= s->axes[i].values[s->level[k][i]][s->products[j].functions[i]];
    return value;
}

static void make_products(struct pm_surface *s) {
    size_t n = 1;
    for (size_t i = 0; i < s->n_axes; i++)
        n *= s->axes[i].n_functions;
    s->products = pm_alloc(n, sizeof *s->products);
    for (size_t code = 0; code < n; code++)
        s->n_products += make_product(s, code, &s->products[s->n_products]);
    /* The fastest growing last; 1 stays first. */
    qsort(s->products + 1, s->n_products - 1, sizeof *s->products, compare_products);
    s->index = pm_alloc(s->n_products, sizeof *s->index);
    for (size_t j = 0; j < s->n_products; j++)
        s->index[j] = (uint16_t)j;
    s->columns = pm_alloc(s->n * s->n_products, sizeof *s->columns);
    for (size_t k = 0; k < s->n; k++)
        for (size_t j = 0; j < s->n_products; j++)
            s->columns[k * s->n_products + j] = product_value(s, j, k) / s->products[j].scale;
}

size_t pm_surface_n_points(const struct pm_surface *s) { return s->n; }
size_t pm_surface_n_products(const struct pm_surface *s) { return s->n_products; }
double pm_surface_size(const struct pm_surface *s, size_t k) { return s->size[k]; }
size_t pm_surface_nearest(const struct pm_surface *s, size_t k) { return s->nearest[k]; }

void pm_surface_number_product(struct pm_surface *s, size_t j, uint16_t number) {
    s->index[j] = number;
}

void pm_surface_steps(const struct pm_surface *s, size_t from, size_t to, double *up,
                      double *down) {
    *up = *down = 0;
    for (size_t i = 0; i < s->n_axes; i++) {
        const double *levels = s->axes[i].levels;
        double step = log(levels[s->level[to][i]] / levels[s->level[from][i]]);
        *(step > 0 ? up : down) += step;
    }
}

double pm_surface_function(const struct pm_surface *s, size_t number, size_t k) {
    for (size_t j = 0; j < s->n_products; j++)
        if (s->index[j] == number)
            return product_value(s, j, k);
    return 0;
}

/* A sum of the user's gets parentheses. */
char *pm_surface_text(const struct pm_surface *s, size_t j) {
    char *text = NULL;
    for (size_t i = 0; i < s->n_axes; i++) {
        size_t f = s->products[j].functions[i];
        const char *factor = s->axes[i].texts[f];
        if (f == 0)
            continue;
        bool sum = strpbrk(factor, "+-/%<>=!&|") != NULL;
        pm_append(&text, "%s%s%s%s", text ? "*" : "", sum ? "(" : "", factor, sum ? ")" : "");
    }
    return text ? text : pm_strdup("1");
}

/* ---- points ---------------------------------------------------------------------------------- */

static bool same_place(const struct pm_surface *s, size_t a, size_t b, unsigned axes) {
    for (size_t i = 0; i < s->n_axes; i++)
        if ((axes >> i & 1) && s->level[a][i] != s->level[b][i])
            return false;
    return true;
}

static void project(struct pm_surface *s, unsigned axes) {
    struct pm_surface_projection *p = &s->projections[axes];
    p->of = pm_alloc(s->n, sizeof *p->of);
    p->point = pm_alloc(s->n, sizeof *p->point);
    for (size_t k = 0; k < s->n; k++) {
        size_t place = 0;
        while (place < p->n && !same_place(s, k, p->point[place], axes))
            place++;
        if (place == p->n)
            p->point[p->n++] = k;
        p->of[k] = place;
    }
}

/* Distance of two points: the sum over the axes of |log of the ratio|. */
static double apart(const struct pm_surface *s, size_t a, size_t b) {
    double sum = 0;
    for (size_t i = 0; i < s->n_axes; i++)
        sum += fabs(log(s->axes[i].levels[s->level[a][i]] / s->axes[i].levels[s->level[b][i]]));
    return sum;
}

static void order_points(struct pm_surface *s) {
    s->size = pm_alloc(s->n, sizeof *s->size);
    s->nearest = pm_alloc(s->n, sizeof *s->nearest);
    for (size_t k = 0; k < s->n; k++) {
        double sum = 0, least = INFINITY;
        for (size_t i = 0; i < s->n_axes; i++) {
            const struct pm_surface_axis *a = &s->axes[i];
            sum += log(a->levels[s->level[k][i]] / a->levels[a->n_levels - 1]);
        }
        s->size[k] = exp(sum / (double)s->n_axes);
        s->nearest[k] = s->n;
        for (size_t other = k + 1; other < s->n; other++)
            if (apart(s, k, other) < least * (1 - pm_heuristics.rounding)) {
                least = apart(s, k, other);
                s->nearest[k] = other;
            }
    }
}

/* The largest p/q at which shape is looked at. */
static double most_ratio(const struct pm_surface *s, size_t p, size_t q) {
    double most = 0;
    for (size_t k = 0; k < s->n; k++) {
        if (s->level[k][p] == s->axes[p].n_levels - 1 && s->level[k][q] == 0)
            return INFINITY;
        most = fmax(most, s->axes[p].levels[s->level[k][p]] / s->axes[q].levels[s->level[k][q]]);
    }
    return most * pm_heuristics.admissible;
}

static void make_grid(struct pm_surface *s) {
    size_t n = 1;
    double ratios[MAX_AXES][MAX_AXES];
    for (size_t p = 0; p < s->n_axes; p++) {
        n *= s->axes[p].n_grid;
        for (size_t q = 0; q < s->n_axes; q++)
            ratios[p][q] = most_ratio(s, p, q);
    }
    s->grid = pm_alloc(n, sizeof *s->grid);
    size_t *place = pm_alloc(n, sizeof *place);
    for (size_t code = 0; code < n; code++) {
        size_t rest = code, *at = s->grid[s->n_grid];
        bool admissible = true;
        for (size_t i = 0; i < s->n_axes; i++) {
            at[i] = rest % s->axes[i].n_grid;
            rest /= s->axes[i].n_grid;
        }
        for (size_t p = 0; p < s->n_axes; p++)
            for (size_t q = 0; q < s->n_axes; q++)
                admissible &=
                    p == q || s->axes[p].grid[at[p]] / s->axes[q].grid[at[q]] <= ratios[p][q];
        place[code] = admissible ? s->n_grid++ : SIZE_MAX;
    }
    s->below = pm_alloc(s->n_grid * s->n_axes, sizeof *s->below);
    for (size_t code = 0; code < n; code++) {
        size_t stride = 1;
        for (size_t i = 0; place[code] != SIZE_MAX && i < s->n_axes; i++) {
            size_t before = s->grid[place[code]][i] ? place[code - stride] : SIZE_MAX;
            s->below[place[code] * s->n_axes + i] = before == SIZE_MAX ? s->n_grid : before;
            stride *= s->axes[i].n_grid;
        }
    }
    free(place);
}

/* ---- is the design sufficient?
 * ------------------------------------------------------------------- */

/* True if 1, p, q and pq do not depend on each other at the points. */
static bool determines_product(const struct pm_surface *s, size_t p, size_t q) {
    double(*columns)[PM_LEAST_SQUARES_MAX] = pm_alloc(s->n, sizeof *columns);
    double triangle[PM_LEAST_SQUARES_MAX][PM_LEAST_SQUARES_MAX];
    const struct pm_surface_axis *a = &s->axes[p], *b = &s->axes[q];
    for (size_t k = 0; k < s->n; k++) {
        double x = a->levels[s->level[k][p]] / a->levels[a->n_levels - 1];
        double y = b->levels[s->level[k][q]] / b->levels[b->n_levels - 1];
        columns[k][0] = 1;
        columns[k][1] = x;
        columns[k][2] = y;
        columns[k][3] = x * y;
    }
    bool independent = pm_orthonormalise(s->n, 4, columns, triangle);
    free(columns);
    return independent && triangle[3][3] > 1e-6;
}

static bool check_design(const struct pm_surface *s, struct pm_error *err) {
    if (s->n < (1u << s->n_axes) + 1)
        return pm_fail(
            err,
            "models in %zu parameters need %u runs at least, and there are %zu: run "
            "more, as in `pmodel run -P %s=%g,%g,%g -P %s=%g,%g,%g`",
            s->n_axes, (1u << s->n_axes) + 1, s->n, s->axes[0].name, s->axes[0].levels[0],
            s->axes[0].levels[1], s->axes[0].levels[s->axes[0].n_levels - 1], s->axes[1].name,
            s->axes[1].levels[0], s->axes[1].levels[1], s->axes[1].levels[s->axes[1].n_levels - 1]);
    for (size_t p = 0; p < s->n_axes; p++)
        for (size_t q = p + 1; q < s->n_axes; q++)
            if (!determines_product(s, p, q)) {
                const struct pm_surface_axis *a = &s->axes[p], *b = &s->axes[q];
                return pm_fail(err,
                               "the runs do not tell what %s and %s do together, because only "
                               "one of them changes at a time: run more, as in `pmodel run -P "
                               "%s=%g,%g -P %s=%g,%g`",
                               a->name, b->name, a->name, a->levels[0], a->levels[a->n_levels - 1],
                               b->name, b->levels[0], b->levels[b->n_levels - 1]);
            }
    return true;
}

struct pm_surface *pm_surface_new(const char *const *names, size_t n_axes, const double *points,
                                  size_t n, const char *const *texts, size_t n_texts,
                                  struct pm_error *err) {
    struct pm_surface *s = pm_alloc(1, sizeof *s);
    bool ok = true;
    s->n = n;
    s->n_axes = n_axes;
    s->level = pm_alloc(n, sizeof *s->level);
    for (size_t i = 0; i < n_axes; i++)
        snprintf(s->axes[i].name, sizeof s->axes[i].name, "%s", names[i]);
    for (size_t i = 0; ok && i < n_axes; i++)
        ok = new_axis(s, i, names[i], points, texts, n_texts, err);
    if (!ok || !check_design(s, err)) {
        pm_surface_free(s);
        return NULL;
    }
    make_products(s);
    for (unsigned axes = 0; axes < 1u << n_axes; axes++)
        project(s, axes);
    order_points(s);
    make_grid(s);
    return s;
}

void pm_surface_free(struct pm_surface *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->n_axes; i++) {
        for (size_t f = 0; f < s->axes[i].n_functions; f++)
            free(s->axes[i].texts[f]);
        free(s->axes[i].levels);
        free(s->axes[i].values);
    }
    for (unsigned axes = 0; axes < 1u << PM_SURFACE_MAX_AXES; axes++) {
        free(s->projections[axes].of);
        free(s->projections[axes].point);
    }
    free(s->level);
    free(s->size);
    free(s->nearest);
    free(s->products);
    free(s->index);
    free(s->columns);
    free(s->grid);
    free(s->below);
    free(s);
}
