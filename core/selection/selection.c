/* What of the runs is looked at; see selection.h. */
#include "core/selection/selection.h"

bool pm_selection_has_ranks(const struct pm_selection *selection) {
    return selection->role != PM_NONE || selection->group != PM_NONE;
}

bool pm_selection_is_all(const struct pm_selection *selection) {
    return !pm_selection_has_ranks(selection) && selection->kind == PM_NONE;
}
