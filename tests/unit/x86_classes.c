/* The shipped classes of x86-64 against what Zydis says of each instruction: its category, and
   whether it can raise floating-point exceptions.  Instructions are found by decoding all opcodes
   in all encodings, so that none is forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <Zydis/Zydis.h>

#include "binlift/code/code.h"
#include "binlift/x86/x86.h"

static struct pm_classes *classes;

/* What was seen of each mnemonic: categories, exception classes, encodings. */
static struct seen {
    bool is_seen, is_string, is_x87_or_mmx;
    ZydisInstructionCategory category;
    bool raises, other; /* some forms raise floating-point exceptions; some do not */
} seen[ZYDIS_MNEMONIC_MAX_VALUE + 1];

static bool raises_fp_exceptions(ZydisExceptionClass exception_class) {
    switch (exception_class) {
    case ZYDIS_EXCEPTION_CLASS_SSE2:
    case ZYDIS_EXCEPTION_CLASS_SSE3:
    case ZYDIS_EXCEPTION_CLASS_AVX2:
    case ZYDIS_EXCEPTION_CLASS_AVX3:
    case ZYDIS_EXCEPTION_CLASS_E2:
    case ZYDIS_EXCEPTION_CLASS_E3:
    case ZYDIS_EXCEPTION_CLASS_E2NF:
    case ZYDIS_EXCEPTION_CLASS_E3NF:
        return true;
    default:
        return false;
    }
}

static void look_at(const ZydisDecoder *decoder, const uint8_t bytes[16]) {
    ZydisDecodedInstruction insn;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, bytes, 15, &insn)))
        return;
    struct seen *s = &seen[insn.mnemonic];
    bool is_string = insn.meta.category == ZYDIS_CATEGORY_STRINGOP ||
                     insn.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
    s->is_string |= is_string; /* movsd and cmpsd are two instructions */
    if (is_string && s->is_seen)
        return;
    s->is_seen = true;
    s->category = insn.meta.category;
    s->is_x87_or_mmx |= insn.meta.category == ZYDIS_CATEGORY_X87_ALU ||
                        insn.meta.category == ZYDIS_CATEGORY_MMX ||
                        insn.meta.isa_ext == ZYDIS_ISA_EXT_AMD3DNOW;
    *(raises_fp_exceptions(insn.meta.exception_class) ? &s->raises : &s->other) = true;
}

/* ModRM bytes: all registers in the middle, register and memory operands. */
static void look_at_operands(const ZydisDecoder *decoder, uint8_t bytes[16], unsigned at) {
    for (unsigned middle = 0; middle < 8; middle++) {
        static const uint8_t others[] = {0x01, 0x04, 0xc0, 0xc1, 0xc2,
                                         0xc3, 0xc4, 0xc5, 0xc6, 0xc7};
        for (size_t i = 0; i < sizeof others; i++) {
            bytes[at] = (uint8_t)(others[i] | middle << 3);
            look_at(decoder, bytes);
        }
    }
    memset(bytes + at, 0, 16 - at);
}

static void look_at_legacy(const ZydisDecoder *decoder) {
    static const uint8_t prefixes[][3] = {{0},    {0x66},       {0xf2},       {0xf3},
                                          {0x48}, {0x66, 0x48}, {0xf2, 0x48}, {0xf3, 0x48}};
    static const uint8_t maps[][3] = {{0}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}};
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++)
        for (size_t m = 0; m < sizeof maps / sizeof *maps; m++)
            for (unsigned opcode = 0; opcode < 256; opcode++) {
                uint8_t bytes[16] = {0};
                size_t n = strlen((const char *)prefixes[p]);
                memcpy(bytes, prefixes[p], n);
                memcpy(bytes + n, maps[m], strlen((const char *)maps[m]));
                n += strlen((const char *)maps[m]);
                bytes[n++] = (uint8_t)opcode;
                look_at_operands(decoder, bytes, (unsigned)n);
            }
    for (unsigned suffix = 0; suffix < 256; suffix++) /* 3DNow! */
        look_at(decoder, (const uint8_t[16]){0x0f, 0x0f, 0xc1, (uint8_t)suffix});
}

/* VEX and XOP. */
static void look_at_vex(const ZydisDecoder *decoder) {
    for (unsigned form = 0; form < 2u * 32 * 16 * 256; form++) {
        unsigned opcode = form & 255, last = form >> 8 & 15, map = form >> 12 & 31;
        uint8_t bytes[16] = {form >> 17 ? 0x8f : 0xc4, (uint8_t)(0xe0 | map),
                             (uint8_t)((last >> 3) << 7 | 0x78 | (last & 7)), (uint8_t)opcode};
        look_at_operands(decoder, bytes, 4);
        bytes[2] ^= 0x08; /* another register in VVVV */
        look_at_operands(decoder, bytes, 4);
    }
}

static void look_at_evex(const ZydisDecoder *decoder) {
    for (unsigned form = 0; form < 8u * 8 * 8 * 256; form++) {
        unsigned opcode = form & 255, map = form >> 8 & 7, last = form >> 11 & 7;
        unsigned length = form >> 14 & 3, mask = form >> 16 & 1;
        uint8_t bytes[16] = {0x62, (uint8_t)(0xf0 | map),
                             (uint8_t)((last >> 2) << 7 | 0x7c | (last & 3)),
                             (uint8_t)(length << 5 | 8 | mask), (uint8_t)opcode};
        look_at_operands(decoder, bytes, 5);
        bytes[2] ^= 0x08;
        look_at_operands(decoder, bytes, 5);
    }
}

static int set_up(void **state) {
    (void)state;
    struct pm_error err = {0};
    ZydisDecoder decoder;
    classes = pm_classes_new();
    if (!pm_classes_read(classes, "machines/x86-64.classes", "x86-64", &err)) {
        print_error("%s\n", err.text);
        return -1;
    }
    pm_classes_resolve(classes, pm_isa_x86_64.n_mnemonics, pm_isa_x86_64.mnemonic);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    look_at_legacy(&decoder);
    look_at_vex(&decoder);
    look_at_evex(&decoder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    pm_classes_free(classes);
    return 0;
}

static void every_mnemonic_has_a_class(void **state) {
    (void)state;
    unsigned n_seen = 0;
    for (uint32_t i = 1; i < pm_isa_x86_64.n_mnemonics; i++) {
        n_seen += i <= ZYDIS_MNEMONIC_MAX_VALUE && seen[i].is_seen;
        if (!pm_class_of(classes, i))
            fail_msg("%s has no class", pm_isa_x86_64.mnemonic(i));
    }
    assert_null(pm_class_of(classes, 0));
    assert_true(n_seen > 1600); /* so the search above is one */
}

static void check_name(void *data, const char *path, unsigned line, const char *name) {
    (void)data;
    size_t length = strcspn(name, "*");
    for (uint32_t i = 1; i < pm_isa_x86_64.n_mnemonics; i++) {
        const char *mnemonic = pm_isa_x86_64.mnemonic(i);
        if (name[length] ? strncmp(mnemonic, name, length) == 0 : strcmp(mnemonic, name) == 0)
            return;
    }
    fail_msg("%s:%u: there is no instruction %s", path, line, name);
}

static void every_name_is_an_instruction(void **state) {
    (void)state;
    pm_classes_visit(classes, check_name, NULL);
}

/* ---- the classes that instructions of a category may have ------------------------------------ */

#define ONE(c) (UINT64_C(1) << PM_OP_##c)
#define MOVES (ONE(MOVE_INT) | ONE(FP_MOVE) | ONE(SHUFFLE) | ONE(MASK) | ONE(SHIFT))

static uint64_t classes_of_category(ZydisInstructionCategory category) {
    switch (category) {
    case ZYDIS_CATEGORY_ADOX_ADCX:
        return ONE(INT_ADD);
    case ZYDIS_CATEGORY_AES:
    case ZYDIS_CATEGORY_SHA:
    case ZYDIS_CATEGORY_PCLMULQDQ:
    case ZYDIS_CATEGORY_GFNI:
        return ONE(CRYPTO);
    case ZYDIS_CATEGORY_BINARY:
        return ONE(INT_ADD) | ONE(INT_COMPARE) | ONE(INT_MULT) | ONE(INT_DIV);
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_CONFLICT:
        return ONE(LOGICAL);
    case ZYDIS_CATEGORY_BMI2:
        return ONE(LOGICAL) | ONE(SHIFT) | ONE(INT_MULT);
    case ZYDIS_CATEGORY_BROADCAST:
        return ONE(SHUFFLE) | ONE(MASK);
    case ZYDIS_CATEGORY_BLEND:
    case ZYDIS_CATEGORY_COMPRESS:
    case ZYDIS_CATEGORY_EXPAND:
        return ONE(SHUFFLE);
    case ZYDIS_CATEGORY_CALL:
        return ONE(CALL);
    case ZYDIS_CATEGORY_RET:
        return ONE(RETURN) | ONE(SYSTEM);
    case ZYDIS_CATEGORY_COND_BR:
        return ONE(BRANCH) | ONE(SYSTEM);
    case ZYDIS_CATEGORY_UNCOND_BR:
        return ONE(JUMP) | ONE(SYSTEM);
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_SETCC:
        return ONE(COND_MOVE);
    case ZYDIS_CATEGORY_CONVERT:
        return ONE(FP_CONVERT) | ONE(MOVE_INT);
    case ZYDIS_CATEGORY_DATAXFER:
        return MOVES;
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_POP:
        return ONE(MOVE_INT);
    case ZYDIS_CATEGORY_FCMOV:
        return ONE(FP_MOVE);
    case ZYDIS_CATEGORY_FMA4:
    case ZYDIS_CATEGORY_VFMA:
        return ONE(FP_FMA);
    case ZYDIS_CATEGORY_IFMA:
        return ONE(INT_MULT);
    case ZYDIS_CATEGORY_AVX2GATHER:
    case ZYDIS_CATEGORY_GATHER:
        return ONE(GATHER) | ONE(PREFETCH);
    case ZYDIS_CATEGORY_SCATTER:
        return ONE(SCATTER) | ONE(PREFETCH);
    case ZYDIS_CATEGORY_KMASK:
        return ONE(MASK);
    case ZYDIS_CATEGORY_LOGICAL:
        return ONE(LOGICAL) | ONE(INT_COMPARE) | ONE(SYSTEM);
    case ZYDIS_CATEGORY_LOGICAL_FP:
        return ONE(LOGICAL) | ONE(INT_COMPARE);
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
        return ONE(NOP) | ONE(PREFETCH);
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
        return ONE(PREFETCH);
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SHIFT:
        return ONE(SHIFT);
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_IOSTRINGOP:
        return ONE(STRING);
    case ZYDIS_CATEGORY_STTNI:
        return ONE(INT_COMPARE);
    case ZYDIS_CATEGORY_X87_ALU:
        return ONE(FP_ADD) | ONE(FP_MULT) | ONE(FP_DIV) | ONE(FP_SQRT) | ONE(FP_COMPARE) |
               ONE(FP_CONVERT) | ONE(FP_MOVE) | ONE(FP_OTHER) | ONE(SYSTEM) | ONE(NOP);
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
        return ONE(SYSTEM);
    default:
        return 0; /* SSE, AVX and the like, or too few to tell */
    }
}

static void classes_fit_categories(void **state) {
    (void)state;
    unsigned n_checked = 0;
    for (uint32_t i = 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; i++) {
        uint64_t allowed = seen[i].is_seen ? classes_of_category(seen[i].category) : 0;
        const struct pm_class_rule *rule = pm_class_of(classes, i);
        if (!allowed || !rule)
            continue;
        n_checked++;
        for (unsigned k = 0; k < rule->n_ops; k++)
            if (!(allowed >> rule->op_class[k] & 1))
                fail_msg("%s is of class %s and of category %s", pm_isa_x86_64.mnemonic(i),
                         pm_op_class_name(rule->op_class[k]),
                         ZydisCategoryGetString(seen[i].category));
    }
    assert_true(n_checked > 700);
}

/* Classes of values raise nothing, products of brain floats and what XOP has are defined without
   exceptions, and Zydis tells none of complex products and of AMD's FMA4. */
static bool is_quiet(const char *mnemonic, ZydisInstructionCategory category) {
    if (category == ZYDIS_CATEGORY_FMA4)
        return true;
    static const char *const quiet[] = {"fpclass", "dpbf16", "frcz", "maddc", "mulc"};
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        if (strstr(mnemonic, quiet[i]))
            return true;
    return false;
}

/* Arithmetic on floating point can raise exceptions, and nothing else can. */
static void floating_point_is_what_raises_exceptions(void **state) {
    (void)state;
    static const uint64_t arithmetic =
        ONE(FP_ADD) | ONE(FP_MULT) | ONE(FP_FMA) | ONE(FP_DIV) | ONE(FP_SQRT) | ONE(FP_COMPARE);
    unsigned n_raising = 0, n_arithmetic = 0;
    for (uint32_t i = 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; i++) {
        const struct pm_class_rule *rule = pm_class_of(classes, i);
        const char *name = pm_isa_x86_64.mnemonic(i);
        if (!seen[i].is_seen || seen[i].is_string || seen[i].is_x87_or_mmx || !rule)
            continue;
        enum pm_op_class last = rule->op_class[rule->n_ops - 1];
        uint64_t allowed = arithmetic | ONE(FP_CONVERT) | ONE(FP_OTHER);
        if (seen[i].raises && !(allowed >> last & 1))
            fail_msg("%s is of class %s and raises floating-point exceptions", name,
                     pm_op_class_name(last));
        n_raising += seen[i].raises;
        if (!(arithmetic >> last & 1) || is_quiet(name, seen[i].category))
            continue;
        n_arithmetic++;
        if (!seen[i].raises)
            fail_msg("%s is of class %s and raises no floating-point exceptions", name,
                     pm_op_class_name(last));
    }
    assert_true(n_raising > 250 && n_arithmetic > 120);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mnemonic_has_a_class),
        cmocka_unit_test(every_name_is_an_instruction),
        cmocka_unit_test(classes_fit_categories),
        cmocka_unit_test(floating_point_is_what_raises_exceptions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
