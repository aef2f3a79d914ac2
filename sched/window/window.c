/* The simulation of an out-of-order core (window.h).

   Nodes are taken in the order of the program, and each goes through its whole life at once:

       fetched    slots a cycle; jumps that are taken and lines of code take time
       allocated  in order: slots a cycle, room in the window, and among those that wait
       begun      each micro-operation in the first cycle, from when its operands are there,
                  in which one of its units is free
       done       the latency after the last of them
       retired    in order: slots a cycle

   Older operations have taken their cycles of the units before a younger one looks for its own, so
   that this is the schedule in which the oldest that is ready goes first: no clock has to tick.
   (An operation that keeps a unit for several cycles may thereby be held up by an older one that is
   not ready yet.)  Of several units the one that is free first is taken, of these the one that has
   least to do.  Where units have schedulers, an operation is bound to one of theirs when it is
   allocated, that in which the fewest wait, and takes one of its units only.

   Of each unit the cycles that are taken are bits of a ring of HORIZON cycles from the present
   allocation on.  What begins later than that, behind long chains of misses, finds units free. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/window/private.h"

enum {
    LEAST_ITERATIONS = 12,
    MOST_ITERATIONS = 640,
    NODES_WITH_MISSES = 24000, /* in all iterations, where these do not repeat themselves */
    LEAST_WITH_MISSES = 64,    /* iterations, however long … */
    BRIEF_PART = 8,            /* of both only this part, where a simulation is to be brief */
    LEAST_ENTRIES = 6,         /* … and entries of the loop */
    MOST_ENTRIES = 128,
    TRIED_LENGTHS = 4,      /* numbers of entries of which one is chosen */
    MOST_REPEATED = 100000, /* nodes in all entries of a loop, where these may repeat themselves */
    MOST_PERIOD = 24,
    MOST_BEYOND_FULL = 128, /* iterations with a full window, where they do not repeat themselves */
};

/* As fmax and ceil, but in line: this is where the time goes. */
static inline double later(double a, double b) { return a > b ? a : b; }
static inline int64_t next_cycle(double cycle) {
    int64_t whole = (int64_t)cycle;
    return whole + (cycle > (double)whole);
}

/* SLOTS more through a stage of WIDTH a cycle, not before CYCLE. */
static inline double pass(struct stage *stage, double width, double slots, double cycle) {
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

/* ---- units ----------------------------------------------------------------------------------- */

/* The 64 cycles around CYCLE, of the first unit; the others' follow. */
static inline uint64_t *word_of(const struct pm_window_core *core, int64_t cycle) {
    return &core->taken[(size_t)(cycle & (HORIZON - 1)) / 64 * core->n_units];
}

/* The first of N cycles in a row, from CYCLE on, that are free. */
static int64_t first_free(const struct pm_window_core *core, unsigned unit, int64_t cycle,
                          int64_t n, int64_t end) {
    int64_t run = 0;
    while (cycle < end) {
        uint64_t word = ~word_of(core, cycle)[unit] >> (cycle & 63);
        if (run == 0) { /* the word at once */
            if (!word) {
                cycle = (cycle | 63) + 1;
                continue;
            }
            cycle += __builtin_ctzll(word);
            if (n <= 1)
                return cycle;
            word = 1;
        }
        run = word & 1 ? run + 1 : 0;
        cycle++;
        if (run == n)
            return cycle - n;
    }
    return cycle;
}

static void take(struct pm_window_core *core, unsigned unit, int64_t cycle, int64_t n,
                 int64_t end) {
    for (int64_t c = cycle; c < cycle + n && c < end; c++)
        word_of(core, c)[unit] |= UINT64_C(1) << (c & 63);
}

/* What has begun before PRESENT waits no more. */
static void leave_schedulers(struct pm_window_core *core, int64_t present) {
    const unsigned n = core->n_schedulers;
    for (int64_t end = core->present + HORIZON; core->present < present && core->present < end;
         core->present++)
        for (unsigned s = 0; s < n; s++) {
            uint16_t *begin = &core->begin_in[(core->present & (HORIZON - 1)) * n + s];
            core->waiting_in[s] -= *begin;
            *begin = 0;
        }
    core->present = present;
}

/* DEMAND in the scheduler in which the fewest wait. */
static const struct demand *bind(const struct pm_window_core *core, const struct demand *demand) {
    const struct demand *first = &core->demands[demand->first_bound], *best = first;
    for (const struct demand *bound = first + 1; bound < first + demand->n_bound; bound++)
        if (core->waiting_in[bound->scheduler] < core->waiting_in[best->scheduler])
            best = bound;
    return best;
}

static void wait_in_scheduler(struct pm_window_core *core, unsigned scheduler, int64_t cycle) {
    if (cycle < core->present || cycle >= core->present + HORIZON)
        return;
    core->begin_in[(cycle & (HORIZON - 1)) * core->n_schedulers + scheduler]++;
    core->waiting_in[scheduler]++;
}

/* The cycles before the present allocation come round again as free ones. */
static void move_horizon(struct pm_window_core *core, int64_t present) {
    if (present - core->cleared >= HORIZON) {
        memset(core->taken, 0, N_WORDS * core->n_units * sizeof *core->taken);
        core->cleared = present & ~INT64_C(63);
    }
    for (; core->cleared + 64 <= present; core->cleared += 64)
        for (unsigned u = 0; u < core->n_units; u++)
            word_of(core, core->cleared)[u] = 0;
    if (core->n_schedulers)
        leave_schedulers(core, present);
}

static inline void add_load(struct pm_window_core *core, unsigned unit, double busy_cycles) {
    core->load[unit] += busy_cycles;
    if (core->node_units)
        core->node_units[core->bits[unit]] += busy_cycles;
}

/* The cycle from FROM on in which one of its units takes DEMAND; END if all are taken until then.
 */
static int64_t place(struct pm_window_core *core, const struct demand *demand, int64_t from,
                     int64_t end) {
    int64_t best_cycle = INT64_MAX, best_n = 0;
    unsigned best = 0;
    for (unsigned i = 0; i < demand->n_units; i++) {
        unsigned unit = core->lists[demand->first_unit + i];
        int64_t n = (int64_t)(core->fraction[unit] + demand->busy_cycles + 1e-6);
        int64_t cycle = n ? first_free(core, unit, from, n, end) : from;
        if (cycle < best_cycle || (cycle == best_cycle && core->load[unit] < core->load[best])) {
            best_cycle = cycle;
            best = unit;
            best_n = n;
        }
    }
    double fraction = core->fraction[best] += demand->busy_cycles - (double)best_n;
    bool is_even = fraction >= 0 && fraction < 0.999;
    core->uneven = (core->uneven & ~(UINT64_C(1) << best)) | (uint64_t)!is_even << best;
    add_load(core, best, demand->busy_cycles);
    take(core, best, best_cycle, best_n, end);
    return best_cycle;
}

/* As place, for what nearly all micro-operations need: one cycle of a unit, of which no fraction
   makes two cycles or none.  All units are searched together, 64 cycles at a time. */
static inline int64_t place_one_cycle(struct pm_window_core *core, const struct demand *demand,
                                      int64_t from, int64_t end) {
    const uint8_t *list = &core->lists[demand->first_unit];
    uint64_t *word, free;
    for (int64_t cycle = from;; cycle = (cycle | 63) + 1) {
        if (cycle >= end)
            return place(core, demand, from, end);
        uint64_t all = ~UINT64_C(0);
        word = word_of(core, cycle);
        for (unsigned i = 0; i < demand->n_units; i++)
            all &= word[list[i]];
        free = ~all >> (cycle & 63);
        from = cycle;
        if (free)
            break;
    }
    from += __builtin_ctzll(free);
    unsigned best = 0;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < demand->n_units; i++) {
        uint64_t load; /* as positive doubles, so their bits are in order */
        memcpy(&load, &core->load[list[i]], sizeof load);
        load |= 0 - (word[list[i]] >> (from & 63) & 1); /* taken: the most of all */
        best = load < least ? list[i] : best;
        least = load < least ? load : least;
    }
    word[best] |= UINT64_C(1) << (from & 63);
    add_load(core, best, 1);
    return from;
}

/* When one of DEMAND's units takes it, not before READY. */
static inline double execute_demand(struct pm_window_core *core, const struct demand *demand,
                                    double ready) {
    int64_t end = core->cleared + HORIZON - 64;
    int64_t from = next_cycle(ready + demand->start_cycle - 1e-6);
    if (from >= end || demand->n_units == 0)
        return ready;
    if (demand->n_bound)
        demand = bind(core, demand);
    int64_t cycle = demand->is_one_cycle && !(demand->set & core->uneven)
                        ? place_one_cycle(core, demand, from, end)
                        : place(core, demand, from, end);
    if (demand->scheduler != NO_SCHEDULER)
        wait_in_scheduler(core, demand->scheduler, cycle);
    return later(ready, (double)cycle - demand->start_cycle);
}

/* How much the busiest of its units would have to do, to choose a way. */
static double load_of_way(const struct pm_window_core *core, const struct pm_way *way) {
    double load = 0;
    for (uint32_t m = way->first_micro; m < way->first_micro + way->n_micros; m++) {
        double least = INFINITY;
        for (uint64_t left = core->graph->micros[m].units; left; left &= left - 1)
            least = fmin(least, core->load[core->numbers[__builtin_ctzll(left)]]);
        load = fmax(load, least + core->graph->micros[m].busy_cycles);
    }
    return load;
}

/* The way with the least load, of several. */
static const struct pm_way *choose_way(const struct pm_window_core *core,
                                       const struct pm_node *node) {
    const struct pm_way *best = &core->graph->ways[node->first_way];
    double best_load = load_of_way(core, best);
    for (uint32_t w = node->first_way + 1; w < node->first_way + node->n_ways; w++) {
        double load = load_of_way(core, &core->graph->ways[w]);
        if (load < best_load) {
            best_load = load;
            best = &core->graph->ways[w];
        }
    }
    return best;
}

static inline double execute(struct pm_window_core *core, size_t node, double ready) {
    const struct operation *operation = &core->operations[node];
    uint32_t first = operation->first_demand, n = operation->n_demands;
    double begun = ready;
    if (operation->has_choice) {
        const struct pm_way *way = choose_way(core, &core->graph->nodes[node]);
        first = way->first_micro;
        n = way->n_micros;
    }
    for (uint32_t m = first; m < first + n; m++)
        begun = later(begun, execute_demand(core, &core->demands[m], ready));
    return begun;
}

/* ---- operations that wait for their operands ------------------------------------------------- */

/* Those that wait stand in order, the first to begin first: nearly all of them begin after those
   before them in the program, so that most are put at the end.  A heap took a seventh of the time
   of a simulation with misses. */
static void wait_until(struct pm_window_core *core, double begun) {
    double *first = core->waiting + core->first_waiting, *at = first + core->n_waiting;
    if (at == core->waiting + core->most_waiting) {
        memmove(core->waiting, first, core->n_waiting * sizeof *first);
        core->first_waiting = 0;
        first = core->waiting;
        at = first + core->n_waiting;
    }
    if (core->n_waiting && at[-1] > begun) {
        size_t place = PM_LOWER_BOUND(core->n_waiting, i, first[i] <= begun);
        memmove(first + place + 1, first + place, (core->n_waiting - place) * sizeof *first);
        at = first + place;
    }
    *at = begun;
    core->n_waiting++;
}

static double leave_first(struct pm_window_core *core) {
    core->n_waiting--;
    return core->waiting[core->first_waiting++];
}

/* Room for one more at *CYCLE, or later. */
static void make_room_to_wait(struct pm_window_core *core, double *cycle) {
    while (core->n_waiting > 0 && core->waiting[core->first_waiting] <= *cycle)
        leave_first(core);
    if (core->n_waiting >= core->limits->scheduler)
        *cycle = later(*cycle, leave_first(core));
}

/* ---- the life of a node ---------------------------------------------------------------------- */

static inline void make_room(struct pm_window_core *core, double slots, double *cycle) {
    double window = core->limits->window_slots;
    while (window > 0 && core->oldest != core->youngest && core->in_flight + slots > window) {
        const struct flight *flight = &core->flights[core->oldest++ & core->flight_mask];
        core->in_flight -= flight->slots;
        *cycle = later(*cycle, flight->retired + 1);
    }
    if (core->youngest - core->oldest > core->flight_mask) /* no window: the ring is full */
        core->oldest++;
}

static inline double allocate(struct pm_window_core *core, const struct operation *node) {
    const struct pm_window_limits *limits = core->limits;
    double cycle = core->next_fetch;
    if (limits->fetch_slots > 0)
        cycle = pass(&core->fetch, limits->fetch_slots, node->slots, cycle);
    if (node->fetch_cycles > 0 && limits->has_fetch)
        core->next_fetch = later(core->next_fetch, cycle) + node->fetch_cycles;
    make_room(core, node->slots, &cycle);
    if (node->waits)
        make_room_to_wait(core, &cycle);
    return pass(&core->allocation, limits->front_end_slots, node->slots, cycle);
}

static inline double operands_ready(const struct pm_window_core *core, const struct operation *node,
                                    const double *row, unsigned iteration) {
    const struct operand *operand = &core->operands[node->first_operand];
    const struct operand *carried = operand + node->n_here, *end = operand + node->n_operands;
    double ready = 0;
    for (; operand < carried; operand++)
        ready = later(ready, row[operand->from] + operand->cycles);
    for (; operand < end; operand++) {
        if (operand->distance > iteration ||
            (operand->is_fresh && operand->distance > iteration - core->entry))
            continue;
        const double *begun = &core->begun[((iteration - operand->distance) & (core->history - 1)) *
                                           core->graph->n_nodes];
        if (operand->is_blocked)
            begun = &core->retired[begun - core->begun];
        ready = later(ready, begun[operand->from] + operand->cycles);
    }
    return ready;
}

/* ---- branches -------------------------------------------------------------------------------- */

static bool is_wrong(const struct pm_window_core *core, const struct pm_node *node,
                     unsigned iteration) {
    const struct pm_wrong_branch *wrong = &core->limits->wrong[node->step];
    double trips = core->limits->trips;
    if (pm_even_place(iteration, PM_GOLDEN_RATIO * node->step) < wrong->of_data)
        return true;
    bool is_last = trips > 0 && iteration + 1 >= core->n_entries * trips;
    return is_last && pm_even_place(core->n_entries, 0) < wrong->of_exits;
}

/* When the iteration's last node is retired. */
static double run_iteration(struct pm_window_core *core, unsigned iteration, double *unit_cycles) {
    const struct pm_dep_graph *graph = core->graph;
    double *begun = &core->begun[(iteration & (core->history - 1)) * graph->n_nodes];
    double retired = 0;
    if (core->limits->trips > 0 && iteration >= core->n_entries * core->limits->trips) {
        core->entry = iteration;
        core->n_entries++;
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct operation *node = &core->operations[i];
        double allocated = allocate(core, node);
        if (iteration == 0 && i == 0)
            core->first_allocation = allocated;
        if (iteration == 0 && i == core->limits->timed_from)
            core->timed_begin = retired;
        move_horizon(core, (int64_t)allocated);
        double ready = operands_ready(core, node, begun, iteration);
        /* What is renamed away waits for nothing but its operands. */
        if (node->has_ways)
            ready = later(ready, allocated + 1);
        if (unit_cycles)
            core->node_units = &unit_cycles[i * PM_MACHINE_MAX_UNITS];
        begun[i] = execute(core, i, ready);
        if (node->waits)
            wait_until(core, begun[i]);
        if (node->may_miss)
            begun[i] = pm_load_begun(core->misses, &core->limits->misses[graph->nodes[i].reference],
                                     iteration, begun[i]);
        double done = later(begun[i] + node->latency_cycles, allocated + 1);
        if (node->may_be_wrong && is_wrong(core, &graph->nodes[i], iteration))
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

static bool can_repeat(const struct pm_window_limits *limits) {
    return !limits->misses && !limits->wrong;
}

bool pm_window_has_entries(const struct pm_window_limits *limits) {
    return limits->trips > 0 && limits->carries && limits->iterations <= 0;
}

/* How many iterations are simulated, and how many of these, the last ones, are timed.  Where these
   do not repeat themselves, N iterations whose place is nearly 0 are timed: as far before the end
   as at it nearly the same loads miss and nearly the same exits are wrong, so that what is under
   way at both is the same, and is in no time. */
struct length {
    unsigned simulated, timed;
};

static double off_place(double number) {
    double place = pm_even_place(number, 0);
    return fmin(place, 1 - place);
}

static unsigned end_of_entry(const struct pm_window_limits *limits, unsigned entries) {
    return (unsigned)ceil(entries * limits->trips);
}

/* MOST, or what a brief simulation has of it. */
static double unless_brief(const struct pm_window_limits *limits, double most) {
    return limits->is_brief ? most / BRIEF_PART : most;
}

/* Whole entries of the loop, MOST at most, of which a third to two thirds are timed. */
static struct length timed_entries(const struct pm_window_limits *limits, unsigned most) {
    struct length best = {0};
    double least = INFINITY;
    for (unsigned n = most; n + TRIED_LENGTHS > most; n--)
        for (unsigned k = (n + 2) / 3; k <= 2 * n / 3; k++) {
            const unsigned end = end_of_entry(limits, n);
            const struct length length = {end, end - end_of_entry(limits, n - k)};
            double off =
                (limits->misses ? off_place(length.timed) : 0) + (limits->wrong ? off_place(k) : 0);
            if (off < least) {
                least = off;
                best = length;
            }
        }
    return best;
}

static struct length length_of_entries(const struct pm_dep_graph *graph,
                                       const struct pm_window_limits *limits) {
    double nodes = limits->trips * (double)graph->n_nodes;
    if (!can_repeat(limits))
        return timed_entries(
            limits,
            (unsigned)fmax(LEAST_ENTRIES,
                           fmin(MOST_ENTRIES, unless_brief(limits, NODES_WITH_MISSES) / nodes)));
    /* So many that the window is full in the second half of them. */
    double slots = fmax(1, limits->trips * graph->slots);
    double entries = 2 * ceil(2 + limits->window_slots / slots);
    unsigned n = (unsigned)fmax(4, fmin(entries, MOST_REPEATED / nodes));
    return (struct length){end_of_entry(limits, n),
                           end_of_entry(limits, n) - end_of_entry(limits, n / 2)};
}

/* The largest Fibonacci number up to MOST: no smaller number has a place as near to 0. */
static unsigned fibonacci(unsigned most) {
    unsigned number = 1, next = 2;
    while (next <= most) {
        unsigned sum = number + next;
        number = next;
        next = sum;
    }
    return number;
}

static struct length length_of(const struct pm_dep_graph *graph,
                               const struct pm_window_limits *limits) {
    const double nodes = (double)graph->n_nodes;
    if (pm_window_has_entries(limits))
        return length_of_entries(graph, limits);
    if (limits->iterations > 0) {
        unsigned n = (unsigned)fmin(ceil(limits->iterations), MOST_ITERATIONS);
        return (struct length){n, n / 2};
    }
    if (can_repeat(limits))
        return (struct length){MOST_ITERATIONS, MOST_ITERATIONS / 2};
    unsigned n =
        (unsigned)fmax(unless_brief(limits, LEAST_WITH_MISSES),
                       fmin(MOST_ITERATIONS, unless_brief(limits, NODES_WITH_MISSES) / nodes));
    return (struct length){n, fibonacci(n - n / 4)};
}

unsigned pm_window_most_iterations(const struct pm_dep_graph *graph,
                                   const struct pm_window_limits *limits) {
    return length_of(graph, limits).simulated;
}

void pm_window_simulate(const struct pm_dep_graph *graph, const struct pm_window_limits *limits,
                        struct pm_window_result *result) {
    struct pm_window_core core = {.graph = graph, .limits = limits};
    *result = (struct pm_window_result){.unit_cycles = result->unit_cycles};
    if (graph->n_nodes == 0)
        return;
    pm_window_core_prepare(&core);
    double filling = graph->slots > 0 ? 2 * limits->window_slots / graph->slots : 0;
    unsigned full = LEAST_ITERATIONS + (unsigned)fmin(filling, MOST_ITERATIONS / 2.0);
    unsigned repeated = (unsigned)fmin(12, 4 + filling), every = filling < 4 ? 2 : 8;
    const struct length length = length_of(graph, limits);
    unsigned most = length.simulated;
    bool repeats = can_repeat(limits), has_entries = pm_window_has_entries(limits);
    if (repeats && !has_entries && limits->iterations <= 0 && most > full + MOST_BEYOND_FULL)
        most = full + MOST_BEYOND_FULL;
    struct end *ends = pm_alloc(most, sizeof *ends);
    unsigned n = 0, period = 0;
    while (n < most && period == 0) {
        ends[n].retired = run_iteration(&core, n, result->unit_cycles);
        ends[n].allocated = core.allocation.cycle;
        if (n++ == 0) {
            result->alone_cycles = core.last_result - core.first_allocation;
            result->timed_cycles = ends[0].retired - core.timed_begin;
        }
        if (n >= LEAST_ITERATIONS && n % every == 0 && repeats && !has_entries)
            period = find_period(ends, n, repeated, n >= full, limits->least_cycles);
    }
    double begin = core.first_allocation, end = ends[n - 1].retired;
    unsigned back = period ? period : n == length.simulated ? length.timed : n / 2;
    back = back ? back : 1;
    result->cycles = n > 1 ? (end - ends[n - 1 - back].retired) / back : end - begin;
    result->start_cycles = later(0, end + 1 - begin - n * result->cycles);
    if (limits->iterations > 0 && limits->iterations <= n)
        result->cycles = (end + 1 - begin) / n;
    for (size_t i = 0; result->unit_cycles && i < graph->n_nodes * PM_MACHINE_MAX_UNITS; i++)
        result->unit_cycles[i] /= n;
    free(ends);
    pm_window_core_free(&core);
}
