/* How far off the models of misses are: the mean leave-one-out error of the counts that are misses
   in the first cache or TLB of any machine, each weighted by its value. */
#include <math.h>

#include "fit/predict/predict.h"
#include "fit/private.h"

/* Blocks: reuses from here on are misses, where models are judged: 32 KiB of lines,. */
enum { judged_lines = 512 };
/* And the entries of a first TLB, of pages. */
enum { judged_pages = 64 };

double pm_judged_error(const struct pm_model *model) {
    double error = model->exact ? 0 : model->leave_one_out_error;
    return error < 1 ? error : 1;
}

static void add(const struct pm_model *model, const double *basis,
                struct pm_miss_model_error *sum) {
    double weight = pm_model_value(model, basis);
    if (!(weight > 0))
        return;
    sum->weighted += weight * pm_judged_error(model);
    sum->weight += weight;
}

void pm_miss_errors_add(const struct pm_histogram_model *histogram, const double *basis,
                        struct pm_miss_model_error *sum) {
    const double capacity =
        histogram->block_bytes >= PM_FIT_LEAST_PAGE ? judged_pages : judged_lines;
    add(&histogram->cold, basis, sum);
    for (size_t b = 0; b < histogram->n_bins; b++)
        if (pm_model_value(&histogram->bins[b].distance, basis) >= capacity)
            add(&histogram->bins[b].count, basis, sum);
}

double pm_miss_error_of(const struct pm_miss_model_error *sum) {
    return sum->weight > 0 ? sum->weighted / sum->weight : NAN;
}
