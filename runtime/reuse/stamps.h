/* Time stamps of the blocks below the stack top (reuse_state.h): how many are in use after one.

   A stamp that is not given out yet is set already, in the bitmap and in all counts.  So giving
   one out costs nothing but the addition to `next`; taking one back clears a bit.  The rank of a
   stamp (those in use before it) is the sum of the counts before it in a node of each level, and of
   the bits before it in its line.
   Cursors: sweeps touch blocks again in nearly the order of their stamps, so the next stamp is
   mostly in a word whose rank was summed before.  A few such ranks are kept; taking back a stamp
   subtracts one from those behind it, with one comparison of vectors.  What is taken back in a
   cursor's word is subtracted from the counts when the cursor moves on, and until then from sums.
   Together these halve the time of a touch and more (docs/log-measuring.md). */
#ifndef PM_RUNTIME_REUSE_STAMPS_H
#define PM_RUNTIME_REUSE_STAMPS_H

#include <immintrin.h>

#include "runtime/reuse/reuse_state.h"
#include "runtime/system.h"

/* Index i: lanes 0…i−1 of a vector of 32: &before_of_32[32 − i]; of 4 alike. */
static const uint16_t pm_before_of_32_u16s[64] = {[0 ... 31] = UINT16_MAX};
static const uint64_t pm_before_of_4[8] = {[0 ... 3] = UINT64_MAX};
static const uint32_t pm_before_of_32[64] = {[0 ... 31] = UINT32_MAX};

static inline bool pm_stamp_in_use(const struct pm_stamps *stamps, uint32_t stamp) {
    return stamps->bits[stamp >> 6] >> (stamp & 63) & 1;
}

/* Set bits; without the instruction the compiler would call a function. */
static inline uint32_t pm_count_bits(uint64_t word) {
#ifdef __POPCNT__
    return (uint32_t)__builtin_popcountll(word);
#else
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (uint32_t)(word * 0x0101010101010101 >> 56);
#endif
}

/* Vectors as wide as registers are: of wider ones the compiler makes comparisons of single lanes.
 */
#ifdef __AVX2__
enum { PM_VECTOR_BYTES = 32, PM_VECTOR_U32S = 8 };
#else
enum { PM_VECTOR_BYTES = 16, PM_VECTOR_U32S = 4 };
#endif
typedef uint16_t pm_u16s __attribute__((vector_size(PM_VECTOR_BYTES), aligned(2), may_alias));
typedef int32_t pm_i32s __attribute__((vector_size(PM_VECTOR_BYTES), aligned(4), may_alias));
typedef uint32_t pm_u32s __attribute__((vector_size(PM_VECTOR_BYTES), aligned(4), may_alias));

/* Adds the counts before INDEX in its node to LANES; four counts sum to less than 2^16. */
static inline void pm_add_u16s(pm_u32s *lanes, const uint16_t *counts, uint32_t index) {
    const uint16_t *node = counts + (index & ~31u);
    const uint16_t *before = &pm_before_of_32_u16s[32 - (index & 31)];
    pm_u16s sum = {0};
    for (unsigned i = 0; i < 32; i += 2 * PM_VECTOR_U32S)
        sum += *(const pm_u16s *)(node + i) & *(const pm_u16s *)(before + i);
    pm_u32s pairs = (pm_u32s)sum;
    *lanes += (pairs & 0xffff) + (pairs >> 16);
}

static inline void pm_add_u32s(pm_u32s *lanes, const uint32_t *counts, uint32_t index) {
    const uint32_t *node = counts + (index & ~31u);
    const uint32_t *before = &pm_before_of_32[32 - (index & 31)];
    for (unsigned i = 0; i < 32; i += PM_VECTOR_U32S)
        *lanes += *(const pm_u32s *)(node + i) & *(const pm_u32s *)(before + i);
}

/* Subtracts what is pending of cursors before WORD. */
static inline void pm_subtract_pending(pm_u32s *lanes, const struct pm_stamps *stamps,
                                       uint32_t word) {
    for (unsigned i = 0; i < PM_CURSORS; i += PM_VECTOR_U32S) {
        const pm_i32s *words = (const pm_i32s *)&stamps->cursor_words[i];
        *lanes -= (pm_u32s)(*words < (int32_t)word) & *(const pm_u32s *)&stamps->cursor_pending[i];
    }
}

/* Stamps in use before WORD of the bitmap, summed. */
static inline uint32_t pm_rank_of_word(const struct pm_stamps *stamps, uint32_t word) {
    uint32_t line = word / PM_LINE_WORDS, rank = 0;
    pm_u32s lanes = {0};
    pm_subtract_pending(&lanes, stamps, line * PM_LINE_WORDS);
    pm_add_u16s(&lanes, stamps->per_line, line);
    if (line >> 5)
        pm_add_u16s(&lanes, stamps->per_13, line >> 5);
    if (line >> 10)
        pm_add_u32s(&lanes, stamps->per_18, line >> 10);
    for (unsigned i = 0; i < PM_VECTOR_U32S; i++)
        rank += lanes[i];
    for (uint32_t i = 0; i < line >> 15; i++)
        rank += stamps->per_23[i];
    const uint64_t *bits = &stamps->bits[line * PM_LINE_WORDS];
    const uint64_t *counted = &pm_before_of_4[4 - word % PM_LINE_WORDS];
    for (unsigned i = 0; i < PM_LINE_WORDS - 1; i++) /* a loop up to WORD would be foreseen badly */
        rank += pm_count_bits(bits[i] & counted[i]);
    return rank;
}

/* Moves a cursor to WORD, which none is at; its rank. */
static inline uint32_t pm_cursor_move(struct pm_stamps *stamps, uint32_t word) {
    uint32_t cursor = stamps->next_cursor++ % PM_CURSORS, rank = pm_rank_of_word(stamps, word);
    uint32_t left = stamps->cursor_words[cursor], pending = stamps->cursor_pending[cursor];
    stamps->per_line[left >> 2] = (uint16_t)(stamps->per_line[left >> 2] - pending);
    stamps->per_13[left >> 7] = (uint16_t)(stamps->per_13[left >> 7] - pending);
    stamps->per_18[left >> 12] -= pending;
    stamps->per_23[left >> 17] -= pending;
    stamps->cursor_words[cursor] = word;
    stamps->cursor_ranks[cursor] = rank;
    stamps->cursor_pending[cursor] = 1;
    return rank;
}

/* A bit for each cursor at WORD: at most one. */
static inline uint32_t pm_cursor_at(const struct pm_stamps *stamps, uint32_t word) {
#ifdef __AVX2__
    pm_u32s equal = *(const pm_u32s *)stamps->cursor_words == word;
    return (uint32_t)_mm256_movemask_ps((__m256)equal);
#else
    pm_u32s first = *(const pm_u32s *)stamps->cursor_words == word;
    pm_u32s second = *(const pm_u32s *)&stamps->cursor_words[PM_VECTOR_U32S] == word;
    return (uint32_t)_mm_movemask_ps((__m128)first) | (uint32_t)_mm_movemask_ps((__m128)second)
                                                          << PM_VECTOR_U32S;
#endif
}

/* Takes back STAMP, which is in use.  How many in use were given out after it. */
static inline uint32_t pm_stamp_take_back(struct pm_stamps *stamps, uint32_t stamp) {
    uint32_t word = stamp >> 6, at = pm_cursor_at(stamps, word), rank;
    if (PM_LIKELY(at)) {
        unsigned cursor = (unsigned)__builtin_ctz(at);
        rank = stamps->cursor_ranks[cursor];
        stamps->cursor_pending[cursor]++;
    } else {
        rank = pm_cursor_move(stamps, word);
    }
    uint64_t bits = stamps->bits[word], from = ~0ull << (stamp & 63);
    uint32_t before = rank + pm_count_bits(bits & ~from);
    stamps->bits[word] = bits & ~(from & -from);
    for (unsigned i = 0; i < PM_CURSORS; i += PM_VECTOR_U32S) {
        const pm_i32s *words = (const pm_i32s *)&stamps->cursor_words[i];
        *(pm_u32s *)&stamps->cursor_ranks[i] += (pm_u32s)(*words > (int32_t)word);
    }
    return --stamps->n_in_use - before;
}

/* Gives out the next stamp.  When it was the last, stamps must be numbered anew at once. */
static inline void pm_stamp_give_out(struct pm_stamps *stamps) {
    stamps->n_in_use++;
    stamps->next++;
}

/* CAPACITY stamps of which the first N_IN_USE are given out.  False: no memory, all as before. */
bool pm_stamps_begin(struct pm_stamps *stamps, uint64_t capacity, uint32_t n_in_use);
void pm_stamps_free(struct pm_stamps *stamps);

/* Fills stamps->before, as far as stamps were given out. */
void pm_stamps_rank_words(struct pm_stamps *stamps);
static inline uint32_t pm_stamp_rank(const struct pm_stamps *stamps, uint32_t stamp) {
    uint64_t before = (1ull << (stamp & 63)) - 1;
    return stamps->before[stamp >> 6] + pm_count_bits(stamps->bits[stamp >> 6] & before);
}

#endif
