/* The least initiation interval of loops by an integer program, beside that of the modulo scheduler.

       modulo_programs MACHINE MOST_LOOPS SECONDS SHIFT PROGRAM...

   Takes the innermost loops of the programs, of those with the same code the first, with at most 24
   nodes in the dependence graph of their hottest path.  For an interval T a schedule exists if

       t_j + T·distance − t_i  ≥  latency            for each edge from i to j, t whole cycles;
       the slots of the nodes with t_i ≡ c (mod T)  ≤  width            for each cycle c below T;
       each node is executed in one of its ways, each micro-operation of it on one of its units,
       and of a unit no cycle (mod T) is reserved twice.

   The program has a binary column for each node, way and cycle c, a whole number of intervals k_i
   for each node (t_i = c_i + T·k_i), and a share of each unit that a micro-operation may take.  The
   edges are written as one row for each cycle, which makes the relaxation tight: A. E. Eichenberger
   and E. S. Davidson, Efficient Formulation for Optimal Modulo Schedulers, PLDI 1997.  glpk solves
   it, for each interval below the scheduler's until not even the relaxation has a solution, and for
   the scheduler's own.  A solution is checked against the definition above once more.

   Prints for each loop, between tabulators: program, hash of the path's bytes, nodes, the interval
   of the scheduler and the least one (0: not known), and `equal`, `above`, `below` (no schedule with
   the scheduler's interval exists: its fault) or `undecided` (not within SECONDS).  SHIFT is added to
   the scheduler's interval first, to show that the comparison fails where it has to. */
#include <glpk.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/binlift.h"
#include "core/machine/machine.h"
#include "machines/probe/loops/loops.h"
#include "sched/modulo/modulo.h"
#include "sched/sched.h"

enum { MOST_NODES = 24 };

/* ---- the program ----------------------------------------------------------------------------- */

struct program {
    const struct pm_graph *graph;
    int interval;
    double width;
    glp_prob *lp;
    int *first_column; /* of each node: way by way, cycle by cycle */
    int first_stage;   /* column of k of node 0 */
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

static unsigned ways_of(const struct pm_node *node) { return node->n_ways ? node->n_ways : 1; }

static int column_of(const struct program *p, uint32_t node, unsigned way, int cycle) {
    return p->first_column[node] + (int)way * p->interval + cycle;
}

/* Adds VALUE to the columns that say that NODE begins in CYCLE. */
static void put_begin(struct program *p, uint32_t node, int cycle, double value) {
    for (unsigned way = 0; way < ways_of(&p->graph->nodes[node]); way++)
        put(p, column_of(p, node, way, cycle), value);
}

static int whole(double cycles) { return (int)ceil(cycles - 1e-6); }

static void add_nodes(struct program *p) {
    const struct pm_graph *graph = p->graph;
    int most_stages = 2;
    for (size_t e = 0; e < graph->n_waits; e++)
        most_stages += whole(graph->waits[e].cycles) / p->interval + 1;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        int n = (int)ways_of(&graph->nodes[i]) * p->interval;
        p->first_column[i] = glp_add_cols(p->lp, n);
        begin_row(p);
        for (int c = 0; c < n; c++) {
            glp_set_col_kind(p->lp, p->first_column[i] + c, GLP_BV);
            put(p, p->first_column[i] + c, 1);
        }
        end_row(p, GLP_FX, 1, 1);
    }
    p->first_stage = glp_add_cols(p->lp, (int)graph->n_nodes);
    for (int i = 0; i < (int)graph->n_nodes; i++) {
        glp_set_col_kind(p->lp, p->first_stage + i, GLP_IV);
        /* Schedules can be shifted as a whole. */
        glp_set_col_bnds(p->lp, p->first_stage + i, i ? GLP_DB : GLP_FX, i ? -most_stages : 0,
                         i ? most_stages : 0);
    }
    begin_row(p);
    put_begin(p, 0, 0, 1);
    end_row(p, GLP_FX, 1, 1);
}

/* If i begins in cycle c or later, j, in a cycle that is not behind (c + latency − 1) mod T, is in a
   stage that is late enough.  False: an edge to itself that no schedule satisfies. */
static bool add_waits(struct program *p) {
    int interval = p->interval;
    for (size_t e = 0; e < p->graph->n_waits; e++) {
        const struct pm_wait *wait = &p->graph->waits[e];
        int latency = whole(wait->cycles);
        if (wait->is_hidden)
            continue;
        if (wait->from == wait->to) {
            if (latency > interval * wait->distance)
                return false;
            continue;
        }
        for (int c = 0; c < interval; c++) {
            int last = c + latency - 1 + interval; /* never negative */
            begin_row(p);
            for (int z = c; z < interval; z++)
                put_begin(p, wait->from, z, 1);
            for (int z = 0; z <= last % interval; z++)
                put_begin(p, wait->to, z, 1);
            put(p, p->first_stage + (int)wait->from, 1);
            put(p, p->first_stage + (int)wait->to, -1);
            end_row(p, GLP_UP, 0, wait->distance - (last / interval - 1) + 1);
        }
    }
    return true;
}

static void add_width(struct program *p) {
    for (int c = 0; c < p->interval && p->width > 0; c++) {
        begin_row(p);
        for (uint32_t i = 0; i < p->graph->n_nodes; i++)
            if (p->graph->nodes[i].slots > 0)
                put_begin(p, i, c, p->graph->nodes[i].slots);
        end_row(p, GLP_UP, 0, p->width);
    }
}

/* A column for each micro-operation, unit and cycle in which its node begins; for each unit and
   cycle a row.  All of one cycle: shares of units can be rounded to whole ones (an assignment), so
   that they need not be integers. */
static void add_units(struct program *p) {
    const struct pm_graph *graph = p->graph;
    struct {
        PM_ARRAY(int, columns);
        PM_ARRAY(double, values);
    } *reserved = pm_alloc((size_t)PM_MACHINE_MAX_UNITS * p->interval, sizeof *reserved);
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        for (unsigned w = 0; w < graph->nodes[i].n_ways; w++) {
            const struct pm_way *way = &graph->ways[graph->nodes[i].first_way + w];
            for (uint32_t m = way->first_micro; m < way->first_micro + way->n_micros; m++) {
                const struct pm_micro *micro = &graph->micros[m];
                int busy = whole(micro->busy_cycles), start = whole(micro->start_cycle);
                for (int c = 0; c < p->interval; c++) {
                    begin_row(p);
                    put(p, column_of(p, i, w, c), -1);
                    for (unsigned u = 0; u < PM_MACHINE_MAX_UNITS; u++) {
                        if (!(micro->units >> u & 1))
                            continue;
                        int column = glp_add_cols(p->lp, 1);
                        glp_set_col_kind(p->lp, column, busy > 1 ? GLP_BV : GLP_CV);
                        if (busy <= 1)
                            glp_set_col_bnds(p->lp, column, GLP_DB, 0, 1);
                        put(p, column, 1);
                        for (int b = 0; b < busy; b++) {
                            size_t at = (size_t)u * p->interval + (size_t)((c + start + b) % p->interval);
                            *PM_PUSH(&reserved[at], columns) = column;
                            *PM_PUSH(&reserved[at], values) = 1;
                        }
                    }
                    end_row(p, GLP_FX, 0, 0);
                }
            }
        }
    for (size_t at = 0; at < (size_t)PM_MACHINE_MAX_UNITS * p->interval; at++) {
        if (reserved[at].n_columns) {
            begin_row(p);
            for (size_t k = 0; k < reserved[at].n_columns; k++)
                put(p, reserved[at].columns[k], 1);
            end_row(p, GLP_UP, 0, 1);
        }
        free(reserved[at].columns);
        free(reserved[at].values);
    }
    free(reserved);
}

/* ---- its answer ------------------------------------------------------------------------------ */

enum answer { NO, NOT_EVEN_RELAXED, YES, UNDECIDED };

static bool column_is_set(const struct program *p, int column) {
    return glp_mip_col_val(p->lp, column) > 0.5;
}

/* The dependences and the width of the solution as they are defined; a contradiction is a fault of
   this program. */
static void check_solution(const struct program *p) {
    const struct pm_graph *graph = p->graph;
    long begins[MOST_NODES];
    double *slots = pm_alloc((size_t)p->interval, sizeof *slots);
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        for (int c = 0; c < (int)ways_of(&graph->nodes[i]) * p->interval; c++)
            if (column_is_set(p, p->first_column[i] + c)) {
                begins[i] = c % p->interval +
                            p->interval * lround(glp_mip_col_val(p->lp, p->first_stage + (int)i));
                slots[c % p->interval] += graph->nodes[i].slots;
            }
    for (size_t e = 0; e < graph->n_waits; e++) {
        const struct pm_wait *wait = &graph->waits[e];
        if (!wait->is_hidden &&
            begins[wait->to] + p->interval * wait->distance - begins[wait->from] <
                whole(wait->cycles)) {
            fprintf(stderr, "modulo_programs: the solution breaks a dependence\n");
            exit(3);
        }
    }
    for (int c = 0; c < p->interval; c++)
        if (p->width > 0 && slots[c] > p->width + 1e-6) {
            fprintf(stderr, "modulo_programs: the solution breaks the width\n");
            exit(3);
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
static enum answer has_schedule(const struct pm_graph *graph, double width, int interval,
                                double seconds) {
    int first_column[MOST_NODES];
    struct program p = {.graph = graph,
                        .interval = interval,
                        .width = width,
                        .lp = glp_create_prob(),
                        .first_column = first_column};
    enum answer answer = NOT_EVEN_RELAXED;
    add_nodes(&p);
    if (add_waits(&p)) {
        add_width(&p);
        add_units(&p);
        answer = solve(&p, seconds);
    }
    glp_delete_prob(p.lp);
    free(p.columns);
    free(p.values);
    return answer;
}

/* *LEAST: the least interval, FOUND or below; 0: not known. */
static const char *judge(const struct pm_graph *graph, double width, int found, double seconds,
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
static bool is_defined(const struct pm_graph *graph, double width) {
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
                       const struct pm_graph *graph) {
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
    const char *verdict = found > 0 ? judge(graph, width, found, request->seconds, &least) : "below";
    printf("%s\t%016" PRIx64 "\t%zu\t%d\t%d\t%s\n", program, hash, graph->n_nodes, found, least,
           verdict);
    fflush(stdout);
    request->n_loops++;
}

static bool judge_program(struct request *request, const char *program, struct pm_error *err) {
    struct pm_lifted *lifted = pm_lift(program, NULL, err);
    if (!lifted)
        return false;
    const struct pm_structure *structure = pm_lifted_structure(lifted);
    struct pm_loop_set *set = pm_loop_set_new(structure, NULL, NULL, err);
    struct pm_target_machine target;
    if (!set || !pm_target_make(structure, request->machine, &target, err)) {
        pm_loop_set_free(set);
        pm_lifted_free(lifted);
        return false;
    }
    double *weights = pm_alloc(structure->n_edges, sizeof *weights);
    for (size_t e = 0; e < structure->n_edges; e++)
        weights[e] = structure->edges[e].weight;
    struct pm_frequencies frequencies;
    struct pm_graph graph = {0};
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
    pm_target_free(&target);
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
    struct request request = {
        .machine = machine, .most_loops = atol(argv[2]), .seconds = atof(argv[3]), .shift = atoi(argv[4])};
    bool good = machine != NULL;
    glp_term_out(GLP_OFF);
    for (int i = 5; i < argc && good; i++)
        good = judge_program(&request, argv[i], &err);
    if (!good)
        fprintf(stderr, "modulo_programs: %s\n", err.text);
    else
        fprintf(stderr, "%ld loops, %ld left out: parts of cycles, or more slots than a cycle has\n",
                request.n_loops, request.n_left_out);
    free(request.seen);
    pm_machine_free(machine);
    return good ? 0 : 2;
}
