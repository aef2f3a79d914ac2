/* What is known of one loop, or of a routine's code outside loops, beyond its row of a prediction:
   counts as functions of the size, the misses of each reference group, and what may be tried.  A
   loop is named by the scope that its row is named after (fit/analysis/rows.h). */
#ifndef PM_EXPLAIN_H
#define PM_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/behaviour/behaviour.h"
#include "core/machine/machine.h"
#include "core/model.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/structure/structure.h"
#include "fit/analysis/carried.h"

/* ---- counts (loop_counts.c) ------------------------------------------------------------------ */

enum pm_loop_figure {
    PM_LOOP_ENTRIES,
    PM_LOOP_ITERATIONS, /* executions of the headers of all loops in the row; a routine: calls */
    PM_LOOP_INSTRUCTIONS,
    PM_LOOP_FP_OPERATIONS, /* additions, multiplications, divisions, roots; each element of a
                              vector, a multiply-add as two */
    PM_LOOP_LOADS,         /* instructions' operands, however wide */
    PM_LOOP_STORES,
    PM_N_LOOP_FIGURES
};

struct pm_loop_count {
    double count;          /* at the size that was asked for */
    char *formula;         /* of the size; owned; NULL: there are no models */
    double relative_error; /* of the formula, at the measured sizes; NAN */
};

/* The counts of the own code of SCOPE by these EDGE_COUNTS. */
void pm_loop_figures(const struct pm_structure *structure, uint32_t scope,
                     const double *edge_counts, double figures[PM_N_LOOP_FIGURES]);

/* Fills COUNTS (PM_N_LOOP_FIGURES): counts at PROFILE, and formulas that are fitted to those of
   PROFILES, of the runs of MODELS in that order; MODELS is NULL: without formulas.  A formula that
   cannot be made is left out.  Freed by pm_loop_counts_free. */
void pm_loop_counts_make(const struct pm_structure *structure, uint32_t scope,
                         const struct pm_profile *profile, const struct pm_model_set *models,
                         const struct pm_profile *const *profiles, struct pm_loop_count *counts);
/* Of the entries of SCOPE's loops, the one with most iterations of those that are known; all NAN:
   none is. */
struct pm_trips_summary pm_loop_trips(const struct pm_structure *structure, uint32_t scope,
                                      const struct pm_behaviour *behaviour);
void pm_loop_counts_free(struct pm_loop_count *counts); /* what they own */

/* ---- misses by reference group (loop_groups.c) ----------------------------------------------- */

struct pm_loop_group {
    uint32_t group;
    double accesses; /* of blocks of the first level's size; NAN: not measured, as all below */
    double misses[PM_MAX_LEVELS];
    double first_touches[PM_MAX_LEVELS]; /* of the misses */
    double conflicts[PM_MAX_LEVELS];     /* of the misses: those that a fully associative level of
                                            the same size would not have */
    double sequential[PM_MAX_LEVELS]; /* of the misses of caches: those that go on from one block to
                                         the next (core/behaviour/behaviour.h); NAN: not measured, a
                                         TLB */
    double cycles;                    /* of the loop's memory cycles, by its share of the misses */
    double unused_share;              /* of the blocks of its data, whoever touched them first */
};

struct pm_loop_groups {
    PM_ARRAY(struct pm_loop_group, groups); /* what costs most first; owned */
};

/* The groups of the own code of SCOPE at PROFILE.  SELF: what that code costs.  The unused share is
   that of WITH_BYTES, a run that counted bytes (NULL: none did), in blocks of the first level. */
void pm_loop_groups_make(const struct pm_structure *structure, uint32_t scope,
                         const struct pm_profile *profile, const struct pm_machine *machine,
                         const struct pm_cost_sum *self, const struct pm_profile *with_bytes,
                         struct pm_loop_groups *groups);

/* ---- what to try (suggestions.c) ------------------------------------------------------------- */

enum pm_suggestion_kind {
    PM_TRY_FUSE,        /* source and destination, within one iteration of the carrier */
    PM_TRY_INTERCHANGE, /* the carrier inwards; or tile a loop in it, and move the tile loop out */
    PM_TRY_SKEW,        /* another loop in a later iteration of the carrier, as of a time loop */
    PM_TRY_JOIN_CALLS,  /* the loop is executed several times within one iteration of the carrier */
    PM_TRY_STRIDE,      /* the loop carries its own misses: a shorter stride */
    PM_TRY_SORT,        /* … of data that are picked here and there: sort, renumber, pack */
    PM_TRY_PAD,         /* conflicts in sets */
    PM_TRY_SPLIT,       /* bytes of blocks that are never used */
    PM_TRY_VECTORISE,
    PM_TRY_CHAINS,      /* a recurrence holds: several sums side by side */
    PM_TRY_BRANCHES,    /* that are predicted wrongly */
    PM_TRY_FEWER_BYTES, /* bandwidth holds */
    PM_N_SUGGESTIONS
};

struct pm_suggestion {
    enum pm_suggestion_kind kind;
    double cycles; /* of the loop's own that it is about: at most so many are gained */
    const struct pm_carried_row *pattern; /* of the first six: the one with most; else NULL */
    uint32_t group; /* of PM_TRY_PAD, PM_TRY_SPLIT: the one with most; else PM_NONE */
};

struct pm_suggestions {
    PM_ARRAY(struct pm_suggestion, list); /* what is about most cycles first; owned */
};

/* By the rule of MIAMI: reuse that one iteration of its carrier holds asks for fusing the two
   loops, reuse across iterations for interchanging the carrier inwards, or for tiling a loop in it
   and moving the tile loop out (Marin & Mellor-Crummey, ISPASS 2008, table 1).  Whether dependences
   allow it is not looked at.  CARRIED (NULL: not measured) has the rows of the whole program, which
   must outlive the result.  SELF, GAINS: of the own code of SCOPE.  Small ones are left out. */
void pm_suggest(const struct pm_structure *structure, uint32_t scope,
                const struct pm_machine *machine, const struct pm_cost_sum *self,
                const double gains[PM_N_CAUSES], const struct pm_loop_groups *groups,
                const struct pm_carried_rows *carried, struct pm_suggestions *suggestions);

#endif
