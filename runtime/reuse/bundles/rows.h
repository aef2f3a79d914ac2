/* What the walk over bundles needs, for extensions that cannot permute rows of 16: the front as a
   row in memory. */
#ifndef PM_RUNTIME_REUSE_BUNDLES_ROWS_H
#define PM_RUNTIME_REUSE_BUNDLES_ROWS_H

#include <string.h>

#include "runtime/reuse/bundles/bundles.h"

static inline bool has_shape(const uint64_t *words, const struct pm_bundle_state *state,
                             const struct pm_template *template, unsigned shift) {
    const uint64_t in_block = (1ull << shift) - 1;
    const struct pm_shape *shape = &template->shape;
    bool differs = false;
    for (uint32_t i = 1; i < state->n_words; i++)
        differs |= (words[i] & in_block) - template->begin[i] >= template->length[i];
    for (uint32_t i = 1; template->has_followers && i < state->n_words; i++)
        differs |= (words[i] >> shift) - (words[shape->leader[i]] >> shift) !=
                   (uint64_t)(int64_t)shape->ahead[i];
    return !differs;
}

static inline void begin_intervals(const uint64_t *words, struct pm_bundle_state *state,
                                   const struct pm_template *template, unsigned shift) {
    const uint64_t block = -(1ull << shift);
    for (uint32_t i = 1; i < state->n_words; i++) {
        state->low[i] = (words[i] & block) + template->begin[i];
        state->length[i] = template->length[i];
    }
}

static inline void template_blocks(const uint64_t *words, const struct pm_bundle_state *state,
                                   const struct pm_template *template, unsigned shift,
                                   uint64_t *blocks) {
    (void)state;
    for (uint32_t m = 0; m < template->n_blocks; m++) {
        uint64_t address = template->lane[m] ? words[template->lane[m]] : 0;
        blocks[m] = (address >> shift) + (uint64_t) template->relative[m];
    }
}

static inline bool is_placed(const struct front *front, const struct pm_placement *placement,
                             const uint64_t *blocks, uint32_t n) {
    uint64_t places[PM_REUSE_FRONT] __attribute__((aligned(64)));
    uint32_t differ = 0;
    front_store(front, places);
    for (uint32_t m = 0; m < n; m++)
        differ |= (uint32_t)(places[placement->place[m]] != blocks[m]) << m;
    return (placement->present & differ) == 0;
}

static inline void front_permute(struct front *front, const struct pm_placement *placement,
                                 const uint64_t *blocks) {
    uint64_t rows[2 * PM_REUSE_FRONT] __attribute__((aligned(64)));
    uint64_t row[PM_REUSE_FRONT] __attribute__((aligned(64)));
    front_store(front, rows);
    memcpy(rows + PM_REUSE_FRONT, blocks, PM_REUSE_FRONT * sizeof *blocks);
    for (unsigned place = 0; place < PM_REUSE_FRONT; place++)
        row[place] = rows[placement->from[place]];
    *front = front_load(row);
}

static inline void front_rebuild(struct front *front, const struct pm_template *template,
                                 const uint64_t *blocks, uint32_t found) {
    uint64_t old[PM_REUSE_FRONT] __attribute__((aligned(64)));
    uint64_t row[2 * PM_REUSE_FRONT] __attribute__((aligned(64)));
    uint32_t n = template->n_blocks;
    front_store(front, old);
    for (uint32_t i = 0; i < n; i++)
        row[i] = blocks[template->order[i]];
    for (uint32_t i = 0; i < PM_REUSE_FRONT; i++) {
        row[n] = old[i];
        n += ~found >> i & 1;
    }
    *front = front_load(row);
}

#endif
