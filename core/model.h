/* The model object: a function of the problem size, y(p) = Σ cᵢ·fᵢ(p) or a power of such a sum,
   with what is known of its error, its range and its shape.  fit/ makes them, the store keeps them,
   everything else evaluates them. */
#ifndef PM_MODEL_H
#define PM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/strides/strides.h"
#include "core/expression/expression.h"
#include "core/parameters.h"
#include "core/base/base.h"

/* Of one model; a basis may have more functions.  Eight are what one parameter needs; products of
   the functions of several take up to this. */
enum { PM_MODEL_MAX_TERMS = 16 };

/* Basis functions shared by many models. */
struct pm_basis {
    size_t n;
    char **texts;                       /* symbolic: "1", "N", "N^2", "N*log2(N)"; owned */
    struct pm_expression **expressions; /* owned */
};

struct pm_basis *pm_basis_new(size_t n, const char *const *texts, struct pm_error *err);
void pm_basis_free(struct pm_basis *basis);

enum pm_model_shape {
    PM_SHAPE_FREE = 0, /* interpolates as it likes */
    PM_SHAPE_CONSTANT = 1,
    PM_SHAPE_INCREASING = 2, /* monotone was enforced */
    PM_SHAPE_DECREASING = 4,
    PM_SHAPE_CONVEX = 8,
    PM_SHAPE_CONCAVE = 16,
};

struct pm_model {
    uint8_t n_terms;
    uint16_t terms[PM_MODEL_MAX_TERMS];      /* indices into the basis */
    double coefficients[PM_MODEL_MAX_TERMS]; /* of the unscaled basis functions */
    double power;          /* the value is the sum to this power; 0: none, the value is the sum */
    double relative_error; /* root mean square of residual / value over the measured sizes */
    double leave_one_out_error; /* the same, each size predicted from the others; NAN with < 3 */
    double sigma;               /* standard deviation of the residuals, in units of the value */
    uint16_t n_points;
    uint8_t shape; /* enum pm_model_shape, a sum */
    bool exact;    /* integer coefficients reproduce every measured value exactly */
};

/* Value at PARAMETERS, never below 0.  A parameter of the basis that is missing is an error. */
bool pm_model_evaluate(const struct pm_basis *basis, const struct pm_model *model,
                       const struct pm_parameters *parameters, double *value, struct pm_error *err);

/* All basis functions at PARAMETERS (VALUES has basis->n entries); then pm_model_value is a dot
   product: the quick way for many models. */
bool pm_basis_evaluate(const struct pm_basis *basis, const struct pm_parameters *parameters,
                       double *values, struct pm_error *err);
double pm_model_value(const struct pm_model *model, const double *basis_values);

/* Where models are asked for: all basis functions there and, where that lies beyond the largest
   measured size, at that. */
struct pm_model_point {
    const double *there, *at_largest; /* at_largest NULL: not beyond; owned by who made it */
};

/* Value at POINT.  Shape is looked at up to some times the largest measured size only: a model that
   increases is nowhere beyond it less than there, one that decreases not more. */
double pm_model_value_at(const struct pm_model *model, const struct pm_model_point *point);

/* Makes all values of MODEL larger by FACTOR, which is 0 or more; errors stay as they are. */
void pm_model_multiply(struct pm_model *model, double factor);

/* "2*N^3 - 5*N + 1", owned by the caller. */
char *pm_model_text(const struct pm_basis *basis, const struct pm_model *model);

/* ---- the models of a reuse-distance histogram (Marin & Mellor-Crummey 2004, section 2.3.2) ----
 */

/* One bin: how many accesses, and their distance, as functions of the size. */
struct pm_bin_model {
    struct pm_model count;
    struct pm_model distance; /* mean distance in blocks */
    double low, high;       /* ends of the bin as shares of the mean distance: low ≤ 1 ≤ high */
    bool constant_distance; /* the same distance at every size: only the count is modelled */
    bool takes_rest;        /* short: what the others leave of the accesses goes to these bins */
};

struct pm_histogram_model {
    uint32_t group;
    uint64_t block_bytes;
    /* Touches of blocks by the group, cold ones included: bins are scaled to it.  If
       `per_execution`, touches for each executed access (a load or a store of a recorded reference,
       counted by the executions of its basic block): a constant from 1 up, more where accesses
       straddle blocks. */
    struct pm_model accesses;
    bool per_execution;
    struct pm_model cold;
    /* Distances were measured up to some bound only (the least of all runs, in blocks; 0: none):
       what a bin's model puts there or further away is known to be as far as the bound, no more. */
    double at_least;
    double store_share; /* stores / accesses over all runs */
    double cold_share;  /* of the program's first touches in the largest run; of sets with program
                           totals */
    size_t n_bins;
    struct pm_bin_model *bins; /* in the set's arena; ascending distance at the largest size */
};

/* Memory for the bins of all histograms of a set: allocated one by one, freed as a whole. */
struct pm_bin_model_arena {
    struct pm_bin_chunk *chunks; /* the one in use first */
};

/* N bins, zeroed.  A chunk has thousands. */
struct pm_bin_model *pm_bin_model_arena_alloc(struct pm_bin_model_arena *arena, size_t n);
/* Gives the last N bins that were taken back. */
void pm_bin_model_arena_return(struct pm_bin_model_arena *arena, size_t n);
/* Moves all that FROM has to INTO. */
void pm_bin_model_arena_join(struct pm_bin_model_arena *into, struct pm_bin_model_arena *from);
void pm_bin_model_arena_free(struct pm_bin_model_arena *arena);

enum { PM_MOST_HELD_OUT = 2 };

/* First touches of the program total: distinct blocks, also of what has no model of its own. */
struct pm_total_model {
    uint64_t block_bytes;
    struct pm_model cold;
};

/* How a reference goes through memory (core/strides/strides.h), as functions of the size. */
struct pm_stride_level_model {
    struct pm_model stride; /* bytes, without sign */
    struct pm_model count;  /* elements of a run */
    bool downwards;
    double stride_share, count_share; /* as at the largest size */
};
/* One of the ways in which it goes on from time to time; SHARE and SINCE as at the largest size. */
struct pm_stride_variant_model {
    bool known; /* false: there are no models */
    uint32_t n_levels;
    double share, since;
    struct pm_model phase, offset; /* OFFSET: of its lowest address from that of the walk */
    struct pm_stride_level_model levels[PM_MOST_STRIDE_LEVELS];
};
struct pm_stride_model {
    uint32_t reference;
    bool known; /* false: there are no models */
    uint32_t n_levels;
    struct pm_stride_level_model *levels; /* innermost first; owned */
    /* Lowest address, relative to that of the first reference of its space: its distance, and
       whether it is below.  WHOLE_PAGES: rounded up to such. */
    uint32_t space;
    struct pm_model offset;
    bool below, whole_pages;
    double place_in_page; /* of the first one's address; NAN: not known */
    /* Variants of the largest size, 0: it has none; at a size there are ALL_PHASES / USUAL_PHASE,
       unless all sizes have the same number. */
    uint32_t n_variants;
    bool same_number;
    struct pm_model all_phases, usual_phase;  /* executions, of one phase of each */
    struct pm_stride_variant_model *variants; /* by time: so many from the first one on, then as
                                                 many from the last one back; owned */
};

/* How far off the misses of the whole program are at the sizes that its models were made from: the
   mean of |log(by the models / measured)| over caches and sizes. */
struct pm_program_residual {
    uint64_t block_bytes;
    double error;
};

/* All that fit found for a store. */
struct pm_model_set {
    struct pm_basis *basis;
    struct pm_parameters low, high; /* smallest and largest measured value of each parameter */
    size_t n_runs;
    struct pm_parameters *runs; /* parameters of each run, in the order of the fit; owned */
    size_t n_runs_dropped;      /* outlier sizes that were left out of the fit */
    size_t n_truncated; /* runs that did not come to their end; not stored with the models */
    size_t n_edges;
    struct pm_model *edges; /* one for each edge of the structure */
    size_t n_histograms;
    struct pm_histogram_model *histograms;
    struct pm_bin_model_arena bins; /* of the histograms */
    /* The same made without the largest size, and without the two largest: how far these say
       otherwise is how uncertain misses are.  They have none of their own; owned. */
    bool held_out_tried; /* none: too few sizes */
    size_t n_held_out;
    struct pm_model_set *held_out[PM_MOST_HELD_OUT];
    /* What of the measured runs has no models: shares of the run where they are largest (0: all
       has; NAN: not known). */
    double accesses_left_out, first_touches_left_out;
    size_t n_totals;
    struct pm_total_model *totals; /* one for each block size, where builds differ; owned */
    size_t n_strides;
    struct pm_stride_model *strides; /* ascending by reference; owned; not of sets held out */
    /* Of stores by dirty distance (core/write_backs/write_backs.h): histograms only; NULL: not all
       runs have them.  Owned. */
    struct pm_model_set *dirty;
    size_t n_residuals;
    struct pm_program_residual
        *residuals; /* one for each block size, where sizes were held out; owned */
};

void pm_model_set_free(struct pm_model_set *set);

/* The parameters that functions of SET's basis depend on, by name; NAMES has room for
   PM_MAX_PARAMETERS, and its texts live as long as SET. */
size_t pm_model_set_parameters(const struct pm_model_set *set, const char **names);

/* As bytes (zstd, versioned, checksummed) and back; decoding checks everything. */
#define PM_MODEL_SET_VERSION 10
void pm_model_set_encode(const struct pm_model_set *set, void **bytes, size_t *n_bytes);
struct pm_model_set *pm_model_set_decode(const void *bytes, size_t n_bytes, struct pm_error *err);

#endif
