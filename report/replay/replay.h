/* `pmodel replay`: a parallel program on a simulated network. */
#ifndef PM_REPORT_REPLAY_H
#define PM_REPORT_REPLAY_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/base.h"
#include "report/options.h"
#include "sched/replay/replay.h"

/* The parallel time if something was otherwise. */
struct pm_what_if {
    const char *name, *words; /* "bandwidth", "twice the bandwidth" */
    double seconds;
};

/* What the paper feeds to its network simulator: how much faster the machine computes than another
   one. */
struct pm_processor_ratio {
    const char *other;                 /* title of the other machine; NULL: not asked for */
    double predicted, convolved, peak; /* by predicted times, by the paper's MetaSim numbers, by
                                          peak rates; NAN: not known */
    /* The parallel time if what the other machine is predicted to compute is divided by these. */
    double convolved_seconds, peak_seconds;
};

struct pm_replay_report {
    const char *program; /* NULL: of a trace */
    const char *at;      /* "N=24, p=4"; NULL */
    const char *machine; /* title; NULL: computation as in the trace */
    const char *platform;
    const struct pm_actions *actions;
    const struct pm_replay *replay;
    struct pm_estimate seconds; /* of the whole; without an interval both ends are NAN */
    double level;               /* probability of the interval */
    PM_ARRAY(struct pm_what_if, what_ifs);
    struct pm_processor_ratio ratio;
    double faster;           /* computation is so many times as fast, by hand; 1: as it is */
    PM_ARRAY(char *, notes); /* owned */
};

/* What the paper gives its network simulator stands behind the ranks: a line a rank, then the calls
   in which ranks spend their time, then what would be otherwise. */
void pm_report_replay(FILE *out, const struct pm_replay_report *report,
                      const struct pm_report_options *options);
/* The ranks over time, as a drawing. */
void pm_report_replay_svg(FILE *out, const struct pm_replay_report *report);

/* ---- report_scaling.c: the same program at many sizes -------------------------------------------
 */

struct pm_rank_scaling_point {
    char *at; /* "N=64, p=8"; owned */
    double ranks, seconds;
    double computation, communication, waiting; /* of the mean rank */
    double events, engine_seconds;              /* what the replay took */
};
struct pm_rank_scaling {
    char *program, *machine; /* owned */
    const char *platform;
    bool is_strong;                                 /* the work is the same at all points */
    PM_ARRAY(struct pm_rank_scaling_point, points); /* by ranks; owned */
};
void pm_report_rank_scaling(FILE *out, const struct pm_rank_scaling *scaling,
                            const struct pm_report_options *options);
void pm_report_rank_scaling_svg(FILE *out, const struct pm_rank_scaling *scaling);

#endif
