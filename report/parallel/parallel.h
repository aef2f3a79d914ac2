/* What reports say of parallel programs: ranks and the groups that they are in, kinds of intervals,
   models of messages. */
#ifndef PM_REPORT_PARALLEL_H
#define PM_REPORT_PARALLEL_H

#include <stdio.h>

#include "core/call_times/call_times.h"
#include "core/communication/communication.h"
#include "core/parameters.h"
#include "core/prediction.h"
#include "core/ranks/ranks.h"
#include "core/structure/structure.h"
#include "fit/analysis/analysis.h"
#include "report/options.h"

/* ---- `pmodel report --as ranks` (report_ranks.c)
   --------------------------------------------------- */

/* What was measured of calls of MPI, of one rank; NAN: not known. */
struct pm_rank_calls {
    double span_seconds; /* from MPI_Init to MPI_Finalize */
    double seconds, waiting_seconds;
};

/* Ranks that do the same work; of a size that was not measured, those of a role. */
struct pm_rank_row {
    uint32_t group;     /* PM_NONE: of a size that was not measured */
    char *role, *ranks; /* "inside", "1–6"; ranks NULL: not known; owned */
    double n_ranks;
    double seconds, low, high; /* of one rank; NAN: not known */
    double waits_seconds;      /* what the slowest take longer */
    struct pm_rank_calls calls;
    const char *machine;            /* for CSV, set by the writer */
    const struct pm_parameters *at; /* likewise */
};

/* A loop in which ranks of the group only wait: times are without its rounds. */
struct pm_rank_spin_loop {
    struct pm_row_place place;
    uint32_t group;
    const char *role; /* the row's */
    double rounds;    /* of one rank */
};

/* A call of MPI at which ranks of a role may wait for others. */
struct pm_rank_waiting_call {
    const char *role; /* a row's */
    uint32_t number;  /* of its call path in the store */
    char *call;       /* "solve:112 MPI_Recv"; owned */
    double calls;     /* of one rank */
    struct pm_rank_calls times;
};

struct pm_ranks_report {
    const struct pm_structure *structure;
    struct pm_parameters at;
    bool predicted;   /* from the models of roles; else measured */
    double tolerance; /* of groups; NAN: there are none, but roles */
    char *machine, *machine_title;
    double n_ranks, slowest_seconds, mean_seconds, imbalance; /* slowest over mean */
    PM_ARRAY(struct pm_rank_row, rows);
    PM_ARRAY(struct pm_rank_spin_loop, loops);
    PM_ARRAY(struct pm_rank_waiting_call, calls);
    bool calls_known;    /* communication was traced */
    bool times_known;    /* and runs were timed */
    bool without_memory; /* reuse distances were not measured */
};
void pm_ranks_report_free(struct pm_ranks_report *report); /* what it owns */
/* Works out what follows from the rows' seconds. */
void pm_ranks_report_complete(struct pm_ranks_report *report);

/* One of N_REPORTS, of one size on one machine each. */
void pm_report_ranks(FILE *out, struct pm_ranks_report *reports, size_t n_reports,
                     const struct pm_report_options *options);

/* ---- `pmodel report --as intervals` (report_intervals.c)
   ------------------------------------------- */

/* A kind of interval, all ranks and threads added up. */
struct pm_interval_row {
    uint32_t kind;               /* its number in the store */
    char *begin, *end;           /* names of both ends; owned */
    char *begin_path, *end_path; /* the same with all calls around; owned */
    double n;                    /* intervals */
    double seconds, share;       /* of all of them, and of the whole run's; NAN: not known */
    double instructions;
    const char *machine; /* for CSV, set by the writer */
    const struct pm_parameters *at;
};

struct pm_intervals_report {
    const struct pm_structure *structure;
    struct pm_parameters at;
    char *machine, *machine_title;
    double seconds;      /* of all */
    bool has_histograms; /* reuse distances were measured by interval */
    bool without_memory; /* none were measured at all */
    PM_ARRAY(struct pm_interval_row, rows);
};
void pm_intervals_report_free(struct pm_intervals_report *report); /* what it owns */
/* Shares, and the order: most time first. */
void pm_intervals_report_complete(struct pm_intervals_report *report);

void pm_report_intervals(FILE *out, struct pm_intervals_report *reports, size_t n_reports,
                         const struct pm_report_options *options);

/* ---- `pmodel report --as formulas --communication` (report_messages.c)
   ----------------------------------------- */

/* A quantity of the events at one call, of the mean rank of a role or of all ranks added up. */
struct pm_message_row {
    const char *role;  /* NULL: all ranks */
    uint32_t number;   /* of the call path in the store */
    char *call, *path; /* "solve:112 MPI_Recv", and with all calls around; owned */
    const char *operation, *quantity;
    char *formula; /* NULL: not known, because some events did not tell; owned */
    bool exact;
    double relative_error;
    double value, low, high; /* at the size that was asked for; NAN: none was, or not known */
};

struct pm_messages_report {
    const struct pm_structure *structure;
    const struct pm_parameters *at; /* NULL: formulas only */
    PM_ARRAY(struct pm_message_row, rows);
};
void pm_messages_report_free(struct pm_messages_report *report); /* what it owns */

void pm_report_messages(FILE *out, const struct pm_messages_report *report,
                        const struct pm_report_options *options);

/* ---- `pmodel show --as communication` (report_communication.c, report_trace.c)
   ---------------------------- */

struct pm_communication_report {
    const struct pm_structure *structure;
    struct pm_parameters at;
    const struct pm_communication *communication;
    const struct pm_call_times *times; /* NULL: no run was timed */
    const struct pm_ranks *ranks;      /* none: numbers of processes stand for them in traces */
    uint32_t rank; /* shows events of this rank only, or its trace; PM_NONE: of all */
    bool by_rank;  /* rows for each rank */
    bool by_path;  /* rows for each call path, else for each call's short name */
    char **names;  /* [paths] of the writer, as the next one */
    uint32_t *calls;
};
void pm_report_communication(FILE *out, struct pm_communication_report *report,
                             const struct pm_report_options *options);
void pm_report_communication_matrix(FILE *out, const struct pm_communication_report *report,
                                    const struct pm_report_options *options);
void pm_report_communication_trace(FILE *out, const struct pm_communication_report *report,
                                   const struct pm_report_options *options);

#endif
