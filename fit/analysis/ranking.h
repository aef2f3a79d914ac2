/* Machines ranked by the predicted times of several programs, and whether the ranking survives the
   intervals of these, for `pmodel compare`. */
#ifndef PM_RANKING_H
#define PM_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"

struct pm_ranking_request {
    size_t n_programs, n_machines;
    const double *weights;             /* of the programs, above 0 */
    const struct pm_estimate *seconds; /* [program · n_machines + machine] */
    bool geometric; /* the weighted geometric mean of times over that of the machine that is fastest
                       for the program; else the weighted sum of times, in seconds */
};

struct pm_ranked_machine {
    size_t machine;
    struct pm_estimate score;
    double by_best;                 /* score over the best machine's */
    uint32_t best_rank, worst_rank; /* from 1: that its interval and the others' allow */
};

/* The machines (n_machines), best first.  Intervals are taken to be independent of each other, so
   that two machines are told apart only if theirs do not overlap. */
void pm_rank_machines(const struct pm_ranking_request *request, struct pm_ranked_machine *ranked);

/* Does every machine have one rank only? */
bool pm_ranking_survives(const struct pm_ranked_machine *ranked, size_t n);

#endif
