/* The walk of the analyses of larger blocks for AVX-512. */
#include "runtime/reuse/stack_top_avx512.h"

static inline void stack_top_set(struct stack_top *stack_top, unsigned place, uint64_t block) {
    __m512i blocks = _mm512_set1_epi64((long long)block);
    uint32_t lane = 1u << place;
    stack_top->recent = _mm512_mask_mov_epi64(stack_top->recent, (__mmask8)lane, blocks);
    stack_top->older = _mm512_mask_mov_epi64(stack_top->older, (__mmask8)(lane >> 8), blocks);
}

#define PM_LARGER_WALK pm_larger_walk_avx512
#include "runtime/reuse/larger/larger_walk.h"
