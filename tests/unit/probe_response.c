/* What a shared level serves, found from latencies alone, on a simulated one of which a second
   stream takes a part.  If this fails, misses of last levels on probed machines are not to be
   trusted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machines/probe/memory/memory.h"
#include "tests/unit/rounds.h"

enum { BLOCK = 64, PRIVATE_BLOCKS = 512, SETS = 512, WAYS = 8, NEIGHBOUR_BLOCKS = 1 << 15 };
static const double PRIVATE_CYCLES = 14, LEVEL_CYCLES = 50, NEXT_CYCLES = 400;

/* ---- the simulator --------------------------------------------------------------------------- */

/* A shared cache with LRU sets, behind a private one that has what was used last. */
struct hierarchy {
    uint64_t tags[SETS][WAYS], stamps[SETS][WAYS];
    uint64_t now, random;
    double rate, due; /* the neighbour's accesses for each of the program's, or, if … */
    double overlap;   /* … is not 0, so many of its own in the time of a hit; then the program's
                         accesses overlap by so much */
    double hits, all;
};

static uint64_t next_random(struct hierarchy *h) {
    h->random ^= h->random << 13;
    h->random ^= h->random >> 7;
    h->random ^= h->random << 17;
    return h->random;
}

static double uniform(struct hierarchy *h) { return (double)(next_random(h) >> 11) * 0x1p-53; }

static uint64_t hash_of(uint64_t value) {
    value = (value + 1) * 0x9E3779B97F4A7C15;
    value ^= value >> 29;
    value *= 0xBF58476D1CE4E5B9;
    return value ^ value >> 32;
}

/* Is BLOCK there?  Now it is. */
static bool use_shared(struct hierarchy *h, uint64_t block) {
    size_t set = hash_of(block) % SETS, way = 0;
    uint64_t *tags = h->tags[set], *stamps = h->stamps[set];
    for (size_t i = 0; i < WAYS; i++) {
        if (tags[i] == block) {
            stamps[i] = ++h->now;
            return true;
        }
        way = stamps[i] < stamps[way] ? i : way;
    }
    tags[way] = block;
    stamps[way] = ++h->now;
    return false;
}

/* Is BLOCK served by the shared cache or the private one? */
static bool access_block(struct hierarchy *h, uint64_t block, bool is_private) {
    bool hits = is_private || use_shared(h, block);
    double cycles = is_private ? PRIVATE_CYCLES : hits ? LEVEL_CYCLES : NEXT_CYCLES;
    h->due += h->rate * (h->overlap > 0 ? cycles / LEVEL_CYCLES / h->overlap : 1);
    for (; h->due >= 1; h->due--)
        use_shared(h, (UINT64_C(1) << 40) + next_random(h) % NEIGHBOUR_BLOCKS);
    h->hits += hits;
    h->all++;
    return hits;
}

static struct hierarchy *new_hierarchy(double rate, uint64_t seed) {
    struct hierarchy *h = pm_alloc(1, sizeof *h);
    *h = (struct hierarchy){.rate = rate, .random = seed * 0x9E3779B97F4A7C15 + 1};
    memset(h->tags, 0xff, sizeof h->tags);
    for (int i = 0; i < 20000; i++)
        next_random(h);
    return h;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static const size_t blocks_of[] = {128,  256,   384,   512,   600,   724,   1024,  1448, 1722,
                                   2048, 2435,  2896,  3444,  4096,  4871,  5793,  6889, 8192,
                                   9742, 11585, 13777, 16384, 23170, 32768, 46341, 65536};
enum { N_SIZES = sizeof blocks_of / sizeof *blocks_of };

/* Cycles of an access of a chain through N blocks, beside a neighbour; *SHARE: that were served. */
static double chase(size_t n, double rate, double overlap, uint64_t seed, double *share) {
    struct hierarchy *h = new_hierarchy(rate, seed);
    h->overlap = overlap;
    uint64_t base = next_random(h) % (1 << 20) << 20;
    bool is_private = n <= PRIVATE_BLOCKS;
    size_t turns = 2 + ROUNDS(60000, 8000) / n;
    for (size_t turn = 0; turn < turns; turn++) {
        if (turn == 1)
            h->hits = h->all = 0;
        for (size_t i = 0; i < n; i++)
            access_block(h, base + i, is_private);
    }
    *share = h->hits / h->all;
    free(h);
    return is_private ? PRIVATE_CYCLES : *share * LEVEL_CYCLES + (1 - *share) * NEXT_CYCLES;
}

/* VISITS to each size, each beside one of N rates; all a little off. */
static void measure(const double *rates, size_t n, double overlap, size_t visits, double noise,
                    struct pm_estimate *cycles) {
    struct hierarchy *h = new_hierarchy(0, 99);
    double *values = pm_alloc(visits, sizeof *values), share;
    for (size_t i = 0; i < N_SIZES; i++) {
        for (size_t k = 0; k < visits; k++)
            values[k] = chase(blocks_of[i], rates[k % n], overlap, 1 + 1000 * i + k, &share) *
                        (1 + noise * (uniform(h) - 0.5));
        cycles[i] = pm_estimate_of(values, visits, 0);
    }
    free(values);
    free(h);
}

static void sizes_in_bytes(double *bytes) {
    for (size_t i = 0; i < N_SIZES; i++)
        bytes[i] = (double)blocks_of[i] * BLOCK;
}

static void assert_falls(const struct pm_response *response) {
    for (size_t i = 0; i < response->n_points; i++) {
        const struct pm_response_point *p = &response->points[i];
        assert_true(0 <= p->low && p->low <= p->share && p->share <= p->high && p->high <= 1);
        assert_true(i == 0 ||
                    (p->distance_bytes > p[-1].distance_bytes && p->share <= p[-1].share &&
                     p->low <= p[-1].low && p->high <= p[-1].high));
    }
}

static void the_share_at_each_distance_is_found(void **state) {
    (void)state;
    const double rates[] = {0, 0.3, 1, 3};
    double bytes[N_SIZES];
    sizes_in_bytes(bytes);
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        struct pm_estimate cycles[N_SIZES];
        struct pm_response response;
        measure(&rates[r], 1, 0, 5, 0.02, cycles);
        assert_true(
            pm_response_of_latencies(bytes, cycles, N_SIZES, LEVEL_CYCLES, NEXT_CYCLES, &response));
        assert_falls(&response);
        for (size_t i = 0; i < N_SIZES; i++) {
            double truth;
            chase(blocks_of[i], rates[r], 0, 77777 + i, &truth);
            double found = pm_response_mean(&response, bytes[i], bytes[i]);
            if (fabs(found - truth) > 0.03)
                fail_msg("rate %g, %zu blocks: %g are served, found was %g", rates[r], blocks_of[i],
                         truth, found);
        }
    }
}

/* The ends are what is served beside the least and the most of neighbours. */
static void neighbours_that_come_and_go_are_the_interval(void **state) {
    (void)state;
    const double rates[] = {0.2, 0.6, 1.2, 2, 3};
    double bytes[N_SIZES];
    struct pm_estimate cycles[N_SIZES];
    struct pm_response response;
    sizes_in_bytes(bytes);
    measure(rates, 5, 0, 5, 0.01, cycles);
    assert_true(
        pm_response_of_latencies(bytes, cycles, N_SIZES, LEVEL_CYCLES, NEXT_CYCLES, &response));
    assert_falls(&response);
    const struct pm_response low = pm_response_end(&response, false),
                             high = pm_response_end(&response, true);
    double widest = 0;
    for (size_t i = 0; i < N_SIZES; i++) {
        double least, most, found_low = pm_response_mean(&low, bytes[i], bytes[i]),
                            found_high = pm_response_mean(&high, bytes[i], bytes[i]);
        chase(blocks_of[i], 0.2, 0, 77777 + i, &most);
        chase(blocks_of[i], 3, 0, 77777 + i, &least);
        if (fabs(found_low - least) > 0.03 || fabs(found_high - most) > 0.03)
            fail_msg("%zu blocks: from %g to %g, found was %g to %g", blocks_of[i], least, most,
                     found_low, found_high);
        widest = fmax(widest, found_high - found_low);
    }
    assert_true(widest > 0.5);
}

/* ---- a program ------------------------------------------------------------------------------- */

enum { MOST_BLOCKS = 1 << 14, MOST_ARRAY = 2000 };

/* Its reuse distances, exactly: an LRU stack as a list of blocks, the last one first. */
struct stack {
    uint32_t blocks[MOST_BLOCKS];
    size_t n;
    double counts[MOST_BLOCKS], cold;
};

static size_t touch(struct stack *stack, uint32_t block) {
    size_t at = 0;
    while (at < stack->n && stack->blocks[at] != block)
        at++;
    bool is_cold = at == stack->n;
    stack->n += is_cold;
    memmove(stack->blocks + 1, stack->blocks, at * sizeof *stack->blocks);
    stack->blocks[0] = block;
    if (is_cold)
        stack->cold++;
    else
        stack->counts[at]++;
    return is_cold ? SIZE_MAX : at;
}

/* A loop nest over one to three arrays, several times. */
static void run_nest(struct hierarchy *h, struct stack *stack) {
    size_t n_arrays = 1 + next_random(h) % 3, times = 3 + next_random(h) % 4, blocks[3];
    for (size_t i = 0; i < n_arrays; i++)
        blocks[i] = 100 + next_random(h) % (MOST_ARRAY - 100);
    for (size_t time = 0; time < times; time++)
        for (size_t array = 0; array < n_arrays; array++)
            for (size_t i = 0; i < blocks[array]; i++) {
                uint32_t block = (uint32_t)(array * MOST_ARRAY + i);
                access_block(h, block, touch(stack, block) < PRIVATE_BLOCKS);
            }
}

/* Fewer hold too little of what is in no cache. */
enum { N_NESTS = 36 };

/* *HISTOGRAM gets what distances it has.  Misses beside a neighbour. */
static double run_program(double rate, double overlap, struct pm_histogram *histogram) {
    struct stack *stack = pm_alloc(1, sizeof *stack);
    struct hierarchy *h = new_hierarchy(rate, 5);
    h->overlap = overlap;
    for (size_t nest = 0; nest < N_NESTS; nest++)
        run_nest(h, stack);
    *histogram = (struct pm_histogram){.block_bytes = BLOCK,
                                       .cold_loads = stack->cold,
                                       .bins = pm_alloc(MOST_BLOCKS, sizeof(struct pm_bin))};
    for (size_t d = 0; d < MOST_BLOCKS; d++)
        if (stack->counts[d] > 0)
            histogram->bins[histogram->n_bins++] =
                (struct pm_bin){(double)d, (double)d, (double)d, stack->counts[d], 0};
    double misses = h->all - h->hits;
    assert_true(misses > 0.05 * h->all && misses < 0.95 * h->all);
    free(stack);
    free(h);
    return misses;
}

static void a_programs_misses_follow_from_its_distances(void **state) {
    (void)state;
    const double rate = 1;
    double bytes[N_SIZES];
    struct pm_estimate cycles[N_SIZES];
    struct pm_response response;
    struct pm_histogram histogram;
    sizes_in_bytes(bytes);
    measure(&rate, 1, 0, 3, 0.02, cycles);
    assert_true(
        pm_response_of_latencies(bytes, cycles, N_SIZES, LEVEL_CYCLES, NEXT_CYCLES, &response));
    double truth = run_program(rate, 0, &histogram),
           predicted = pm_distance_misses(&histogram, NAN, &response),
           step = pm_fully_associative_misses(&histogram, SETS * WAYS);
    if (fabs(predicted / truth - 1) > 0.05 || fabs(step / truth - 1) < 0.15)
        fail_msg("%g misses, predicted were %g, by the size %g", truth, predicted, step);
    pm_histogram_free(&histogram);
}

/* A chain finds less of what it left than a stream, and programs something between. */
static void neighbours_take_by_time(void **state) {
    (void)state;
    const double rate = 0.5, overlaps[] = {1, 12};
    double bytes[N_SIZES];
    struct pm_response of[2], response;
    sizes_in_bytes(bytes);
    for (int i = 0; i < 2; i++) {
        struct pm_estimate cycles[N_SIZES];
        measure(&rate, 1, overlaps[i], 3, 0.02, cycles);
        assert_true(
            pm_response_of_latencies(bytes, cycles, N_SIZES, LEVEL_CYCLES, NEXT_CYCLES, &of[i]));
    }
    assert_true(pm_response_between(&of[0], &of[1], &response));
    assert_falls(&response);
    const struct pm_response low = pm_response_end(&response, false),
                             high = pm_response_end(&response, true);
    const double program_overlaps[] = {1, 3, 12};
    for (int i = 0; i < 3; i++) {
        struct pm_histogram histogram;
        double truth = run_program(rate, program_overlaps[i], &histogram),
               least = pm_distance_misses(&histogram, NAN, &high),
               most = pm_distance_misses(&histogram, NAN, &low),
               predicted = pm_distance_misses(&histogram, NAN, &response);
        if (truth < 0.95 * least || truth > 1.05 * most ||
            (i == 2 && fabs(predicted / truth - 1) > 0.05))
            fail_msg("overlap %g: %g misses, predicted were %g (%g to %g)", program_overlaps[i],
                     truth, predicted, least, most);
        pm_histogram_free(&histogram);
    }
    assert_false(pm_response_between(&of[0], &(struct pm_response){0}, &response));
}

/* ---- odd input ------------------------------------------------------------------------------- */

static void few_points_stand_for_many_and_unknown_ones_are_left_out(void **state) {
    (void)state;
    enum { N = 200 };
    double bytes[N];
    struct pm_estimate cycles[N];
    struct pm_response response;
    for (int i = 0; i < N; i++) {
        double share = i < 80 ? 1 : i < 120 ? 1 - (i - 80) / 40.0 : 0;
        bytes[i] = 1024 * exp2(i / 8.0);
        cycles[i] = pm_estimate_exactly(i % 7 == 3 ? NAN : 400 - 350 * share);
    }
    assert_true(pm_response_of_latencies(bytes, cycles, N, 50, 400, &response));
    assert_true(response.n_points <= 6);
    /* What is constant is said once. */
    assert_true(response.points[0].share == 1 && response.points[1].share < 1);
    assert_true(response.points[response.n_points - 1].share == 0 &&
                response.points[response.n_points - 2].share > 0);
    for (int i = 0; i < N; i++)
        if (i % 7 != 3)
            assert_true(fabs(pm_response_mean(&response, bytes[i], bytes[i]) -
                             (400 - cycles[i].estimate) / 350) < 0.011);
    assert_false(pm_response_of_latencies(bytes, cycles, 0, 50, 400, &response));
    assert_false(pm_response_of_latencies(bytes, cycles, N, 400, 400, &response));
    assert_false(pm_response_of_latencies(bytes, cycles, N, NAN, 400, &response));
    assert_false(pm_response_of_latencies(bytes + 3, cycles + 3, 1, 50, 400, &response));
    assert_int_equal(response.n_points, 0);
    assert_true(pm_response_of_latencies(bytes, cycles, 1, 50, 400, &response));
    assert_int_equal(response.n_points, 1);
}

/* The stream's shares, down to the chain's. */
static void a_probes_last_cache_has_one_by_its_curves_in_huge_pages(void **state) {
    (void)state;
    double bytes[N_SIZES];
    struct pm_estimate chain[N_SIZES], stream[N_SIZES], other[N_SIZES];
    sizes_in_bytes(bytes);
    for (size_t i = 0; i < N_SIZES; i++) {
        chain[i] = pm_estimate_exactly(i < 10 ? LEVEL_CYCLES : NEXT_CYCLES);
        stream[i] = pm_estimate_exactly(i < 15 ? 25 : 3);
        other[i] = pm_estimate_exactly(i < 4 ? LEVEL_CYCLES : NEXT_CYCLES);
    }
    struct pm_probed_cache caches[3] = {
        [2] = {.latency_cycles = pm_estimate_exactly(LEVEL_CYCLES),
               .bandwidth = {[PM_SWEEP_LOAD] = pm_estimate_exactly(25)}}};
    struct pm_probed_curve curves[] = {
        {"load_latency", 0, 1, PM_PAGES_SMALL, N_SIZES, bytes, other, NULL},
        {"load_latency", 64, 1, PM_PAGES_HUGE, N_SIZES, bytes, other, NULL},
        {"store_latency", 0, 1, PM_PAGES_HUGE, N_SIZES, bytes, other, NULL},
        {"read_bandwidth", 8, 2, PM_PAGES_HUGE, N_SIZES, bytes, other, NULL},
        {"read_bandwidth", 8, 1, PM_PAGES_HUGE, N_SIZES, bytes, stream, NULL},
        {"load_latency", 0, 1, PM_PAGES_HUGE, N_SIZES, bytes, chain, NULL}};
    struct pm_memory_probe probe = {.caches = caches,
                                    .n_caches = 3,
                                    .memory_latency_cycles = pm_estimate_exactly(NEXT_CYCLES),
                                    .curves = curves,
                                    .n_curves = 6};
    struct pm_response response;
    assert_true(pm_probed_response(&probe, &response));
    const struct pm_response low = pm_response_end(&response, false);
    double half = pm_response_half_bytes(&response), low_half = pm_response_half_bytes(&low);
    assert_true(bytes[14] < half && half < bytes[15]);
    assert_true(bytes[9] < low_half && low_half < bytes[10]);
    probe.n_curves = 5;
    assert_false(pm_probed_response(&probe, &response));
    probe.n_curves = 6;
    probe.n_caches = 2;
    assert_false(pm_probed_response(&probe, &response));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_at_each_distance_is_found),
        cmocka_unit_test(neighbours_that_come_and_go_are_the_interval),
        cmocka_unit_test(a_programs_misses_follow_from_its_distances),
        cmocka_unit_test(neighbours_take_by_time),
        cmocka_unit_test(a_probes_last_cache_has_one_by_its_curves_in_huge_pages),
        cmocka_unit_test(few_points_stand_for_many_and_unknown_ones_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
