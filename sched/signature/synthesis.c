/* A signature for a machine that nobody could measure, from its description.

       t(S, s) = max(t₁, word / B₁) + Σ over caches l of  m_l(S, s) · c_l(s)

       c_l(s)  = max(line_l / B_{l+1}, penalty_l · (1 − cover(s)) / flight_l)

   t        cycles of a word; the curve's rate is 8 bytes / t
   S        working set, bytes; s: stride, bytes; random: no order
   t₁       cycles of a load, or store, of a word that hits, by the machine's rows; of stride 8 the
            widest vectors do so many words at once
   B_l      bytes a cycle that level l gives; behind the last cache, memory
   m_l      misses of cache l for a word: none while S fits; then min(1, s / line), since in an
            order that repeats itself every line is gone again when it is needed; at random 1 − size
   / S; of a cache with a response the share that it does not serve at S, or up to S
   penalty  cycles; cover: what prefetchers hide of it at stride s; flight: misses at a time.
   Where the file has no `misses_in_flight`, what `exposed` says is paid: flight = 1 / exposed TLBs
   add misses · penalty · exposed in the same way.

   After the shape of the paper's figures 1 and 2, whose steps are the levels; that a step is as
   high as what the level before misses is Little's law, or a limit of bytes, whichever is slower.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/signature/private.h"

enum { FIRST_BYTES = 1024, LEAST_LAST_BYTES = 32 << 20, LAST_CACHES = 4 };

static const double strides[] = {8, 16, 32, 64, 128, 0};
enum { N_STRIDES = sizeof strides / sizeof *strides };

/* ---- hits ------------------------------------------------------------------------------------ */

/* At random all distances below BYTES are as frequent (Σ over an LRU stack of equally likely
   blocks). */
static double misses_of(const struct pm_level *level, double bytes, double stride) {
    if (level->serves.n_points && stride == 0)
        return 1 - pm_response_mean(&level->serves, 0, bytes);
    if (level->serves.n_points)
        return fmin(1, stride / (double)level->block_bytes) *
               (1 - pm_response_mean(&level->serves, bytes, bytes));
    if (bytes <= (double)level->size_bytes)
        return 0;
    if (stride == 0)
        return 1 - (double)level->size_bytes / bytes;
    return fmin(1, stride / (double)level->block_bytes);
}

/* ---- costs ----------------------------------------------------------------------------------- */

static double row_cycles(const struct pm_machine *machine, enum pm_op_class op_class,
                         uint32_t width_bits) {
    const struct pm_cost *row = pm_machine_cost(machine, op_class, width_bits, PM_WORD_BYTES);
    double cycles = row ? pm_cost_throughput(row) : 1;
    return cycles > 0 ? cycles : 1;
}

double pm_load_cycles(const struct pm_machine *machine) {
    return row_cycles(machine, PM_OP_LOAD_FP, 8 * PM_WORD_BYTES);
}

/* Of a word that hits the first cache. */
static double hit_cycles(const struct pm_machine *machine, bool writes, double stride) {
    const struct pm_level *first = &machine->levels[0];
    enum pm_op_class op_class = writes ? PM_OP_STORE_FP : PM_OP_LOAD_FP;
    double bandwidth = writes ? first->write_bandwidth : first->read_bandwidth;
    double limit = bandwidth > 0 ? PM_WORD_BYTES / bandwidth : 0;
    if (stride != PM_WORD_BYTES || machine->vector_width_bits <= 8 * PM_WORD_BYTES)
        return fmax(limit, row_cycles(machine, op_class, 8 * PM_WORD_BYTES));
    double words = machine->vector_width_bits / (8.0 * PM_WORD_BYTES);
    return fmax(limit, row_cycles(machine, op_class, machine->vector_width_bits) / words);
}

/* Bytes a cycle of what serves the misses of cache L; 0: not known. */
static double bandwidth_behind(const struct pm_machine *machine, size_t l, bool writes) {
    if (l < pm_last_cache(machine)) {
        const struct pm_level *next = &machine->levels[l + 1];
        return writes && next->write_bandwidth > 0 ? next->write_bandwidth : next->read_bandwidth;
    }
    double written = machine->memory.write_bandwidth_gbs * 1e9 / machine->clock_hz;
    return writes && written > 0 ? written : machine->memory_bandwidth_bytes_per_cycle;
}

/* Of a miss of LEVEL. */
static double miss_cycles(const struct pm_machine *machine, size_t l, bool writes, double stride) {
    const struct pm_level *level = &machine->levels[l];
    double line = (double)level->block_bytes;
    double bandwidth = bandwidth_behind(machine, l, writes);
    double paid = level->misses_in_flight > 0 ? 1.0 / level->misses_in_flight : level->exposed;
    double wait =
        level->miss_penalty_cycles * (1 - pm_prefetched_share(machine, stride, line)) * paid;
    return fmax(wait, bandwidth > 0 ? line / bandwidth : 0);
}

/* ---- curves ---------------------------------------------------------------------------------- */

static double word_cycles(const struct pm_machine *machine, bool writes, double stride,
                          double bytes) {
    double cycles = hit_cycles(machine, writes, stride);
    for (size_t l = 0; l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        double misses = misses_of(level, bytes, stride);
        cycles +=
            misses * (level->kind == PM_LEVEL_CACHE ? miss_cycles(machine, l, writes, stride)
                                                    : level->miss_penalty_cycles * level->exposed);
    }
    return cycles;
}

static void add_curve(struct pm_signature *signature, bool writes, double stride, size_t n) {
    const struct pm_machine *machine = signature->machine;
    struct pm_curve *curve = PM_PUSH(signature, curves);
    const char *of = writes ? "write_bandwidth" : "read_bandwidth";
    *curve = (struct pm_curve){.name = stride > 0 ? pm_sprintf("%s_%.0f", of, stride)
                                                  : pm_sprintf("%s_random", of),
                               .of = pm_strdup(of),
                               .stride_bytes = stride,
                               .threads = 1,
                               .page_bytes = machine->page_bytes,
                               .n_points = n,
                               .working_set_bytes = pm_alloc(n, sizeof(double)),
                               .value = pm_alloc(n, sizeof(double))};
    for (size_t l = 0; l < signature->n_caches; l++)
        *PM_PUSH(curve, hits) =
            (struct pm_curve_hits){pm_strdup(machine->levels[l].name), pm_alloc(n, sizeof(double))};
    double bytes = FIRST_BYTES;
    for (size_t i = 0; i < n; i++, bytes *= M_SQRT2) {
        curve->working_set_bytes[i] = round(bytes);
        curve->value[i] = PM_WORD_BYTES / word_cycles(machine, writes, stride, round(bytes));
        double missing = 1; /* what no cache so far held */
        for (size_t l = 0; l < signature->n_caches; l++) {
            missing = fmin(missing, misses_of(&machine->levels[l], round(bytes), stride));
            curve->hits[l].share[i] = 1 - missing;
        }
    }
}

bool pm_synthesise(struct pm_signature *signature, struct pm_error *err) {
    const struct pm_machine *machine = signature->machine;
    for (size_t l = 0; l < signature->n_caches; l++)
        if (!(machine->levels[l].miss_penalty_cycles > 0))
            return pm_fail(err,
                           "machine %s has no curves, and what a miss of %s costs is not in its "
                           "file, so that none can be made",
                           machine->name, machine->levels[l].name);
    double last = LAST_CACHES * (double)machine->levels[signature->n_caches - 1].size_bytes;
    size_t n = 1 + (size_t)ceil(2 * log2(fmax(last, LEAST_LAST_BYTES) / FIRST_BYTES));
    for (int writes = 0; writes < 2; writes++)
        for (size_t i = 0; i < N_STRIDES; i++)
            add_curve(signature, writes, strides[i], n);
    return true;
}

void pm_synthesis_free(struct pm_signature *signature) {
    for (size_t i = 0; i < signature->n_curves; i++)
        pm_free_curve(&signature->curves[i]);
}
