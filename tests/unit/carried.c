/* What carries each reuse equals the plain definition, applied literally: for every touch the whole
   history is searched for the last touch of the block, and the stack of activations from the top
   for one that was entered before it.  Random traces over random activations (recursion, loops left
   without notice, events of no open scope), several block sizes, every vector variant of this CPU.
   And the sum over all patterns of a group is its plain histogram. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/modules.h"
#include "runtime/reuse/carriers.h"

/* Instead of runtime/modules.c. */
struct pm_probe_reference *pm_references;
struct pm_address_record *pm_address_records;
uint32_t pm_n_address_records, pm_n_groups;

enum { N_GROUPS = 12, N_SCOPES = 9, LEAST_CAPACITY = 512 };

static uint64_t random_state;

static uint64_t random_number(uint64_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint64_t)(((unsigned __int128)(random_state ^ random_state >> 29) * below) >> 64);
}

/* ---- the plain definition -------------------------------------------------------------------- */

struct activation {
    uint32_t scope;
    size_t entered, iterated; /* ordinals of items of the trace */
};

struct touch {
    uint64_t block;
    size_t at;
    uint32_t scope;
};

/* What is expected, and found: one for each (group, source, carrier, across, kind, distance). */
struct reuse {
    uint32_t group, source, carrier, across, store;
    uint64_t distance, count;
};

struct list {
    struct reuse *items;
    size_t n, room;
};

static void add(struct list *list, struct reuse reuse) {
    if (list->n == list->room) {
        list->room = list->room ? 2 * list->room : 1024;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        assert_non_null(list->items);
    }
    list->items[list->n++] = reuse;
}

static int compare(const void *a, const void *b) {
    return memcmp(a, b, offsetof(struct reuse, count));
}

/* Sorted, equal ones joined. */
static void join(struct list *list) {
    if (list->n == 0)
        return;
    qsort(list->items, list->n, sizeof *list->items, compare);
    size_t n = 1;
    for (size_t i = 1; i < list->n; i++)
        if (compare(&list->items[n - 1], &list->items[i]) == 0)
            list->items[n - 1].count += list->items[i].count;
        else
            list->items[n++] = list->items[i];
    list->n = n;
}

struct history {
    struct touch *touches; /* most recent last, each block once */
    size_t n_touches;
    struct activation *open;
    size_t n_open;
    uint64_t cold[N_GROUPS][2];
    struct list expected;
};

static void expect_touch(struct history *history, const struct pmodel_access *access, size_t at,
                         const uint32_t *scopes, uint64_t block, bool store) {
    size_t place = history->n_touches;
    while (place > 0 && history->touches[place - 1].block != block)
        place--;
    if (place == 0) {
        history->cold[access->group][store]++;
    } else {
        const struct touch *last = &history->touches[place - 1];
        size_t a = history->n_open;
        while (a > 0 && history->open[a - 1].entered > last->at)
            a--;
        struct reuse reuse;
        memset(&reuse, 0, sizeof reuse);
        reuse = (struct reuse){.group = access->group,
                               .source = last->scope,
                               .carrier = a ? history->open[a - 1].scope : PM_CARRIED_OUTSIDE,
                               .across = a && history->open[a - 1].iterated > last->at,
                               .store = store,
                               .distance = history->n_touches - place,
                               .count = 1};
        add(&history->expected, reuse);
        memmove(&history->touches[place - 1], &history->touches[place],
                (history->n_touches - place) * sizeof *history->touches);
        history->n_touches--;
    }
    history->touches[history->n_touches++] = (struct touch){block, at, scopes[access->group]};
}

static void expect_event(struct history *history, const struct pmodel_access *event, size_t at) {
    size_t a = history->n_open;
    if (event->kind == PM_CARRIED_ENTER) {
        history->open[history->n_open++] = (struct activation){event->group, at, at};
        return;
    }
    while (a > 0 && history->open[a - 1].scope != event->group)
        a--;
    if (a == 0)
        return;
    if (event->kind == PM_CARRIED_ITERATE) {
        history->open[a - 1].iterated = at;
        return;
    }
    memmove(&history->open[a - 1], &history->open[a],
            (history->n_open - a) * sizeof *history->open);
    history->n_open--;
}

static void expect(struct history *history, const struct pmodel_access *trace, size_t count,
                   const uint32_t *scopes, unsigned shift) {
    for (size_t i = 0; i < count; i++) {
        if (trace[i].kind >= PM_CARRIED_ENTER) {
            expect_event(history, &trace[i], i);
            continue;
        }
        uint64_t end = (trace[i].address + trace[i].size_bytes - 1) >> shift;
        for (uint64_t block = trace[i].address >> shift; block <= end; block++) {
            expect_touch(history, &trace[i], i, scopes, block, trace[i].kind == 2);
            if (trace[i].kind == 3)
                expect_touch(history, &trace[i], i, scopes, block, true);
        }
    }
    join(&history->expected);
}

/* ---- what the analysis found ----------------------------------------------------------------- */

/* Distances are below PM_REUSE_EXACT, so that each bin is one. */
static void read_pattern(struct list *found, const struct pm_carried *carried,
                         const struct pm_carried_pattern *pattern) {
    static struct pm_raw_bin bins[PM_REUSE_EXACT];
    const struct pm_touch_histogram *histogram = &carried->histograms[pattern->histogram];
    size_t n_bins = pm_touch_histogram_bins(histogram, NULL);
    uint64_t cold_loads, cold_stores;
    assert_in_range(n_bins, 1, PM_REUSE_EXACT);
    pm_touch_histogram_bins(histogram, bins);
    pm_touch_histogram_cold(histogram, &cold_loads, &cold_stores);
    assert_int_equal(cold_loads + cold_stores, 0);
    for (size_t i = 0; i < n_bins; i++)
        for (uint32_t store = 0; store < 2; store++) {
            struct reuse reuse;
            memset(&reuse, 0, sizeof reuse);
            reuse = (struct reuse){.group = pattern->group,
                                   .source = pm_carried_source(pattern->key),
                                   .carrier = pm_carried_carrier(pattern->key),
                                   .across = pm_carried_across(pattern->key),
                                   .store = store,
                                   .distance = bins[i].low,
                                   .count = store ? bins[i].stores : bins[i].loads};
            assert_int_equal(bins[i].low, bins[i].high);
            if (reuse.count)
                add(found, reuse);
        }
}

static void check_equal(const struct list *found, const struct list *expected) {
    for (size_t i = 0; i < found->n && i < expected->n; i++) {
        const struct reuse *f = &found->items[i], *e = &expected->items[i];
        if (compare(f, e) != 0 || f->count != e->count)
            fail_msg("group %u: found %u by %u.%u at %llu: %llu; expected %u by %u.%u at %llu: "
                     "%llu",
                     f->group, f->source, f->carrier, f->across, (unsigned long long)f->distance,
                     (unsigned long long)f->count, e->source, e->carrier, e->across,
                     (unsigned long long)e->distance, (unsigned long long)e->count);
    }
    assert_int_equal(found->n, expected->n);
}

/* The plain analysis of the same accesses. */
static void check_sum(struct pm_carried *carried, const struct pmodel_access *trace, size_t count) {
    enum { MOST_BINS = PM_REUSE_EXACT };
    struct pm_reuse *plain =
        pm_reuse_new(carried->reuse->shift, LEAST_CAPACITY, carried->reuse->variant);
    for (size_t i = 0; i < count; i++)
        if (trace[i].kind < PM_CARRIED_ENTER)
            pm_reuse_accesses(plain, N_GROUPS, &trace[i], 1);
    pm_carried_sum(carried);
    pm_carried_sum(carried); /* a second time changes nothing */
    for (uint32_t group = 0; group < N_GROUPS; group++) {
        struct pm_raw_bin expected[MOST_BINS], found[MOST_BINS];
        const struct pm_touch_histogram *from = &plain->histograms[group],
                                        *sum = &carried->reuse->histograms[group];
        size_t n_bins = pm_touch_histogram_bins(from, NULL);
        assert_in_range(n_bins, 0, MOST_BINS);
        assert_int_equal(pm_touch_histogram_bins(sum, NULL), n_bins);
        pm_touch_histogram_bins(from, expected);
        pm_touch_histogram_bins(sum, found);
        assert_memory_equal(found, expected, n_bins * sizeof *found);
        uint64_t cold[2], sum_cold[2];
        pm_touch_histogram_cold(from, &cold[0], &cold[1]);
        pm_touch_histogram_cold(sum, &sum_cold[0], &sum_cold[1]);
        assert_memory_equal(cold, sum_cold, sizeof cold);
    }
    assert_int_equal(plain->n_blocks, carried->reuse->n_blocks);
    pm_reuse_free(plain);
}

static void check_trace(const struct pmodel_access *trace, size_t count, const uint32_t *scopes,
                        unsigned shift, enum pm_reuse_variant variant) {
    struct history history = {.touches = calloc(4 * count + 1, sizeof *history.touches),
                              .open = calloc(count + 1, sizeof *history.open)};
    struct pm_carried *carried = pm_carried_new(shift, LEAST_CAPACITY, variant);
    struct list found = {0};
    assert_non_null(carried);
    expect(&history, trace, count, scopes, shift);
    for (size_t from = 0, n; from < count; from += n) {
        n = 1 + random_number(200);
        n = n < count - from ? n : count - from;
        pm_carried_accesses(carried, N_GROUPS, scopes, trace + from, n);
        assert_false(carried->failed);
    }
    for (uint64_t i = 0; i <= carried->pattern_mask; i++)
        if (carried->patterns[i].key)
            read_pattern(&found, carried, &carried->patterns[i]);
    join(&found);
    check_equal(&found, &history.expected);
    for (uint32_t group = 0; group < N_GROUPS; group++) {
        uint64_t cold[2];
        pm_touch_histogram_cold(&carried->reuse->histograms[group], &cold[0], &cold[1]);
        assert_memory_equal(cold, history.cold[group], sizeof cold);
    }
    check_sum(carried, trace, count);
    pm_carried_free(carried);
    free(found.items);
    free(history.expected.items);
    free(history.touches);
    free(history.open);
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* Events of a random nest: as a rule they are right, sometimes of a scope that is not the innermost
   or not open at all. */
struct nest {
    uint32_t open[4096];
    size_t n;
    unsigned depth; /* mean */
};

static struct pmodel_access random_event(struct nest *nest) {
    struct pmodel_access event = {.group = (uint32_t)random_number(N_SCOPES)};
    uint64_t what = random_number(8);
    if (random_number(50) == 0) {
        event.kind = PM_CARRIED_ITERATE - (uint32_t)random_number(2);
    } else if (nest->n && what < 4) {
        event.kind = PM_CARRIED_ITERATE;
        event.group = nest->open[nest->n - 1];
    } else if (nest->n && (random_number(2 * nest->depth) < nest->n || nest->n == 4096)) {
        event.kind = PM_CARRIED_LEAVE;
        event.group = nest->open[--nest->n];
    } else {
        event.kind = PM_CARRIED_ENTER;
        nest->open[nest->n++] = event.group;
    }
    return event;
}

static void random_trace(struct pmodel_access *trace, size_t count, unsigned depth,
                         unsigned events_of_16) {
    struct nest *nest = calloc(1, sizeof *nest);
    nest->depth = depth;
    for (size_t i = 0; i < count; i++) {
        uint64_t span = 64ull << random_number(7);
        if (random_number(16) < events_of_16)
            trace[i] = random_event(nest);
        else
            trace[i] = (struct pmodel_access){
                .address = 0x7f1234567000 + random_number(span) + (random_number(3) << 32),
                .size_bytes = 1 + (uint32_t)random_number(random_number(8) ? 8 : 200),
                .group = (uint32_t)random_number(N_GROUPS),
                .kind = 1 + (uint32_t)random_number(3)};
    }
    free(nest);
}

static void every_reuse_has_the_carrier_of_the_definition(void **unused) {
    (void)unused;
    enum { COUNT = 3000 };
    static struct pmodel_access trace[COUNT];
    uint32_t scopes[N_GROUPS];
    enum pm_reuse_variant best = pm_reuse_best_variant();
    for (unsigned round = 0; round < 24; round++) {
        random_state = round + 1;
        for (unsigned g = 0; g < N_GROUPS; g++)
            scopes[g] = (uint32_t)random_number(N_SCOPES);
        random_trace(trace, COUNT, round % 3 == 2 ? 300 : 4, round % 4 ? 4 : 12);
        for (int variant = PM_REUSE_SSE2; variant <= (int)best; variant++)
            check_trace(trace, COUNT, scopes, 6 + round % 3, (enum pm_reuse_variant)variant);
    }
}

/* for t: for i: a[i]; for i: a[i]: known by hand.  Scopes: 1 routine, 2 t, 3 first, 4 second. */
static void two_loops_in_a_third(void **unused) {
    (void)unused;
    enum { STEPS = 3, N = 40 };
    struct pmodel_access trace[2 + STEPS * (1 + 2 * (2 + 2 * N)) + 4];
    uint32_t scopes[N_GROUPS] = {3, 4};
    size_t n = 0;
    trace[n++] = (struct pmodel_access){.kind = PM_CARRIED_ENTER, .group = 1};
    trace[n++] = (struct pmodel_access){.kind = PM_CARRIED_ENTER, .group = 2};
    for (unsigned t = 0; t < STEPS; t++) {
        trace[n++] = (struct pmodel_access){.kind = PM_CARRIED_ITERATE, .group = 2};
        for (uint32_t loop = 3; loop <= 4; loop++) {
            trace[n++] = (struct pmodel_access){.kind = PM_CARRIED_ENTER, .group = loop};
            for (uint64_t i = 0; i < N; i++) {
                trace[n++] = (struct pmodel_access){.kind = PM_CARRIED_ITERATE, .group = loop};
                trace[n++] = (struct pmodel_access){
                    .address = 64 * i, .size_bytes = 8, .group = loop - 3, .kind = 1};
            }
            trace[n++] = (struct pmodel_access){.kind = PM_CARRIED_LEAVE, .group = loop};
        }
    }
    struct pm_carried *carried = pm_carried_new(6, LEAST_CAPACITY, pm_reuse_best_variant());
    pm_carried_accesses(carried, N_GROUPS, scopes, trace, n);
    struct list found = {0};
    for (uint64_t i = 0; i <= carried->pattern_mask; i++)
        if (carried->patterns[i].key)
            read_pattern(&found, carried, &carried->patterns[i]);
    join(&found);
    struct reuse expected[] = {{0, 4, 2, 1, 0, N - 1, (STEPS - 1) * N},
                               {1, 3, 2, 0, 0, N - 1, STEPS * N}};
    check_equal(&found, &(struct list){expected, 2, 2});
    free(found.items);
    pm_carried_free(carried);
}

/* A thread that takes over the number of another begins without blocks and without activations. */
static void nothing_is_left_of_a_thread(void **unused) {
    (void)unused;
    struct pmodel_access trace[] = {{.kind = PM_CARRIED_ENTER, .group = 5},
                                    {.address = 64, .size_bytes = 8, .kind = 1}};
    struct pmodel_access again = trace[1];
    uint32_t scopes[N_GROUPS] = {5};
    struct pm_carried *carried = pm_carried_new(6, LEAST_CAPACITY, pm_reuse_best_variant());
    pm_carried_accesses(carried, N_GROUPS, scopes, trace, 2);
    pm_carried_forget_blocks(carried);
    pm_carried_accesses(carried, N_GROUPS, scopes, &again, 1);
    assert_int_equal(carried->n_patterns, 0);
    assert_int_equal(carried->reuse->histograms[0].cold[0], 2);
    pm_carried_accesses(carried, N_GROUPS, scopes, &again, 1);
    assert_int_equal(carried->n_patterns, 1);
    for (uint64_t i = 0; i <= carried->pattern_mask; i++)
        if (carried->patterns[i].key)
            assert_int_equal(pm_carried_carrier(carried->patterns[i].key), PM_CARRIED_OUTSIDE);
    pm_carried_free(carried);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reuse_has_the_carrier_of_the_definition),
        cmocka_unit_test(two_loops_in_a_third),
        cmocka_unit_test(nothing_is_left_of_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
