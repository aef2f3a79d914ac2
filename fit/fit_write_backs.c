/* Models of stores by dirty distance (core/write_backs/write_backs.h): a set of its own, made as
   that of reuses is, of the same runs with these histograms in place of the others.  Edges, strides
   and held-out sets are the outer set's. */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/write_backs/write_backs.h"
#include "fit/fit.h"
#include "fit/private.h"

/* Does PROFILE have them for all its block sizes? */
static bool has_all(const struct pm_profile *profile) {
    bool all = profile->n_block_sizes > 0;
    for (size_t b = 0; b < profile->n_block_sizes; b++)
        all &= pm_profile_has_dirty(profile, profile->block_sizes[b]);
    return all;
}

void pm_fit_write_backs(const struct pm_structure *structure,
                        const struct pm_profile *const *profiles, size_t n_profiles,
                        const struct pm_fit_options *options, struct pm_model_set *set) {
    const struct pm_profile **kept = pm_alloc(n_profiles, sizeof *kept);
    struct pm_profile *dirty = pm_alloc(n_profiles, sizeof *dirty);
    struct pm_error ignored = {0};
    struct pm_fit_options same = options ? *options : (struct pm_fit_options){0};
    same.drop_outliers = false; /* they are no longer there */
    same.without_strides = true;
    same.dumping = NULL;
    size_t n = pm_fit_keep_fitted(profiles, n_profiles, set, kept);
    bool all = n > 0;
    for (size_t k = 0; k < n; k++) {
        all &= has_all(kept[k]);
        dirty[k] = *kept[k]; /* which owns all of it */
        dirty[k].histograms = kept[k]->dirty;
        dirty[k].n_histograms = kept[k]->n_dirty;
        dirty[k].n_totals = 0;
        kept[k] = &dirty[k];
    }
    if (all)
        set->dirty = pm_fit(structure, kept, n, &same, NULL, &ignored);
    if (set->dirty) {
        free(set->dirty->edges);
        set->dirty->edges = NULL;
        set->dirty->n_edges = 0;
    }
    free(dirty);
    free(kept);
}
