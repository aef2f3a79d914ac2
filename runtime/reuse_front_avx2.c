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

/* &moving[16 − p]: lanes 0…p all ones, the others zero. */
static const uint64_t moving_lanes[32] = {[0 ... 16] = UINT64_MAX};

static inline unsigned front_touch(struct front *front, uint64_t block, uint64_t *evicted) {
    __m256i wanted = _mm256_set1_epi64x((long long)block);
    __m256i equal[4];
    for (unsigned i = 0; i < 4; i++)
        equal[i] = _mm256_cmpeq_epi64(front->places[i], wanted);
    /* Sixteen lanes of 64 bits to sixteen bytes; packing works in halves, which the order of the
       arguments and one permutation make good. */
    __m256i low = _mm256_packs_epi32(equal[0], equal[1]);
    __m256i high = _mm256_packs_epi32(equal[2], equal[3]);
    low = _mm256_permute4x64_epi64(low, 0xd8);
    high = _mm256_permute4x64_epi64(high, 0xd8);
    __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8);
    uint32_t found = (uint32_t)_mm256_movemask_epi8(bytes); /* two bits a place */
    unsigned place = found ? (unsigned)__builtin_ctz(found) / 2 : 16;
    *evicted = (uint64_t)_mm256_extract_epi64(front->places[3], 3);

    const uint64_t *moving = &moving_lanes[16 - (place < 16 ? place : 15)];
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
    return place;
}

#define PM_REUSE_WALK pm_reuse_walk_avx2
#include "runtime/reuse_walk.h"
