/* Puts what the process measured into a raw file; see raw_output.h and core/raw_file.h. */
#include "runtime/raw_output/raw_output.h"

#include <string.h>

#include "core/raw_file.h"
#include "runtime/analyser/analyser.h"
#include "runtime/branch_outcomes/branch_outcomes.h"
#include "runtime/shadow_loops/shadow_loops.h"
#include "runtime/call_site_tree.h"
#include "runtime/mpi_events/mpi_events.h"
#include "runtime/sockets/sockets.h"
#include "runtime/thread_intervals/thread_intervals.h"
#include "runtime/modules.h"
#include "runtime/nonlocal_exits/nonlocal_exits.h"
#include "runtime/notes.h"
#include "runtime/process.h"
#include "runtime/mpi_rank.h"
#include "runtime/records/records.h"
#include "runtime/signals/signals.h"
#include "runtime/system.h"
#include "runtime/threads.h"
#include "runtime/timers/timers.h"

static void add_run(struct pm_raw_builder *builder, const struct pm_raw_run *run) {
    pm_raw_section_begin(builder, PM_RAW_META);
    pm_raw_add_u64(builder, run->process_id);
    pm_raw_add_u64(builder, run->parent_id);
    pm_raw_add_u64(builder, run->start_unix_ns);
    pm_raw_add_u64(builder, run->wall_ns);
    pm_raw_add_u64(builder, run->cpu_ns);
    pm_raw_add_u64(builder, pm_n_threads_started);
    pm_raw_add_u64(builder, pm_n_missed_jumps);
    pm_raw_add_u64(builder, run->flags);
    pm_raw_section_end(builder);
}

static void add_module(struct pm_raw_builder *builder, const struct pm_probe_header *header) {
    uint8_t build_id[24] = {0};
    memcpy(build_id, header->build_id, sizeof header->build_id);
    pm_raw_section_begin(builder, PM_RAW_MODULE);
    pm_raw_add_u64(builder, header->structure_hash);
    pm_raw_add_u32(builder, header->n_counters);
    pm_raw_add_u32(builder, header->n_groups);
    pm_raw_add_u32(builder, header->first_counter);
    pm_raw_add_u32(builder, header->build_id_bytes);
    pm_raw_add(builder, build_id, sizeof build_id);
    pm_raw_section_end(builder);
}

static void add_counters(struct pm_raw_builder *builder, uint32_t module,
                         const struct pm_thread *thread) {
    const struct pm_probe_header *header = &pm_modules[module].header;
    pm_raw_section_begin(builder, PM_RAW_COUNTERS);
    pm_raw_add_u64(builder, module);
    pm_raw_add_u64(builder, thread->number);
    uint32_t first = header->first_counter, end = first + header->n_counters, n_taken;
    const uint64_t *taken = pm_intervals_counts(thread, &n_taken);
    for (uint32_t i = first; taken && i < end && i < n_taken; i++) {
        struct pm_raw_count count = {i - first, taken[i]};
        if (count.count)
            pm_raw_add(builder, &count, sizeof count);
    }
    for (uint32_t i = first; !taken && (i = pm_thread_next_counted(thread, i, end)) < end; i++) {
        struct pm_raw_count count = {i - first, pm_thread_count(thread, i)};
        pm_raw_add(builder, &count, sizeof count);
    }
    pm_raw_section_end(builder);
}

static uint64_t raw_thread(uint32_t thread) {
    return thread == PM_SHARED_STREAM ? PM_RAW_SHARED : thread;
}

void pm_raw_add_histogram(struct pm_raw_builder *builder, uint32_t module, uint64_t thread,
                          uint32_t group, uint64_t bytes, const struct pm_reuse_result *result,
                          const struct pm_raw_bin *bins) {
    struct pm_raw_histogram_head head = {
        .module = module,
        .thread = thread,
        .block_bytes = result->block_bytes,
        .group = group,
        .n_bins = (uint32_t)result->n_bins,
        .cold_loads = result->cold_loads,
        .cold_stores = result->cold_stores,
        .n_blocks = result->n_blocks,
        .bytes_touched = bytes,
        .at_least = result->at_least,
        .beyond_loads = result->beyond_loads,
        .beyond_stores = result->beyond_stores,
        .sample = result->sample,
    };
    pm_raw_add(builder, &head, sizeof head);
    pm_raw_add(builder, bins, result->n_bins * sizeof *bins);
}

static void add_group(struct pm_raw_builder *builder, uint32_t module, uint32_t thread,
                      const struct pm_reuse *reuse, uint32_t group, struct pm_raw_bin *bins) {
    uint32_t number = pm_modules[module].first_group + group;
    struct pm_reuse_result result;
    pm_reuse_result(reuse, number, &result, bins);
    if (result.n_bins == 0 && result.cold_loads + result.cold_stores == 0 &&
        result.beyond_loads + result.beyond_stores == 0)
        return;
    pm_raw_section_begin(builder, PM_RAW_HISTOGRAM);
    pm_raw_add_histogram(builder, module, raw_thread(thread), group,
                         pm_analyser_bytes(thread, number), &result, bins);
    pm_raw_section_end(builder);
}

/* Stores of all groups of MODULE by dirty distance. */
static void add_dirty(struct pm_raw_builder *builder, uint32_t module, uint32_t thread,
                      const struct pm_write_backs *write_backs, struct pm_raw_bin *bins) {
    for (uint32_t group = 0; group < pm_modules[module].header.n_groups; group++) {
        struct pm_reuse_result result;
        pm_write_backs_result(write_backs, pm_modules[module].first_group + group, &result, bins);
        if (result.n_bins == 0 && result.cold_stores == 0)
            continue;
        pm_raw_section_begin(builder, PM_RAW_DIRTY);
        pm_raw_add_histogram(builder, module, raw_thread(thread), group, PM_RAW_UNKNOWN_BYTES,
                             &result, bins);
        pm_raw_section_end(builder);
    }
}

static void add_subsamples(struct pm_raw_builder *builder, uint64_t thread,
                           const struct pm_reuse *reuse) {
    pm_raw_section_begin(builder, PM_RAW_SAMPLES);
    pm_raw_add_u64(builder, thread);
    pm_raw_add_u64(builder, pm_reuse_block_bytes(reuse));
    pm_raw_add_u64(builder, pm_reuse_sample(reuse));
    for (unsigned size = 0; size < PM_RAW_SAMPLE_SIZES; size++)
        for (unsigned i = 0; i < PM_RAW_SUBSAMPLES; i++)
            pm_raw_add_u64(builder, pm_reuse_subsample_misses(reuse, i, size));
    pm_raw_section_end(builder);
}

static void add_histograms(struct pm_raw_builder *builder, uint32_t module, uint32_t thread) {
    for (unsigned size = 0; size < pm_n_block_sizes; size++) {
        const struct pm_reuse *reuse = pm_analyser_result(thread, size);
        if (!reuse)
            continue;
        size_t bytes = pm_reuse_most_bins(reuse) * sizeof(struct pm_raw_bin);
        struct pm_raw_bin *bins = pm_mmap(bytes);
        if (!bins) {
            builder->failed = true;
            return;
        }
        for (uint32_t group = 0; group < pm_modules[module].header.n_groups; group++)
            add_group(builder, module, thread, reuse, group, bins);
        if (pm_analyser_write_backs(thread, size))
            add_dirty(builder, module, thread, pm_analyser_write_backs(thread, size), bins);
        pm_munmap(bins, bytes);
    }
}

/* What the standard error of sampled histograms needs. */
static void add_samples(struct pm_raw_builder *builder, uint32_t thread) {
    for (unsigned size = 0; size < pm_n_block_sizes; size++) {
        const struct pm_reuse *reuse = pm_analyser_result(thread, size);
        if (reuse && pm_reuse_sample(reuse) > 1)
            add_subsamples(builder, raw_thread(thread), reuse);
    }
}

static void add_skipped(struct pm_raw_builder *builder, const struct pm_thread *thread) {
    const struct pm_skipped *skipped = &thread->skipped;
    if (!skipped->loads && !skipped->stores && !skipped->n_stops)
        return;
    pm_raw_section_begin(builder, PM_RAW_SKIPPED);
    pm_raw_add_u64(builder, thread->number);
    pm_raw_add_u64(builder, skipped->loads);
    pm_raw_add_u64(builder, skipped->stores);
    pm_raw_add_u64(builder, skipped->n_stops);
    pm_raw_section_end(builder);
}

/* ---- strides --------------------------------------------------------------------------------- */

/* The ordinal of the value with the largest weight. */
static unsigned most_frequent(const struct pm_frequent_values *frequent) {
    unsigned most = 0;
    for (unsigned i = 1; i < PM_STRIDE_VALUES; i++)
        if (frequent->weights[i] > frequent->weights[most])
            most = i;
    return most;
}

static struct pm_raw_stride_level stride_level(const struct pm_walk_level *level) {
    if (level->n_runs == 0)
        return (struct pm_raw_stride_level){.stride = level->cut_stride, .count = level->cut_n};
    unsigned stride = most_frequent(&level->strides), count = most_frequent(&level->counts);
    return (struct pm_raw_stride_level){.stride = level->strides.values[stride],
                                        .stride_weight = level->strides.weights[stride],
                                        .n_strides = level->n_elements - level->n_runs,
                                        .count = (uint64_t)level->counts.values[count],
                                        .count_weight = level->counts.weights[count],
                                        .n_runs = level->n_runs,
                                        .n_elements = level->n_elements};
}

/* Levels up to the first of which nothing is known. */
static uint32_t count_levels(const struct pm_address_walk *walk) {
    uint32_t n = 0;
    while (n < PM_STRIDE_LEVELS && walk->levels[n] &&
           (walk->levels[n]->n_runs || walk->levels[n]->cut_n > 1))
        n++;
    return n;
}

/* Of the runs of LEVEL those that most runs with ID INNER are in; NULL: none. */
static const struct pm_run_variant *variant_around(const struct pm_walk_level *level,
                                                   uint64_t inner) {
    const struct pm_run_variant *most = NULL;
    for (unsigned i = 0; level && level->variants && i < PM_STRIDE_VARIANTS; i++) {
        const struct pm_run_variant *variant = &level->variants[i];
        if (variant->weight && variant->inner == inner && (!most || variant->weight > most->weight))
            most = variant;
    }
    return most;
}

/* Is VARIANT of the innermost LEVEL of a walk no chance? */
static bool is_usual(const struct pm_walk_level *level, const struct pm_run_variant *variant) {
    enum { LEAST_SHARE = 100 };
    return variant->weight && variant->weight >= level->n_elements / LEAST_SHARE;
}

static unsigned count_variants(const struct pm_address_walk *walk) {
    const struct pm_walk_level *level = walk->levels[0];
    unsigned n = 0;
    for (unsigned i = 0; level && level->variants && i < PM_STRIDE_VARIANTS; i++)
        n += is_usual(level, &level->variants[i]);
    return n > 1 ? n : 0; /* one alone is what the levels say */
}

static void add_variant(struct pm_raw_builder *builder, const struct pm_address_walk *walk,
                        const struct pm_run_variant *innermost, int64_t offset) {
    struct pm_raw_variant raw = {.weight = innermost->weight,
                                 .since = innermost->since,
                                 .n_phases = innermost->n_phases,
                                 .lowest = innermost->lowest + (uint64_t)offset,
                                 .highest = innermost->highest + (uint64_t)offset};
    for (const struct pm_run_variant *variant = innermost; variant;
         variant = raw.n_levels < PM_RAW_STRIDE_LEVELS
                       ? variant_around(walk->levels[raw.n_levels], variant->id)
                       : NULL)
        raw.levels[raw.n_levels++] = (struct pm_raw_variant_level){variant->stride, variant->count};
    pm_raw_add(builder, &raw, sizeof raw);
}

static void add_walk(struct pm_raw_builder *builder, uint32_t reference,
                     const struct pm_address_walk *walk, int64_t offset) {
    struct pm_raw_walk head = {.reference = reference,
                               .n_levels = (uint16_t)count_levels(walk),
                               .n_variants = (uint16_t)count_variants(walk),
                               .n = walk->n,
                               .lowest = walk->lowest + (uint64_t)offset,
                               .highest = walk->highest + (uint64_t)offset};
    pm_raw_add(builder, &head, sizeof head);
    for (uint32_t k = 0; k < head.n_levels; k++) {
        struct pm_raw_stride_level level = stride_level(walk->levels[k]);
        pm_raw_add(builder, &level, sizeof level);
    }
    for (unsigned i = 0; head.n_variants && i < PM_STRIDE_VARIANTS; i++)
        if (is_usual(walk->levels[0], &walk->levels[0]->variants[i]))
            add_variant(builder, walk, &walk->levels[0]->variants[i], offset);
}

static void add_strides(struct pm_raw_builder *builder, uint32_t module, uint32_t thread) {
    const struct pm_strides *strides = pm_analyser_strides(thread);
    const struct pm_probe_header *header = &pm_modules[module].header;
    if (!strides)
        return;
    pm_raw_section_begin(builder, PM_RAW_STRIDES);
    pm_raw_add_u64(builder, module);
    pm_raw_add_u64(builder, raw_thread(thread));
    for (uint32_t i = 0; i < header->n_references; i++) {
        const struct pm_address_walk *walk;
        int64_t offset;
        if (pm_strides_of(strides, header->first_reference + i, &walk, &offset))
            add_walk(builder, i, walk, offset);
    }
    pm_raw_section_end(builder);
}

/* ---- what carries reuses --------------------------------------------------------------------- */

/* The module that has the scope with NUMBER among all modules' scopes. */
static uint32_t module_of_scope(uint32_t number) {
    for (uint32_t i = 0; i < pm_n_modules; i++)
        if (!pm_modules[i].repeats && number >= pm_modules[i].header.first_scope &&
            number - pm_modules[i].header.first_scope < pm_modules[i].header.n_scopes)
            return i;
    return PM_RAW_OUTSIDE;
}

/* The same of a group. */
static uint32_t module_of_group(uint32_t number) {
    for (uint32_t i = 0; i < pm_n_modules; i++)
        if (!pm_modules[i].repeats && number >= pm_modules[i].first_group &&
            number - pm_modules[i].first_group < pm_modules[i].header.n_groups)
            return i;
    return PM_RAW_OUTSIDE;
}

/* Scopes and groups that were met have their modules. */
static struct pm_raw_carried_head carried_head(const struct pm_carried_result *result) {
    struct pm_raw_carried_head head = {.source_module = module_of_scope(result->source),
                                       .carrier_module = PM_RAW_OUTSIDE,
                                       .across = result->across};
    head.source_scope = result->source - pm_modules[head.source_module].header.first_scope;
    if (result->carrier != PM_CARRIED_OUTSIDE) {
        head.carrier_module = module_of_scope(result->carrier);
        head.carrier_scope = result->carrier - pm_modules[head.carrier_module].header.first_scope;
    }
    return head;
}

static void add_pattern(struct pm_raw_builder *builder, uint32_t thread,
                        const struct pm_carried_result *result, const struct pm_raw_bin *bins) {
    uint32_t module = module_of_group(result->group);
    struct pm_raw_carried_head by = carried_head(result);
    pm_raw_section_begin(builder, PM_RAW_CARRIED);
    pm_raw_add(builder, &by, sizeof by);
    pm_raw_add_histogram(builder, module, thread, result->group - pm_modules[module].first_group,
                         PM_RAW_UNKNOWN_BYTES, &result->reuses, bins);
    pm_raw_section_end(builder);
}

static void add_carried(struct pm_raw_builder *builder, uint32_t thread) {
    for (unsigned size = 0; size < pm_n_block_sizes; size++) {
        const struct pm_carried *carried = pm_analyser_carried(thread, size);
        if (!carried)
            continue;
        size_t bytes = pm_reuse_most_bins(pm_carried_reuse(carried)) * sizeof(struct pm_raw_bin);
        struct pm_raw_bin *bins = pm_mmap(bytes);
        if (!bins) {
            builder->failed = true;
            return;
        }
        struct pm_carried_result result;
        for (uint64_t position = 0; pm_carried_next(carried, &position, &result, bins);)
            add_pattern(builder, thread, &result, bins);
        pm_munmap(bins, bytes);
    }
}

static void add_notes(struct pm_raw_builder *builder) {
    for (unsigned kind = 0; kind < PM_N_NOTES; kind++) {
        char sentence[512];
        if (!pm_note_sentence((enum pm_note_kind)kind, sentence, sizeof sentence))
            continue;
        pm_raw_section_begin(builder, PM_RAW_NOTE);
        pm_raw_add(builder, sentence, strlen(sentence) + 1);
        pm_raw_section_end(builder);
    }
}

void pm_raw_add_content(struct pm_raw_builder *builder, const struct pm_raw_run *run) {
    pm_analyser_flush();
    pm_intervals_take_all();
    add_run(builder, run);
    pm_ranks_add(builder);
    for (uint32_t module = 0; module < pm_n_modules; module++)
        add_module(builder, &pm_modules[module].header);
    for (uint32_t module = 0; module < pm_n_modules; module++)
        for (uint32_t i = 0; i < pm_n_threads; i++) {
            if (!pm_threads[i] || pm_modules[module].repeats)
                continue;
            add_counters(builder, module, pm_threads[i]);
            add_histograms(builder, module, pm_threads[i]->number);
            add_strides(builder, module, pm_threads[i]->number);
            pm_branches_add(builder, module, pm_threads[i]);
            if (pm_analyser_profile(pm_threads[i]->number))
                pm_profiler_add(builder, pm_analyser_profile(pm_threads[i]->number), module,
                                pm_threads[i]->number);
        }
    for (uint32_t module = 0; pm_records_are_shared && module < pm_n_modules; module++)
        if (!pm_modules[module].repeats)
            add_histograms(builder, module, PM_SHARED_STREAM);
    if (pm_records_are_shared)
        add_samples(builder, PM_SHARED_STREAM);
    for (uint32_t i = 0; i < pm_n_threads; i++)
        if (pm_threads[i]) {
            add_samples(builder, pm_threads[i]->number);
            add_carried(builder, pm_threads[i]->number);
            add_skipped(builder, pm_threads[i]);
        }
    pm_timers_add(builder);
    pm_bounds_add(builder);
    for (uint32_t module = 0; module < pm_n_modules; module++)
        pm_exits_write(builder, module);
    pm_call_paths_write(builder);
    pm_intervals_write(builder);
    pm_communication_add(builder);
    pm_sockets_add(builder);
    add_notes(builder);
}
