/* Histograms of threads and interleaved streams; see streams.h. */
#include "core/streams.h"

#include <stdlib.h>

uint32_t pm_streams_index(struct pm_streams *streams, const struct pm_stream *stream) {
    /* From the last one on: histograms of a stream come one after the other. */
    for (size_t i = streams->n_streams; i-- > 0;) {
        const struct pm_stream *there = &streams->streams[i];
        if (there->process == stream->process && there->thread == stream->thread &&
            there->kind == stream->kind)
            return (uint32_t)i;
    }
    *PM_PUSH(streams, streams) = *stream;
    return (uint32_t)streams->n_streams - 1;
}

static int compare(const void *a, const void *b) {
    const struct pm_stream_histogram *x = a, *y = b;
    int order = PM_COMPARE(x->group, y->group);
    if (order == 0)
        order = PM_COMPARE(x->histogram.block_bytes, y->histogram.block_bytes);
    return order ? order : PM_COMPARE(x->stream, y->stream);
}

void pm_streams_order(struct pm_streams *streams) {
    size_t n = streams->n_histograms, kept = 0;
    if (n == 0)
        return;
    PM_SORT(streams->histograms, n, compare);
    for (size_t i = 1; i < n; i++) {
        struct pm_stream_histogram *last = &streams->histograms[kept];
        struct pm_stream_histogram *next = &streams->histograms[i];
        if (compare(last, next) == 0) {
            pm_histogram_add(&last->histogram, &next->histogram);
            pm_histogram_free(&next->histogram);
        } else {
            streams->histograms[++kept] = *next;
        }
    }
    streams->n_histograms = kept + 1;
}

void pm_streams_free(struct pm_streams *streams) {
    for (size_t i = 0; i < streams->n_histograms; i++)
        pm_histogram_free(&streams->histograms[i].histogram);
    free(streams->histograms);
    for (size_t i = 0; i < streams->n_counts; i++)
        free(streams->counts[i].edge_counts);
    free(streams->counts);
    free(streams->estimates);
    free(streams->streams);
    *streams = (struct pm_streams){0};
}
