/* What each touch and event needs, for the walks over accesses and over address records
   (carriers.h). */
#ifndef PM_RUNTIME_REUSE_CARRIERS_TOUCH_H
#define PM_RUNTIME_REUSE_CARRIERS_TOUCH_H

#include "runtime/reuse/carriers.h"

/* The word of BLOCK's last touch; NULL: no memory. */
static inline uint64_t *pm_carried_last(struct pm_carried *carried, uint64_t block) {
    uint64_t key = block / PM_LAST_PAGE_BLOCKS + 1;
    struct pm_page *near = &carried->near[key % PM_LAST_NEAR];
    if (PM_UNLIKELY(near->key != key)) {
        uint64_t *touches = pm_page_table_find(&carried->pages, key, PM_LAST_PAGE_BLOCKS);
        if (!touches)
            return NULL;
        *near = (struct pm_page){key, touches};
    }
    return &near->words[block % PM_LAST_PAGE_BLOCKS];
}

/* Most reuses are carried by one of the two innermost activations. */
static inline uint64_t pm_carried_find_key(const struct pm_carried *carried, uint64_t last) {
    enum { NEAR = 2 };
    const struct pm_carried_activation *top = &carried->open[carried->n_open - 1];
    if (PM_UNLIKELY(last < top->entered) && last < (--top)->entered)
        top = pm_carried_search(carried, last, NEAR);
    return pm_carried_key(last & PM_CARRIED_SCOPE_MASK, top->scope, last < top->iterated);
}

/* Without branches: which of a group's patterns it is cannot be foreseen. */
static inline uint32_t pm_carried_histogram(struct pm_carried *carried, uint32_t group,
                                            uint64_t key) {
    const struct pm_recent_patterns *recent = &carried->recent[group];
    unsigned place = 0;
    for (unsigned i = 1; i < PM_RECENT_PATTERNS; i++)
        place += recent->keys[i] == key ? i : 0;
    return PM_LIKELY(recent->keys[place] == key) ? recent->histograms[place]
                                                 : pm_carried_find_pattern(carried, group, key);
}

static inline void pm_carried_count_key(struct pm_carried *carried, uint32_t group, uint64_t key,
                                        unsigned kind, uint64_t distance) {
    uint32_t number = pm_carried_histogram(carried, group, key);
    if (PM_UNLIKELY(number == PM_NO_PATTERN ||
                    !pm_touch_histogram_count(&carried->histograms[number], &carried->reuse->arena,
                                              kind, distance)))
        carried->failed = true;
}

static inline void pm_carried_count_reuse(struct pm_carried *carried, uint32_t group, uint64_t last,
                                          unsigned kind, uint64_t distance) {
    pm_carried_count_key(carried, group, pm_carried_find_key(carried, last), kind, distance);
}

static inline void pm_carried_take_event(struct pm_carried *carried, uint32_t event,
                                         uint32_t scope) {
    struct pm_carried_activation *top = &carried->open[carried->n_open - 1];
    if (PM_LIKELY(event == PM_CARRIED_ITERATE)) {
        carried->now += PM_CARRIED_TICK;
        while (PM_UNLIKELY(top->scope != scope) && top > carried->open)
            top--;
        top->iterated = top->scope == scope ? carried->now : top->iterated;
    } else if (event == PM_CARRIED_ENTER) {
        pm_carried_open(carried, scope);
    } else {
        pm_carried_close(carried, scope);
    }
}

#endif
