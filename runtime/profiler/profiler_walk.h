/* The walk over records of bundles (profiler.h), and single accesses.  Included once by each
   profiler_walk_*.c, after what profiler_touch.h needs, definitions of PM_PROFILE_WALK and
   PM_PROFILE_TOUCH, the names of the functions made here, and of
     words_moved_otherwise (words, bundle)
                                   true: not all moved by its DELTA
     keep_words (words, bundle)    they are its PREVIOUS
     row_moved_otherwise (row, bundle)
                                   true: not all moved by its ENTRY_DELTA from its ENTRY
     move_row (row, bundle)        the row of an execution that moved as the last one did: it is the
                                   ENTRY, and becomes the EXIT, which moves on
     nearest (addresses, n, address)
                                   the distance from the nearest of N addresses
     compare_row (row, bundle, words)
                                   the classes of an execution's addresses, which come to the row */
#include "runtime/profiler/profiler_state.h"
#include "runtime/profiler/profiler_touch.h"

/* ---- strides --------------------------------------------------------------------------------- */

/* A reference's class among CLASSES (pm_profiler_bundle). */
static inline uint64_t class_of(uint64_t distance, uint64_t size) {
    return 1ull << 8 * pm_stride_class(distance, size);
}

/* The addresses of an execution, one after the other: their classes. */
static inline uint64_t compare_history(struct pm_profiler_block *block,
                                       const struct pm_profiler_bundle *bundle,
                                       const uint64_t *words) {
    const uint32_t window = pm_profiler_settings.window;
    uint64_t classes = 0;
    pm_profiler_make_room(block, bundle->n_accesses);
    for (uint32_t i = 0; i < bundle->n_accesses; i++) {
        const struct pm_profiler_access *access = &bundle->accesses[i];
        const uint64_t address = access->offset + words[access->word];
        classes += class_of(nearest(block->history + block->n - window, window, address),
                            access->size_bytes);
        block->history[block->n++] = address;
    }
    return classes;
}

/* The bundle moves from its previous words to these. */
static inline void move_words(struct pm_profiler_bundle *bundle, const uint64_t *words) {
    bool alike = true;
    for (uint32_t i = 0; i < bundle->n_words; i++) {
        const uint64_t delta = words[i] - bundle->previous[i];
        alike &= delta == bundle->delta[i];
        bundle->delta[i] = delta;
    }
    bundle->n_alike = !bundle->has_previous ? 0 : alike ? bundle->n_alike + 1 : 1;
    bundle->has_previous = true;
    keep_words(words, bundle);
}

/* With a history: the block's last executions may be those of its steady bundle. */
static __attribute__((noinline)) void find_strides(struct pm_profiler_bundle *bundle,
                                                   const uint64_t *words) {
    struct pm_profiler_block *block = bundle->block;
    pm_profiler_end_steady(block);
    bundle->classes = compare_history(block, bundle, words);
    pm_profiler_add_classes(block, bundle->classes, 1);
    move_words(bundle, words);
    if (bundle->lag == 0 || bundle->n_alike < bundle->lag)
        return;
    bundle->safe = pm_profiler_safe_executions(bundle);
    block->steady = bundle->safe ? bundle : NULL;
}

/* Classes of single executions are added up as long as a byte holds them. */
static inline void add_pending(struct pm_profiler_bundle *bundle) {
    if (PM_UNLIKELY(bundle->n_pending + bundle->n_accesses > UINT8_MAX)) {
        pm_profiler_add_classes(bundle->block, bundle->pending, 1);
        bundle->pending = bundle->n_pending = 0;
    }
    bundle->pending += bundle->classes;
    bundle->n_pending += bundle->n_accesses;
}

/* The row before an execution, or behind it, moves from what it WAS to what it IS, by DELTA; alike?
 */
static inline bool note_row(uint64_t *was, uint64_t *delta, const uint64_t *is) {
    uint64_t differs = 0;
    for (uint32_t i = 0; i < PM_RECENT; i++) {
        const uint64_t moved = is[i] - was[i];
        differs |= moved ^ delta[i];
        delta[i] = moved;
        was[i] = is[i];
    }
    return differs == 0;
}

/* With a row: an execution depends on its words and on the row only.  Executions that move alike
   are worth the time to find out how long they have the same strides if three did; of bundles whose
   words never do, the rows are not looked at. */
static __attribute__((noinline)) void find_row_strides(struct pm_profiler_bundle *bundle,
                                                       const uint64_t *words) {
    enum { WORTH = 2, NEVER = 16 };
    struct pm_profiler_block *block = bundle->block;
    uint64_t *row = block->history;
    const bool had_previous = bundle->has_previous;
    if (bundle->n_steady)
        pm_profiler_add_classes(block, bundle->classes, bundle->n_steady);
    bundle->n_steady = bundle->safe = 0;
    move_words(bundle, words);
    bundle->n_unlike = bundle->n_alike < WORTH ? bundle->n_unlike + 1 : 0;
    if (bundle->n_unlike > NEVER) {
        bundle->has_entry = false;
        bundle->classes = compare_row(row, bundle, words);
        add_pending(bundle);
        return;
    }
    const bool alike = note_row(bundle->entry, bundle->entry_delta, row) && bundle->has_entry;
    bundle->classes = compare_row(row, bundle, words);
    add_pending(bundle);
    note_row(bundle->exit, bundle->exit_delta, row);
    bundle->has_entry = true;
    bundle->n_alike = alike ? bundle->n_alike : had_previous;
    if (bundle->n_alike >= WORTH)
        bundle->safe = pm_profiler_safe_executions(bundle);
}

/* ---- caches ---------------------------------------------------------------------------------- */

/* Are all blocks of an execution the last ones of their sets? */
static inline bool changes_nothing(const struct pm_caches *caches,
                                   const struct pm_profiler_bundle *bundle, const uint64_t *words) {
    const uint64_t *filter = caches->filter, mask = caches->filter_mask;
    const struct pm_profiler_span *span = bundle->spans, *behind = span + bundle->n_spans;
    const unsigned shift = caches->shift;
    uint64_t differs = 0;
    for (; span < behind; span++) {
        const uint64_t address = span->offset + words[span->word];
        const uint64_t first = address >> shift, last = (address + span->last_byte) >> shift;
        differs |= (filter[first & mask] ^ first) | (filter[last & mask] ^ last);
        __asm__("" : "+r"(differs)); /* vectors of gathered lanes took longer */
    }
    return differs == 0;
}

/* One access after the other; did one come farther than to the second level, whose rows are near?
 */
static inline bool touch_caches(struct pm_caches *caches, const struct pm_profiler_bundle *bundle,
                                const uint64_t *words, uint64_t *served) {
    bool misses = false;
    for (uint32_t i = 0; i < bundle->n_accesses; i++) {
        const struct pm_profiler_access *access = &bundle->accesses[i];
        const uint64_t address = access->offset + words[access->word];
        const uint64_t last = (address + access->size_bytes - 1) >> caches->shift;
        const bool passes = access->is_store && caches->stores_pass;
        unsigned farthest = 0;
        for (uint64_t block = address >> caches->shift; block <= last; block++) {
            if (pm_caches_are_as_before(caches, block) && !passes)
                continue;
            const unsigned level = touch(caches, block, access->is_store);
            farthest = level > farthest ? level : farthest;
        }
        if (farthest) {
            served[farthest - 1]++;
            misses |= farthest > 1;
        }
    }
    return misses;
}

/* Rows of the levels behind the second are fetched that an execution may come to: of what a program
   misses they are as far away as its own data was. */
static inline void fetch_rows(const struct pm_caches *caches,
                              const struct pm_profiler_bundle *bundle, const uint64_t *words) {
    enum { LINE_PLACES = 8 };
    const struct pm_profiler_span *span = bundle->spans, *behind = span + bundle->n_spans;
    for (; span < behind; span++) {
        const uint64_t address = span->offset + words[span->word];
        if (pm_caches_are_as_before(caches, address >> caches->shift))
            continue;
        for (unsigned l = 2; l < caches->n_levels; l++) {
            const struct pm_cache *cache = &caches->levels[l];
            const uint64_t *row = row_of(cache, set_of(cache, address >> cache->shift));
            for (uint32_t way = 0; way < cache->row_places && !cache->is_large; way += LINE_PLACES)
                __builtin_prefetch(row + way, 1);
        }
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

/* END: of the records; what comes AHEAD is likely to be of the same bundle. */
static inline void simulate(struct pm_profiler *profile, struct pm_profiler_bundle *bundle,
                            const uint64_t *words, const uint64_t *end) {
    enum { AHEAD = 4, STAYS_FAR = 16 };
    const uint64_t *ahead = words + AHEAD * bundle->n_words;
    const bool looks_ahead = bundle->far > 0 && ahead < end && *ahead == *words;
    for (unsigned m = 0; m < pm_profiler_settings.n_machines; m++) {
        struct pm_caches *caches = profile->caches[m];
        if (looks_ahead)
            fetch_rows(caches, bundle, ahead);
        if (PM_LIKELY(changes_nothing(caches, bundle, words) &&
                      !(caches->stores_pass && bundle->has_stores)))
            continue;
        const bool misses =
            touch_caches(caches, bundle, words,
                         bundle->block->served + pm_profiler_settings.machines[m].first_served);
        bundle->far = misses ? STAYS_FAR : bundle->far - (bundle->far > 0);
    }
}

/* A store that is a load, too, is the load: then its block is there. */
void PM_PROFILE_TOUCH(struct pm_profiler *profile, struct pm_profiler_block *block,
                      uint64_t address, uint64_t size_bytes, enum pm_access access) {
    for (unsigned m = 0; m < pm_profiler_settings.n_machines; m++) {
        struct pm_caches *caches = profile->caches[m];
        const uint64_t last = (address + size_bytes - 1) >> caches->shift;
        unsigned farthest = 0;
        for (uint64_t b = address >> caches->shift; b <= last; b++) {
            const unsigned level = touch(caches, b, access == PM_ACCESS_STORE);
            if (access == PM_ACCESS_BOTH && caches->stores_pass)
                touch(caches, b, true);
            farthest = level > farthest ? level : farthest;
        }
        if (farthest)
            block->served[pm_profiler_settings.machines[m].first_served + farthest - 1]++;
    }
}

/* The first words of a record of a known bundle: its state; NULL. */
static inline struct pm_profiler_bundle *state_of(struct pm_profiler *profile,
                                                  const uint64_t *words) {
    if ((*words & (PM_RECORD_IS_BUNDLE | PM_RECORD_IS_EVENT)) != PM_RECORD_IS_BUNDLE)
        return NULL;
    const uint64_t number = *words ^ PM_RECORD_IS_BUNDLE;
    struct pm_profiler_bundle *state = number < PM_MAX_BUNDLES ? profile->bundles[number] : NULL;
    return PM_LIKELY(state != NULL) ? state : pm_profiler_bundle(profile, number);
}

static inline void take_strides(struct pm_profiler_bundle *bundle, const uint64_t *words,
                                bool has_row) {
    uint64_t *row = bundle->block->history;
    if (PM_LIKELY(bundle->safe && !words_moved_otherwise(words, bundle) &&
                  !(has_row && row_moved_otherwise(row, bundle)))) {
        bundle->safe--;
        bundle->n_steady++;
        keep_words(words, bundle);
        if (has_row)
            move_row(row, bundle);
    } else if (has_row) {
        find_row_strides(bundle, words);
    } else {
        find_strides(bundle, words);
    }
}

const uint64_t *PM_PROFILE_WALK(struct pm_profiler *profile, const uint64_t *words,
                                const uint64_t *end) {
    const bool has_row = pm_profiler_settings.window <= PM_RECENT;
    struct pm_profiler_bundle *bundle;
    while (words < end && (bundle = state_of(profile, words))) {
        take_strides(bundle, words, has_row);
        simulate(profile, bundle, words, end);
        bundle->n++;
        words += bundle->n_words;
    }
    return words;
}
