/* What the files of this folder share. */
#ifndef PM_REPLAY_SIZES_PRIVATE_H
#define PM_REPLAY_SIZES_PRIVATE_H

#include "sched/replay/sizes/sizes.h"

/* ---- positions.c ----------------------------------------------------------------------------- */

enum pm_place { PM_PLACE_ALONE, PM_PLACE_FIRST, PM_PLACE_LAST, PM_PLACE_BETWEEN };

/* The grid of one size. */
struct pm_extents {
    size_t n;
    int32_t extents[PM_MAX_PARAMETERS];
    int32_t n_ranks;
};
bool pm_extents_at(const struct pm_rank_grid *grid, const struct pm_parameters *at,
                   struct pm_extents *extents, struct pm_error *err);
void pm_coordinates(const struct pm_extents *extents, int32_t rank, int32_t *coordinates);
/* A number for the places along all extents: enum pm_place in base 4. */
unsigned pm_position(const struct pm_extents *extents, int32_t rank);
/* "first along px, between along py"; owned by the caller. */
char *pm_position_text(const struct pm_rank_grid *grid, unsigned position);

/* How a partner is found, for each extent; what is not excluded by any run. */
struct pm_partner_rule {
    struct {
        bool steps, first, last; /* still possible */
        int32_t n_steps;
    } along[PM_MAX_PARAMETERS];
    bool is_known; /* a run has said something */
};
/* Excludes what RANK's partner PARTNER in a run does not go with. */
void pm_partner_learn(struct pm_partner_rule *rule, const struct pm_extents *extents, int32_t rank,
                      int32_t partner);
/* The same of ROOT, which is one rank for all and so at no distance from any. */
void pm_root_learn(struct pm_partner_rule *rule, const struct pm_extents *extents, int32_t root);
/* The partner of RANK; -1: there is no rule, or it leads out of the grid.  Of what is still
   possible, a neighbour comes first, then the ends, then more steps. */
int32_t pm_partner_of(const struct pm_partner_rule *rule, const struct pm_extents *extents,
                      int32_t rank);

#endif
