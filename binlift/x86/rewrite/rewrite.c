/* The rewriter as a list of passes: from a lifted program with its counters placed to new code, and
   to the old text with landings where control may still arrive.  The mechanism: code moves as a
   whole to a new segment; calls stay at their old place, so that return addresses are the old ones
   and unwinding goes on working; jump tables stay, and their old targets are landings. */
#include "binlift/x86/rewrite/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "binlift/counters/counters.h"

enum { STD = 0xfd };

static bool can_be_rewritten(const struct pm_lifted *lifted, uint32_t r) {
    const struct pm_routine *routine = &lifted->structure->routines[r];
    const struct pm_routine_code *code = &lifted->routine_codes[r];
    if (routine->state == PM_ROUTINE_REFUSED || !routine->n_blocks || !code->n_insns)
        return false;
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
        if (lifted->insns[k].uses_unsupported)
            return false;
    return true;
}

static bool has_std(const struct pm_lifted *lifted) {
    for (uint32_t k = 0; k < lifted->n_insns; k++)
        if (lifted->insns[k].length == 1 && *pm_insn_bytes(lifted, k) == STD)
            return true;
    return false;
}

static uint8_t *find_places(const struct pm_lifted *lifted) {
    const struct pm_structure *structure = lifted->structure;
    uint8_t *places = pm_alloc(structure->n_edges, sizeof *places);
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        uint8_t *of_routine = pm_counter_places(lifted, r);
        memcpy(places + structure->routines[r].first_edge, of_routine,
               structure->routines[r].n_edges);
        free(of_routine);
    }
    return places;
}

struct pm_rewrite *pm_x86_rewrite_new(struct pm_lifted *lifted,
                                      const struct pm_instrument_options *options) {
    const struct pm_structure *structure = lifted->structure;
    struct pm_rewrite *rewrite = pm_alloc(1, sizeof *rewrite);
    rewrite->lifted = lifted;
    rewrite->options = options;
    rewrite->probes = pm_plan_probes(lifted, options->scope_events);
    rewrite->sets_direction_flag = has_std(lifted);
    rewrite->rewritten = pm_alloc(structure->n_routines, sizeof *rewrite->rewritten);
    for (uint32_t r = 0; r < structure->n_routines; r++)
        rewrite->rewritten[r] =
            can_be_rewritten(lifted, r) && (rewrite->probes->has_probe[r] || !options->only_probed);
    rewrite->owned = pm_alloc(structure->n_blocks, sizeof *rewrite->owned);
    rewrite->entries = pm_alloc(structure->n_blocks, sizeof *rewrite->entries);
    rewrite->sets_tag = pm_alloc(structure->n_blocks, sizeof *rewrite->sets_tag);
    rewrite->clears_tag = pm_alloc(structure->n_blocks, sizeof *rewrite->clears_tag);
    rewrite->call_forms = pm_alloc(lifted->n_insns, sizeof *rewrite->call_forms);
    rewrite->places = find_places(lifted);
    rewrite->record_places = pm_alloc(structure->n_references, sizeof *rewrite->record_places);
    return rewrite;
}

void pm_x86_rewrite_free(struct pm_rewrite *rewrite) {
    if (!rewrite)
        return;
    free(rewrite->rewritten);
    free(rewrite->owned);
    free(rewrite->entries);
    free(rewrite->sets_tag);
    free(rewrite->clears_tag);
    free(rewrite->live);
    free(rewrite->call_forms);
    free(rewrite->places);
    free(rewrite->record_places);
    free(rewrite->bundles);
    free(rewrite->accesses);
    pm_probe_plan_free(rewrite->probes);
    free(rewrite->read);
    free(rewrite->sites);
    free(rewrite->traps);
    pm_code_free(&rewrite->code);
    free(rewrite);
}

bool pm_x86_rewrite(struct pm_rewrite *rewrite, uint64_t address, uint8_t **code, uint8_t **image,
                    struct pm_error *err) {
    const struct pm_image *original = &rewrite->lifted->image;
    pm_code_new_labels(&rewrite->code, (uint32_t)rewrite->lifted->n_insns);
    pm_x86_find_read_code(rewrite);
    pm_x86_find_owned(rewrite);
    rewrite->live = pm_find_liveness(rewrite->lifted, rewrite->rewritten, NULL);
    pm_x86_plan_landing_sites(rewrite);
    pm_x86_plan_arrivals(rewrite);
    pm_x86_emit_routines(rewrite);
    pm_code_layout(&rewrite->code, address);

    *code = pm_alloc(rewrite->code.size_bytes, 1);
    *image = memcpy(pm_alloc(original->n_bytes, 1), original->bytes, original->n_bytes);
    if (pm_code_write(&rewrite->code, *code) && pm_x86_patch_old_text(rewrite, *image))
        return true;
    free(*code);
    free(*image);
    *code = *image = NULL;
    return pm_fail(err,
                   "%s: the new code would be more than 2 GiB away from the old, so it cannot be "
                   "instrumented",
                   original->path);
}
