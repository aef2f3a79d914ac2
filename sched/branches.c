/* Branches that are predicted wrongly: as measured (core/behaviour/behaviour.h), by the reference
   predictor that the machine's is like; where that is not known at most, from edge counts and the
   lifted code.

   Of a measured branch m of n executions are wrong, so in a pass through its basic block m / n.  If
   it leaves a loop, up to one of them an entry is at the end of the entry, where a simulation has
   it; the others are anywhere.

   A branch that was not measured: one that leaves a loop is wrong once an entry if the loop's trip
   count varies, or is more than a predictor remembers; of a trip count that is constant and short
   it is right.  Any other branch is wrong at most min(p, 1 − p) times a pass, p being how often it
   is taken: where it hangs on data that the region loads.  What hangs on nothing loaded repeats
   itself from entry to entry and is right.

   Then edge counts do not say whether a trip count varies: it does if its mean is no whole number.
   Assumed is that outcomes follow no pattern that a predictor would learn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/schedule.h"
#include "sched/constants.h"

enum { N_REGISTERS = PM_REGISTER_NONE + 1 };

/* Is the mean TRIPS that of a count that is always the same? */
static bool is_constant(double trips) { return fabs(trips - round(trips)) < 1e-9 * trips; }

/* ---- what a branch hangs on ------------------------------------------------------------------ */

/* Loads of data, which may differ from pass to pass: not of the stack, and not of one place all
   through the loop. */
static bool loads_data(const struct pm_structure *s, const struct pm_op *op) {
    if (op->op_class != PM_OP_LOAD_INT && op->op_class != PM_OP_LOAD_FP &&
        op->op_class != PM_OP_GATHER)
        return false;
    uint32_t group = op->reference == PM_NONE ? PM_NONE : s->references[op->reference].group;
    if (group == PM_NONE)
        return true;
    const struct pm_group *of = &s->groups[group];
    if (of->flags & (PM_GROUP_STACK | PM_GROUP_PUSHED | PM_GROUP_CONSTANTS))
        return false;
    return !(of->n_strides && of->strides[0].kind == PM_STRIDE_CONSTANT &&
             of->strides[0].bytes == 0);
}

/* Per register of a walk through basic blocks: does it hang on loaded data? */
static void walk_block(const struct pm_structure *s, uint32_t block, bool *of_data, bool *branch) {
    const struct pm_block *b = &s->blocks[block];
    *branch = false;
    for (uint32_t i = b->first_op; i < b->first_op + b->n_ops; i++) {
        const struct pm_op *op = &s->ops[i];
        bool hangs = loads_data(s, op);
        for (unsigned k = 0; k < PM_OP_N_USES && !hangs; k++)
            hangs = op->uses[k] != PM_REGISTER_NONE && of_data[op->uses[k]];
        if (op->op_class == PM_OP_BRANCH)
            *branch = hangs;
        for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
            if (op->defs[k] != PM_REGISTER_NONE)
                of_data[op->defs[k]] = hangs;
    }
}

/* Per basic block of the region, in its list's order: does its branch hang on data?  A register
   that some way leaves with data counts as such; twice through, for what comes from the iteration
   before. */
static bool *find_data_branches(const struct pm_structure *s, const struct pm_lists *regions,
                                uint32_t region) {
    uint32_t first = regions->first[region], n = regions->first[region + 1] - first;
    bool *hangs = pm_alloc(n, sizeof *hangs), of_data[N_REGISTERS];
    memset(of_data, 0, sizeof of_data);
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t k = 0; k < n; k++) {
            bool after[N_REGISTERS];
            memcpy(after, of_data, sizeof after);
            walk_block(s, regions->items[first + k], after, &hangs[k]);
            if (n == 1)
                memcpy(of_data, after, sizeof after);
            for (unsigned r = 0; r < N_REGISTERS && n > 1; r++)
                of_data[r] |= after[r];
        }
    return hangs;
}

/* ---- one branch ------------------------------------------------------------------------------ */

/* Of the edges out of BLOCK: how often they stay in LOOP (PM_NONE: in the routine), and leave; the
   largest of those that stay. */
struct ways {
    double stay, leave, most;
    unsigned n_stay;
};

static struct ways ways_out(const struct pm_frequencies *f, uint32_t block, uint32_t loop) {
    struct ways ways = {0};
    for (uint32_t k = f->out.first[block]; k < f->out.first[block + 1]; k++) {
        const struct pm_edge *edge = &f->structure->edges[f->out.items[k]];
        double count = f->edges[f->out.items[k]];
        if (count <= 0)
            continue;
        if (loop != PM_NONE && !pm_is_in_loop(f->structure, edge->to, loop)) {
            ways.leave += count;
            continue;
        }
        ways.stay += count;
        ways.n_stay++;
        ways.most = fmax(ways.most, count);
    }
    return ways;
}

static double wrong_exits(const struct pm_frequencies *f, uint32_t loop, double leave) {
    double trips = pm_mean_trips(f, loop);
    return trips > 0 && trips <= pm_sched_constants.most_remembered_trips && is_constant(trips)
               ? 0
               : leave;
}

/* How often a pass through BLOCK is wrong as measured; NAN: not known. */
static double measured_share(const struct pm_frequencies *f, uint32_t block) {
    const struct pm_measured_branch *branch =
        f->behaviour ? pm_behaviour_branch(f->behaviour, block) : NULL;
    return branch ? pm_branch_mispredictions(branch, f->predictor) / branch->executions : NAN;
}

bool pm_is_measured_branch(const struct pm_frequencies *frequencies, uint32_t block) {
    return !isnan(measured_share(frequencies, block));
}

/* ENTRIES of the loop that WAYS leave. */
static struct pm_wrong_branch wrong_as_measured(double share, double passes,
                                                const struct ways *ways, double entries) {
    struct pm_wrong_branch wrong = {.of_data = share};
    if (ways->leave > 0 && ways->stay > 0 && entries > 0) {
        double exits = fmin(share * passes, fmin(fmin(ways->leave, ways->stay), entries));
        wrong.of_exits = exits / entries;
        wrong.of_data = fmax(0, share - exits / passes);
    }
    return wrong;
}

struct pm_wrong_branch *pm_wrong_branches(const struct pm_frequencies *frequencies,
                                          uint32_t region) {
    const struct pm_structure *s = frequencies->structure;
    const struct pm_lists *regions = &frequencies->regions;
    uint32_t first = regions->first[region], n = regions->first[region + 1] - first;
    uint32_t loop = s->scopes[region].kind == PM_SCOPE_LOOP ? region : PM_NONE;
    double entries = loop == PM_NONE ? 0 : pm_scope_entries(s, frequencies->edges, loop);
    struct pm_wrong_branch *wrong = pm_alloc(n, sizeof *wrong);
    bool *hangs = find_data_branches(s, regions, region);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t block = regions->items[first + k];
        double passes = frequencies->blocks[block];
        if (passes <= 0)
            continue;
        struct ways ways = ways_out(frequencies, block, loop);
        double share = measured_share(frequencies, block);
        if (!isnan(share)) {
            wrong[k] = wrong_as_measured(share, passes, &ways, entries);
            continue;
        }
        if (ways.leave > 0 && ways.stay > 0 && entries > 0)
            wrong[k].of_exits =
                wrong_exits(frequencies, loop, fmin(ways.leave, ways.stay)) / entries;
        if (ways.n_stay > 1 && hangs[k])
            wrong[k].of_data = (ways.stay - ways.most) / passes;
    }
    free(hangs);
    return wrong;
}

struct pm_mispredictions pm_mispredictions_of(const struct pm_frequencies *frequencies,
                                              uint32_t region, double entries,
                                              const struct pm_wrong_branch *wrong) {
    const struct pm_lists *regions = &frequencies->regions;
    uint32_t first = regions->first[region];
    struct pm_mispredictions sum = {0};
    for (uint32_t k = first; k < regions->first[region + 1]; k++) {
        uint32_t block = regions->items[k];
        double at_exits = entries * wrong[k - first].of_exits;
        double elsewhere = frequencies->blocks[block] * wrong[k - first].of_data;
        sum.exits += at_exits;
        sum.of_data += elsewhere;
        if (!pm_is_measured_branch(frequencies, block))
            sum.assumed += at_exits + elsewhere;
    }
    return sum;
}

static const uint32_t *find_block(const struct pm_lists *regions, uint32_t region, uint32_t block) {
    const uint32_t *first = regions->items + regions->first[region];
    const uint32_t *end = regions->items + regions->first[region + 1];
    while (first < end && *first != block)
        first++;
    return first < end ? first : NULL;
}

bool pm_wrong_on_path(const struct pm_frequencies *frequencies, uint32_t region,
                      const struct pm_wrong_branch *wrong, const struct pm_path_step *steps,
                      size_t n_steps, struct pm_wrong_branch *steps_wrong) {
    const struct pm_lists *regions = &frequencies->regions;
    bool is_any = false;
    for (size_t i = 0; i < n_steps; i++) {
        const uint32_t *place =
            steps[i].block == PM_NONE ? NULL : find_block(regions, region, steps[i].block);
        steps_wrong[i] = place ? wrong[place - regions->items - regions->first[region]]
                               : (struct pm_wrong_branch){0};
        is_any |= steps_wrong[i].of_data > 0 || steps_wrong[i].of_exits > 0;
    }
    return is_any;
}
