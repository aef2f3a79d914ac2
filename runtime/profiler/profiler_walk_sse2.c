/* The walk over address records for any x86-64. */
#include "runtime/profiler/profiler_state.h"

static inline bool words_moved_otherwise(const uint64_t *words,
                                         const struct pm_profiler_record *record) {
    uint64_t differs = 0;
    for (uint32_t i = 0; i < record->n_words; i++)
        differs |= (words[i] - record->previous[i]) ^ record->delta[i];
    return differs != 0;
}

static inline void keep_words(const uint64_t *words, struct pm_profiler_record *record) {
    for (uint32_t i = 0; i < record->n_words; i++)
        record->previous[i] = words[i];
}

static inline uint64_t nearest(const uint64_t *addresses, uint32_t n, uint64_t address) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t apart = (int64_t)(address - addresses[i]);
        const uint64_t distance = apart < 0 ? -(uint64_t)apart : (uint64_t)apart;
        least = distance < least ? distance : least;
    }
    return least;
}

#include "runtime/profiler/profiler_rows.h"

#define PM_PROFILE_WALK pm_profiler_walk_sse2
#define PM_PROFILE_TOUCH pm_profiler_touch_sse2
#include "runtime/profiler/profiler_walk.h"
