/* The walk of the analyses of larger blocks for any x86-64. */
#include "runtime/reuse/stack_top_sse2.h"

static inline __m128i set_lane(__m128i lanes, const uint64_t *lane, uint64_t block) {
    __m128i mask = _mm_loadu_si128((const __m128i *)lane);
    return _mm_or_si128(_mm_and_si128(mask, _mm_set1_epi64x((long long)block)),
                        _mm_andnot_si128(mask, lanes));
}

static inline void stack_top_set(struct stack_top *stack_top, unsigned place, uint64_t block) {
    static const uint64_t one_lane[31] = {[15] = UINT64_MAX};
    const uint64_t *lane = &one_lane[15 - place];
    stack_top->p0 = set_lane(stack_top->p0, lane, block);
    stack_top->p2 = set_lane(stack_top->p2, lane + 2, block);
    stack_top->p4 = set_lane(stack_top->p4, lane + 4, block);
    stack_top->p6 = set_lane(stack_top->p6, lane + 6, block);
    stack_top->p8 = set_lane(stack_top->p8, lane + 8, block);
    stack_top->p10 = set_lane(stack_top->p10, lane + 10, block);
    stack_top->p12 = set_lane(stack_top->p12, lane + 12, block);
    stack_top->p14 = set_lane(stack_top->p14, lane + 14, block);
}

#define PM_LARGER_WALK pm_larger_walk_sse2
#include "runtime/reuse/larger/larger_walk.h"
