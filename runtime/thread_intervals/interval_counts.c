/* What the counters of a thread rose by: all of them are looked at, a cache line at a time, because
   rewritten code leaves no trace of which it touched.  A line that did not change costs two loads
   and a comparison: 5000 counters take about a third of a microsecond. */
#include "runtime/thread_intervals/private.h"

#include <immintrin.h>

#include "runtime/reuse/reuse.h"
#include "runtime/system.h"

static bool reserve(struct pm_interval_counts *counts, uint32_t n) {
    uint32_t room = counts->room ? counts->room : 256;
    if (n <= counts->room)
        return true;
    while (room < n)
        room *= 2;
    if (!pm_mgrow(&counts->items, counts->room * sizeof *counts->items,
                  room * sizeof *counts->items))
        return false;
    counts->room = room;
    return true;
}

/* The counters of a thread that never stopped, that had no handler of a signal and no thread before
   it: those of its control block. */
static bool is_plain(const struct pm_thread *thread) {
    return !thread->kept && !thread->base && !thread->block->inner && !thread->stopped;
}

/* Adds the line of counters from FIRST on, of which some differ. */
static void take_line(const uint64_t *now, uint64_t *before, uint32_t first,
                      struct pm_interval_counts *counts) {
    for (uint32_t i = 0; i < PM_COUNTERS_LINE; i++) {
        uint64_t count = now[i] - before[i];
        if (!count)
            continue;
        counts->items[counts->n++] = (struct pm_interval_counted){first + i, 0, count};
        before[i] = now[i];
    }
}

/* The first line from FIRST on that changed; END: none did. */
typedef uint32_t find_change(const uint64_t *now, const uint64_t *before, uint32_t first,
                             uint32_t end);

static uint32_t find_change_sse2(const uint64_t *now, const uint64_t *before, uint32_t first,
                                 uint32_t end) {
    for (; first < end; first += PM_COUNTERS_LINE) {
        const __m128i *a = (const void *)(now + first), *b = (const void *)(before + first);
        __m128i same = _mm_cmpeq_epi32(_mm_load_si128(a), _mm_load_si128(b));
        for (int i = 1; i < 4; i++)
            same =
                _mm_and_si128(same, _mm_cmpeq_epi32(_mm_load_si128(a + i), _mm_load_si128(b + i)));
        if (_mm_movemask_epi8(same) != 0xffff)
            break;
    }
    return first;
}

__attribute__((target("avx512f"))) static uint32_t
find_change_avx512(const uint64_t *now, const uint64_t *before, uint32_t first, uint32_t end) {
    for (; first < end; first += PM_COUNTERS_LINE)
        if (_mm512_cmpneq_epu64_mask(_mm512_load_si512(now + first),
                                     _mm512_load_si512(before + first)))
            break;
    return first;
}

static void take_plain(const struct pm_thread *thread, uint64_t *before, uint32_t n_counters,
                       struct pm_interval_counts *counts) {
    static find_change *find; /* all find the same */
    const uint64_t *now = thread->block->counters;
    if (!find)
        find = pm_reuse_best_variant() == PM_REUSE_AVX512 ? find_change_avx512 : find_change_sse2;
    for (uint32_t i = 0; (i = find(now, before, i, n_counters)) < n_counters; i += PM_COUNTERS_LINE)
        take_line(now + i, before + i, i, counts);
}

static void take_any(const struct pm_thread *thread, uint64_t *before, uint32_t n_counters,
                     struct pm_interval_counts *counts) {
    for (uint32_t i = 0; i < n_counters; i += PM_COUNTERS_LINE) {
        uint64_t now[PM_COUNTERS_LINE];
        for (uint32_t k = 0; k < PM_COUNTERS_LINE; k++)
            now[k] = pm_thread_count(thread, i + k);
        take_line(now, before + i, i, counts);
    }
}

/* A and B together. */
static void merge(const struct pm_interval_counts *a, const struct pm_interval_counts *b,
                  struct pm_interval_counts *merged) {
    uint32_t i = 0, k = 0;
    merged->n = 0;
    while (i < a->n || k < b->n) {
        struct pm_interval_counted *item = &merged->items[merged->n++];
        if (k == b->n || (i < a->n && a->items[i].counter < b->items[k].counter)) {
            *item = a->items[i++];
        } else {
            *item = b->items[k++];
            if (i < a->n && a->items[i].counter == item->counter)
                item->count += a->items[i++].count;
        }
    }
}

static void swap(struct pm_interval_counts *a, struct pm_interval_counts *b) {
    struct pm_interval_counts c = *a;
    *a = *b;
    *b = c;
}

bool pm_interval_take_counts(const struct pm_thread *thread, uint64_t *before, uint32_t n_counters,
                             struct pm_interval_counts *counts, struct pm_interval_counts room[2]) {
    /* Room for all beforehand: once a counter is taken there is no way back. */
    if (!reserve(&room[0], n_counters) || (counts->n && !reserve(&room[1], n_counters)))
        return false;
    room[0].n = 0;
    (is_plain(thread) ? take_plain : take_any)(thread, before, n_counters, &room[0]);
    if (counts->n)
        merge(counts, &room[0], &room[1]);
    swap(counts, counts->n ? &room[1] : &room[0]);
    return true;
}

void pm_interval_counts_free(struct pm_interval_counts *counts) {
    pm_munmap(counts->items, counts->room * sizeof *counts->items);
    *counts = (struct pm_interval_counts){0};
}
