/* Strides of a run: how the addresses of each reference went through memory, level by level of the
   loops around it, in whatever routines these are (runtime/analyser/run_strides.h has the
   definitions). Of a reference's formula (core/structure/structure.h) these are the values in this
   run. */
#ifndef PM_CORE_STRIDES_H
#define PM_CORE_STRIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"

enum { PM_MOST_STRIDE_LEVELS = 6, PM_MOST_STRIDE_VARIANTS = 64 };

/* What most runs of a level have in common. */
struct pm_stride_level {
    double stride_bytes, stride_share; /* the share of its steps that are that far */
    double count, count_share;         /* elements of a run, and the share of the runs with so many;
                                          0: COUNT is a lower bound, and no run was seen whole */
    double mean_count;
};

/* The elements that runs of LEVEL have: what most have, or the mean. */
double pm_stride_level_elements(const struct pm_stride_level *level);

/* One of several ways in which a reference went on, each for some time: as in the passes over
   data that each have strides of their own. */
struct pm_stride_variant {
    double share; /* of the executions */
    double since; /* a time in the run; variants of several references that begin at about one
                     time belong together */
    double phase; /* executions until it ended, on average */
    double lowest, highest; /* addresses, in the process */
    double n_levels;        /* that are known, from 1 on */
    struct pm_variant_level {
        double stride_bytes, count; /* count 0: not known */
    } levels[PM_MOST_STRIDE_LEVELS];
};

struct pm_reference_strides {
    uint32_t reference, n_levels;
    double executions;      /* that were looked at */
    double lowest, highest; /* addresses, in the process */
    /* Predicted: addresses of different spaces have no known distance; PAGE_KNOWN: but for their
       places in their pages.  Measured ones have none; nor are these kept in stores. */
    uint32_t space;
    bool page_known;
    struct pm_stride_level levels[PM_MOST_STRIDE_LEVELS]; /* innermost first */
    size_t first_variant;                                 /* of those of the run */
    uint32_t n_variants;                                  /* 0: it went on in one way */
};

struct pm_run_strides {
    PM_ARRAY(struct pm_reference_strides, references); /* ascending, each once; owned */
    PM_ARRAY(struct pm_stride_variant, variants);      /* of references, in no order; owned */
};

void pm_run_strides_free(struct pm_run_strides *strides); /* what it owns */
/* Those of REFERENCE; NULL: not known. */
const struct pm_reference_strides *pm_strides_of_reference(const struct pm_run_strides *strides,
                                                           uint32_t reference);

/* Adds ONE; of two of a reference the one with more executions stays.  pm_run_strides_sort is due
   after the last. */
void pm_run_strides_add(struct pm_run_strides *strides, const struct pm_reference_strides *one);
void pm_run_strides_sort(struct pm_run_strides *strides);

#define PM_STRIDES_VERSION 3
/* As bytes (zstd-compressed, versioned, checksummed) for the store, and back.  *BYTES is owned by
   the caller (free).  Decoding checks everything; references are below N_REFERENCES. */
void pm_run_strides_encode(const struct pm_run_strides *strides, void **bytes, size_t *n_bytes);
bool pm_run_strides_decode(const void *bytes, size_t n_bytes, uint32_t n_references,
                           struct pm_run_strides *strides, struct pm_error *err);

#endif
