/* Calls that end an interval: of routines whose names were asked for, in this file or another (the
   primitives of a communication or threading library).  Such a call ends its basic block and has an
   edge to EXIT, as one that may not return has, so that what is executed on both sides of it is
   counted apart (Marin 2003, chapter 3, formula 3.1: a counter more for each such call).  A jump
   that is a tail call of such a routine ends an interval too; it leaves its routine anyway.

   Needs instructions, relocations, and calls that do not return. */
#include "binlift/lifted.h"
#include "core/structure/structure.h"

/* The name at ADDRESS or NAME is as one of the patterns says. */
static bool is_asked_for(const struct pm_lifted *lifted, const struct pm_lift_options *options,
                         uint64_t address, const char *name) {
    uint32_t r = address ? pm_routine_at(lifted, address) : PM_NONE;
    const struct pm_routine *routine = r == PM_NONE ? NULL : &lifted->structure->routines[r];
    bool asked = false;
    if (routine && routine->address != address)
        routine = NULL;
    for (size_t i = 0; i < options->n_intervals; i++) {
        const char *pattern = options->intervals[i];
        bool matches = (name && pm_matches(pattern, name)) ||
                       (routine && (pm_matches(pattern, routine->name) ||
                                    pm_matches(pattern, routine->display_name)));
        if (matches && options->interval_found)
            options->interval_found[i] = true;
        asked |= matches;
    }
    return asked;
}

static bool leaves(uint8_t control) {
    return pm_is_call(control) || control == PM_CONTROL_JUMP || control == PM_CONTROL_JUMP_INDIRECT;
}

const char *pm_interval_callee(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    uint64_t address = 0;
    const char *name = NULL;
    if (!pm_call_target(lifted, insn, &address, &name))
        return "";
    uint32_t r = address ? pm_routine_at(lifted, address) : PM_NONE;
    if (name || r == PM_NONE)
        return name ? name : "";
    return lifted->structure->routines[r].display_name;
}

void pm_find_intervals(struct pm_lifted *lifted, const struct pm_lift_options *options) {
    if (!options || !options->n_intervals)
        return;
    lifted->ends_interval = pm_alloc(lifted->n_insns, sizeof *lifted->ends_interval);
    for (uint32_t k = 0; k < lifted->n_insns; k++) {
        const struct pm_insn *insn = &lifted->insns[k];
        uint64_t address = 0;
        const char *name = NULL;
        if (!leaves(insn->control) || lifted->insn_marks[k] & PM_MARK_NEVER_RETURNS ||
            !pm_call_target(lifted, insn, &address, &name) ||
            !is_asked_for(lifted, options, address, name))
            continue;
        lifted->ends_interval[k] = true;
    }
}
