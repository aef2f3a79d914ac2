/* Which models the errors come from: that of the program total, those of its routines, or those of
   edges and groups; for `pmodel validate --hierarchy`. */
#ifndef PM_HIERARCHY_H
#define PM_HIERARCHY_H

#include <stdio.h>

#include "core/base/base.h"
#include "fit/analysis/counts.h"
#include "fit/analysis/validation.h"

struct pm_hierarchy_request {
    const struct pm_structure *structure;
    const struct pm_model_set *models;
    const struct pm_profile *const *fitted; /* of the runs of MODELS, in that order */
    const struct pm_fit_options *fit_options;
    const char *classes;                       /* as of pm_counts_request; NULL: the usual ones */
    const struct pm_validation_caches *caches; /* of misses */
    const struct pm_validation *sizes;         /* without times */
    size_t n_sizes;
    bool together; /* the sizes are those of the fit, and errors are over all of them; else each
                      size has its own */
};

/* One routine and quantity; errors are root mean squares over the sizes, relative to the routine's
   own figures. */
struct pm_hierarchy_row {
    struct pm_row_place place;
    double share;       /* of the quantity, at the last size */
    double own_error;   /* of the model fitted to the routine's counts; NAN: there is none */
    double parts_error; /* of the models of its edges, or groups */
    double part;        /* of the differences of all routines, 0…1 */
    bool named;         /* where the error lives */
};

struct pm_hierarchy_quantity {
    const char *name;     /* "fp_add", "misses" */
    uint64_t block_bytes; /* of misses; else 0 */
    double cache_blocks;
    double measured;       /* of the program total, at the last size */
    double total_error;    /* of the model fitted to the program total's counts; NAN for misses */
    double routines_error; /* of the sum of the routines' own models; NAN for misses */
    double parts_error;    /* of the sum of all edges' or groups' models */
    double rest_error;     /* of the program total, if the routines that are named were right */
    PM_ARRAY(struct pm_hierarchy_row, rows); /* largest part first; routines that count nothing are
                                                left out */
};

struct pm_hierarchy {
    const struct pm_hierarchy_request *request;
    const struct pm_validation *sizes; /* those that are compared together */
    size_t n_sizes;
    PM_ARRAY(struct pm_hierarchy_quantity, quantities);
};

/* One comparison of all sizes, or one for each, *N of them; NULL with a sentence. */
struct pm_hierarchy *pm_hierarchies_new(const struct pm_hierarchy_request *request, size_t *n,
                                        struct pm_error *err);
void pm_hierarchies_free(struct pm_hierarchy *hierarchies, size_t n);

#endif
