/* The modelling stage: measurements at several sizes → functions of the size for every edge and for
   every bin of every histogram; and back: the models at one size → a profile. */
#ifndef PM_FIT_H
#define PM_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/model.h"
#include "core/base/base.h"
#include "core/dumps/dumps.h"
#include "core/profile.h"
#include "core/structure/structure.h"
#include "fit/heuristics.h"

enum {
    PM_FIT_MAX_LEFT_OUT = 8,
    PM_FIT_MAX_OUTLIERS = 16,
    PM_FIT_MAX_NOTES = 8,
    PM_FIT_NOTE_SIZE = 320
};

/* Basis functions for the models of a part of the program. */
struct pm_fit_basis {
    const char *scope;     /* a routine or loop (pm_scopes_named); NULL: all */
    const char *functions; /* "1, N, N^2, N*log2(N)": of any parameters of the runs */
};

struct pm_fit_options {
    unsigned n_threads; /* 0: all that OpenMP offers */
    /* Functions in place of 1, N … N^4. If several name one scope, the last counts; functions for
       an inner scope take precedence over those for a scope around it. */
    size_t n_bases;
    const struct pm_fit_basis *bases;
    bool search; /* also N^(i/j)*log2(N)^k where it is clearly better, in scopes without a basis */
    bool drop_outliers;   /* sizes that do not go with the others are not fitted */
    bool without_strides; /* no models of these */
    /* Parameters that were given as formulas, which models are not functions of where others do;
       NULL: none.  Borrowed. */
    const struct pm_given_formulas *formulas;
    /* Parameters that models are functions of; two runs with the same values of all of them are an
       error. 0: they are found (prepare/choose_parameters.c).  Borrowed. */
    size_t n_parameters;
    const char *const *parameters;
    /* Whose passes print what they made, one after the other: then it is one thread; NULL:
       nobody's. Borrowed. */
    const struct pm_dumping *dumping;
};
extern const struct pm_dump_pass pm_fit_passes[];

/* What became of a parameter that differs from run to run. */
enum pm_parameter_role {
    PM_PARAMETER_TAKEN,     /* models are functions of it */
    PM_PARAMETER_FORMULA,   /* it was given as a formula of others */
    PM_PARAMETER_FOLLOWS,   /* its values are a function of others */
    PM_PARAMETER_WORSE,     /* either would do; what was measured is predicted worse in it */
    PM_PARAMETER_NOT_ASKED, /* the options name others */
    PM_PARAMETER_IDLE,      /* runs that differ in nothing else have equal counts */
};
struct pm_fit_parameter {
    char name[PM_PARAMETER_NAME_SIZE];
    enum pm_parameter_role role;
    const char *formula; /* as given; NULL: values.  Borrowed from the options */
    /* Where it was to be decided: the error of a sample of what was measured, each size predicted
       from the others, in this parameter, or, where several are taken, without it; NAN: it was not.
     */
    double error;
};

/* A size at which many groups at once are not what the other sizes say: data that are aligned
   otherwise, another path through the program.  See outlier_sizes.c. */
struct pm_outlier_size {
    struct pm_parameters parameters;
    uint64_t block_bytes;       /* where it shows most */
    size_t n_groups, of_groups; /* groups that confirm it, of those that could be judged */
    double share;               /* of the touches of blocks by the latter */
    double difference; /* of the former: median of |measured / predicted by the others − 1| */
};

/* What fitting met, for people. */
struct pm_fit_statistics {
    size_t n_models, n_exact, n_constant;
    size_t n_flagged; /* leave-one-out error above 10% */
    size_t n_histograms, n_bins;
    /* Block sizes that some runs measured and others did not, ascending: they have no models. */
    size_t n_left_out;
    uint64_t left_out[PM_FIT_MAX_LEFT_OUT]; /* bytes; the smallest if there are more */
    size_t n_notes;
    char notes[PM_FIT_MAX_NOTES][PM_FIT_NOTE_SIZE]; /* what else to know; one sentence each */
    size_t n_parameters;                            /* that vary, in the order of their names */
    struct pm_fit_parameter parameters[PM_MAX_PARAMETERS];
    size_t n_outliers; /* ascending in the size; found with models of one parameter only */
    struct pm_outlier_size outliers[PM_FIT_MAX_OUTLIERS];
    bool outliers_dropped; /* the models were made without them */
    double seconds;
};

/* Fits models to N_PROFILES measured profiles (distinct sizes, one common structure, in any order)
   in one parameter: the one that varies.  Errors: fewer than 3 sizes; more than one parameter
   varies independently; profiles of different structures.  A parameter that is a function of the
   varying one is kept as measured range only.  The result is owned by the caller. */
struct pm_model_set *pm_fit(const struct pm_structure *structure,
                            const struct pm_profile *const *profiles, size_t n_profiles,
                            const struct pm_fit_options *options,
                            struct pm_fit_statistics *statistics, struct pm_error *err);

/* Fits PROFILES again without those at the largest value of a parameter, and without those at the
   two largest, for the intervals of SET's misses (predict/spread.c): SET, which pm_fit made of the
   same profiles and options, owns what comes out.  As many fits as there are sizes left for, so
   that intervals cost up to twice the time of pm_fit; none at three sizes, which makes them wide.
 */
void pm_fit_hold_out(const struct pm_structure *structure, const struct pm_profile *const *profiles,
                     size_t n_profiles, const struct pm_fit_options *options,
                     struct pm_model_set *set);

/* Models of the stores of PROFILES by dirty distance, which SET, made as above, then owns; none
   where not all of the runs that it was made from have them in all their block sizes. */
void pm_fit_write_backs(const struct pm_structure *structure,
                        const struct pm_profile *const *profiles, size_t n_profiles,
                        const struct pm_fit_options *options, struct pm_model_set *set);

/* The same of mispredicted branches (core/behaviour/behaviour.h), into SET's `branches`. */
void pm_fit_branches(const struct pm_profile *const *profiles, size_t n_profiles,
                     const struct pm_fit_options *options, struct pm_model_set *set);

/* Models of series of one's own, made as those of edges are: COUNTS[s · n_runs + k] is what series
   s is at RUNS[k], in the order of RUNS.  The set has a model for each series in place of an edge
   and no histograms; owned by the caller.  Errors as pm_fit.  What is counted need not be a whole
   number. */
struct pm_model_set *pm_fit_counts(const struct pm_parameters *runs, size_t n_runs,
                                   const double *counts, size_t n_series,
                                   const struct pm_fit_options *options, struct pm_error *err);

struct pm_event_kind;     /* core/communication/communication.h */
struct pm_message_models; /* core/messages/messages.h */
struct pm_store;          /* core/store/store.h */

/* False: it is sent to MPI_PROC_NULL, or received from there, and so is no message. */
bool pm_is_message(const struct pm_event_kind *kind);

/* Models of numbers and sizes of messages, by call path and operation, from the runs of what is
   selected in STORE: of a role, of its mean rank; else of all ranks added up.  NULL, without a
   sentence, where communication was not traced in all of them; with one as of pm_fit_counts.  Owned
   by the caller. */
struct pm_message_models *
pm_fit_messages(struct pm_store *store, const struct pm_fit_options *options, struct pm_error *err);

/* Makes OPTIONS ask for models in the parameters that SET's are in, so that models of its runs go
   with it; NAMES has room for PM_MAX_PARAMETERS and must live as long.  Where these do not tell the
   runs apart (models are constant in one), OPTIONS stay. */
void pm_fit_in_parameters_of(const struct pm_model_set *set, struct pm_fit_options *options,
                             const char **names);

/* How a series goes from size to size. */
enum pm_regularity {
    PM_REGULARITY_UNKNOWN,  /* too few sizes to tell */
    PM_REGULARITY_SMOOTH,   /* each value is near what its neighbours say */
    PM_REGULARITY_PERIODIC, /* it jumps, but not among sizes of one residue class */
    PM_REGULARITY_JUMPS,    /* it jumps, and no period explains it */
};
/* Of Y (N values) at the ascending sizes X. *PERIOD: of PM_REGULARITY_PERIODIC.  See
   series/regularity.c. */
enum pm_regularity pm_fit_regularity(size_t n, const double *x, const double *y, unsigned *period);

/* Whether MODELS can be asked for PARAMETERS; else the sentence says what is missing or unknown. */
bool pm_fit_check_parameters(const struct pm_model_set *models,
                             const struct pm_parameters *parameters, struct pm_error *err);

/* The profile that MODELS predict at PARAMETERS.  An unknown parameter is an error that names the
   known ones.  Edge counts satisfy flow conservation: chords are evaluated, the others solved. */
struct pm_profile *pm_fit_instantiate(const struct pm_structure *structure,
                                      const struct pm_model_set *models,
                                      const struct pm_parameters *parameters, struct pm_error *err);

/* ---- how far off predictions may be (interval.c) --------------------------------------------- */

/* Between which bounds the quantity of MODEL, one of SET's, lies at AT with probability LEVEL
   (above 0, below 1).  Of an exact model both are its value; LOW is never below 0, HIGH may be
   infinite.  False if that is not known: too few sizes, or a parameter is missing. */
bool pm_fit_interval(const struct pm_model_set *set, const struct pm_model *model,
                     const struct pm_parameters *at, double level, double *low, double *high);

struct pm_fit_range {
    double low, high; /* NAN: not known */
};

/* The same for everything of a program that can be counted. */
struct pm_fit_intervals {
    double level;
    size_t n_edges, n_histograms;
    struct pm_fit_range *edges; /* one for each edge, by its own model; owned */
    /* One for each of the set's histograms: touches of blocks, and cold ones of them; owned. */
    struct pm_fit_range *accesses, *cold;
};

/* Errors: models of another build, a parameter that is missing.  Owned by the caller. */
struct pm_fit_intervals *pm_fit_intervals_new(const struct pm_structure *structure,
                                              const struct pm_model_set *set,
                                              const struct pm_parameters *at, double level,
                                              struct pm_error *err);
void pm_fit_intervals_free(struct pm_fit_intervals *intervals);

/* The profile at AT at one end of the intervals, the lower or the HIGH one.  Executions: each model
   at the end of its own interval.  Histograms: accesses moved to shorter (longer) distances, until
   the program's misses of each cache are at the end of their interval, which comes from the sets
   that were made without the largest sizes (predict/spread.c); where SET has none, as after pm_fit
   alone, each model at the end of its own.  What is made of both profiles, such as misses, is
   between the two with a probability of about LEVEL: errors of one program's models go together. */
struct pm_profile *pm_fit_instantiate_end(const struct pm_structure *structure,
                                          const struct pm_model_set *models,
                                          const struct pm_parameters *at, double level, bool high,
                                          struct pm_error *err);

/* ---- arrays of fixed extent ------------------------------------------------------------------ */

/* A reference group with a stride that says nothing of larger sizes: constant, while the walk
   inside it grows with the size and is not as long as it.  So rows of the array lie as far apart at
   every size, and distances measured so do not hold where the extent is as large as the size
   (Marin & Mellor-Crummey 2004, section 3.1). */
struct pm_fixed_extent {
    uint32_t group;
    uint32_t level;               /* of the stride; 1 is the loop around the innermost */
    int64_t stride_bytes;         /* for each iteration of that loop */
    double walk_least, walk_most; /* bytes walked within one iteration of it, over the sizes */
    double accesses;              /* the most that the group had at one size; 0: not recorded */
};

/* The groups of which that holds, ascending, each once (the outermost such stride), from the N
   PROFILES of STRUCTURE, measured, in any order, two at least for any to be found.  Strides that
   differ between the builds of the profiles (PM_GROUP_STRIDES_VARY) grow with the size, and are not
   listed.  *FOUND is owned by the caller (free). */
size_t pm_fit_fixed_extents(const struct pm_structure *structure,
                            const struct pm_profile *const *profiles, size_t n,
                            struct pm_fixed_extent **found);

#endif
