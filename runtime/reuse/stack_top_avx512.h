/* The stack top of the reuse distance analysis in two AVX-512 registers; touch.h says what such
   a header defines.  The first of a file: all that follows is compiled for this extension. */
#ifndef PM_RUNTIME_REUSE_STACK_TOP_AVX512_H
#define PM_RUNTIME_REUSE_STACK_TOP_AVX512_H

#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,bmi,bmi2,popcnt,lzcnt")
#include <immintrin.h>
#include <stdint.h>

struct stack_top {
    __m512i recent, older; /* places 0–7, 8–15 */
};

static inline struct stack_top stack_top_load(const uint64_t *from) {
    return (struct stack_top){_mm512_load_si512(from), _mm512_load_si512(from + 8)};
}

static inline void stack_top_store(const struct stack_top *stack_top, uint64_t *to) {
    _mm512_store_si512(to, stack_top->recent);
    _mm512_store_si512(to + 8, stack_top->older);
}

static inline uint32_t stack_top_find(const struct stack_top *stack_top, uint64_t block) {
    __m512i wanted = _mm512_set1_epi64((long long)block);
    return _mm512_cmpeq_epi64_mask(stack_top->recent, wanted) |
           (uint32_t)_mm512_cmpeq_epi64_mask(stack_top->older, wanted) << 8;
}

/* Places 0…p move up by one, where p is the block's place: m ^ (m − 1) sets just these
   bits. */
static inline unsigned stack_top_touch(struct stack_top *stack_top, uint64_t block,
                                       uint64_t *evicted) {
    __m512i wanted = _mm512_set1_epi64((long long)block);
    uint32_t found = stack_top_find(stack_top, block);
    __m128i last = _mm512_extracti64x2_epi64(stack_top->older, 3);
    *evicted = (uint64_t)_mm_extract_epi64(last, 1);
    if (!found) { /* moving need not wait for the comparison */
        stack_top->older = _mm512_alignr_epi64(stack_top->older, stack_top->recent, 7);
        stack_top->recent = _mm512_alignr_epi64(stack_top->recent, wanted, 7);
        return 16;
    }
    uint32_t moving = found ^ (found - 1);
    stack_top->older = _mm512_mask_alignr_epi64(stack_top->older, (__mmask8)(moving >> 8),
                                                stack_top->older, stack_top->recent, 7);
    stack_top->recent =
        _mm512_mask_alignr_epi64(stack_top->recent, (__mmask8)moving, stack_top->recent, wanted, 7);
    return (unsigned)_tzcnt_u32(found);
}

#endif
