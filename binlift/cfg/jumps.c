/* Jumps: which instructions of a routine lead to which by a jump, for walks against the direction
   of control.  Needs instructions; jump tables as far as they are known. */
#include "binlift/cfg/jumps.h"
#include "binlift/lifted.h"

#include <stdlib.h>

bool pm_runs_on(const struct pm_lifted *lifted, uint32_t k) {
    uint8_t control = lifted->insns[k].control;
    return control != PM_CONTROL_JUMP && control != PM_CONTROL_JUMP_INDIRECT &&
           control != PM_CONTROL_RETURN && control != PM_CONTROL_STOP &&
           !(lifted->insn_marks[k] & (PM_MARK_NEVER_RETURNS | PM_MARK_PART_END));
}

static int by_target(const void *left, const void *right) {
    const struct pm_jump *a = left, *b = right;
    if (a->to != b->to)
        return PM_COMPARE(a->to, b->to);
    return PM_COMPARE(a->from, b->from);
}

static void add(const struct pm_lifted *lifted, const struct pm_routine_code *code,
                struct pm_jumps *jumps, uint32_t from, uint64_t address) {
    uint32_t to = pm_insn_at(lifted, address);
    if (to != PM_NONE && to - code->first_insn < code->n_insns)
        *PM_PUSH(jumps, items) = (struct pm_jump){to, from};
}

void pm_find_jumps(const struct pm_lifted *lifted, uint32_t routine, struct pm_jumps *jumps) {
    const struct pm_routine_code *code = &lifted->routine_codes[routine];
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
        const struct pm_insn *insn = &lifted->insns[k];
        const struct pm_jump_table *table =
            insn->control == PM_CONTROL_JUMP_INDIRECT ? pm_table_of(lifted, k) : NULL;
        if (insn->target && insn->control != PM_CONTROL_CALL)
            add(lifted, code, jumps, k, insn->target);
        for (uint32_t i = 0; table && i < table->n_targets; i++)
            add(lifted, code, jumps, k, lifted->table_targets[table->first_target + i]);
    }
    PM_SORT(jumps->items, jumps->n_items, by_target);
}
