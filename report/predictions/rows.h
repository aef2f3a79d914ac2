/* A prediction as rows: what the three writers of `pmodel report` have in common; private to
   report/. */
#ifndef PM_ROWS_H
#define PM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/prediction.h"
#include "core/structure/structure.h"
#include "core/bounds/bounds.h"
#include "core/times.h"
#include "report/labels/labels.h"

/* What a row is at one end of the prediction's intervals: its own, without inner scopes; never on
   the other side of the row's own figures.  NAN: not known. */
struct pm_row_end {
    double seconds, iterations;
    double level_misses[PM_MAX_LEVELS];
};

/* One loop (with the loops that are folded into it), or the code of one routine outside its loops,
   with inlined code outside loops.  Figures that are not known are NAN. */
struct pm_row {
    struct pm_row_place place; /* the loop or routine that the row is named after */
    const struct pm_prediction *prediction;
    const uint32_t *members; /* in pm_rows.members: all scopes whose own cost is in `self` */
    uint32_t n_members;
    uint32_t
        n_folded; /* of the members, those that are loops or routines: 1 if nothing is folded */
    char *label, *source;           /* "step/3 i", "heat.c:31"; owned */
    uint32_t line_first, line_last; /* of all loops in the row; 0 unknown */
    bool counted;         /* false: without counters, or not the same in all builds: nothing is
                                 known of its cost */
    bool executed;        /* it has a cost, or was entered */
    double seconds;       /* self */
    double share;         /* of the prediction's time, 0…1 */
    double total_seconds; /* with inner scopes */
    double total_share;
    double lower_seconds, upper_seconds; /* self, as if every miss were prefetched in time, and with
                                            each miss alone */
    double entries;                      /* how often the loop was entered */
    double iterations; /* executions of the headers of all loops in the row; a routine: calls */
    struct pm_cost_sum self, total;
    double resource_cycles_per_iteration, recurrence_cycles_per_iteration; /* mean, by iterations */
    double gains[PM_N_CAUSES]; /* own cycles saved if one cause vanished; NAN: not worked out */
    uint8_t bound, bound_unit, bound_level; /* of the member with the most cycles */
    char *bound_label;                      /* owned; NULL: not counted */
    double cycles_per_iteration, instructions_per_iteration; /* of its own code */
    double misses_per_iteration[PM_MAX_LEVELS];
    double misses_per_kilo_instruction[PM_MAX_LEVELS];
    bool lacks_operations;    /* at least 1% of those executed have no cost in the machine file */
    bool time_is_lower_bound; /* for that, or because no reuse distances were measured */
    bool misses_are_lower_bound; /* at least 1% of the memory accesses were not recorded */
    bool timed;                  /* times were measured at this size */
    double measured_seconds;     /* NAN: not timed in its own right */
    double measured_share;       /* of the whole that was measured */
    bool measured_with_inner;    /* with loops in it that have no timer */
    uint32_t measured_in; /* the scope whose timer holds this row's time; PM_NONE: the row's own,
                             or one of whoever called the routine, or none */
    bool has_bounds;      /* lower bounds were measured at this size */
    double lower_bound_seconds; /* of the loop with all in it (`pmodel bound`); NAN: none */
    uint32_t lower_bound_in;    /* the loop whose bound this loop is part of; PM_NONE */
    struct pm_row_end low, high;
};

struct pm_rows {
    PM_ARRAY(struct pm_row, rows); /* by time, longest first; not counted ones last */
    uint32_t *members;             /* scopes, row by row; owned */
    uint32_t *row_of_scope;        /* n_scopes values; PM_NONE: its cost is in no row (0) */
    /* Time of the whole that is in no scope.  0 unless the prediction is inconsistent; shown, so
       that parts add up to the whole. */
    double unattributed_seconds;
    bool lacks_operations, time_is_lower_bound; /* the same, of the whole */
    size_t n_not_counted, n_never_executed;
    const struct pm_times *times;   /* NULL: not measured at this size */
    double measured_seconds;        /* of the whole: of all rows, and outside them; NAN */
    const struct pm_bounds *bounds; /* NULL: not measured at this size */
};

/* Sums up PREDICTION, which is of STRUCTURE.  TIMES and BOUNDS, measured at the same size and fit
   for STRUCTURE, or NULL; must outlive the rows.  Freed by pm_rows_free. */
struct pm_rows *pm_rows_new(const struct pm_structure *structure,
                            const struct pm_prediction *prediction, const struct pm_times *times,
                            const struct pm_bounds *bounds);
void pm_rows_free(struct pm_rows *rows);

/* The scalar fields of pm_cost_sum, all doubles. */
extern const struct pm_field pm_cost_fields[];
extern const size_t pm_n_cost_fields;

#endif
