/* What the parts of a program do with memory: by basic block, as a profile counted it, or by scope,
   from counts and histograms, measured or predicted.

   References of a scope are executions of its basic blocks; a reference's bin is that of its stride
   around the innermost loop, in elements of its own size, as its group has it, where that is a
   constant, else as it was measured or is predicted for this size; without one it is random.  The
   misses of a group are shared out over its references by how often they are executed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/sets/sets.h"
#include "sched/schedule.h"
#include "sched/signature/private.h"

void pm_program_parts_free(struct pm_program_parts *parts) {
    free(parts->parts);
    *parts = (struct pm_program_parts){0};
}

static void add_to(struct pm_pattern *pattern, double references, double words) {
    pattern->references += references;
    pattern->words += words;
}

/* ---- basic blocks of a profile --------------------------------------------------------------- */

/* The share of a block's references that store. */
static double store_share(const struct pm_structure *structure, uint32_t block) {
    const struct pm_block *b = &structure->blocks[block];
    double loads = 0, stores = 0;
    for (uint32_t r = b->first_reference; r < b->first_reference + b->n_references; r++) {
        loads += structure->references[r].access & PM_ACCESS_LOAD ? 1 : 0;
        stores += structure->references[r].access & PM_ACCESS_STORE ? 1 : 0;
    }
    return loads + stores > 0 ? stores / (loads + stores) : 0;
}

static struct pm_program_part part_of_block(const struct pm_structure *structure,
                                            const struct pm_profiled_block *block,
                                            size_t first_level, size_t n_levels) {
    struct pm_program_part part = {.block = block->block,
                                   .scope = pm_block_scope(structure, block->block),
                                   .flops = block->flops};
    double words = fmax(block->references, block->bytes / PM_WORD_BYTES);
    double stores = store_share(structure, block->block);
    for (int kind = 0; kind < PM_N_PATTERN_KINDS; kind++)
        for (int bin = 0; bin < PM_N_STRIDE_BINS; bin++) {
            struct pm_pattern *pattern = &part.patterns.of[kind][bin];
            double share = kind == PM_PATTERN_STORES ? stores : 1 - stores;
            share *= block->strides[bin] / block->references;
            add_to(pattern, share * block->references, share * words);
            for (size_t l = 0; l < n_levels; l++)
                pattern->misses[l] = share * block->misses[first_level + l];
        }
    return part;
}

bool pm_parts_of_blocks(const struct pm_structure *structure,
                        const struct pm_block_profile *profile,
                        const struct pm_signature *signature, struct pm_program_parts *parts,
                        struct pm_error *err) {
    const char *name = signature->machine->name;
    size_t n_levels, first = pm_simulated_levels(profile, name, &n_levels);
    *parts = (struct pm_program_parts){0};
    if (n_levels != signature->n_caches)
        return pm_fail(err,
                       "the caches of machine %s were not simulated in this run: measure it again "
                       "with `pmodel run --profile --simulate %s --again`",
                       name, name);
    for (size_t i = 0; i < profile->n_blocks; i++) {
        const struct pm_profiled_block *block = &profile->blocks[i];
        if (block->references > 0)
            *PM_PUSH(parts, parts) = part_of_block(structure, block, first, n_levels);
        else
            parts->flops_without_references += block->flops;
    }
    return true;
}

/* ---- scopes of a profile --------------------------------------------------------------------- */

/* The bin of a stride between accesses of SIZE bytes. */
static enum pm_stride_bin bin_of(double stride_bytes, double size) {
    static const struct {
        enum pm_stride_bin bin;
        double most;
    } bins[] = {
#define PM_BIN_LIMIT(id, elements, name) {id, elements},
        PM_STRIDE_BINS(PM_BIN_LIMIT)
#undef PM_BIN_LIMIT
    };
    for (int i = 0; i < PM_N_STRIDE_BINS; i++)
        if (fabs(stride_bytes) <= bins[i].most * size)
            return bins[i].bin;
    return PM_STRIDE_BIN_RANDOM;
}

/* Accesses many elements, one after the other: its accesses are those to lines. */
static bool is_string(const struct pm_reference *reference) {
    return reference->kind == PM_ACCESS_STRING || reference->kind == PM_ACCESS_CALLED;
}

static enum pm_stride_bin bin_of_reference(const struct pm_structure *structure,
                                           const struct pm_profile *profile, uint32_t r) {
    const struct pm_reference *reference = &structure->references[r];
    const struct pm_group *group = &structure->groups[reference->group];
    double size = reference->size_bytes;
    if (is_string(reference))
        return PM_STRIDE_BIN_1;
    if (reference->kind >= PM_ACCESS_GATHER_K && reference->kind <= PM_ACCESS_GATHER_V)
        return PM_STRIDE_BIN_RANDOM;
    if (group->flags & (PM_GROUP_STACK | PM_GROUP_CONSTANTS | PM_GROUP_PUSHED))
        return PM_STRIDE_BIN_0;
    double step = pm_reference_step(structure, &profile->strides, r);
    return isnan(step) ? PM_STRIDE_BIN_RANDOM : bin_of(step, size);
}

/* The group whose misses are those of reference R; PM_NONE: none. */
static uint32_t group_of(const struct pm_structure *structure, uint32_t r) {
    uint32_t group = structure->references[r].group;
    return group == PM_NONE ? PM_NONE : pm_group_kept_as(structure, group);
}

/* Lines that an execution of a string instruction accesses, or of what a called routine does, by
   the histograms of its group. */
static double accesses_of_string(const struct pm_profile *profile,
                                 const struct pm_group_misses *groups, uint32_t group,
                                 uint64_t line_bytes) {
    const struct pm_histogram *h = pm_profile_histogram(profile, group, line_bytes);
    double executions = groups[group].executions;
    return h && executions > 0 ? fmax(1, pm_histogram_accesses(h) / executions) : 1;
}

/* For each reference how many elements an execution accesses: of gathers, scatters and strings more
   than one.  The caller frees. */
static double *elements_of_references(const struct pm_structure *structure,
                                      const struct pm_profile *profile,
                                      const struct pm_group_misses *groups, uint64_t line_bytes) {
    double *elements = pm_alloc(structure->n_references, sizeof *elements);
    for (uint32_t r = 0; r < structure->n_references; r++)
        elements[r] = 1;
    for (uint32_t r = 0; r < structure->n_references; r++) {
        uint32_t group = group_of(structure, r);
        if (group != PM_NONE && is_string(&structure->references[r]))
            elements[r] = accesses_of_string(profile, groups, group, line_bytes);
    }
    for (uint32_t i = 0; i < structure->n_ops; i++) {
        const struct pm_op *op = &structure->ops[i];
        bool is_many = op->op_class == PM_OP_GATHER || op->op_class == PM_OP_SCATTER;
        if (is_many && op->reference != PM_NONE && op->element_bytes > 0)
            elements[op->reference] = fmax(1, op->width_bits / 8.0 / op->element_bytes);
    }
    return elements;
}

struct finding {
    const struct pm_structure *structure;
    const struct pm_profile *profile;
    const struct pm_group_misses *groups;
    const double *executions; /* of basic blocks */
    double *elements;         /* of references */
    double *accesses;         /* of groups that have histograms: of all their references */
    size_t n_caches;
    double line_bytes;
};

static void add_reference(const struct finding *f, uint32_t r, double executions,
                          struct pm_patterns *patterns) {
    const struct pm_reference *reference = &f->structure->references[r];
    uint32_t group = group_of(f->structure, r);
    if (group == PM_NONE)
        return;
    double n = executions * f->elements[r];
    double bytes = is_string(reference) ? f->line_bytes : reference->size_bytes;
    double words = n * fmax(1, bytes / PM_WORD_BYTES);
    enum pm_stride_bin bin = bin_of_reference(f->structure, f->profile, r);
    bool loads = reference->access & PM_ACCESS_LOAD;
    struct pm_pattern *load = &patterns->of[PM_PATTERN_LOADS][bin];
    struct pm_pattern *store = &patterns->of[PM_PATTERN_STORES][bin];
    if (loads)
        add_to(load, n, words);
    if (reference->access & PM_ACCESS_STORE)
        add_to(store, n, words);
    for (size_t l = 0; l < f->n_caches && f->accesses[group] > 0; l++)
        (loads ? load : store)->misses[l] += f->groups[group].misses[l] * n / f->accesses[group];
}

struct pm_patterns *pm_patterns_of_scopes(const struct pm_frequencies *frequencies,
                                          const struct pm_profile *profile,
                                          const struct pm_group_misses *groups,
                                          const struct pm_signature *signature) {
    const struct pm_structure *s = frequencies->structure;
    struct finding f = {.structure = s,
                        .profile = profile,
                        .groups = groups,
                        .executions = frequencies->blocks,
                        .elements = elements_of_references(
                            s, profile, groups, signature->machine->levels[0].block_bytes),
                        .accesses = pm_alloc(s->n_groups, sizeof(double)),
                        .n_caches = signature->n_caches,
                        .line_bytes = (double)signature->machine->levels[0].block_bytes};
    struct pm_patterns *patterns = pm_alloc(s->n_scopes, sizeof *patterns);
    for (int adding = 0; adding < 2; adding++) /* what groups do in all is needed first */
        for (uint32_t b = 0; b < s->n_blocks; b++) {
            const struct pm_block *block = &s->blocks[b];
            uint32_t end = block->first_reference + block->n_references;
            for (uint32_t r = block->first_reference; r < end && f.executions[b] > 0; r++)
                if (adding)
                    add_reference(&f, r, f.executions[b], &patterns[pm_block_scope(s, b)]);
                else if (group_of(s, r) != PM_NONE)
                    f.accesses[group_of(s, r)] += f.executions[b] * f.elements[r];
        }
    free(f.elements);
    free(f.accesses);
    return patterns;
}

/* Floating-point operations of the own code of each scope; the caller frees. */
double *pm_flops_of_scopes(const struct pm_frequencies *frequencies) {
    const struct pm_structure *s = frequencies->structure;
    double *flops = pm_alloc(s->n_scopes, sizeof *flops);
    for (uint32_t b = 0; b < s->n_blocks; b++) {
        const struct pm_block *block = &s->blocks[b];
        double of_block = 0;
        for (uint32_t i = 0; i < block->n_ops; i++)
            of_block += pm_op_flops(&s->ops[block->first_op + i]);
        if (frequencies->blocks[b] > 0)
            flops[pm_block_scope(s, b)] += of_block * frequencies->blocks[b];
    }
    return flops;
}

static bool has_words(const struct pm_patterns *patterns) {
    double words = 0;
    for (int kind = 0; kind < PM_N_PATTERN_KINDS; kind++)
        for (int bin = 0; bin < PM_N_STRIDE_BINS; bin++)
            words += patterns->of[kind][bin].words;
    return words > 0;
}

bool pm_parts_of_scopes(const struct pm_structure *structure, const struct pm_profile *profile,
                        const struct pm_signature *signature, struct pm_program_parts *parts,
                        struct pm_error *err) {
    *parts = (struct pm_program_parts){0};
    if (!pm_check_block_sizes(profile, signature->machine, err))
        return false;
    struct pm_frequencies frequencies;
    struct pm_scope_prediction *scopes = pm_alloc(structure->n_scopes, sizeof *scopes);
    struct pm_group_misses *groups = pm_alloc(structure->n_groups, sizeof *groups);
    pm_frequencies_make(structure, profile->edge_counts, &frequencies);
    double **misses = pm_set_misses_of_levels(structure, profile, NULL, signature->machine);
    pm_count_misses(&frequencies, profile, misses, signature->machine, scopes, groups);
    pm_set_misses_free(misses, signature->machine->n_levels);
    struct pm_patterns *patterns = pm_patterns_of_scopes(&frequencies, profile, groups, signature);
    double *flops = pm_flops_of_scopes(&frequencies);
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        if (has_words(&patterns[s]))
            *PM_PUSH(parts, parts) = (struct pm_program_part){
                .block = PM_NONE, .scope = s, .flops = flops[s], .patterns = patterns[s]};
        else
            parts->flops_without_references += flops[s];
    free(flops);
    free(patterns);
    free(groups);
    free(scopes);
    pm_frequencies_free(&frequencies);
    return true;
}
