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

/* Terms of one model at most; a basis may have more functions.  One parameter needs up to eight
   terms, products of functions of several parameters up to this. */
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

/* The size at which models are evaluated: the values of all basis functions there and, if it lies
   beyond the largest measured size, also at that size. */
struct pm_model_point {
    const double *there, *at_largest; /* at_largest NULL: not beyond; owned by who made it */
};

/* Value at POINT.  The fit enforces shape up to a multiple of the largest measured size only; so
   beyond the largest measured size an increasing model is at least its value there, a decreasing
   one at most. */
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
    bool constant_distance; /* the distance is the same at every size, and only the count is
                               modelled */
    double sequential;      /* of the accesses, the share that go on from one block to the next */
    bool takes_rest; /* a short bin: it takes the accesses of the group that the other bins leave
                        over */
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
    /* Distances were measured up to a bound only (the smallest of all runs, in blocks; 0: none): a
       modelled distance of at least this means "as far as this, or further". */
    double at_least;
    double store_share; /* stores / accesses over all runs */
    double cold_share;  /* share of the program's first touches, in the largest run; only in sets
                           with program totals */
    /* Of first touches the share that is sequential (core/behaviour/behaviour.h), at the largest
       size that was measured so, as in the bins; only if KNOWS_SEQUENTIAL. */
    double sequential_cold;
    bool knows_sequential;
    size_t n_bins;
    struct pm_bin_model *bins; /* in the set's arena; ascending distance at the largest size */
};

/* Memory for the bins of all histograms of a set: allocated one by one, freed together. */
struct pm_bin_model_arena {
    struct pm_bin_chunk *chunks; /* the chunk in use comes first */
};

/* N bins, zeroed.  A chunk has thousands. */
struct pm_bin_model *pm_bin_model_arena_alloc(struct pm_bin_model_arena *arena, size_t n);
/* Gives back the N bins that were allocated last. */
void pm_bin_model_arena_return(struct pm_bin_model_arena *arena, size_t n);
/* Moves all that FROM has to INTO. */
void pm_bin_model_arena_join(struct pm_bin_model_arena *into, struct pm_bin_model_arena *from);
void pm_bin_model_arena_free(struct pm_bin_model_arena *arena);

enum { PM_MOST_HELD_OUT = 2 };

/* Mispredictions of branches (core/behaviour/behaviour.h), all executions: model i ·
   PM_N_PREDICTORS + p of MODELS, in place of an edge's, is that of block i and predictor p. */
struct pm_branch_models {
    PM_ARRAY(uint32_t, blocks);  /* ascending; owned */
    struct pm_model_set *models; /* NULL: not all runs have them.  Owned */
    /* How entries of loops are spread about their mean: those of the largest run.  Owned. */
    PM_ARRAY(struct pm_measured_trips, trips);
};

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
    double stride_share, count_share; /* at the largest size */
};
/* A variant of a reference's walk (fit/sets/README.md); SHARE and SINCE are those of the largest
   size. */
struct pm_stride_variant_model {
    bool known; /* false: there are no models */
    uint32_t n_levels;
    double share, since;
    struct pm_model phase, offset; /* OFFSET: its lowest address minus that of the walk */
    struct pm_stride_level_model levels[PM_MOST_STRIDE_LEVELS];
};
struct pm_stride_model {
    uint32_t reference;
    bool known; /* false: there are no models */
    uint32_t n_levels;
    struct pm_stride_level_model *levels; /* innermost first; owned */
    /* Lowest address relative to that of the first reference of its space: the distance, and
       whether it lies below.  WHOLE_PAGES: the distance is rounded up to whole pages. */
    uint32_t space;
    struct pm_model offset;
    bool below, whole_pages;
    double place_in_page; /* of the first reference's address, as a share of the page; NAN: not
                             known */
    /* Variants at the largest size; 0: none.  At another size there are ALL_PHASES / USUAL_PHASE of
       them, unless all sizes have the same number. */
    uint32_t n_variants;
    bool same_number;
    struct pm_model all_phases, usual_phase;  /* executions of all phases, and of the usual phase */
    struct pm_stride_variant_model *variants; /* by time: the first ones in order, then as many from
                                                 the last one backwards; owned */
};

/* The residual of the program's misses at the sizes that its models were made from: the mean of
   |log(modelled / measured)| over caches and sizes. */
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
    size_t n_truncated;         /* runs that were truncated; not stored with the models */
    size_t n_edges;
    struct pm_model *edges; /* one for each edge of the structure */
    size_t n_histograms;
    struct pm_histogram_model *histograms;
    struct pm_bin_model_arena bins; /* of the histograms */
    /* Model sets made without the largest size, and without the two largest: how far their misses
       differ tells how uncertain misses are.  They have no held-out sets of their own; owned. */
    bool held_out_tried; /* with n_held_out 0: there were too few sizes */
    size_t n_held_out;
    struct pm_model_set *held_out[PM_MOST_HELD_OUT];
    /* Shares of accesses and first touches that have no models, in the run with the largest shares
       (0: all have; NAN: not known). */
    double accesses_left_out, first_touches_left_out;
    size_t n_totals;
    struct pm_total_model *totals; /* one for each block size, where builds differ; owned */
    size_t n_strides;
    struct pm_stride_model *strides; /* ascending by reference; owned; not of sets held out */
    /* Models of the histograms of stores by dirty distance (core/write_backs/write_backs.h); NULL:
       not all runs have such histograms.  Owned. */
    struct pm_model_set *dirty;
    struct pm_branch_models branches;
    size_t n_residuals;
    struct pm_program_residual
        *residuals; /* one for each block size, where sizes were held out; owned */
};

void pm_model_set_free(struct pm_model_set *set);
void pm_stride_model_free(struct pm_stride_model *model); /* what it owns */

/* The parameters that functions of SET's basis depend on, by name; NAMES has room for
   PM_MAX_PARAMETERS, and its texts live as long as SET. */
size_t pm_model_set_parameters(const struct pm_model_set *set, const char **names);

/* As bytes (zstd, versioned, checksummed) and back; decoding checks everything. */
#define PM_MODEL_SET_VERSION 13
void pm_model_set_encode(const struct pm_model_set *set, void **bytes, size_t *n_bytes);
struct pm_model_set *pm_model_set_decode(const void *bytes, size_t n_bytes, struct pm_error *err);

enum pm_model_set_role {
    PM_MODELS_OF_ALL,
    PM_MODELS_HELD_OUT,
    PM_MODELS_OF_DIRTY,
    PM_MODELS_OF_BRANCHES, /* small: it is kept, not taken */
    PM_N_MODELS_ROLES,
};

/* Takes the models of histograms and strides one at a time, so that they are never in memory all
   together.  Each set begins when its basis, runs and edges are known, and ends when all of it was
   taken; inner sets begin and end before the one of all does. */
struct pm_model_taker {
    void *context;
    void (*begin)(void *context, enum pm_model_set_role role, const struct pm_model_set *set);
    void (*histogram)(void *context, const struct pm_histogram_model *histogram);
    void (*strides)(void *context, const struct pm_stride_model *strides);
    void (*end)(void *context, enum pm_model_set_role role, const struct pm_model_set *set);
};
struct pm_codec; /* core/codec.h */

/* Makes CODEC one that reads the BYTES, of which it keeps a copy as long as it needs them.  False
   with a sentence: as pm_codec_open. */
bool pm_model_set_open(struct pm_codec *codec, const void *bytes, size_t n_bytes,
                       struct pm_error *err);
/* The same as pm_model_set_decode, of such a CODEC, which it closes, but that with a TAKER the set
   has no histograms, strides and inner sets: TAKER gets these, and must forget them if there is an
   error. */
struct pm_model_set *pm_model_set_take(struct pm_codec *codec, const struct pm_model_taker *taker,
                                       struct pm_error *err);

#endif
