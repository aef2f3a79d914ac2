/* From measured profiles to what is fitted: the parameters that models are functions of, the sizes
   that do not go with the others, the basis of each part of the program, and the histograms. */
#ifndef PM_FIT_PREPARE_H
#define PM_FIT_PREPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"
#include "core/structure/structure.h"
#include "fit/fit.h"
#include "fit/histogram/histogram.h"
#include "fit/series/series.h"

/* ---- choose_parameters.c --------------------------------------------------------------------- */

/* The parameters that vary independently over PROFILES, all others being constant or functions of
   them, or what OPTIONS (may be NULL) say: fills NAMES, which has room for PM_MAX_PARAMETERS and
   lives as long as the profiles, and what became of each in STATISTICS (may be NULL); how many, 0
   with a sentence. */
size_t pm_fit_varying(const struct pm_profile *const *profiles, size_t n_profiles,
                      const struct pm_fit_options *options, const char **names,
                      struct pm_fit_statistics *statistics, struct pm_error *err);

/* PROFILES by ascending size: the one parameter's value, or the geometric mean of several. */
void pm_fit_sort(const struct pm_profile *const *profiles, size_t n, const char *const *names,
                 size_t n_names, const struct pm_profile **sorted);

/* ---- choice.c -------------------------------------------------------------------------------- */

/* A sample of what was measured; PROFILES outlive it. */
struct pm_fit_sample;
struct pm_fit_sample *pm_fit_sample_new(const struct pm_profile *const *profiles, size_t n);
void pm_fit_sample_free(struct pm_fit_sample *sample);

/* How far off it is, each size predicted from the others by models in NAMES, on average, 0…1; NAN:
   nothing was counted, or there are no such models. */
double pm_fit_sample_error(const struct pm_fit_sample *sample, const char *const *names,
                           size_t n_names);

/* Whether all runs that differ in nothing but NAME were measured alike, of which there must be two;
   REPEATS (a value for each profile): those that are like an earlier one. */
bool pm_fit_sample_ignores(const struct pm_fit_sample *sample, const char *name, bool *repeats);

/* ---- outlier_sizes.c
 * ----------------------------------------------------------------------------- */

/* Which of the PROFILES (N of them, as pm_fit takes them, in models of PARAMETER) are sizes that do
   not go with the others; fills IS_OUTLIER (n values) and STATISTICS (may be NULL) and gives how
   many there are. */
size_t pm_fit_find_outlier_sizes(const struct pm_profile *const *profiles, size_t n,
                                 const char *parameter, bool *is_outlier, unsigned n_threads,
                                 struct pm_fit_statistics *statistics);

/* ---- bases.c --------------------------------------------------------------------------------- */

struct pm_fit_bases {
    /* Over one list of functions, the set's: [0] for all that has no basis of its own, then one for
       each that was given for a scope.  Owned. */
    size_t n_designs;
    struct pm_design **designs;
    bool *given;        /* [design]: by the user; else it is the default.  Owned */
    uint16_t *of_scope; /* [scope]: the design of its models; owned */
    size_t n_scopes;
};

/* Makes SET's basis and the designs over it.  Errors are those of --basis and of the sizes; what
   was left out harmlessly is noted in STATISTICS. */
bool pm_fit_bases_new(const struct pm_structure *structure, const struct pm_path *path,
                      const struct pm_fit_options *options, struct pm_model_set *set,
                      struct pm_fit_bases *bases, struct pm_fit_statistics *statistics,
                      struct pm_error *err);
void pm_fit_bases_free(struct pm_fit_bases *bases);

/* The designs of an edge and of a reference group: numbers among bases->designs. */
size_t pm_fit_design_of_edge(const struct pm_fit_bases *bases, const struct pm_structure *structure,
                             size_t edge);
size_t pm_fit_design_of_group(const struct pm_fit_bases *bases,
                              const struct pm_structure *structure, uint32_t group);

/* Leaves out the functions of SET's basis that no model uses, but for the first N. */
void pm_fit_trim_basis(struct pm_model_set *set, size_t n);

/* ---- listing.c ------------------------------------------------------------------------------- */

/* What there is to fit. */
struct pm_listing {
    size_t n, n_sizes;
    const struct pm_histogram *
        *histograms; /* [item · n_sizes + size], NULL: never accessed; owned */
    PM_ARRAY(struct pm_joint_groups, joint); /* owned, as the members are */
    size_t most_bins; /* of an item or of joint groups together, at one size */
};

/* Lists the histograms of block sizes that all PROFILES (ascending in the size) have, by group and
   block size: makes SET's histogram models, empty but for these two, and an item for each. */
void pm_listing_make(struct pm_listing *listing, const struct pm_profile *const *profiles,
                     size_t n_profiles, struct pm_model_set *set);

/* Lists the groups that may be modelled jointly: histograms of one block size whose groups belong
   together (pm_joint_scopes) and whose models have one design; those with a single group, too. */
void pm_listing_join(struct pm_listing *listing, const struct pm_structure *structure,
                     const struct pm_fit_bases *bases, struct pm_model_set *set);

void pm_listing_free(struct pm_listing *listing); /* not the struct itself */

/* Block sizes that some of the profiles have and others do not. */
void pm_listing_left_out(const struct pm_profile *const *profiles, size_t n_profiles,
                         struct pm_fit_statistics *statistics);

#endif
