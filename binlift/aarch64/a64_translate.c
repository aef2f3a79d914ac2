/* A64 instruction → generic operations: loads, the operations of its class, stores, and the step of
   a base register that is written back.  Temporaries 120 … link them. */
#include "binlift/aarch64/a64.h"
#include "binlift/code/code.h"
#include "binlift/op_registers.h"
#include "core/probe_abi.h"

enum {
    REGISTER_FLAGS = 32,
    REGISTER_VECTOR = 40,
    REGISTER_PREDICATE = 72,
    TEMPORARY = 120,
    MAX_LIST = 4,      /* registers that one structure load fills */
    OF_ONE_ACCESS = 2, /* of these, by one operation: a store's uses have no room for more */
};

struct translation {
    uint32_t word;
    const struct pm_insn *insn;
    const struct pm_class_rule *rule;
    struct pm_op *ops;
    unsigned n_ops;
    uint8_t next_temporary;
};

static const struct pm_class_rule unknown_rule = {.n_ops = 1, .op_class = {PM_OP_UNKNOWN}};

/* Calls ADD for every register of SET: general, flags (as one), vector, predicates. */
static void add_set(struct pm_op *op, const struct pm_register_set *set,
                    void (*add)(struct pm_op *, uint8_t)) {
    for (uint8_t i = 0; i < 32; i++)
        if (set->general >> i & 1)
            add(op, i);
    for (uint8_t i = 0; i < 32; i++)
        if (set->vector >> i & 1)
            add(op, REGISTER_VECTOR + i);
    if (set->general & PM_FLAGS_MASK)
        add(op, REGISTER_FLAGS);
    for (uint8_t i = 0; i < 16; i++)
        if (set->general >> (PM_A64_PREDICATE + i) & 1)
            add(op, REGISTER_PREDICATE + i);
}

/* ---- the shape of the data ------------------------------------------------------------------ */

static unsigned scalar_fp_bytes(uint32_t word) {
    static const uint8_t bytes[] = {4, 8, 0, 2};
    unsigned low = pm_a64_bits(word, 15, 10);
    bool is_fcvt = pm_a64_bits(word, 21, 21) && (low & 0x1f) == 0x10 &&
                   pm_a64_bits(word, 20, 17) == 1 && !pm_a64_bits(word, 24, 24);
    return bytes[is_fcvt ? pm_a64_bits(word, 16, 15) : pm_a64_bits(word, 23, 22)];
}

static unsigned lowest_bit(unsigned bits, unsigned width) {
    unsigned bit = 0;
    while (bit < width && !(bits >> bit & 1))
        bit++;
    return bit;
}

static unsigned vector_element_bytes(uint32_t word, enum pm_op_class op_class) {
    bool is_float =
        pm_op_class_kind(op_class) == 'f' && op_class != PM_OP_SHUFFLE && op_class != PM_OP_FP_MOVE;
    if (pm_a64_bits(word, 24, 24) && pm_a64_bits(word, 10, 10)) { /* constants and shifts */
        unsigned high = pm_a64_bits(word, 22, 19);
        return high >= 8 ? 8 : high >= 4 ? 4 : high >= 2 ? 2 : high;
    }
    if (is_float && !pm_a64_bits(word, 24, 24) && pm_a64_bits(word, 22, 21) == 2 &&
        !pm_a64_bits(word, 15, 14))
        return 2;
    if (is_float)
        return pm_a64_bits(word, 22, 22) ? 8 : 4;
    if ((word & 0x9fe08400) == 0x0e000400) /* dup, ins, umov */
        return 1u << lowest_bit(pm_a64_bits(word, 20, 16), 3);
    return 1u << pm_a64_bits(word, 23, 22);
}

static void set_shape(const struct translation *t, struct pm_op *op) {
    uint32_t word = t->word;
    unsigned element = 0, width = 0;
    switch (pm_a64_group(word)) {
    case PM_A64_SIMD:
        if ((word & 0x5e000000) == 0x1e000000) {
            width = 8 * (element = scalar_fp_bytes(word));
        } else {
            element = vector_element_bytes(word, op->op_class);
            bool is_scalar = pm_a64_bits(word, 28, 28);
            width = is_scalar ? 8 * element : pm_a64_bits(word, 30, 30) ? 128 : 64;
        }
        break;
    case PM_A64_SVE: /* the length of vectors is not known */
        element = 1u << pm_a64_bits(word, 23, 22);
        break;
    default:
        width = word >> 31 ? 64 : 32;
        element = width / 8;
    }
    if (t->rule->element_bytes)
        element = t->rule->element_bytes;
    if (t->rule->scalar && element)
        width = 8 * element;
    op->width_bits = (uint16_t)width;
    op->element_bytes = (uint8_t)element;
}

/* ---- loads and stores ----------------------------------------------------------------------- */

static bool is_vector_memory(const struct translation *t) {
    return pm_a64_group(t->word) == PM_A64_SVE || pm_a64_bits(t->word, 26, 26);
}

static void add_address_uses(const struct translation *t, struct pm_op *op) {
    const struct pm_memory_operand *memory = &t->insn->memory[0];
    if (memory->base < PM_REGISTER_PC)
        pm_op_add_use(op, memory->base);
    if (memory->index != PM_REGISTER_NONE)
        pm_op_add_use(op, memory->index);
    if (memory->mask != PM_REGISTER_NONE)
        pm_op_add_use(op, REGISTER_PREDICATE + memory->mask);
}

/* The data registers, in their order; how many. */
static unsigned list_data(const struct translation *t, uint8_t data[MAX_LIST]) {
    bool is_load = t->insn->memory[0].access == PM_ACCESS_LOAD;
    const struct pm_register_set *set =
        is_load ? &t->insn->registers->defs : &t->insn->registers->uses;
    unsigned n = 0, first = pm_a64_rd(t->word);
    if (is_vector_memory(t)) {
        if (pm_a64_is_pair(t->word)) {
            data[n++] = (uint8_t)(REGISTER_VECTOR + first);
            data[n++] = (uint8_t)(REGISTER_VECTOR + pm_a64_ra(t->word));
            return n;
        }
        for (unsigned i = 0; i < MAX_LIST && set->vector >> (first + i) % 32 & 1; i++)
            data[n++] = (uint8_t)(REGISTER_VECTOR + (first + i) % 32);
        return n;
    }
    data[n++] = first == PM_A64_SP ? PM_REGISTER_NONE : (uint8_t)first;
    if (pm_a64_is_pair(t->word)) {
        unsigned second = pm_a64_ra(t->word);
        data[n++] = second == PM_A64_SP ? PM_REGISTER_NONE : (uint8_t)second;
    }
    return n;
}

static struct pm_op *add_memory_op(struct translation *t, enum pm_op_class op_class,
                                   unsigned n_parts) {
    const struct pm_memory_operand *memory = &t->insn->memory[0];
    struct pm_op *op = pm_append_op(t->ops, &t->n_ops, op_class);
    bool is_scalable = pm_a64_group(t->word) == PM_A64_SVE;
    op->width_bits = is_scalable ? 0 : (uint16_t)(memory->size_bytes * 8 / n_parts);
    op->element_bytes = is_scalable ? (uint8_t)memory->size_bytes : 0;
    op->reference = 0;
    return op;
}

static unsigned n_accesses(unsigned n_registers) {
    return n_registers > OF_ONE_ACCESS ? (n_registers + OF_ONE_ACCESS - 1) / OF_ONE_ACCESS : 1;
}

static void add_load(struct translation *t) {
    uint8_t data[MAX_LIST];
    unsigned n = list_data(t, data);
    unsigned n_parts = n_accesses(n);
    for (unsigned part = 0; part < n_parts; part++) {
        struct pm_op *op =
            add_memory_op(t, is_vector_memory(t) ? PM_OP_LOAD_FP : PM_OP_LOAD_INT, n_parts);
        for (unsigned i = part * OF_ONE_ACCESS; i < n && i < (part + 1) * OF_ONE_ACCESS; i++)
            pm_op_add_def(op, data[i]);
        add_address_uses(t, op);
        if (is_vector_memory(t) && data[0] >= REGISTER_VECTOR && data[0] < REGISTER_VECTOR + 32 &&
            t->insn->registers->uses.vector >> (data[0] - REGISTER_VECTOR) & 1)
            pm_op_add_use(op, data[0]); /* one lane */
    }
}

static void add_store(struct translation *t) {
    uint8_t data[MAX_LIST];
    unsigned n = list_data(t, data);
    unsigned n_parts = n_accesses(n);
    for (unsigned part = 0; part < n_parts; part++) {
        struct pm_op *op =
            add_memory_op(t, is_vector_memory(t) ? PM_OP_STORE_FP : PM_OP_STORE_INT, n_parts);
        unsigned first = part * OF_ONE_ACCESS;
        struct pm_op address = *op;
        add_address_uses(t, &address);
        op->uses[0] = first < n ? data[first] : PM_REGISTER_NONE;
        memcpy(op->uses + 1, address.uses, sizeof op->uses - 1);
        if (first + 1 < n)
            pm_op_add(op->uses + 1, PM_OP_N_USES - 1, data[first + 1]);
    }
}

static void add_atomic(struct translation *t) {
    struct pm_op *op = add_memory_op(t, PM_OP_ATOMIC, 1);
    add_set(op, &t->insn->registers->uses, pm_op_add_use);
    add_set(op, &t->insn->registers->defs, pm_op_add_def);
}

static bool is_gather(const struct translation *t) {
    return t->insn->memory[0].kind == PM_ACCESS_GATHER_K;
}

static void add_memory(struct translation *t) {
    enum pm_a64_memory_form form = pm_a64_memory_form(t->word);
    bool is_load = t->insn->memory[0].access == PM_ACCESS_LOAD;
    unsigned base;
    int64_t step;
    if (form == PM_A64_EXCLUSIVE || form == PM_A64_ATOMIC) {
        add_atomic(t);
    } else if (is_gather(t)) {
        struct pm_op *op = add_memory_op(t, is_load ? PM_OP_GATHER : PM_OP_SCATTER, 1);
        add_set(op, &t->insn->registers->defs, pm_op_add_def);
        add_set(op, &t->insn->registers->uses, pm_op_add_use);
    } else if (is_load) {
        add_load(t);
    } else {
        add_store(t);
    }
    bool writes_back = pm_a64_writeback(t->word, &base, &step);
    if (!writes_back && !(is_vector_memory(t) && pm_a64_group(t->word) == PM_A64_MEMORY &&
                          t->insn->registers->defs.general))
        return;
    struct pm_op *op = pm_append_op(t->ops, &t->n_ops, PM_OP_INT_ADD);
    op->width_bits = 64;
    op->element_bytes = 8;
    pm_op_add_def(op, (uint8_t)base);
    pm_op_add_use(op, (uint8_t)base);
    if (!writes_back)
        pm_op_add_use(op, (uint8_t)pm_a64_rm(t->word));
}

/* ---- the rest ------------------------------------------------------------------------------- */

static bool add_transfer(struct translation *t) {
    enum pm_op_class op_class = pm_class_of_control(t->insn->control);
    if (op_class == PM_OP_UNKNOWN)
        return false;
    struct pm_op *op = pm_append_op(t->ops, &t->n_ops, op_class);
    op->width_bits = 64;
    add_set(op, &t->insn->registers->uses, pm_op_add_use);
    add_set(op, &t->insn->registers->defs, pm_op_add_def);
    return true;
}

/* A move of vectors is one of floating point, whatever its elements are. */
static enum pm_op_class class_here(const struct translation *t, unsigned number) {
    enum pm_op_class op_class = t->rule->op_class[number];
    enum pm_a64_group group = pm_a64_group(t->word);
    bool is_vector = group == PM_A64_SIMD || group == PM_A64_SVE;
    return op_class == PM_OP_MOVE_INT && is_vector ? PM_OP_FP_MOVE : op_class;
}

static void add_general(struct translation *t) {
    uint8_t result = PM_REGISTER_NONE;
    for (unsigned i = 0; i < t->rule->n_ops; i++) {
        bool is_last = i + 1 == t->rule->n_ops;
        struct pm_op *op = pm_append_op(t->ops, &t->n_ops, class_here(t, i));
        set_shape(t, op);
        pm_op_add_use(op, result);
        if (result == PM_REGISTER_NONE)
            add_set(op, &t->insn->registers->uses, pm_op_add_use);
        if (is_last) {
            add_set(op, &t->insn->registers->defs, pm_op_add_def);
        } else {
            result = t->next_temporary++;
            pm_op_add_def(op, result);
        }
    }
}

unsigned pm_a64_translate(const uint8_t *bytes, const struct pm_insn *insn,
                          const struct pm_classes *classes, struct pm_op ops[8]) {
    uint32_t mnemonic = pm_a64_mnemonic_of(bytes, insn);
    const struct pm_class_rule *rule = pm_class_of(classes, mnemonic);
    struct translation t = {pm_a64_word(bytes), insn, rule ? rule : &unknown_rule, ops, 0,
                            TEMPORARY};
    if (insn->is_nop)
        pm_append_op(t.ops, &t.n_ops, PM_OP_NOP);
    else if (insn->n_memory)
        add_memory(&t);
    else if (insn->control == PM_CONTROL_NONE || !add_transfer(&t))
        add_general(&t);
    for (unsigned i = 0; i < t.n_ops; i++) {
        ops[i].instruction_start = i == 0;
        ops[i].mnemonic = mnemonic + 1;
    }
    return t.n_ops;
}
