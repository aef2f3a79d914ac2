/* The walk of the analyses of larger blocks for AVX2. */
#include "runtime/reuse/stack_top_avx2.h"

static inline __m256i set_lane(__m256i lanes, const uint64_t *lane, uint64_t block) {
    return _mm256_blendv_epi8(lanes, _mm256_set1_epi64x((long long)block),
                              _mm256_loadu_si256((const __m256i *)lane));
}

static inline void stack_top_set(struct stack_top *stack_top, unsigned place, uint64_t block) {
    static const uint64_t one_lane[31] = {[15] = UINT64_MAX};
    const uint64_t *lane = &one_lane[15 - place];
    stack_top->p0 = set_lane(stack_top->p0, lane, block);
    stack_top->p4 = set_lane(stack_top->p4, lane + 4, block);
    stack_top->p8 = set_lane(stack_top->p8, lane + 8, block);
    stack_top->p12 = set_lane(stack_top->p12, lane + 12, block);
}

#define PM_LARGER_WALK pm_larger_walk_avx2
#include "runtime/reuse/larger/larger_walk.h"
