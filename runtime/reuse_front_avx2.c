/* The front of the reuse distance analysis in four AVX2 registers. */
#pragma GCC target("avx2,bmi,popcnt")
#include <immintrin.h>
#include <stdint.h>

struct front {
    __m256i places[4]; /* 0–3, 4–7, 8–11, 12–15 */
};

static inline struct front front_load(const uint64_t *from) {
    struct front front;
    for (unsigned i = 0; i < 4; i++)
        front.places[i] = _mm256_load_si256((const __m256i *)from + i);
    return front;
}

static inline void front_store(const struct front *front, uint64_t *to) {
    for (unsigned i = 0; i < 4; i++)
        _mm256_store_si256((__m256i *)to + i, front->places[i]);
}

/* &moving_lanes[15 − p]: lanes 0…p all ones, the others zero. */
static const uint64_t moving_lanes[32] = {[0 ... 15] = UINT64_MAX};

/* The bit of each place that holds BLOCK.  Four movemasks and shifts take half as long as packing
   sixteen lanes into one register, and everything waits for this. */
static inline uint32_t front_find(const struct front *front, __m256i wanted) {
    uint32_t found[4];
    for (unsigned i = 0; i < 4; i++) {
        __m256i equal = _mm256_cmpeq_epi64(front->places[i], wanted);
        found[i] = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(equal));
    }
    return (found[0] | found[1] << 4) | (found[2] << 8 | found[3] << 12);
}

static inline unsigned front_touch(struct front *front, uint64_t block, uint64_t *evicted) {
    __m256i wanted = _mm256_set1_epi64x((long long)block);
    uint32_t found = front_find(front, wanted);
    *evicted = (uint64_t)_mm256_extract_epi64(front->places[3], 3);
    /* Without a place all sixteen move, as from place 15. */
    const uint64_t *moving = &moving_lanes[15 - __builtin_ctz(found | 1u << 15)];
    __m256i before = wanted; /* its last lane is the one that moves into the next register */
    for (unsigned i = 0; i < 4; i++) {
        __m256i old = front->places[i];
        __m256i rotated = _mm256_permute4x64_epi64(old, 0x93);
        __m256i carried = _mm256_permute4x64_epi64(before, 0x93);
        __m256i moved = _mm256_blend_epi32(rotated, carried, 3);
        __m256i mask = _mm256_loadu_si256((const __m256i *)(moving + 4 * i));
        front->places[i] = _mm256_blendv_epi8(old, moved, mask);
        before = old;
    }
    return (unsigned)__builtin_ctz(found | 1u << 16);
}

#define PM_REUSE_WALK pm_reuse_walk_avx2
#include "runtime/reuse_walk.h"
