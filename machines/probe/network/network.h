/* What messages between ranks of MPI take on this machine, as a platform for `pmodel replay`.

   Snavely, Wolter and Carrington (2001) found the bandwidth of a simple ping-pong not enough
   (section 8.2, Figures 7 and 8): it hangs on the sizes of messages and on the pattern in which
   they are sent.  So both are measured: messages to and fro, and both ways at once, at sizes of
   one's own. */
#ifndef PM_NETWORK_H
#define PM_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/base.h"

enum pm_network_pattern { PM_NETWORK_PINGPONG = 0, PM_NETWORK_EXCHANGE, PM_N_NETWORK_PATTERNS };

/* A size of messages, and seconds of one in each pattern. */
struct pm_network_point {
    uint64_t bytes;
    double seconds[PM_N_NETWORK_PATTERNS];
};

struct pm_network_probe {
    PM_ARRAY(struct pm_network_point, points); /* ascending by size; owned */
    uint64_t
        eager_bytes;  /* the largest of the sizes that is sent without waiting for the receiver */
    unsigned n_cores; /* of this machine */
};

/* Starts `COMMAND PROGRAM SIZES…`, where COMMAND starts two ranks or more ("mpirun -np 2"), PROGRAM
   is pmodel-pingpong (pingpong.c); N sizes, 0: its own. */
bool pm_network_measure(const char *command, const char *program, const uint64_t *sizes, size_t n,
                        struct pm_network_probe *probe, struct pm_error *err);
/* What that program says, lines of others left out; false: not what messages of two sizes take. */
bool pm_network_read(FILE *from, struct pm_network_probe *probe);
void pm_network_probe_free(struct pm_network_probe *probe); /* what it owns */

struct pm_network_platform {
    enum pm_network_pattern pattern;
    bool is_peak;     /* latency of the smallest message and largest bandwidth, at all sizes */
    unsigned n_hosts; /* of a core each; 0: one with the cores of this machine */
    const char *name; /* what was measured, for a comment */
};

/* Writes the platform, on which messages do not disturb each other: what they do is in the times.

       seconds (n) = latency · latency factor + n / (bandwidth · bandwidth factor)

   with factors for each range of sizes, so that the seconds at all measured sizes come out. */
void pm_network_write(FILE *to, const struct pm_network_probe *probe,
                      const struct pm_network_platform *platform);

#endif
