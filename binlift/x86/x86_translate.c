/* Native instruction → generic operations: loads, the operations of its class, stores.  Temporaries
   120 … link them.  A move from or to memory is the load or store alone.  Registers of an address
   are uses of the load or store; the status bits of MXCSR link nothing. */
#include "binlift/code/code.h"
#include "binlift/op_registers.h"
#include "binlift/x86/zydis.h"

#include <string.h>

#include "core/probe_abi.h"

enum {
    REGISTER_FLAGS = 32,
    REGISTER_X87 = 33,
    REGISTER_VECTOR = 40,
    REGISTER_MASK = 72,
    TEMPORARY = 120,
};

struct translation {
    const struct pm_x86 *x86;
    const struct pm_insn *insn;
    struct pm_op *ops;
    unsigned n_ops;
    uint8_t next_temporary;
    const struct pm_class_rule *rule; /* of the mnemonic */
    enum pm_op_class op_class;        /* the rule's; its last one if it has several */
};

/* What stands between loads and stores where no rule is known. */
static const struct pm_class_rule unknown_rule = {.n_ops = 1, .op_class = {PM_OP_UNKNOWN}};

static uint8_t op_register(ZydisRegister name) {
    struct pm_x86_register found = pm_x86_register(name);
    switch (found.file) {
    case PM_X86_FILE_GENERAL:
        return found.number;
    case PM_X86_FILE_VECTOR:
        return REGISTER_VECTOR + found.number;
    case PM_X86_FILE_MASK:
        return REGISTER_MASK + found.number;
    case PM_X86_FILE_X87:
        return REGISTER_X87;
    default:
        return PM_REGISTER_NONE;
    }
}

/* ---- the shape of the data ------------------------------------------------------------------ */

/* Of the operation on registers: the widest visible register operand says how wide the data is. */
static void set_shape(const struct translation *t, struct pm_op *op) {
    unsigned width = 0, element = 0;
    for (unsigned i = 0; i < t->x86->insn.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &t->x86->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            continue;
        unsigned bits = operand->size;
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
            bits = pm_x86_is_vector(operand) || pm_x86_register(operand->reg.value).bits == 0
                       ? operand->size
                       : pm_x86_register(operand->reg.value).bits;
        bool is_mask = operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                       pm_x86_register(operand->reg.value).file == PM_X86_FILE_MASK;
        if (is_mask && t->op_class != PM_OP_MASK)
            continue;
        if (bits > width) {
            width = bits;
            element = pm_x86_is_vector(operand) || operand->type == ZYDIS_OPERAND_TYPE_MEMORY
                          ? operand->element_size
                          : bits;
        }
    }
    if (t->op_class == PM_OP_FP_CONVERT && pm_x86_is_vector(&t->x86->operands[0]))
        element = t->x86->operands[0].element_size;
    if (t->rule->element_bytes)
        element = 8u * t->rule->element_bytes;
    if (t->rule->scalar && element)
        width = element;
    op->width_bits = width < PM_OP_MOST_BITS ? width : PM_OP_MOST_BITS;
    op->element_bytes = (uint8_t)(element <= 128 ? element / 8 : 0);
}

/* ---- loads and stores ----------------------------------------------------------------------- */

static const ZydisDecodedOperand *zydis_operand(const struct translation *t, unsigned number) {
    const ZydisDecodedOperand *store = NULL, *first = NULL;
    unsigned n = 0;
    for (unsigned i = 0; i < t->x86->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &t->x86->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || !pm_x86_is_access(t->x86, operand))
            continue;
        if (n++ == number)
            first = operand;
        store = operand;
    }
    return first ? first : store;
}

/* Does the data go to or come from vector or x87 registers? */
static bool is_fp_memory(const struct translation *t) {
    if (t->x86->insn.meta.category == ZYDIS_CATEGORY_X87_ALU)
        return true;
    for (unsigned i = 0; i < t->x86->insn.operand_count; i++)
        if (pm_x86_is_vector(&t->x86->operands[i]) ||
            (t->x86->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             pm_x86_register(t->x86->operands[i].reg.value).file == PM_X86_FILE_X87))
            return true;
    return false;
}

static void add_address_uses(struct translation *t, struct pm_op *op, unsigned number) {
    const struct pm_memory_operand *memory = &t->insn->memory[number];
    bool is_gather = memory->kind == PM_ACCESS_GATHER_K || memory->kind == PM_ACCESS_GATHER_V;
    if (memory->base != PM_REGISTER_PC)
        pm_op_add_use(op, memory->base);
    if (memory->index != PM_REGISTER_NONE)
        pm_op_add_use(op, is_gather ? REGISTER_VECTOR + memory->index : memory->index);
    if (memory->mask == PM_REGISTER_NONE)
        return;
    if (memory->kind == PM_ACCESS_BIT) {
        pm_op_add_use(op, memory->mask);
        return;
    }
    bool by_k = memory->kind == PM_ACCESS_MASK_K || memory->kind == PM_ACCESS_PACKED_K ||
                memory->kind == PM_ACCESS_GATHER_K;
    pm_op_add_use(op, (by_k ? REGISTER_MASK : REGISTER_VECTOR) + memory->mask);
}

static struct pm_op *add_memory_op(struct translation *t, enum pm_op_class op_class,
                                   unsigned number) {
    const struct pm_memory_operand *memory = &t->insn->memory[number];
    const ZydisDecodedOperand *operand = zydis_operand(t, number);
    struct pm_op *op = pm_append_op(t->ops, &t->n_ops, op_class);
    unsigned bytes = memory->size_bytes;
    if (memory->kind != PM_ACCESS_PLAIN && memory->kind != PM_ACCESS_STRING)
        bytes *= memory->elements;
    op->width_bits = bytes * 8 < PM_OP_MOST_BITS ? bytes * 8 : PM_OP_MOST_BITS;
    op->element_bytes =
        (uint8_t)(memory->kind != PM_ACCESS_PLAIN           ? memory->size_bytes
                  : operand && operand->element_size <= 128 ? operand->element_size / 8
                                                            : 0);
    op->reference = number;
    return op;
}

static void add_load(struct translation *t, unsigned number, uint8_t to) {
    struct pm_op *op = add_memory_op(t, is_fp_memory(t) ? PM_OP_LOAD_FP : PM_OP_LOAD_INT, number);
    pm_op_add_def(op, to);
    add_address_uses(t, op, number);
}

static void add_store(struct translation *t, unsigned number, uint8_t from) {
    struct pm_op *op = add_memory_op(t, is_fp_memory(t) ? PM_OP_STORE_FP : PM_OP_STORE_INT, number);
    op->uses[0] = from; /* PM_REGISTER_NONE for an immediate: the address starts at uses[1] */
    struct pm_op address = *op;
    memset(address.uses, PM_REGISTER_NONE, sizeof address.uses);
    add_address_uses(t, &address, number);
    memcpy(op->uses + 1, address.uses, sizeof op->uses - 1);
}

/* ---- registers of the operation ------------------------------------------------------------- */

/* Legacy SSE scalar forms that keep the rest of their destination, and so wait for it. */
static bool merges_destination(const struct translation *t, const ZydisDecodedOperand *operand,
                               struct pm_x86_register which) {
    if (which.file == PM_X86_FILE_GENERAL)
        return which.bits < 32 || t->x86->insn.meta.category == ZYDIS_CATEGORY_CMOV ||
               t->x86->insn.mnemonic == ZYDIS_MNEMONIC_BSF ||
               t->x86->insn.mnemonic == ZYDIS_MNEMONIC_BSR;
    if (which.file != PM_X86_FILE_VECTOR)
        return false;
    if (t->x86->insn.avx.mask.mode == ZYDIS_MASK_MODE_MERGING &&
        t->x86->insn.avx.mask.reg > ZYDIS_REGISTER_K0)
        return true;
    bool clears_rest = t->x86->insn.mnemonic == ZYDIS_MNEMONIC_MOVD ||
                       t->x86->insn.mnemonic == ZYDIS_MNEMONIC_MOVQ;
    return t->x86->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && t->rule->scalar &&
           !clears_rest && operand->id == 0 &&
           (t->insn->n_memory == 0 || t->op_class != PM_OP_FP_MOVE);
}

static void add_register_operands(struct translation *t, struct pm_op *op) {
    bool constant = pm_x86_is_constant_idiom(t->x86);
    for (unsigned i = 0; i < t->x86->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &t->x86->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || pm_x86_is_no_mask(operand))
            continue;
        struct pm_x86_register which = pm_x86_register(operand->reg.value);
        uint8_t number = op_register(operand->reg.value);
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
            pm_op_add_def(op, number);
            /* That of a part of a register is a constant beside what stays. */
            bool stays = which.file == PM_X86_FILE_GENERAL && which.bits < 32;
            if ((!constant || stays) && merges_destination(t, operand, which))
                pm_op_add_use(op, number);
        }
        if (!constant && (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ))
            pm_op_add_use(op, number);
    }
    if (t->x86->insn.avx.mask.reg > ZYDIS_REGISTER_K0)
        pm_op_add_use(op, op_register(t->x86->insn.avx.mask.reg));
    if (t->x86->insn.meta.category == ZYDIS_CATEGORY_X87_ALU) {
        pm_op_add_use(op, REGISTER_X87);
        pm_op_add_def(op, REGISTER_X87);
    }
    if (t->insn->registers->uses.general & PM_FLAGS_MASK)
        pm_op_add_use(op, REGISTER_FLAGS);
    if (t->insn->registers->defs.general & PM_FLAGS_MASK)
        pm_op_add_def(op, REGISTER_FLAGS);
}

/* lea: its address registers are its data. */
static void add_lea(struct translation *t) {
    const ZydisDecodedOperandMem *memory = &t->x86->operands[1].mem;
    bool moves = memory->base == ZYDIS_REGISTER_RIP ||
                 (memory->base == ZYDIS_REGISTER_NONE && memory->index == ZYDIS_REGISTER_NONE);
    struct pm_op *op = pm_append_op(t->ops, &t->n_ops, moves ? PM_OP_MOVE_INT : PM_OP_INT_ADD);
    pm_op_add_def(op, op_register(t->x86->operands[0].reg.value));
    pm_op_add_use(op, op_register(memory->base));
    pm_op_add_use(op, op_register(memory->index));
    op->width_bits = t->x86->operands[0].size;
    op->element_bytes = (uint8_t)(op->width_bits / 8);
}

/* ---- kinds of instruction ------------------------------------------------------------------- */

static struct pm_op *add_control(struct translation *t, enum pm_op_class op_class) {
    struct pm_op *op = pm_append_op(t->ops, &t->n_ops, op_class);
    op->width_bits = 64;
    if (t->insn->registers->uses.general & PM_FLAGS_MASK)
        pm_op_add_use(op, REGISTER_FLAGS);
    if (t->insn->control == PM_CONTROL_BRANCH_LOOP) {
        pm_op_add_use(op, PM_X86_RCX);
        if (t->insn->registers->defs.general >> PM_X86_RCX & 1)
            pm_op_add_def(op, PM_X86_RCX);
    }
    const ZydisDecodedOperand *target = &t->x86->operands[0];
    if (target->type == ZYDIS_OPERAND_TYPE_REGISTER && !t->insn->target)
        pm_op_add_use(op, op_register(target->reg.value));
    return op;
}

static bool add_transfer(struct translation *t) {
    uint8_t target = PM_REGISTER_NONE;
    struct pm_op *op;
    enum pm_op_class op_class = pm_class_of_control(t->insn->control);
    if (op_class == PM_OP_UNKNOWN)
        return false;
    for (unsigned i = 0; i < t->insn->n_memory; i++)
        if (t->insn->memory[i].access & PM_ACCESS_LOAD) {
            target = t->next_temporary++;
            add_load(t, i, target);
        }
    for (unsigned i = 0; i < t->insn->n_memory; i++)
        if (!(t->insn->memory[i].access & PM_ACCESS_LOAD))
            add_store(t, i, PM_REGISTER_NONE); /* the return address */
    op = add_control(t, op_class);
    pm_op_add_use(op, target);
    return true;
}

/* One operation for each memory operand of a string instruction; it moves the pointers too. */
static void add_string(struct translation *t) {
    for (unsigned i = 0; i < t->insn->n_memory; i++) {
        struct pm_op *op = add_memory_op(t, PM_OP_STRING, i);
        add_address_uses(t, op, i);
        pm_op_add_def(op, t->insn->memory[i].base);
        if (pm_x86_is_rep(t->x86)) {
            pm_op_add_use(op, PM_X86_RCX);
            pm_op_add_def(op, PM_X86_RCX);
        }
        if (t->insn->memory[i].access == PM_ACCESS_STORE && t->insn->n_memory == 1)
            pm_op_add_use(op, PM_X86_RAX); /* stos */
    }
    if (t->insn->n_memory == 0)
        pm_append_op(t->ops, &t->n_ops, PM_OP_STRING);
}

static void add_gather(struct translation *t) {
    bool is_load = (t->insn->memory[0].access & PM_ACCESS_LOAD) != 0;
    struct pm_op *op = add_memory_op(t, is_load ? PM_OP_GATHER : PM_OP_SCATTER, 0);
    for (unsigned i = 0; i < t->x86->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &t->x86->operands[i];
        if (!pm_x86_is_vector(operand))
            continue;
        pm_op_add_use(op, op_register(operand->reg.value)); /* merged, or stored */
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            pm_op_add_def(op, op_register(operand->reg.value));
    }
    add_address_uses(t, op, 0);
}

static void add_atomic(struct translation *t) {
    struct pm_op *op = add_memory_op(t, PM_OP_ATOMIC, 0);
    add_register_operands(t, op);
    add_address_uses(t, op, 0);
}

static bool is_atomic(const struct translation *t) {
    return t->insn->n_memory && ((t->x86->insn.attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
                                 t->x86->insn.mnemonic == ZYDIS_MNEMONIC_XCHG);
}

/* push, pop and their like: the stack pointer moves beside. */
static void add_stack_move(struct translation *t) {
    struct pm_op *op = pm_append_op(t->ops, &t->n_ops, PM_OP_INT_ADD);
    bool is_leave = t->x86->insn.mnemonic == ZYDIS_MNEMONIC_LEAVE;
    pm_op_add_def(op, PM_X86_RSP);
    pm_op_add_use(op, is_leave ? PM_X86_RBP : PM_X86_RSP);
    op->width_bits = 64;
    op->element_bytes = 8;
}

static bool moves_stack(const struct translation *t) {
    for (unsigned i = 0; i < t->insn->n_memory; i++)
        if (t->insn->memory[i].implicit)
            return true;
    return false;
}

/* A half of the register is loaded, the other one stays: the load, and what puts them together. */
static bool loads_half(const struct translation *t) {
    if (t->insn->n_memory == 0 || !(t->insn->memory[0].access & PM_ACCESS_LOAD))
        return false;
    switch (t->x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_MOVHPD:
    case ZYDIS_MNEMONIC_MOVHPS:
    case ZYDIS_MNEMONIC_MOVLPD:
    case ZYDIS_MNEMONIC_MOVLPS:
    case ZYDIS_MNEMONIC_VMOVHPD:
    case ZYDIS_MNEMONIC_VMOVHPS:
    case ZYDIS_MNEMONIC_VMOVLPD:
    case ZYDIS_MNEMONIC_VMOVLPS:
        return true;
    default:
        return false;
    }
}

/* Elements are doubled as they are loaded. */
static bool doubles(const struct translation *t) {
    switch (t->x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_MOVDDUP:
    case ZYDIS_MNEMONIC_MOVSLDUP:
    case ZYDIS_MNEMONIC_MOVSHDUP:
    case ZYDIS_MNEMONIC_VMOVDDUP:
    case ZYDIS_MNEMONIC_VMOVSLDUP:
    case ZYDIS_MNEMONIC_VMOVSHDUP:
        return true;
    default:
        return false;
    }
}

/* A byte or two are loaded beside what stays of a general register. */
static bool loads_part(const struct translation *t) {
    const ZydisDecodedOperand *to = &t->x86->operands[0];
    return t->x86->insn.mnemonic == ZYDIS_MNEMONIC_MOV && to->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           to->size < 32 && t->op_class == PM_OP_MOVE_INT && t->insn->n_memory > 0 &&
           t->insn->memory[0].access & PM_ACCESS_LOAD;
}

/* A move between a register and memory with nothing between: the class is a move, or the form
   with a memory operand costs no more than the load does (extension, broadcast, doubling). */
static bool is_plain_move(const struct translation *t) {
    if (t->rule->n_ops > 1)
        return false;
    if (t->op_class == PM_OP_MOVE_INT || t->op_class == PM_OP_FP_MOVE)
        return t->insn->n_memory > 0 && !loads_part(t);
    if (t->insn->n_memory == 0 || t->op_class != PM_OP_SHUFFLE)
        return false;
    return t->x86->insn.meta.category == ZYDIS_CATEGORY_BROADCAST ||
           t->x86->insn.avx.broadcast.is_static || doubles(t);
}

/* The register that a plain move writes or reads beside memory. */
static uint8_t moved_register(const struct translation *t, bool written) {
    for (unsigned i = 0; i < t->x86->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &t->x86->operands[i];
        uint8_t number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                             ? op_register(operand->reg.value)
                             : PM_REGISTER_NONE;
        uint8_t action = written ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ;
        bool is_mask = number >= REGISTER_MASK && number < REGISTER_MASK + 8 && i > 0 &&
                       t->op_class != PM_OP_MASK;
        is_mask |= i == 1 && t->insn->n_memory && t->insn->memory[0].kind == PM_ACCESS_MASK_V;
        bool is_stack = moves_stack(t) && number == PM_X86_RSP && i > 0;
        if (number != PM_REGISTER_NONE && (operand->actions & action) && !is_mask && !is_stack)
            return number;
    }
    if (t->x86->insn.meta.category == ZYDIS_CATEGORY_X87_ALU)
        return REGISTER_X87;
    return PM_REGISTER_NONE;
}

static void add_plain_move(struct translation *t) {
    uint8_t temporary = PM_REGISTER_NONE;
    bool loads = false, stores = false;
    for (unsigned i = 0; i < t->insn->n_memory; i++) {
        loads |= (t->insn->memory[i].access & PM_ACCESS_LOAD) != 0;
        stores |= (t->insn->memory[i].access & PM_ACCESS_STORE) != 0;
    }
    if (moves_stack(t))
        add_stack_move(t);
    for (unsigned i = 0; i < t->insn->n_memory; i++)
        if (t->insn->memory[i].access & PM_ACCESS_LOAD) {
            temporary = stores ? t->next_temporary++ : moved_register(t, true);
            add_load(t, i, temporary);
            struct pm_op *load = &t->ops[t->n_ops - 1];
            if (t->x86->insn.avx.mask.reg > ZYDIS_REGISTER_K0)
                pm_op_add_use(load, op_register(t->x86->insn.avx.mask.reg));
            bool merges = t->x86->insn.avx.mask.mode == ZYDIS_MASK_MODE_MERGING &&
                          t->x86->insn.avx.mask.reg > ZYDIS_REGISTER_K0;
            if (merges && !stores)
                pm_op_add_use(load, temporary);
        }
    for (unsigned i = 0; i < t->insn->n_memory; i++)
        if (t->insn->memory[i].access & PM_ACCESS_STORE)
            add_store(t, i, loads ? temporary : moved_register(t, false));
}

/* The operations before the last: all read what the instruction reads, and what the one before
   gave.  Gives the register that the last one reads of them. */
static uint8_t add_first_ops(struct translation *t, const struct pm_op *last) {
    uint8_t result = PM_REGISTER_NONE;
    for (unsigned i = 0; i + 1 < t->rule->n_ops; i++) {
        struct pm_op *op = pm_append_op(t->ops, &t->n_ops, t->rule->op_class[i]);
        set_shape(t, op);
        pm_op_add_use(op, result);
        for (unsigned k = 0; k < PM_OP_N_USES; k++)
            pm_op_add_use(op, last->uses[k]);
        result = t->next_temporary++;
        pm_op_add_def(op, result);
    }
    return result;
}

static void add_general(struct translation *t) {
    uint8_t loaded[PM_INSN_MEMORY] = {PM_REGISTER_NONE, PM_REGISTER_NONE};
    for (unsigned i = 0; i < t->insn->n_memory; i++)
        if (t->insn->memory[i].access & PM_ACCESS_LOAD) {
            loaded[i] = t->next_temporary++;
            add_load(t, i, loaded[i]);
        }
    struct pm_op last = pm_op_of_class(t->op_class);
    set_shape(t, &last);
    for (unsigned i = 0; i < PM_INSN_MEMORY; i++)
        pm_op_add_use(&last, loaded[i]);
    add_register_operands(t, &last);
    uint8_t before = add_first_ops(t, &last);
    struct pm_op *op = pm_append_op(t->ops, &t->n_ops, t->op_class);
    *op = last;
    if (before != PM_REGISTER_NONE) {
        op->uses[0] = before; /* what the instruction reads comes through it */
        memset(op->uses + 1, PM_REGISTER_NONE, sizeof op->uses - 1);
    }
    for (unsigned i = 0; i < t->insn->n_memory; i++)
        if (t->insn->memory[i].access & PM_ACCESS_STORE) {
            uint8_t result = t->next_temporary++;
            memmove(op->defs + 1, op->defs, sizeof op->defs - 1);
            op->defs[0] = result;
            add_store(t, i, result);
        }
}

unsigned pm_x86_isa_translate(const uint8_t *bytes, const struct pm_insn *insn,
                              const struct pm_classes *classes, struct pm_op ops[8]) {
    struct pm_x86 x86;
    struct translation t = {&x86, insn, ops, 0, TEMPORARY, &unknown_rule, PM_OP_UNKNOWN};
    uint32_t mnemonic = 0;
    if (pm_x86_decode(bytes, insn->length, &x86)) {
        mnemonic = pm_x86_form(&x86.insn);
        const struct pm_class_rule *rule = pm_class_of(classes, x86.insn.mnemonic);
        t.rule = rule ? rule : &unknown_rule;
        t.op_class = t.rule->op_class[t.rule->n_ops - 1];
        if (loads_half(&t))
            t.op_class = PM_OP_SHUFFLE;
        if (insn->control != PM_CONTROL_NONE && add_transfer(&t))
            ; /* done */
        else if (insn->is_nop)
            pm_append_op(t.ops, &t.n_ops, PM_OP_NOP);
        else if (pm_x86_is_string(&x86))
            add_string(&t);
        else if (insn->n_memory && pm_x86_is_gather(&x86))
            add_gather(&t);
        else if (is_atomic(&t))
            add_atomic(&t);
        else if (x86.insn.mnemonic == ZYDIS_MNEMONIC_LEA)
            add_lea(&t);
        else if (is_plain_move(&t))
            add_plain_move(&t);
        else
            add_general(&t);
    }
    if (t.n_ops == 0)
        pm_append_op(t.ops, &t.n_ops, PM_OP_UNKNOWN);
    for (unsigned i = 0; i < t.n_ops; i++) {
        ops[i].instruction_start = i == 0;
        ops[i].mnemonic = mnemonic + 1;
    }
    return t.n_ops;
}
