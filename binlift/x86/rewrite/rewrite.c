/* The rewriter as a list of passes.  The mechanism: code moves as a whole to a new segment; a call
   moves with it where the plan says so, else it stays at its old place, so that its return address
   is the old one and unwinding goes on working by the old tables; jump tables stay, and at their
   old targets trampolines lead to the new code. */
#include "binlift/x86/rewrite/private.h"

#include <stdlib.h>
#include <string.h>

enum { STD = 0xfd };

static bool has_std(const struct pm_lifted *lifted) {
    for (uint32_t k = 0; k < lifted->n_insns; k++)
        if (lifted->insns[k].length == 1 && *pm_insn_bytes(lifted, k) == STD)
            return true;
    return false;
}

static struct pm_rewrite begin(const struct pm_lifted *lifted,
                               const struct pm_instrumentation_plan *plan,
                               struct pm_new_code *made) {
    const struct pm_structure *structure = lifted->structure;
    struct pm_rewrite rewrite = {.lifted = lifted, .plan = plan, .made = made};
    rewrite.sets_direction_flag = has_std(lifted);
    rewrite.live = pm_find_liveness(lifted, plan->moves, NULL);
    rewrite.call_forms = pm_alloc(lifted->n_insns, sizeof *rewrite.call_forms);
    rewrite.entries = pm_alloc(structure->n_blocks, sizeof *rewrite.entries);
    rewrite.sets_tag = pm_alloc(structure->n_blocks, sizeof *rewrite.sets_tag);
    rewrite.clears_tag = pm_alloc(structure->n_blocks, sizeof *rewrite.clears_tag);
    rewrite.record_places = pm_alloc(structure->n_references, sizeof *rewrite.record_places);
    pm_code_new_labels(&rewrite.code, (uint32_t)lifted->n_insns);
    return rewrite;
}

static void end(struct pm_rewrite *rewrite) {
    free(rewrite->live);
    free(rewrite->call_forms);
    free(rewrite->entries);
    free(rewrite->sets_tag);
    free(rewrite->clears_tag);
    free(rewrite->record_places);
    pm_x86_watched_free(rewrite->watched);
    free(rewrite->trampolines);
    free(rewrite->frame_marks);
    free(rewrite->returns);
    free(rewrite->interval_ends);
    pm_code_free(&rewrite->code);
}

bool pm_x86_rewrite(const struct pm_lifted *lifted, const struct pm_instrumentation_plan *plan,
                    uint64_t address, struct pm_new_code *made, struct pm_error *err) {
    const struct pm_image *original = &lifted->image;
    struct pm_rewrite rewrite = begin(lifted, plan, made);
    pm_x86_plan_trampolines(&rewrite);
    pm_x86_plan_entries(&rewrite);
    if (plan->options->bounds)
        pm_x86_find_watched(&rewrite);
    pm_x86_emit_routines(&rewrite);
    pm_code_layout(&rewrite.code, address);
    if (plan->options->bounds)
        pm_x86_tell_watched(&rewrite);

    made->code_bytes = rewrite.code.size_bytes;
    made->code = pm_alloc(made->code_bytes, 1);
    made->image = memcpy(pm_alloc(original->n_bytes, 1), original->bytes, original->n_bytes);
    bool reaches = pm_code_write(&rewrite.code, made->code) && pm_x86_patch_old_text(&rewrite);
    if (reaches && plan->call_moves)
        pm_x86_list_frames(&rewrite);
    if (reaches)
        pm_x86_list_interval_ends(&rewrite);
    end(&rewrite);
    return reaches || pm_fail(err,
                              "%s: the new code would be more than 2 GiB away from the old, so it "
                              "cannot be instrumented",
                              original->path);
}
