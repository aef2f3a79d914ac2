/* What there is to fit: the histograms of each (group, block size) at all sizes, and groups that
   may be modelled jointly.

   Profiles have their histograms in the order of (group, block size), so that all of them are
   merged in one pass, and joint groups are runs of one sorted list: time and memory grow with the
   number of histograms, nothing with its square. */
#include "fit/prepare/prepare.h"

#include <stdlib.h>

#include "core/base/base.h"

/* ---- histograms ------------------------------------------------------------------------------ */

static bool measured_everywhere(const struct pm_profile *const *profiles, size_t n,
                                uint64_t block_bytes) {
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t b = 0; b < profiles[i]->n_block_sizes; b++)
            found |= profiles[i]->block_sizes[b] == block_bytes;
        if (!found)
            return false;
    }
    return true;
}

void pm_listing_left_out(const struct pm_profile *const *profiles, size_t n,
                         struct pm_fit_statistics *statistics) {
    uint64_t last = 0;
    while (statistics->n_left_out < PM_FIT_MAX_LEFT_OUT) {
        uint64_t next = UINT64_MAX;
        for (size_t i = 0; i < n; i++)
            for (size_t b = 0; b < profiles[i]->n_block_sizes; b++) {
                uint64_t bytes = profiles[i]->block_sizes[b];
                if (bytes > last && bytes < next && !measured_everywhere(profiles, n, bytes))
                    next = bytes;
            }
        if (next == UINT64_MAX)
            return;
        statistics->left_out[statistics->n_left_out++] = last = next;
    }
}

/* Where each profile stands in the merge. */
struct merge {
    const struct pm_profile *const *profiles;
    size_t n;
    size_t *at;                  /* [profile]: its next histogram */
    const uint64_t *block_sizes; /* that all profiles have; n_block_sizes of them */
    size_t n_block_sizes;
};

/* The next histogram of profile K of a size that all have; NULL if there is none. */
static const struct pm_group_histogram *head(struct merge *m, size_t k) {
    const struct pm_profile *profile = m->profiles[k];
    for (; m->at[k] < profile->n_histograms; m->at[k]++) {
        const struct pm_group_histogram *histogram = &profile->histograms[m->at[k]];
        for (size_t b = 0; b < m->n_block_sizes; b++)
            if (histogram->histogram.block_bytes == m->block_sizes[b])
                return histogram;
    }
    return NULL;
}

static bool is_before(const struct pm_group_histogram *a, const struct pm_group_histogram *b) {
    return a->group != b->group ? a->group < b->group
                                : a->histogram.block_bytes < b->histogram.block_bytes;
}

/* The next (group, block size); its histograms go to ITEM (one for each profile) if that is not
   NULL.  NULL at the end. */
static const struct pm_group_histogram *take_next(struct merge *m,
                                                  const struct pm_histogram **item) {
    const struct pm_group_histogram *first = NULL;
    for (size_t k = 0; k < m->n; k++) {
        const struct pm_group_histogram *next = head(m, k);
        if (next && (!first || is_before(next, first)))
            first = next;
    }
    for (size_t k = 0; k < m->n && first; k++) {
        const struct pm_group_histogram *next = head(m, k);
        bool same = next && !is_before(first, next);
        if (item)
            item[k] = same ? &next->histogram : NULL;
        m->at[k] += same;
    }
    return first;
}

static void rewind_merge(struct merge *m) {
    for (size_t k = 0; k < m->n; k++)
        m->at[k] = 0;
}

void pm_listing_make(struct pm_listing *listing, const struct pm_profile *const *profiles, size_t n,
                     struct pm_model_set *set) {
    struct merge merge = {.profiles = profiles, .n = n, .at = pm_alloc(n, sizeof *merge.at)};
    uint64_t *block_sizes = pm_alloc(profiles[0]->n_block_sizes, sizeof *block_sizes);
    for (size_t b = 0; b < profiles[0]->n_block_sizes; b++)
        if (measured_everywhere(profiles, n, profiles[0]->block_sizes[b]))
            block_sizes[merge.n_block_sizes++] = profiles[0]->block_sizes[b];
    merge.block_sizes = block_sizes;
    *listing = (struct pm_listing){.n_sizes = n};
    while (take_next(&merge, NULL))
        listing->n++;
    rewind_merge(&merge);
    set->n_histograms = listing->n;
    set->histograms = pm_alloc(listing->n, sizeof *set->histograms);
    listing->histograms = pm_alloc(listing->n * n, sizeof(const struct pm_histogram *));
    for (size_t h = 0; h < listing->n; h++) {
        const struct pm_histogram **item = listing->histograms + h * n;
        const struct pm_group_histogram *next = take_next(&merge, item);
        set->histograms[h].group = next->group;
        set->histograms[h].block_bytes = next->histogram.block_bytes;
        for (size_t k = 0; k < n; k++)
            if (item[k] && item[k]->n_bins > listing->most_bins)
                listing->most_bins = item[k]->n_bins;
    }
    free(block_sizes);
    free(merge.at);
}

/* ---- joint groups ---------------------------------------------------------------------------- */

struct place { /* of an item: what joint groups have in common, then the item */
    uint64_t family, block_bytes;
    size_t design, item;
};

static bool belong_together(const struct place *a, const struct place *b) {
    return a->family == b->family && a->block_bytes == b->block_bytes && a->design == b->design;
}

static int compare_places(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    return a->family != b->family             ? PM_COMPARE(a->family, b->family)
           : a->block_bytes != b->block_bytes ? PM_COMPARE(a->block_bytes, b->block_bytes)
           : a->design != b->design           ? PM_COMPARE(a->design, b->design)
                                              : PM_COMPARE(a->item, b->item);
}

/* How many of the places from FIRST on belong together. */
static size_t run_length(const struct place *places, size_t n, size_t first) {
    size_t end = first + 1;
    while (end < n && belong_together(&places[end], &places[first]))
        end++;
    return end - first;
}

/* FAMILY: [group], what groups that belong together have in common. */
static struct place *sorted_places(const struct pm_structure *structure,
                                   const struct pm_fit_bases *bases, const struct pm_model_set *set,
                                   const uint32_t *family) {
    struct place *places = pm_alloc(set->n_histograms + 1, sizeof *places);
    for (size_t h = 0; h < set->n_histograms; h++) {
        uint32_t group = set->histograms[h].group;
        bool known = group < structure->n_groups && /* else it is alone */
                     !(structure->groups[group].flags & PM_GROUP_JOINED);
        places[h] = (struct place){
            .family = known ? family[group] : (uint64_t)UINT32_MAX + group,
            .block_bytes = set->histograms[h].block_bytes,
            .design = pm_fit_design_of_group(bases, structure, group),
            .item = h,
        };
    }
    PM_SORT(places, set->n_histograms, compare_places);
    return places;
}

/* Bins of JOINT groups together, at the size that has most. */
static size_t bins_together(const struct pm_joint_groups *joint, size_t n_sizes) {
    size_t most = 0;
    for (size_t k = 0; k < n_sizes; k++) {
        size_t sum = 0;
        for (size_t m = 0; m < joint->n; m++) {
            const struct pm_histogram *histogram = joint->members[m].histograms[k];
            sum += histogram ? histogram->n_bins : 0;
        }
        most = sum > most ? sum : most;
    }
    return most;
}

void pm_listing_join(struct pm_listing *listing, const struct pm_structure *structure,
                     const struct pm_fit_bases *bases, struct pm_model_set *set) {
    uint32_t *scopes = pm_joint_scopes(structure);
    struct place *places = sorted_places(structure, bases, set, scopes);
    for (size_t i = 0, length; i < listing->n; i += length) {
        length = run_length(places, listing->n, i);
        struct pm_joint_groups *joint = PM_PUSH(listing, joint);
        *joint = (struct pm_joint_groups){
            .n = length,
            .members = pm_alloc(length, sizeof *joint->members),
        };
        for (size_t m = 0; m < length; m++) {
            size_t item = places[i + m].item;
            joint->members[m] = (struct pm_joint_member){
                .histograms = listing->histograms + item * listing->n_sizes,
                .model = &set->histograms[item],
            };
        }
        size_t bins = bins_together(joint, listing->n_sizes);
        listing->most_bins = bins > listing->most_bins ? bins : listing->most_bins;
    }
    free(places);
    free(scopes);
}

void pm_listing_free(struct pm_listing *listing) {
    for (size_t j = 0; j < listing->n_joint; j++)
        free(listing->joint[j].members);
    free(listing->joint);
    free(listing->histograms);
}
