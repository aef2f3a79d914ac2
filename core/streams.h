/* Measured histograms with what they are of: each thread by itself, because each has private
   caches, and, where it was asked for, the interleaved accesses of all threads of a process; and
   what each thread executed.  The store keeps them so; a profile (profile.h) has the sum over
   threads. */
#ifndef PM_STREAMS_H
#define PM_STREAMS_H

#include <stdint.h>

#include "core/histogram.h"
#include "core/base/base.h"

enum pm_stream_kind {
    PM_STREAM_THREAD = 0, /* one thread */
    PM_STREAM_SHARED = 1, /* all threads of a process, interleaved: of a cache that they share */
    PM_STREAM_SUM = 2,    /* threads that were added up and cannot be told apart any more */
};

struct pm_stream {
    uint32_t process; /* ordinal among the processes of the run */
    uint32_t thread;  /* number in its process, of PM_STREAM_THREAD; 0 else */
    uint8_t kind;     /* enum pm_stream_kind */
};

/* One reference group in one stream, for the block size of the histogram. */
struct pm_stream_histogram {
    uint32_t stream; /* index in pm_streams.streams */
    uint32_t group;
    struct pm_histogram histogram; /* owned */
};

/* Misses of a stream, all groups together, in a fully associative LRU cache, estimated from the
   share of the blocks that was watched. */
struct pm_stream_estimate {
    uint32_t stream;
    uint64_t block_bytes, cache_blocks;
    double misses, standard_error;
};

/* What one thread executed. */
struct pm_stream_counts {
    uint32_t stream;     /* index in pm_streams.streams */
    double *edge_counts; /* one for each edge of the structure; owned */
};

struct pm_streams {
    PM_ARRAY(struct pm_stream, streams);
    PM_ARRAY(struct pm_stream_histogram, histograms);
    PM_ARRAY(struct pm_stream_counts, counts); /* none if there was one thread only; they add up to
                                                  the profile's */
    PM_ARRAY(struct pm_stream_estimate, estimates); /* none if all blocks were watched */
};

/* Index of STREAM, which is added if it is not there. */
uint32_t pm_streams_index(struct pm_streams *streams, const struct pm_stream *stream);

/* Puts the histograms in order: by group, block size, stream; those equal in all three become one.
 */
void pm_streams_order(struct pm_streams *streams);

void pm_streams_free(struct pm_streams *streams); /* what it owns; it is empty then */

#endif
