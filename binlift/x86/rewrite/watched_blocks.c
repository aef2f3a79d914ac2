/* Basic blocks of which something is recorded for lower bounds: the values of loads that have a
   slot, and the outcomes of branches that are replayed (binlift/bound/bound.h).  Fursin et al.
   2004, section 3: instrumentation that removes itself.

   Such a block begins with a jump of 5 bytes, in one aligned word, to a copy of it out of line, in
   which each of these instructions is preceded by a report: PM_CB_CALLED_PATH with the access's or
   branch's number (core/bound_abi.h), the address in PM_SLOT_ADDRESS.  When the runtime has all
   that it wants of the block, it makes a no-op of the jump. */
#include "binlift/bound/bound.h"
#include "binlift/code/code.h"
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

#include <stdlib.h>

enum { JUMP = 0xe9 };

struct pm_watched {
    uint32_t *labels;            /* per basic block: its copy with reports; PM_NONE: it has none */
    struct pm_code_place *jumps; /* per basic block that has one: the jump there */
    uint32_t *accesses;          /* per reference: in the plan, of those that have slots; PM_NONE */
    uint32_t *branches;          /* per instruction: in the plan's replayed ones; PM_NONE */
};

static uint32_t *unknown(size_t n) {
    uint32_t *all = pm_alloc(n, sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = PM_NONE;
    return all;
}

static bool has_reports(const struct pm_lifted *lifted, const struct pm_watched *watched,
                        const struct pm_block_code *code) {
    uint32_t end = code->first_insn + code->n_insns;
    for (uint32_t k = code->first_insn; k < end; k++) {
        if (watched->branches[k] != PM_NONE)
            return true;
        for (uint32_t r = lifted->insn_references[k]; r < lifted->insn_references[k + 1]; r++)
            if (watched->accesses[r] != PM_NONE)
                return true;
    }
    return false;
}

void pm_x86_find_watched(struct pm_rewrite *rewrite) {
    const struct pm_lifted *lifted = rewrite->lifted;
    const struct pm_bound_plan *plan = rewrite->plan->options->bounds;
    size_t n = lifted->structure->n_blocks;
    struct pm_watched *watched = pm_alloc(1, sizeof *watched);
    watched->labels = unknown(n);
    watched->jumps = pm_alloc(n, sizeof *watched->jumps);
    watched->accesses = unknown(lifted->structure->n_references);
    watched->branches = unknown(lifted->n_insns);
    for (uint32_t i = 0; i < plan->n_accesses; i++)
        if (plan->accesses[i].recorded == i)
            watched->accesses[plan->accesses[i].reference] = i;
    for (uint32_t i = 0; i < plan->n_replayed; i++)
        watched->branches[plan->replayed[i]] = plan->recorded_branches[i];
    for (size_t b = 0; b < n; b++)
        if (rewrite->plan->block_moves[b] && has_reports(lifted, watched, &lifted->block_codes[b]))
            watched->labels[b] = pm_code_new_labels(&rewrite->code, 1);
    rewrite->watched = watched;
}

void pm_x86_watched_free(struct pm_watched *watched) {
    if (!watched)
        return;
    free(watched->labels);
    free(watched->jumps);
    free(watched->accesses);
    free(watched->branches);
    free(watched);
}

bool pm_x86_is_watched(const struct pm_rewrite *rewrite, uint32_t block) {
    return rewrite->watched && rewrite->watched->labels[block] != PM_NONE;
}

void pm_x86_put_watched_jump(struct pm_rewrite *rewrite, uint32_t block) {
    rewrite->watched->jumps[block] = pm_code_here(&rewrite->code);
    pm_code_byte(&rewrite->code, JUMP);
    pm_code_relative(&rewrite->code, pm_to_label(rewrite->watched->labels[block]), 4);
}

static void put_access_report(struct pm_rewrite *rewrite, uint32_t k) {
    const struct pm_lifted *lifted = rewrite->lifted;
    const struct pm_insn *insn = &lifted->insns[k];
    struct pm_code *code = &rewrite->code;
    for (unsigned i = 0; i < insn->n_memory; i++) {
        uint32_t access = rewrite->watched->accesses[lifted->insn_references[k] + i];
        if (access == PM_NONE)
            continue;
        pm_put_store_gs(code, PM_RAX, PM_SLOT_SCRATCH);
        pm_x86_put_address(rewrite, &insn->memory[i], PM_RAX);
        pm_put_store_gs(code, PM_RAX, PM_SLOT_ADDRESS);
        pm_put_load_gs(code, PM_RAX, PM_SLOT_SCRATCH);
        pm_x86_put_report(code, access << 1, PM_CB_CALLED_PATH);
    }
}

/* Two reports, one for each way; TAKEN: where the branch goes, NEXT: where it does not. */
static void put_outcome(struct pm_rewrite *rewrite, uint32_t k, uint32_t number,
                        struct pm_target taken, struct pm_target next) {
    struct pm_code *code = &rewrite->code;
    uint32_t goes = pm_code_new_labels(code, 1), branch = PM_BOUND_REPORT_BRANCH | number << 1;
    pm_x86_put_branch(code, pm_insn_bytes(rewrite->lifted, k), pm_to_label(goes));
    pm_x86_put_report(code, branch, PM_CB_CALLED_PATH);
    pm_code_jump(code, next);
    pm_code_bind(code, goes);
    pm_x86_put_report(code, branch | 1, PM_CB_CALLED_PATH);
    pm_code_jump(code, taken);
}

/* Where control goes on behind BLOCK, in the plain code. */
static struct pm_target behind(const struct pm_rewrite *rewrite, uint32_t block) {
    const struct pm_lifted *lifted = rewrite->lifted;
    const struct pm_insn *end = pm_last_insn(lifted, block);
    uint32_t to = pm_block_at(lifted, end->address + end->length);
    bool inside = to != PM_NONE && rewrite->plan->block_moves[to] &&
                  lifted->structure->blocks[to].routine == lifted->structure->blocks[block].routine;
    return inside ? pm_to_label(lifted->block_codes[to].first_insn)
                  : pm_x86_outer_target(rewrite, end->address + end->length);
}

void pm_x86_put_watched(struct pm_rewrite *rewrite, uint32_t block, struct pm_target taken) {
    const struct pm_lifted *lifted = rewrite->lifted;
    const struct pm_block_code *code = &lifted->block_codes[block];
    uint32_t last = code->first_insn + code->n_insns - 1;
    uint32_t branch = rewrite->watched->branches[last];
    pm_code_bind(&rewrite->code, rewrite->watched->labels[block]);
    for (uint32_t k = code->first_insn; k <= last; k++) {
        put_access_report(rewrite, k);
        if (k == last && branch != PM_NONE)
            put_outcome(rewrite, k, branch, taken, behind(rewrite, block));
        else if (!lifted->insns[k].is_nop)
            pm_x86_put_instruction(rewrite, k, taken);
    }
    if (branch == PM_NONE && lifted->insns[last].control != PM_CONTROL_JUMP)
        pm_code_jump(&rewrite->code, behind(rewrite, block));
}

void pm_x86_tell_watched(const struct pm_rewrite *rewrite) {
    uint64_t *addresses = rewrite->plan->options->watched;
    for (size_t b = 0; b < rewrite->lifted->structure->n_blocks; b++)
        addresses[b] = pm_x86_is_watched(rewrite, (uint32_t)b)
                           ? pm_code_place_address(&rewrite->code, rewrite->watched->jumps[b])
                           : 0;
}
