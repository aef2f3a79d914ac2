/* Which general registers and flags are live before each instruction, across routines to a fixed
   point.  The ABI alone does not tell: GCC's -fipa-ra keeps values in registers that a callee is
   known not to touch.  So a direct call passes on whatever is live after it, and a routine's
   returns make live whatever any of its callers needs.

   In doubt, live: everything where control goes to code of this file that is not rewritten or by an
   indirect jump that is not resolved; callee-saved registers at every call and return, because the
   unwinder hands them to callers.  Calls through the PLT and through pointers follow the ABI.

   Needs the CFG and the choice of routines that are rewritten.  Fills pm_rewrite.live. */
#include "binlift/x86/rewrite.h"

#include <stdlib.h>
#include <string.h>

struct liveness {
    struct pm_rewrite *rewrite;
    const struct pm_lifted *lifted;
    pm_live_set *at_return; /* per routine: live after it returns */
    pm_live_set arguments, results, saved;
    uint32_t *tables; /* per instruction: block that it ends with a resolved indirect jump + 1 */
    bool changed;
};

static void add_at_return(struct liveness *l, uint32_t routine, pm_live_set live) {
    if (live & ~l->at_return[routine]) {
        l->at_return[routine] |= live;
        l->changed = true;
    }
}

/* Rewritten instruction at ADDRESS, or PM_NONE. */
static uint32_t rewritten_at(const struct liveness *l, uint64_t address, uint32_t *routine) {
    uint32_t insn = pm_insn_at(l->lifted, address);
    if (insn == PM_NONE)
        return PM_NONE;
    *routine = pm_routine_at(l->lifted, address);
    return *routine != PM_NONE && l->rewrite->rewritten[*routine] ? insn : PM_NONE;
}

static bool follows_abi(const struct liveness *l, uint64_t address) {
    const struct pm_section *section = pm_image_section_at(&l->lifted->image, address);
    return section && strncmp(section->name, ".plt", 4) == 0;
}

/* Live when control goes on at ADDRESS, as a jump or by falling there, from routine FROM. */
static pm_live_set live_at(struct liveness *l, uint64_t address, uint32_t from) {
    uint32_t routine, insn = rewritten_at(l, address, &routine);
    if (insn != PM_NONE) {
        if (routine != from)
            add_at_return(l, routine, l->at_return[from]);
        return l->rewrite->live[insn];
    }
    if (follows_abi(l, address))
        return l->arguments | l->saved | l->at_return[from];
    return PM_LIVE_ALL;
}

static pm_live_set live_at_table(const struct liveness *l, uint32_t block) {
    const struct pm_structure *structure = l->lifted->structure;
    const struct pm_routine *routine = &structure->routines[structure->blocks[block].routine];
    pm_live_set live = 0;
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (edge->from == block)
            live |= edge->to == PM_NONE
                        ? PM_LIVE_ALL
                        : l->rewrite->live[l->lifted->block_codes[edge->to].first_insn];
    }
    return live;
}

/* Live after instruction K of routine R. */
static pm_live_set live_after(struct liveness *l, uint32_t k, uint32_t r) {
    const struct pm_insn *insn = &l->lifted->insns[k];
    uint64_t next = insn->address + insn->length;
    switch (insn->control) {
    case PM_CONTROL_JUMP:
        return live_at(l, insn->target, r);
    case PM_CONTROL_BRANCH:
    case PM_CONTROL_BRANCH_LOOP:
        return live_at(l, insn->target, r) | live_at(l, next, r);
    case PM_CONTROL_JUMP_INDIRECT:
        return l->tables[k] ? live_at_table(l, l->tables[k] - 1) : PM_LIVE_ALL;
    case PM_CONTROL_RETURN:
        return l->at_return[r] | l->results | l->saved;
    case PM_CONTROL_STOP:
        return l->saved;
    default:
        return live_at(l, next, r);
    }
}

static pm_live_set live_before_call(struct liveness *l, const struct pm_insn *insn,
                                    pm_live_set after) {
    pm_live_set uses = pm_live_from(insn->uses) | l->saved;
    if (insn->control == PM_CONTROL_CALL) {
        uint32_t routine, entry = rewritten_at(l, insn->target, &routine);
        if (entry != PM_NONE) {
            add_at_return(l, routine, after);
            return after | uses | l->rewrite->live[entry];
        }
        if (!follows_abi(l, insn->target))
            return PM_LIVE_ALL;
    }
    return uses | l->arguments | (after & l->saved);
}

static pm_live_set live_before(struct liveness *l, uint32_t k, uint32_t r) {
    const struct pm_insn *insn = &l->lifted->insns[k];
    pm_live_set after = live_after(l, k, r);
    pm_live_set stack_pointer = PM_LIVE_BIT(4);
    if (pm_is_call(insn->control))
        return live_before_call(l, insn, after) | stack_pointer;
    return (after & ~pm_live_from(insn->kills)) | pm_live_from(insn->uses) | stack_pointer;
}

static void sweep_routine(struct liveness *l, uint32_t r) {
    const struct pm_routine_code *code = &l->lifted->routine_codes[r];
    for (uint32_t k = code->first_insn + code->n_insns; k-- > code->first_insn;) {
        pm_live_set live = live_before(l, k, r);
        if (live != l->rewrite->live[k]) {
            l->rewrite->live[k] = live;
            l->changed = true;
        }
    }
}

/* An indirect jump is resolved if edges of its block say where it goes and none says EXIT. */
static void find_tables(struct liveness *l) {
    const struct pm_structure *structure = l->lifted->structure;
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (edge->kind != PM_EDGE_TABLE)
            continue;
        const struct pm_block_code *code = &l->lifted->block_codes[edge->from];
        l->tables[code->first_insn + code->n_insns - 1] = edge->from + 1;
    }
}

void pm_x86_find_liveness(struct pm_rewrite *rewrite) {
    const struct pm_lifted *lifted = rewrite->lifted;
    const struct pm_isa *isa = lifted->isa;
    uint32_t n_routines = (uint32_t)lifted->structure->n_routines;
    struct liveness l = {.rewrite = rewrite, .lifted = lifted};
    l.at_return = pm_alloc(n_routines, sizeof *l.at_return);
    l.tables = pm_alloc(lifted->n_insns, sizeof *l.tables);
    l.arguments = pm_live_from(isa->argument_registers);
    l.results = pm_live_from(isa->result_registers);
    l.saved = pm_live_from(isa->callee_saved);
    find_tables(&l);
    do {
        l.changed = false;
        for (uint32_t r = n_routines; r-- > 0;)
            if (rewrite->rewritten[r])
                sweep_routine(&l, r);
    } while (l.changed);
    free(l.tables);
    free(l.at_return);
}
