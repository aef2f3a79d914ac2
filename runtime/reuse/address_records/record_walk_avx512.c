/* The walk over address records for AVX-512.  A row of 16 is two registers; records of up to 8
   words need the first only. */
#include "runtime/reuse/stack_top_avx512.h"

#include "runtime/reuse/address_records/record_state.h"

struct row {
    __m512i low, high;
};

static inline __m512i lanes_at(const uint64_t *words) { return _mm512_loadu_si512(words); }

/* Eight bytes as eight lanes. */
static inline __m512i lanes_of_bytes(const void *bytes) {
    return _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)bytes));
}

static inline __m512i take(struct row row, __m512i index) {
    return _mm512_permutex2var_epi64(row.low, index, row.high);
}

/* The record's words; what is behind it has no meaning. */
static inline struct row record_at(const uint64_t *words, const struct pm_record_state *state) {
    struct row row = {lanes_at(words), _mm512_setzero_si512()};
    if (state->n_words > 8)
        row.high = lanes_at(words + 8);
    return row;
}

static inline uint32_t half_outside(__m512i words, const uint64_t *low, const uint64_t *length) {
    return _mm512_cmpge_epu64_mask(_mm512_sub_epi64(words, lanes_at(low)), lanes_at(length));
}

static inline uint32_t words_outside(const uint64_t *words, const struct pm_record_state *state) {
    uint32_t outside = half_outside(lanes_at(words), state->low, state->length);
    if (state->n_words > 8)
        outside |= half_outside(lanes_at(words + 8), state->low + 8, state->length + 8) << 8;
    return outside & state->words;
}

static inline uint32_t half_strays(struct row blocks, __m512i own,
                                   const struct pm_record_shape *shape, unsigned half) {
    __m512i leader = take(blocks, lanes_of_bytes(shape->leader + half));
    __m512i ahead =
        _mm512_cvtepi8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)(shape->ahead + half)));
    return _mm512_cmpneq_epi64_mask(_mm512_sub_epi64(own, leader), ahead);
}

static inline bool has_shape(const uint64_t *words, const struct pm_record_state *state,
                             const struct pm_touch_sequence *sequence, unsigned shift) {
    const __m512i in_block = _mm512_set1_epi64((1ll << shift) - 1);
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    struct row row = record_at(words, state);
    struct row blocks = {_mm512_srl_epi64(row.low, by), _mm512_srl_epi64(row.high, by)};
    uint32_t differs =
        half_outside(_mm512_and_si512(row.low, in_block), sequence->begin, sequence->length);
    if (sequence->has_followers)
        differs |= half_strays(blocks, blocks.low, &sequence->shape, 0);
    if (state->n_words > 8) {
        differs |= half_outside(_mm512_and_si512(row.high, in_block), sequence->begin + 8,
                                sequence->length + 8)
                   << 8;
        if (sequence->has_followers)
            differs |= half_strays(blocks, blocks.high, &sequence->shape, 8) << 8;
    }
    return (differs & state->words & ~1u) == 0; /* the header is of the address record anyway */
}

/* Whole rows are stored, because what is stored under a mask cannot be forwarded to the comparison
   that follows: 13 instead of 16 ns a record of matmul. */
static inline void begin_intervals(const uint64_t *words, struct pm_record_state *state,
                                   const struct pm_touch_sequence *sequence, unsigned shift) {
    const __m512i block = _mm512_set1_epi64(-(1ll << shift));
    struct row row = record_at(words, state);
    __m512i low = _mm512_add_epi64(_mm512_and_si512(row.low, block), lanes_at(sequence->begin));
    _mm512_storeu_si512(state->low, _mm512_mask_mov_epi64(low, 1, row.low));
    _mm512_storeu_si512(state->length, lanes_at(sequence->length));
    if (state->n_words <= 8)
        return;
    _mm512_storeu_si512(state->low + 8, _mm512_add_epi64(_mm512_and_si512(row.high, block),
                                                         lanes_at(sequence->begin + 8)));
    _mm512_storeu_si512(state->length + 8, lanes_at(sequence->length + 8));
}

static inline void sequence_blocks(const uint64_t *words, const struct pm_record_state *state,
                                   const struct pm_touch_sequence *sequence, unsigned shift,
                                   uint64_t *blocks) {
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    struct row row = record_at(words, state);
    /* Lane 0 is for fixed addresses: their blocks count from 0. */
    row.low = _mm512_maskz_srl_epi64(0xfe, row.low, by);
    row.high = _mm512_srl_epi64(row.high, by);
    for (unsigned half = 0; half < sequence->n_blocks; half += 8)
        _mm512_store_si512(blocks + half,
                           _mm512_add_epi64(take(row, lanes_of_bytes(sequence->base + half)),
                                            lanes_at((const void *)(sequence->relative + half))));
}

static inline bool transition_applies(const struct stack_top *stack_top,
                                      const struct pm_top_transition *transition,
                                      const uint64_t *blocks, uint32_t n) {
    struct row row = {stack_top->recent, stack_top->older};
    uint32_t equal = _mm512_cmpeq_epi64_mask(take(row, lanes_of_bytes(transition->place)),
                                             _mm512_load_si512(blocks));
    if (n > 8)
        equal |= (uint32_t)_mm512_cmpeq_epi64_mask(take(row, lanes_of_bytes(transition->place + 8)),
                                                   _mm512_load_si512(blocks + 8))
                 << 8;
    return (transition->present & ~equal) == 0;
}

/* Lanes FROM of 32: the stack top's, and behind them BLOCKS. */
static inline __m512i lanes_from(struct row stack_top, struct row blocks, const uint8_t *from) {
    __m512i index = lanes_of_bytes(from);
    return _mm512_mask_mov_epi64(take(stack_top, index),
                                 _mm512_test_epi64_mask(index, _mm512_set1_epi64(PM_STACK_TOP)),
                                 take(blocks, index));
}

static inline void stack_top_permute(struct stack_top *stack_top,
                                     const struct pm_top_transition *transition,
                                     const uint64_t *blocks) {
    struct row old = {stack_top->recent, stack_top->older};
    struct row row = {_mm512_load_si512(blocks), _mm512_load_si512(blocks + 8)};
    stack_top->recent = lanes_from(old, row, transition->from);
    stack_top->older = lanes_from(old, row, transition->from + 8);
}

static inline void stack_top_rebuild(struct stack_top *stack_top,
                                     const struct pm_touch_sequence *sequence,
                                     const uint64_t *blocks, uint32_t found) {
    const __m512i ordinals = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const unsigned n = sequence->n_blocks;
    /* What stays, close together. */
    unsigned n_recent = (unsigned)__builtin_popcount(~found & 0xff);
    __m512i recent = _mm512_maskz_compress_epi64((__mmask8)~found, stack_top->recent);
    __m512i older = _mm512_maskz_compress_epi64((__mmask8)(~found >> 8), stack_top->older);
    struct row rest = {
        _mm512_mask_expand_epi64(recent, (__mmask8)(0xff << n_recent), older),
        _mm512_permutexvar_epi64(_mm512_add_epi64(ordinals, _mm512_set1_epi64(8 - (int)n_recent)),
                                 older)};
    struct row row = {_mm512_load_si512(blocks), _mm512_load_si512(blocks + 8)};
    __m512i top = take(row, lanes_of_bytes(sequence->order));
    if (n <= 8) { /* n of the top, then the rest from its first lane on */
        stack_top->recent = _mm512_mask_expand_epi64(top, (__mmask8)(0xff << n), rest.low);
        stack_top->older = take(rest, _mm512_add_epi64(ordinals, _mm512_set1_epi64(8 - (int)n)));
    } else {
        stack_top->recent = top;
        stack_top->older = _mm512_mask_expand_epi64(take(row, lanes_of_bytes(sequence->order + 8)),
                                                    (__mmask8)(0xff << (n - 8)), rest.low);
    }
}

#define PM_RECORD_WALK pm_record_walk_avx512
#include "runtime/reuse/address_records/record_walk.h"

#define PM_CARRIED_RECORD_WALK pm_carried_record_walk_avx512
#include "runtime/reuse/address_records/carried_record_walk.h"
