#include "core/block_profile/block_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pm_block_profile_free(struct pm_block_profile *profile) {
    if (!profile)
        return;
    for (size_t i = 0; i < profile->n_blocks; i++)
        free(profile->blocks[i].misses);
    for (size_t i = 0; i < profile->n_levels; i++) {
        free(profile->levels[i].machine);
        free(profile->levels[i].name);
    }
    free(profile->blocks);
    free(profile->levels);
    free(profile->notes);
    free(profile);
}

const char *pm_stride_bin_name(enum pm_stride_bin bin) {
    static const char *const names[] = {
#define PM_STRIDE_BIN_NAME(id, elements, name) name,
        PM_STRIDE_BINS(PM_STRIDE_BIN_NAME)
#undef PM_STRIDE_BIN_NAME
    };
    return names[bin];
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool is_amount(double value) { return isfinite(value) && value >= 0; }

static bool is_part(double part, double whole) { return is_amount(part) && part <= whole; }

static bool block_fits(const struct pm_profiled_block *block, size_t n_levels) {
    double strides = 0;
    for (int bin = 0; bin < PM_N_STRIDE_BINS; bin++) {
        if (!is_part(block->strides[bin], block->references))
            return false;
        strides += block->strides[bin];
    }
    for (size_t level = 0; level < n_levels; level++)
        if (!is_part(block->misses[level], block->references))
            return false;
    return is_amount(block->executions) && is_amount(block->references) &&
           is_amount(block->bytes) && is_amount(block->flops) &&
           is_part(block->masked_flops, block->flops) && strides == block->references;
}

bool pm_block_profile_fits(const struct pm_block_profile *profile,
                           const struct pm_structure *structure, struct pm_error *err) {
    bool fits = is_amount(profile->cpu_seconds);
    for (size_t i = 0; i < profile->n_blocks && fits; i++) {
        const struct pm_profiled_block *block = &profile->blocks[i];
        fits = block->block < structure->n_blocks && (i == 0 || block[-1].block < block->block) &&
               block_fits(block, profile->n_levels);
    }
    return fits || pm_fail(err, "the profile of basic blocks is not of this program, or damaged: "
                                "measure it again with `pmodel run --profile --again`");
}

/* ---- levels and sums ------------------------------------------------------------------------- */

size_t pm_simulated_levels(const struct pm_block_profile *profile, const char *name, size_t *n) {
    size_t first = SIZE_MAX;
    *n = 0;
    for (size_t i = 0; i < profile->n_levels; i++) {
        const char *machine = profile->levels[i].machine;
        if (!name)
            name = machine;
        if (strcmp(machine, name) != 0)
            continue;
        first = *n ? first : i;
        ++*n;
    }
    return first;
}

struct pm_profiled_block pm_block_profile_sum(const struct pm_block_profile *profile) {
    struct pm_profiled_block sum = {.block = PM_NONE};
    sum.misses = pm_alloc(profile->n_levels, sizeof *sum.misses);
    for (size_t i = 0; i < profile->n_blocks; i++) {
        const struct pm_profiled_block *block = &profile->blocks[i];
        sum.executions += block->executions;
        sum.references += block->references;
        sum.bytes += block->bytes;
        sum.flops += block->flops;
        sum.masked_flops += block->masked_flops;
        for (int bin = 0; bin < PM_N_STRIDE_BINS; bin++)
            sum.strides[bin] += block->strides[bin];
        for (size_t level = 0; level < profile->n_levels; level++)
            sum.misses[level] += block->misses[level];
    }
    return sum;
}

/* ---- operations ------------------------------------------------------------------------------ */

void pm_block_mix(const struct pm_structure *structure, uint32_t block, double *counts) {
    const struct pm_block *b = &structure->blocks[block];
    memset(counts, 0, PM_N_OP_CLASSES * sizeof *counts);
    for (uint32_t i = 0; i < b->n_ops; i++)
        counts[structure->ops[b->first_op + i].op_class]++;
}

double pm_op_flops(const struct pm_op *op) {
    const unsigned bytes = op->width_bits / 8;
    const double elements =
        op->element_bytes && bytes > op->element_bytes ? bytes / op->element_bytes : 1;
    switch ((enum pm_op_class)op->op_class) {
    case PM_OP_FP_ADD:
    case PM_OP_FP_MULT:
    case PM_OP_FP_DIV:
    case PM_OP_FP_SQRT:
        return elements;
    case PM_OP_FP_FMA:
        return 2 * elements;
    default:
        return 0;
    }
}

double pm_arithmetic_operations(const double *counts) {
    double sum = 0;
    for (int class = 0; class < PM_N_OP_CLASSES; class ++) {
        char kind = pm_op_class_kind((enum pm_op_class) class);
        if (kind == 'i' || kind == 'f')
            sum += counts[class];
    }
    return sum;
}
