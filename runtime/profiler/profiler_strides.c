/* Strides of a basic block's references: its history of addresses, and how long what one execution
   of an address record had holds for the next ones.  See profile.h. */
#include <string.h>

#include "runtime/profiler/profiler_state.h"

void pm_profiler_begin_history(struct pm_profiler_block *block) {
    const uint32_t window = pm_profiler_settings.window;
    block->n = window > PM_RECENT ? window : PM_RECENT;
    for (uint32_t i = 0; i < block->n; i++)
        block->history[i] = PM_NO_ADDRESS;
}

void pm_profiler_make_room(struct pm_profiler_block *block, uint32_t n) {
    const uint32_t window = pm_profiler_settings.window;
    if (window <= PM_RECENT || block->n + n <= window + PM_HISTORY_ROOM)
        return;
    memmove(block->history, block->history + block->n - window, window * sizeof *block->history);
    block->n = window;
}

/* The addresses of the last executions, which moved by `delta` each time. */
static void add_steady(struct pm_profiler_block *block, const struct pm_profiler_record *record) {
    uint64_t back = record->n_steady < record->lag ? record->n_steady : record->lag;
    while (back-- > 0) {
        pm_profiler_make_room(block, record->n_accesses);
        for (uint32_t i = 0; i < record->n_accesses; i++) {
            const struct pm_profiler_access *access = &record->accesses[i];
            pm_profiler_keep(block, access->offset + record->previous[access->word] -
                                        back * record->delta[access->word]);
        }
    }
}

void pm_profiler_add_classes(struct pm_profiler_block *block, uint64_t classes, uint64_t n) {
    for (unsigned c = 0; c < PM_STRIDE_CLASSES; c++)
        block->strides[c] += n * (classes >> 8 * c & 0xff);
}

void pm_profiler_end_steady(struct pm_profiler_block *block) {
    struct pm_profiler_record *record = block->steady;
    if (!record)
        return;
    pm_profiler_add_classes(block, record->classes, record->n_steady);
    add_steady(block, record);
    record->n_steady = 0;
    record->safe = 0;
    block->steady = NULL;
}

/* ---- how long -------------------------------------------------------------------------------- */

/* The lowest and the highest offset of accesses from a word. */
struct reach {
    int64_t low, high;
    bool any;
};

static uint64_t magnitude(int64_t number) {
    return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

static uint64_t largest_of(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t least_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Addresses lie APART bytes from others, REACH bytes about, and go on by RATE, not 0, each time. */
static uint64_t executions_apart(int64_t apart, int64_t rate, uint64_t reach) {
    if (magnitude(apart) <= reach)
        return 0;
    if ((apart < 0) == (rate < 0))
        return UINT64_MAX; /* farther and farther */
    return (magnitude(apart) - reach - 1) / largest_of(1, magnitude(rate));
}

/* What accesses reach from a word, or an address of a row: its middle, how far it goes about that,
   and by how much it moves. */
struct place {
    uint64_t middle, about;
    int64_t delta;
};

static struct place place_of_word(const struct pm_profiler_record *record,
                                  const struct reach *reach, uint32_t word) {
    const uint64_t wide = (uint64_t)(reach->high - reach->low);
    return (struct place){record->previous[word] + (uint64_t)reach->low + wide / 2, wide / 2 + 1,
                          (int64_t)record->delta[word]};
}

/* NEAR: what is farther is random. */
static uint64_t pair_apart(struct place p, struct place q, uint64_t near) {
    const int64_t rate = (int64_t)((uint64_t)p.delta - (uint64_t)q.delta);
    return rate == 0
               ? UINT64_MAX
               : executions_apart((int64_t)(p.middle - q.middle), rate, p.about + q.about + near);
}

/* Places that move alike keep their distances.  Addresses of up to `lag` executions before are
   compared, too, or those of the row. */
uint64_t pm_profiler_safe_executions(const struct pm_profiler_record *record) {
    struct reach reaches[PM_RECORD_WORDS] = {{0, 0, false}};
    const bool has_row = pm_profiler_settings.window <= PM_RECENT;
    const uint32_t first = PM_RECENT - (has_row ? pm_profiler_settings.window : 0);
    uint64_t largest = 0, safe = UINT64_MAX;
    for (uint32_t i = 0; i < record->n_accesses; i++) {
        const struct pm_profiler_access *access = &record->accesses[i];
        struct reach *reach = &reaches[access->word];
        const int64_t offset = (int64_t)access->offset;
        reach->low = !reach->any || offset < reach->low ? offset : reach->low;
        reach->high = !reach->any || offset > reach->high ? offset : reach->high;
        reach->any = true;
        largest = largest_of(largest, access->size_bytes);
    }
    for (uint32_t p = 0; p < record->n_words; p++) {
        if (!reaches[p].any)
            continue;
        const struct place place = place_of_word(record, &reaches[p], p);
        for (uint32_t q = 0; q < p; q++) {
            if (!reaches[q].any)
                continue;
            const struct place other = place_of_word(record, &reaches[q], q);
            const uint64_t back =
                has_row ? 0
                        : record->lag * largest_of(magnitude(place.delta), magnitude(other.delta));
            safe = least_of(safe, pair_apart(place, other, 8 * largest + back));
        }
        for (uint32_t lane = first; has_row && lane < PM_RECENT; lane++) {
            const struct place other = {record->entry[lane], 0, (int64_t)record->entry_delta[lane]};
            safe = least_of(safe, pair_apart(place, other, 8 * largest));
        }
    }
    return safe;
}
