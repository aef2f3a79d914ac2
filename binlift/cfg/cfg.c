/* The control flow graph: basic blocks and edges.
   Needs instructions, jump tables, indirect entries, calls that do not return.

   A basic block ends at branches, jumps and returns, at calls that may not return or that end an
   interval, and before any
   place that control reaches otherwise.  Other calls do not end one.  An indirect jump whose
   targets are not known gets an edge to EXIT, and its routine is PARTIAL, unless it is a tail call
   through a pointer.  No-ops that control cannot reach (padding after a jump) are in no block.
   Blocks that nothing seems to reach get an edge from ENTRY: what reaches them is not seen.  So
   every basic block lies on a path from ENTRY to EXIT; no later pass adds an edge. */
#include "binlift/cfg/jumps.h"
#include "binlift/lifted.h"

#include <stdlib.h>

/* Does control never go on to the next instruction? */
static bool is_end_of_flow(const struct pm_lifted *lifted, uint32_t insn) {
    switch (lifted->insns[insn].control) {
    case PM_CONTROL_JUMP:
    case PM_CONTROL_JUMP_INDIRECT:
    case PM_CONTROL_RETURN:
    case PM_CONTROL_STOP:
        return true;
    default:
        return (lifted->insn_marks[insn] & PM_MARK_NEVER_RETURNS) != 0;
    }
}

/* A call behind which control need not go on, or what is executed is to be counted apart. */
static bool may_leave(const struct pm_lifted *lifted, uint32_t call) {
    return (lifted->insn_marks[call] & (PM_MARK_NEVER_RETURNS | PM_MARK_MAY_NOT_RETURN)) ||
           (lifted->ends_interval && lifted->ends_interval[call]);
}

static bool ends_block(const struct pm_lifted *lifted, uint32_t insn) {
    if (pm_is_call(lifted->insns[insn].control))
        return may_leave(lifted, insn);
    return lifted->insns[insn].control != PM_CONTROL_NONE;
}

/* ---- basic blocks --------------------------------------------------------------------------- */

static void mark_leaders(struct pm_lifted *lifted, uint32_t routine) {
    const struct pm_routine_code *code = &lifted->routine_codes[routine];
    uint32_t end = code->first_insn + code->n_insns;
    for (uint32_t k = code->first_insn; k < end; k++) {
        const struct pm_insn *insn = &lifted->insns[k];
        uint32_t target =
            insn->target && !pm_is_call(insn->control) ? pm_insn_at(lifted, insn->target) : PM_NONE;
        if (target != PM_NONE && target >= code->first_insn && target < end)
            lifted->insn_marks[target] |= PM_MARK_LEADER;
    }
}

/* The block that starts at FIRST, up to the end of the routine at most; gives its end. */
static uint32_t add_block(struct pm_lifted *lifted, uint32_t routine, uint32_t first,
                          uint32_t end) {
    struct pm_structure *structure = lifted->structure;
    uint32_t number = (uint32_t)structure->n_blocks;
    struct pm_block *block = PM_PUSH(structure, blocks);
    struct pm_block_code *code = PM_PUSH(lifted, block_codes);
    block->address = lifted->insns[first].address;
    block->routine = routine;
    block->scope = block->loop = PM_NONE;
    uint32_t k = first;
    do {
        lifted->insn_block[k] = number;
        block->size_bytes += lifted->insns[k].length;
        k++;
    } while (k < end && !(lifted->insn_marks[k] & PM_MARK_LEADER) && !ends_block(lifted, k - 1) &&
             !(lifted->insn_marks[k - 1] & PM_MARK_PART_END));
    block->n_instructions = k - first;
    *code = (struct pm_block_code){first, k - first,
                                   (lifted->insn_marks[first] & PM_MARK_INDIRECT_ENTRY) != 0};
    return k;
}

static void add_blocks(struct pm_lifted *lifted, uint32_t number) {
    struct pm_routine *routine = &lifted->structure->routines[number];
    const struct pm_routine_code *code = &lifted->routine_codes[number];
    uint32_t end = code->first_insn + code->n_insns;
    routine->first_block = (uint32_t)lifted->structure->n_blocks;
    for (uint32_t k = code->first_insn; k < end;) {
        bool is_padding = k > code->first_insn && lifted->insns[k].is_nop &&
                          !(lifted->insn_marks[k] & PM_MARK_LEADER) &&
                          !(lifted->insn_marks[k - 1] & PM_MARK_PART_END) &&
                          (is_end_of_flow(lifted, k - 1) || lifted->insn_block[k - 1] == PM_NONE);
        if (is_padding)
            k++;
        else
            k = add_block(lifted, number, k, end);
    }
    routine->n_blocks = (uint32_t)lifted->structure->n_blocks - routine->first_block;
}

/* ---- edges ---------------------------------------------------------------------------------- */

static void add_edge(struct pm_lifted *lifted, uint32_t routine, uint32_t from, uint32_t to,
                     enum pm_edge_kind kind) {
    *PM_PUSH(lifted->structure, edges) =
        (struct pm_edge){from, to, routine, PM_NONE, (uint8_t)kind, 0};
}

/* To the block at ADDRESS if it is in the routine, else to EXIT. */
static void add_edge_to(struct pm_lifted *lifted, uint32_t routine, uint32_t from, uint64_t address,
                        enum pm_edge_kind kind) {
    uint32_t to = pm_block_at(lifted, address);
    if (to != PM_NONE && lifted->structure->blocks[to].routine == routine)
        add_edge(lifted, routine, from, to, kind);
    else
        add_edge(lifted, routine, from, PM_NONE, PM_EDGE_EXIT);
}

/* One edge for each distinct target; one to EXIT for all targets outside. */
static void add_table_edges(struct pm_lifted *lifted, uint32_t routine, uint32_t from,
                            const struct pm_jump_table *table) {
    uint64_t *targets = pm_alloc(table->n_targets, sizeof *targets);
    bool leaves = false;
    for (uint32_t i = 0; i < table->n_targets; i++)
        targets[i] = lifted->table_targets[table->first_target + i];
    PM_SORT(targets, table->n_targets, pm_compare_u64);
    for (uint32_t i = 0; i < table->n_targets; i++) {
        if (i && targets[i] == targets[i - 1])
            continue;
        if (pm_routine_at(lifted, targets[i]) == routine)
            add_edge_to(lifted, routine, from, targets[i], PM_EDGE_TABLE);
        else
            leaves = true;
    }
    if (leaves || !table->n_targets)
        add_edge(lifted, routine, from, PM_NONE, PM_EDGE_EXIT);
    free(targets);
}

static void add_indirect_edges(struct pm_lifted *lifted, uint32_t number, uint32_t from,
                               uint32_t jump) {
    struct pm_routine *routine = &lifted->structure->routines[number];
    const struct pm_jump_table *table = pm_table_of(lifted, jump);
    if (table) {
        lifted->statistics.n_indirect_jumps++;
        lifted->statistics.n_resolved_jumps++;
        add_table_edges(lifted, number, from, table);
        return;
    }
    add_edge(lifted, number, from, PM_NONE, PM_EDGE_EXIT);
    if (lifted->insn_marks[jump] & PM_MARK_TAIL_CALL)
        return;
    lifted->statistics.n_indirect_jumps++;
    if (!lifted->statistics.first_unresolved)
        lifted->statistics.first_unresolved = lifted->insns[jump].address;
    if (routine->state != PM_ROUTINE_PARTIAL) {
        routine->state = PM_ROUTINE_PARTIAL;
        routine->reason = pm_sprintf("the targets of the indirect jump at 0x%llx are not known",
                                     (unsigned long long)lifted->insns[jump].address);
    }
}

/* Edges that leave the block whose last instruction is LAST. */
static void add_edges_of(struct pm_lifted *lifted, uint32_t routine, uint32_t block,
                         uint32_t last) {
    const struct pm_insn *insn = &lifted->insns[last];
    uint64_t next = insn->address + insn->length;
    bool at_end = (lifted->insn_marks[last] & PM_MARK_PART_END) != 0;
    switch (insn->control) {
    case PM_CONTROL_BRANCH:
    case PM_CONTROL_BRANCH_LOOP:
        add_edge_to(lifted, routine, block, insn->target, PM_EDGE_TAKEN);
        break;
    case PM_CONTROL_JUMP:
        add_edge_to(lifted, routine, block, insn->target, PM_EDGE_TAKEN);
        return;
    case PM_CONTROL_JUMP_INDIRECT:
        add_indirect_edges(lifted, routine, block, last);
        return;
    case PM_CONTROL_RETURN:
        add_edge(lifted, routine, block, PM_NONE, PM_EDGE_EXIT);
        return;
    case PM_CONTROL_STOP:
        add_edge(lifted, routine, block, PM_NONE, PM_EDGE_NO_RETURN);
        return;
    default:
        /* A part does not end in a call that comes back. */
        if (pm_is_call(insn->control) && (at_end || may_leave(lifted, last)))
            add_edge(lifted, routine, block, PM_NONE, PM_EDGE_NO_RETURN);
        if ((lifted->insn_marks[last] & PM_MARK_NEVER_RETURNS) ||
            (pm_is_call(insn->control) && at_end))
            return;
    }
    add_edge_to(lifted, routine, block, next, PM_EDGE_FALLTHROUGH);
}

/* ---- blocks that nothing seems to reach ----------------------------------------------------- */

static void reach(const struct pm_lifted *lifted, const struct pm_routine *routine,
                  const uint32_t *first_out, uint32_t start, bool *reached, uint32_t *stack) {
    uint32_t depth = 0;
    if (reached[start])
        return;
    reached[start] = true;
    stack[depth++] = start;
    while (depth) {
        uint32_t block = stack[--depth];
        for (uint32_t e = first_out[block]; e < first_out[block + 1]; e++) {
            uint32_t to = lifted->structure->edges[e].to;
            if (to == PM_NONE || reached[to - routine->first_block])
                continue;
            reached[to - routine->first_block] = true;
            stack[depth++] = to - routine->first_block;
        }
    }
}

/* FIRST_OUT: edges of block b are first_out[b] … first_out[b + 1]; those from ENTRY come later. */
static void reach_all(struct pm_lifted *lifted, uint32_t number, const uint32_t *first_out) {
    const struct pm_routine *routine = &lifted->structure->routines[number];
    bool *reached = pm_alloc(routine->n_blocks, sizeof *reached);
    uint32_t *stack = pm_alloc(routine->n_blocks, sizeof *stack);
    for (size_t e = first_out[routine->n_blocks]; e < lifted->structure->n_edges; e++)
        reach(lifted, routine, first_out, lifted->structure->edges[e].to - routine->first_block,
              reached, stack);
    for (uint32_t b = 0; b < routine->n_blocks; b++) {
        if (reached[b])
            continue;
        lifted->block_codes[routine->first_block + b].indirect_entry = true;
        add_edge(lifted, number, PM_NONE, routine->first_block + b, PM_EDGE_INDIRECT_ENTRY);
        reach(lifted, routine, first_out, b, reached, stack);
    }
    free(reached);
    free(stack);
}

static void add_edges(struct pm_lifted *lifted, uint32_t number) {
    struct pm_structure *structure = lifted->structure;
    struct pm_routine *routine = &structure->routines[number];
    uint32_t *first_out = pm_alloc(routine->n_blocks + 1, sizeof *first_out);
    routine->first_edge = (uint32_t)structure->n_edges;
    for (uint32_t b = 0; b < routine->n_blocks; b++) {
        const struct pm_block_code *code = &lifted->block_codes[routine->first_block + b];
        first_out[b] = (uint32_t)structure->n_edges;
        add_edges_of(lifted, number, routine->first_block + b,
                     code->first_insn + code->n_insns - 1);
    }
    first_out[routine->n_blocks] = (uint32_t)structure->n_edges;
    for (uint32_t b = 0; b < routine->n_blocks; b++) {
        uint32_t block = routine->first_block + b;
        if (b == 0)
            add_edge(lifted, number, PM_NONE, block, PM_EDGE_ENTRY);
        else if (lifted->insn_marks[lifted->block_codes[block].first_insn] & PM_MARK_OUTSIDE)
            add_edge(lifted, number, PM_NONE, block, PM_EDGE_INDIRECT_ENTRY);
    }
    reach_all(lifted, number, first_out);
    routine->n_edges = (uint32_t)structure->n_edges - routine->first_edge;
    free(first_out);
}

static void build_routine(struct pm_lifted *lifted, uint32_t routine) {
    if (lifted->routine_codes[routine].n_insns == 0)
        return;
    mark_leaders(lifted, routine);
    add_blocks(lifted, routine);
    add_edges(lifted, routine);
}

static void begin(struct pm_lifted *lifted) {
    lifted->insn_block = pm_alloc(lifted->n_insns, sizeof *lifted->insn_block);
    for (size_t k = 0; k < lifted->n_insns; k++)
        lifted->insn_block[k] = PM_NONE;
}

void pm_build_cfg(struct pm_lifted *lifted) {
    begin(lifted);
    for (uint32_t i = 0; i < lifted->structure->n_routines; i++)
        build_routine(lifted, i);
}

void pm_visit_cfg(struct pm_lifted *lifted,
                  void (*visit)(struct pm_lifted *lifted, uint32_t routine)) {
    struct pm_structure *structure = lifted->structure;
    begin(lifted);
    for (uint32_t i = 0; i < structure->n_routines; i++) {
        const struct pm_routine_code *code = &lifted->routine_codes[i];
        build_routine(lifted, i);
        visit(lifted, i);
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            lifted->insn_block[k] = PM_NONE;
        structure->n_blocks = structure->n_edges = lifted->n_block_codes = 0;
        structure->routines[i].first_block = structure->routines[i].n_blocks = 0;
        structure->routines[i].first_edge = structure->routines[i].n_edges = 0;
    }
}

uint32_t pm_block_at(const struct pm_lifted *lifted, uint64_t address) {
    uint32_t insn = pm_insn_at(lifted, address);
    if (insn == PM_NONE)
        return PM_NONE;
    uint32_t block = lifted->insn_block[insn];
    return block != PM_NONE && lifted->block_codes[block].first_insn == insn ? block : PM_NONE;
}
