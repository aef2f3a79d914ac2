/* Sizes that do not go with the others.

   Where data lie depends on the size: rows of a power of two begin at the same place of a cache
   line, rows of odd length each at another, and an access that straddles two lines at one size does
   not at the next (Marin's thesis 2003, section 4.1.3).  A program may also take another path at
   some sizes.  Such a size spoils the models of many groups at once, which distinguishes it from a
   group that is hard to model.

   For every group and block size three counts are looked at: touches of blocks, those at another
   block than the touch before (distance 1 and more), and first touches.
     1. Which sizes lie off the curve that most sizes are on (algebra/robust_curve.c)?
     2. Candidates: sizes off the curve for MANY of the touches, in two groups at least.
     3. A group confirms candidates if its series, fitted without all of them, is predicted GAIN
        times better than with them, and what was measured at the candidate differs from that by
        more than LEAST and by GAIN times the error.  Candidates that too few groups confirm are
        taken back, and the others tried again.
   Five sizes remain, and more than half of them: what most sizes do makes no outlier, nor does what
   only the largest do: larger ones may do it as well.  Only where
   models are in one parameter. */
#include "fit/prepare/prepare.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/algebra/algebra.h"

/* Relative difference by which a size is an outlier. */
static const double outlier_least = 0.05;
/* Share of the touches, by the groups that can be judged. */
static const double outlier_many = 0.25;
/* Error with the size against that without it. */
static const double outlier_gain = 3.0;
/* Counts below are judged at no size: single accesses matter. */
static const double outlier_count = 200;
/* Sizes from which on one of them can be told to be an outlier. */
enum { outlier_sizes = 6 };
/* Groups that have to agree on it. */
enum { outlier_groups = 2 };

enum { N_SERIES = 3 };

/* A group in blocks of one size. */
struct unit {
    uint32_t group;
    uint64_t block_bytes;
    double touches; /* at all sizes; 0: it cannot be judged */
};

struct search {
    const struct pm_profile **profiles; /* ascending in the size; owned */
    size_t n;
    double *x; /* owned */
    const char *parameter;
    struct pm_basis *basis;
    struct pm_design *design;
    double *functions; /* [size · basis->n + function]; owned */
    struct pm_robust *robust;
    size_t n_units;
    struct unit *units; /* by block size; owned */
    bool *outlying;     /* [unit · n + size]: off the curve, then: confirmed; owned */
    double *difference; /* the same: by how much; owned */
    bool *candidate;    /* of each size; owned */
    unsigned n_threads;
};

/* ---- series ---------------------------------------------------------------------------------- */

/* Series WHICH of a unit; false if it is too small somewhere to be judged. */
static bool take_series(const struct search *search, const struct unit *unit, int which,
                        double *y) {
    for (size_t k = 0; k < search->n; k++) {
        const struct pm_histogram *histogram =
            pm_profile_histogram(search->profiles[k], unit->group, unit->block_bytes);
        if (!histogram)
            return false;
        y[k] =
            which == 2 ? pm_histogram_always_missing(histogram) : pm_histogram_accesses(histogram);
        if (which == 1 && histogram->n_bins && histogram->bins[0].high < 1)
            y[k] -= pm_bin_accesses(&histogram->bins[0]);
        if (!(y[k] >= outlier_count))
            return false;
    }
    return true;
}

static int by_block_size(const void *left, const void *right) {
    const struct unit *a = left, *b = right;
    return a->block_bytes != b->block_bytes ? PM_COMPARE(a->block_bytes, b->block_bytes)
                                            : PM_COMPARE(a->group, b->group);
}

/* All that the first profile has: what another one does not have cannot be judged. */
static void list_units(struct search *search) {
    const struct pm_profile *profile = search->profiles[0];
    search->n_units = profile->n_histograms;
    search->units = pm_alloc(search->n_units, sizeof *search->units);
    for (size_t i = 0; i < search->n_units; i++)
        search->units[i] =
            (struct unit){.group = profile->histograms[i].group,
                          .block_bytes = profile->histograms[i].histogram.block_bytes};
    PM_SORT(search->units, search->n_units, by_block_size);
}

/* Step 1. */
static void find_outlying(struct search *search) {
    size_t n = search->n;
#pragma omp parallel num_threads((int)search->n_threads)
    {
        double *y = pm_alloc(4 * n, sizeof *y);
        bool *outlying = pm_alloc(n, sizeof *outlying);
#pragma omp for schedule(dynamic, 16)
        for (size_t u = 0; u < search->n_units; u++)
            for (int which = 0; which < N_SERIES; which++) {
                if (!take_series(search, &search->units[u], which, y))
                    continue;
                for (size_t k = 0; which == 0 && k < n; k++)
                    search->units[u].touches += y[k];
                if (!pm_robust_outliers(search->robust, y, outlier_least, y + n, outlying))
                    continue;
                for (size_t k = 0; k < n; k++)
                    search->outlying[u * n + k] |= outlying[k];
            }
        free(outlying);
        free(y);
    }
}

/* ---- votes ----------------------------------------------------------------------------------- */

/* What the units first … last - 1, all of one block size, say of size K. */
static struct pm_outlier_size count_votes(const struct search *search, size_t first, size_t last,
                                          size_t k) {
    struct pm_outlier_size votes = {.parameters = search->profiles[k]->parameters,
                                    .block_bytes = search->units[first].block_bytes};
    double *differences = pm_alloc(last - first, sizeof *differences), all = 0;
    for (size_t u = first; u < last; u++) {
        if (search->units[u].touches <= 0)
            continue;
        all += search->units[u].touches;
        votes.of_groups++;
        if (!search->outlying[u * search->n + k])
            continue;
        votes.share += search->units[u].touches;
        differences[votes.n_groups++] = search->difference[u * search->n + k];
    }
    votes.share = all > 0 ? votes.share / all : 0;
    PM_SORT(differences, votes.n_groups, pm_compare_doubles);
    votes.difference = votes.n_groups ? differences[votes.n_groups / 2] : 0;
    free(differences);
    return votes;
}

/* Of the block sizes the one in which size K is off most. */
static struct pm_outlier_size most_votes(const struct search *search, size_t k) {
    struct pm_outlier_size most = {.parameters = search->profiles[k]->parameters};
    for (size_t first = 0, last; first < search->n_units; first = last) {
        for (last = first + 1; last < search->n_units; last++)
            if (search->units[last].block_bytes != search->units[first].block_bytes)
                break;
        struct pm_outlier_size votes = count_votes(search, first, last, k);
        if (votes.n_groups >= outlier_groups && votes.share > most.share)
            most = votes;
    }
    return most;
}

/* What only the largest sizes do, larger ones may do as well: arrays that the allocator gives whole
   pages, for instance.  They are candidates only beside a size that others surround.  How many
   remain. */
static size_t spare_largest(struct search *search, size_t n_candidates) {
    size_t n = search->n, from = n, first = 0;
    while (from > 0 && search->candidate[from - 1])
        from--;
    while (first < n && search->candidate[first])
        first++;
    for (size_t k = first; k < from; k++)
        if (search->candidate[k])
            return n_candidates;
    for (size_t k = from; k < n; k++) {
        search->candidate[k] = false;
        n_candidates--;
    }
    return n_candidates;
}

/* Step 2, and after each step 3: candidates are sizes with MANY votes, no others than before if
   AGAIN, and of too many those with most votes; how many there are. */
static size_t choose_candidates(struct search *search, bool again) {
    size_t n = search->n, most = pm_robust_most_outliers(search->robust), n_candidates = 0;
    double *share = pm_alloc(n, sizeof *share);
    if (n - pm_heuristics.enough_sizes < most)
        most = n - pm_heuristics.enough_sizes;
    for (size_t k = 0; k < n; k++)
        if (!again || search->candidate[k])
            share[k] = most_votes(search, k).share;
    memset(search->candidate, 0, n * sizeof *search->candidate);
    while (n_candidates < most) {
        size_t best = 0;
        for (size_t k = 1; k < n; k++)
            if (share[k] > share[best])
                best = k;
        if (share[best] < outlier_many)
            break;
        search->candidate[best] = true;
        share[best] = 0;
        n_candidates++;
    }
    free(share);
    return spare_largest(search, n_candidates);
}

/* ---- confirmation ---------------------------------------------------------------------------- */

/* What one series says of the candidates, into the unit's CONFIRMED and DIFFERENCE. */
static void confirm_series(const struct search *search, struct pm_series_workspace *workspace,
                           const double *y, double *kept, bool *confirmed, double *difference) {
    struct pm_model with, without;
    for (size_t k = 0; k < search->n; k++)
        kept[k] = search->candidate[k] ? NAN : y[k];
    pm_series_fit(workspace, y, PM_SERIES_COUNT, &with);
    pm_series_fit(workspace, kept, PM_SERIES_COUNT, &without);
    double error = without.leave_one_out_error;
    if (!(outlier_gain * error < with.leave_one_out_error)) /* nor where one is unknown */
        return;
    for (size_t k = 0; k < search->n; k++) {
        if (!search->candidate[k])
            continue;
        double predicted = pm_model_value(&without, search->functions + k * search->basis->n);
        double off = predicted > 0 ? fabs(y[k] / predicted - 1) : INFINITY;
        if (off > fmax(outlier_least, outlier_gain * error)) {
            confirmed[k] = true;
            difference[k] = fmax(difference[k], off);
        }
    }
}

/* Step 3. */
static void confirm(struct search *search) {
    size_t n = search->n;
#pragma omp parallel num_threads((int)search->n_threads)
    {
        struct pm_series_workspace *workspace = pm_series_workspace_new(search->design);
        double *y = pm_alloc(2 * n, sizeof *y);
#pragma omp for schedule(dynamic, 16)
        for (size_t u = 0; u < search->n_units; u++) {
            bool *confirmed = search->outlying + u * n, asked = false;
            for (size_t k = 0; k < n; k++)
                asked |= confirmed[k] && search->candidate[k];
            memset(confirmed, 0, n * sizeof *confirmed);
            memset(search->difference + u * n, 0, n * sizeof *search->difference);
            for (int which = 0; asked && which < N_SERIES; which++)
                if (take_series(search, &search->units[u], which, y))
                    confirm_series(search, workspace, y, y + n, confirmed,
                                   search->difference + u * n);
        }
        free(y);
        pm_series_workspace_free(workspace);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static size_t find(struct search *search) {
    find_outlying(search);
    size_t n_before, n_candidates = choose_candidates(search, false);
    do {
        if (n_candidates == 0)
            return 0;
        n_before = n_candidates;
        confirm(search);
        n_candidates = choose_candidates(search, true);
    } while (n_candidates < n_before);
    return n_candidates;
}

static void sort_profiles(struct search *search, const struct pm_profile *const *profiles) {
    pm_fit_sort(profiles, search->n, &search->parameter, 1, search->profiles);
    for (size_t k = 0; k < search->n; k++)
        pm_parameters_get(&search->profiles[k]->parameters, search->parameter, &search->x[k]);
}

/* False where there is nothing to search. */
static bool prepare(struct search *search, const struct pm_profile *const *profiles) {
    size_t n = search->n;
    search->profiles = pm_alloc(n, sizeof *search->profiles);
    search->x = pm_alloc(n, sizeof *search->x);
    sort_profiles(search, profiles);
    for (size_t k = 0; k < n; k++)
        if (!(search->x[k] > (k ? search->x[k - 1] : 0)))
            return false;
    const char *name = search->parameter;
    char *square = pm_sprintf("%s^2", name), *cube = pm_sprintf("%s^3", name);
    search->basis = pm_basis_new(4, (const char *const[]){"1", name, square, cube}, NULL);
    free(square);
    free(cube);
    search->design = search->basis ? pm_design_new(search->basis, name, search->x, n, NULL) : NULL;
    if (!search->design)
        return false;
    search->functions = pm_alloc(n * search->basis->n, sizeof *search->functions);
    for (size_t k = 0; k < n; k++)
        if (!pm_basis_evaluate(search->basis, &search->profiles[k]->parameters,
                               search->functions + k * search->basis->n, NULL))
            return false;
    search->robust = pm_robust_new(search->x, n);
    list_units(search);
    search->outlying = pm_alloc(search->n_units * n, sizeof *search->outlying);
    search->difference = pm_alloc(search->n_units * n, sizeof *search->difference);
    search->candidate = pm_alloc(n, sizeof *search->candidate);
    return true;
}

static void clean_up(struct search *search) {
    free(search->candidate);
    free(search->difference);
    free(search->outlying);
    free(search->units);
    pm_robust_free(search->robust);
    free(search->functions);
    pm_design_free(search->design);
    pm_basis_free(search->basis);
    free(search->x);
    free(search->profiles);
}

static void report(const struct search *search, const struct pm_profile *const *profiles,
                   bool *is_outlier, struct pm_fit_statistics *statistics) {
    for (size_t k = 0; k < search->n; k++) {
        if (!search->candidate[k])
            continue;
        for (size_t i = 0; i < search->n; i++)
            is_outlier[i] |= profiles[i] == search->profiles[k];
        if (statistics && statistics->n_outliers < PM_FIT_MAX_OUTLIERS)
            statistics->outliers[statistics->n_outliers++] = most_votes(search, k);
    }
}

size_t pm_fit_find_outlier_sizes(const struct pm_profile *const *profiles, size_t n,
                                 const char *parameter, bool *is_outlier, unsigned n_threads,
                                 struct pm_fit_statistics *statistics) {
    struct search search = {.n = n, .parameter = parameter};
    memset(is_outlier, 0, n * sizeof *is_outlier);
    if (n < outlier_sizes || pm_fit_without(PM_STEP_OUTLIER_SIZES))
        return 0;
    search.n_threads = n_threads ? n_threads : (unsigned)omp_get_max_threads();
    size_t n_outliers = prepare(&search, profiles) ? find(&search) : 0;
    if (n_outliers)
        report(&search, profiles, is_outlier, statistics);
    clean_up(&search);
    return n_outliers;
}
