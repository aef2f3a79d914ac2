/* Sums of models that share one basis; private to report/. */
#ifndef PM_MODEL_SUM_H
#define PM_MODEL_SUM_H

#include "core/model.h"

/* A linear combination of the whole basis, with the size of what was added up to tell a term that
   cancelled from a small one. */
struct pm_model_sum {
    const struct pm_basis *basis;
    double *coefficients, *magnitudes; /* one for each function of the basis; owned */
};

struct pm_model_sum pm_model_sum_new(const struct pm_basis *basis);
void pm_model_sum_free(struct pm_model_sum *sum); /* what it owns */

void pm_model_sum_add(struct pm_model_sum *sum, const struct pm_model *model, double times);
/* Where the basis functions are BASIS_VALUES; may be negative. */
double pm_model_sum_value(const struct pm_model_sum *sum, const double *basis_values);
/* "2*N^3 - 5*N + 1"; owned by the caller. */
char *pm_model_sum_text(const struct pm_model_sum *sum);

#endif
