/* The form of a jump table, by slicing backwards from an indirect jump.  What GCC and Clang emit:

     jmp  *table(,idx,8)                                       absolute, not PIC
     mov  table(,idx,8), r;  jmp *r                            the same at -O0
     shl $3, r;  add $table, r;  mov (r), r;  jmp *r          absolute, 64-bit index at -O0
     lea  table(%rip), b;  movslq (b,idx,4), r;  add b, r;  jmp *r          relative, PIC
     lea  table(%rip), b;  mov (b,idx), %e;  cltq;  lea table(%rip), c;  add c, r;  jmp *r   -O0

   in front of which `cmp $n, idx; ja default` bounds the index.  Between these, instructions of
   the neighbourhood may stand, and the base register may be set far away, outside a loop.  So the
   base is searched for among all places in the routine before the jump that set that register,
   nearest first, and taken when the first entry leads into the code around the jump. */
#include "binlift/x86/zydis.h"

#include <string.h>

enum { LOOK_BACK = 200, MAX_MOVES = 8, NEAR_CODE = 1 << 26 };

struct slice {
    const struct pm_insn *insns;
    uint32_t jump, first;
    void *image;
    pm_read_memory *read;
};

static bool decode_at(const struct slice *slice, uint32_t k, struct pm_x86 *x86) {
    const struct pm_insn *insn = &slice->insns[k];
    const uint8_t *bytes = slice->read(slice->image, insn->address, insn->length);
    return bytes && pm_x86_decode(bytes, insn->length, x86);
}

static bool defines(const struct pm_insn *insn, unsigned reg) {
    return insn->registers->defs.general >> reg & 1;
}

/* Number of a general register operand; PM_REGISTER_NONE for another kind of operand. */
static uint8_t general(const ZydisDecodedOperand *operand) {
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return PM_REGISTER_NONE;
    struct pm_x86_register found = pm_x86_register(operand->reg.value);
    return found.file == PM_X86_FILE_GENERAL ? found.number : PM_REGISTER_NONE;
}

static uint8_t address_part(ZydisRegister name) {
    struct pm_x86_register found = pm_x86_register(name);
    return found.file == PM_X86_FILE_GENERAL ? found.number : PM_REGISTER_NONE;
}

/* The nearest instruction before K that sets REG; false: none close by, or behind a place that
   control does not fall through (calls only destroy what they may). */
static bool find_definition(const struct slice *slice, uint32_t k, unsigned reg, uint32_t *at) {
    while (k-- > slice->first && slice->jump - k < LOOK_BACK) {
        if (defines(&slice->insns[k], reg)) {
            *at = k;
            return true;
        }
    }
    return false;
}

static bool is_plausible(const struct slice *slice, uint64_t table, bool relative) {
    uint64_t jump = slice->insns[slice->jump].address, target = 0;
    const uint8_t *bytes = slice->read(slice->image, table, relative ? 4 : 8);
    if (!bytes)
        return false;
    memcpy(&target, bytes, relative ? 4 : 8);
    if (!relative)
        return true; /* may be written by the dynamic linker */
    target = table + (uint64_t)(int64_t)(int32_t)target;
    return target - jump + NEAR_CODE < 2 * (uint64_t)NEAR_CODE;
}

/* `lea table(%rip), reg` or `mov $table, reg`: the constant. */
static bool constant_of(const struct slice *slice, uint32_t k, unsigned reg, uint64_t *value) {
    struct pm_x86 x86;
    if (!decode_at(slice, k, &x86) || general(&x86.operands[0]) != reg)
        return false;
    const ZydisDecodedOperand *source = &x86.operands[1];
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_LEA && source->mem.base == ZYDIS_REGISTER_RIP) {
        *value =
            slice->insns[k].address + slice->insns[k].length + (uint64_t)source->mem.disp.value;
        return true;
    }
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV && source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        *value = source->imm.value.u;
        return true;
    }
    return false;
}

/* The store that a reload `mov d(%rsp), reg` at K takes its value from; registers only. */
static bool find_spill(const struct slice *slice, uint32_t k, uint32_t *at, uint8_t *reg) {
    struct pm_x86 reload, store;
    if (!decode_at(slice, k, &reload) || reload.insn.mnemonic != ZYDIS_MNEMONIC_MOV ||
        reload.operands[1].type != ZYDIS_OPERAND_TYPE_MEMORY ||
        reload.operands[1].mem.index != ZYDIS_REGISTER_NONE)
        return false;
    const ZydisDecodedOperandMem *slot = &reload.operands[1].mem;
    if (slot->base != ZYDIS_REGISTER_RSP && slot->base != ZYDIS_REGISTER_RBP)
        return false;
    while (k-- > slice->first) {
        if (!slice->insns[k].n_memory || slice->insns[k].memory[0].access != PM_ACCESS_STORE ||
            slice->insns[k].memory[0].displacement != slot->disp.value ||
            !decode_at(slice, k, &store) || store.insn.mnemonic != ZYDIS_MNEMONIC_MOV ||
            store.operands[0].mem.base != slot->base ||
            store.operands[0].mem.index != ZYDIS_REGISTER_NONE)
            continue;
        *at = k;
        *reg = general(&store.operands[1]);
        if (*reg != PM_REGISTER_NONE)
            return true;
    }
    return false;
}

static bool is_move_of_quadword(const struct pm_x86 *x86) {
    return x86->insn.mnemonic == ZYDIS_MNEMONIC_MOVQ || x86->insn.mnemonic == ZYDIS_MNEMONIC_VMOVQ;
}

/* The move into a vector register that `vmovq %xmm, reg` at K takes its value from: where general
   registers run out, the compiler keeps the address of a table there. */
static bool find_kept(const struct slice *slice, uint32_t k, uint32_t *at, uint8_t *reg) {
    struct pm_x86 back, kept;
    if (!decode_at(slice, k, &back) || !is_move_of_quadword(&back) ||
        back.operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        general(&back.operands[1]) != PM_REGISTER_NONE)
        return false;
    while (k-- > slice->first) {
        if (!decode_at(slice, k, &kept) || !is_move_of_quadword(&kept) ||
            kept.operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
            kept.operands[0].reg.value != back.operands[1].reg.value)
            continue;
        *at = k;
        *reg = general(&kept.operands[1]);
        if (*reg != PM_REGISTER_NONE)
            return true;
    }
    return false;
}

/* Value of REG before instruction K as the address of a table. */
static bool find_base(const struct slice *slice, uint32_t k, uint8_t reg, bool relative,
                      uint64_t *table) {
    unsigned moves = 0;
    if (reg == PM_REGISTER_NONE)
        return false;
    while (k-- > slice->first) {
        struct pm_x86 x86;
        uint32_t store = k;
        if (!defines(&slice->insns[k], reg))
            continue;
        if (constant_of(slice, k, reg, table) && is_plausible(slice, *table, relative))
            return true;
        if (moves == MAX_MOVES || !decode_at(slice, k, &x86))
            continue;
        uint8_t source = general(&x86.operands[1]);
        if (source == PM_REGISTER_NONE && find_kept(slice, k, &store, &source)) {
            k = store;
            reg = source;
            moves++;
            continue;
        }
        if (x86.insn.mnemonic != ZYDIS_MNEMONIC_MOV)
            continue;
        if (source == PM_REGISTER_NONE && !find_spill(slice, k, &store, &source))
            continue;
        if (x86.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
            k = store;
        reg = source;
        moves++;
    }
    return false;
}

/* ---- the bounds check ----------------------------------------------------------------------- */

/* Where the index is: a register or, at -O0, a place in memory. */
struct place {
    uint8_t reg;
    ZydisDecodedOperandMem memory; /* if reg is PM_REGISTER_NONE */
};

static bool is_same(const struct place *place, const ZydisDecodedOperand *operand) {
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
        return place->reg == PM_REGISTER_NONE && operand->mem.base == place->memory.base &&
               operand->mem.index == place->memory.index &&
               operand->mem.disp.value == place->memory.disp.value;
    return place->reg != PM_REGISTER_NONE && general(operand) == place->reg;
}

/* Entries that `cmp $limit` and the branch behind it let through. */
static uint64_t entries_of_branch(const struct slice *slice, uint32_t compare, uint64_t limit) {
    for (uint32_t k = compare + 1; k < slice->jump; k++) {
        struct pm_x86 x86;
        if (slice->insns[k].control == PM_CONTROL_NONE)
            continue;
        if (slice->insns[k].control != PM_CONTROL_BRANCH || !decode_at(slice, k, &x86))
            return 0;
        switch (x86.insn.mnemonic) {
        case ZYDIS_MNEMONIC_JNBE: /* ja */
        case ZYDIS_MNEMONIC_JBE:
            return limit + 1;
        case ZYDIS_MNEMONIC_JNB: /* jae */
        case ZYDIS_MNEMONIC_JB:
            return limit;
        default:
            return 0;
        }
    }
    return 0;
}

/* The largest value of so many bits, at most 32: an immediate is sign-extended, an index is not. */
static uint64_t values_of_width(unsigned bits) { return UINT32_MAX >> (bits < 32 ? 32 - bits : 0); }

/* Follows the index backwards through copies and extensions to its comparison. */
static uint64_t find_bound(const struct slice *slice, uint32_t load, uint8_t index) {
    struct place place = {index, {0}};
    for (uint32_t k = load; k-- > slice->first && load - k < LOOK_BACK;) {
        const struct pm_insn *insn = &slice->insns[k];
        struct pm_x86 x86;
        if (insn->control != PM_CONTROL_NONE && insn->control != PM_CONTROL_BRANCH)
            return 0;
        if (!decode_at(slice, k, &x86))
            return 0;
        const ZydisDecodedOperand *first = &x86.operands[0], *second = &x86.operands[1];
        bool immediate =
            x86.insn.operand_count_visible >= 2 && second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        if (x86.insn.mnemonic == ZYDIS_MNEMONIC_CMP && immediate && is_same(&place, first))
            return entries_of_branch(slice, k, second->imm.value.u & values_of_width(first->size));
        if (place.reg == PM_REGISTER_NONE) {
            if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV && is_same(&place, first) &&
                general(second) != PM_REGISTER_NONE)
                place.reg = general(second); /* cmp before the value was stored */
            continue;
        }
        if (!defines(insn, place.reg))
            continue;
        if (x86.insn.mnemonic == ZYDIS_MNEMONIC_AND && immediate && is_same(&place, first) &&
            second->imm.value.u < UINT16_MAX)
            return second->imm.value.u + 1;
        bool copies = x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV ||
                      x86.insn.mnemonic == ZYDIS_MNEMONIC_MOVZX ||
                      x86.insn.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
        if (x86.insn.mnemonic == ZYDIS_MNEMONIC_CDQE)
            continue;
        if (x86.insn.mnemonic == ZYDIS_MNEMONIC_LEA && second->mem.base == ZYDIS_REGISTER_NONE &&
            second->mem.disp.value == 0) {
            place.reg = address_part(second->mem.index); /* -O0: lea 0(,idx,4) */
        } else if (copies && second->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            place = (struct place){PM_REGISTER_NONE, second->mem};
        } else if (copies && general(second) != PM_REGISTER_NONE) {
            place.reg = general(second);
        } else {
            return 0;
        }
    }
    return 0;
}

/* ---- the forms ------------------------------------------------------------------------------ */

/* `table(,idx,8)`, or `(b,idx,8)` with a constant b, read by instruction K. */
/* shl $3, r;  add $table, r;  mov (r), …: the index of a 64-bit switch at -O0. */
static bool added_form(const struct slice *slice, uint32_t k, uint8_t reg,
                       struct pm_table_form *form) {
    struct pm_x86 x86;
    uint32_t add, shift;
    if (reg == PM_REGISTER_NONE || !find_definition(slice, k, reg, &add) ||
        !decode_at(slice, add, &x86) || x86.insn.mnemonic != ZYDIS_MNEMONIC_ADD ||
        x86.operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    uint64_t table = x86.operands[1].imm.value.u;
    if (!is_plausible(slice, table, false) || !find_definition(slice, add, reg, &shift) ||
        !decode_at(slice, shift, &x86) || x86.insn.mnemonic != ZYDIS_MNEMONIC_SHL ||
        x86.operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || x86.operands[1].imm.value.u != 3)
        return false;
    *form = (struct pm_table_form){
        .table = table, .entry_bytes = 8, .max_entries = find_bound(slice, shift, reg)};
    return true;
}

static bool absolute_form(const struct slice *slice, uint32_t k,
                          const ZydisDecodedOperandMem *memory, struct pm_table_form *form) {
    if (memory->index == ZYDIS_REGISTER_NONE && memory->disp.value == 0)
        return added_form(slice, k, address_part(memory->base), form);
    if (memory->index == ZYDIS_REGISTER_NONE || memory->scale != 8)
        return false;
    uint64_t table = (uint64_t)memory->disp.value;
    if (memory->base != ZYDIS_REGISTER_NONE) {
        uint64_t base;
        if (!find_base(slice, k, address_part(memory->base), false, &base))
            return false;
        table += base;
    } else if (!is_plausible(slice, table, false)) {
        return false;
    }
    *form =
        (struct pm_table_form){.table = table,
                               .entry_bytes = 8,
                               .max_entries = find_bound(slice, k, address_part(memory->index))};
    return true;
}

/* `movslq (b,idx,4), r` or `mov (b,idx), %r; cltq` at K, whose result is added to BASE before
   instruction ADD. */
static bool relative_form(const struct slice *slice, uint32_t k, uint32_t add, uint8_t base,
                          struct pm_table_form *form) {
    struct pm_x86 x86;
    uint64_t table;
    if (!decode_at(slice, k, &x86))
        return false;
    bool loads =
        (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOVSXD || x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV) &&
        x86.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY && x86.operands[1].size == 32;
    if (!loads || !find_base(slice, add, base, true, &table))
        return false;
    const ZydisDecodedOperandMem *memory = &x86.operands[1].mem;
    uint8_t index = address_part(memory->scale == 4 ? memory->index : memory->base);
    uint64_t bound = index == PM_REGISTER_NONE ? 0 : find_bound(slice, k, index);
    if (!bound && memory->scale == 1) /* -O0: base and index are interchangeable */
        bound = find_bound(slice, k, address_part(memory->index));
    *form = (struct pm_table_form){.table = table,
                                   .entry_bytes = 4,
                                   .relative = true,
                                   .is_signed = true,
                                   .scale = 1,
                                   .base = table,
                                   .max_entries = bound};
    return true;
}

/* The load of a table entry into REG that the extension `cltq` at *K belongs to, if there is one.
 */
static bool skip_extension(const struct slice *slice, uint32_t *k, uint8_t reg) {
    struct pm_x86 x86;
    if (!decode_at(slice, *k, &x86))
        return false;
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_CDQE)
        return find_definition(slice, *k, PM_X86_RAX, k);
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOVSXD && general(&x86.operands[1]) != PM_REGISTER_NONE)
        return find_definition(slice, *k, general(&x86.operands[1]), k);
    return reg != PM_REGISTER_NONE;
}

static bool register_form(const struct slice *slice, uint8_t reg, struct pm_table_form *form) {
    struct pm_x86 x86;
    uint32_t k = slice->jump, load;
    for (unsigned moves = 0; moves < MAX_MOVES; moves++) {
        if (!find_definition(slice, k, reg, &k) || !decode_at(slice, k, &x86))
            return false;
        if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
            x86.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return absolute_form(slice, k, &x86.operands[1].mem, form);
        if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
            general(&x86.operands[1]) != PM_REGISTER_NONE) {
            reg = general(&x86.operands[1]);
            continue;
        }
        break;
    }
    uint8_t a, b;
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_ADD) {
        a = general(&x86.operands[0]);
        b = general(&x86.operands[1]);
    } else if (x86.insn.mnemonic == ZYDIS_MNEMONIC_LEA && x86.operands[1].mem.scale <= 1 &&
               x86.operands[1].mem.disp.value == 0) {
        a = address_part(x86.operands[1].mem.base);
        b = address_part(x86.operands[1].mem.index);
    } else {
        return false;
    }
    if (a == PM_REGISTER_NONE || b == PM_REGISTER_NONE)
        return false;
    for (int swap = 0; swap < 2; swap++) {
        uint8_t entry = swap ? b : a, base = swap ? a : b;
        if (find_definition(slice, k, entry, &load) && skip_extension(slice, &load, entry) &&
            relative_form(slice, load, k, base, form))
            return true;
    }
    return false;
}

struct pm_table_form pm_x86_isa_find_table(const struct pm_insn *insns, uint32_t jump,
                                           uint32_t first, void *image, pm_read_memory *read,
                                           bool *found) {
    struct slice slice = {insns, jump, first, image, read};
    struct pm_table_form form = {0};
    struct pm_x86 x86;
    *found = false;
    if (!decode_at(&slice, jump, &x86))
        return form;
    const ZydisDecodedOperand *target = &x86.operands[0];
    if (target->type == ZYDIS_OPERAND_TYPE_MEMORY)
        *found = absolute_form(&slice, jump, &target->mem, &form);
    else if (general(target) != PM_REGISTER_NONE)
        *found = register_form(&slice, general(target), &form);
    return form;
}
