/* Reuse distances equal those of a stack that is searched from its top: every single access of
   random and adversarial traces, for several block sizes, and for every vector variant that this
   CPU has.

   Accesses are given in batches in which each has a group of its own, so that a group's histogram
   holds exactly that access's touches: distances below 256 have a bin each, and a bin with one
   touch states its distance in the sum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/reuse/reuse_state.h"
#include "tests/unit/lru_stack.h"
#include "tests/unit/rounds.h"
#include "runtime/modules.h"

/* There is no module here (runtime/modules.c), nor an address record. */
struct pm_probe_reference *pm_references;
struct pm_address_record *pm_address_records;
uint32_t pm_n_address_records, pm_n_groups;

enum { BATCH = 256, LEAST_CAPACITY = 512 };

/* ---- one trace ------------------------------------------------------------------------------- */

/* What an access must have added to its group: one entry for each block it touches, added up. */
struct expected {
    uint64_t loads, stores, cold_loads, cold_stores;
    double distance_sum;
};

static void expect_touch(struct expected *expected, unsigned kind, int64_t distance) {
    bool load = kind & 1;
    if (distance == COLD) {
        expected->cold_loads += load;
        expected->cold_stores += !load;
    } else {
        expected->loads += load;
        expected->stores += !load;
        expected->distance_sum += (double)distance;
    }
    expected->stores += kind == 3; /* the store after the load: distance 0 */
}

static void check_group(const struct pm_touch_histogram *group, const struct expected *expected) {
    struct pm_raw_bin bins[64];
    size_t n_bins = pm_touch_histogram_bins(group, NULL);
    assert_in_range(n_bins, 0, 64);
    assert_int_equal(pm_touch_histogram_bins(group, bins), n_bins);
    struct expected found = {0};
    for (size_t i = 0; i < n_bins; i++) {
        found.loads += bins[i].loads;
        found.stores += bins[i].stores;
        found.distance_sum += bins[i].distance_sum;
        double count = (double)(bins[i].loads + bins[i].stores);
        assert_true(bins[i].distance_sum >= (double)bins[i].low * count);
        assert_true(bins[i].distance_sum <= (double)bins[i].high * count);
    }
    pm_touch_histogram_cold(group, &found.cold_loads, &found.cold_stores);
    assert_int_equal(found.loads, expected->loads);
    assert_int_equal(found.stores, expected->stores);
    assert_int_equal(found.cold_loads, expected->cold_loads);
    assert_int_equal(found.cold_stores, expected->cold_stores);
    assert_true(found.distance_sum == expected->distance_sum);
}

/* What each of COUNT accesses must add; the number of blocks touched into N_BLOCKS. */
static struct expected *expect_trace(const struct pmodel_access *trace, size_t count,
                                     unsigned shift, size_t *n_blocks) {
    struct expected *expected = calloc(count, sizeof *expected);
    struct stack stack = {0};
    assert_non_null(expected);
    for (size_t i = 0; i < count; i++) {
        uint64_t last = (trace[i].address + trace[i].size_bytes - 1) >> shift;
        for (uint64_t block = trace[i].address >> shift; block <= last; block++)
            expect_touch(&expected[i], trace[i].kind, stack_touch(&stack, block));
    }
    *n_blocks = stack.used;
    free(stack.blocks);
    return expected;
}

/* Checks COUNT accesses that are already grouped 0…BATCH−1 within each batch. */
static void check_trace(const struct pmodel_access *trace, size_t count,
                        const struct expected *expected, size_t n_blocks, unsigned shift,
                        enum pm_reuse_variant variant) {
    struct pm_reuse *reuse = pm_reuse_new(shift, LEAST_CAPACITY, variant);
    assert_non_null(reuse);
    for (size_t from = 0; from < count; from += BATCH) {
        size_t n_batch = count - from < BATCH ? count - from : BATCH;
        pm_reuse_accesses(reuse, BATCH, trace + from, n_batch);
        assert_false(reuse->failed);
        for (size_t i = 0; i < n_batch; i++)
            check_group(&reuse->histograms[trace[from + i].group], &expected[from + i]);
        memset(reuse->histograms, 0, BATCH * sizeof *reuse->histograms);
        pm_arena_free(&reuse->arena.arena);
        reuse->arena = (struct pm_bin_arena){0};
    }
    assert_int_equal(reuse->n_blocks, n_blocks);
    pm_reuse_free(reuse);
}

/* ---- traces ---------------------------------------------------------------------------------- */

typedef uint64_t address_function(size_t i);

static uint64_t uniform(size_t i) { return (void)i, 0x7f1234567000 + random_number(1 << 18); }

static uint64_t zipf(size_t i) {
    (void)i;
    uint64_t span = 1ull << (3 + random_number(16));
    return 0x555555554000 + random_number(span);
}

/* Cyclic sweeps over n blocks have distance n − 1 throughout: n around the stack top's size. */
static uint64_t cyclic_15(size_t i) { return 0x10000 + i % 15 * 64; }
static uint64_t cyclic_16(size_t i) { return 0x10000 + i % 16 * 64; }
static uint64_t cyclic_17(size_t i) { return 0x10000 + i % 17 * 64; }
static uint64_t cyclic_18(size_t i) { return 0x10000 + i % 18 * 64; }
static uint64_t cyclic_500(size_t i) { return 0x10000 + i % 500 * 64; }
static uint64_t cyclic_3000(size_t i) { return 0x10000 + i % 3000 * 64; }

/* To and fro: every distance up to twice the span. */
static uint64_t seesaw(size_t i) {
    size_t place = i % 2000;
    return 0x400000 + (place < 1000 ? place : 1999 - place) * 64;
}

static uint64_t strided(size_t i) { return 0x600000000000 + i % 7 * 8 + i / 7 % 900 * 4096; }

/* A few streams at once, as a stencil has. */
static uint64_t streams(size_t i) { return (i % 9 << 30) + (i / 9 % 2500) * 8; }

/* Arrays swept together, with stamps of different ages, more of them than there are cursors. */
static uint64_t many_ages(size_t i) {
    size_t sweep = i / 1500, place = i % 1500;
    return sweep % 2 ? (place % 12 << 24) + place / 12 * 64
                     : (place / 125 << 24) + place % 125 * 64;
}

/* Each sweep the other way round than the one before, over a part that grows and shrinks. */
static uint64_t sawtooth(size_t i) {
    size_t sweep = i / 700, place = i % 700;
    size_t span = 700 - sweep % 5 * 120;
    return 0x100000 + (sweep % 2 ? 699 - place : place) % span * 64;
}

/* One block more than a power of two, round and round, and once in a while one from far away. */
static uint64_t thrash(size_t i) {
    return i % 97 == 0 ? random_number(1ull << 40) : 0x200000 + i % 1025 * 64;
}

/* Phases that leave their blocks behind: the number of live stamps falls and rises. */
static uint64_t phases(size_t i) {
    uint64_t phase = i / 2500;
    return (phase % 3 << 40) + random_number(phase % 2 ? 20000 : 64 << (phase % 12));
}

/* Both ends of the address space, and shadow pages that meet in the page table. */
static uint64_t huge(size_t i) {
    static const uint64_t bases[] = {0, 1ull << 63, 0xffffffffff600000, 0x7fffffff0000, 1 << 26};
    return bases[i % 5] + (random_number(40) << (random_number(3) * 10));
}

static struct pmodel_access *make_trace(address_function *address, size_t count) {
    struct pmodel_access *trace = calloc(count, sizeof *trace);
    assert_non_null(trace);
    static const uint32_t sizes[] = {1, 2, 4, 8, 8, 8, 16, 32, 64, 200};
    for (size_t i = 0; i < count; i++) {
        trace[i].address = address(i);
        trace[i].size_bytes = sizes[random_number(10)];
        trace[i].group = i % BATCH;
        trace[i].kind = (uint32_t)(1 + random_number(3));
    }
    return trace;
}

static void check_pattern(address_function *address) {
    static const unsigned shifts[] = {0, 3, 6, 12, 21};
    enum { COUNT = ROUNDS(10000, 4000) };
    for (unsigned i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        /* One-byte blocks touch up to 200 blocks an access: fewer accesses do. */
        size_t count = shifts[i] == 0 ? COUNT / 10 : COUNT, n_blocks;
        random_state = 42 + i;
        struct pmodel_access *trace = make_trace(address, count);
        struct expected *expected = expect_trace(trace, count, shifts[i], &n_blocks);
        for (unsigned variant = 0; variant <= pm_reuse_best_variant(); variant++)
            check_trace(trace, count, expected, n_blocks, shifts[i],
                        (enum pm_reuse_variant)variant);
        free(expected);
        free(trace);
    }
}

#define PATTERN(name)                                                                              \
    static void distances_equal_a_stack_on_##name(void **state) {                                  \
        (void)state;                                                                               \
        check_pattern(name);                                                                       \
    }
PATTERN(uniform)
PATTERN(zipf)
PATTERN(cyclic_15)
PATTERN(cyclic_16)
PATTERN(cyclic_17)
PATTERN(cyclic_18)
PATTERN(cyclic_500)
PATTERN(cyclic_3000)
PATTERN(seesaw)
PATTERN(strided)
PATTERN(streams)
PATTERN(many_ages)
PATTERN(sawtooth)
PATTERN(thrash)
PATTERN(phases)
PATTERN(huge)

/* ---- beyond a stack's reach ------------------------------------------------------------------ */

/* Three sweeps over N_BLOCKS blocks: the answer is known. */
static void check_sweeps(uint64_t n_blocks, uint64_t capacity) {
    struct pm_reuse *reuse = pm_reuse_new(6, capacity, pm_reuse_best_variant());
    struct pmodel_access batch[BATCH];
    assert_non_null(reuse);
    for (uint64_t i = 0; i < 3 * n_blocks; i += BATCH) {
        size_t count = i + BATCH <= 3 * n_blocks ? BATCH : 3 * n_blocks - i;
        for (size_t j = 0; j < count; j++)
            batch[j] = (struct pmodel_access){(i + j) % n_blocks * 64, 8, 0, 0, 1};
        pm_reuse_accesses(reuse, 1, batch, count);
    }
    struct pm_raw_bin bin;
    assert_false(reuse->failed);
    assert_int_equal(pm_touch_histogram_bins(&reuse->histograms[0], NULL), 1);
    pm_touch_histogram_bins(&reuse->histograms[0], &bin);
    assert_int_equal(bin.loads, 2 * n_blocks);
    assert_true(bin.distance_sum == 2.0 * (double)n_blocks * (double)(n_blocks - 1));
    assert_int_equal(reuse->n_blocks, n_blocks);
    pm_reuse_free(reuse);
}

/* Stamps grow from the fewest to millions, and are numbered anew on the way. */
static void a_sweep_over_a_million_blocks_has_its_length_as_distance(void **state) {
    (void)state;
    check_sweeps(1100000, LEAST_CAPACITY);
}

/* Stamps beyond 2^24: every counting level above the bitmap takes part. */
static void a_sweep_through_all_counting_levels_has_its_length_as_distance(void **state) {
    (void)state;
    check_sweeps(ROUNDS(9000000, 5700000), 1 << 26);
}

static void blocks_that_were_forgotten_are_cold_again(void **state) {
    (void)state;
    struct pm_reuse *reuse = pm_reuse_new(6, LEAST_CAPACITY, pm_reuse_best_variant());
    struct pmodel_access batch[100];
    for (unsigned i = 0; i < 100; i++)
        batch[i] = (struct pmodel_access){i * 64, 8, 0, 0, 1};
    pm_reuse_accesses(reuse, 1, batch, 100);
    pm_reuse_forget_blocks(reuse);
    pm_reuse_accesses(reuse, 1, batch, 100);
    uint64_t loads, stores;
    pm_touch_histogram_cold(&reuse->histograms[0], &loads, &stores);
    assert_int_equal(loads, 200);
    assert_int_equal(pm_touch_histogram_bins(&reuse->histograms[0], NULL), 0);
    pm_reuse_free(reuse);
}

/* ---- bins ------------------------------------------------------------------------------------ */

/* Every distance falls into a bin that holds it, exact below 256 and at most 1 % wide above. */
static void bins_hold_their_distances_and_are_narrow(void **state) {
    (void)state;
    for (uint64_t distance = 16; distance < 1ull << 32; distance += 1 + distance / 37) {
        struct pm_touch_histogram histogram = {0};
        struct pm_bin_arena arena = {0};
        struct pm_raw_bin bin;
        assert_true(pm_touch_histogram_count_far(&histogram, &arena, 0, distance));
        assert_int_equal(pm_touch_histogram_bins(&histogram, NULL), 1);
        pm_touch_histogram_bins(&histogram, &bin);
        assert_in_range(distance, bin.low, bin.high);
        if (distance < 256)
            assert_int_equal(bin.low, bin.high);
        else
            assert_true((double)(bin.high - bin.low + 1) <= 0.01 * (double)bin.low);
        assert_true(bin.distance_sum == (double)distance);
        pm_arena_free(&arena.arena);
    }
}

static void neighbouring_bins_leave_no_gap(void **state) {
    (void)state;
    struct pm_touch_histogram histogram = {0};
    struct pm_bin_arena arena = {0};
    enum { DISTANCES = 5000 };
    for (uint64_t distance = 16; distance < DISTANCES; distance++)
        assert_true(pm_touch_histogram_count_far(&histogram, &arena, distance % 3, distance));
    size_t n_bins = pm_touch_histogram_bins(&histogram, NULL);
    struct pm_raw_bin *bins = calloc(n_bins, sizeof *bins);
    pm_touch_histogram_bins(&histogram, bins);
    /* The first one is distance 0: the stores of the accesses that are load and store. */
    uint64_t next = 16;
    for (size_t i = 1; i < n_bins; i++) {
        assert_int_equal(bins[i].low, next);
        next = bins[i].high + 1;
    }
    assert_true(next >= DISTANCES);
    free(bins);
    pm_arena_free(&arena.arena);
}

/* Pieces of all sizes, also beyond that of a chunk: each is zeroed and nobody else's. */
static void an_arena_has_room_for_pieces_of_any_size(void **state) {
    (void)state;
    enum { N = 40 };
    struct pm_arena arena = {0};
    unsigned char *pieces[N];
    size_t sizes[N], sum = 0;
    random_state = 11;
    for (unsigned i = 0; i < N; i++) {
        sum += sizes[i] = 8 * (1 + random_number(1ull << (1 + i % 17)));
        pieces[i] = pm_arena_take(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        for (size_t b = 0; b < sizes[i]; b++)
            assert_int_equal(pieces[i][b], 0);
        memset(pieces[i], (int)i + 1, sizes[i]);
    }
    for (unsigned i = 0; i < N; i++)
        for (size_t b = 0; b < sizes[i]; b++)
            assert_int_equal(pieces[i][b], i + 1);
    assert_true(pm_arena_bytes(&arena) >= sum);
    pm_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arena_has_room_for_pieces_of_any_size),
        cmocka_unit_test(distances_equal_a_stack_on_uniform),
        cmocka_unit_test(distances_equal_a_stack_on_zipf),
        cmocka_unit_test(distances_equal_a_stack_on_cyclic_15),
        cmocka_unit_test(distances_equal_a_stack_on_cyclic_16),
        cmocka_unit_test(distances_equal_a_stack_on_cyclic_17),
        cmocka_unit_test(distances_equal_a_stack_on_cyclic_18),
        cmocka_unit_test(distances_equal_a_stack_on_cyclic_500),
        cmocka_unit_test(distances_equal_a_stack_on_cyclic_3000),
        cmocka_unit_test(distances_equal_a_stack_on_seesaw),
        cmocka_unit_test(distances_equal_a_stack_on_strided),
        cmocka_unit_test(distances_equal_a_stack_on_streams),
        cmocka_unit_test(distances_equal_a_stack_on_many_ages),
        cmocka_unit_test(distances_equal_a_stack_on_sawtooth),
        cmocka_unit_test(distances_equal_a_stack_on_thrash),
        cmocka_unit_test(distances_equal_a_stack_on_phases),
        cmocka_unit_test(distances_equal_a_stack_on_huge),
        cmocka_unit_test(a_sweep_over_a_million_blocks_has_its_length_as_distance),
        cmocka_unit_test(a_sweep_through_all_counting_levels_has_its_length_as_distance),
        cmocka_unit_test(blocks_that_were_forgotten_are_cold_again),
        cmocka_unit_test(bins_hold_their_distances_and_are_narrow),
        cmocka_unit_test(neighbouring_bins_leave_no_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
