/* From generic operations to what they need on a machine: rows of its costs, latency, issue slots.

   An operation wider than the machine's vectors is split into ceil(width / vector_width) narrower
   ones. A machine of at most 64 bits has no vectors; there an operation is split into its elements.
   These do not depend on each other, so a split operation keeps the latency of one of them.  A
   multiply-add without hardware is a multiplication and an addition, with the sum of latencies.
   Where the machine fuses them, a load that feeds an operation of its own instruction takes a load
   unit but no issue slot, and an instruction that fuses with the branch behind it takes nothing.
   What renaming eliminates takes a slot only.
   An operation of a program for another ISA adds what the machine file's `foreign` sections say. */
#include "sched/target/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCALAR_BITS = 64,
    FIRST_MASK = 72,
    LAST_MASK = 79,
    FLAGS = 32,
    LAST_GENERAL = 31,
    STACK_POINTER = 4
};

/* ---- around an operation --------------------------------------------------------------------- */

static const struct pm_op *op_at(const struct pm_target_machine *target, uint32_t op) {
    return &target->structure->ops[op];
}

/* Is there an operation of the same instruction behind OP? */
static bool goes_on(const struct pm_target_machine *target, uint32_t op) {
    return op + 1 < target->structure->n_ops && !op_at(target, op + 1)->instruction_start;
}

static bool is_alone(const struct pm_target_machine *target, uint32_t op) {
    return op_at(target, op)->instruction_start && !goes_on(target, op);
}

static bool is_load(const struct pm_op *op) {
    return op->op_class == PM_OP_LOAD_INT || op->op_class == PM_OP_LOAD_FP;
}

static bool is_store(const struct pm_op *op) {
    return op->op_class == PM_OP_STORE_INT || op->op_class == PM_OP_STORE_FP;
}

static unsigned uses_between(const struct pm_op *op, unsigned from_use, unsigned low,
                             unsigned high) {
    unsigned n = 0;
    for (unsigned k = from_use; k < PM_OP_N_USES; k++)
        n += op->uses[k] >= low && op->uses[k] <= high;
    return n;
}

static bool writes_flags(const struct pm_op *op) {
    for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
        if (op->defs[k] == FLAGS)
            return true;
    return false;
}

static bool feeds_its_instruction(const struct pm_target_machine *target, uint32_t op) {
    return is_load(op_at(target, op)) && goes_on(target, op);
}

/* Does the instruction of OP end with it, and a conditional branch on its flags stand behind? */
static bool fuses_with_branch(const struct pm_target_machine *target, uint32_t op) {
    const struct pm_op *self = op_at(target, op);
    if (!(target->machine->fuses_branch >> self->op_class & 1) || !writes_flags(self) ||
        goes_on(target, op) || op + 1 >= target->structure->n_ops)
        return false;
    const struct pm_op *next = op_at(target, op + 1);
    return next->op_class == PM_OP_BRANCH && uses_between(next, 0, FLAGS, FLAGS) > 0;
}

/* Is OP what push, pop and their like move on the stack? */
static bool is_on_stack(const struct pm_target_machine *target, uint32_t op) {
    const struct pm_structure *structure = target->structure;
    uint32_t reference = op_at(target, op)->reference;
    return reference != PM_NONE && structure->references[reference].group != PM_NONE &&
           structure->groups[structure->references[reference].group].flags & PM_GROUP_PUSHED;
}

/* … the move of the stack pointer beside it? */
static bool is_stack_move(const struct pm_target_machine *target, uint32_t op) {
    return target->machine->eliminates & PM_ELIMINATES_STACK_MOVES && !target->is_foreign &&
           op_at(target, op)->op_class == PM_OP_INT_ADD && op_at(target, op)->instruction_start &&
           goes_on(target, op) && is_on_stack(target, op + 1);
}

static bool is_eliminated(const struct pm_target_machine *target, uint32_t op) {
    const struct pm_op *self = op_at(target, op);
    uint32_t eliminates = target->machine->eliminates;
    if (target->is_foreign || !eliminates || !is_alone(target, op))
        return false;
    unsigned n_uses = uses_between(self, 0, 0, PM_REGISTER_NONE - 1);
    bool is_copy = n_uses == 1 && self->defs[0] != PM_REGISTER_NONE &&
                   self->defs[1] == PM_REGISTER_NONE && self->defs[0] != self->uses[0];
    const char *mnemonic = pm_op_mnemonic(target->structure, self);
    if (self->op_class == PM_OP_MOVE_INT && mnemonic &&
        (strncmp(mnemonic, "movs", 4) == 0 ||
         (target->machine->extends_apart && strcmp(mnemonic, "movzx") == 0)))
        return false; /* what it is extended by is an operation */
    is_copy &= (self->defs[0] <= LAST_GENERAL) == (self->uses[0] <= LAST_GENERAL);
    if (self->op_class == PM_OP_MOVE_INT)
        return eliminates & PM_ELIMINATES_MOVES && is_copy && self->width_bits >= 32 &&
               (self->uses[0] != STACK_POINTER || !target->machine->stack_move_cycles);
    if (self->op_class == PM_OP_FP_MOVE)
        return eliminates & PM_ELIMINATES_VECTOR_MOVES && is_copy && self->width_bits >= 128;
    return eliminates & PM_ELIMINATES_ZEROING && n_uses == 0 &&
           (self->op_class == PM_OP_LOGICAL || self->op_class == PM_OP_INT_ADD);
}

/* Does the address of OP have two registers? */
static bool is_indexed(const struct pm_op *op) {
    return uses_between(op, is_store(op), 0, LAST_GENERAL) > 1;
}

/* A micro-operation has room for three registers: two of an indexed address, and one that is read
   and written.  Instructions whose names begin with `v` (VEX, EVEX) name the register that they
   write beside those that they read; one that loads and stores has two such addresses. */
static bool is_unfused(const struct pm_target_machine *target, uint32_t load) {
    if (!target->machine->unfuses_indexed || target->is_foreign || !is_indexed(op_at(target, load)))
        return false;
    const char *mnemonic = pm_op_mnemonic(target->structure, op_at(target, load));
    bool stores = false;
    for (uint32_t k = load + 1; k < target->structure->n_ops; k++) {
        if (op_at(target, k)->instruction_start)
            break;
        stores |= is_store(op_at(target, k));
    }
    return stores || (mnemonic && mnemonic[0] == 'v');
}

/* The store of an instruction that loads from the same indexed address. */
static bool is_unfused_store(const struct pm_target_machine *target, uint32_t op) {
    if (!target->machine->unfuses_indexed || !is_store(op_at(target, op)))
        return false;
    while (op > 0 && !op_at(target, op)->instruction_start)
        if (is_load(op_at(target, --op)))
            return is_unfused(target, op);
    return false;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Into how many it is split, and how wide each is. */
static uint32_t n_split(const struct pm_machine *machine, const struct pm_op *op,
                        uint32_t *width_bits) {
    uint32_t limit = machine->vector_width_bits;
    if (limit <= SCALAR_BITS && op->element_bytes)
        limit = 8u * op->element_bytes;
    *width_bits = op->width_bits;
    if (op->width_bits <= limit)
        return 1;
    *width_bits = limit;
    return (op->width_bits + limit - 1) / limit;
}

static void add_row(const struct pm_target_machine *target, const struct pm_cost *row, double times,
                    struct pm_need *need) {
    need->latency_cycles += row->latency_cycles;
    need->slots += times * pm_cost_slots(row);
    if (need->n_rows < PM_MOST_ROWS) {
        need->rows[need->n_rows].row = (uint32_t)(row - target->machine->costs);
        need->rows[need->n_rows++].times = times * row->operations;
    }
}

/* Adds what OP, taken as OP_CLASS, needs; false if the machine file has no row for it. */
static bool add_need(const struct pm_target_machine *target, enum pm_op_class op_class,
                     const struct pm_op *op, struct pm_need *need) {
    uint32_t width;
    uint32_t n_narrower = n_split(target->machine, op, &width);
    const struct pm_cost *row =
        pm_machine_cost(target->machine, op_class, width, op->element_bytes);
    if (!row)
        return false;
    need->split |= n_narrower > 1;
    add_row(target, row, n_narrower, need);
    return true;
}

/* The row of the instruction that OP belongs to, which stands for all that it does beside its loads
   and stores; NULL: its classes count. */
static const struct pm_cost *mnemonic_row(const struct pm_target_machine *target, uint32_t op) {
    const struct pm_op *self = op_at(target, op);
    if (!target->has_mnemonics || pm_op_class_kind(self->op_class) == 'm')
        return NULL;
    return pm_machine_mnemonic_cost(target->machine, target->structure->isa,
                                    pm_op_mnemonic(target->structure, self), self->width_bits,
                                    self->element_bytes);
}

/* A constant is added to a register, which renaming can do later. */
static bool is_late_addition(const struct pm_target_machine *target, uint32_t op) {
    const struct pm_op *self = op_at(target, op);
    return target->machine->eliminates & PM_ELIMINATES_ADDITIONS && !target->is_foreign &&
           is_alone(target, op) && self->op_class == PM_OP_INT_ADD && self->width_bits >= 32 &&
           self->defs[0] <= LAST_GENERAL && uses_between(self, 0, 0, LAST_GENERAL) == 1 &&
           uses_between(self, 0, FLAGS + 1, PM_REGISTER_NONE - 1) == 0 && !mnemonic_row(target, op);
}

/* A load that extends the sign, where that takes a move as well. */
static bool extends_apart(const struct pm_target_machine *target, uint32_t op) {
    const char *mnemonic = pm_op_mnemonic(target->structure, op_at(target, op));
    return target->machine->extends_apart && !target->is_foreign && is_alone(target, op) &&
           op_at(target, op)->op_class == PM_OP_LOAD_INT && mnemonic &&
           (strcmp(mnemonic, "movsx") == 0 || strcmp(mnemonic, "movsxd") == 0);
}

/* Is OP the first operation of its instruction that is no load or store? */
static bool is_first_operation(const struct pm_target_machine *target, uint32_t op) {
    while (!op_at(target, op)->instruction_start && op > 0)
        if (pm_op_class_kind(op_at(target, --op)->op_class) != 'm')
            return false;
    return true;
}

/* ---- operations of another ISA --------------------------------------------------------------- */

/* Operations on addresses and flags are on general registers. */
static bool add_foreign(const struct pm_target_machine *target, enum pm_foreign_kind kind,
                        struct pm_need *need) {
    const struct pm_foreign *foreign = &target->machine->foreign[kind];
    const struct pm_op general = {.width_bits = SCALAR_BITS, .element_bytes = SCALAR_BITS / 8};
    for (size_t i = 0; i < foreign->n_adds; i++)
        if (!add_need(target, foreign->adds[i], &general, need))
            return false;
    return true;
}

static bool add_all_foreign(const struct pm_target_machine *target, uint32_t op,
                            struct pm_need *need) {
    const struct pm_op *self = op_at(target, op);
    bool is_memory = is_load(self) || is_store(self);
    bool is_operand = is_memory && (!self->instruction_start || goes_on(target, op));
    bool reads_flags = uses_between(self, 0, FLAGS, FLAGS) > 0 && self->op_class != PM_OP_BRANCH;
    bool has_mask =
        uses_between(self, 0, FIRST_MASK, LAST_MASK) > 0 && self->op_class != PM_OP_MASK;
    bool is_pushed = is_memory && is_on_stack(target, op);
    const struct {
        bool applies;
        enum pm_foreign_kind kind;
    } kinds[] = {
        {is_operand && !is_pushed, PM_FOREIGN_MEMORY_OPERAND},
        {is_memory && uses_between(self, is_store(self), 0, LAST_GENERAL) > 1,
         PM_FOREIGN_INDEXED_ADDRESS},
        {is_pushed, PM_FOREIGN_PUSH},
        {reads_flags, PM_FOREIGN_FLAGS},
        {has_mask, PM_FOREIGN_MASK},
        {self->op_class == PM_OP_GATHER, PM_FOREIGN_GATHER},
        {self->op_class == PM_OP_SCATTER, PM_FOREIGN_SCATTER},
        {self->op_class == PM_OP_FP_FMA, PM_FOREIGN_MULTIPLY_ADD},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].applies && !add_foreign(target, kinds[i].kind, need))
            return false;
    return true;
}

/* ---- what it needs --------------------------------------------------------------------------- */

void pm_op_need(const struct pm_target_machine *target, uint32_t op, struct pm_need *need) {
    const struct pm_machine *machine = target->machine;
    const struct pm_op *self = op_at(target, op);
    const struct pm_cost *row = mnemonic_row(target, op);
    *need = (struct pm_need){0};
    if (row) {
        need->known = true;
        if (is_first_operation(target, op))
            add_row(target, row, 1, need);
    } else if (self->op_class == PM_OP_FP_FMA && !machine->has_fma) {
        need->split = true;
        need->known = add_need(target, PM_OP_FP_MULT, self, need) &&
                      add_need(target, PM_OP_FP_ADD, self, need);
    } else {
        need->known = add_need(target, self->op_class, self, need);
    }
    if (need->known && extends_apart(target, op)) {
        double slots = need->slots;
        need->known = add_need(target, PM_OP_MOVE_INT, self, need);
        need->slots = slots;
    }
    if (need->known && target->is_foreign)
        need->known = add_all_foreign(target, op, need);
    if (!need->known) {
        *need = (struct pm_need){0};
        return;
    }
    if (is_stack_move(target, op))
        *need = (struct pm_need){.known = true, .eliminated = true, .moves_stack = true};
    else if (is_eliminated(target, op))
        *need = (struct pm_need){.known = true, .eliminated = true, .slots = need->slots};
    else if (fuses_with_branch(target, op))
        *need =
            (struct pm_need){.known = true, .fused = true, .latency_cycles = need->latency_cycles};
    else if (machine->fuses_memory && feeds_its_instruction(target, op))
        need->slots = is_unfused(target, op) ? need->slots : 0;
    else if (is_unfused_store(target, op))
        need->slots *= 2;
    if (is_late_addition(target, op))
        need->latency_cycles = 0;
}

uint32_t pm_need_row(const struct pm_need *need) {
    return need->n_rows == 1 ? need->rows[0].row : PM_NONE;
}

double pm_bypass_cycles(const struct pm_target_machine *target, uint32_t from_row,
                        uint32_t to_row) {
    const struct pm_machine *machine = target->machine;
    if (!machine->n_bypasses || from_row == PM_NONE || to_row == PM_NONE)
        return 0;
    const struct pm_cost *from = &machine->costs[from_row];
    return pm_bypass_latency(machine, from, &machine->costs[to_row]) - from->latency_cycles;
}

void pm_demand_add_block(const struct pm_target_machine *target, uint32_t block, double weight,
                         struct pm_demand *demand) {
    const struct pm_block *b = &target->structure->blocks[block];
    for (uint32_t i = b->first_op; i < b->first_op + b->n_ops; i++) {
        struct pm_need need;
        pm_op_need(target, i, &need);
        demand->operations += weight;
        demand->unknown_operations += need.known ? 0 : weight;
        demand->split_operations += need.split ? weight : 0;
        demand->slots += weight * need.slots;
        for (unsigned r = 0; r < need.n_rows; r++)
            demand->executions[need.rows[r].row] += weight * need.rows[r].times;
    }
}
