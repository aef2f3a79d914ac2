/* The walk that finds dirty distances, for AVX-512. */
#include "runtime/reuse/stack_top_avx512.h"

#define PM_WRITE_BACKS_WALK pm_write_backs_walk_avx512
#include "runtime/reuse/dirty_distances/dirty_walk.h"
