/* The address streams of points of a machine's curves, for cachegrind to watch.

       curve_streams SIZE WAYS LINE    goes through all streams

   Prints "FUNCTION STRIDE BYTES ACCESSES SHARE" of each: what the probes say is the share of its
   accesses that hit such a cache (stride 0: random), and the function in which they are made;
   before it, `warm_up` has gone through the working set. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "machines/probe/memory/private.h"

enum { MOST_BYTES = 1 << 20, TURNS_OF_ACCESSES = 40000, RANDOM_ACCESSES = 4000000 };

static volatile uint8_t *buffer;

typedef void stream(uint64_t bytes, uint64_t stride, uint64_t turns);

static inline __attribute__((always_inline)) void go(uint64_t bytes, uint64_t stride,
                                                     uint64_t turns) {
    static uint64_t state = 4711;
    uint64_t random = state;
    if (stride == 0)
        for (uint64_t i = 0; i < turns; i++) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            (void)*(volatile uint64_t *)(buffer + (random >> 33) % (bytes / 8) * 8);
        }
    else
        for (uint64_t turn = 0; turn < turns; turn++)
            for (uint64_t at = 0; at < bytes; at += stride)
                (void)*(volatile uint64_t *)(buffer + at);
    state = random;
}

/* Cachegrind counts by function. */
#define STREAM(name)                                                                               \
    static __attribute__((noipa)) void name(uint64_t bytes, uint64_t stride, uint64_t turns) {     \
        go(bytes, stride, turns);                                                                  \
    }
#define EIGHT(of) of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7)
#define STREAM_0(n) STREAM(stream_0##n)
#define STREAM_1(n) STREAM(stream_1##n)
#define STREAM_2(n) STREAM(stream_2##n)
#define STREAM_3(n) STREAM(stream_3##n)
#define STREAM_4(n) STREAM(stream_4##n)
STREAM(warm_up);
EIGHT(STREAM_0);
EIGHT(STREAM_1);
EIGHT(STREAM_2);
EIGHT(STREAM_3);
EIGHT(STREAM_4);

#define NAME_0(n) {"stream_0" #n, stream_0##n},
#define NAME_1(n) {"stream_1" #n, stream_1##n},
#define NAME_2(n) {"stream_2" #n, stream_2##n},
#define NAME_3(n) {"stream_3" #n, stream_3##n},
#define NAME_4(n) {"stream_4" #n, stream_4##n},
static const struct {
    const char *name;
    stream *go;
} streams[] = {EIGHT(NAME_0) EIGHT(NAME_1) EIGHT(NAME_2) EIGHT(NAME_3) EIGHT(NAME_4)};

int main(int argc, char **argv) {
    static const uint64_t strides[] = {8, 16, 128, 4096, 0};
    if (argc != 4)
        return 2;
    struct pm_probed_cache cache = {.size_bytes = pm_estimate_exactly(strtod(argv[1], NULL)),
                                    .ways = pm_estimate_exactly(strtod(argv[2], NULL)),
                                    .line_bytes = pm_estimate_exactly(strtod(argv[3], NULL))};
    struct pm_memory_probe probe = {.n_caches = 1, .caches = &cache};
    uint64_t bytes = strtoull(argv[1], NULL, 10) / 2;
    buffer = aligned_alloc(MOST_BYTES, MOST_BYTES);
    if (!buffer)
        return 1;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        uint64_t stride = strides[i % 5], accesses = RANDOM_ACCESSES, turns = RANDOM_ACCESSES;
        double share;
        if (stride == 0) {
            pm_simulate_random(&probe, bytes, &share);
        } else {
            pm_simulate_turns(&probe, bytes, stride, &share);
            accesses = (bytes + stride - 1) / stride;
            turns = 1 + TURNS_OF_ACCESSES / accesses;
            accesses *= turns;
        }
        warm_up(bytes, 8, 2);
        if (stride > 0)
            warm_up(bytes, stride, 2);
        streams[i].go(bytes, stride, turns);
        printf("%s %lu %lu %lu %.6f\n", streams[i].name, stride, bytes, accesses, share);
        if (stride == 0)
            bytes = bytes * 3 / 2 / 512 * 512;
    }
    return bytes > MOST_BYTES;
}
