/* AArch64: control flow, registers, memory operands, definitions and classes of single
   instructions, each word as the assembler gives it (the text stands beside). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "binlift/code/code.h"
#include "binlift/isa.h"
#include "core/probe_abi.h"

#define X(n) (UINT64_C(1) << (n))
#define SP X(31)
#define NZCV (UINT64_C(0xf) << 32)
#define ADDRESS 0x10000u

struct decoded {
    struct pm_insn insn;
    struct pm_insn_parts parts;
    struct pm_definition definitions[PM_MOST_DEFINITIONS];
    unsigned n_definitions;
    uint8_t bytes[4];
};

static struct decoded decode(uint32_t word) {
    struct decoded d = {0};
    memcpy(d.bytes, &word, 4);
    assert_true(pm_isa_aarch64.decode(d.bytes, 4, ADDRESS, &d.insn, &d.parts));
    assert_int_equal(d.insn.length, 4);
    d.n_definitions = pm_isa_aarch64.define(d.bytes, &d.insn, d.definitions);
    return d;
}

static void check_registers(uint32_t word, uint64_t uses, uint64_t defs, uint32_t vector_uses,
                            uint32_t vector_defs) {
    struct decoded d = decode(word);
    assert_int_equal(d.parts.registers.uses.general, uses);
    assert_int_equal(d.parts.registers.defs.general, defs);
    assert_int_equal(d.parts.registers.uses.vector, vector_uses);
    assert_int_equal(d.parts.registers.defs.vector, vector_defs);
}

static void check_operand(uint32_t word, uint8_t base, int64_t displacement, uint8_t index,
                          uint8_t scale, unsigned size, unsigned access) {
    struct decoded d = decode(word);
    assert_int_equal(d.insn.n_memory, 1);
    assert_int_equal(d.parts.memory[0].base, base);
    assert_int_equal(d.parts.memory[0].displacement, displacement);
    assert_int_equal(d.parts.memory[0].index, index);
    if (index != PM_REGISTER_NONE)
        assert_int_equal(d.parts.memory[0].scale, scale);
    assert_int_equal(d.parts.memory[0].size_bytes, size);
    assert_int_equal(d.parts.memory[0].access, access);
}

/* The definition of PLACE is CONSTANT + FACTOR · TERM (TERM PM_REGISTER_NONE: no term). */
static void check_sum(uint32_t word, uint8_t place, int64_t constant, uint8_t term,
                      int64_t factor) {
    struct decoded d = decode(word);
    for (unsigned i = 0; i < d.n_definitions; i++) {
        const struct pm_definition *found = &d.definitions[i];
        if (found->place != place)
            continue;
        assert_int_equal(found->kind, PM_DEFINED_AS_SUM);
        assert_int_equal(found->constant, constant);
        assert_int_equal(found->n_terms, term == PM_REGISTER_NONE ? 0 : 1);
        if (found->n_terms) {
            assert_int_equal(found->terms[0].place, term);
            assert_int_equal(found->terms[0].factor, factor);
        }
        return;
    }
    fail_msg("0x%08x does not define place %u", word, place);
}

static void control_flow_and_targets(void **state) {
    (void)state;
    static const struct {
        uint32_t word;
        enum pm_control control;
        uint64_t target;
    } cases[] = {
        {0x14000004, PM_CONTROL_JUMP, ADDRESS + 16},  /* b */
        {0x97ffffff, PM_CONTROL_CALL, ADDRESS - 4},   /* bl */
        {0x54000041, PM_CONTROL_BRANCH, ADDRESS + 8}, /* b.ne */
        {0xb4ffffe0, PM_CONTROL_BRANCH, ADDRESS - 4}, /* cbz x0 */
        {0x37080041, PM_CONTROL_BRANCH, ADDRESS + 8}, /* tbnz w1, #1 */
        {0xd61f0200, PM_CONTROL_JUMP_INDIRECT, 0},    /* br x16 */
        {0xd63f0020, PM_CONTROL_CALL_INDIRECT, 0},    /* blr x1 */
        {0xd65f03c0, PM_CONTROL_RETURN, 0},           /* ret */
        {0xd65f0bff, PM_CONTROL_RETURN, 0},           /* retaa */
        {0xd4207d00, PM_CONTROL_STOP, 0},             /* brk #1000 */
        {0xd4000001, PM_CONTROL_NONE, 0},             /* svc #0 */
        {0xd503201f, PM_CONTROL_NONE, 0},             /* nop */
        {0x8b020020, PM_CONTROL_NONE, 0},             /* add x0, x1, x2 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct decoded d = decode(cases[i].word);
        assert_int_equal(d.insn.control, cases[i].control);
        assert_int_equal(d.insn.target, cases[i].target);
        assert_int_equal(d.insn.is_nop, cases[i].word == 0xd503201f);
    }
}

static void registers(void **state) {
    (void)state;
    check_registers(0x8b020020, X(1) | X(2), X(0), 0, 0);         /* add x0, x1, x2 */
    check_registers(0x910043ff, SP, SP, 0, 0);                    /* add sp, sp, #16 */
    check_registers(0xf100041f, X(0), NZCV, 0, 0);                /* cmp x0, #1 */
    check_registers(0xaa0103e0, X(1), X(0), 0, 0);                /* mov x0, x1 */
    check_registers(0xf2a00020, X(0), X(0), 0, 0);                /* movk x0, #1, lsl #16 */
    check_registers(0x9b020c20, X(1) | X(2) | X(3), X(0), 0, 0);  /* madd x0, x1, x2, x3 */
    check_registers(0x9a821020, X(1) | X(2) | X(33), X(0), 0, 0); /* csel x0, x1, x2, ne */
    check_registers(0xfa420820, X(1) | X(33), NZCV, 0, 0);        /* ccmp x1, #2, #0, eq */
    check_registers(0x94000000, 0, X(30), 0, 0);                  /* bl */
    check_registers(0x1e622820, 0, 0, X(1) | X(2), X(0));         /* fadd d0, d1, d2 */
    check_registers(0x1f420c20, 0, 0, X(1) | X(2) | X(3), X(0));  /* fmadd d0, d1, d2, d3 */
    check_registers(0x4e62cc20, 0, 0, X(0) | X(1) | X(2), X(0));  /* fmla v0.2d, v1.2d, v2.2d */
    check_registers(0x4e62d420, 0, 0, X(1) | X(2), X(0));         /* fadd v0.2d, v1.2d, v2.2d */
    check_registers(0x9e670020, X(1), 0, 0, X(0));                /* fmov d0, x1 */
    check_registers(0x9e780020, 0, X(0), X(1), 0);                /* fcvtzs x0, d1 */
    check_registers(0x1e622020, 0, NZCV, X(1) | X(2), 0);         /* fcmp d1, d2 */
    check_registers(0x6e180420, 0, 0, X(0) | X(1), X(0));         /* mov v0.d[1], v1.d[0] */
    check_registers(0xa9417bfd, SP, X(29) | X(30), 0, 0);         /* ldp x29, x30, [sp, #16] */
    check_registers(0xf8408420, X(1), X(0) | X(1), 0, 0);         /* ldr x0, [x1], #8 */
    check_registers(0xc8017c43, X(2) | X(3), X(1), 0, 0);         /* stxr w1, x3, [x2] */
    check_registers(0xf8e20023, X(1) | X(2), X(3), 0, 0);         /* ldaddal x2, x3, [x1] */
    check_registers(0x4cdf0020, X(1), X(1), 0, X(0) | X(1) | X(2) | X(3)); /* ld4, [x1], #64 */
    check_registers(0x25e10c00, X(0) | X(1), X(40) | NZCV, 0, 0); /* whilelo p0.d, w0, w1 */
    check_registers(0x04f0e3e2, X(2), X(2), 0, 0);                /* incd x2 */
}

static void memory_operands(void **state) {
    (void)state;
    const unsigned load = PM_ACCESS_LOAD, store = PM_ACCESS_STORE;
    const uint8_t none = PM_REGISTER_NONE;
    check_operand(0xf9400821, 1, 16, none, 1, 8, load);     /* ldr x1, [x1, #16] */
    check_operand(0xf85f8020, 1, -8, none, 1, 8, load);     /* ldur x0, [x1, #-8] */
    check_operand(0xf8408420, 1, 0, none, 1, 8, load);      /* ldr x0, [x1], #8 */
    check_operand(0xf8408c20, 1, 8, none, 1, 8, load);      /* ldr x0, [x1, #8]! */
    check_operand(0xa9bd7bfd, 31, -48, none, 1, 16, store); /* stp x29, x30, [sp, #-48]! */
    check_operand(0xa8c37bfd, 31, 0, none, 1, 16, load);    /* ldp x29, x30, [sp], #48 */
    check_operand(0x69410821, 1, 8, none, 1, 8, load);      /* ldpsw x1, x2, [x1, #8] */
    check_operand(0xb8627820, 1, 0, 2, 4, 4, load);         /* ldr w0, [x1, x2, lsl #2] */
    check_operand(0x38626820, 1, 0, 2, 1, 1, load);         /* ldrb w0, [x1, x2] */
    check_operand(0x7822d820, 1, 0, 2, 2, 2, store);        /* strh w0, [x1, w2, sxtw #1] */
    check_operand(0x3dc00420, 1, 16, none, 1, 16, load);    /* ldr q0, [x1, #16] */
    check_operand(0xac810420, 1, 0, none, 1, 32, store);    /* stp q0, q1, [x1], #32 */
    check_operand(0x58000040, PM_REGISTER_PC, ADDRESS + 8, none, 1, 8, load); /* ldr x0, label */
    check_operand(0x4cdf7020, 1, 0, none, 1, 16, load);        /* ld1 {v0.16b}, [x1], #16 */
    check_operand(0x4c000420, 1, 0, none, 1, 64, store);       /* st4 {v0.8h-v3.8h}, [x1] */
    check_operand(0x0d408420, 1, 0, none, 1, 8, load);         /* ld1 {v0.d}[0], [x1] */
    check_operand(0x4d40cc20, 1, 0, none, 1, 8, load);         /* ld1r {v0.2d}, [x1] */
    check_operand(0xf8e20023, 1, 0, none, 1, 8, load | store); /* ldaddal x2, x3, [x1] */
    check_operand(0xa5e04020, 1, 0, 0, 8, 8, load);  /* ld1d z0.d, p0/z, [x1, x0, lsl #3] */
    check_operand(0xe5e04020, 1, 0, 0, 8, 8, store); /* st1d z0.d, p0, [x1, x0, lsl #3] */
    assert_int_equal(decode(0xa5e04020).parts.memory[0].kind, PM_ACCESS_MASK_K);
    assert_int_equal(decode(0xf9800020).insn.n_memory, 0); /* prfm pldl1keep, [x1] */
}

static void definitions(void **state) {
    (void)state;
    const uint8_t none = PM_REGISTER_NONE;
    check_sum(0x91004020, 0, 16, 1, 1);                  /* add x0, x1, #16 */
    check_sum(0xd1404020, 0, -0x10000, 1, 1);            /* sub x0, x1, #16, lsl #12 */
    check_sum(0xf1000c3f, PM_PLACE_FLAGS, -3, 1, 1);     /* cmp x1, #3 */
    check_sum(0xaa0103e0, 0, 0, 1, 1);                   /* mov x0, x1 */
    check_sum(0xcb0103e0, 0, 0, 1, -1);                  /* neg x0, x1 */
    check_sum(0xd37df020, 0, 0, 1, 8);                   /* lsl x0, x1, #3 */
    check_sum(0x937d7c20, 0, 0, 1, 8);                   /* sbfiz x0, x1, #3, #32 */
    check_sum(0x93407c20, 0, 0, 1, 1);                   /* sxtw x0, w1 */
    check_sum(0xd2a00020, 0, 0x10000, none, 0);          /* mov x0, #0x10000 */
    check_sum(0x12800000, 0, -1, none, 0);               /* mov w0, #-1 */
    check_sum(0xb27d7be0, 0, 0x3fffffff8, none, 0);      /* mov x0, #0x3fffffff8 */
    check_sum(0xb0000000, 0, ADDRESS + 0x1000, none, 0); /* adrp x0, next page */
    check_sum(0x10000060, 0, ADDRESS + 12, none, 0);     /* adr x0, . + 12 */
    check_sum(0xf8408420, 1, 8, 1, 1);                   /* ldr x0, [x1], #8: x1 */
    check_sum(0xf8408420, 0, 0, PM_PLACE_MEMORY, 1);     /* the same: x0 */
    check_sum(0xf81f0c20, PM_PLACE_MEMORY, 0, 0, 1);     /* str x0, [x1, #-16]! */
    check_sum(0xf81f0c20, 1, -16, 1, 1);
    check_sum(0xa9bd7bfd, 31, -48, 31, 1);          /* stp x29, x30, [sp, #-48]! */
    check_sum(0x4cdf7020, 1, 16, 1, 1);             /* ld1 {v0.16b}, [x1], #16 */
    check_sum(0xb4000040, PM_PLACE_FLAGS, 0, 0, 1); /* cbz x0 */
    struct decoded sum = decode(0x8b22cc20);        /* add x0, x1, w2, sxtw #3 */
    assert_int_equal(sum.definitions[0].n_terms, 2);
    assert_int_equal(sum.definitions[0].terms[1].factor, 8);
    struct decoded field = decode(0x53001c20); /* uxtb w0, w1: not the value of w1 */
    assert_int_equal(field.definitions[0].kind, PM_DEFINED_OTHERWISE);
    struct decoded patch = decode(0xf2a00020); /* movk x0, #1, lsl #16 */
    assert_int_equal(patch.definitions[0].kind, PM_DEFINED_AS_CONSTANT_WITH);
    assert_int_equal(patch.definitions[0].terms[0].factor, 0xffff0000);
    assert_int_equal(patch.definitions[0].constant, 0x10000);
    struct decoded product = decode(0x9b028c20); /* msub x0, x1, x2, x3 */
    assert_int_equal(product.definitions[0].kind, PM_DEFINED_AS_PRODUCT);
    assert_int_equal(product.definitions[0].n_terms, 3);
    assert_int_equal(product.definitions[0].terms[0].factor, -1);
    struct decoded quotient = decode(0xd343fc20); /* lsr x0, x1, #3 */
    assert_int_equal(quotient.definitions[0].kind, PM_DEFINED_AS_QUOTIENT);
    assert_int_equal(quotient.definitions[0].constant, 8);
}

static void conditions(void **state) {
    (void)state;
    static const struct {
        uint32_t word;
        enum pm_condition condition;
    } cases[] = {
        {0x54000040, PM_IF_EQUAL},            /* b.eq */
        {0x54000048, PM_IF_GREATER},          /* b.hi */
        {0x54000043, PM_IF_LESS},             /* b.lo */
        {0x5400004d, PM_IF_LESS_OR_EQUAL},    /* b.le */
        {0x54000046, PM_IF_UNKNOWN},          /* b.vs */
        {0xb5000040, PM_IF_NOT_EQUAL},        /* cbnz x0 */
        {0xb6f80040, PM_IF_GREATER_OR_EQUAL}, /* tbz x0, #63 */
        {0x36080040, PM_IF_UNKNOWN},          /* tbz w0, #1 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct decoded d = decode(cases[i].word);
        assert_int_equal(pm_isa_aarch64.condition(d.bytes, &d.insn), cases[i].condition);
    }
}

static void what_is_no_instruction(void **state) {
    (void)state;
    struct pm_insn insn;
    struct pm_insn_parts parts;
    const uint8_t zero[4] = {0}, nop[4] = {0x1f, 0x20, 0x03, 0xd5};
    assert_false(pm_isa_aarch64.decode(zero, 4, ADDRESS, &insn, &parts));
    assert_false(pm_isa_aarch64.decode(nop, 3, ADDRESS, &insn, &parts));
    assert_false(pm_isa_aarch64.decode(nop, 4, ADDRESS + 2, &insn, &parts));
    assert_true(pm_isa_aarch64.decode(nop, 4, ADDRESS, &insn, &parts));
}

/* Vector registers that the operations of an instruction define, or use. */
static uint32_t vectors_of_operations(uint32_t word, bool defined) {
    enum { FIRST_VECTOR = 40, N_VECTORS = 32 };
    struct decoded d = decode(word);
    struct pm_op ops[8];
    uint32_t set = 0;
    d.insn.memory = d.parts.memory; /* where the copy of decode's result has them */
    d.insn.registers = &d.parts.registers;
    unsigned n = pm_isa_aarch64.translate(d.bytes, &d.insn, NULL, ops);
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *registers = defined ? ops[i].defs : ops[i].uses;
        for (unsigned k = 0; k < (defined ? PM_OP_N_DEFS : PM_OP_N_USES); k++)
            if (registers[k] >= FIRST_VECTOR && registers[k] < FIRST_VECTOR + N_VECTORS)
                set |= UINT32_C(1) << (registers[k] - FIRST_VECTOR);
    }
    return set;
}

static void structure_accesses_name_all_their_registers(void **state) {
    (void)state;
    assert_int_equal(vectors_of_operations(0x4cdf0020, true), 0xf);  /* ld4 {v0-v3}, [x1], #64 */
    assert_int_equal(vectors_of_operations(0x4c000420, false), 0xf); /* st4 {v0-v3}, [x1] */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_flow_and_targets),
        cmocka_unit_test(registers),
        cmocka_unit_test(memory_operands),
        cmocka_unit_test(structure_accesses_name_all_their_registers),
        cmocka_unit_test(definitions),
        cmocka_unit_test(conditions),
        cmocka_unit_test(what_is_no_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
