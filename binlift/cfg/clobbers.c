/* Which general registers a call of each routine may change: those that its own instructions and
   the routines that it calls define.  A compiler that has seen a callee keeps values in other
   registers across the call, although the calling convention does not promise it.  Needs the CFG.

   Registers that the convention tells a callee to keep count as kept.  Where something is called
   that is not known, or code is left in a way that is not known, all others may change. */
#include "binlift/lifted.h"

#include <stdlib.h>

static uint32_t all_that_calls_change(const struct pm_isa *isa) {
    return (uint32_t)(isa->all_registers.general & ~isa->callee_saved.general);
}

/* Where control goes from INSN of routine R if it leaves it; PM_NONE: it stays.  False: not
   known. */
static bool leaves_to(const struct pm_lifted *lifted, uint32_t r, uint32_t k, uint32_t *to) {
    const struct pm_insn *insn = &lifted->insns[k];
    *to = PM_NONE;
    switch (insn->control) {
    case PM_CONTROL_CALL_INDIRECT:
        return false;
    case PM_CONTROL_JUMP_INDIRECT:
        return pm_table_of(lifted, k) != NULL;
    case PM_CONTROL_CALL:
    case PM_CONTROL_JUMP:
    case PM_CONTROL_BRANCH:
    case PM_CONTROL_BRANCH_LOOP:
        *to = pm_routine_at(lifted, insn->target);
        if (*to == PM_NONE)
            return false;
        if (*to == r)
            *to = PM_NONE; /* all of its instructions count anyway */
        return true;
    default:
        return true;
    }
}

/* Does control go from INSN, the last of a part, to what stands behind it? */
static bool falls_out(const struct pm_lifted *lifted, uint32_t k) {
    uint8_t control = lifted->insns[k].control;
    bool is_end = control == PM_CONTROL_JUMP || control == PM_CONTROL_JUMP_INDIRECT ||
                  control == PM_CONTROL_RETURN || control == PM_CONTROL_STOP ||
                  (lifted->insn_marks[k] & PM_MARK_NEVER_RETURNS);
    return !is_end && lifted->insn_block[k] != PM_NONE;
}

struct caller {
    uint32_t callee, routine;
};

struct callers {
    PM_ARRAY(struct caller, items);
};

static int by_callee(const void *left, const void *right) {
    const struct caller *a = left, *b = right;
    if (a->callee != b->callee)
        return PM_COMPARE(a->callee, b->callee);
    return PM_COMPARE(a->routine, b->routine);
}

static uint32_t own_clobbers(const struct pm_lifted *lifted, uint32_t r, struct callers *callers) {
    const struct pm_routine_code *code = &lifted->routine_codes[r];
    uint32_t all = all_that_calls_change(lifted->isa), clobbers = 0;
    if (code->n_insns == 0 || lifted->structure->routines[r].state != PM_ROUTINE_LIFTED)
        return all;
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
        bool is_last =
            k + 1 == code->first_insn + code->n_insns || (lifted->insn_marks[k] & PM_MARK_PART_END);
        uint32_t to;
        clobbers |= (uint32_t)lifted->insns[k].registers->defs.general & all;
        if (!leaves_to(lifted, r, k, &to) || (is_last && falls_out(lifted, k)))
            return all;
        if (to != PM_NONE)
            *PM_PUSH(callers, items) = (struct caller){to, r};
    }
    return clobbers;
}

/* To each caller what its callees change, until nothing more comes of it. */
static void spread(uint32_t *clobbers, uint32_t n_routines, const struct callers *callers) {
    uint32_t *first = pm_alloc((size_t)n_routines + 1, sizeof *first);
    uint32_t *waiting = pm_alloc(n_routines, sizeof *waiting), n_waiting = 0;
    bool *waits = pm_alloc(n_routines, sizeof *waits);
    for (size_t i = 0; i < callers->n_items; i++)
        first[callers->items[i].callee + 1]++;
    for (uint32_t r = 0; r < n_routines; r++) {
        first[r + 1] += first[r];
        waiting[n_waiting++] = r;
        waits[r] = true;
    }
    while (n_waiting) {
        uint32_t callee = waiting[--n_waiting];
        waits[callee] = false;
        for (uint32_t i = first[callee]; i < first[callee + 1]; i++) {
            uint32_t r = callers->items[i].routine;
            if (!(clobbers[callee] & ~clobbers[r]))
                continue;
            clobbers[r] |= clobbers[callee];
            if (!waits[r])
                waiting[n_waiting++] = r;
            waits[r] = true;
        }
    }
    free(first);
    free(waiting);
    free(waits);
}

void pm_find_clobbers(struct pm_lifted *lifted) {
    uint32_t n = (uint32_t)lifted->structure->n_routines;
    struct callers callers = {0};
    lifted->clobbers = pm_alloc(n, sizeof *lifted->clobbers);
    for (uint32_t r = 0; r < n; r++)
        lifted->clobbers[r] = own_clobbers(lifted, r, &callers);
    PM_SORT(callers.items, callers.n_items, by_callee);
    spread(lifted->clobbers, n, &callers);
    free(callers.items);
}

uint32_t pm_call_clobbers(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    uint32_t routine = insn->control == PM_CONTROL_CALL && lifted->clobbers
                           ? pm_routine_at(lifted, insn->target)
                           : PM_NONE;
    return routine == PM_NONE ? all_that_calls_change(lifted->isa) : lifted->clobbers[routine];
}
