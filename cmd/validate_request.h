/* What `pmodel validate` was asked to do. */
#ifndef PM_VALIDATE_REQUEST_H
#define PM_VALIDATE_REQUEST_H

#include "cmd/cmd.h"
#include "cmd/run_request.h"

struct pm_validate_request {
    struct pm_run_request run; /* its store_path is --keep, its block sizes those to compare */
    const char *store_path;    /* with the models; only read */
    struct pm_machine_list on;
    double *cache_blocks; /* ascending; owned */
    size_t n_caches;
    struct pm_report_options options;
    bool hierarchy;     /* the whole beside its routines */
    const char *counts; /* classes that --hierarchy counts; NULL: the usual ones */
    bool measured_only; /* no command: the sizes that the models were made from */
};

/* Reads the command line; 0, or the exit status after complaining. */
int pm_read_validate_request(struct pm_validate_request *request, int argc, char **argv);
void pm_validate_request_free(struct pm_validate_request *request); /* what it owns */

#endif
