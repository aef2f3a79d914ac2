/* The walk over address records where some blocks are sampled, for any x86-64. */
#include "runtime/reuse/stack_top_sse2.h"

#include <string.h>

#include "runtime/reuse/address_records/sampled_records.h"

enum { LANES = 4 };
typedef uint32_t lanes __attribute__((vector_size(16)));

struct narrow {
    uint32_t lanes[PM_RECORD_BASES];
};

static inline struct narrow narrow(const uint64_t *words, unsigned shift, bool is_long) {
    struct narrow row = {{0}};
    for (uint32_t i = 0; i < (is_long ? 16 : 8); i++)
        row.lanes[i] = (uint32_t)(words[i] >> shift);
    return row;
}

static inline lanes pick(struct narrow from, const uint32_t *index, bool is_long) {
    (void)is_long;
    return (lanes){from.lanes[index[0]], from.lanes[index[1]], from.lanes[index[2]],
                   from.lanes[index[3]]};
}

static inline lanes lanes_at(const uint32_t *from) {
    lanes at;
    memcpy(&at, from, sizeof at);
    return at;
}

static inline uint32_t not_above(lanes values, uint32_t bound) {
    return (uint32_t)_mm_movemask_ps((__m128)(values <= bound));
}

static inline lanes below(lanes values, lanes bounds) { return (lanes)(values < bounds); }

static inline bool unaligned(const uint64_t *words, const uint64_t *mask, const uint64_t *value,
                             bool is_long) {
    uint64_t differs = 0;
    for (unsigned i = 0; i < (is_long ? 16u : 8u); i++)
        differs |= (words[i] ^ value[i]) & mask[i];
    return differs;
}

#define PM_SAMPLED_WALK pm_sampled_walk_sse2
#include "runtime/reuse/address_records/sampled_walk.h"
