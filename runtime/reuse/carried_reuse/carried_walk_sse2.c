/* The walk that finds what carries each reuse, for any x86-64. */
#include "runtime/reuse/stack_top_sse2.h"

#define PM_CARRIED_WALK pm_carried_walk_sse2
#include "runtime/reuse/carried_reuse/carried_walk.h"
