/* The dependence graph of a path (graph.h): nodes with their micro-operations, then what each waits
   for through registers (registers.c) and through memory (graph_memory.c).

   An instruction that fuses with the branch behind it takes the branch's units and slot, and keeps
   its own latency.  A branch that is taken on the path takes units of `jump`, where these are some
   of its own: of several branch units one may be for those that are not taken only.  A store is two
   nodes, its address and its data; what a foreign operation adds follows it as nodes of their own,
   one after the other. */
#include <math.h>
#include <stdlib.h>

#include "sched/graph/private.h"
#include "sched/constants.h"

static bool is_load_class(uint8_t op_class) {
    return pm_op_class_kind((enum pm_op_class)op_class) == 'm' && op_class != PM_OP_PREFETCH;
}

bool pm_is_store_class(uint8_t op_class) {
    return op_class == PM_OP_STORE_INT || op_class == PM_OP_STORE_FP || op_class == PM_OP_SCATTER;
}

/* ---- micro-operations ------------------------------------------------------------------------ */

static void add_micros(struct pm_dep_graph *graph, const struct pm_reservation *reservation,
                       unsigned times) {
    for (unsigned i = 0; i < reservation->count * times; i++)
        *PM_PUSH(graph, micros) = (struct pm_micro){.units = reservation->units,
                                                    .busy_cycles = (float)reservation->busy_cycles,
                                                    .start_cycle = (float)reservation->start_cycle};
}

/* The ways of ROW, of reservations FIRST and behind (END: at most up to there). */
static void add_ways(struct pm_dep_graph *graph, struct pm_node *node, const struct pm_cost *row,
                     unsigned times, size_t first, size_t end) {
    node->first_way = (uint32_t)graph->n_ways;
    for (size_t a = 0; a < row->n_alternatives; a++) {
        const struct pm_reservation_table *from = &row->alternatives[a];
        uint32_t first_micro = (uint32_t)graph->n_micros;
        for (size_t r = first; r < from->n_reservations && r < end; r++)
            add_micros(graph, &from->reservations[r], times);
        *PM_PUSH(graph, ways) = (struct pm_way){
            .first_micro = first_micro, .n_micros = (uint32_t)graph->n_micros - first_micro};
        node->n_ways++;
    }
}

/* Of a branch that is taken. */
static void take_jump_units(const struct pm_builder *builder, const struct pm_node *node) {
    const struct pm_cost *jump = pm_machine_cost(builder->target->machine, PM_OP_JUMP, 64, 0);
    if (!jump || jump->n_alternatives != 1 || node->n_ways != 1)
        return;
    const struct pm_way *way = &builder->graph->ways[node->first_way];
    uint64_t units = jump->alternatives[0].reservations[0].units;
    for (uint32_t m = way->first_micro; m < way->first_micro + way->n_micros; m++) {
        struct pm_micro *micro = &builder->graph->micros[m];
        if (micro->units & units)
            micro->units &= units;
    }
}

/* An access that lies across two lines takes its units twice. */
static void cross_lines(const struct pm_builder *builder, const struct pm_node *node) {
    const double *shares = builder->options->crossings;
    if (!shares || node->reference == PM_NONE)
        return;
    for (uint32_t w = node->first_way; w < node->first_way + node->n_ways; w++) {
        const struct pm_way *way = &builder->graph->ways[w];
        for (uint32_t m = way->first_micro; m < way->first_micro + way->n_micros; m++)
            builder->graph->micros[m].busy_cycles *= (float)(1 + shares[node->reference]);
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static struct pm_node *add_node(struct pm_builder *builder, uint32_t op, uint32_t step) {
    struct pm_node *node = PM_PUSH(builder->graph, nodes);
    *node = (struct pm_node){.op = op, .step = step, .reference = PM_NONE, .is_known = true};
    return node;
}

/* What the address of LOAD adds to its latency. */
static float address_cycles(const struct pm_builder *builder, const struct pm_op *load) {
    if (load->reference == PM_NONE)
        return 0;
    const struct pm_reference *at = &builder->target->structure->references[load->reference];
    bool has_index = at->has_address && at->index != PM_REGISTER_NONE;
    bool is_complex =
        has_index && (at->scale > 1 || (at->base != PM_REGISTER_NONE && at->displacement != 0));
    return is_complex ? (float)builder->target->machine->complex_address_cycles : 0;
}

static double latency_of_load(const struct pm_builder *builder, uint32_t reference,
                              double latency_cycles) {
    const double *given = builder->options->load_latency_cycles;
    double cycles = given && reference != PM_NONE ? given[reference] : 0;
    return cycles > 0 ? cycles : latency_cycles;
}

/* Cores count whole cycles; measured latencies are a little beside them. */
static float whole_cycles(double cycles) {
    static const double nearly = 0.2;
    return (float)(fabs(cycles - round(cycles)) < nearly ? round(cycles) : cycles);
}

/* The first row's node is the operation's; the others follow it.  A store's address and data are
   two nodes. */
static void add_rows(struct pm_builder *builder, uint32_t op, uint32_t step,
                     const struct pm_need *need, struct pm_op_nodes *nodes) {
    const struct pm_machine *machine = builder->target->machine;
    const struct pm_op *self = &builder->target->structure->ops[op];
    for (unsigned r = 0; r < need->n_rows; r++) {
        const struct pm_cost *row = &machine->costs[need->rows[r].row];
        bool is_store = r == 0 && pm_is_store_class(self->op_class);
        unsigned times = (unsigned)ceil(need->rows[r].times);
        bool has_both = is_store && row->n_alternatives && row->alternatives[0].n_reservations > 1;
        struct pm_node *node =
            r == 0 ? &builder->graph->nodes[nodes->first] : add_node(builder, op, step);
        if (r > 0)
            nodes->last = (uint32_t)builder->graph->n_nodes - 1;
        node->latency_cycles =
            whole_cycles(need->n_rows == 1 ? need->latency_cycles : row->latency_cycles);
        add_ways(builder->graph, node, row, times, has_both ? 1 : 0, SIZE_MAX);
        if (is_store) {
            uint32_t address = nodes->first;
            struct pm_node *data = add_node(builder, op, step);
            data->is_store = true;
            data->reference = builder->graph->nodes[address].reference;
            nodes->last = nodes->data = (uint32_t)builder->graph->n_nodes - 1;
            if (has_both)
                add_ways(builder->graph, data, row, times, 0, 1);
            cross_lines(builder, data);
        }
        node = &builder->graph->nodes[r == 0 ? nodes->first : nodes->last];
        if (is_store || (r == 0 && node->is_load))
            cross_lines(builder, node);
    }
}

static void add_op(struct pm_builder *builder, uint32_t op, uint32_t step,
                   uint32_t first_reference) {
    const struct pm_structure *structure = builder->target->structure;
    const struct pm_op *self = &structure->ops[op];
    struct pm_dep_graph *graph = builder->graph;
    struct pm_op_nodes *nodes = PM_PUSH(builder, ops);
    struct pm_need need;
    pm_op_need(builder->target, op, &need);
    bool fused_behind = builder->fused_latency >= 0;
    *nodes = (struct pm_op_nodes){.op = op, .data = PM_NONE, .row = pm_need_row(&need)};
    nodes->first = nodes->last = (uint32_t)graph->n_nodes;
    struct pm_node *node = add_node(builder, op, step);
    node->is_known = need.known;
    node->starts_instruction = self->instruction_start;
    nodes->moves_stack = need.moves_stack;
    bool is_free_nop =
        self->op_class == PM_OP_NOP && builder->takes_nop && builder->target->machine->fuses_nops;
    node->slots = is_free_nop ? 0 : (float)need.slots;
    builder->takes_nop = !is_free_nop && (node->slots > 0 || builder->takes_nop);
    node->is_load = is_load_class(self->op_class) && !pm_is_store_class(self->op_class);
    if (self->reference != PM_NONE &&
        self->reference - structure->blocks[builder->block].first_reference <
            structure->blocks[builder->block].n_references)
        node->reference =
            first_reference + self->reference - structure->blocks[builder->block].first_reference;
    node->is_branch = self->op_class == PM_OP_BRANCH;
    graph->n_unknown += !need.known;
    if (fused_behind) { /* the branch: its units and slot are with what it fused with */
        node->slots = 0;
        builder->fused_latency = -1;
        return;
    }
    if (need.fused) {
        struct pm_need branch;
        pm_op_need(builder->target, op + 1, &branch);
        builder->fused_latency = need.latency_cycles;
        node->slots = (float)branch.slots;
        if (branch.n_rows)
            add_ways(graph, node, &builder->target->machine->costs[branch.rows[0].row], 1, 0,
                     SIZE_MAX);
        graph->nodes[nodes->first].latency_cycles = whole_cycles(need.latency_cycles);
        nodes->is_fused = true;
        return;
    }
    add_rows(builder, op, step, &need, nodes);
    node = &graph->nodes[nodes->first];
    if (node->is_load) {
        float hit = node->latency_cycles, more = address_cycles(builder, self);
        node->latency_cycles = (float)latency_of_load(builder, node->reference, hit) + more;
        hit += more;
        node->miss_cycles = fmaxf(0, node->latency_cycles - hit);
    }
}

/* The address that step S begins at. */
static uint64_t begin_of_step(const struct pm_builder *builder, size_t s) {
    const struct pm_structure *structure = builder->target->structure;
    const struct pm_path_step *step = &builder->path[s];
    uint32_t block = step->block != PM_NONE ? step->block : structure->scopes[step->loop].header;
    return block == PM_NONE ? 0 : structure->blocks[block].address;
}

static bool is_taken(const struct pm_builder *builder, size_t s) {
    const struct pm_structure *structure = builder->target->structure;
    const struct pm_block *block = &structure->blocks[builder->path[s].block];
    bool goes_round = s + 1 == builder->n_steps;
    if (block->n_ops == 0 || (goes_round && builder->options->loop == PM_NONE))
        return false;
    const struct pm_path_step *step = &builder->path[s];
    uint32_t end = step->n_ops ? step->first_op + step->n_ops : block->first_op + block->n_ops;
    bool is_control = false, is_whole = end == block->first_op + block->n_ops;
    do /* of a call or return the operations behind are of the stack */
        is_control |= pm_op_class_kind((enum pm_op_class)structure->ops[--end].op_class) == 'c';
    while (!is_whole && !structure->ops[end].instruction_start);
    return is_control &&
           begin_of_step(builder, goes_round ? 0 : s + 1) != block->address + block->size_bytes;
}

/* Lines of code that are entered in step S otherwise than by a jump.  Copies that follow each other
   begin at all places of a line. */
static double further_lines(const struct pm_builder *builder, size_t s) {
    const struct pm_block *blocks = builder->target->structure->blocks;
    const struct pm_block *block = &blocks[builder->path[s].block];
    uint64_t bytes = builder->target->machine->fetch_bytes, before = block->address;
    if (!bytes || !block->size_bytes)
        return 0;
    if (builder->options->is_unrolled)
        return (double)block->size_bytes / (double)bytes;
    if (s > 0 && builder->path[s - 1].block != PM_NONE) {
        const struct pm_block *last = &blocks[builder->path[s - 1].block];
        before -= last->size_bytes && last->address + last->size_bytes == block->address;
    }
    return (double)((block->address + block->size_bytes - 1) / bytes - before / bytes);
}

static void end_step(struct pm_builder *builder, size_t s) {
    if (builder->n_ops == 0)
        return;
    const struct pm_op_nodes *last = &builder->ops[builder->n_ops - 1];
    struct pm_node *node = &builder->graph->nodes[last->first];
    double lines = further_lines(builder, s), each = builder->target->machine->next_line_cycles;
    node->fetch_cycles += (float)(lines * (each > 0 ? each : 1));
    builder->n_lines += (builder->n_lines == 0 || builder->graph->n_taken) + (unsigned)lines;
    if (!is_taken(builder, s))
        return;
    node->fetch_cycles += 1;
    builder->graph->n_taken++;
    if (builder->target->machine->taken_jumps > 1)
        return; /* any branch unit does */
    if (builder->n_ops > 1 && builder->ops[builder->n_ops - 2].is_fused)
        last--;
    take_jump_units(builder, &builder->graph->nodes[last->first]);
}

/* Where more than one jump is taken in a cycle, a loop of one line and one jump is fetched so
   often; of other jumps every second one, with what it leads to. */
static void fetch_together(const struct pm_builder *builder, bool is_one_line) {
    struct pm_dep_graph *graph = builder->graph;
    double jumps = builder->target->machine->taken_jumps;
    double saved = jumps > 1 ? 1 - 1 / jumps : 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].fetch_cycles >= 1)
            graph->nodes[i].fetch_cycles -= (float)(is_one_line ? saved : saved / 2);
}

static void add_nodes(struct pm_builder *builder) {
    const struct pm_structure *structure = builder->target->structure;
    uint32_t n_references = 0;
    builder->fused_latency = -1;
    builder->takes_nop = builder->options->loop != PM_NONE; /* of the iteration before */
    for (size_t s = 0; s < builder->n_steps; s++) {
        builder->n_loops_before[s] =
            (s ? builder->n_loops_before[s - 1] + (builder->path[s - 1].block == PM_NONE) : 0);
        builder->block = builder->path[s].block;
        if (builder->block == PM_NONE)
            continue;
        const struct pm_block *block = &structure->blocks[builder->block];
        const struct pm_path_step *step = &builder->path[s];
        uint32_t first = step->n_ops ? step->first_op : block->first_op;
        uint32_t n_ops = step->n_ops ? step->n_ops : block->n_ops;
        for (uint32_t k = first; k < first + n_ops; k++)
            add_op(builder, k, (uint32_t)s, n_references);
        n_references += block->n_references;
        end_step(builder, s);
    }
    builder->graph->n_references = n_references;
    fetch_together(builder, builder->n_lines == 1 && builder->graph->n_taken == 1);
    for (size_t i = 0; i < builder->graph->n_nodes; i++)
        builder->graph->slots += builder->graph->nodes[i].slots;
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool pm_is_hidden(const struct pm_builder *builder, uint32_t from_step, uint32_t to_step,
                  bool carried) {
    uint32_t last = (uint32_t)builder->n_steps - 1;
    uint32_t all = builder->n_loops_before[last] + (builder->path[last].block == PM_NONE);
    uint32_t before_from = builder->n_loops_before[from_step];
    uint32_t before_to = builder->n_loops_before[to_step];
    return carried ? all - before_from + before_to > 0 : before_to > before_from;
}

void pm_add_wait(struct pm_builder *builder, const struct pm_wait *wait) {
    *PM_PUSH(builder, found) = *wait;
}

/* The waits in order of `to`. */
static void order_waits(struct pm_builder *builder) {
    struct pm_dep_graph *graph = builder->graph;
    for (size_t i = 0; i < builder->n_found; i++)
        graph->nodes[builder->found[i].to].n_edges++;
    uint32_t first = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        graph->nodes[i].first_edge = first;
        first += graph->nodes[i].n_edges;
        graph->nodes[i].n_edges = 0;
    }
    graph->n_waits = 0;
    for (size_t i = 0; i < builder->n_found; i++)
        (void)PM_PUSH(graph, waits);
    for (size_t i = 0; i < builder->n_found; i++) {
        struct pm_node *node = &graph->nodes[builder->found[i].to];
        graph->waits[node->first_edge + node->n_edges++] = builder->found[i];
    }
}

void pm_graph_of_path(const struct pm_target_machine *target, const struct pm_path_step *path,
                      size_t n_steps, const struct pm_graph_options *options,
                      struct pm_dep_graph *graph) {
    graph->n_nodes = graph->n_micros = graph->n_ways = graph->n_waits = 0;
    graph->slots = 0;
    graph->n_unknown = graph->n_taken = graph->n_references = 0;
    if (n_steps == 0)
        return;
    struct pm_builder builder = {.target = target,
                                 .path = path,
                                 .n_steps = n_steps,
                                 .options = options,
                                 .graph = graph,
                                 .n_loops_before =
                                     pm_alloc(n_steps, sizeof *builder.n_loops_before)};
    add_nodes(&builder);
    if (options->with_entries && options->loop != PM_NONE)
        pm_find_fresh_registers(target->structure, options->loop, builder.fresh);
    pm_wait_through_registers(&builder);
    pm_wait_through_memory(&builder);
    order_waits(&builder);
    graph->commit_cycles = pm_graph_commit(target, graph, options->store_lines);
    free(builder.n_loops_before);
    free(builder.ops);
    free(builder.found);
}

void pm_graph_free(struct pm_dep_graph *graph) {
    free(graph->nodes);
    free(graph->micros);
    free(graph->ways);
    free(graph->waits);
    *graph = (struct pm_dep_graph){0};
}
