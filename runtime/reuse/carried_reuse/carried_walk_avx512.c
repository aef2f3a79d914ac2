/* The walk that finds what carries each reuse, for AVX-512. */
#include "runtime/reuse/stack_top_avx512.h"

#define PM_CARRIED_WALK pm_carried_walk_avx512
#include "runtime/reuse/carried_reuse/carried_walk.h"
