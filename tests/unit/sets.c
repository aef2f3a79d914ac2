/* Misses in caches of sets, from histograms and strides, beside caches that are simulated access by
   access (tests/truth/caches.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fit/sets/sets.h"
#include "tests/truth/caches.h"
#include "tests/unit/lru_stack.h"
#include "tests/unit/nest_example.h"

enum { BLOCK = 64, N_LRU = 6, N_CACHES = 11, N_SEEDS = 3, N_LEVELS = 8 };

/* Calls VISIT for every access of NEST. */
static void nest_accesses(const struct nest *nest,
                          void (*visit)(void *context, uint32_t group, uint64_t address),
                          void *context) {
    uint64_t at[NEST_MOST_LOOPS] = {0}, n = 1;
    for (size_t l = 0; l < nest->n_loops; l++)
        n *= nest->trips[l];
    while (n--) {
        for (uint32_t r = 0; r < nest->n_references; r++) {
            uint64_t address = nest->references[r].start;
            for (size_t l = 0; l < nest->n_loops; l++)
                address += at[l] * (uint64_t)nest->references[r].strides[l];
            visit(context, r, address);
        }
        for (size_t l = nest->n_loops; l-- > 0 && ++at[l] == nest->trips[l];)
            at[l] = 0;
    }
}

/* As many blocks each. */
static const struct {
    uint64_t sets;
    uint32_t ways;
    enum pm_replacement replacement;
    enum pm_indexing indexed;
} organisations[N_CACHES] = {{1, 64, 0, 0},
                             {4, 16, 0, 0},
                             {8, 8, 0, 0},
                             {16, 4, 0, 0},
                             {32, 2, 0, 0},
                             {64, 1, 0, 0},
                             {8, 8, PM_REPLACEMENT_PLRU, 0},
                             {8, 8, PM_REPLACEMENT_FIFO, 0},
                             {8, 8, PM_REPLACEMENT_RANDOM, 0},
                             {1, 64, PM_REPLACEMENT_FIFO, 0},
                             {1, 64, PM_REPLACEMENT_RANDOM, 0}};

struct simulation {
    struct stack stack;
    uint64_t *distances[NEST_MOST_REFERENCES]; /* [group][distance] */
    double cold[NEST_MOST_REFERENCES];
    struct caches *caches[N_CACHES][N_SEEDS];
};
enum { MOST_DISTANCE = 1 << 14 };

static void touch_stack(void *context, uint32_t group, uint64_t address) {
    struct simulation *simulation = context;
    int64_t distance = stack_touch(&simulation->stack, address / BLOCK);
    if (distance == COLD)
        simulation->cold[group]++;
    else {
        assert_true(distance < MOST_DISTANCE);
        simulation->distances[group][distance]++;
    }
}

static void touch(void *context, uint32_t group, uint64_t address) {
    struct simulation *simulation = context;
    touch_stack(context, group, address);
    for (int c = 0; c < N_CACHES; c++)
        for (int seed = 0; seed < N_SEEDS; seed++)
            caches_access(simulation->caches[c][seed], address, 1, false);
}

static void start(struct simulation *simulation) {
    for (int c = 0; c < N_CACHES; c++)
        for (int seed = 0; seed < N_SEEDS; seed++) {
            struct pm_error err = {0};
            struct pm_level level = {.size_bytes =
                                         organisations[c].sets * organisations[c].ways * BLOCK,
                                     .block_bytes = BLOCK,
                                     .associativity = organisations[c].ways,
                                     .replacement = organisations[c].replacement,
                                     .indexed = organisations[c].indexed,
                                     .write_allocate = true};
            simulation->caches[c][seed] = caches_new(&level, 1, (uint64_t)seed + 1, &err);
            assert_non_null(simulation->caches[c][seed]);
        }
}

/* Misses of a cache, of its seeds on average. */
static double finish(struct simulation *simulation, int c) {
    double sum = 0;
    for (int seed = 0; seed < N_SEEDS; seed++) {
        sum += (double)caches_counts(simulation->caches[c][seed], 0).load_misses;
        caches_free(simulation->caches[c][seed]);
    }
    return sum / N_SEEDS;
}

static void add_histogram(struct pm_profile *profile, const struct simulation *simulation,
                          uint32_t group) {
    struct pm_group_histogram *to = &profile->histograms[profile->n_histograms++];
    *to = (struct pm_group_histogram){
        group, {.block_bytes = BLOCK, .cold_loads = simulation->cold[group], .sample = 1}};
    to->histogram.bins = pm_alloc(MOST_DISTANCE, sizeof *to->histogram.bins);
    for (int d = 0; d < MOST_DISTANCE; d++)
        if (simulation->distances[group][d])
            to->histogram.bins[to->histogram.n_bins++] =
                (struct pm_bin){d, d, d, (double)simulation->distances[group][d], 0};
}

/* Predicted and simulated misses in each of the caches. */
struct comparison {
    double predicted[N_CACHES], simulated[N_CACHES], accesses;
};

typedef void accesses_of(const struct nest *nest,
                         void (*visit)(void *context, uint32_t group, uint64_t address),
                         void *context);

/* ACCESSES are what the nest does; ADJUST, unless NULL, mends a profile that does not say so. */
static struct comparison compare_accesses(const struct nest *nest, bool with_strides,
                                          accesses_of *accesses,
                                          void (*adjust)(struct pm_profile *profile)) {
    struct comparison result = {0};
    struct simulation *simulation = pm_alloc(1, sizeof *simulation);
    struct pm_structure *structure = nest_structure(nest);
    struct pm_profile *profile = nest_profile(structure, nest);
    for (uint32_t g = 0; g < nest->n_references; g++)
        simulation->distances[g] = pm_alloc(MOST_DISTANCE, sizeof(uint64_t));
    start(simulation);
    accesses(nest, touch, simulation);
    if (adjust)
        adjust(profile);
    if (!with_strides)
        pm_run_strides_free(&profile->strides);
    profile->histograms = pm_alloc(nest->n_references, sizeof *profile->histograms);
    for (uint32_t g = 0; g < nest->n_references; g++)
        add_histogram(profile, simulation, g);
    struct pm_set_cache caches[N_CACHES];
    for (int c = 0; c < N_CACHES; c++)
        caches[c] =
            (struct pm_set_cache){.block_bytes = BLOCK,
                                  .blocks = (double)organisations[c].sets * organisations[c].ways,
                                  .ways = organisations[c].ways,
                                  .replacement = organisations[c].replacement,
                                  .indexed = organisations[c].indexed};
    double **misses = pm_set_misses(structure, profile, NULL, caches, N_CACHES);
    for (int c = 0; c < N_CACHES; c++) {
        result.simulated[c] = finish(simulation, c);
        for (size_t h = 0; h < profile->n_histograms; h++)
            result.predicted[c] += misses[c][h];
    }
    for (size_t h = 0; h < profile->n_histograms; h++)
        result.accesses += pm_histogram_accesses(&profile->histograms[h].histogram);
    pm_set_misses_free(misses, N_CACHES);
    pm_profile_free(profile);
    pm_structure_free(structure);
    for (uint32_t g = 0; g < nest->n_references; g++)
        free(simulation->distances[g]);
    free(simulation->stack.blocks);
    free(simulation);
    return result;
}

static struct comparison compare(const struct nest *nest, bool with_strides) {
    return compare_accesses(nest, with_strides, nest_accesses, NULL);
}

/* The caches from FIRST to before END. */
static void expect_in(const struct nest *nest, int first, int end, double tolerance) {
    struct comparison all = compare(nest, true);
    for (int c = first; c < end; c++)
        if (!(fabs(all.predicted[c] - all.simulated[c]) <= tolerance * all.simulated[c]))
            fail_msg("%u ways, %s: %g predicted, %g simulated", organisations[c].ways,
                     pm_replacement_word(organisations[c].replacement), all.predicted[c],
                     all.simulated[c]);
}

static void expect(const struct nest *nest, double tolerance) {
    expect_in(nest, 0, N_LRU, tolerance);
}

static void expect_of_policies(const struct nest *nest, double tolerance) {
    expect_in(nest, N_LRU, N_CACHES, tolerance);
}

/* Lines of a dense array are spread evenly: no set has two more than another. */
static void a_dense_array_that_fits_has_no_conflicts(void **state) {
    (void)state;
    for (uint64_t lines = 40; lines <= 64; lines += 8) {
        struct nest nest = {2, {20, lines * 8}, 1, {{4096, {0, 8}}}};
        expect(&nest, 0.001);
    }
}

/* LRU keeps nothing of it where there is one set, but of sets with room for their part some. */
static void sets_keep_part_of_a_walk_that_is_a_little_too_long(void **state) {
    (void)state;
    struct nest nest = {2, {50, 70 * 8}, 1, {{4096, {0, 8}}}};
    struct comparison all = compare(&nest, true);
    assert_true(all.simulated[5] < 0.5 * all.simulated[0]);
    expect(&nest, 0.02);
}

/* Columns of a matrix whose rows are as long as all sets together, and of one a line longer. */
static void columns_resonate_where_rows_are_as_long_as_the_sets(void **state) {
    (void)state;
    struct nest resonant = {3, {4, 8, 40}, 1, {{4096, {0, 8, 64 * BLOCK}}}};
    struct nest padded = {3, {4, 8, 40}, 1, {{4096, {0, 8, 65 * BLOCK}}}};
    struct comparison there = compare(&resonant, true), not = compare(&padded, true);
    assert_true(there.simulated[2] > 5 * not .simulated[2]);
    expect(&resonant, 0.01);
    expect(&padded, 0.01);
}

/* The same the other way round: the stride of the columns comes first and is negative. */
static void walks_downwards_are_as_those_upwards(void **state) {
    (void)state;
    struct nest nest = {3, {4, 8, 40}, 1, {{1 << 20, {0, -8, -64 * BLOCK}}}};
    expect(&nest, 0.01);
}

/* Three streams that lie pages apart meet in one set at each step. */
static void streams_that_are_pages_apart_fight_for_one_set(void **state) {
    (void)state;
    struct nest nest = {
        2, {3, 4096}, 3, {{1 << 20, {0, 8}}, {1 << 21, {0, 8}}, {(1 << 21) + (1 << 20), {0, 8}}}};
    struct comparison all = compare(&nest, true);
    assert_true(all.simulated[4] > 5 * all.simulated[3]);
    expect(&nest, 0.02);
}

static void matrix_products_resonate_at_powers_of_two(void **state) {
    (void)state;
    for (int64_t n = 30; n <= 34; n += 2) {
        struct nest nest = {3,
                            {(uint64_t)n, (uint64_t)n, (uint64_t)n},
                            3,
                            {{1 << 20, {8 * n, 8, 0}},
                             {(1 << 20) + 8 * n * n, {8 * n, 0, 8}},
                             {(1 << 20) + 16 * n * n, {0, 8, 8 * n}}}};
        struct comparison all = compare(&nest, true);
        assert_true((all.simulated[2] > 2 * all.simulated[0]) == (n == 32));
        for (int c = 0; c < 3; c++) /* 8 ways and more */
            assert_true(fabs(all.predicted[c] / all.simulated[c] - 1) < 0.1);
    }
}

/* As a Fourier transform: each pass goes through a table with a stride of its own, again and again,
   while it goes once through an array. */
enum { PASSES = 3, ROUNDS = 4, PASS = 1920, ARRAY = 1 << 20 };
static const struct pm_variant_level of_pass[PASSES] = {
    {64 * BLOCK, 12}, {32 * BLOCK, 24}, {BLOCK, 40}};

static void passes(const struct nest *nest,
                   void (*visit)(void *context, uint32_t group, uint64_t address), void *context) {
    (void)nest;
    for (unsigned pass = 0; pass < ROUNDS * PASSES; pass++) {
        const struct pm_variant_level *of = &of_pass[pass % PASSES];
        for (uint64_t i = 0; i < PASS; i++) {
            visit(context, 0, i % (uint64_t)of->count * (uint64_t)of->stride_bytes);
            visit(context, 1, ARRAY + 8 * i);
        }
    }
}

static void set_pass_counts(struct pm_profile *profile) {
    double repeats = 0, n = ROUNDS * PASSES;
    for (unsigned pass = 0; pass < PASSES; pass++)
        repeats += ROUNDS * PASS / of_pass[pass].count;
    double counts[] = {1, n - 1, n, repeats - n, repeats, n * PASS - repeats, 1};
    memcpy(profile->edge_counts, counts, sizeof counts);
}

/* The strides of one of the passes, as if all had them. */
static void know_usual_strides(struct pm_profile *profile) {
    set_pass_counts(profile);
    profile->strides.references[0].levels[0].stride_share = 1.0 / PASSES;
}

/* And all that there are. */
static void know_passes(struct pm_profile *profile) {
    know_usual_strides(profile);
    struct pm_reference_strides *table = &profile->strides.references[0];
    table->n_variants = PASSES;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        const struct pm_variant_level *of = &of_pass[pass];
        *PM_PUSH(&profile->strides, variants) =
            (struct pm_stride_variant){.share = 1.0 / PASSES,
                                       .since = pass * PASS,
                                       .phase = PASS,
                                       .highest = of->stride_bytes * (of->count - 1),
                                       .n_levels = 2,
                                       .levels = {*of, {0, PASS / of->count}}};
    }
}

static void each_pass_has_the_conflicts_of_its_stride(void **state) {
    (void)state;
    struct nest nest = {
        3, {ROUNDS * PASSES, PASS / 40, 40}, 2, {{0, {0, 0, BLOCK}}, {ARRAY, {0, 320, 8}}}};
    struct comparison usual = compare_accesses(&nest, true, passes, know_usual_strides),
                      all = compare_accesses(&nest, true, passes, know_passes);
    for (int c = 1; c < N_LRU; c++)
        if (!(fabs(all.predicted[c] / all.simulated[c] - 1) < 0.08))
            fail_msg("%u ways: %g predicted, %g simulated", organisations[c].ways, all.predicted[c],
                     all.simulated[c]);
    assert_true(usual.predicted[2] < 0.5 * usual.simulated[2]); /* what it hangs on */
}

/* ---- other policies -------------------------------------------------------------------------- */

static void no_policy_replaces_what_fits(void **state) {
    (void)state;
    struct nest nest = {2, {20, 48 * 8}, 1, {{4096, {0, 8}}}};
    expect_of_policies(&nest, 0.001);
}

/* Random replacement keeps part of it, the others as little as LRU.  Where the set has one block
   too many only, which is left out, chance decides. */
static void a_walk_that_is_too_long_misses_by_its_policy(void **state) {
    (void)state;
    for (uint64_t lines = 80; lines <= 128; lines += 8) {
        struct nest nest = {2, {200, lines * 8}, 1, {{4096, {0, 8}}}};
        struct comparison all = compare(&nest, true);
        assert_true(all.simulated[10] < 0.95 * all.simulated[9]);
        expect_of_policies(&nest, 0.2);
    }
}

/* What is used again and again leaves a FIFO cache all the same. */
static void a_stream_takes_what_is_used_all_the_time(void **state) {
    (void)state;
    struct nest nest = {2, {400, 256}, 2, {{4096, {0, 8}}, {1 << 20, {2048, 8}}}};
    struct comparison all = compare(&nest, true);
    assert_true(all.simulated[9] > 1.1 * all.simulated[0]);
    expect_of_policies(&nest, 0.15);
}

/* Of few rows, so that there is little to average over. */
static void products_miss_by_their_policy(void **state) {
    (void)state;
    for (int64_t n = 28; n <= 36; n += 2) {
        struct nest nest = {3,
                            {(uint64_t)n, (uint64_t)n, (uint64_t)n},
                            3,
                            {{1 << 20, {8 * n, 8, 0}},
                             {(1 << 20) + 8 * n * n, {8 * n, 0, 8}},
                             {(1 << 20) + 16 * n * n, {0, 8, 8 * n}}}};
        expect_of_policies(&nest, 0.4);
    }
}

/* Data of 48 lines go round in 64; with the 32 lines of the innermost loop they do not. */
static void code_takes_room_in_a_unified_cache(void **state) {
    (void)state;
    struct nest nest = {2, {100, 48 * 8}, 1, {{4096, {0, 8}}}};
    struct simulation *simulation = pm_alloc(1, sizeof *simulation);
    struct pm_structure *structure = nest_structure(&nest);
    struct pm_profile *profile = nest_profile(structure, &nest);
    simulation->distances[0] = pm_alloc(MOST_DISTANCE, sizeof(uint64_t));
    simulation->distances[0][0] = 100 * 48 * 7;
    simulation->distances[0][47] = 99 * 48;
    simulation->cold[0] = 48;
    profile->histograms = pm_alloc(1, sizeof *profile->histograms);
    add_histogram(profile, simulation, 0);
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        structure->blocks[b].address = 2048 * b;
        structure->blocks[b].size_bytes = 2048;
    }
    for (int unified = 0; unified < 2; unified++)
        for (uint32_t ways = 0; ways <= 8; ways += 8) {
            struct pm_set_cache cache = {
                .block_bytes = BLOCK, .blocks = 64, .ways = ways, .unified = unified};
            double **misses = pm_set_misses(structure, profile, NULL, &cache, 1);
            if (fabs(misses[0][0] - (unified ? 4800 : 48)) > 1)
                fail_msg("%u ways, unified %d: %g misses", ways, unified, misses[0][0]);
            pm_set_misses_free(misses, 1);
        }
    pm_profile_free(profile);
    pm_structure_free(structure);
    free(simulation->distances[0]);
    free(simulation);
}

/* ---- the same answer, whatever else is asked ---------------------------------------------------
 */

/* NEST's profile with the distances of its accesses: SHARE of each count, distances SHIFTed. */
static struct pm_profile *profile_with(const struct pm_structure *structure,
                                       const struct nest *nest, double share, double shift) {
    struct pm_profile *profile = nest_profile(structure, nest);
    struct simulation *simulation = pm_alloc(1, sizeof *simulation);
    for (uint32_t g = 0; g < nest->n_references; g++)
        simulation->distances[g] = pm_alloc(MOST_DISTANCE, sizeof(uint64_t));
    nest_accesses(nest, touch_stack, simulation);
    profile->histograms = pm_alloc(nest->n_references, sizeof *profile->histograms);
    for (uint32_t g = 0; g < nest->n_references; g++) {
        add_histogram(profile, simulation, g);
        struct pm_histogram *histogram = &profile->histograms[g].histogram;
        for (size_t b = 0; b < histogram->n_bins; b++) {
            struct pm_bin *bin = &histogram->bins[b];
            bin->loads *= share;
            bin->low = bin->mean = bin->high = bin->low * shift;
        }
        free(simulation->distances[g]);
    }
    free(simulation->stack.blocks);
    free(simulation);
    return profile;
}

/* Levels of each policy, some of which have only a part of what their sets would hold: as much as
   one of several cores gets. */
static void misses_are_the_same_whatever_else_is_asked_for(void **state) {
    (void)state;
    const struct nest nests[] = {
        {2, {20, 96 * 8}, 1, {{4096, {0, 8}}}},
        {2, {100, 256}, 2, {{4096, {0, 8}}, {1 << 20, {2048, 8}}}},
        {3, {4, 8, 40}, 1, {{4096, {0, 8, 64 * BLOCK}}}},
        {3,
         {30, 30, 30},
         3,
         {{1 << 20, {240, 8, 0}}, {1 << 21, {240, 0, 8}}, {1 << 22, {0, 8, 240}}}}};
    struct pm_level levels[N_LEVELS], other_levels[N_LEVELS];
    struct pm_machine machine = {.levels = levels}, other = {.levels = other_levels};
    for (size_t i = 0; i < N_LEVELS; i++)
        levels[machine.n_levels++] = (struct pm_level){.block_bytes = BLOCK,
                                                       .size_bytes = BLOCK * (i % 2 ? 64 : 43),
                                                       .associativity = i < 4 ? 8 : 0,
                                                       .replacement = (enum pm_replacement)(i % 4),
                                                       .unified = i == 6};
    for (; other.n_levels < N_LEVELS; other.n_levels++) { /* from the end, some of them larger */
        other_levels[other.n_levels] = levels[N_LEVELS - 1 - other.n_levels];
        other_levels[other.n_levels].size_bytes *= 1 + other.n_levels % 2;
    }
    const struct pm_machine *const machines[] = {&machine, &other};
    for (size_t k = 0; k < sizeof nests / sizeof *nests; k++) {
        struct pm_structure *structure = nest_structure(&nests[k]);
        struct pm_profile *profile = profile_with(structure, &nests[k], 1, 1),
                          *ends[2] = {profile_with(structure, &nests[k], 0.9, 0.95),
                                      profile_with(structure, &nests[k], 1.1, 1.2)};
        double **alone = pm_set_misses_of_levels(structure, profile, NULL, &machine),
               **with_ends = pm_set_misses_of_levels(structure, profile, ends, &machine),
               **of_other = pm_set_misses_of_levels(structure, profile, ends, &other),
               **together = pm_set_misses_of_machines(structure, profile, ends, machines, 2);
        size_t n = profile->n_histograms + ends[0]->n_histograms + ends[1]->n_histograms;
        for (size_t l = 0; l < machine.n_levels; l++)
            for (size_t h = 0; h < profile->n_histograms; h++)
                if (alone[l][h] != with_ends[l][h])
                    fail_msg("nest %zu, level %zu, %s: %.17g misses, with ends %.17g", k, l,
                             pm_replacement_word(levels[l].replacement), alone[l][h],
                             with_ends[l][h]);
        pm_set_misses_free(alone, machine.n_levels);
        for (size_t l = 0; l < machine.n_levels + other.n_levels; l++)
            for (size_t h = 0; h < n; h++) {
                double apart =
                    l < machine.n_levels ? with_ends[l][h] : of_other[l - machine.n_levels][h];
                if (together[l][h] != apart)
                    fail_msg("nest %zu, level %zu: %.17g misses, with another machine %.17g", k, l,
                             apart, together[l][h]);
            }
        pm_set_misses_free(of_other, other.n_levels);
        pm_set_misses_free(together, machine.n_levels + other.n_levels);
        pm_set_misses_free(with_ends, machine.n_levels);
        pm_profile_free(profile);
        pm_profile_free(ends[0]);
        pm_profile_free(ends[1]);
        pm_structure_free(structure);
    }
}

/* Whatever the sets are; and the ends of profiles have those of the response, the first the high
   one, which misses less.  Of levels, between what figures lie is asked for apart. */
static void through_a_response_distances_alone_count(void **state) {
    (void)state;
    const struct nest nest = {2, {100, 256}, 2, {{4096, {0, 8}}, {1 << 20, {2048, 8}}}};
    const struct pm_response serves = {
        .n_points = 2, .points = {{8 * BLOCK, 0.9, 0.8, 1}, {64 * BLOCK, 0.2, 0.1, 0.5}}};
    const struct pm_response low = pm_response_end(&serves, false),
                             high = pm_response_end(&serves, true);
    struct pm_level level = {
        .block_bytes = BLOCK, .size_bytes = BLOCK * 64, .associativity = 4, .serves = serves};
    const struct pm_machine machine = {.levels = &level, .n_levels = 1};
    struct pm_structure *structure = nest_structure(&nest);
    struct pm_profile *profile = profile_with(structure, &nest, 1, 1),
                      *ends[2] = {profile_with(structure, &nest, 0.9, 0.95),
                                  profile_with(structure, &nest, 1.1, 1.2)};
    struct pm_set_cache *caches = pm_set_caches_of(&machine);
    double **of_levels = pm_set_misses_of_levels(structure, profile, ends, &machine),
           **of_caches = pm_set_misses(structure, profile, ends, caches, 1);
    const struct pm_profile *of[3] = {profile, ends[0], ends[1]};
    const struct pm_response *through[3] = {&serves, &high, &low};
    for (size_t i = 0, n = 0; i < 3; n += of[i++]->n_histograms)
        for (size_t h = 0; h < of[i]->n_histograms; h++) {
            const struct pm_histogram *histogram = &of[i]->histograms[h].histogram;
            assert_true(of_levels[0][n + h] == pm_distance_misses(histogram, 0, &serves));
            assert_true(of_caches[0][n + h] == pm_distance_misses(histogram, 0, through[i]));
        }
    free(caches);
    pm_set_misses_free(of_levels, 1);
    pm_set_misses_free(of_caches, 1);
    pm_profile_free(profile);
    pm_profile_free(ends[0]);
    pm_profile_free(ends[1]);
    pm_structure_free(structure);
}

static void without_strides_caches_are_fully_associative(void **state) {
    (void)state;
    struct nest nest = {3, {4, 8, 40}, 1, {{4096, {0, 8, 64 * BLOCK}}}};
    struct comparison all = compare(&nest, false);
    for (int c = 0; c < N_LRU; c++)
        assert_true(all.predicted[c] == all.simulated[0]);
}

/* No cache has more misses than accesses, or fewer than cold ones. */
static void misses_are_between_first_touches_and_accesses(void **state) {
    (void)state;
    random_state = 1;
    for (int round = 0; round < 200; round++) {
        struct nest nest = {.n_loops = 3, .n_references = 1 + random_number(4)};
        uint64_t iterations = 1;
        for (size_t l = 0; l < nest.n_loops; l++)
            iterations *= nest.trips[l] = 1 + random_number(12);
        for (size_t r = 0; r < nest.n_references; r++) {
            nest.references[r].start = (1 << 20) + 8 * random_number(4096);
            for (size_t l = 0; l < nest.n_loops; l++)
                nest.references[r].strides[l] =
                    (int64_t)(random_number(2) ? random_number(64) * 64 : random_number(9)) *
                    (random_number(8) ? 8 : -8);
        }
        struct comparison all = compare(&nest, true);
        assert_true(all.accesses == (double)(iterations * nest.n_references));
        for (int c = 0; c < N_CACHES; c++)
            assert_true(all.predicted[c] > 0 && all.predicted[c] <= all.accesses * (1 + 1e-9));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dense_array_that_fits_has_no_conflicts),
        cmocka_unit_test(sets_keep_part_of_a_walk_that_is_a_little_too_long),
        cmocka_unit_test(columns_resonate_where_rows_are_as_long_as_the_sets),
        cmocka_unit_test(walks_downwards_are_as_those_upwards),
        cmocka_unit_test(streams_that_are_pages_apart_fight_for_one_set),
        cmocka_unit_test(matrix_products_resonate_at_powers_of_two),
        cmocka_unit_test(each_pass_has_the_conflicts_of_its_stride),
        cmocka_unit_test(no_policy_replaces_what_fits),
        cmocka_unit_test(a_walk_that_is_too_long_misses_by_its_policy),
        cmocka_unit_test(a_stream_takes_what_is_used_all_the_time),
        cmocka_unit_test(products_miss_by_their_policy),
        cmocka_unit_test(code_takes_room_in_a_unified_cache),
        cmocka_unit_test(misses_are_the_same_whatever_else_is_asked_for),
        cmocka_unit_test(through_a_response_distances_alone_count),
        cmocka_unit_test(without_strides_caches_are_fully_associative),
        cmocka_unit_test(misses_are_between_first_touches_and_accesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
