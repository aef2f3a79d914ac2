/* What the loads of a path wait for through memory: the data of a store of the same place,
   `distance` iterations before (pm_dependence).

   The load's result is there `store_forward_latency` after the data of the store were ready, or
   after the load's own latency where the machine file does not say it; with them, where it is
   renamed (`renames_memory`).  Addresses of stores are
   assumed to be known in time.  Unknown dependences are none, or, if asked for, such of distance 1,
   and 0 from a store to a load behind it.  Those over more than MOST_DISTANCE iterations are too
   weak to matter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/graph/private.h"

enum { MOST_DISTANCE = 16, STACK_POINTER = 4, LEAST_RENAMED_BITS = 32, FIRST_TEMPORARY = 120 };

/* The operations of the path's references, by number: loads, and stores. */
struct references {
    uint32_t first, end; /* of the structure */
    uint32_t *load, *store;
};

/* push, pop, call, ret: nothing else uses their places. */
static bool may_depend(const struct pm_structure *structure, uint32_t reference) {
    uint32_t group = structure->references[reference].group;
    return group == PM_NONE || !(structure->groups[group].flags & PM_GROUP_PUSHED);
}

static struct references references_of_path(const struct pm_builder *builder) {
    const struct pm_structure *structure = builder->target->structure;
    struct references all = {.first = UINT32_MAX};
    for (size_t i = 0; i < builder->n_ops; i++) {
        uint32_t reference = structure->ops[builder->ops[i].op].reference;
        if (reference == PM_NONE)
            continue;
        all.first = reference < all.first ? reference : all.first;
        all.end = reference >= all.end ? reference + 1 : all.end;
    }
    if (all.end == 0)
        return all;
    size_t n = all.end - all.first;
    all.load = pm_alloc(2 * n, sizeof *all.load);
    all.store = all.load + n;
    memset(all.load, 0xff, 2 * n * sizeof *all.load);
    for (size_t i = 0; i < builder->n_ops; i++) {
        const struct pm_op_nodes *op = &builder->ops[i];
        uint32_t reference = structure->ops[op->op].reference;
        if (reference == PM_NONE || !may_depend(structure, reference))
            continue;
        if (op->data != PM_NONE)
            all.store[reference - all.first] = (uint32_t)i;
        else if (builder->graph->nodes[op->first].is_load)
            all.load[reference - all.first] = (uint32_t)i;
    }
    return all;
}

static uint32_t op_number(const struct references *all, const uint32_t *ops, uint32_t reference) {
    return reference >= all->first && reference < all->end ? ops[reference - all->first] : PM_NONE;
}

/* ---- how long it takes ----------------------------------------------------------------------- */

static const struct pm_op *op_of(const struct pm_builder *builder, uint32_t number) {
    return &builder->target->structure->ops[builder->ops[number].op];
}

static bool defines(const struct pm_op *op, uint8_t number) {
    for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
        if (op->defs[k] == number)
            return true;
    return false;
}

/* Is REGISTER, of the address of both, the same value for the load as for the store?  What is added
   to the stack pointer is known early. */
static bool is_kept(const struct pm_builder *builder, const struct pm_forwarding *f,
                    uint8_t number) {
    if (number == PM_REGISTER_NONE || number == STACK_POINTER)
        return true;
    size_t n = builder->n_ops, steps = f->load + f->distance * n - f->store;
    for (size_t i = 0; i < steps && i < n; i++)
        if (defines(op_of(builder, (uint32_t)((f->store + i) % n)), number))
            return false;
    return true;
}

/* The load of an instruction that does nothing with it but put it into a register, or store it
   again. */
static bool only_moves(const struct pm_builder *builder, uint32_t load) {
    const char *mnemonic = pm_op_mnemonic(builder->target->structure, op_of(builder, load));
    if (mnemonic && (strncmp(mnemonic, "movzx", 5) == 0 || strncmp(mnemonic, "movs", 4) == 0))
        return false;
    bool operates = false, stores = false;
    for (size_t i = load + 1; i < builder->n_ops && !op_of(builder, (uint32_t)i)->instruction_start;
         i++) {
        const struct pm_op *op = op_of(builder, (uint32_t)i);
        stores |= pm_is_store_class(op->op_class);
        for (unsigned k = 0; k < PM_OP_N_USES; k++)
            operates |= op->uses[k] != PM_REGISTER_NONE && op->uses[k] >= FIRST_TEMPORARY;
    }
    return !operates || stores;
}

static bool is_renamed(const struct pm_builder *builder, const struct pm_forwarding *f) {
    const struct pm_structure *structure = builder->target->structure;
    const struct pm_op *store = op_of(builder, f->store), *load = op_of(builder, f->load);
    if (!builder->target->machine->renames_memory || f->is_partial || !f->is_same_place ||
        load->op_class != PM_OP_LOAD_INT || store->op_class != PM_OP_STORE_INT ||
        load->width_bits < LEAST_RENAMED_BITS || !only_moves(builder, f->load))
        return false;
    if (!builder->options->is_unrolled) /* the two are known by where they stand */
        return f->distance <= 1;
    const struct pm_reference *from = &structure->references[store->reference];
    const struct pm_reference *to = &structure->references[load->reference];
    return from->base == to->base && from->index == to->index && is_kept(builder, f, from->base) &&
           is_kept(builder, f, from->index);
}

/* From the store's data to what is loaded. */
static double forward_cycles(const struct pm_builder *builder, const struct pm_forwarding *f) {
    const struct pm_machine *machine = builder->target->machine;
    double own = builder->graph->nodes[builder->ops[f->load].first].latency_cycles;
    bool is_general = op_of(builder, f->load)->op_class == PM_OP_LOAD_INT &&
                      machine->store_forward_general_cycles > 0;
    double cycles =
        is_general ? machine->store_forward_general_cycles : machine->store_forward_cycles;
    if (is_renamed(builder, f))
        return 0;
    if (f->is_partial)
        return fmax(machine->store_block_cycles, fmax(own, cycles));
    return cycles > 0 ? cycles : own;
}

/* When LOAD has what STORE of the same path stored (pm_forwarding). */
static void wait(struct pm_builder *builder, const struct pm_forwarding *f) {
    const struct pm_structure *structure = builder->target->structure;
    const struct pm_node *nodes = builder->graph->nodes;
    uint32_t store = builder->ops[f->store].data, load = builder->ops[f->load].first;
    if (store == PM_NONE || !nodes[load].is_load)
        return;
    pm_add_wait(
        builder,
        &(struct pm_wait){
            .from = store,
            .to = load,
            .distance = f->distance,
            .is_fresh = f->distance > 0 && builder->options->with_entries &&
                        pm_is_fresh_place(structure, structure->ops[nodes[load].op].reference),
            .sort = PM_THROUGH_MEMORY,
            .is_blocked = f->is_blocked,
            .is_hidden =
                pm_is_hidden(builder, nodes[store].step, nodes[load].step, f->distance > 0),
            .cycles = (float)(forward_cycles(builder, f) - nodes[load].latency_cycles)});
}

/* STORE and LOAD are operations of the path, or PM_NONE. */
static void wait_for_dependence(struct pm_builder *builder, uint32_t store, uint32_t load,
                                uint32_t distance, bool is_same_place) {
    if (store == PM_NONE || load == PM_NONE || distance > MOST_DISTANCE ||
        (distance == 0 && store > load) || (distance && builder->options->loop == PM_NONE))
        return;
    wait(builder, &(struct pm_forwarding){.load = load,
                                          .store = store,
                                          .distance = (uint16_t)distance,
                                          .is_same_place = is_same_place});
}

static void wait_for_unknown(struct pm_builder *builder, uint32_t store, uint32_t load) {
    wait_for_dependence(builder, store, load, 0, false);
    wait_for_dependence(builder, store, load, 1, false);
}

void pm_wait_through_memory(struct pm_builder *builder) {
    const struct pm_structure *structure = builder->target->structure;
    size_t n = 0;
    if (builder->options->forwardings) {
        for (size_t i = 0; i < builder->options->n_forwardings; i++)
            wait(builder, &builder->options->forwardings[i]);
        return;
    }
    const struct pm_dependence *dependences =
        builder->options->loop == PM_NONE
            ? NULL
            : pm_structure_dependences(structure, builder->options->loop, &n);
    if (n == 0)
        return;
    struct references all = references_of_path(builder);
    for (size_t k = 0; k < n && all.end; k++) {
        const struct pm_dependence *d = &dependences[k];
        if (d->kind != PM_DEPENDS_UNKNOWN) {
            wait_for_dependence(builder, op_number(&all, all.store, d->from),
                                op_number(&all, all.load, d->to), d->distance, true);
        } else if (builder->options->pessimistic && d->from == PM_NONE) {
            for (uint32_t i = 0; i < all.end - all.first; i++)
                for (uint32_t j = 0; j < all.end - all.first && all.store[i] != PM_NONE; j++)
                    wait_for_unknown(builder, all.store[i], all.load[j]);
        } else if (builder->options->pessimistic) {
            wait_for_unknown(builder, op_number(&all, all.store, d->from),
                             op_number(&all, all.load, d->to));
            if (d->from != d->to)
                wait_for_unknown(builder, op_number(&all, all.store, d->to),
                                 op_number(&all, all.load, d->from));
        }
    }
    free(all.load);
}
