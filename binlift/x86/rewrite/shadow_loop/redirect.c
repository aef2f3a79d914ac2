/* Instructions with another operand in the place of their memory operand.  Only the bytes that name
   the operand change (Intel SDM volume 2, 2.1.3, 2.2.1.6: mod 00 and r/m 101 are pc-relative):
   prefixes of segments and of the address size go, ModRM and displacement are new, SIB goes, an
   immediate follows as it was. */
#include "binlift/x86/rewrite/shadow_loop/private.h"
#include "binlift/x86/zydis.h"

#include <string.h>

enum { MODRM_PC_RELATIVE = 0x05, MODRM_REGISTER = 0xc0, MODRM_REG = 0x38, REX = 0x40, REX_B = 1 };

/* ---- parts of an instruction ----------------------------------------------------------------- */

static bool says_where(uint8_t prefix) {
    switch (prefix) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x67:
        return true;
    default:
        return false;
    }
}

/* Prefixes that stand before all others, as far as an escape or REX: those of legacy. */
static unsigned n_legacy_prefixes(const ZydisDecodedInstruction *insn) {
    unsigned n = 0;
    while (n < insn->raw.prefix_count && (insn->raw.prefixes[n].value & 0xf0) != REX)
        n++;
    return n;
}

static const ZydisDecodedOperand *memory_of(const struct pm_x86 *x86) {
    for (unsigned i = 0; i < x86->insn.operand_count; i++)
        if (x86->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            x86->operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
            return &x86->operands[i];
    return NULL;
}

/* Its memory operand, if its ModRM byte names that; NULL: it does not. */
static const ZydisDecodedOperand *decode(const uint8_t *bytes, unsigned length,
                                         struct pm_x86 *x86) {
    if (!pm_x86_decode(bytes, length, x86) || !(x86->insn.attributes & ZYDIS_ATTRIB_HAS_MODRM) ||
        x86->insn.raw.modrm.mod == 3)
        return NULL;
    const ZydisDecodedOperand *memory = memory_of(x86);
    return memory && memory->mem.type != ZYDIS_MEMOP_TYPE_VSIB ? memory : NULL;
}

static void put(struct pm_redirected *made, const uint8_t *bytes, unsigned n) {
    memcpy(made->bytes + made->length, bytes, n);
    made->length = (uint8_t)(made->length + n);
}

/* Prefixes of legacy that stay; how many bytes of the old instruction they and the others take. */
static unsigned put_prefixes(const ZydisDecodedInstruction *insn, const uint8_t *bytes,
                             struct pm_redirected *made) {
    unsigned n = n_legacy_prefixes(insn);
    for (unsigned i = 0; i < n; i++)
        if (!says_where(bytes[i]))
            put(made, bytes + i, 1);
    return n;
}

/* What stands behind the operand: an immediate. */
static unsigned end_of_operand(const ZydisDecodedInstruction *insn) {
    unsigned end = insn->raw.modrm.offset + 1u;
    if (insn->attributes & ZYDIS_ATTRIB_HAS_SIB)
        end = insn->raw.sib.offset + 1u;
    if (insn->raw.disp.size > 0)
        end = insn->raw.disp.offset + insn->raw.disp.size / 8u;
    return end;
}

/* ---- the two forms --------------------------------------------------------------------------- */

bool pm_x86_to_pc_relative(const uint8_t *bytes, unsigned length, struct pm_redirected *made) {
    static const uint8_t no_displacement[4];
    struct pm_x86 x86;
    *made = (struct pm_redirected){0};
    if (!decode(bytes, length, &x86))
        return false;
    unsigned modrm = x86.insn.raw.modrm.offset, end = end_of_operand(&x86.insn);
    unsigned prefixes = put_prefixes(&x86.insn, bytes, made);
    uint8_t new_modrm = (bytes[modrm] & MODRM_REG) | MODRM_PC_RELATIVE;
    put(made, bytes + prefixes, modrm - prefixes);
    put(made, &new_modrm, 1);
    made->displacement_at = made->length;
    put(made, no_displacement, sizeof no_displacement);
    put(made, bytes + end, length - end);
    return true;
}

static bool names_high_byte(const struct pm_x86 *x86) {
    for (unsigned i = 0; i < x86->insn.operand_count; i++)
        if (x86->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            x86->operands[i].reg.value >= ZYDIS_REGISTER_AH &&
            x86->operands[i].reg.value <= ZYDIS_REGISTER_BH)
            return true;
    return false;
}

/* The number goes into ModRM, its highest bit into REX, which may have to be added: for that bit,
   and for a byte of rsp, rbp, rsi and rdi. */
bool pm_x86_to_register(const uint8_t *bytes, unsigned length, unsigned reg,
                        struct pm_redirected *made) {
    struct pm_x86 x86;
    *made = (struct pm_redirected){0};
    const ZydisDecodedOperand *memory = decode(bytes, length, &x86);
    if (!memory || x86.insn.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return false;
    unsigned modrm = x86.insn.raw.modrm.offset, end = end_of_operand(&x86.insn);
    unsigned prefixes = put_prefixes(&x86.insn, bytes, made);
    bool has_rex = (x86.insn.attributes & ZYDIS_ATTRIB_HAS_REX) != 0;
    bool needs_rex = reg >= 8 || (memory->size == 8 && reg >= 4);
    if (needs_rex && names_high_byte(&x86))
        return false;
    uint8_t rex = has_rex ? bytes[prefixes] : REX;
    rex = (uint8_t)((rex & ~(unsigned)REX_B) | reg >> 3);
    if (has_rex || needs_rex)
        put(made, &rex, 1);
    prefixes += has_rex;
    uint8_t new_modrm = (uint8_t)(MODRM_REGISTER | (bytes[modrm] & MODRM_REG) | (reg & 7));
    put(made, bytes + prefixes, modrm - prefixes);
    put(made, &new_modrm, 1);
    put(made, bytes + end, length - end);
    return true;
}

bool pm_x86_is_vex(const uint8_t *bytes, unsigned length) {
    struct pm_x86 x86;
    return pm_x86_decode(bytes, length, &x86) &&
           x86.insn.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

bool pm_x86_is_prefetch(const uint8_t *bytes, unsigned length) {
    struct pm_x86 x86;
    return pm_x86_decode(bytes, length, &x86) &&
           (x86.insn.meta.category == ZYDIS_CATEGORY_PREFETCH ||
            x86.insn.meta.category == ZYDIS_CATEGORY_PREFETCHWT1);
}
