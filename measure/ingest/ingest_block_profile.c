/* The profile of basic blocks (core/block_profile/block_profile.h) of a run, from its raw files.

   Floating-point operations are those of the code times the executions of their basic blocks. Under
   a mask, only some of the elements of an operation count.  How many is known where a load or store
   in the same basic block has the same mask: of these the runtime counts the elements. */
#include <stdlib.h>
#include <string.h>

#include "measure/ingest/private.h"

/* Registers of masks (core/structure/structure.h, struct pm_op). */
enum { FIRST_MASK = 72, LAST_MASK = 79 };

/* ---- adding up ------------------------------------------------------------------------------- */

static struct pm_profiled_block *block_of(struct pm_profile_sums *sums, uint32_t block) {
    if (!sums->blocks)
        sums->blocks = pm_alloc(sums->structure->n_blocks, sizeof *sums->blocks);
    struct pm_profiled_block *into = &sums->blocks[block];
    if (!into->misses)
        into->misses = pm_alloc(sums->n_served, sizeof *into->misses);
    return into;
}

static bool add_profile(struct pm_profile_sums *sums, const struct pm_raw_profile *from,
                        const struct pm_module_place *place) {
    const struct pm_structure *structure = sums->structure;
    if (sums->was_there &&
        (sums->n_served != from->head.n_served || sums->window != from->head.window))
        return false;
    sums->was_there = true;
    sums->n_served = from->head.n_served;
    sums->window = from->head.window;
    for (size_t i = 0; i < from->n_blocks; i++) {
        const struct pm_raw_block *block = &from->blocks[i];
        if (block->reference >= place->n_references)
            return false;
        struct pm_profiled_block *into =
            block_of(sums, structure->references[place->first_reference + block->reference].block);
        into->references += (double)block->references;
        into->bytes += (double)block->bytes;
        for (int bin = 0; bin < PM_N_STRIDE_BINS; bin++)
            into->strides[bin] += (double)block->strides[bin];
        for (uint32_t s = 0; s < sums->n_served; s++)
            into->misses[s] += (double)from->served[i * sums->n_served + s];
    }
    return true;
}

static bool add_lanes(struct pm_profile_sums *sums, const struct pm_raw_masked *from,
                      const struct pm_module_place *place) {
    if (!sums->lanes)
        sums->lanes = pm_alloc(sums->structure->n_references, sizeof *sums->lanes);
    for (size_t i = 0; i < from->n_lanes; i++) {
        if (from->lanes[i].reference >= place->n_references)
            return false;
        sums->lanes[place->first_reference + from->lanes[i].reference] += (double)from->lanes[i].n;
    }
    return true;
}

bool pm_ingest_block_profile(struct pm_profile_sums *sums, const struct pm_raw *raw,
                             const struct pm_module_place *const *places, const char *path,
                             struct pm_error *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < raw->n_profiles; i++)
        ok = add_profile(sums, &raw->profiles[i], places[raw->profiles[i].head.module]);
    for (size_t i = 0; ok && i < raw->n_masked; i++)
        ok = add_lanes(sums, &raw->masked[i], places[raw->masked[i].module]);
    return ok ||
           pm_fail(err, "%s: a profile of other basic blocks or caches than the others", path);
}

/* ---- operations ------------------------------------------------------------------------------ */

static uint8_t mask_of(const struct pm_op *op) {
    for (unsigned i = 0; i < PM_OP_N_USES; i++)
        if (op->uses[i] >= FIRST_MASK && op->uses[i] <= LAST_MASK)
            return op->uses[i];
    return PM_REGISTER_NONE;
}

static bool defines(const struct pm_op *op, uint8_t number) {
    for (unsigned i = 0; i < PM_OP_N_DEFS; i++)
        if (op->defs[i] == number)
            return true;
    return false;
}

/* The share of the elements that OP, a load or store under a mask, accessed; negative: not known.
 */
static double active_share(const struct pm_profile_sums *sums, const struct pm_op *op,
                           double executions) {
    const struct pm_reference *reference =
        op->reference == PM_NONE ? NULL : &sums->structure->references[op->reference];
    if (!reference || !reference->recorded || reference->kind != PM_ACCESS_MASK_K ||
        !op->element_bytes || !(executions > 0))
        return -1;
    const double elements = executions * (op->width_bits / 8 / op->element_bytes);
    const double lanes = sums->lanes ? sums->lanes[op->reference] : 0;
    return lanes <= elements ? lanes / elements : -1;
}

/* … of operation AT of BLOCK, whose mask is MASK: that of the nearest one with the same mask. */
static double share_at(const struct pm_profile_sums *sums, const struct pm_block *block,
                       uint32_t at, uint8_t mask, double executions) {
    const struct pm_op *ops = sums->structure->ops + block->first_op;
    for (uint32_t i = at; i-- > 0 && !defines(&ops[i], mask);) {
        double share = mask_of(&ops[i]) == mask ? active_share(sums, &ops[i], executions) : -1;
        if (share >= 0)
            return share;
    }
    for (uint32_t i = at + 1; i < block->n_ops; i++) {
        double share = mask_of(&ops[i]) == mask ? active_share(sums, &ops[i], executions) : -1;
        if (share >= 0)
            return share;
        if (defines(&ops[i], mask))
            break;
    }
    return -1;
}

static void count_flops(const struct pm_profile_sums *sums, struct pm_profiled_block *into) {
    const struct pm_block *block = &sums->structure->blocks[into->block];
    for (uint32_t i = 0; i < block->n_ops; i++) {
        const struct pm_op *op = &sums->structure->ops[block->first_op + i];
        const double flops = pm_op_flops(op) * into->executions;
        const uint8_t mask = flops > 0 ? mask_of(op) : PM_REGISTER_NONE;
        const double share =
            mask == PM_REGISTER_NONE ? 1 : share_at(sums, block, i, mask, into->executions);
        into->flops += share < 0 ? flops : share * flops;
        into->masked_flops += share < 0 ? flops : 0;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct pm_block_profile *pm_profile_sums_end(struct pm_profile_sums *sums,
                                             const double *edge_counts) {
    if (!sums->was_there)
        return NULL;
    const struct pm_structure *structure = sums->structure;
    struct pm_block_profile *profile = pm_alloc(1, sizeof *profile);
    double *executions = pm_block_executions(structure, edge_counts);
    profile->stride_window = sums->window;
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        if (!(executions[b] > 0) && !(sums->blocks && sums->blocks[b].references > 0))
            continue;
        struct pm_profiled_block *from = block_of(sums, b);
        from->block = b;
        from->executions = executions[b];
        count_flops(sums, from);
        *PM_PUSH(profile, blocks) = *from;
        from->misses = NULL; /* the profile's */
    }
    free(executions);
    return profile;
}

void pm_profile_sums_free(struct pm_profile_sums *sums) {
    for (size_t i = 0; sums->blocks && i < sums->structure->n_blocks; i++)
        free(sums->blocks[i].misses);
    free(sums->blocks);
    free(sums->lanes);
}
