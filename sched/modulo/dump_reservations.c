/* The dump `reservations`: the modulo schedule of a path.  Each operation with the cycle that it
   begins in, counted from the first of its iteration, and the unit that it takes; then the
   reservation table: for each cycle of the interval what units are taken by, in iterations that
   overlap. */
#include <inttypes.h>
#include <math.h>

#include "sched/modulo/private.h"

/* Takes OP a unit in ROW of the table?  BEGINS: its cycle. */
static bool takes(const struct pm_modulo_op *op, uint32_t begins, uint32_t interval, uint32_t row) {
    uint32_t first = begins + (uint32_t)op->start_cycle;
    uint32_t later = (row + interval - first % interval) % interval;
    return later < ceil(op->busy_cycles - 1e-9);
}

static void put_operation(const struct pm_modulo_options *options, const struct pm_node *node) {
    const struct pm_structure *structure = options->target->structure;
    const struct pm_op *op = &structure->ops[node->op];
    const char *mnemonic = pm_op_mnemonic(structure, op);
    fprintf(options->dumping->out, "%s%s%s", pm_op_class_name(op->op_class), mnemonic ? " " : "",
            mnemonic ? mnemonic : "");
}

void pm_dump_reservations(const struct pm_modulo_options *options, const struct pm_dep_graph *graph,
                          const struct pm_modulo_problem *problem, uint32_t interval,
                          const uint32_t *cycle, const int8_t *unit) {
    if (!options->dumping)
        return;
    FILE *out = options->dumping->out;
    const struct pm_unit *units = options->target->machine->units;
    fprintf(out, "  interval %" PRIu32 " cycles\n", interval);
    for (size_t i = 0; i < problem->n_ops; i++) {
        const struct pm_modulo_op *op = &problem->ops[i];
        fprintf(out, "  operation %zu ", i);
        put_operation(options, &graph->nodes[op->node]);
        fprintf(out, ": cycle %" PRIu32, cycle[i]);
        if (unit[i] >= 0)
            fprintf(out, ", %s for %.5g", units[unit[i]].name, op->busy_cycles);
        fputc('\n', out);
    }
    for (uint32_t row = 0; row < interval; row++) {
        fprintf(out, "  table %" PRIu32 ":", row);
        for (size_t i = 0; i < problem->n_ops; i++)
            if (unit[i] >= 0 && takes(&problem->ops[i], cycle[i], interval, row))
                fprintf(out, " %s=%zu", units[unit[i]].name, i);
        fputc('\n', out);
    }
}
