/* What holds for every histogram of every model, whatever was measured: bins and cold accesses sum
   to the group's accesses at every size; what was measured up to a bound only stays right below it,
   and an upper bound above; the literal partition is what the paper says; and what is nearer does
   not overtake. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fit/fit.h"
#include "fit/private.h"
#include "tests/unit/fit_traces.h"

enum { MOST_SIZES = 7, RANDOM_GROUPS = 6, ROUNDS = 60 };

static struct pm_structure *new_structure(size_t n_edges) {
    struct pm_structure *structure = pm_structure_new();
    for (uint32_t e = 0; e < n_edges; e++)
        PM_PUSH(structure, edges)->counter = e;
    structure->n_counters = (uint32_t)n_edges;
    return structure;
}

static struct pm_model_set *fit(const struct pm_structure *structure, struct pm_profile **profiles,
                                size_t n, bool as_the_paper) {
    struct pm_error err = {0};
    struct pm_fit_options options = {.n_threads = 1};
    assert_true(pm_heuristics_set(as_the_paper ? "partition" : NULL, NULL, &err));
    struct pm_model_set *models =
        pm_fit(structure, (const struct pm_profile *const *)profiles, n, &options, NULL, &err);
    if (!models)
        fail_msg("%s", err.text);
    assert_true(pm_heuristics_set(NULL, NULL, &err));
    return models;
}

static struct pm_profile *predict(const struct pm_structure *structure,
                                  const struct pm_model_set *models, double n) {
    struct pm_error err = {0};
    struct pm_parameters at = {.n = 1, .names = {"N"}, .values = {n}};
    struct pm_profile *profile = pm_fit_instantiate(structure, models, &at, &err);
    if (!profile)
        fail_msg("%s", err.text);
    return profile;
}

static double misses(const struct pm_profile *profile, double cache_blocks) {
    double sum = 0;
    for (size_t h = 0; h < profile->n_histograms; h++)
        sum += pm_fully_associative_misses(&profile->histograms[h].histogram, cache_blocks);
    return sum;
}

/* ---- the sum, for random histograms --------------------------------------------------------- */

static double uniform(void) { return rand() / (RAND_MAX + 1.0); }

/* A group of up to ten clusters, each with a count and a distance of their own growth, some of them
   there at some sizes only; counts are whole. */
struct random_group {
    struct {
        double count, count_power, distance, distance_power, from, until, noise;
    } clusters[10];
    size_t n;
    double cold, cold_power, bound;
};

static struct random_group random_group(void) {
    struct random_group group = {.n = 1 + (size_t)(10 * uniform()),
                                 .cold = 20 * uniform() * uniform(),
                                 .cold_power = floor(4 * uniform()),
                                 .bound = uniform() < 0.3 ? floor(exp(3 + 6 * uniform())) : 0};
    for (size_t c = 0; c < group.n; c++) {
        group.clusters[c].count = exp(4 * uniform());
        group.clusters[c].count_power = floor(4 * uniform());
        group.clusters[c].distance = exp(3 * uniform());
        group.clusters[c].distance_power = floor(4 * uniform()) * 0.75;
        group.clusters[c].from = uniform() < 0.3 ? 40 * uniform() : 0;
        group.clusters[c].until = uniform() < 0.2 ? 20 + 60 * uniform() : INFINITY;
        group.clusters[c].noise = uniform() < 0.5 ? 0 : 0.2 * uniform();
    }
    return group;
}

static int by_distance(const void *a, const void *b) {
    double left = ((const struct pm_bin *)a)->mean, right = ((const struct pm_bin *)b)->mean;
    return (left > right) - (left < right);
}

static struct pm_histogram random_histogram(const struct random_group *group, double n) {
    struct pm_histogram histogram = {.block_bytes = 64, .sample = 1, .at_least = group->bound};
    struct pm_bin bins[10] = {{0}};
    size_t n_bins = 0;
    histogram.cold_loads = floor(group->cold * pow(n, group->cold_power));
    for (size_t c = 0; c < group->n; c++) {
        double growth = 1 + group->clusters[c].noise * (uniform() - 0.5);
        double count = floor(group->clusters[c].count * pow(n, group->clusters[c].count_power));
        double distance =
            floor(growth * group->clusters[c].distance * pow(n, group->clusters[c].distance_power));
        if (n < group->clusters[c].from || n > group->clusters[c].until || count < 1)
            continue;
        if (group->bound > 0 && distance >= group->bound)
            histogram.beyond_loads += count;
        else
            bins[n_bins++] = (struct pm_bin){distance, distance, distance, count, 0};
    }
    qsort(bins, n_bins, sizeof *bins, by_distance);
    histogram.bins = pm_alloc(n_bins, sizeof *bins);
    for (size_t b = 0; b < n_bins; b++) {
        struct pm_bin *last = histogram.n_bins ? &histogram.bins[histogram.n_bins - 1] : NULL;
        if (last && last->mean == bins[b].mean)
            last->loads += bins[b].loads;
        else
            histogram.bins[histogram.n_bins++] = bins[b];
    }
    return histogram;
}

static struct pm_profile *random_profile(const struct random_group *groups, double n) {
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    profile->parameters = (struct pm_parameters){.n = 1, .names = {"N"}, .values = {n}};
    profile->extrapolation = 1;
    profile->block_sizes = pm_alloc(1, sizeof *profile->block_sizes);
    profile->block_sizes[profile->n_block_sizes++] = 64;
    profile->histograms = pm_alloc(RANDOM_GROUPS, sizeof *profile->histograms);
    for (uint32_t g = 0; g < RANDOM_GROUPS; g++) {
        struct pm_group_histogram *at = &profile->histograms[profile->n_histograms];
        at->group = g;
        at->histogram = random_histogram(&groups[g], n);
        if (pm_histogram_accesses(&at->histogram) > 0)
            profile->n_histograms++;
        else
            pm_histogram_free(&at->histogram);
    }
    return profile;
}

static void expect_sums(const struct pm_structure *structure, const struct pm_model_set *models,
                        double n) {
    struct pm_error err = {0};
    struct pm_parameters at = {.n = 1, .names = {"N"}, .values = {n}};
    struct pm_model_point point;
    assert_true(pm_model_point_at(models, &at, &point, &err));
    struct pm_profile *profile = predict(structure, models, n);
    for (size_t h = 0; h < profile->n_histograms; h++) {
        const struct pm_histogram *histogram = &profile->histograms[h].histogram;
        double all = pm_model_value_at(&models->histograms[h].accesses, &point);
        double sum = histogram->cold_loads + histogram->cold_stores + histogram->beyond_loads +
                     histogram->beyond_stores;
        assert_true(sum >= 0);
        for (size_t b = 0; b < histogram->n_bins; b++) {
            const struct pm_bin *bin = &histogram->bins[b];
            assert_true(bin->loads >= 0 && bin->stores >= 0);
            assert_true(b == 0 || bin->low > histogram->bins[b - 1].high);
            assert_true(bin->low <= bin->mean && bin->mean <= bin->high);
            sum += bin->loads + bin->stores;
        }
        if (!(fabs(sum - all) <= 1e-9 * all))
            fail_msg("at %g: %.17g accesses in the bins, %.17g in all", n, sum, all);
        assert_true(pm_histogram_is_valid(histogram));
    }
    pm_profile_free(profile);
    pm_model_point_free(&point);
}

static void bins_and_cold_accesses_sum_to_all_accesses_at_every_size(void **state) {
    (void)state;
    srand(7);
    struct pm_structure *structure = new_structure(0);
    for (int round = 0; round < ROUNDS; round++) {
        struct random_group groups[RANDOM_GROUPS];
        struct pm_profile *profiles[MOST_SIZES];
        size_t n = 3 + (size_t)((MOST_SIZES - 2) * uniform());
        double size = 3 + floor(30 * uniform());
        for (size_t g = 0; g < RANDOM_GROUPS; g++)
            groups[g] = random_group();
        for (size_t k = 0; k < n; k++) {
            profiles[k] = random_profile(groups, size);
            size += 1 + floor(20 * uniform());
        }
        for (int as_the_paper = 0; as_the_paper < 2; as_the_paper++) {
            struct pm_model_set *models = fit(structure, profiles, n, as_the_paper);
            for (int i = 0; i < 8; i++)
                expect_sums(structure, models, floor(1 + exp(8 * uniform())));
            pm_model_set_free(models);
        }
        for (size_t k = 0; k < n; k++)
            pm_profile_free(profiles[k]);
    }
    pm_structure_free(structure);
}

/* ---- a bound -------------------------------------------------------------------------------- */

static const uint64_t sizes[] = {12, 16, 20, 24, 28, 32};
enum { N_SIZES = sizeof sizes / sizeof *sizes, LARGER = 48, BOUND = 512 };

/* As `pmodel run --max-blocks` would have measured it. */
static void forget_beyond(struct pm_profile *profile, double bound) {
    for (size_t h = 0; h < profile->n_histograms; h++) {
        struct pm_histogram *histogram = &profile->histograms[h].histogram;
        size_t kept = 0;
        histogram->at_least = bound;
        for (size_t b = 0; b < histogram->n_bins; b++)
            if (histogram->bins[b].high < bound) {
                histogram->bins[kept++] = histogram->bins[b];
            } else {
                histogram->beyond_loads += histogram->bins[b].loads;
                histogram->beyond_stores += histogram->bins[b].stores;
            }
        histogram->n_bins = kept;
    }
}

static void what_is_beyond_a_bound_is_an_upper_bound_above_it_and_right_below(void **state) {
    (void)state;
    enum { STENCIL = 0, N_EDGES = 3 };
    struct pm_structure *structure = new_structure(N_EDGES);
    struct pm_profile *profiles[N_SIZES], *truth = measure(STENCIL, LARGER, 64, N_EDGES);
    for (int k = 0; k < N_SIZES; k++) {
        profiles[k] = measure(STENCIL, sizes[k], 64, N_EDGES);
        forget_beyond(profiles[k], BOUND);
    }
    struct pm_model_set *models = fit(structure, profiles, N_SIZES, false);
    struct pm_profile *predicted = predict(structure, models, LARGER);
    for (double blocks = 64; blocks <= BOUND; blocks *= 2)
        if (!(fabs(misses(predicted, blocks) / misses(truth, blocks) - 1) < 0.05))
            fail_msg("%g blocks: %.0f misses instead of %.0f", blocks, misses(predicted, blocks),
                     misses(truth, blocks));
    double beyond = 0;
    for (size_t h = 0; h < predicted->n_histograms; h++) {
        assert_true(predicted->histograms[h].histogram.at_least == BOUND);
        beyond += predicted->histograms[h].histogram.beyond_loads +
                  predicted->histograms[h].histogram.beyond_stores;
    }
    assert_true(beyond > 0);
    for (double blocks = 2 * BOUND; blocks <= 131072; blocks *= 2)
        assert_true(misses(predicted, blocks) >= 0.95 * misses(truth, blocks));
    pm_profile_free(predicted);
    pm_profile_free(truth);
    pm_model_set_free(models);
    for (int k = 0; k < N_SIZES; k++)
        pm_profile_free(profiles[k]);
    pm_structure_free(structure);
}

/* ---- the literal partition ------------------------------------------------------------------ */

/* A spatial reuse at distance 2, a third of the rest at N and the others at N²/2: three bins, with
   coefficients that are not negative, and the counts that they have. */
static struct pm_profile *three_distances(double n) {
    double all = 8 * n * n * n, far = n * n * n / 8;
    struct pm_bin bins[] = {{2, 2, 2, all - 3 * far, 0},
                            {n, n, n, far, 0},
                            {n * n / 2, n * n / 2, n * n / 2, 2 * far, 0}};
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    profile->parameters = (struct pm_parameters){.n = 1, .names = {"N"}, .values = {n}};
    profile->extrapolation = 1;
    profile->block_sizes = pm_alloc(1, sizeof *profile->block_sizes);
    profile->block_sizes[profile->n_block_sizes++] = 64;
    profile->histograms = pm_alloc(1, sizeof *profile->histograms);
    profile->histograms[profile->n_histograms++].histogram = (struct pm_histogram){
        .block_bytes = 64, .cold_loads = 4 * n * n, .n_bins = 3, .bins = pm_alloc(3, sizeof *bins)};
    memcpy(profile->histograms[0].histogram.bins, bins, sizeof bins);
    return profile;
}

static void the_literal_partition_splits_at_equal_ranges_until_models_are_similar(void **state) {
    (void)state;
    struct pm_structure *structure = new_structure(0);
    struct pm_profile *profiles[N_SIZES];
    for (int k = 0; k < N_SIZES; k++)
        profiles[k] = three_distances((double)sizes[k]);
    struct pm_model_set *models = fit(structure, profiles, N_SIZES, true);
    const struct pm_histogram_model *model = &models->histograms[0];
    assert_int_equal(model->n_bins, 3);
    assert_true(model->bins[0].constant_distance && !model->bins[1].constant_distance);
    static const double basis[8] = {1, 100, 1e4, 1e6, 1e8};
    static const double counts[] = {7.625e6, 0.125e6, 0.25e6}, distances[] = {2, 100, 5000};
    for (size_t b = 0; b < 3; b++) {
        const struct pm_bin_model *bin = &model->bins[b];
        assert_true(fabs(pm_model_value(&bin->count, basis) / counts[b] - 1) < 1e-4);
        assert_true(fabs(pm_model_value(&bin->distance, basis) / distances[b] - 1) < 1e-4);
        assert_false(bin->takes_rest);
        for (size_t i = 0; i < bin->count.n_terms; i++)
            assert_true(bin->count.coefficients[i] > 0);
        for (size_t i = 0; i < bin->distance.n_terms; i++)
            assert_true(bin->distance.coefficients[i] > 0);
    }
    pm_model_set_free(models);
    for (int k = 0; k < N_SIZES; k++)
        pm_profile_free(profiles[k]);
    pm_structure_free(structure);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The inner loop of a covariance: N³ accesses, nine of ten at 2N blocks.  The tenth is reused after
   N blocks; only at the last size, whose rows begin in the middle of lines, nearly as late. */
static void what_is_nearer_at_every_size_does_not_overtake(void **state) {
    (void)state;
    enum { N_SIZES = 6 };
    static const double sizes[N_SIZES] = {48, 57, 64, 80, 91, 108};
    struct pm_structure *structure = new_structure(0);
    PM_PUSH(structure, groups)->scope = PM_NONE;
    struct pm_profile *profiles[N_SIZES];
    for (int k = 0; k < N_SIZES; k++) {
        double n = sizes[k], early = k + 1 < N_SIZES ? n + 1 : 1.9 * n;
        struct pm_profile *profile = profiles[k] = pm_alloc(1, sizeof *profile);
        profile->parameters = (struct pm_parameters){.n = 1, .names = {"N"}, .values = {n}};
        profile->block_sizes = pm_alloc(1, sizeof *profile->block_sizes);
        profile->block_sizes[profile->n_block_sizes++] = 64;
        struct pm_group_histogram *at = pm_alloc(1, sizeof *at);
        profile->histograms = at;
        profile->n_histograms = 1;
        at->histogram = (struct pm_histogram){.block_bytes = 64, .sample = 1, .n_bins = 2};
        at->histogram.bins = pm_alloc(2, sizeof *at->histogram.bins);
        at->histogram.bins[0] = (struct pm_bin){early, early, early, n * n * n / 10, 0};
        at->histogram.bins[1] = (struct pm_bin){2 * n, 2 * n, 2 * n, n * n * n * 9 / 10, 0};
    }
    struct pm_model_set *models = fit(structure, profiles, N_SIZES, false);
    struct pm_profile *twice = predict(structure, models, 216);
    assert_true(misses(twice, 512) == 0);
    pm_profile_free(twice);
    pm_model_set_free(models);
    for (int k = 0; k < N_SIZES; k++)
        pm_profile_free(profiles[k]);
    pm_structure_free(structure);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_and_cold_accesses_sum_to_all_accesses_at_every_size),
        cmocka_unit_test(what_is_beyond_a_bound_is_an_upper_bound_above_it_and_right_below),
        cmocka_unit_test(the_literal_partition_splits_at_equal_ranges_until_models_are_similar),
        cmocka_unit_test(what_is_nearer_at_every_size_does_not_overtake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
