/* What operations need on machines that say more than units and latencies: alternatives, fusion,
   elimination, bypasses, instructions by mnemonic, and operations of another ISA. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/sched_example.h"

enum { FLAGS = 32, FIRST_MASK = 72 };

/* Of the machine below, with MORE outside sections and the sections SECTIONS. */
#define WITH(more, sections) TOP_LINES("512", "true", "true", more) UNITS COSTS LEVELS sections

/* An operation of the instruction that was added last. */
static struct pm_op *add_to(struct program *p, enum pm_op_class op_class, uint8_t def, uint8_t use1,
                            uint8_t use2) {
    struct pm_op *op = add(p, op_class, def, use1, use2);
    op->instruction_start = 0;
    p->structure->blocks[p->filling].n_instructions--;
    return op;
}

/* Halves on a and b together, or on c: 5 operations take 2.5 cycles, and with 3 on {c} alone
   the 5 take a and b five times at most, min over x of max(5 − x, 3 + x) = 4. */
static void the_better_alternative_is_chosen(void **state) {
    (void)state;
    for (int n_other = 0; n_other <= 3; n_other += 3) {
        struct program p = make_program();
        fill(&p, INNER);
        for (int i = 0; i < 5; i++)
            add(&p, PM_OP_SHUFFLE, 40, 50, 51);
        for (int i = 0; i < n_other; i++)
            add(&p, PM_OP_MASK, 40, 50, 51);
        const struct pm_scope_prediction *s =
            predict(&p, WITH("", "cost { of = {shuffle} latency = 1 uses = {\"a + b\", c} }\n"
                                 "cost { of = {mask} latency = 1 units = {c} }\n"));
        double cycles = s[SCOPE_INNER].self.schedule_cycles / s[SCOPE_INNER].iterations;
        assert_true(cycles >= (n_other ? 4 : 2.5) && cycles < (n_other ? 4.4 : 2.75));
        free_program(&p);
    }
}

/* Twice unit a for 3 cycles, and any of b and c: a is busy for 6. */
static void a_reservation_table_takes_all_its_terms(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_SHUFFLE, 40, 50, 51);
    const struct pm_scope_prediction *s =
        predict(&p, WITH("", "cost { of = {shuffle} latency = 9 uses = {\"2*a:3 + b|c@6\"} }\n"));
    assert_near(s[SCOPE_INNER].resource_cycles_per_iteration, 6);
    free_program(&p);
}

static void compare_and_branch(struct program *p) {
    fill(p, INNER);
    add(p, PM_OP_INT_ADD, 3, 1, NO);
    add(p, PM_OP_INT_ADD, 4, 2, NO);
    add(p, PM_OP_INT_ADD, 1, 1, NO)->defs[1] = FLAGS;
    add(p, PM_OP_BRANCH, NO, FLAGS, NO);
}

static void what_fuses_with_a_branch_takes_nothing(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        double cycles;
    } cases[] = {{WITH("", ""), 2},
                 {WITH("fuses_branch = {int_add}", ""), 1.5},
                 {WITH("fuses_branch = {int_compare}", ""), 2}};
    for (int i = 0; i < 3; i++) {
        struct program p = make_program();
        compare_and_branch(&p);
        const struct pm_scope_prediction *s = predict(&p, cases[i].machine);
        assert_near(s[SCOPE_INNER].resource_cycles_per_iteration, cases[i].cycles);
        free_program(&p);
    }
}

/* x ← x + c through a copy: 2 cycles, 1 where renaming copies. */
static void an_eliminated_move_has_no_latency(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        double cycles;
    } cases[] = {
        {WITH("", "cost { of = {move_int} latency = 1 units = {b} }\n"), 2},
        {WITH("eliminates = {moves}", "cost { of = {move_int} latency = 1 units = {b} }\n"), 1},
        {WITH("eliminates = {zeroing}", "cost { of = {move_int} latency = 1 units = {b} }\n"), 2}};
    for (int i = 0; i < 3; i++) {
        struct program p = make_program();
        fill(&p, INNER);
        add(&p, PM_OP_MOVE_INT, 2, 1, NO);
        add(&p, PM_OP_INT_ADD, 1, 2, NO);
        const struct pm_scope_prediction *s = predict(&p, cases[i].machine);
        assert_near(s[SCOPE_INNER].recurrence_cycles_per_iteration, cases[i].cycles);
        free_program(&p);
    }
}

/* x ← (x + c) · c: 3 + 5 cycles. */
static void a_bypass_changes_the_latency_between_two_kinds(void **state) {
    (void)state;
    static const struct {
        const char *sections;
        double cycles;
    } cases[] = {
        {"", 8},
        {"bypass { from = {fp_add} to = {fp_mult} latency = 2 }\n", 7},
        {"bypass { from = {fp_mult} to = {fp_add} extra = 2 }\n", 10},
        {"bypass { from = {fp_mult} to = {fp_mult} extra = 2 }\n", 8},
        {"cost { of = {fp_mult} width = 64 latency = 5 units = {a} domain = \"far\" }\n"
         "bypass { from = {far} to = {fp_add} extra = -1 }\n",
         7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct program p = make_program();
        fill(&p, INNER);
        add(&p, PM_OP_FP_ADD, 40, 41, 50);
        add(&p, PM_OP_FP_MULT, 41, 40, 51);
        char text[8192];
        snprintf(text, sizeof text, "%s%s", WITH("", ""), cases[i].sections);
        const struct pm_scope_prediction *s = predict(&p, text);
        assert_near(s[SCOPE_INNER].recurrence_cycles_per_iteration, cases[i].cycles);
        free_program(&p);
    }
}

static void set_mnemonic(struct program *p, struct pm_op *op, const char *mnemonic) {
    *PM_PUSH(p->structure, mnemonics) = pm_strdup(mnemonic);
    op->mnemonic = (uint32_t)p->structure->n_mnemonics;
}

/* A row of a mnemonic stands for all operations of the instruction but its loads. */
static void a_row_of_a_mnemonic_counts_more_than_those_of_classes(void **state) {
    (void)state;
    static const char *const isas[] = {"x86-64", "mips"};
    static const double cycles[] = {7, 1}; /* classes: a, then a or b; a load */
    for (int i = 0; i < 2; i++) {
        struct program p = make_program();
        p.structure->isa = pm_strdup("x86-64");
        fill(&p, INNER);
        struct pm_op *load = add(&p, PM_OP_LOAD_FP, 120, 1, NO);
        set_mnemonic(&p, load, "dppd");
        struct pm_op *first = add_to(&p, PM_OP_FP_MULT, 121, 120, 41);
        first->mnemonic = 1;
        add_to(&p, PM_OP_FP_ADD, 41, 121, 41)->mnemonic = 1;
        char more[64], text[8192];
        snprintf(more, sizeof more, "isa = \"%s\" ", isas[i]);
        snprintf(text, sizeof text, "%s%s%s", more, WITH("", ""),
                 "cost { mnemonic = {dppd} latency = 9 uses = {\"a:7\"} }\n");
        const struct pm_scope_prediction *s = predict(&p, text);
        assert_near(s[SCOPE_INNER].resource_cycles_per_iteration, cycles[i]);
        free_program(&p);
    }
}

/* What becomes of x86 code on a load-store machine that has no index registers, no flags, no masks
   and no pushes: each line names what is added, and the cycles of unit b and c for it. */
static void a_foreign_operation_adds_what_the_table_says(void **state) {
    (void)state;
    static const char *const table[] = {
        "foreign memory_operand { adds = {logical} }\n",
        "foreign indexed_address { adds = {int_add} }\n",
        "foreign push { adds = {int_add, int_add} }\n",
        "foreign flags { adds = {logical, logical} }\n",
        "foreign mask { adds = {logical, logical, logical} }\n",
        "foreign gather { adds = {int_add} }\ncost { of = {gather} latency = 4 units = {mem} }\n",
        "foreign scatter { adds = {int_add} }\ncost { of = {scatter} latency = 4 units = {mem} }\n",
        "foreign multiply_add { adds = {logical} }\n"};
    static const double added[] = {1, 1, 2, 2, 3, 1, 1, 1};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        for (int is_foreign = 0; is_foreign < 2; is_foreign++) {
            struct program p = make_program();
            p.structure->isa = pm_strdup("x86-64");
            fill(&p, INNER);
            struct pm_op *op;
            switch (i) {
            case 0:
                add(&p, PM_OP_LOAD_FP, 120, 1, NO);
                add_to(&p, PM_OP_FP_MULT, 40, 120, 41);
                break;
            case 1:
                add(&p, PM_OP_LOAD_FP, 40, 1, 2);
                break;
            case 2:
                *PM_PUSH(p.structure, groups) =
                    (struct pm_group){.scope = SCOPE_INNER, .flags = PM_GROUP_PUSHED};
                *PM_PUSH(p.structure, references) = (struct pm_reference){.block = INNER};
                op = add(&p, PM_OP_LOAD_INT, 3, 4, NO);
                op->reference = 0;
                break;
            case 3:
                add(&p, PM_OP_FP_MULT, 40, 41, FLAGS);
                break;
            case 4:
                add(&p, PM_OP_FP_MULT, 40, 41, FIRST_MASK);
                break;
            case 5:
                add(&p, PM_OP_GATHER, 40, 1, NO);
                break;
            case 6:
                add(&p, PM_OP_SCATTER, NO, 40, 1);
                break;
            default:
                add(&p, PM_OP_FP_FMA, 40, 41, 42);
            }
            char text[8192];
            snprintf(text, sizeof text, "isa = %s %s%s", is_foreign ? "mips" : "\"x86-64\"",
                     WITH("", ""), table[i]);
            const struct pm_scope_prediction *s = predict(&p, text);
            double slots = i == 0 ? 2 : 1, on_b_and_c = is_foreign ? added[i] / 2 : 0;
            double others = i == 5 || i == 6 || i < 3 ? 1 : i == 7 ? 0.5 : 1;
            double expected =
                fmax(fmax(others, on_b_and_c), (slots + (is_foreign ? added[i] : 0)) / 8);
            if (i == 7 && is_foreign) /* {a, b} and {b, c}: 2 on three units */
                expected = 2.0 / 3;
            if (fabs(s[SCOPE_INNER].resource_cycles_per_iteration - expected) > 1e-9)
                fail_msg("%s: %g cycles, not %g", table[i],
                         s[SCOPE_INNER].resource_cycles_per_iteration, expected);
            free_program(&p);
        }
}

/* Of two unverified figures the one that everything hangs on is named; one that nothing is
   executed on is not counted. */
static void what_is_doubtful_and_matters_is_named(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_SHUFFLE, 40, 40, NO);
    predict(&p, WITH("", "cost { of = {shuffle} latency = 10 units = {a} "
                         "not_verified = {latency} }\n"
                         "cost { of = {mask} latency = 1 units = {c} verified = false }\n"));
    assert_int_equal(p.prediction->n_unverified, 1);
    assert_int_equal(p.prediction->n_doubts, 1);
    assert_string_equal(p.prediction->doubts[0].name, "shuffle.latency");
    assert_string_equal(p.prediction->doubts[0].value, "10 cycles");
    assert_true(fabs(p.prediction->doubts[0].elasticity - 1) < 0.02); /* filling takes a little */
    assert_true(has_note(p.prediction, "1 figure of machine file sched that the times come from "
                                       "is unverified; most hangs on shuffle.latency = 10 "
                                       "cycles (10% more: +10% time)."));
    free_program(&p);
}

/* Misses cost 10 · 0.5 cycles each in L1, of which the penalty is unverified, and 100 in L2. */
static void a_doubtful_penalty_has_its_share_of_the_time(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_NOP, NO, NO, NO);
    const double bins[][2] = {{500, 100}};
    add_group(&p, SCOPE_INNER, 64, 0, 1, bins);
    predict(&p, TOP_LINES("64", "true", "true", "") UNITS COSTS
            "cache L1 { size = 6400 line = 64 ways = 0 latency = 4 miss_penalty = 10 exposed = 0.5"
            " not_verified = {miss_penalty, latency} }\n"
            "cache L2 { size = 64000 line = 64 ways = 0 latency = 14 miss_penalty = 100"
            " exposed = 1 }\n");
    double cycles = p.prediction->scopes[0].total.cycles;
    assert_near(p.prediction->scopes[0].total.level_cycles[0], 500);
    assert_int_equal(p.prediction->n_unverified, 1);
    assert_string_equal(p.prediction->doubts[0].name, "L1.miss_penalty");
    assert_near(p.prediction->doubts[0].elasticity, 500 / cycles);
    free_program(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_better_alternative_is_chosen),
        cmocka_unit_test(a_reservation_table_takes_all_its_terms),
        cmocka_unit_test(what_fuses_with_a_branch_takes_nothing),
        cmocka_unit_test(an_eliminated_move_has_no_latency),
        cmocka_unit_test(a_bypass_changes_the_latency_between_two_kinds),
        cmocka_unit_test(a_row_of_a_mnemonic_counts_more_than_those_of_classes),
        cmocka_unit_test(a_foreign_operation_adds_what_the_table_says),
        cmocka_unit_test(what_is_doubtful_and_matters_is_named),
        cmocka_unit_test(a_doubtful_penalty_has_its_share_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
