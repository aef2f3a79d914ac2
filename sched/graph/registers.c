/* What the operations of a path wait for through registers.

   One walk along the path finds what is defined when an iteration begins, a second one who uses
   what; a definition that is older than the iteration is that of the iteration before.  What an
   inner loop defines is there in time (graph.h). */
#include <string.h>

#include "sched/graph/private.h"

enum { NOBODY = UINT32_MAX, FLAGS = 32, N_REGISTERS = PM_REGISTER_NONE };

struct definitions {
    uint32_t of[N_REGISTERS]; /* number of the operation in builder->ops */
    bool is_before[N_REGISTERS];
};

static void pass_inner_loop(const struct pm_builder *builder, uint32_t loop,
                            struct definitions *definitions) {
    const struct pm_structure *structure = builder->target->structure;
    const struct pm_routine *routine = &structure->routines[structure->scopes[loop].routine];
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        if (!pm_is_in_loop(structure, b, loop))
            continue;
        for (uint32_t i = block->first_op; i < block->first_op + block->n_ops; i++)
            for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
                if (structure->ops[i].defs[k] != PM_REGISTER_NONE)
                    definitions->of[structure->ops[i].defs[k]] = NOBODY;
    }
}

static bool defines(const struct pm_op *op, uint8_t number) {
    for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
        if (op->defs[k] == number)
            return true;
    return false;
}

/* sbb of a register and itself: the flags alone tell what comes out. */
static bool is_borrow(const struct pm_builder *builder, const struct pm_op *op) {
    const char *mnemonic = pm_op_mnemonic(builder->target->structure, op);
    return builder->target->machine->eliminates & PM_ELIMINATES_BORROWS && mnemonic &&
           strcmp(mnemonic, "sbb0") == 0;
}

static void use(struct pm_builder *builder, const struct definitions *definitions,
                const struct pm_op_nodes *to, unsigned k) {
    const struct pm_op *op = &builder->target->structure->ops[to->op];
    uint8_t number = op->uses[k];
    if (number == PM_REGISTER_NONE || definitions->of[number] == NOBODY ||
        (number != FLAGS && is_borrow(builder, op)))
        return;
    bool is_before = definitions->is_before[number];
    if (is_before && builder->options->loop == PM_NONE)
        return;
    const struct pm_op_nodes *from = &builder->ops[definitions->of[number]];
    const struct pm_node *node = &builder->graph->nodes[from->last];
    bool is_data = to->data != PM_NONE && k == 0;
    uint32_t waits = is_data ? to->data : to->first;
    bool is_one = from->is_fused && to == from + 1; /* the branch that it is fused with */
    const struct pm_machine *machine = builder->target->machine;
    float more = (float)pm_bypass_cycles(builder->target, from->row, to->row);
    if (from->moves_stack && !to->moves_stack && defines(op, number))
        more += (float)machine->stack_move_cycles;
    if (to->row != PM_NONE && machine->costs[to->row].merge_latency_cycles > 0 &&
        defines(op, number))
        more += (float)(machine->costs[to->row].merge_latency_cycles -
                        machine->costs[to->row].latency_cycles);
    if (to->row != PM_NONE && k == 1 && machine->costs[to->row].second_latency_cycles > 0)
        more += (float)(machine->costs[to->row].second_latency_cycles -
                        machine->costs[to->row].latency_cycles);
    pm_add_wait(builder, &(struct pm_wait){
                             .from = from->last,
                             .to = waits,
                             .distance = is_before,
                             .is_fresh = is_before && builder->fresh[number],
                             .sort = is_data ? PM_THROUGH_DATA : PM_THROUGH_REGISTER,
                             .is_hidden = pm_is_hidden(
                                 builder, node->step, builder->graph->nodes[waits].step, is_before),
                             .cycles = is_one ? 0 : node->latency_cycles + more});
}

static bool is_first_use(const struct pm_op *op, unsigned k) {
    for (unsigned before = 0; before < k; before++)
        if (op->uses[before] == op->uses[k])
            return false;
    return true;
}

static void walk(struct pm_builder *builder, bool is_second, struct definitions *definitions) {
    const struct pm_structure *structure = builder->target->structure;
    size_t i = 0;
    for (uint32_t s = 0; s < builder->n_steps; s++) {
        if (builder->path[s].block == PM_NONE) {
            pass_inner_loop(builder, builder->path[s].loop, definitions);
            continue;
        }
        for (; i < builder->n_ops && builder->graph->nodes[builder->ops[i].first].step == s; i++) {
            const struct pm_op *op = &structure->ops[builder->ops[i].op];
            /* The data of a store are another node's than the address. */
            for (unsigned k = 0; k < PM_OP_N_USES && is_second; k++)
                if (is_first_use(op, k) || builder->ops[i].data != PM_NONE)
                    use(builder, definitions, &builder->ops[i], k);
            for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
                if (op->defs[k] != PM_REGISTER_NONE) {
                    definitions->of[op->defs[k]] = (uint32_t)i;
                    definitions->is_before[op->defs[k]] = !is_second;
                }
        }
    }
}

/* The nodes of one operation follow each other. */
static void chain_nodes(struct pm_builder *builder) {
    for (size_t i = 0; i < builder->n_ops; i++) {
        const struct pm_op_nodes *op = &builder->ops[i];
        for (uint32_t n = op->first; n < op->last; n++)
            if (n + 1 != op->data)
                pm_add_wait(builder,
                            &(struct pm_wait){.from = n,
                                              .to = n + 1,
                                              .cycles = builder->graph->nodes[n].latency_cycles});
    }
}

void pm_wait_through_registers(struct pm_builder *builder) {
    struct definitions definitions;
    memset(definitions.of, 0xff, sizeof definitions.of);
    walk(builder, false, &definitions);
    walk(builder, true, &definitions);
    chain_nodes(builder);
}
