/* The design in several parameters: axes with functions of one parameter each, of which the basis
   has the products; are the runs enough to tell these apart? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/series/private.h"

/* Of the product of two parameters, what is left of it beside them: less is rounding, and the runs
 * do not tell. */
static const double told_apart = 1e-6;

enum { MAX_FUNCTIONS = PM_MODEL_MAX_TERMS, DEGREE = PM_FIT_POLYNOMIALS - 1, N_LOGS = 3 };

int pm_design_compare(const double *a, const double *b, size_t n_axes) {
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

/* A sum of the user's gets parentheses. */
char *pm_design_text(const struct pm_design *d, size_t j) {
    char *text = NULL;
    for (size_t i = 0; i < d->n_axes; i++) {
        size_t f = d->basis[j].factors[i];
        const char *factor = d->axes[i].texts[f];
        if (f == 0)
            continue;
        bool sum = strpbrk(factor, "+-/%<>=!&|") != NULL;
        pm_append(&text, "%s%s%s%s", text ? "*" : "", sum ? "(" : "", factor, sum ? ")" : "");
    }
    return text ? text : pm_strdup("1");
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* The distinct values of POINTS on AXIS, ascending; how many. */
static size_t find_levels(const struct pm_design *d, size_t axis, const double *points,
                          double *levels) {
    size_t n = 0;
    for (size_t k = 0; k < d->n; k++) {
        double value = points[k * d->n_axes + axis];
        size_t at = PM_LOWER_BOUND(n, i, levels[i] < value);
        if (at < n && levels[at] == value)
            continue;
        memmove(levels + at + 1, levels + at, (n - at) * sizeof *levels);
        levels[at] = value;
        n++;
    }
    for (size_t k = 0; k < d->n; k++)
        d->level[k][axis] = PM_LOWER_BOUND(n, i, levels[i] < points[k * d->n_axes + axis]);
    return n;
}

/* Functions of one axis before they are put in order. */
struct functions {
    size_t n;
    char *texts[MAX_FUNCTIONS]; /* owned */
    bool for_exact[MAX_FUNCTIONS];
};

static void add_function(struct functions *to, char *text, bool for_exact) {
    to->texts[to->n] = text;
    to->for_exact[to->n++] = for_exact;
}

static void add_default_functions(struct functions *to, const char *name, const double *levels,
                                  size_t n_levels) {
    bool powers_of_two = true;
    for (size_t l = 0; l < n_levels; l++)
        powers_of_two &= pm_is_power_of_two(levels[l]);
    for (int i = 1; i <= DEGREE; i++)
        add_function(to, i == 1 ? pm_strdup(name) : pm_sprintf("%s^%d", name, i), false);
    for (int i = 0; i < N_LOGS && powers_of_two; i++)
        add_function(to,
                     i == 0   ? pm_sprintf("log2(%s)", name)
                     : i == 1 ? pm_sprintf("%s*log2(%s)", name, name)
                              : pm_sprintf("%s^%d*log2(%s)", name, i, name),
                     true);
}

static bool is_axis(const struct pm_design *d, const char *name) {
    for (size_t i = 0; i < d->n_axes; i++)
        if (strcmp(d->axes[i].name, name) == 0)
            return true;
    return false;
}

/* The user's functions of axis NAME.  One of several parameters is an error. */
static bool add_functions(const struct pm_design *d, struct functions *to, const char *name,
                          const char *const *texts, size_t n, struct pm_error *err) {
    for (size_t i = 0; i < n; i++) {
        struct pm_expression *expression = pm_expression_parse(texts[i], err);
        if (!expression)
            return false;
        const char *const *names;
        size_t n_names;
        pm_expression_names(expression, &names, &n_names);
        bool own = n_names > 0 && strcmp(names[0], name) == 0;
        bool one = n_names == 0 || (n_names == 1 && is_axis(d, names[0]));
        pm_expression_free(expression);
        if (!one)
            return pm_fail(err,
                           "basis: `%s` is not a function of one of the parameters that vary by "
                           "themselves: give functions of one of them each, their products are "
                           "formed from these",
                           texts[i]);
        if (!own)
            continue;
        if (to->n == MAX_FUNCTIONS)
            return pm_fail(err, "the basis has more than %d functions of %s", MAX_FUNCTIONS - 1,
                           name);
        add_function(to, pm_strdup(texts[i]), false);
    }
    return true;
}

/* Fills AXIS, which takes the texts over, with FUNCTIONS at N_LEVELS. */
static bool fill_axis(struct pm_axis *axis, const struct functions *functions, const double *levels,
                      size_t n_levels, struct pm_error *err) {
    const struct pm_path path = {.parameter = axis->name, .n = n_levels, .x = levels};
    struct pm_basis *basis = pm_basis_new(functions->n, (const char *const *)functions->texts, err);
    bool ok = basis && pm_axis_fill(axis, basis, &path, err);
    pm_basis_free(basis);
    for (size_t f = 0; f < functions->n; f++) {
        size_t from = ok ? axis->number[f] : f;
        axis->texts[f] = functions->texts[from];
        axis->for_exact[f] = functions->for_exact[from];
    }
    return ok;
}

static bool new_axis(struct pm_design *d, size_t i, const double *points, const char *const *texts,
                     size_t n_texts, struct pm_error *err) {
    static const size_t n_grid[] = {
        [2] = PM_AXES_GRID_2, [3] = PM_AXES_GRID_3, [4] = PM_AXES_GRID_4};
    struct pm_axis *axis = &d->axes[i];
    struct functions functions = {0};
    double *levels = pm_alloc(d->n, sizeof *levels);
    size_t n = find_levels(d, i, points, levels);
    bool ok = n >= PM_FIT_LEAST_LEVELS || !(levels[0] > 0) ||
              pm_fail(err,
                      "%s has only %zu values in the runs, and models need %d at least: run "
                      "more, as in `pmodel run -P %s=%g,%g,%g,%g`",
                      axis->name, n, PM_FIT_LEAST_LEVELS, axis->name, levels[0], levels[n - 1],
                      1.5 * levels[n - 1], 2 * levels[n - 1]);
    axis->n_grid = n_grid[d->n_axes];
    add_function(&functions, pm_strdup("1"), false);
    ok = ok && add_functions(d, &functions, axis->name, texts, n_texts, err);
    if (ok && functions.n == 1)
        add_default_functions(&functions, axis->name, levels, n);
    ok = ok && fill_axis(axis, &functions, levels, n, err);
    for (size_t f = 0; f < functions.n && !axis->texts[0]; f++)
        free(functions.texts[f]);
    free(levels);
    return ok;
}

/* ---- do the runs tell? ----------------------------------------------------------------------- */

/* True if 1, p, q and pq do not depend on each other at the points. */
static bool determines_product(const struct pm_design *d, size_t p, size_t q) {
    size_t stride = pm_vector_padded(d->n);
    struct pm_least_squares fit = {
        .n = stride, .stride = stride, .columns = pm_alloc(4 * stride, sizeof(double))};
    const struct pm_axis *a = &d->axes[p], *b = &d->axes[q];
    for (size_t k = 0; k < d->n; k++) {
        double x = pm_design_at(d, k, p) / a->levels[a->n_levels - 1];
        double y = pm_design_at(d, k, q) / b->levels[b->n_levels - 1];
        fit.columns[k] = 1;
        fit.columns[stride + k] = x;
        fit.columns[2 * stride + k] = y;
        fit.columns[3 * stride + k] = x * y;
    }
    bool independent = pm_orthonormalise(&fit, 4);
    free(fit.columns);
    return independent && fit.triangle[3][3] > told_apart;
}

static bool check_design(const struct pm_design *d, struct pm_error *err) {
    if (d->n < (1u << d->n_axes) + 1)
        return pm_fail(
            err,
            "models in %zu parameters need %u runs at least, and there are %zu: run "
            "more, as in `pmodel run -P %s=%g,%g,%g -P %s=%g,%g,%g`",
            d->n_axes, (1u << d->n_axes) + 1, d->n, d->axes[0].name, d->axes[0].levels[0],
            d->axes[0].levels[1], d->axes[0].levels[d->axes[0].n_levels - 1], d->axes[1].name,
            d->axes[1].levels[0], d->axes[1].levels[1], d->axes[1].levels[d->axes[1].n_levels - 1]);
    for (size_t p = 0; p < d->n_axes; p++)
        for (size_t q = p + 1; q < d->n_axes; q++)
            if (!determines_product(d, p, q)) {
                const struct pm_axis *a = &d->axes[p], *b = &d->axes[q];
                return pm_fail(err,
                               "the runs do not tell what %s and %s do together, because only "
                               "one of them changes at a time: run more, as in `pmodel run -P "
                               "%s=%g,%g -P %s=%g,%g`",
                               a->name, b->name, a->name, a->levels[0], a->levels[a->n_levels - 1],
                               b->name, b->levels[0], b->levels[b->n_levels - 1]);
            }
    return true;
}

struct pm_design *pm_design_on_axes(const char *const *names, size_t n_axes, const double *points,
                                    size_t n, const char *const *texts, size_t n_texts,
                                    struct pm_error *err) {
    struct pm_design *d = pm_alloc(1, sizeof *d);
    bool ok = true;
    d->n = n;
    d->n_axes = n_axes;
    d->axes = pm_alloc(n_axes, sizeof *d->axes);
    d->level = pm_alloc(n, sizeof *d->level);
    for (size_t i = 0; i < n_axes; i++)
        snprintf(d->axes[i].name, sizeof d->axes[i].name, "%s", names[i]);
    for (size_t i = 0; ok && i < n_axes; i++)
        ok = new_axis(d, i, points, texts, n_texts, err);
    if (!ok || !check_design(d, err)) {
        pm_design_free(d);
        return NULL;
    }
    pm_design_complete(d);
    return d;
}
