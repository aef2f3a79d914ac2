/* What may be tried on a loop; see explain.h for the rule.

   Each suggestion is weighed by the cycles of the loop that it is about: those of the misses of a
   reuse pattern, of conflicts, of what is fetched and not used; those of the schedule that a cause
   took.  The carriers are of the run that was made with --carry: of its misses shares are taken,
   not numbers. */
#include <math.h>
#include <stdlib.h>

#include "fit/analysis/explain/explain.h"
#include "fit/analysis/rows.h"

/* Of the loop's own cycles: below it nothing is suggested. */
static const double least_share = 0.05;
/* A vector of 128 bits has at least two elements of eight bytes, so that it halves what is issued.
 */
static const double least_vector_gain = 0.5;

static void add(struct pm_suggestions *suggestions, enum pm_suggestion_kind kind, double cycles,
                const struct pm_carried_row *pattern, uint32_t group) {
    if (!(cycles > 0))
        return;
    *PM_PUSH(suggestions, list) =
        (struct pm_suggestion){.kind = kind, .cycles = cycles, .pattern = pattern, .group = group};
}

/* Spills and constants are the compiler's. */
static bool is_of_program(const struct pm_structure *structure, uint32_t group) {
    uint32_t flags = PM_GROUP_STACK | PM_GROUP_CONSTANTS | PM_GROUP_PUSHED;
    return group == PM_NONE || !(structure->groups[group].flags & flags);
}

static bool is_irregular(const struct pm_structure *structure, uint32_t group) {
    return group != PM_NONE && structure->groups[group].flags & PM_GROUP_IRREGULAR;
}

/* ---- reuse patterns -------------------------------------------------------------------------- */

static enum pm_suggestion_kind kind_of(const struct pm_carried_row *row) {
    static const enum pm_suggestion_kind kinds[PM_N_ADVICE] = {
        [PM_ADVICE_BLOCK] = PM_TRY_INTERCHANGE, [PM_ADVICE_REORDER] = PM_TRY_STRIDE,
        [PM_ADVICE_RENUMBER] = PM_TRY_SORT,     [PM_ADVICE_FUSE] = PM_TRY_FUSE,
        [PM_ADVICE_SKEW] = PM_TRY_SKEW,         [PM_ADVICE_CALLS] = PM_TRY_JOIN_CALLS,
    };
    return kinds[row->advice];
}

/* Do patterns ask for the same change? */
static bool is_same(const struct pm_suggestion *suggestion, enum pm_suggestion_kind kind,
                    const struct pm_carried_row *row) {
    const struct pm_carried_row *other = suggestion->pattern;
    return suggestion->kind == kind && other && other->carrier.scope == row->carrier.scope &&
           other->source.scope == row->source.scope;
}

static void add_pattern(struct pm_suggestions *suggestions, enum pm_suggestion_kind kind,
                        double cycles, const struct pm_carried_row *row) {
    for (size_t i = 0; i < suggestions->n_list; i++)
        if (is_same(&suggestions->list[i], kind, row)) {
            suggestions->list[i].cycles += cycles; /* rows come by share, so the first has most */
            return;
        }
    add(suggestions, kind, cycles, row, PM_NONE);
}

static void add_patterns(const struct pm_structure *structure, uint32_t scope,
                         const struct pm_cost_sum *self, const struct pm_carried_rows *carried,
                         struct pm_suggestions *suggestions) {
    double all = 0;
    for (size_t i = 0; i < carried->n_rows; i++)
        if (carried->rows[i].destination.scope == scope)
            all += carried->rows[i].cycles;
    for (size_t i = 0; i < carried->n_rows && all > 0; i++) {
        const struct pm_carried_row *row = &carried->rows[i];
        if (row->destination.scope == scope && row->advice != PM_ADVICE_NONE &&
            is_of_program(structure, row->group))
            add_pattern(suggestions, kind_of(row), row->cycles / all * self->memory_cycles, row);
    }
}

/* ---- data ------------------------------------------------------------------------------------ */

static double conflict_cycles(const struct pm_loop_group *group, size_t n_levels,
                              const struct pm_loop_groups *groups, const struct pm_cost_sum *self) {
    double cycles = 0;
    for (size_t l = 0; l < n_levels; l++) {
        double misses = 0;
        for (size_t i = 0; i < groups->n_groups; i++)
            misses += isnan(groups->groups[i].misses[l]) ? 0 : groups->groups[i].misses[l];
        if (misses > 0 && group->conflicts[l] > 0)
            cycles += group->conflicts[l] / misses * self->level_cycles[l];
    }
    return cycles;
}

static void add_of_data(const struct pm_structure *structure, const struct pm_machine *machine,
                        const struct pm_cost_sum *self, const struct pm_loop_groups *groups,
                        struct pm_suggestions *suggestions) {
    double conflicts = 0, unused = 0, most_conflicts = 0, most_unused = 0;
    uint32_t with_conflicts = PM_NONE, with_unused = PM_NONE;
    for (size_t i = 0; i < groups->n_groups; i++) {
        const struct pm_loop_group *group = &groups->groups[i];
        if (!is_of_program(structure, group->group))
            continue;
        double of_conflicts = conflict_cycles(group, machine->n_levels, groups, self);
        double of_unused =
            group->unused_share > 0 && group->cycles > 0 && !is_irregular(structure, group->group)
                ? group->unused_share * group->cycles
                : 0;
        conflicts += of_conflicts;
        unused += of_unused;
        if (of_conflicts > most_conflicts) {
            most_conflicts = of_conflicts;
            with_conflicts = group->group;
        }
        if (of_unused > most_unused) {
            most_unused = of_unused;
            with_unused = group->group;
        }
    }
    add(suggestions, PM_TRY_PAD, conflicts, NULL, with_conflicts);
    add(suggestions, PM_TRY_SPLIT, unused, NULL, with_unused);
}

/* ---- the schedule ---------------------------------------------------------------------------- */

static bool is_vector(const struct pm_op *op) {
    return op->element_bytes && op->width_bits > 8u * op->element_bytes;
}

/* Does the loop compute in floating point, one element at a time, and has it no loop in it? */
static bool could_be_vector(const struct pm_structure *structure, uint32_t scope) {
    bool computes = false;
    if (structure->scopes[scope].kind != PM_SCOPE_LOOP)
        return false;
    for (uint32_t s = scope + 1; s < structure->n_scopes; s++)
        if (structure->scopes[s].kind == PM_SCOPE_LOOP && pm_row_scope(structure, s) != scope &&
            pm_scope_is_inside(structure, s, scope))
            return false;
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        if (block->loop == PM_NONE || pm_fold_root(structure, block->loop) != scope)
            continue;
        for (uint32_t i = 0; i < block->n_ops; i++) {
            const struct pm_op *op = &structure->ops[block->first_op + i];
            bool is_fp = pm_op_class_kind(op->op_class) == 'f';
            if (is_fp && is_vector(op))
                return false;
            computes |= op->op_class == PM_OP_FP_ADD || op->op_class == PM_OP_FP_MULT ||
                        op->op_class == PM_OP_FP_FMA;
        }
    }
    return computes;
}

static void add_of_schedule(const struct pm_structure *structure, uint32_t scope,
                            const struct pm_machine *machine, const struct pm_cost_sum *self,
                            const double gains[PM_N_CAUSES], struct pm_suggestions *suggestions) {
    enum { TWO_DOUBLES = 128 };
    const double *causes = self->causes;
    double issued =
        causes[PM_CAUSE_UNITS] + causes[PM_CAUSE_FRONT_END] + causes[PM_CAUSE_RETIREMENT];
    if (machine->vector_width_bits >= TWO_DOUBLES && could_be_vector(structure, scope))
        add(suggestions, PM_TRY_VECTORISE, least_vector_gain * issued, NULL, PM_NONE);
    add(suggestions, PM_TRY_CHAINS, gains[PM_CAUSE_RECURRENCE], NULL, PM_NONE);
    add(suggestions, PM_TRY_BRANCHES, causes[PM_CAUSE_MISPREDICTIONS], NULL, PM_NONE);
    add(suggestions, PM_TRY_FEWER_BYTES, causes[PM_CAUSE_BANDWIDTH], NULL, PM_NONE);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int by_cycles(const void *left, const void *right) {
    const struct pm_suggestion *a = left, *b = right;
    return a->cycles != b->cycles ? (a->cycles < b->cycles) - (a->cycles > b->cycles)
                                  : PM_COMPARE(a->kind, b->kind);
}

void pm_suggest(const struct pm_structure *structure, uint32_t scope,
                const struct pm_machine *machine, const struct pm_cost_sum *self,
                const double gains[PM_N_CAUSES], const struct pm_loop_groups *groups,
                const struct pm_carried_rows *carried, struct pm_suggestions *suggestions) {
    *suggestions = (struct pm_suggestions){0};
    if (carried)
        add_patterns(structure, scope, self, carried, suggestions);
    add_of_data(structure, machine, self, groups, suggestions);
    add_of_schedule(structure, scope, machine, self, gains, suggestions);
    PM_SORT(suggestions->list, suggestions->n_list, by_cycles);
    while (suggestions->n_list &&
           !(suggestions->list[suggestions->n_list - 1].cycles >= least_share * self->cycles))
        suggestions->n_list--;
}
