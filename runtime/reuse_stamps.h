/* Time stamps of the blocks behind the front (reuse_distance.h): how many are in use after one.

   A stamp that is not given out yet is set already, in the bitmap and in all counts.  So giving
   one out costs nothing but the addition to `next`; taking one back clears a bit and subtracts from
   three or four counts.  The rank of a stamp (those in use before it) is the sum of the counts
   before it in a node of each level, and of the bits before it in its line.
   Cursors: sweeps touch blocks again in nearly the order of their stamps, so the next stamp is
   mostly in a word whose rank was summed before.  A few such ranks are kept; taking back a stamp
   subtracts one from those behind it, with one comparison of vectors. */
#ifndef PM_RUNTIME_REUSE_STAMPS_H
#define PM_RUNTIME_REUSE_STAMPS_H

#include <immintrin.h>

#include "runtime/reuse_distance.h"
#include "runtime/system.h"

/* Index i: lanes 0…i−1 of a vector of 32 (of 4): &before_of_32[32 − i]. */
static const uint16_t pm_before_of_32_short[64] = {[0 ... 31] = UINT16_MAX};
static const uint32_t pm_before_of_32[64] = {[0 ... 31] = UINT32_MAX};
static const uint64_t pm_before_of_4[8] = {[0 ... 3] = UINT64_MAX};

static inline bool pm_stamp_in_use(const struct pm_stamps *stamps, uint32_t stamp) {
    return stamps->bits[stamp >> 6] >> (stamp & 63) & 1;
}

/* Set bits before STAMP in its line. */
static inline uint32_t pm_rank_in_line(const struct pm_stamps *stamps, uint32_t stamp) {
    const uint64_t *line = &stamps->bits[(stamp >> 8) * 4];
    const uint64_t *before = &pm_before_of_4[4 - (stamp >> 6 & 3)];
    int count = __builtin_popcountll(stamps->bits[stamp >> 6] & ((1ull << (stamp & 63)) - 1));
    for (unsigned i = 0; i < 3; i++)
        count += __builtin_popcountll(line[i] & before[i]);
    return (uint32_t)count;
}

typedef uint16_t pm_shorts __attribute__((vector_size(32), aligned(2), may_alias));
typedef int32_t pm_signed_words __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t pm_words __attribute__((vector_size(32), aligned(4), may_alias));

/* Adds the counts before INDEX in its node to LANES; two counts sum to less than 2^16. */
static inline void pm_add_shorts(pm_words *lanes, const uint16_t *counts, uint32_t index) {
    const uint16_t *node = counts + (index & ~31u);
    const uint16_t *before = &pm_before_of_32_short[32 - (index & 31)];
    pm_shorts sum = *(const pm_shorts *)node & *(const pm_shorts *)before;
    sum += *(const pm_shorts *)(node + 16) & *(const pm_shorts *)(before + 16);
    pm_words pairs = (pm_words)sum;
    *lanes += (pairs & 0xffff) + (pairs >> 16);
}

static inline void pm_add_words(pm_words *lanes, const uint32_t *counts, uint32_t index) {
    const uint32_t *node = counts + (index & ~31u);
    const uint32_t *before = &pm_before_of_32[32 - (index & 31)];
    for (unsigned i = 0; i < 32; i += 8)
        *lanes += *(const pm_words *)(node + i) & *(const pm_words *)(before + i);
}

/* Stamps in use before LINE, summed. */
static inline uint32_t pm_rank_of_line(const struct pm_stamps *stamps, uint32_t line) {
    pm_words lanes = {0};
    uint32_t rank = 0;
    pm_add_shorts(&lanes, stamps->per_line, line);
    if (line >> 5)
        pm_add_shorts(&lanes, stamps->per_13, line >> 5);
    if (line >> 10)
        pm_add_words(&lanes, stamps->per_18, line >> 10);
    for (unsigned i = 0; i < 8; i++)
        rank += lanes[i];
    for (uint32_t i = 0; i < line >> 15; i++)
        rank += stamps->per_23[i];
    return rank;
}

/* Stamps in use before WORD of the bitmap, summed. */
static inline uint32_t pm_rank_of_word(const struct pm_stamps *stamps, uint32_t word) {
    return pm_rank_of_line(stamps, word >> 2) + pm_rank_in_line(stamps, word << 6);
}

/* A bit for each cursor at WORD: at most one. */
static inline uint32_t pm_cursor_at(const struct pm_stamps *stamps, uint32_t word) {
    pm_words equal = *(const pm_words *)stamps->cursor_words == word;
#ifdef __AVX2__
    return (uint32_t)_mm256_movemask_ps((__m256)equal);
#else
    __m128i halves[2];
    __builtin_memcpy(halves, &equal, sizeof equal);
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(halves[0])) |
           (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(halves[1])) << 4;
#endif
}

/* Takes back STAMP, which is in use, and gives out the next one.  How many in use were given out
   between the two.  When the next one was the last, stamps must be numbered anew at once. */
static inline uint32_t pm_stamp_exchange(struct pm_stamps *stamps, uint32_t stamp) {
    uint32_t word = stamp >> 6, at = pm_cursor_at(stamps, word), rank;
    if (PM_LIKELY(at)) {
        rank = stamps->cursor_ranks[__builtin_ctz(at)];
    } else {
        uint32_t cursor = stamps->next_cursor++ % PM_CURSORS;
        rank = pm_rank_of_word(stamps, word);
        stamps->cursor_words[cursor] = word;
        stamps->cursor_ranks[cursor] = rank;
    }
    uint64_t bits = stamps->bits[word], from = ~0ull << (stamp & 63);
    uint32_t before = rank + (uint32_t)__builtin_popcountll(bits & ~from);
    stamps->bits[word] = bits & ~(from & -from);
    stamps->per_line[stamp >> 8]--;
    stamps->per_13[stamp >> 13]--;
    stamps->per_18[stamp >> 18]--;
    stamps->per_23[stamp >> 23]--;
    *(pm_words *)stamps->cursor_ranks +=
        (pm_words)(*(const pm_signed_words *)stamps->cursor_words > (int32_t)word);
    stamps->next++;
    return stamps->n_in_use - 1 - before;
}

/* Gives out a stamp without taking one back. */
static inline void pm_stamp_give_out(struct pm_stamps *stamps) {
    stamps->n_in_use++;
    stamps->next++;
}

/* CAPACITY stamps of which the first N_IN_USE are given out.  False: no memory, all as before. */
bool pm_stamps_begin(struct pm_stamps *stamps, uint64_t capacity, uint32_t n_in_use);
void pm_stamps_free(struct pm_stamps *stamps);

/* Fills stamps->before. */
void pm_stamps_rank_lines(struct pm_stamps *stamps);
static inline uint32_t pm_stamp_rank(const struct pm_stamps *stamps, uint32_t stamp) {
    return stamps->before[stamp >> 8] + pm_rank_in_line(stamps, stamp);
}

#endif
