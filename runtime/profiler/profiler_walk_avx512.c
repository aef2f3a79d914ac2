/* The walk over address records for AVX-512.  Records of up to 8 words are one register. */
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,bmi,bmi2,popcnt,lzcnt")
#include <immintrin.h>

#include "runtime/profiler/profiler_state.h"

static inline uint32_t half_moved_otherwise(const uint64_t *words,
                                            const struct pm_profiler_record *record,
                                            unsigned half) {
    const __m512i moved = _mm512_sub_epi64(_mm512_loadu_si512(words + half),
                                           _mm512_load_si512(record->previous + half));
    return (uint32_t)_mm512_cmpneq_epi64_mask(moved, _mm512_load_si512(record->delta + half))
           << half;
}

static inline bool words_moved_otherwise(const uint64_t *words,
                                         const struct pm_profiler_record *record) {
    uint32_t differs = half_moved_otherwise(words, record, 0);
    if (record->n_words > 8)
        differs |= half_moved_otherwise(words, record, 8);
    return (differs & record->words_mask) != 0;
}

/* Words behind the record's have no meaning. */
static inline void keep_words(const uint64_t *words, struct pm_profiler_record *record) {
    _mm512_store_si512(record->previous, _mm512_loadu_si512(words));
    if (record->n_words > 8)
        _mm512_store_si512(record->previous + 8, _mm512_loadu_si512(words + 8));
}

static inline uint64_t nearest(const uint64_t *addresses, uint32_t n, uint64_t address) {
    const __m512i wanted = _mm512_set1_epi64((long long)address);
    __m512i least = _mm512_set1_epi64(INT64_MAX);
    for (uint32_t i = 0; i < n; i += 8) {
        const __mmask8 lanes = (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 0xff);
        const __m512i apart =
            _mm512_sub_epi64(wanted, _mm512_maskz_loadu_epi64(lanes, addresses + i));
        least = _mm512_mask_min_epu64(least, lanes, least, _mm512_abs_epi64(apart));
    }
    return _mm512_reduce_min_epu64(least);
}

static inline bool row_moved_otherwise(const uint64_t *row,
                                       const struct pm_profiler_record *record) {
    const __m512i moved =
        _mm512_sub_epi64(_mm512_load_si512(row), _mm512_load_si512(record->entry));
    return _mm512_cmpneq_epi64_mask(moved, _mm512_load_si512(record->entry_delta)) != 0;
}

static inline void move_row(uint64_t *row, struct pm_profiler_record *record) {
    const __m512i exit =
        _mm512_add_epi64(_mm512_load_si512(record->exit), _mm512_load_si512(record->exit_delta));
    _mm512_store_si512(record->entry, _mm512_load_si512(row));
    _mm512_store_si512(record->exit, exit);
    _mm512_store_si512(row, exit);
}

/* The row stays in a register: what was just stored of it address by address could not be loaded as
   a whole soon. */
static inline uint64_t compare_row(uint64_t *row, const struct pm_profiler_record *record,
                                   const uint64_t *words) {
    const __mmask8 lanes = (__mmask8)(0xff << (PM_RECENT - pm_profiler_settings.window));
    __m512i recent = _mm512_load_si512(row);
    uint64_t classes = 0;
    for (uint32_t i = 0; i < record->n_accesses; i++) {
        const struct pm_profiler_access *access = &record->accesses[i];
        const __m512i address =
            _mm512_set1_epi64((long long)(access->offset + words[access->word]));
        const __m512i distances = _mm512_abs_epi64(_mm512_sub_epi64(address, recent));
        const uint64_t distance = _mm512_mask_reduce_min_epu64(lanes, distances);
        classes += 1ull << 8 * pm_stride_class(distance, access->size_bytes);
        recent = _mm512_alignr_epi64(address, recent, 1);
    }
    _mm512_store_si512(row, recent);
    return classes;
}

/* ---- rows of simulated caches (profiler_touch.h) --------------------------------------------- */

static inline uint32_t find_way(const uint64_t *row, uint32_t n, uint64_t block) {
    const __m512i wanted = _mm512_set1_epi64((long long)block);
    for (uint32_t way = 0; way < n; way += 8) {
        const uint32_t equal = _mm512_cmpeq_epi64_mask(_mm512_load_si512(row + way), wanted);
        if (equal)
            return way + (uint32_t)__builtin_ctz(equal);
    }
    return n;
}

/* Of the eight places at ROW those of PLACES move back by one; the last lane of BEFORE comes in. */
static inline void move_back(uint64_t *row, __m512i lanes, __m512i before, __mmask8 places) {
    _mm512_store_si512(row,
                       _mm512_mask_mov_epi64(lanes, places, _mm512_alignr_epi64(lanes, before, 7)));
}

static inline void move_in(uint64_t *row, uint32_t n, uint64_t block) {
    __m512i before = _mm512_set1_epi64((long long)block);
    for (uint32_t way = 0; way < n; way += 8) {
        const __m512i lanes = _mm512_load_si512(row + way);
        move_back(row + way, lanes, before, (__mmask8)(n - way < 8 ? (1u << (n - way)) - 1 : 0xff));
        before = lanes;
    }
}

static inline bool touch_row(uint64_t *row, uint32_t ways, uint64_t block) {
    const __m512i wanted = _mm512_set1_epi64((long long)block);
    __m512i before = wanted;
    for (uint32_t way = 0; way < ways; way += 8) {
        const __m512i lanes = _mm512_load_si512(row + way);
        const uint32_t equal = _mm512_cmpeq_epi64_mask(lanes, wanted);
        const uint32_t all = ways - way < 8 ? (1u << (ways - way)) - 1 : 0xff;
        move_back(row + way, lanes, before, (__mmask8)((equal ^ (equal - 1)) & all));
        if (equal)
            return true;
        before = lanes;
    }
    return false;
}

#define PM_PROFILE_WALK pm_profiler_walk_avx512
#define PM_PROFILE_TOUCH pm_profiler_touch_avx512
#include "runtime/profiler/profiler_walk.h"
