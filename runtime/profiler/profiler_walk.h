/* The walk over address records (profiler.h), and single accesses.  Included once by each
   profiler_walk_*.c, after what profiler_touch.h needs, definitions of PM_PROFILE_WALK and
   PM_PROFILE_TOUCH, the names of the functions made here, and of
     words_moved_otherwise (words, address record)
                                   true: not all moved by its DELTA
     keep_words (words, address record)    they are its PREVIOUS
     row_moved_otherwise (row, address record)
                                   true: not all moved by its ENTRY_DELTA from its ENTRY
     move_row (row, address record)        the row of an execution that moved as the last one did:
                                           it is the
                                   ENTRY, and becomes the EXIT, which moves on
     nearest (addresses, n, address)
                                   the distance from the nearest of N addresses
     compare_row (row, address record, words)
                                   the classes of an execution's addresses, which come to the row */
#include "runtime/profiler/profiler_state.h"
#include "runtime/profiler/profiler_touch.h"

/* ---- strides --------------------------------------------------------------------------------- */

/* A reference's class among CLASSES (pm_profiler_record). */
static inline uint64_t class_of(uint64_t distance, uint64_t size) {
    return 1ull << 8 * pm_stride_class(distance, size);
}

/* The addresses of an execution, one after the other: their classes. */
static inline uint64_t compare_history(struct pm_profiler_block *block,
                                       const struct pm_profiler_record *record,
                                       const uint64_t *words) {
    const uint32_t window = pm_profiler_settings.window;
    uint64_t classes = 0;
    pm_profiler_make_room(block, record->n_accesses);
    for (uint32_t i = 0; i < record->n_accesses; i++) {
        const struct pm_profiler_access *access = &record->accesses[i];
        const uint64_t address = access->offset + words[access->word];
        classes += class_of(nearest(block->history + block->n - window, window, address),
                            access->size_bytes);
        block->history[block->n++] = address;
    }
    return classes;
}

/* The address record moves from its previous words to these. */
static inline void move_words(struct pm_profiler_record *record, const uint64_t *words) {
    bool alike = true;
    for (uint32_t i = 0; i < record->n_words; i++) {
        const uint64_t delta = words[i] - record->previous[i];
        alike &= delta == record->delta[i];
        record->delta[i] = delta;
    }
    record->n_alike = !record->has_previous ? 0 : alike ? record->n_alike + 1 : 1;
    record->has_previous = true;
    keep_words(words, record);
}

/* With a history: the block's last executions may be those of its steady address record. */
static __attribute__((noinline)) void find_strides(struct pm_profiler_record *record,
                                                   const uint64_t *words) {
    struct pm_profiler_block *block = record->block;
    pm_profiler_end_steady(block);
    record->classes = compare_history(block, record, words);
    pm_profiler_add_classes(block, record->classes, 1);
    move_words(record, words);
    if (record->lag == 0 || record->n_alike < record->lag)
        return;
    record->safe = pm_profiler_safe_executions(record);
    block->steady = record->safe ? record : NULL;
}

/* Classes of single executions are added up as long as a byte holds them. */
static inline void add_pending(struct pm_profiler_record *record) {
    if (PM_UNLIKELY(record->n_pending + record->n_accesses > UINT8_MAX)) {
        pm_profiler_add_classes(record->block, record->pending, 1);
        record->pending = record->n_pending = 0;
    }
    record->pending += record->classes;
    record->n_pending += record->n_accesses;
}

/* Takes the row IS after the row WAS: DELTA becomes their difference, WAS becomes IS.  True if the
   difference is the same as before. */
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
   are worth the time to find out how long they have the same strides if three did; of address
   records whose words never do, the rows are not looked at. */
static __attribute__((noinline)) void find_row_strides(struct pm_profiler_record *record,
                                                       const uint64_t *words) {
    enum { WORTH = 2, NEVER = 16 };
    struct pm_profiler_block *block = record->block;
    uint64_t *row = block->history;
    const bool had_previous = record->has_previous;
    if (record->n_steady)
        pm_profiler_add_classes(block, record->classes, record->n_steady);
    record->n_steady = record->safe = 0;
    move_words(record, words);
    record->n_unlike = record->n_alike < WORTH ? record->n_unlike + 1 : 0;
    if (record->n_unlike > NEVER) {
        record->has_entry = false;
        record->classes = compare_row(row, record, words);
        add_pending(record);
        return;
    }
    const bool alike = note_row(record->entry, record->entry_delta, row) && record->has_entry;
    record->classes = compare_row(row, record, words);
    add_pending(record);
    note_row(record->exit, record->exit_delta, row);
    record->has_entry = true;
    record->n_alike = alike ? record->n_alike : had_previous;
    if (record->n_alike >= WORTH)
        record->safe = pm_profiler_safe_executions(record);
}

/* ---- caches ---------------------------------------------------------------------------------- */

/* Are all blocks of an execution the last ones of their sets? */
static inline bool changes_nothing(const struct pm_caches *caches,
                                   const struct pm_profiler_record *record, const uint64_t *words) {
    const uint64_t *filter = caches->filter, mask = caches->filter_mask;
    const struct pm_profiler_span *span = record->spans, *behind = span + record->n_spans;
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
static inline bool touch_caches(struct pm_caches *caches, const struct pm_profiler_record *record,
                                const uint64_t *words, uint64_t *served) {
    bool misses = false;
    for (uint32_t i = 0; i < record->n_accesses; i++) {
        const struct pm_profiler_access *access = &record->accesses[i];
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
                              const struct pm_profiler_record *record, const uint64_t *words) {
    enum { LINE_PLACES = 8 };
    const struct pm_profiler_span *span = record->spans, *behind = span + record->n_spans;
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

/* END: of the records; what comes AHEAD is likely to be of the same address record. */
static inline void simulate(struct pm_profiler *profile, struct pm_profiler_record *record,
                            const uint64_t *words, const uint64_t *end) {
    enum { AHEAD = 4, STAYS_FAR = 16 };
    const uint64_t *ahead = words + AHEAD * record->n_words;
    const bool looks_ahead = record->far > 0 && ahead < end && *ahead == *words;
    for (unsigned m = 0; m < pm_profiler_settings.n_machines; m++) {
        struct pm_caches *caches = profile->caches[m];
        if (looks_ahead)
            fetch_rows(caches, record, ahead);
        if (PM_LIKELY(changes_nothing(caches, record, words) &&
                      !(caches->stores_pass && record->has_stores)))
            continue;
        const bool misses =
            touch_caches(caches, record, words,
                         record->block->served + pm_profiler_settings.machines[m].first_served);
        record->far = misses ? STAYS_FAR : record->far - (record->far > 0);
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

/* The first words of a record of a known address record: its state; NULL. */
static inline struct pm_profiler_record *state_of(struct pm_profiler *profile,
                                                  const uint64_t *words) {
    if ((*words & (PM_RECORD_IS_ADDRESSES | PM_RECORD_IS_EVENT)) != PM_RECORD_IS_ADDRESSES)
        return NULL;
    const uint64_t number = *words ^ PM_RECORD_IS_ADDRESSES;
    struct pm_profiler_record *state =
        number < PM_MAX_ADDRESS_RECORDS ? profile->address_records[number] : NULL;
    return PM_LIKELY(state != NULL) ? state : pm_profiler_record(profile, number);
}

static inline void take_strides(struct pm_profiler_record *record, const uint64_t *words,
                                bool has_row) {
    uint64_t *row = record->block->history;
    if (PM_LIKELY(record->safe && !words_moved_otherwise(words, record) &&
                  !(has_row && row_moved_otherwise(row, record)))) {
        record->safe--;
        record->n_steady++;
        keep_words(words, record);
        if (has_row)
            move_row(row, record);
    } else if (has_row) {
        find_row_strides(record, words);
    } else {
        find_strides(record, words);
    }
}

const uint64_t *PM_PROFILE_WALK(struct pm_profiler *profile, const uint64_t *words,
                                const uint64_t *end) {
    const bool has_row = pm_profiler_settings.window <= PM_RECENT;
    struct pm_profiler_record *record;
    while (words < end && (record = state_of(profile, words))) {
        take_strides(record, words, has_row);
        simulate(profile, record, words, end);
        record->n++;
        words += record->n_words;
    }
    return words;
}
