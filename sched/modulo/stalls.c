/* A modulo schedule in an in-order core: issue stops at the first use of a value that is missing.

   The schedule counts on every load taking what its row says.  Iterations are issued as scheduled,
   in the order of their cycles, and all that follow are as late as the first use of what a load
   took longer for: what lies between the load and its use hides that much of it. */
#include <math.h>
#include <stdlib.h>

#include "sched/modulo/private.h"

enum { ITERATIONS = 48, HISTORY = 64 };

struct issue {
    uint64_t cycle;
    uint32_t op, iteration;
};

static int by_cycle(const void *a, const void *b) {
    const struct issue *x = a, *y = b;
    if (x->cycle != y->cycle)
        return x->cycle < y->cycle ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static bool has_stalls(const struct pm_modulo_problem *problem) {
    for (size_t e = 0; e < problem->n_edges; e++)
        if (problem->edges[e].stall_cycles > 0)
            return true;
    return false;
}

double pm_modulo_stalled_cycles(const struct pm_modulo_problem *problem, uint32_t interval,
                                const uint32_t *cycle) {
    if (!has_stalls(problem))
        return interval;
    size_t n = problem->n_ops * ITERATIONS;
    struct issue *issues = pm_alloc(n, sizeof *issues);
    double *issued = pm_alloc(problem->n_ops * HISTORY, sizeof *issued), late = 0;
    double ends[2] = {0, 0};
    for (uint32_t k = 0, at = 0; k < ITERATIONS; k++)
        for (uint32_t i = 0; i < problem->n_ops; i++)
            issues[at++] = (struct issue){cycle[i] + (uint64_t)k * interval, i, k};
    qsort(issues, n, sizeof *issues, by_cycle);
    for (size_t at = 0; at < n; at++) {
        const struct issue *issue = &issues[at];
        const struct pm_modulo_op *op = &problem->ops[issue->op];
        double now = (double)issue->cycle + late;
        for (uint32_t k = 0; k < op->n_in; k++) {
            const struct pm_modulo_edge *edge = &problem->edges[problem->in[op->first_in + k]];
            if (edge->distance > (int32_t)issue->iteration)
                continue;
            size_t before = (issue->iteration - (uint32_t)edge->distance) % HISTORY;
            now = fmax(now, issued[before * problem->n_ops + edge->from] + edge->cycles +
                                edge->stall_cycles);
        }
        late = now - (double)issue->cycle;
        issued[(issue->iteration % HISTORY) * problem->n_ops + issue->op] = now;
        if (issue->iteration == ITERATIONS / 2 - 1)
            ends[0] = fmax(ends[0], now);
        if (issue->iteration == ITERATIONS - 1)
            ends[1] = fmax(ends[1], now);
    }
    free(issues);
    free(issued);
    return fmax(interval, (ends[1] - ends[0]) / (ITERATIONS / 2.0));
}
