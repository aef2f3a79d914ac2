/* The mapping stage: structure + profile + machine → cycles by cause, for every scope. */
#ifndef PM_SCHED_H
#define PM_SCHED_H

#include "core/machine/machine.h"
#include "core/base/base.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/structure/structure.h"

enum pm_unknown_dependences {
    PM_DEPS_OPTIMISTIC = 0, /* the references are independent */
    PM_DEPS_PESSIMISTIC,    /* each iteration waits for what the one before stored */
};

/* Predicts (Marin & Mellor-Crummey 2004, sections 2.4 and 3.2): for each innermost-first loop the
   schedule length of an iteration as the larger of its resource bound and its recurrence bound,
   times iterations; misses of every level from the histograms of its block size and the strides
   (fit/sets/); cycles = schedule + Σ misses · penalty · exposed.
   DEPENDENCES decides dependences through memory that nobody knows.
   Of a profile without any reuse distances misses are not known, and times are of the schedule.
   Error: a level's block size was not measured, others were. */
struct pm_prediction *pm_predict(const struct pm_structure *structure,
                                 const struct pm_profile *profile, const struct pm_machine *machine,
                                 enum pm_unknown_dependences dependences, struct pm_error *err);

/* True if PROFILE has the block sizes of all levels; else the sentence names those that it lacks.
 */
bool pm_check_block_sizes(const struct pm_profile *profile, const struct pm_machine *machine,
                          struct pm_error *err);

/* Adds a sentence that qualifies the prediction. */
void pm_prediction_note(struct pm_prediction *prediction, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- frequencies, and the most frequent path of a loop (frequencies.c, path.c) ----------------
 */

struct pm_frequencies {
    const struct pm_structure *structure;
    const double *edges;     /* of the profile */
    double *blocks;          /* executions of each basic block */
    struct pm_lists out;     /* of each basic block: the edges that leave it */
    struct pm_lists regions; /* of each loop, and each routine outside its loops, by scope: the
                                basic blocks, in order of address */
};

/* EDGE_COUNTS (n_edges values) is kept.  Freed by pm_frequencies_free. */
void pm_frequencies_make(const struct pm_structure *structure, const double *edge_counts,
                         struct pm_frequencies *frequencies);
void pm_frequencies_free(struct pm_frequencies *frequencies);

/* The most frequent way from the header of LOOP back to it (PATH has room for all its routine's
   blocks and loops); 0 steps if it never comes back. */
size_t pm_hot_path(const struct pm_frequencies *frequencies, uint32_t loop,
                   struct pm_path_step *path);

#endif
