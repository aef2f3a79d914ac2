/* The reference predictors are wrong as often as they must be on outcomes that are known: bimodal
   and gshare as often as the tables of the papers, written down anew here; TAGE as theory bounds
   it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/base.h"
#include "runtime/branch_outcomes/bursts.h"
#include "runtime/branch_outcomes/reference_predictors.h"

enum { N = 200000, WARM = N / 4, FIRST = 0x401000, SECOND = 0x401230 };

struct judged {
    struct pm_predictors *predictors;
    uint8_t bimodal[1 << PM_BIMODAL_BITS], gshare[1 << PM_GSHARE_BITS];
    uint32_t history;
    uint64_t random, n, wrong[PM_N_PREDICTORS], expected[PM_N_PREDICTORS];
};

static struct judged *begin(void) {
    struct judged *judged = pm_alloc(1, sizeof *judged);
    judged->predictors = pm_alloc(1, sizeof *judged->predictors);
    pm_predictors_begin(judged->predictors);
    memset(judged->bimodal, 1, sizeof judged->bimodal);
    memset(judged->gshare, 1, sizeof judged->gshare);
    judged->random = 88172645463325252u;
    return judged;
}

static void end(struct judged *judged) {
    free(judged->predictors);
    free(judged);
}

/* Uniform from 0 to 1 (G. Marsaglia, xorshift). */
static double draw(struct judged *judged) {
    judged->random ^= judged->random << 13;
    judged->random ^= judged->random >> 7;
    judged->random ^= judged->random << 17;
    return (double)(judged->random >> 11) / 9007199254740992.0;
}

static unsigned count_two_bits(uint8_t *counter, bool taken) {
    unsigned wrong = (*counter > 1) != taken;
    if (taken && *counter < 3)
        ++*counter;
    else if (!taken && *counter > 0)
        --*counter;
    return wrong;
}

static void happens(struct judged *judged, uint64_t address, bool taken, bool counts) {
    unsigned wrong = pm_predictors_learn(judged->predictors, address, taken);
    unsigned bimodal = count_two_bits(&judged->bimodal[address % (1 << PM_BIMODAL_BITS)], taken);
    unsigned gshare =
        count_two_bits(&judged->gshare[(address ^ judged->history) % (1 << PM_GSHARE_BITS)], taken);
    judged->history = judged->history << 1 | taken;
    if (!counts)
        return;
    judged->n++;
    for (unsigned p = 0; p < PM_N_PREDICTORS; p++)
        judged->wrong[p] += wrong >> p & 1;
    judged->expected[PM_PREDICTOR_BIMODAL] += bimodal;
    judged->expected[PM_PREDICTOR_GSHARE] += gshare;
}

static double share(const struct judged *judged, enum pm_branch_predictor predictor) {
    return (double)judged->wrong[predictor] / (double)judged->n;
}

static void assert_as_in_the_papers(const struct judged *judged) {
    assert_int_equal(judged->wrong[PM_PREDICTOR_BIMODAL], judged->expected[PM_PREDICTOR_BIMODAL]);
    assert_int_equal(judged->wrong[PM_PREDICTOR_GSHARE], judged->expected[PM_PREDICTOR_GSHARE]);
}

/* Nobody predicts coins; of an unfair one the best that there is, is its usual side. */
static void random_outcomes_are_wrong_as_often_as_they_go_the_rarer_way(void **state) {
    (void)state;
    static const double chances[] = {0.5, 0.1};
    for (size_t i = 0; i < sizeof chances / sizeof *chances; i++) {
        struct judged *judged = begin();
        for (int k = 0; k < N; k++)
            happens(judged, FIRST, draw(judged) < chances[i], k >= WARM);
        double rare = chances[i], error = 5 * sqrt(rare * (1 - rare) / (double)judged->n);
        assert_as_in_the_papers(judged);
        assert_true(fabs(share(judged, PM_PREDICTOR_TAGE) - rare) < error + 0.02 * rare * 5);
        end(judged);
    }
}

static void periods_are_learnt_from_history(void **state) {
    (void)state;
    for (int period = 2; period <= 24; period++) {
        struct judged *judged = begin();
        for (int k = 0; k < N; k++)
            happens(judged, FIRST, k % period == 0, k >= WARM);
        assert_as_in_the_papers(judged);
        assert_true(share(judged, PM_PREDICTOR_TAGE) < 1e-3);
        end(judged);
    }
}

/* The second of a pair goes as the first did: only history tells. */
static void correlated_pairs_need_history(void **state) {
    (void)state;
    struct judged *judged = begin();
    for (int k = 0; k < N; k++) {
        bool first = draw(judged) < 0.5;
        happens(judged, FIRST, first, false);
        happens(judged, SECOND, first, k >= WARM);
    }
    assert_as_in_the_papers(judged);
    assert_true(fabs(share(judged, PM_PREDICTOR_BIMODAL) - 0.5) < 0.01);
    assert_true(share(judged, PM_PREDICTOR_GSHARE) < 0.01);
    assert_true(share(judged, PM_PREDICTOR_TAGE) < 0.01);
    end(judged);
}

/* Bimodal is wrong once an entry, at its end. */
static void exits_of_constant_trips_are_learnt(void **state) {
    (void)state;
    enum { TRIPS = 7 };
    struct judged *judged = begin();
    for (int k = 0; k < N; k++)
        happens(judged, FIRST, k % TRIPS != TRIPS - 1, k >= WARM / TRIPS * TRIPS);
    assert_as_in_the_papers(judged);
    assert_int_equal(judged->wrong[PM_PREDICTOR_BIMODAL], judged->n / TRIPS);
    assert_true(share(judged, PM_PREDICTOR_TAGE) < 1e-3);
    end(judged);
}

/* Trips from 1 to 8, all as likely: who is right as often as can be says "on" but behind seven. */
static void exits_of_random_trips_are_not(void **state) {
    (void)state;
    enum { MOST = 8 };
    struct judged *judged = begin();
    uint64_t entries = 0;
    for (int k = 0; k < N;) {
        int trips = 1 + (int)(draw(judged) * MOST);
        for (int i = 1; i <= trips; i++)
            happens(judged, FIRST, i<trips, k + i> WARM);
        k += trips;
        entries += k > WARM;
    }
    double best = (double)(MOST - 1) / MOST * (double)entries / (double)judged->n;
    assert_as_in_the_papers(judged);
    assert_true(share(judged, PM_PREDICTOR_TAGE) > 0.97 * best);
    assert_true(share(judged, PM_PREDICTOR_TAGE) < 1.25 * best);
    end(judged);
}

/* Twice the same outcomes are judged the same. */
static void predictors_are_functions_of_the_outcomes(void **state) {
    (void)state;
    struct judged *a = begin(), *b = begin();
    for (int k = 0; k < N / 4; k++) {
        happens(a, FIRST + 16 * (uint64_t)(k % 50), draw(a) < 0.3, true);
        happens(b, FIRST + 16 * (uint64_t)(k % 50), draw(b) < 0.3, true);
    }
    assert_memory_equal(a->wrong, b->wrong, sizeof a->wrong);
    assert_memory_equal(a->predictors, b->predictors, sizeof *a->predictors);
    end(a);
    end(b);
}

static void bursts_are_one_a_stretch_behind_one_that_is_learnt(void **state) {
    (void)state;
    uint64_t first = 0, last = 0, before = 0, n_distances = 0;
    while (pm_branch_burst(first) == PM_BURST_JUDGES)
        first++;
    assert_true(first > 0);
    uint64_t n_judged = 0, n_learnt = 0, n = first * 64;
    for (uint64_t i = first; i < first + n; i++) {
        enum pm_burst burst = pm_branch_burst(i);
        n_judged += burst == PM_BURST_JUDGES;
        n_learnt += burst == PM_BURST_LEARNS;
        if (burst != PM_BURST_JUDGES)
            continue;
        assert_true(i == first || pm_branch_burst(i - 1) != PM_BURST_NONE);
        n_distances += i - last != before;
        before = i - last;
        last = i;
    }
    assert_int_equal(n_judged, n_learnt);
    assert_true(n_judged > 16 && n_judged < n / 4);
    assert_true(n_distances > n_judged / 2); /* not in step with anything */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_outcomes_are_wrong_as_often_as_they_go_the_rarer_way),
        cmocka_unit_test(periods_are_learnt_from_history),
        cmocka_unit_test(correlated_pairs_need_history),
        cmocka_unit_test(exits_of_constant_trips_are_learnt),
        cmocka_unit_test(exits_of_random_trips_are_not),
        cmocka_unit_test(predictors_are_functions_of_the_outcomes),
        cmocka_unit_test(bursts_are_one_a_stretch_behind_one_that_is_learnt),
    };
    return cmocka_run_group_tests_name("branch_predictors", tests, NULL, NULL);
}
