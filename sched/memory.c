/* Misses for every scope, and their cycles by the papers' formula.

       misses(level) = Σ over the groups of a scope of  reuses that find more blocks between, in
                       their set, than it has ways (fit/sets/)
       cycles        = Σ over levels of  misses · miss penalty · exposed

   from the histograms of the level's own block size; blocks = size / block (Marin & Mellor-Crummey
   2004, sections 3.1 and 3.2).  Assumes that a level sees every access, so that an outer level's
   misses do not depend on the inner ones, but of an exclusive one.
   Where the bytes that miss the last cache need longer than the latencies say,

       cycles(bandwidth) = misses(last cache) · block / bytes per cycle  >  Σ above,

   the scope's memory cycles are those of the bandwidth, and the difference is a cause of its own.
   Where a machine has a window, but code is too small, or its operations too little known, to
   simulate it there, what the window hides stands for `exposed`:

       cycles(level) = Σ over groups of  misses · (1 − p) · max(0, penalty − hidden) / MLP
       hidden        = window / issue width      cycles until it is full
       MLP           = misses / operations · window, within 1 … misses in flight

   p is the share of the misses that prefetchers hide.  Where it was measured which share f of a
   group's misses go on from one block to the next (core/behaviour/behaviour.h),

       p = f · covers(a line) + (1 − f) · covers(stride)

   with 0 in place of the latter where the code's stride is none or within a line: what goes from
   line to line and was not found to do so begins streams.  Where it was not measured p is covers of
   the code's stride, less what runs take to be noticed (exposure.c).
   Write-backs are counted where they were measured, but
   not as traffic. */
#include "sched/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/behaviour/behaviour.h"
#include "core/shares/shares.h"
#include "core/write_backs/write_backs.h"

bool pm_check_block_sizes(const struct pm_profile *profile, const struct pm_machine *machine,
                          struct pm_error *err) {
    char missing[256] = "";
    if (pm_profile_is_without_memory(profile))
        return pm_fail(err, "no reuse distances were measured (--no-memory), so misses are not "
                            "known: measure again with `pmodel run` without it");
    for (size_t i = 0; i < machine->n_levels; i++) {
        const struct pm_level *level = &machine->levels[i];
        size_t used = strlen(missing);
        if (!pm_profile_has_block_size(profile, level->block_bytes))
            snprintf(missing + used, sizeof missing - used, "%s%s (%llu bytes)", used ? ", " : "",
                     level->name, (unsigned long long)level->block_bytes);
    }
    if (!*missing)
        return true;
    return pm_fail(err, "the runs were not measured with the block size of %s of machine %s",
                   missing, machine->name);
}

/* What the misses would cost is not known; of code without accesses it is nothing. */
static void forget_misses(const struct pm_machine *machine, struct pm_cost_sum *self) {
    if (self->unrecorded_accesses <= 0)
        return;
    for (size_t l = 0; l < machine->n_levels; l++)
        self->level_misses[l] = self->level_cycles[l] = NAN;
    self->memory_cycles = NAN;
}

/* Moves the misses in LEVEL by what the sets may be wrong by, scope by scope, at an end of the
   intervals of PROFILE. */
static void spread_misses(const struct pm_structure *structure, const struct pm_profile *profile,
                          const struct pm_machine *machine, size_t level,
                          struct pm_scope_prediction *scopes) {
    const struct pm_level *of = &machine->levels[level];
    double *in_one_set = pm_alloc(structure->n_scopes, sizeof *in_one_set);
    for (size_t i = 0; i < profile->n_histograms; i++) {
        const struct pm_group_histogram *h = &profile->histograms[i];
        if (h->histogram.block_bytes == of->block_bytes)
            in_one_set[structure->groups[h->group].scope] +=
                pm_level_distance_misses(of, &h->histogram);
    }
    for (size_t s = 0; s < structure->n_scopes; s++) {
        double *misses = &scopes[s].self.level_misses[level];
        double changed = fabs(*misses - in_one_set[s]);
        *misses = fmax(0, *misses + profile->set_spread * changed);
    }
    free(in_one_set);
}

static bool has_stores(const struct pm_histogram *h) {
    double stores = h->cold_stores + h->beyond_stores;
    for (size_t i = 0; i < h->n_bins; i++)
        stores += h->bins[i].stores;
    return stores > 0;
}

static void add_misses(const struct pm_structure *structure, const struct pm_profile *profile,
                       double *const *misses, const struct pm_machine *machine,
                       struct pm_scope_prediction *scopes, struct pm_group_misses *groups) {
    for (size_t i = 0; i < profile->n_histograms; i++) {
        const struct pm_group_histogram *h = &profile->histograms[i];
        struct pm_cost_sum *self = &scopes[structure->groups[h->group].scope].self;
        if (h->histogram.block_bytes == machine->levels[0].block_bytes)
            self->accesses += pm_histogram_accesses(&h->histogram);
        groups[h->group].stores |= has_stores(&h->histogram);
        for (size_t l = 0; l < machine->n_levels; l++) {
            self->level_misses[l] += misses[l][i];
            groups[h->group].misses[l] += misses[l][i];
        }
    }
    for (size_t l = 0; l < machine->n_levels && profile->set_spread != 0; l++)
        spread_misses(structure, profile, machine, l, scopes);
}

/* First touches of BLOCK_BYTES in each scope; the caller frees. */
static double *cold_accesses(const struct pm_structure *structure, const struct pm_profile *profile,
                             uint64_t block_bytes) {
    double *cold = pm_alloc(structure->n_scopes, sizeof *cold);
    for (size_t i = 0; i < profile->n_histograms; i++) {
        const struct pm_histogram *h = &profile->histograms[i].histogram;
        if (h->block_bytes == block_bytes)
            cold[structure->groups[profile->histograms[i].group].scope] +=
                h->cold_loads + h->cold_stores;
    }
    return cold;
}

/* Pages that are touched for the first time: those of the page's block size, never more than blocks
   of a smaller size; where the page's was not measured, as if data were dense. */
static void add_first_touches(const struct pm_structure *structure,
                              const struct pm_profile *profile, const struct pm_machine *machine,
                              struct pm_scope_prediction *scopes) {
    const uint64_t usual_page = 4096;
    uint64_t page = machine->page_bytes ? machine->page_bytes : usual_page;
    bool first = true;
    for (size_t i = profile->n_block_sizes; i-- > 0;) { /* large blocks first */
        uint64_t block = profile->block_sizes[i];
        if (block > page)
            continue;
        double *cold = cold_accesses(structure, profile, block);
        double dense = (double)block / (double)page;
        for (size_t s = 0; s < structure->n_scopes; s++)
            scopes[s].self.first_touches =
                first ? cold[s] * dense : fmin(scopes[s].self.first_touches, cold[s]);
        free(cold);
        first = false;
    }
}

/* Those of a fully associative cache as large as LEVEL, or through its response. */
static void add_write_backs(const struct pm_structure *structure, const struct pm_profile *profile,
                            const struct pm_level *level, size_t l,
                            struct pm_scope_prediction *scopes) {
    bool known = level->kind != PM_LEVEL_TLB && pm_profile_has_dirty(profile, level->block_bytes);
    static const struct pm_response none;
    bool keeps = level->write != PM_WRITE_THROUGH;
    double blocks = keeps ? pm_level_capacity_blocks(level) : 0;
    for (size_t s = 0; s < structure->n_scopes && !known; s++)
        scopes[s].self.level_write_backs[l] = NAN;
    for (uint32_t g = 0; g < structure->n_groups && known; g++)
        scopes[structure->groups[g].scope].self.level_write_backs[l] +=
            pm_write_backs(profile, g, level->block_bytes, blocks, keeps ? &level->serves : &none);
}

/* GROUP has a histogram, or one that it is joined to has. */
static bool is_covered(const struct pm_structure *structure, const bool *has_histogram,
                       uint32_t group) {
    return has_histogram[pm_group_kept_as(structure, group)];
}

/* Executed memory operations that no histogram covers: those that are not recorded, and those of a
   group without a histogram. */
static void add_unrecorded(const struct pm_frequencies *frequencies,
                           const struct pm_profile *profile, const struct pm_machine *machine,
                           struct pm_scope_prediction *scopes) {
    const struct pm_structure *structure = frequencies->structure;
    bool *has_histogram = pm_alloc(structure->n_groups, sizeof *has_histogram);
    for (size_t i = 0; i < profile->n_histograms; i++)
        if (profile->histograms[i].histogram.block_bytes == machine->levels[0].block_bytes)
            has_histogram[profile->histograms[i].group] = true;
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        if (frequencies->blocks[b] <= 0)
            continue;
        for (uint32_t i = block->first_op; i < block->first_op + block->n_ops; i++) {
            const struct pm_op *op = &structure->ops[i];
            if (pm_op_class_kind(op->op_class) != 'm' || op->op_class == PM_OP_PREFETCH)
                continue;
            const struct pm_reference *reference =
                op->reference == PM_NONE ? NULL : &structure->references[op->reference];
            if (!reference || !reference->recorded || reference->group == PM_NONE ||
                !is_covered(structure, has_histogram, reference->group))
                scopes[block->scope].self.unrecorded_accesses += frequencies->blocks[b];
        }
    }
    free(has_histogram);
}

void pm_count_misses(const struct pm_frequencies *frequencies, const struct pm_profile *profile,
                     double *const *misses, const struct pm_machine *machine,
                     struct pm_scope_prediction *scopes, struct pm_group_misses *groups) {
    add_misses(frequencies->structure, profile, misses, machine, scopes, groups);
    double *executions = pm_group_executions(frequencies->structure, frequencies->edges);
    const bool follows = pm_sequential_cover(machine) > 0;
    for (uint32_t g = 0; g < frequencies->structure->n_groups; g++) {
        groups[g].executions = executions[g];
        for (size_t l = 0; l < machine->n_levels; l++)
            groups[g].sequential[l] =
                follows && machine->levels[l].kind == PM_LEVEL_CACHE && groups[g].misses[l] > 0
                    ? pm_sequential_share(profile, g, &machine->levels[l])
                    : NAN;
    }
    free(executions);
    for (size_t l = 0; l < machine->n_levels; l++)
        add_write_backs(frequencies->structure, profile, &machine->levels[l], l, scopes);
    add_unrecorded(frequencies, profile, machine, scopes);
    add_first_touches(frequencies->structure, profile, machine, scopes);
    for (size_t s = 0; s < frequencies->structure->n_scopes; s++)
        if (pm_profile_is_without_memory(profile))
            forget_misses(machine, &scopes[s].self);
}

/* EXPOSED: of each level. */
static void add_exposed_cycles(const struct pm_machine *machine, const double *exposed,
                               struct pm_cost_sum *self) {
    size_t last = pm_last_cache(machine);
    double all_exposed = 0;
    for (size_t l = 0; l < machine->n_levels; l++) {
        double cycles = self->level_misses[l] * machine->levels[l].miss_penalty_cycles;
        self->level_cycles[l] = cycles * exposed[l];
        self->memory_cycles += self->level_cycles[l];
        all_exposed += cycles;
    }
    double transfer = 0;
    if (machine->memory_bandwidth_bytes_per_cycle > 0)
        transfer = self->level_misses[last] * (double)machine->levels[last].block_bytes /
                   machine->memory_bandwidth_bytes_per_cycle;
    self->causes[PM_CAUSE_BANDWIDTH] = fmax(0, transfer - self->memory_cycles);
    self->memory_cycles += self->causes[PM_CAUSE_BANDWIDTH];
    self->lower_cycles = fmax(self->schedule_cycles, transfer);
    self->upper_cycles = self->schedule_cycles + fmax(all_exposed, transfer);
}

void pm_simple_memory_cycles(const struct pm_machine *machine, struct pm_cost_sum *self) {
    double exposed[PM_MAX_LEVELS];
    for (size_t l = 0; l < machine->n_levels; l++)
        exposed[l] = machine->levels[l].exposed;
    add_exposed_cycles(machine, exposed, self);
}

double pm_sequential_cover(const struct pm_machine *machine) {
    double line = (double)machine->levels[0].block_bytes;
    return pm_prefetched_share(machine, line, line);
}

double pm_covered_beside_sequential(const struct pm_machine *machine, double sequential,
                                    double step, double covered) {
    bool is_within_line = !(fabs(step) > (double)machine->levels[0].block_bytes);
    return isnan(sequential) || !is_within_line ? covered : 0;
}

double *pm_prefetched_misses(const struct pm_structure *structure, const struct pm_machine *machine,
                             const struct pm_group_misses *groups) {
    double *sums = pm_alloc(structure->n_scopes * PM_MAX_LEVELS, sizeof *sums);
    for (uint32_t g = 0; g < structure->n_groups && machine->n_prefetchers > 0; g++) {
        double *of_scope = sums + (size_t)structure->groups[g].scope * PM_MAX_LEVELS;
        double step = pm_group_way(&structure->groups[g]);
        double covered =
            pm_prefetched_share(machine, fabs(step), (double)machine->levels[0].block_bytes);
        for (size_t l = 0; l <= pm_last_cache(machine); l++) {
            double followed = groups[g].sequential[l] > 0 ? groups[g].sequential[l] : 0;
            double others =
                pm_covered_beside_sequential(machine, groups[g].sequential[l], step, covered);
            of_scope[l] += groups[g].misses[l] *
                           (followed * pm_sequential_cover(machine) + (1 - followed) * others);
        }
    }
    return sums;
}

void pm_fallback_memory_cycles(const struct pm_machine *machine, const double *prefetched,
                               struct pm_cost_sum *self) {
    double hidden = machine->issue_width > 0 ? machine->window / machine->issue_width : 0;
    double exposed[PM_MAX_LEVELS];
    for (size_t l = 0; l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        double misses = self->level_misses[l], most = level->misses_in_flight;
        exposed[l] = level->exposed;
        if (!(misses > 0) || !(self->operations > 0) || !(level->miss_penalty_cycles > 0))
            continue;
        double beside = misses / self->operations * machine->window;
        double shown = fmax(0, 1 - hidden / level->miss_penalty_cycles);
        exposed[l] = fmax(0, 1 - prefetched[l] / misses) * shown /
                     fmax(1, most > 0 ? fmin(beside, most) : beside);
    }
    add_exposed_cycles(machine, exposed, self);
}
