/* A run that never was: for each position the structure of its ranks' traces in the runs that were,
   with numbers as models; sizes.h says more. */
#include "sched/replay/sizes/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "sched/replay/sizes/private.h"

/* Seconds of intervals are fitted in these, of the size of counts. */
#define PER_SECOND 1e9

/* One rank of a run that stands at the position. */
struct example {
    size_t run;
    int32_t rank;
    uint32_t process;
    const struct pm_trace *trace;
};

/* An event of the position: that of the first example, and what others say of partners. */
struct event {
    struct pm_event_kind kind; /* path of the communication that comes out */
    struct pm_partner_rule partner, source;
};

/* A number that differs from run to run: one for each example, in their order. */
struct series {
    double *values, value; /* owned; what the models say */
};

/* Which numbers there are: the loop counts of all nodes, then bytes sent and received of all nodes
   (those of loops stay empty), then seconds of all kinds of intervals. */
struct position {
    unsigned number;
    PM_ARRAY(struct example, examples);       /* of one structure, one of each run */
    PM_ARRAY(struct example, others);         /* of the same structure, from these runs */
    PM_ARRAY(struct event, events);           /* by node; empty ones at loops */
    PM_ARRAY(struct pm_interval_time, kinds); /* begin and end alone */
    PM_ARRAY(struct series, numbers);
};

struct extrapolation {
    const struct pm_traced_run *runs;
    size_t n_runs;
    const struct pm_rank_grid *grid;
    const struct pm_model_set *models;
    struct pm_extents *of_runs; /* owned */
    struct pm_extents there;
    struct pm_traced_run *to;
    PM_ARRAY(struct position, positions);
};

void pm_traced_run_free(struct pm_traced_run *run) {
    pm_communication_free(run->communication);
    pm_ranks_free(&run->ranks);
    free(run->times.rows);
    *run = (struct pm_traced_run){0};
}

static bool fail_at(const struct extrapolation *x, const struct position *position, const char *why,
                    struct pm_error *err) {
    char *text = pm_position_text(x->grid, position->number);
    pm_fail(err, "ranks that are %s %s", text, why);
    free(text);
    return false;
}

/* ---- examples -------------------------------------------------------------------------------- */

static const struct pm_trace *trace_of(const struct pm_communication *communication,
                                       uint32_t process) {
    for (size_t i = 0; i < communication->n_traces; i++)
        if (communication->traces[i].process == process && communication->traces[i].n_events > 0)
            return &communication->traces[i];
    return NULL;
}

static bool is_loop(const struct pm_trace_node *node) { return node->times > 0; }

static const struct pm_event_kind *kind_at(const struct pm_traced_run *run,
                                           const struct pm_trace_node *node) {
    return &run->communication->counts[node->item].kind;
}

/* Both paths in the numbers of what comes out. */
static bool same_path(const struct extrapolation *x, const struct pm_traced_run *a, uint32_t path_a,
                      const struct pm_traced_run *b, uint32_t path_b) {
    struct pm_call_paths *paths = &x->to->communication->paths;
    return pm_call_paths_copy(paths, &a->communication->paths, path_a) ==
           pm_call_paths_copy(paths, &b->communication->paths, path_b);
}

static size_t place_of_communicator(const struct pm_traced_run *run, uint32_t number) {
    size_t i = 0;
    while (i < run->communication->n_communicators &&
           run->communication->communicators[i].number != number)
        i++;
    return i;
}

static bool same_requests(const struct pm_traced_run *a, uint32_t list_a,
                          const struct pm_traced_run *b, uint32_t list_b) {
    const struct pm_request_list *one = &a->communication->requests[list_a];
    const struct pm_request_list *other = &b->communication->requests[list_b];
    return one->n_numbers == other->n_numbers &&
           (one->n_numbers == 0 ||
            memcmp(one->numbers, other->numbers, one->n_numbers * sizeof *one->numbers) == 0);
}

static bool same_event(const struct extrapolation *x, const struct pm_traced_run *a,
                       const struct pm_event_kind *one, const struct pm_traced_run *b,
                       const struct pm_event_kind *other) {
    return one->operation == other->operation && one->tag == other->tag &&
           one->source_tag == other->source_tag && (one->partner < 0) == (other->partner < 0) &&
           (one->partner >= 0 || one->partner == other->partner) &&
           (one->source < 0) == (other->source < 0) &&
           place_of_communicator(a, one->communicator) ==
               place_of_communicator(b, other->communicator) &&
           same_requests(a, one->requests, b, other->requests) &&
           same_path(x, a, one->path, b, other->path);
}

static bool same_structure(const struct extrapolation *x, const struct example *a,
                           const struct example *b) {
    const struct pm_trace *one = a->trace, *other = b->trace;
    bool same = one->n_nodes == other->n_nodes && one->n_sequences == other->n_sequences;
    for (size_t i = 0; same && i < one->n_sequences; i++)
        same = one->sequences[i] == other->sequences[i];
    for (size_t i = 0; same && i < one->n_nodes; i++) {
        const struct pm_trace_node *left = &one->nodes[i], *right = &other->nodes[i];
        same = is_loop(left) == is_loop(right) &&
               (is_loop(left) ? left->item == right->item
                              : same_event(x, &x->runs[a->run], kind_at(&x->runs[a->run], left),
                                           &x->runs[b->run], kind_at(&x->runs[b->run], right)));
    }
    return same;
}

/* The first rank at the position in each run whose trace has the structure that the last such run,
   the largest, has; the others of that structure come after these. */
static void find_examples(const struct extrapolation *x, struct position *position) {
    struct example largest = {0};
    for (size_t k = x->n_runs; k-- > 0;) {
        bool is_first = true;
        for (size_t i = 0; i < x->runs[k].ranks.n_ranks; i++) {
            const struct pm_rank *rank = &x->runs[k].ranks.ranks[i];
            struct example example = {k, (int32_t)rank->rank, rank->process,
                                      trace_of(x->runs[k].communication, rank->process)};
            if (!example.trace || example.trace->n_lost > 0 ||
                pm_position(&x->of_runs[k], example.rank) != position->number)
                continue;
            if (!largest.trace)
                largest = example;
            bool fits = same_structure(x, &largest, &example);
            if (fits && is_first)
                *PM_PUSH(position, examples) = example;
            else if (fits)
                *PM_PUSH(position, others) = example;
            is_first = false;
        }
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void add_series(struct position *position) {
    struct series *series = PM_PUSH(position, numbers);
    series->values = pm_alloc(position->n_examples, sizeof *series->values);
}

static struct pm_interval_time *kind_of(struct position *position, uint32_t begin, uint32_t end) {
    for (size_t i = 0; i < position->n_kinds; i++)
        if (position->kinds[i].begin == begin && position->kinds[i].end == end)
            return &position->kinds[i];
    return NULL;
}

static void find_kinds(const struct extrapolation *x, struct position *position) {
    struct pm_call_paths *paths = &x->to->communication->paths;
    for (size_t e = 0; e < position->n_examples; e++) {
        const struct example *example = &position->examples[e];
        const struct pm_traced_run *run = &x->runs[example->run];
        for (size_t i = 0; i < run->times.n_rows; i++) {
            const struct pm_interval_time *row = &run->times.rows[i];
            uint32_t begin = pm_call_paths_copy(paths, &run->communication->paths, row->begin);
            uint32_t end = pm_call_paths_copy(paths, &run->communication->paths, row->end);
            if (row->process == example->process && !kind_of(position, begin, end))
                *PM_PUSH(position, kinds) = (struct pm_interval_time){.begin = begin, .end = end};
        }
    }
}

/* The mean interval of each kind. */
static void add_seconds(const struct extrapolation *x, struct position *position, size_t e,
                        size_t first) {
    struct pm_call_paths *paths = &x->to->communication->paths;
    const struct example *example = &position->examples[e];
    const struct pm_traced_run *run = &x->runs[example->run];
    double *counts = pm_alloc(position->n_kinds, sizeof *counts);
    for (size_t i = 0; i < run->times.n_rows; i++) {
        const struct pm_interval_time *row = &run->times.rows[i];
        if (row->process != example->process)
            continue;
        size_t kind =
            (size_t)(kind_of(position,
                             pm_call_paths_copy(paths, &run->communication->paths, row->begin),
                             pm_call_paths_copy(paths, &run->communication->paths, row->end)) -
                     position->kinds);
        position->numbers[first + kind].values[e] += row->seconds * PER_SECOND;
        counts[kind] += (double)row->n;
    }
    for (size_t k = 0; k < position->n_kinds; k++)
        if (counts[k] > 0)
            position->numbers[first + k].values[e] /= counts[k];
    free(counts);
}

/* Partners as all ranks at the position have them: one alone cannot tell a neighbour from the
 * first. */
static void learn_partners(const struct extrapolation *x, struct position *position,
                           const struct example *example) {
    const struct pm_extents *extents = &x->of_runs[example->run];
    for (size_t i = 0; i < position->n_events; i++) {
        const struct pm_trace_node *node = &example->trace->nodes[i];
        if (is_loop(node))
            continue;
        const struct pm_event_kind *kind = kind_at(&x->runs[example->run], node);
        struct pm_partner_rule *rule = &position->events[i].partner;
        if (kind->partner >= 0 && pm_operation_way(kind->operation) == PM_WAY_COLLECTIVE)
            pm_root_learn(rule, extents, kind->partner);
        else if (kind->partner >= 0)
            pm_partner_learn(rule, extents, example->rank, kind->partner);
        if (kind->source >= 0)
            pm_partner_learn(&position->events[i].source, extents, example->rank, kind->source);
    }
}

static void collect_numbers(const struct extrapolation *x, struct position *position) {
    size_t n_nodes = position->examples[0].trace->n_nodes;
    find_kinds(x, position);
    for (size_t i = 0; i < 3 * n_nodes + position->n_kinds; i++)
        add_series(position);
    for (size_t i = 0; i < n_nodes; i++)
        PM_PUSH(position, events);
    for (size_t e = 0; e < position->n_examples; e++) {
        const struct example *example = &position->examples[e];
        const struct pm_traced_run *run = &x->runs[example->run];
        for (size_t i = 0; i < n_nodes; i++) {
            const struct pm_trace_node *node = &example->trace->nodes[i];
            position->numbers[i].values[e] = node->times;
            if (is_loop(node))
                continue;
            const struct pm_event_kind *kind = kind_at(run, node);
            struct event *event = &position->events[i];
            position->numbers[n_nodes + i].values[e] = (double)kind->bytes_sent;
            position->numbers[2 * n_nodes + i].values[e] = (double)kind->bytes_received;
            if (e == 0)
                event->kind = *kind;
        }
        add_seconds(x, position, e, 3 * n_nodes);
        learn_partners(x, position, example);
    }
    for (size_t e = 0; e < position->n_others; e++)
        learn_partners(x, position, &position->others[e]);
}

/* ---- models ---------------------------------------------------------------------------------- */

static bool is_constant(const struct series *series, size_t n) {
    for (size_t e = 1; e < n; e++)
        if (series->values[e] != series->values[0])
            return false;
    return true;
}

/* A rank's numbers are shares of a problem, as N^3 / p; the functions of models have no quotients,
   so they are fitted as if multiplied by the ranks. */
static bool evaluate(const struct extrapolation *x, struct position *position,
                     struct pm_error *err) {
    size_t n = position->n_examples, n_series = 0;
    struct pm_parameters *sizes = pm_alloc(n, sizeof *sizes);
    double *counts = pm_alloc(position->n_numbers * n, sizeof *counts);
    for (size_t e = 0; e < n; e++)
        sizes[e] = x->runs[position->examples[e].run].at;
    for (size_t s = 0; s < position->n_numbers; s++) {
        struct series *series = &position->numbers[s];
        series->value = series->values[0];
        if (is_constant(series, n))
            continue;
        for (size_t e = 0; e < n; e++)
            counts[n * n_series + e] =
                series->values[e] * x->of_runs[position->examples[e].run].n_ranks;
        n_series++;
    }
    struct pm_fit_options options = {0};
    const char *names[PM_MAX_PARAMETERS];
    if (x->models)
        pm_fit_in_parameters_of(x->models, &options, names);
    struct pm_model_set *set =
        n_series ? pm_fit_counts(sizes, n, counts, n_series, &options, err) : NULL;
    bool ok = !n_series || set;
    if (!ok) {
        char *text = pm_position_text(x->grid, position->number);
        pm_fail_in(err, "ranks that are %s", text);
        free(text);
    }
    for (size_t s = 0, model = 0; ok && s < position->n_numbers; s++) {
        if (is_constant(&position->numbers[s], n))
            continue;
        ok = pm_model_evaluate(set->basis, &set->edges[model++], &x->to->at,
                               &position->numbers[s].value, err);
        position->numbers[s].value /= x->there.n_ranks;
    }
    if (set)
        pm_model_set_free(set);
    free(counts);
    free(sizes);
    return ok;
}

/* ---- what comes out -------------------------------------------------------------------------- */

/* Communicators of all ranks, as many as the run has that the structure is from. */
static void add_communicators(struct extrapolation *x, const struct pm_traced_run *like) {
    for (size_t i = 0; i < like->communication->n_communicators; i++) {
        const struct pm_communicator *from = &like->communication->communicators[i];
        struct pm_communicator *to = PM_PUSH(x->to->communication, communicators);
        to->number = from->number;
        to->made_by = from->made_by;
        int32_t n = from->n_members == like->ranks.ranks[0].size ? x->there.n_ranks : 0;
        for (int32_t r = 0; r < n; r++)
            *PM_PUSH(to, members) = r;
    }
}

/* The event at a node for RANK. */
static bool add_event(struct extrapolation *x, const struct position *position, size_t node,
                      int32_t rank, struct pm_error *err) {
    const struct example *example = &position->examples[0];
    const struct pm_traced_run *run = &x->runs[example->run];
    const struct event *event = &position->events[node];
    struct pm_communication *to = x->to->communication;
    size_t n_nodes = position->n_events;
    struct pm_event_kind kind = event->kind;
    const struct pm_request_list *list = &run->communication->requests[kind.requests];
    kind.path = pm_call_paths_copy(&to->paths, &run->communication->paths, kind.path);
    kind.requests = pm_request_list(to, list->numbers, list->n_numbers);
    kind.bytes_sent = (uint64_t)llround(position->numbers[n_nodes + node].value);
    kind.bytes_received = (uint64_t)llround(position->numbers[2 * n_nodes + node].value);
    if (kind.partner >= 0)
        kind.partner = pm_partner_of(&event->partner, &x->there, rank);
    if (kind.source >= 0)
        kind.source = pm_partner_of(&event->source, &x->there, rank);
    if ((event->kind.partner >= 0 && kind.partner < 0) ||
        (event->kind.source >= 0 && kind.source < 0))
        return fail_at(x, position, "have partners that follow no rule of the grid (--grid)", err);
    *PM_PUSH(to, counts) = (struct pm_event_count){(uint32_t)rank, 0, kind, 1};
    return true;
}

static uint64_t count_events(const struct pm_trace *trace) {
    uint64_t *of_sequence = pm_alloc(trace->n_sequences, sizeof *of_sequence);
    for (uint32_t i = 0; i < trace->n_sequences; i++) {
        size_t n;
        const struct pm_trace_node *nodes = pm_trace_sequence(trace, i, &n);
        for (size_t k = 0; k < n; k++)
            of_sequence[i] += is_loop(&nodes[k]) ? nodes[k].times * of_sequence[nodes[k].item] : 1;
    }
    uint64_t all = of_sequence[trace->n_sequences - 1];
    free(of_sequence);
    return all;
}

static bool add_rank(struct extrapolation *x, const struct position *position, int32_t rank,
                     struct pm_error *err) {
    struct pm_communication *to = x->to->communication;
    const struct pm_trace *like = position->examples[0].trace;
    size_t n_nodes = like->n_nodes;
    struct pm_trace trace = {.process = (uint32_t)rank};
    for (size_t i = 0; i < n_nodes; i++) {
        struct pm_trace_node node = like->nodes[i];
        if (is_loop(&node)) {
            node.times = (uint32_t)fmax(1, round(position->numbers[i].value));
        } else {
            node.item = (uint32_t)to->n_counts;
            if (!add_event(x, position, i, rank, err)) {
                free(trace.nodes);
                return false;
            }
        }
        *PM_PUSH(&trace, nodes) = node;
    }
    for (size_t i = 0; i < like->n_sequences; i++)
        *PM_PUSH(&trace, sequences) = like->sequences[i];
    trace.n_events = count_events(&trace);
    *PM_PUSH(to, traces) = trace;
    for (size_t k = 0; k < position->n_kinds; k++)
        *PM_PUSH(&x->to->times, rows) = (struct pm_interval_time){
            .process = (uint32_t)rank,
            .begin = position->kinds[k].begin,
            .end = position->kinds[k].end,
            .n = UINT32_MAX,
            .seconds = position->numbers[3 * n_nodes + k].value / PER_SECOND * UINT32_MAX};
    *PM_PUSH(&x->to->ranks, ranks) = (struct pm_rank){
        .process = (uint32_t)rank, .rank = (uint32_t)rank, .size = (uint32_t)x->there.n_ranks};
    return true;
}

/* NULL: with a sentence. */
static struct position *position_of(struct extrapolation *x, unsigned number,
                                    struct pm_error *err) {
    for (size_t i = 0; i < x->n_positions; i++)
        if (x->positions[i].number == number)
            return &x->positions[i];
    struct position *position = PM_PUSH(x, positions);
    position->number = number;
    find_examples(x, position);
    if (position->n_examples == 0) {
        fail_at(x, position,
                "are in no run: measure one with such ranks (three or more along each extent have "
                "all positions)",
                err);
        return NULL;
    }
    collect_numbers(x, position);
    return evaluate(x, position, err) ? position : NULL;
}

static bool check_runs(const struct extrapolation *x, struct pm_error *err) {
    for (size_t k = 0; k < x->n_runs; k++) {
        if (!pm_extents_at(x->grid, &x->runs[k].at, &x->of_runs[k], err))
            return false;
        uint32_t size = x->runs[k].ranks.ranks[0].size;
        if ((uint32_t)x->of_runs[k].n_ranks != size) {
            char *text = pm_parameters_text(&x->runs[k].at);
            pm_fail(err,
                    "at %s there are %" PRIu32 " ranks, but the grid has %" PRId32
                    ": name the parameters that are its extents with --grid",
                    text, size, x->of_runs[k].n_ranks);
            free(text);
            return false;
        }
    }
    return true;
}

static void free_positions(struct extrapolation *x) {
    for (size_t i = 0; i < x->n_positions; i++) {
        struct position *position = &x->positions[i];
        for (size_t s = 0; s < position->n_numbers; s++)
            free(position->numbers[s].values);
        free(position->numbers);
        free(position->kinds);
        free(position->events);
        free(position->others);
        free(position->examples);
    }
    free(x->positions);
}

bool pm_extrapolate_run(const struct pm_traced_run *runs, size_t n_runs,
                        const struct pm_rank_grid *grid, const struct pm_model_set *models,
                        struct pm_traced_run *to, struct pm_error *err) {
    struct extrapolation x = {
        .runs = runs, .n_runs = n_runs, .grid = grid, .models = models, .to = to};
    x.of_runs = pm_alloc(n_runs, sizeof *x.of_runs);
    to->communication = pm_communication_new();
    bool ok = check_runs(&x, err) && pm_extents_at(grid, &to->at, &x.there, err);
    if (ok)
        add_communicators(&x, &runs[n_runs - 1]);
    for (int32_t r = 0; ok && r < x.there.n_ranks; r++) {
        struct position *position = position_of(&x, pm_position(&x.there, r), err);
        ok = position && add_rank(&x, position, r, err);
    }
    free_positions(&x);
    free(x.of_runs);
    return ok;
}
