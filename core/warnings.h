/* What must be known before an answer is read: sentences which say that its figures may be far off.
   Every answer has them before its figures: a table in its head, JSON as "warnings", CSV on the
   error stream.  What merely qualifies figures is a note, and stands at the end. */
#ifndef PM_CORE_WARNINGS_H
#define PM_CORE_WARNINGS_H

#include <stddef.h>

#include "core/base/base.h"

/* In the order in which they are printed. */
enum pm_warning_kind {
    PM_WARNING_EQUAL_COUNTS,   /* nothing that was counted differs between the sizes */
    PM_WARNING_TRUNCATED,      /* a run did not come to its end */
    PM_WARNING_DROPPED,        /* a share of the accesses or misses is in no model */
    PM_WARNING_POOR_MODELS,    /* models of most of the work miss the sizes they were made from */
    PM_WARNING_FEW_SIZES,      /* too few sizes to check the models */
    PM_WARNING_BELOW_MEASURED, /* a size below the smallest measured one */
    PM_WARNING_FAR,            /* a size so large that models need not keep their shape there */
    PM_WARNING_OUTSIDE,        /* work in code that was not measured */
    PM_WARNING_UNKNOWN,        /* how far off an answer may be is not known */
    PM_N_WARNINGS,
};

struct pm_warning {
    enum pm_warning_kind kind;
    double share; /* that the sentence is about: of the whole, or an error, as a fraction of 1;
                     NAN: not known, or none */
    char *text;   /* a sentence with its numbers, and what the user can do; owned */
};

struct pm_warnings {
    PM_ARRAY(struct pm_warning, list); /* by kind; owned */
};

/* Adds a sentence, unless it is there. */
void pm_warning_add(struct pm_warnings *warnings, enum pm_warning_kind kind, double share,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
void pm_warnings_free(struct pm_warnings *warnings); /* what it owns */

/* The word for programs: "poor_models". */
const char *pm_warning_word(enum pm_warning_kind kind);

#endif
