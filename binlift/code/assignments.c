/* Addresses of references, and what instructions give to general registers and to memory, as far as
   these are sums: kept in the structure, so that whoever has no file any more can follow a path's
   addresses (sched/interprocedural/).  Needs generic operations and clobbers. */
#include "binlift/batches.h"

#include <stdlib.h>

struct batch {
    PM_ARRAY(struct pm_assignment, items);
};

static bool is_plain_register(uint8_t number) {
    return number < PM_N_GENERAL_REGISTERS || number == PM_REGISTER_NONE ||
           number == PM_REGISTER_PC;
}

static void set_address(struct pm_reference *reference, const struct pm_memory_operand *operand) {
    if (operand->kind != PM_ACCESS_PLAIN || operand->segment || !is_plain_register(operand->base) ||
        !is_plain_register(operand->index))
        return;
    reference->has_address = true;
    reference->base = operand->base == PM_REGISTER_PC ? PM_REGISTER_NONE : operand->base;
    reference->index = operand->index;
    reference->scale = operand->scale;
    reference->displacement = operand->displacement;
}

static bool is_place(uint8_t place) {
    return place < PM_N_GENERAL_REGISTERS || place == PM_PLACE_MEMORY;
}

/* False: not a sum, or it has factors that are too large. */
static bool to_assignment(const struct pm_definition *definition, struct pm_assignment *to) {
    if (definition->kind != PM_DEFINED_AS_SUM || !is_place(definition->place))
        return false;
    *to = (struct pm_assignment){.callee = PM_NONE,
                                 .place = definition->place,
                                 .n_terms = definition->n_terms,
                                 .constant = definition->constant};
    for (unsigned t = 0; t < definition->n_terms; t++) {
        to->places[t] = definition->terms[t].place;
        to->factors[t] = (int32_t)definition->terms[t].factor;
        if (to->factors[t] != definition->terms[t].factor || !is_place(to->places[t]))
            return false;
    }
    return true;
}

static void add_call(const struct pm_lifted *lifted, struct batch *batch, uint32_t k, uint32_t op) {
    const struct pm_insn *insn = &lifted->insns[k];
    struct pm_assignment call = {.op = op, .callee = PM_NONE, .place = PM_ASSIGNED_CALL};
    uint64_t address = 0;
    const char *name = NULL;
    bool is_direct = insn->control == PM_CONTROL_CALL || insn->control == PM_CONTROL_JUMP;
    if (is_direct && pm_call_target(lifted, insn, &address, &name) && address) {
        uint32_t routine = pm_routine_at(lifted, address);
        if (routine != PM_NONE && lifted->structure->routines[routine].address == address)
            call.callee = routine;
    }
    if (!pm_is_call(insn->control) &&
        (call.callee == PM_NONE ||
         call.callee == lifted->structure->blocks[lifted->insn_block[k]].routine))
        return;
    call.constant = pm_call_clobbers(lifted, insn);
    *PM_PUSH(batch, items) = call;
}

static void add_instruction(const struct pm_lifted *lifted, struct batch *batch, uint32_t k,
                            uint32_t op) {
    const struct pm_insn *insn = &lifted->insns[k];
    struct pm_definition definitions[PM_MOST_DEFINITIONS];
    for (unsigned m = 0; m < insn->n_memory; m++)
        set_address(&lifted->structure->references[lifted->insn_references[k] + m],
                    &insn->memory[m]);
    if (pm_is_call(insn->control) || insn->control == PM_CONTROL_JUMP) {
        add_call(lifted, batch, k, op);
        return;
    }
    unsigned n = lifted->isa->define(pm_insn_bytes(lifted, k), insn, definitions);
    for (unsigned i = 0; i < n; i++) {
        struct pm_assignment assignment;
        if (!to_assignment(&definitions[i], &assignment))
            continue;
        assignment.op = op;
        *PM_PUSH(batch, items) = assignment;
    }
}

/* The operations of an instruction begin with one that is marked. */
static void add_block(const struct pm_lifted *lifted, struct batch *batch, uint32_t b) {
    const struct pm_structure *structure = lifted->structure;
    const struct pm_block_code *code = &lifted->block_codes[b];
    const struct pm_block *block = &structure->blocks[b];
    uint32_t op = block->first_op, end = block->first_op + block->n_ops;
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns && op < end; k++) {
        add_instruction(lifted, batch, k, op);
        for (op++; op < end && !structure->ops[op].instruction_start;)
            op++;
    }
}

void pm_find_assignments(struct pm_lifted *lifted) {
    struct pm_batches routines = {0};
    pm_divide_routines(lifted, &routines);
    struct batch *batches = pm_alloc(routines.n_items, sizeof *batches);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < routines.n_items; i++)
        for (uint32_t r = routines.items[i].first; r < routines.items[i].end; r++) {
            const struct pm_routine *routine = &lifted->structure->routines[r];
            for (uint32_t b = 0; b < routine->n_blocks; b++)
                add_block(lifted, &batches[i], routine->first_block + b);
        }
    for (size_t i = 0; i < routines.n_items; i++) {
        for (size_t k = 0; k < batches[i].n_items; k++)
            *PM_PUSH(lifted->structure, assignments) = batches[i].items[k];
        free(batches[i].items);
    }
    free(batches);
    free(routines.items);
}
