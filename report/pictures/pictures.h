/* Pictures of one loop over sizes, as files (`pmodel report --as plot`). */
#ifndef PM_PICTURES_H
#define PM_PICTURES_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/histogram.h"
#include "core/machine/machine.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/structure/structure.h"
#include "core/times.h"

/* X (enumerator, word on the command line, what it shows). */
#define PM_PICTURES(X)                                                                             \
    X(PM_PICTURE_TIME, "time", "cycles of an iteration against the size, by cause")                \
    X(PM_PICTURE_MISSES, "misses", "misses of each level against the size")                        \
    X(PM_PICTURE_HISTOGRAM, "histogram",                                                           \
      "reuse distances at one size, and the levels' capacities")                                   \
    X(PM_PICTURE_SURFACE, "surface", "reuse distances over sizes, measured and modelled")          \
    X(PM_PICTURE_ROOFLINE, "roofline", "what the machine's units and levels allow at one size")
enum pm_picture_kind {
#define PM_PICTURE_ENUM(id, word, shows) id,
    PM_PICTURES(PM_PICTURE_ENUM)
#undef PM_PICTURE_ENUM
        PM_N_PICTURES
};
bool pm_picture_kind_from_word(const char *word, enum pm_picture_kind *kind);
const char *pm_picture_words(void); /* "time, misses …" */

/* What the loop does at one size: measured there, or by the models. */
struct pm_picture_point {
    double value; /* of the parameter */
    bool measured;
    struct pm_cost_sum cost; /* its own code */
    double iterations;       /* of a routine its calls, of the program 1; 0: not executed */
    double clock_cycles;     /* own cycles by a clock; NAN: not timed, or on another machine */
    PM_ARRAY(struct pm_histogram, histograms); /* one for each block size of the picture; owned */
};

struct pm_picture {
    const struct pm_structure *structure;
    const bool *rows; /* for each scope, whether its row of the report is pictured; NULL: all rows,
                         which make the program */
    char *label;      /* "step/4 k (vector)"; owned */
    const char *parameter; /* whose values the points have */
    const struct pm_machine *machine;
    double measured_high; /* the largest value that the models were made from; NAN: none */
    PM_ARRAY(uint64_t, block_sizes);           /* of the histograms; owned */
    PM_ARRAY(struct pm_picture_point, points); /* ascending by value, measured ones last; owned */
};

/* What the rows are called in reports; of several NAME, and how many they are.  ROWS NULL: the
   program. Owned by the caller. */
char *pm_picture_label(const struct pm_structure *structure, const bool *rows, const char *name);

/* A point at VALUE from what PROFILE and PREDICTION say of the rows.  PREDICTION NULL: only
   histograms are drawn; TIMES NULL: not timed. */
void pm_picture_add(struct pm_picture *picture, double value, const struct pm_profile *profile,
                    const struct pm_prediction *prediction, const struct pm_times *times);
void pm_picture_free(struct pm_picture *picture); /* what it owns */

/* AT: the size of a histogram, as text.  Not of rooflines, which report/signature/ draws. */
void pm_picture_draw(FILE *to, const struct pm_picture *picture, enum pm_picture_kind kind,
                     const char *at);

#endif
