/* Who carries reuses, and what is called in a scope: beside the definition, which follows each path
   of calls on its own, where no routine calls itself; and that the cost of it does not grow with
   the number of paths, where they do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "fit/sets/private.h"
#include "tests/unit/uniform.h"

enum { MOST_ROUTINES = 9, ROUNDS = 300, N_CELLS = 40 };

/* Routine r is scope r + 1, and has group r. */
struct program {
    struct pm_structure *structure;
    struct pm_profile profile;
    double *executions;
    struct pm_distance_cells *groups;
    bool *is_random;
    struct pm_carriers *carriers;
};

static uint32_t below(uint32_t n) { return (uint32_t)uniform(0, n); }

static void add_call(struct program *p, uint32_t callee, double executions) {
    struct pm_structure *s = p->structure;
    uint32_t routine = (uint32_t)s->n_routines - 1, block = (uint32_t)s->n_blocks;
    *PM_PUSH(s, blocks) = (struct pm_block){.scope = routine + 1, .loop = PM_NONE};
    s->routines[routine].n_blocks++;
    *PM_PUSH(s, calls) = (struct pm_call){block, callee};
    p->executions = pm_realloc(p->executions, s->n_blocks, sizeof(double));
    p->executions[block] = executions;
}

static void add_routine(struct program *p) {
    struct pm_structure *s = p->structure;
    if (!s->n_scopes)
        *PM_PUSH(s, scopes) =
            (struct pm_scope){.kind = PM_SCOPE_PROGRAM, .parent = PM_NONE, .routine = PM_NONE};
    *PM_PUSH(s, scopes) =
        (struct pm_scope){.kind = PM_SCOPE_ROUTINE, .routine = (uint32_t)s->n_routines};
    *PM_PUSH(s, groups) = (struct pm_group){.scope = (uint32_t)s->n_scopes - 1};
    *PM_PUSH(s, edges) =
        (struct pm_edge){.from = PM_NONE, .to = (uint32_t)s->n_blocks, .kind = PM_EDGE_ENTRY};
    *PM_PUSH(s, routines) = (struct pm_routine){.scope = (uint32_t)s->n_scopes - 1,
                                                .first_block = (uint32_t)s->n_blocks,
                                                .first_edge = (uint32_t)s->n_edges - 1,
                                                .n_edges = 1};
}

/* What the calls leave to be said: entries, and reuses at some distances. */
static void finish_program(struct program *p) {
    const struct pm_structure *s = p->structure;
    p->profile.edge_counts = pm_alloc(s->n_edges, sizeof(double));
    p->profile.edge_counts[0] = 1;
    for (size_t c = 0; c < s->n_calls; c++)
        p->profile.edge_counts[s->calls[c].routine] += p->executions[s->calls[c].block];
    p->groups = pm_alloc(s->n_groups, sizeof *p->groups);
    p->is_random = pm_alloc(s->n_groups, sizeof *p->is_random);
    for (uint32_t g = 0; g < s->n_groups; g++) {
        p->groups[g].always_missing = below(4);
        for (uint32_t cell = 1 + below(5); cell < N_CELLS; cell += 1 + below(9))
            *PM_PUSH(&p->groups[g], cells) =
                (struct pm_distance_cell){cell, uniform(1, 500), pm_distance_begin(cell)};
    }
    p->carriers = pm_carriers_new(s, &p->profile, p->executions, p->groups, p->is_random, N_CELLS);
}

static struct program *program_new(void) {
    struct program *p = pm_alloc(1, sizeof *p);
    p->structure = pm_structure_new();
    return p;
}

static void program_free(struct program *p) {
    pm_carriers_free(p->carriers);
    for (uint32_t g = 0; g < p->structure->n_groups; g++)
        free(p->groups[g].cells);
    free(p->groups);
    free(p->is_random);
    free(p->profile.edge_counts);
    free(p->executions);
    pm_structure_free(p->structure);
    free(p);
}

static double called(const struct program *p, uint32_t routine) {
    return p->profile.edge_counts[routine];
}

/* Each routine calls some of those behind it, from one place or several, about equally often:
   callers with less than a hundredth of the calls would be left out. */
static struct program *random_program(void) {
    struct program *p = program_new();
    uint32_t n = 2 + below(MOST_ROUTINES - 1);
    for (uint32_t r = 0; r < n; r++) {
        add_routine(p);
        if (r + 1 < n)
            add_call(p, r + 1, 10 + below(10));
        for (uint32_t more = below(4); more > 0 && r + 1 < n; more--)
            add_call(p, r + 1 + below(n - r - 1), 10 + below(10));
    }
    finish_program(p);
    return p;
}

/* ---- the definition ----------------------------------------------------------------------------
 */

/* The share of the executions of ROUTINE that are in routine CARRIER. */
static double share_by_paths(const struct program *p, uint32_t carrier, uint32_t routine) {
    double share = routine == carrier ? 1 : 0;
    for (size_t c = 0; routine != carrier && c < p->structure->n_calls; c++) {
        const struct pm_call *call = &p->structure->calls[c];
        if (call->routine == routine)
            share += p->executions[call->block] / called(p, routine) *
                     share_by_paths(p, carrier, p->structure->blocks[call->block].scope - 1);
    }
    return share;
}

/* Adds to SHARES [scope] that of each carrier of reuses in ROUTINE. */
static void find_by_paths(const struct program *p, uint32_t routine, size_t cell, double share,
                          double *shares) {
    const struct pm_carrier *carrier = pm_carrier_of(p->carriers, routine + 1);
    bool is_called = false;
    if (carrier->window[cell] <= 1.02 * carrier->accesses / carrier->entries) {
        shares[routine + 1] += share;
        return;
    }
    for (size_t c = 0; c < p->structure->n_calls; c++) {
        const struct pm_call *call = &p->structure->calls[c];
        if (call->routine != routine)
            continue;
        is_called = true;
        find_by_paths(p, p->structure->blocks[call->block].scope - 1, cell,
                      share * p->executions[call->block] / called(p, routine), shares);
    }
    shares[0] += is_called ? 0 : share;
}

/* Who carries them, as [scope]; the sum of the shares must be 1. */
static void find(const struct program *p, uint32_t routine, size_t cell, double *shares) {
    struct pm_carried_parts parts = {0};
    double sum = 0;
    pm_carriers_find(p->carriers, routine + 1, cell, &parts);
    for (size_t i = 0; i < parts.n_parts; i++) {
        shares[parts.parts[i].scope] += parts.parts[i].share;
        sum += parts.parts[i].share;
    }
    assert_true(fabs(sum - 1) < 1e-9);
    free(parts.parts);
}

static void shares_are_those_of_all_paths_of_calls(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct program *p = random_program();
        const uint32_t n = (uint32_t)p->structure->n_routines;
        for (uint32_t carrier = 0; carrier < n; carrier++)
            for (uint32_t r = 0; r < n; r++)
                assert_true(fabs(pm_carrier_share(p->carriers,
                                                  pm_carrier_of(p->carriers, carrier + 1), r + 1) -
                                 share_by_paths(p, carrier, r)) < 1e-9);
        program_free(p);
    }
}

static void carriers_are_those_of_all_paths_of_calls(void **state) {
    (void)state;
    uint32_t carried_by_many = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct program *p = random_program();
        for (uint32_t r = 0; r < p->structure->n_routines; r++)
            for (size_t cell = 1; cell < N_CELLS; cell += 3) {
                double expected[MOST_ROUTINES + 2] = {0}, found[MOST_ROUTINES + 2] = {0};
                uint32_t carriers = 0;
                find_by_paths(p, r, cell, 1, expected);
                find(p, r, cell, found);
                for (uint32_t s = 0; s < p->structure->n_scopes; s++) {
                    assert_true(fabs(found[s] - expected[s]) < 1e-4);
                    carriers += expected[s] > 0.05;
                }
                carried_by_many += carriers > 1;
            }
        program_free(p);
    }
    assert_true(carried_by_many > ROUNDS);
}

/* ---- recursion ---------------------------------------------------------------------------------
 */

/* main calls a routine, which calls itself from N places.  All that is in it is in its only entry
   from outside. */
static void a_recursion_is_in_the_entry_from_outside(void **state) {
    (void)state;
    for (uint32_t places = 1; places < 200; places = 2 * places + 1) {
        struct program *p = program_new();
        add_routine(p);
        add_call(p, 1, 1);
        add_routine(p);
        for (uint32_t i = 0; i < places; i++)
            add_call(p, 1, 1000);
        finish_program(p);
        assert_true(fabs(pm_carrier_share(p->carriers, pm_carrier_of(p->carriers, 1), 2) - 1) <
                    1e-9);
        for (size_t cell = 1; cell < N_CELLS; cell++) {
            double found[3] = {0};
            find(p, 1, cell, found);
            const struct pm_carrier *recursion = pm_carrier_of(p->carriers, 2);
            assert_true((found[2] == 1) == (recursion->window[cell] <= 1.02 * recursion->accesses));
        }
        program_free(p);
    }
}

/* Of N routines each calls all, itself too: N to the power of the depth paths. */
static void routines_that_all_call_each_other_are_one(void **state) {
    enum { N = 60 };
    (void)state;
    struct program *p = program_new();
    add_routine(p);
    add_call(p, 1, 3);
    add_call(p, N, 1);
    for (uint32_t r = 0; r < N; r++) {
        add_routine(p);
        for (uint32_t callee = 1; callee <= N; callee++)
            add_call(p, callee, 1 + below(3));
    }
    finish_program(p);
    for (uint32_t r = 1; r <= N; r++)
        assert_true(fabs(pm_carrier_share(p->carriers, pm_carrier_of(p->carriers, 1), r + 1) - 1) <
                    1e-9);
    for (size_t cell = 1; cell < N_CELLS; cell++) {
        double found[N + 2] = {0};
        find(p, 7, cell, found);
    }
    program_free(p);
}

/* Each of LAYERS times WIDTH routines calls all of the next layer: WIDTH to the power of LAYERS
 * paths. */
static void the_cost_does_not_grow_with_the_number_of_paths(void **state) {
    enum { LAYERS = 40, WIDTH = 10 };
    (void)state;
    struct program *p = program_new();
    add_routine(p);
    for (uint32_t w = 0; w < WIDTH; w++)
        add_call(p, 1 + w, 1);
    for (uint32_t r = 0; r < LAYERS * WIDTH; r++) {
        add_routine(p);
        for (uint32_t w = 0; r / WIDTH + 1 < LAYERS && w < WIDTH; w++)
            add_call(p, 1 + (r / WIDTH + 1) * WIDTH + w, 1 + below(3));
    }
    finish_program(p);
    const uint32_t last = LAYERS * WIDTH;
    assert_true(fabs(pm_carrier_share(p->carriers, pm_carrier_of(p->carriers, 1), last + 1) - 1) <
                1e-9);
    for (size_t cell = 1; cell < N_CELLS; cell++) {
        double found[LAYERS * WIDTH + 2] = {0};
        find(p, last, cell, found);
    }
    program_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_those_of_all_paths_of_calls),
        cmocka_unit_test(carriers_are_those_of_all_paths_of_calls),
        cmocka_unit_test(a_recursion_is_in_the_entry_from_outside),
        cmocka_unit_test(routines_that_all_call_each_other_are_one),
        cmocka_unit_test(the_cost_does_not_grow_with_the_number_of_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
