/* Paths through a loop, or through a routine outside its loops, with frequencies that add up to the
   edge counts (Marin & Mellor-Crummey 2004, section 2.4).

   Edge counts do not tell which ways through several branches go together.  Assumed is that the
   frequent go with the frequent: the path whose rarest edge is most frequent is taken as often as
   that edge, and what is left is divided in the same way (widest path first).  Where only one
   branch lies between two points that all paths pass, nothing is assumed.  An inner loop is a step;
   no basic block is in paths of two regions. */
#ifndef PM_PATHS_H
#define PM_PATHS_H

#include "core/structure/structure.h"

struct pm_frequencies; /* sched/sched.h */

struct pm_path {
    uint32_t first_step, n_steps;
    double executions;
    bool returns; /* it ends with the way back to the loop's header; else it leaves the region */
};

struct pm_paths {
    PM_ARRAY(struct pm_path, items); /* most frequent first */
    PM_ARRAY(struct pm_path_step, steps);
    bool is_assumed;        /* edge counts leave open which ways go together */
    double left_executions; /* of edges that no path covers: more than MOST_PATHS paths, or counts
                               that do not add up */
};

/* REGION: a loop, or a routine for its code outside loops.  PATHS is emptied and filled. */
void pm_paths_of_region(const struct pm_frequencies *frequencies, uint32_t region,
                        struct pm_paths *paths);
void pm_paths_free(struct pm_paths *paths);

#endif
