/* Ranks in their grid, and partners as seen from there. */
#include <inttypes.h>
#include <stdlib.h>

#include "sched/replay/sizes/private.h"

bool pm_extents_at(const struct pm_rank_grid *grid, const struct pm_parameters *at,
                   struct pm_extents *extents, struct pm_error *err) {
    *extents = (struct pm_extents){.n = grid->n, .n_ranks = 1};
    for (size_t i = 0; i < grid->n; i++) {
        double value;
        if (!pm_parameters_get(at, grid->names[i], &value) || value < 1 || value > INT32_MAX) {
            char *text = pm_parameters_text(at);
            pm_fail(err, "at %s no number of ranks along %s is given", text, grid->names[i]);
            free(text);
            return false;
        }
        extents->extents[i] = (int32_t)value;
        extents->n_ranks *= (int32_t)value;
    }
    return true;
}

void pm_coordinates(const struct pm_extents *extents, int32_t rank, int32_t *coordinates) {
    for (size_t i = extents->n; i-- > 0; rank /= extents->extents[i])
        coordinates[i] = rank % extents->extents[i];
}

unsigned pm_position(const struct pm_extents *extents, int32_t rank) {
    int32_t at[PM_MAX_PARAMETERS];
    unsigned position = 0;
    pm_coordinates(extents, rank, at);
    for (size_t i = 0; i < extents->n; i++) {
        enum pm_place place = extents->extents[i] == 1           ? PM_PLACE_ALONE
                              : at[i] == 0                       ? PM_PLACE_FIRST
                              : at[i] == extents->extents[i] - 1 ? PM_PLACE_LAST
                                                                 : PM_PLACE_BETWEEN;
        position |= (unsigned)place << 2 * i;
    }
    return position;
}

char *pm_position_text(const struct pm_rank_grid *grid, unsigned position) {
    static const char *const words[] = {"alone", "first", "last", "between"};
    char *text = NULL;
    for (size_t i = 0; i < grid->n; i++)
        pm_append(&text, "%s%s along %s", i ? ", " : "", words[position >> 2 * i & 3],
                  grid->names[i]);
    return text;
}

void pm_partner_learn(struct pm_partner_rule *rule, const struct pm_extents *extents, int32_t rank,
                      int32_t partner) {
    int32_t own[PM_MAX_PARAMETERS], other[PM_MAX_PARAMETERS];
    pm_coordinates(extents, rank, own);
    pm_coordinates(extents, partner, other);
    for (size_t i = 0; i < extents->n; i++) {
        int32_t steps = other[i] - own[i];
        bool known = rule->is_known;
        rule->along[i].steps = !known || (rule->along[i].steps && rule->along[i].n_steps == steps);
        rule->along[i].first = (!known || rule->along[i].first) && other[i] == 0;
        rule->along[i].last =
            (!known || rule->along[i].last) && other[i] == extents->extents[i] - 1;
        if (!known)
            rule->along[i].n_steps = steps;
    }
    rule->is_known = true;
}

void pm_root_learn(struct pm_partner_rule *rule, const struct pm_extents *extents, int32_t root) {
    pm_partner_learn(rule, extents, root, root);
    for (size_t i = 0; i < extents->n; i++)
        rule->along[i].steps = false;
}

int32_t pm_partner_of(const struct pm_partner_rule *rule, const struct pm_extents *extents,
                      int32_t rank) {
    int32_t own[PM_MAX_PARAMETERS], partner = 0;
    pm_coordinates(extents, rank, own);
    for (size_t i = 0; i < extents->n; i++) {
        bool is_near = rule->along[i].steps && abs(rule->along[i].n_steps) <= 1;
        int32_t at = is_near                ? own[i] + rule->along[i].n_steps
                     : rule->along[i].first ? 0
                     : rule->along[i].last  ? extents->extents[i] - 1
                     : rule->along[i].steps ? own[i] + rule->along[i].n_steps
                                            : -1;
        if (at < 0 || at >= extents->extents[i])
            return -1;
        partner = partner * extents->extents[i] + at;
    }
    return partner;
}
