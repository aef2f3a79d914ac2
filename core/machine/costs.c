/* What an operation costs on a machine: the row that applies, its throughput, and the latency to
   what depends on it. */
#include <math.h>
#include <string.h>

#include "core/machine/private.h"

/* ---- the row that applies -------------------------------------------------------------------- */

static bool covers(const struct pm_cost *row, uint32_t width_bits, uint32_t element_bytes) {
    return (!row->width_bits || row->width_bits >= width_bits) &&
           (!row->element_bytes || row->element_bytes == element_bytes);
}

/* Of the rows FIRST … END − 1 that cover the operation: the narrowest, then the one of its element
   size. */
static const struct pm_cost *best_row(const struct pm_cost *first, const struct pm_cost *end,
                                      uint32_t width_bits, uint32_t element_bytes) {
    const struct pm_cost *best = NULL;
    for (const struct pm_cost *row = first; row < end; row++) {
        if (!covers(row, width_bits, element_bytes))
            continue;
        uint32_t width = row->width_bits ? row->width_bits : UINT32_MAX;
        uint32_t best_width = best && best->width_bits ? best->width_bits : UINT32_MAX;
        if (!best || width < best_width || (width == best_width && !best->element_bytes))
            best = row;
    }
    return best;
}

const struct pm_cost *pm_machine_cost(const struct pm_machine *machine, enum pm_op_class op_class,
                                      uint32_t width_bits, uint32_t element_bytes) {
    return best_row(&machine->costs[machine->first_cost[op_class]],
                    &machine->costs[machine->first_cost[op_class + 1]], width_bits, element_bytes);
}

const struct pm_cost *pm_machine_mnemonic_cost(const struct pm_machine *machine, const char *isa,
                                               const char *mnemonic, uint32_t width_bits,
                                               uint32_t element_bytes) {
    if (!mnemonic || !machine->isa || !isa || strcmp(isa, machine->isa) != 0)
        return NULL;
    size_t low = machine->first_cost[PM_N_OP_CLASSES], high = machine->n_costs;
    while (low < high) { /* the first row that is not before MNEMONIC */
        size_t middle = low + (high - low) / 2;
        if (strcmp(machine->costs[middle].mnemonic, mnemonic) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < machine->n_costs && strcmp(machine->costs[end].mnemonic, mnemonic) == 0)
        end++;
    return best_row(&machine->costs[low], &machine->costs[end], width_bits, element_bytes);
}

/* ---- throughput ------------------------------------------------------------------------------ */

double pm_busy_within(const struct pm_reservation_table *table, uint64_t units) {
    double cycles = 0;
    for (size_t r = 0; r < table->n_reservations; r++) {
        const struct pm_reservation *reservation = &table->reservations[r];
        if (!(reservation->units & ~units))
            cycles += reservation->count * reservation->busy_cycles;
    }
    return cycles;
}

static uint64_t units_of(const struct pm_reservation_table *table) {
    uint64_t units = 0;
    for (size_t r = 0; r < table->n_reservations; r++)
        units |= table->reservations[r].units;
    return units;
}

/* The union of the reservations whose bits are set in CHOICE. */
static uint64_t chosen_units(const struct pm_reservation_table *table, unsigned choice) {
    uint64_t units = 0;
    for (size_t r = 0; r < table->n_reservations; r++)
        if (choice >> r & 1)
            units |= table->reservations[r].units;
    return units;
}

/* Cycles an operation that is always executed in one way: Hall's condition over unions of its
   reservations. */
static double cycles_of(const struct pm_reservation_table *table) {
    double cycles = 0;
    for (unsigned choice = 1; choice < 1u << table->n_reservations; choice++) {
        uint64_t units = chosen_units(table, choice);
        cycles = fmax(cycles, pm_busy_within(table, units) / __builtin_popcountll(units));
    }
    return cycles;
}

/* A lower bound, whatever the alternatives share: within each union of units of one table,
   the least that any of them needs. */
static double shared_cycles(const struct pm_cost *row) {
    double cycles = 0;
    for (size_t a = 0; a < row->n_alternatives; a++) {
        const struct pm_reservation_table *from = &row->alternatives[a];
        for (unsigned choice = 1; choice < 1u << from->n_reservations; choice++) {
            uint64_t units = chosen_units(from, choice);
            double least = INFINITY;
            for (size_t b = 0; b < row->n_alternatives; b++)
                least = fmin(least, pm_busy_within(&row->alternatives[b], units));
            cycles = fmax(cycles, least / __builtin_popcountll(units));
        }
    }
    return cycles;
}

double pm_cost_throughput(const struct pm_cost *row) {
    uint64_t seen = 0;
    double rate = 0;
    bool share = false;
    for (size_t a = 0; a < row->n_alternatives; a++) {
        uint64_t units = units_of(&row->alternatives[a]);
        share |= (seen & units) != 0;
        seen |= units;
        rate += 1 / cycles_of(&row->alternatives[a]);
    }
    if (!row->n_alternatives)
        return 0;
    return row->operations * (share ? shared_cycles(row) : 1 / rate);
}

double pm_cost_slots(const struct pm_cost *row) {
    return row->operations * (row->slots > 0 ? row->slots : 1);
}

/* ---- bypasses -------------------------------------------------------------------------------- */

static bool is_at_end(const struct pm_machine *machine, const struct pm_cost *row, uint64_t classes,
                      uint32_t domains) {
    if (!row->mnemonic && classes >> row->op_class & 1)
        return true;
    for (size_t d = 0; d < machine->n_domains; d++)
        if (domains >> d & 1 && row->domain && strcmp(row->domain, machine->domains[d]) == 0)
            return true;
    return false;
}

double pm_bypass_latency(const struct pm_machine *machine, const struct pm_cost *from,
                         const struct pm_cost *to) {
    for (size_t i = machine->n_bypasses;
         i-- > 0;) { /* the last one counts: it may be of this file */
        const struct pm_bypass *bypass = &machine->bypasses[i];
        if (is_at_end(machine, from, bypass->from_classes, bypass->from_domains) &&
            is_at_end(machine, to, bypass->to_classes, bypass->to_domains))
            return bypass->is_extra ? fmax(0, from->latency_cycles + bypass->extra_cycles)
                                    : bypass->latency_cycles;
    }
    return from->latency_cycles;
}
