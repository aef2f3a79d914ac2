/* Which general registers and flags are live before each instruction, across routines to a fixed
   point.  The ABI alone does not tell: GCC's -fipa-ra keeps values in registers that a callee is
   known not to touch.  So a direct call passes on whatever is live after it, and a routine's
   returns make live whatever any of its callers needs.

   In doubt, live: everything where control goes to code of this file that is not followed or by an
   indirect jump that is not resolved; callee-saved registers at every call and return, because the
   unwinder hands them to callers.  Calls through the PLT and through pointers follow the ABI.

   Needs the CFG, instructions and jump tables.  Reads nothing of the ISA but its register sets. */
#include "binlift/cfg/cfg.h"
#include "binlift/code/code.h"
#include "binlift/elf/elf.h"
#include "binlift/isa.h"
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

/* Instead of an instruction: where control goes when it is not to code that is followed. */
enum { TO_UNKNOWN = PM_NONE, TO_ABI = PM_NONE - 1 };

struct liveness {
    const struct pm_lifted *lifted;
    const bool *followed; /* per routine */
    pm_live_set *live;    /* per instruction: the result */
    pm_live_set arguments, results, saved, all;
    pm_live_set *at_return; /* per routine: live after it returns */
    uint32_t *routine_of;   /* per instruction */
    uint32_t *targets;      /* per instruction: where its direct control flow goes */
    uint32_t *nexts;        /* per instruction: the next by address */
    uint32_t *tables;       /* per instruction: block that it ends with a resolved jump, + 1 */
    bool *entered;          /* per instruction: other routines go there */
    uint32_t *first_dependent, *dependents; /* routines that go to routine r */
    bool *dirty;                            /* per routine: to be swept again */
};

/* ---- control flow once, so that the sweeps need no look-ups --------------------------------- */

static bool follows_abi(const struct liveness *l, uint64_t address) {
    const struct pm_section *section = pm_image_section_at(&l->lifted->image, address);
    return section && strncmp(section->name, ".plt", 4) == 0;
}

static uint32_t resolve(const struct liveness *l, uint64_t address) {
    uint32_t insn = pm_insn_at(l->lifted, address);
    if (insn != PM_NONE && l->routine_of[insn] != PM_NONE)
        return insn;
    return follows_abi(l, address) ? TO_ABI : TO_UNKNOWN;
}

static bool is_insn(uint32_t target) { return target < TO_ABI; }

static void find_routines(struct liveness *l) {
    const struct pm_lifted *lifted = l->lifted;
    for (uint32_t k = 0; k < lifted->n_insns; k++)
        l->routine_of[k] = PM_NONE;
    for (uint32_t r = 0; r < lifted->structure->n_routines; r++) {
        const struct pm_routine_code *code = &lifted->routine_codes[r];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            l->routine_of[k] = l->followed[r] ? r : PM_NONE;
    }
}

static void find_targets(struct liveness *l) {
    const struct pm_lifted *lifted = l->lifted;
    for (uint32_t k = 0; k < lifted->n_insns; k++) {
        const struct pm_insn *insn = &lifted->insns[k];
        uint64_t next = insn->address + insn->length;
        if (l->routine_of[k] == PM_NONE)
            continue;
        l->targets[k] = insn->target ? resolve(l, insn->target) : TO_UNKNOWN;
        bool follows = k + 1 < lifted->n_insns && lifted->insns[k + 1].address == next &&
                       l->routine_of[k + 1] == l->routine_of[k];
        l->nexts[k] = follows ? k + 1 : resolve(l, next);
    }
}

/* An indirect jump is resolved if edges of its block say where it goes. */
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

/* Counts (DEPENDENTS still NULL) or enters that routine FROM goes to instruction TO. */
static void note_dependent(struct liveness *l, uint32_t from, uint32_t to) {
    if (!is_insn(to) || l->routine_of[to] == from)
        return;
    uint32_t routine = l->routine_of[to];
    l->entered[to] = true;
    if (l->dependents)
        l->dependents[--l->first_dependent[routine]] = from;
    else
        l->first_dependent[routine]++;
}

static void find_dependents(struct liveness *l) {
    uint32_t n_routines = (uint32_t)l->lifted->structure->n_routines, n = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t k = 0; k < l->lifted->n_insns; k++)
            if (l->routine_of[k] != PM_NONE) {
                note_dependent(l, l->routine_of[k], l->targets[k]);
                note_dependent(l, l->routine_of[k], l->nexts[k]);
            }
        if (pass == 1)
            break;
        for (uint32_t r = 0; r <= n_routines; r++) {
            n += l->first_dependent[r];
            l->first_dependent[r] = n; /* ends; entering makes them starts */
        }
        l->dependents = pm_alloc(n, sizeof *l->dependents);
    }
}

/* ---- one instruction ------------------------------------------------------------------------ */

static void add_at_return(struct liveness *l, uint32_t routine, pm_live_set live) {
    if (live & ~l->at_return[routine]) {
        l->at_return[routine] |= live;
        l->dirty[routine] = true;
    }
}

/* Live when control goes on at TARGET, as a jump or by falling there, from routine FROM. */
static pm_live_set live_at(struct liveness *l, uint32_t target, uint32_t from) {
    if (target == TO_ABI)
        return l->arguments | l->saved | l->at_return[from];
    if (target == TO_UNKNOWN)
        return l->all;
    if (l->routine_of[target] != from)
        add_at_return(l, l->routine_of[target], l->at_return[from]);
    return l->live[target];
}

static pm_live_set live_at_table(const struct liveness *l, uint32_t block) {
    const struct pm_structure *structure = l->lifted->structure;
    const struct pm_routine *routine = &structure->routines[structure->blocks[block].routine];
    pm_live_set live = 0;
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (edge->from == block)
            live |=
                edge->to == PM_NONE ? l->all : l->live[l->lifted->block_codes[edge->to].first_insn];
    }
    return live;
}

/* Live after instruction K of routine R. */
static pm_live_set live_after(struct liveness *l, uint32_t k, uint32_t r) {
    switch (l->lifted->insns[k].control) {
    case PM_CONTROL_JUMP:
        return live_at(l, l->targets[k], r);
    case PM_CONTROL_BRANCH:
    case PM_CONTROL_BRANCH_LOOP:
        return live_at(l, l->targets[k], r) | live_at(l, l->nexts[k], r);
    case PM_CONTROL_JUMP_INDIRECT:
        return l->tables[k] ? live_at_table(l, l->tables[k] - 1) : l->all;
    case PM_CONTROL_RETURN:
        return l->at_return[r] | l->results | l->saved;
    case PM_CONTROL_STOP:
        return l->saved;
    default:
        return live_at(l, l->nexts[k], r);
    }
}

static pm_live_set live_before_call(struct liveness *l, uint32_t k, pm_live_set after) {
    const struct pm_insn *insn = &l->lifted->insns[k];
    pm_live_set uses = pm_live_from(insn->registers->uses) | l->saved;
    if (insn->control == PM_CONTROL_CALL && is_insn(l->targets[k])) {
        add_at_return(l, l->routine_of[l->targets[k]], after);
        return after | uses | l->live[l->targets[k]];
    }
    if (insn->control == PM_CONTROL_CALL && l->targets[k] == TO_UNKNOWN)
        return l->all;
    return uses | l->arguments | (after & l->saved);
}

static pm_live_set live_before(struct liveness *l, uint32_t k, uint32_t r) {
    const struct pm_insn *insn = &l->lifted->insns[k];
    pm_live_set after = live_after(l, k, r);
    pm_live_set stack_pointer = PM_LIVE_BIT(l->lifted->isa->stack_pointer);
    if (pm_is_call(insn->control))
        return live_before_call(l, k, after) | stack_pointer;
    return (after & ~pm_live_from(insn->registers->kills)) | pm_live_from(insn->registers->uses) |
           stack_pointer;
}

/* ---- to a fixed point ----------------------------------------------------------------------- */

static void sweep_routine(struct liveness *l, uint32_t r) {
    const struct pm_routine_code *code = &l->lifted->routine_codes[r];
    bool changed_entry = false;
    for (uint32_t k = code->first_insn + code->n_insns; k-- > code->first_insn;) {
        pm_live_set live = live_before(l, k, r);
        if (live == l->live[k])
            continue;
        l->live[k] = live;
        changed_entry |= l->entered[k];
        l->dirty[r] = true;
    }
    if (!changed_entry)
        return;
    for (uint32_t i = l->first_dependent[r]; i < l->first_dependent[r + 1]; i++)
        l->dirty[l->dependents[i]] = true;
}

static bool sweep_dirty(struct liveness *l) {
    bool swept = false;
    for (uint32_t r = (uint32_t)l->lifted->structure->n_routines; r-- > 0;)
        while (l->dirty[r]) {
            l->dirty[r] = false;
            sweep_routine(l, r);
            swept = true;
        }
    return swept;
}

/* Per basic block what is live where it ends; nothing in routines that are not followed. */
static pm_live_set *find_ends(struct liveness *l) {
    const struct pm_lifted *lifted = l->lifted;
    pm_live_set *ends = pm_alloc(lifted->n_block_codes, sizeof *ends);
    for (uint32_t b = 0; b < lifted->n_block_codes; b++) {
        const struct pm_block_code *code = &lifted->block_codes[b];
        uint32_t r = lifted->structure->blocks[b].routine;
        if (code->n_insns && l->followed[r])
            ends[b] = live_after(l, code->first_insn + code->n_insns - 1, r);
    }
    return ends;
}

pm_live_set *pm_find_liveness(const struct pm_lifted *lifted, const bool *followed,
                              pm_live_set **at_ends) {
    const struct pm_isa *isa = lifted->isa;
    uint32_t n_routines = (uint32_t)lifted->structure->n_routines;
    struct liveness l = {
        .lifted = lifted,
        .followed = followed,
        .live = pm_alloc(lifted->n_insns, sizeof *l.live),
        .arguments = pm_live_from(isa->argument_registers),
        .results = pm_live_from(isa->result_registers),
        .saved = pm_live_from(isa->callee_saved),
        .all = pm_live_from(isa->all_registers),
        .at_return = pm_alloc(n_routines, sizeof *l.at_return),
        .routine_of = pm_alloc(lifted->n_insns, sizeof *l.routine_of),
        .targets = pm_alloc(lifted->n_insns, sizeof *l.targets),
        .nexts = pm_alloc(lifted->n_insns, sizeof *l.nexts),
        .tables = pm_alloc(lifted->n_insns, sizeof *l.tables),
        .entered = pm_alloc(lifted->n_insns, sizeof *l.entered),
        .first_dependent = pm_alloc((size_t)n_routines + 1, sizeof *l.first_dependent),
        .dirty = pm_alloc(n_routines, sizeof *l.dirty),
    };
    find_routines(&l);
    find_targets(&l);
    find_tables(&l);
    find_dependents(&l);
    memcpy(l.dirty, followed, n_routines * sizeof *l.dirty);
    while (sweep_dirty(&l)) {
    }
    if (at_ends)
        *at_ends = find_ends(&l);
    free(l.at_return);
    free(l.routine_of);
    free(l.targets);
    free(l.nexts);
    free(l.tables);
    free(l.entered);
    free(l.first_dependent);
    free(l.dependents);
    free(l.dirty);
    return l.live;
}
