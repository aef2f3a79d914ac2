/* The code of a probe: reports an event, or a call of the C library, to the runtime
   (core/probe_abi.h).  It needs no dead register and no dead flag, so that it can stand at the very
   place of an event.  Not within a segment of
   memory records: the runtime may append one. */
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

void pm_x86_put_report(struct pm_code *code, uint32_t event, uint32_t path) {
    uint32_t back = pm_code_new_labels(code, 1);
    pm_put_store_gs(code, PM_RAX, PM_SLOT_SCRATCH);
    pm_put_lea_target(code, PM_RAX, pm_to_label(back));
    pm_put_store_gs(code, PM_RAX, PM_CB_RETURN);
    pm_put_load_gs(code, PM_RAX, PM_SLOT_SCRATCH);
    pm_put_store_tag_gs(code, event, PM_CB_EVENT);
    pm_put_jump_gs(code, path);
    pm_code_bind(code, back);
}

void pm_x86_put_iteration(struct pm_rewrite *rewrite, uint32_t block) {
    uint32_t loop = rewrite->plan->probes->iterates[block];
    if (loop != PM_NONE)
        pm_x86_put_report(&rewrite->code,
                          (loop + rewrite->plan->options->first_scope) << 2 | PM_EVENT_ITERATION,
                          PM_CB_EVENT_PATH);
}

/* The event right before the last instruction of BLOCK has been put. */
static void mark_interval_end(struct pm_rewrite *rewrite, uint32_t block) {
    const struct pm_insn *insn = pm_last_insn(rewrite->lifted, block);
    *PM_PUSH(rewrite, interval_ends) = (struct pm_interval_mark){
        pm_code_here(&rewrite->code), (uint32_t)(insn - rewrite->lifted->insns)};
}

void pm_x86_put_probes(struct pm_rewrite *rewrite, uint32_t edge) {
    const struct pm_probe_plan *plan = rewrite->plan->probes;
    for (uint32_t i = plan->first[edge]; i < plan->first[edge + 1]; i++) {
        pm_x86_put_report(&rewrite->code,
                          plan->events[i] + (rewrite->plan->options->first_scope << 2),
                          PM_CB_EVENT_PATH);
        if (pm_event_what(plan->events[i]) == PM_EVENT_INTERVAL_END)
            mark_interval_end(rewrite, rewrite->lifted->structure->edges[edge].from);
    }
}

static int by_address(const void *left, const void *right) {
    const struct pm_interval_place *a = left, *b = right;
    return PM_COMPARE(a->address, b->address);
}

void pm_x86_list_interval_ends(struct pm_rewrite *rewrite) {
    struct pm_new_code *made = rewrite->made;
    for (size_t i = 0; i < rewrite->n_interval_ends; i++)
        *PM_PUSH(made, interval_ends) = (struct pm_interval_place){
            pm_code_place_address(&rewrite->code, rewrite->interval_ends[i].place),
            rewrite->interval_ends[i].insn};
    PM_SORT(made->interval_ends, made->n_interval_ends, by_address);
}

void pm_x86_put_called(struct pm_rewrite *rewrite, uint32_t insn) {
    const struct pm_lifted *lifted = rewrite->lifted;
    const struct pm_insn *code = &lifted->insns[insn];
    uint32_t first = pm_x86_end_references(lifted, insn), end = lifted->insn_references[insn + 1];
    if (first == end) {
        if (pm_call_synchronises(lifted, code))
            pm_x86_put_report(&rewrite->code, pm_called_word(0, PM_CALLED_SYNCHRONISE, 0),
                              PM_CB_CALLED_PATH);
        return;
    }
    uint32_t reference = rewrite->plan->options->first_reference + first, word;
    if (pm_x86_stops_early(code)) {
        unsigned scale = (unsigned)__builtin_ctz(code->memory[0].size_bytes);
        word = pm_called_word(reference, code->memory[0].stops_early, scale);
    } else {
        const struct pm_called_routine *routine = pm_called_routine(lifted, code);
        word = pm_called_word(reference, routine->called, routine->scale);
    }
    pm_x86_put_report(&rewrite->code, word, PM_CB_CALLED_PATH);
}
