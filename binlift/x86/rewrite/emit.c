/* Emits the new code of every routine that moves: its basic blocks in their old order, each with
   its counters and records, then what is out of line: code added on branches, entries for control
   that arrives from outside, calls of the runtime when the buffer is full.

   A block's labels, in order: its entry, if there is something to do for control that arrives from
   outside (block_entries.c); its pre-head, if the branch to it that is taken most has its added
   code right in front of the block, so that it costs no jump; its first instruction.

   Needs all plans.  Fills pm_rewrite.code. */
#include "binlift/counters/counters.h"
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

#include <stdlib.h>

enum { WATCHED_ALIGNMENT = 8 }; /* so that the jump can be taken out at once */

struct branch_stub {
    uint32_t label, edge, from; /* from: basic block */
    pm_live_set live;
    struct pm_target target;
};

struct slow_path {
    struct pm_segment segment;
    uint32_t slow_label, back_label;
};

struct emission {
    struct pm_rewrite *rewrite;
    const struct pm_lifted *lifted;
    struct pm_points *points;
    const struct pm_block_points *blocks; /* the points', per block */
    bool *inner_heads;                    /* per block: the head of an innermost loop */
    bool *has_entry;                      /* per block: its own entry stands right in front of it */
    PM_ARRAY(struct branch_stub, stubs);
    PM_ARRAY(struct slow_path, slow_paths);
};

static uint32_t counter_of(const struct emission *e, uint32_t edge) {
    return pm_counter_of(e->rewrite->plan, edge);
}

/* ---- where in a block its counter stands
 * --------------------------------------------------------- */

static bool flags_dead(const struct emission *e, uint32_t k) {
    return !(e->rewrite->live[k] & PM_LIVE_FLAGS);
}

/* Before which instruction the edge into BLOCK is counted: the first with dead flags, but not
   behind a call, which may never come back. */
static uint32_t place_near_head(const struct emission *e, uint32_t block) {
    const struct pm_block_code *code = &e->lifted->block_codes[block];
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
        if (flags_dead(e, k))
            return k;
        if (pm_is_call(e->lifted->insns[k].control))
            break;
    }
    return code->first_insn;
}

/* The same for the edge out of it: the last with dead flags, but not before another call. */
static uint32_t place_near_end(const struct emission *e, uint32_t block) {
    const struct pm_block_code *code = &e->lifted->block_codes[block];
    uint32_t last = code->first_insn + code->n_insns - 1;
    for (uint32_t k = last;; k--) {
        if (flags_dead(e, k))
            return k;
        if (k == code->first_insn || pm_is_call(e->lifted->insns[k - 1].control))
            return last;
    }
}

/* ---- targets -------------------------------------------------------------------------------- */

struct pm_target pm_x86_outer_target(const struct pm_rewrite *rewrite, uint64_t address) {
    uint32_t block = pm_block_at(rewrite->lifted, address);
    if (block == PM_NONE || rewrite->entries[block] == PM_NONE)
        return pm_to_address(address);
    return pm_to_label(rewrite->entries[block]);
}

static pm_live_set live_at_block(const struct emission *e, uint32_t block) {
    return e->rewrite->live[e->lifted->block_codes[block].first_insn];
}

static pm_live_set live_at_address(const struct emission *e, uint64_t address) {
    uint32_t block = pm_block_at(e->lifted, address);
    return block == PM_NONE || !e->rewrite->plan->block_moves[block] ? PM_LIVE_ALL
                                                                     : live_at_block(e, block);
}

static struct pm_target inner_target(const struct emission *e, uint32_t block) {
    return pm_to_label(e->lifted->block_codes[block].first_insn);
}

/* Where the direct branch or jump at the end of BLOCK goes, through the code that is added on it if
 * there is any. */
static struct pm_target taken_target(struct emission *e, uint32_t block) {
    const struct pm_block_points *points = &e->blocks[block];
    const struct pm_insn *insn = pm_last_insn(e->lifted, block);
    struct pm_target target = points->taken != PM_NONE
                                  ? inner_target(e, points->taken)
                                  : pm_x86_outer_target(e->rewrite, insn->target);
    if (points->branch == PM_NONE)
        return target;
    if (points->taken != PM_NONE && e->blocks[points->taken].pre_head == points->branch)
        return pm_to_label(e->blocks[points->taken].pre_head_label);
    struct branch_stub *stub = PM_PUSH(e, stubs);
    stub->label = pm_code_new_labels(&e->rewrite->code, 1);
    stub->edge = points->branch;
    stub->from = block;
    stub->live = points->taken != PM_NONE ? live_at_block(e, points->taken)
                                          : live_at_address(e, insn->target);
    stub->target = target;
    return pm_to_label(stub->label);
}

/* ---- one block ------------------------------------------------------------------------------ */

static void put_segment_part(struct emission *e, const struct pm_segment *segment, uint32_t k) {
    struct pm_rewrite *rewrite = e->rewrite;
    if (k == segment->first) {
        struct slow_path *slow = PM_PUSH(e, slow_paths);
        slow->segment = *segment;
        slow->slow_label = pm_code_new_labels(&rewrite->code, 2);
        slow->back_label = slow->slow_label + 1;
        pm_x86_put_segment_start(rewrite, segment, slow->slow_label, slow->back_label);
    }
    pm_x86_put_records(rewrite, segment, k);
    if (k == segment->last)
        pm_x86_put_segment_end(rewrite, segment);
}

static void put_body(struct emission *e, uint32_t block) {
    struct pm_rewrite *rewrite = e->rewrite;
    const struct pm_block_points *points = &e->blocks[block];
    const struct pm_block_code *code = &e->lifted->block_codes[block];
    uint32_t end = code->first_insn + code->n_insns, n_segments = 0, s = 0;
    bool recorded = rewrite->plan->records[e->lifted->structure->blocks[block].routine];
    struct pm_segment *segments =
        recorded ? pm_x86_plan_segments(rewrite, block, &n_segments) : NULL;
    uint32_t count_in = points->in_target == PM_NONE ? PM_NONE : place_near_head(e, block);
    uint32_t count_out = points->in_source == PM_NONE ? PM_NONE : place_near_end(e, block);

    bool watched = pm_x86_is_watched(rewrite, block);
    if (watched)
        pm_code_align(&rewrite->code, WATCHED_ALIGNMENT, 0);
    for (uint32_t k = code->first_insn; k < end; k++) {
        const struct pm_insn *insn = &e->lifted->insns[k];
        bool in_segment = s < n_segments && k >= segments[s].first;
        pm_live_set reserved =
            in_segment && k > segments[s].first ? pm_segment_registers(&segments[s]) : 0;
        pm_code_bind(&rewrite->code, k);
        pm_x86_mark_frame(rewrite, insn->address);
        if (k == code->first_insn && watched)
            pm_x86_put_watched_jump(rewrite, block);
        if (k == code->first_insn && points->loop_entry != PM_NONE)
            pm_x86_put_trip_edges(rewrite, e->points, points->loop_entry, rewrite->live[k]);
        if (k == code->first_insn && points->event_in != PM_NONE)
            pm_x86_put_probes(rewrite, points->event_in);
        if (k == code->first_insn)
            pm_x86_put_iteration(rewrite, block);
        if (k == count_in)
            pm_x86_put_counter(rewrite, counter_of(e, points->in_target), rewrite->live[k],
                               reserved);
        if (k == count_out)
            pm_x86_put_counter(rewrite, counter_of(e, points->in_source), rewrite->live[k],
                               reserved);
        if (in_segment) {
            put_segment_part(e, &segments[s], k);
            s += k == segments[s].last;
        }
        if (recorded)
            pm_x86_put_called(rewrite, k);
        if (k == end - 1 && points->event_out != PM_NONE)
            pm_x86_put_probes(rewrite, points->event_out);
        if (k == end - 1 && points->loop_exit != PM_NONE)
            pm_x86_put_trip_edges(rewrite, e->points, points->loop_exit, rewrite->live[k]);
        if (insn->is_nop)
            continue;
        if (k == end - 1 && rewrite->sets_tag[block])
            pm_put_store_tag_gs(&rewrite->code, block + 1, PM_SLOT_TAG);
        if (k == end - 1)
            pm_x86_put_outcome(rewrite, block);
        bool is_direct = insn->control == PM_CONTROL_BRANCH ||
                         insn->control == PM_CONTROL_BRANCH_LOOP ||
                         insn->control == PM_CONTROL_JUMP;
        pm_x86_put_instruction(rewrite, k, is_direct ? taken_target(e, block) : pm_to_address(0));
    }
    free(segments);
}

static bool ends_in_moved_call(const struct emission *e, uint32_t block) {
    const struct pm_block_code *code = &e->lifted->block_codes[block];
    return e->rewrite->call_forms[code->first_insn + code->n_insns - 1] == PM_CALL_MOVED;
}

/* Does control leave the last instruction of BLOCK for the next byte of the new code?  A call that
   stays comes back by its old return address. */
static bool falls_through(const struct emission *e, uint32_t block) {
    uint8_t control = pm_last_insn(e->lifted, block)->control;
    return ends_in_moved_call(e, block) || control == PM_CONTROL_NONE ||
           control == PM_CONTROL_BRANCH || control == PM_CONTROL_BRANCH_LOOP;
}

/* What stands behind a block that falls through; NEXT is the block emitted next.  Returns whether
   control runs into that.  A call comes back as to the old return address: by the entry. */
static bool put_fallthrough(struct emission *e, uint32_t block, uint32_t next) {
    const struct pm_structure *structure = e->lifted->structure;
    const struct pm_insn *insn = pm_last_insn(e->lifted, block);
    uint64_t address = insn->address + insn->length;
    uint32_t edge = e->blocks[block].fallthrough;
    pm_x86_mark_frame(e->rewrite, insn->control == PM_CONTROL_NONE ? address : insn->address);
    if (edge != PM_NONE)
        pm_x86_put_edge(e->rewrite, e->points, edge, live_at_address(e, address));
    if (next != PM_NONE && structure->blocks[next].address == address)
        return true;
    uint32_t to = pm_block_at(e->lifted, address);
    bool inside = to != PM_NONE && e->rewrite->plan->block_moves[to] &&
                  structure->blocks[to].routine == structure->blocks[block].routine &&
                  !ends_in_moved_call(e, block);
    pm_code_jump(&e->rewrite->code,
                 inside ? inner_target(e, to) : pm_x86_outer_target(e->rewrite, address));
    return false;
}

static bool has_own_entry(const struct emission *e, uint32_t block) {
    return e->rewrite->entries[block] != e->lifted->block_codes[block].first_insn;
}

/* Blocks that the compiler aligned stay so: those behind a no-op on a multiple of 16. */
static bool was_aligned(const struct emission *e, uint32_t block) {
    uint32_t first = e->lifted->block_codes[block].first_insn;
    return (e->lifted->insns[first].address & 15) == 0 && first > 0 &&
           e->lifted->insns[first - 1].is_nop;
}

/* Heads of innermost loops keep their place within a cache line: how fast a short loop is depends
   on it (a sparse product took 6% longer by the move alone), and its bytes are often the old ones.
 */
static bool *find_inner_heads(const struct pm_structure *structure) {
    bool *is_head = pm_alloc(structure->n_blocks, sizeof *is_head);
    bool *has_loop = pm_alloc(structure->n_scopes, sizeof *has_loop);
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        uint32_t outer =
            structure->scopes[s].kind == PM_SCOPE_LOOP ? pm_outer_loop(structure, s) : PM_NONE;
        if (outer != PM_NONE)
            has_loop[outer] = true;
    }
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        uint32_t header = structure->scopes[s].header;
        if (structure->scopes[s].kind == PM_SCOPE_LOOP && !has_loop[s] && header != PM_NONE)
            is_head[header] = true;
    }
    free(has_loop);
    return is_head;
}

/* Not where each iteration would run through the no-ops to be counted. */
static void align_inner_head(struct emission *e, uint32_t block) {
    enum { CACHE_LINE = 64 };
    uint32_t pre_head = e->blocks[block].pre_head;
    if (e->inner_heads[block] &&
        (pre_head == PM_NONE || e->points->trip_entries[pre_head] != PM_NONE))
        pm_code_align(&e->rewrite->code, CACHE_LINE,
                      e->lifted->structure->blocks[block].address % CACHE_LINE);
}

/* CALL_RETURNS: the call that ends the block before comes back here. */
static void put_head(struct emission *e, uint32_t block, bool is_first, bool falls_in,
                     bool call_returns) {
    struct pm_code *code = &e->rewrite->code;
    const struct pm_block_points *points = &e->blocks[block];
    if (is_first || was_aligned(e, block))
        pm_code_align(code, 16, 0);
    pm_x86_mark_frame(e->rewrite, e->lifted->structure->blocks[block].address);
    if ((is_first || call_returns) && has_own_entry(e, block)) {
        e->has_entry[block] = true;
        pm_x86_put_entry(e->rewrite, block);
        falls_in = true;
    }
    if (points->pre_head == PM_NONE)
        return;
    if (falls_in)
        pm_code_jump(code, inner_target(e, block));
    pm_code_bind(code, points->pre_head_label);
    pm_x86_put_edge(e->rewrite, e->points, points->pre_head, live_at_block(e, block));
}

/* ---- one routine ---------------------------------------------------------------------------- */

static void put_out_of_line(struct emission *e, uint32_t first_block, uint32_t end) {
    struct pm_code *code = &e->rewrite->code;
    for (uint32_t b = first_block; b < end; b++)
        if (pm_x86_is_watched(e->rewrite, b)) {
            pm_x86_mark_frame(e->rewrite, e->lifted->structure->blocks[b].address);
            pm_x86_put_watched(e->rewrite, b, taken_target(e, b));
        }
    for (uint32_t i = 0; i < e->n_stubs; i++) {
        pm_code_bind(code, e->stubs[i].label);
        pm_x86_mark_frame(e->rewrite, pm_last_insn(e->lifted, e->stubs[i].from)->address);
        pm_x86_put_edge(e->rewrite, e->points, e->stubs[i].edge, e->stubs[i].live);
        pm_code_jump(code, e->stubs[i].target);
    }
    for (uint32_t b = first_block; b < end; b++)
        if (e->rewrite->plan->block_moves[b] && !e->has_entry[b] && has_own_entry(e, b)) {
            pm_x86_mark_frame(e->rewrite, e->lifted->structure->blocks[b].address);
            pm_x86_put_entry(e->rewrite, b);
            pm_code_jump(code, inner_target(e, b));
        }
    for (uint32_t i = 0; i < e->n_slow_paths; i++) {
        const struct slow_path *slow = &e->slow_paths[i];
        pm_x86_mark_frame(e->rewrite, e->lifted->insns[slow->segment.first].address);
        pm_x86_put_slow_path(e->rewrite, &slow->segment, slow->slow_label, slow->back_label);
    }
    e->n_stubs = e->n_slow_paths = 0;
}

static void emit_routine(struct emission *e, const struct pm_routine *routine) {
    uint32_t end = routine->first_block + routine->n_blocks;
    uint32_t first = PM_NONE, previous = PM_NONE;
    for (uint32_t b = routine->first_block; b < end; b++) {
        if (!e->rewrite->plan->block_moves[b])
            continue;
        bool falls_in =
            previous != PM_NONE && falls_through(e, previous) && put_fallthrough(e, previous, b);
        if (first == PM_NONE)
            first = b;
        put_head(e, b, b == first, falls_in, falls_in && ends_in_moved_call(e, previous));
        align_inner_head(e, b);
        put_body(e, b);
        previous = b;
    }
    if (previous != PM_NONE && falls_through(e, previous))
        put_fallthrough(e, previous, PM_NONE);
    put_out_of_line(e, routine->first_block, end);
}

void pm_x86_emit_routines(struct pm_rewrite *rewrite) {
    const struct pm_structure *structure = rewrite->lifted->structure;
    struct emission e = {.rewrite = rewrite, .lifted = rewrite->lifted};
    e.points = pm_x86_find_points(rewrite);
    e.blocks = e.points->blocks;
    e.inner_heads = find_inner_heads(structure);
    e.has_entry = pm_alloc(structure->n_blocks, sizeof *e.has_entry);
    for (uint32_t r = 0; r < structure->n_routines; r++)
        if (rewrite->plan->moves[r])
            emit_routine(&e, &structure->routines[r]);
    free(e.stubs);
    free(e.slow_paths);
    free(e.inner_heads);
    free(e.has_entry);
    pm_x86_points_free(e.points);
}
