/* Sets of execution units inferred from throughputs: of a made-up machine whose units are known,
   from pairs with noise, so that multisets that were not used are predicted.  If this fails, the
   rows that `pmodel probe` writes say the wrong thing about what shares units. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/base/base.h"
#include "machines/probe/ports/ports.h"

/* Four arithmetic units, two of which shift and one of which multiplies; three of memory; four of
   vectors, two that add and two that multiply, one with a divider. */
static const struct pm_port_kind TRUTH[] = {
    {1, {{0x00f, 1}}, 1},             /* add */
    {1, {{0x006, 1}}, 1},             /* shift */
    {1, {{0x002, 1}}, 1},             /* multiply */
    {1, {{0x009, 1}}, 1},             /* conditional move */
    {1, {{0x070, 1}}, 1},             /* load */
    {2, {{0x070, 1}, {0x800, 1}}, 1}, /* store */
    {1, {{0x780, 1}}, 1},             /* vector integer */
    {1, {{0x600, 1}}, 1},             /* vector add */
    {1, {{0x180, 1}}, 1},             /* vector multiply */
    {1, {{0x100, 4}}, 1},             /* vector divide */
    {2, {{0x00f, 1}, {0x600, 1}}, 2}, /* convert from an integer */
    {0, {{0, 0}}, 1},                 /* a move that is renamed */
};
enum { N = sizeof TRUTH / sizeof *TRUTH };

static uint64_t state = 0x2545F4914F6CDD1D;

static uint32_t below(uint32_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 33) % n);
}

static double noisy(double cycles) { return cycles * (1 + 0.02 * (below(1001) / 1000.0 - 0.5)); }

static struct pm_port_experiment random_multiset(void) {
    struct pm_port_experiment multiset = {.n_terms = 3 + below(4)};
    for (unsigned i = 0; i < multiset.n_terms; i++) {
        uint32_t kind;
        bool again;
        do {
            again = false;
            kind = below(N);
            for (unsigned j = 0; j < i; j++)
                again |= multiset.terms[j].kind == kind;
        } while (again);
        multiset.terms[i].kind = kind;
        multiset.terms[i].count = 1 + below(4);
    }
    return multiset;
}

static double median(double *errors, size_t n) { return pm_estimate_of(errors, n, 0).estimate; }

static void predicts_what_was_not_measured(void **unused) {
    (void)unused;
    enum { PAIRS = N * (N - 1) / 2, MULTISETS = 300, JUDGING = 200 };
    struct pm_port_kind truth_kinds[N], kinds[N];
    double own[N], errors[JUDGING], errors_of_resources[JUDGING];
    for (int i = 0; i < N; i++) {
        truth_kinds[i] = TRUTH[i];
        kinds[i] = (struct pm_port_kind){.slots = TRUTH[i].slots};
    }
    const struct pm_port_model truth = {12, 6, N, truth_kinds};
    struct pm_port_model model = {.width = 6, .n_kinds = N, .kinds = kinds};
    struct pm_port_experiment *experiments = pm_alloc(PAIRS + MULTISETS, sizeof *experiments);
    for (uint32_t i = 0; i < N; i++) {
        struct pm_port_experiment alone = {.n_terms = 1, .terms = {{i, 1}}};
        own[i] = noisy(pm_port_cycles(&truth, &alone));
    }
    size_t n = 0;
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < i; j++, n++) {
            uint32_t a = own[i] < own[j] ? (uint32_t)fmin(8, round(own[j] / own[i])) : 1;
            uint32_t b = own[j] < own[i] ? (uint32_t)fmin(8, round(own[i] / own[j])) : 1;
            experiments[n] = (struct pm_port_experiment){.n_terms = 2, .terms = {{i, a}, {j, b}}};
            experiments[n].cycles = noisy(pm_port_cycles(&truth, &experiments[n]));
        }
    for (; n < PAIRS + MULTISETS; n++) {
        experiments[n] = random_multiset();
        experiments[n].cycles = noisy(pm_port_cycles(&truth, &experiments[n]));
    }

    pm_infer_ports(&model, own, experiments, PAIRS, false, INFINITY);
    struct pm_resource_model resources = pm_refine_resources(&model, own, experiments, n, INFINITY);
    for (int i = 0; i < JUDGING; i++) {
        struct pm_port_experiment multiset = random_multiset();
        double cycles = pm_port_cycles(&truth, &multiset);
        errors[i] = fabs(pm_port_cycles(&model, &multiset) / cycles - 1);
        errors_of_resources[i] = fabs(pm_resource_cycles(&resources, &multiset) / cycles - 1);
    }
    assert_true(median(errors, JUDGING) < 0.02);
    assert_true(errors[JUDGING * 9 / 10] < 0.1);
    assert_true(median(errors_of_resources, JUDGING) < 0.02);
    assert_true(errors_of_resources[JUDGING * 9 / 10] < 0.1);
    /* What shares all its units, and what shares none. */
    assert_int_equal(model.kinds[1].uses[0].ports & model.kinds[2].uses[0].ports,
                     model.kinds[2].uses[0].ports);
    assert_int_equal(model.kinds[7].uses[0].ports & model.kinds[8].uses[0].ports, 0);
    assert_int_equal(model.kinds[0].uses[0].ports & model.kinds[6].uses[0].ports, 0);
    pm_resource_model_free(&resources);
    free(experiments);
}

/* The model's formula itself, on cases that can be done by hand. */
static void takes_the_tightest_union(void **unused) {
    (void)unused;
    struct pm_port_kind kinds[N];
    for (int i = 0; i < N; i++)
        kinds[i] = TRUTH[i];
    const struct pm_port_model truth = {12, 6, N, kinds};
    struct pm_port_experiment shift_and_add = {.n_terms = 2, .terms = {{1, 4}, {0, 2}}};
    assert_true(fabs(pm_port_cycles(&truth, &shift_and_add) - 2) < 1e-9); /* 4 shifts on 2 units */
    struct pm_port_experiment full = {.n_terms = 2, .terms = {{1, 4}, {0, 8}}};
    assert_true(fabs(pm_port_cycles(&truth, &full) - 3) < 1e-9); /* 12 on 4 units */
    struct pm_port_experiment wide = {.n_terms = 3, .terms = {{0, 4}, {6, 4}, {4, 3}}};
    assert_true(fabs(pm_port_cycles(&truth, &wide) - 11 / 6.0) < 1e-9); /* 6 slots a cycle */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_tightest_union),
        cmocka_unit_test(predicts_what_was_not_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
