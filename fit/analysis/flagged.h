/* Models of poor quality with reasons, for `pmodel fit --flagged`. */
#ifndef PM_FLAGGED_H
#define PM_FLAGGED_H

#include <stdio.h>

#include "core/base/base.h"
#include "core/model.h"
#include "core/profile.h"
#include "fit/analysis/rows.h"

/* X (enumerator, word for programs, reason for people, what to do) */
#define PM_FLAWS(X)                                                                                \
    X(PM_FLAW_FEW, "few_sizes", "few sizes",                                                       \
      "run at more sizes: five or more on which the quantity is not zero")                         \
    X(PM_FLAW_LATE, "sets_in_late", "sets in late",                                                \
      "nothing of it happens at the smaller sizes: run at more of the larger ones")                \
    X(PM_FLAW_PERIODIC, "periodic", "periodic",                                                    \
      "it jumps with the remainder of the size by the period: fit sizes of one residue class")     \
    X(PM_FLAW_JUMPS, "jumps", "jumps",                                                             \
      "it jumps from size to size without a trend: more sizes give a better mean; look whether "   \
      "some sizes are outliers (--drop-outliers), or whether it depends on data or on another "    \
      "parameter")                                                                                 \
    X(PM_FLAW_FORM, "form", "another function",                                                    \
      "it goes smoothly, but not as a sum of the basis functions: give others with --basis")       \
    X(PM_FLAW_ERROR, "leave_one_out", "error above the limit",                                     \
      "each size is badly predicted from the others: run at more sizes")                           \
    X(PM_FLAW_EXTENT, "fixed_extent", "fixed extent",                                              \
      "rows of its array are as far apart at every size: models hold for arrays of that extent; "  \
      "build the program for each size (`pmodel run --build`)")                                    \
    X(PM_FLAW_SAMPLED, "sampled", "sampled",                                                       \
      "too few of its blocks were watched: run with a smaller --sample, or without")               \
    X(PM_FLAW_BOUNDED, "bounded", "bounded",                                                       \
      "distances beyond the bound are not known: run with a larger --max-blocks, or without")      \
    X(PM_FLAW_BUILDS, "builds_differ", "builds differ",                                            \
      "its code is not the same in the builds of all runs, so that it has no model: take sizes "   \
      "that the compiler treats alike, or build with fewer optimisations")

enum pm_flaw {
#define PM_FLAW_ENUM(id, word, reason, advice) id,
    PM_FLAWS(PM_FLAW_ENUM)
#undef PM_FLAW_ENUM
        PM_N_FLAWS
};

/* All flagged models of one scope's executions, or of one histogram. */
struct pm_flagged_row {
    struct pm_row_place place;
    uint32_t group;       /* PM_NONE: executions */
    uint64_t block_bytes; /* 0: executions */
    size_t n_models, n_flagged;
    /* Share of all instructions (executions) or of all touches of such blocks, at the largest size,
       that these models are about. */
    double weight;                  /* NAN: not known */
    double error;                   /* the worst leave-one-out error that is known; NAN */
    unsigned flaws;                 /* 1 << enum pm_flaw, a sum */
    unsigned period;                /* of PM_FLAW_PERIODIC */
    double stride_bytes, walk_most; /* of PM_FLAW_EXTENT: pm_fixed_extent */
};

struct pm_flagged {
    const struct pm_structure *structure;
    const struct pm_model_set *models;
    PM_ARRAY(struct pm_flagged_row, rows); /* by weight */
    unsigned flaws;                        /* of all rows */
};

/* PROFILES: of the runs of MODELS, in that order. */
struct pm_flagged *pm_flagged_new(const struct pm_structure *structure,
                                  const struct pm_model_set *models,
                                  const struct pm_profile *const *profiles);
void pm_flagged_free(struct pm_flagged *flagged);

#endif
