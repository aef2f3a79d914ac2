/* What the files of this stage share.  Private to fit/. */
#ifndef PM_FIT_STAGE_H
#define PM_FIT_STAGE_H

#include "fit/fit.h"
#include "fit/partition.h"
#include "fit/series.h"

struct pm_fit_bases;

/* Adds a sentence to the notes, if STATISTICS is not NULL and there is room. */
void pm_fit_note(struct pm_fit_statistics *statistics, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Relative differences of distances up to this are of rounding. */
#define PM_FIT_ROUNDING 1e-9

/* The parameters that vary independently over PROFILES, all others being constant or functions of
   them: fills NAMES, which has room for PM_MAX_PARAMETERS and lives as long as the profiles; how
   many, 0 with a sentence. */
size_t pm_fit_varying(const struct pm_profile *const *profiles, size_t n_profiles,
                      const char **names, struct pm_error *err);

/* PROFILES by ascending size: the one parameter's value, or the geometric mean of several. */
void pm_fit_sort(const struct pm_profile *const *profiles, size_t n, const char *const *names,
                 size_t n_names, const struct pm_profile **sorted);

/* Which of the PROFILES (N of them, as pm_fit takes them) are sizes that do not go with the others;
   fills DIVERGES (n values) and STATISTICS (may be NULL) and gives how many there are.  None where
   models are in several parameters.  See divergent.c. */
size_t pm_fit_find_divergent(const struct pm_profile *const *profiles, size_t n, bool *diverges,
                             unsigned n_threads, struct pm_fit_statistics *statistics);

/* The models of one (group, block size); HISTOGRAMS has one entry for each size, NULL where the
   group was never accessed. */
void pm_fit_histogram(struct pm_partition *partition, const struct pm_histogram *const *histograms,
                      struct pm_histogram_model *model);

/* The same by the literal partition; see sigmetrics.c. */
void pm_fit_histogram_literally(struct pm_partition *partition,
                                const struct pm_histogram *const *histograms,
                                struct pm_histogram_model *model);

/* The models of what a group's histograms are in all: accesses, cold ones, the bound, stores. */
void pm_fit_totals(struct pm_partition *partition, const struct pm_histogram *const *histograms,
                   struct pm_histogram_model *model);

/* Puts pieces that reach AT_LEAST (0: no bound) there, size by size. */
void pm_fit_hold_at_bound(struct pm_partition *partition, double at_least);

/* Two distances agree at each measured size. */
bool pm_fit_similar(const struct pm_design *design, const struct pm_model *a,
                    const struct pm_model *b);

/* The ends of BIN, from PIECE. */
void pm_fit_ends(const struct pm_partition *partition, const struct pm_piece *piece,
                 struct pm_bin_model *bin);

/* Least squares over the whole basis with coefficients ≥ 0; see nonnegative.c.  Y: NAN where there
   is no value. */
void pm_fit_nonnegative(const struct pm_design *design, const double *y, struct pm_model *model);

/* EDGE_COUNTS holds the counts of the edges of routine ROUTINE that carry a counter; the others are
   filled by flow conservation.  Where that would make one negative, flow is added around a cycle
   through it.  False if the routine's counters do not determine its edges (nothing is changed). */
bool pm_fit_solve_routine(const struct pm_structure *structure, uint32_t routine,
                          double *edge_counts, bool *repaired);

/* A bin wider than this share of its mean is, in a prediction, a step at its mean. */
#define PM_FIT_WIDE 0.5

/* Multiplies a model. */
void pm_fit_scale(struct pm_model *model, double factor);

/* The basis of a model set begins with 1, N … N^4 and functions with logarithms that only
   pm_fit_logarithms uses; see bases.c. */
enum { PM_FIT_POLYNOMIALS = 5, PM_FIT_BASIS = 8 };

/* A count Y at the N sizes X in that basis, if sizes are powers of two and some small set of
   functions reproduces all values exactly; else false, and MODEL is left as it is.  See
   logarithms.c. */
bool pm_fit_logarithms(size_t n, const double *x, const double *y, struct pm_model *model);

/* Models of those edges of ROUTINE whose counts are not zero at the last two sizes only; PROFILES
   stand by ascending size, EDGES are the models of all edges.  See late.c. */
void pm_fit_late_edges(const struct pm_structure *structure, uint32_t routine,
                       const struct pm_fit_bases *bases, const struct pm_profile *const *profiles,
                       struct pm_model *edges);

/* EXECUTED: loads and stores of each group's recorded references (n_groups values) at EDGE_COUNTS.
   KNOWN: whether these are the group's accesses; see executed.c. */
void pm_fit_executed(const struct pm_structure *structure, const double *edge_counts,
                     double *executed, bool *known);

/* ERRORS: leave-one-out errors of the groups' executed accesses by the models EDGES of all edges,
   weighted by EDGE_COUNTS; NAN where one is unknown. */
void pm_fit_executed_errors(const struct pm_structure *structure, const struct pm_model *edges,
                            const double *edge_counts, double *errors);

/* LARGEST_BYTES: of the recorded references of each group (n_groups values), the largest access. */
void pm_fit_largest_accesses(const struct pm_structure *structure, uint32_t *largest_bytes);

/* The most blocks that one access of a group can touch whose largest one has LARGEST_BYTES. */
double pm_fit_most_touches(uint32_t largest_bytes, uint64_t block_bytes);

/* Touches for each executed access, a constant, from both at N ascending sizes; false if they do
   not go together, each execution touching 1 to MOST blocks.  TOUCHED is overwritten. */
bool pm_fit_share(size_t n, const double *executed, double *touched, double most,
                  struct pm_model *model);

struct pm_family {
    size_t n;
    struct pm_member {
        const struct pm_histogram *const *histograms; /* one for each size, or NULL */
        struct pm_histogram_model *model;             /* the member's own, fitted */
        double share;                                 /* of the family's accesses in one piece */
    } * members;
};

/* A number for each group; those with one number belong together.  Owned by the caller. */
uint32_t *pm_fit_families(const struct pm_structure *structure);

/* Replaces the bins of the members' models where those of the family do better; see families.c. */
void pm_fit_family(struct pm_partition *partition, const struct pm_family *family);

/* Sorts N bins by distance, joins those at one distance, and moves the ends of neighbours that
   overlap to a place between their means; returns how many are left. */
size_t pm_fit_put_in_order(struct pm_bin *bins, size_t n);

/* Cold accesses of a group in LARGE blocks of RATIO SMALL ones each, at N sizes: where its data are
   dense, true, and MODEL is that of the small ones, scaled; see dense.c.  CONSTANT is the basis
   function 1. */
bool pm_fit_dense_cold(size_t n, const double *small, const double *large, double ratio,
                       uint16_t constant, const struct pm_model *of_small, struct pm_model *model);

/* Shortens the predicted distances of LARGE to what SMALL, of the same group in blocks of which
   LARGE's consist, allows; see nested.c. */
void pm_fit_bound(struct pm_histogram *large, const struct pm_histogram *small);

#endif
