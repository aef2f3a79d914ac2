/* Functions of the problem size: evaluation and text; see model.h. */
#include "core/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

struct pm_basis *pm_basis_new(size_t n, const char *const *texts, struct pm_error *err) {
    if (n > UINT16_MAX) {
        pm_fail(err, "a basis of %zu functions is too large: at most %d are possible", n,
                UINT16_MAX);
        return NULL;
    }
    struct pm_basis *basis = pm_alloc(1, sizeof *basis);
    basis->n = n;
    basis->texts = pm_alloc(n, sizeof *basis->texts);
    basis->expressions = pm_alloc(n, sizeof(struct pm_expression *));
    for (size_t i = 0; i < n; i++) {
        basis->texts[i] = pm_strdup(texts[i]);
        basis->expressions[i] = pm_expression_parse(texts[i], err);
        if (!basis->expressions[i]) {
            pm_fail_in(err, "basis function %zu", i + 1);
            pm_basis_free(basis);
            return NULL;
        }
    }
    return basis;
}

void pm_basis_free(struct pm_basis *basis) {
    if (!basis)
        return;
    for (size_t i = 0; i < basis->n; i++) {
        pm_expression_free(basis->expressions[i]);
        free(basis->texts[i]);
    }
    free(basis->expressions);
    free(basis->texts);
    free(basis);
}

static bool evaluate_function(const struct pm_basis *basis, size_t i,
                              const struct pm_parameters *parameters, double *value,
                              struct pm_error *err) {
    const char *names[PM_MAX_PARAMETERS];
    for (size_t p = 0; p < parameters->n; p++)
        names[p] = parameters->names[p];
    return pm_expression_evaluate(basis->expressions[i], parameters->n, names, parameters->values,
                                  value, err);
}

bool pm_basis_evaluate(const struct pm_basis *basis, const struct pm_parameters *parameters,
                       double *values, struct pm_error *err) {
    for (size_t i = 0; i < basis->n; i++)
        if (!evaluate_function(basis, i, parameters, &values[i], err))
            return false;
    return true;
}

static double raised(double sum, double power) { return power > 0 ? pow(sum, power) : sum; }

double pm_model_value(const struct pm_model *model, const double *basis_values) {
    double value = 0;
    for (size_t i = 0; i < model->n_terms; i++)
        value += model->coefficients[i] * basis_values[model->terms[i]];
    return raised(value > 0 ? value : 0, model->power);
}

double pm_model_value_at(const struct pm_model *model, const struct pm_model_point *point) {
    double value = pm_model_value(model, point->there);
    if (point->at_largest && (model->shape & PM_SHAPE_INCREASING))
        value = fmax(value, pm_model_value(model, point->at_largest));
    if (point->at_largest && (model->shape & PM_SHAPE_DECREASING))
        value = fmin(value, pm_model_value(model, point->at_largest));
    return value;
}

void pm_model_multiply(struct pm_model *model, double factor) {
    double of_terms = model->power > 0 ? pow(factor, 1 / model->power) : factor;
    for (size_t i = 0; i < model->n_terms; i++)
        model->coefficients[i] *= of_terms;
}

bool pm_model_evaluate(const struct pm_basis *basis, const struct pm_model *model,
                       const struct pm_parameters *parameters, double *value,
                       struct pm_error *err) {
    double sum = 0;
    for (size_t i = 0; i < model->n_terms; i++) {
        double function;
        if (!evaluate_function(basis, model->terms[i], parameters, &function, err))
            return false;
        sum += model->coefficients[i] * function;
    }
    *value = raised(sum > 0 ? sum : 0, model->power);
    return true;
}

char *pm_model_text(const struct pm_basis *basis, const struct pm_model *model) {
    char *text = pm_strdup("");
    bool first = true;
    for (size_t term = basis->n; term-- > 0;) /* the fastest growing function stands last */
        for (size_t i = 0; i < model->n_terms; i++) {
            double coefficient = model->coefficients[i];
            if (model->terms[i] != term || coefficient == 0)
                continue;
            char number[40];
            pm_format_value(fabs(coefficient), number, sizeof number);
            bool constant = strcmp(basis->texts[term], "1") == 0;
            bool one = strcmp(number, "1") == 0;
            const char *sign = first             ? (coefficient < 0 ? "-" : "")
                               : coefficient < 0 ? " - "
                                                 : " + ";
            pm_append(&text, "%s%s%s%s", sign, one && !constant ? "" : number,
                      one || constant ? "" : "*", constant ? "" : basis->texts[term]);
            first = false;
        }
    if (first) {
        free(text);
        return pm_strdup("0");
    }
    if (model->power > 0) {
        char *sum = text, power[40];
        pm_format_value(model->power, power, sizeof power);
        text = pm_strdup("");
        pm_append(&text, "(%s)^%s", sum, power);
        free(sum);
    }
    return text;
}

struct pm_bin_chunk {
    struct pm_bin_chunk *next;
    size_t n, n_used;
    struct pm_bin_model bins[];
};

enum { BINS_IN_CHUNK = 8192 }; /* so many that the system gives whole pages, as they are touched */

struct pm_bin_model *pm_bin_model_arena_alloc(struct pm_bin_model_arena *arena, size_t n) {
    struct pm_bin_chunk *chunk = arena->chunks;
    if (!chunk || chunk->n - chunk->n_used < n) {
        size_t most = n > BINS_IN_CHUNK ? n : BINS_IN_CHUNK;
        chunk = pm_alloc(1, sizeof *chunk + most * sizeof *chunk->bins);
        chunk->n = most;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    chunk->n_used += n;
    return chunk->bins + chunk->n_used - n;
}

void pm_bin_model_arena_return(struct pm_bin_model_arena *arena, size_t n) {
    struct pm_bin_chunk *chunk = arena->chunks;
    if (n == 0)
        return;
    chunk->n_used -= n;
    memset(chunk->bins + chunk->n_used, 0, n * sizeof *chunk->bins);
}

void pm_bin_model_arena_join(struct pm_bin_model_arena *into, struct pm_bin_model_arena *from) {
    struct pm_bin_chunk **end = &from->chunks;
    while (*end)
        end = &(*end)->next;
    *end = into->chunks;
    into->chunks = from->chunks;
    from->chunks = NULL;
}

void pm_bin_model_arena_free(struct pm_bin_model_arena *arena) {
    while (arena->chunks) {
        struct pm_bin_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        free(chunk);
    }
}

void pm_stride_model_free(struct pm_stride_model *model) {
    free(model->levels);
    free(model->variants);
}

void pm_model_set_free(struct pm_model_set *set) {
    if (!set)
        return;
    for (size_t i = 0; i < set->n_held_out; i++)
        pm_model_set_free(set->held_out[i]);
    pm_model_set_free(set->dirty);
    pm_model_set_free(set->branches.models);
    free(set->branches.blocks);
    free(set->branches.trips);
    pm_bin_model_arena_free(&set->bins);
    free(set->histograms);
    free(set->totals);
    free(set->residuals);
    for (size_t i = 0; i < set->n_strides; i++)
        pm_stride_model_free(&set->strides[i]);
    free(set->strides);
    free(set->edges);
    free(set->runs);
    pm_basis_free(set->basis);
    free(set);
}

size_t pm_model_set_parameters(const struct pm_model_set *set, const char **names) {
    size_t n = 0;
    for (size_t p = 0; p < set->low.n; p++) {
        bool found = false;
        for (size_t i = 0; i < set->basis->n && !found; i++) {
            const char *const *used;
            size_t n_used;
            pm_expression_names(set->basis->expressions[i], &used, &n_used);
            for (size_t k = 0; k < n_used && !found; k++)
                found = strcmp(used[k], set->low.names[p]) == 0;
        }
        if (found)
            names[n++] = set->low.names[p];
    }
    return n;
}
