/* The front of the reuse distance analysis in memory, for any x86-64; reuse_touch.h says what such
   a header defines.  The first of a file: all that follows is compiled for this extension. */
#ifndef PM_RUNTIME_REUSE_FRONT_SSE2_H
#define PM_RUNTIME_REUSE_FRONT_SSE2_H

#include <emmintrin.h>
#include <stdint.h>
#include <string.h>

struct front {
    uint64_t places[16] __attribute__((aligned(16)));
};

static inline struct front front_load(const uint64_t *from) {
    struct front front;
    memcpy(front.places, from, sizeof front.places);
    return front;
}

static inline void front_store(const struct front *front, uint64_t *to) {
    memcpy(to, front->places, sizeof front->places);
}

/* SSE2 compares 32 bits at most: both halves of a lane must be equal. */
static inline unsigned front_place(const struct front *front, uint64_t block) {
    __m128i wanted = _mm_set1_epi64x((long long)block);
    uint32_t found = 0;
    for (unsigned i = 0; i < 8; i++) {
        __m128i lanes = _mm_load_si128((const __m128i *)front->places + i);
        __m128i equal = _mm_cmpeq_epi32(lanes, wanted);
        equal = _mm_and_si128(equal, _mm_shuffle_epi32(equal, 0xb1));
        found |= (uint32_t)_mm_movemask_pd(_mm_castsi128_pd(equal)) << (2 * i);
    }
    return found ? (unsigned)__builtin_ctz(found) : 16;
}

static inline unsigned front_touch(struct front *front, uint64_t block, uint64_t *evicted) {
    unsigned place = front_place(front, block);
    *evicted = front->places[15];
    if (place == 16)
        memmove(front->places + 1, front->places, 15 * sizeof *front->places);
    else
        for (unsigned i = place; i > 0; i--)
            front->places[i] = front->places[i - 1];
    front->places[0] = block;
    return place;
}

#endif
