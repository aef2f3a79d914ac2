/* Sections of single references: their walks through memory, basic blocks with what they did there,
   and lanes of masked ones. */
#include <string.h>

#include "measure/raw/sections.h"

static bool stride_level_is_valid(const struct pm_raw_stride_level *level) {
    bool is_whole = level->n_runs > 0;
    return level->count > 0 && level->stride_weight <= level->n_strides &&
           level->count_weight <= level->n_runs && level->n_elements >= level->n_runs &&
           (is_whole ? level->n_strides == level->n_elements - level->n_runs
                     : level->n_elements == 0 && level->n_strides == 0);
}

static bool variant_is_valid(const struct pm_raw_variant *variant) {
    bool valid = variant->weight > 0 && variant->n_phases > 0 && variant->n_levels > 0 &&
                 variant->n_levels <= PM_RAW_STRIDE_LEVELS && variant->lowest <= variant->highest;
    for (uint64_t k = 0; k < PM_RAW_STRIDE_LEVELS; k++)
        valid &= (variant->levels[k].count > 0) == (k < variant->n_levels);
    return valid;
}

static bool read_variants(struct pm_raw_strides *strides, const struct pm_raw_walk *walk,
                          struct pm_reader *in) {
    if (walk->n_variants > PM_RAW_VARIANTS || walk->n_variants == 1)
        return false;
    for (uint32_t i = 0; i < walk->n_variants; i++) {
        const void *bytes = pm_take(in, sizeof(struct pm_raw_variant));
        if (!bytes)
            return false;
        struct pm_raw_variant *variant = PM_PUSH(strides, variants);
        memcpy(variant, bytes, sizeof *variant);
        if (!variant_is_valid(variant))
            return false;
    }
    return true;
}

bool pm_raw_read_strides(struct pm_raw *raw, struct pm_reader *in) {
    uint64_t module = pm_take_unsigned(in, 8), thread = pm_take_unsigned(in, 8);
    if (in->fault || module >= raw->n_modules)
        return false;
    struct pm_raw_strides *strides = PM_PUSH(raw, strides);
    *strides = (struct pm_raw_strides){.module = (uint32_t)module, .thread = thread};
    while (pm_bytes_left(in)) {
        const void *head = pm_take(in, sizeof(struct pm_raw_walk));
        if (!head)
            return false;
        struct pm_raw_walk *walk = PM_PUSH(strides, walks);
        memcpy(walk, head, sizeof *walk);
        if (walk->n == 0 || walk->n_levels > PM_RAW_STRIDE_LEVELS ||
            (strides->n_walks > 1 && walk[-1].reference >= walk->reference))
            return false;
        for (uint32_t k = 0; k < walk->n_levels; k++) {
            const void *bytes = pm_take(in, sizeof(struct pm_raw_stride_level));
            if (!bytes)
                return false;
            struct pm_raw_stride_level *level = PM_PUSH(strides, levels);
            memcpy(level, bytes, sizeof *level);
            if (!stride_level_is_valid(level))
                return false;
        }
        if (!read_variants(strides, walk, in))
            return false;
    }
    return true;
}

/* What the levels served, machine by machine, is of the references. */
static bool block_is_valid(const struct pm_raw_block *block, const struct pm_raw_block *before) {
    uint64_t left = block->references;
    for (unsigned i = 0; i < PM_RAW_STRIDE_CLASSES; i++) {
        if (block->strides[i] > left)
            return false;
        left -= block->strides[i];
    }
    return left == 0 && block->references != 0 && block->reference <= UINT32_MAX &&
           (!before || before->reference < block->reference);
}

bool pm_raw_read_profile(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_profile_head head;
    const void *bytes = pm_take(in, sizeof head);
    if (!bytes)
        return false;
    memcpy(&head, bytes, sizeof head);
    const size_t block_bytes = sizeof(struct pm_raw_block) + 8ul * head.n_served;
    if (head.module >= raw->n_modules || pm_bytes_left(in) % block_bytes != 0)
        return false;
    struct pm_raw_profile *profile = PM_PUSH(raw, profiles);
    profile->head = head;
    while (pm_bytes_left(in)) {
        struct pm_raw_block *block = PM_PUSH(profile, blocks);
        memcpy(block, pm_take(in, sizeof *block), sizeof *block);
        if (!block_is_valid(block, profile->n_blocks > 1 ? block - 1 : NULL))
            return false;
        for (uint32_t i = 0; i < head.n_served; i++) {
            uint64_t served = pm_take_unsigned(in, 8);
            if (served > block->references)
                return false;
            *PM_PUSH(profile, served) = served;
        }
    }
    return true;
}

bool pm_raw_read_lanes(struct pm_raw *raw, struct pm_reader *in) {
    uint64_t module = pm_take_unsigned(in, 8);
    pm_take_unsigned(in, 8);
    if (in->fault || module >= raw->n_modules ||
        pm_bytes_left(in) % sizeof(struct pm_raw_lanes) != 0)
        return false;
    struct pm_raw_masked *masked = PM_PUSH(raw, masked);
    masked->module = (uint32_t)module;
    while (pm_bytes_left(in)) {
        struct pm_raw_lanes *lanes = PM_PUSH(masked, lanes);
        memcpy(lanes, pm_take(in, sizeof *lanes), sizeof *lanes);
        if (lanes->n == 0 || lanes->reference > UINT32_MAX ||
            (masked->n_lanes > 1 && lanes[-1].reference >= lanes->reference))
            return false;
    }
    return true;
}
