/* What ranks do at a size, or on a number of ranks, that never ran, from runs that were.

   Position.  Ranks stand in a grid of one or more extents whose product is their number, the last
   coordinate counting fastest, as MPI_Cart_create numbers them.  Along each extent a rank is first,
   last, between them, or alone.  Ranks of one position do the same, whatever the size: the same
   sequence of events, in loops of the same structure.  What differs from run to run, how often
   loops go round, bytes of messages, and seconds of intervals, becomes a function of the parameters
   (fit/fit.h).  A partner is so many steps away along each extent, or the first or last along it; a
   root is the first or last.  Where the runs allow for both, who is next to a rank is its
   neighbour, and who is further away the end. */
#ifndef PM_REPLAY_SIZES_H
#define PM_REPLAY_SIZES_H

#include "core/model.h"
#include "core/parameters.h"
#include "sched/replay/replay.h"

/* A run that was measured, or what comes out. */
struct pm_traced_run {
    struct pm_parameters at;
    struct pm_communication *communication; /* owned, and so on */
    struct pm_ranks ranks;
    struct pm_interval_times times;
};
void pm_traced_run_free(struct pm_traced_run *run); /* what it owns */

/* Names of the parameters that are the extents of the grid. */
struct pm_rank_grid {
    const char *names[PM_MAX_PARAMETERS];
    size_t n;
};

/* Fills TO, whose `at` is given, from RUNS, with models in the parameters that MODELS are in (NULL:
   in those that tell runs apart).  Errors: the extents do not make up the ranks of a run, no run
   has ranks at a position that there is at the size; ranks of a position do otherwise than the same
   structure, or their partners follow no such rule; too few runs for models. */
bool pm_extrapolate_run(const struct pm_traced_run *runs, size_t n_runs,
                        const struct pm_rank_grid *grid, const struct pm_model_set *models,
                        struct pm_traced_run *to, struct pm_error *err);

#endif
