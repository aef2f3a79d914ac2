/* What the user may choose of the reuse distance analysis: memory for so many blocks, bins of any
   width, a share of the blocks.  Everything equals what follows from a stack that is searched from
   its top, for random and adversarial traces and every vector variant that this CPU has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "runtime/reuse/reuse_state.h"
#include "tests/unit/lru_stack.h"
#include "tests/unit/rounds.h"
#include "runtime/modules.h"

/* There is no module here (runtime/modules.c), nor an address record. */
struct pm_probe_reference *pm_references;
struct pm_address_record *pm_address_records;
uint32_t pm_n_address_records, pm_n_groups;

enum { BATCH = 200, LEAST_CAPACITY = 512, SHIFT = 6, MOST_DISTANCE = 8192 };

/* ---- traces ---------------------------------------------------------------------------------- */

typedef uint64_t address_function(size_t i);

static uint64_t uniform(size_t i) { return (void)i, 0x7f1234567000 + random_number(1 << 17); }
static uint64_t zipf(size_t i) { return (void)i, random_number(1ull << (3 + random_number(16))); }
static uint64_t cyclic(size_t i) { return i % 700 * 64; }
static uint64_t seesaw(size_t i) { return (i / 900 % 2 ? 899 - i % 900 : i % 900) * 64; }
static uint64_t growing(size_t i) { return random_number(i + 1) * 64; }
static uint64_t scattered(size_t i) { return i * 7919 % 1500 * (1ull << 20) + i % 3 * 64; }

/* Old blocks come back after they were forgotten, in pages that were given back. */
static uint64_t come_back(size_t i) {
    return i / 3000 % 2 ? (1ull << 40) + i * 64 : i % 3000 * 192;
}

static uint64_t ends(size_t i) {
    return random_number(900) * 64 + (i % 2 ? 0 : 0xffffffffff000000);
}

static const struct {
    const char *name;
    address_function *address;
} traces[] = {{"uniform", uniform}, {"zipf", zipf},          {"cyclic", cyclic},
              {"seesaw", seesaw},   {"growing", growing},    {"scattered", scattered},
              {"ends", ends},       {"come back", come_back}};
enum { N_TRACES = sizeof traces / sizeof *traces, COUNT = ROUNDS(12000, 4000) };

static struct pmodel_access *make_trace(unsigned which) {
    struct pmodel_access *trace = calloc(COUNT, sizeof *trace);
    assert_non_null(trace);
    random_state = 7 + which;
    for (size_t i = 0; i < COUNT; i++)
        trace[i] = (struct pmodel_access){traces[which].address(i),
                                          (uint32_t)(random_number(20) ? 8 : 150), 0, 0,
                                          (uint32_t)(1 + random_number(3))};
    return trace;
}

/* What the trace is, by the definition: loads and stores at each distance; of watched blocks. */
struct truth {
    uint64_t loads[MOST_DISTANCE], stores[MOST_DISTANCE];
    uint64_t cold_loads, cold_stores, n_blocks;
    uint64_t all_loads, all_stores; /* touches, watched or not */
};

static void add_truth(struct truth *truth, unsigned kind, int64_t distance) {
    if (distance == COLD) {
        truth->cold_loads += kind & 1;
        truth->cold_stores += kind == 2;
    } else {
        assert_in_range(distance, 0, MOST_DISTANCE - 1);
        truth->loads[distance] += kind & 1;
        truth->stores[distance] += kind == 2;
    }
    truth->stores[0] += kind == 3;
}

static struct truth *find_truth(const struct pmodel_access *trace,
                                const struct pm_reuse *watching) {
    struct truth *truth = calloc(1, sizeof *truth);
    struct stack stack = {0};
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t last = (trace[i].address + trace[i].size_bytes - 1) >> SHIFT;
        for (uint64_t block = trace[i].address >> SHIFT; block <= last; block++) {
            truth->all_loads += trace[i].kind & 1;
            truth->all_stores += trace[i].kind >> 1;
            if (!watching || pm_is_sampled(watching, block))
                add_truth(truth, trace[i].kind, stack_touch(&stack, block));
        }
    }
    truth->n_blocks = stack.used;
    free(stack.blocks);
    return truth;
}

static struct pm_reuse *analyse(const struct pmodel_access *trace,
                                const struct pm_reuse_options *options, unsigned variant) {
    struct pm_reuse *reuse = pm_reuse_new(SHIFT, LEAST_CAPACITY, (enum pm_reuse_variant)variant);
    assert_non_null(reuse);
    assert_true(pm_reuse_choose(reuse, options));
    for (size_t from = 0; from < COUNT; from += BATCH)
        pm_reuse_accesses(reuse, 1, trace + from, BATCH);
    assert_false(reuse->failed);
    return reuse;
}

static struct pm_raw_bin *result_of(const struct pm_reuse *reuse, struct pm_reuse_result *result) {
    struct pm_raw_bin *bins = calloc(pm_reuse_most_bins(reuse), sizeof *bins);
    assert_non_null(bins);
    pm_reuse_result(reuse, 0, result, bins);
    return bins;
}

/* Each bin has the accesses at its distances and the sum of these; what lies between bins has none,
   nor what lies above END. */
static void check_bins(const struct pm_raw_bin *bins, size_t n_bins, const struct truth *truth,
                       uint64_t end) {
    uint64_t distance = 0;
    for (size_t i = 0; i < n_bins; i++) {
        struct pm_raw_bin found = {.low = bins[i].low, .high = bins[i].high};
        for (; distance < bins[i].low; distance++)
            assert_int_equal(truth->loads[distance] + truth->stores[distance], 0);
        for (; distance <= bins[i].high && distance < end; distance++) {
            uint64_t count = truth->loads[distance] + truth->stores[distance];
            found.loads += truth->loads[distance];
            found.stores += truth->stores[distance];
            found.distance_sum += (double)(distance * count);
        }
        assert_memory_equal(&found, &bins[i], sizeof found);
        assert_true(found.loads + found.stores > 0);
    }
    for (; distance < end; distance++)
        assert_int_equal(truth->loads[distance] + truth->stores[distance], 0);
}

/* ---- bins ------------------------------------------------------------------------------------ */

static void check_width(unsigned which, double width, unsigned variant) {
    struct pm_reuse_options options = {.bin_width = width, .sample = 1};
    struct pmodel_access *trace = make_trace(which);
    struct truth *truth = find_truth(trace, NULL);
    struct pm_reuse *reuse = analyse(trace, &options, variant);
    struct pm_reuse_result result;
    struct pm_raw_bin *bins = result_of(reuse, &result);
    check_bins(bins, result.n_bins, truth, MOST_DISTANCE);
    assert_int_equal(result.cold_loads, truth->cold_loads);
    assert_int_equal(result.cold_stores, truth->cold_stores);
    assert_int_equal(result.at_least, 0);
    assert_int_equal(result.n_blocks, truth->n_blocks);
    for (size_t i = 0; i < result.n_bins; i++) {
        double low = (double)bins[i].low, high = (double)bins[i].high;
        assert_true(high - low <= width * low);
        assert_true(bins[i].low >= PM_SINGLE_DISTANCES || low == high);
        /* Two neighbours are not apart without need. */
        if (i && bins[i - 1].low >= PM_SINGLE_DISTANCES)
            assert_true(high - (double)bins[i - 1].low > width * (double)bins[i - 1].low);
    }
    free(bins);
    free(trace);
    free(truth);
    pm_reuse_free(reuse);
}

static void bins_have_the_accesses_of_their_distances_at_any_width(void **state) {
    (void)state;
    static const double widths[] = {0, 0.0001, 0.004, 1.0 / 128, 0.01, 0.05, 1};
    for (unsigned which = 0; which < N_TRACES; which++)
        for (unsigned i = 0; i < sizeof widths / sizeof *widths; i++)
            check_width(which, widths[i], pm_reuse_best_variant());
}

/* ---- bounded memory -------------------------------------------------------------------------- */

static void check_bounded(unsigned which, uint64_t max_blocks, unsigned variant) {
    struct pm_reuse_options options = {.max_blocks = max_blocks, .sample = 1};
    uint64_t bound = max_blocks > PM_STACK_TOP ? max_blocks : PM_STACK_TOP;
    struct pmodel_access *trace = make_trace(which);
    struct truth *truth = find_truth(trace, NULL);
    struct pm_reuse *reuse = analyse(trace, &options, variant);
    struct pm_reuse_result result;
    struct pm_raw_bin *bins = result_of(reuse, &result);
    uint64_t beyond_loads = 0, beyond_stores = 0;
    for (uint64_t d = bound; d < MOST_DISTANCE; d++) {
        beyond_loads += truth->loads[d];
        beyond_stores += truth->stores[d];
    }
    check_bins(bins, result.n_bins, truth, bound);
    assert_int_equal(result.at_least, bound);
    assert_int_equal(result.beyond_loads, beyond_loads);
    assert_int_equal(result.beyond_stores, beyond_stores);
    assert_int_equal(result.cold_loads, truth->cold_loads);
    assert_int_equal(result.cold_stores, truth->cold_stores);
    assert_int_equal(result.n_blocks, truth->n_blocks);
    free(bins);
    free(trace);
    free(truth);
    pm_reuse_free(reuse);
}

static void distances_below_the_bound_are_exact_and_no_forgotten_block_is_cold(void **state) {
    (void)state;
    static const uint64_t most[] = {1, 16, 17, 60, 400, 1000, 5000};
    for (unsigned which = 0; which < N_TRACES; which++)
        for (unsigned i = 0; i < sizeof most / sizeof *most; i++)
            for (unsigned variant = 0; variant <= pm_reuse_best_variant(); variant++)
                check_bounded(which, most[i], variant);
}

/* Two sweeps over a million blocks with memory for a thousand: all in all below a bit for each
   block and what a thousand need; the second sweep is not cold. */
static void memory_is_bounded_while_a_sweep_touches_a_million_blocks(void **state) {
    (void)state;
    enum { BLOCKS = 1000000, MOST = 1000 };
    struct pm_reuse_options options = {.max_blocks = MOST, .bin_width = 0.01, .sample = 1};
    struct pm_reuse *reuse = pm_reuse_new(SHIFT, LEAST_CAPACITY, pm_reuse_best_variant());
    assert_true(pm_reuse_choose(reuse, &options));
    for (size_t i = 0; i < 2 * BLOCKS; i += BATCH) {
        struct pmodel_access batch[BATCH];
        for (size_t j = 0; j < BATCH; j++)
            batch[j] = (struct pmodel_access){(i + j) % BLOCKS * 64, 8, 0, 0, 1};
        pm_reuse_accesses(reuse, 1, batch, BATCH);
    }
    struct pm_reuse_result result;
    struct pm_raw_bin *bins = result_of(reuse, &result);
    assert_int_equal(result.n_bins, 0);
    assert_int_equal(result.cold_loads, BLOCKS);
    assert_int_equal(result.beyond_loads, BLOCKS);
    /* 12 bytes for 64 blocks that are gone; slots and stamps of what is kept; tables; an arena. */
    assert_in_range(pm_reuse_bytes(reuse), 0, BLOCKS / 4 + 64 * MOST + (1 << 20));
    free(bins);
    pm_reuse_free(reuse);
}

/* ---- sampling -------------------------------------------------------------------------------- */

/* Before the estimate is corrected: the watched blocks' own trace. */
static void check_sampled(unsigned which, uint64_t sample, uint64_t max_blocks, unsigned variant) {
    struct pm_reuse_options options = {.sample = sample, .max_blocks = max_blocks};
    struct pmodel_access *trace = make_trace(which);
    struct pm_reuse *reuse = analyse(trace, &options, variant);
    struct truth *truth = find_truth(trace, reuse);
    struct pm_raw_bin *bins = calloc(pm_reuse_most_bins(reuse), sizeof *bins);
    uint64_t bound = max_blocks ? max_blocks : MOST_DISTANCE;
    size_t n_bins = pm_touch_histogram_bins(&reuse->histograms[0], bins);
    check_bins(bins, n_bins, truth, bound);
    /* Misses of each eighth of the watched blocks add up to all. */
    for (unsigned size = 0; size < 40; size++) {
        uint64_t misses = 0, expected = truth->cold_loads + truth->cold_stores;
        for (unsigned i = 0; i < PM_SUBSAMPLES; i++)
            misses += pm_reuse_subsample_misses(reuse, i, size);
        for (uint64_t d = 0; d < MOST_DISTANCE; d++)
            if (pm_estimated_distance(sample, d) >= 1ull << size || d >= bound)
                expected += truth->loads[d] + truth->stores[d];
        /* Stores of accesses that are both are no touches of their own, but at distance 0. */
        assert_int_equal(misses, expected);
    }
    /* Corrected: loads and stores are as many as there were. */
    struct pm_reuse_result result;
    pm_reuse_result(reuse, 0, &result, bins);
    uint64_t loads = result.cold_loads + result.beyond_loads;
    uint64_t stores = result.cold_stores + result.beyond_stores;
    uint64_t at_most_loads = loads > truth->all_loads ? loads : truth->all_loads;
    uint64_t at_most_stores = stores > truth->all_stores ? stores : truth->all_stores;
    for (size_t i = 0; i < result.n_bins; i++) {
        loads += bins[i].loads;
        stores += bins[i].stores;
        assert_true(bins[i].loads + bins[i].stores > 0);
        double mean = bins[i].distance_sum / (double)(bins[i].loads + bins[i].stores);
        assert_true(mean >= (double)bins[i].low * (1 - 1e-9));
        assert_true(mean <= (double)bins[i].high * (1 + 1e-9));
    }
    assert_int_equal(loads, at_most_loads);
    assert_int_equal(stores, at_most_stores);
    free(bins);
    free(trace);
    free(truth);
    pm_reuse_free(reuse);
}

static void a_sample_has_the_distances_of_the_watched_blocks_alone(void **state) {
    (void)state;
    static const uint64_t samples[] = {2, 3, 8, 50, 100000};
    for (unsigned which = 0; which < N_TRACES; which++)
        for (unsigned i = 0; i < sizeof samples / sizeof *samples; i++)
            for (unsigned variant = 0; variant <= pm_reuse_best_variant(); variant++) {
                check_sampled(which, samples[i], 0, variant);
                check_sampled(which, samples[i], 30, variant);
            }
}

enum { TRIALS = 60, BLOCKS = 4000, SWEEPS = 3, SAMPLE = 16, LOG2_SIZE = 11 };

/* Of estimates of the misses of sweeps over BLOCKS blocks, which all miss. */
struct estimates {
    double mean_error, mean_square, mean_variance;
};

static void sweep_sampled(const uint64_t *blocks, struct estimates *estimates) {
    struct pm_reuse_options options = {.sample = SAMPLE, .bin_width = 0.01};
    struct pm_reuse *reuse = pm_reuse_new(SHIFT, LEAST_CAPACITY, pm_reuse_best_variant());
    assert_true(pm_reuse_choose(reuse, &options));
    for (size_t i = 0; i < SWEEPS * BLOCKS; i += BATCH) {
        struct pmodel_access batch[BATCH];
        for (size_t j = 0; j < BATCH; j++)
            batch[j] = (struct pmodel_access){blocks[(i + j) % BLOCKS] * 64, 8, 0, 0, 1};
        pm_reuse_accesses(reuse, 1, batch, BATCH);
    }
    double misses = 0, variance = 0;
    for (unsigned i = 0; i < PM_SUBSAMPLES; i++)
        misses += (double)pm_reuse_subsample_misses(reuse, i, LOG2_SIZE);
    double mean = misses / PM_SUBSAMPLES, error = SAMPLE * misses - SWEEPS * BLOCKS;
    for (unsigned i = 0; i < PM_SUBSAMPLES; i++)
        variance += pow((double)pm_reuse_subsample_misses(reuse, i, LOG2_SIZE) - mean, 2);
    variance *= SAMPLE * SAMPLE * PM_SUBSAMPLES / (PM_SUBSAMPLES - 1.0);
    estimates->mean_error += error / TRIALS;
    estimates->mean_square += error * error / TRIALS;
    estimates->mean_variance += variance / TRIALS;
    pm_reuse_free(reuse);
}

/* Blocks here and there: the mean is right within its standard error, which is about what the
   estimates spread. */
static void estimates_are_unbiased_and_their_standard_error_is_right(void **state) {
    (void)state;
    struct estimates estimates = {0};
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        uint64_t blocks[BLOCKS];
        random_state = trial;
        for (unsigned i = 0; i < BLOCKS; i++)
            blocks[i] = random_number(1ull << 40);
        sweep_sampled(blocks, &estimates);
    }
    assert_true(fabs(estimates.mean_error) < 4 * sqrt(estimates.mean_variance / TRIALS));
    assert_true(estimates.mean_square < 2 * estimates.mean_variance);
    assert_true(estimates.mean_square > estimates.mean_variance / 2);
}

/* Arrays at many places, by rows and by columns: dense ones are estimated far better than blocks
   here and there, and none is off by far more than its standard error. */
static void estimates_of_arrays_are_as_good_as_their_standard_error(void **state) {
    (void)state;
    static const uint64_t strides[] = {1,   2,   3,   7,   64,   100,  127, 128,
                                       250, 500, 646, 987, 1000, 1024, 4096};
    for (unsigned which = 0; which < sizeof strides / sizeof *strides; which += ROUNDS(1, 4)) {
        struct estimates estimates = {0};
        random_state = which;
        for (unsigned trial = 0; trial < TRIALS; trial++) {
            uint64_t base = random_number(1ull << 40), blocks[BLOCKS];
            for (unsigned i = 0; i < BLOCKS; i++)
                blocks[i] = base + i * strides[which];
            sweep_sampled(blocks, &estimates);
        }
        double of_random = (double)SWEEPS * SWEEPS * BLOCKS * (SAMPLE - 1);
        assert_true(fabs(estimates.mean_error) < 4 * sqrt(estimates.mean_variance / TRIALS));
        assert_true(estimates.mean_square < 6 * estimates.mean_variance);
        assert_true(estimates.mean_square < (strides[which] < 4 ? 0.1 : 6) * of_random);
    }
}

/* Arrays of which every touch but the first is at one distance: it is estimated without bias. */
static void estimated_distances_of_regular_blocks_are_unbiased(void **state) {
    (void)state;
    enum { REGION = 1000 };
    double sum = 0, count = 0;
    random_state = 1;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct pm_reuse_options options = {.sample = SAMPLE};
        struct pm_reuse *reuse = pm_reuse_new(SHIFT, LEAST_CAPACITY, pm_reuse_best_variant());
        assert_true(pm_reuse_choose(reuse, &options));
        uint64_t base = random_number(1ull << 40);
        for (size_t i = 0; i < 3 * REGION; i++) {
            struct pmodel_access access = {(base + i % REGION) * 64, 8, 0, 0, 1};
            pm_reuse_accesses(reuse, 1, &access, 1);
        }
        struct pm_reuse_result result;
        struct pm_raw_bin *bins = result_of(reuse, &result);
        for (size_t i = 0; i < result.n_bins; i++) {
            if (bins[i].low == 0)
                continue; /* of touches that the estimate is short of */
            sum += bins[i].distance_sum;
            count += (double)bins[i].loads;
        }
        free(bins);
        pm_reuse_free(reuse);
    }
    assert_true(fabs(sum / count - (REGION - 1)) < 0.005 * REGION);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_have_the_accesses_of_their_distances_at_any_width),
        cmocka_unit_test(distances_below_the_bound_are_exact_and_no_forgotten_block_is_cold),
        cmocka_unit_test(memory_is_bounded_while_a_sweep_touches_a_million_blocks),
        cmocka_unit_test(a_sample_has_the_distances_of_the_watched_blocks_alone),
        cmocka_unit_test(estimates_are_unbiased_and_their_standard_error_is_right),
        cmocka_unit_test(estimates_of_arrays_are_as_good_as_their_standard_error),
        cmocka_unit_test(estimated_distances_of_regular_blocks_are_unbiased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
