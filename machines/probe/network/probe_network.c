/* Messages between ranks: starts the program that measures, and writes the platform. */
#include "machines/probe/network/network.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_bytes(const void *left, const void *right) {
    const struct pm_network_point *a = left, *b = right;
    return PM_COMPARE(a->bytes, b->bytes);
}

static struct pm_network_point *point_of(struct pm_network_probe *probe, uint64_t bytes) {
    for (size_t i = 0; i < probe->n_points; i++)
        if (probe->points[i].bytes == bytes)
            return &probe->points[i];
    struct pm_network_point *point = PM_PUSH(probe, points);
    point->bytes = bytes;
    return point;
}

/* A line of the program's; others are the launcher's and mean nothing. */
static void take_line(struct pm_network_probe *probe, const char *line) {
    uint64_t bytes;
    double seconds;
    if (sscanf(line, "pingpong %" SCNu64 " %lf", &bytes, &seconds) == 2)
        point_of(probe, bytes)->seconds[PM_NETWORK_PINGPONG] = seconds;
    else if (sscanf(line, "exchange %" SCNu64 " %lf", &bytes, &seconds) == 2)
        point_of(probe, bytes)->seconds[PM_NETWORK_EXCHANGE] = seconds;
    else if (sscanf(line, "eager %" SCNu64, &bytes) == 1)
        probe->eager_bytes = bytes;
}

bool pm_network_read(FILE *from, struct pm_network_probe *probe) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, from) > 0)
        take_line(probe, line);
    free(line);
    PM_SORT(probe->points, probe->n_points, by_bytes);
    for (size_t i = 0; i < probe->n_points; i++)
        for (int p = 0; p < PM_N_NETWORK_PATTERNS; p++)
            if (!(probe->points[i].seconds[p] > 0 && isfinite(probe->points[i].seconds[p])))
                return false;
    return probe->n_points >= 2;
}

bool pm_network_measure(const char *command, const char *program, const uint64_t *sizes, size_t n,
                        struct pm_network_probe *probe, struct pm_error *err) {
    char *whole = pm_sprintf("%s '%s'", command, program);
    for (size_t i = 0; i < n; i++)
        pm_append(&whole, " %" PRIu64, sizes[i]);
    FILE *from = popen(whole, "re");
    bool is_read = from && pm_network_read(from, probe);
    int status = from ? pclose(from) : -1;
    bool ok = status == 0 && is_read;
    if (!from)
        pm_fail_errno(err, "cannot start `%s`", whole);
    else if (status != 0)
        pm_fail(err, "`%s` ended with status %d: what it said stands above", whole, status >> 8);
    else if (!ok)
        pm_fail(err, "`%s` did not say what messages of two sizes take", command);
    free(whole);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    probe->n_cores = cores > 0 ? (unsigned)cores : 1;
    return ok;
}

void pm_network_probe_free(struct pm_network_probe *probe) {
    free(probe->points);
    *probe = (struct pm_network_probe){0};
}

/* ---- the platform ---------------------------------------------------------------------------- */

/* seconds (n) = constant + n · per_byte, from a measured size on. */
struct range {
    uint64_t from;
    double constant, per_byte;
};

/* Neither constant nor bandwidth may vanish, as they would between sizes at which a message takes
   ever less or the library changes its way; then the line goes through the lower size alone. */
#define LEAST_CONSTANT 0.05 /* of the latency */

static struct range range_at(const struct pm_network_probe *probe, enum pm_network_pattern pattern,
                             size_t i, double latency) {
    const struct pm_network_point *point = &probe->points[i];
    double bytes = (double)point->bytes, seconds = point->seconds[pattern];
    struct range range = {i ? point->bytes : 0, seconds, 0};
    if (i + 1 < probe->n_points) {
        const struct pm_network_point *next = &probe->points[i + 1];
        range.per_byte = (next->seconds[pattern] - seconds) / ((double)next->bytes - bytes);
    } else {
        range.per_byte = (seconds - latency) / bytes;
    }
    range.per_byte = fmax(range.per_byte, 1e-15);
    range.constant = seconds - bytes * range.per_byte;
    if (range.constant < LEAST_CONSTANT * latency) {
        range.constant = LEAST_CONSTANT * latency;
        range.per_byte = fmax((seconds - range.constant) / fmax(bytes, 1), 1e-15);
    }
    return range;
}

/* One host, or a cluster whose backbone is all that messages see: each gets the whole of it, as
   SimGrid's FATPIPE has it (which it takes for backbones, not for the links of hosts). */
#define HOST_LINKS 1e3 /* times its bandwidth: hold nothing up */

static void write_hosts(FILE *to, const struct pm_network_probe *probe, unsigned n_hosts,
                        double latency, double bandwidth) {
    if (n_hosts)
        fprintf(to,
                "  <cluster id=\"hosts\" prefix=\"node-\" suffix=\"\" radical=\"0-%u\" "
                "speed=\"1Gf\" core=\"1\" bw=\"%.9gBps\" lat=\"0s\" bb_bw=\"%.9gBps\" "
                "bb_lat=\"%.9gs\" bb_sharing_policy=\"FATPIPE\"/>\n",
                n_hosts - 1, HOST_LINKS * bandwidth, bandwidth, latency);
    else
        fprintf(to,
                "  <zone id=\"node\" routing=\"Full\">\n"
                "    <host id=\"node-0\" speed=\"1Gf\" core=\"%u\"/>\n"
                "    <link id=\"messages\" bandwidth=\"%.9gBps\" latency=\"%.9gs\" "
                "sharing_policy=\"FATPIPE\"/>\n"
                "    <route src=\"node-0\" dst=\"node-0\"><link_ctn id=\"messages\"/></route>\n"
                "  </zone>\n",
                probe->n_cores, bandwidth, latency);
}

void pm_network_write(FILE *to, const struct pm_network_probe *probe,
                      const struct pm_network_platform *platform) {
    enum pm_network_pattern pattern = platform->pattern;
    double latency = probe->points[0].seconds[pattern], bandwidth = 0;
    for (size_t i = 0; i < probe->n_points; i++)
        bandwidth =
            fmax(bandwidth, (double)probe->points[i].bytes / probe->points[i].seconds[pattern]);
    char *latencies = NULL, *bandwidths = NULL;
    if (platform->is_peak) {
        latencies = pm_strdup("0:1");
        bandwidths = pm_strdup("0:1");
    }
    for (size_t i = 0; !platform->is_peak && i < probe->n_points; i++) {
        struct range range = range_at(probe, pattern, i, latency);
        pm_append(&latencies, "%s%" PRIu64 ":%.6g", i ? ";" : "", range.from,
                  range.constant / latency);
        pm_append(&bandwidths, "%s%" PRIu64 ":%.6g", i ? ";" : "", range.from,
                  1 / (range.per_byte * bandwidth));
    }
    fprintf(to,
            "<?xml version='1.0'?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<!-- Measured between ranks by `pmodel probe` with its option network: %s.\n\n"
            "     Seconds of a message, by bytes: to and fro; both ways at once.\n",
            platform->name);
    for (size_t i = 0; i < probe->n_points; i++)
        fprintf(to, "     %9" PRIu64 "  %.4g  %.4g\n", probe->points[i].bytes,
                probe->points[i].seconds[PM_NETWORK_PINGPONG],
                probe->points[i].seconds[PM_NETWORK_EXCHANGE]);
    fprintf(to,
            "     The largest of these that is sent without waiting for the receiver: %" PRIu64
            ". -->\n"
            "<platform version=\"4.1\">\n"
            "  <config>\n"
            "    <prop id=\"smpi/lat-factor\" value=\"%s\"/>\n"
            "    <prop id=\"smpi/bw-factor\" value=\"%s\"/>\n"
            "    <prop id=\"smpi/send-is-detached-thresh\" value=\"%" PRIu64 "\"/>\n"
            "    <prop id=\"smpi/allreduce\" value=\"rdb\"/>\n"
            "    <prop id=\"smpi/reduce\" value=\"binomial\"/>\n"
            "    <prop id=\"smpi/bcast\" value=\"binomial_tree\"/>\n"
            "    <prop id=\"smpi/barrier\" value=\"ompi_recursivedoubling\"/>\n"
            "    <prop id=\"smpi/allgather\" value=\"ring\"/>\n"
            "    <prop id=\"smpi/alltoall\" value=\"ring\"/>\n"
            "    <prop id=\"smpi/gather\" value=\"ompi_binomial\"/>\n"
            "    <prop id=\"smpi/scatter\" value=\"ompi_binomial\"/>\n"
            "  </config>\n",
            probe->eager_bytes, latencies, bandwidths, probe->eager_bytes + 1);
    write_hosts(to, probe, platform->n_hosts, latency, bandwidth);
    fputs("</platform>\n", to);
    free(bandwidths);
    free(latencies);
}
