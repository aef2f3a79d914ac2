/* The recurrence bound: how fast iterations can follow each other, whatever the units.

       cycles per iteration = max over dependence cycles of  Σ latency / number of iterations
   crossed

   Along the path of one iteration (path.c), A[u][v] is the longest latency from the value that
   operation u gave in the iteration before to the value that v gives in this one, for those whose
   values are used in the next (core/structure/structure.h).  Dependences cross one iteration at a
   time, so the bound is the maximum cycle mean of A (Karp 1978). A store whose location a load
   reads d iterations later (pm_dependence) is such a value as well: its data go through d − 1 more,
   one an iteration, and are there for the load

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
    MOST_DISTANCE = 8,
    MOST_STORES = 32, /* of one loop that loads depend on; the others are taken as independent */
};

struct chain_op {
    const struct pm_op *op;
    double latency_cycles;
    uint32_t row; /* pm_need_row */
    bool is_load, is_store;
    uint32_t first_use, n_uses;       /* dependences through registers */
    uint32_t first_source, n_sources; /* of a load: stores whose data it may read */
    int store;                        /* number among those that are read from; −1 */
};

/* An operand of an operation: what operation FROM of the chain defined. */
struct use {
    size_t from;
    double bypass_cycles; /* more than the latency of FROM that its user sees; mostly 0 */
    uint8_t number;       /* of the register */
    bool is_before;       /* in the iteration before */
};

/* Data of store number `store` of `distance` iterations before. */
struct source {
    int store;
    unsigned distance;
};

/* The operations of the path in order.  A value is known by a number: that of its operation, then
   those of data on their way through memory (value_of). */
struct chain {
    struct chain_op *ops;
    size_t n_ops;
    PM_ARRAY(struct use, uses);
    PM_ARRAY(struct source, sources);
    uint32_t stores[MOST_STORES]; /* references */
    int n_stores;
    double forward_cycles; /* 0: as the load */
};

static bool is_store_class(uint8_t op_class) {
    return op_class == PM_OP_STORE_INT || op_class == PM_OP_STORE_FP || op_class == PM_OP_SCATTER;
}

/* push, pop, call, ret: nothing else uses their places. */
static bool may_depend(const struct pm_structure *structure, const struct pm_op *op) {
    if (op->reference == PM_NONE)
        return false;
    uint32_t group = structure->references[op->reference].group;
    return group == PM_NONE || !(structure->groups[group].flags & PM_GROUP_PUSHED);
}

static bool reads_memory(const struct pm_structure *structure, const struct pm_op *op) {
    return pm_op_class_kind(op->op_class) == 'm' && op->op_class != PM_OP_PREFETCH &&
           !is_store_class(op->op_class) && may_depend(structure, op);
}

static bool writes_memory(const struct pm_structure *structure, const struct pm_op *op) {
    return is_store_class(op->op_class) && may_depend(structure, op);
}

static struct chain chain_of_path(const struct pm_target_machine *target,
                                  const struct pm_path_step *path, size_t n_steps) {
    const struct pm_structure *structure = target->structure;
    size_t n_ops = 0;
    for (size_t i = 0; i < n_steps; i++)
        n_ops += path[i].block == PM_NONE ? 0 : structure->blocks[path[i].block].n_ops;
    struct chain chain = {.ops = pm_alloc(n_ops, sizeof *chain.ops)};
    for (size_t i = 0; i < n_steps; i++) {
        if (path[i].block == PM_NONE)
            continue;
        const struct pm_block *block = &structure->blocks[path[i].block];
        for (uint32_t k = block->first_op; k < block->first_op + block->n_ops; k++) {
            struct pm_need need;
            pm_op_need(target, k, &need);
            chain.ops[chain.n_ops++] =
                (struct chain_op){.op = &structure->ops[k],
                                  .latency_cycles = need.latency_cycles,
                                  .row = pm_need_row(&need),
                                  .is_load = reads_memory(structure, &structure->ops[k]),
                                  .is_store = writes_memory(structure, &structure->ops[k]),
                                  .store = -1};
        }
    }
    return chain;
}

/* ---- through registers ----------------------------------------------------------------------- */

/* Fills `uses`.  Dependences come in the order of the chain's operations. */
static void connect_registers(const struct pm_target_machine *target,
                              const struct pm_path_step *path, size_t n_steps,
                              struct chain *chain) {
    const struct pm_structure *structure = target->structure;
    uint32_t first = UINT32_MAX, end = 0;
    for (size_t i = 0; i < chain->n_ops; i++) {
        uint32_t op = (uint32_t)(chain->ops[i].op - structure->ops);
        first = op < first ? op : first;
        end = op >= end ? op + 1 : end;
    }
    if (chain->n_ops == 0)
        return;
    size_t *place = pm_alloc(end - first, sizeof *place); /* in the chain */
    for (size_t i = 0; i < chain->n_ops; i++)
        place[chain->ops[i].op - structure->ops - first] = i;
    struct pm_register_dependences found;
    pm_register_dependences_of_path(structure, path, n_steps, &found);
    for (size_t i = 0; i < found.n_items; i++) {
        const struct pm_register_dependence *item = &found.items[i];
        struct chain_op *to = &chain->ops[place[item->to - first]];
        if (to->n_uses++ == 0)
            to->first_use = (uint32_t)i;
        size_t from = place[item->from - first];
        *PM_PUSH(chain, uses) =
            (struct use){.from = from,
                         .bypass_cycles = pm_bypass_cycles(target, chain->ops[from].row, to->row),
                         .number = item->number,
                         .is_before = item->distance > 0};
    }
    free(found.items);
    free(place);
}

/* ---- through memory -------------------------------------------------------------------------- */

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

static size_t value_of(const struct chain *chain, int store, unsigned distance) {
    return chain->n_ops + (size_t)store * (MOST_DISTANCE + 1) + distance;
}

static size_t n_values(const struct chain *chain) { return value_of(chain, chain->n_stores, 0); }

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
static void connect_memory(const struct pm_structure *structure, uint32_t loop, bool pessimistic,
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

/* ---- along the path -------------------------------------------------------------------------- */

/* BEFORE[v]: when value v of the iteration before is there, −∞ if it does not depend on what is
   being followed.  Fills NOW, the same of this iteration. */
static void walk(const struct chain *chain, const double *before, double *now) {
    for (int s = 0; s < chain->n_stores; s++)
        now[value_of(chain, s, 0)] = -INFINITY;
    for (size_t i = 0; i < chain->n_ops; i++) {
        const struct chain_op *op = &chain->ops[i];
        double ready = -INFINITY, data = -INFINITY;
        for (uint32_t k = op->first_use; k < op->first_use + op->n_uses; k++) {
            const struct use *use = &chain->uses[k];
            double time =
                (use->is_before ? before[use->from] : now[use->from]) + use->bypass_cycles;
            ready = fmax(ready, time);
            if (use->number == op->op->uses[0])
                data = time;
        }
        if (op->store >= 0) /* the data, not the address */
            now[value_of(chain, op->store, 0)] = data;
        now[i] = ready + op->latency_cycles;
        for (uint32_t k = 0; k < op->n_sources; k++) {
            const struct source *source = &chain->sources[op->first_source + k];
            double forward = chain->forward_cycles > 0 ? chain->forward_cycles : op->latency_cycles;
            size_t value = value_of(chain, source->store, source->distance);
            now[i] = fmax(now[i], (source->distance ? before : now)[value] + forward);
        }
    }
    for (int s = 0; s < chain->n_stores; s++) /* an iteration later */
        for (unsigned d = 1; d <= MOST_DISTANCE; d++)
            now[value_of(chain, s, d)] = (d == 1 ? now : before)[value_of(chain, s, d - 1)];
}

/* Values that are used in the next iteration: only they carry something from one to the next.
   CARRIED has room for all. */
static size_t carried_values(const struct chain *chain, size_t *carried) {
    size_t n_carried = 0;
    bool *is_carried = pm_alloc(n_values(chain), sizeof *is_carried);
    for (size_t i = 0; i < chain->n_uses; i++)
        is_carried[chain->uses[i].from] |= chain->uses[i].is_before;
    for (size_t i = 0; i < chain->n_sources; i++)
        for (unsigned d = 1; d <= chain->sources[i].distance; d++)
            is_carried[value_of(chain, chain->sources[i].store, d)] = true;
    for (size_t v = 0; v < n_values(chain); v++)
        if (is_carried[v])
            carried[n_carried++] = v;
    free(is_carried);
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

double pm_recurrence_cycles(const struct pm_target_machine *target, uint32_t loop,
                            const struct pm_path_step *path, size_t n_steps, bool pessimistic) {
    struct chain chain = chain_of_path(target, path, n_steps);
    chain.forward_cycles = target->machine->store_forward_cycles;
    connect_memory(target->structure, loop, pessimistic, &chain);
    connect_registers(target, path, n_steps, &chain);
    size_t *carried = pm_alloc(n_values(&chain), sizeof *carried);
    double *before = pm_alloc(n_values(&chain), sizeof *before);
    double *now = pm_alloc(n_values(&chain), sizeof *now);
    size_t n = carried_values(&chain, carried);
    double *a = pm_alloc(n * n, sizeof *a);
    for (size_t v = 0; v < n_values(&chain); v++)
        before[v] = -INFINITY;
    for (size_t from = 0; from < n; from++) {
        before[carried[from]] = 0;
        walk(&chain, before, now);
        before[carried[from]] = -INFINITY;
        for (size_t to = 0; to < n; to++)
            a[from * n + to] = now[carried[to]];
    }
    double cycles = maximum_cycle_mean(a, n);
    free(a);
    free(now);
    free(before);
    free(carried);
    free(chain.ops);
    free(chain.uses);
    free(chain.sources);
    return cycles;
}
