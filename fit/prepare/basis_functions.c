/* Designs from lists of basis functions: the default ones, those that a user gives, and those that
   --search tries.

   Of a list that a user gives it is checked, at the measured sizes, that every function has a value
   there and wherever models have a shape to keep, is not zero everywhere, and is not a combination
   of those before it, as ceil(N/8) is of N at multiples of 8: such a one is left out, because its
   coefficient could be anything. */
#include "fit/prepare/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* Score of a function of --search against the design's own from which it is taken: of some fifty
   that are tried one fits by chance. */
static const double search_gain = 0.25;
/* Powers beside a function that --search tries. */
enum { search_degree = 3 };
/* And powers of the logarithm in it. */
enum { search_logs = 2 };

enum { DEGREE = PM_FIT_POLYNOMIALS - 1 };

#define DEPENDENT                                                                                  \
    1e-13 /* a column is dependent if the columns before it leave less than this share of it */

/* The place of TEXT in the list, where it is put if it is new. */
static uint16_t place_of(struct pm_function_list *all, const char *text) {
    for (size_t i = 0; i < all->n_texts; i++)
        if (strcmp(all->texts[i], text) == 0)
            return (uint16_t)i;
    *PM_PUSH(all, texts) = pm_strdup(text);
    return (uint16_t)(all->n_texts - 1);
}

static char *power_text(const char *name, int power) {
    return power == 0   ? pm_strdup("1")
           : power == 1 ? pm_strdup(name)
                        : pm_sprintf("%s^%d", name, power);
}

/* 1, N, N^2 … N^4, log2(N), N*log2(N), N^2*log2(N): see PM_FIT_BASIS. */
void pm_functions_add_standard(struct pm_function_list *all, const char *name) {
    for (int i = 0; i < PM_FIT_BASIS; i++) {
        char *power = power_text(name, i <= DEGREE ? i : i - DEGREE - 1);
        char *text = i <= DEGREE       ? pm_strdup(power)
                     : i == DEGREE + 1 ? pm_sprintf("log2(%s)", name)
                                       : pm_sprintf("%s*log2(%s)", power, name);
        place_of(all, text);
        free(text);
        free(power);
    }
}

static struct pm_design *new_design(struct pm_function_list *all, size_t n,
                                    const char *const *texts, const struct pm_path *path,
                                    struct pm_error *err) {
    struct pm_basis *basis = pm_basis_new(n, texts, err);
    struct pm_design *design = basis ? pm_design_on_path(basis, path, err) : NULL;
    for (size_t i = 0; design && i < n; i++)
        design->basis[i].index = place_of(all, texts[design->basis[i].index]);
    pm_basis_free(basis);
    return design;
}

static struct pm_design *polynomials(struct pm_function_list *all, const struct pm_path *path,
                                     struct pm_error *err) {
    return new_design(all, DEGREE + 1, (const char *const *)all->texts, path, err);
}

/* The functions of a list of --basis; NULL with a sentence. */
static struct pm_expression_list *parse_list(const char *text, const struct pm_path *path,
                                             struct pm_error *err) {
    const struct pm_parameters *first = &path->runs[0];
    const char *names[PM_MAX_PARAMETERS];
    for (size_t p = 0; p < first->n; p++)
        names[p] = first->names[p];
    struct pm_expression_list *parts = pm_expression_list_parse(text, first->n, names, err);
    if (!parts)
        pm_fail_in(err, "basis");
    return parts;
}

/* The design in several parameters over the functions of a list, NULL: the default ones. */
static struct pm_design *design_on_axes(struct pm_function_list *all, const char *text,
                                        const struct pm_path *path, struct pm_error *err) {
    const struct pm_parameters *runs = path->runs;
    struct pm_expression_list *parts = text ? parse_list(text, path, err) : NULL;
    if (text && !parts)
        return NULL;
    double *points = pm_alloc(path->n * path->n_axes, sizeof *points);
    for (size_t k = 0; k < path->n; k++)
        for (size_t i = 0; i < path->n_axes; i++)
            pm_parameters_get(&runs[k], path->axes[i], &points[k * path->n_axes + i]);
    struct pm_design *design = pm_design_on_axes(path->axes, path->n_axes, points, path->n,
                                                 parts ? (const char *const *)parts->texts : NULL,
                                                 parts ? parts->n : 0, err);
    free(points);
    pm_expression_list_free(parts);
    for (size_t j = 0; design && j < design->n_basis; j++) {
        char *product = pm_design_text(design, j);
        design->basis[j].index = place_of(all, product);
        free(product);
    }
    return design;
}

/* ---- what a user gives ----------------------------------------------------------------------- */

/* A list of --basis while it is checked. */
struct given {
    const char *text;
    struct pm_expression_list *parts;
    const struct pm_path *path;
    size_t n_kept;
    const char *kept[PM_MODEL_MAX_TERMS]; /* texts of the functions that are taken */
    double *columns;                      /* their values, orthonormal; [function · n + size] */
    size_t rank;                          /* of them */
};

static bool fail_at_part(const struct given *given, size_t part, const char *sentence,
                         struct pm_error *err) {
    pm_expression_fail_at(err, given->text, given->parts->positions[part], sentence);
    return pm_fail_in(err, "basis");
}

static bool value_of(const struct pm_basis *function, const struct pm_path *path, double x,
                     double *value) {
    struct pm_parameters at;
    return pm_path_at(path, x, &at, NULL) && pm_basis_evaluate(function, &at, value, NULL);
}

/* Fills COLUMN with the function's values; false if it has none at a size that is needed. */
static bool evaluate_part(const struct given *given, size_t part, const struct pm_basis *function,
                          double *column, struct pm_error *err) {
    const struct pm_path *path = given->path;
    char sentence[200], size[40];
    for (size_t k = 0; k < path->n; k++)
        if (!value_of(function, path, path->x[k], &column[k])) {
            pm_format_value(path->x[k], size, sizeof size);
            snprintf(sentence, sizeof sentence,
                     "this function has no finite value at %s=%s:", path->parameter, size);
            return fail_at_part(given, part, sentence, err);
        }
    for (size_t j = 0; j < PM_SERIES_GRID; j++) {
        double x = pm_path_grid(path, j, PM_SERIES_GRID), value;
        if (!value_of(function, path, x, &value)) {
            snprintf(sentence, sizeof sentence,
                     "this function has no finite value at %s=%g, and models are kept in shape "
                     "from the smallest to %g times the largest size:",
                     path->parameter, x, pm_heuristics.shape_range);
            return fail_at_part(given, part, sentence, err);
        }
    }
    return true;
}

static double length_of(const double *column, size_t n) {
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += column[k] * column[k];
    return sqrt(sum);
}

/* Takes away of COLUMN, of length 1, what the functions taken so far span, twice; false if nothing
   is left. As many functions as sizes span everything: then nothing can be said. */
static bool is_independent(struct given *given, double *column) {
    size_t n = given->path->n;
    if (given->rank == n)
        return true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j < given->rank; j++) {
            const double *other = given->columns + j * n;
            double part = 0;
            for (size_t k = 0; k < n; k++)
                part += other[k] * column[k];
            for (size_t k = 0; k < n; k++)
                column[k] -= part * other[k];
        }
    double left = length_of(column, n);
    if (left <= DEPENDENT)
        return false;
    for (size_t k = 0; k < n; k++)
        given->columns[given->rank * n + k] = column[k] / left;
    given->rank++;
    return true;
}

/* Takes function PART if it is sound; one that adds nothing is left out with a note. */
static bool take_part(struct given *given, size_t part, double *column,
                      struct pm_fit_statistics *statistics, struct pm_error *err) {
    const char *text = given->parts->texts[part];
    size_t n = given->path->n;
    struct pm_basis *function = pm_basis_new(1, &text, err);
    bool ok = function && evaluate_part(given, part, function, column, err);
    pm_basis_free(function);
    if (!ok)
        return false;
    double largest = 0;
    for (size_t k = 0; k < n; k++)
        largest = fmax(largest, fabs(column[k]));
    if (largest == 0)
        return fail_at_part(given, part,
                            "this function is 0 at every size that was measured:", err);
    for (size_t k = 0; k < n; k++)
        column[k] /= largest;
    double length = length_of(column, n);
    for (size_t k = 0; k < n; k++)
        column[k] /= length;
    if (!is_independent(given, column)) {
        pm_fit_note(statistics,
                    "basis: %s is left out, because at the sizes that were measured it is a "
                    "combination of the functions before it",
                    text);
        return true;
    }
    if (given->n_kept == PM_MODEL_MAX_TERMS) {
        char sentence[100];
        snprintf(sentence, sizeof sentence,
                 "a basis has %d functions at most, and this is one more:", PM_MODEL_MAX_TERMS);
        return fail_at_part(given, part, sentence, err);
    }
    given->kept[given->n_kept++] = text;
    return true;
}

static struct pm_design *given_design(struct pm_function_list *all, const char *text,
                                      const struct pm_path *path,
                                      struct pm_fit_statistics *statistics, struct pm_error *err) {
    struct given given = {.text = text, .path = path, .parts = parse_list(text, path, err)};
    if (!given.parts)
        return NULL;
    given.columns = pm_alloc(PM_MODEL_MAX_TERMS * path->n, sizeof(double));
    double *column = pm_alloc(path->n, sizeof *column);
    bool ok = true;
    for (size_t i = 0; ok && i < given.parts->n; i++)
        ok = take_part(&given, i, column, statistics, err);
    struct pm_design *design = ok ? new_design(all, given.n_kept, given.kept, path, err) : NULL;
    free(column);
    free(given.columns);
    pm_expression_list_free(given.parts);
    return design;
}

struct pm_design *pm_design_of_list(struct pm_function_list *all, const char *text,
                                    const struct pm_path *path,
                                    struct pm_fit_statistics *statistics, struct pm_error *err) {
    return path->n_axes > 1 ? design_on_axes(all, text, path, err)
           : text           ? given_design(all, text, path, statistics, err)
                            : polynomials(all, path, err);
}

/* ---- alternatives -----------------------------------------------------------------------------
 */

/* OTHER, NULL: could not be made, is an alternative of DESIGN from GAIN on; false for NULL. */
static bool add_alternative(struct pm_design *design, struct pm_design *other, double gain) {
    if (!other)
        return false;
    other->gain = gain;
    design->alternatives =
        pm_realloc(design->alternatives, design->n_alternatives + 1, sizeof(struct pm_design *));
    design->alternatives[design->n_alternatives++] = other;
    return true;
}

/* 1, N and N*log2(N): trees, sorts and searches. */
bool pm_design_add_logarithms(struct pm_function_list *all, struct pm_design *design,
                              const struct pm_path *path, struct pm_error *err) {
    char *logarithm = pm_sprintf("%s*log2(%s)", path->parameter, path->parameter);
    const char *const functions[] = {"1", path->parameter, logarithm};
    struct pm_design *other = new_design(all, 3, functions, path, err);
    free(logarithm);
    if (!add_alternative(design, other, pm_heuristics.logarithm_gain))
        return false;
    other->counts_only = true; /* distances are of few blocks, and grow with the data */
    return true;
}

/* ---- --search -------------------------------------------------------------------------------- */

static const struct { int above, below; } exponents[] = {PM_FIT_EXPONENTS};
enum { N_EXPONENTS = sizeof exponents / sizeof *exponents };

/* The candidates in parameter NAME, N^(i/j)·log2(N)^k, as texts: fills TEXTS if it is not NULL (the
   caller frees them) and returns how many there are. */
static size_t search_functions(const char *name, char **texts) {
    size_t n = 0;
    for (size_t e = 0; e < N_EXPONENTS; e++)
        for (size_t logs = 0; logs <= search_logs; logs++) {
            bool whole = exponents[e].below == 1;
            if (whole && logs == 0)
                continue; /* among the polynomials */
            if (!texts) {
                n++;
                continue;
            }
            char *text =
                !whole ? pm_sprintf("%s^(%d/%d)", name, exponents[e].above, exponents[e].below)
                : exponents[e].above ? power_text(name, exponents[e].above)
                                     : pm_strdup("");
            if (logs)
                pm_append(&text, logs > 1 ? "%slog2(%s)^%zu" : "%slog2(%s)", *text ? "*" : "", name,
                          logs);
            texts[n++] = text;
        }
    return n;
}

/* Gives DESIGN an alternative for each candidate: with 1, N … N^3 beside it. */
bool pm_design_add_search(struct pm_function_list *all, struct pm_design *design,
                          const struct pm_path *path, struct pm_error *err) {
    size_t n = search_functions(path->parameter, NULL);
    char **texts = pm_alloc(n, sizeof *texts);
    search_functions(path->parameter, texts);
    size_t degree = (size_t)search_degree < DEGREE ? search_degree : DEGREE;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        const char *functions[PM_MODEL_MAX_TERMS];
        for (size_t k = 0; k <= degree; k++)
            functions[k] = all->texts[k];
        functions[degree + 1] = texts[i];
        ok =
            add_alternative(design, new_design(all, degree + 2, functions, path, err), search_gain);
    }
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
    return ok;
}
