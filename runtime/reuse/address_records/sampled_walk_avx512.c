/* The walk over address records where some blocks are sampled, for AVX-512. */
#include "runtime/reuse/stack_top_avx512.h"

#include <string.h>

#include "runtime/reuse/address_records/sampled_records.h"

/* Vectors of 8, which three ports take and not two; few address records have more candidates. */
enum { LANES = 8 };
typedef uint32_t lanes __attribute__((vector_size(32)));

struct narrow {
    __m256i low, high;
};

static inline __m256i narrow_half(const uint64_t *words, unsigned shift) {
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    return _mm512_cvtepi64_epi32(_mm512_srl_epi64(_mm512_loadu_si512(words), by));
}

static inline struct narrow narrow(const uint64_t *words, unsigned shift, bool is_long) {
    return (struct narrow){narrow_half(words, shift),
                           is_long ? narrow_half(words + 8, shift) : _mm256_setzero_si256()};
}

static inline __m256i row_at(const uint32_t *from) {
    return _mm256_load_si256((const __m256i *)(const void *)from);
}

static inline lanes pick(struct narrow from, const uint32_t *index, bool is_long) {
    return (lanes)(is_long ? _mm256_permutex2var_epi32(from.low, row_at(index), from.high)
                           : _mm256_permutexvar_epi32(row_at(index), from.low));
}

static inline lanes lanes_at(const uint32_t *from) { return (lanes)row_at(from); }

static inline uint32_t not_above(lanes values, uint32_t bound) {
    return _mm256_cmple_epu32_mask((__m256i)values, _mm256_set1_epi32((int)bound));
}

static inline lanes below(lanes values, lanes bounds) {
    return (lanes)_mm256_movm_epi32(_mm256_cmplt_epu32_mask((__m256i)values, (__m256i)bounds));
}

static inline uint32_t half_unaligned(const uint64_t *words, const uint64_t *mask,
                                      const uint64_t *value) {
    __m512i differs = _mm512_xor_si512(_mm512_loadu_si512(words), _mm512_load_si512(value));
    return _mm512_test_epi64_mask(differs, _mm512_load_si512(mask));
}

static inline bool unaligned(const uint64_t *words, const uint64_t *mask, const uint64_t *value,
                             bool is_long) {
    return half_unaligned(words, mask, value) ||
           (is_long && half_unaligned(words + 8, mask + 8, value + 8));
}

#define PM_SAMPLED_WALK pm_sampled_walk_avx512
#include "runtime/reuse/address_records/sampled_walk.h"
