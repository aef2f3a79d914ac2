/* Feeds a recorded trace to the runtime's analyser, in every variant that this CPU has, and
   compares all its histograms with a stack (touches.h).

     check_analyser TRACE BLOCK_BYTES...

   Prints figures for each block size; status 3 where something differs. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/reuse/reuse_state.h"
#include "tests/truth/touches.h"

static void histogram_of_analyser(const struct pm_touch_histogram *of_group, uint64_t block_bytes,
                                  struct pm_histogram *histogram) {
    uint64_t loads, stores;
    size_t n_bins = pm_touch_histogram_bins(of_group, NULL);
    struct pm_raw_bin *bins = pm_alloc(n_bins + 1, sizeof *bins);
    pm_touch_histogram_bins(of_group, bins);
    pm_touch_histogram_cold(of_group, &loads, &stores);
    *histogram = (struct pm_histogram){
        .block_bytes = block_bytes,
        .cold_loads = (double)loads,
        .cold_stores = (double)stores,
        .sample = 1,
        .n_bins = n_bins,
        .bins = pm_alloc(n_bins + 1, sizeof *histogram->bins),
    };
    for (size_t b = 0; b < n_bins; b++)
        histogram->bins[b] = (struct pm_bin){
            .low = (double)bins[b].low,
            .high = (double)bins[b].high,
            .mean = bins[b].distance_sum / (double)(bins[b].loads + bins[b].stores),
            .loads = (double)bins[b].loads,
            .stores = (double)bins[b].stores,
        };
    free(bins);
}

static void check_analyser(const struct trace *trace, const struct touches *groups,
                           uint64_t block_bytes, size_t n_blocks, enum pm_reuse_variant variant) {
    enum { FEW_STAMPS = 512, BATCH = 1000 };
    unsigned shift = (unsigned)__builtin_ctzll(block_bytes);
    struct pm_reuse *reuse = pm_reuse_new(shift, FEW_STAMPS, variant);
    for (size_t i = 0; reuse && i < trace->n; i += BATCH)
        pm_reuse_accesses(reuse, trace->n_groups, trace->accesses + i,
                          trace->n - i < BATCH ? trace->n - i : BATCH);
    if (!reuse || reuse->failed) {
        touches_compare_value(block_bytes, 0, "the analyser ran out of memory:", 0,
                              (double)trace->n);
        return;
    }
    touches_compare_value(block_bytes, 0, "distinct blocks", (double)reuse->n_blocks,
                          (double)n_blocks);
    for (uint32_t g = 0; g < trace->n_groups; g++) {
        struct pm_histogram histogram;
        histogram_of_analyser(&reuse->histograms[g], block_bytes, &histogram);
        touches_compare(&groups[g], &histogram, g);
        pm_histogram_free(&histogram);
    }
    pm_reuse_free(reuse);
}

static int fail(const struct pm_error *err) {
    fprintf(stderr, "check_analyser: %s\n", err->text);
    return err->kind == PM_ERROR_SYSTEM ? 1 : 2;
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct trace trace = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: check_analyser TRACE BLOCK_BYTES...\n");
        return 2;
    }
    if (!trace_read(argv[1], &trace, &err))
        return fail(&err);
    for (int i = 2; i < argc; i++) {
        uint64_t block_bytes = strtoull(argv[i], NULL, 10);
        size_t n_blocks;
        struct touches *groups = touches_search(&trace, block_bytes, &n_blocks);
        touches_print(&trace, groups, block_bytes, n_blocks);
        for (unsigned v = 0; v <= pm_reuse_best_variant(); v++)
            check_analyser(&trace, groups, block_bytes, n_blocks, (enum pm_reuse_variant)v);
        touches_free(groups, trace.n_groups);
    }
    free(trace.accesses);
    if (touches_n_differences)
        fprintf(stderr, "%u differences\n", touches_n_differences);
    return touches_n_differences ? 3 : 0;
}
