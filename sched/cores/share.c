/* A machine as one of several cores at work sees it.

       size of a level       its size / cores that share it; distances of its response as well
       bandwidth of memory   min(that of one core, that of all / cores at work)
       bandwidth of a level  the same, with what a curve of several threads says of all

   as if the cores at work had no data in common and the same wishes.  So the bandwidth of p cores
   rises with p until it is that of all, and stays there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/cores/cores.h"

unsigned pm_cores_at_level(const struct pm_level *level, unsigned n_cores) {
    unsigned sharing = level->shared_by > 1 ? level->shared_by : 1;
    return sharing < n_cores ? sharing : n_cores;
}

/* ---- bandwidth ------------------------------------------------------------------------------- */

static double one_of(double one, double all, unsigned n_cores) {
    return one > 0 && all > 0 ? fmin(one, all / n_cores) : one;
}

static void share_memory(struct pm_machine *machine, unsigned n_cores) {
    struct pm_memory *memory = &machine->memory;
    double gbs_of_byte = machine->clock_hz / 1e9; /* a cycle */
    double alone = machine->memory_bandwidth_bytes_per_cycle * gbs_of_byte;
    memory->bandwidth_gbs = one_of(memory->bandwidth_gbs, memory->bandwidth_all_gbs, n_cores);
    memory->write_bandwidth_gbs =
        one_of(memory->write_bandwidth_gbs, memory->write_bandwidth_all_gbs, n_cores);
    memory->copy_bandwidth_gbs =
        one_of(memory->copy_bandwidth_gbs, memory->copy_bandwidth_all_gbs, n_cores);
    alone = one_of(alone, memory->bandwidth_all_gbs, n_cores);
    machine->memory_bandwidth_gbs = alone;
    machine->memory_bandwidth_bytes_per_cycle = alone / gbs_of_byte;
}

static double value_at(const struct pm_curve *curve, double working_set) {
    for (size_t i = 0; i < curve->n_points; i++)
        if (curve->working_set_bytes[i] == working_set)
            return curve->value[i];
    return NAN;
}

static double capacity_bytes(const struct pm_level *level) {
    return pm_level_capacity_blocks(level) * (double)level->block_bytes;
}

/* What of its bandwidth from level L a thread keeps beside others, by two curves that differ in
   their threads only: the mean over working sets that lie in the level, not in the one before, and
   that all of the threads have room for.  NAN: no such points. */
static double kept_by_curves(const struct pm_machine *machine, size_t l, const struct pm_curve *one,
                             const struct pm_curve *many) {
    double least = l > 0 ? 2 * capacity_bytes(&machine->levels[l - 1]) : 0, sum = 0;
    double most = capacity_bytes(&machine->levels[l]) / many->threads;
    unsigned n = 0;
    for (size_t i = 0; i < many->n_points; i++) {
        double alone = value_at(one, many->working_set_bytes[i]);
        if (many->working_set_bytes[i] < least || many->working_set_bytes[i] > most || !(alone > 0))
            continue;
        sum += many->value[i] / alone;
        n++;
    }
    return n > 0 ? fmin(1, sum / n) : NAN;
}

/* Of a shared level: the share of its bandwidth alone that one of N_CORES has. */
static double kept(const struct pm_machine *machine, size_t l, unsigned n_cores) {
    double least = 1;
    for (size_t i = 0; i < machine->n_curves; i++) {
        const struct pm_curve *many = &machine->curves[i];
        if (many->threads < 2 || strcmp(many->of, "read_bandwidth") != 0)
            continue;
        for (size_t k = 0; k < machine->n_curves; k++) {
            const struct pm_curve *one = &machine->curves[k];
            if (one->threads != 1 || strcmp(one->of, many->of) != 0 ||
                one->stride_bytes != many->stride_bytes || one->page_bytes != many->page_bytes)
                continue;
            double all = many->threads * kept_by_curves(machine, l, one, many);
            if (!isnan(all))
                least = fmin(least, all / n_cores);
        }
    }
    return least;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void share_level(const struct pm_machine *machine, size_t l, unsigned n_cores,
                        struct pm_level *level) {
    unsigned sharing = pm_cores_at_level(level, n_cores);
    if (sharing < 2)
        return;
    double bandwidth = kept(machine, l, sharing);
    level->shared_by = 1;
    level->size_bytes /= sharing;
    level->serves_size_bytes = level->size_bytes;
    pm_response_scale(&level->serves, 1.0 / sharing);
    level->entries /= sharing;
    if (level->associativity % sharing == 0)
        level->associativity /= sharing;
    level->read_bandwidth *= bandwidth;
    level->write_bandwidth *= bandwidth;
    level->copy_bandwidth *= bandwidth;
}

struct pm_machine *pm_machine_share(const struct pm_machine *machine, unsigned n_cores) {
    struct pm_machine *share = pm_machine_copy(machine);
    for (size_t l = 0; l < machine->n_all_levels; l++)
        share_level(machine, l, n_cores, &share->levels[l]);
    share_memory(share, n_cores);
    return share;
}
