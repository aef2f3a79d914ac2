/* Which instructions share execution units.

   Of the instructions that lead a class (of a width and element size) those that behave alike are
   one kind: as fast alone, and as fast together with each of a few that stand for the classes.
   Pairs of kinds and multisets of three to six classes are measured and ports/ explains them; then
   every other instruction is taken for the kind that it behaves like.  Multisets that take no part
   in this judge it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "machines/probe/instructions/private.h"

enum {
    MOST_ANCHORS = 40,
    MOST_ANCHORS_QUICK = 14,
    MOST_COUNT = 8, /* of an instruction in a pair */
    MOST_MULTISET_COUNT = 4,
    SLOW_CYCLES = 3, /* what is slower stands in a multiset once */
    TRAINING = 2500, /* multisets that the loads are fitted to */
    TRAINING_QUICK = 400,
    JUDGING = 500,
};
static const double SAME_ALONE = 0.03;      /* of |ln| of throughputs of one kind */
static const double SAME_TOGETHER = 0.06;   /* the same beside all anchors but one */
static const double DOUBTFUL = 1.15;        /* of the throughput that the ports allow */
static const double ISSUE_BOUND = 0.95;     /* of the cycles: then a multiset judges nothing */
static const double LOST_WIDTH = 0.08;      /* share of the issue width that mixtures lose */
static const double NEARLY_ONE = 0.3;       /* more of a slot */
static const double LEAST_OWN_SLOTS = 0.25; /* what is faster shows the issue width */

struct units {
    struct pm_clock *clock;
    const struct pm_probe_effort *effort;
    struct pm_instruction_costs *costs;
    PM_ARRAY(uint32_t, anchors);
    double *together; /* n_costs · n_anchors: cycles of the pair over those of the slower alone */
    double *own;      /* of each kind */
    PM_ARRAY(struct pm_port_experiment, experiments);
    uint64_t random;
};

static double own_cycles(const struct units *units, uint32_t cost) {
    return units->costs->costs[cost].throughput_cycles.estimate;
}

static const struct pm_form *form_of(const struct units *units, uint32_t cost) {
    return units->costs->costs[cost].form;
}

/* Some cannot stand beside others: what must be set up each time, what waits for flags or for
   memory itself. */
static bool mixes(const struct pm_form *form) {
    return !form->needs_prelude && !form->carries_flags && form->op_class != PM_OP_GATHER &&
           form->op_class != PM_OP_SCATTER && form->op_class != PM_OP_ATOMIC &&
           form->op_class != PM_OP_NOP;
}

static uint32_t random_below(struct units *units, uint32_t n) {
    units->random ^= units->random << 13;
    units->random ^= units->random >> 7;
    units->random ^= units->random << 17;
    return (uint32_t)((units->random >> 33) % n);
}

/* Counts so that both take about as long alone. */
static void balance(double a, double b, struct pm_form_count copies[2]) {
    if (a > b)
        copies[1].count = (unsigned)fmin(MOST_COUNT, round(a / b));
    else
        copies[0].count = (unsigned)fmin(MOST_COUNT, round(b / a));
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static bool is_wide(const struct pm_form *form) {
    return form->from == PM_FILE_VECTOR || form->to == PM_FILE_VECTOR;
}

/* One instruction for each class, in general registers and in vectors. */
static void choose_anchors(struct units *units) {
    bool seen[PM_N_OP_CLASSES][2] = {{false}};
    size_t most = units->effort->quick ? MOST_ANCHORS_QUICK : MOST_ANCHORS;
    for (uint32_t i = 0; i < units->costs->n_costs && units->n_anchors < most; i++) {
        const struct pm_form *form = form_of(units, i);
        bool *known = &seen[form->op_class][is_wide(form)];
        bool usual_width = !is_wide(form) || form->width_bits == 256 || form->width_bits < 128;
        if (!form->leads || !mixes(form) || !usual_width || *known)
            continue;
        *known = true;
        *PM_PUSH(units, anchors) = i;
    }
}

static void measure_with_anchors(struct units *units, uint32_t cost) {
    for (size_t j = 0; j < units->n_anchors; j++) {
        uint32_t anchor = units->anchors[j];
        struct pm_form_count copies[2] = {{form_of(units, cost), 1}, {form_of(units, anchor), 1}};
        balance(own_cycles(units, cost), own_cycles(units, anchor), copies);
        units->together[cost * units->n_anchors + j] =
            pm_multiset_cycles(units->clock, copies, 2) /
            fmax(copies[0].count * own_cycles(units, cost),
                 copies[1].count * own_cycles(units, anchor));
    }
}

/* The second largest difference between two instructions: one anchor may have been disturbed. */
static double difference(const struct units *units, uint32_t a, uint32_t b) {
    double most = 0, second = 0;
    if (fabs(log(own_cycles(units, a) / own_cycles(units, b))) > SAME_ALONE)
        return INFINITY;
    for (size_t j = 0; j < units->n_anchors; j++) {
        double d = fabs(log(units->together[a * units->n_anchors + j] /
                            units->together[b * units->n_anchors + j]));
        if (d > most) {
            second = most;
            most = d;
        } else
            second = fmax(second, d);
    }
    return second;
}

/* Gives COST the kind whose leader it behaves like. */
static void assign_kind(struct units *units, uint32_t cost, bool may_lead) {
    struct pm_instruction_costs *costs = units->costs;
    double least = SAME_TOGETHER;
    for (uint32_t k = 0; k < costs->n_kinds; k++) {
        double d = difference(units, cost, costs->leaders[k]);
        if (d < least) {
            least = d;
            costs->costs[cost].kind = k;
        }
    }
    if (costs->costs[cost].kind == PM_NONE && may_lead) {
        costs->leaders[costs->n_kinds] = cost;
        costs->costs[cost].kind = (uint32_t)costs->n_kinds++;
    }
}

/* Kinds of the instructions that do or do not lead classes; false: stopped. */
static bool assign_kinds(struct units *units, bool leading) {
    for (uint32_t i = 0; i < units->costs->n_costs; i++) {
        const struct pm_form *form = form_of(units, i);
        if (form->leads != leading || !mixes(form) || isnan(own_cycles(units, i)))
            continue;
        if (!pm_probe_goes_on(units->effort))
            return false;
        measure_with_anchors(units, i);
        assign_kind(units, i, leading);
    }
    return true;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* The kind that is fastest alone needs no unit that others have: what goes through beside it shows
   how many slots of the issue width a kind takes. */
static uint32_t fastest_kind(const struct units *units) {
    uint32_t fastest = 0;
    for (uint32_t k = 1; k < units->costs->n_kinds; k++)
        if (units->own[k] < units->own[fastest])
            fastest = k;
    return fastest;
}

static void measure_slots(struct units *units) {
    struct pm_instruction_costs *costs = units->costs;
    uint32_t filler = fastest_kind(units);
    double width = 1 / units->own[filler];
    costs->ports.width = width;
    /* A whole number, which the loop's own branch keeps from being reached. */
    costs->issue_width = width > 0.95 * ceil(width) ? ceil(width) : width;
    for (uint32_t k = 0; k < costs->n_kinds; k++) {
        unsigned filling = (unsigned)ceil(units->own[k] * width) + 4;
        struct pm_form_count copies[2] = {{form_of(units, costs->leaders[k]), 1},
                                          {form_of(units, costs->leaders[filler]), filling}};
        double slots = 1;
        if (k != filler && units->own[k] > LEAST_OWN_SLOTS / 2)
            slots =
                pm_multiset_cycles(units->clock, copies, 2) * width - filling * (1 + LOST_WIDTH);
        costs->ports.kinds[k].slots = fmax(1, round(slots));
    }
}

/* Beside the fastest an instruction may seem to take more slots than it does, as some cores reach
   their width with few mixtures.  Each multiset says how many it takes at most: what the width of
   its cycles leaves when all others take one. */
static void limit_slots(struct units *units) {
    struct pm_port_model *ports = &units->costs->ports;
    for (size_t i = 0; i < units->n_experiments; i++) {
        const struct pm_port_experiment *experiment = &units->experiments[i];
        double room = experiment->cycles * ports->width;
        for (unsigned j = 0; j < experiment->n_terms; j++)
            room -= experiment->terms[j].count;
        for (unsigned j = 0; j < experiment->n_terms; j++) {
            double *slots = &ports->kinds[experiment->terms[j].kind].slots;
            double most = floor(1 + room / experiment->terms[j].count + NEARLY_ONE);
            *slots = fmax(1, fmin(*slots, most));
        }
    }
}

/* ---- experiments ----------------------------------------------------------------------------- */

static void copies_of(const struct units *units, const struct pm_port_experiment *experiment,
                      struct pm_form_count *copies) {
    for (unsigned i = 0; i < experiment->n_terms; i++)
        copies[i] =
            (struct pm_form_count){form_of(units, units->costs->leaders[experiment->terms[i].kind]),
                                   experiment->terms[i].count};
}

static void measure_experiment(struct units *units, const struct pm_port_experiment *wanted) {
    struct pm_form_count copies[PM_MOST_TERMS];
    copies_of(units, wanted, copies);
    struct pm_port_experiment measured = *wanted;
    measured.cycles = pm_multiset_cycles(units->clock, copies, wanted->n_terms);
    if (!isnan(measured.cycles))
        *PM_PUSH(units, experiments) = measured;
}

static bool measure_pairs(struct units *units) {
    size_t n = units->costs->n_kinds;
    for (uint32_t i = 0; i < n; i++) {
        if (!pm_probe_goes_on(units->effort))
            return false;
        for (uint32_t j = 0; j < i; j++) {
            struct pm_form_count copies[2] = {{NULL, 1}, {NULL, 1}};
            balance(units->own[i], units->own[j], copies);
            struct pm_port_experiment pair = {
                .n_terms = 2, .terms = {{i, copies[0].count}, {j, copies[1].count}}};
            measure_experiment(units, &pair);
        }
    }
    return true;
}

/* A kind of a random class. */
static uint32_t random_kind(struct units *units, bool *taken) {
    for (;;) {
        enum pm_op_class op_class = (enum pm_op_class)random_below(units, PM_N_OP_CLASSES);
        uint32_t chosen = PM_NONE, seen = 0;
        for (uint32_t k = 0; k < units->costs->n_kinds && !taken[op_class]; k++)
            if (form_of(units, units->costs->leaders[k])->op_class == op_class &&
                random_below(units, ++seen) == 0)
                chosen = k;
        if (chosen != PM_NONE) {
            taken[op_class] = true;
            return chosen;
        }
    }
}

static unsigned count_classes(const struct units *units) {
    bool seen[PM_N_OP_CLASSES] = {false};
    unsigned n = 0;
    for (uint32_t k = 0; k < units->costs->n_kinds; k++) {
        bool *known = &seen[form_of(units, units->costs->leaders[k])->op_class];
        n += !*known;
        *known = true;
    }
    return n;
}

/* N of them, or as many as there is time for. */
static void measure_multisets(struct units *units, size_t n) {
    if (count_classes(units) < PM_MOST_TERMS)
        return;
    for (size_t i = 0; i < n; i++) {
        bool taken[PM_N_OP_CLASSES] = {false};
        struct pm_port_experiment multiset = {.n_terms = 3 + random_below(units, 4)};
        if (!pm_probe_goes_on(units->effort))
            return;
        for (unsigned j = 0; j < multiset.n_terms; j++) {
            uint32_t kind = random_kind(units, taken);
            multiset.terms[j].kind = kind;
            multiset.terms[j].count =
                units->own[kind] > SLOW_CYCLES ? 1 : 1 + random_below(units, MOST_MULTISET_COUNT);
        }
        measure_experiment(units, &multiset);
    }
}

/* Of the first N those that the ports alone are far from: one that was disturbed in all its rounds
   would be explained at the cost of the others. */
static void measure_doubtful_again(struct units *units, size_t n) {
    for (size_t i = 0; i < n && pm_probe_goes_on(units->effort); i++) {
        struct pm_port_experiment *experiment = &units->experiments[i];
        if (experiment->cycles < DOUBTFUL * pm_port_cycles(&units->costs->ports, experiment))
            continue;
        struct pm_form_count copies[PM_MOST_TERMS];
        copies_of(units, experiment, copies);
        experiment->cycles =
            fmin(experiment->cycles, pm_multiset_cycles(units->clock, copies, experiment->n_terms));
    }
}

/* ---- judgement ------------------------------------------------------------------------------- */

/* By the experiments from FIRST on. */
static void judge(struct units *units, size_t first) {
    struct pm_instruction_costs *costs = units->costs;
    double *errors = pm_alloc(units->n_experiments - first + 1, sizeof *errors);
    for (size_t i = first; i < units->n_experiments && costs->n_judged < JUDGING; i++) {
        const struct pm_port_experiment *experiment = &units->experiments[i];
        if (pm_port_issue_cycles(&costs->ports, experiment) > ISSUE_BOUND * experiment->cycles)
            continue;
        errors[costs->n_judged++] =
            fabs(pm_resource_cycles(&costs->resources, experiment) / experiment->cycles - 1);
    }
    PM_SORT(errors, costs->n_judged, pm_compare_doubles);
    if (costs->n_judged) {
        costs->median_error = errors[costs->n_judged / 2];
        costs->p90_error = errors[costs->n_judged * 9 / 10];
    }
    free(errors);
}

static bool measure_and_infer(struct units *units) {
    struct pm_instruction_costs *costs = units->costs;
    bool quick = units->effort->quick;
    if (!pm_probe_part(units->effort, "kinds of instructions", 0.1,
                       costs->n_costs * units->n_anchors) ||
        !assign_kinds(units, true) || costs->n_kinds == 0)
        return false;
    costs->ports.n_kinds = costs->n_kinds;
    costs->ports.kinds = pm_alloc(costs->n_kinds, sizeof *costs->ports.kinds);
    units->own = pm_alloc(costs->n_kinds, sizeof *units->own);
    for (uint32_t k = 0; k < costs->n_kinds; k++)
        units->own[k] = own_cycles(units, costs->leaders[k]);
    measure_slots(units);
    if (!pm_probe_part(units->effort, "pairs of instructions", 0.12,
                       costs->n_kinds * costs->n_kinds / 2) ||
        !measure_pairs(units))
        return false;
    size_t n_pairs = units->n_experiments, training = quick ? TRAINING_QUICK : TRAINING;
    if (!pm_probe_part(units->effort, "multisets of instructions", 0.15, training))
        return false;
    measure_multisets(units, training);
    size_t n_training = units->n_experiments;
    limit_slots(units);
    if (!quick) {
        if (!pm_probe_part(units->effort, "kinds of instructions", 0.1,
                           costs->n_costs * units->n_anchors))
            return false;
        assign_kinds(units, false);
        if (!pm_probe_part(units->effort, "multisets that judge", 0.08, 2 * JUDGING))
            return false;
        measure_multisets(units, 2 * JUDGING);
    }
    if (!pm_probe_part(units->effort, "units of instructions", 0.12, 1))
        return false;
    pm_clock_unbind(units->clock);
    pm_infer_ports(&costs->ports, units->own, units->experiments, n_pairs, quick,
                   pm_probe_part_end(units->effort));
    pm_clock_bind(units->clock);
    if (!pm_probe_part(units->effort, "units of instructions", 0.05, n_training))
        return false;
    measure_doubtful_again(units, n_training);
    if (!pm_probe_part(units->effort, "units of instructions", 0.12, 1))
        return false;
    costs->resources = pm_refine_resources(&costs->ports, units->own, units->experiments,
                                           n_training, pm_probe_part_end(units->effort));
    judge(units, n_training);
    for (size_t i = 0; i < costs->n_costs; i++)
        if (costs->costs[i].kind != PM_NONE)
            costs->costs[i].slots = costs->ports.kinds[costs->costs[i].kind].slots;
    return true;
}

void pm_measure_units(struct pm_clock *clock, const struct pm_probe_effort *effort,
                      struct pm_instruction_costs *costs) {
    struct units units = {
        .clock = clock, .effort = effort, .costs = costs, .random = 0x9E3779B97F4A7C15};
    choose_anchors(&units);
    units.together = pm_alloc(costs->n_costs * units.n_anchors + 1, sizeof *units.together);
    costs->leaders = pm_alloc(costs->n_costs + 1, sizeof *costs->leaders);
    if (!measure_and_infer(&units)) {
        /* What was measured of kinds alone says nothing about units. */
        costs->n_kinds = 0;
        for (size_t i = 0; i < costs->n_costs; i++)
            costs->costs[i].kind = PM_NONE;
    }
    free(units.anchors);
    free(units.together);
    free(units.own);
    free(units.experiments);
}
