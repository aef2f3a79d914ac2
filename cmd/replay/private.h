/* What the files of `pmodel replay` share. */
#ifndef PM_CMD_REPLAY_PRIVATE_H
#define PM_CMD_REPLAY_PRIVATE_H

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "core/warnings.h"
#include "report/replay/replay.h"
#include "sched/replay/sizes/sizes.h"
#include "sched/sched.h"

struct pm_replay_options {
    const char *store_path, *trace, *platform, *write, *grid;
    struct pm_parameters at;
    struct pm_machine_list on, against;
    struct pm_predict_options predict;
    struct pm_report_options show;
    double ratio; /* computation is so many times as fast; 0: as it is */
    bool interpolate, svg;
};

struct pm_replaying {
    const struct pm_replay_options *request;
    const struct pm_parameters *size; /* of a store; n == 0: the largest measured one */
    char *engine, *platform;          /* paths; owned */
    struct pm_actions actions;
    struct pm_replay replay;
    struct pm_estimate computation;       /* seconds of all ranks together; NAN: of a trace */
    char *program, *at, *machine, *other; /* what the report names; owned */
    struct pm_replay_report report;
    struct pm_warnings warnings; /* of what the actions come from */
};

/* Finds the engine and the platform. */
bool pm_replay_prepare(struct pm_replaying *replaying, struct pm_error *err);
void pm_replaying_free(struct pm_replaying *replaying); /* what it owns */
/* Replays the actions with computation, bandwidth and latency so many times as fast, as large, as
   long. */
bool pm_replay_scaled(const struct pm_replaying *replaying, const struct pm_replay_scales *scales,
                      struct pm_replay *replay, struct pm_error *err);

/* Fills the actions, what the report says of the program, and notes, from the store. */
bool pm_actions_of_store(struct pm_replaying *replaying, struct pm_error *err);

#endif
