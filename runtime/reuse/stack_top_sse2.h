/* The stack top of the reuse distance analysis in eight registers of any x86-64; touch.h says
   what such a header defines. */
#ifndef PM_RUNTIME_REUSE_STACK_TOP_SSE2_H
#define PM_RUNTIME_REUSE_STACK_TOP_SSE2_H

#include <emmintrin.h>
#include <stdint.h>

/* Two places each. */
struct stack_top {
    __m128i p0, p2, p4, p6, p8, p10, p12, p14;
};

static inline __m128i load_places(const uint64_t *from) {
    return _mm_load_si128((const __m128i *)from);
}

static inline struct stack_top stack_top_load(const uint64_t *from) {
    return (struct stack_top){load_places(from),      load_places(from + 2), load_places(from + 4),
                              load_places(from + 6),  load_places(from + 8), load_places(from + 10),
                              load_places(from + 12), load_places(from + 14)};
}

static inline void store_places(uint64_t *to, __m128i lanes) {
    _mm_store_si128((__m128i *)to, lanes);
}

static inline void stack_top_store(const struct stack_top *stack_top, uint64_t *to) {
    store_places(to, stack_top->p0);
    store_places(to + 2, stack_top->p2);
    store_places(to + 4, stack_top->p4);
    store_places(to + 6, stack_top->p6);
    store_places(to + 8, stack_top->p8);
    store_places(to + 10, stack_top->p10);
    store_places(to + 12, stack_top->p12);
    store_places(to + 14, stack_top->p14);
}

/* Two bits for each of eight places: its halves equal those of WANTED. */
static inline uint32_t equal_halves(__m128i a, __m128i b, __m128i c, __m128i d, __m128i wanted) {
    __m128i first = _mm_packs_epi32(_mm_cmpeq_epi32(a, wanted), _mm_cmpeq_epi32(b, wanted));
    __m128i second = _mm_packs_epi32(_mm_cmpeq_epi32(c, wanted), _mm_cmpeq_epi32(d, wanted));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(first, second));
}

/* SSE2 compares 32 bits at most: both halves of a place must be equal.  Bit 2i: place i is BLOCK.
 */
static inline uint32_t equal_places(const struct stack_top *stack_top, uint64_t block) {
    __m128i wanted = _mm_set1_epi64x((long long)block);
    uint32_t halves =
        equal_halves(stack_top->p0, stack_top->p2, stack_top->p4, stack_top->p6, wanted) |
        equal_halves(stack_top->p8, stack_top->p10, stack_top->p12, stack_top->p14, wanted) << 16;
    return halves & halves >> 1 & 0x55555555;
}

static inline unsigned stack_top_place(const struct stack_top *stack_top, uint64_t block) {
    uint32_t found = equal_places(stack_top, block);
    return found ? (unsigned)__builtin_ctz(found) / 2 : 16;
}

/* Every second bit, close together. */
static inline uint32_t stack_top_find(const struct stack_top *stack_top, uint64_t block) {
    uint32_t found = equal_places(stack_top, block);
    found = (found | found >> 1) & 0x33333333;
    found = (found | found >> 2) & 0x0f0f0f0f;
    found = (found | found >> 4) & 0x00ff00ff;
    return (found | found >> 8) & 0xffff;
}

/* LANES moved up by one place; the last lane of BEFORE comes in. */
static inline __m128i move_all_up(__m128i lanes, __m128i before) {
    return _mm_castpd_si128(_mm_shuffle_pd(_mm_castsi128_pd(before), _mm_castsi128_pd(lanes), 1));
}

/* &moving_lanes[15 − p]: lanes 0…p all ones, the others zero. */
static const uint64_t moving_lanes[32] = {[0 ... 15] = UINT64_MAX};

/* LANES moved up by one place where the mask at MOVING says so. */
static inline __m128i move_up(__m128i lanes, __m128i before, const uint64_t *moving) {
    __m128i mask = _mm_loadu_si128((const __m128i *)moving);
    return _mm_or_si128(_mm_and_si128(mask, move_all_up(lanes, before)),
                        _mm_andnot_si128(mask, lanes));
}

static inline unsigned stack_top_touch(struct stack_top *stack_top, uint64_t block,
                                       uint64_t *evicted) {
    unsigned place = stack_top_place(stack_top, block);
    __m128i wanted = _mm_set1_epi64x((long long)block);
    *evicted = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(stack_top->p14, stack_top->p14));
    if (place == 16) { /* moving need not wait for the comparison */
        stack_top->p14 = move_all_up(stack_top->p14, stack_top->p12);
        stack_top->p12 = move_all_up(stack_top->p12, stack_top->p10);
        stack_top->p10 = move_all_up(stack_top->p10, stack_top->p8);
        stack_top->p8 = move_all_up(stack_top->p8, stack_top->p6);
        stack_top->p6 = move_all_up(stack_top->p6, stack_top->p4);
        stack_top->p4 = move_all_up(stack_top->p4, stack_top->p2);
        stack_top->p2 = move_all_up(stack_top->p2, stack_top->p0);
        stack_top->p0 = move_all_up(stack_top->p0, wanted);
        return 16;
    }
    const uint64_t *moving = &moving_lanes[15 - place];
    stack_top->p14 = move_up(stack_top->p14, stack_top->p12, moving + 14);
    stack_top->p12 = move_up(stack_top->p12, stack_top->p10, moving + 12);
    stack_top->p10 = move_up(stack_top->p10, stack_top->p8, moving + 10);
    stack_top->p8 = move_up(stack_top->p8, stack_top->p6, moving + 8);
    stack_top->p6 = move_up(stack_top->p6, stack_top->p4, moving + 6);
    stack_top->p4 = move_up(stack_top->p4, stack_top->p2, moving + 4);
    stack_top->p2 = move_up(stack_top->p2, stack_top->p0, moving + 2);
    stack_top->p0 = move_up(stack_top->p0, wanted, moving);
    return place;
}

#endif
