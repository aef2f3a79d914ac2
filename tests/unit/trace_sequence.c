/* What a sequence is kept as stands for the sequence, number by number, and is short where it
   repeats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "runtime/mpi_events/sequence.h"

struct plain {
    PM_ARRAY(uint32_t, numbers);
};

static void expand(const struct pm_sequence *s, const struct pm_sequence_node *nodes, uint32_t n,
                   struct plain *to) {
    for (uint32_t i = 0; i < n; i++) {
        if (nodes[i].times == 0)
            *PM_PUSH(to, numbers) = nodes[i].item;
        for (uint32_t k = 0; k < nodes[i].times; k++) {
            uint32_t first = s->starts[nodes[i].item];
            expand(s, &s->bodies[first], s->starts[nodes[i].item + 1] - first, to);
        }
    }
}

/* Adds all of PLAIN, and compares; gives the nodes that are kept. */
static uint32_t keep(const struct plain *plain) {
    struct pm_sequence s = {0};
    struct plain back = {0};
    for (size_t i = 0; i < plain->n_numbers; i++)
        assert_true(pm_sequence_add(&s, plain->numbers[i]));
    assert_int_equal(s.n, plain->n_numbers);
    expand(&s, s.list, s.n_list, &back);
    assert_int_equal(back.n_numbers, plain->n_numbers);
    if (plain->n_numbers > 0)
        assert_memory_equal(back.numbers, plain->numbers, plain->n_numbers * 4);
    uint32_t kept = s.n_list + s.n_bodies;
    free(back.numbers);
    pm_sequence_free(&s);
    return kept;
}

static uint32_t seed;
static uint32_t below(uint32_t n) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

/* A loop nest of random shape, of at most some thousand numbers; now and then a body is not as it
   was before. */
static void add_nest(struct plain *plain, unsigned depth) {
    uint32_t times = 1 + below(12), length = 1 + below(4), kept_seed = seed;
    for (uint32_t i = 0; i < times && plain->n_numbers < 20000; i++) {
        seed = below(20) ? kept_seed : seed;
        for (uint32_t k = 0; k < length; k++) {
            if (depth > 0 && below(2))
                add_nest(plain, depth - 1);
            else
                *PM_PUSH(plain, numbers) = below(5);
        }
    }
    seed = kept_seed + times;
}

static void random_sequences_come_back(void **state) {
    (void)state;
    for (seed = 1; seed < 400; seed++) {
        struct plain plain = {0};
        uint32_t begun = seed, n = below(600), kinds = 1 + below(6);
        for (uint32_t i = 0; i < n; i++)
            *PM_PUSH(&plain, numbers) = below(kinds);
        keep(&plain);
        free(plain.numbers);
        seed = begun;
    }
}

static void nested_patterns_come_back(void **state) {
    (void)state;
    for (uint32_t i = 1; i < 300; i++) {
        struct plain plain = {0};
        seed = i * 7919;
        add_nest(&plain, i % 5);
        add_nest(&plain, 2);
        keep(&plain);
        free(plain.numbers);
    }
}

/* 200 times: 30 times two numbers, 10 others, and 7 times one: some 25 nodes of 14,000. */
static void loops_become_short(void **state) {
    (void)state;
    struct plain plain = {0};
    for (uint32_t i = 0; i < 200; i++) {
        for (uint32_t k = 0; k < 60; k++)
            *PM_PUSH(&plain, numbers) = k % 2;
        for (uint32_t k = 0; k < 10; k++)
            *PM_PUSH(&plain, numbers) = 10 + k;
        for (uint32_t k = 0; k < 7; k++)
            *PM_PUSH(&plain, numbers) = 3;
    }
    uint32_t kept = keep(&plain);
    print_message("%u nodes of %zu\n", kept, plain.n_numbers);
    assert_true(kept < 40);
    free(plain.numbers);
}

/* A prelude, then steps whose loops grow: no two are alike, but each is short. */
static void growing_loops_stay_short(void **state) {
    (void)state;
    struct plain plain = {0};
    for (uint32_t i = 0; i < 50; i++)
        *PM_PUSH(&plain, numbers) = 1000 + i;
    for (uint32_t i = 1; i < 100; i++) {
        for (uint32_t k = 0; k < i; k++) {
            *PM_PUSH(&plain, numbers) = 1;
            *PM_PUSH(&plain, numbers) = 2;
        }
        *PM_PUSH(&plain, numbers) = 5;
    }
    uint32_t kept = keep(&plain);
    print_message("%u nodes of %zu\n", kept, plain.n_numbers);
    assert_true(kept < 500);
    free(plain.numbers);
}

static void one_number_is_one_loop(void **state) {
    (void)state;
    struct plain plain = {0};
    for (uint32_t i = 0; i < 100000; i++)
        *PM_PUSH(&plain, numbers) = 4;
    assert_int_equal(keep(&plain), 2);
    free(plain.numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sequences_come_back), cmocka_unit_test(nested_patterns_come_back),
        cmocka_unit_test(loops_become_short),         cmocka_unit_test(growing_loops_stay_short),
        cmocka_unit_test(one_number_is_one_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
