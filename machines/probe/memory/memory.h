/* What the memory hierarchy of this machine does, found from timings alone.

   Everything is found by two primitives, a chain of dependent loads through given addresses and a
   sweep over a range (struct pm_memory_bench), so that the same code runs on this machine and, in
   tests, on simulated hierarchies.  What sysfs and cpuid say is not looked at: guests lie. */
#ifndef PM_PROBE_MEMORY_H
#define PM_PROBE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/shared_level/shared_level.h"
#include "machines/probe/clock/clock.h"
#include "machines/probe/effort.h"

enum { PM_MOST_CACHES = 3 }; /* no server with this clock has more levels */

enum pm_probe_pages { PM_PAGES_SMALL = 0, PM_PAGES_HUGE, PM_N_PROBE_PAGES };

/* ---- primitives ------------------------------------------------------------------------------ */

/* Dependent loads of 8 bytes at OFFSETS of a buffer, in this order and around again; CHAINS: so
   many chains at a time, each through its share of the offsets.  WRITES: each access also stores
   to the line that it loaded.  COARSE: in milliseconds, for one of many that are compared. */
struct pm_chase {
    const uint64_t *offsets;
    size_t n;
    unsigned chains;
    bool writes, coarse;
    enum pm_probe_pages pages;
};

enum pm_sweep_kind { PM_SWEEP_LOAD = 0, PM_SWEEP_STORE, PM_SWEEP_COPY, PM_N_SWEEP_KINDS };

/* Independent accesses over BYTES of a buffer: STRIDE_BYTES apart (8: every element, in the widest
   vectors), or 0: at random elements; by each of THREADS threads in a buffer of its own. */
struct pm_sweep {
    enum pm_sweep_kind kind;
    uint64_t bytes, stride_bytes;
    unsigned threads;
    enum pm_probe_pages pages;
};

/* Where timings come from. */
struct pm_memory_bench {
    void *context;
    /* Cycles an access. */
    struct pm_estimate (*chase)(void *context, const struct pm_chase *chase);
    /* Cycles an element of 8 bytes, of one thread. */
    struct pm_estimate (*sweep)(void *context, const struct pm_sweep *sweep);
    uint64_t most_bytes;                   /* of a buffer */
    uint64_t page_bytes[PM_N_PROBE_PAGES]; /* 0: there are none of these */
    unsigned threads;                      /* that can run at a time */
};

/* This machine, with the CPUS that may be used; false: no memory.  Freed by pm_memory_host_free. */
bool pm_memory_host(struct pm_clock *clock, const int *cpus, size_t n_cpus,
                    struct pm_memory_bench *bench, struct pm_error *err);
void pm_memory_host_free(struct pm_memory_bench *bench);

/* ---- what is found --------------------------------------------------------------------------- */

/* NAN, in any estimate: not known. */
struct pm_probed_cache {
    struct pm_estimate size_bytes, line_bytes, ways, latency_cycles;
    struct pm_estimate misses_in_flight;            /* of this level */
    struct pm_estimate bandwidth[PM_N_SWEEP_KINDS]; /* bytes a cycle from this level */
};

struct pm_probed_tlb {
    uint64_t page_bytes;
    struct pm_estimate entries, miss_cycles; /* of the last level: the page walk */
};

struct pm_probed_prefetch {
    int64_t stride_bytes; /* negative: descending */
    unsigned streams;
    struct pm_estimate covered; /* 1 − (t(stride) − t(L1)) / (t(random) − t(L1)) */
};

struct pm_probed_hits {
    double *share; /* n_points; of a cache of the detected hierarchy */
};

/* A curve against the working set. */
struct pm_probed_curve {
    const char *of;      /* "load_latency", "store_latency" (cycles an access), "read_bandwidth",
                            "write_bandwidth", "copy_bandwidth" (bytes a cycle and thread) */
    double stride_bytes; /* 0: random */
    unsigned threads;
    enum pm_probe_pages pages;
    size_t n_points;
    double *working_set_bytes;
    struct pm_estimate *value;
    struct pm_probed_hits *hits; /* of each cache, from the core outwards; n_caches of the probe */
};

struct pm_memory_probe {
    PM_ARRAY(struct pm_probed_cache, caches); /* from the core outwards */
    PM_ARRAY(struct pm_probed_tlb, tlbs);     /* of each page size, from the core outwards */
    struct pm_estimate page_walk_cycles[PM_N_PROBE_PAGES];
    struct pm_estimate memory_latency_cycles, memory_latency_dirty_cycles;
    struct pm_estimate memory_misses_in_flight;
    struct pm_estimate memory_gbs[PM_N_SWEEP_KINDS];     /* 10⁹ bytes a second of one core */
    struct pm_estimate memory_all_gbs[PM_N_SWEEP_KINDS]; /* of all that can run */
    PM_ARRAY(struct pm_probed_prefetch, prefetches);
    PM_ARRAY(struct pm_probed_curve, curves);
};

/* Nothing is known yet. */
void pm_memory_probe_begin(struct pm_memory_probe *probe);
/* CYCLE_SECONDS: for bandwidths in bytes a second. */
void pm_probe_memory(const struct pm_memory_bench *bench, double cycle_seconds,
                     const struct pm_probe_effort *effort, struct pm_memory_probe *probe);
/* Cycles of a first touch of a page; needs no bench. */
struct pm_estimate pm_measure_page_fault(double cycle_seconds);
void pm_memory_probe_free(struct pm_memory_probe *probe);

/* What a cache of which neighbours have a part serves (response.c), from N latencies of a chain at
   random through working sets that ascend, or cycles a line of a stream: of each the median of
   visits at several moments, and between what these lie.  Those that are not known are left out.
   LEVEL_CYCLES: of its hits; NEXT_CYCLES: of its misses; all without what TLBs add.  False, and no
   points: nothing is known, or a miss is no slower. */
bool pm_response_of_latencies(const double *working_set_bytes, const struct pm_estimate *cycles,
                              size_t n, double level_cycles, double next_cycles,
                              struct pm_response *response);
/* Of a chain, SLOW, and of a stream, FAST, one for all programs, which come to blocks at a rate
   between theirs: the shares of FAST, with intervals from the low end of SLOW to the high one of
   FAST.  False: one has no points. */
bool pm_response_between(const struct pm_response *slow, const struct pm_response *fast,
                         struct pm_response *response);
/* That of the last of three caches and more, by the curves in huge pages that PROBE has of chains
   and streams; false: there are none, or they tell nothing. */
bool pm_probed_response(const struct pm_memory_probe *probe, struct pm_response *response);

#endif
