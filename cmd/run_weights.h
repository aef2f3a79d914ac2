/* `--weights STORE`: frequencies of edges from an earlier profile, so that counters stand where
   little ran. */
#ifndef PM_RUN_WEIGHTS_H
#define PM_RUN_WEIGHTS_H

#include "binlift/binlift.h"

struct pm_run_weights {
    struct pm_structure *structure;
    double *edge_counts;
    struct pm_known_weights known; /* of both; for pm_lift_options */
};

/* Sums the runs of the store PATH, each with the same weight whatever its size. */
struct pm_run_weights *pm_run_weights_read(const char *path, struct pm_error *err);
void pm_run_weights_free(struct pm_run_weights *weights);

#endif
