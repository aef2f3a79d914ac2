/* The model of the whole beside the sum of its routines' models: what the writers of `pmodel
   validate
   --hierarchy` have in common; private to report/. */
#ifndef PM_HIERARCHY_H
#define PM_HIERARCHY_H

#include <stdio.h>

#include "core/base/base.h"
#include "report/counts/counts.h"

/* One routine and quantity; errors are root mean squares over the sizes, relative to the routine's
   own figures. */
struct pm_hierarchy_row {
    struct pm_place place;
    char *label, *source; /* owned */
    double share;         /* of the quantity, at the last size */
    double own_error;     /* of the model fitted to the routine's counts; NAN: there is none */
    double parts_error;   /* of the models of its edges, or groups */
    double part;          /* of the differences of all routines, 0…1 */
    bool named;           /* where the error lives */
};

struct pm_hierarchy_quantity {
    const char *name;     /* "fp_add", "misses" */
    uint64_t block_bytes; /* of misses; else 0 */
    double cache_blocks;
    double measured;       /* of the whole, at the last size */
    double whole_error;    /* of the model fitted to the whole's counts; NAN for misses */
    double routines_error; /* of the sum of the routines' own models; NAN for misses */
    double parts_error;    /* of the sum of all edges' or groups' models */
    double rest_error;     /* of the whole, if the routines that are named were right */
    PM_ARRAY(struct pm_hierarchy_row, rows); /* largest part first; routines that count nothing are
                                                left out */
};

struct pm_hierarchy {
    const struct pm_hierarchy_request *request;
    const struct pm_validation *sizes; /* those that are compared together */
    size_t n_sizes;
    PM_ARRAY(struct pm_hierarchy_quantity, quantities);
};

void pm_write_hierarchies(FILE *out, const struct pm_hierarchy *hierarchies, size_t n,
                          const struct pm_report_options *options);

#endif
