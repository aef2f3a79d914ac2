/* The least initiation interval of loops by an integer program, beside that of the modulo
   scheduler.

       modulo_programs MACHINE MOST_LOOPS SECONDS SHIFT PROGRAM...

   MACHINE is a file with instruction classes beside it.  Takes the innermost loops of the programs,
   of those with the same code the first, with at most 24 nodes in the dependence graph of their
   hottest path.  A node is executed in one of its ways, and is done when all micro-operations of
   that have begun (its end).  For an interval T a schedule exists if there are whole cycles t of
   all micro-operations and ends so that

       t_m + T·distance − t_end  ≥  cycles     for each edge, from the end of a node to each
   micro-operation m of another; t_end  ≥  t_m                           for each micro-operation of
   a node; the slots of the nodes whose first micro-operation has t ≡ c (mod T)  ≤  width      for
   each cycle c below T; each micro-operation has one of its units, and of a unit no cycle (mod T)
   is reserved twice.

   The program has a binary column for each micro-operation or end and each cycle c, a whole number
   k of intervals (t = c + T·k), and the share of each unit that a micro-operation may take.  The
   edges are written as one row for each cycle, which makes the relaxation tight: A. E. Eichenberger
   and E. S. Davidson, Efficient Formulation for Optimal Modulo Schedulers, PLDI 1997.  glpk solves
   it, for each interval below the scheduler's until not even the relaxation has a solution, and for
   the scheduler's own.  A solution is checked against the definition above once more.

   Prints for each loop, between tabulators: program, hash of the path's bytes, nodes, the interval
   of the scheduler and the least one (0: not known), and `equal`, `above`, `below` (no schedule
   with the scheduler's interval exists: its fault) or `undecided` (not within SECONDS).  SHIFT is
   added to the scheduler's interval first, to show that the comparison fails where it has to. */
#include <glpk.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/binlift.h"
#include "core/machine/machine.h"
#include "machines/probe/loop_runner/loop_runner.h"
#include "sched/modulo/modulo.h"
#include "sched/sched.h"

enum { MOST_NODES = 24 };

/* ---- the program ----------------------------------------------------------------------------- */

/* What has a time: a micro-operation of one of a node's ways, or the node's end. */
struct op {
    uint32_t node;
    const struct pm_micro *micro; /* NULL: needs no unit */
    double slots;
    int first_column, stage; /* one column for each cycle; k */
};

struct program {
    const struct pm_dep_graph *graph;
    int interval;
    double width;
    glp_prob *lp;
    PM_ARRAY(struct op, ops);
    uint32_t first_op[MOST_NODES + 1], end[MOST_NODES]; /* of each node */
    PM_ARRAY(int, columns);
    PM_ARRAY(double, values);
};

static void begin_row(struct program *p) {
    p->n_columns = p->n_values = 0;
    *PM_PUSH(p, columns) = 0; /* glpk counts from 1 */
    *PM_PUSH(p, values) = 0;
}

/* glpk wants each column once in a row. */
static void put(struct program *p, int column, double value) {
    for (size_t i = 1; i < p->n_columns; i++)
        if (p->columns[i] == column) {
            p->values[i] += value;
            return;
        }
    *PM_PUSH(p, columns) = column;
    *PM_PUSH(p, values) = value;
}

static void end_row(struct program *p, int kind, double low, double high) {
    int row = glp_add_rows(p->lp, 1);
    glp_set_row_bnds(p->lp, row, kind, low, high);
    glp_set_mat_row(p->lp, row, (int)p->n_columns - 1, p->columns, p->values);
}

static int whole(double cycles) { return (int)ceil(cycles - 1e-6); }

/* Adds OP with its columns to the row that is being made. */
static void add_op(struct program *p, struct op op) {
    op.first_column = glp_add_cols(p->lp, p->interval);
    for (int c = 0; c < p->interval; c++) {
        glp_set_col_kind(p->lp, op.first_column + c, GLP_BV);
        put(p, op.first_column + c, 1);
    }
    op.stage = glp_add_cols(p->lp, 1);
    glp_set_col_kind(p->lp, op.stage, GLP_IV);
    *PM_PUSH(p, ops) = op;
}

/* One of the ways of a node is taken: the first micro-operations of all ways are executed once
   together, and every other one as often as the first of its way. */
static void add_ways(struct program *p, uint32_t i) {
    const struct pm_node *node = &p->graph->nodes[i];
    struct op firsts[64];
    unsigned n_firsts = 0;
    for (unsigned w = 0; w < node->n_ways; w++) {
        const struct pm_way *way = &p->graph->ways[node->first_way + w];
        uint32_t first = (uint32_t)p->n_ops;
        for (uint32_t m = 0; m < way->n_micros; m++) {
            begin_row(p);
            add_op(p, (struct op){.node = i,
                                  .micro = &p->graph->micros[way->first_micro + m],
                                  .slots = m == 0 ? node->slots : 0});
            for (int c = 0; m > 0 && c < p->interval; c++)
                put(p, p->ops[first].first_column + c, -1);
            if (m > 0)
                end_row(p, GLP_FX, 0, 0);
        }
        firsts[n_firsts++] = p->ops[first];
    }
    begin_row(p);
    for (unsigned w = 0; w < n_firsts; w++)
        for (int c = 0; c < p->interval; c++)
            put(p, firsts[w].first_column + c, 1);
    end_row(p, GLP_FX, 1, 1);
}

static void add_nodes(struct program *p) {
    for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
        const struct pm_node *node = &p->graph->nodes[i];
        p->first_op[i] = (uint32_t)p->n_ops;
        if (node->n_ways)
            add_ways(p, i);
        if (p->n_ops - p->first_op[i] != 1) {
            begin_row(p);
            add_op(p, (struct op){.node = i, .slots = node->n_ways ? 0 : node->slots});
            end_row(p, GLP_FX, 1, 1);
        }
        p->end[i] = (uint32_t)p->n_ops - 1;
    }
    p->first_op[p->graph->n_nodes] = (uint32_t)p->n_ops;
}

/* Schedules can be shifted as a whole, so that one end is at cycle 0; no stage is further from it
   than all latencies together. */
static void bound_stages(struct program *p) {
    int most = 2 + (int)p->n_ops;
    for (size_t e = 0; e < p->graph->n_waits; e++)
        most += whole(p->graph->waits[e].cycles) / p->interval;
    for (size_t o = 0; o < p->n_ops; o++)
        glp_set_col_bnds(p->lp, p->ops[o].stage, GLP_DB, -most, most);
    const struct op *first = &p->ops[p->end[0]];
    glp_set_col_bnds(p->lp, first->stage, GLP_FX, 0, 0);
    glp_set_col_bnds(p->lp, first->first_column, GLP_FX, 1, 1);
}

/* If FROM is in cycle c or later, TO, in a cycle that is not behind (c + latency − 1) mod T, is in
   a stage that is late enough.  False: an edge to itself that no schedule satisfies. */
static bool add_edge(struct program *p, uint32_t from, uint32_t to, int latency, int distance) {
    const struct op *first = &p->ops[from], *second = &p->ops[to];
    int interval = p->interval;
    if (from == to)
        return latency <= interval * distance;
    for (int c = 0; c < interval; c++) {
        int last = c + latency - 1 + interval; /* never negative */
        begin_row(p);
        for (int z = c; z < interval; z++)
            put(p, first->first_column + z, 1);
        for (int z = 0; z <= last % interval; z++)
            put(p, second->first_column + z, 1);
        put(p, first->stage, 1);
        put(p, second->stage, -1);
        end_row(p, GLP_UP, 0, distance - (last / interval - 1) + 1);
    }
    return true;
}

static bool add_edges(struct program *p) {
    bool possible = true;
    for (uint32_t i = 0; i < p->graph->n_nodes; i++)
        for (uint32_t o = p->first_op[i]; o < p->end[i]; o++)
            add_edge(p, o, p->end[i], 0, 0);
    for (size_t e = 0; e < p->graph->n_waits; e++) {
        const struct pm_wait *wait = &p->graph->waits[e];
        /* The end itself waits for nothing but its micro-operations, where it has any. */
        uint32_t last =
            p->first_op[wait->to] == p->end[wait->to] ? p->end[wait->to] + 1 : p->end[wait->to];
        for (uint32_t o = p->first_op[wait->to]; o < last && !wait->is_hidden; o++)
            possible &= add_edge(p, p->end[wait->from], o, whole(wait->cycles), wait->distance);
    }
    return possible;
}

static void add_width(struct program *p) {
    for (int c = 0; c < p->interval && p->width > 0; c++) {
        begin_row(p);
        for (size_t o = 0; o < p->n_ops; o++)
            if (p->ops[o].slots > 0)
                put(p, p->ops[o].first_column + c, p->ops[o].slots);
        end_row(p, GLP_UP, 0, p->width);
    }
}

struct reservations {
    PM_ARRAY(int, columns);
};

/* A column for each micro-operation, cycle and unit; RESERVED: those that hold each unit in each
   cycle.  Where all take one cycle, shares of units can be rounded to whole ones (an assignment),
   so that they need not be integers. */
static void add_choice_of_unit(struct program *p, const struct op *op,
                               struct reservations *reserved) {
    int busy = whole(op->micro->busy_cycles), start = whole(op->micro->start_cycle);
    for (int c = 0; c < p->interval; c++) {
        begin_row(p);
        put(p, op->first_column + c, -1);
        for (unsigned u = 0; u < PM_MACHINE_MAX_UNITS; u++) {
            if (!(op->micro->units >> u & 1))
                continue;
            int column = glp_add_cols(p->lp, 1);
            glp_set_col_kind(p->lp, column, busy > 1 ? GLP_BV : GLP_CV);
            if (busy <= 1)
                glp_set_col_bnds(p->lp, column, GLP_DB, 0, 1);
            put(p, column, 1);
            for (int b = 0; b < busy; b++) {
                int at = (c + start + b) % p->interval;
                *PM_PUSH(&reserved[(int)u * p->interval + at], columns) = column;
            }
        }
        end_row(p, GLP_FX, 0, 0);
    }
}

static void add_units(struct program *p) {
    size_t n = (size_t)PM_MACHINE_MAX_UNITS * (size_t)p->interval;
    struct reservations *reserved = pm_alloc(n, sizeof *reserved);
    for (size_t o = 0; o < p->n_ops; o++)
        if (p->ops[o].micro)
            add_choice_of_unit(p, &p->ops[o], reserved);
    for (size_t at = 0; at < n; at++) {
        if (reserved[at].n_columns) {
            begin_row(p);
            for (size_t k = 0; k < reserved[at].n_columns; k++)
                put(p, reserved[at].columns[k], 1);
            end_row(p, GLP_UP, 0, 1);
        }
        free(reserved[at].columns);
    }
    free(reserved);
}

/* ---- its answer ------------------------------------------------------------------------------ */

enum answer { NO, NOT_EVEN_RELAXED, YES, UNDECIDED };

static void stop(const char *what) {
    fprintf(stderr, "modulo_programs: the solution breaks %s\n", what);
    exit(3);
}

/* False: of a way that is not taken. */
static bool begins(const struct program *p, size_t o, long *cycle) {
    const struct op *op = &p->ops[o];
    for (int c = 0; c < p->interval; c++)
        if (glp_mip_col_val(p->lp, op->first_column + c) > 0.5) {
            *cycle = c + p->interval * lround(glp_mip_col_val(p->lp, op->stage));
            return true;
        }
    return false;
}

/* Dependences and width of the solution as they are defined; a contradiction is a fault of this
   program. */
static void check_solution(const struct program *p) {
    double *slots = pm_alloc((size_t)p->interval, sizeof *slots);
    long from, to;
    for (size_t o = 0; o < p->n_ops; o++)
        if (begins(p, o, &to)) {
            long cycle = (to % p->interval + p->interval) % p->interval;
            slots[cycle] += p->ops[o].slots;
            if (p->width > 0 && slots[cycle] > p->width + 1e-6)
                stop("the width");
            if (!begins(p, p->end[p->ops[o].node], &from) || from < to)
                stop("an end");
        }
    for (size_t e = 0; e < p->graph->n_waits; e++) {
        const struct pm_wait *wait = &p->graph->waits[e];
        for (uint32_t o = p->first_op[wait->to]; o <= p->end[wait->to] && !wait->is_hidden; o++)
            if (begins(p, o, &to) && begins(p, p->end[wait->from], &from) &&
                to + p->interval * wait->distance - from < whole(wait->cycles))
                stop("a dependence");
    }
    free(slots);
}

static enum answer solve(struct program *p, double seconds) {
    glp_smcp relaxed;
    glp_iocp exact;
    glp_init_smcp(&relaxed);
    relaxed.msg_lev = GLP_MSG_OFF;
    relaxed.presolve = GLP_ON;
    relaxed.tm_lim = (int)(1000 * seconds);
    int status = glp_simplex(p->lp, &relaxed);
    if (status == GLP_ENOPFS || (status == 0 && glp_get_status(p->lp) == GLP_NOFEAS))
        return NOT_EVEN_RELAXED;
    if (status != 0)
        return UNDECIDED;
    glp_init_iocp(&exact);
    exact.msg_lev = GLP_MSG_OFF;
    exact.presolve = GLP_ON;
    exact.tm_lim = (int)(1000 * seconds);
    status = glp_intopt(p->lp, &exact);
    if (status == GLP_ENOPFS || (status == 0 && glp_mip_status(p->lp) == GLP_NOFEAS))
        return NO;
    int found = glp_mip_status(p->lp);
    if (found != GLP_OPT && found != GLP_FEAS)
        return UNDECIDED;
    check_solution(p);
    return YES;
}

/* Is there a schedule of GRAPH that begins an iteration every INTERVAL cycles? */
static enum answer has_schedule(const struct pm_dep_graph *graph, double width, int interval,
                                double seconds) {
    struct program p = {
        .graph = graph, .interval = interval, .width = width, .lp = glp_create_prob()};
    enum answer answer = NOT_EVEN_RELAXED;
    add_nodes(&p);
    bound_stages(&p);
    if (add_edges(&p)) {
        add_width(&p);
        add_units(&p);
        answer = solve(&p, seconds);
    }
    glp_delete_prob(p.lp);
    free(p.ops);
    free(p.columns);
    free(p.values);
    return answer;
}

/* *LEAST: the least interval, FOUND or below; 0: not known. */
static const char *judge(const struct pm_dep_graph *graph, double width, int found, double seconds,
                         int *least) {
    *least = 0;
    enum answer own = has_schedule(graph, width, found, seconds);
    if (own == NO || own == NOT_EVEN_RELAXED)
        return "below";
    bool decided = own == YES;
    if (decided)
        *least = found;
    for (int interval = found - 1; interval > 0; interval--) {
        enum answer answer = has_schedule(graph, width, interval, seconds);
        if (answer == NOT_EVEN_RELAXED)
            break;
        decided &= answer != UNDECIDED;
        if (answer == YES)
            *least = interval;
    }
    if (*least > 0 && *least < found)
        return "above";
    return decided ? "equal" : "undecided";
}

/* ---- loops of programs ----------------------------------------------------------------------- */

/* What the definition above does not tell: parts of cycles, and nodes of more slots than a cycle
   has. */
static bool is_defined(const struct pm_dep_graph *graph, double width) {
    for (size_t m = 0; m < graph->n_micros; m++)
        if (graph->micros[m].busy_cycles != floor(graph->micros[m].busy_cycles))
            return false;
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (width > 0 && graph->nodes[i].slots > width)
            return false;
    return true;
}

struct request {
    const struct pm_machine *machine;
    const char *classes_folder;
    long most_loops, n_loops, n_left_out;
    double seconds;
    int shift;
    PM_ARRAY(uint64_t, seen); /* hashes */
};

static bool is_new(struct request *request, uint64_t hash) {
    for (size_t i = 0; i < request->n_seen; i++)
        if (request->seen[i] == hash)
            return false;
    *PM_PUSH(request, seen) = hash;
    return true;
}

static void judge_loop(struct request *request, const char *program, uint64_t hash,
                       const struct pm_dep_graph *graph) {
    const struct pm_modulo_options options = {.has_units = true, .carries = true};
    double width = request->machine->issue_width;
    struct pm_modulo modulo;
    int least = 0;
    if (graph->n_nodes == 0 || graph->n_nodes > MOST_NODES || !is_new(request, hash))
        return;
    if (!is_defined(graph, width)) {
        request->n_left_out++;
        return;
    }
    pm_modulo_schedule(graph, width, &options, &modulo);
    int found = (int)modulo.interval_cycles + request->shift;
    const char *verdict =
        found > 0 ? judge(graph, width, found, request->seconds, &least) : "below";
    printf("%s\t%016" PRIx64 "\t%zu\t%d\t%d\t%s\n", program, hash, graph->n_nodes, found, least,
           verdict);
    fflush(stdout);
    request->n_loops++;
}

static bool judge_program(struct request *request, const char *program, struct pm_error *err) {
    const struct pm_lift_options how = {.classes_folder = request->classes_folder};
    struct pm_lifted *lifted = pm_lift(program, &how, err);
    if (!lifted)
        return false;
    const struct pm_structure *structure = pm_lifted_structure(lifted);
    struct pm_loop_set *set = pm_loop_set_new(structure, NULL, NULL, err);
    if (!set) {
        pm_lifted_free(lifted);
        return false;
    }
    struct pm_target_machine target = pm_target_of(structure, request->machine);
    double *weights = pm_alloc(structure->n_edges, sizeof *weights);
    for (size_t e = 0; e < structure->n_edges; e++)
        weights[e] = structure->edges[e].weight;
    struct pm_frequencies frequencies;
    struct pm_dep_graph graph = {0};
    struct pm_path_step *path = pm_alloc(structure->n_blocks + structure->n_scopes, sizeof *path);
    pm_frequencies_make(structure, weights, &frequencies);
    for (size_t i = 0; i < set->n_times && request->n_loops < request->most_loops; i++) {
        uint32_t loop = set->times[i].scope;
        size_t n_steps = pm_hot_path(&frequencies, loop, path);
        if (set->times[i].hash == 0 || n_steps == 0)
            continue;
        const struct pm_graph_options options = {.loop = loop};
        pm_graph_of_path(&target, path, n_steps, &options, &graph);
        judge_loop(request, strrchr(program, '/') ? strrchr(program, '/') + 1 : program,
                   set->times[i].hash, &graph);
    }
    pm_graph_free(&graph);
    pm_frequencies_free(&frequencies);
    free(path);
    free(weights);
    pm_loop_set_free(set);
    pm_lifted_free(lifted);
    return true;
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    if (argc < 6) {
        fprintf(stderr, "usage: modulo_programs MACHINE MOST_LOOPS SECONDS SHIFT PROGRAM...\n");
        return 2;
    }
    struct pm_machine *machine = pm_machine_read(argv[1], &err);
    char *folder = pm_strdup(argv[1]);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    struct request request = {.classes_folder = slash ? folder : ".",
                              .machine = machine,
                              .most_loops = atol(argv[2]),
                              .seconds = atof(argv[3]),
                              .shift = atoi(argv[4])};
    bool good = machine != NULL;
    glp_term_out(GLP_OFF);
    for (int i = 5; i < argc && good; i++)
        good = judge_program(&request, argv[i], &err);
    if (!good)
        fprintf(stderr, "modulo_programs: %s\n", err.text);
    else
        fprintf(stderr,
                "%ld loops, %ld left out: parts of cycles, or more slots than a cycle has\n",
                request.n_loops, request.n_left_out);
    free(folder);
    free(request.seen);
    pm_machine_free(machine);
    return good ? 0 : 2;
}
