/* Strides of a basic block's references: its history of addresses, and how long what one execution
   of a bundle had holds for the next ones.  See profile.h. */
#include <string.h>

#include "runtime/profile/state.h"

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
static void add_steady(struct pm_profiler_block *block, const struct pm_profiler_bundle *bundle) {
    uint64_t back = bundle->n_steady < bundle->lag ? bundle->n_steady : bundle->lag;
    while (back-- > 0) {
        pm_profiler_make_room(block, bundle->n_accesses);
        for (uint32_t i = 0; i < bundle->n_accesses; i++) {
            const struct pm_profiler_access *access = &bundle->accesses[i];
            pm_profiler_keep(block, access->offset + bundle->previous[access->word] -
                                        back * bundle->delta[access->word]);
        }
    }
}

void pm_profiler_end_steady(struct pm_profiler_block *block) {
    struct pm_profiler_bundle *bundle = block->steady;
    if (!bundle)
        return;
    for (unsigned c = 0; c < PM_STRIDE_CLASSES; c++)
        block->strides[c] += bundle->n_steady * bundle->strides[c];
    add_steady(block, bundle);
    bundle->n_steady = 0;
    bundle->safe = 0;
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

/* Addresses lie APART bytes from others, REACH bytes about, and go on by RATE, not 0, each time. */
static uint64_t executions_apart(int64_t apart, int64_t rate, uint64_t reach) {
    if (magnitude(apart) <= reach)
        return 0;
    if ((apart < 0) == (rate < 0))
        return UINT64_MAX; /* farther and farther */
    return (magnitude(apart) - reach - 1) / largest_of(1, magnitude(rate));
}

/* Of the words P and Q, from the middles of what accesses reach from them; addresses of up to `lag`
   executions before are compared, too. */
static uint64_t pair_apart(const struct pm_profiler_bundle *bundle, const struct reach *reaches,
                           uint32_t p, uint32_t q, uint64_t largest) {
    const int64_t delta_p = (int64_t)bundle->delta[p], delta_q = (int64_t)bundle->delta[q];
    const uint64_t wide_p = (uint64_t)(reaches[p].high - reaches[p].low);
    const uint64_t wide_q = (uint64_t)(reaches[q].high - reaches[q].low);
    const uint64_t at_p = bundle->previous[p] + (uint64_t)reaches[p].low + wide_p / 2;
    const uint64_t at_q = bundle->previous[q] + (uint64_t)reaches[q].low + wide_q / 2;
    const uint64_t back = bundle->lag * largest_of(magnitude(delta_p), magnitude(delta_q));
    const uint64_t near = 8 * largest; /* elements: a larger stride is random */
    return executions_apart((int64_t)(at_p - at_q), (int64_t)(bundle->delta[p] - bundle->delta[q]),
                            wide_p / 2 + wide_q / 2 + 2 + near + back);
}

/* Words that move alike keep their distances. */
uint64_t pm_profiler_safe_executions(const struct pm_profiler_bundle *bundle) {
    struct reach reaches[PM_BUNDLE_WORDS] = {{0, 0, false}};
    uint64_t largest = 0, safe = UINT64_MAX;
    for (uint32_t i = 0; i < bundle->n_accesses; i++) {
        const struct pm_profiler_access *access = &bundle->accesses[i];
        struct reach *reach = &reaches[access->word];
        const int64_t offset = (int64_t)access->offset;
        reach->low = !reach->any || offset < reach->low ? offset : reach->low;
        reach->high = !reach->any || offset > reach->high ? offset : reach->high;
        reach->any = true;
        largest = largest_of(largest, access->size_bytes);
    }
    for (uint32_t p = 0; p < bundle->n_words; p++)
        for (uint32_t q = 0; q < p; q++) {
            if (bundle->delta[p] == bundle->delta[q] || !reaches[p].any || !reaches[q].any)
                continue;
            const uint64_t pair = pair_apart(bundle, reaches, p, q, largest);
            safe = pair < safe ? pair : safe;
        }
    return safe;
}
