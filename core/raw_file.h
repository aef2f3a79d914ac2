/* The raw file: what one process measured.  The runtime writes it (one writer, to a temporary name
   in the same folder, fsync, rename: whole or absent); only the pmodel command reads it.

   Layout, little-endian, every section aligned to 8 bytes:
     struct pm_raw_header
     sections: { u32 tag, u32 reserved, u64 bytes } then the bytes, padded to 8 with zeros
     u64 checksum: XXH3_64bits of all that stands before it
   Sections and their bytes:
     PM_RAW_META        u64 pid, u64 parent pid, u64 start (unix ns), u64 wall ns, u64 cpu ns,
                        u64 n_threads, u64 missed jumps caught by SIGTRAP, u64 enum pm_raw_flags
     PM_RAW_MODULE      u64 structure_hash, u32 n_counters, u32 n_groups, u32 first_counter,
                        u32 build_id_bytes, u8 build_id[24]
     PM_RAW_COUNTERS    u64 module (ordinal of its section), u64 thread, then struct pm_raw_count
                        ascending by counter: those that are not zero, which of a large program
                        are few
     PM_RAW_HISTOGRAM   struct pm_raw_histogram_head, then n_bins × struct pm_raw_bin, ascending.
                        Groups that were never accessed are left out.
     PM_RAW_CARRIED     struct pm_raw_carried_head, then as PM_RAW_HISTOGRAM without first touches:
                        of a group's reuses those with one source, carrier and whether across its
                        iterations (runtime/reuse/carried_reuse/carried_reuse.h); each such triple
                        once a group, thread and block size, and all together are the group's
                        histogram
     PM_RAW_DIRTY       as PM_RAW_HISTOGRAM: a group's stores by dirty distance
                        (runtime/reuse/dirty_distances/dirty_distances.h).  No loads; cold stores
                        are those that are the first to their block.  Groups without stores are left
                        out.
     PM_RAW_SEQUENTIAL  as PM_RAW_HISTOGRAM: those of a group's touches that go on from one block to
                        the next (runtime/reuse/sequential_touches.h), of the smallest block size.
                        Right behind each histogram of that size, if it was asked for; maybe empty
     PM_RAW_FRAMES      u64 module, u64 n, then n × struct pm_raw_frame, ascending by address; of
                        one address at most one with a positive and one with a negative count
     PM_RAW_TIMES       u64 thread, u64 enum pm_raw_clock, then struct pm_raw_time, ascending by
                        (module, scope), each once; scopes that were never entered are left out
     PM_RAW_SAMPLES     u64 thread, u64 block_bytes, u64 sample, then for cache sizes of 2^0, 2^1, …
                        2^(PM_RAW_SAMPLE_SIZES − 1) blocks PM_RAW_SUBSAMPLES × u64: touches of
                        watched blocks that miss, by the eighth of these blocks that they are of
                        (pm_raw_sampled_misses).  Only if not all blocks were watched.
     PM_RAW_SKIPPED     u64 thread, u64 loads, u64 stores, u64 n_stops: accesses while
                        measuring was off, which are in no histogram, and how often it was
                        switched off while the thread was there; at most one a thread, not all zero
     PM_RAW_STRIDES     u64 module, u64 thread, then references ascending, each once: struct
                        pm_raw_walk, n_levels × struct pm_raw_stride_level, innermost first, and
                        n_variants × struct pm_raw_variant (runtime/analyser/run_strides.h)
     PM_RAW_BOUNDS      u64 ticks of the time-stamp counter and u64 nanoseconds that the process was
                        measured, then for each nest of the file of copies struct pm_raw_bound
     PM_RAW_RECORDED    u64 n_slots, u64 n_branches, then n_slots times u64 bytes that are known,
                        u64 the address that they are from and PM_BOUND_SLOT_BYTES bytes, and
                        n_branches times u64 n and ⌈n/64⌉ words, bit i of which says whether the
                        i-th outcome was: taken
     PM_RAW_PROFILE     struct pm_raw_profile_head, then basic blocks ascending by reference, each
                        once: struct pm_raw_block and n_served × u64, references that were served by
                        a level of a simulated machine: of each machine by the second one, the
                        third, …, by none
     PM_RAW_LANES       u64 module, u64 thread, then struct pm_raw_lanes ascending by reference
     PM_RAW_RANK        u64 rank, u64 size of the world, u64 enum pm_raw_library, host's name,
                        padded with zeros to PM_RAW_HOST_SIZE bytes; at most one, of MPI programs
     PM_RAW_PATHS       u64 n, n × struct pm_raw_call_site, then n texts, each NUL-terminated: what
                        is called there, "" if it is not known.  The i-th one is path i, from 1 on;
                        path 0 is none: where a thread begins or ends.  At most one section
     PM_RAW_INTERVALS   u64 thread, then for each row of intervals struct pm_raw_interval, n_counts
                        × struct pm_raw_interval_count and n_frames × struct
                        pm_raw_interval_frame.  All rows of a thread together are its counters,
                        those of all threads have the frames of PM_RAW_FRAMES
     PM_RAW_INTERVAL_HISTOGRAM  struct pm_raw_interval_head, then as PM_RAW_HISTOGRAM: what of a
                        group's histogram belongs to one row of intervals
     PM_RAW_COMMUNICATORS  of each communicator, in the order of their numbers in the process, u32
                        operation that made it (enum pm_operation, or PM_N_OPERATIONS), u32
                        n_members, u32 n_remote, then so many i32, ranks of the world
     PM_RAW_REQUESTS    lists of requests from number 1 on, each once: u32 n, n × u32; list 0 is
                        empty
     PM_RAW_COMMUNICATION  u64 thread, u64 n_lost, then struct pm_raw_event in the order of first
                        events, each kind once.  Behind the sections of paths, communicators and
                        requests.
     PM_RAW_TRACE       u64 thread, u64 n_events, u64 n_lost, u32 n_sequences, u32 n_nodes, then
                        n_sequences × u32 and n_nodes × struct pm_raw_trace_node
                        (core/communication/communication.h); numbers of events are those in the
                        thread's section of communication, which stands before it
     PM_RAW_SOCKETS     u64 n_lost, then struct pm_raw_socket_traffic, each path, thread and socket
                        once; sockets have numbers from 0 on in the order in which they come, and
                        behind the first row of each stands its text, padded with zeros to
                        PM_RAW_SOCKET_TEXT bytes.  Behind the section of paths; at most one
     PM_RAW_CALL_TIMES  u64 thread, then for each event of the thread's section of communication,
                        which stands before it, struct pm_raw_call_time
     PM_RAW_CALL_LOG    u64 thread, u64 n, then for each of the first n events of the thread in the
                        order of its trace two LEB128 numbers: ns from the end of the call before to
                        the begin of this one (of the first from 0 of CLOCK_MONOTONIC), and to its
                        end
     PM_RAW_MPI_SPAN    struct pm_raw_mpi_span; at most one
     PM_RAW_BRANCHES    u64 module, u64 thread, then struct pm_raw_branch ascending by block
     PM_RAW_TRIPS       u64 module, u64 thread, then struct pm_raw_trips ascending by block and
   range PM_RAW_NOTE        text, NUL-terminated: something that the user must know about this run

   Version 3 added to a histogram what stands after n_blocks; version 4 strides; version 5 their
   variants, and stores by dirty distance; version 6 profiles of basic blocks; version 7 ranks, call
   paths, intervals and communication; version 8 times of calls of MPI; version 9 branches, and what
   goes on from block to block; version 10 trip counts. */
#ifndef PM_RAW_FILE_H
#define PM_RAW_FILE_H

#include <stdint.h>

#define PM_RAW_MAGIC "PMRAW\r\n\032" /* 8 bytes; damaged by a text-mode copy, which is noticed */
#define PM_RAW_VERSION 10

struct pm_raw_header {
    char magic[8];
    uint32_t version;
    uint32_t n_sections;
    uint64_t file_bytes; /* with header and checksum */
};

struct pm_raw_section {
    uint32_t tag; /* enum pm_raw_tag */
    uint32_t reserved;
    uint64_t bytes;
};

enum pm_raw_tag {
    PM_RAW_META = 1,
    PM_RAW_MODULE = 2,
    PM_RAW_COUNTERS = 3,
    PM_RAW_HISTOGRAM = 4,
    PM_RAW_NOTE = 5,
    PM_RAW_FRAMES = 6,
    PM_RAW_TIMES = 7,
    PM_RAW_SAMPLES = 8,
    PM_RAW_CARRIED = 9,
    PM_RAW_SKIPPED = 10,
    PM_RAW_STRIDES = 11,
    PM_RAW_DIRTY = 12,
    PM_RAW_BOUNDS = 13,
    PM_RAW_RECORDED = 14,
    PM_RAW_PROFILE = 15,
    PM_RAW_LANES = 16,
    PM_RAW_RANK = 17,
    PM_RAW_PATHS = 18,
    PM_RAW_INTERVALS = 19,
    PM_RAW_INTERVAL_HISTOGRAM = 20,
    PM_RAW_COMMUNICATION = 21,
    PM_RAW_COMMUNICATORS = 22,
    PM_RAW_TRACE = 23,
    PM_RAW_SOCKETS = 24,
    PM_RAW_REQUESTS = 25,
    PM_RAW_CALL_TIMES = 26,
    PM_RAW_CALL_LOG = 27,
    PM_RAW_MPI_SPAN = 28,
    PM_RAW_BRANCHES = 29,
    PM_RAW_SEQUENTIAL = 30,
    PM_RAW_TRIPS = 31,
};

/* The reference predictors of branches, strongest first. */
enum pm_branch_predictor {
    PM_PREDICTOR_TAGE,
    PM_PREDICTOR_GSHARE,
    PM_PREDICTOR_BIMODAL,
    PM_N_PREDICTORS,
};

/* What a thread did at the branch that ends a basic block (core/behaviour/behaviour.h). */
struct pm_raw_branch {
    uint32_t block, reserved;             /* index in the module's structure */
    uint64_t executions, taken, analysed; /* EXECUTIONS are not 0, the others at most as many */
    uint64_t wrong[PM_N_PREDICTORS];      /* of the analysed ones */
};

/* Ranges of trip counts: 1 to 16 each by itself, then 17–32, 33–64 and so on. */
enum { PM_TRIPS_APART = 16, PM_N_TRIP_RANGES = 64 }; /* the last one is up to UINT64_MAX */

/* The range that TRIPS, 1 or more, is in. */
static inline unsigned pm_trip_range(uint64_t trips) {
    if (trips <= PM_TRIPS_APART)
        return (unsigned)trips - 1;
    unsigned range = PM_TRIPS_APART + 59 - (unsigned)__builtin_clzll(trips - 1);
    return range < PM_N_TRIP_RANGES ? range : PM_N_TRIP_RANGES - 1;
}

/* The fewest trips of RANGE; the most are one less than those of the next. */
static inline uint64_t pm_least_trips(unsigned range) {
    return range < PM_TRIPS_APART ? range + 1
                                  : ((uint64_t)PM_TRIPS_APART << (range - PM_TRIPS_APART)) + 1;
}

/* Entries of a loop, whose only way out is at the end of a basic block, with so many iterations
   (core/behaviour/behaviour.h). */
struct pm_raw_trips {
    uint32_t block;               /* index in the module's structure */
    uint32_t range;               /* of trips */
    uint64_t entries, iterations; /* ENTRIES are not 0 */
};

/* What a thread moved on a socket in one call (core/communication/communication.h). */
struct pm_raw_socket_traffic {
    uint32_t path; /* of the section of paths */
    uint32_t thread;
    uint32_t socket;
    uint32_t is_new; /* 1: its text follows */
    uint64_t sends, receives, bytes_sent, bytes_received;
};
enum { PM_RAW_SOCKET_TEXT = 120 };

/* Communication events that are alike: struct pm_event_kind of core/communication/communication.h
   in numbers of the process. */
struct pm_raw_event {
    uint32_t path;                       /* of the section of paths; 0: none is known */
    uint32_t operation;                  /* enum pm_operation */
    uint32_t communicator;               /* UINT32_MAX: none, or unknown */
    uint32_t requests;                   /* of the section of requests; 0: none */
    int32_t partner, source;             /* ranks of the world, or what stands for them */
    int32_t tag, source_tag;             /* likewise */
    uint64_t bytes_sent, bytes_received; /* UINT64_MAX: unknown */
    uint64_t n; /* 0: only in the trace, whose place could not wait for what the event was */
};

/* Times of the calls that are events of one kind. */
struct pm_raw_call_time {
    uint64_t ns, least_ns; /* in all of them, in the shortest */
};

/* Of a process of an MPI program, by CLOCK_MONOTONIC. */
struct pm_raw_mpi_span {
    uint64_t begin_ns, end_ns; /* MPI_Init came back, MPI_Finalize was called; 0: it was not seen */
    uint64_t clock[2];         /* of the system that runs: where it is the same, the clock is */
};

struct pm_raw_trace_node {
    uint32_t item;  /* an event of the thread's section of communication, or a sequence */
    uint32_t times; /* of a loop, at least 2; 0: an event */
};

/* The MPI library of a process. */
enum pm_raw_library { PM_RAW_OPEN_MPI = 1, PM_RAW_MPICH = 2, PM_RAW_OTHER_MPI = 3 };
enum {
    PM_RAW_HOST_SIZE = 64,
    PM_MOST_RANKS = 1 << 24, /* more processes are a mistake */
};

/* A nest whose lower bound was measured (core/bound_abi.h), in all threads.  Times are ticks. */
struct pm_raw_bound {
    uint64_t executions;
    uint64_t sampled;      /* with a copy before them that ended as it should */
    uint64_t over, faults; /* copies that ran longer than they may, that faulted */
    uint64_t
        without_memory;     /* executions without a copy for these reasons, or for want of memory */
    uint64_t ticks;         /* of all executions */
    uint64_t sampled_ticks; /* of those that were sampled */
    uint64_t copy_ticks;    /* of the copies before them */
};

enum { PM_RAW_STRIDE_CLASSES = 6 };

/* What the basic blocks of a module did with memory in a thread. */
struct pm_raw_profile_head {
    uint64_t module, thread;
    uint32_t window; /* addresses of its block that each was compared with */
    uint32_t n_served;
};

/* A basic block, by its first reference's index in the module. */
struct pm_raw_block {
    uint64_t reference, references, bytes;   /* REFERENCES are not 0 */
    uint64_t strides[PM_RAW_STRIDE_CLASSES]; /* of up to 0, 1, 2, 4, 8 elements, and random; they
                                                add up to the references */
};

/* Elements that a reference accessed, which could have been masked off. */
struct pm_raw_lanes {
    uint64_t reference, n; /* index in the module; not 0 */
};

enum { PM_RAW_SUBSAMPLES = 8, PM_RAW_SAMPLE_SIZES = 40 };

enum pm_raw_flags {
    PM_RAW_FORKED = 1,      /* a child of fork: counts start at the fork */
    PM_RAW_BEFORE_EXEC = 2, /* written because the process was about to exec */
    PM_RAW_TRUNCATED = 4,   /* a signal ended the process; its number stands PM_RAW_SIGNAL_SHIFT
                             bits further up */
    PM_RAW_CHECKPOINT = 8,  /* written while the process ran on; its end is not known */
    PM_RAW_SIGNAL_SHIFT = 8,
};

struct pm_raw_count {
    uint64_t counter; /* of the module, from 0 */
    uint64_t count;   /* not 0 */
};

/* In place of a thread's number: the accesses of all threads as they were interleaved. */
#define PM_RAW_SHARED UINT64_MAX

/* In place of a number of bytes: it was not asked for, or there was no memory to tell. */
#define PM_RAW_UNKNOWN_BYTES UINT64_MAX

/* One reference group in one thread, for one block size.  Where not all blocks are watched
   (sample), counts are those of the watched ones times the sample; bytes are of all blocks. */
struct pm_raw_histogram_head {
    uint64_t module; /* ordinal of its section */
    uint64_t thread; /* its number, or PM_RAW_SHARED */
    uint64_t block_bytes;
    uint32_t group, n_bins;
    uint64_t cold_loads, cold_stores; /* first touches */
    uint64_t n_blocks;                /* distinct blocks that the thread touched, all groups */
    uint64_t bytes_touched; /* that the thread touched first through this group, whatever the block
                               size, or PM_RAW_UNKNOWN_BYTES */
    uint64_t at_least;      /* beyond is known to be at least so many blocks; 0: all is exact */
    uint64_t beyond_loads, beyond_stores; /* reuses whose distance is only known to be that far */
    uint64_t sample;                      /* one of so many blocks is watched; 1: all */
};

/* Scopes are indices in their modules' structures. */
struct pm_raw_carried_head {
    uint32_t source_module, source_scope; /* of the last access to the block */
    uint32_t carrier_module,
        carrier_scope;         /* PM_RAW_OUTSIDE, 0: no loop or routine that is known */
    uint32_t across, reserved; /* 1: an iteration of the carrier began in between */
};

/* How the addresses of a reference, by its index in the module, went through memory. */
struct pm_raw_walk {
    uint32_t reference;
    uint16_t n_levels, n_variants; /* at most PM_RAW_STRIDE_LEVELS, PM_RAW_VARIANTS; not 1 */
    uint64_t n;                    /* executions that were looked at, not 0 */
    uint64_t lowest, highest;      /* addresses in the process */
};

enum { PM_RAW_STRIDE_LEVELS = 6, PM_RAW_VARIANTS = 16 };

/* Weights are not above the numbers behind them.  Without whole runs stride and count are those of
   the longest that was seen in part. */
struct pm_raw_stride_level {
    int64_t stride;                    /* the most frequent stride … */
    uint64_t stride_weight, n_strides; /* … its share */
    uint64_t count;                /* the most frequent number of elements of a run, not 0 … */
    uint64_t count_weight, n_runs; /* … its share */
    uint64_t n_elements;           /* in all these runs, at least one in each */
};

/* One of several ways in which a reference went on, each for some time. */
struct pm_raw_variant {
    uint64_t weight;   /* executions, of the n_elements of the innermost level */
    uint64_t since;    /* the first of them, in a time that all references of the thread share */
    uint64_t n_phases; /* how often it began, not 0 */
    uint64_t lowest, highest; /* addresses */
    uint64_t n_levels;        /* that are known, from 1 to PM_RAW_STRIDE_LEVELS */
    struct pm_raw_variant_level {
        int64_t stride;
        uint64_t count; /* not 0; both are 0 for levels that are not known */
    } levels[PM_RAW_STRIDE_LEVELS];
};

/* Accesses whose reuse distance lies in [low, high] blocks; the sum of distances gives the mean.
   Where a block size's distances below 16 were not told apart (PM_ENV_APART), they are the bin
   [0, 15], and its sum is as if their mean were in the middle. */
struct pm_raw_bin {
    uint64_t low, high;
    uint64_t loads, stores;
    double distance_sum;
};

/* A call at which activations were left for good (count > 0), as by longjmp, or went on without
   having been entered (count < 0), as in the child of a fork. */
struct pm_raw_frame {
    uint64_t return_address; /* link-time address in the module's old text */
    int64_t count;
};

/* A call, and the path around it. */
struct pm_raw_call_site {
    uint32_t parent;         /* path, smaller than its own number */
    uint32_t module;         /* ordinal of its section */
    uint64_t return_address; /* link-time address in the module's old text */
};

/* Intervals of one kind, from the call path BEGIN to the call path END, with ordinals from FIRST
   on, added up. */
struct pm_raw_interval {
    uint32_t begin, end; /* paths */
    uint64_t first, n;   /* N is not 0 */
    uint32_t n_counts, n_frames;
};
struct pm_raw_interval_count { /* ascending by module and counter, each once */
    uint32_t module, counter;
    uint64_t count; /* not 0 */
};
struct pm_raw_interval_frame { /* as struct pm_raw_frame */
    uint64_t module, return_address;
    int64_t count; /* not 0 */
};

/* A row of intervals of a thread. */
struct pm_raw_interval_head {
    uint32_t begin, end;
    uint64_t first;
};

/* What times were measured with. */
enum pm_raw_clock {
    PM_RAW_CLOCK_TSC = 1, /* the time-stamp counter, corrected by the thread's CPU clock after each
                             interruption: time on the processor */
    PM_RAW_CLOCK_TSC_ELAPSED = 2, /* the counter alone: holds what other programs took */
    PM_RAW_CLOCK_SYSTEM = 3,      /* the thread's CPU clock at each event: no steady counter */
};

/* Time of one thread directly in one scope; in scopes with timers inside it not included. */
struct pm_raw_time {
    uint32_t module; /* ordinal of its section; PM_RAW_OUTSIDE: in no scope, which then is 0 */
    uint32_t scope;  /* index in the module's structure */
    uint64_t entries;
    double ns, own_ns; /* without the timers' own time, and that time */
};
#define PM_RAW_OUTSIDE UINT32_MAX

#endif
