/* The code that stores outcomes of branches (core/probe_abi.h), for how predictable they are.

   Before a conditional branch its flags are alive, so nothing here changes them: setcc, lea, and
   jrcxz, which tells that the buffer is full.  One register is spilled unless it is dead. */
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

enum { VALUE_AT = 4, JRCXZ = 0xe3, JUMP_SHORT = 0xeb };

/* Goes to the runtime; REG is its to use. */
static void put_full(struct pm_code *code, unsigned reg) {
    uint32_t back = pm_code_new_labels(code, 1);
    pm_put_lea_target(code, reg, pm_to_label(back));
    pm_put_store_gs(code, reg, PM_CB_RETURN);
    pm_put_jump_gs(code, PM_CB_BRANCH_PATH);
    pm_code_bind(code, back);
}

static uint32_t number_of(const struct pm_rewrite *rewrite, uint32_t branch) {
    return rewrite->plan->options->first_branch + branch;
}

void pm_x86_put_outcome(struct pm_rewrite *rewrite, uint32_t block) {
    struct pm_code *code = &rewrite->code;
    uint32_t branch = rewrite->plan->branch_of[block];
    if (branch == PM_NONE || pm_branch_is_loop(rewrite->plan->branches[branch].kind))
        return;
    const struct pm_insn *insn = pm_last_insn(rewrite->lifted, block);
    uint32_t k = (uint32_t)(insn - rewrite->lifted->insns);
    bool spills = rewrite->live[k] & PM_LIVE_BIT(PM_RCX);
    if (spills)
        pm_put_store_gs(code, PM_RCX, PM_SLOT_BRANCH);
    pm_put_load_gs(code, PM_RCX, PM_CB_BRANCH_LEFT);
    pm_put_set_gs_based(code, pm_x86_condition(pm_insn_bytes(rewrite->lifted, k)), PM_RCX,
                        PM_CB_BRANCHES_END + VALUE_AT);
    pm_put_store_tag_gs_based(code, number_of(rewrite, branch), PM_RCX, PM_CB_BRANCHES_END);
    pm_put_lea(code, PM_RCX, PM_RCX, sizeof(struct pm_branch_record));
    pm_put_store_gs(code, PM_RCX, PM_CB_BRANCH_LEFT);
    pm_code_append(code, (uint8_t[]){JRCXZ, 2, JUMP_SHORT, 0}, 4); /* over the jump */
    size_t at = code->n_bytes;
    put_full(code, PM_RCX);
    code->bytes[at - 1] = (uint8_t)(code->n_bytes - at);
    if (spills)
        pm_put_load_gs(code, PM_RCX, PM_SLOT_BRANCH);
}

void pm_x86_put_visit(struct pm_rewrite *rewrite, uint32_t block, unsigned reg, pm_live_set taken) {
    struct pm_code *code = &rewrite->code;
    uint32_t branch = rewrite->plan->branch_of[block];
    if (branch == PM_NONE || !pm_branch_is_loop(rewrite->plan->branches[branch].kind))
        return;
    unsigned pointer = reg == PM_RCX ? PM_RSI : PM_RCX;
    uint32_t over = pm_code_new_labels(code, 1);
    bool spills = taken & PM_LIVE_BIT(pointer);
    if (spills)
        pm_put_store_gs(code, pointer, PM_SLOT_BRANCH);
    pm_put_load_gs(code, pointer, PM_CB_BRANCH_LEFT);
    pm_put_store_gs_based(code, reg, pointer, PM_CB_BRANCHES_END + VALUE_AT);
    pm_put_store_tag_gs_based(code, number_of(rewrite, branch), pointer, PM_CB_BRANCHES_END);
    pm_put_add(code, pointer, sizeof(struct pm_branch_record));
    pm_put_store_gs(code, pointer, PM_CB_BRANCH_LEFT);
    pm_code_branch(code, PM_CONDITION_NE, pm_to_label(over));
    put_full(code, pointer);
    pm_code_bind(code, over);
    if (spills)
        pm_put_load_gs(code, pointer, PM_SLOT_BRANCH);
}
