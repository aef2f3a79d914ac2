/* What large blocks (pages) need beyond small ones: short whole-number distances do not become
   powers of the size, and loops that share
   their misses out by the size's residue are modelled together, as are the pieces of one loop. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/base.h"
#include "fit/fit.h"
#include "fit/histogram/histogram.h"
#include "fit/predict/predict.h"
#include "tests/unit/uniform.h"

enum { N_SIZES = 6 };
static const double sizes[N_SIZES] = {24, 32, 40, 48, 56, 64};

/* ---- series --------------------------------------------------------------------------------- */

static double distance_at(const double *values, double x) {
    struct pm_error err = {0};
    const char *texts[] = {"1", "N", "N^2", "N^3", "N^4"};
    struct pm_basis *basis = pm_basis_new(5, texts, &err);
    struct pm_design *design = pm_design_new(basis, "N", sizes, N_SIZES, &err);
    struct pm_series_workspace *workspace = pm_series_workspace_new(design);
    struct pm_model model;
    pm_series_fit(workspace, values, PM_SERIES_DISTANCE, &model);
    double at[] = {1, x, x * x, x * x * x, x * x * x * x}, value = pm_model_value(&model, at);
    pm_series_workspace_free(workspace);
    pm_design_free(design);
    pm_basis_free(basis);
    return value;
}

static void small_whole_distances_stay_small(void **state) {
    (void)state;
    static const double steps[] = {2, 3, 3, 4, 4, 4},
                        from_another_cluster[] = {3, 2, 8, 11, 11, 11};
    static const double rounded[] = {1, 1, 2, 2, 3, 3};
    assert_true(distance_at(steps, 256) <= 5);
    assert_true(distance_at(from_another_cluster, 256) == 11);
    assert_true(distance_at(rounded, 256) <= 16); /* a line through them is at 12 */
}

static void distances_that_grow_in_earnest_go_on_growing(void **state) {
    (void)state;
    double linear[N_SIZES], planes[N_SIZES];
    for (int i = 0; i < N_SIZES; i++) {
        linear[i] = 0.75 * sizes[i] + 3;
        planes[i] = round(sizes[i] * sizes[i] / 512 + 2);
    }
    assert_true(fabs(distance_at(linear, 256) - 195) < 2);
    double far = distance_at(planes, 256); /* 130; between growing as N and as N^3 */
    assert_true(far > 60 && far < 200);
}

/* ---- smaller blocks bound larger ones ------------------------------------------------------- */

static struct pm_histogram new_histogram(uint64_t block_bytes, double cold, size_t n,
                                         const struct pm_bin *bins) {
    struct pm_histogram histogram = {.block_bytes = block_bytes,
                                     .cold_loads = cold,
                                     .n_bins = n,
                                     .bins = pm_alloc(n, sizeof *bins)};
    memcpy(histogram.bins, bins, n * sizeof *bins);
    return histogram;
}

/* ---- cold accesses of large blocks ---------------------------------------------------------- */

/* Two arrays of 8·N² bytes, of which one begins inside a page and the other at a place that depends
   on the size; in lines 2·N²/8 first touches. */
static double dense_pages(double n) {
    double bytes = 8 * n * n, shift = fmod(n * 1040, 4096);
    return ceil((bytes + 2048) / 4096) + ceil((bytes + shift) / 4096) - floor(shift / 4096);
}

static void pages_of_dense_data_grow_as_their_lines(void **state) {
    (void)state;
    double lines[N_SIZES], pages[N_SIZES], rows[N_SIZES];
    for (int i = 0; i < N_SIZES; i++) {
        lines[i] = 2 * sizes[i] * sizes[i] / 8;
        pages[i] = dense_pages(sizes[i]);
        rows[i] = 2 * sizes[i]; /* a page for each row: a column of a matrix */
    }
    const struct pm_model of_lines = {
        .n_terms = 1, .terms = {2}, .coefficients = {0.25}, .n_points = N_SIZES, .exact = true};
    struct pm_model model = {0};
    assert_true(pm_fit_dense_cold(N_SIZES, lines, pages, 64, 0, &of_lines, &model));
    const double at[] = {1, 512, 512.0 * 512, 0, 0};
    assert_true(fabs(pm_model_value(&model, at) - dense_pages(512)) < 2);
    assert_false(model.exact);
    assert_true(model.leave_one_out_error > 0 && model.leave_one_out_error < 0.3);
    assert_false(pm_fit_dense_cold(N_SIZES, lines, rows, 64, 0, &of_lines, &model));
}

/* ---- groups modelled jointly ---------------------------------------------------------------- */

static struct pm_structure *two_loops(void) {
    struct pm_structure *structure = pm_structure_new();
    static const uint8_t kinds[] = {PM_SCOPE_ROUTINE, PM_SCOPE_LOOP, PM_SCOPE_LOOP};
    uint32_t innermost = 0; /* the program, which is there already */
    for (size_t i = 0; i < sizeof kinds; i++) {
        struct pm_scope *scope = PM_PUSH(structure, scopes);
        scope->kind = kinds[i];
        scope->parent = innermost;
        innermost = scope->fold = (uint32_t)structure->n_scopes - 1;
    }
    PM_PUSH(structure, groups)->scope = innermost;
    PM_PUSH(structure, groups)->scope = structure->scopes[innermost].parent;
    PM_PUSH(structure, edges)->counter = 0;
    structure->n_counters = 1;
    return structure;
}

static double long_reuses(double n) { return n * n * n / 64; }

/* The outer loop has an uneven share of the long reuses, without a rule in the size. */
static struct pm_profile *measured(double n) {
    double outer_share = fmod(n, 32) == 0 ? 0.9 : fmod(n, 16) == 0 ? 0.3 : 0.02;
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    profile->parameters = (struct pm_parameters){.n = 1, .names = {"N"}, .values = {n}};
    profile->extrapolation = 1;
    profile->n_edges = 1;
    profile->edge_counts = pm_alloc(1, sizeof *profile->edge_counts);
    profile->edge_counts[0] = n;
    profile->n_block_sizes = 1;
    profile->block_sizes = pm_alloc(1, sizeof *profile->block_sizes);
    profile->block_sizes[0] = 4096;
    profile->n_histograms = 2;
    profile->histograms = pm_alloc(2, sizeof *profile->histograms);
    for (uint32_t g = 0; g < 2; g++) {
        double many = round(long_reuses(n) * (g ? outer_share : 1 - outer_share));
        double all = g ? 4 * n * n : 8 * n * n * n, far = 2 * n + 100;
        const struct pm_bin bins[] = {{3, 3, 3, all - many, 0}, {far, far, far, many, 0}};
        profile->histograms[g].group = g;
        profile->histograms[g].histogram = new_histogram(4096, 5 * n * n, 2, bins);
    }
    return profile;
}

static void loops_that_share_misses_unevenly_have_the_right_sum(void **state) {
    (void)state;
    struct pm_structure *structure = two_loops();
    struct pm_error err = {0};
    struct pm_profile *profiles[N_SIZES];
    for (int i = 0; i < N_SIZES; i++)
        profiles[i] = measured(sizes[i]);
    struct pm_model_set *models =
        pm_fit(structure, (const struct pm_profile *const *)profiles, N_SIZES, NULL, NULL, &err);
    if (!models)
        fail_msg("%s", err.text);
    static const double larger[] = {96, 120, 128};
    for (int i = 0; i < 3; i++) {
        struct pm_parameters at = {.n = 1, .names = {"N"}, .values = {larger[i]}};
        struct pm_profile *predicted = pm_fit_instantiate(structure, models, &at, &err);
        assert_non_null(predicted);
        double misses = 0;
        for (size_t h = 0; h < predicted->n_histograms; h++)
            misses += pm_fully_associative_misses(&predicted->histograms[h].histogram, 64) -
                      5 * larger[i] * larger[i];
        if (fabs(misses / long_reuses(larger[i]) - 1) > 0.02)
            fail_msg("N=%g: %g misses instead of %g", larger[i], misses, long_reuses(larger[i]));
        pm_profile_free(predicted);
    }
    pm_model_set_free(models);
    for (int i = 0; i < N_SIZES; i++)
        pm_profile_free(profiles[i]);
    pm_structure_free(structure);
}

/* ---- long reuses of pages, from those of lines ---------------------------------------------- */

/* Planes of 8·N² bytes that are walked as wholes, two of them between reuses: of lines N³/8, of
   pages one for 64 of these, at a distance of few pages and between the short ones at small N. */
static double line_reuses(double n) { return n * n * n / 8; }
static double page_distance(double n) { return round(2 * n * n / 512) + 1; }

static struct pm_profile *walked_planes(double n) {
    struct pm_profile *profile = measured(n);
    free(profile->block_sizes);
    profile->block_sizes = pm_alloc(2, sizeof *profile->block_sizes);
    profile->block_sizes[0] = 64;
    profile->block_sizes[1] = 4096;
    profile->n_block_sizes = 2;
    for (size_t h = 0; h < profile->n_histograms; h++)
        pm_histogram_free(&profile->histograms[h].histogram);
    free(profile->histograms);
    profile->n_histograms = 4;
    profile->histograms = pm_alloc(4, sizeof *profile->histograms);
    double planes = 2 * n * n / 8;
    for (uint32_t g = 0; g < 2; g++) {
        double share = g ? fmod(n, 32) == 0 ? 0.9 : 0.4 : fmod(n, 32) == 0 ? 0.1 : 0.6;
        double lines = line_reuses(n) / 2, pages = round(line_reuses(n) / 64 * share);
        double all = n * n * n, far = page_distance(n);
        const struct pm_bin of_lines[] = {{3, 3, 3, all - lines, 0},
                                          {planes, planes, planes, lines, 0}};
        const struct pm_bin of_pages[] = {{1, 1, 1, all / 2, 0},
                                          {5, 7, 6, all / 2 - pages, 0},
                                          {fmax(far, 8), fmax(far, 8), fmax(far, 8), pages, 0}};
        for (int large = 0; large < 2; large++) {
            struct pm_group_histogram *group = &profile->histograms[2 * g + (uint32_t)large];
            group->group = g;
            group->histogram = large ? new_histogram(4096, round(n * n * n / 512), 3, of_pages)
                                     : new_histogram(64, n * n * n / 8, 2, of_lines);
        }
    }
    return profile;
}

/* Reuses of pages, as a share of those that there are, that miss in a cache of so many pages at
   four times the largest size. */
static double missing_far_out(const struct pm_structure *structure,
                              const struct pm_model_set *models, double pages_more) {
    struct pm_error err = {0};
    struct pm_parameters at = {.n = 1, .names = {"N"}, .values = {256}};
    struct pm_profile *predicted = pm_fit_instantiate(structure, models, &at, &err);
    assert_non_null(predicted);
    double misses = 0;
    for (size_t h = 0; h < predicted->n_histograms; h++) {
        const struct pm_histogram *histogram = &predicted->histograms[h].histogram;
        if (histogram->block_bytes == 4096)
            misses += pm_fully_associative_misses(histogram, page_distance(256) + pages_more) -
                      histogram->cold_loads - histogram->cold_stores;
    }
    pm_profile_free(predicted);
    return misses / (line_reuses(256) / 64);
}

static void pages_are_as_far_as_their_lines(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_structure *structure = two_loops();
    struct pm_profile *profiles[N_SIZES];
    for (int i = 0; i < N_SIZES; i++)
        profiles[i] = walked_planes(sizes[i]);
    struct pm_model_set *models =
        pm_fit(structure, (const struct pm_profile *const *)profiles, N_SIZES, NULL, NULL, &err);
    if (!models)
        fail_msg("%s", err.text);
    double below = missing_far_out(structure, models, -8);
    double above = missing_far_out(structure, models, 8);
    if (!(fabs(below - 1) < 0.03) || !(above < 0.03))
        fail_msg("%g and %g instead of 1 and 0", below, above);
    pm_model_set_free(models);
    for (int i = 0; i < N_SIZES; i++)
        pm_profile_free(profiles[i]);
    pm_structure_free(structure);
}

static void block_sizes_without_models_are_told(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_structure *structure = two_loops();
    struct pm_profile *profiles[N_SIZES];
    for (int i = 0; i < N_SIZES; i++)
        profiles[i] = measured(sizes[i]);
    free(profiles[2]->block_sizes);
    profiles[2]->block_sizes = pm_alloc(2, sizeof *profiles[2]->block_sizes);
    profiles[2]->block_sizes[0] = 4096;
    profiles[2]->block_sizes[1] = 32768;
    profiles[2]->n_block_sizes = 2;
    struct pm_fit_statistics statistics = {0};
    struct pm_model_set *models = pm_fit(structure, (const struct pm_profile *const *)profiles,
                                         N_SIZES, NULL, &statistics, &err);
    assert_non_null(models);
    assert_int_equal(statistics.n_left_out, 1);
    assert_int_equal(statistics.left_out[0], 32768);
    pm_model_set_free(models);
    for (int i = 0; i < N_SIZES; i++)
        pm_profile_free(profiles[i]);
    pm_structure_free(structure);
}

/* ---- larger blocks come back no later than the smaller ones in them -----------------------------
 */

enum { MOST_BINS = 6 };

static double accesses_beyond(const struct pm_histogram *h, double distance) {
    double sum = h->cold_loads + h->cold_stores + h->beyond_loads + h->beyond_stores;
    for (size_t b = 0; b < h->n_bins; b++)
        if (h->bins[b].low > distance)
            sum += h->bins[b].loads + h->bins[b].stores;
    return sum;
}

/* Bins of one distance each, ascending, of 300 accesses with the first touches. */
static struct pm_histogram random_histogram(double most, double cold) {
    struct pm_histogram h = {.cold_loads = cold, .sample = 1, .n_bins = MOST_BINS};
    h.bins = pm_alloc(MOST_BINS, sizeof *h.bins);
    double left = 300 - cold, distance = 0;
    for (size_t b = 0; b < MOST_BINS; b++) {
        double part = b + 1 == MOST_BINS ? left : floor(uniform(0, left / 2)) + 1;
        distance += 1 + floor(uniform(0, most / MOST_BINS));
        h.bins[b] = (struct pm_bin){.low = distance, .high = distance, .mean = distance};
        h.bins[b].loads = floor(part / 3);
        h.bins[b].stores = part - h.bins[b].loads;
        left -= part;
    }
    return h;
}

static void larger_blocks_come_back_no_later(void **state) {
    (void)state;
    size_t n_shortened = 0;
    for (int turn = 0; turn < 2000; turn++) {
        struct pm_histogram lines = random_histogram(400, floor(uniform(1, 40)));
        struct pm_histogram pages = random_histogram(800, 1);
        double before[MOST_BINS], loads = 0;
        for (size_t b = 0; b < MOST_BINS; b++) {
            before[b] = accesses_beyond(&pages, lines.bins[b].low);
            loads += pages.bins[b].loads;
        }
        pm_shorten_larger_blocks(&lines, &pages);
        for (size_t b = 0; b < MOST_BINS; b++) {
            double now = accesses_beyond(&pages, lines.bins[b].low);
            double least = fmin(before[b], accesses_beyond(&lines, lines.bins[b].low));
            assert_true(fabs(now - least) < 1e-6);
            n_shortened += now < before[b] - 0.5;
        }
        for (size_t b = 0; b < pages.n_bins; b++)
            loads -= pages.bins[b].loads;
        assert_true(fabs(loads) < 1e-6 && fabs(pm_histogram_accesses(&pages) - 300) < 1e-6);
        pm_histogram_free(&lines);
        pm_histogram_free(&pages);
    }
    assert_true(n_shortened > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(larger_blocks_come_back_no_later),
        cmocka_unit_test(small_whole_distances_stay_small),
        cmocka_unit_test(distances_that_grow_in_earnest_go_on_growing),
        cmocka_unit_test(pages_of_dense_data_grow_as_their_lines),
        cmocka_unit_test(loops_that_share_misses_unevenly_have_the_right_sum),
        cmocka_unit_test(pages_are_as_far_as_their_lines),
        cmocka_unit_test(block_sizes_without_models_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
