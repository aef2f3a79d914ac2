/* Puts profiles of basic blocks into the raw file (core/raw_file.h). */
#include "core/raw_file.h"
#include "runtime/profiler/profiler_state.h"
#include "runtime/raw_output/raw_output.h"

static void add_block(struct pm_raw_builder *builder, const struct pm_profiler_block *block,
                      uint32_t first_reference) {
    struct pm_raw_block head = {.reference = block->first_reference - first_reference,
                                .references = block->references,
                                .bytes = block->bytes};
    for (unsigned c = 0; c < PM_STRIDE_CLASSES; c++)
        head.strides[c] = block->strides[c];
    pm_raw_add(builder, &head, sizeof head);
    pm_raw_add(builder, block->served, pm_profiler_settings.n_served * sizeof *block->served);
}

static void add_lanes(struct pm_raw_builder *builder, const struct pm_profiler *profile,
                      uint32_t module, uint64_t thread) {
    const struct pm_probe_header *header = &pm_modules[module].header;
    pm_raw_section_begin(builder, PM_RAW_LANES);
    pm_raw_add_u64(builder, module);
    pm_raw_add_u64(builder, thread);
    for (uint32_t i = 0; i < header->n_references; i++) {
        const struct pm_raw_lanes lanes = {i, profile->lanes[header->first_reference + i]};
        if (lanes.n)
            pm_raw_add(builder, &lanes, sizeof lanes);
    }
    pm_raw_section_end(builder);
}

void pm_profiler_add(struct pm_raw_builder *builder, const struct pm_profiler *profile,
                     uint32_t module, uint64_t thread) {
    const struct pm_probe_header *header = &pm_modules[module].header;
    const struct pm_raw_profile_head head = {.module = module,
                                             .thread = thread,
                                             .window = pm_profiler_settings.window,
                                             .n_served = pm_profiler_settings.n_served};
    pm_raw_section_begin(builder, PM_RAW_PROFILE);
    pm_raw_add(builder, &head, sizeof head);
    for (uint32_t i = 0; i < header->n_references; i++) {
        const struct pm_profiler_block *block = profile->blocks[header->first_reference + i];
        if (block && block->references)
            add_block(builder, block, header->first_reference);
    }
    pm_raw_section_end(builder);
    add_lanes(builder, profile, module, thread);
}
