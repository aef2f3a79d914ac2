/* The walk over records of bundles (profile.h), and single accesses.  Included once by each
   walk_*.c, after what touch.h needs, definitions of PM_PROFILE_WALK and PM_PROFILE_TOUCH, the
   names of the functions made here, and of words_moved_otherwise (words, bundle)   true: not all
   moved by its DELTA keep_words (words, bundle)              they are its PREVIOUS nearest
   (addresses, n, address)         the distance from the nearest of N addresses compare_recent
   (block, bundle, words)   for a window of up to PM_RECENT: the class of each address of an
   execution is counted in bundle->strides, and it comes to the block's recent addresses */
#include "runtime/profile/state.h"
#include "runtime/profile/touch.h"

/* ---- strides --------------------------------------------------------------------------------- */

/* The addresses of an execution, one after the other. */
static inline void compare_addresses(struct pm_profiler_bundle *bundle, const uint64_t *words) {
    struct pm_profiler_block *block = bundle->block;
    const uint32_t window = pm_profiler_settings.window;
    for (unsigned c = 0; c < PM_STRIDE_CLASSES; c++)
        bundle->strides[c] = 0;
    if (window <= PM_RECENT) {
        compare_recent(block, bundle, words);
    } else {
        pm_profiler_make_room(block, bundle->n_accesses);
        for (uint32_t i = 0; i < bundle->n_accesses; i++) {
            const struct pm_profiler_access *access = &bundle->accesses[i];
            const uint64_t address = access->offset + words[access->word];
            const uint64_t distance = nearest(block->history + block->n - window, window, address);
            bundle->strides[pm_stride_class(distance, access->size_bytes)]++;
            block->history[block->n++] = address;
        }
    }
    for (unsigned c = 0; c < PM_STRIDE_CLASSES; c++)
        block->strides[c] += bundle->strides[c];
}

static __attribute__((noinline)) void find_strides(struct pm_profiler_bundle *bundle,
                                                   const uint64_t *words) {
    struct pm_profiler_block *block = bundle->block;
    pm_profiler_end_steady(block);
    bool alike = true;
    for (uint32_t i = 0; i < bundle->n_words; i++) {
        const uint64_t delta = words[i] - bundle->previous[i];
        alike &= delta == bundle->delta[i];
        bundle->delta[i] = delta;
    }
    bundle->n_alike = !bundle->has_previous ? 0 : alike ? bundle->n_alike + 1 : 1;
    bundle->has_previous = true;
    compare_addresses(bundle, words);
    keep_words(words, bundle);
    if (bundle->lag == 0 || bundle->n_alike < bundle->lag)
        return;
    bundle->safe = pm_profiler_safe_executions(bundle);
    block->steady = bundle->safe ? bundle : NULL;
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
    }
    return differs == 0;
}

/* One access after the other. */
static inline void touch_caches(struct pm_caches *caches, const struct pm_profiler_bundle *bundle,
                                const uint64_t *words, uint64_t *served) {
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
        if (farthest)
            served[farthest - 1]++;
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static inline void simulate(struct pm_profiler *profile, const struct pm_profiler_bundle *bundle,
                            const uint64_t *words) {
    for (unsigned m = 0; m < pm_profiler_settings.n_machines; m++) {
        struct pm_caches *caches = profile->caches[m];
        if (PM_LIKELY(changes_nothing(caches, bundle, words) &&
                      !(caches->stores_pass && bundle->has_stores)))
            continue;
        touch_caches(caches, bundle, words,
                     bundle->block->served + pm_profiler_settings.machines[m].first_served);
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

const uint64_t *PM_PROFILE_WALK(struct pm_profiler *profile, const uint64_t *words,
                                const uint64_t *end) {
    struct pm_profiler_bundle *bundle;
    while (words < end && (bundle = state_of(profile, words))) {
        if (PM_LIKELY(bundle->safe && !words_moved_otherwise(words, bundle))) {
            bundle->safe--;
            bundle->n_steady++;
            keep_words(words, bundle);
        } else {
            find_strides(bundle, words);
        }
        simulate(profile, bundle, words);
        bundle->n++;
        words += bundle->n_words;
    }
    return words;
}
