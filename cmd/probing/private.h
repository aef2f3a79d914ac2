/* What the files of `pmodel probe` share. */
#ifndef PM_PROBING_PRIVATE_H
#define PM_PROBING_PRIVATE_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/base.h"

struct pm_probe_network_request {
    const char *library; /* "openmpi", "mpich", "simgrid"; NULL: the first */
    const char *command; /* that starts ranks, two or more; NULL: two by the library's mpirun */
    /* A store, or a trace of smpirun, whose sizes and pattern; both NULL: usual sizes, to and fro.
     */
    const char *store_path, *trace;
    unsigned n_hosts; /* of the platform, with a core each; 0: one with all cores */
    bool peak;        /* one latency and one bandwidth */
    bool quick;       /* a third of the usual sizes */
};
/* Measures, and writes the platform. */
bool pm_probe_network(const struct pm_probe_network_request *request, FILE *to,
                      struct pm_error *err);

#endif
