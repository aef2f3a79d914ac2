/* Decoding of x86-64 instructions: control flow, registers used, defined and killed, memory
   operands.  Expectations are from the processor manuals; bytes were assembled with GNU as. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "binlift/code/code.h"
#include "binlift/x86/x86.h"
#include "core/probe_abi.h"

#define RAX 0x1u
#define RCX 0x2u
#define RDX 0x4u
#define RBX 0x8u
#define RSP 0x10u
#define RBP 0x20u
#define RSI 0x40u
#define RDI 0x80u
#define FLAGS PM_FLAGS_MASK
#define CF (UINT64_C(1) << 32)
#define ZF (UINT64_C(1) << 35)
#define OF (UINT64_C(1) << 37)
#define K(n) (UINT64_C(1) << (40 + (n)))
#define X87 (UINT64_C(1) << 48)
#define MXCSR (UINT64_C(1) << 49)
#define V(n) (UINT64_C(1) << (n))

/* Decodes the bytes of a string literal, all of which must be one instruction at 0x1000. */
#define DECODE(bytes) decode_all((const uint8_t *)(bytes), sizeof(bytes) - 1)

static struct pm_insn decode_all(const uint8_t *bytes, size_t n) {
    static struct pm_insn_parts parts; /* of the last one */
    struct pm_insn insn;
    assert_true(pm_isa_x86_64.decode(bytes, n, 0x1000, &insn, &parts));
    assert_int_equal(insn.length, n);
    assert_int_equal(insn.address, 0x1000);
    return insn;
}

static void expect_general(struct pm_insn insn, uint64_t uses, uint64_t defs, uint64_t kills) {
    assert_int_equal(insn.registers->uses.general, uses);
    assert_int_equal(insn.registers->defs.general, defs);
    assert_int_equal(insn.registers->kills.general, kills);
}

static void expect_vector(struct pm_insn insn, uint64_t uses, uint64_t defs, uint64_t kills) {
    assert_int_equal(insn.registers->uses.vector, uses);
    assert_int_equal(insn.registers->defs.vector, defs);
    assert_int_equal(insn.registers->kills.vector, kills);
}

static void partial_writes_do_not_kill(void **state) {
    (void)state;
    expect_general(DECODE("\x89\xc3"), RAX, RBX, RBX);        /* mov %eax,%ebx */
    expect_general(DECODE("\x66\x89\xc3"), RAX, RBX, 0);      /* mov %ax,%bx */
    expect_general(DECODE("\x88\xc3"), RAX, RBX, 0);          /* mov %al,%bl */
    expect_general(DECODE("\x88\xe7"), RAX, RBX, 0);          /* mov %ah,%bh */
    expect_general(DECODE("\x40\x88\xe6"), RSP, RSI, 0);      /* mov %spl,%sil */
    expect_general(DECODE("\x0f\x44\xc1"), RCX | ZF, RAX, 0); /* cmove %ecx,%eax */
    expect_general(DECODE("\x0f\x94\xc0"), ZF, RAX, 0);       /* sete %al */
}

static void flags_of_shifts(void **state) {
    (void)state;
    expect_general(DECODE("\x48\xd3\xe0"), RAX | RCX, RAX | FLAGS, RAX);       /* shl %cl,%rax */
    expect_general(DECODE("\x48\xc1\xe0\x03"), RAX, RAX | FLAGS, RAX | FLAGS); /* shl $3 */
    expect_general(DECODE("\xc1\xe0\x00"), RAX, RAX | FLAGS, RAX);         /* shl $0: flags stay */
    expect_general(DECODE("\xc1\xe0\x20"), RAX, RAX | FLAGS, RAX);         /* shl $32, 32 bits: 0 */
    expect_general(DECODE("\xd1\xc1"), RCX, RCX | CF | OF, RCX | CF | OF); /* rol %ecx */
    expect_general(DECODE("\x48\x11\xc3"), RAX | RBX | CF, RBX | FLAGS, RBX | FLAGS);  /* adc */
    expect_general(DECODE("\xff\xc1"), RCX, RCX | (FLAGS & ~CF), RCX | (FLAGS & ~CF)); /* inc */
}

static void constants_use_nothing(void **state) {
    (void)state;
    expect_general(DECODE("\x31\xc0"), 0, RAX | FLAGS, RAX | FLAGS);    /* xor %eax,%eax */
    expect_vector(DECODE("\x66\x0f\xef\xc0"), 0, V(0), 0);              /* pxor %xmm0,%xmm0 */
    expect_vector(DECODE("\xc5\xf9\xef\xc0"), 0, V(0), V(0));           /* vpxor %xmm0,… */
    expect_vector(DECODE("\xc5\xf1\xef\xc0"), V(1) | V(0), V(0), V(0)); /* vpxor %xmm0,%xmm1,… */
    /* vpternlogd $0xff,%zmm1,%zmm1,%zmm1 */
    expect_vector(DECODE("\x62\xf3\x75\x48\x25\xc9\xff"), 0, V(1), V(1));
}

static void vectors_and_masks(void **state) {
    (void)state;
    struct pm_insn insn = DECODE("\xc5\xed\x58\xd9"); /* vaddpd %ymm1,%ymm2,%ymm3 */
    expect_vector(insn, V(1) | V(2), V(3), V(3));
    expect_general(insn, MXCSR, MXCSR, 0);
    expect_vector(DECODE("\xf2\x0f\x58\xd1"), V(1) | V(2), V(2), 0); /* addsd: upper part stays */
    /* vaddpd (%rax),%zmm2,%zmm3{%k1}: merges */
    insn = DECODE("\x62\xf1\xed\x49\x58\x18");
    expect_vector(insn, V(2) | V(3), V(3), 0);
    assert_int_equal(insn.registers->uses.general, RAX | K(1) | MXCSR);
    /* the same with {z}; and unmasked, where k0 is no use */
    expect_vector(DECODE("\x62\xf1\xed\xc9\x58\x18"), V(2), V(3), V(3));
    assert_int_equal(DECODE("\x62\xf1\xed\x48\x58\x18").registers->uses.general, RAX | MXCSR);
    /* kmovw %k0,%eax does use it */
    expect_general(DECODE("\xc5\xf8\x93\xc0"), K(0), RAX, RAX);
    /* vcmppd $1,%zmm1,%zmm2,%k1: all of k1 is written */
    insn = DECODE("\x62\xf1\xed\x48\xc2\xc9\x01");
    assert_int_equal(insn.registers->kills.general, K(1));
    expect_general(DECODE("\xd8\xc9"), X87, X87, 0); /* fmul */
}

static void expect_operand(struct pm_memory_operand m, uint8_t base, uint8_t index, uint8_t scale,
                           int64_t displacement, uint8_t access, uint16_t bytes) {
    assert_int_equal(m.base, base);
    assert_int_equal(m.index, index);
    if (index != PM_REGISTER_NONE)
        assert_int_equal(m.scale, scale);
    assert_int_equal(m.displacement, displacement);
    assert_int_equal(m.access, access);
    assert_int_equal(m.size_bytes, bytes);
}

static void memory_operands(void **state) {
    (void)state;
    struct pm_insn insn = DECODE("\x66\x89\x44\x8f\x08"); /* mov %ax,8(%rdi,%rcx,4) */
    assert_int_equal(insn.n_memory, 1);
    expect_operand(insn.memory[0], 7, 1, 4, 8, PM_ACCESS_STORE, 2);
    insn = DECODE("\x48\x8b\x05\x08\x00\x00\x00"); /* mov 8(%rip),%rax */
    expect_operand(insn.memory[0], PM_REGISTER_PC, PM_REGISTER_NONE, 0, 0x100f, PM_ACCESS_LOAD, 8);
    assert_int_equal(insn.pc_displacement_offset, 3);
    insn = DECODE("\x83\x07\x05"); /* addl $5,(%rdi) */
    expect_operand(insn.memory[0], 7, PM_REGISTER_NONE, 0, 0, PM_ACCESS_BOTH, 4);
    insn = DECODE("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"); /* mov %fs:40,%rax */
    assert_int_equal(insn.memory[0].segment, 1);
    expect_operand(insn.memory[0], PM_REGISTER_NONE, PM_REGISTER_NONE, 0, 40, PM_ACCESS_LOAD, 8);
    /* vaddpd (%rax){1to8},%zmm2,%zmm3 loads one element */
    insn = DECODE("\x62\xf1\xed\x58\x58\x18");
    expect_operand(insn.memory[0], 0, PM_REGISTER_NONE, 0, 0, PM_ACCESS_LOAD, 8);
    assert_int_equal(insn.memory[0].kind, PM_ACCESS_PLAIN);
    assert_int_equal(DECODE("\x48\x8d\x05\x08\x00\x00\x00").n_memory, 0); /* lea */
    assert_int_equal(DECODE("\x0f\x18\x08").n_memory, 0);                 /* prefetcht0 */
    insn = DECODE("\x66\x0f\x1f\x04\x00");                                /* nopw */
    assert_int_equal(insn.n_memory, 0);
    assert_true(insn.is_nop);
    assert_false(DECODE("\xf3\x0f\x1e\xfa").is_nop); /* endbr64 */
}

static void expect_stack(struct pm_memory_operand m, uint8_t base, int64_t displacement,
                         uint8_t access, uint16_t bytes) {
    assert_true(m.implicit);
    expect_operand(m, base, PM_REGISTER_NONE, 0, displacement, access, bytes);
}

/* Addresses are those of the stack pointer before the instruction. */
static void stack_traffic_has_its_address(void **state) {
    (void)state;
    struct pm_insn insn = DECODE("\xff\x74\x24\x08"); /* push 8(%rsp) */
    assert_int_equal(insn.n_memory, 2);
    assert_false(insn.memory[0].implicit);
    expect_operand(insn.memory[0], 4, PM_REGISTER_NONE, 0, 8, PM_ACCESS_LOAD, 8);
    expect_stack(insn.memory[1], 4, -8, PM_ACCESS_STORE, 8);
    insn = DECODE("\x8f\x40\x10"); /* pop 16(%rax) */
    expect_stack(insn.memory[0], 4, 0, PM_ACCESS_LOAD, 8);
    expect_operand(insn.memory[1], 0, PM_REGISTER_NONE, 0, 16, PM_ACCESS_STORE, 8);
    assert_false(insn.memory[1].implicit);
    insn = DECODE("\x8f\x44\x24\x10"); /* pop 16(%rsp): the stack pointer has moved */
    expect_stack(insn.memory[0], 4, 0, PM_ACCESS_LOAD, 8);
    expect_operand(insn.memory[1], 4, PM_REGISTER_NONE, 0, 24, PM_ACCESS_STORE, 8);
    insn = DECODE("\x66\x8f\x44\x24\x10"); /* popw 16(%rsp) */
    expect_stack(insn.memory[0], 4, 0, PM_ACCESS_LOAD, 2);
    expect_operand(insn.memory[1], 4, PM_REGISTER_NONE, 0, 18, PM_ACCESS_STORE, 2);
    insn = DECODE("\x53"); /* push %rbx */
    assert_int_equal(insn.n_memory, 1);
    expect_stack(insn.memory[0], 4, -8, PM_ACCESS_STORE, 8);
    expect_stack(DECODE("\x66\x53").memory[0], 4, -2, PM_ACCESS_STORE, 2); /* push %bx */
    expect_stack(DECODE("\x6a\x01").memory[0], 4, -8, PM_ACCESS_STORE, 8); /* push $1 */
    expect_stack(DECODE("\x9c").memory[0], 4, -8, PM_ACCESS_STORE, 8);     /* pushf */
    expect_stack(DECODE("\x5b").memory[0], 4, 0, PM_ACCESS_LOAD, 8);       /* pop %rbx */
    expect_stack(DECODE("\x9d").memory[0], 4, 0, PM_ACCESS_LOAD, 8);       /* popf */
    expect_stack(DECODE("\xe8\x00\x00\x00\x00").memory[0], 4, -8, PM_ACCESS_STORE, 8);
    insn = DECODE("\xff\x54\x24\x08"); /* call *8(%rsp) */
    expect_operand(insn.memory[0], 4, PM_REGISTER_NONE, 0, 8, PM_ACCESS_LOAD, 8);
    expect_stack(insn.memory[1], 4, -8, PM_ACCESS_STORE, 8);
    expect_stack(DECODE("\xc3").memory[0], 4, 0, PM_ACCESS_LOAD, 8);
    expect_stack(DECODE("\xc2\x10\x00").memory[0], 4, 0, PM_ACCESS_LOAD, 8); /* ret $16 */
    expect_stack(DECODE("\xc9").memory[0], 5, 0, PM_ACCESS_LOAD, 8);         /* leave */
    expect_stack(DECODE("\xc8\x10\x00\x00").memory[0], 4, -8, PM_ACCESS_STORE,
                 8);                                          /* enter $16,$0 */
    assert_true(DECODE("\xc8\x10\x00\x01").uses_unsupported); /* enter with a display */
}

static void bit_strings(void **state) {
    (void)state;
    struct pm_insn insn = DECODE("\xf0\x48\x0f\xab\x44\x8b\x08"); /* lock bts %rax,8(%rbx,%rcx,4) */
    expect_operand(insn.memory[0], 3, 1, 4, 8, PM_ACCESS_BOTH, 8);
    assert_int_equal(insn.memory[0].kind, PM_ACCESS_BIT);
    assert_int_equal(insn.memory[0].mask, 0);
    insn = DECODE("\x0f\xa3\x13"); /* bt %edx,(%rbx) */
    expect_operand(insn.memory[0], 3, PM_REGISTER_NONE, 0, 0, PM_ACCESS_LOAD, 4);
    assert_int_equal(insn.memory[0].kind, PM_ACCESS_BIT);
    assert_int_equal(insn.memory[0].mask, 2);
    assert_int_equal(DECODE("\x0f\xba\x23\x25").memory[0].kind,
                     PM_ACCESS_PLAIN); /* bt $37,(%rbx) */
}

/* Sizes by the manual. */
static void large_accesses(void **state) {
    (void)state;
    assert_int_equal(DECODE("\x0f\xae\x00").memory[0].size_bytes, 464); /* fxsave (%rax) */
    assert_int_equal(DECODE("\x0f\xae\x00").memory[0].access, PM_ACCESS_STORE);
    assert_int_equal(DECODE("\x48\x0f\xae\x08").memory[0].size_bytes, 464); /* fxrstor64 */
    assert_int_equal(DECODE("\x48\x0f\xae\x08").memory[0].access, PM_ACCESS_LOAD);
    assert_int_equal(DECODE("\xdd\x30").memory[0].size_bytes, 108);   /* fnsave */
    assert_int_equal(DECODE("\xd9\x30").memory[0].size_bytes, 28);    /* fnstenv */
    assert_int_equal(DECODE("\xdb\x28").memory[0].size_bytes, 10);    /* fldt */
    assert_int_equal(DECODE("\xdf\x30").memory[0].size_bytes, 10);    /* fbstp */
    assert_int_equal(DECODE("\xd9\x38").memory[0].size_bytes, 2);     /* fnstcw */
    assert_int_equal(DECODE("\x0f\xae\x18").memory[0].size_bytes, 4); /* stmxcsr */
    struct pm_insn insn = DECODE("\x48\x0f\xc7\x08");                 /* cmpxchg16b (%rax) */
    expect_operand(insn.memory[0], 0, PM_REGISTER_NONE, 0, 0, PM_ACCESS_BOTH, 16);
    insn = DECODE("\x66\x0f\xf7\xc8"); /* maskmovdqu %xmm0,%xmm1 */
    expect_operand(insn.memory[0], 7, PM_REGISTER_NONE, 0, 0, PM_ACCESS_STORE, 1);
    assert_int_equal(insn.memory[0].elements, 16);
    assert_int_equal(DECODE("\x66\x0f\xe7\x00").memory[0].size_bytes, 16); /* movntdq */
    assert_int_equal(DECODE("\xc5\xfc\x77").n_memory, 0);                  /* vzeroall */
    assert_int_equal(DECODE("\x0f\xae\x38").n_memory, 0);                  /* clflush */
    assert_int_equal(DECODE("\x66\x0f\xae\x30").n_memory, 0);              /* clwb */
    assert_true(DECODE("\x66\x0f\x38\xf8\x18").uses_unsupported);          /* movdir64b */
    assert_true(DECODE("\xf2\x0f\x38\xf8\x18").uses_unsupported);          /* enqcmd */
    assert_true(DECODE("\xc4\xe2\x7b\x4b\x04\x18").uses_unsupported);      /* tileloadd */
}

static void strings(void **state) {
    (void)state;
    struct pm_insn insn = DECODE("\xf3\x48\xa5"); /* rep movsq */
    assert_int_equal(insn.n_memory, 2);
    expect_operand(insn.memory[0], 6, PM_REGISTER_NONE, 0, 0, PM_ACCESS_LOAD, 8);
    expect_operand(insn.memory[1], 7, PM_REGISTER_NONE, 0, 0, PM_ACCESS_STORE, 8);
    assert_int_equal(insn.memory[0].kind, PM_ACCESS_STRING);
    assert_int_equal(insn.memory[0].stops_early, 0);
    expect_general(insn, RCX | RSI | RDI, RCX | RSI | RDI, 0);
    insn = DECODE("\xf2\xae"); /* repne scasb */
    assert_int_equal(insn.memory[0].stops_early, PM_CALLED_REPNE_SCAS);
    assert_int_equal(DECODE("\xf3\xa6").memory[1].stops_early, PM_CALLED_REPE_CMPS);
    assert_int_equal(insn.memory[0].size_bytes, 1);
    assert_int_equal(insn.registers->kills.general & FLAGS, 0);
    assert_int_equal(DECODE("\xaa").memory[0].kind, PM_ACCESS_PLAIN); /* stosb */
}

static void expect_lanes(struct pm_memory_operand m, uint8_t kind, uint8_t mask, uint8_t elements,
                         uint16_t bytes) {
    assert_int_equal(m.kind, kind);
    assert_int_equal(m.mask, mask);
    assert_int_equal(m.elements, elements);
    assert_int_equal(m.size_bytes, bytes);
}

static void masked_accesses(void **state) {
    (void)state;
    /* vmovupd %zmm1,(%rdi){%k2} */
    expect_lanes(DECODE("\x62\xf1\xfd\x4a\x11\x0f").memory[0], PM_ACCESS_MASK_K, 2, 8, 8);
    /* vmovss (%rdi),%xmm1{%k1} */
    expect_lanes(DECODE("\x62\xf1\x7e\x09\x10\x0f").memory[0], PM_ACCESS_MASK_K, 1, 1, 4);
    /* vpmovdb %zmm1,(%rax){%k3} */
    expect_lanes(DECODE("\x62\xf2\x7e\x4b\x31\x08").memory[0], PM_ACCESS_MASK_K, 3, 16, 1);
    /* vcvtps2pd (%rdi),%zmm1{%k1} */
    expect_lanes(DECODE("\x62\xf1\x7c\x49\x5a\x0f").memory[0], PM_ACCESS_MASK_K, 1, 8, 4);
    /* vcompresspd %zmm1,(%rdi){%k2}, vexpandps (%rdi),%zmm1{%k1} */
    expect_lanes(DECODE("\x62\xf2\xfd\x4a\x8a\x0f").memory[0], PM_ACCESS_PACKED_K, 2, 8, 8);
    expect_lanes(DECODE("\x62\xf2\x7d\x49\x88\x0f").memory[0], PM_ACCESS_PACKED_K, 1, 16, 4);
    /* vpmaddwd (%rdi),%zmm2,%zmm1{%k1}: a bit stands for two elements of memory */
    assert_int_equal(DECODE("\x62\xf1\x6d\x49\xf5\x0f").memory[0].kind, PM_ACCESS_PLAIN);
    /* vmaskmovpd (%rdi),%ymm1,%ymm2 */
    expect_lanes(DECODE("\xc4\xe2\x75\x2d\x17").memory[0], PM_ACCESS_MASK_V, 1, 4, 8);
    /* vpmaskmovd %xmm2,%xmm1,(%rdi) */
    expect_lanes(DECODE("\xc4\xe2\x71\x8e\x17").memory[0], PM_ACCESS_MASK_V, 1, 4, 4);
    /* vbroadcastf64x4 (%rax),%zmm0{%k1}{z}: bits are not elements of memory */
    assert_int_equal(DECODE("\x62\xf2\xfd\xc9\x1b\x00").memory[0].kind, PM_ACCESS_PLAIN);
}

static void gathers(void **state) {
    (void)state;
    struct pm_memory_operand m;
    m = DECODE("\xc4\xe2\xf5\x92\x5c\xd0\x08")
            .memory[0]; /* vgatherdpd %ymm1,8(%rax,%xmm2,8),%ymm3 */
    expect_lanes(m, PM_ACCESS_GATHER_V, 1, 4, 8);
    assert_int_equal(m.index, 2);
    assert_int_equal(m.index_bytes, 4);
    assert_int_equal(m.displacement, 8);
    m = DECODE("\xc4\xe2\x75\x93\x1c\x90").memory[0]; /* vgatherqps %xmm1,(%rax,%ymm2,4),%xmm3 */
    expect_lanes(m, PM_ACCESS_GATHER_V, 1, 4, 4);
    assert_int_equal(m.index_bytes, 8);
    m = DECODE("\x62\xf2\x7d\x41\x93\x1c\x88")
            .memory[0]; /* vgatherqps (%rax,%zmm17,4),%ymm3{%k1} */
    expect_lanes(m, PM_ACCESS_GATHER_K, 1, 8, 4);
    assert_int_equal(m.index, 17);
    m = DECODE("\x62\xf2\xfd\x49\xa2\x1c\xd0")
            .memory[0]; /* vscatterdpd %zmm3,(%rax,%ymm2,8){%k1} */
    expect_lanes(m, PM_ACCESS_GATHER_K, 1, 8, 8);
    assert_int_equal(m.access, PM_ACCESS_STORE);
}

static void control_flow(void **state) {
    (void)state;
    struct pm_insn insn = DECODE("\x74\x10"); /* je */
    assert_int_equal(insn.control, PM_CONTROL_BRANCH);
    assert_int_equal(insn.target, 0x1012);
    assert_int_equal(DECODE("\xe3\xfe").control, PM_CONTROL_BRANCH_LOOP); /* jrcxz */
    assert_int_equal(DECODE("\xe3\xfe").target, 0x1000);
    assert_int_equal(DECODE("\xe9\xfb\xff\xff\xff").target, 0x1000);
    assert_int_equal(DECODE("\xe9\xfb\xff\xff\xff").control, PM_CONTROL_JUMP);
    assert_int_equal(DECODE("\xe8\x00\x00\x00\x00").control, PM_CONTROL_CALL);
    assert_int_equal(DECODE("\xff\x50\x08").control, PM_CONTROL_CALL_INDIRECT);
    assert_int_equal(DECODE("\x3e\xff\xe0").control, PM_CONTROL_JUMP_INDIRECT); /* notrack */
    assert_int_equal(DECODE("\xf3\xc3").control, PM_CONTROL_RETURN);
    assert_int_equal(DECODE("\x0f\x0b").control, PM_CONTROL_STOP);
    assert_int_equal(DECODE("\x0f\x05").control, PM_CONTROL_NONE); /* syscall */
    assert_int_equal(DECODE("\x0f\x05").registers->kills.general & FLAGS, 0);
}

static void what_cannot_be_moved(void **state) {
    (void)state;
    static const char gs[] = "\x65\x48\x8b\x04\x25\x08\x00\x00\x00"; /* mov %gs:8,%rax */
    struct pm_insn_parts parts;
    struct pm_insn insn = DECODE("\x65\x48\x8b\x04\x25\x08\x00\x00\x00");
    assert_true(insn.uses_unsupported);
    assert_true(insn.uses_gs);
    assert_non_null(strstr(pm_isa_x86_64.why((const uint8_t *)gs, &insn), "%gs"));
    assert_true(DECODE("\xc7\xf8\x00\x00\x00\x00").uses_unsupported); /* xbegin */
    assert_true(DECODE("\x67\x8b\x08").uses_unsupported);             /* mov (%eax),%ecx */
    assert_false(DECODE("\x67\x8d\x08").uses_unsupported);            /* lea (%eax),%ecx */
    assert_true(DECODE("\xd7").uses_unsupported);                     /* xlat */
    uint8_t none[] = {0x06, 0x90}; /* no instruction in 64-bit mode */
    assert_false(pm_isa_x86_64.decode(none, sizeof none, 0, &insn, &parts));
    uint8_t cut[] = {0x48, 0x8b, 0x05, 0x08}; /* ends within the displacement */
    assert_false(pm_isa_x86_64.decode(cut, sizeof cut, 0, &insn, &parts));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partial_writes_do_not_kill),
        cmocka_unit_test(flags_of_shifts),
        cmocka_unit_test(constants_use_nothing),
        cmocka_unit_test(vectors_and_masks),
        cmocka_unit_test(memory_operands),
        cmocka_unit_test(stack_traffic_has_its_address),
        cmocka_unit_test(bit_strings),
        cmocka_unit_test(large_accesses),
        cmocka_unit_test(strings),
        cmocka_unit_test(masked_accesses),
        cmocka_unit_test(gathers),
        cmocka_unit_test(control_flow),
        cmocka_unit_test(what_cannot_be_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
