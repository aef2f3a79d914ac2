/* The walk of the reuse distance analysis for AVX2. */
#include "runtime/reuse/stack_top_avx2.h"

#define PM_REUSE_WALK pm_reuse_walk_avx2
#include "runtime/reuse/walk.h"
