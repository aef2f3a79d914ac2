/* The walk over records of bundles where some blocks are sampled, for AVX-512. */
#include "runtime/reuse/front_avx512.h"

#include <string.h>

#include "runtime/reuse/bundles/sampled.h"

enum { LANES = 16 };
typedef uint32_t lanes __attribute__((vector_size(64)));

struct narrow {
    __m512i lanes;
};

static inline __m256i narrow_half(const uint64_t *words, unsigned shift) {
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    return _mm512_cvtepi64_epi32(_mm512_srl_epi64(_mm512_loadu_si512(words), by));
}

static inline struct narrow narrow(const uint64_t *words, unsigned shift, bool is_long) {
    __m512i row = _mm512_zextsi256_si512(narrow_half(words, shift));
    return (struct narrow){is_long ? _mm512_inserti64x4(row, narrow_half(words + 8, shift), 1)
                                   : row};
}

static inline lanes pick(struct narrow from, const uint32_t *index, bool is_long) {
    (void)is_long;
    return (lanes)_mm512_permutexvar_epi32(_mm512_load_si512(index), from.lanes);
}

static inline lanes lanes_at(const uint32_t *from) { return (lanes)_mm512_load_si512(from); }

static inline uint32_t not_above(lanes values, uint32_t bound) {
    return _mm512_cmple_epu32_mask((__m512i)values, _mm512_set1_epi32((int)bound));
}

static inline lanes below(lanes values, lanes bounds) {
    return (lanes)_mm512_movm_epi32(_mm512_cmplt_epu32_mask((__m512i)values, (__m512i)bounds));
}

static inline bool unaligned(struct narrow addresses, const uint32_t *mask, const uint32_t *value,
                             bool is_long) {
    (void)is_long;
    return _mm512_cmpneq_epi32_mask(
        _mm512_and_si512(addresses.lanes, _mm512_load_si512(mask)), _mm512_load_si512(value));
}

#define PM_SAMPLED_WALK pm_sampled_walk_avx512
#include "runtime/reuse/bundles/walk_sampled.h"
