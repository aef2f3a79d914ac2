/* The walk that finds what carries each reuse, for AVX2. */
#include "runtime/reuse/stack_top_avx2.h"

#define PM_CARRIED_WALK pm_carried_walk_avx2
#include "runtime/reuse/carried_reuse/carried_walk.h"
