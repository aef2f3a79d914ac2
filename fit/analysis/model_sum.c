/* Sums of models; see model_sum.h. */
#include "fit/analysis/model_sum.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/heuristics.h"

struct pm_model_sum pm_model_sum_new(const struct pm_basis *basis) {
    return (struct pm_model_sum){.basis = basis,
                                 .coefficients = pm_alloc(basis->n, sizeof(double)),
                                 .magnitudes = pm_alloc(basis->n, sizeof(double))};
}

void pm_model_sum_free(struct pm_model_sum *sum) {
    free(sum->coefficients);
    free(sum->magnitudes);
    *sum = (struct pm_model_sum){0};
}

void pm_model_sum_add(struct pm_model_sum *sum, const struct pm_model *model, double times) {
    for (unsigned i = 0; i < model->n_terms; i++) {
        sum->coefficients[model->terms[i]] += times * model->coefficients[i];
        sum->magnitudes[model->terms[i]] += fabs(times * model->coefficients[i]);
    }
}

static bool is_there(const struct pm_model_sum *sum, size_t i) {
    return fabs(sum->coefficients[i]) > pm_heuristics.rounding * sum->magnitudes[i];
}

double pm_model_sum_value(const struct pm_model_sum *sum, const double *basis_values) {
    double value = 0;
    for (size_t i = 0; i < sum->basis->n; i++)
        if (is_there(sum, i))
            value += sum->coefficients[i] * basis_values[i];
    return value;
}

/* A pm_model has room for a few terms: longer sums are written in pieces, what grows fastest first.
 */
char *pm_model_sum_text(const struct pm_model_sum *sum) {
    char *text = NULL;
    struct pm_model piece = {0};
    for (size_t left = sum->basis->n + 1; left-- > 0;) {
        bool end = left == 0;
        size_t i = left - 1;
        if (!end && is_there(sum, i)) {
            piece.terms[piece.n_terms] = (uint16_t)i;
            piece.coefficients[piece.n_terms++] = sum->coefficients[i];
        }
        if (piece.n_terms < PM_MODEL_MAX_TERMS && !(end && (piece.n_terms || !text)))
            continue;
        char *more = pm_model_text(sum->basis, &piece);
        bool negative = text && more[0] == '-';
        if (text)
            pm_append(&text, negative ? " - %s" : " + %s", more + negative);
        else
            text = pm_strdup(more);
        free(more);
        piece.n_terms = 0;
    }
    return text;
}
