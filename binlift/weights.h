/* Estimated edge frequencies; see weights.c.  Private to binlift/. */
#ifndef PM_WEIGHTS_H
#define PM_WEIGHTS_H

#include "binlift/flow.h"

/* Estimated frequency of each edge of the routine, for one entry; the caller frees. */
double *pm_estimate_weights(const struct pm_flow *flow);

#endif
