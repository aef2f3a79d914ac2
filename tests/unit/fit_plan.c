/* Which sizes a plan proposes, what it says they cost, and what it warns of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/plan/plan.h"

static const char *const n_only[] = {"N"}, *const a_and_b[] = {"A", "B"};

/* Seconds, work and so on of a program with three nested loops over N. */
static struct pm_plan_cost cubic(double n) {
    return (struct pm_plan_cost){.seconds = 0.1 + 1e-6 * n * n * n,
                                 .work = 5 * n * n * n,
                                 .touched_bytes = 16 * n * n * n,
                                 .peak_bytes = 1e7 + 4 * n * n * n,
                                 .store_bytes = 1000};
}

static struct pm_parameters size_of(double n) {
    struct pm_parameters at = {0};
    pm_parameters_set(&at, "N", n, NULL);
    return at;
}

/* Sizes from LOW to HIGH in steps; trials at the first and at twice that. */
struct example {
    struct pm_parameters *sizes;
    struct pm_plan_trial trials[2];
    struct pm_plan_request request;
};

static struct example make(double low, double high, double step) {
    struct example e = {.sizes = pm_alloc((size_t)((high - low) / step) + 1, sizeof *e.sizes)};
    for (double n = low; n <= high; n += step)
        e.sizes[e.request.n_sizes++] = size_of(n);
    e.trials[0] = (struct pm_plan_trial){size_of(low), cubic(low)};
    e.trials[1] = (struct pm_plan_trial){size_of(2 * low), cubic(2 * low)};
    e.request.sizes = e.sizes;
    e.request.names = n_only;
    e.request.n_names = 1;
    e.request.n_trials = 2;
    e.request.most_seconds = 1e9;
    e.request.most_bytes = 1e15;
    return e;
}

static struct pm_plan *plan_of(struct example *e) {
    e->request.trials = e->trials;
    struct pm_plan *plan = pm_fit_plan(&e->request);
    free(e->sizes);
    return plan;
}

static double n_of(const struct pm_plan *plan, size_t i) { return plan->runs[i].at.values[0]; }

static bool says(const struct pm_plan *plan, const char *words) {
    for (size_t i = 0; i < plan->n_notes; i++)
        if (strstr(plan->notes[i], words))
            return true;
    return false;
}

static void test_costs_grow_by_the_exponents_of_the_trials(void **state) {
    (void)state;
    struct example e = make(16, 512, 8);
    e.request.trials = e.trials;
    struct pm_parameters at = size_of(256);
    struct pm_plan_cost cost = pm_plan_estimate(&e.request, &at), truth = cubic(256);
    assert_true(fabs(cost.work / truth.work - 1) < 1e-9);
    assert_true(fabs(cost.touched_bytes / truth.touched_bytes - 1) < 1e-9);
    assert_true(fabs(cost.seconds / truth.seconds - 1) < 1e-9);
    assert_true(fabs(cost.peak_bytes / truth.peak_bytes - 1) < 1e-9);
    assert_true(cost.store_bytes == 1000);
    free(e.sizes);
}

static void test_sizes_are_of_one_residue_class_and_a_factor_of_four_apart(void **state) {
    (void)state;
    struct example e = make(10, 512, 1);
    struct pm_plan *plan = plan_of(&e);
    assert_int_equal(plan->n_runs, 6);
    for (size_t i = 0; i < 6; i++)
        assert_true(fmod(n_of(plan, i), 8) == fmod(n_of(plan, 0), 8));
    assert_true(n_of(plan, 5) > 504);
    assert_true(n_of(plan, 0) * 4 >= n_of(plan, 5));
    assert_true(n_of(plan, 0) * 4 < n_of(plan, 5) + 32);
    for (size_t i = 1; i < 6; i++) {
        double ratio = n_of(plan, i) / n_of(plan, i - 1);
        assert_true(ratio > 1.25 && ratio < 1.4); /* 4^(1/5) = 1.32 */
    }
    assert_false(plan->too_few);
    assert_int_equal(plan->n_notes, 0);
    pm_fit_plan_free(plan);
}

static void test_the_largest_size_is_what_the_time_allows(void **state) {
    (void)state;
    struct example e = make(16, 512, 8);
    e.request.most_seconds = 60;
    struct pm_plan *plan = plan_of(&e);
    double sum = 0, last = n_of(plan, plan->n_runs - 1);
    for (size_t i = 0; i < plan->n_runs; i++)
        sum += cubic(n_of(plan, i)).seconds;
    assert_true(fabs(sum / plan->seconds - 1) < 1e-9);
    assert_true(sum <= 60);
    assert_true(sum + cubic(last + 8).seconds - cubic(last).seconds > 55);
    assert_true(says(plan, "exceed the time"));
    pm_fit_plan_free(plan);
}

static void test_the_largest_size_is_what_the_memory_allows(void **state) {
    (void)state;
    struct example e = make(16, 512, 8);
    e.request.most_bytes = cubic(200).peak_bytes * (1 + 1e-9);
    struct pm_plan *plan = plan_of(&e);
    assert_true(n_of(plan, plan->n_runs - 1) == 200);
    pm_fit_plan_free(plan);
}

static void test_too_little_time_is_said_and_something_is_planned(void **state) {
    (void)state;
    struct example e = make(16, 512, 8);
    e.request.most_seconds = 0.01;
    struct pm_plan *plan = plan_of(&e);
    assert_int_equal(plan->n_runs, 6);
    assert_true(n_of(plan, 0) == 16);
    assert_true(n_of(plan, 5) == 56);
    assert_true(says(plan, "Even these sizes exceed"));
    pm_fit_plan_free(plan);
}

static void test_too_few_sizes_are_said(void **state) {
    (void)state;
    struct example e = make(8, 32, 8);
    struct pm_plan *plan = plan_of(&e);
    assert_int_equal(plan->n_runs, 4);
    assert_true(plan->too_few);
    assert_true(says(plan, "4 values of N are too few"));
    pm_fit_plan_free(plan);
    e = make(8, 16, 8);
    plan = plan_of(&e);
    assert_true(says(plan, "2 admissible values"));
    pm_fit_plan_free(plan);
    e = make(8, 512, 8);
    e.request.n_runs = 4;
    plan = plan_of(&e);
    assert_int_equal(plan->n_runs, 4);
    assert_true(plan->too_few);
    pm_fit_plan_free(plan);
}

static void test_sizes_of_many_residue_classes_are_said(void **state) {
    (void)state;
    struct example e = make(11, 17, 1);
    struct pm_plan *plan = plan_of(&e);
    assert_int_equal(plan->n_runs, 6);
    assert_true(says(plan, "no one residue class"));
    assert_true(says(plan, "--where 'N%8==0'"));
    pm_fit_plan_free(plan);
}

static void test_a_far_target_is_said(void **state) {
    (void)state;
    struct example e = make(16, 64, 8);
    struct pm_parameters to = size_of(512);
    e.request.to = &to;
    struct pm_plan *plan = plan_of(&e);
    assert_true(says(plan, "N=512 is 8 times the largest value"));
    assert_true(fabs(plan->to_cost.seconds / cubic(512).seconds - 1) < 1e-9);
    pm_fit_plan_free(plan);
}

/* B from 1 to floor((A-1)/3), as the thesis's section 4.1.1 has it. */
static void test_of_several_parameters_all_admissible_combinations_are_run(void **state) {
    (void)state;
    struct pm_parameters *sizes = pm_alloc(2000, sizeof *sizes);
    struct pm_plan_trial trials[3] = {0};
    const double tried[][2] = {{16, 1}, {32, 1}, {16, 2}};
    size_t n = 0;
    for (double a = 16; a <= 128; a += 16)
        for (double b = 1; b <= floor((a - 1) / 3); b++, n++) {
            pm_parameters_set(&sizes[n], "A", a, NULL);
            pm_parameters_set(&sizes[n], "B", b, NULL);
        }
    for (size_t i = 0; i < 3; i++) {
        double a = tried[i][0], b = tried[i][1];
        pm_parameters_set(&trials[i].at, "A", a, NULL);
        pm_parameters_set(&trials[i].at, "B", b, NULL);
        trials[i].cost = (struct pm_plan_cost){
            .seconds = a * a * b * 1e-3, .work = a * a * b, .touched_bytes = a, .store_bytes = 1};
    }
    struct pm_plan_request request = {.sizes = sizes,
                                      .n_sizes = n,
                                      .names = a_and_b,
                                      .n_names = 2,
                                      .trials = trials,
                                      .n_trials = 3,
                                      .n_runs = 16,
                                      .most_seconds = 1e9,
                                      .most_bytes = 1e15};
    struct pm_parameters at = trials[0].at;
    pm_parameters_set(&at, "A", 128, NULL);
    pm_parameters_set(&at, "B", 8, NULL);
    assert_true(fabs(pm_plan_estimate(&request, &at).seconds - 128 * 128 * 8e-3) < 1e-6);
    struct pm_plan *plan = pm_fit_plan(&request);
    assert_in_range(plan->n_runs, 8, 16);
    for (size_t i = 0; i < plan->n_runs; i++) {
        double a = plan->runs[i].at.values[0], b = plan->runs[i].at.values[1];
        assert_true(b <= floor((a - 1) / 3));
    }
    assert_true(plan->too_few);
    assert_true(says(plan, "16 runs are too few for degree 4 in 2 parameters"));
    assert_true(says(plan, "25 runs"));
    pm_fit_plan_free(plan);
    free(sizes);
}

static void test_trials_begin_small_and_double(void **state) {
    (void)state;
    struct example e = make(16, 512, 8);
    struct pm_plan_request *request = &e.request;
    request->trials = e.trials;
    request->n_trials = 0;
    assert_true(pm_plan_next_trial(request, 0.5)->values[0] == 16);
    request->n_trials = 1;
    assert_true(pm_plan_next_trial(request, 0.5)->values[0] == 32);
    request->n_trials = 2;
    assert_true(pm_plan_next_trial(request, 0.5)->values[0] == 64);
    assert_null(pm_plan_next_trial(request, 0.1)); /* the last took so long */
    free(e.sizes);
    e = make(16, 128, 112); /* nothing near twice */
    request->trials = e.trials;
    request->n_trials = 1;
    assert_true(pm_plan_next_trial(&e.request, 0.5)->values[0] == 128);
    free(e.sizes);
}

static bool is_b(const void *context, const char *name) {
    (void)context;
    return strcmp(name, "B") == 0;
}

static void test_formulas_and_constants_are_not_varied(void **state) {
    (void)state;
    struct pm_parameters sizes[2] = {0};
    const char *names[PM_MAX_PARAMETERS];
    for (int i = 0; i < 2; i++) {
        pm_parameters_set(&sizes[i], "A", i, NULL);
        pm_parameters_set(&sizes[i], "B", 2 * i, NULL);
        pm_parameters_set(&sizes[i], "C", 7, NULL);
    }
    assert_int_equal(pm_plan_varying(sizes, 2, is_b, NULL, names), 1);
    assert_string_equal(names[0], "A");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs_grow_by_the_exponents_of_the_trials),
        cmocka_unit_test(test_sizes_are_of_one_residue_class_and_a_factor_of_four_apart),
        cmocka_unit_test(test_the_largest_size_is_what_the_time_allows),
        cmocka_unit_test(test_the_largest_size_is_what_the_memory_allows),
        cmocka_unit_test(test_too_little_time_is_said_and_something_is_planned),
        cmocka_unit_test(test_too_few_sizes_are_said),
        cmocka_unit_test(test_sizes_of_many_residue_classes_are_said),
        cmocka_unit_test(test_a_far_target_is_said),
        cmocka_unit_test(test_of_several_parameters_all_admissible_combinations_are_run),
        cmocka_unit_test(test_trials_begin_small_and_double),
        cmocka_unit_test(test_formulas_and_constants_are_not_varied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
