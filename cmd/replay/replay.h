/* The scaling study of `pmodel scale --platform`. */
#ifndef PM_CMD_REPLAY_H
#define PM_CMD_REPLAY_H

#include <stdbool.h>

#include "cmd/cmd.h"
#include "sched/sched.h"

struct pm_scaling_request {
    const char *store_path, *platform, *grid;
    const struct pm_size_design *design;
    const struct pm_machine_list *on; /* one machine */
    struct pm_predict_options predict;
    struct pm_report_options show;
    bool svg;
};
/* Replays the program at all sizes of the design, and prints how its time goes with the ranks. */
bool pm_scale_ranks(const struct pm_scaling_request *request, struct pm_error *err);

#endif
