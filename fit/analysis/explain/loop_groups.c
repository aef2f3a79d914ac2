/* Misses of the reference groups of one loop; see explain.h.

     conflicts = misses in the level's sets − misses in a fully associative cache of its size
     cycles    = Σ over levels of  cycles of the loop's misses there · its share of these misses
               + cycles of bandwidth · its share of the misses of the outermost cache that has some
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/behaviour/behaviour.h"
#include "fit/analysis/explain/explain.h"
#include "fit/sets/sets.h"

/* Of those of the first level: fewer are none. */
static const double few_misses = 0.01;

static struct pm_loop_group *group_of(struct pm_loop_groups *groups, uint32_t group) {
    for (size_t i = 0; i < groups->n_groups; i++)
        if (groups->groups[i].group == group)
            return &groups->groups[i];
    return NULL;
}

static void list_groups(const struct pm_structure *structure, uint32_t scope, size_t n_levels,
                        struct pm_loop_groups *groups) {
    for (uint32_t g = 0; g < structure->n_groups; g++) {
        if (pm_row_scope(structure, structure->groups[g].scope) != scope)
            continue;
        struct pm_loop_group *group = PM_PUSH(groups, groups);
        *group =
            (struct pm_loop_group){.group = g, .accesses = NAN, .cycles = NAN, .unused_share = NAN};
        for (size_t l = 0; l < n_levels; l++)
            group->misses[l] = group->conflicts[l] = group->first_touches[l] =
                group->sequential[l] = NAN;
    }
}

/* Of all histograms at once, as for a prediction, since distances are told apart in steps. */
static void add_misses(const struct pm_structure *structure, const struct pm_profile *profile,
                       const struct pm_machine *machine, struct pm_loop_groups *groups) {
    size_t n = profile->n_histograms;
    struct pm_set_cache *caches = pm_set_caches_of(machine);
    double **in_sets = pm_set_misses(structure, profile, NULL, caches, machine->n_levels);
    for (size_t l = 0; l < machine->n_levels; l++)
        caches[l].ways = 0;
    double **anywhere = pm_set_misses(structure, profile, NULL, caches, machine->n_levels);
    for (size_t i = 0; i < n; i++) {
        const struct pm_histogram *histogram = &profile->histograms[i].histogram;
        struct pm_loop_group *group = group_of(groups, profile->histograms[i].group);
        if (!group)
            continue;
        if (histogram->block_bytes == machine->levels[0].block_bytes)
            group->accesses = pm_histogram_accesses(histogram);
        for (size_t l = 0; l < machine->n_levels; l++) {
            if (histogram->block_bytes != machine->levels[l].block_bytes)
                continue;
            group->misses[l] = in_sets[l][i];
            group->first_touches[l] = histogram->cold_loads + histogram->cold_stores;
            group->conflicts[l] = fmax(0, in_sets[l][i] - anywhere[l][i]);
            if (machine->levels[l].kind == PM_LEVEL_CACHE && group->misses[l] > 0)
                group->sequential[l] = group->misses[l] * pm_sequential_share(profile, group->group,
                                                                              &machine->levels[l]);
        }
    }
    pm_set_misses_free(in_sets, machine->n_levels);
    pm_set_misses_free(anywhere, machine->n_levels);
    free(caches);
}

static double misses_in(const struct pm_loop_groups *groups, size_t level) {
    double sum = 0;
    for (size_t i = 0; i < groups->n_groups; i++)
        sum += isnan(groups->groups[i].misses[level]) ? 0 : groups->groups[i].misses[level];
    return sum;
}

static void share_out(double cycles, size_t level, struct pm_loop_groups *groups) {
    double sum = misses_in(groups, level);
    for (size_t i = 0; i < groups->n_groups; i++) {
        struct pm_loop_group *group = &groups->groups[i];
        if (isnan(group->misses[level]))
            continue;
        double share = sum > 0 ? group->misses[level] / sum : 0;
        group->cycles = (isnan(group->cycles) ? 0 : group->cycles) + share * cycles;
    }
}

static void add_cycles(const struct pm_machine *machine, const struct pm_cost_sum *self,
                       struct pm_loop_groups *groups) {
    size_t outermost = 0;
    for (size_t l = 0; l < machine->n_levels; l++) {
        share_out(self->level_cycles[l], l, groups);
        bool misses = misses_in(groups, l) > few_misses * misses_in(groups, 0);
        if (machine->levels[l].kind == PM_LEVEL_CACHE && misses)
            outermost = l;
    }
    if (machine->n_levels)
        share_out(self->causes[PM_CAUSE_BANDWIDTH], outermost, groups);
}

/* Do groups A and B access the same data?  What has no name is by itself. */
static bool is_same_data(const struct pm_structure *structure, uint32_t a, uint32_t b) {
    const char *x = structure->groups[a].object, *y = structure->groups[b].object;
    return a == b || (x && y && strcmp(x, y) == 0);
}

static void add_unused(const struct pm_structure *structure, const struct pm_profile *with_bytes,
                       uint64_t block_bytes, struct pm_loop_groups *groups) {
    for (size_t i = 0; i < groups->n_groups; i++) {
        struct pm_histogram sum = {.block_bytes = block_bytes};
        for (size_t k = 0; k < with_bytes->n_histograms; k++) {
            const struct pm_histogram *histogram = &with_bytes->histograms[k].histogram;
            if (histogram->block_bytes != block_bytes ||
                !is_same_data(structure, groups->groups[i].group, with_bytes->histograms[k].group))
                continue;
            sum.cold_loads += histogram->cold_loads;
            sum.cold_stores += histogram->cold_stores;
            sum.bytes_touched += histogram->bytes_touched;
        }
        groups->groups[i].unused_share = pm_histogram_unused_share(&sum);
    }
}

/* What nobody knows, or never happened, stands last. */
static double weight_of(const struct pm_loop_group *group) {
    return isnan(group->cycles) ? -1 : group->cycles;
}

static int by_cycles(const void *left, const void *right) {
    const struct pm_loop_group *a = left, *b = right;
    double x = weight_of(a), y = weight_of(b);
    if (x == y && !isnan(a->accesses) && !isnan(b->accesses)) {
        x = a->accesses;
        y = b->accesses;
    }
    return x != y ? (x < y) - (x > y) : PM_COMPARE(a->group, b->group);
}

void pm_loop_groups_make(const struct pm_structure *structure, uint32_t scope,
                         const struct pm_profile *profile, const struct pm_machine *machine,
                         const struct pm_cost_sum *self, const struct pm_profile *with_bytes,
                         struct pm_loop_groups *groups) {
    *groups = (struct pm_loop_groups){0};
    list_groups(structure, scope, machine->n_levels, groups);
    if (profile->n_histograms)
        add_misses(structure, profile, machine, groups);
    add_cycles(machine, self, groups);
    if (with_bytes && machine->n_levels)
        add_unused(structure, with_bytes, machine->levels[0].block_bytes, groups);
    PM_SORT(groups->groups, groups->n_groups, by_cycles);
}
