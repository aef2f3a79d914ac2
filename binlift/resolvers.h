/* Routines that run while modules are being relocated; see resolvers.c.  Private to binlift/. */
#ifndef PM_RESOLVERS_H
#define PM_RESOLVERS_H

#include "binlift/lifted.h"

/* For each routine whether it is a resolver of an indirect function or is called by one; the caller
   frees. */
bool *pm_find_resolvers(const struct pm_lifted *lifted);

#endif
