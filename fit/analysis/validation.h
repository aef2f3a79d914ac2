/* A prediction beside a measurement of the same size, as a table of pairs, for `pmodel validate`.
 */
#ifndef PM_VALIDATION_H
#define PM_VALIDATION_H

#include "core/base/base.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "fit/analysis/rows.h"

/* A size that was both predicted and measured. */
struct pm_validation {
    const struct pm_profile *predicted, *measured; /* at the same size */
    /* Of these two profiles, on the same machines in the same order. */
    const struct pm_prediction *const *predicted_times, *const *measured_times;
    size_t n_machines;
    /* Both ends of the intervals that hold what is measured with probability LEVEL; times at them
       are in the predictions (pm_spread).  NULL: there are none. */
    double level;
    const struct pm_profile *low, *high;
};

/* What to compare beside counts: accesses and misses of fully associative LRU caches, for each of
   these block sizes, which both profiles must have. */
struct pm_validation_caches {
    const uint64_t *block_sizes; /* bytes */
    size_t n_block_sizes;
    const double *cache_blocks; /* sizes of caches, in blocks */
    size_t n_caches;
};

/* The *N block sizes to compare, ascending: those ASKED for, else lines and pages as far as PROFILE
   has them, which is from the models of STORE, else all that it has.  Owned by the caller (free).
   Errors: it does not have one of them, or none at all. */
uint64_t *pm_validation_block_sizes(const struct pm_profile *profile, const uint64_t *asked,
                                    size_t n_asked, const char *store, size_t *n,
                                    struct pm_error *err);

enum pm_quantity {
    PM_QUANTITY_EXECUTIONS, /* of basic blocks */
    PM_QUANTITY_ITERATIONS, /* of loops; calls of routines */
    PM_QUANTITY_ACCESSES,   /* loads and stores of recorded references, by the counts */
    PM_QUANTITY_MISSES,     /* of a cache of `cache_blocks` such blocks */
    PM_QUANTITY_SECONDS,    /* on machine `machine` */
    PM_N_QUANTITIES
};

struct pm_pair {
    double predicted, measured; /* NAN: the quantity makes no sense for the row */
    double low, high;           /* between these with the probability `level`; NAN: not known */
};

/* (predicted − measured) / measured; 0 where both are the same, infinite where nothing was measured
   but something predicted, NAN where there is nothing to compare. */
double pm_pair_error(struct pm_pair pair);

/* Of absolute relative errors. */
struct pm_errors {
    size_t n;
    double median, worst; /* NAN if n is 0 */
};

/* Sorts the N values of ERRORS. */
struct pm_errors pm_summarise_errors(double *errors, size_t n);

/* One quantity that is compared. */
struct pm_validation_column {
    enum pm_quantity quantity;
    uint64_t block_bytes;   /* 0 if it is not about misses */
    double cache_blocks;    /* 0 if it is not about misses */
    size_t machine;         /* of PM_QUANTITY_SECONDS: index */
    struct pm_errors loops; /* over rows with at least the least share of the program's figure */
    uint32_t worst_row;     /* of these; PM_NONE */
};

/* The program (always the first), a loop with those folded into it, or a routine's own code. */
struct pm_validation_row {
    struct pm_row_place place;
};

struct pm_validation_table {
    PM_ARRAY(struct pm_validation_column, columns); /* executions first, then by quantity */
    PM_ARRAY(struct pm_validation_row, rows); /* those that ran or should have; by executions */
    struct pm_pair *pairs;                    /* [row · n_columns + column]; owned */
    double least_share;
    size_t n_blocks_executed, n_blocks_exact; /* basic blocks; exact: the same whole number */
};

struct pm_pair pm_validation_pair(const struct pm_validation_table *table, size_t row,
                                  size_t column);

/* True if either figure of the pair is at least the least share of the program's measured one. */
bool pm_validation_is_large(const struct pm_validation_table *table, size_t row, size_t column);

/* Over all columns of a quantity and block size (0: of any): the program's errors, and those of its
   large rows. */
struct pm_errors pm_validation_program_errors(const struct pm_validation_table *table,
                                              enum pm_quantity quantity, uint64_t block_bytes);
struct pm_errors pm_validation_loop_errors(const struct pm_validation_table *table,
                                           enum pm_quantity quantity, uint64_t block_bytes);

/* Errors of one row, over those of the columns in which it is large; *WORST becomes the column with
   the largest error, and is untouched if there is none. */
struct pm_errors pm_validation_row_errors(const struct pm_validation_table *table, size_t row,
                                          enum pm_quantity quantity, uint64_t block_bytes,
                                          size_t *worst);

struct pm_validation_table *pm_validation_table_new(const struct pm_structure *structure,
                                                    const struct pm_validation_caches *caches,
                                                    const struct pm_validation *validation,
                                                    double least_share);
void pm_validation_table_free(struct pm_validation_table *table);

#endif
