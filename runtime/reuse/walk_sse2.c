/* The walk of the reuse distance analysis for any x86-64. */
#include "runtime/reuse/stack_top_sse2.h"

#define PM_REUSE_WALK pm_reuse_walk_sse2
#include "runtime/reuse/walk.h"
