/* Reuse patterns are added up by what they are, come back from their bytes, and damaged bytes or
   those of another program are refused with a sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/reuse_patterns.h"

static void add(struct pm_run_patterns *patterns, uint32_t group, uint64_t block_bytes,
                uint32_t source, uint32_t carrier, bool across, double distance, double loads) {
    struct pm_bin bins[2] = {{.low = distance, .high = distance, .mean = distance, .loads = loads},
                             {.low = 1e6, .high = 2e6, .mean = 1.5e6, .stores = 2}};
    struct pm_histogram histogram = {
        .block_bytes = block_bytes, .n_bins = 2, .bins = bins, .sample = 1};
    pm_run_patterns_add(patterns, group, source, carrier, across, &histogram);
}

/* In no order, some twice. */
static struct pm_run_patterns *some_patterns(void) {
    struct pm_run_patterns *patterns = pm_alloc(1, sizeof *patterns);
    add(patterns, 2, 64, 5, 4, true, 7, 10);
    add(patterns, 1, 4096, 5, 4, true, 7, 20);
    add(patterns, 2, 64, 5, PM_NONE, false, 8, 30);
    add(patterns, 2, 64, 3, 4, true, 9, 40);
    add(patterns, 1, 64, 5, 4, false, 7, 50);
    add(patterns, 2, 64, 5, 4, true, 6, 60);
    add(patterns, 2, 64, 5, 4, false, 7, 70);
    pm_run_patterns_sort(patterns);
    return patterns;
}

static void what_is_equal_is_added_up(void **state) {
    (void)state;
    struct pm_run_patterns *patterns = some_patterns();
    assert_int_equal(patterns->n_groups, 3);
    assert_int_equal(patterns->groups[0].group, 1);
    assert_int_equal(patterns->groups[0].block_bytes, 64);
    assert_int_equal(patterns->groups[1].block_bytes, 4096);
    const struct pm_group_patterns *group = &patterns->groups[2];
    assert_int_equal(group->n_patterns, 4);
    static const struct {
        uint32_t source, carrier;
        bool across;
        double accesses;
        size_t n_bins;
    } expected[4] = {
        {3, 4, true, 42, 2}, {5, 4, false, 72, 2}, {5, 4, true, 74, 3}, {5, PM_NONE, false, 32, 2}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(group->patterns[i].source, expected[i].source);
        assert_int_equal(group->patterns[i].carrier, expected[i].carrier);
        assert_int_equal(group->patterns[i].across, expected[i].across);
        assert_int_equal(group->patterns[i].histogram.n_bins, expected[i].n_bins);
        assert_true(pm_histogram_accesses(&group->patterns[i].histogram) == expected[i].accesses);
    }
    pm_run_patterns_free(patterns);
}

static void patterns_come_back_from_their_bytes(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_run_patterns *patterns = some_patterns();
    for (size_t g = 0; g < patterns->n_groups; g++) {
        struct pm_group_patterns *group = &patterns->groups[g], again;
        group->patterns[0].histogram.at_least = 3e6;
        group->patterns[0].histogram.beyond_stores = 11;
        group->patterns[0].histogram.sample = 4;
        void *bytes;
        size_t n_bytes;
        pm_group_patterns_encode(group, &bytes, &n_bytes);
        assert_true(pm_group_patterns_decode(bytes, n_bytes, &again, &err));
        assert_int_equal(again.block_bytes, group->block_bytes);
        assert_int_equal(again.n_patterns, group->n_patterns);
        for (size_t i = 0; i < group->n_patterns; i++) {
            const struct pm_reuse_pattern *a = &again.patterns[i], *b = &group->patterns[i];
            assert_int_equal(a->source, b->source);
            assert_int_equal(a->carrier, b->carrier);
            assert_int_equal(a->across, b->across);
            assert_int_equal(a->histogram.block_bytes, group->block_bytes);
            assert_int_equal(a->histogram.sample, b->histogram.sample);
            assert_true(a->histogram.at_least == b->histogram.at_least);
            assert_true(a->histogram.beyond_stores == b->histogram.beyond_stores);
            assert_int_equal(a->histogram.n_bins, b->histogram.n_bins);
            assert_memory_equal(a->histogram.bins, b->histogram.bins,
                                b->histogram.n_bins * sizeof *b->histogram.bins);
        }
        pm_group_patterns_free(&again);
        free(bytes);
    }
    pm_run_patterns_free(patterns);
}

static void assert_refused(const char *bytes, size_t n_bytes) {
    struct pm_error err = {0};
    struct pm_group_patterns group;
    char *copy = malloc(n_bytes ? n_bytes : 1); /* so that a sanitizer sees its end */
    memcpy(copy, bytes, n_bytes);
    assert_false(pm_group_patterns_decode(copy, n_bytes, &group, &err));
    assert_int_equal(strncmp(err.text, "reuse patterns", 14), 0);
    free(copy);
}

/* A few bits of a compressed frame mean nothing: what is then read is what was written. */
static void assert_refused_or_same(const char *bytes, const char *whole, size_t n_bytes) {
    struct pm_error err = {0};
    struct pm_group_patterns group;
    void *again;
    size_t n_again;
    if (!pm_group_patterns_decode(bytes, n_bytes, &group, &err)) {
        assert_int_equal(strncmp(err.text, "reuse patterns", 14), 0);
        return;
    }
    pm_group_patterns_encode(&group, &again, &n_again);
    assert_int_equal(n_again, n_bytes);
    assert_memory_equal(again, whole, n_bytes);
    free(again);
    pm_group_patterns_free(&group);
}

static void damaged_bytes_are_refused(void **state) {
    (void)state;
    struct pm_run_patterns *patterns = some_patterns();
    void *whole;
    size_t n_bytes;
    pm_group_patterns_encode(&patterns->groups[2], &whole, &n_bytes);
    for (size_t length = 0; length < n_bytes; length++)
        assert_refused(whole, length);
    char *bytes = malloc(n_bytes);
    memcpy(bytes, whole, n_bytes);
    for (size_t i = 0; i < n_bytes; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[i] ^= (char)(1 << bit);
            if (i < 24)
                assert_refused(bytes, n_bytes);
            else
                assert_refused_or_same(bytes, whole, n_bytes);
            bytes[i] ^= (char)(1 << bit);
        }
    free(bytes);
    free(whole);
    pm_run_patterns_free(patterns);
}

/* What no run can have, in bytes that are whole. */
static void absurd_patterns_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 5; fault++) {
        struct pm_run_patterns *patterns = some_patterns();
        struct pm_group_patterns *group = &patterns->groups[2];
        struct pm_histogram *histogram = &group->patterns[1].histogram;
        if (fault == 0)
            group->patterns[1].source = 2; /* not in order */
        if (fault == 1) {                  /* twice */
            group->patterns[1].source = group->patterns[0].source;
            group->patterns[1].across = true;
        }
        if (fault == 2)
            histogram->bins[0].loads = -1;
        if (fault == 3)
            histogram->bins[1].low = 1;
        if (fault == 4)
            histogram->sample = 0;
        void *bytes;
        size_t n_bytes;
        pm_group_patterns_encode(group, &bytes, &n_bytes);
        assert_refused(bytes, n_bytes);
        free(bytes);
        pm_run_patterns_free(patterns);
    }
}

static void patterns_of_another_program_do_not_fit(void **state) {
    (void)state;
    struct pm_structure *structure = pm_structure_new();
    while (structure->n_scopes < 6)
        *PM_PUSH(structure, scopes) = (struct pm_scope){.kind = PM_SCOPE_MODULE};
    while (structure->n_groups < 3)
        *PM_PUSH(structure, groups) = (struct pm_group){.scope = 1};
    struct pm_run_patterns *patterns = some_patterns();
    for (unsigned fault = 0; fault < 4; fault++) {
        struct pm_error err = {0};
        patterns->groups[2].group = fault == 1 ? 3 : 2;
        patterns->groups[2].patterns[3].source = fault == 2 ? 6 : 5;
        patterns->groups[2].patterns[1].carrier = fault == 3 ? 6 : 4;
        assert_int_equal(pm_run_patterns_fit(patterns, structure, &err), fault == 0);
        assert_int_equal(err.text[0] != '\0', fault != 0);
    }
    pm_run_patterns_free(patterns);
    pm_structure_free(structure);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_equal_is_added_up),
        cmocka_unit_test(patterns_come_back_from_their_bytes),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(absurd_patterns_are_refused),
        cmocka_unit_test(patterns_of_another_program_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
