/* Finds loops whose back edge can be counted outside the loop.  A register that steps by a constant
   exactly once in each iteration tells the number of times the back edge was taken wherever the
   loop is left:

       (register there − register at entry − step if it has stepped since the head) / step

   So the register is stored in a slot of the control block where the loop is entered, and the
   quotient is added to the counter where it is left; nothing is to be done in between.  In a loop
   of five instructions the increment of a counter costs more than the loop itself: each has to wait
   for the store of the one before.

   It is exact because the loop is entered at its head only and has no loop in it, which is read
   from the edges, not from the scope tree.  No call is in it, and no basic block of it is in
   another such loop (two may share their head), so that one slot does for all loops of a thread; a
   handler of a signal runs on a control block of its own.  No other instruction of the loop writes
   the register.  The difference does not wrap around: 2^52 iterations take months, and a register
   of 32 bits is taken only if all tests that leave the loop depend on nothing but it and what the
   loop does not change, and one is made in each iteration: a loop that went on for a whole period
   would never end. Of a loop that a signal's handler leaves for good (siglongjmp, exit), that
   visit's iterations are missing.

   Needs basic blocks, edges and the scope tree, which only proposes heads. */

#include <stdlib.h>
#include <string.h>

#include "binlift/counters/private.h"

enum { MOST_BLOCKS = 32 }; /* in larger loops an increment hardly shows */

struct candidate_loop {
    const struct pm_lifted *lifted;
    const struct pm_flow *flow;
    const uint8_t *places;
    uint32_t head, latch, back_edge; /* vertices, edge of the flow */
    uint32_t members[MOST_BLOCKS];   /* vertices, the head first */
    uint32_t n_members;
    struct pm_register_set written;
    uint64_t written_twice; /* general registers */
};

static const struct pm_insn *insns_of(const struct candidate_loop *loop, uint32_t vertex,
                                      uint32_t *n) {
    const struct pm_block_code *code =
        &loop->lifted->block_codes[loop->flow->routine->first_block + vertex];
    *n = code->n_insns;
    return &loop->lifted->insns[code->first_insn];
}

static bool is_member(const struct candidate_loop *loop, uint32_t vertex) {
    for (uint32_t i = 0; i < loop->n_members; i++)
        if (loop->members[i] == vertex)
            return true;
    return false;
}

/* ---- the loop ------------------------------------------------------------------------------- */

/* All that reaches the latch without the head; false if that is no loop, or a large one. */
static bool collect_members(struct candidate_loop *loop) {
    const struct pm_flow *flow = loop->flow;
    loop->members[0] = loop->head;
    loop->n_members = 1;
    if (loop->latch != loop->head)
        loop->members[loop->n_members++] = loop->latch;
    for (uint32_t k = 1; k < loop->n_members; k++)
        for (uint32_t i = flow->first_in[loop->members[k]];
             i < flow->first_in[loop->members[k] + 1]; i++) {
            uint32_t from = pm_flow_from(flow, flow->in[i]);
            if (from == flow->entry)
                return false; /* another entry */
            if (is_member(loop, from))
                continue;
            if (loop->n_members == MOST_BLOCKS)
                return false;
            loop->members[loop->n_members++] = from;
        }
    return true;
}

/* Does a path within one iteration lead from FROM to TO, around AVOIDED? */
static bool leads(const struct candidate_loop *loop, uint32_t from, uint32_t to, uint32_t avoided) {
    uint32_t stack[MOST_BLOCKS], seen[MOST_BLOCKS], n_stack = 0, n_seen = 0;
    if (from == avoided)
        return false;
    stack[n_stack++] = seen[n_seen++] = from;
    while (n_stack) {
        uint32_t v = stack[--n_stack];
        if (v == to)
            return true;
        for (uint32_t i = loop->flow->first_out[v]; i < loop->flow->first_out[v + 1]; i++) {
            uint32_t next = pm_flow_to(loop->flow, loop->flow->out[i]);
            bool known = next == avoided || next == loop->head || !is_member(loop, next);
            for (uint32_t k = 0; k < n_seen && !known; k++)
                known = seen[k] == next;
            if (!known)
                stack[n_stack++] = seen[n_seen++] = next;
        }
    }
    return false;
}

/* Without the back edge, no member may lead to itself. */
static bool is_innermost(const struct candidate_loop *loop) {
    const struct pm_flow *flow = loop->flow;
    for (uint32_t m = 0; m < loop->n_members; m++)
        for (uint32_t i = flow->first_out[loop->members[m]];
             i < flow->first_out[loop->members[m] + 1]; i++) {
            uint32_t to = pm_flow_to(flow, flow->out[i]);
            if (flow->out[i] == loop->back_edge || !is_member(loop, to))
                continue;
            if (to == loop->head || leads(loop, to, loop->members[m], PM_NONE))
                return false;
        }
    return true;
}

/* Fills what is written; false if something in the loop calls. */
static bool scan_instructions(struct candidate_loop *loop) {
    memset(&loop->written, 0, sizeof loop->written);
    loop->written_twice = 0;
    for (uint32_t m = 0; m < loop->n_members; m++) {
        uint32_t n;
        const struct pm_insn *insns = insns_of(loop, loop->members[m], &n);
        uint32_t block = loop->flow->routine->first_block + loop->members[m];
        if (loop->lifted->block_codes[block].indirect_entry)
            return false;
        for (uint32_t k = 0; k < n; k++) {
            struct pm_register_set defs = insns[k].registers->defs;
            if (pm_is_call(insns[k].control) || insns[k].control == PM_CONTROL_JUMP_INDIRECT)
                return false;
            loop->written_twice |= loop->written.general & defs.general;
            loop->written.general |= defs.general;
            loop->written.vector |= defs.vector;
        }
    }
    return true;
}

/* ---- edges into it and out of it ------------------------------------------------------------- */

/* Can code that reads registers stand on EDGE?  Counters ask for less: they may also stand before
   the instruction that the edge begins with. */
static bool has_place(const struct candidate_loop *loop, uint32_t edge) {
    const struct pm_flow *flow = loop->flow;
    uint32_t n;
    const struct pm_insn *insns;
    switch (loop->places[edge]) {
    case PM_PLACE_IN_TARGET:
    case PM_PLACE_FALLTHROUGH:
    case PM_PLACE_BRANCH:
        return true;
    case PM_PLACE_IN_SOURCE:
        insns = insns_of(loop, pm_flow_from(flow, edge), &n);
        return n &&
               (insns[n - 1].control == PM_CONTROL_NONE || insns[n - 1].control == PM_CONTROL_JUMP);
    default:
        return false;
    }
}

static bool edges_have_places(const struct candidate_loop *loop) {
    const struct pm_flow *flow = loop->flow;
    uint32_t n_exits = 0;
    for (uint32_t i = flow->first_in[loop->head]; i < flow->first_in[loop->head + 1]; i++)
        if (flow->in[i] != loop->back_edge && !has_place(loop, flow->in[i]))
            return false;
    for (uint32_t m = 0; m < loop->n_members; m++)
        for (uint32_t i = flow->first_out[loop->members[m]];
             i < flow->first_out[loop->members[m] + 1]; i++)
            if (!is_member(loop, pm_flow_to(flow, flow->out[i]))) {
                n_exits++;
                if (!has_place(loop, flow->out[i]))
                    return false;
            }
    return n_exits > 0;
}

/* ---- the register --------------------------------------------------------------------------- */

struct stepping {
    uint32_t vertex; /* block in which it steps */
    struct pm_register_step step;
};

/* Is the register's value at the end of VERTEX the same in each iteration, seen from the head? */
static bool is_settled(const struct candidate_loop *loop, const struct stepping *s, uint32_t vertex,
                       bool *stepped) {
    if (vertex == s->vertex || !leads(loop, loop->head, vertex, s->vertex))
        *stepped = true;
    else if (!leads(loop, s->vertex, vertex, PM_NONE))
        *stepped = false;
    else
        return false;
    return true;
}

static bool is_settled_at_exits(const struct candidate_loop *loop, const struct stepping *s) {
    const struct pm_flow *flow = loop->flow;
    for (uint32_t m = 0; m < loop->n_members; m++)
        for (uint32_t i = flow->first_out[loop->members[m]];
             i < flow->first_out[loop->members[m] + 1]; i++) {
            bool stepped;
            if (!is_member(loop, pm_flow_to(flow, flow->out[i])) &&
                !is_settled(loop, s, loop->members[m], &stepped))
                return false;
        }
    return true;
}

/* Does the branch at the end of VERTEX depend on the register and on what the loop leaves alone? */
static bool tests_only(const struct candidate_loop *loop, uint32_t vertex, uint8_t number) {
    uint32_t n;
    const struct pm_insn *insns = insns_of(loop, vertex, &n);
    if (!n || insns[n - 1].control != PM_CONTROL_BRANCH)
        return false;
    uint64_t flags = insns[n - 1].registers->uses.general;
    for (uint32_t k = n - 1; k-- > 0;) {
        const struct pm_registers *registers = insns[k].registers;
        if (!(registers->defs.general & flags))
            continue;
        return (flags & ~registers->kills.general) == 0 && insns[k].n_memory == 0 &&
               registers->uses.vector == 0 &&
               (registers->uses.general & (loop->written.general | PM_FLAGS_MASK) &
                ~(UINT64_C(1) << number)) == 0;
    }
    return false;
}

/* Is the loop left by tests of this register only, and is one of these made in each iteration? */
static bool ends_within_period(const struct candidate_loop *loop, uint8_t number) {
    const struct pm_flow *flow = loop->flow;
    bool tested = false;
    for (uint32_t m = 0; m < loop->n_members; m++) {
        uint32_t v = loop->members[m];
        bool is_left = false;
        for (uint32_t i = flow->first_out[v]; i < flow->first_out[v + 1]; i++)
            is_left |= !is_member(loop, pm_flow_to(flow, flow->out[i]));
        if (is_left && !tests_only(loop, v, number))
            return false;
        tested |= is_left && (v == loop->latch || !leads(loop, loop->head, loop->latch, v));
    }
    return tested;
}

static bool is_power_of_two(uint64_t value) { return (value & (value - 1)) == 0; }

/* Instructions that the quotient takes: 0 for a step of 1; negative: it cannot be made. */
static int quotient_cost(const struct pm_register_step *step) {
    uint64_t size = step->step < 0 ? -(uint64_t)step->step : (uint64_t)step->step;
    if (size == 0 || size > PM_TRIP_MOST_STEP || !is_power_of_two(size))
        return -1;
    return (step->step < 0) + (size > 1);
}

/* The register that steps by the simplest constant. */
static bool find_register(const struct candidate_loop *loop, struct stepping *found) {
    int best = -1;
    for (uint32_t m = 0; m < loop->n_members; m++) {
        uint32_t n, v = loop->members[m];
        const struct pm_insn *insns = insns_of(loop, v, &n);
        if (v != loop->latch && leads(loop, loop->head, loop->latch, v))
            continue; /* not in each iteration */
        for (uint32_t k = 0; k < n; k++) {
            const struct pm_registers *registers = insns[k].registers;
            uint64_t once = registers->defs.general & registers->uses.general &
                            ~loop->written_twice & UINT64_C(0xffffffff);
            struct stepping s = {.vertex = v};
            const uint8_t *bytes =
                pm_insn_bytes(loop->lifted, (uint32_t)(&insns[k] - loop->lifted->insns));
            if (!once || !loop->lifted->isa->find_step(bytes, &insns[k], &s.step) ||
                !(once & (UINT64_C(1) << s.step.number)))
                continue;
            int cost = quotient_cost(&s.step);
            if (cost < 0 || (best >= 0 && best <= cost) || !is_settled_at_exits(loop, &s) ||
                (s.step.bits < 64 && !ends_within_period(loop, s.step.number)))
                continue;
            best = cost;
            *found = s;
        }
    }
    return best >= 0;
}

/* ---- all loops of a routine ----------------------------------------------------------------- */

static void add_edge(struct pm_counter_plan *plan, const struct pm_flow *flow, uint32_t edge,
                     bool is_exit, bool stepped) {
    *PM_PUSH(plan, trip_edges) =
        (struct pm_trip_edge){.edge = flow->routine->first_edge + edge,
                              .trip_count = (uint32_t)plan->n_trip_counts - 1,
                              .is_exit = is_exit,
                              .stepped = stepped};
    plan->trip_counts[plan->n_trip_counts - 1].n_edges++;
}

static bool is_claimed(const struct candidate_loop *loop, const bool *claimed) {
    for (uint32_t m = 0; m < loop->n_members; m++)
        if (claimed[loop->members[m]])
            return true;
    return false;
}

static void add_trip_count(struct pm_counter_plan *plan, const struct candidate_loop *loop,
                           const struct stepping *s, bool *claimed) {
    const struct pm_flow *flow = loop->flow;
    for (uint32_t m = 0; m < loop->n_members; m++)
        claimed[loop->members[m]] = true;
    *PM_PUSH(plan, trip_counts) =
        (struct pm_trip_count){.edge = flow->routine->first_edge + loop->back_edge,
                               .number = s->step.number,
                               .bits = s->step.bits,
                               .step = s->step.step,
                               .first_edge = (uint32_t)plan->n_trip_edges};
    for (uint32_t i = flow->first_in[loop->head]; i < flow->first_in[loop->head + 1]; i++)
        if (flow->in[i] != loop->back_edge)
            add_edge(plan, flow, flow->in[i], false, false);
    for (uint32_t m = 0; m < loop->n_members; m++)
        for (uint32_t i = flow->first_out[loop->members[m]];
             i < flow->first_out[loop->members[m] + 1]; i++) {
            bool stepped = false;
            if (is_member(loop, pm_flow_to(flow, flow->out[i])))
                continue;
            is_settled(loop, s, loop->members[m], &stepped);
            add_edge(plan, flow, flow->out[i], true, stepped);
        }
}

void pm_find_trip_counts(const struct pm_lifted *lifted, const struct pm_flow *flow,
                         struct pm_counter_plan *plan) {
    const struct pm_structure *structure = lifted->structure;
    if (!lifted->isa || !lifted->isa->find_step || flow->routine->state != PM_ROUTINE_LIFTED)
        return;
    bool *claimed = pm_alloc(flow->n_vertices, sizeof *claimed); /* in a loop that was taken */
    for (uint32_t e = 0; e < flow->n_edges; e++) {
        const struct pm_edge *edge = &flow->edges[e];
        if (edge->from == PM_NONE || edge->to == PM_NONE)
            continue;
        uint32_t scope = structure->blocks[edge->to].loop;
        if (scope == PM_NONE || structure->scopes[scope].header != edge->to ||
            structure->blocks[edge->from].loop != scope)
            continue;
        struct candidate_loop loop = {.lifted = lifted,
                                      .flow = flow,
                                      .places = plan->places + flow->routine->first_edge,
                                      .head = pm_flow_to(flow, e),
                                      .latch = pm_flow_from(flow, e),
                                      .back_edge = e};
        struct stepping s = {0};
        if (collect_members(&loop) && !is_claimed(&loop, claimed) && scan_instructions(&loop) &&
            is_innermost(&loop) && edges_have_places(&loop) && find_register(&loop, &s))
            add_trip_count(plan, &loop, &s, claimed);
    }
    free(claimed);
}

bool pm_is_trip_counted(const struct pm_counter_plan *plan, uint32_t edge) {
    size_t i = PM_LOWER_BOUND(plan->n_trip_counts, i, plan->trip_counts[i].edge < edge);
    return i < plan->n_trip_counts && plan->trip_counts[i].edge == edge;
}
