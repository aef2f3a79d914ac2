/* The recurrence bound: how fast iterations can follow each other, whatever the units.

       cycles per iteration = max over dependence cycles of  Σ latency / number of iterations
   crossed

   Along the path of one iteration (path.c), A[r][s] is the longest latency from the value that
   register r has when the iteration begins to the value that s has when it ends.  Dependences cross
   one iteration at a time, so the bound is the maximum cycle mean of A (Karp 1978).
   Assumes: dependences through memory do not exist (a store and a later load of the same place are
   independent, and loads hit the first level); values that an inner loop defines are there in time,
   because the inner loop's own cycles are counted at the inner loop; the path's recurrence holds
   for every iteration.  An operation without a row in the machine file adds no latency (it is
   counted as unknown elsewhere). */
#include "sched/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_REGISTERS = 255 }; /* PM_REGISTER_NONE is the number after the last */

struct chain_op {
    const struct pm_op *op;
    double latency_cycles;
};

/* The operations of the path in order.  An inner loop stands as one entry with op == NULL; the k-th
   of them takes away the registers of killed[k], those that the loop defines. */
struct chain {
    struct chain_op *ops;
    size_t n_ops;
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
                (struct chain_op){.op = &structure->ops[k], .latency_cycles = need.latency_cycles};
        }
    }
    return chain;
}

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
        for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
            if (op->defs[k] != PM_REGISTER_NONE)
                time[op->defs[k]] = ready + chain->ops[i].latency_cycles;
    }
}

/* Registers that the path reads before it writes them, and writes: only they carry a value from one
   iteration to the next. */
static size_t carried_registers(const struct chain *chain, uint8_t *carried) {
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
            carried[n_carried++] = (uint8_t)r;
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
                            const struct pm_unit_sets *sets, const struct pm_path_step *path,
                            size_t n_steps) {
    struct chain chain = chain_of_path(structure, machine, sets, path, n_steps);
    uint8_t carried[N_REGISTERS];
    size_t n = carried_registers(&chain, carried);
    double *a = pm_alloc(n * n, sizeof *a);
    for (size_t from = 0; from < n; from++) {
        double time[N_REGISTERS];
        for (unsigned r = 0; r < N_REGISTERS; r++)
            time[r] = -INFINITY;
        time[carried[from]] = 0;
        walk(&chain, time);
        for (size_t to = 0; to < n; to++)
            a[from * n + to] = time[carried[to]];
    }
    double cycles = maximum_cycle_mean(a, n);
    free(a);
    free(chain.ops);
    free(chain.killed);
    return cycles;
}
