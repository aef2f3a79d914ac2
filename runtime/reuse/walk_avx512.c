/* The walk of the reuse distance analysis for AVX-512. */
#include "runtime/reuse/stack_top_avx512.h"

#define PM_REUSE_WALK pm_reuse_walk_avx512
#include "runtime/reuse/walk.h"
