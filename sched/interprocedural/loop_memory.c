/* What the loads and stores of a loop do to each other where all that it begins with is known, as
   that of a basic block that is measured by itself: the path is followed for some iterations with
   known registers and memory (addresses.c), and the later half of them tells which loads take
   their data from which stores how many iterations before, which accesses lie across two lines, and
   how often a store goes to another line than the one before it. */
#include <stdlib.h>
#include <string.h>

#include "sched/interprocedural/interprocedural.h"

enum { ITERATIONS = 40, LINE = 64, MOST_DISTANCE = 16 };

static size_t ops_of_path(const struct pm_structure *structure, const struct pm_path_step *path,
                          size_t n_steps) {
    size_t n = 0;
    for (size_t s = 0; s < n_steps; s++)
        if (path[s].block != PM_NONE)
            n += path[s].n_ops ? path[s].n_ops : structure->blocks[path[s].block].n_ops;
    return n;
}

/* Those of the last iteration, numbered by the path. */
static void keep_last(const struct pm_forwardings *found, size_t n_ops,
                      struct pm_loop_memory_flow *flow) {
    size_t first = (ITERATIONS - 1) * n_ops;
    for (size_t i = 0; i < found->n_items; i++) {
        struct pm_forwarding item = found->items[i];
        if (item.load < first)
            continue;
        item.distance = (uint16_t)(item.load / n_ops - item.store / n_ops);
        item.load = (uint32_t)(item.load % n_ops);
        item.store = (uint32_t)(item.store % n_ops);
        if (item.distance <= MOST_DISTANCE)
            *PM_PUSH(flow, forwardings) = item;
    }
}

/* By the later half of the iterations. */
static void find_lines(const struct pm_machine *machine, const struct pm_forwardings *found,
                       size_t n_ops, const uint32_t *references, size_t n_references,
                       struct pm_loop_memory_flow *flow) {
    size_t first = ITERATIONS / 2 * n_ops;
    double share = 2.0 / ITERATIONS;
    int64_t line = INT64_MIN;
    int64_t store_line = machine->store_line_bytes ? (int64_t)machine->store_line_bytes : LINE;
    flow->crossings = pm_alloc(n_references + 1, sizeof *flow->crossings);
    for (size_t i = 0; i < found->n_accesses; i++) {
        const struct pm_traced_access *access = &found->accesses[i];
        int64_t last = access->place + access->size_bytes - 1;
        int64_t from = access->place / store_line, to = last / store_line;
        bool crosses = access->is_known && access->place / LINE != last / LINE;
        bool counts = access->op >= first;
        if (counts && crosses && references[access->op % n_ops] != PM_NONE)
            flow->crossings[references[access->op % n_ops]] += share;
        if (!access->is_store)
            continue;
        if (counts && (!access->is_known || from != line))
            flow->lines += share;
        if (counts && crosses)
            flow->lines += share;
        line = access->is_known ? to : INT64_MIN;
    }
}

void pm_follow_loop_memory(const struct pm_target_machine *target, const struct pm_path_step *path,
                           size_t n_steps, uint64_t held, struct pm_loop_memory_flow *flow) {
    const struct pm_structure *structure = target->structure;
    struct pm_step_trace trace = {0};
    struct pm_forwardings found = {0};
    size_t n_ops = ops_of_path(structure, path, n_steps), n_references = 0, op = 0;
    *flow = (struct pm_loop_memory_flow){0};
    if (n_ops == 0)
        return;
    uint32_t *references = pm_alloc(n_ops, sizeof *references);
    for (size_t s = 0; s < n_steps; s++) {
        if (path[s].block == PM_NONE)
            continue;
        const struct pm_block *block = &structure->blocks[path[s].block];
        uint32_t begin = path[s].n_ops ? path[s].first_op : block->first_op;
        uint32_t n = path[s].n_ops ? path[s].n_ops : block->n_ops;
        for (uint32_t k = begin; k < begin + n; k++, op++) {
            uint32_t reference = structure->ops[k].reference;
            bool is_own = reference != PM_NONE && reference >= block->first_reference &&
                          reference - block->first_reference < block->n_references;
            references[op] =
                is_own ? (uint32_t)n_references + reference - block->first_reference : PM_NONE;
        }
        n_references += block->n_references;
    }
    for (unsigned i = 0; i < ITERATIONS; i++)
        for (size_t s = 0; s < n_steps; s++) {
            *PM_PUSH(&trace, steps) = path[s];
            *PM_PUSH(&trace, enters) = false;
        }
    pm_trace_forwardings(structure, &trace, &held, &found);
    keep_last(&found, n_ops, flow);
    find_lines(target->machine, &found, n_ops, references, n_references, flow);
    free(references);
    free(found.items);
    free(found.accesses);
    pm_step_trace_free(&trace);
}

void pm_loop_memory_flow_free(struct pm_loop_memory_flow *flow) {
    free(flow->forwardings);
    free(flow->crossings);
    *flow = (struct pm_loop_memory_flow){0};
}
