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

void pm_x86_put_probes(struct pm_rewrite *rewrite, uint32_t edge) {
    const struct pm_probe_plan *plan = rewrite->plan->probes;
    for (uint32_t i = plan->first[edge]; i < plan->first[edge + 1]; i++)
        pm_x86_put_report(&rewrite->code,
                          plan->events[i] + (rewrite->plan->options->first_scope << 2),
                          PM_CB_EVENT_PATH);
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
