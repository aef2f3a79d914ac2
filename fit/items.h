/* What pm_fit models, item by item: an edge, a histogram, what a histogram's models get from
   others. Private to fit/. */
#ifndef PM_FIT_ITEMS_H
#define PM_FIT_ITEMS_H

#include "fit/histogram/histogram.h"
#include "fit/prepare/prepare.h"
#include "fit/private.h"

/* What all threads read. */
struct pm_fit_job {
    const struct pm_structure *structure;
    const struct pm_profile **profiles;   /* ascending in the parameters; owned */
    size_t n;                             /* of them */
    const char *names[PM_MAX_PARAMETERS]; /* that vary independently */
    size_t n_names;
    struct pm_fit_bases bases;
    struct pm_model_set *set;
    struct pm_listing listing;
    uint32_t *largest_bytes; /* [group]: of its accesses; owned */
    double *accesses;        /* [group · n + size]: by the counts of edges; owned */
    bool *known;             /* [group]: at all sizes; owned */
    /* The sizes but the largest, to try models on that; no designs: there is no trial. */
    struct pm_fit_bases trial_bases;
    struct pm_basis *trial_basis; /* owned */
    struct pm_extent extent, trial_extent;
    const struct pm_dumping *dumping; /* NULL: nobody wants to know */
};

/* What one thread works with: touched first by it, so that it lies near. */
struct pm_fit_worker {
    struct pm_partition **partitions; /* for each design */
    struct pm_partition **trials;     /* the same of the trial; NULL: there is none */
    double *series;                   /* two values for each size */
};

/* Whether the next address of group NUMBER is not known from the one before: the innermost loop in
   which it moves goes through memory with a stride that depends on data or, if N_SIZES are enough
   to judge by, that is not known. */
bool pm_fit_is_irregular(const struct pm_structure *structure, uint32_t number, size_t n_sizes);

/* ---- what passes made, for pm_fit_options.dumping (dump_fit.c) --------------------------------
 */

void pm_dump_bases(const struct pm_fit_job *job);
/* Names the series of an edge, or of histogram H, for the dump of their candidates; then
   of nothing. */
void pm_dump_series_of_edge(const struct pm_fit_job *job, struct pm_series_workspace *series,
                            size_t edge);
void pm_dump_series_of_histogram(const struct pm_fit_job *job, struct pm_series_workspace *series,
                                 size_t h);
void pm_dump_series_of_nothing(struct pm_series_workspace *series);
/* Models of edges, histograms and strides. */
void pm_dump_models(const struct pm_fit_job *job);

/* ---- items ----------------------------------------------------------------------------------- */

/* The models of the edges FIRST to LAST. */
void pm_fit_edges(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t first,
                  size_t last);

void pm_fit_one_histogram(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t h);

/* Number J of the groups that are modelled jointly, whose own models are there. */
void pm_fit_one_joint(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t j);
/* The long reuses of pages of the same groups from those of the smallest blocks. */
void pm_fit_one_tail(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t j);

/* Accesses of histogram H from executions, where the models of these are at least as good as that
   of the touches, and this is not exact while the share differs from size to size. */
void pm_fit_accesses(const struct pm_fit_job *job, struct pm_fit_worker *worker,
                     const double *errors, size_t h);

/* Cold accesses of histogram H from those of the same group in smaller blocks, where its data are
   dense. */
void pm_fit_cold(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t h);

/* Distinct blocks of the whole program, where builds differ: which group touches a block first may
   then be another one in each build, so that the sum of the groups' models says little. */
void pm_fit_program_totals(const struct pm_fit_job *job, struct pm_fit_worker *worker);

/* Distinct blocks of the smallest block size at each size, as models in the design DESIGN. */
void pm_fit_find_extent(const struct pm_fit_job *job, const struct pm_design *design,
                        struct pm_extent *extent);

#endif
