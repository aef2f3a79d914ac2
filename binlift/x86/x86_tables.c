/* The form of a jump table, by slicing backwards from an indirect jump.  What GCC and Clang emit:

     jmp  *table(,idx,8)                                       absolute, not PIC
     mov  table(,idx,8), r;  jmp *r                            the same at -O0
     shl $3, r;  add $table, r;  mov (r), r;  jmp *r          absolute, 64-bit index at -O0
     lea  table(%rip), b;  movslq (b,idx,4), r;  add b, r;  jmp *r          relative, PIC
     lea  table(%rip), b;  mov (b,idx), %e;  cltq;  lea table(%rip), c;  add c, r;  jmp *r   -O0

   in front of which `cmp $n, idx; ja default` bounds the index.  Between these, instructions of
   the neighbourhood may stand, and the base register may be set far away, outside a loop.  So the
   base is searched for among all places in the routine before the jump that set that register,
   nearest first, and taken when the first entry leads into the code around the jump.  Where labels
   are computed (`goto *(&&label + offset[i])`) entries are relative to a label instead. */
#include "binlift/x86/x86_tables.h"

enum { MOST_COPIES = 8 }; /* of the target that are followed */

/* shl $3, r;  add $table, r;  mov (r), …: the index of a 64-bit switch at -O0. */
static bool added_form(struct pm_slice *slice, uint32_t k, uint8_t reg,
                       struct pm_table_form *form) {
    struct pm_x86 x86;
    uint32_t add, shift;
    if (reg == PM_REGISTER_NONE || !pm_slice_definition(slice, k, reg, &add) ||
        !pm_slice_decode(slice, add, &x86) || x86.insn.mnemonic != ZYDIS_MNEMONIC_ADD ||
        x86.operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    uint64_t table = x86.operands[1].imm.value.u;
    if (!pm_slice_is_table(slice, table, false, 0) ||
        !pm_slice_definition(slice, add, reg, &shift) || !pm_slice_decode(slice, shift, &x86) ||
        x86.insn.mnemonic != ZYDIS_MNEMONIC_SHL ||
        x86.operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || x86.operands[1].imm.value.u != 3)
        return false;
    uint64_t bound = pm_slice_bound(slice, shift, reg);
    *form = (struct pm_table_form){
        .table = table, .entry_bytes = 8, .is_checked = !slice->only_width, .max_entries = bound};
    return true;
}

/* `table(,idx,8)`, or `(b,idx,8)` with a constant b, read by instruction K. */
static bool absolute_form(struct pm_slice *slice, uint32_t k, const ZydisDecodedOperandMem *memory,
                          struct pm_table_form *form) {
    if (memory->index == ZYDIS_REGISTER_NONE && memory->disp.value == 0)
        return added_form(slice, k, pm_slice_address_part(memory->base), form);
    if (memory->index == ZYDIS_REGISTER_NONE || memory->scale != 8)
        return false;
    uint64_t table = (uint64_t)memory->disp.value;
    if (memory->base != ZYDIS_REGISTER_NONE) {
        uint64_t base;
        if (!pm_slice_base(slice, k, pm_slice_address_part(memory->base), WANT_ABSOLUTE, 0, &base))
            return false;
        table += base;
    } else if (!pm_slice_is_table(slice, table, false, 0)) {
        return false;
    }
    uint64_t bound = pm_slice_bound(slice, k, pm_slice_address_part(memory->index));
    *form = (struct pm_table_form){
        .table = table, .entry_bytes = 8, .is_checked = !slice->only_width, .max_entries = bound};
    return true;
}

/* The label that REG surely has before instruction K, set in the straight line that leads there. */
static bool straight_label(const struct pm_slice *slice, uint32_t k, uint8_t reg, uint64_t *label) {
    while (k > slice->first) {
        size_t at = pm_first_jump_to(slice->jumps, slice->n_jumps, k);
        if ((at < slice->n_jumps && slice->jumps[at].to == k) ||
            !pm_slice_runs_into(&slice->insns[k - 1]))
            return false;
        if (pm_slice_defines(&slice->insns[--k], reg))
            return pm_slice_constant(slice, k, reg, label) &&
                   !slice->is_data(slice->image, *label) &&
                   pm_slice_is_wanted(slice, WANT_LABEL, *label, 0);
    }
    return false;
}

/* Offsets that are relative to a label, not to their table: the register or constant that the load
   MEMORY at K has beside its index is the table. */
static bool find_labelled_table(const struct pm_slice *slice, uint32_t k, uint32_t add,
                                uint8_t base, const ZydisDecodedOperandMem *memory, uint64_t *table,
                                uint64_t *label) {
    if (memory->scale != 4 || !pm_slice_base(slice, add, base, WANT_LABEL, 0, label))
        return false;
    if (memory->base == ZYDIS_REGISTER_NONE) {
        *table = (uint64_t)memory->disp.value;
        return pm_slice_is_table(slice, *table, true, *label);
    }
    return memory->disp.value == 0 && pm_slice_base(slice, k, pm_slice_address_part(memory->base),
                                                    WANT_RELATIVE_TO_LABEL, *label, table);
}

/* `movslq (b,idx,4), r` or `mov (b,idx), %r; cltq` at K, whose result is added to BASE before
   instruction ADD. */
static bool relative_form(struct pm_slice *slice, uint32_t k, uint32_t add, uint8_t base,
                          struct pm_table_form *form) {
    struct pm_x86 x86;
    uint64_t table, label;
    if (!pm_slice_decode(slice, k, &x86))
        return false;
    bool loads =
        (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOVSXD || x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV) &&
        x86.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY && x86.operands[1].size == 32;
    if (!loads)
        return false;
    const ZydisDecodedOperandMem *memory = &x86.operands[1].mem;
    bool same_register = pm_slice_address_part(memory->base) == base;
    bool relative = pm_slice_base(slice, add, base, WANT_RELATIVE, 0, &table);
    uint64_t loaded; /* the address that the load has, if it is a table's by itself */
    bool has_label = straight_label(slice, add, base, &label);
    bool agrees =
        relative && !has_label &&
        (same_register || memory->scale == 1 ||
         (pm_slice_base(slice, k, pm_slice_address_part(memory->base), WANT_RELATIVE, 0, &loaded) &&
          loaded == table));
    if (agrees || !find_labelled_table(slice, k, add, base, memory, &table, &label)) {
        if (!relative || has_label)
            return false;
        pm_slice_base(slice, add, base, WANT_RELATIVE, 0, &table);
        label = table;
    }
    uint8_t index = pm_slice_address_part(memory->scale == 4 ? memory->index : memory->base);
    uint64_t bound = index == PM_REGISTER_NONE ? 0 : pm_slice_bound(slice, k, index);
    if (!bound && memory->scale == 1) /* -O0: base and index are interchangeable */
        bound = pm_slice_bound(slice, k, pm_slice_address_part(memory->index));
    *form = (struct pm_table_form){.table = table,
                                   .entry_bytes = 4,
                                   .relative = true,
                                   .is_signed = true,
                                   .scale = 1,
                                   .base = label,
                                   .is_checked = !slice->only_width,
                                   .max_entries = bound};
    return true;
}

/* The load of a table entry into REG that the extension `cltq` at *K belongs to, if there is one.
 */
static bool skip_extension(const struct pm_slice *slice, uint32_t *k, uint8_t reg) {
    struct pm_x86 x86;
    if (!pm_slice_decode(slice, *k, &x86))
        return false;
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_CDQE)
        return pm_slice_definition(slice, *k, PM_X86_RAX, k);
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOVSXD &&
        pm_slice_general(&x86.operands[1]) != PM_REGISTER_NONE)
        return pm_slice_definition(slice, *k, pm_slice_general(&x86.operands[1]), k);
    return reg != PM_REGISTER_NONE;
}

static bool register_form(struct pm_slice *slice, uint8_t reg, struct pm_table_form *form) {
    struct pm_x86 x86;
    uint32_t k = slice->jump, load;
    for (unsigned moves = 0; moves < MOST_COPIES; moves++) {
        if (!pm_slice_definition(slice, k, reg, &k) || !pm_slice_decode(slice, k, &x86))
            return false;
        if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
            x86.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return absolute_form(slice, k, &x86.operands[1].mem, form);
        if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
            pm_slice_general(&x86.operands[1]) != PM_REGISTER_NONE) {
            reg = pm_slice_general(&x86.operands[1]);
            continue;
        }
        break;
    }
    uint8_t a, b;
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_ADD) {
        a = pm_slice_general(&x86.operands[0]);
        b = pm_slice_general(&x86.operands[1]);
    } else if (x86.insn.mnemonic == ZYDIS_MNEMONIC_LEA && x86.operands[1].mem.scale <= 1 &&
               x86.operands[1].mem.disp.value == 0) {
        a = pm_slice_address_part(x86.operands[1].mem.base);
        b = pm_slice_address_part(x86.operands[1].mem.index);
    } else {
        return false;
    }
    if (a == PM_REGISTER_NONE || b == PM_REGISTER_NONE)
        return false;
    for (int swap = 0; swap < 2; swap++) {
        uint8_t entry = swap ? b : a, base = swap ? a : b;
        if (pm_slice_definition(slice, k, entry, &load) && skip_extension(slice, &load, entry) &&
            relative_form(slice, load, k, base, form))
            return true;
    }
    return false;
}

struct pm_table_form pm_x86_isa_find_table(const struct pm_table_query *query, bool *found) {
    struct pm_slice slice = {query->insns, query->jump,    query->first,
                             query->jumps, query->n_jumps, query->image,
                             query->read,  query->is_data, 0,
                             false};
    struct pm_table_form form = {0};
    struct pm_x86 x86;
    *found = false;
    if (query->has_register) {
        *found = register_form(&slice, query->looks_for, &form);
        return form;
    }
    if (!pm_slice_decode(&slice, query->jump, &x86))
        return form;
    const ZydisDecodedOperand *target = &x86.operands[0];
    if (target->type == ZYDIS_OPERAND_TYPE_MEMORY)
        *found = absolute_form(&slice, query->jump, &target->mem, &form);
    else if (pm_slice_general(target) != PM_REGISTER_NONE)
        *found = register_form(&slice, pm_slice_general(target), &form);
    return form;
}
