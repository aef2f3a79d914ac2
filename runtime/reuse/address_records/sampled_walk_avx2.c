/* The walk over address records where some blocks are sampled, for AVX2. */
#include "runtime/reuse/stack_top_avx2.h"

#include <string.h>

#include "runtime/reuse/address_records/sampled_records.h"

enum { LANES = 8 };
typedef uint32_t lanes __attribute__((vector_size(32)));

struct narrow {
    __m256i low, high;
};

static inline __m256i row_at(const void *from) { return _mm256_loadu_si256(from); }

static inline __m256i narrow_half(const uint64_t *words, __m128i by) {
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    __m256i low = _mm256_permutevar8x32_epi32(_mm256_srl_epi64(row_at(words), by), even);
    __m256i high = _mm256_permutevar8x32_epi32(_mm256_srl_epi64(row_at(words + 4), by), even);
    return _mm256_blend_epi32(low, high, 0xf0);
}

static inline struct narrow narrow(const uint64_t *words, unsigned shift, bool is_long) {
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    return (struct narrow){narrow_half(words, by),
                           is_long ? narrow_half(words + 8, by) : _mm256_setzero_si256()};
}

static inline lanes pick(struct narrow from, const uint32_t *index, bool is_long) {
    __m256i at = row_at(index), picked = _mm256_permutevar8x32_epi32(from.low, at);
    if (is_long) {
        __m256i above = _mm256_permutevar8x32_epi32(from.high, at);
        picked = _mm256_blendv_epi8(picked, above, _mm256_cmpgt_epi32(at, _mm256_set1_epi32(7)));
    }
    return (lanes)picked;
}

static inline lanes lanes_at(const uint32_t *from) { return (lanes)row_at(from); }

static inline uint32_t not_above(lanes values, uint32_t bound) {
    __m256i bounds = _mm256_set1_epi32((int)bound);
    __m256i is = _mm256_cmpeq_epi32(_mm256_max_epu32((__m256i)values, bounds), bounds);
    return (uint32_t)_mm256_movemask_ps((__m256)is);
}

static inline lanes below(lanes values, lanes bounds) { return (lanes)(values < bounds); }

static inline bool unaligned(const uint64_t *words, const uint64_t *mask, const uint64_t *value,
                             bool is_long) {
    __m256i differs = _mm256_setzero_si256();
    for (unsigned i = 0; i < (is_long ? 16 : 8); i += 4)
        differs = _mm256_or_si256(
            differs, _mm256_and_si256(_mm256_xor_si256(row_at(words + i), row_at(value + i)),
                                      row_at(mask + i)));
    return !_mm256_testz_si256(differs, differs);
}

#define PM_SAMPLED_WALK pm_sampled_walk_avx2
#include "runtime/reuse/address_records/sampled_walk.h"
