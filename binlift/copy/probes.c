/* Plans the probes: for every edge of the control flow graph the scopes that are left on it, the
   innermost first, and those that are entered, the outermost first.

   A routine is entered by its ENTRY edge and left by edges to EXIT; a loop on edges from outside
   into it and from it to outside, whatever its kind.  A call that does not come back leaves nothing
   behind: the runtime finds by the stack pointer that its caller is gone.  Where control comes
   back unseen (exceptions, longjmp to a setjmp), the event "here" names the innermost scope that it
   is in, and the runtime closes what was open inside that.

   A scope all of whose entries and exits have a place is probed; of any other no event is made,
   because a half of them would be worse than none.  A routine with a jump of unknown targets has no
   probes at all.

   An iteration, where it is asked for, is an event at the very start of the loop's header, which
   every iteration passes; so does the entry, behind its own event.

   Needs the scope tree and counters' places. */
#include "binlift/copy/private.h"

#include <stdlib.h>
#include <string.h>

/* ---- scopes ---------------------------------------------------------------------------------- */

struct planner {
    const struct pm_lifted *lifted;
    const struct pm_structure *structure;
    struct pm_probe_plan *plan;
    const uint8_t *scope_events;
    const bool *ends_interval; /* per instruction; NULL: none does */
    uint32_t *loops;           /* room for a chain of loops */
    size_t cap_loops;
};

static void add_event(struct planner *p, uint32_t scope, enum pm_event_what what) {
    if (!p->plan->probed[scope])
        return;
    bool now = p->scope_events[scope] & (PM_PROBE_SCOPE_STARTS | PM_PROBE_SCOPE_STOPS);
    *PM_PUSH(p->plan, events) = scope << 2 | what | (now ? PM_EVENT_NOW : 0);
}

/* Loops around BLOCK that OTHER is not in, innermost first; gives their number. */
static uint32_t loops_without(struct planner *p, uint32_t block, uint32_t other) {
    uint32_t n = 0;
    if (block == PM_NONE)
        return 0;
    for (uint32_t loop = p->structure->blocks[block].loop;
         loop != PM_NONE && !pm_is_in_loop(p->structure, other, loop);
         loop = pm_outer_loop(p->structure, loop)) {
        if (n == p->cap_loops) {
            p->cap_loops = 2 * p->cap_loops + 16;
            p->loops = pm_realloc(p->loops, p->cap_loops, sizeof *p->loops);
        }
        p->loops[n++] = loop;
    }
    return n;
}

static bool has_probed_scope(const struct planner *p, const struct pm_routine *routine) {
    if (p->plan->probed[routine->scope])
        return true;
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++)
        for (uint32_t loop = p->structure->blocks[b].loop; loop != PM_NONE;
             loop = pm_outer_loop(p->structure, loop))
            if (p->plan->probed[loop])
                return true;
    return false;
}

/* The innermost probed scope around BLOCK, its routine if there is none. */
static uint32_t probed_scope_of(const struct planner *p, uint32_t block) {
    uint32_t loop = p->structure->blocks[block].loop;
    while (loop != PM_NONE && !p->plan->probed[loop])
        loop = pm_outer_loop(p->structure, loop);
    return loop != PM_NONE ? loop
                           : p->structure->routines[p->structure->blocks[block].routine].scope;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Does control that arrives at the target's old address surely come by EDGE? */
static bool is_only_arrival(const struct planner *p, const struct pm_routine *routine,
                            const struct pm_edge *edge) {
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++) {
        const struct pm_edge *other = &p->structure->edges[e];
        if (other == edge || other->to != edge->to)
            continue;
        if (other->kind == PM_EDGE_ENTRY || other->kind == PM_EDGE_INDIRECT_ENTRY ||
            other->kind == PM_EDGE_TABLE ||
            (other->from != PM_NONE && pm_is_call(pm_last_insn(p->lifted, other->from)->control)))
            return false;
    }
    return true;
}

/* A counter may stand anywhere in its block; events keep their order among accesses and calls. */
static enum pm_counter_place event_place(const struct planner *p, const struct pm_routine *routine,
                                         uint32_t e) {
    const struct pm_edge *edge = &p->structure->edges[e];
    enum pm_counter_place place = p->lifted->counters->places[e];
    if (edge->kind == PM_EDGE_NO_RETURN)
        return PM_PLACE_IN_SOURCE;
    if (edge->kind == PM_EDGE_INDIRECT_ENTRY && place == PM_PLACE_NOWHERE)
        return PM_PLACE_ARRIVAL; /* "here" is true of all who arrive */
    if (place != PM_PLACE_IN_SOURCE)
        return place;
    uint8_t control = pm_last_insn(p->lifted, edge->from)->control;
    if (control == PM_CONTROL_NONE)
        return PM_PLACE_FALLTHROUGH;
    if (!pm_is_call(control))
        return PM_PLACE_IN_SOURCE;
    return edge->to != PM_NONE && is_only_arrival(p, routine, edge) ? PM_PLACE_ARRIVAL
                                                                    : PM_PLACE_NOWHERE;
}

/* ---- which scopes can be probed -------------------------------------------------------------- */

static void give_up(struct planner *p, const struct pm_routine *routine) {
    p->plan->probed[routine->scope] = false;
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++)
        for (uint32_t loop = p->structure->blocks[b].loop; loop != PM_NONE;
             loop = pm_outer_loop(p->structure, loop))
            p->plan->probed[loop] = false;
}

static void drop_scopes_without_place(struct planner *p, const struct pm_routine *routine) {
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++) {
        const struct pm_edge *edge = &p->structure->edges[e];
        if (edge->kind == PM_EDGE_NO_RETURN || edge->kind == PM_EDGE_INDIRECT_ENTRY ||
            event_place(p, routine, e) != PM_PLACE_NOWHERE)
            continue;
        for (int side = 0; side < 2; side++) {
            uint32_t n = side ? loops_without(p, edge->from, edge->to)
                              : loops_without(p, edge->to, edge->from);
            for (uint32_t i = 0; i < n; i++)
                p->plan->probed[p->loops[i]] = false;
        }
        if (edge->to == PM_NONE || edge->from == PM_NONE)
            p->plan->probed[routine->scope] = false;
    }
}

static void choose_scopes(struct planner *p) {
    const struct pm_structure *structure = p->structure;
    for (uint32_t s = 0; p->scope_events && s < structure->n_scopes; s++)
        p->plan->probed[s] = p->scope_events[s] && (structure->scopes[s].kind == PM_SCOPE_ROUTINE ||
                                                    structure->scopes[s].kind == PM_SCOPE_LOOP);
    for (uint32_t r = 0; r < structure->n_routines; r++)
        if (structure->routines[r].state != PM_ROUTINE_LIFTED || !structure->routines[r].n_blocks) {
            p->plan->probed[structure->routines[r].scope] = false;
            give_up(p, &structure->routines[r]);
        }
}

/* ---- events ---------------------------------------------------------------------------------- */

static void add_edge_events(struct planner *p, const struct pm_routine *routine,
                            const struct pm_edge *edge) {
    uint32_t n = loops_without(p, edge->from, edge->to);
    for (uint32_t i = 0; i < n; i++)
        add_event(p, p->loops[i], PM_EVENT_LEAVE);
    if (edge->to == PM_NONE)
        add_event(p, routine->scope, PM_EVENT_LEAVE);
    if (edge->from == PM_NONE)
        add_event(p, routine->scope, PM_EVENT_ENTER);
    for (n = loops_without(p, edge->to, edge->from); n > 0; n--)
        add_event(p, p->loops[n - 1], PM_EVENT_ENTER);
}

/* Before the instruction that ends BLOCK, if that ends an interval too. */
static void add_interval_end(struct planner *p, uint32_t block) {
    if (block != PM_NONE && p->ends_interval &&
        p->ends_interval[pm_last_insn(p->lifted, block) - p->lifted->insns])
        *PM_PUSH(p->plan, events) =
            p->structure->blocks[block].scope << 2 | PM_EVENT_INTERVAL_END | PM_EVENT_NOW;
}

static void plan_edge(struct planner *p, const struct pm_routine *routine, uint32_t e,
                      bool has_probes) {
    const struct pm_edge *edge = &p->structure->edges[e];
    p->plan->first[e] = (uint32_t)p->plan->n_events;
    if (edge->kind == PM_EDGE_NO_RETURN || edge->kind == PM_EDGE_EXIT)
        add_interval_end(p, edge->from);
    if (edge->kind == PM_EDGE_INDIRECT_ENTRY && has_probes)
        *PM_PUSH(p->plan, events) = probed_scope_of(p, edge->to) << 2 | PM_EVENT_HERE;
    else if (edge->kind != PM_EDGE_NO_RETURN && edge->kind != PM_EDGE_INDIRECT_ENTRY)
        add_edge_events(p, routine, edge);
    if (p->plan->n_events > p->plan->first[e])
        p->plan->places[e] = event_place(p, routine, e);
}

/* An iteration of a loop, also of an irreducible one, begins at its header. */
static void plan_iterations(struct planner *p) {
    const struct pm_structure *structure = p->structure;
    memset(p->plan->iterates, 0xff, structure->n_blocks * sizeof *p->plan->iterates); /* PM_NONE */
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const struct pm_scope *scope = &structure->scopes[s];
        if (p->plan->probed[s] && scope->kind == PM_SCOPE_LOOP && scope->header != PM_NONE &&
            p->scope_events[s] & PM_PROBE_SCOPE_ITERATES)
            p->plan->iterates[scope->header] = s;
    }
}

static bool has_interval_end(const struct planner *p, uint32_t r) {
    const struct pm_routine_code *code = &p->lifted->routine_codes[r];
    if (!p->ends_interval || !p->structure->routines[r].n_blocks)
        return false;
    return memchr(p->ends_interval + code->first_insn, 1, code->n_insns) != NULL;
}

static void plan_routine(struct planner *p, uint32_t r) {
    const struct pm_routine *routine = &p->structure->routines[r];
    struct pm_probe_plan *plan = p->plan;
    bool probes = has_probed_scope(p, routine), intervals = has_interval_end(p, r);
    if (probes) {
        drop_scopes_without_place(p, routine);
        probes = has_probed_scope(p, routine);
    }
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++)
        if (probes || intervals)
            plan_edge(p, routine, e, probes);
        else
            plan->first[e] = (uint32_t)plan->n_events;
    plan->has_probe[r] = probes || intervals;
}

struct pm_probe_plan *pm_plan_probes(const struct pm_lifted *lifted, const uint8_t *scope_events,
                                     bool with_intervals) {
    const struct pm_structure *structure = lifted->structure;
    struct pm_probe_plan *plan = pm_alloc(1, sizeof *plan);
    struct planner planner = {
        .lifted = lifted,
        .structure = structure,
        .plan = plan,
        .scope_events = scope_events,
        .ends_interval = with_intervals ? lifted->ends_interval : NULL,
    };
    plan->first = pm_alloc(structure->n_edges + 1, sizeof *plan->first);
    plan->places = pm_alloc(structure->n_edges, sizeof *plan->places);
    plan->probed = pm_alloc(structure->n_scopes, sizeof *plan->probed);
    plan->iterates = pm_alloc(structure->n_blocks, sizeof *plan->iterates);
    plan->has_probe = pm_alloc(structure->n_routines, sizeof *plan->has_probe);
    choose_scopes(&planner);
    for (uint32_t r = 0; r < structure->n_routines; r++)
        plan_routine(&planner, r);
    plan->first[structure->n_edges] = (uint32_t)plan->n_events;
    plan_iterations(&planner);
    free(planner.loops);
    return plan;
}

void pm_probe_plan_free(struct pm_probe_plan *plan) {
    if (!plan)
        return;
    free(plan->first);
    free(plan->events);
    free(plan->places);
    free(plan->probed);
    free(plan->iterates);
    free(plan->has_probe);
    free(plan);
}
