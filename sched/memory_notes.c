/* Sentences that qualify misses: histograms that are estimates or bounds, and what of the blocks
   that are fetched is never used.

       unused share = 1 − Σ bytes touched first / Σ cold accesses · block bytes

   over the groups of an object, or of the program.  Each byte is touched first by one group, and
   each block too, so that over all groups of an object the share is exact, unless another object is
   in its blocks.  Threads are added up. */
#include "sched/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void note_sample(const struct pm_profile *profile, struct pm_prediction *prediction) {
    uint64_t sample = 1;
    for (size_t i = 0; i < profile->n_histograms; i++)
        if (profile->histograms[i].histogram.sample > sample)
            sample = profile->histograms[i].histogram.sample;
    if (sample > 1)
        pm_prediction_note_of(prediction, NAN,
                              "One of %llu blocks was watched, so misses are estimates.",
                              (unsigned long long)sample);
}

/* Beyond reuses count as misses, which they may not be in a cache larger than their bound. */
static void note_bound(const struct pm_profile *profile, double *const *misses,
                       const struct pm_machine *machine, struct pm_prediction *prediction) {
    for (size_t l = 0; l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        double blocks = pm_level_capacity_blocks(level), beyond = 0, all = 0;
        for (size_t i = 0; i < profile->n_histograms; i++) {
            const struct pm_histogram *histogram = &profile->histograms[i].histogram;
            if (histogram->block_bytes != level->block_bytes)
                continue;
            all += misses[l][i];
            if (histogram->at_least < blocks)
                beyond += histogram->beyond_loads + histogram->beyond_stores;
        }
        if (pm_is_worth_a_note(beyond, all))
            pm_prediction_note_of(
                prediction, beyond / all,
                "%.3g%% of the misses of %s are only known to be reuses from afar, of which "
                "some may hit: its misses are an upper bound.",
                100 * beyond / all, level->name);
    }
}

/* ---- fragmentation --------------------------------------------------------------------------- */

struct object_use {
    const char *name;        /* of the structure; NULL: groups without a name */
    struct pm_histogram sum; /* without bins */
};

struct object_uses {
    PM_ARRAY(struct object_use, objects);
};

static int compare_names(const void *a, const void *b) {
    const char *x = ((const struct object_use *)a)->name, *y = ((const struct object_use *)b)->name;
    if (!x || !y)
        return (x != NULL) - (y != NULL);
    return strcmp(x, y);
}

static void add_use(struct pm_histogram *sum, const struct pm_histogram *from) {
    sum->block_bytes = from->block_bytes;
    sum->cold_loads += from->cold_loads;
    sum->cold_stores += from->cold_stores;
    sum->bytes_touched += from->bytes_touched;
}

static double unused_bytes(const struct pm_histogram *sum) {
    return (sum->cold_loads + sum->cold_stores) * (double)sum->block_bytes - sum->bytes_touched;
}

/* Of each group with a cold access; then one for each name. */
static struct object_uses uses_by_object(const struct pm_structure *structure,
                                         const struct pm_profile *profile, uint64_t block_bytes) {
    struct object_uses uses = {0};
    for (size_t i = 0; i < profile->n_histograms; i++) {
        const struct pm_group_histogram *h = &profile->histograms[i];
        if (h->histogram.block_bytes != block_bytes)
            continue;
        struct object_use *use = PM_PUSH(&uses, objects);
        *use = (struct object_use){.name = structure->groups[h->group].object};
        add_use(&use->sum, &h->histogram);
    }
    if (uses.n_objects == 0)
        return uses;
    PM_SORT(uses.objects, uses.n_objects, compare_names);
    size_t kept = 0;
    for (size_t i = 1; i < uses.n_objects; i++)
        if (compare_names(&uses.objects[kept], &uses.objects[i]) == 0)
            add_use(&uses.objects[kept].sum, &uses.objects[i].sum);
        else
            uses.objects[++kept] = uses.objects[i];
    uses.n_objects = kept + 1;
    return uses;
}

static void note_fragmentation(const struct pm_structure *structure,
                               const struct pm_profile *profile, const struct pm_machine *machine,
                               struct pm_prediction *prediction) {
    uint64_t block_bytes = machine->levels[0].block_bytes;
    struct object_uses uses = uses_by_object(structure, profile, block_bytes);
    struct pm_histogram all = {.block_bytes = block_bytes};
    const struct object_use *worst = NULL;
    for (size_t i = 0; i < uses.n_objects; i++) {
        const struct object_use *use = &uses.objects[i];
        add_use(&all, &use->sum);
        if (use->name && (!worst || unused_bytes(&use->sum) > unused_bytes(&worst->sum)))
            worst = use;
    }
    double share = pm_histogram_unused_share(&all);
    double of_worst = worst ? pm_histogram_unused_share(&worst->sum) : 0;
    bool has_most = of_worst > 0 && 2 * unused_bytes(&worst->sum) > unused_bytes(&all);
    if (share > 0 && has_most)
        pm_prediction_note_of(
            prediction, share,
            "Of the %llu-byte blocks that are fetched, %.3g%% of the bytes are never used, most "
            "of them in %.64s (%.3g%% of its blocks).",
            (unsigned long long)block_bytes, 100 * share, worst->name, 100 * of_worst);
    else if (share > 0)
        pm_prediction_note_of(
            prediction, share,
            "Of the %llu-byte blocks that are fetched, %.3g%% of the bytes are never used.",
            (unsigned long long)block_bytes, 100 * share);
    free(uses.objects);
}

void pm_add_memory_notes(const struct pm_structure *structure, const struct pm_profile *profile,
                         double *const *misses, const struct pm_machine *machine,
                         struct pm_prediction *prediction) {
    note_sample(profile, prediction);
    note_bound(profile, misses, machine, prediction);
    if (machine->n_levels && !profile->predicted)
        note_fragmentation(structure, profile, machine, prediction);
}
