/* What the files of `pmodel probe` share. */
#ifndef PM_PROBING_PRIVATE_H
#define PM_PROBING_PRIVATE_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/base.h"

struct pm_probe_network_request {
    const char *library;    /* "openmpi", "mpich"; NULL: the first */
    const char *command;    /* that starts two ranks; NULL: the library's mpirun */
    const char *store_path; /* whose sizes and pattern; NULL: a ping-pong at usual sizes */
    bool quick;             /* a third of the usual sizes */
};
/* Measures, and writes the platform. */
bool pm_probe_network(const struct pm_probe_network_request *request, FILE *to,
                      struct pm_error *err);

#endif
