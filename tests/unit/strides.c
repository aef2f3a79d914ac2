/* What the runtime finds of the strides of references (runtime/analyser/) is what the loops that
   made the addresses have: nests, arrays without gaps, numbers without an order, address records;
   and as much of a long run is looked at as is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/probe_abi.h"
#include "runtime/modules.h"
#include "runtime/analyser/run_strides.h"

enum { N_REFERENCES = 8, STREAM = 3, BASE = 1 << 20 };

/* Instead of runtime/modules.c. */
struct pm_probe_reference *pm_references;
struct pm_address_record *pm_address_records;
uint32_t pm_n_address_records, pm_n_groups, pm_n_references = N_REFERENCES;

static void touch(struct pm_strides *strides, uint32_t reference, uint64_t address) {
    struct pmodel_access access = {address, 8, reference, 0, 1};
    pm_strides_accesses(strides, STREAM, &access, 1);
}

static const struct pm_address_walk *walk_of(struct pm_strides *strides, uint32_t reference,
                                             int64_t *offset) {
    const struct pm_address_walk *walk = NULL;
    pm_strides_flush(strides);
    assert_false(pm_strides_have_failed(strides));
    return pm_strides_of(strides, reference, &walk, offset) ? walk : NULL;
}

static int64_t most_frequent(const struct pm_frequent_values *frequent) {
    unsigned most = 0;
    for (unsigned i = 1; i < PM_STRIDE_VALUES; i++)
        if (frequent->weights[i] > frequent->weights[most])
            most = i;
    return frequent->values[most];
}

/* All runs of the level are alike, or there was but one, which is not known to be whole. */
static void check_level(const struct pm_walk_level *level, int64_t stride, uint64_t count) {
    assert_non_null(level);
    if (level->n_runs == 0) {
        assert_int_equal(level->cut_stride, stride);
        assert_int_equal(level->cut_n, count);
        return;
    }
    assert_int_equal(most_frequent(&level->strides), stride);
    assert_int_equal(most_frequent(&level->counts), count);
    assert_int_equal(level->n_elements, level->n_runs * count);
}

/* ---- nests ----------------------------------------------------------------------------------- */

struct nest {
    unsigned n; /* levels, innermost first */
    int64_t strides[5];
    unsigned counts[5];
};

static void run_nest(struct pm_strides *strides, const struct nest *nest, unsigned level,
                     uint64_t address) {
    for (unsigned i = 0; i < nest->counts[level]; i++, address += (uint64_t)nest->strides[level])
        if (level == 0)
            touch(strides, 1, address);
        else
            run_nest(strides, nest, level - 1, address);
}

static void nests_have_their_strides_and_counts(void **state) {
    (void)state;
    static const struct nest nests[] = {
        {1, {8}, {100}},
        {2, {8, 1000}, {10, 7}},
        {3, {8, 1000, 50000}, {10, 7, 5}},
        {3, {-8, 4096, -80000}, {3, 3, 3}},
        {4, {1024, 8, 0, 1 << 20}, {16, 12, 4, 6}},
        {5, {40, 960, 23040, 0, 8}, {22, 21, 20, 2, 3}},
    };
    for (size_t i = 0; i < sizeof nests / sizeof *nests; i++) {
        struct pm_strides *strides = pm_strides_new();
        int64_t offset;
        run_nest(strides, &nests[i], nests[i].n - 1, BASE);
        const struct pm_address_walk *walk = walk_of(strides, 1, &offset);
        for (unsigned k = 0; k < nests[i].n; k++)
            check_level(walk->levels[k], nests[i].strides[k], nests[i].counts[k]);
        assert_int_equal(offset, 0);
        pm_strides_free(strides);
    }
}

static void loops_over_an_array_without_gaps_are_one_level(void **state) {
    (void)state;
    static const struct nest nest = {3, {8, 80, 0}, {10, 7, 4}};
    struct pm_strides *strides = pm_strides_new();
    int64_t offset;
    run_nest(strides, &nest, 2, BASE);
    const struct pm_address_walk *walk = walk_of(strides, 1, &offset);
    check_level(walk->levels[0], 8, 70);
    check_level(walk->levels[1], 0, 4);
    assert_int_equal(walk->lowest, BASE);
    assert_int_equal(walk->highest, BASE + 69 * 8);
    pm_strides_free(strides);
}

/* for i: for j from i: the inner count varies, the strides do not */
static void triangles_have_one_stride_and_many_counts(void **state) {
    (void)state;
    enum { N = 50 };
    struct pm_strides *strides = pm_strides_new();
    int64_t offset;
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = i; j < N; j++)
            touch(strides, 1, BASE + 1000 * i + 8 * j);
    const struct pm_address_walk *walk = walk_of(strides, 1, &offset);
    assert_int_equal(most_frequent(&walk->levels[0]->strides), 8);
    assert_true(walk->levels[0]->n_elements >= N * (N + 1) / 2 - 3);
    assert_int_equal(walk->levels[1]->n_runs ? most_frequent(&walk->levels[1]->strides)
                                             : walk->levels[1]->cut_stride,
                     1008);
    pm_strides_free(strides);
}

/* As a Fourier transform: each pass goes through a table with a stride of its own, again and again,
   while it goes through an array in pairs, once. */
static void passes_keep_their_strides_apart(void **state) {
    (void)state;
    enum { N = 12, ROUNDS = 2, ARRAY = 1 << 26 };
    struct pm_strides *strides = pm_strides_new();
    int64_t offset;
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned pass = 2; pass < N; pass++)
            for (unsigned i = 0; i < 1 << N; i++) {
                touch(strides, 1, BASE + ((uint64_t)i % (1 << pass) << (N - pass)) * 16);
                touch(strides, 2, ARRAY + (i + (i >> pass << pass)) * 16);
            }
    const struct pm_walk_level *table = walk_of(strides, 1, &offset)->levels[0],
                               *array = walk_of(strides, 2, &offset)->levels[0];
    for (unsigned pass = 2; pass < N; pass++) {
        const struct pm_run_variant *of_table = NULL, *of_array = NULL;
        for (unsigned i = 0; i < PM_STRIDE_VARIANTS; i++) {
            const struct pm_run_variant *t = &table->variants[i], *a = &array->variants[i];
            of_table = t->weight && t->stride == INT64_C(16) << (N - pass) ? t : of_table;
            of_array = a->weight && a->count == 1u << pass ? a : of_array;
        }
        assert_non_null(of_table);
        assert_int_equal(of_table->count, 1u << pass);
        assert_int_equal(of_table->lowest, BASE);
        assert_int_equal(of_table->highest, BASE + (((1 << pass) - 1) << (N - pass)) * 16);
        assert_true(of_table->weight >= (uint64_t)ROUNDS * ((1u << N) - (2u << pass)));
        assert_true(of_table->weight <= (uint64_t)ROUNDS << N);
        assert_int_equal(of_table->n_phases, ROUNDS);
        assert_non_null(of_array);
        assert_int_equal(of_array->stride, 16);
        assert_in_range(of_array->since, of_table->since - 2, of_table->since + 2);
    }
    pm_strides_free(strides);
}

static uint64_t random_number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void numbers_without_an_order_have_no_stride(void **state) {
    (void)state;
    struct pm_strides *strides = pm_strides_new();
    uint64_t random = 1;
    int64_t offset;
    for (unsigned i = 0; i < 10000; i++)
        touch(strides, 1, BASE + 8 * (random_number(&random) % 100000));
    const struct pm_walk_level *level = walk_of(strides, 1, &offset)->levels[0];
    uint64_t largest = 0;
    for (unsigned i = 0; i < PM_STRIDE_VALUES; i++)
        largest = level->strides.weights[i] > largest ? level->strides.weights[i] : largest;
    assert_true(20 * largest < level->n_elements);
    assert_true(level->n_elements < 3 * level->n_runs);
    pm_strides_free(strides);
}

/* ---- address records ------------------------------------------------------------------------- */

static void references_of_a_address_record_are_apart_by_constants(void **state) {
    (void)state;
    static const struct pm_record_access accesses[] = {
        {0, 2, 1}, {16, 3, 1}, {0, 4, 2}, {0x1234560, 5, 0}};
    struct pm_address_record address_records[2] = {
        {NULL, 0, 0, 0, 0},
        {.accesses = accesses, .n_accesses = 4, .n_addresses = 2, .n_loads = 4}};
    struct pm_strides *strides = pm_strides_new();
    uint64_t words[300];
    int64_t offset;
    pm_address_records = address_records;
    pm_n_address_records = 2;
    for (uint64_t i = 0; i < 100; i++) {
        words[3 * i] = PM_RECORD_IS_ADDRESSES | 1;
        words[3 * i + 1] = BASE + 24 * i;
        words[3 * i + 2] = BASE + 4096 * (i % 10);
    }
    pm_strides_records(strides, STREAM, words, words + 300);
    check_level(walk_of(strides, 2, &offset)->levels[0], 24, 100);
    assert_int_equal(offset, 0);
    check_level(walk_of(strides, 3, &offset)->levels[0], 24, 100);
    assert_int_equal(offset, 16);
    check_level(walk_of(strides, 4, &offset)->levels[0], 4096, 10);
    const struct pm_address_walk *fixed = walk_of(strides, 5, &offset);
    assert_int_equal(fixed->lowest, 0x1234560);
    assert_int_equal(fixed->highest, 0x1234560);
    assert_null(walk_of(strides, 6, &offset));
    pm_strides_free(strides);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Counts of whole runs are right wherever windows begin and end. */
static void windows_do_not_count_what_they_cut(void **state) {
    (void)state;
    enum { INNER = 1000, MIDDLE = 10, N = 60 << 20 };
    struct pm_strides *strides = pm_strides_new();
    struct pmodel_access batch[INNER];
    int64_t offset;
    for (uint64_t n = 0, row = 0; n < N; n += INNER, row++) {
        for (unsigned i = 0; i < INNER; i++)
            batch[i] = (struct pmodel_access){BASE + 16384 * (row % MIDDLE) + 8 * i, 8, 1, 0, 1};
        pm_strides_accesses(strides, STREAM, batch, INNER);
    }
    const struct pm_address_walk *walk = walk_of(strides, 1, &offset);
    check_level(walk->levels[0], 8, INNER);
    assert_int_equal(most_frequent(&walk->levels[1]->strides), 16384);
    assert_int_equal(most_frequent(&walk->levels[1]->counts), MIDDLE);
    assert_true(walk->n > N / 32 && walk->n < N / 6);
    pm_strides_free(strides);
}

/* Six short loops of which each runs once, far into a long run: an eighth of a window's mean
   distance each, so that windows at random places would miss most of them. */
static void code_that_runs_once_is_met(void **state) {
    (void)state;
    enum { LONG = 2500000, SHORT = 400000 };
    struct pm_strides *strides = pm_strides_new();
    int64_t offset;
    for (uint32_t once = 2; once < N_REFERENCES; once++) {
        for (uint64_t i = 0; i < LONG; i++)
            touch(strides, 1, BASE + 8 * (i % 1000));
        for (uint64_t i = 0; i < SHORT; i++)
            touch(strides, once, BASE + 24 * i);
    }
    for (uint32_t once = 2; once < N_REFERENCES; once++) {
        const struct pm_address_walk *walk = walk_of(strides, once, &offset);
        assert_non_null(walk);
        assert_int_equal(walk->levels[0]->cut_stride, 24);
    }
    pm_strides_free(strides);
}

static void other_streams_wait_for_the_end_of_a_window(void **state) {
    (void)state;
    struct pm_strides *strides = pm_strides_new();
    struct pmodel_access other = {BASE, 8, 2, 0, 1};
    int64_t offset;
    touch(strides, 1, BASE);
    pm_strides_accesses(strides, STREAM + 1, &other, 1);
    assert_null(walk_of(strides, 2, &offset));
    pm_strides_interrupt(strides, STREAM + 1);
    touch(strides, 1, BASE + 8);
    assert_int_equal(walk_of(strides, 1, &offset)->n, 2);
    pm_strides_interrupt(strides, STREAM);
    touch(strides, 1, BASE + 16);
    assert_int_equal(walk_of(strides, 1, &offset)->n, 2);
    pm_strides_free(strides);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nests_have_their_strides_and_counts),
        cmocka_unit_test(loops_over_an_array_without_gaps_are_one_level),
        cmocka_unit_test(triangles_have_one_stride_and_many_counts),
        cmocka_unit_test(passes_keep_their_strides_apart),
        cmocka_unit_test(numbers_without_an_order_have_no_stride),
        cmocka_unit_test(references_of_a_address_record_are_apart_by_constants),
        cmocka_unit_test(windows_do_not_count_what_they_cut),
        cmocka_unit_test(code_that_runs_once_is_met),
        cmocka_unit_test(other_streams_wait_for_the_end_of_a_window),
    };
    return cmocka_run_group_tests_name("strides", tests, NULL, NULL);
}
