/* The recurrence bound: how fast iterations can follow each other, whatever the units.

       cycles per iteration = max over dependence cycles of  Σ latency / number of iterations
   crossed

   Along the path of one iteration (path.c), A[r][s] is the longest latency from the value that
   register r has when the iteration begins to the value that s has when it ends.  Dependences cross
   one iteration at a time, so the bound is the maximum cycle mean of A (Karp 1978).
   A store whose location a load reads d iterations later (pm_dependence) is a register as well: its
   data go through d − 1 more, one an iteration, and are there for the load

       store_forward latency  after the data of the store were ready

   (the load's own latency where the machine file does not say it).  Unknown dependences are none,
   or, if asked for, such of distance 1 (and 0 from a store to a load behind it).
   Assumes: addresses of stores are known in time; loads hit the first level; values that an inner
   loop defines are there in time, because the inner loop's own cycles are counted at the inner
   loop; the path's recurrence holds for every iteration.  Dependences over more than MOST_DISTANCE
   iterations are too weak to matter.  An operation without a row in the machine file adds no
   latency (it is counted as unknown elsewhere). */
#include "sched/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_REGISTERS = 255, /* PM_REGISTER_NONE is the number after the last */
    MOST_DISTANCE = 8,
    MOST_STORES = 32, /* of one loop that loads depend on; the others are taken as independent */
    N_NODES = N_REGISTERS + MOST_STORES * (MOST_DISTANCE + 1),
};

struct chain_op {
    const struct pm_op *op;
    double latency_cycles;
    bool is_load, is_store;
    uint32_t first_source, n_sources; /* of a load: stores whose data it may read */
    int store;                        /* number among those that are read from; −1 */
};

/* Data of store number `store` of `distance` iterations before. */
struct source {
    int store;
    unsigned distance;
};

/* The operations of the path in order.  An inner loop stands as one entry with op == NULL; the k-th
   of them takes away the registers of killed[k], those that the loop defines. */
struct chain {
    struct chain_op *ops;
    size_t n_ops;
    PM_ARRAY(struct source, sources);
    uint32_t stores[MOST_STORES]; /* references */
    int n_stores;
    double forward_cycles;       /* 0: as the load */
    bool (*killed)[N_REGISTERS]; /* one row for each inner loop passed */
};

static void registers_of_loop(const struct pm_structure *structure, uint32_t loop, bool *defined) {
    const struct pm_routine *routine = &structure->routines[structure->scopes[loop].routine];
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        if (!pm_scope_is_inside(structure, block->loop, loop))
            continue;
        for (uint32_t i = block->first_op; i < block->first_op + block->n_ops; i++)
            for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
                if (structure->ops[i].defs[k] != PM_REGISTER_NONE)
                    defined[structure->ops[i].defs[k]] = true;
    }
}

static bool is_store_class(uint8_t op_class) {
    return op_class == PM_OP_STORE_INT || op_class == PM_OP_STORE_FP || op_class == PM_OP_SCATTER;
}

static bool reads_memory(const struct pm_op *op) {
    return op->reference != PM_NONE && pm_op_class_kind(op->op_class) == 'm' &&
           op->op_class != PM_OP_PREFETCH && !is_store_class(op->op_class);
}

static bool writes_memory(const struct pm_op *op) {
    return op->reference != PM_NONE && is_store_class(op->op_class);
}

static struct chain chain_of_path(const struct pm_structure *structure,
                                  const struct pm_machine *machine, const struct pm_unit_sets *sets,
                                  const struct pm_path_step *path, size_t n_steps) {
    size_t n_ops = 0, n_loops = 0;
    for (size_t i = 0; i < n_steps; i++) {
        n_ops += path[i].block == PM_NONE ? 1 : structure->blocks[path[i].block].n_ops;
        n_loops += path[i].block == PM_NONE;
    }
    struct chain chain = {.ops = pm_alloc(n_ops, sizeof *chain.ops),
                          .killed = pm_alloc(n_loops, sizeof *chain.killed)};
    n_loops = 0;
    for (size_t i = 0; i < n_steps; i++) {
        if (path[i].block == PM_NONE) {
            registers_of_loop(structure, path[i].loop, chain.killed[n_loops++]);
            chain.ops[chain.n_ops++].op = NULL;
            continue;
        }
        const struct pm_block *block = &structure->blocks[path[i].block];
        for (uint32_t k = block->first_op; k < block->first_op + block->n_ops; k++) {
            struct pm_need need;
            pm_op_need(machine, sets, &structure->ops[k], &need);
            chain.ops[chain.n_ops++] =
                (struct chain_op){.op = &structure->ops[k],
                                  .latency_cycles = need.latency_cycles,
                                  .is_load = reads_memory(&structure->ops[k]),
                                  .is_store = writes_memory(&structure->ops[k]),
                                  .store = -1};
        }
    }
    return chain;
}

/* ---- through memory -----------------------------------------------------------------------------
 */

/* Number of the store of REFERENCE, made if there is room; −1. */
static int number_of_store(struct chain *chain, uint32_t reference) {
    for (int i = 0; i < chain->n_stores; i++)
        if (chain->stores[i] == reference)
            return i;
    if (chain->n_stores == MOST_STORES)
        return -1;
    chain->stores[chain->n_stores] = reference;
    return chain->n_stores++;
}

static size_t node_of(int store, unsigned distance) {
    return N_REGISTERS + (size_t)store * (MOST_DISTANCE + 1) + distance;
}

static void add_source(struct chain *chain, struct chain_op *load, uint32_t stored,
                       uint32_t distance) {
    int store = distance <= MOST_DISTANCE ? number_of_store(chain, stored) : -1;
    if (store < 0)
        return;
    *PM_PUSH(chain, sources) = (struct source){store, distance};
    load->n_sources++;
}

static bool is_stored_to(const struct chain *chain, uint32_t reference) {
    for (size_t i = 0; i < chain->n_ops; i++)
        if (chain->ops[i].is_store && chain->ops[i].op->reference == reference)
            return true;
    return false;
}

static void add_unknown(struct chain *chain, struct chain_op *load, uint32_t stored) {
    add_source(chain, load, stored, 0);
    add_source(chain, load, stored, 1);
}

/* Which stores the loads of the path may read from. */
static void connect(const struct pm_structure *structure, uint32_t loop, bool pessimistic,
                    struct chain *chain) {
    size_t n;
    const struct pm_dependence *all = pm_structure_dependences(structure, loop, &n);
    for (size_t i = 0; i < chain->n_ops && n; i++) {
        struct chain_op *load = &chain->ops[i];
        if (!load->is_load)
            continue;
        load->first_source = (uint32_t)chain->n_sources;
        for (size_t k = 0; k < n; k++) {
            const struct pm_dependence *d = &all[k];
            bool is_unknown = d->kind == PM_DEPENDS_UNKNOWN;
            if (is_unknown && !pessimistic)
                continue;
            if (d->from == PM_NONE) { /* all the others */
                for (size_t s = 0; s < chain->n_ops; s++)
                    if (chain->ops[s].is_store)
                        add_unknown(chain, load, chain->ops[s].op->reference);
                continue;
            }
            if (is_unknown && d->from == load->op->reference && is_stored_to(chain, d->to))
                add_unknown(chain, load, d->to);
            else if (d->to == load->op->reference && is_stored_to(chain, d->from)) {
                if (is_unknown)
                    add_unknown(chain, load, d->from);
                else
                    add_source(chain, load, d->from, d->distance);
            }
        }
    }
    for (size_t i = 0; i < chain->n_ops; i++)
        for (int s = 0; chain->ops[i].is_store && s < chain->n_stores; s++)
            if (chain->stores[s] == chain->ops[i].op->reference)
                chain->ops[i].store = s;
}

/* ---- along the path -----------------------------------------------------------------------------
 */

/* TIME[r] on entry: when the value of register r is there, −∞ if it does not depend on what is
   being followed.  On return the same at the end of the path. */
static void walk(const struct chain *chain, double *time) {
    size_t n_loops = 0;
    for (size_t i = 0; i < chain->n_ops; i++) {
        const struct pm_op *op = chain->ops[i].op;
        if (!op) {
            for (unsigned r = 0; r < N_REGISTERS; r++)
                if (chain->killed[n_loops][r])
                    time[r] = -INFINITY;
            n_loops++;
            continue;
        }
        double ready = -INFINITY;
        for (unsigned k = 0; k < PM_OP_N_USES; k++)
            if (op->uses[k] != PM_REGISTER_NONE)
                ready = fmax(ready, time[op->uses[k]]);
        if (chain->ops[i].store >= 0) { /* the data, not the address */
            uint8_t data = op->uses[0];
            time[node_of(chain->ops[i].store, 0)] =
                data == PM_REGISTER_NONE ? -INFINITY : time[data];
        }
        double done = ready + chain->ops[i].latency_cycles;
        for (uint32_t k = 0; k < chain->ops[i].n_sources; k++) {
            const struct source *source = &chain->sources[chain->ops[i].first_source + k];
            double forward =
                chain->forward_cycles > 0 ? chain->forward_cycles : chain->ops[i].latency_cycles;
            done = fmax(done, time[node_of(source->store, source->distance)] + forward);
        }
        for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
            if (op->defs[k] != PM_REGISTER_NONE)
                time[op->defs[k]] = done;
    }
    for (int s = 0; s < chain->n_stores; s++) /* an iteration later */
        for (unsigned d = MOST_DISTANCE; d > 0; d--)
            time[node_of(s, d)] = time[node_of(s, d - 1)];
}

/* Registers that the path reads before it writes them, and writes: only they carry a value from one
   iteration to the next. */
static size_t carried_registers(const struct chain *chain, uint16_t *carried) {
    bool exposed[N_REGISTERS + 1] = {false}, written[N_REGISTERS + 1] = {false};
    size_t n_loops = 0, n_carried = 0;
    for (size_t i = 0; i < chain->n_ops; i++) {
        const struct pm_op *op = chain->ops[i].op;
        if (!op) {
            for (unsigned r = 0; r < N_REGISTERS; r++)
                written[r] |= chain->killed[n_loops][r];
            n_loops++;
            continue;
        }
        for (unsigned k = 0; k < PM_OP_N_USES; k++)
            exposed[op->uses[k]] |= !written[op->uses[k]];
        for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
            written[op->defs[k]] = true;
    }
    for (unsigned r = 0; r < N_REGISTERS; r++)
        if (exposed[r] && written[r])
            carried[n_carried++] = (uint16_t)r;
    bool is_read[MOST_STORES] = {false};
    unsigned farthest[MOST_STORES] = {0};
    for (size_t i = 0; i < chain->n_sources; i++) {
        const struct source *source = &chain->sources[i];
        is_read[source->store] |= source->distance > 0;
        if (source->distance > farthest[source->store])
            farthest[source->store] = source->distance;
    }
    for (int s = 0; s < chain->n_stores; s++)
        for (unsigned d = 1; is_read[s] && d <= farthest[s]; d++)
            carried[n_carried++] = (uint16_t)node_of(s, d);
    return n_carried;
}

/* Maximum cycle mean of the N×N matrix A (−∞: no edge), 0 without a cycle.  longest[k·N + v] is the
   heaviest walk of k edges that ends at v. */
static double maximum_cycle_mean(const double *a, size_t n) {
    double *longest = pm_alloc((n + 1) * n, sizeof *longest);
    for (size_t k = 1; k <= n; k++)
        for (size_t to = 0; to < n; to++) {
            double best = -INFINITY;
            for (size_t from = 0; from < n; from++)
                best = fmax(best, longest[(k - 1) * n + from] + a[from * n + to]);
            longest[k * n + to] = best;
        }
    double mean = 0;
    for (size_t v = 0; v < n; v++) {
        if (longest[n * n + v] == -INFINITY)
            continue;
        double least = INFINITY;
        for (size_t k = 0; k < n; k++)
            least = fmin(least, (longest[n * n + v] - longest[k * n + v]) / (double)(n - k));
        mean = fmax(mean, least);
    }
    free(longest);
    return mean;
}

double pm_recurrence_cycles(const struct pm_structure *structure, const struct pm_machine *machine,
                            const struct pm_unit_sets *sets, uint32_t loop,
                            const struct pm_path_step *path, size_t n_steps, bool pessimistic) {
    struct chain chain = chain_of_path(structure, machine, sets, path, n_steps);
    chain.forward_cycles = machine->store_forward_cycles;
    connect(structure, loop, pessimistic, &chain);
    uint16_t carried[N_NODES];
    size_t n = carried_registers(&chain, carried);
    double *a = pm_alloc(n * n, sizeof *a);
    for (size_t from = 0; from < n; from++) {
        double time[N_NODES];
        for (unsigned r = 0; r < N_NODES; r++)
            time[r] = -INFINITY;
        time[carried[from]] = 0;
        walk(&chain, time);
        for (size_t to = 0; to < n; to++)
            a[from * n + to] = time[carried[to]];
    }
    double cycles = maximum_cycle_mean(a, n);
    free(a);
    free(chain.ops);
    free(chain.sources);
    free(chain.killed);
    return cycles;
}
