/* Encodings of the instructions that the rewriter adds (Intel SDM volume 2; System V ABI for the
   thread's self pointer at %fs:0). */
#include "binlift/x86/rewrite/encode.h"

enum { PREFIX_FS = 0x64, PREFIX_GS = 0x65 };

static uint8_t rex_w(unsigned reg, unsigned index, unsigned base) {
    return (uint8_t)(0x48 | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3);
}

/* ModRM and SIB of an absolute 32-bit address, which a segment base is added to. */
static void put_absolute(struct pm_code *code, unsigned reg, uint32_t address) {
    pm_code_byte(code, (uint8_t)(0x04 | (reg & 7) << 3));
    pm_code_byte(code, 0x25);
    pm_code_word(code, address);
}

/* ModRM, SIB and displacement of BASE + DISPLACEMENT; LONG_FORM where 8 bits mean something else.
 */
static void put_base(struct pm_code *code, unsigned reg, unsigned base, int32_t displacement,
                     bool long_form) {
    bool zero = displacement == 0 && (base & 7) != 5 && !long_form;
    bool small = displacement >= INT8_MIN && displacement <= INT8_MAX && !long_form;
    unsigned mode = zero ? 0 : small ? 1 : 2;
    pm_code_byte(code, (uint8_t)(mode << 6 | (reg & 7) << 3 | (base & 7)));
    if ((base & 7) == PM_RSP)
        pm_code_byte(code, 0x24);
    if (mode == 1)
        pm_code_byte(code, (uint8_t)displacement);
    else if (mode == 2)
        pm_code_word(code, (uint32_t)displacement);
}

/* ---- the control block ---------------------------------------------------------------------- */

static void put_gs_of_width(struct pm_code *code, uint8_t opcode, unsigned reg, uint32_t offset,
                            bool wide) {
    pm_code_byte(code, PREFIX_GS);
    pm_code_byte(code, wide ? rex_w(reg, 0, 0) : rex_w(reg, 0, 0) & ~8u);
    pm_code_byte(code, opcode);
    put_absolute(code, reg, offset);
}

static void put_gs(struct pm_code *code, uint8_t opcode, unsigned reg, uint32_t offset) {
    put_gs_of_width(code, opcode, reg, offset, true);
}

void pm_put_load_gs(struct pm_code *code, unsigned reg, uint32_t offset) {
    put_gs(code, 0x8b, reg, offset);
}

void pm_put_store_gs(struct pm_code *code, unsigned reg, uint32_t offset) {
    put_gs(code, 0x89, reg, offset);
}

void pm_put_increment_gs(struct pm_code *code, uint32_t offset) { put_gs(code, 0xff, 0, offset); }

void pm_put_compare_gs(struct pm_code *code, unsigned reg, uint32_t offset) {
    put_gs(code, 0x3b, reg, offset);
}

void pm_put_subtract_gs(struct pm_code *code, unsigned reg, uint32_t offset, bool wide) {
    put_gs_of_width(code, 0x2b, reg, offset, wide);
}

void pm_put_add_gs(struct pm_code *code, unsigned reg, uint32_t offset) {
    put_gs(code, 0x01, reg, offset);
}

/* OPCODE with the register in the lower field and EXTENSION in the other. */
static void put_unary(struct pm_code *code, uint8_t opcode, unsigned extension, unsigned reg,
                      bool wide) {
    pm_code_byte(code, wide ? rex_w(0, 0, reg) : rex_w(0, 0, reg) & ~8u);
    pm_code_byte(code, opcode);
    pm_code_byte(code, (uint8_t)(0xc0 | extension << 3 | (reg & 7)));
}

void pm_put_negate(struct pm_code *code, unsigned reg, bool wide) {
    put_unary(code, 0xf7, 3, reg, wide);
}

void pm_put_shift_right(struct pm_code *code, unsigned reg, uint8_t n_bits, bool wide) {
    put_unary(code, 0xc1, 5, reg, wide);
    pm_code_byte(code, n_bits);
}

void pm_put_compare_tag_gs(struct pm_code *code, uint32_t tag, uint32_t offset) {
    pm_code_append(code, (uint8_t[]){PREFIX_GS, 0x81}, 2);
    put_absolute(code, 7, offset);
    pm_code_word(code, tag);
}

void pm_put_store_tag_gs(struct pm_code *code, uint32_t tag, uint32_t offset) {
    pm_code_append(code, (uint8_t[]){PREFIX_GS, 0xc7}, 2);
    put_absolute(code, 0, offset);
    pm_code_word(code, tag);
}

void pm_put_jump_gs(struct pm_code *code, uint32_t offset) {
    pm_code_append(code, (uint8_t[]){PREFIX_GS, 0xff}, 2);
    put_absolute(code, 4, offset);
}

/* ModRM and displacement of BASE + OFFSET. */
static void put_based(struct pm_code *code, unsigned reg, unsigned base, uint32_t offset) {
    pm_code_byte(code, (uint8_t)(0x80 | (reg & 7) << 3 | base));
    pm_code_word(code, offset);
}

void pm_put_set_gs_based(struct pm_code *code, uint8_t condition, unsigned base, uint32_t offset) {
    pm_code_append(code, (uint8_t[]){PREFIX_GS, 0x0f, (uint8_t)(0x90 | condition)}, 3);
    put_based(code, 0, base, offset);
}

void pm_put_store_tag_gs_based(struct pm_code *code, uint32_t tag, unsigned base, uint32_t offset) {
    pm_code_append(code, (uint8_t[]){PREFIX_GS, 0xc7}, 2);
    put_based(code, 0, base, offset);
    pm_code_word(code, tag);
}

void pm_put_store_gs_based(struct pm_code *code, unsigned reg, unsigned base, uint32_t offset) {
    pm_code_append(code, (uint8_t[]){PREFIX_GS, (uint8_t)(0x40 | (reg >> 3) << 2), 0x89}, 3);
    put_based(code, reg, base, offset);
}

/* ---- memory and registers ------------------------------------------------------------------- */

static void put_with_base(struct pm_code *code, uint8_t opcode, unsigned reg, unsigned base,
                          int32_t displacement) {
    pm_code_byte(code, rex_w(reg, 0, base));
    pm_code_byte(code, opcode);
    put_base(code, reg, base, displacement, false);
}

void pm_put_store(struct pm_code *code, unsigned reg, unsigned base, int32_t displacement) {
    put_with_base(code, 0x89, reg, base, displacement);
}

void pm_put_store_immediate(struct pm_code *code, int32_t value, unsigned base,
                            int32_t displacement) {
    put_with_base(code, 0xc7, 0, base, displacement);
    pm_code_word(code, (uint32_t)value);
}

void pm_put_add(struct pm_code *code, unsigned reg, int8_t number) {
    put_unary(code, 0x83, 0, reg, true);
    pm_code_byte(code, (uint8_t)number);
}

void pm_put_lea(struct pm_code *code, unsigned reg, unsigned base, int32_t displacement) {
    put_with_base(code, 0x8d, reg, base, displacement);
}

void pm_put_lea_indexed(struct pm_code *code, unsigned reg, uint8_t base, uint8_t index,
                        uint8_t scale, int32_t displacement) {
    bool has_base = base != PM_REGISTER_NONE, has_index = index != PM_REGISTER_NONE;
    if (has_base && !has_index) {
        pm_put_lea(code, reg, base, displacement);
        return;
    }
    unsigned base_bits = has_base ? base : 5, index_bits = has_index ? index : 4;
    unsigned scale_bits = scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
    bool small = displacement >= INT8_MIN && displacement <= INT8_MAX;
    unsigned mode = !has_base ? 0 : small ? 1 : 2; /* without a base, 0 has 32 bits */
    pm_code_byte(code, rex_w(reg, has_index ? index : 0, has_base ? base : 0));
    pm_code_byte(code, 0x8d);
    pm_code_byte(code, (uint8_t)(mode << 6 | (reg & 7) << 3 | 4));
    pm_code_byte(code, (uint8_t)(scale_bits << 6 | (index_bits & 7) << 3 | (base_bits & 7)));
    if (mode == 1)
        pm_code_byte(code, (uint8_t)displacement);
    else
        pm_code_word(code, (uint32_t)displacement);
}

void pm_put_lea_target(struct pm_code *code, unsigned reg, struct pm_target target) {
    pm_code_byte(code, rex_w(reg, 0, 0));
    pm_code_byte(code, 0x8d);
    pm_code_byte(code, (uint8_t)(0x05 | (reg & 7) << 3));
    pm_code_relative(code, target, 4);
}

void pm_put_load_fs_base(struct pm_code *code, unsigned reg) {
    pm_code_byte(code, PREFIX_FS);
    pm_code_byte(code, rex_w(reg, 0, 0));
    pm_code_byte(code, 0x8b);
    put_absolute(code, reg, 0);
}

/* ---- flags ---------------------------------------------------------------------------------- */

void pm_put_save_flags(struct pm_code *code) {
    static const uint8_t lahf_seto_al[] = {0x9f, 0x0f, 0x90, 0xc0};
    pm_code_append(code, lahf_seto_al, sizeof lahf_seto_al);
}

void pm_put_restore_flags(struct pm_code *code) {
    static const uint8_t add_127_al_sahf[] = {0x04, 0x7f, 0x9e}; /* 1 + 127 overflows */
    pm_code_append(code, add_127_al_sahf, sizeof add_127_al_sahf);
}

void pm_put_read_flags_register(struct pm_code *code, unsigned reg) {
    pm_put_lea(code, PM_RSP, PM_RSP, -128);
    pm_code_byte(code, 0x9c); /* pushfq */
    if (reg >= 8)
        pm_code_byte(code, 0x41);
    pm_code_byte(code, (uint8_t)(0x58 | (reg & 7))); /* pop */
    pm_put_lea(code, PM_RSP, PM_RSP, 128);
}

/* ---- masks and vectors ---------------------------------------------------------------------- */

void pm_put_read_mask(struct pm_code *code, unsigned reg, unsigned mask, bool wide) {
    uint8_t inverted_r = reg >= 8 ? 0 : 0x80;
    if (wide) /* kmovq */
        pm_code_append(code, (uint8_t[]){0xc4, (uint8_t)(inverted_r | 0x61), 0xfb}, 3);
    else /* kmovw */
        pm_code_append(code, (uint8_t[]){0xc5, (uint8_t)(inverted_r | 0x78)}, 2);
    pm_code_append(code, (uint8_t[]){0x93, (uint8_t)(0xc0 | (reg & 7) << 3 | mask)}, 2);
}

void pm_put_store_xmm(struct pm_code *code, unsigned vector, unsigned base, int32_t displacement) {
    uint8_t rex = (uint8_t)(0x40 | (vector >> 3) << 2 | base >> 3);
    pm_code_append(code, (uint8_t[]){rex, 0x0f, 0x11}, 3); /* movups */
    put_base(code, vector, base, displacement, false);
}

void pm_put_store_ymm(struct pm_code *code, unsigned vector, unsigned base, int32_t displacement) {
    uint8_t inverted = (uint8_t)((vector >= 8 ? 0 : 0x80) | 0x40 | (base >= 8 ? 0 : 0x20));
    pm_code_append(code, (uint8_t[]){0xc4, (uint8_t)(inverted | 1), 0x7c, 0x11}, 4); /* vmovups */
    put_base(code, vector, base, displacement, false);
}

void pm_put_store_zmm(struct pm_code *code, unsigned vector, unsigned base, int32_t displacement) {
    uint8_t inverted = (uint8_t)((vector & 8 ? 0 : 0x80) | 0x40 | (base >= 8 ? 0 : 0x20) |
                                 (vector & 16 ? 0 : 0x10));
    pm_code_append(code, (uint8_t[]){0x62, (uint8_t)(inverted | 1), 0x7c, 0x48, 0x11}, 5);
    put_base(code, vector, base, displacement, true); /* 8 bits would count in units of 64 */
}
