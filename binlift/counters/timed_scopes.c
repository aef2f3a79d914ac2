/* Which loops and routines get timers.  Needs the counts of a run of the same size, so that the
   cost of every timer is known before it is put in.

   Model.  A timer of scope s costs entries(s) · pair_seconds.  What it is worth is that the scope's
   time is not mixed with that of the scope around it; this is worth most where an entry lasts long,
   and there it also costs least. So scopes are taken in the order of the instructions that one
   entry executes, inner loops included, longest first, as long as the sum of the costs stays within
   the budget; what does not fit is left out, its time is that of the scope around it.  Instructions
   of called routines are not in it, because their number is not known for one caller.

   The first timer in a routine has the routine moved, and then its calls take longer,
   calls(routine) · call_seconds, because they stay at their old addresses (x86/rewrite/rewrite.c).
   That is no cost of a timer, and the same for one timer as for all: it has a budget of its own, so
   that a program whose only routine calls the mathematical library all the time is timed, but one
   that does nothing but call tiny routines is not.

   Loops that reports show as one (pm_scope.fold) get timers all or none, so that a row of a report
   is timed as a whole. */
#include "binlift/binlift.h"

#include <stdlib.h>

struct candidate {
    uint32_t scope; /* the scope that a row is named after */
    double entries, instructions;
};

/* Executed calls of each routine. */
static double *count_calls(const struct pm_structure *structure, const double *executed) {
    double *calls = pm_alloc(structure->n_routines, sizeof *calls);
    for (size_t i = 0; i < structure->n_blocks; i++) {
        const struct pm_block *block = &structure->blocks[i];
        for (uint32_t op = block->first_op; op < block->first_op + block->n_ops; op++)
            if (structure->ops[op].op_class == PM_OP_CALL)
                calls[block->routine] += executed[i];
    }
    return calls;
}

/* EDGE enters the loops around its target that its source is not in; and the routine, unless it is
   where an exception lands in a routine that was entered long ago. */
static void add_entries(const struct pm_structure *structure, uint32_t edge, double count,
                        struct candidate *of_scope) {
    const struct pm_edge *e = &structure->edges[edge];
    if (e->kind == PM_EDGE_ENTRY)
        of_scope[structure->routines[e->routine].scope].entries += count;
    if (e->to == PM_NONE || e->kind == PM_EDGE_INDIRECT_ENTRY)
        return;
    for (uint32_t loop = structure->blocks[e->to].loop;
         loop != PM_NONE && !pm_is_in_loop(structure, e->from, loop);
         loop = pm_outer_loop(structure, loop))
        of_scope[loop].entries += count;
}

/* The instructions of each basic block, added to the loops around it and to its routine. */
static void add_instructions(const struct pm_structure *structure, const double *executed,
                             struct candidate *of_scope) {
    for (size_t i = 0; i < structure->n_blocks; i++) {
        const struct pm_block *block = &structure->blocks[i];
        double instructions = executed[i] * block->n_instructions;
        of_scope[structure->routines[block->routine].scope].instructions += instructions;
        for (uint32_t loop = block->loop; loop != PM_NONE; loop = pm_outer_loop(structure, loop))
            of_scope[loop].instructions += instructions;
    }
}

static int by_length(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    double x = a->instructions * b->entries, y = b->instructions * a->entries;
    return x != y ? PM_COMPARE(y, x) : PM_COMPARE(a->scope, b->scope);
}

/* Scopes that were entered, folded ones added to the one that they are shown as; ascending by what
   an entry is worth.  *N receives their number. */
static struct candidate *find_candidates(const struct pm_structure *structure,
                                         const struct pm_profile *profile, const double *executed,
                                         size_t *n) {
    struct candidate *of_scope = pm_alloc(structure->n_scopes, sizeof *of_scope);
    for (uint32_t i = 0; i < structure->n_edges; i++)
        add_entries(structure, i, profile->edge_counts[i], of_scope);
    add_instructions(structure, executed, of_scope);
    for (uint32_t scope = 0; scope < structure->n_scopes; scope++) {
        uint32_t root = pm_fold_root(structure, scope);
        of_scope[scope].scope = scope;
        if (root == scope)
            continue;
        of_scope[root].entries += of_scope[scope].entries;
        of_scope[root].instructions += of_scope[scope].instructions;
        of_scope[scope].entries = 0;
    }
    *n = 0;
    for (uint32_t scope = 0; scope < structure->n_scopes; scope++) {
        const struct pm_scope *s = &structure->scopes[scope];
        bool timeable = s->kind == PM_SCOPE_LOOP || s->kind == PM_SCOPE_ROUTINE;
        if (timeable && of_scope[scope].entries > 0 && structure->routines[s->routine].counted)
            of_scope[(*n)++] = of_scope[scope];
    }
    PM_SORT(of_scope, *n, by_length);
    return of_scope;
}

uint8_t *pm_choose_timed_scopes(const struct pm_structure *structure,
                                const struct pm_profile *profile,
                                const struct pm_timer_budget *budget, double *cost_seconds) {
    uint8_t *chosen = pm_alloc(structure->n_scopes, sizeof *chosen);
    size_t n;
    double *executed = pm_block_executions(structure, profile->edge_counts);
    double *calls = count_calls(structure, executed);
    struct candidate *candidates = find_candidates(structure, profile, executed, &n);
    double spent = 0, moving = 0;
    for (size_t i = 0; i < n; i++) {
        double *own_calls = &calls[structure->scopes[candidates[i].scope].routine];
        double cost = candidates[i].entries * budget->pair_seconds;
        double of_calls = *own_calls * budget->call_seconds;
        if (spent + cost > budget->seconds || moving + of_calls > budget->moving_seconds)
            continue;
        spent += cost;
        moving += of_calls;
        *own_calls = 0; /* paid */
        chosen[candidates[i].scope] = 1;
    }
    for (uint32_t scope = 0; scope < structure->n_scopes; scope++)
        chosen[scope] = chosen[pm_fold_root(structure, scope)];
    free(candidates);
    free(calls);
    free(executed);
    if (cost_seconds)
        *cost_seconds = spent;
    return chosen;
}
