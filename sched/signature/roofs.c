/* The roofline (Williams, Waterman & Patterson 2009): what a machine's units and each of its levels
   allow, and where loops stand under it.

       FLOP/s ≤ min(peak, intensity_l · B_l)       intensity_l = floating-point operations / bytes_l

   B_l      bytes a second that level l gives in order, the plateau of the signature's curve of
            stride 8; for memory what is behind the last cache
   bytes_l  that level l moves towards the core: of the first the bytes that are accessed, of each
            other the misses of the level before times its line, with write-backs where they were
            counted
   peak     of the widest vectors: multiply-adds where the machine has them, else additions and
            multiplications, by the throughput of their rows */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/analysis/analysis.h"
#include "sched/signature/private.h"

/* ---- the machine ----------------------------------------------------------------------------- */

/* Operations a cycle of one class with the widest vectors; 0: no row. */
static double operations_a_cycle(const struct pm_machine *machine, enum pm_op_class op_class) {
    uint32_t bits = machine->vector_width_bits > 64 ? machine->vector_width_bits : 64;
    const struct pm_cost *row = pm_machine_cost(machine, op_class, bits, PM_WORD_BYTES);
    double cycles = row ? pm_cost_throughput(row) : 0;
    return cycles > 0 ? bits / 64.0 / cycles : 0;
}

static double peak(const struct pm_machine *machine) {
    double flops = machine->has_fma ? 2 * operations_a_cycle(machine, PM_OP_FP_FMA) : 0;
    flops = fmax(flops, operations_a_cycle(machine, PM_OP_FP_ADD));
    flops = fmax(flops, operations_a_cycle(machine, PM_OP_FP_MULT));
    return flops * machine->clock_hz;
}

void pm_roofs_of(const struct pm_signature *signature, struct pm_roofs *roofs) {
    const struct pm_machine *machine = signature->machine;
    const struct pm_curve *curve = pm_signature_curve(signature, false, PM_STRIDE_BIN_1);
    *roofs = (struct pm_roofs){.flops_per_second = peak(machine)};
    for (size_t l = 0; l <= signature->n_caches; l++) {
        bool is_memory = l == signature->n_caches;
        double bytes = pm_signature_plateau(signature, curve, l);
        *PM_PUSH(roofs, roofs) = (struct pm_roof){
            pm_strdup(is_memory ? "memory" : machine->levels[l].name), bytes * machine->clock_hz};
    }
}

void pm_roofs_free(struct pm_roofs *roofs) {
    for (size_t i = 0; i < roofs->n_roofs; i++)
        free(roofs->roofs[i].name);
    free(roofs->roofs);
    *roofs = (struct pm_roofs){0};
}

/* ---- the program ----------------------------------------------------------------------------- */

static double bytes_accessed(const struct pm_frequencies *frequencies, uint32_t scope) {
    const struct pm_structure *s = frequencies->structure;
    const struct pm_lists *regions = &frequencies->regions;
    double bytes = 0;
    for (uint32_t k = regions->first[scope]; k < regions->first[scope + 1]; k++) {
        const struct pm_block *block = &s->blocks[regions->items[k]];
        double executions = frequencies->blocks[regions->items[k]];
        for (uint32_t r = 0; r < block->n_references && executions > 0; r++) {
            const struct pm_reference *of = &s->references[block->first_reference + r];
            bytes += executions * of->size_bytes * pm_reference_accesses(of);
        }
    }
    return bytes;
}

static int by_seconds(const void *left, const void *right) {
    const struct pm_roofline_point *a = left, *b = right;
    return a->seconds != b->seconds ? PM_COMPARE(b->seconds, a->seconds)
                                    : PM_COMPARE(a->scope, b->scope);
}

bool pm_roofline_of(const struct pm_structure *structure, const struct pm_profile *profile,
                    const struct pm_signature *signature, const struct pm_prediction *prediction,
                    struct pm_roofline *roofline, struct pm_error *err) {
    const struct pm_machine *machine = signature->machine;
    struct pm_frequencies frequencies;
    *roofline = (struct pm_roofline){0};
    pm_frequencies_make(structure, profile->edge_counts, &frequencies);
    double *flops = pm_flops_of_scopes(&frequencies);
    struct pm_roofline_point *rows = pm_alloc(structure->n_scopes, sizeof *rows);
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const struct pm_cost_sum *self = &prediction->scopes[s].self;
        struct pm_roofline_point *row = &rows[pm_row_scope(structure, s)];
        row->flops += flops[s];
        row->seconds += self->cycles;
        row->bytes[0] += bytes_accessed(&frequencies, s);
        for (size_t l = 0; l < signature->n_caches; l++) {
            double back = self->level_write_backs[l];
            double lines = self->level_misses[l] + (isnan(back) ? 0 : back);
            row->bytes[l + 1] += lines * (double)machine->levels[l].block_bytes;
        }
    }
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        rows[s].scope = s;
        rows[s].seconds /= machine->clock_hz;
        if (rows[s].flops > 0 && rows[s].seconds > 0)
            *PM_PUSH(roofline, points) = rows[s];
    }
    free(rows);
    free(flops);
    pm_frequencies_free(&frequencies);
    if (roofline->n_points == 0)
        return pm_fail(err, "no loop of the program has a floating-point operation, so that none "
                            "has a place under a roof of floating-point operations a second");
    PM_SORT(roofline->points, roofline->n_points, by_seconds);
    return true;
}
