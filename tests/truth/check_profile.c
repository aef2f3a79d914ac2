/* Compares the histograms of a run in a store with a stack (touches.h) that goes over the accesses
   of another run of the same program, which was recorded.

     check_profile STORE N=8 TRACE BLOCK_BYTES...

   The caller sees to it that both runs had the same memory layout but for whole blocks.  Prints
   figures for each block size; status 3 where something differs. */
#include <stdio.h>
#include <stdlib.h>

#include "core/store/store.h"
#include "tests/truth/touches.h"

static void check_profile(const struct pm_profile *profile, const struct trace *trace,
                          const struct touches *groups, uint64_t block_bytes) {
    for (uint32_t g = 0; g < trace->n_groups; g++) {
        const struct pm_histogram *histogram = pm_profile_histogram(profile, g, block_bytes);
        struct pm_histogram none = {.block_bytes = block_bytes};
        touches_compare(&groups[g], histogram ? histogram : &none, g);
    }
    for (size_t h = 0; h < profile->n_histograms; h++)
        if (profile->histograms[h].group >= trace->n_groups)
            touches_compare_value(block_bytes, profile->histograms[h].group,
                                  "accesses of a group without any",
                                  pm_histogram_accesses(&profile->histograms[h].histogram), 0);
}

static struct pm_profile *read_profile(const char *path, const char *size, struct pm_error *err) {
    struct pm_parameters parameters = {0};
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    struct pm_profile *profile = NULL;
    if (store && pm_parameters_parse(size, &parameters, err))
        profile = pm_store_profile(store, &parameters, err);
    if (store)
        pm_store_close(store);
    if (!profile && !err->text[0])
        pm_fail(err, "%s: there is no run with %s", path, size);
    return profile;
}

static int fail(const struct pm_error *err) {
    fprintf(stderr, "check_profile: %s\n", err->text);
    return err->kind == PM_ERROR_SYSTEM ? 1 : 2;
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct trace trace = {0};
    if (argc < 5) {
        fprintf(stderr, "usage: check_profile STORE N=8 TRACE BLOCK_BYTES...\n");
        return 2;
    }
    struct pm_profile *profile = read_profile(argv[1], argv[2], &err);
    if (!profile || !trace_read(argv[3], &trace, &err))
        return fail(&err);
    for (int i = 4; i < argc; i++) {
        uint64_t block_bytes = strtoull(argv[i], NULL, 10);
        size_t n_blocks;
        struct touches *groups = touches_search(&trace, block_bytes, &n_blocks);
        touches_print(&trace, groups, block_bytes, n_blocks);
        check_profile(profile, &trace, groups, block_bytes);
        touches_free(groups, trace.n_groups);
    }
    free(trace.accesses);
    pm_profile_free(profile);
    if (touches_n_differences)
        fprintf(stderr, "%u differences\n", touches_n_differences);
    return touches_n_differences ? 3 : 0;
}
