/* From generic operations to what they need on a machine: units, cycles, issue slots.

   An operation wider than the machine's vectors is split into ceil(width / vector_width) narrower
   ones. A machine of at most 64 bits has no vectors; there an operation is split into its elements.
   These do not depend on each other, so a split operation keeps the latency of one of them.  A
   multiply-add without hardware is a multiplication and an addition, with the sum of latencies.
   Where the machine fuses them, a load that feeds an operation of its own instruction takes a load
   unit but no issue slot. */
#include "sched/schedule.h"

#include <stdlib.h>

enum { SCALAR_BITS = 64, MAX_UNIONS = 4096 };

static void add_set(uint64_t *sets, size_t *n_sets, uint64_t set) {
    for (size_t i = 0; i < *n_sets; i++)
        if (sets[i] == set)
            return;
    sets[(*n_sets)++] = set;
}

bool pm_unit_sets_make(const struct pm_machine *machine, struct pm_unit_sets *sets,
                       struct pm_error *err) {
    *sets = (struct pm_unit_sets){
        .sets = pm_alloc(machine->n_costs, sizeof *sets->sets),
        .unions = pm_alloc(MAX_UNIONS + machine->n_costs, sizeof *sets->unions)};
    for (size_t i = 0; i < machine->n_costs; i++)
        if (machine->costs[i].units)
            add_set(sets->sets, &sets->n_sets, machine->costs[i].units);
    for (size_t i = 0; i < sets->n_sets; i++)
        add_set(sets->unions, &sets->n_unions, sets->sets[i]);
    /* Unions grow while this runs; a union of sets without a common unit is never tighter than the
       tighter of its parts, so those are left out. */
    for (size_t i = 0; i < sets->n_unions; i++)
        for (size_t k = 0; k < sets->n_sets; k++) {
            if (sets->unions[i] & sets->sets[k])
                add_set(sets->unions, &sets->n_unions, sets->unions[i] | sets->sets[k]);
            if (sets->n_unions > MAX_UNIONS) {
                pm_unit_sets_free(sets);
                return pm_fail(err,
                               "machine %s: the `units` of its costs overlap in more than %d ways; "
                               "use fewer different sets",
                               machine->path ? machine->path : machine->name, MAX_UNIONS);
            }
        }
    return true;
}

void pm_unit_sets_free(struct pm_unit_sets *sets) {
    free(sets->sets);
    free(sets->unions);
    *sets = (struct pm_unit_sets){0};
}

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

/* Adds what OP, taken as OP_CLASS, needs; false if the machine file has no row for it. */
static bool add_need(const struct pm_machine *machine, const struct pm_unit_sets *sets,
                     enum pm_op_class op_class, const struct pm_op *op, struct pm_need *need) {
    uint32_t width;
    uint32_t n_narrower = n_split(machine, op, &width);
    const struct pm_cost *row = pm_machine_cost(machine, op_class, width, op->element_bytes);
    if (!row)
        return false;
    double times = (double)n_narrower * row->operations;
    need->split |= n_narrower > 1;
    need->latency_cycles += row->latency_cycles;
    need->slots += times;
    if (row->units) {
        uint32_t set = 0;
        while (sets->sets[set] != row->units)
            set++;
        need->reservations[need->n_reservations].set = set;
        need->reservations[need->n_reservations++].busy_cycles = times * row->repeat_cycles;
    }
    return true;
}

void pm_op_need(const struct pm_machine *machine, const struct pm_unit_sets *sets,
                const struct pm_op *op, struct pm_need *need) {
    *need = (struct pm_need){0};
    if (op->op_class == PM_OP_FP_FMA && !machine->has_fma) {
        need->split = true;
        need->known = add_need(machine, sets, PM_OP_FP_MULT, op, need) &&
                      add_need(machine, sets, PM_OP_FP_ADD, op, need);
    } else {
        need->known = add_need(machine, sets, op->op_class, op, need);
    }
    if (!need->known)
        *need = (struct pm_need){0};
}

static bool feeds_its_instruction(const struct pm_structure *structure, uint32_t op,
                                  uint32_t end_op) {
    uint8_t op_class = structure->ops[op].op_class;
    return (op_class == PM_OP_LOAD_INT || op_class == PM_OP_LOAD_FP) && op + 1 < end_op &&
           !structure->ops[op + 1].instruction_start;
}

void pm_demand_add_block(const struct pm_structure *structure, const struct pm_machine *machine,
                         const struct pm_unit_sets *sets, uint32_t block, double weight,
                         struct pm_demand *demand) {
    const struct pm_block *b = &structure->blocks[block];
    uint32_t end = b->first_op + b->n_ops;
    for (uint32_t i = b->first_op; i < end; i++) {
        struct pm_need need;
        pm_op_need(machine, sets, &structure->ops[i], &need);
        demand->operations += weight;
        demand->unknown_operations += need.known ? 0 : weight;
        demand->split_operations += need.split ? weight : 0;
        if (!machine->fuses_memory || !feeds_its_instruction(structure, i, end))
            demand->slots += weight * need.slots;
        for (unsigned r = 0; r < need.n_reservations; r++)
            demand->set_cycles[need.reservations[r].set] +=
                weight * need.reservations[r].busy_cycles;
    }
}
