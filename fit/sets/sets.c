/* Histograms → misses in caches of sets: what caches of one block size share, and each of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/sets/private.h"

static struct pm_sets *sets_new(const struct pm_structure *structure,
                                const struct pm_profile *profile, uint64_t block_bytes) {
    struct pm_sets *sets = pm_alloc(1, sizeof *sets);
    *sets = (struct pm_sets){.structure = structure,
                             .profile = profile,
                             .block_bytes = block_bytes,
                             .executions = pm_block_executions(structure, profile->edge_counts),
                             .whole = {profile->histograms, profile->n_histograms, NULL},
                             .groups = pm_alloc(structure->n_groups, sizeof *sets->groups)};
    double longest = 1;
    pm_cells_of_make(sets, &sets->whole);
    for (size_t h = 0; h < profile->n_histograms; h++) {
        const struct pm_group_histogram *of = &profile->histograms[h];
        if (of->histogram.block_bytes != block_bytes)
            continue;
        sets->groups[of->group] = sets->whole.cells[h];
        if (of->histogram.n_bins)
            longest = fmax(longest, of->histogram.bins[of->histogram.n_bins - 1].high);
    }
    sets->n_cells = pm_distance_n_cells(longest) + 1;
    pm_walks_make(structure, profile, sets->executions, &sets->walks);
    sets->carriers = pm_carriers_new(structure, profile, sets->executions, sets->groups,
                                     sets->walks.is_random, sets->n_cells);
    return sets;
}

static void sets_free(struct pm_sets *sets) {
    if (!sets)
        return;
    pm_carriers_free(sets->carriers);
    pm_cells_of_free(&sets->whole);
    free(sets->groups);
    free(sets->executions);
    pm_walks_free(&sets->walks);
    free(sets);
}

struct pm_set_cache *pm_set_caches_of(const struct pm_machine *machine) {
    struct pm_set_cache *caches = pm_alloc(machine->n_levels, sizeof *caches);
    double inner_bytes = 0; /* of the caches nearer the core, as far as an exclusive one adds up */
    for (size_t l = 0; l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        double blocks = pm_level_capacity_blocks(level);
        bool is_exclusive = level->inclusion == PM_INCLUSION_EXCLUSIVE;
        caches[l] = (struct pm_set_cache){
            .block_bytes = level->block_bytes,
            .blocks = blocks,
            .ways = level->associativity,
            .replacement = level->replacement,
            .indexed = level->indexed,
            .unified = level->unified,
            .serves = level->serves,
            .inner_blocks = is_exclusive ? floor(inner_bytes / (double)level->block_bytes) : 0};
        inner_bytes = (is_exclusive ? inner_bytes : 0) + blocks * (double)level->block_bytes;
    }
    return caches;
}

static uint64_t sets_of(const struct pm_profile *profile, const struct pm_set_cache *cache) {
    return !cache->ways || cache->blocks <= cache->ways || !profile->strides.n_references
               ? 1
               : (uint64_t)(cache->blocks / cache->ways);
}

/* Lists the profiles whose misses are asked for: PROFILE, unless it is not wanted, then each of
   OTHERS. */
struct asked_misses {
    const struct pm_structure *structure;
    const struct pm_profile *profile;
    bool without_profile;
    const struct pm_histograms_of *others;
    size_t n_others;
    bool others_are_ends; /* two, of which the first has fewer misses */
};

/* How many of the numbers asked for are the profile's own. */
static size_t n_own(const struct asked_misses *asked) {
    return asked->without_profile ? 0 : asked->profile->n_histograms;
}

/* Where distances are all that counts: in one set, or through SERVES. */
static void count_by_distance(const struct pm_histograms_of *of, const struct pm_set_cache *cache,
                              const struct pm_response *serves, double *misses) {
    for (size_t h = 0; h < of->n; h++) {
        const struct pm_histogram *histogram = &of->histograms[h].histogram;
        if (histogram->block_bytes == cache->block_bytes)
            misses[h] = pm_distance_misses(histogram, cache->blocks + cache->inner_blocks, serves);
    }
}

static void count_all_by_distance(const struct asked_misses *asked,
                                  const struct pm_histograms_of *own,
                                  const struct pm_set_cache *cache, double *misses) {
    count_by_distance(own, cache, &cache->serves, misses);
    misses += own->n;
    for (size_t i = 0; i < asked->n_others; misses += asked->others[i++].n) {
        struct pm_response serves =
            asked->others_are_ends ? pm_response_end(&cache->serves, i == 0) : cache->serves;
        count_by_distance(&asked->others[i], cache, &serves, misses);
    }
}

/* Are distances all that counts, so that MISSES are known? */
static bool count_at_once(const struct asked_misses *asked, const struct pm_set_cache *cache,
                          const struct pm_ruled_cache *ruled, double *misses) {
    const struct pm_histograms_of own = {asked->profile->histograms, n_own(asked), NULL};
    if (!cache->serves.n_points &&
        (ruled->n_sets > 1 || !pm_rule_is_lru(ruled->rule) || cache->unified))
        return false;
    count_all_by_distance(asked, &own, cache, misses);
    return true;
}

/* MISSES [cache] of those of N caches that have blocks of the size of the first one's. */
static void count_with_first(const struct asked_misses *asked, const struct pm_set_cache *caches,
                             size_t n, double **misses) {
    struct pm_policy_question *questions = pm_alloc(n, sizeof *questions);
    struct pm_rule **rules = pm_alloc(n, sizeof *rules);
    size_t n_questions = 0, n_histograms = n_own(asked);
    for (size_t i = 0; i < asked->n_others; i++)
        n_histograms += asked->others[i].n;
    for (size_t c = 0; c < n; c++) {
        const struct pm_set_cache *cache = &caches[c];
        if (misses[c] || cache->block_bytes != caches->block_bytes)
            continue;
        uint64_t n_sets = sets_of(asked->profile, cache);
        double blocks = cache->blocks + cache->inner_blocks;
        misses[c] = pm_alloc(n_histograms, sizeof *misses[c]);
        rules[c] = pm_rule_new(cache->replacement, blocks / (double)n_sets);
        const struct pm_ruled_cache ruled = {.n_sets = n_sets,
                                             .blocks = blocks,
                                             .random_pages = cache->indexed == PM_INDEXED_PHYSICAL,
                                             .unified = cache->unified,
                                             .rule = rules[c]};
        if (!count_at_once(asked, cache, &ruled, misses[c]))
            questions[n_questions++] =
                (struct pm_policy_question){.cache = ruled,
                                            .misses = asked->without_profile ? NULL : misses[c],
                                            .misses_of_others = misses[c] + n_own(asked)};
    }
    if (n_questions) {
        struct pm_sets *sets = sets_new(asked->structure, asked->profile, caches->block_bytes);
        pm_count_policy_misses(sets, asked->others, asked->n_others, questions, n_questions);
        sets_free(sets);
    }
    for (size_t c = 0; c < n; c++)
        pm_rule_free(rules[c]);
    free(rules);
    free(questions);
}

/* Without responses, whose misses cost nothing. */
static bool are_same(const struct pm_set_cache *a, const struct pm_set_cache *b) {
    return a->block_bytes == b->block_bytes && a->blocks == b->blocks && a->ways == b->ways &&
           a->replacement == b->replacement && a->indexed == b->indexed &&
           a->unified == b->unified && a->inner_blocks == b->inner_blocks && !a->serves.n_points &&
           !b->serves.n_points;
}

/* For each of N caches, of which those that are the same are asked for once. */
static double **misses_of(const struct asked_misses *asked, const struct pm_set_cache *caches,
                          size_t n) {
    struct pm_set_cache *distinct = pm_alloc(n, sizeof *distinct);
    size_t *numbers = pm_alloc(n, sizeof *numbers), n_distinct = 0, n_histograms = n_own(asked);
    double **found = pm_alloc(n, sizeof *found), **misses = pm_alloc(n, sizeof *misses);
    for (size_t i = 0; i < asked->n_others; i++)
        n_histograms += asked->others[i].n;
    for (size_t c = 0; c < n; c++) {
        while (numbers[c] < n_distinct && !are_same(&distinct[numbers[c]], &caches[c]))
            numbers[c]++;
        if (numbers[c] == n_distinct)
            distinct[n_distinct++] = caches[c];
    }
    for (size_t first = 0; first < n_distinct; first++)
        if (!found[first])
            count_with_first(asked, distinct + first, n_distinct - first, found + first);
    for (size_t c = 0; c < n; c++) {
        misses[c] = pm_alloc(n_histograms, sizeof **misses);
        memcpy(misses[c], found[numbers[c]], n_histograms * sizeof **misses);
    }
    pm_set_misses_free(found, n_distinct);
    free(numbers);
    free(distinct);
    return misses;
}

static double **misses_between(const struct pm_structure *structure,
                               const struct pm_profile *profile, struct pm_profile *const *ends,
                               bool ends_of_responses, const struct pm_set_cache *caches,
                               size_t n) {
    struct pm_histograms_of of[2];
    for (int end = 0; ends && end < 2; end++)
        of[end] = (struct pm_histograms_of){ends[end]->histograms, ends[end]->n_histograms, NULL};
    const struct asked_misses asked = {structure, profile,      false,
                                       of,        ends ? 2 : 0, ends_of_responses};
    return misses_of(&asked, caches, n);
}

double **pm_set_misses(const struct pm_structure *structure, const struct pm_profile *profile,
                       struct pm_profile *const *ends, const struct pm_set_cache *caches,
                       size_t n) {
    return misses_between(structure, profile, ends, true, caches, n);
}

double **pm_set_misses_of_machines(const struct pm_structure *structure,
                                   const struct pm_profile *profile, struct pm_profile *const *ends,
                                   const struct pm_machine *const *machines, size_t n) {
    struct {
        PM_ARRAY(struct pm_set_cache, caches);
    } all = {0};
    for (size_t m = 0; m < n; m++) {
        struct pm_set_cache *caches = pm_set_caches_of(machines[m]);
        for (size_t l = 0; l < machines[m]->n_levels; l++)
            *PM_PUSH(&all, caches) = caches[l];
        free(caches);
    }
    double **misses = misses_between(structure, profile, ends, false, all.caches, all.n_caches);
    free(all.caches);
    return misses;
}

double **pm_set_misses_of_levels(const struct pm_structure *structure,
                                 const struct pm_profile *profile, struct pm_profile *const *ends,
                                 const struct pm_machine *machine) {
    return pm_set_misses_of_machines(structure, profile, ends, &machine, 1);
}

double **pm_set_misses_of_parts(const struct pm_structure *structure,
                                const struct pm_profile *profile,
                                const struct pm_group_histogram *parts, size_t n_parts,
                                const struct pm_machine *machine) {
    const struct pm_histograms_of of = {parts, n_parts, NULL};
    struct pm_set_cache *caches = pm_set_caches_of(machine);
    const struct asked_misses asked = {structure, profile, true, &of, 1, false};
    double **misses = misses_of(&asked, caches, machine->n_levels);
    free(caches);
    return misses;
}

double pm_set_unknown_share(const struct pm_structure *structure,
                            const struct pm_profile *profile) {
    double *executions = pm_block_executions(structure, profile->edge_counts);
    double all = 0, unknown = 0;
    for (uint32_t r = 0; r < structure->n_references; r++) {
        const struct pm_reference *reference = &structure->references[r];
        if (!reference->recorded || reference->kind != PM_ACCESS_PLAIN)
            continue;
        all += executions[reference->block];
        if (!pm_strides_of_reference(&profile->strides, r))
            unknown += executions[reference->block];
    }
    free(executions);
    return all > 0 ? unknown / all : 0;
}

void pm_set_misses_free(double **misses, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(misses[i]);
    free(misses);
}
