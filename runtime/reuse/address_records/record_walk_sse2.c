/* The walk over address records for any x86-64. */
#include "runtime/reuse/stack_top_sse2.h"

#include "runtime/reuse/address_records/record_rows.h"

static inline uint32_t words_outside(const uint64_t *words, const struct pm_record_state *state) {
    uint32_t outside = 0;
    for (unsigned i = 0; i < state->n_words; i++)
        outside |= (uint32_t)(words[i] - state->low[i] >= state->length[i]) << i;
    return outside;
}

#define PM_RECORD_WALK pm_record_walk_sse2
#include "runtime/reuse/address_records/record_walk.h"

#define PM_CARRIED_RECORD_WALK pm_carried_record_walk_sse2
#include "runtime/reuse/address_records/carried_record_walk.h"
