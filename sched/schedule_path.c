/* The schedule of a path: bounds, the time, its causes, and what would be gained (sched.h).

       bounds     units        target/resource.c, graph/units.c (Hall's theorem)
                  recurrence   graph/cycles.c (maximum cycle ratio): of what the loop carries from
                               entry to entry too; or of all by the number of entries in the window
                  front end    max(slots / issue width, jumps taken and lines of code fetched)
                  retirement   max(slots / retire width, lines that stores go to)
                  window       L / m: L is the longest chain of an iteration, m the number of
                               iterations after which its first operation has to wait for its last
                               one to be retired
       time       out of order: max(bounds, simulation of the window)
                  in order:     max(bounds, interval of the modulo schedule, with its stalls)

   Causes: limits are taken away one after the other, the largest bound first, and each is charged
   with the cycles that go away with it; when all are gone nothing is left, so that they add up. */
#include <math.h>
#include <stdlib.h>

#include "sched/graph/graph.h"
#include "sched/interprocedural/interprocedural.h"
#include "sched/modulo/modulo.h"
#include "sched/sched.h"
#include "sched/window/window.h"

/* The window is named where it takes more than this beyond all bounds. */
static const double beyond_bounds = 0.1;
/* An entry that fills the window more often does not gain a twentieth. */
static const double most_windows = 20;
/* An entry that fills the window so often is long: what begins and ends it does not change with an
   iteration more. */
static const double full_windows = 4;
enum { STEPS_OF_OCTAVE = 4 };

struct question {
    const struct pm_target_machine *target;
    const struct pm_machine *machine;
    const struct pm_schedule_options *options;
    double trips; /* of an entry, if several are in the window; else 0 */
    struct pm_dep_graph graph;
    double bounds[PM_N_HOLDS];
    double endless_recurrence; /* of an entry that never ends */
    uint8_t unit;
};

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Of jumps that are taken, of lines of code, and of whole groups of slots between them. */
static double fetch_cycles(const struct question *q) {
    double width = q->machine->fetch_width, cycles = 0, slots = 0;
    for (size_t i = 0; i < q->graph.n_nodes; i++) {
        double own = q->graph.nodes[i].fetch_cycles;
        slots += q->graph.nodes[i].slots;
        if (own > 0) {
            cycles += width > 0 ? fmax(own, slots / width) : own;
            slots = 0;
        }
    }
    return cycles + (width > 0 ? slots / width : 0);
}

static double window_bound(const struct question *q) {
    double window = q->machine->window, slots = q->graph.slots;
    if (!q->machine->out_of_order || window <= 0 || slots <= 0)
        return 0;
    return pm_graph_critical_path(&q->graph, NULL) / ceil(window / slots + 1);
}

/* Of a window's time, entries that are in it at once, the last one in part. */
static double entries_at_once(const struct question *q) {
    return q->trips > 0 ? 1 + q->machine->window / (q->trips * q->graph.slots) : 1;
}

static double recurrence_bound(const struct question *q) {
    const double all = q->endless_recurrence;
    if (q->trips <= 0 || all <= 0)
        return all;
    return fmax(pm_graph_recurrence(&q->graph, true, NULL), all / entries_at_once(q));
}

/* Entries that are longer than many windows overlap too little to matter. */
static double trips_of_entry(const struct question *q) {
    double slots = q->options->trips * q->graph.slots;
    bool overlaps = q->machine->out_of_order && q->machine->window > 0 && slots > 0 &&
                    slots < most_windows * q->machine->window;
    return overlaps && q->options->loop != PM_NONE ? q->options->trips : 0;
}

static void find_bounds(struct question *q) {
    const struct pm_machine *machine = q->machine;
    q->bounds[PM_CAUSE_UNITS] = pm_graph_units(&q->graph, &q->unit);
    q->endless_recurrence = pm_graph_recurrence(&q->graph, false, NULL);
    q->bounds[PM_CAUSE_RECURRENCE] = recurrence_bound(q);
    q->bounds[PM_CAUSE_FRONT_END] = fmax(q->graph.slots / machine->issue_width, fetch_cycles(q));
    q->bounds[PM_CAUSE_RETIREMENT] = machine->out_of_order && machine->retire_width > 0
                                         ? q->graph.slots / machine->retire_width
                                         : 0;
    q->bounds[PM_CAUSE_RETIREMENT] = fmax(q->bounds[PM_CAUSE_RETIREMENT], q->graph.commit_cycles);
    q->bounds[PM_CAUSE_WINDOW] = window_bound(q);
}

static double largest_bound(const struct question *q, uint32_t without, uint8_t *which) {
    double most = 0;
    for (unsigned h = 0; h < PM_N_HOLDS; h++)
        if (!(without >> h & 1) && q->bounds[h] > most) {
            most = q->bounds[h];
            if (which)
                *which = (uint8_t)h;
        }
    return most;
}

/* ---- the time -------------------------------------------------------------------------------- */

static double with(uint32_t without, enum pm_cause cause, double limit) {
    return without >> cause & 1 ? 0 : limit;
}

/* With ITERATIONS as in pm_window_limits, UNIT_CYCLES as in pm_window_result, or NULL; TRIPS of an
   entry, 0: it never ends. */
static double simulate_trips(const struct question *q, uint32_t without, double trips,
                             double iterations, double *unit_cycles,
                             struct pm_window_result *result) {
    const struct pm_machine *machine = q->machine;
    bool in_a_row = q->options->loop != PM_NONE;
    struct question of = *q;
    if (trips <= 0)
        of.bounds[PM_CAUSE_RECURRENCE] = q->endless_recurrence;
    const struct pm_window_limits limits = {
        .front_end_slots = with(without, PM_CAUSE_FRONT_END, machine->issue_width),
        .fetch_slots = with(without, PM_CAUSE_FRONT_END, machine->fetch_width),
        .has_fetch = !(without >> PM_CAUSE_FRONT_END & 1),
        .retire_slots = with(without, PM_CAUSE_RETIREMENT, machine->retire_width),
        .window_slots = with(without, PM_CAUSE_WINDOW, machine->window),
        .scheduler = without >> PM_CAUSE_WINDOW & 1 ? 0 : machine->scheduler,
        .has_units = !(without >> PM_CAUSE_UNITS & 1),
        .carries = in_a_row && !(without >> PM_CAUSE_RECURRENCE & 1),
        .least_cycles = largest_bound(&of, without, NULL),
        .iterations = iterations,
        .trips = trips,
        .misses = q->options->misses,
        .wrong = q->options->wrong,
        .is_brief = q->options->is_brief,
        .machine = machine};
    *result = (struct pm_window_result){.unit_cycles = unit_cycles};
    pm_known_window(q->options->windows, &q->graph, &limits, result);
    return result->cycles;
}

/* ---- entries of a loop ----------------------------------------------------------------------- */

/* Simulated are entries of so few numbers of trips that many sizes share them: whole ones,
   STEPS_OF_OCTAVE between a power of two and the next.  An entry in between takes what lies on the
   line through both,

       cycles(entry) = ((high − trips) · cycles(low) + (trips − low) · cycles(high)) / (high − low)

   and one that fills the window FULL_WINDOWS times or more, for each iteration beyond that what an
   iteration takes in an entry without an end. */
struct simulated_trips {
    double low, high; /* 0: without an end */
    double of_high;   /* share of the iterations that take their time from the latter */
};

/* The largest number up to TRIPS that is simulated; UNIT: to the next one. */
static double trips_below(double trips, double *unit) {
    int exponent;
    frexp(trips, &exponent);
    *unit = fmax(1, ldexp(1, exponent - 1) / STEPS_OF_OCTAVE);
    return *unit * floor(trips / *unit);
}

static struct simulated_trips simulated_trips(const struct question *q) {
    const double full = ceil(full_windows * q->machine->window / q->graph.slots);
    double unit, low = trips_below(q->trips, &unit), beyond = q->trips - low;
    if (q->trips <= 1 || beyond <= 0)
        return (struct simulated_trips){.low = q->trips};
    if (q->options->nearest_trips)
        return (struct simulated_trips){.low = beyond > unit / 2 ? low + unit : low};
    if (q->trips <= full)
        return (struct simulated_trips){low, low + unit, beyond / unit * (low + unit) / q->trips};
    low = trips_below(full, &unit);
    return (struct simulated_trips){.low = low, .of_high = (q->trips - low) / q->trips};
}

/* Without an end, or in entries of the loop. */
static double simulate(const struct question *q, uint32_t without,
                       struct pm_window_result *result) {
    struct pm_window_result high;
    struct simulated_trips trips = {0};
    if (q->trips > 0)
        trips = simulated_trips(q);
    simulate_trips(q, without, trips.low, 0, NULL, result);
    if (trips.of_high > 0)
        result->cycles += trips.of_high *
                          (simulate_trips(q, without, trips.high, 0, NULL, &high) - result->cycles);
    return result->cycles;
}

/* Cycles of an iteration without some of the limits. */
static double cycles_without(const struct question *q, uint32_t without,
                             struct pm_window_result *result) {
    double least = largest_bound(q, without, NULL);
    if (without == (1u << PM_N_HOLDS) - 1)
        return 0;
    if (q->options->bound_only) {
        *result = (struct pm_window_result){.cycles = least, .alone_cycles = least};
        return least;
    }
    if (q->machine->out_of_order)
        return fmax(least, simulate(q, without, result));
    struct pm_modulo modulo;
    pm_modulo_schedule(
        &q->graph, with(without, PM_CAUSE_FRONT_END, q->machine->issue_width),
        &(struct pm_modulo_options){
            .least_cycles = least,
            .has_units = !(without >> PM_CAUSE_UNITS & 1),
            .carries = q->options->loop != PM_NONE && !(without >> PM_CAUSE_RECURRENCE & 1),
            .in_order = true,
            .target = q->target,
            .dumping = without == q->options->without ? q->options->dumping : NULL,
        },
        &modulo);
    *result = (struct pm_window_result){.start_cycles = modulo.length_cycles - modulo.cycles,
                                        .alone_cycles = modulo.length_cycles};
    result->start_cycles = fmax(0, result->start_cycles);
    return fmax(least, modulo.cycles);
}

static void find_causes(const struct question *q, struct pm_path_schedule *schedule) {
    uint32_t without = q->options->without;
    double left = schedule->cycles;
    for (unsigned h = 0; h < PM_N_HOLDS; h++)
        schedule->causes[h] = 0;
    while (without != (1u << PM_N_HOLDS) - 1 && left > 0) {
        uint8_t next = PM_CAUSE_WINDOW;
        struct pm_window_result result;
        if (largest_bound(q, without, &next) <= 0)
            next = (uint8_t)__builtin_ctz(~without);
        without |= 1u << next;
        double cycles = left; /* and no less, where another bound is as large */
        if (largest_bound(q, without, NULL) < left)
            cycles = fmin(left, cycles_without(q, without, &result));
        schedule->causes[next] = left - cycles;
        left = cycles;
    }
}

static void find_gains(const struct question *q, struct pm_path_schedule *schedule) {
    for (unsigned h = 0; h < PM_N_HOLDS; h++) {
        struct pm_window_result result;
        uint32_t without = q->options->without | 1u << h;
        bool may_gain =
            without != q->options->without && largest_bound(q, without, NULL) < schedule->cycles;
        schedule->gains[h] =
            may_gain ? fmax(0, schedule->cycles - cycles_without(q, without, &result)) : 0;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void count(const struct question *q, struct pm_path_schedule *schedule) {
    uint32_t op = PM_NONE;
    for (size_t i = 0; i < q->graph.n_nodes; i++) {
        const struct pm_node *node = &q->graph.nodes[i];
        schedule->n_operations += i == 0 || node->op != op;
        schedule->n_instructions += node->starts_instruction;
        op = node->op;
    }
    schedule->n_unknown_operations = q->graph.n_unknown;
    schedule->n_references = q->graph.n_references;
    schedule->slots = q->graph.slots;
}

static void schedule_graph(struct question *q, struct pm_path_schedule *schedule) {
    const struct pm_schedule_options *options = q->options;
    struct pm_window_result result;
    *schedule = (struct pm_path_schedule){.modulo_cycles = NAN, .hold = PM_CAUSE_FRONT_END};
    count(q, schedule);
    q->trips = trips_of_entry(q);
    find_bounds(q);
    for (unsigned h = 0; h < PM_N_HOLDS; h++)
        schedule->bounds[h] = q->bounds[h];
    schedule->unit = q->unit;
    schedule->has_entries = q->trips > 0;
    double bound = largest_bound(q, options->without, &schedule->hold);
    schedule->cycles = cycles_without(q, options->without, &result);
    schedule->start_cycles = result.start_cycles;
    schedule->alone_cycles = result.alone_cycles;
    if (schedule->cycles > (1 + beyond_bounds) * bound)
        schedule->hold = PM_CAUSE_WINDOW;
    if (options->with_modulo) {
        struct pm_modulo modulo;
        pm_modulo_schedule(&q->graph, 0,
                           &(struct pm_modulo_options){.least_cycles = bound,
                                                       .has_units = true,
                                                       .carries = options->loop != PM_NONE,
                                                       .target = q->target,
                                                       .dumping = options->dumping},
                           &modulo);
        if (modulo.cycles > 0)
            schedule->modulo_cycles = modulo.interval_cycles;
    }
    if (options->with_causes)
        find_causes(q, schedule);
    if (options->with_gains)
        find_gains(q, schedule);
    if (options->iterations > 0 && q->machine->out_of_order)
        schedule->cycles =
            fmax(schedule->cycles,
                 simulate_trips(q, options->without, q->trips, options->iterations, NULL, &result));
    else if (options->iterations > 0)
        schedule->cycles += schedule->start_cycles / options->iterations;
}

static void make_graph(const struct pm_target_machine *target, const struct pm_path_step *path,
                       size_t n_steps, const struct pm_schedule_options *options,
                       struct pm_dep_graph *graph) {
    struct pm_loop_memory_flow flow = {0};
    struct pm_graph_options own = {.loop = options->loop,
                                   .pessimistic = options->pessimistic,
                                   .with_entries = options->trips > 0,
                                   .load_latency_cycles = options->load_latency_cycles,
                                   .crossings = options->crossings,
                                   .is_unrolled = options->is_unrolled};
    if (options->held) {
        static const struct pm_forwarding none;
        pm_follow_loop_memory(target, path, n_steps, *options->held, &flow);
        own.forwardings = flow.n_forwardings ? flow.forwardings : &none;
        own.n_forwardings = flow.n_forwardings;
        own.crossings = flow.crossings;
        own.store_lines = &flow.lines;
    }
    pm_graph_of_path(target, path, n_steps, &own, graph);
    pm_loop_memory_flow_free(&flow);
}

void pm_schedule_path(const struct pm_target_machine *target, const struct pm_path_step *path,
                      size_t n_steps, const struct pm_schedule_options *options,
                      struct pm_path_schedule *schedule) {
    struct question q = {.target = target, .machine = target->machine, .options = options};
    make_graph(target, path, n_steps, options, &q.graph);
    schedule_graph(&q, schedule);
    pm_graph_free(&q.graph);
}

void pm_schedule_path_detail(const struct pm_target_machine *target,
                             const struct pm_path_step *path, size_t n_steps,
                             const struct pm_schedule_options *options,
                             struct pm_path_schedule *schedule, struct pm_path_detail *detail) {
    struct question q = {.target = target, .machine = target->machine, .options = options};
    struct pm_window_result result;
    make_graph(target, path, n_steps, options, &q.graph);
    schedule_graph(&q, schedule);
    *detail =
        (struct pm_path_detail){.graph = pm_alloc(1, sizeof *detail->graph),
                                .on_cycle = pm_alloc(q.graph.n_nodes, sizeof *detail->on_cycle),
                                .on_chain = pm_alloc(q.graph.n_nodes, sizeof *detail->on_chain),
                                .unit_cycles = pm_alloc(q.graph.n_nodes * PM_MACHINE_MAX_UNITS,
                                                        sizeof *detail->unit_cycles)};
    pm_graph_recurrence(&q.graph, false, detail->on_cycle);
    pm_graph_critical_path(&q.graph, detail->on_chain);
    simulate_trips(&q, options->without, q.trips, 0, detail->unit_cycles, &result);
    *detail->graph = q.graph;
}

void pm_path_detail_free(struct pm_path_detail *detail) {
    pm_graph_free(detail->graph);
    free(detail->graph);
    free(detail->on_cycle);
    free(detail->on_chain);
    free(detail->unit_cycles);
    *detail = (struct pm_path_detail){0};
}
