/* Batches of routines; see batches.h. */
#include "binlift/batches.h"

enum { BATCH_BYTES = 1 << 17 };

void pm_divide_routines(const struct pm_lifted *lifted, struct pm_batches *batches) {
    uint32_t n = (uint32_t)lifted->structure->n_routines;
    for (uint32_t i = 0; i < n;) {
        struct pm_batch *batch = PM_PUSH(batches, items);
        batch->first = i;
        for (uint64_t bytes = 0; i < n && bytes < BATCH_BYTES; i++)
            bytes += lifted->structure->routines[i].size_bytes;
        batch->end = i;
    }
}

uint32_t pm_batch_first_insn(const struct pm_lifted *lifted, const struct pm_batch *batch) {
    return lifted->routine_codes[batch->first].first_insn;
}

uint32_t pm_batch_end_insn(const struct pm_lifted *lifted, const struct pm_batch *batch) {
    const struct pm_routine_code *last = &lifted->routine_codes[batch->end - 1];
    return last->first_insn + last->n_insns;
}
