/* Profiles of basic blocks, thread by thread; see profile.h. */
#include "runtime/profiler/profiler.h"

#include "runtime/profiler/profiler_state.h"

static bool begin_caches(struct pm_profiler *profile) {
    for (unsigned m = 0; m < pm_profiler_settings.n_machines; m++) {
        const struct pm_profiler_machine *machine = &pm_profiler_settings.machines[m];
        pm_caches_free(profile->caches[m]);
        profile->caches[m] = pm_caches_new(machine->levels, machine->n_levels);
        if (!profile->caches[m])
            return false;
    }
    return true;
}

struct pm_profiler *pm_profiler_new(void) {
    struct pm_profiler *profile = pm_mmap(sizeof *profile);
    if (!profile)
        return NULL;
    profile->variant = pm_reuse_best_variant();
    profile->address_records = pm_mmap(PM_MAX_ADDRESS_RECORDS * sizeof *profile->address_records);
    profile->blocks = pm_mmap(PM_MAX_REFERENCES * sizeof *profile->blocks);
    profile->lanes = pm_mmap(PM_MAX_REFERENCES * sizeof *profile->lanes);
    if (profile->address_records && profile->blocks && profile->lanes && begin_caches(profile))
        return profile;
    pm_profiler_free(profile);
    return NULL;
}

void pm_profiler_free(struct pm_profiler *profile) {
    if (!profile)
        return;
    for (unsigned m = 0; m < PM_MOST_SIMULATED; m++)
        pm_caches_free(profile->caches[m]);
    pm_arena_free(&profile->arena);
    pm_munmap(profile->address_records, PM_MAX_ADDRESS_RECORDS * sizeof *profile->address_records);
    pm_munmap(profile->blocks, PM_MAX_REFERENCES * sizeof *profile->blocks);
    pm_munmap(profile->lanes, PM_MAX_REFERENCES * sizeof *profile->lanes);
    pm_munmap(profile, sizeof *profile);
}

bool pm_profiler_has_failed(const struct pm_profiler *profile) { return profile->failed; }

static const struct {
    pm_profiler_walk *walk;
    pm_profiler_touch *touch;
} variants[PM_REUSE_N_VARIANTS] = {
    [PM_REUSE_SSE2] = {pm_profiler_walk_sse2, pm_profiler_touch_sse2},
    [PM_REUSE_AVX2] = {pm_profiler_walk_avx2, pm_profiler_touch_avx2},
    [PM_REUSE_AVX512] = {pm_profiler_walk_avx512, pm_profiler_touch_avx512},
};

/* ---- records and accesses -------------------------------------------------------------------- */

const uint64_t *pm_profiler_records(struct pm_profiler *profile, const uint64_t *words,
                                    const uint64_t *end) {
    return variants[profile->variant].walk(profile, words, end);
}

static void compare_address(struct pm_profiler_block *block, uint64_t address, uint64_t size) {
    const uint32_t window = pm_profiler_settings.window;
    pm_profiler_make_room(block, 1);
    const uint64_t *addresses = pm_profiler_window(block);
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < window; i++) {
        const int64_t apart = (int64_t)(address - addresses[i]);
        const uint64_t distance = apart < 0 ? -(uint64_t)apart : (uint64_t)apart;
        least = distance < least ? distance : least;
    }
    block->strides[pm_stride_class(least, size)]++;
    pm_profiler_keep(block, address);
}

/* May elements of it be left out? */
static bool has_lanes(const struct pm_probe_reference *reference) {
    return reference->kind == PM_ACCESS_MASK_K || reference->kind == PM_ACCESS_MASK_V;
}

static void add_access(struct pm_profiler *profile, struct pm_profiler_block *block,
                       uint64_t address, uint64_t size, enum pm_access access) {
    block->references++;
    block->bytes += size;
    compare_address(block, address, size);
    variants[profile->variant].touch(profile, block, address, size, access);
}

/* Masked vectors come as a run of elements each, and are one reference a run; string instructions
   are one an element. */
static void add_accesses(struct pm_profiler *profile, const struct pmodel_access *access) {
    const struct pm_probe_reference *reference = &pm_references[access->reference];
    struct pm_profiler_block *block = pm_profiler_block(profile, access->reference);
    uint64_t size = access->size_bytes;
    if (!block)
        return;
    pm_profiler_end_steady(block);
    if (has_lanes(reference))
        profile->lanes[access->reference] += size / reference->size_bytes;
    if (reference->kind == PM_ACCESS_STRING)
        size = reference->size_bytes;
    for (uint64_t done = 0; done < access->size_bytes; done += size)
        add_access(profile, block, access->address + done, size, (enum pm_access)access->kind);
}

void pm_profiler_accesses(struct pm_profiler *profile, const struct pmodel_access *batch,
                          size_t count) {
    for (size_t i = 0; i < count && !profile->failed; i++)
        if (batch[i].kind <= PM_ACCESS_BOTH)
            add_accesses(profile, &batch[i]);
}

/* ---- ends ------------------------------------------------------------------------------------ */

void pm_profiler_flush(struct pm_profiler *profile) {
    for (struct pm_profiler_block *block = profile->first; block; block = block->next)
        pm_profiler_end_steady(block);
    for (uint32_t b = 0; b < pm_n_address_records; b++) {
        struct pm_profiler_record *record = profile->address_records[b];
        if (!record)
            continue;
        pm_profiler_add_classes(record->block, record->classes, record->n_steady);
        pm_profiler_add_classes(record->block, record->pending, 1);
        record->n_steady = record->pending = record->n_pending = 0;
        record->block->references += record->n * record->n_accesses;
        record->block->bytes += record->n * record->bytes;
        record->n = 0;
    }
}

void pm_profiler_forget(struct pm_profiler *profile) {
    for (struct pm_profiler_block *block = profile->first; block; block = block->next) {
        pm_profiler_end_steady(block);
        pm_profiler_begin_history(block);
    }
    for (uint32_t b = 0; b < pm_n_address_records; b++)
        if (profile->address_records[b])
            profile->address_records[b]->has_previous = profile->address_records[b]->has_entry =
                false;
    profile->failed |= !begin_caches(profile);
}
