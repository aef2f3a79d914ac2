/* First touches of large blocks, from those of the small ones that they consist of.

   Where a group's data are dense, whole arrays for instance, all large blocks but those at the
   arrays' ends consist of small ones that the group was the first to touch:
       cold_B(x) = cold_b(x) · b / B + rest,
   rest being the blocks touched in part, about one for each array whatever the size.  There are
   B / b times as many small blocks, so that their model is that much more exact; counts of a few
   pages, rounded to whole ones by how arrays happen to lie, say little of their growth.
   It is taken where it explains every measured size but for what the rounding to whole blocks of
   that many arrays comes to, and a little.
   Source: of this project: large blocks consist of small ones. */
#include "fit/histogram/private.h"

#include <math.h>

/* rest: the mean over the larger half of the sizes. */
static double rest_of(size_t n, const double *small, const double *large, double ratio) {
    double sum = 0;
    for (size_t k = n / 2; k < n; k++)
        sum += large[k] - small[k] / ratio;
    return sum / (double)(n - n / 2);
}

bool pm_fit_dense_cold(size_t n, const double *small, const double *large, double ratio,
                       uint16_t constant, const struct pm_model *of_small, struct pm_model *model) {
    double rest = rest_of(n, small, large, ratio), square = 0, relative = 0;
    struct pm_model scaled = *of_small;
    if (pm_fit_without(PM_STEP_DENSE_COLD))
        return false;
    for (size_t k = 0; k < n; k++) {
        double wrong = small[k] / ratio + rest - large[k];
        if (fabs(wrong) > pm_heuristics.dense_rounded * (1 + sqrt(fabs(rest))) +
                              pm_heuristics.dense_rough * large[k])
            return false;
        square += wrong * wrong / (double)n;
        relative += pow(wrong / fmax(large[k], 1), 2) / (double)n;
    }
    pm_model_scale(&scaled, 1 / ratio);
    double *of_constant = pm_model_coefficient(&scaled, constant);
    if (!of_constant)
        return false;
    *of_constant += rest;
    *model = scaled;
    model->sigma = sqrt(square);
    model->relative_error = model->leave_one_out_error = sqrt(relative);
    model->exact = false;
    return true;
}
