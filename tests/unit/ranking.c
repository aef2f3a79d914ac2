/* Machines are ranked by weighted sums or geometric means, and a rank that the intervals leave open
   is told as such. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fit/analysis/ranking.h"

enum { N_MACHINES = 3, N_PROGRAMS = 2 };

static const double weights[N_PROGRAMS] = {3, 1};

static void rank(const struct pm_estimate *seconds, bool geometric,
                 struct pm_ranked_machine *ranked) {
    pm_rank_machines(&(struct pm_ranking_request){.n_programs = N_PROGRAMS,
                                                  .n_machines = N_MACHINES,
                                                  .weights = weights,
                                                  .seconds = seconds,
                                                  .geometric = geometric},
                     ranked);
}

static void sums_are_weighted(void **state) {
    (void)state;
    const struct pm_estimate seconds[] = {{2, 2, 2}, {1, 1, 1}, {4, 4, 4},
                                          {1, 1, 1}, {9, 9, 9}, {5, 5, 5}};
    struct pm_ranked_machine ranked[N_MACHINES];
    rank(seconds, false, ranked);
    assert_int_equal(ranked[0].machine, 0); /* 3 · 2 + 1 */
    assert_float_equal(ranked[0].score.estimate, 7, 1e-12);
    assert_int_equal(ranked[1].machine, 1); /* 3 · 1 + 9 */
    assert_float_equal(ranked[1].by_best, 12.0 / 7, 1e-12);
    assert_int_equal(ranked[2].machine, 2);
    assert_true(pm_ranking_survives(ranked, N_MACHINES));
}

static void a_geometric_mean_is_of_ratios_to_the_fastest(void **state) {
    (void)state;
    const struct pm_estimate seconds[] = {{2, 2, 2},       {1, 1, 1},       {16, 16, 16},
                                          {100, 100, 100}, {400, 400, 400}, {100, 100, 100}};
    struct pm_ranked_machine ranked[N_MACHINES];
    rank(seconds, true, ranked);
    assert_int_equal(ranked[0].machine, 1); /* 1^(3/4) · 4^(1/4) */
    assert_float_equal(ranked[0].score.estimate, sqrt(2), 1e-12);
    assert_float_equal(ranked[1].score.estimate, pow(2, 0.75), 1e-12);
    assert_float_equal(ranked[2].score.estimate, 8, 1e-12);
}

static void overlapping_intervals_leave_ranks_open(void **state) {
    (void)state;
    const struct pm_estimate seconds[] = {{1, 2, 3}, {2, 3, 4}, {50, 60, 70},
                                          {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    struct pm_ranked_machine ranked[N_MACHINES];
    rank(seconds, false, ranked);
    assert_false(pm_ranking_survives(ranked, N_MACHINES));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ranked[i].best_rank, 1);
        assert_int_equal(ranked[i].worst_rank, 2);
    }
    assert_int_equal(ranked[2].machine, 2);
    assert_int_equal(ranked[2].best_rank, 3);
    assert_int_equal(ranked[2].worst_rank, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_weighted),
        cmocka_unit_test(a_geometric_mean_is_of_ratios_to_the_fastest),
        cmocka_unit_test(overlapping_intervals_leave_ranks_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
