/* The walk over address records for AVX2. */
#include "runtime/reuse/stack_top_avx2.h"

#include "runtime/reuse/address_records/record_rows.h"

/* Bit i: lane i of VALUES is not below that of BOUNDS, unsigned. */
static inline uint32_t not_below(__m256i values, __m256i bounds) {
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
    __m256i below =
        _mm256_cmpgt_epi64(_mm256_xor_si256(bounds, sign), _mm256_xor_si256(values, sign));
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(below)) ^ 0xf;
}

static inline __m256i lanes_at(const uint64_t *words) {
    return _mm256_loadu_si256((const __m256i *)(const void *)words);
}

static inline uint32_t words_outside(const uint64_t *words, const struct pm_record_state *state) {
    uint32_t outside = 0;
    for (unsigned i = 0; i < state->n_words; i += 4)
        outside |= not_below(_mm256_sub_epi64(lanes_at(words + i), lanes_at(state->low + i)),
                             lanes_at(state->length + i))
                   << i;
    return outside & state->words;
}

#define PM_RECORD_WALK pm_record_walk_avx2
#include "runtime/reuse/address_records/record_walk.h"

#define PM_CARRIED_RECORD_WALK pm_carried_record_walk_avx2
#include "runtime/reuse/address_records/carried_record_walk.h"
