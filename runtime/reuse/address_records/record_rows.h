/* What the walk over address records needs, for extensions that cannot permute rows of 16: the
   stack top as a row in memory. */
#ifndef PM_RUNTIME_REUSE_ADDRESS_RECORDS_RECORD_ROWS_H
#define PM_RUNTIME_REUSE_ADDRESS_RECORDS_RECORD_ROWS_H

#include <string.h>

#include "runtime/reuse/address_records/record_state.h"

static inline bool has_shape(const uint64_t *words, const struct pm_record_state *state,
                             const struct pm_touch_sequence *sequence, unsigned shift) {
    const uint64_t in_block = (1ull << shift) - 1;
    const struct pm_record_shape *shape = &sequence->shape;
    bool differs = false;
    for (uint32_t i = 1; i < state->n_words; i++)
        differs |= (words[i] & in_block) - sequence->begin[i] >= sequence->length[i];
    for (uint32_t i = 1; sequence->has_followers && i < state->n_words; i++)
        differs |= (words[i] >> shift) - (words[shape->leader[i]] >> shift) !=
                   (uint64_t)(int64_t)shape->ahead[i];
    return !differs;
}

static inline void begin_intervals(const uint64_t *words, struct pm_record_state *state,
                                   const struct pm_touch_sequence *sequence, unsigned shift) {
    const uint64_t block = -(1ull << shift);
    for (uint32_t i = 1; i < state->n_words; i++) {
        state->low[i] = (words[i] & block) + sequence->begin[i];
        state->length[i] = sequence->length[i];
    }
}

static inline void sequence_blocks(const uint64_t *words, const struct pm_record_state *state,
                                   const struct pm_touch_sequence *sequence, unsigned shift,
                                   uint64_t *blocks) {
    (void)state;
    for (uint32_t m = 0; m < sequence->n_blocks; m++) {
        uint64_t address = sequence->base[m] ? words[sequence->base[m]] : 0;
        blocks[m] = (address >> shift) + (uint64_t)sequence->relative[m];
    }
}

static inline bool transition_applies(const struct stack_top *stack_top,
                                      const struct pm_top_transition *transition,
                                      const uint64_t *blocks, uint32_t n) {
    uint64_t places[PM_STACK_TOP] __attribute__((aligned(64)));
    uint32_t differ = 0;
    stack_top_store(stack_top, places);
    for (uint32_t m = 0; m < n; m++)
        differ |= (uint32_t)(places[transition->place[m]] != blocks[m]) << m;
    return (transition->present & differ) == 0;
}

static inline void stack_top_permute(struct stack_top *stack_top,
                                     const struct pm_top_transition *transition,
                                     const uint64_t *blocks) {
    uint64_t rows[2 * PM_STACK_TOP] __attribute__((aligned(64)));
    uint64_t row[PM_STACK_TOP] __attribute__((aligned(64)));
    stack_top_store(stack_top, rows);
    memcpy(rows + PM_STACK_TOP, blocks, PM_STACK_TOP * sizeof *blocks);
    for (unsigned place = 0; place < PM_STACK_TOP; place++)
        row[place] = rows[transition->from[place]];
    *stack_top = stack_top_load(row);
}

static inline void stack_top_rebuild(struct stack_top *stack_top,
                                     const struct pm_touch_sequence *sequence,
                                     const uint64_t *blocks, uint32_t found) {
    uint64_t old[PM_STACK_TOP] __attribute__((aligned(64)));
    uint64_t row[2 * PM_STACK_TOP] __attribute__((aligned(64)));
    uint32_t n = sequence->n_blocks;
    stack_top_store(stack_top, old);
    for (uint32_t i = 0; i < n; i++)
        row[i] = blocks[sequence->order[i]];
    for (uint32_t i = 0; i < PM_STACK_TOP; i++) {
        row[n] = old[i];
        n += ~found >> i & 1;
    }
    *stack_top = stack_top_load(row);
}

#endif
