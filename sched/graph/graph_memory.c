/* What the loads of a path wait for through memory: the data of a store of the same place,
   `distance` iterations before (pm_dependence).

   The load's result is there `store_forward_latency` after the data of the store were ready, or
   after the load's own latency where the machine file does not say it.  Addresses of stores are
   assumed to be known in time.  Unknown dependences are none, or, if asked for, such of distance 1,
   and 0 from a store to a load behind it.  Those over more than MOST_DISTANCE iterations are too
   weak to matter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/graph/private.h"

enum { MOST_DISTANCE = 16 };

/* The nodes of the path's references, by number: loads, and data of stores. */
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
            all.store[reference - all.first] = op->data;
        else if (builder->graph->nodes[op->first].is_load)
            all.load[reference - all.first] = op->first;
    }
    return all;
}

static uint32_t node_of(const struct references *all, const uint32_t *nodes, uint32_t reference) {
    return reference >= all->first && reference < all->end ? nodes[reference - all->first]
                                                           : PM_NONE;
}

static void wait(struct pm_builder *builder, uint32_t store, uint32_t load, uint32_t distance) {
    const struct pm_structure *structure = builder->target->structure;
    const struct pm_node *nodes = builder->graph->nodes;
    if (store == PM_NONE || load == PM_NONE || distance > MOST_DISTANCE ||
        (distance == 0 && store > load) || (distance && builder->options->loop == PM_NONE))
        return;
    double forward = builder->target->machine->store_forward_cycles;
    pm_add_wait(
        builder,
        &(struct pm_wait){
            .from = store,
            .to = load,
            .distance = (uint16_t)distance,
            .is_fresh = distance > 0 && builder->options->with_entries &&
                        pm_is_fresh_place(structure, structure->ops[nodes[load].op].reference),
            .sort = PM_THROUGH_MEMORY,
            .is_hidden = pm_is_hidden(builder, nodes[store].step, nodes[load].step, distance > 0),
            .cycles = forward > 0 ? (float)forward - nodes[load].latency_cycles : 0});
}

static void wait_for_unknown(struct pm_builder *builder, uint32_t store, uint32_t load) {
    wait(builder, store, load, 0);
    wait(builder, store, load, 1);
}

/* When LOAD has what STORE of the same path stored (pm_forwarding). */
static void wait_for_forwarding(struct pm_builder *builder, const struct pm_forwarding *f) {
    const struct pm_machine *machine = builder->target->machine;
    const struct pm_node *nodes = builder->graph->nodes;
    uint32_t store = builder->ops[f->store].data, load = builder->ops[f->load].first;
    if (store == PM_NONE || !nodes[load].is_load)
        return;
    double forward = fmax(machine->store_forward_cycles, nodes[load].latency_cycles);
    double blocked = fmax(machine->store_block_cycles, forward);
    pm_add_wait(builder, &(struct pm_wait){.from = store,
                                           .to = load,
                                           .sort = PM_THROUGH_MEMORY,
                                           .is_blocked = f->is_blocked,
                                           .is_hidden = pm_is_hidden(builder, nodes[store].step,
                                                                     nodes[load].step, false),
                                           .cycles = (float)((f->is_partial ? blocked : forward) -
                                                             nodes[load].latency_cycles)});
}

void pm_wait_through_memory(struct pm_builder *builder) {
    const struct pm_structure *structure = builder->target->structure;
    size_t n = 0;
    if (builder->options->forwardings) {
        for (size_t i = 0; i < builder->options->n_forwardings; i++)
            wait_for_forwarding(builder, &builder->options->forwardings[i]);
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
            wait(builder, node_of(&all, all.store, d->from), node_of(&all, all.load, d->to),
                 d->distance);
        } else if (builder->options->pessimistic && d->from == PM_NONE) {
            for (uint32_t i = 0; i < all.end - all.first; i++)
                for (uint32_t j = 0; j < all.end - all.first && all.store[i] != PM_NONE; j++)
                    wait_for_unknown(builder, all.store[i], all.load[j]);
        } else if (builder->options->pessimistic) {
            wait_for_unknown(builder, node_of(&all, all.store, d->from),
                             node_of(&all, all.load, d->to));
            if (d->from != d->to)
                wait_for_unknown(builder, node_of(&all, all.store, d->to),
                                 node_of(&all, all.load, d->from));
        }
    }
    free(all.load);
}
