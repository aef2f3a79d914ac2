/* `pmodel report --as ranks` and `--intervals`, `pmodel report --as formulas --communication`: what
   parallel programs have beside loops. */
#ifndef PM_CMD_PARALLEL_H
#define PM_CMD_PARALLEL_H

#include "ask/ask.h"
#include "cmd/cmd.h"

/* What both are told. */
struct pm_parallel_request {
    struct pm_subject *subject;
    struct pm_selection selection;  /* of its store, which they come back to */
    const struct pm_parameters *at; /* n == 0: the largest measured size */
    const struct pm_machine_list *on;
    const struct pm_question *question; /* the machines, and how to predict */
    const struct pm_report_options *options;
    struct pm_warnings *warnings; /* of OPTIONS */
};

/* Time by group of ranks, on each machine.  Of a size that was not measured: by role, from the
   models.  Errors: no ranks are known, or no models. */
bool pm_print_ranks(const struct pm_parallel_request *request, struct pm_error *err);

/* Kinds of intervals, and their share of the time. */
bool pm_print_intervals(const struct pm_parallel_request *request, struct pm_error *err);

/* Models of messages of all roles, or of ROLE; AT: also at this size (NULL: formulas only). */
bool pm_print_messages(struct pm_store *store, const struct pm_parameters *at, const char *role,
                       const struct pm_report_options *options, struct pm_error *err);

#endif
