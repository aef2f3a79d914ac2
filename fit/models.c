/* Small operations on models and candidates that several folders need. */
#include "fit/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *pm_model_coefficient(struct pm_model *model, size_t term) {
    for (size_t i = 0; i < model->n_terms; i++)
        if (model->terms[i] == term)
            return &model->coefficients[i];
    if (model->n_terms == PM_MODEL_MAX_TERMS)
        return NULL;
    model->terms[model->n_terms] = (uint16_t)term;
    model->coefficients[model->n_terms] = 0;
    return &model->coefficients[model->n_terms++];
}

void pm_model_add_term(struct pm_model *model, size_t term, double coefficient) {
    double *into = coefficient != 0 ? pm_model_coefficient(model, term) : NULL;
    if (into)
        *into += coefficient;
}

void pm_model_scale(struct pm_model *model, double factor) {
    pm_model_multiply(model, factor);
    model->sigma *= fabs(factor);
    model->exact &= factor == 1;
}

size_t pm_constant_function(const struct pm_basis *basis) {
    size_t constant = 0;
    while (constant < basis->n && strcmp(basis->texts[constant], "1") != 0)
        constant++;
    return constant;
}

struct pm_model pm_model_constant(double value, size_t n_points) {
    return (struct pm_model){.n_terms = 1,
                             .coefficients = {value},
                             .shape = PM_SHAPE_CONSTANT,
                             .n_points = (uint16_t)n_points,
                             .leave_one_out_error = NAN};
}

struct pm_model pm_model_last_value(size_t n, const double *y, const double *weight,
                                    const double *relation) {
    double value = n ? y[n - 1] : 0, sum = 0;
    struct pm_model model = {
        .shape = PM_SHAPE_CONSTANT, .n_points = (uint16_t)n, .leave_one_out_error = NAN};
    pm_model_add_term(&model, 0, value);
    for (size_t i = 0; i < n; i++)
        sum += pow((value - y[i]) * weight[i] / relation[i], 2);
    model.relative_error = n ? sqrt(sum / (double)n) : 0;
    return model;
}

struct pm_model pm_model_zero(size_t n_points) {
    return (struct pm_model){
        .shape = PM_SHAPE_CONSTANT, .exact = true, .n_points = (uint16_t)n_points};
}

static void visit_variant(struct pm_stride_variant_model *variant,
                          void (*visit)(struct pm_model *model, void *context), void *context) {
    if (!variant->known)
        return;
    visit(&variant->phase, context);
    visit(&variant->offset, context);
    for (uint32_t l = 0; l < variant->n_levels; l++) {
        visit(&variant->levels[l].stride, context);
        visit(&variant->levels[l].count, context);
    }
}

void pm_model_set_visit(struct pm_model_set *set,
                        void (*visit)(struct pm_model *model, void *context), void *context) {
    for (size_t e = 0; e < set->n_edges; e++)
        visit(&set->edges[e], context);
    for (size_t i = 0; i < set->n_totals; i++)
        visit(&set->totals[i].cold, context);
    for (size_t i = 0; i < set->n_strides; i++) {
        struct pm_stride_model *strides = &set->strides[i];
        visit(&strides->offset, context);
        for (uint32_t l = 0; l < strides->n_levels; l++) {
            visit(&strides->levels[l].stride, context);
            visit(&strides->levels[l].count, context);
        }
        if (strides->n_variants) {
            visit(&strides->all_phases, context);
            visit(&strides->usual_phase, context);
        }
        for (uint32_t v = 0; v < 2 * strides->n_variants; v++)
            visit_variant(&strides->variants[v], visit, context);
    }
    for (size_t h = 0; h < set->n_histograms; h++) {
        struct pm_histogram_model *histogram = &set->histograms[h];
        visit(&histogram->accesses, context);
        visit(&histogram->cold, context);
        for (size_t b = 0; b < histogram->n_bins; b++) {
            visit(&histogram->bins[b].count, context);
            visit(&histogram->bins[b].distance, context);
        }
    }
}

/* All functions of SET's basis at AT, owned by the caller; NULL if a parameter is missing. */
static const double *functions_at(const struct pm_model_set *set, const struct pm_parameters *at,
                                  struct pm_error *err) {
    double *values = pm_alloc(set->basis->n + 1, sizeof *values);
    if (pm_basis_evaluate(set->basis, at, values, err))
        return values;
    free(values);
    return NULL;
}

bool pm_model_point_at(const struct pm_model_set *set, const struct pm_parameters *at,
                       struct pm_model_point *point, struct pm_error *err) {
    const char *names[PM_MAX_PARAMETERS];
    double here, largest;
    *point = (struct pm_model_point){.there = functions_at(set, at, err)};
    if (!point->there)
        return false;
    if (!pm_fit_without(PM_STEP_BEYOND) && pm_model_set_parameters(set, names) == 1 &&
        pm_parameters_get(at, names[0], &here) &&
        pm_parameters_get(&set->high, names[0], &largest) && here > largest)
        point->at_largest = functions_at(set, &set->high, NULL);
    return true;
}

void pm_model_point_free(struct pm_model_point *point) {
    free((double *)point->at_largest);
    free((double *)point->there);
    *point = (struct pm_model_point){0};
}

double pm_model_set_longest_distance(const struct pm_model_set *set, uint64_t block_bytes,
                                     const struct pm_model_point *point) {
    double blocks = 0;
    for (size_t i = 0; i < set->n_totals; i++)
        if (set->totals[i].block_bytes == block_bytes)
            return fmax(pm_model_value_at(&set->totals[i].cold, point) - 1, 0);
    if (!(set->first_touches_left_out <= 0))
        return INFINITY;
    for (size_t h = 0; h < set->n_histograms; h++)
        if (set->histograms[h].block_bytes == block_bytes)
            blocks += pm_model_value_at(&set->histograms[h].cold, point);
    return fmax(blocks - 1, 0);
}
