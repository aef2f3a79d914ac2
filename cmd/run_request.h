/* What `pmodel run` was asked to do. */
#ifndef PM_RUN_REQUEST_H
#define PM_RUN_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/run_design.h"

struct pm_run_input {
    /* template (absolute), file to make of it */
    char *from, *to;
};

struct pm_run_request {
    struct pm_run_design design;
    const char *store_path, *exe, *scratch;
    PM_ARRAY(const char *, environment);
    PM_ARRAY(struct pm_run_input, inputs);
    uint64_t *block_sizes;
    size_t n_block_sizes;
    unsigned timeout;
    bool no_memory, again, dry_run, quiet;
    char **argv; /* the command, NULL at the end */
};

/* Reads the command line; 0, or the exit status after complaining. */
int pm_read_run_request(struct pm_run_request *request, int argc, char **argv);
void pm_run_request_free(struct pm_run_request *request); /* what it owns */

#endif
