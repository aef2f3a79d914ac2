/* The walk over address records for AVX2. */
#pragma GCC target("avx2,bmi,popcnt")
#include <immintrin.h>

#include "runtime/profiler/profiler_state.h"

static inline __m256i lanes_at(const uint64_t *words) {
    return _mm256_loadu_si256((const __m256i *)(const void *)words);
}

static inline bool words_moved_otherwise(const uint64_t *words,
                                         const struct pm_profiler_record *record) {
    uint32_t differs = 0;
    for (uint32_t i = 0; i < record->n_words; i += 4) {
        const __m256i moved = _mm256_sub_epi64(lanes_at(words + i), lanes_at(record->previous + i));
        const __m256i equal = _mm256_cmpeq_epi64(moved, lanes_at(record->delta + i));
        differs |= ((uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(equal)) ^ 0xf) << i;
    }
    return (differs & record->words_mask) != 0;
}

/* Words behind the record's have no meaning. */
static inline void keep_words(const uint64_t *words, struct pm_profiler_record *record) {
    for (uint32_t i = 0; i < record->n_words; i += 4)
        _mm256_store_si256((__m256i *)(void *)(record->previous + i), lanes_at(words + i));
}

static inline uint64_t nearest(const uint64_t *addresses, uint32_t n, uint64_t address) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i wanted = _mm256_set1_epi64x((long long)address);
    __m256i least = _mm256_set1_epi64x(INT64_MAX);
    uint64_t lanes[4] __attribute__((aligned(32))), distance = INT64_MAX;
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const __m256i apart = _mm256_sub_epi64(wanted, lanes_at(addresses + i));
        const __m256i sign = _mm256_cmpgt_epi64(zero, apart);
        const __m256i size = _mm256_sub_epi64(_mm256_xor_si256(apart, sign), sign);
        least = _mm256_blendv_epi8(least, size, _mm256_cmpgt_epi64(least, size));
    }
    _mm256_store_si256((__m256i *)(void *)lanes, least);
    for (unsigned k = 0; k < 4; k++)
        distance = lanes[k] < distance ? lanes[k] : distance;
    for (; i < n; i++) {
        const int64_t apart = (int64_t)(address - addresses[i]);
        const uint64_t size = apart < 0 ? -(uint64_t)apart : (uint64_t)apart;
        distance = size < distance ? size : distance;
    }
    return distance;
}

#include "runtime/profiler/profiler_rows.h"

#define PM_PROFILE_WALK pm_profiler_walk_avx2
#define PM_PROFILE_TOUCH pm_profiler_touch_avx2
#include "runtime/profiler/profiler_walk.h"
