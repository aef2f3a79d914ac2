/* What carries the reuses of whole address records equals what carries those of their accesses one
   by one (tests/unit/carried.c compares these with the definition): random address records,
   executed as programs would, within loops and routines that are entered, iterated and left in
   between, for several block sizes, and for every vector variant that this CPU has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/reuse/address_records/record_state.h"
#include "runtime/reuse/carriers.h"
#include "tests/unit/address_record_traces.h"
#include "tests/unit/rounds.h"

enum { N_SCOPES = 7, MOST_DEEP = 24, RUN_WORDS = 400, STACK = 1 << 20 };

static struct {
    uint64_t seed;
    unsigned shift, variant;
    struct pm_carried *found, *expected;
    uint32_t *scopes; /* [n_groups] */
    uint32_t open[MOST_DEEP], n_open;
    uint64_t words[RUN_WORDS + PM_RECORD_BASES]; /* not analysed yet, but expected */
    uint32_t n_words;
} trial;

static void expect_that(bool is_so, const char *what, uint64_t i) {
    if (!is_so)
        fail_msg("%s %llu; seed %#llx, blocks of 2^%u bytes, variant %u", what,
                 (unsigned long long)i, (unsigned long long)trial.seed, trial.shift, trial.variant);
}

/* ---- both analyses --------------------------------------------------------------------------- */

static struct pm_carried_iteration iteration_of_innermost(void) {
    if (trial.n_open == 0)
        return (struct pm_carried_iteration){.record = PM_CARRIED_NO_RECORD};
    uint32_t scope = trial.open[trial.n_open - 1];
    return (struct pm_carried_iteration){.record = PM_RECORD_IS_EVENT | PM_EVENT_ITERATION |
                                                   (uint64_t)scope << 2,
                                         .stack = STACK,
                                         .scope = scope};
}

/* The walk stops at iterations that it must not take: they come as events. */
static void walk(void) {
    const uint64_t *words = trial.words, *end = words + trial.n_words;
    const struct pm_carried_iteration iteration = iteration_of_innermost();
    while (words < end) {
        const uint64_t *to = pm_carried_records(trial.found, trial.scopes, words, end, &iteration);
        for (const uint64_t *word = words; word < to; word++)
            expect_that(*word != iteration.record || word[1] <= STACK, "taken word",
                        (uint64_t)(word - trial.words));
        if (to < end) {
            expect_that(*to == iteration.record && to[1] > STACK, "the walk stops at word",
                        (uint64_t)(to - trial.words));
            pm_carried_event(trial.found, PM_CARRIED_ITERATE, iteration.scope);
            to += 2;
        }
        words = to;
    }
    trial.n_words = 0;
}

static void add_words(const uint64_t *from, uint32_t n) {
    if (trial.n_words + n > RUN_WORDS)
        walk();
    memcpy(trial.words + trial.n_words, from, n * sizeof *from);
    trial.n_words += n;
}

static void take_address_record(const uint64_t *record, uint32_t n) {
    const struct pm_address_record *address_record =
        &address_records[*record ^ PM_RECORD_IS_ADDRESSES];
    struct pmodel_access batch[PM_RECORD_ACCESSES];
    for (uint32_t i = 0; i < address_record->n_accesses; i++) {
        const struct pm_record_access *access = &address_record->accesses[i];
        const struct pm_probe_reference *reference = &references[access->reference];
        batch[i] = (struct pmodel_access){
            .address = access->offset + (access->address ? record[access->address] : 0),
            .size_bytes = reference->size_bytes,
            .group = reference->group,
            .kind = reference->access};
    }
    pm_carried_accesses(trial.expected, n_groups, trial.scopes, batch, address_record->n_accesses);
    add_words(record, n);
}

static void take_event(uint32_t event, uint32_t scope) {
    const struct pmodel_access item = {.kind = event, .group = scope};
    walk();
    pm_carried_accesses(trial.expected, n_groups, trial.scopes, &item, 1);
    pm_carried_event(trial.found, event, scope);
}

/* As a rule of the innermost loop, sometimes of another, which need not be open. */
static void iterate(void) {
    const struct pm_carried_iteration iteration = iteration_of_innermost();
    const uint64_t record[2] = {iteration.record, random_number(16) ? STACK - 8 : STACK + 8};
    if (trial.n_open == 0 || random_number(30) == 0) {
        take_event(PM_CARRIED_ITERATE, (uint32_t)random_number(N_SCOPES));
        return;
    }
    const struct pmodel_access item = {.kind = PM_CARRIED_ITERATE, .group = iteration.scope};
    pm_carried_accesses(trial.expected, n_groups, trial.scopes, &item, 1);
    add_words(record, 2);
}

static void enter_or_leave(void) {
    uint32_t scope = (uint32_t)random_number(N_SCOPES);
    if (trial.n_open == MOST_DEEP || (trial.n_open && random_number(2))) {
        take_event(PM_CARRIED_LEAVE, trial.open[trial.n_open - 1]);
        trial.n_open--;
    } else {
        take_event(PM_CARRIED_ENTER, scope);
        trial.open[trial.n_open++] = scope;
    }
}

/* ---- comparison ------------------------------------------------------------------------------ */

static const struct pm_carried_pattern *find_pattern(const struct pm_carried *carried,
                                                     const struct pm_carried_pattern *wanted) {
    for (uint64_t i = 0; i <= carried->pattern_mask; i++)
        if (carried->patterns[i].key == wanted->key && carried->patterns[i].group == wanted->group)
            return &carried->patterns[i];
    return NULL;
}

static void check_equal(const struct pm_touch_histogram *found,
                        const struct pm_touch_histogram *expected, uint64_t number) {
    size_t n = pm_touch_histogram_bins(expected, NULL);
    struct pm_raw_bin *bins[2] = {calloc(n + 1, sizeof **bins), calloc(n + 1, sizeof **bins)};
    assert_true(bins[0] && bins[1]);
    expect_that(pm_touch_histogram_bins(found, NULL) == n, "the bins of", number);
    pm_touch_histogram_bins(found, bins[0]);
    pm_touch_histogram_bins(expected, bins[1]);
    expect_that(memcmp(bins[0], bins[1], n * sizeof **bins) == 0, "the counts of", number);
    expect_that(memcmp(found->cold, expected->cold, sizeof found->cold) == 0, "first touches of",
                number);
    expect_that(memcmp(found->beyond, expected->beyond, sizeof found->beyond) == 0, "far ones of",
                number);
    free(bins[0]);
    free(bins[1]);
}

static void check_patterns(void) {
    struct pm_carried *found = trial.found, *expected = trial.expected;
    pm_carried_sum(found);
    pm_carried_sum(found); /* nothing is added twice */
    pm_carried_sum(expected);
    expect_that(!found->failed && !expected->failed, "failed", 0);
    expect_that(found->n_patterns == expected->n_patterns, "patterns", found->n_patterns);
    for (uint64_t i = 0; i <= expected->pattern_mask; i++) {
        const struct pm_carried_pattern *pattern = &expected->patterns[i], *other;
        if (!pattern->key)
            continue;
        other = find_pattern(found, pattern);
        expect_that(other, "no pattern like", i);
        check_equal(&found->histograms[other->histogram], &expected->histograms[pattern->histogram],
                    i);
    }
    for (uint32_t group = 0; group < n_groups; group++)
        check_equal(&found->reuse->histograms[group], &expected->reuse->histograms[group], group);
    expect_that(found->reuse->n_blocks == expected->reuse->n_blocks, "blocks",
                found->reuse->n_blocks);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void take_step(const struct step *step) {
    switch (step->what) {
    case RECORD:
        take_address_record(words + step->at, step->n);
        break;
    case PLAIN:
        walk();
        pm_carried_accesses(trial.expected, n_groups, trial.scopes, plain + step->at, step->n);
        pm_carried_accesses(trial.found, n_groups, trial.scopes, plain + step->at, step->n);
        break;
    case FORGET:
        walk();
        pm_carried_forget_blocks(trial.expected);
        pm_carried_forget_blocks(trial.found);
        trial.n_open = 0;
        break;
    case SETTLE:
        walk();
        pm_carried_sum(trial.found);
        break;
    default:
        walk();
    }
}

/* EVENTS: of so many steps one is followed by an iteration. */
static void check_trace(uint64_t events, uint64_t max_blocks) {
    const struct pm_reuse_options options = {.max_blocks = max_blocks, .sample = 1};
    trial.found = pm_carried_new(trial.shift, 512, trial.variant);
    trial.expected = pm_carried_new(trial.shift, 512, trial.variant);
    assert_true(trial.found && trial.expected);
    assert_true(pm_reuse_choose(pm_carried_reuse(trial.found), &options) &&
                pm_reuse_choose(pm_carried_reuse(trial.expected), &options));
    trial.n_open = 0;
    for (uint32_t i = 0; i < n_steps; i++) {
        take_step(&steps[i]);
        if (random_number(events) == 0)
            iterate();
        if (random_number(10 * events) == 0)
            enter_or_leave();
    }
    walk();
    check_patterns();
    pm_carried_free(trial.found);
    pm_carried_free(trial.expected);
}

static void check_style(const struct style *style) {
    const unsigned n_traces = takes_minutes() ? 8 : 1;
    static const unsigned shifts[] = {3, 6, 7, 12};
    pm_references = references;
    pm_address_records = address_records;
    for (unsigned n = 0; n < n_traces; n++) {
        trial.seed = random_state;
        make_address_records(style);
        n_early = pm_n_address_records = n_address_records;
        n_early_groups = pm_n_groups = n_groups;
        make_trace(style);
        trial.scopes = calloc(n_groups, sizeof *trial.scopes);
        assert_non_null(trial.scopes);
        for (uint32_t group = 0; group < n_groups; group++)
            trial.scopes[group] = (uint32_t)random_number(N_SCOPES);
        uint64_t events = 1 + random_number(4), most = 1 + random_number(1ull << random_number(12));
        for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i += ROUNDS(1, 2)) {
            trial.shift = shifts[i];
            for (trial.variant = 0; trial.variant <= pm_reuse_best_variant(); trial.variant++)
                check_trace(events, style->options & BOUNDED ? most : 0);
        }
        free(trial.scopes);
    }
}

#define STYLE(name, ...)                                                                           \
    static void patterns_equal_those_of_accesses_on_##name(void **state) {                         \
        static const struct style style = {__VA_ARGS__};                                           \
        (void)state;                                                                               \
        random_state = __LINE__;                                                                   \
        check_style(&style);                                                                       \
    }
STYLE(strided_loops, 6, 20, 16, ALIGNED, STANDS | STRIDES, 40, 600, 0, EXACT)
STYLE(neighbouring_addresses, 8, 24, 16, ALIGNED, STRIDES | NEAR_ANOTHER, 40, 400, 200, EXACT)
STYLE(irregular_addresses, 4, 12, 8, ALIGNED, STRIDES | JUMPS, 18, 400, 200, EXACT)
STYLE(few_blocks, 5, 16, 8, ALIGNED, STRIDES | JUMPS, 9, 300, 100, EXACT)
STYLE(addresses_that_meet, 6, 20, 8, ALIGNED, STRIDES | MEETS_ANOTHER | NEAR_ANOTHER, 16, 200, 100,
      EXACT)
STYLE(more_blocks_than_the_stack_top, 15, 48, 64, UNALIGNED | LARGE, STRIDES | JUMPS, 30, 100, 100,
      EXACT)
STYLE(more_shapes_than_are_kept, 6, 8, 8, ALIGNED, JUMPS, 11, 600, 300, EXACT)
STYLE(repeats, 15, 48, 32, ALIGNED, STANDS, 12, 2000, 2000, EXACT)
STYLE(fixed_addresses, 3, 24, 64, ALIGNED | FIXED, STANDS | STRIDES, 12, 200, 100, EXACT)
STYLE(interruptions, 6, 20, 16, ALIGNED, STANDS | STRIDES | JUMPS | NEAR_ANOTHER, 14, 100, 4, EXACT)
STYLE(anything, 15, 48, 64, 15, 31, 24, 300, 60, EXACT)
STYLE(anything_small, 3, 6, 8, 15, 31, 12, 1000, 30, EXACT)
STYLE(anything_bounded, 15, 48, 64, 15, 31, 14, 300, 60, BOUNDED)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_equal_those_of_accesses_on_strided_loops),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_neighbouring_addresses),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_irregular_addresses),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_few_blocks),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_addresses_that_meet),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_more_blocks_than_the_stack_top),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_more_shapes_than_are_kept),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_repeats),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_fixed_addresses),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_interruptions),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_anything),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_anything_small),
        cmocka_unit_test(patterns_equal_those_of_accesses_on_anything_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
