/* What all series of a fit share: basis functions at the measured sizes, beyond them, and where
   shape is looked at.

   A function is a product of one function of each axis; with one axis it is that axis's function.
   The places where shape is looked at reach from the smallest level of each axis to
   pm_heuristics.shape_range times the largest, but not to where the design says that there are
   none: where no run has the largest p beside the smallest q, p/q stays below the largest that was
   run.  (In PSTSWM, MM is at most a third of NLON: counts that are negative beyond that are none.)
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/series/private.h"

/* Powers in all of a product of several functions, at most. */
static const double product_power = 6.5;
/* The largest ratio of two parameters, and rounding. */
static const double just_above = 1.001;

enum { MAX_AXES = PM_FIT_MAX_AXES };

/* ---- functions ------------------------------------------------------------------------------- */

/* Function F at point K, not scaled. */
static double function_at(const struct pm_design *d, const struct pm_function *f, size_t k) {
    double value = 1;
    for (size_t i = 0; i < d->n_axes; i++)
        value *= d->axes[i].values[d->level[k][i]][f->factors[i]];
    return value;
}

/* Function number CODE of all products; false if it grows too much to be of use. */
static bool make_function(const struct pm_design *d, size_t code, struct pm_function *function) {
    size_t n_factors = 0;
    *function = (struct pm_function){.scale = 1};
    for (size_t i = 0; i < d->n_axes; i++) {
        const struct pm_axis *axis = &d->axes[i];
        size_t f = code % axis->n_functions;
        code /= axis->n_functions;
        function->factors[i] = (uint8_t)f;
        function->for_exact |= axis->for_exact[f];
        function->steep |= axis->steep[f];
        function->scale *= axis->scale[f];
        function->power += axis->power[f];
        n_factors += f != 0;
    }
    return n_factors < 2 || function->power <= product_power;
}

struct sized {
    double size; /* at the largest levels */
    struct pm_function function;
};

static int compare_sizes(const void *a, const void *b) {
    const struct sized *left = a, *right = b;
    if (left->size != right->size)
        return left->size < right->size ? -1 : 1;
    return memcmp(left->function.factors, right->function.factors, sizeof left->function.factors);
}

/* The fastest growing last; 1 stays first. */
static void sort_functions(struct pm_design *d) {
    struct sized *sized = pm_alloc(d->n_basis, sizeof *sized);
    for (size_t f = 0; f < d->n_basis; f++) {
        sized[f] = (struct sized){1, d->basis[f]};
        for (size_t i = 0; i < d->n_axes; i++) {
            const struct pm_axis *axis = &d->axes[i];
            double last = fabs(axis->values[axis->n_levels - 1][d->basis[f].factors[i]]);
            sized[f].size *= last > 0 ? last : 1;
        }
    }
    qsort(sized + 1, d->n_basis - 1, sizeof *sized, compare_sizes);
    for (size_t f = 0; f < d->n_basis; f++)
        d->basis[f] = sized[f].function;
    free(sized);
}

static void make_functions(struct pm_design *d) {
    size_t n = 1;
    for (size_t i = 0; i < d->n_axes; i++)
        n *= d->axes[i].n_functions;
    d->basis = pm_alloc(n, sizeof *d->basis);
    for (size_t code = 0; code < n; code++)
        d->n_basis += make_function(d, code, &d->basis[d->n_basis]);
    if (d->n_axes > 1)
        sort_functions(d);
    for (size_t f = 0; f < d->n_basis; f++) {
        d->basis[f].index = d->n_axes > 1 ? (uint16_t)f : d->axes[0].number[f];
        d->n_gentle += !d->basis[f].steep;
    }
    d->n_gentle = d->n_gentle ? d->n_gentle : d->n_basis;
    d->stride = pm_vector_padded(d->n);
    d->values = pm_alloc(d->n_basis * d->stride, sizeof *d->values);
    for (size_t f = 0; f < d->n_basis; f++)
        for (size_t k = 0; k < d->n; k++)
            d->values[f * d->stride + k] = function_at(d, &d->basis[f], k) / d->basis[f].scale;
}

/* ---- beyond the data ------------------------------------------------------------------------- */

/* Function F where the axes of the set AXES are at the end of their grids, the others as at the
   last size. */
static double value_beyond(const struct pm_design *d, const struct pm_function *f, unsigned axes) {
    double value = 1;
    for (size_t i = 0; i < d->n_axes; i++) {
        const struct pm_axis *axis = &d->axes[i];
        size_t factor = f->factors[i];
        value *= axes >> i & 1 ? axis->shape[PM_SHAPE_VALUE][factor][axis->n_grid - 1]
                               : axis->values[d->level[d->n - 1][i]][factor] / axis->scale[factor];
    }
    return value;
}

static void find_ways_out(struct pm_design *d) {
    size_t n_ways = d->n_axes > 1 ? 1 + d->n_axes : 1;
    d->end = pm_alloc(d->n_basis, sizeof *d->end);
    d->far = pm_alloc(n_ways * d->n_basis, sizeof *d->far);
    for (size_t way = 0; way < n_ways; way++) {
        unsigned axes = way ? 1u << (way - 1) : (1u << d->n_axes) - 1;
        double sum = 0;
        for (size_t i = 0; i < d->n_axes; i++)
            if (axes >> i & 1)
                sum += log(d->axes[i].grid[d->axes[i].n_grid - 1] / pm_design_at(d, d->n - 1, i));
        d->reach[way] = exp(sum / __builtin_popcount(axes));
        for (size_t f = 0; f < d->n_basis; f++) {
            d->end[f] = d->values[f * d->stride + d->n - 1];
            d->far[way * d->n_basis + f] = value_beyond(d, &d->basis[f], axes);
        }
    }
}

/* ---- points ---------------------------------------------------------------------------------- */

static bool same_place(const struct pm_design *d, size_t a, size_t b, unsigned axes) {
    for (size_t i = 0; i < d->n_axes; i++)
        if ((axes >> i & 1) && d->level[a][i] != d->level[b][i])
            return false;
    return true;
}

static void project(struct pm_design *d, unsigned axes) {
    struct pm_projection *p = &d->projections[axes];
    p->of = pm_alloc(d->n, sizeof *p->of);
    p->point = pm_alloc(d->n, sizeof *p->point);
    for (size_t k = 0; k < d->n; k++) {
        size_t place = 0;
        while (place < p->n && !same_place(d, k, p->point[place], axes))
            place++;
        if (place == p->n)
            p->point[p->n++] = k;
        p->of[k] = place;
    }
}

/* Distance of two points: the sum over the axes of |log of the ratio|. */
static double apart(const struct pm_design *d, size_t a, size_t b) {
    double up, down;
    pm_design_steps(d, a, b, &up, &down);
    return up - down;
}

static void order_points(struct pm_design *d) {
    d->x = pm_alloc(d->n, sizeof *d->x);
    d->nearest = pm_alloc(d->n, sizeof *d->nearest);
    for (size_t k = 0; k < d->n; k++) {
        double sum = 0, least = INFINITY;
        for (size_t i = 0; i < d->n_axes; i++)
            sum += log(pm_design_at(d, k, i) / d->axes[i].levels[d->axes[i].n_levels - 1]);
        d->x[k] = d->n_axes > 1 ? exp(sum / (double)d->n_axes) : pm_design_at(d, k, 0);
        d->nearest[k] = d->n;
        for (size_t other = k + 1; other < d->n; other++)
            if (apart(d, k, other) < least * (1 - pm_heuristics.rounding)) {
                least = apart(d, k, other);
                d->nearest[k] = other;
            }
    }
}

/* ---- where shape is looked at ---------------------------------------------------------------- */

/* The largest p/q that is looked at. */
static double most_ratio(const struct pm_design *d, size_t p, size_t q) {
    double most = 0;
    for (size_t k = 0; k < d->n; k++) {
        if (d->level[k][p] == d->axes[p].n_levels - 1 && d->level[k][q] == 0)
            return INFINITY;
        most = fmax(most, pm_design_at(d, k, p) / pm_design_at(d, k, q));
    }
    return most * just_above;
}

static void make_places(struct pm_design *d) {
    size_t n = 1;
    double ratios[MAX_AXES][MAX_AXES];
    for (size_t p = 0; p < d->n_axes; p++) {
        n *= d->axes[p].n_grid;
        for (size_t q = 0; q < d->n_axes; q++)
            ratios[p][q] = p == q ? 1 : most_ratio(d, p, q);
    }
    d->places = pm_alloc(n, sizeof *d->places);
    for (size_t code = 0; code < n; code++) {
        size_t rest = code;
        uint8_t *at = d->places[d->n_places];
        bool admissible = true;
        for (size_t i = 0; i < d->n_axes; i++) {
            at[i] = (uint8_t)(rest % d->axes[i].n_grid);
            rest /= d->axes[i].n_grid;
        }
        for (size_t p = 0; p < d->n_axes; p++)
            for (size_t q = 0; q < d->n_axes; q++)
                admissible &= d->axes[p].grid[at[p]] / d->axes[q].grid[at[q]] <= ratios[p][q];
        d->n_places += admissible;
    }
    d->place_stride = pm_vector_padded(d->n_places);
    d->place_x = pm_alloc(d->n_axes * d->place_stride, sizeof *d->place_x);
    for (size_t p = 0; p < d->n_places; p++)
        for (size_t i = 0; i < d->n_axes; i++)
            d->place_x[i * d->place_stride + p] = d->axes[i].grid[d->places[p][i]];
}

/* ---- the design ------------------------------------------------------------------------------ */

void pm_design_complete(struct pm_design *d) {
    d->projections = pm_alloc((size_t)1 << d->n_axes, sizeof *d->projections);
    for (unsigned axes = 0; axes < 1u << d->n_axes; axes++)
        project(d, axes);
    order_points(d);
    make_functions(d);
    find_ways_out(d);
    make_places(d);
}

struct pm_design *pm_design_on_path(const struct pm_basis *basis, const struct pm_path *path,
                                    struct pm_error *err) {
    if (basis->n == 0 || basis->n > PM_MODEL_MAX_TERMS) {
        pm_fail(err, "a fit takes 1 to %d basis functions, not %zu", PM_MODEL_MAX_TERMS, basis->n);
        return NULL;
    }
    struct pm_design *d = pm_alloc(1, sizeof *d);
    d->n = path->n;
    d->n_axes = 1;
    d->axes = pm_alloc(1, sizeof *d->axes);
    d->axes->n_grid = PM_SERIES_GRID;
    d->level = pm_alloc(d->n, sizeof *d->level);
    for (size_t k = 0; k < d->n; k++)
        d->level[k][0] = k;
    if (!pm_axis_fill(d->axes, basis, path, err)) {
        pm_design_free(d);
        return NULL;
    }
    pm_design_complete(d);
    pm_design_number_functions(d, basis->n);
    return d;
}

struct pm_design *pm_design_new(const struct pm_basis *basis, const char *parameter,
                                const double *x, size_t n, struct pm_error *err) {
    const struct pm_path path = {.parameter = parameter, .n = n, .x = x};
    return pm_design_on_path(basis, &path, err);
}

void pm_design_free(struct pm_design *d) {
    if (!d)
        return;
    for (size_t a = 0; a < d->n_alternatives; a++)
        pm_design_free(d->alternatives[a]);
    for (size_t i = 0; i < d->n_axes; i++) {
        for (size_t f = 0; f < PM_MODEL_MAX_TERMS; f++)
            free(d->axes[i].texts[f]);
        free(d->axes[i].levels);
        free(d->axes[i].values);
    }
    for (unsigned axes = 0; d->projections && axes < 1u << d->n_axes; axes++) {
        free(d->projections[axes].of);
        free(d->projections[axes].point);
    }
    free(d->projections);
    free(d->alternatives);
    free(d->axes);
    free(d->level);
    free(d->nearest);
    free(d->basis);
    free(d->values);
    free(d->end);
    free(d->far);
    free(d->places);
    free(d->place_x);
    free(d->functions);
    free(d->x);
    free(d);
}

/* ---- models on it ---------------------------------------------------------------------------- */

/* Value of function NUMBER of the list at a measured size, 0 if the design does not have it. */
static double listed_value(const struct pm_design *d, size_t number, size_t size) {
    for (size_t f = 0; f < d->n_basis; f++)
        if (d->basis[f].index == number)
            return function_at(d, &d->basis[f], size);
    for (size_t a = 0; a < d->n_alternatives; a++) {
        double value = listed_value(d->alternatives[a], number, size);
        if (value != 0)
            return value;
    }
    return 0;
}

void pm_design_number_functions(struct pm_design *d, size_t n) {
    free(d->functions);
    d->n_functions = n;
    d->functions = pm_alloc(d->n * n, sizeof *d->functions);
    for (size_t k = 0; k < d->n; k++)
        for (size_t i = 0; i < n; i++)
            d->functions[k * n + i] = listed_value(d, i, k);
}

double pm_design_model_value(const struct pm_design *d, const struct pm_model *model, size_t size) {
    return pm_model_value(model, d->functions + size * d->n_functions);
}

/* ---- from size to size ----------------------------------------------------------------------- */

size_t pm_design_nearest(const struct pm_design *d, size_t k) { return d->nearest[k]; }

void pm_design_steps(const struct pm_design *d, size_t from, size_t to, double *up, double *down) {
    *up = *down = 0;
    for (size_t i = 0; i < d->n_axes; i++) {
        double step = log(pm_design_at(d, to, i) / pm_design_at(d, from, i));
        *(step > 0 ? up : down) += step;
    }
}
