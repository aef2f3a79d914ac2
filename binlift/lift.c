/* The lifting stage as a flat list of passes; each file says what its pass needs. */
#include "binlift/counters/counters.h"
#include "binlift/elf/elf.h"
#include "binlift/formula/formula.h"
#include "binlift/lifted.h"
#include "binlift/metadata/metadata.h"
#include "binlift/scopes/scopes.h"

#include <stdlib.h>
#include <string.h>

static void add_module(struct pm_lifted *lifted) {
    const struct pm_image *image = &lifted->image;
    struct pm_module *module = PM_PUSH(lifted->structure, modules);
    const char *slash = strrchr(image->path, '/');
    module->path = pm_strdup(image->path);
    module->name = pm_strdup(slash ? slash + 1 : image->path);
    memcpy(module->build_id, image->build_id, sizeof module->build_id);
    module->build_id_bytes = image->build_id_bytes;
    module->scope = PM_NONE;
    for (size_t i = 0; i < image->n_sections; i++)
        if (pm_section_is_code(&image->sections[i]))
            module->text_bytes += image->sections[i].header.sh_size;
    lifted->structure->isa = pm_strdup(lifted->isa->name);
}

static void sum_up(struct pm_lifted *lifted) {
    struct pm_structure *structure = lifted->structure;
    struct pm_lift_statistics *statistics = &lifted->statistics;
    statistics->n_routines = (uint32_t)structure->n_routines;
    statistics->n_instructions = lifted->n_insns;
    statistics->other_compiler = pm_other_compiler(&lifted->image);
    for (size_t i = 0; i < structure->n_routines; i++) {
        const struct pm_routine *routine = &structure->routines[i];
        if (routine->state == PM_ROUTINE_REFUSED)
            statistics->n_refused++;
        else
            for (uint32_t p = 0; p < routine->n_parts; p++)
                structure->modules[0].lifted_bytes +=
                    structure->parts[routine->first_part + p].size_bytes;
        if (routine->state == PM_ROUTINE_PARTIAL)
            statistics->n_partial++;
        if (routine->has_metadata)
            statistics->n_with_metadata++;
    }
    for (size_t i = 0; i < structure->n_unknowns; i++)
        statistics->n_unknown_instructions += structure->unknowns[i].count;
}

static bool ends_after(const struct pm_lift_options *options, enum pm_lift_end end) {
    return options && options->end == end;
}

struct pm_lifted *pm_lift(const char *path, const struct pm_lift_options *options,
                          struct pm_error *err) {
    struct pm_lifted *lifted = pm_alloc(1, sizeof *lifted);
    if (!pm_read_image(path, &lifted->image, err)) {
        pm_lifted_free(lifted);
        return NULL;
    }
    lifted->isa = pm_isa_of_machine(lifted->image.header->e_machine);
    if (!pm_read_classes(lifted, options, err)) {
        pm_lifted_free(lifted);
        return NULL;
    }
    lifted->structure = pm_structure_new();
    lifted->refusal = pm_find_refusal(lifted);
    add_module(lifted);
    pm_find_routines(lifted);
    pm_decode_routines(lifted);
    pm_read_relocations(lifted);
    if (options && options->entries)
        pm_keep_reached(lifted, options->entries, options->n_entries);
    pm_name_variants(lifted);
    if (!(options && options->ignore_metadata) && !pm_read_metadata(lifted, err)) {
        pm_lifted_free(lifted);
        return NULL;
    }
    pm_join_parts(lifted);
    pm_find_tables(lifted);
    pm_find_offset_entries(lifted);
    pm_find_indirect_entries(lifted);
    pm_find_no_returns(lifted);
    pm_find_tail_calls(lifted);
    pm_find_label_jumps(lifted);
    pm_find_intervals(lifted, options);
    if (ends_after(options, PM_LIFT_SUMMARY)) {
        pm_summarise(lifted);
        sum_up(lifted);
        return lifted;
    }
    pm_build_cfg(lifted);
    pm_find_calls(lifted);
    pm_number_references(lifted);
    pm_translate_blocks(lifted);
    if (ends_after(options, PM_LIFT_CFG))
        return lifted;
    pm_find_clobbers(lifted);
    pm_find_loops(lifted);
    pm_build_scopes(lifted);
    if (!pm_join_metadata(lifted, err)) {
        pm_lifted_free(lifted);
        return NULL;
    }
    if (ends_after(options, PM_LIFT_SCOPES))
        return lifted;
    pm_build_groups(lifted);
    if (ends_after(options, PM_LIFT_GROUPS))
        return lifted;
    pm_find_dependences(lifted);
    pm_find_assignments(lifted);
    if (ends_after(options, PM_LIFT_DEPS))
        return lifted;
    lifted->counters = pm_plan_counters(lifted, options ? options->weights : NULL);
    pm_mark_counters(lifted->structure, lifted->counters);
    sum_up(lifted);
    return lifted;
}

void pm_lifted_free(struct pm_lifted *lifted) {
    if (!lifted)
        return;
    pm_image_release(&lifted->image);
    if (lifted->structure)
        pm_structure_free(lifted->structure);
    pm_free_metadata(lifted->metadata);
    pm_free_loops(lifted->loops);
    pm_classes_free(lifted->classes);
    free(lifted->refusal);
    free(lifted->statistics.debug_note);
    free(lifted->statistics.other_compiler);
    free(lifted->insns);
    pm_free_interned(lifted);
    free(lifted->routine_codes);
    free(lifted->block_codes);
    free(lifted->tables);
    free(lifted->table_targets);
    pm_data_symbols_free(lifted->data_symbols);
    free(lifted->insn_references);
    free(lifted->insn_index.starts);
    free(lifted->insn_index.first);
    free(lifted->ranges);
    free(lifted->insn_marks);
    free(lifted->ends_interval);
    free(lifted->clobbers);
    free(lifted->insn_block);
    pm_counter_plan_free(lifted->counters);
    free(lifted->relocations);
    free(lifted->unwind_ranges.ranges);
    free(lifted->inner_entries.addresses);
    free(lifted);
}

const char *pm_lifted_interpreter(const struct pm_lifted *lifted) {
    const struct pm_image *image = &lifted->image;
    for (size_t i = 0; i < image->n_segments; i++) {
        const Elf64_Phdr *segment = &image->segments[i];
        if (segment->p_type == PT_INTERP && segment->p_filesz &&
            segment->p_offset <= image->n_bytes &&
            segment->p_filesz <= image->n_bytes - segment->p_offset &&
            image->bytes[segment->p_offset + segment->p_filesz - 1] == 0)
            return (const char *)image->bytes + segment->p_offset;
    }
    return NULL;
}

struct pm_structure *pm_lifted_structure(struct pm_lifted *lifted) {
    return lifted->structure;
}

const struct pm_lift_statistics *pm_lifted_statistics(const struct pm_lifted *lifted) {
    return &lifted->statistics;
}

const char *pm_lifted_refusal(const struct pm_lifted *lifted) { return lifted->refusal; }
