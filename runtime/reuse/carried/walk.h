/* The walk over a batch of accesses and events (carried.h, state.h).  Included once by each
   walk_*.c, after a front (reuse/touch.h) and a definition of PM_CARRIED_WALK, the name of
   the function made here. */
#include "runtime/reuse/carried/state.h"
#include "runtime/reuse/touch.h"

/* The word of BLOCK's last touch; NULL: no memory. */
static inline uint64_t *find_last(struct pm_carried *carried, uint64_t block) {
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
static inline uint64_t find_key(const struct pm_carried *carried, uint64_t last) {
    enum { NEAR = 2 };
    const struct pm_carried_activation *top = &carried->open[carried->n_open - 1];
    if (PM_UNLIKELY(last < top->entered) && last < (--top)->entered)
        top = pm_carried_search(carried, last, NEAR);
    return pm_carried_key(last & PM_CARRIED_SCOPE_MASK, top->scope, last < top->iterated);
}

/* Without branches: which of a group's patterns it is cannot be foreseen. */
static inline uint32_t find_histogram(struct pm_carried *carried, uint32_t group, uint64_t key) {
    const struct pm_recent_patterns *recent = &carried->recent[group];
    unsigned place = 0;
    for (unsigned i = 1; i < PM_RECENT_PATTERNS; i++)
        place += recent->keys[i] == key ? i : 0;
    return PM_LIKELY(recent->keys[place] == key) ? recent->histograms[place]
                                                 : pm_carried_find_pattern(carried, group, key);
}

static inline void count_reuse(struct pm_carried *carried, uint32_t group, uint64_t last,
                               unsigned kind, uint64_t distance) {
    uint32_t number = find_histogram(carried, group, find_key(carried, last));
    if (PM_UNLIKELY(number == PM_NO_PATTERN ||
                    !pm_touch_histogram_count(&carried->histograms[number], &carried->reuse->arena,
                                              kind, distance)))
        carried->failed = true;
}

static inline void take_event(struct pm_carried *carried, uint32_t event, uint32_t scope) {
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

void PM_CARRIED_WALK(struct pm_carried *carried, const uint32_t *group_scopes,
                     const struct pmodel_access *batch, size_t count) {
    enum { LOAD = 0, STORE = 1, BOTH = 2 };
    struct pm_reuse *reuse = carried->reuse;
    struct front front = front_load(reuse->front);
    const unsigned shift = reuse->shift;
    uint64_t newest = reuse->front[0];
    uint64_t *last = newest == PM_NO_BLOCK ? NULL : find_last(carried, newest);
    for (size_t i = 0; i < count && PM_LIKELY(!carried->failed); i++) {
        const struct pmodel_access *access = &batch[i];
        const uint32_t group = access->group;
        if (access->kind >= PM_CARRIED_ENTER) {
            take_event(carried, access->kind, group);
            continue;
        }
        const unsigned kind = access->kind - 1;
        const uint64_t touch = carried->now | group_scopes[group];
        const uint64_t end = (access->address + access->size_bytes - 1) >> shift;
        for (uint64_t block = access->address >> shift;; block++) {
            uint64_t distance = 0;
            if (block != newest) {
                newest = block;
                last = find_last(carried, block);
                if (PM_UNLIKELY(!last)) {
                    carried->failed = true;
                    break;
                }
                distance = pm_reuse_touch(reuse, &front, block, (struct pm_toucher){0, 0});
            }
            if (PM_UNLIKELY(distance == PM_COLD))
                reuse->histograms[group].cold[kind == BOTH ? LOAD : kind]++;
            else
                count_reuse(carried, group, *last, kind == BOTH ? LOAD : kind, distance);
            if (kind == BOTH)
                count_reuse(carried, group, touch, STORE, 0);
            *last = touch;
            if (PM_LIKELY(block >= end))
                break;
        }
    }
    front_store(&front, reuse->front);
    carried->failed |= reuse->failed;
}
