/* Kernels whose memory accesses are generated and measured here, without the rest of the pipeline:
   a stencil, a sparse matrix-vector product with vector updates, a blocked matrix product, and
   tri-diagonal sweeps in three directions.  The measurement is exact LRU stack distance: a Fenwick
   tree over time stamps counts the blocks used since.  For the tests of fit/ only. */
#ifndef PM_FIT_TRACES_H
#define PM_FIT_TRACES_H

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/profile.h"

enum { TRACE_GROUPS = 24, TRACE_BINS = 64 + 64 * 22 };

struct trace {
    uint64_t block_bytes;
    uint32_t *last_use; /* per block: time stamp + 1 */
    uint32_t *block_at; /* per time stamp: block + 1, 0 none */
    uint32_t *tree;     /* Fenwick tree over time stamps */
    uint32_t n_blocks, time, capacity, n_live;
    struct trace_bin {
        double low, high, sum, loads, stores;
    } bins[TRACE_GROUPS][TRACE_BINS];
    double cold_loads[TRACE_GROUPS], cold_stores[TRACE_GROUPS];
    double edges[TRACE_GROUPS]; /* counts of loop bodies */
};

/* The analyser judges the product and is not part of it: without this the sanitizers' checks of it
   were nine tenths of the time of fit_prediction and fit_spread.  What comes from outside, blocks
   and groups, it asserts. */
#define JUDGE __attribute__((no_sanitize("address", "undefined")))

JUDGE static void trace_add(struct trace *t, uint32_t at, uint32_t change) {
    for (uint32_t i = at + 1; i <= t->capacity; i += i & -i)
        t->tree[i] += change;
}

JUDGE static uint32_t trace_sum(const struct trace *t, uint32_t end) {
    uint32_t sum = 0;
    for (uint32_t i = end; i; i &= i - 1)
        sum += t->tree[i];
    return sum;
}

/* Renumbers the live stamps 0, 1, 2 … when they have run out. */
static void trace_compact(struct trace *t) {
    uint32_t n = 0;
    for (uint32_t s = 0; s < t->time; s++)
        if (t->block_at[s]) {
            uint32_t block = t->block_at[s];
            t->block_at[s] = 0;
            t->block_at[n] = block;
            t->last_use[block - 1] = ++n;
        }
    memset(t->tree, 0, ((size_t)t->capacity + 1) * sizeof *t->tree);
    for (uint32_t s = 0; s < n; s++)
        trace_add(t, s, 1);
    t->time = n;
}

JUDGE static unsigned trace_bin_of(double distance) {
    if (distance < 64)
        return (unsigned)distance;
    int exponent;
    double mantissa = frexp(distance, &exponent); /* 64 bins in each octave */
    return 64 + 64 * (unsigned)(exponent - 7) + (unsigned)((mantissa - 0.5) * 128);
}

JUDGE static void trace_touch(struct trace *t, unsigned group, uint64_t address, int is_store) {
    uint32_t block = (uint32_t)(address / t->block_bytes);
    assert(block < t->n_blocks && group < TRACE_GROUPS);
    if (t->time == t->capacity)
        trace_compact(t);
    uint32_t stamp = t->last_use[block];
    if (!stamp) {
        *(is_store ? &t->cold_stores[group] : &t->cold_loads[group]) += 1;
        t->n_live++;
    } else {
        double distance = t->n_live - trace_sum(t, stamp);
        struct trace_bin *bin = &t->bins[group][trace_bin_of(distance)];
        int first = bin->loads + bin->stores == 0;
        bin->low = first || distance < bin->low ? distance : bin->low;
        bin->high = first || distance > bin->high ? distance : bin->high;
        bin->sum += distance;
        *(is_store ? &bin->stores : &bin->loads) += 1;
        trace_add(t, stamp - 1, (uint32_t)-1);
        t->block_at[stamp - 1] = 0;
    }
    trace_add(t, t->time, 1);
    t->block_at[t->time] = block + 1;
    t->last_use[block] = ++t->time;
}

/* ---- kernels; arrays stand one after the other, as an allocator would place them ------------- */

#define LOAD(group, base, index) trace_touch(t, group, (base) + 8 * (uint64_t)(index), 0)
#define STORE(group, base, index) trace_touch(t, group, (base) + 8 * (uint64_t)(index), 1)

static void kernel_stencil(struct trace *t, uint64_t n) {
    uint64_t a = 64, b = a + 8 * n * n * n + 16;
    for (int step = 0; step < 2; step++) {
        for (uint64_t k = 1; k + 1 < n; k++)
            for (uint64_t j = 1; j + 1 < n; j++)
                for (uint64_t i = 1; i + 1 < n; i++) {
                    uint64_t c = (k * n + j) * n + i;
                    LOAD(0, a, c);
                    LOAD(0, a, c - 1);
                    LOAD(0, a, c + 1);
                    LOAD(0, a, c - n);
                    LOAD(0, a, c + n);
                    LOAD(0, a, c - n * n);
                    LOAD(0, a, c + n * n);
                    STORE(1, b, c);
                    t->edges[0]++;
                }
        for (uint64_t c = 0; c < n * n * n; c++) {
            LOAD(2, b, c);
            STORE(3, a, c);
            t->edges[1]++;
        }
    }
}

static void kernel_sparse(struct trace *t, uint64_t n) {
    uint64_t rows = n * n * n, start = 64, columns = start + 4 * (rows + 1), at = 0;
    uint64_t values = (columns + 4 * 7 * rows + 63) & ~(uint64_t)15, x = values + 8 * 7 * rows;
    uint64_t y = x + 8 * rows + 16, r = y + 8 * rows + 16;
    for (int step = 0; step < 2; step++) {
        at = 0;
        for (uint64_t k = 0; k < n; k++)
            for (uint64_t j = 0; j < n; j++)
                for (uint64_t i = 0; i < n; i++) {
                    uint64_t c = (k * n + j) * n + i;
                    trace_touch(t, 0, start + 4 * c, 0);
                    for (int d = 0; d < 7; d++) {
                        static const int di[] = {0, 0, -1, 0, 1, 0, 0};
                        static const int dj[] = {0, -1, 0, 0, 0, 1, 0};
                        static const int dk[] = {-1, 0, 0, 0, 0, 0, 1};
                        if (i + (uint64_t)di[d] >= n || j + (uint64_t)dj[d] >= n ||
                            k + (uint64_t)dk[d] >= n)
                            continue;
                        trace_touch(t, 1, columns + 4 * at, 0);
                        LOAD(2, values, at);
                        LOAD(3, x,
                             c + (uint64_t)(((int64_t)dk[d] * (int64_t)n + dj[d]) * (int64_t)n +
                                            di[d]));
                        at++;
                        t->edges[0]++;
                    }
                    STORE(4, y, c);
                    t->edges[1]++;
                }
        for (uint64_t c = 0; c < rows; c++) {
            LOAD(5, y, c);
            LOAD(6, x, c);
            t->edges[2]++;
        }
        for (uint64_t c = 0; c < rows; c++) {
            LOAD(7, r, c);
            LOAD(8, y, c);
            STORE(7, r, c);
        }
        for (uint64_t c = 0; c < rows; c++) {
            LOAD(9, r, c);
            LOAD(10, x, c);
            STORE(10, x, c);
        }
    }
}

static void kernel_blocked(struct trace *t, uint64_t n) {
    uint64_t a = 64, b = a + 8 * n * n + 16, c = b + 8 * n * n + 16, size = 8;
    for (uint64_t jj = 0; jj < n; jj += size)
        for (uint64_t kk = 0; kk < n; kk += size)
            for (uint64_t i = 0; i < n; i++)
                for (uint64_t j = jj; j < jj + size && j < n; j++) {
                    for (uint64_t k = kk; k < kk + size && k < n; k++) {
                        LOAD(0, a, i * n + k);
                        LOAD(1, b, k * n + j);
                        t->edges[0]++;
                    }
                    LOAD(2, c, i * n + j);
                    STORE(2, c, i * n + j);
                    t->edges[1]++;
                }
}

/* Tri-diagonal solves along each direction: forward with a line buffer, then back. */
static void kernel_sweeps(struct trace *t, uint64_t n) {
    uint64_t u = 64, rhs = u + 8 * n * n * n + 16, line = rhs + 8 * n * n * n + 16;
    for (int step = 0; step < 2; step++)
        for (unsigned direction = 0; direction < 3; direction++) {
            uint64_t along = direction == 0 ? 1 : direction == 1 ? n : n * n;
            uint64_t inner = direction == 0 ? n : 1, outer = direction == 2 ? n : n * n;
            unsigned g = 5 * direction;
            for (uint64_t q = 1; q + 1 < n; q++)
                for (uint64_t p = 1; p + 1 < n; p++) {
                    uint64_t first = q * outer + p * inner;
                    for (uint64_t s = 1; s < n; s++) {
                        LOAD(g, u, first + s * along);
                        LOAD(g, u, first + (s - 1) * along);
                        LOAD(g + 1, line, s - 1);
                        STORE(g + 1, line, s);
                        LOAD(g + 2, rhs, first + (s - 1) * along);
                        STORE(g + 2, rhs, first + s * along);
                        t->edges[direction]++;
                    }
                    for (uint64_t s = n - 1; s-- > 0;) {
                        LOAD(g + 3, line, s);
                        LOAD(g + 4, rhs, first + (s + 1) * along);
                        STORE(g + 4, rhs, first + s * along);
                    }
                }
        }
}

static const struct {
    const char *name;
    void (*run)(struct trace *, uint64_t);
} kernels[] = {{"stencil", kernel_stencil},
               {"sparse", kernel_sparse},
               {"blocked", kernel_blocked},
               {"sweeps", kernel_sweeps}};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

/* ---- a run as a profile ---------------------------------------------------------------------- */

static void trace_histogram(const struct trace *t, unsigned group, struct pm_histogram *histogram) {
    histogram->block_bytes = t->block_bytes;
    histogram->cold_loads = t->cold_loads[group];
    histogram->cold_stores = t->cold_stores[group];
    histogram->bins = pm_alloc(TRACE_BINS, sizeof *histogram->bins);
    for (unsigned b = 0; b < TRACE_BINS; b++) {
        const struct trace_bin *bin = &t->bins[group][b];
        double count = bin->loads + bin->stores;
        if (count > 0)
            histogram->bins[histogram->n_bins++] = (struct pm_bin){.low = bin->low,
                                                                   .high = bin->high,
                                                                   .mean = bin->sum / count,
                                                                   .loads = bin->loads,
                                                                   .stores = bin->stores};
    }
}

/* The profile of KERNEL at size N; edge e of the structure counts loop body e. */
static inline struct pm_profile *measure(size_t kernel, uint64_t n, uint64_t block_bytes,
                                         size_t n_edges) {
    struct trace *t = pm_alloc(1, sizeof *t);
    t->block_bytes = block_bytes;
    t->n_blocks = (uint32_t)((8 * 14 * n * n * n + 65536) / block_bytes);
    t->capacity = 4 * t->n_blocks + 1024;
    t->last_use = pm_alloc(t->n_blocks, sizeof *t->last_use);
    t->block_at = pm_alloc((size_t)t->capacity + 1, sizeof *t->block_at);
    t->tree = pm_alloc((size_t)t->capacity + 1, sizeof *t->tree);
    kernels[kernel].run(t, n);

    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    pm_parameters_set(&profile->parameters, "N", (double)n, NULL);
    profile->extrapolation = 1;
    profile->n_edges = n_edges;
    profile->edge_counts = pm_alloc(n_edges, sizeof *profile->edge_counts);
    memcpy(profile->edge_counts, t->edges, n_edges * sizeof *profile->edge_counts);
    profile->block_sizes = pm_alloc(1, sizeof *profile->block_sizes);
    profile->block_sizes[profile->n_block_sizes++] = block_bytes;
    profile->histograms = pm_alloc(TRACE_GROUPS, sizeof *profile->histograms);
    for (unsigned g = 0; g < TRACE_GROUPS; g++) {
        struct pm_group_histogram *histogram = &profile->histograms[profile->n_histograms];
        memset(histogram, 0, sizeof *histogram);
        histogram->group = g;
        trace_histogram(t, g, &histogram->histogram);
        if (pm_histogram_accesses(&histogram->histogram) > 0)
            profile->n_histograms++;
        else
            pm_histogram_free(&histogram->histogram);
    }
    free(t->tree);
    free(t->block_at);
    free(t->last_use);
    free(t);
    return profile;
}

#endif
