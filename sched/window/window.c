/* The simulation of an out-of-order core (window.h).

   Nodes are taken in the order of the program, and each goes through its whole life at once:

       fetched    slots a cycle; jumps that are taken and lines of code take time
       allocated  in order: slots a cycle, room in the window, and among those that wait
       begun      each micro-operation in the first cycle, from when its operands are there, in
   which one of its units is free done       the latency after the last of them retired    in order:
   slots a cycle

   Older operations have taken their cycles of the units before a younger one looks for its own, so
   that this is the schedule in which the oldest that is ready goes first: no clock has to tick.
   (An operation that keeps a unit for several cycles may thereby be held up by an older one that is
   not ready yet.)  Of several units the one that is free first is taken, of these the one that has
   least to do.

   Of each unit the cycles that are taken are bits of a ring of HORIZON cycles from the present
   allocation on.  What begins later than that, behind long chains of misses, finds units free. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/window/window.h"

enum {
    HORIZON = 4096, /* cycles; a power of two */
    N_WORDS = HORIZON / 64,
    LEAST_ITERATIONS = 12,
    MOST_ITERATIONS = 640,
    MOST_WITH_MISSES = 100000, /* nodes in all iterations, where these do not repeat themselves */
    LEAST_WITH_MISSES = 128,   /* iterations, however long */
    MOST_PERIOD = 24,
    HISTORY = 32, /* iterations that waits reach back, a power of two above the longest distance */
};

/* As fmax and ceil, but in line: this is where the time goes. */
static inline double later(double a, double b) { return a > b ? a : b; }
static inline int64_t next_cycle(double cycle) {
    int64_t whole = (int64_t)cycle;
    return whole + (cycle > (double)whole);
}

/* When a slot of a stage that takes so many a cycle is free. */
struct stage {
    double cycle, used;
};

/* SLOTS more through a stage of WIDTH a cycle, not before CYCLE. */
static double pass(struct stage *stage, double width, double slots, double cycle) {
    if (width <= 0)
        return stage->cycle = later(stage->cycle, cycle);
    if (cycle > stage->cycle) { /* by a part of one, perhaps: jumps can take half a cycle */
        stage->used = later(0, stage->used - width * (cycle - stage->cycle));
        stage->cycle = cycle;
    }
    stage->used += slots;
    while (stage->used > width + 1e-9) {
        stage->cycle++;
        stage->used -= width;
    }
    return stage->cycle;
}

struct unit {
    uint64_t taken[N_WORDS];
    double fraction; /* of a cycle that is owed */
    double load;     /* busy cycles that it was given */
};

/* In flight: until when, and how many slots. */
struct flight {
    double retired;
    float slots;
};

struct core {
    const struct pm_dep_graph *graph;
    const struct pm_window_limits *limits;
    struct unit *units;
    uint8_t numbers[PM_MACHINE_MAX_UNITS]; /* of a bit of a set of units: which of UNITS */
    unsigned n_units;
    int64_t cleared; /* cycles before are free again in the ring */
    double *begun;   /* HISTORY · n_nodes */
    double *retired; /* as begun; NULL: no load waits for that */
    struct stage fetch, allocation, retirement;
    double next_fetch;
    struct flight *flights; /* a ring, a power of two */
    size_t oldest, youngest, flight_mask;
    double in_flight;
    double *waiting; /* a heap, the earliest first: when those that wait will begin */
    unsigned n_waiting;
    unsigned entry, n_entries; /* of the loop: the first iteration of this one; begun so far */
    double first_allocation, last_result;
    double *node_units; /* of the node that is executed: where busy cycles of units are added up */
    struct pm_misses_under_way *misses; /* NULL: all loads hit */
};

/* ---- units ----------------------------------------------------------------------------------- */

static bool is_taken(const struct unit *unit, int64_t cycle) {
    return unit->taken[(cycle & (HORIZON - 1)) / 64] >> (cycle & 63) & 1;
}

/* The first of N cycles in a row, from CYCLE on, that are free. */
static int64_t first_free(const struct unit *unit, int64_t cycle, int64_t n, int64_t end) {
    int64_t run = 0;
    while (cycle < end) {
        if (run == 0) { /* the word at once */
            uint64_t word = ~unit->taken[(cycle & (HORIZON - 1)) / 64] >> (cycle & 63);
            if (!word) {
                cycle = (cycle | 63) + 1;
                continue;
            }
            cycle += __builtin_ctzll(word);
            if (n <= 1)
                return cycle;
        }
        run = is_taken(unit, cycle) ? 0 : run + 1;
        cycle++;
        if (run == n)
            return cycle - n;
    }
    return cycle;
}

static void take(struct unit *unit, int64_t cycle, int64_t n, int64_t end) {
    for (int64_t c = cycle; c < cycle + n && c < end; c++)
        unit->taken[(c & (HORIZON - 1)) / 64] |= UINT64_C(1) << (c & 63);
}

/* The cycles before the present allocation come round again as free ones. */
static void move_horizon(struct core *core, int64_t present) {
    if (present - core->cleared >= HORIZON) {
        for (unsigned u = 0; u < core->n_units; u++)
            memset(core->units[u].taken, 0, sizeof core->units[u].taken);
        core->cleared = present & ~INT64_C(63);
    }
    for (; core->cleared + 64 <= present; core->cleared += 64)
        for (unsigned u = 0; u < core->n_units; u++)
            core->units[u].taken[(core->cleared & (HORIZON - 1)) / 64] = 0;
}

/* When one of MICRO's units takes it, not before READY. */
static double execute_micro(struct core *core, const struct pm_micro *micro, double ready) {
    int64_t end = core->cleared + HORIZON - 64, best_cycle = INT64_MAX;
    int64_t from = next_cycle(ready + micro->start_cycle - 1e-6);
    struct unit *best = NULL;
    int64_t best_n = 0;
    unsigned best_bit = 0;
    if (from >= end)
        return ready;
    for (uint64_t left = micro->units; left; left &= left - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(left);
        struct unit *unit = &core->units[core->numbers[bit]];
        int64_t n = (int64_t)(unit->fraction + micro->busy_cycles + 1e-6);
        int64_t cycle = n ? first_free(unit, from, n, end) : from;
        if (cycle < best_cycle || (cycle == best_cycle && unit->load < best->load)) {
            best_cycle = cycle;
            best = unit;
            best_n = n;
            best_bit = bit;
        }
    }
    if (!best)
        return ready;
    best->fraction += micro->busy_cycles - (double)best_n;
    best->load += micro->busy_cycles;
    if (core->node_units)
        core->node_units[best_bit] += micro->busy_cycles;
    take(best, best_cycle, best_n, end);
    return later(ready, (double)best_cycle - micro->start_cycle);
}

/* How much the busiest of its units would have to do, to choose a way. */
static double load_of_way(const struct core *core, const struct pm_way *way) {
    double load = 0;
    for (uint32_t m = way->first_micro; m < way->first_micro + way->n_micros; m++) {
        double least = INFINITY;
        for (uint64_t left = core->graph->micros[m].units; left; left &= left - 1)
            least = fmin(least, core->units[core->numbers[__builtin_ctzll(left)]].load);
        load = fmax(load, least + core->graph->micros[m].busy_cycles);
    }
    return load;
}

static double execute(struct core *core, const struct pm_node *node, double ready) {
    if (!core->limits->has_units || node->n_ways == 0)
        return ready;
    const struct pm_way *best = &core->graph->ways[node->first_way];
    double best_load = node->n_ways > 1 ? load_of_way(core, best) : 0, begun = ready;
    for (uint32_t w = node->first_way + 1; w < node->first_way + node->n_ways; w++) {
        double load = load_of_way(core, &core->graph->ways[w]);
        if (load < best_load) {
            best_load = load;
            best = &core->graph->ways[w];
        }
    }
    for (uint32_t m = best->first_micro; m < best->first_micro + best->n_micros; m++)
        begun = later(begun, execute_micro(core, &core->graph->micros[m], ready));
    return begun;
}

/* ---- operations that wait for their operands ------------------------------------------------- */

static void leave_first(struct core *core) {
    double last = core->waiting[--core->n_waiting];
    unsigned at = 0;
    for (unsigned next = 1; next < core->n_waiting; at = next, next = 2 * at + 1) {
        if (next + 1 < core->n_waiting && core->waiting[next + 1] < core->waiting[next])
            next++;
        if (last <= core->waiting[next])
            break;
        core->waiting[at] = core->waiting[next];
    }
    core->waiting[at] = last;
}

static void wait_until(struct core *core, double begun) {
    unsigned at = core->n_waiting++;
    for (; at > 0 && core->waiting[(at - 1) / 2] > begun; at = (at - 1) / 2)
        core->waiting[at] = core->waiting[(at - 1) / 2];
    core->waiting[at] = begun;
}

static bool waits(const struct core *core, const struct pm_node *node) {
    return core->limits->scheduler > 0 && node->n_ways > 0 && !node->is_load;
}

/* Room for one more at *CYCLE, or later. */
static void make_room_to_wait(struct core *core, double *cycle) {
    while (core->n_waiting > 0 && core->waiting[0] <= *cycle)
        leave_first(core);
    if (core->n_waiting < core->limits->scheduler)
        return;
    *cycle = later(*cycle, core->waiting[0]);
    leave_first(core);
}

/* ---- the life of a node ---------------------------------------------------------------------- */

static void make_room(struct core *core, double slots, double *cycle) {
    double window = core->limits->window_slots;
    while (window > 0 && core->oldest != core->youngest && core->in_flight + slots > window) {
        const struct flight *flight = &core->flights[core->oldest++ & core->flight_mask];
        core->in_flight -= flight->slots;
        *cycle = later(*cycle, flight->retired + 1);
    }
    if (core->youngest - core->oldest > core->flight_mask) /* no window: the ring is full */
        core->oldest++;
}

static double allocate(struct core *core, const struct pm_node *node) {
    const struct pm_window_limits *limits = core->limits;
    double cycle = core->next_fetch;
    if (limits->fetch_slots > 0)
        cycle = pass(&core->fetch, limits->fetch_slots, node->slots, cycle);
    if (node->fetch_cycles > 0 && limits->has_fetch)
        core->next_fetch = later(core->next_fetch, cycle) + node->fetch_cycles;
    make_room(core, node->slots, &cycle);
    if (waits(core, node))
        make_room_to_wait(core, &cycle);
    return pass(&core->allocation, limits->front_end_slots, node->slots, cycle);
}

static double operands_ready(const struct core *core, const struct pm_node *node,
                             unsigned iteration) {
    const struct pm_dep_graph *graph = core->graph;
    double ready = 0;
    for (uint32_t e = node->first_edge; e < node->first_edge + node->n_edges; e++) {
        const struct pm_wait *wait = &graph->waits[e];
        if (wait->is_hidden || wait->distance > iteration ||
            (wait->distance && !core->limits->carries) ||
            (wait->is_fresh && wait->distance > iteration - core->entry))
            continue;
        const double *begun =
            &core->begun[((iteration - wait->distance) & (HISTORY - 1)) * graph->n_nodes];
        if (wait->is_blocked)
            begun = &core->retired[begun - core->begun];
        ready = later(ready, begun[wait->from] + wait->cycles);
    }
    return ready;
}

/* ---- branches -------------------------------------------------------------------------------- */

static bool is_wrong(const struct core *core, const struct pm_node *node, unsigned iteration) {
    const struct pm_wrong_branch *wrong = &core->limits->wrong[node->step];
    double trips = core->limits->trips;
    if (pm_even_place(iteration, PM_GOLDEN_RATIO * node->step) < wrong->of_data)
        return true;
    bool is_last = trips > 0 && iteration + 1 >= core->n_entries * trips;
    return is_last && pm_even_place(core->n_entries, 0) < wrong->of_exits;
}

/* When the iteration's last node is retired. */
static double run_iteration(struct core *core, unsigned iteration, double *unit_cycles) {
    const struct pm_dep_graph *graph = core->graph;
    double *begun = &core->begun[(iteration & (HISTORY - 1)) * graph->n_nodes];
    double retired = 0;
    if (core->limits->trips > 0 && iteration >= core->n_entries * core->limits->trips) {
        core->entry = iteration;
        core->n_entries++;
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pm_node *node = &graph->nodes[i];
        double allocated = allocate(core, node);
        if (iteration == 0 && i == 0)
            core->first_allocation = allocated;
        move_horizon(core, (int64_t)allocated);
        double ready = operands_ready(core, node, iteration);
        /* What is renamed away waits for nothing but its operands. */
        if (node->n_ways)
            ready = later(ready, allocated + 1);
        if (unit_cycles)
            core->node_units = &unit_cycles[i * PM_MACHINE_MAX_UNITS];
        begun[i] = execute(core, node, ready);
        if (waits(core, node))
            wait_until(core, begun[i]);
        if (core->misses && node->is_load && node->reference != PM_NONE)
            begun[i] = pm_load_begun(core->misses, &core->limits->misses[node->reference],
                                     iteration, begun[i]);
        double done = later(begun[i] + node->latency_cycles, allocated + 1);
        if (core->limits->wrong && node->is_branch && is_wrong(core, node, iteration))
            core->next_fetch =
                later(core->next_fetch, done + core->limits->machine->mispredict_cycles - 1);
        core->last_result = later(core->last_result, done);
        retired = pass(&core->retirement, core->limits->retire_slots, node->slots, done);
        if (core->retired)
            core->retired[&begun[i] - core->begun] = retired;
        core->flights[core->youngest++ & core->flight_mask] = (struct flight){retired, node->slots};
        core->in_flight += node->slots;
    }
    return retired;
}

/* ---- the steady state ------------------------------------------------------------------------ */

/* When the last node of an iteration was retired, and when it was allocated. */
struct end {
    double retired, allocated;
};

/* Are the last N iterations a repetition, for LEAST of them?  The length of the period, or 0.  As
   long as allocation runs ahead of retirement the window fills, and what repeats is not believed
   unless the window is FULL, or it takes no longer than FLOOR, a bound. */
static unsigned find_period(const struct end *ends, unsigned n, unsigned least, bool full,
                            double floor) {
    const struct end *last = &ends[n - 1];
    for (unsigned period = 1; period <= MOST_PERIOD && 4 * period <= n - 1; period++) {
        unsigned checked = 3 * period > least ? 3 * period : least;
        if (checked + period > n - 1)
            return 0;
        double length = last->retired - last[-(int)period].retired;
        bool repeats = full || length <= floor * period + 1e-6 ||
                       fabs(last->allocated - last[-(int)period].allocated - length) < 1e-6;
        for (unsigned k = 1; k <= checked && repeats; k++)
            repeats =
                fabs(last[-(int)k].retired - last[-(int)(k + period)].retired - length) < 1e-6;
        if (repeats)
            return period;
    }
    return 0;
}

static bool has_blocked(const struct pm_dep_graph *graph) {
    for (size_t w = 0; w < graph->n_waits; w++)
        if (graph->waits[w].is_blocked)
            return true;
    return false;
}

static void prepare(struct core *core, const struct pm_dep_graph *graph) {
    uint64_t used = 0;
    for (size_t m = 0; m < graph->n_micros; m++)
        used |= graph->micros[m].units;
    for (uint64_t left = used; left; left &= left - 1)
        core->numbers[__builtin_ctzll(left)] = (uint8_t)core->n_units++;
    core->units = pm_alloc(core->n_units, sizeof *core->units);
    core->begun = pm_alloc(HISTORY * graph->n_nodes, sizeof *core->begun);
    if (has_blocked(graph))
        core->retired = pm_alloc(HISTORY * graph->n_nodes, sizeof *core->retired);
    size_t n_flights = 1024;
    while (n_flights < 2 * core->limits->window_slots + 2 * (double)graph->n_nodes)
        n_flights *= 2;
    core->flights = pm_alloc(n_flights, sizeof *core->flights);
    core->flight_mask = n_flights - 1;
    core->waiting = pm_alloc(core->limits->scheduler + 1, sizeof *core->waiting);
}

static struct pm_misses_under_way *misses_of(const struct pm_window_limits *limits) {
    if (!limits->misses)
        return NULL;
    struct pm_misses_under_way *misses = pm_alloc(1, sizeof *misses);
    misses->n_levels = limits->machine->n_levels;
    for (size_t l = 0; l < misses->n_levels; l++) {
        uint32_t most = limits->machine->levels[l].misses_in_flight;
        misses->most[l] = most > PM_MOST_IN_FLIGHT ? PM_MOST_IN_FLIGHT : most;
    }
    return misses;
}

/* So many whole entries that the window is full in the second half of them. */
static unsigned iterations_of_entries(const struct pm_dep_graph *graph,
                                      const struct pm_window_limits *limits) {
    double slots = fmax(1, limits->trips * graph->slots);
    double entries = 2 * ceil(2 + limits->window_slots / slots);
    double nodes = limits->trips * (double)graph->n_nodes;
    entries = fmax(
        4, fmin(entries * (limits->misses || limits->wrong ? 4 : 1), MOST_WITH_MISSES / nodes));
    return (unsigned)ceil(entries * limits->trips);
}

static bool can_repeat(const struct pm_window_limits *limits) {
    return !limits->misses && !limits->wrong;
}

bool pm_window_has_entries(const struct pm_window_limits *limits) {
    return limits->trips > 0 && limits->carries && limits->iterations <= 0;
}

unsigned pm_window_most_iterations(const struct pm_dep_graph *graph,
                                   const struct pm_window_limits *limits) {
    if (pm_window_has_entries(limits))
        return iterations_of_entries(graph, limits);
    if (!can_repeat(limits) && graph->n_nodes > MOST_WITH_MISSES / MOST_ITERATIONS)
        return (unsigned)fmax(LEAST_WITH_MISSES, MOST_WITH_MISSES / (double)graph->n_nodes);
    return limits->iterations > 0 ? (unsigned)fmin(ceil(limits->iterations), MOST_ITERATIONS)
                                  : MOST_ITERATIONS;
}

void pm_window_simulate(const struct pm_dep_graph *graph, const struct pm_window_limits *limits,
                        struct pm_window_result *result) {
    struct core core = {.graph = graph, .limits = limits};
    *result = (struct pm_window_result){.unit_cycles = result->unit_cycles};
    if (graph->n_nodes == 0)
        return;
    prepare(&core, graph);
    core.misses = misses_of(limits);
    double filling = graph->slots > 0 ? 2 * limits->window_slots / graph->slots : 0;
    unsigned full = LEAST_ITERATIONS + (unsigned)fmin(filling, MOST_ITERATIONS / 2.0);
    unsigned repeated = (unsigned)fmin(12, 4 + filling), every = filling < 4 ? 2 : 8;
    unsigned most = pm_window_most_iterations(graph, limits);
    bool repeats = can_repeat(limits), has_entries = pm_window_has_entries(limits);
    struct end *ends = pm_alloc(most, sizeof *ends);
    unsigned n = 0, period = 0;
    while (n < most && period == 0) {
        ends[n].retired = run_iteration(&core, n, result->unit_cycles);
        ends[n].allocated = core.allocation.cycle;
        if (n++ == 0)
            result->alone_cycles = core.last_result - core.first_allocation;
        if (n >= LEAST_ITERATIONS && n % every == 0 && repeats && !has_entries)
            period = find_period(ends, n, repeated, n >= full, limits->least_cycles);
    }
    double begin = core.first_allocation, end = ends[n - 1].retired;
    unsigned back = period ? period : n / 2;
    if (has_entries)
        back = n - (unsigned)ceil(core.n_entries / 2 * limits->trips);
    result->cycles = n > 1 ? (end - ends[n - 1 - back].retired) / back : end - begin;
    result->start_cycles = later(0, end + 1 - begin - n * result->cycles);
    if (limits->iterations > 0 && limits->iterations <= n)
        result->cycles = (end + 1 - begin) / n;
    for (size_t i = 0; result->unit_cycles && i < graph->n_nodes * PM_MACHINE_MAX_UNITS; i++)
        result->unit_cycles[i] /= n;
    free(ends);
    free(core.misses);
    free(core.waiting);
    free(core.units);
    free(core.begun);
    free(core.retired);
    free(core.flights);
}
