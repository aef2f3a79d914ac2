/* One candidate: some functions of the basis, y(x) = Σ cᵢ·fᵢ(x), fitted to the points.

   It is judged by its leave-one-out error, residual / (1 − leverage), in which larger sizes count
   more, times a penalty for each term, for a fourth power, and for growth beyond the data.  Where
   rounding to whole numbers rules (series.c), what it adds to that error is in it: of a value that
   is known to q, the prediction by the others is known to q / √(1 − leverage). Source of the
   leave-one-out error: Allen, Technometrics 16 (1974), the PRESS statistic. */
#include "fit/series/private.h"

static bool is_steep(const struct pm_series_workspace *w, const struct pm_candidate *c) {
    const struct pm_design *d = w->design;
    bool steep = false;
    for (size_t j = 0; j < c->n_terms; j++)
        steep |= d->basis[c->terms[j]].steep;
    return steep && d->n_gentle < d->n_basis && !pm_fit_without(PM_STEP_HIGH_POWER_PENALTY);
}

/* The largest penalty of the ways out of the data. */
static double growth_penalty(const struct pm_series_workspace *w, const struct pm_candidate *c) {
    const struct pm_design *d = w->design;
    double penalty = 1;
    for (size_t way = 0; way < (d->n_axes > 1 ? 1 + d->n_axes : 1); way++) {
        double end = 0, far = 0;
        for (size_t j = 0; j < c->n_terms; j++) {
            end += c->coefficients[j] * d->end[c->terms[j]];
            far += c->coefficients[j] * d->far[way * d->n_basis + c->terms[j]];
        }
        penalty = pm_larger(penalty, pm_growth_penalty(w, way, end, far));
    }
    return penalty;
}

void pm_candidate_judge(const struct pm_series_workspace *w, const double *coordinates,
                        struct pm_candidate *c) {
    double residual_sum = 0, left_out_sum = 0, emphasised_sum = 0, rounding_sum = 0;
    pm_back_substitute(&w->solved, c->n_terms, coordinates, c->coefficients);
    c->redundancy = 1;
    for (size_t i = 0; i < w->n; i++) {
        double redundancy,
            residual = pm_residual(&w->solved, c->n_terms, i, w->target, coordinates, &redundancy);
        double relative = residual / w->relation[i];
        c->redundancy = redundancy < c->redundancy ? redundancy : c->redundancy;
        redundancy = pm_larger(redundancy, pm_heuristics.least_redundancy);
        residual_sum += relative * relative;
        left_out_sum += relative * relative / (redundancy * redundancy);
        double excess = pm_larger(fabs(residual) / redundancy - w->tolerated[i], 0);
        emphasised_sum += excess * excess;
        rounding_sum += w->weight[i] * w->weight[i] / redundancy;
    }
    c->residual = sqrt(residual_sum / (double)w->n);
    c->leave_one_out = sqrt(left_out_sum / (double)w->n);
    c->emphasised = sqrt(emphasised_sum / (double)w->n);
    c->rounding = pm_heuristics.count_error * sqrt(rounding_sum / (double)w->n);
    double error = w->is_rounded ? hypot(c->emphasised, c->rounding) : c->emphasised;
    c->score = pm_score(error, c->n_terms, is_steep(w, c)) * growth_penalty(w, c);
}

PM_VECTOR_CLONES static void weigh_functions(struct pm_series_workspace *w,
                                             const struct pm_candidate *c) {
    for (size_t j = 0; j < c->n_terms; j++) {
        double *column = pm_row(w, w->solved.columns, j);
        const double *function = pm_row(w, w->at->functions, c->terms[j]);
        for (size_t i = 0; i < w->n_padded; i += PM_VECTOR_WIDTH)
            PM_VECTOR_AT(column, i) = PM_VECTOR_CONST(function, i) * PM_VECTOR_CONST(w->weight, i);
    }
}

bool pm_candidate_solve(struct pm_series_workspace *w, struct pm_candidate *c) {
    double coordinates[PM_MODEL_MAX_TERMS];
    if (c->n_terms == 0 || c->n_terms > PM_MODEL_MAX_TERMS || c->n_terms >= w->n)
        return false;
    weigh_functions(w, c);
    if (!pm_orthonormalise(&w->solved, c->n_terms))
        return false;
    pm_project(&w->solved, c->n_terms, w->target, coordinates);
    pm_candidate_judge(w, coordinates, c);
    return true;
}

double pm_candidate_sigma(const struct pm_series_workspace *w, const struct pm_candidate *c) {
    double sum = 0;
    for (size_t i = 0; i < w->n; i++) {
        double value = 0;
        for (size_t j = 0; j < c->n_terms; j++)
            value += c->coefficients[j] * pm_row(w, w->at->functions, c->terms[j])[i];
        sum += (value - w->y[i]) * (value - w->y[i]);
    }
    return sqrt(sum / (double)(w->n > c->n_terms ? w->n - c->n_terms : 1));
}
