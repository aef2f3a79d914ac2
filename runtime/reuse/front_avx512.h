/* The front of the reuse distance analysis in two AVX-512 registers; touch.h says what such
   a header defines.  The first of a file: all that follows is compiled for this extension. */
#ifndef PM_RUNTIME_REUSE_FRONT_AVX512_H
#define PM_RUNTIME_REUSE_FRONT_AVX512_H

#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,bmi,bmi2,popcnt,lzcnt")
#include <immintrin.h>
#include <stdint.h>

struct front {
    __m512i recent, older; /* places 0–7, 8–15 */
};

static inline struct front front_load(const uint64_t *from) {
    return (struct front){_mm512_load_si512(from), _mm512_load_si512(from + 8)};
}

static inline void front_store(const struct front *front, uint64_t *to) {
    _mm512_store_si512(to, front->recent);
    _mm512_store_si512(to + 8, front->older);
}

static inline uint32_t front_find(const struct front *front, uint64_t block) {
    __m512i wanted = _mm512_set1_epi64((long long)block);
    return _mm512_cmpeq_epi64_mask(front->recent, wanted) |
           (uint32_t)_mm512_cmpeq_epi64_mask(front->older, wanted) << 8;
}

/* Places 0…p move up by one, where p is the block's place: m ^ (m − 1) sets just these
   bits. */
static inline unsigned front_touch(struct front *front, uint64_t block, uint64_t *evicted) {
    __m512i wanted = _mm512_set1_epi64((long long)block);
    uint32_t found = front_find(front, block);
    __m128i last = _mm512_extracti64x2_epi64(front->older, 3);
    *evicted = (uint64_t)_mm_extract_epi64(last, 1);
    if (!found) { /* moving need not wait for the comparison */
        front->older = _mm512_alignr_epi64(front->older, front->recent, 7);
        front->recent = _mm512_alignr_epi64(front->recent, wanted, 7);
        return 16;
    }
    uint32_t moving = found ^ (found - 1);
    front->older = _mm512_mask_alignr_epi64(front->older, (__mmask8)(moving >> 8), front->older,
                                            front->recent, 7);
    front->recent =
        _mm512_mask_alignr_epi64(front->recent, (__mmask8)moving, front->recent, wanted, 7);
    return (unsigned)_tzcnt_u32(found);
}

#endif
