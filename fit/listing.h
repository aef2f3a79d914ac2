/* What there is to fit: the histograms of each (group, block size) at all sizes, and the families
   of them that may be cut together.  Private to fit/. */
#ifndef PM_LISTING_H
#define PM_LISTING_H

#include "fit/bases.h"
#include "fit/stage.h"

struct pm_listing {
    size_t n, n_sizes;
    const struct pm_histogram *
        *histograms; /* [item · n_sizes + size], NULL: never accessed; owned */
    size_t n_families;
    struct pm_family *families; /* of two members or more; owned */
    struct pm_member *members;  /* of all families; owned */
    size_t most_bins;           /* of an item or of a family together, at one size */
};

/* Lists the histograms of block sizes that all PROFILES (ascending in the size) have, by group and
   block size: makes SET's histogram models, empty but for these two, and an item for each. */
void pm_listing_make(struct pm_listing *listing, const struct pm_profile *const *profiles,
                     size_t n_profiles, struct pm_model_set *set);

/* Lists the families among them: histograms of one block size whose groups belong together
   (families.c) and whose models have one design. */
void pm_listing_families(struct pm_listing *listing, const struct pm_structure *structure,
                         const struct pm_fit_bases *bases, struct pm_model_set *set);

void pm_listing_free(struct pm_listing *listing); /* not the struct itself */

/* Block sizes that some of the profiles have and others do not. */
void pm_listing_left_out(const struct pm_profile *const *profiles, size_t n_profiles,
                         struct pm_fit_statistics *statistics);

#endif
