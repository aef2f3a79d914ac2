/* Entries of loops by their trips (core/behaviour/behaviour.h), beside the entries themselves: if
   this fails, what is said of a loop's entries, and times of loops with entries of many lengths,
   are not to be trusted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/behaviour/behaviour.h"
#include "core/raw_file.h"
#include "sched/sched.h"
#include "sched/schedule.h"

static uint64_t state = 0x123456789ABCDEF;

static uint64_t draw(uint64_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

static void ranges_leave_no_trips_out_and_none_in_two(void **unused) {
    (void)unused;
    unsigned before = 0;
    for (uint64_t trips = 1; trips <= 1 << 20; trips++) {
        unsigned range = pm_trip_range(trips);
        assert_true(range == before || (range == before + 1 && trips == pm_least_trips(range)));
        assert_true(trips >= pm_least_trips(range) && trips < pm_least_trips(range + 1));
        before = range;
    }
    assert_int_equal(pm_trip_range(UINT64_MAX), PM_N_TRIP_RANGES - 1);
}

/* ---- random entries -------------------------------------------------------------------------- */

enum { N_ENTRIES = 1000, N_PARTS = 3, BLOCK = 5 };

static int by_number(const void *left, const void *right) {
    return PM_COMPARE(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* Entries of trips up to MOST, and rows of them as of threads, in any order, beside another loop's.
 */
static struct pm_behaviour random_entries(uint64_t most, uint64_t entries[N_ENTRIES]) {
    struct pm_behaviour behaviour = {0};
    struct pm_measured_trips rows[N_PARTS][PM_N_TRIP_RANGES] = {{{0}}};
    for (unsigned i = 0; i < N_ENTRIES; i++) {
        entries[i] = 1 + draw(1 + draw(most));
        struct pm_measured_trips *row = &rows[i % N_PARTS][pm_trip_range(entries[i])];
        row->entries++;
        row->iterations += (double)entries[i];
    }
    for (unsigned part = 0; part < N_PARTS; part++)
        for (unsigned range = PM_N_TRIP_RANGES; range-- > 0;) {
            rows[part][range].block = BLOCK;
            rows[part][range].range = range;
            if (rows[part][range].entries > 0)
                pm_behaviour_add_trips(&behaviour, &rows[part][range]);
            pm_behaviour_add_trips(&behaviour, &(struct pm_measured_trips){BLOCK + 1, 3, 1, 4});
        }
    pm_behaviour_sort(&behaviour);
    PM_SORT(entries, N_ENTRIES, by_number);
    return behaviour;
}

/* The mean of those of ENTRIES that are in one range with TRIPS. */
static double mean_of_range(const uint64_t entries[N_ENTRIES], uint64_t trips) {
    double sum = 0, n = 0;
    for (unsigned i = 0; i < N_ENTRIES; i++)
        if (pm_trip_range(entries[i]) == pm_trip_range(trips)) {
            sum += (double)entries[i];
            n++;
        }
    return sum / n;
}

static void a_summary_is_that_of_the_entries(void **unused) {
    (void)unused;
    static const uint64_t mosts[] = {1, 16, 17, 100, 1 << 20};
    for (unsigned m = 0; m < sizeof mosts / sizeof *mosts; m++) {
        uint64_t entries[N_ENTRIES];
        struct pm_behaviour behaviour = random_entries(mosts[m], entries);
        size_t n;
        const struct pm_measured_trips *rows = pm_behaviour_trips(&behaviour, BLOCK, &n);
        struct pm_trips_summary summary = pm_trips_summary(rows, n);
        double all = 0, below = 0;
        for (unsigned i = 0; i < N_ENTRIES; i++)
            all += (double)entries[i];
        unsigned usual = 0;
        while ((below += (double)entries[usual]) < all / 2)
            usual++;
        assert_float_equal(summary.mean, all / N_ENTRIES, 1e-9 * all);
        assert_float_equal(summary.shortest, mean_of_range(entries, entries[0]), 1e-6);
        assert_float_equal(summary.longest, mean_of_range(entries, entries[N_ENTRIES - 1]), 1e-6);
        assert_float_equal(summary.usual, mean_of_range(entries, entries[usual]), 1e-6);
        for (size_t i = 1; i < n; i++)
            assert_true(rows[i - 1].range < rows[i].range);
        pm_behaviour_trips(&behaviour, BLOCK - 1, &n);
        assert_int_equal(n, 0);
        pm_behaviour_free(&behaviour);
    }
    assert_true(isnan(pm_trips_summary(NULL, 0).mean));
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* A routine with a loop of one block, BLOCK of which is the only way out. */
static unsigned groups_of(struct pm_behaviour *behaviour, double mean,
                          struct pm_trip_group groups[PM_MOST_TRIP_GROUPS]) {
    struct pm_scope scopes[2] = {{.kind = PM_SCOPE_ROUTINE, .parent = PM_NONE, .header = 0},
                                 {.kind = PM_SCOPE_LOOP, .header = BLOCK}};
    struct pm_block blocks[BLOCK + 1] = {{0}};
    for (unsigned b = 0; b <= BLOCK; b++) {
        blocks[b].scope = b == BLOCK;
        blocks[b].loop = b == BLOCK ? 1 : PM_NONE;
    }
    struct pm_routine routine = {.n_blocks = BLOCK + 1, .n_edges = 2};
    struct pm_edge edges[2] = {{.from = 0, .to = BLOCK}, {.from = BLOCK, .to = BLOCK}};
    struct pm_structure structure = {.scopes = scopes,
                                     .n_scopes = 2,
                                     .routines = &routine,
                                     .n_routines = 1,
                                     .blocks = blocks,
                                     .n_blocks = BLOCK + 1,
                                     .edges = edges,
                                     .n_edges = 2};
    double executions[BLOCK + 1] = {[BLOCK] = mean}, counts[2] = {1, mean - 1};
    uint32_t items[] = {BLOCK}, first[] = {0, 0, 1};
    const struct pm_frequencies frequencies = {.structure = &structure,
                                               .edges = counts,
                                               .blocks = executions,
                                               .regions = {.first = first, .items = items},
                                               .behaviour = behaviour};
    return pm_trip_groups(&frequencies, 1, groups);
}

static void groups_have_all_iterations_and_entries(void **unused) {
    (void)unused;
    static const uint64_t mosts[] = {100, 1 << 20};
    for (unsigned m = 0; m < sizeof mosts / sizeof *mosts; m++) {
        uint64_t entries[N_ENTRIES];
        struct pm_trip_group groups[PM_MOST_TRIP_GROUPS];
        struct pm_behaviour behaviour = random_entries(mosts[m], entries);
        unsigned n = groups_of(&behaviour, 7, groups);
        double all = 0, shares = 0, n_entries = 0;
        for (unsigned i = 0; i < N_ENTRIES; i++)
            all += (double)entries[i];
        assert_true(n > 1 && n <= PM_MOST_TRIP_GROUPS);
        for (unsigned g = 0; g < n; g++) {
            shares += groups[g].share;
            n_entries += groups[g].share * all / groups[g].trips;
            assert_true(g == 0 || groups[g].trips > groups[g - 1].trips);
        }
        assert_float_equal(shares, 1, 1e-9);
        assert_float_equal(n_entries, N_ENTRIES, 1e-6);
        pm_behaviour_free(&behaviour);
    }
}

static void entries_that_are_alike_or_unknown_have_the_mean(void **unused) {
    (void)unused;
    struct pm_trip_group groups[PM_MOST_TRIP_GROUPS];
    struct pm_behaviour behaviour = {0};
    assert_int_equal(groups_of(&behaviour, 7.5, groups), 1);
    assert_float_equal(groups[0].trips, 7.5, 0);
    pm_behaviour_add_trips(&behaviour, &(struct pm_measured_trips){BLOCK, 6, 10, 70});
    pm_behaviour_add_trips(&behaviour, &(struct pm_measured_trips){BLOCK, 7, 10, 80});
    assert_int_equal(groups_of(&behaviour, 7.5, groups), 1);
    assert_float_equal(groups[0].trips, 7.5, 0);
    assert_float_equal(groups[0].share, 1, 0);
    pm_behaviour_free(&behaviour);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_leave_no_trips_out_and_none_in_two),
        cmocka_unit_test(a_summary_is_that_of_the_entries),
        cmocka_unit_test(groups_have_all_iterations_and_entries),
        cmocka_unit_test(entries_that_are_alike_or_unknown_have_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
