/* The misses of a run by reuse pattern, for `pmodel report --as carried`. */
#ifndef PM_CARRIED_REPORT_H
#define PM_CARRIED_REPORT_H

#include <stdio.h>

#include "core/base/base.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/reuse_patterns.h"
#include "fit/analysis/rows.h"

/* What brings source and destination nearer to each other (Marin & Mellor-Crummey, ISPASS 2008,
   table 1): by the form of the pattern alone.  Whether dependences allow it, the reader decides. */
enum pm_advice {
    PM_ADVICE_NONE = 0, /* first touches; carriers that are not known */
    PM_ADVICE_BLOCK,    /* source is destination, a loop around it carries: interchange, or block */
    PM_ADVICE_RENUMBER, /* the data is picked here and there: loops in another order do not bring
                           its uses nearer; sorting, renumbering or packing does */
    PM_ADVICE_REORDER,  /* source is destination and carries itself: a shorter stride, data or
                           iterations in another order */
    PM_ADVICE_FUSE,     /* two loops in one iteration of the carrier: fuse or shift them */
    PM_ADVICE_SKEW,     /* a later iteration of the carrier comes back, in another loop or by a new
                           call, as of a time loop */
    PM_ADVICE_CALLS,    /* the same loop, executed several times within an iteration of the carrier,
                           or within one call of it: join these executions */
    PM_N_ADVICE
};

struct pm_carried_report {
    const struct pm_structure *structure;
    const struct pm_profile *profile;         /* for the first touches */
    const struct pm_run_patterns *patterns;   /* of the same run; fit the structure */
    const struct pm_machine *const *machines; /* the run has the block sizes of all their levels */
    size_t n_machines;
    bool by_group; /* what several groups do to the same data stays apart */
};

struct pm_carried_row {
    const struct pm_carried_report *report;
    const struct pm_machine *machine;
    bool is_first_touch; /* then there is neither source nor carrier */
    bool across;
    struct pm_row_place source, carrier, destination; /* scopes that stand for those folded into
                                                     them; nowhere: not known */
    const char *object;                               /* what the group accesses; NULL unknown */
    bool is_irregular; /* the group's addresses follow from data: `x[index[i]]` */
    uint32_t group;    /* by_group; else PM_NONE */
    double misses[PM_MAX_LEVELS];
    double cycles; /* cost of these misses, of all levels */
    double
        share; /* of the cycles of all misses; of the misses of the first level if none cost any */
    uint8_t advice;
};

struct pm_carried_rows {
    const struct pm_machine *machine;
    PM_ARRAY(struct pm_carried_row, rows); /* by share, largest first; they add up to the whole,
                                              but for distances, which sets tell apart in steps */
    double misses[PM_MAX_LEVELS];          /* of the whole */
    double cycles;
};

/* Folded loops count as one. */
struct pm_carried_rows *pm_carried_rows_new(const struct pm_carried_report *report,
                                            const struct pm_machine *machine);
void pm_carried_rows_free(struct pm_carried_rows *rows);

#endif
