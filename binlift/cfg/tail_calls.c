/* Is an indirect jump without a table a tail call through a pointer, or does it go to places in its
   routine that were not found?  Needs instructions, jump tables, indirect entries, calls that do
                                 not
   return.  Marks tail calls.

   A tail call leaves the stack as it was on entry; a `goto` or `switch` in a routine with a frame
   does not.  Heights of the stack are followed from the entry over all paths that are known.  Where
   the height is that on entry, the target decides: on every path to the jump it comes from an
   argument, a call's result, or a load, and nothing was added to it.  If labels of the routine are
   known to be taken as values, only a frame that was just given back shows a tail call; where the
   height is not known, saved registers that were just popped do.  The jumps of an interpreter in
   assembly language (offset_entries.c) go where other code wants: they leave. */
#include "binlift/cfg/jumps.h"
#include "binlift/lifted.h"
#include "binlift/metadata/metadata.h"

#include <stdlib.h>

enum { GENERAL_REGISTERS = 32, LOOK_BACK = 40, MOST_STEPS = 4096 };
enum { MOST_SEARCHES = 64, MOST_STEPS_IN_ALL = 1 << 22 };
enum { HEIGHT_UNSEEN = INT32_MIN, HEIGHT_UNKNOWN = INT32_MIN + 1, MOST_HEIGHT = 1 << 28 };

struct search {
    const struct pm_lifted *lifted;
    uint32_t first, n; /* the routine's instructions */
    struct pm_jumps jumps;
    int32_t *height;   /* bytes on the stack before each, 0 at the entry */
    uint32_t *stack;   /* of instructions, or of registers at instructions */
    uint32_t *visited; /* of each instruction, a bit for each register that was looked for there */
    uint32_t *touched; /* instructions whose bits are set */
    uint32_t n_searches, n_steps; /* so that no file makes this take long */
};

static bool defines(const struct pm_insn *insn, unsigned reg) {
    return insn->registers->defs.general >> reg & 1;
}

/* What instruction K makes of register REG, or NULL. */
static const struct pm_definition *definition_of(const struct pm_lifted *lifted, uint32_t k,
                                                 unsigned reg,
                                                 struct pm_definition all[PM_MOST_DEFINITIONS]) {
    unsigned n = lifted->isa->define(pm_insn_bytes(lifted, k), &lifted->insns[k], all);
    for (unsigned i = 0; i < n; i++)
        if (all[i].place == reg)
            return &all[i];
    return NULL;
}

/* ---- heights of the stack ------------------------------------------------------------------- */

/* The height when the stack pointer was last copied into REG in the order of addresses, for frames
   that are given back through a frame pointer: the prologue has the only such copy. */
static int32_t height_of_copy(struct search *search, unsigned reg) {
    if (search->n_searches++ >= MOST_SEARCHES)
        return HEIGHT_UNKNOWN;
    for (uint32_t k = search->first; k < search->first + search->n; k++) {
        struct pm_definition all[PM_MOST_DEFINITIONS];
        if (!defines(&search->lifted->insns[k], reg) ||
            search->height[k - search->first] <= HEIGHT_UNKNOWN)
            continue;
        const struct pm_definition *copy = definition_of(search->lifted, k, reg, all);
        if (copy && copy->kind == PM_DEFINED_AS_SUM && copy->n_terms == 1 &&
            copy->terms[0].place == search->lifted->isa->stack_pointer &&
            copy->terms[0].factor == 1 && copy->constant > -MOST_HEIGHT &&
            copy->constant < MOST_HEIGHT)
            return search->height[k - search->first] - (int32_t)copy->constant;
    }
    return HEIGHT_UNKNOWN;
}

static int32_t height_after(struct search *search, uint32_t k) {
    const struct pm_lifted *lifted = search->lifted;
    const struct pm_insn *insn = &lifted->insns[k];
    unsigned pointer = lifted->isa->stack_pointer;
    int32_t height = search->height[k - search->first];
    if (insn->control != PM_CONTROL_NONE || !defines(insn, pointer))
        return height;
    struct pm_definition all[PM_MOST_DEFINITIONS];
    const struct pm_definition *step = definition_of(lifted, k, pointer, all);
    if (!step || step->kind != PM_DEFINED_AS_SUM || step->n_terms != 1 ||
        step->terms[0].factor != 1 || step->constant <= -MOST_HEIGHT ||
        step->constant >= MOST_HEIGHT)
        return HEIGHT_UNKNOWN;
    if (step->terms[0].place != pointer)
        height = step->terms[0].place < GENERAL_REGISTERS
                     ? height_of_copy(search, step->terms[0].place)
                     : HEIGHT_UNKNOWN;
    if (height <= HEIGHT_UNKNOWN)
        return HEIGHT_UNKNOWN;
    height -= (int32_t)step->constant;
    return height > -MOST_HEIGHT && height < MOST_HEIGHT ? height : HEIGHT_UNKNOWN;
}

static void arrive(struct search *search, uint32_t k, int32_t height, uint32_t *depth) {
    int32_t *known = &search->height[k - search->first];
    if (*known == height || (*known > HEIGHT_UNKNOWN && height == HEIGHT_UNKNOWN) ||
        (*known != HEIGHT_UNSEEN && *known != HEIGHT_UNKNOWN))
        return;
    *known = height;
    search->stack[(*depth)++] = k;
}

/* Each instruction is visited at most twice: first with no known height, then with one. */
static void find_heights(struct search *search) {
    const struct pm_lifted *lifted = search->lifted;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < search->n; i++)
        search->height[i] = HEIGHT_UNSEEN;
    arrive(search, search->first, 0, &depth);
    while (depth) {
        uint32_t k = search->stack[--depth];
        const struct pm_insn *insn = &lifted->insns[k];
        int32_t height = height_after(search, k);
        const struct pm_jump_table *table =
            insn->control == PM_CONTROL_JUMP_INDIRECT ? pm_table_of(lifted, k) : NULL;
        uint32_t to = insn->target && insn->control != PM_CONTROL_CALL
                          ? pm_insn_at(lifted, insn->target)
                          : PM_NONE;
        if (to != PM_NONE && to - search->first < search->n)
            arrive(search, to, height, &depth);
        for (uint32_t i = 0; table && i < table->n_targets; i++) {
            to = pm_insn_at(lifted, lifted->table_targets[table->first_target + i]);
            if (to != PM_NONE && to - search->first < search->n)
                arrive(search, to, height, &depth);
        }
        if (pm_runs_on(lifted, k))
            arrive(search, k + 1, height, &depth);
    }
}

/* ---- where the target comes from ------------------------------------------------------------ */

struct walk {
    struct search *search;
    uint32_t depth, n_touched;
};

static void look_before(struct walk *walk, uint32_t k, unsigned reg) {
    uint32_t *bits = &walk->search->visited[k - walk->search->first];
    if (*bits >> reg & 1)
        return;
    if (!*bits)
        walk->search->touched[walk->n_touched++] = k - walk->search->first;
    *bits |= UINT32_C(1) << reg;
    if (walk->depth < MOST_STEPS)
        walk->search->stack[2 * walk->depth] = k, walk->search->stack[2 * walk->depth + 1] = reg;
    walk->depth++;
}

/* REG as instruction K leaves it: false if it is computed there; else looks further if need be. */
static bool accept_after(struct walk *walk, uint32_t k, unsigned reg) {
    const struct pm_lifted *lifted = walk->search->lifted;
    const struct pm_insn *insn = &lifted->insns[k];
    if (insn->control == PM_CONTROL_CALL || insn->control == PM_CONTROL_CALL_INDIRECT) {
        bool kept = lifted->isa->callee_saved.general >> reg & 1;
        if (kept)
            look_before(walk, k, reg);
        return true; /* the call's result, or what is left of it */
    }
    if (!defines(insn, reg)) {
        look_before(walk, k, reg);
        return true;
    }
    struct pm_definition all[PM_MOST_DEFINITIONS];
    const struct pm_definition *value = definition_of(lifted, k, reg, all);
    if (!value || value->kind == PM_DEFINED_OTHERWISE)
        return true; /* a pointer that is stored scrambled; offsets of tables are added */
    if (value->kind != PM_DEFINED_AS_SUM && value->kind != PM_DEFINED_AS_CHOICE)
        return false;
    if (value->kind == PM_DEFINED_AS_SUM && value->n_terms == 0)
        return true; /* an address that is known */
    if (value->kind == PM_DEFINED_AS_SUM &&
        (value->n_terms != 1 || value->constant || value->terms[0].factor != 1))
        return false;
    for (unsigned i = 0; i < value->n_terms; i++) {
        if (value->terms[i].place == PM_PLACE_MEMORY)
            continue;
        if (value->terms[i].place >= GENERAL_REGISTERS)
            return false;
        look_before(walk, k, value->terms[i].place);
    }
    return true;
}

/* Is what JUMP finds in REG, on all paths that lead there, a pointer that was not computed? */
static bool is_plain_pointer(struct search *search, uint32_t jump, unsigned reg) {
    struct walk walk = {.search = search};
    bool plain = true;
    look_before(&walk, jump, reg);
    while (plain && walk.depth) {
        if (walk.depth > MOST_STEPS || search->n_steps++ > MOST_STEPS_IN_ALL) {
            plain = false;
            break;
        }
        walk.depth--;
        uint32_t k = search->stack[2 * walk.depth], of = search->stack[2 * walk.depth + 1];
        if (k > search->first && pm_runs_on(search->lifted, k - 1))
            plain &= accept_after(&walk, k - 1, of);
        for (size_t w = pm_first_jump_to(search->jumps.items, search->jumps.n_items, k);
             plain && w < search->jumps.n_items && search->jumps.items[w].to == k; w++)
            plain &= accept_after(&walk, search->jumps.items[w].from, of);
    }
    for (uint32_t i = 0; i < walk.n_touched; i++)
        search->visited[search->touched[i]] = 0;
    return plain;
}

/* ---- verdicts ------------------------------------------------------------------------------- */

/* What gives the stack back in the straight line before JUMP: PM_NONE if nothing does. */
static uint32_t stack_move_before(const struct search *search, uint32_t jump) {
    const struct pm_lifted *lifted = search->lifted;
    unsigned pointer = lifted->isa->stack_pointer;
    for (uint32_t k = jump; k-- > search->first && jump - k <= LOOK_BACK;) {
        const struct pm_insn *insn = &lifted->insns[k];
        if (insn->control != PM_CONTROL_NONE || (lifted->insn_marks[k] & PM_MARK_PART_END))
            return PM_NONE;
        if (!defines(insn, pointer))
            continue;
        struct pm_definition all[PM_MOST_DEFINITIONS];
        const struct pm_definition *step = definition_of(lifted, k, pointer, all);
        bool makes_room = step && step->kind == PM_DEFINED_AS_SUM && step->n_terms == 1 &&
                          step->terms[0].place == pointer && step->constant < 0;
        return makes_room ? PM_NONE : k;
    }
    return PM_NONE;
}

/* pop, leave; ldp of saved registers that gives the stack back. */
static bool pops(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    return insn->n_memory && insn->memory[0].access == PM_ACCESS_LOAD &&
           (insn->memory[0].implicit || insn->memory[0].base == lifted->isa->stack_pointer);
}

/* A pointer out of an array of routines: the first of them is a routine's start. */
static bool has_array_of_routines(const struct pm_lifted *lifted,
                                  const struct pm_memory_operand *memory) {
    uint64_t word;
    if (memory->base != PM_REGISTER_NONE)
        return true; /* which array is not known */
    if (!pm_word_at(lifted, (uint64_t)memory->displacement, &word) || !word)
        return true;
    uint32_t routine = pm_routine_at(lifted, word);
    return routine == PM_NONE || lifted->structure->routines[routine].address == word;
}

static bool is_tail_call(struct search *search, const struct pm_routine_code *code, uint32_t jump) {
    const struct pm_lifted *lifted = search->lifted;
    const struct pm_insn *insn = &lifted->insns[jump];
    int32_t height = search->height[jump - search->first];
    struct pm_addresses targets = {0};
    bool leaves = false;
    if (pm_metadata_jump(lifted, jump, &targets, &leaves)) {
        free(targets.addresses);
        return leaves && targets.n_addresses == 0;
    }
    if (code->entered_by_offset)
        return true;
    uint32_t move = stack_move_before(search, jump);
    if (height <= HEIGHT_UNKNOWN) {
        if (move != PM_NONE && pops(lifted, &lifted->insns[move]))
            return true;
        if (move == PM_NONE && height == HEIGHT_UNKNOWN)
            return false;
    } else if (height != 0) {
        return false;
    }
    if (code->interior_references && move == PM_NONE)
        return false;
    if (insn->n_memory)
        return insn->memory[0].index == PM_REGISTER_NONE ||
               has_array_of_routines(lifted, &insn->memory[0]);
    uint64_t target = insn->registers->uses.general & UINT32_MAX;
    target &= ~(UINT64_C(1) << lifted->isa->stack_pointer);
    return target && is_plain_pointer(search, jump, (unsigned)__builtin_ctzll(target));
}

static bool is_undecided(const struct pm_lifted *lifted, uint32_t k) {
    return lifted->insns[k].control == PM_CONTROL_JUMP_INDIRECT &&
           !pm_goes_through_slot(&lifted->insns[k]) && !pm_table_of(lifted, k);
}

static void decide(struct pm_lifted *lifted, uint32_t routine, uint32_t undecided) {
    const struct pm_routine_code *code = &lifted->routine_codes[routine];
    struct search search = {
        .lifted = lifted,
        .first = code->first_insn,
        .n = code->n_insns,
        .height = pm_alloc(code->n_insns, sizeof *search.height),
        .stack = pm_alloc(2 * (size_t)code->n_insns + 2 * (size_t)MOST_STEPS, sizeof *search.stack),
        .visited = pm_alloc(code->n_insns, sizeof *search.visited),
        .touched = pm_alloc(code->n_insns, sizeof *search.touched),
    };
    pm_find_jumps(lifted, routine, &search.jumps);
    find_heights(&search);
    for (uint32_t k = undecided; k < code->first_insn + code->n_insns; k++)
        if (is_undecided(lifted, k)) {
            bool is_call = is_tail_call(&search, code, k);
            bool may_leave = search.height[k - code->first_insn] == 0;
            lifted->insn_marks[k] |=
                (is_call ? PM_MARK_TAIL_CALL : 0) | (may_leave ? PM_MARK_MAY_LEAVE : 0);
        }
    free(search.height);
    free(search.stack);
    free(search.visited);
    free(search.touched);
    free(search.jumps.items);
}

void pm_find_tail_calls(struct pm_lifted *lifted) {
    for (uint32_t r = 0; r < lifted->structure->n_routines; r++) {
        const struct pm_routine_code *code = &lifted->routine_codes[r];
        uint32_t undecided = PM_NONE; /* the first such jump */
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            if (lifted->insns[k].control != PM_CONTROL_JUMP_INDIRECT)
                continue;
            if (pm_goes_through_slot(&lifted->insns[k]))
                lifted->insn_marks[k] |= PM_MARK_TAIL_CALL;
            else if (undecided == PM_NONE && is_undecided(lifted, k))
                undecided = k;
        }
        if (undecided != PM_NONE)
            decide(lifted, r, undecided);
    }
}
