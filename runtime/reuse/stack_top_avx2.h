/* The stack top of the reuse distance analysis in four AVX2 registers; touch.h says what such
   a header defines.  The first of a file: all that follows is compiled for this extension. */
#ifndef PM_RUNTIME_REUSE_STACK_TOP_AVX2_H
#define PM_RUNTIME_REUSE_STACK_TOP_AVX2_H

#pragma GCC target("avx2,bmi,popcnt")
#include <immintrin.h>
#include <stdint.h>

/* Places 0–3, 4–7, 8–11, 12–15.  An array instead of four fields would live in memory and cost a
   fifth more. */
struct stack_top {
    __m256i p0, p4, p8, p12;
};

static inline __m256i load(const uint64_t *from) {
    return _mm256_load_si256((const __m256i *)from);
}

static inline void store(uint64_t *to, __m256i lanes) { _mm256_store_si256((__m256i *)to, lanes); }

static inline struct stack_top stack_top_load(const uint64_t *from) {
    return (struct stack_top){load(from), load(from + 4), load(from + 8), load(from + 12)};
}

static inline void stack_top_store(const struct stack_top *stack_top, uint64_t *to) {
    store(to, stack_top->p0);
    store(to + 4, stack_top->p4);
    store(to + 8, stack_top->p8);
    store(to + 12, stack_top->p12);
}

/* &moving_lanes[15 − p]: lanes 0…p all ones, the others zero. */
static const uint64_t moving_lanes[32] = {[0 ... 15] = UINT64_MAX};

static inline uint32_t equal_lanes(__m256i lanes, __m256i wanted) {
    __m256i equal = _mm256_cmpeq_epi64(lanes, wanted);
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(equal));
}

/* Four movemasks are quicker than packing sixteen lanes for one. */
static inline uint32_t stack_top_find(const struct stack_top *stack_top, uint64_t block) {
    __m256i wanted = _mm256_set1_epi64x((long long)block);
    return (equal_lanes(stack_top->p0, wanted) | equal_lanes(stack_top->p4, wanted) << 4) |
           (equal_lanes(stack_top->p8, wanted) << 8 | equal_lanes(stack_top->p12, wanted) << 12);
}

/* LANES moved up by one place; the last lane of BEFORE comes in. */
static inline __m256i move_all_up(__m256i lanes, __m256i before) {
    __m256i rotated = _mm256_permute4x64_epi64(lanes, 0x93);
    __m256i carried = _mm256_permute4x64_epi64(before, 0x93);
    return _mm256_blend_epi32(rotated, carried, 3);
}

/* LANES moved up by one place where the mask at MOVING says so; the last lane of BEFORE comes in.
 */
static inline __m256i move_up(__m256i lanes, __m256i before, const uint64_t *moving) {
    __m256i moved = move_all_up(lanes, before);
    return _mm256_blendv_epi8(lanes, moved, _mm256_loadu_si256((const __m256i *)moving));
}

static inline unsigned stack_top_touch(struct stack_top *stack_top, uint64_t block,
                                       uint64_t *evicted) {
    __m256i wanted = _mm256_set1_epi64x((long long)block);
    uint32_t found = stack_top_find(stack_top, block);
    *evicted = (uint64_t)_mm256_extract_epi64(stack_top->p12, 3);
    if (!found) { /* moving need not wait for the comparison */
        stack_top->p12 = move_all_up(stack_top->p12, stack_top->p8);
        stack_top->p8 = move_all_up(stack_top->p8, stack_top->p4);
        stack_top->p4 = move_all_up(stack_top->p4, stack_top->p0);
        stack_top->p0 = move_all_up(stack_top->p0, wanted);
        return 16;
    }
    unsigned place = (unsigned)__builtin_ctz(found);
    const uint64_t *moving = &moving_lanes[15 - place];
    stack_top->p12 = move_up(stack_top->p12, stack_top->p8, moving + 12);
    stack_top->p8 = move_up(stack_top->p8, stack_top->p4, moving + 8);
    stack_top->p4 = move_up(stack_top->p4, stack_top->p0, moving + 4);
    stack_top->p0 = move_up(stack_top->p0, wanted, moving);
    return place;
}

#endif
