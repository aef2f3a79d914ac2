/* The writing half of binlift/x86/: every added instruction decodes to what it is meant to be,
   keeps the flags where it says so, and jumps reach their labels whatever their length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "binlift/x86/x86.h"
#include "binlift/x86/rewrite/code_buffer.h"
#include "binlift/x86/rewrite/encode.h"

static const char *const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

static const char *const short_names[16] = {"eax",  "ecx",  "edx",  "ebx", "esp",  "ebp",
                                            "esi",  "edi",  "r8d",  "r9d", "r10d", "r11d",
                                            "r12d", "r13d", "r14d", "r15d"};

/* Lays CODE out at ADDRESS and gives its bytes. */
static uint8_t *finish(struct pm_code *code, uint64_t address) {
    pm_code_layout(code, address);
    uint8_t *bytes = pm_alloc(code->size_bytes, 1);
    assert_true(pm_code_write(code, bytes));
    return bytes;
}

/* CODE must be one instruction, which prints as the text says; clears CODE. */
static struct pm_insn expect(struct pm_code *code, const char *format, ...) {
    char expected[128], text[128];
    static struct pm_insn_parts parts; /* of the last one */
    struct pm_insn insn;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(expected, sizeof expected, format, arguments);
    va_end(arguments);
    uint8_t *bytes = finish(code, 0x1000);
    assert_true(pm_isa_x86_64.decode(bytes, code->size_bytes, 0x1000, &insn, &parts));
    assert_int_equal(insn.length, code->size_bytes);
    pm_isa_x86_64.print(bytes, &insn, text, sizeof text);
    assert_string_equal(text, expected);
    free(bytes);
    pm_code_free(code);
    return insn;
}

static void expect_flags_kept(struct pm_insn insn) {
    assert_int_equal(insn.registers->defs.general & PM_FLAGS_MASK, 0);
}

static void test_control_block_accesses_decode(void **state) {
    (void)state;
    struct pm_code code = {0};
    for (unsigned reg = 0; reg < 16; reg++) {
        pm_put_load_gs(&code, reg, 0x1008);
        expect_flags_kept(expect(&code, "mov %%gs:0x0000000000001008, %%%s", names[reg]));
        pm_put_store_gs(&code, reg, 24);
        expect_flags_kept(expect(&code, "mov %%%s, %%gs:0x0000000000000018", names[reg]));
        pm_put_compare_gs(&code, reg, 16);
        expect(&code, "cmp %%gs:0x0000000000000010, %%%s", names[reg]);
        pm_put_subtract_gs(&code, reg, 72, true);
        expect(&code, "sub %%gs:0x0000000000000048, %%%s", names[reg]);
        pm_put_subtract_gs(&code, reg, 72, false);
        expect(&code, "sub %%gs:0x0000000000000048, %%%s", short_names[reg]);
        pm_put_add_gs(&code, reg, 0x1008);
        expect(&code, "add %%%s, %%gs:0x0000000000001008", names[reg]);
    }
    pm_put_increment_gs(&code, 0x1ffff00);
    struct pm_insn increment = expect(&code, "inc %%gs:0x0000000001FFFF00");
    assert_int_equal(increment.memory[0].size_bytes, 8);
    pm_put_jump_gs(&code, 0x58);
    expect_flags_kept(expect(&code, "jmp %%gs:*0x0000000000000058"));
    pm_put_store_tag_gs(&code, 77, 0x38);
    expect_flags_kept(expect(&code, "movl $0x4D, %%gs:0x0000000000000038"));
    pm_put_compare_tag_gs(&code, 77, 0x38);
    expect(&code, "cmpl $0x4D, %%gs:0x0000000000000038");
}

static void test_quotients_decode(void **state) {
    (void)state;
    struct pm_code code = {0};
    for (unsigned reg = 0; reg < 16; reg++) {
        pm_put_negate(&code, reg, true);
        expect(&code, "neg %%%s", names[reg]);
        pm_put_negate(&code, reg, false);
        expect(&code, "neg %%%s", short_names[reg]);
        pm_put_shift_right(&code, reg, 5, true);
        expect(&code, "shr $0x05, %%%s", names[reg]);
        pm_put_shift_right(&code, reg, 12, false);
        expect(&code, "shr $0x0C, %%%s", short_names[reg]);
    }
}

static void expect_step(const uint8_t *bytes, unsigned n, unsigned number, unsigned bits,
                        int64_t constant) {
    struct pm_insn insn;
    struct pm_insn_parts parts;
    struct pm_register_step step = {0};
    assert_true(pm_isa_x86_64.decode(bytes, n, 0x1000, &insn, &parts));
    assert_int_equal(pm_isa_x86_64.find_step(bytes, &insn, &step), constant != 0);
    if (!constant)
        return;
    assert_int_equal(step.number, number);
    assert_int_equal(step.bits, bits);
    assert_int_equal(step.step, constant);
}

#define EXPECT_STEP(number, bits, constant, ...)                                                   \
    expect_step((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), number,    \
                bits, constant)

static void test_registers_that_step_are_found(void **state) {
    (void)state;
    EXPECT_STEP(0, 64, 1, 0x48, 0x83, 0xc0, 0x01);                      /* add $1, %rax */
    EXPECT_STEP(0, 32, -1, 0x83, 0xe8, 0x01);                           /* sub $1, %eax */
    EXPECT_STEP(12, 64, -128, 0x49, 0x83, 0xc4, 0x80);                  /* add $-128, %r12 */
    EXPECT_STEP(1, 64, 128, 0x48, 0x83, 0xe9, 0x80);                    /* sub $-128, %rcx */
    EXPECT_STEP(0, 32, -4096, 0x05, 0x00, 0xf0, 0xff, 0xff);            /* add $-4096, %eax */
    EXPECT_STEP(1, 64, 4096, 0x48, 0x81, 0xc1, 0x00, 0x10, 0x00, 0x00); /* add $4096, %rcx */
    EXPECT_STEP(9, 64, -1, 0x49, 0xff, 0xc9);                           /* dec %r9 */
    EXPECT_STEP(3, 32, 1, 0xff, 0xc3);                                  /* inc %ebx */
    EXPECT_STEP(2, 64, 16, 0x48, 0x8d, 0x52, 0x10);                     /* lea 16(%rdx), %rdx */
    EXPECT_STEP(0, 0, 0, 0x48, 0x8d, 0x51, 0x10);                       /* lea 16(%rcx), %rdx */
    EXPECT_STEP(0, 0, 0, 0x48, 0x8d, 0x54, 0x12, 0x10); /* lea 16(%rdx,%rdx), %rdx */
    EXPECT_STEP(0, 0, 0, 0x66, 0x83, 0xc0, 0x01);       /* add $1, %ax */
    EXPECT_STEP(0, 0, 0, 0x48, 0x01, 0xc8);             /* add %rcx, %rax */
    EXPECT_STEP(0, 0, 0, 0x48, 0x83, 0x00, 0x01);       /* addq $1, (%rax) */
    EXPECT_STEP(0, 0, 0, 0x48, 0x83, 0xd0, 0x01);       /* adc $1, %rax */
}

static void expect_with_base(unsigned reg, unsigned base, int32_t displacement, const char *place) {
    struct pm_code code = {0};
    pm_put_store(&code, reg, base, displacement);
    expect_flags_kept(expect(&code, "mov %%%s, %s(%%%s)", names[reg], place, names[base]));
    pm_put_lea(&code, reg, base, displacement);
    expect_flags_kept(expect(&code, "lea %s(%%%s), %%%s", place, names[base], names[reg]));
    pm_put_store_immediate(&code, 0x1234, base, displacement);
    expect_flags_kept(expect(&code, "movq $0x1234, %s(%%%s)", place, names[base]));
}

static void test_accesses_by_every_base_decode(void **state) {
    (void)state;
    for (unsigned reg = 0; reg < 16; reg++)
        for (unsigned base = 0; base < 16; base++) {
            expect_with_base(reg, base, 0, ""); /* rbp and r13 have no form without one */
            expect_with_base(reg, base, -128, "-0x80");
            expect_with_base(reg, base, 128, "0x80");
        }
}

static void test_indexed_addresses_decode(void **state) {
    (void)state;
    struct pm_code code = {0};
    for (uint8_t base = 0; base < 16; base++)
        for (uint8_t index = 0; index < 16; index++) {
            if (index == PM_RSP)
                continue;
            pm_put_lea_indexed(&code, 9, base, index, 4, -16);
            expect_flags_kept(
                expect(&code, "lea -0x10(%%%s,%%%s,4), %%r9", names[base], names[index]));
            pm_put_lea_indexed(&code, 1, base, index, 1, 0x1000);
            expect(&code, "lea 0x1000(%%%s,%%%s,1), %%rcx", names[base], names[index]);
        }
    pm_put_lea_indexed(&code, 1, PM_REGISTER_NONE, 12, 8, 0x404040);
    expect(&code, "lea 0x404040(,%%r12,8), %%rcx");
    pm_put_lea_indexed(&code, 1, PM_REGISTER_NONE, PM_REGISTER_NONE, 0, 0x404040);
    expect(&code, "lea 0x0000000000404040, %%rcx");
    pm_put_lea_target(&code, 10, pm_to_address(0x2000));
    struct pm_insn insn = expect(&code, "lea 0x0000000000002000, %%r10");
    assert_int_equal(insn.length, 7);
    pm_put_load_fs_base(&code, 11);
    expect_flags_kept(expect(&code, "mov %%fs:0x0000000000000000, %%r11"));
}

static void test_masks_and_vectors_decode(void **state) {
    (void)state;
    struct pm_code code = {0};
    for (unsigned reg = 0; reg < 16; reg++)
        for (unsigned mask = 0; mask < 8; mask++) {
            pm_put_read_mask(&code, reg, mask, true);
            expect_flags_kept(expect(&code, "kmovq %%k%u, %%%s", mask, names[reg]));
        }
    pm_put_read_mask(&code, 13, 3, false);
    expect(&code, "kmovw %%k3, %%r13d");
    for (unsigned vector = 0; vector < 32; vector++)
        for (unsigned base = 0; base < 16; base++) {
            pm_put_store_zmm(&code, vector, base, 0x44);
            expect(&code, "vmovupsz %%zmm%u, 0x44(%%%s)", vector, names[base]);
            if (vector >= 16)
                continue;
            pm_put_store_ymm(&code, vector, base, 0x44);
            expect(&code, "vmovups %%ymm%u, 0x44(%%%s)", vector, names[base]);
            pm_put_store_xmm(&code, vector, base, 0x44);
            expect(&code, "movups %%xmm%u, 0x44(%%%s)", vector, names[base]);
        }
}

/* Runs the two sequences around an instruction that destroys the flags. */
static void test_flags_are_saved_and_restored(void **state) {
    (void)state;
    struct pm_code code = {0};
    pm_put_save_flags(&code);
    pm_put_restore_flags(&code);
    static const uint8_t expected[] = {0x9f, 0x0f, 0x90, 0xc0, 0x04, 0x7f, 0x9e};
    assert_int_equal(code.n_bytes, sizeof expected);
    assert_memory_equal(code.bytes, expected, sizeof expected);
    pm_code_free(&code);
    static const uint64_t kept = 0x8d5; /* OF SF ZF AF PF CF */
    for (uint64_t bits = 0; bits < 0x1000; bits += 1) {
        uint64_t before = bits & kept, after;
        __asm__ volatile("push %1; popfq\n\t"
                         "lahf; seto %%al\n\t"
                         "xor %%ecx, %%ecx\n\t"
                         "add $0x7f, %%al; sahf\n\t"
                         "pushfq; pop %0"
                         : "=&r"(after)
                         : "r"(before)
                         : "rax", "rcx", "cc", "memory");
        assert_int_equal(after & kept, before);
    }
}

/* ---- layout --------------------------------------------------------------------------------- */

static uint64_t random_state = 7;
static uint32_t random_below(uint32_t limit) {
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

enum { N_LABELS = 60 };

/* One-byte no-ops, jumps and branches to labels at random; TARGETS are the labels in order. */
static uint32_t random_code(struct pm_code *code, uint32_t *targets) {
    uint32_t n = 0, first = pm_code_new_labels(code, N_LABELS);
    for (uint32_t label = 0; label < N_LABELS; label++) {
        if (random_below(4) == 0)
            pm_code_align(code, 16, 0);
        pm_code_bind(code, first + label);
        for (uint32_t filler = random_below(40); filler > 0; filler--)
            pm_code_byte(code, 0x90);
        targets[n] = random_below(N_LABELS);
        if (random_below(2))
            pm_code_jump(code, pm_to_label(first + targets[n++]));
        else
            pm_code_branch(code, (uint8_t)random_below(16), pm_to_label(first + targets[n++]));
    }
    return n;
}

static void test_jumps_reach_their_labels(void **state) {
    (void)state;
    uint32_t n_short = 0, n_long = 0;
    for (int round = 0; round < 200; round++) {
        struct pm_code code = {0};
        uint32_t targets[N_LABELS], n = random_code(&code, targets), seen = 0;
        uint64_t address = 0x401000 + random_below(64);
        uint8_t *bytes = finish(&code, address);
        for (uint64_t at = 0; at < code.size_bytes;) {
            struct pm_insn insn;
            struct pm_insn_parts parts;
            assert_true(pm_isa_x86_64.decode(bytes + at, code.size_bytes - at, address + at, &insn,
                                             &parts));
            if (insn.control != PM_CONTROL_NONE) {
                assert_int_equal(insn.target, pm_code_label_address(&code, targets[seen++]));
                n_short += insn.length == 2;
                n_long += insn.length > 2;
            }
            at += insn.length;
        }
        assert_int_equal(seen, n);
        free(bytes);
        pm_code_free(&code);
    }
    assert_true(n_short > 100 && n_long > 100);
}

static void test_fields_out_of_reach_are_noticed(void **state) {
    (void)state;
    struct pm_code code = {0};
    pm_code_jump(&code, pm_to_address(UINT64_C(0x200000000)));
    pm_code_layout(&code, 0x1000);
    uint8_t bytes[16];
    assert_false(pm_code_write(&code, bytes));
    pm_code_free(&code);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control_block_accesses_decode),
        cmocka_unit_test(test_quotients_decode),
        cmocka_unit_test(test_registers_that_step_are_found),
        cmocka_unit_test(test_accesses_by_every_base_decode),
        cmocka_unit_test(test_indexed_addresses_decode),
        cmocka_unit_test(test_masks_and_vectors_decode),
        cmocka_unit_test(test_flags_are_saved_and_restored),
        cmocka_unit_test(test_jumps_reach_their_labels),
        cmocka_unit_test(test_fields_out_of_reach_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
