#include "machines/probe/probe_figures.h"

#include <math.h>

bool pm_is_known(struct pm_estimate estimate) { return !isnan(estimate.estimate); }

void pm_write_estimate(FILE *to, const char *before, const char *name, struct pm_estimate estimate,
                       double scale) {
    if (!pm_is_known(estimate))
        return;
    if (isnan(estimate.low) || isnan(estimate.high))
        fprintf(to, "%s%s = %.5g", before, name, estimate.estimate * scale);
    else
        fprintf(to, "%s%s = \"%.5g (%.5g to %.5g)\"", before, name, estimate.estimate * scale,
                estimate.low * scale, estimate.high * scale);
}

void pm_write_whole(FILE *to, const char *before, const char *name, struct pm_estimate estimate) {
    if (pm_is_known(estimate))
        fprintf(to, "%s%s = \"%.0f (%.0f to %.0f)\"", before, name, estimate.estimate,
                floor(estimate.low), ceil(estimate.high));
}
