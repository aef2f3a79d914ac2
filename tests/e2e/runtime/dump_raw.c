/* Prints raw files as lines that a script can compare. */
#include <stdio.h>

#include "measure/raw/raw.h"

static void dump(const struct pm_raw *raw) {
    printf("threads %lu missed %lu flags %lu modules %zu\n", raw->n_threads, raw->n_missed_jumps,
           raw->flags, raw->n_modules);
    for (size_t i = 0; i < raw->n_counters; i++)
        for (size_t j = 0; j < raw->counters[i].n_counts; j++)
            printf("thread %lu counter %lu %lu\n", raw->counters[i].thread,
                   raw->counters[i].counts[j].counter, raw->counters[i].counts[j].count);
    for (size_t i = 0; i < raw->n_histograms; i++) {
        const struct pm_raw_histogram *histogram = &raw->histograms[i];
        printf("thread %lu block %lu group %u cold %g %g blocks %lu:", histogram->thread,
               histogram->histogram.block_bytes, histogram->group, histogram->histogram.cold_loads,
               histogram->histogram.cold_stores, histogram->n_blocks);
        for (size_t j = 0; j < histogram->histogram.n_bins; j++) {
            const struct pm_bin *bin = &histogram->histogram.bins[j];
            printf(" %g-%g=%g+%g", bin->low, bin->high, bin->loads, bin->stores);
        }
        printf("\n");
    }
    for (size_t i = 0; i < raw->n_notes; i++)
        printf("note %s\n", raw->notes[i]);
}

int main(int n_arguments, char **arguments) {
    for (int i = 1; i < n_arguments; i++) {
        struct pm_error err;
        struct pm_raw *raw = pm_raw_read(arguments[i], &err);
        if (!raw) {
            fprintf(stderr, "%s\n", err.text);
            return 2;
        }
        dump(raw);
        pm_raw_free(raw);
    }
    return 0;
}
