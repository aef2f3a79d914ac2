/* How much of a miss prefetching hides, by stride and number of streams.

   Dependent loads go through memory in strides, several streams in turn, and then through the same
   pages in a random order within each, so that what the TLBs add is in both.  What is hidden is
   1 − (t(stride) − t(L1)) / (t(random) − t(L1)). */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "machines/probe/memory/private.h"

enum { MOST_ACCESSES = 300000, PAGE = 4096, LEAST_SHUFFLED = 16 };

/* Offsets of N loads by STREAMS streams that go in strides of STRIDE; RANDOM: each stream's in a
   random order within its pages (of strides of a page or nearly, within some of them). */
static void fill_order(uint64_t *offsets, size_t n, uint64_t region, int64_t stride,
                       unsigned streams, bool random) {
    uint64_t apart = (uint64_t)llabs(stride), state = 31337 + apart;
    size_t steps = n / streams,
           together = PAGE / apart > LEAST_SHUFFLED ? PAGE / apart : LEAST_SHUFFLED;
    uint64_t *walk = pm_alloc(steps, sizeof *walk);
    for (unsigned stream = 0; stream < streams; stream++) {
        for (size_t i = 0; i < steps; i++)
            walk[i] = stride > 0 ? i * apart : (steps - 1 - i) * apart;
        for (size_t i = 0; random && i < steps; i += together)
            pm_shuffle(walk + i, i + together < steps ? together : steps - i, &state);
        for (size_t i = 0; i < steps; i++)
            offsets[i * streams + stream] = stream * region + walk[i];
    }
    free(walk);
}

static double cycles_of(const struct pm_memory_bench *bench, uint64_t bytes, int64_t stride,
                        unsigned streams, bool random, double *low, double *high) {
    uint64_t region = bytes / streams / PAGE * PAGE, apart = (uint64_t)llabs(stride);
    size_t steps = region / apart;
    if (steps * streams > MOST_ACCESSES)
        steps = MOST_ACCESSES / streams;
    size_t n = steps * streams;
    uint64_t *offsets = pm_alloc(n, sizeof *offsets);
    fill_order(offsets, n, region, stride, streams, random);
    const struct pm_chase chase = {
        .offsets = offsets, .n = n, .chains = 1, .pages = pm_largest_pages(bench)};
    struct pm_estimate cycles = bench->chase(bench->context, &chase);
    free(offsets);
    *low = cycles.low;
    *high = cycles.high;
    return cycles.estimate;
}

static struct pm_estimate covered(const struct pm_memory_bench *bench, uint64_t bytes, double hit,
                                  int64_t stride, unsigned streams) {
    double low, high, random_low, random_high;
    double strided = cycles_of(bench, bytes, stride, streams, false, &low, &high);
    double random = cycles_of(bench, bytes, stride, streams, true, &random_low, &random_high);
    struct pm_estimate share = {
        1 - (high - hit) / (random_low - hit),
        1 - (strided - hit) / (random - hit),
        1 - (low - hit) / (random_high - hit),
    };
    /* Where a random order is not slower, there is nothing to hide. */
    return random > 1.5 * hit ? share : pm_estimate_unknown();
}

void pm_find_prefetching(const struct pm_memory_bench *bench, const struct pm_probe_effort *effort,
                         struct pm_memory_probe *probe) {
    static const int64_t strides[] = {64, 128, 256, 512, 1024, 2048, 4096};
    static const unsigned streams[] = {1, 2, 4, 8, 16, 32};
    size_t n_strides = sizeof strides / sizeof *strides;
    size_t n_streams = sizeof streams / sizeof *streams;
    /* Loads that all miss every cache; the longest strides need the most room. */
    uint64_t bytes = pm_bytes_in_level(bench, probe, probe->n_caches);
    double hit = probe->caches[0].latency_cycles.estimate;
    for (int direction = 1; direction >= -1; direction -= 2)
        for (size_t i = 0; i < n_strides; i += effort->quick ? 3 : 1)
            for (size_t j = 0; j < n_streams; j += effort->quick ? 3 : 1) {
                if (!pm_probe_goes_on(effort))
                    return;
                struct pm_probed_prefetch *prefetch = PM_PUSH(probe, prefetches);
                *prefetch = (struct pm_probed_prefetch){
                    .stride_bytes = direction * strides[i],
                    .streams = streams[j],
                    .covered = covered(bench, bytes, hit, direction * strides[i], streams[j]),
                };
            }
}
