/* What the files of explain/ share. */
#ifndef PM_EXPLAIN_PRIVATE_H
#define PM_EXPLAIN_PRIVATE_H

#include "report/explain/explain.h"
#include "report/labels/labels.h"
#include "report/predictions/predictions.h"
#include "report/writers/writers.h"

/* A cause of the loop's own cycles: one of pm_cause, or the misses of a level. */
struct pm_cause_row {
    const char *name, *words; /* "L2", "misses of L2" */
    char *owned;              /* what `words` is in, if it is to be freed */
    double cycles;            /* of an iteration */
    double share;             /* of the loop's own cycles */
    double gain;              /* of an iteration; NAN: not worked out */
    bool holds;               /* it has most */
};

struct pm_cause_rows {
    PM_ARRAY(struct pm_cause_row, rows); /* in the order of the pipeline; owned */
};
struct pm_cause_rows pm_cause_rows_make(const struct pm_explanation *e, const struct pm_row *row);
void pm_cause_rows_free(struct pm_cause_rows *rows);

/* A reference group. */
struct pm_explained_group {
    const struct pm_explanation *explanation;
    const struct pm_row *loop;
    const struct pm_loop_group *figures;
    const struct pm_group *group;
    struct pm_row_place place;
    double per_iteration[PM_MAX_LEVELS];  /* misses */
    double conflict_share;                /* of the cycles of its misses' levels … */
    double sequential_share;              /* the same of caches; NAN: not measured */
    double share;                         /* of what all misses of the loop cost */
    const struct pm_carried_row *carrier; /* what carries most of its reuse; NULL: not known */
    double carrier_share;                 /* of its misses */
    char *strides;                        /* owned */
};

struct pm_explained_groups {
    PM_ARRAY(struct pm_explained_group, rows); /* owned */
};
struct pm_explained_groups pm_explained_groups_make(const struct pm_explanation *e,
                                                    const struct pm_row *row);
void pm_explained_groups_free(struct pm_explained_groups *groups);

const char *pm_loop_figure_name(enum pm_loop_figure figure);  /* "fp_operations" */
const char *pm_loop_figure_words(enum pm_loop_figure figure); /* "floating-point operations" */

const char *pm_suggestion_word(enum pm_suggestion_kind kind); /* "interchange" */
/* What to try, as a sentence; owned by the caller. */
char *pm_suggestion_sentence(const struct pm_explanation *e,
                             const struct pm_suggestion *suggestion);

void pm_write_explanation(FILE *out, const struct pm_explanation *e, const struct pm_row *row,
                          const struct pm_report_options *options);

#endif
