/* A process and what it started, as far as the system still knows who started whom. */
#ifndef PM_LAUNCH_DESCENDANTS_H
#define PM_LAUNCH_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/base/base.h"

struct pm_descendants {
    PM_ARRAY(pid_t, ids); /* the process first; owned */
};

/* Adds the process ROOT and its descendants that are not there yet. */
void pm_descendants_find(struct pm_descendants *all, pid_t root);

/* Sends all of them a signal. */
void pm_descendants_signal(const struct pm_descendants *all, int number);

/* Is one of them alive, zombies left out? */
bool pm_descendants_live(const struct pm_descendants *all);

void pm_descendants_free(struct pm_descendants *all);

#endif
