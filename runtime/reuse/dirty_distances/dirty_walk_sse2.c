/* The walk that finds dirty distances, for any x86-64. */
#include "runtime/reuse/stack_top_sse2.h"

#define PM_WRITE_BACKS_WALK pm_write_backs_walk_sse2
#include "runtime/reuse/dirty_distances/dirty_walk.h"
