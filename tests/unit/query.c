/* Queries against brute force: every cache, every size is tried. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "fit/query/query.h"

static uint64_t seed = 0x9e3779b97f4a7c15;
static double random_up_to(double high) { /* [0, high) */
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return high * (double)(seed >> 11) * 0x1p-53;
}

/* ---- one profile ----------------------------------------------------------------------------- */

enum { BLOCK = 64 };

/* N_GROUPS groups with a histogram each. */
static struct pm_profile *new_profile(size_t n_groups) {
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    profile->predicted = true;
    profile->extrapolation = 1;
    profile->n_histograms = n_groups;
    profile->histograms = pm_alloc(n_groups, sizeof *profile->histograms);
    for (size_t g = 0; g < n_groups; g++) {
        profile->histograms[g].group = (uint32_t)g;
        profile->histograms[g].histogram.block_bytes = BLOCK;
        profile->histograms[g].histogram.sample = 1;
    }
    profile->n_block_sizes = 1;
    profile->block_sizes = pm_alloc(1, sizeof *profile->block_sizes);
    profile->block_sizes[0] = BLOCK;
    return profile;
}

static void add_bin(struct pm_histogram *histogram, double low, double high, double count) {
    histogram->bins = pm_realloc(histogram->bins, histogram->n_bins + 1, sizeof *histogram->bins);
    histogram->bins[histogram->n_bins++] = (struct pm_bin){.low = low,
                                                           .high = high,
                                                           .mean = (low + high) / 2,
                                                           .loads = count / 2,
                                                           .stores = count / 2};
}

static struct pm_profile *random_profile(size_t n_groups) {
    struct pm_profile *profile = new_profile(n_groups);
    for (size_t g = 0; g < n_groups; g++) {
        struct pm_histogram *histogram = &profile->histograms[g].histogram;
        double at = floor(random_up_to(5));
        for (int b = 0; b < 6; b++) {
            double low = at, high = low + floor(random_up_to(20));
            add_bin(histogram, low, high, floor(random_up_to(1000)));
            at = high + 1 + floor(random_up_to(60));
        }
        histogram->cold_loads = floor(random_up_to(1000));
    }
    return profile;
}

static const struct pm_query_groups both = {.groups = (uint32_t[]){0, 1}, .n_groups = 2};

static struct pm_query_counts counts_at(const struct pm_profile *profile, double blocks) {
    struct pm_query_cache cache = {.block_bytes = BLOCK, .blocks = blocks};
    return pm_query_count(profile, &both, &cache);
}

static void counts_add_up_over_groups(void **state) {
    (void)state;
    struct pm_profile *profile = new_profile(2);
    add_bin(&profile->histograms[0].histogram, 3, 3, 10);
    add_bin(&profile->histograms[0].histogram, 100, 100, 20);
    add_bin(&profile->histograms[1].histogram, 50, 59, 40);
    profile->histograms[1].histogram.cold_stores = 5;
    struct pm_query_counts counts = counts_at(profile, 55);
    assert_true(counts.accesses == 75 && counts.cold == 5);
    assert_true(counts.misses == 20 + 20 + 5); /* half of 50 … 59 */
    assert_true(pm_query_hit_ratio(&counts, true) == 30. / 75);
    assert_true(pm_query_hit_ratio(&counts, false) == 30. / 70);
    struct pm_query_cache pages = {.block_bytes = 4096, .blocks = 55};
    counts = pm_query_count(profile, &both, &pages);
    assert_true(counts.accesses == 0 && isnan(pm_query_hit_ratio(&counts, true)));
    pm_profile_free(profile);
}

static void the_smallest_cache_is_that_of_trying_all(void **state) {
    (void)state;
    size_t n_reached = 0, n_not = 0;
    for (int round = 0; round < 300; round++) {
        struct pm_profile *profile = random_profile(2);
        bool with_cold = round % 2;
        double ratio = 0.2 + random_up_to(0.8), blocks, expected = INFINITY;
        for (double c = 0; c < 2000; c++) {
            struct pm_query_counts counts = counts_at(profile, c);
            if (pm_query_hit_ratio(&counts, with_cold) >= ratio) {
                expected = c;
                break;
            }
        }
        bool reached = pm_query_smallest_cache(profile, &both, BLOCK, ratio, with_cold, &blocks);
        assert_true(reached == isfinite(expected));
        assert_true(blocks == expected);
        *(reached ? &n_reached : &n_not) += 1;
        pm_profile_free(profile);
    }
    assert_true(n_reached > 100 && n_not > 3); /* both happen */
}

static void without_first_touches_all_reuses_can_hit(void **state) {
    (void)state;
    struct pm_profile *profile = random_profile(2);
    double blocks;
    assert_false(pm_query_smallest_cache(profile, &both, BLOCK, 1, true, &blocks));
    assert_true(isinf(blocks));
    assert_true(pm_query_smallest_cache(profile, &both, BLOCK, 1, false, &blocks));
    struct pm_query_counts here = counts_at(profile, blocks), less = counts_at(profile, blocks - 1);
    assert_true(here.misses == here.cold && less.misses > less.cold);
    pm_profile_free(profile);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* A program of two groups: distances grow with N, and shares may come and go with it. */
struct program {
    double coefficient, exponent; /* of the long distance */
    double share;                 /* of the long reuses */
    double hump_low, hump_high;   /* sizes at which all long reuses are short again */
    size_t n_profiles;
};

static struct pm_profile *program_at(void *context, const struct pm_parameters *at,
                                     struct pm_error *err) {
    (void)err;
    struct program *program = context;
    double n = 0;
    assert_true(pm_parameters_get(at, "N", &n));
    program->n_profiles++;
    struct pm_profile *profile = new_profile(2);
    double all = n * n, distance = program->coefficient * pow(n, program->exponent);
    if (n >= program->hump_low && n <= program->hump_high)
        distance = 4;
    add_bin(&profile->histograms[0].histogram, 2, 2, all * (1 - program->share));
    add_bin(&profile->histograms[1].histogram, distance, distance, all * program->share);
    profile->histograms[1].histogram.cold_loads = n;
    profile->extrapolation = n / 100;
    return profile;
}

static double ratio_at(struct program *program, double n, double blocks, bool with_cold) {
    struct pm_parameters at = {0};
    pm_parameters_set(&at, "N", n, NULL);
    struct pm_profile *profile = program_at(program, &at, NULL);
    struct pm_query_counts counts = counts_at(profile, blocks);
    pm_profile_free(profile);
    return pm_query_hit_ratio(&counts, with_cold);
}

static void the_largest_size_is_that_of_trying_all(void **state) {
    (void)state;
    size_t found[3] = {0}, n_gaps = 0;
    for (int round = 0; round < 60; round++) {
        struct program program = {.coefficient = 0.1 + random_up_to(2),
                                  .exponent = 1 + random_up_to(2),
                                  .share = 0.05 + random_up_to(0.4),
                                  .hump_low = 900,
                                  .hump_high = round % 3 ? 900 + random_up_to(600) : 0};
        struct pm_query_question question = {.groups = &both,
                                             .cache = {BLOCK, 16 + floor(random_up_to(3000))},
                                             .ratio = 0.9 + random_up_to(0.0999),
                                             .with_cold = round % 2};
        struct pm_query_surface surface = {.profile_at = program_at,
                                           .context = &program,
                                           .name = "N",
                                           .range = {.low = 10, .step = 1, .n = 1991}};
        double expected = 0, coarsest;
        for (double n = 10; n <= 2000; n++)
            if (ratio_at(&program, n, question.cache.blocks, question.with_cold) >= question.ratio)
                expected = n;
        program.n_profiles = 0;
        struct pm_query_answer answer;
        assert_true(pm_query_largest_sizes(&surface, &question, 1, &answer, &coarsest, NULL));
        assert_true(program.n_profiles <= PM_QUERY_MOST_SCANNED + 16);
        assert_true(coarsest > 0 && coarsest < 0.11); /* integers from 10: one in ten */
        found[answer.found]++;
        if (expected == 0) {
            assert_int_equal(answer.found, PM_QUERY_NONE);
        } else if (expected == 2000) {
            assert_int_equal(answer.found, PM_QUERY_BEYOND);
            assert_true(answer.size == 2000);
        } else {
            assert_int_equal(answer.found, PM_QUERY_FOUND);
            assert_true(answer.size == expected && answer.failing_size == expected + 1);
            assert_true(answer.extrapolation == expected / 100);
        }
        if (!isnan(answer.gap_size)) {
            n_gaps++;
            assert_true(ratio_at(&program, answer.gap_size, question.cache.blocks,
                                 question.with_cold) < question.ratio);
            assert_true(answer.gap_size < answer.size);
        }
    }
    assert_true(found[PM_QUERY_FOUND] > 10 && found[PM_QUERY_NONE] > 0 &&
                found[PM_QUERY_BEYOND] > 0 && n_gaps > 5);
}

static void many_questions_share_the_profiles(void **state) {
    (void)state;
    struct program program = {.coefficient = 1, .exponent = 1, .share = 0.5};
    struct pm_query_question questions[40];
    struct pm_query_answer answers[40];
    struct pm_query_surface surface = {.profile_at = program_at,
                                       .context = &program,
                                       .name = "N",
                                       .range = {.low = 1, .step = 1, .n = 1000000}};
    double coarsest;
    for (size_t i = 0; i < 40; i++)
        questions[i] = (struct pm_query_question){
            .groups = &both, .cache = {BLOCK, 1000 + 997 * (double)i}, .ratio = 0.99};
    assert_true(pm_query_largest_sizes(&surface, questions, 40, answers, &coarsest, NULL));
    for (size_t i = 0; i < 40; i++) /* distance N: hits below the cache's blocks */
        assert_true(answers[i].size == 1000 + 997 * (double)i - 1);
    assert_true(program.n_profiles <= PM_QUERY_MOST_SCANNED + 40 * 20);
}

static void only_sizes_of_the_list_are_answers(void **state) {
    (void)state;
    struct program program = {.coefficient = 1, .exponent = 1, .share = 0.5};
    double values[] = {16, 32, 64, 96, 128, 512};
    struct pm_query_question question = {.groups = &both, .cache = {BLOCK, 120}, .ratio = 0.9};
    struct pm_query_answer answer;
    struct pm_query_surface surface = {.profile_at = program_at,
                                       .context = &program,
                                       .name = "N",
                                       .range = {.values = values, .n = 6}};
    double coarsest;
    assert_true(pm_query_largest_sizes(&surface, &question, 1, &answer, &coarsest, NULL));
    assert_true(answer.found == PM_QUERY_FOUND && answer.size == 96 && answer.failing_size == 128);
}

static void a_scan_has_both_ends_and_ascends(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct pm_query_range range = {.low = floor(1 + random_up_to(1000)),
                                       .step = floor(1 + random_up_to(9)),
                                       .n = (uint64_t)(1 + random_up_to(1e6))};
        uint64_t indices[65];
        size_t n = pm_query_scan(&range, 65, indices);
        assert_true(n >= 1 && n <= 65);
        assert_true(indices[0] == 0 && indices[n - 1] == range.n - 1);
        for (size_t i = 1; i < n; i++)
            assert_true(indices[i] > indices[i - 1]);
    }
}

static struct pm_profile *refuse(void *context, const struct pm_parameters *at,
                                 struct pm_error *err) {
    (void)context;
    (void)at;
    pm_fail(err, "no models");
    return NULL;
}

static void an_error_of_the_surface_is_handed_on(void **state) {
    (void)state;
    struct pm_query_question question = {.groups = &both, .cache = {BLOCK, 120}, .ratio = 0.9};
    struct pm_query_answer answer;
    struct pm_query_surface surface = {
        .profile_at = refuse, .name = "N", .range = {.low = 1, .step = 1, .n = 10}};
    struct pm_error err = {0};
    double coarsest;
    assert_false(pm_query_largest_sizes(&surface, &question, 1, &answer, &coarsest, &err));
    assert_string_equal(err.text, "no models");
}

/* ---- what fits ------------------------------------------------------------------------------- */

enum { MOST_BINS = 5, FIRST = 10, LAST = 3000 };

/* Models of as many groups as there are, each with some bins; 1, N, N^2, N^3. */
struct layers {
    struct pm_model_set set;
    struct pm_histogram_model *histograms;
    double m; /* of the other parameter */
};

static struct pm_model term(uint16_t function, double coefficient) {
    return (struct pm_model){.n_terms = 1, .terms = {function}, .coefficients = {coefficient}};
}

static void start_layers(struct layers *layers, size_t n_groups) {
    static const char *const texts[] = {"1", "N", "N^2", "N^3"};
    struct pm_error err = {0};
    *layers = (struct layers){.set = {.basis = pm_basis_new(4, texts, &err)}};
    assert_non_null(layers->set.basis);
    layers->histograms = pm_alloc(n_groups, sizeof *layers->histograms);
    layers->set.histograms = layers->histograms;
    layers->set.n_histograms = n_groups;
    for (size_t g = 0; g < n_groups; g++) {
        layers->histograms[g].group = (uint32_t)g;
        layers->histograms[g].block_bytes = BLOCK;
        layers->histograms[g].cold = term(2, 1e9); /* more blocks than any distance */
    }
}

static struct pm_bin_model *add_layer(struct layers *layers, size_t group, struct pm_model count,
                                      struct pm_model distance, double low, double high) {
    struct pm_histogram_model *model = &layers->histograms[group];
    model->bins = pm_realloc(model->bins, model->n_bins + 1, sizeof *model->bins);
    model->bins[model->n_bins++] =
        (struct pm_bin_model){.count = count, .distance = distance, .low = low, .high = high};
    return &model->bins[model->n_bins - 1];
}

static void free_layers(struct layers *layers) {
    for (size_t g = 0; g < layers->set.n_histograms; g++)
        free(layers->histograms[g].bins);
    free(layers->histograms);
    pm_basis_free(layers->set.basis);
}

static double model_at(const struct layers *layers, const struct pm_model *model, double n) {
    struct pm_parameters at = {0};
    struct pm_error err = {0};
    double value = NAN;
    pm_parameters_set(&at, "N", n, NULL);
    pm_parameters_set(&at, "M", layers->m, NULL);
    assert_true(pm_model_evaluate(layers->set.basis, model, &at, &value, &err));
    return value;
}

static int compare_bins(const void *a, const void *b) {
    double x = ((const struct pm_bin *)a)->mean, y = ((const struct pm_bin *)b)->mean;
    return (x > y) - (x < y);
}

/* All of a bin at its mean distance, none beyond all blocks that there are. */
static struct pm_profile *layers_at(void *context, const struct pm_parameters *at,
                                    struct pm_error *err) {
    (void)err;
    const struct layers *layers = context;
    double n = 0, blocks = 0;
    pm_parameters_get(at, "N", &n);
    struct pm_profile *profile = new_profile(layers->set.n_histograms);
    for (size_t g = 0; g < layers->set.n_histograms; g++)
        blocks += model_at(layers, &layers->histograms[g].cold, n);
    for (size_t g = 0; g < layers->set.n_histograms; g++) {
        struct pm_histogram *histogram = &profile->histograms[g].histogram;
        for (size_t b = 0; b < layers->histograms[g].n_bins; b++) {
            const struct pm_bin_model *bin = &layers->histograms[g].bins[b];
            double distance = fmin(model_at(layers, &bin->distance, n), blocks - 1);
            add_bin(histogram, distance, distance, model_at(layers, &bin->count, n));
        }
        if (histogram->n_bins)
            qsort(histogram->bins, histogram->n_bins, sizeof *histogram->bins, compare_bins);
    }
    return profile;
}

static struct pm_query_surface layers_surface(struct layers *layers) {
    return (struct pm_query_surface){.profile_at = layers_at,
                                     .context = layers,
                                     .name = "N",
                                     .range = {.low = FIRST, .step = 1, .n = LAST - FIRST + 1}};
}

/* The largest size at which FACTOR times the distance is below the cache. */
static double last_hit(const struct layers *layers, const struct pm_bin_model *bin, double factor,
                       double blocks) {
    double last = -INFINITY;
    for (double n = FIRST; n <= LAST; n++)
        if (factor * model_at(layers, &bin->distance, n) < blocks)
            last = n;
    return last == LAST ? INFINITY : last;
}

static void a_cluster_fits_up_to_the_size_of_trying_all(void **state) {
    (void)state;
    size_t n_steps = 0, n_start = 0, n_end = 0;
    for (int round = 0; round < 100; round++) {
        struct layers layers;
        start_layers(&layers, 1);
        struct pm_model distance = term((uint16_t)(1 + round % 3), pow(10, random_up_to(3) - 2));
        distance.n_terms = 2; /* and a constant, maybe negative */
        distance.coefficients[1] = random_up_to(20) - 10;
        struct pm_bin_model *bin = add_layer(&layers, 0, term(2, 3), distance,
                                             1 - random_up_to(0.2), 1 + random_up_to(0.2));
        struct pm_query_groups group = {.groups = (uint32_t[]){0}, .n_groups = 1};
        const struct pm_query_groups *parts[] = {&group};
        struct pm_query_cache cache = {.block_bytes = BLOCK,
                                       .blocks = floor(pow(10, 1 + random_up_to(4)))};
        struct pm_query_surface surface = layers_surface(&layers);
        struct pm_query_fits fits;
        struct pm_error err = {0};
        assert_true(pm_query_fits(&surface, &layers.set, parts, 1, &cache, 1, &fits, &err));
        double half = last_hit(&layers, bin, 1, cache.blocks);
        if (isfinite(half)) {
            n_steps++;
            assert_int_equal(fits.n_steps, 1);
            assert_true(fits.steps[0].half_hit == half);
            assert_true(fits.steps[0].all_hit == last_hit(&layers, bin, bin->high, cache.blocks));
            assert_true(fits.steps[0].some_hit == last_hit(&layers, bin, bin->low, cache.blocks));
            assert_true(fabs(fits.steps[0].share - 1) < 1e-6);
        } else {
            assert_int_equal(fits.n_steps, 0);
            *(half < 0 ? &n_start : &n_end) += 1;
            assert_true(fabs((half < 0 ? fits.missed_share : fits.hit_share) - 1) < 1e-6);
        }
        pm_query_fits_free(&fits);
        free_layers(&layers);
    }
    assert_true(n_steps > 40 && n_start > 2 && n_end > 2);
}

/* A stencil: 3 rows at 3·N/8 blocks, 3 planes at 3·N²/8, the array at N³/8; some short ones. */
static void rows_and_planes_are_clusters(void **state) {
    (void)state;
    struct layers layers;
    start_layers(&layers, 2);
    add_layer(&layers, 0, term(3, 80), term(0, 4), 1, 1)->constant_distance = true;
    add_layer(&layers, 0, term(3, 6), term(1, 3. / 8), 1, 1);
    add_layer(&layers, 0, term(3, 4), term(2, 3. / 8), 1, 1);
    add_layer(&layers, 1, term(3, 3), term(1, 3.1 / 8), 1, 1); /* the rows of another array */
    add_layer(&layers, 1, term(3, 2), term(3, 1. / 8), 1, 1);
    add_layer(&layers, 1, term(3, 1e-3), term(1, 2), 1, 1); /* too few to be told of */
    struct pm_query_groups all = {.groups = (uint32_t[]){0, 1}, .n_groups = 2};
    struct pm_query_groups second = {.groups = (uint32_t[]){1}, .n_groups = 1};
    const struct pm_query_groups *parts[] = {&all, &second};
    struct pm_query_cache caches[] = {{.block_bytes = BLOCK, .blocks = 512},
                                      {.block_bytes = BLOCK, .blocks = 16384}};
    struct pm_query_surface surface = layers_surface(&layers);
    struct pm_query_fits fits[4];
    struct pm_error err = {0};
    assert_true(pm_query_fits(&surface, &layers.set, parts, 2, caches, 2, fits, &err));
    assert_int_equal(fits[0].n_steps, 3);
    assert_true(fits[0].steps[0].half_hit == 15);   /* 16³/8 = 512 does not fit */
    assert_true(fits[0].steps[1].half_hit == 36);   /* √(8·512/3) = 36.9 */
    assert_true(fits[0].steps[2].half_hit == 1365); /* 8·512/3 = 1365.3; the others 1321 */
    assert_true(fits[0].steps[2].all_hit == 1321 && fits[0].steps[2].some_hit == 1365);
    assert_true(fabs(fits[0].steps[2].share - 9. / 95) < 1e-3);
    assert_int_equal(fits[0].steps[2].histogram, 0);
    assert_int_equal(fits[0].steps[2].bin, 1);
    assert_true(fabs(fits[0].hit_share - 80. / 95) < 1e-3);
    assert_int_equal(fits[1].n_steps, 2); /* 50 and 209; rows fit beyond all that is looked at */
    assert_true(fits[1].steps[0].half_hit == 50 && fits[1].steps[1].half_hit == 209);
    assert_int_equal(fits[2].n_steps, 2);
    for (size_t i = 0; i < 4; i++)
        pm_query_fits_free(&fits[i]);
    free_layers(&layers);
}

static void nothing_is_farther_than_all_blocks_that_there_are(void **state) {
    (void)state;
    struct layers layers;
    start_layers(&layers, 1);
    layers.histograms[0].cold = term(1, 1); /* N blocks in all */
    add_layer(&layers, 0, term(2, 1), term(2, 1), 1, 1);
    struct pm_query_groups all = {.groups = (uint32_t[]){0}, .n_groups = 1};
    const struct pm_query_groups *parts[] = {&all};
    struct pm_query_cache cache = {.block_bytes = BLOCK, .blocks = 1000};
    struct pm_query_surface surface = layers_surface(&layers);
    struct pm_query_fits fits;
    struct pm_error err = {0};
    assert_true(pm_query_fits(&surface, &layers.set, parts, 1, &cache, 1, &fits, &err));
    assert_int_equal(fits.n_steps, 1); /* the distance alone: 31 */
    assert_true(fits.steps[0].half_hit == 1000);
    pm_query_fits_free(&fits);
    free_layers(&layers);
}

/* What counts is the profile: of a model that it does not follow nothing is told. */
static struct pm_profile *elsewhere_at(void *context, const struct pm_parameters *at,
                                       struct pm_error *err) {
    struct pm_profile *profile = layers_at(context, at, err);
    struct pm_bin *bin = &profile->histograms[0].histogram.bins[0];
    bin->low = bin->high = bin->mean *= 0.5;
    return profile;
}

static void a_bin_that_predictions_have_elsewhere_is_not_told_of(void **state) {
    (void)state;
    struct layers layers;
    start_layers(&layers, 1);
    add_layer(&layers, 0, term(2, 1), term(1, 1), 1, 1);
    struct pm_query_groups all = {.groups = (uint32_t[]){0}, .n_groups = 1};
    const struct pm_query_groups *parts[] = {&all};
    struct pm_query_cache cache = {.block_bytes = BLOCK, .blocks = 1000};
    struct pm_query_surface surface = layers_surface(&layers);
    struct pm_query_fits fits;
    struct pm_error err = {0};
    assert_true(pm_query_fits(&surface, &layers.set, parts, 1, &cache, 1, &fits, &err));
    assert_int_equal(fits.n_steps, 1);
    pm_query_fits_free(&fits);
    surface.profile_at = elsewhere_at;
    assert_true(pm_query_fits(&surface, &layers.set, parts, 1, &cache, 1, &fits, &err));
    assert_int_equal(fits.n_steps, 0);
    pm_query_fits_free(&fits);
    free_layers(&layers);
}

/* Rows of M numbers, N of them in a plane: what fits depends on the parameter that is given. */
static void other_parameters_are_fixed(void **state) {
    (void)state;
    static const char *const texts[] = {"1", "N", "N*M", "M"};
    struct layers layers;
    struct pm_error err = {0};
    start_layers(&layers, 1);
    pm_basis_free(layers.set.basis);
    layers.set.basis = pm_basis_new(4, texts, &err);
    assert_non_null(layers.set.basis);
    layers.histograms[0].cold = term(0, 1e18);
    struct pm_model distance = term(2, 1. / 8), count = term(1, 1);
    struct pm_bin_model bin = {.count = count, .distance = distance, .low = 1, .high = 1};
    layers.histograms[0].bins = pm_alloc(1, sizeof bin);
    layers.histograms[0].bins[0] = bin;
    layers.histograms[0].n_bins = 1;
    struct pm_query_groups all = {.groups = (uint32_t[]){0}, .n_groups = 1};
    const struct pm_query_groups *parts[] = {&all};
    struct pm_query_cache cache = {.block_bytes = BLOCK, .blocks = 512};
    for (double m = 2; m <= 64; m *= 2) {
        struct pm_query_surface surface = layers_surface(&layers);
        struct pm_query_fits fits;
        pm_parameters_set(&surface.fixed, "M", m, NULL);
        layers.m = m;
        /* N·M/8 < 512 */
        assert_true(pm_query_fits(&surface, &layers.set, parts, 1, &cache, 1, &fits, &err));
        assert_int_equal(fits.n_steps, 1);
        assert_true(fits.steps[0].half_hit == 4096 / m - 1);
        pm_query_fits_free(&fits);
    }
    struct pm_query_surface without = layers_surface(&layers);
    struct pm_query_fits fits;
    assert_false(pm_query_fits(&without, &layers.set, parts, 1, &cache, 1, &fits, &err));
    assert_non_null(strstr(err.text, "M"));
    free_layers(&layers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_add_up_over_groups),
        cmocka_unit_test(the_smallest_cache_is_that_of_trying_all),
        cmocka_unit_test(without_first_touches_all_reuses_can_hit),
        cmocka_unit_test(the_largest_size_is_that_of_trying_all),
        cmocka_unit_test(many_questions_share_the_profiles),
        cmocka_unit_test(only_sizes_of_the_list_are_answers),
        cmocka_unit_test(a_scan_has_both_ends_and_ascends),
        cmocka_unit_test(an_error_of_the_surface_is_handed_on),
        cmocka_unit_test(a_cluster_fits_up_to_the_size_of_trying_all),
        cmocka_unit_test(rows_and_planes_are_clusters),
        cmocka_unit_test(a_bin_that_predictions_have_elsewhere_is_not_told_of),
        cmocka_unit_test(other_parameters_are_fixed),
        cmocka_unit_test(nothing_is_farther_than_all_blocks_that_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
