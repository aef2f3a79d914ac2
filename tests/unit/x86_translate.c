/* Native instructions as generic operations: classes, widths, and the registers that link them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "binlift/code/code.h"
#include "binlift/x86/x86.h"

enum { NONE = PM_REGISTER_NONE, FLAGS = 32, XMM = 40, K = 72, T0 = 120, T1 = 121 };

static struct pm_op ops[8];

#define TRANSLATE(bytes) translate((const uint8_t *)(bytes), sizeof(bytes) - 1)

static struct pm_classes *classes;

static int read_classes(void **state) {
    struct pm_error err = {0};
    (void)state;
    classes = pm_classes_new();
    if (!pm_classes_read(classes, "machines/x86-64.classes", "x86-64", &err)) {
        print_error("%s\n", err.text);
        return -1;
    }
    pm_classes_resolve(classes, pm_isa_x86_64.n_mnemonics, pm_isa_x86_64.mnemonic);
    return 0;
}

static int free_classes(void **state) {
    (void)state;
    pm_classes_free(classes);
    return 0;
}

static unsigned translate(const uint8_t *bytes, size_t n) {
    struct pm_insn insn;
    struct pm_insn_parts parts;
    assert_true(pm_isa_x86_64.decode(bytes, n, 0x1000, &insn, &parts));
    assert_int_equal(insn.length, n);
    unsigned n_ops = pm_isa_x86_64.translate(bytes, &insn, classes, ops);
    assert_true(n_ops >= 1 && n_ops <= 4);
    for (unsigned i = 0; i < n_ops; i++)
        assert_int_equal(ops[i].instruction_start, i == 0);
    return n_ops;
}

static void expect(unsigned i, enum pm_op_class op_class, unsigned element, unsigned width,
                   uint8_t def, uint8_t use0, uint8_t use1) {
    assert_int_equal(ops[i].op_class, op_class);
    assert_int_equal(ops[i].element_bytes, element);
    assert_int_equal(ops[i].width_bits, width);
    assert_int_equal(ops[i].defs[0], def);
    assert_int_equal(ops[i].uses[0], use0);
    assert_int_equal(ops[i].uses[1], use1);
}

static bool defines(unsigned i, uint8_t which) {
    for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
        if (ops[i].defs[k] == which)
            return true;
    return false;
}

static void moves_are_loads_and_stores(void **state) {
    (void)state;
    assert_int_equal(TRANSLATE("\x48\x8b\x44\x8f\x08"), 1); /* mov 8(%rdi,%rcx,4),%rax */
    expect(0, PM_OP_LOAD_INT, 8, 64, 0, 7, 1);
    assert_int_equal(ops[0].reference, 0);
    assert_int_equal(TRANSLATE("\x66\x89\x44\x8f\x08"), 1); /* mov %ax,8(%rdi,%rcx,4) */
    expect(0, PM_OP_STORE_INT, 2, 16, NONE, 0, 7);
    assert_int_equal(TRANSLATE("\xc7\x07\x05\x00\x00\x00"), 1); /* movl $5,(%rdi): no data */
    expect(0, PM_OP_STORE_INT, 4, 32, NONE, NONE, 7);
    assert_int_equal(TRANSLATE("\xf2\x0f\x10\x0f"), 1); /* movsd (%rdi),%xmm1 */
    expect(0, PM_OP_LOAD_FP, 8, 64, XMM + 1, 7, NONE);
    assert_int_equal(TRANSLATE("\xc5\xfb\x12\x0f"), 1); /* vmovddup (%rdi),%xmm1 */
    expect(0, PM_OP_LOAD_FP, 8, 64, XMM + 1, 7, NONE);
    assert_int_equal(TRANSLATE("\xc5\xe9\x16\x0f"), 2); /* vmovhpd (%rdi),%xmm2,%xmm1 */
    assert_int_equal(ops[1].op_class, PM_OP_SHUFFLE);
    assert_int_equal(TRANSLATE("\x66\x0f\x17\x0f"), 1);         /* movhpd %xmm1,(%rdi) */
    assert_int_equal(TRANSLATE("\x62\xf1\xfd\x4a\x11\x0f"), 1); /* vmovupd %zmm1,(%rdi){%k2} */
    expect(0, PM_OP_STORE_FP, 8, 512, NONE, XMM + 1, 7);
    assert_int_equal(ops[0].uses[2], K + 2);
    assert_int_equal(TRANSLATE("\xc4\xe2\x71\x8e\x17"), 1); /* vpmaskmovd %xmm2,%xmm1,(%rdi) */
    expect(0, PM_OP_STORE_FP, 4, 128, NONE, XMM + 2, 7);
    assert_int_equal(TRANSLATE("\x89\xc3"), 1); /* mov %eax,%ebx */
    expect(0, PM_OP_MOVE_INT, 4, 32, 3, 0, NONE);
}

static void arithmetic_splits(void **state) {
    (void)state;
    assert_int_equal(TRANSLATE("\x83\x07\x05"), 3); /* addl $5,(%rdi) */
    expect(0, PM_OP_LOAD_INT, 4, 32, T0, 7, NONE);
    expect(1, PM_OP_INT_ADD, 4, 32, T1, T0, NONE);
    assert_int_equal(ops[1].defs[1], FLAGS);
    expect(2, PM_OP_STORE_INT, 4, 32, NONE, T1, 7);
    assert_int_equal(TRANSLATE("\xc4\xe2\xf5\xb8\x17"), 2); /* vfmadd231pd (%rdi),%ymm1,%ymm2 */
    expect(0, PM_OP_LOAD_FP, 8, 256, T0, 7, NONE);
    expect(1, PM_OP_FP_FMA, 8, 256, XMM + 2, T0, XMM + 2);
    assert_int_equal(ops[1].uses[2], XMM + 1);
    assert_int_equal(TRANSLATE("\xf2\x0f\x58\xd1"), 1); /* addsd %xmm1,%xmm2 */
    expect(0, PM_OP_FP_ADD, 8, 64, XMM + 2, XMM + 2, XMM + 1);
    assert_int_equal(TRANSLATE("\x62\xf1\xed\x58\x58\x18"), 2); /* vaddpd (%rax){1to8},… */
    expect(0, PM_OP_LOAD_FP, 8, 64, T0, 0, NONE);
    expect(1, PM_OP_FP_ADD, 8, 512, XMM + 3, T0, XMM + 2);
    assert_int_equal(TRANSLATE("\x48\xf7\xf1"), 1); /* div %rcx */
    assert_int_equal(ops[0].op_class, PM_OP_INT_DIV);
    assert_true(defines(0, 0) && defines(0, 2) && defines(0, FLAGS));
    assert_int_equal(TRANSLATE("\x48\xf7\xe1"), 1); /* mul %rcx: both halves and flags */
    assert_int_equal(ops[0].op_class, PM_OP_INT_MULT);
    assert_true(defines(0, 0) && defines(0, 2) && defines(0, FLAGS));
    assert_int_equal(TRANSLATE("\xf2\x0f\x7c\xc1"), 3); /* haddps %xmm1,%xmm0 */
    expect(0, PM_OP_SHUFFLE, 4, 128, T0, 0 + XMM, XMM + 1);
    expect(1, PM_OP_SHUFFLE, 4, 128, T1, T0, XMM);
    expect(2, PM_OP_FP_ADD, 4, 128, XMM, T1, NONE);
    assert_int_equal(TRANSLATE("\x31\xc0"), 1); /* xor %eax,%eax waits for nothing */
    expect(0, PM_OP_LOGICAL, 4, 32, 0, NONE, NONE);
    assert_int_equal(TRANSLATE("\xf2\x0f\x2a\xc8"), 1); /* cvtsi2sd keeps the upper half */
    expect(0, PM_OP_FP_CONVERT, 8, 64, XMM + 1, XMM + 1, 0);
}

static void control_and_stack(void **state) {
    (void)state;
    assert_int_equal(TRANSLATE("\x74\x10"), 1); /* je */
    expect(0, PM_OP_BRANCH, 0, 64, NONE, FLAGS, NONE);
    assert_int_equal(TRANSLATE("\xff\x24\xc5\x00\x10\x40\x00"), 2); /* jmp *0x401000(,%rax,8) */
    expect(0, PM_OP_LOAD_INT, 8, 64, T0, 0, NONE);
    expect(1, PM_OP_JUMP, 0, 64, NONE, T0, NONE);
    assert_int_equal(TRANSLATE("\x53"), 2); /* push %rbx */
    expect(1, PM_OP_STORE_INT, 8, 64, NONE, 3, 4);
    assert_int_equal(ops[1].reference, 0);
    assert_int_equal(TRANSLATE("\xff\x70\x08"), 3); /* push 8(%rax) */
    assert_int_equal(ops[1].reference, 0);
    expect(2, PM_OP_STORE_INT, 8, 64, NONE, T0, 4);
    assert_int_equal(ops[2].reference, 1);
    assert_int_equal(TRANSLATE("\xc3"), 2);
    assert_int_equal(ops[1].op_class, PM_OP_RETURN);
}

static void special_kinds(void **state) {
    (void)state;
    TRANSLATE("\xf0\x48\x0f\xb1\x0f"); /* lock cmpxchg %rcx,(%rdi) */
    assert_int_equal(ops[0].op_class, PM_OP_ATOMIC);
    assert_int_equal(ops[0].reference, 0);
    assert_int_equal(TRANSLATE("\xf3\x48\xa5"), 2); /* rep movsq: one for each stream */
    assert_int_equal(ops[0].op_class, PM_OP_STRING);
    assert_int_equal(ops[1].reference, 1);
    TRANSLATE("\x62\xf2\xfd\x49\x92\x5c\xd0\x01"); /* vgatherdpd 8(%rax,%ymm2,8),%zmm3{%k1} */
    assert_int_equal(ops[0].op_class, PM_OP_GATHER);
    assert_int_equal(ops[0].width_bits, 512);
    assert_int_equal(ops[0].defs[0], XMM + 3);
    TRANSLATE("\x62\xf2\xfd\x49\xa2\x1c\xd0"); /* vscatterdpd */
    assert_int_equal(ops[0].op_class, PM_OP_SCATTER);
    assert_int_equal(ops[0].defs[0], NONE);
    TRANSLATE("\x0f\x18\x08");
    assert_int_equal(ops[0].op_class, PM_OP_PREFETCH);
    assert_int_equal(ops[0].reference, PM_NONE);
    TRANSLATE("\x66\x0f\x1f\x04\x00");
    assert_int_equal(ops[0].op_class, PM_OP_NOP);
    TRANSLATE("\xc5\xf8\x93\xc0"); /* kmovw %k0,%eax */
    assert_int_equal(ops[0].op_class, PM_OP_MASK);
    TRANSLATE("\xd8\xc9"); /* fmul */
    assert_int_equal(ops[0].op_class, PM_OP_FP_MULT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_are_loads_and_stores),
        cmocka_unit_test(arithmetic_splits),
        cmocka_unit_test(control_and_stack),
        cmocka_unit_test(special_kinds),
    };
    return cmocka_run_group_tests(tests, read_classes, free_classes);
}
