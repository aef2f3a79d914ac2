/* Raw files of instrumented processes (core/raw_file.h), read into plain arrays and checked. */
#ifndef PM_RAW_H
#define PM_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/histogram.h"
#include "core/base/base.h"
#include "core/bound_abi.h"
#include "core/raw_file.h"

struct pm_raw_module {
    uint64_t structure_hash;
    uint32_t n_counters, n_groups;
    uint32_t first_counter; /* among the counters of all modules of the process */
    uint32_t build_id_bytes;
    uint8_t build_id[24];
};

struct pm_raw_counters { /* of one module in one thread */
    uint32_t module;     /* index in pm_raw.modules */
    uint64_t thread;
    struct pm_raw_count *counts; /* n_counts, ascending, of counters that the module has; owned */
    size_t n_counts;
};

struct pm_raw_histogram { /* of one reference group in one thread */
    uint32_t module, group;
    uint64_t thread;
    uint64_t n_blocks; /* distinct blocks that the thread touched, all groups together */
    struct pm_histogram histogram; /* with the block size; owned */
};

struct pm_raw_carried {             /* those of a group's reuses that one scope carries */
    struct pm_raw_carried_head by;  /* its modules are indices in pm_raw.modules */
    struct pm_raw_histogram reuses; /* without first touches */
};

struct pm_raw_frames { /* of one module */
    uint32_t module;
    PM_ARRAY(struct pm_raw_frame, frames); /* ascending by address; owned */
};

struct pm_raw_thread_times { /* of one thread */
    uint64_t thread;
    uint32_t clock;                      /* enum pm_raw_clock */
    PM_ARRAY(struct pm_raw_time, times); /* ascending by module and scope; owned */
};

/* How one thread was sampled for one block size: one of `sample` blocks was watched. */
struct pm_raw_samples {
    uint64_t thread, block_bytes, sample;
    uint64_t misses[PM_RAW_SAMPLE_SIZES][PM_RAW_SUBSAMPLES];
};

/* The walks of one module in one thread; `levels` has the levels of all walks, walk by walk. */
struct pm_raw_strides {
    uint32_t module;
    uint64_t thread;
    PM_ARRAY(struct pm_raw_walk, walks);          /* ascending by reference; owned */
    PM_ARRAY(struct pm_raw_stride_level, levels); /* owned */
    PM_ARRAY(struct pm_raw_variant, variants);    /* likewise */
};

/* Basic blocks of one module in one thread. */
struct pm_raw_profile {
    struct pm_raw_profile_head head;       /* its module is an index in pm_raw.modules */
    PM_ARRAY(struct pm_raw_block, blocks); /* ascending by reference; owned */
    PM_ARRAY(uint64_t, served);            /* head.n_served for each of them; owned */
};

struct pm_raw_masked { /* references of one module in one thread */
    uint32_t module;
    PM_ARRAY(struct pm_raw_lanes, lanes); /* ascending by reference; owned */
};

struct pm_raw_thread_branches { /* of one module in one thread */
    uint32_t module;
    PM_ARRAY(struct pm_raw_branch, branches); /* ascending by block; owned */
};

struct pm_raw_thread_trips { /* of one module in one thread */
    uint32_t module;
    PM_ARRAY(struct pm_raw_trips, trips); /* ascending by block and range; owned */
};

struct pm_raw_rank { /* of a process of an MPI program */
    uint64_t rank, size;
    uint64_t library; /* enum pm_raw_library */
    char host[PM_RAW_HOST_SIZE];
};

struct pm_raw_path {
    struct pm_raw_call_site site; /* its module is an index in pm_raw.modules */
    char *callee;                 /* "" not known; NULL of path 0; owned */
};

struct pm_raw_interval_row { /* of one thread */
    uint64_t thread;
    struct pm_raw_interval head;
    struct pm_raw_interval_count *counts; /* head.n_counts; owned */
    struct pm_raw_interval_frame *frames; /* head.n_frames; owned */
};

struct pm_raw_interval_part { /* of a group's histogram */
    struct pm_raw_interval_head of;
    struct pm_raw_histogram histogram;
};

struct pm_raw_communicator { /* in the order of their numbers */
    uint32_t made_by;
    PM_ARRAY(int32_t, members); /* ranks of the world; owned */
    PM_ARRAY(int32_t, remote);
};

struct pm_raw_request_list {
    PM_ARRAY(uint32_t, numbers); /* owned */
};

struct pm_raw_logged_call {
    uint64_t begin_ns, end_ns; /* by the process's CLOCK_MONOTONIC */
};

struct pm_raw_communication { /* of one thread */
    uint64_t thread, n_lost;
    PM_ARRAY(struct pm_raw_event, events); /* owned */
    uint64_t n_traced, n_cut;              /* events that the sequences stand for; after them */
    PM_ARRAY(uint32_t, sequences);         /* none: there is no trace; owned */
    PM_ARRAY(struct pm_raw_trace_node, nodes);
    PM_ARRAY(struct pm_raw_call_time, times);   /* of each event; none: not measured; owned */
    PM_ARRAY(struct pm_raw_logged_call, calls); /* of the first events of the trace; owned */
};

struct pm_raw_skipped { /* by one thread, while measuring was off */
    uint64_t thread, loads, stores, n_stops;
};

struct pm_raw_bounds {                    /* of the nests of one file of copies */
    uint64_t ticks, ns;                   /* that the process was measured */
    PM_ARRAY(struct pm_raw_bound, nests); /* in the order of that file; owned */
};

struct pm_raw_slot {
    uint64_t n_known; /* bytes */
    uint64_t address; /* of the access that they are from; 0: none */
    uint8_t bytes[PM_BOUND_SLOT_BYTES];
};

struct pm_raw_outcomes {
    PM_ARRAY(uint64_t, words); /* bit i: the i-th outcome was: taken; owned */
    uint64_t n;
};

struct pm_raw_recorded { /* what shadow loops start with */
    PM_ARRAY(struct pm_raw_slot, slots);
    PM_ARRAY(struct pm_raw_outcomes, branches);
};

struct pm_raw {
    uint64_t process_id, parent_id;
    uint64_t start_unix_ns, wall_ns, cpu_ns;
    uint64_t n_threads;      /* that there ever were; numbers may be used one after the other */
    uint64_t n_missed_jumps; /* caught by SIGTRAP */
    uint64_t flags;          /* enum pm_raw_flags */
    PM_ARRAY(struct pm_raw_module, modules);
    PM_ARRAY(struct pm_raw_counters, counters);
    PM_ARRAY(struct pm_raw_histogram, histograms);
    PM_ARRAY(struct pm_raw_histogram, dirty);      /* stores by dirty distance: no loads */
    PM_ARRAY(struct pm_raw_histogram, sequential); /* what goes on from block to block */
    PM_ARRAY(struct pm_raw_carried, carried);
    struct pm_raw_recorded recorded; /* likewise */
    struct pm_raw_bounds bounds;     /* no nests: none were asked for */
    PM_ARRAY(struct pm_raw_frames, frames);
    PM_ARRAY(struct pm_raw_thread_times, times);
    PM_ARRAY(struct pm_raw_samples, samples);
    PM_ARRAY(struct pm_raw_path, paths); /* the first one is none; or there are none at all */
    PM_ARRAY(struct pm_raw_interval_row, intervals); /* the rows of a thread together */
    PM_ARRAY(struct pm_raw_interval_part, interval_parts);
    bool has_communication; /* it was traced, even if there was none */
    PM_ARRAY(struct pm_raw_communicator, communicators);
    PM_ARRAY(struct pm_raw_request_list, requests); /* the first one is empty, or there are none */
    PM_ARRAY(struct pm_raw_communication, communication);
    struct pm_raw_mpi_span mpi_span; /* zeros: not known */
    bool has_sockets;                /* traffic on sockets was wanted */
    uint64_t n_lost_transfers;
    PM_ARRAY(char *, sockets); /* texts; owned */
    PM_ARRAY(struct pm_raw_socket_traffic, socket_traffic);
    PM_ARRAY(struct pm_raw_skipped, skipped); /* at most one a thread */
    struct pm_raw_rank rank;                  /* size 0: it is none */
    PM_ARRAY(struct pm_raw_strides, strides);
    PM_ARRAY(struct pm_raw_profile, profiles);
    PM_ARRAY(struct pm_raw_masked, masked);
    PM_ARRAY(struct pm_raw_thread_branches, branches);
    PM_ARRAY(struct pm_raw_thread_trips, trips);
    PM_ARRAY(char *, notes); /* sentences for the user */
};

/* Reads the file PATH.  NULL, with a sentence that names the file, if it cannot be read, is
   truncated or damaged, is of another version, or holds what a raw file cannot hold.  Free with
   pm_raw_free.
 */
struct pm_raw *pm_raw_read(const char *path, struct pm_error *err);

/* The same for N_BYTES in memory (aligned to 8 bytes); NAME stands for the file in messages. */
struct pm_raw *pm_raw_read_memory(const void *bytes, size_t n_bytes, const char *name,
                                  struct pm_error *err);

void pm_raw_free(struct pm_raw *raw);

/* The signal that ended the process; 0: none did, or that is not known. */
int pm_raw_signal(const struct pm_raw *raw);

/* Misses of a fully associative LRU cache of 2^LOG2_SIZE blocks (below 2^PM_RAW_SAMPLE_SIZES), all
   reference groups of the thread together, estimated from the blocks watched; *STANDARD_ERROR of
   the estimate from its spread over the eighths of these, each an estimate of its own.  Means
   something for caches of 8 · sample blocks and more. */
double pm_raw_sampled_misses(const struct pm_raw_samples *samples, unsigned log2_size,
                             double *standard_error);

/* ---- all raw files of a run (raw_folder.c) ------------------------------------------------------
 */

/* Calls ADD (TO, path, err) for each raw file in FOLDER, in the order of their names, until one
   fails; WITH_CHECKPOINTS: also for what processes had written that came to no end (--checkpoint).
   Fails, too, where there is none of what should be in it ("measurement", "times"), and
   where a process says that it could not write. */
bool pm_add_raw_files(const char *folder, const char *what, bool with_checkpoints,
                      bool (*add)(void *to, const char *path, struct pm_error *), void *to,
                      struct pm_error *err);

/* Adds a sentence to *NOTES, one a line, unless it is there. */
void pm_add_note(char **notes, const char *note);

#endif
