/* Plans the old text: at which old addresses control may still arrive, how it gets from there to
   the new code, and which calls stay in place.

   Control may arrive at the start of a block that is entered from outside (entries, jump-table
   targets, landing pads, address-taken labels), and at the return address of a call.  Best is a
   jump of 5 bytes; where the next such address or call is too near, a jump of 2 bytes to a hole of
   5 free bytes; else a call near by gives way and is made from the new text instead; else an int3
   whose trap the runtime redirects.

   In a routine with a jump to unknown targets, or whose address other code computes with, control
   may come to any instruction, so nothing is put over the start of one there: a trap is slow, half
   a jump ends the program.

   Fills pm_rewrite.call_forms and trampolines. */
#include "binlift/x86/rewrite/private.h"

#include <stdlib.h>
#include <string.h>

enum { JUMP_BYTES = 5, HOP_BYTES = 2, HOP_REACH = 120, MAX_PADDING = 64 };

/* Bits of a byte of old text. */
enum {
    ROOM_FREE = 1,
    ROOM_ARRIVAL = 2,
    ROOM_START = 4 /* of an instruction that may be reached */
};

struct plan {
    struct pm_rewrite *rewrite;
    const struct pm_lifted *lifted;
    uint8_t *room; /* per byte from text_low */
    uint64_t low, n_bytes;
};

static uint32_t insn_of(const struct plan *plan, const struct pm_trampoline *trampoline) {
    return pm_insn_at(plan->lifted, trampoline->from);
}

/* ---- where control may arrive --------------------------------------------------------------- */

static void add(struct pm_rewrite *rewrite, uint64_t from) {
    PM_PUSH(rewrite, trampolines)->from = from;
}

static int compare_addresses(const void *left, const void *right) {
    const struct pm_trampoline *a = left, *b = right;
    return PM_COMPARE(a->from, b->from);
}

static bool call_moves(const struct pm_rewrite *rewrite, uint32_t insn) {
    return rewrite->plan->call_moves && rewrite->plan->call_moves[insn];
}

static uint32_t last_insn_of(const struct pm_lifted *lifted, uint32_t block) {
    const struct pm_block_code *code = &lifted->block_codes[block];
    return code->first_insn + code->n_insns - 1;
}

static void add_blocks(struct pm_rewrite *rewrite) {
    const struct pm_lifted *lifted = rewrite->lifted;
    const struct pm_structure *structure = lifted->structure;
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        if (rewrite->plan->block_moves[b] && lifted->block_codes[b].indirect_entry)
            add(rewrite, structure->blocks[b].address);
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        bool enters = edge->kind == PM_EDGE_ENTRY || edge->kind == PM_EDGE_TABLE ||
                      edge->kind == PM_EDGE_INDIRECT_ENTRY;
        bool call_returns = edge->kind == PM_EDGE_FALLTHROUGH &&
                            pm_is_call(pm_last_insn(lifted, edge->from)->control) &&
                            !call_moves(rewrite, last_insn_of(lifted, edge->from));
        if (edge->to != PM_NONE && rewrite->plan->block_moves[edge->to] && (enters || call_returns))
            add(rewrite, structure->blocks[edge->to].address);
    }
}

/* Calls inside a block come back to the block's next instruction. */
static void add_inner_calls(struct pm_rewrite *rewrite) {
    const struct pm_lifted *lifted = rewrite->lifted;
    for (uint32_t b = 0; b < lifted->structure->n_blocks; b++) {
        const struct pm_block_code *code = &lifted->block_codes[b];
        if (!rewrite->plan->block_moves[b])
            continue;
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            if (!pm_is_call(lifted->insns[k].control))
                continue;
            rewrite->call_forms[k] = call_moves(rewrite, k) ? PM_CALL_MOVED : PM_CALL_IN_PLACE;
            if (rewrite->call_forms[k] == PM_CALL_IN_PLACE &&
                k + 1 < code->first_insn + code->n_insns)
                add(rewrite, lifted->insns[k + 1].address);
        }
    }
}

static void sort(struct pm_rewrite *rewrite) {
    uint32_t n = 0;
    PM_SORT(rewrite->trampolines, rewrite->n_trampolines, compare_addresses);
    for (uint32_t i = 0; i < rewrite->n_trampolines; i++)
        if (n == 0 || rewrite->trampolines[n - 1].from != rewrite->trampolines[i].from)
            rewrite->trampolines[n++] = rewrite->trampolines[i];
    rewrite->n_trampolines = n;
}

/* ---- which room ----------------------------------------------------------------------------- */

static void free_bytes(struct plan *plan, uint64_t address, uint64_t n) {
    if (address >= plan->low && address + n <= plan->low + plan->n_bytes)
        memset(plan->room + (address - plan->low), ROOM_FREE, n);
}

/* No-ops and int3 between the end of a routine and what follows. */
static void free_padding(struct plan *plan, uint64_t end) {
    uint64_t at = end;
    while (at < end + MAX_PADDING && pm_routine_at(plan->lifted, at) == PM_NONE) {
        struct pm_insn insn;
        struct pm_insn_parts parts;
        const uint8_t *bytes = pm_image_at(&plan->lifted->image, at, 1);
        if (!bytes)
            break;
        uint64_t n_bytes = 15; /* the longest instruction */
        while (n_bytes > 1 && !pm_image_at(&plan->lifted->image, at, n_bytes))
            n_bytes--;
        if (*bytes == 0xcc)
            insn.length = 1;
        else if (!plan->lifted->isa->decode(bytes, n_bytes, at, &insn, &parts) || !insn.is_nop)
            break;
        if (pm_routine_at(plan->lifted, at + insn.length - 1) != PM_NONE)
            break;
        free_bytes(plan, at, insn.length);
        at += insn.length;
    }
}

static void find_room(struct plan *plan) {
    const struct pm_lifted *lifted = plan->lifted;
    const struct pm_structure *structure = lifted->structure;
    memset(plan->room, 0, plan->n_bytes);
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine_code *code = &lifted->routine_codes[r];
        if (!plan->rewrite->plan->moves[r])
            continue;
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            if (lifted->insns[k].is_nop)
                free_bytes(plan, lifted->insns[k].address, lifted->insns[k].length);
        const struct pm_part *parts = structure->parts + structure->routines[r].first_part;
        for (uint32_t p = 0; p < structure->routines[r].n_parts; p++)
            free_padding(plan, parts[p].address + parts[p].size_bytes);
    }
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block_code *code = &lifted->block_codes[b];
        if (!plan->rewrite->plan->block_moves[b])
            continue;
        uint32_t routine = structure->blocks[b].routine;
        bool may_be_reached = pm_may_be_entered_anywhere(lifted, routine);
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            if (plan->rewrite->call_forms[k] != PM_CALL_IN_PLACE)
                free_bytes(plan, lifted->insns[k].address, lifted->insns[k].length);
            if (may_be_reached)
                plan->room[lifted->insns[k].address - plan->low] |= ROOM_START;
        }
    }
    for (size_t i = 0; i < plan->rewrite->plan->n_read_bytes; i++) {
        const struct pm_byte_range *range = &plan->rewrite->plan->read_bytes[i];
        for (uint64_t at = range->low; at < range->high && at < plan->low + plan->n_bytes; at++)
            plan->room[at - plan->low] = 0;
    }
    for (uint32_t i = 0; i < plan->rewrite->n_trampolines; i++)
        plan->room[plan->rewrite->trampolines[i].from - plan->low] |= ROOM_ARRIVAL;
}

/* ---- what stands where ---------------------------------------------------------------------- */

/* Are N bytes free at AT, where control may arrive itself if IS_ARRIVAL, but nowhere else? */
static bool fits(const struct plan *plan, uint64_t at, unsigned n, bool is_arrival) {
    uint64_t offset = at - plan->low;
    if (at < plan->low || offset + n > plan->n_bytes)
        return false;
    for (unsigned i = 0; i < n; i++) {
        bool may_arrive = i == 0 && is_arrival;
        uint8_t room = plan->room[offset + i] & (may_arrive ? ~ROOM_START : 0xff);
        if (room != (may_arrive ? ROOM_FREE | ROOM_ARRIVAL : ROOM_FREE))
            return false;
    }
    return true;
}

static void take(struct plan *plan, uint64_t at, unsigned n) {
    memset(plan->room + (at - plan->low), 0, n);
}

static bool place_jump(struct plan *plan, struct pm_trampoline *trampoline) {
    if (!fits(plan, trampoline->from, JUMP_BYTES, true))
        return false;
    trampoline->form = PM_TRAMPOLINE_JUMP;
    take(plan, trampoline->from, JUMP_BYTES);
    return true;
}

static bool place_hop(struct plan *plan, struct pm_trampoline *trampoline) {
    if (!fits(plan, trampoline->from, HOP_BYTES, true))
        return false;
    for (int distance = 0; distance <= HOP_REACH; distance++)
        for (int sign = 1; sign >= -1; sign -= 2) {
            uint64_t hole = trampoline->from + HOP_BYTES + (uint64_t)(int64_t)(sign * distance);
            bool overlaps =
                hole + JUMP_BYTES > trampoline->from && hole < trampoline->from + HOP_BYTES;
            if (overlaps || !fits(plan, hole, JUMP_BYTES, false))
                continue;
            take(plan, trampoline->from, HOP_BYTES);
            take(plan, hole, JUMP_BYTES);
            trampoline->form = PM_TRAMPOLINE_HOP;
            trampoline->hole = hole;
            return true;
        }
    return false;
}

/* Moves a call that stands in the way of TRAMPOLINE; false if there is none. */
static bool move_call(struct plan *plan, const struct pm_trampoline *trampoline) {
    const struct pm_lifted *lifted = plan->lifted;
    for (uint32_t k = insn_of(plan, trampoline);
         k != PM_NONE && lifted->insns[k].address < trampoline->from + JUMP_BYTES;
         k = pm_insn_after(lifted, k))
        if (plan->rewrite->call_forms[k] == PM_CALL_IN_PLACE) {
            plan->rewrite->call_forms[k] = PM_CALL_PUSHES;
            return true;
        }
    return false;
}

/* Returns whether all found their form with the calls as they are; if not, calls moved and
   everything is to be planned again. */
static bool place_all(struct plan *plan) {
    struct pm_rewrite *rewrite = plan->rewrite;
    bool moved = false;
    find_room(plan);
    for (uint32_t i = 0; i < rewrite->n_trampolines; i++) {
        rewrite->trampolines[i].form = PM_TRAMPOLINE_TRAP;
        place_jump(plan, &rewrite->trampolines[i]);
    }
    for (uint32_t i = 0; i < rewrite->n_trampolines; i++) {
        struct pm_trampoline *trampoline = &rewrite->trampolines[i];
        if (trampoline->form == PM_TRAMPOLINE_TRAP && !place_hop(plan, trampoline))
            moved |= move_call(plan, trampoline);
    }
    return !moved;
}

void pm_x86_plan_trampolines(struct pm_rewrite *rewrite) {
    struct plan plan = {.rewrite = rewrite, .lifted = rewrite->lifted};
    plan.low = rewrite->lifted->text_low;
    plan.n_bytes = rewrite->lifted->text_high - plan.low;
    plan.room = pm_alloc(plan.n_bytes, 1);
    add_blocks(rewrite);
    add_inner_calls(rewrite);
    sort(rewrite);
    while (!place_all(&plan)) {
    }
    free(plan.room);
}
