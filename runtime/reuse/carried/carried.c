/* The parts of the analysis of carried reuse that are not hot; see carried.h.  The walk over a
   batch is in carried_walk.h, compiled once for each vector extension. */
#include "runtime/reuse/carried/carried.h"

#include <string.h>

#include "runtime/events/open_scopes.h"
#include "runtime/system.h"

enum { FIRST_PAGES = 1 << 10, FIRST_PATTERNS = 1 << 8 };

/* ---- last touches ---------------------------------------------------------------------------- */

/* Neighbouring pages are far apart on purpose: a program's arrays would else form long runs of
   taken entries and collide as wholes. */
static uint64_t page_hash(uint64_t key) { return key * 0x9e3779b97f4a7c15 >> 32; }

static struct pm_last_page *find_page(struct pm_last_page *pages, uint64_t mask, uint64_t key) {
    uint64_t i = page_hash(key);
    while (pages[i & mask].key && pages[i & mask].key != key)
        i++;
    return &pages[i & mask];
}

static bool grow_pages(struct pm_carried *carried) {
    uint64_t room = carried->page_mask + 1, mask = 2 * room - 1;
    struct pm_last_page *pages = pm_map(2 * room * sizeof *pages);
    if (!pages)
        return false;
    for (uint64_t i = 0; i < room; i++)
        if (carried->pages[i].key)
            *find_page(pages, mask, carried->pages[i].key) = carried->pages[i];
    pm_unmap(carried->pages, room * sizeof *pages);
    carried->pages = pages;
    carried->page_mask = mask;
    return true;
}

uint64_t *pm_carried_page(struct pm_carried *carried, uint64_t key) {
    struct pm_last_page *page = find_page(carried->pages, carried->page_mask, key);
    if (page->key)
        return page->touches;
    if (2 * carried->n_pages > carried->page_mask) {
        if (!grow_pages(carried))
            return NULL;
        page = find_page(carried->pages, carried->page_mask, key);
    }
    uint64_t *touches = pm_arena_take(&carried->page_arena, PM_LAST_PAGE_BLOCKS * sizeof *touches);
    if (!touches)
        return NULL;
    *page = (struct pm_last_page){key, touches};
    carried->n_pages++;
    return touches;
}

/* ---- activations ----------------------------------------------------------------------------- */

void pm_carried_open(struct pm_carried *carried, uint32_t scope) {
    if (carried->n_open > PM_MOST_OPEN)
        return; /* events.c told no more */
    uint64_t now = carried->now += PM_CARRIED_TICK;
    carried->open[carried->n_open++] =
        (struct pm_activation){.entered = now, .iterated = now, .scope = scope};
}

/* It is the innermost one, unless a handler of a signal was told of late. */
void pm_carried_close(struct pm_carried *carried, uint32_t scope) {
    uint32_t at = carried->n_open - 1;
    while (at > 0 && carried->open[at].scope != scope)
        at--;
    if (at == 0)
        return;
    memmove(&carried->open[at], &carried->open[at + 1],
            (carried->n_open - at - 1) * sizeof *carried->open);
    carried->n_open--;
}

const struct pm_activation *pm_carried_search(const struct pm_carried *carried, uint64_t last,
                                              uint32_t near) {
    uint32_t low = 0, high = carried->n_open - near; /* open[low] was open then, open[high] not */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (last < carried->open[middle].entered)
            high = middle;
        else
            low = middle;
    }
    return &carried->open[low];
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* The place of (GROUP, KEY), empty if it is new. */
static struct pm_carried_pattern *find_pattern(struct pm_carried_pattern *patterns, uint64_t mask,
                                               uint32_t group, uint64_t key) {
    uint64_t i = (key ^ (uint64_t)group * 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93 >> 32;
    while (patterns[i & mask].key &&
           (patterns[i & mask].key != key || patterns[i & mask].group != group))
        i++;
    return &patterns[i & mask];
}

static bool grow_patterns(struct pm_carried *carried) {
    uint64_t room = carried->pattern_mask + 1, mask = 2 * room - 1;
    struct pm_carried_pattern *patterns = pm_map(2 * room * sizeof *patterns), *old;
    if (!patterns)
        return false;
    for (uint64_t i = 0; i < room; i++)
        if ((old = &carried->patterns[i])->key)
            *find_pattern(patterns, mask, old->group, old->key) = *old;
    pm_unmap(carried->patterns, room * sizeof *patterns);
    carried->patterns = patterns;
    carried->pattern_mask = mask;
    return true;
}

/* Room for one more pattern. */
static bool make_room(struct pm_carried *carried) {
    const size_t bytes = sizeof *carried->histograms;
    if (2 * carried->n_patterns > carried->pattern_mask && !grow_patterns(carried))
        return false;
    if (carried->n_patterns < carried->room_histograms)
        return true;
    uint64_t room = 2 * carried->room_histograms;
    struct pm_group_histogram *histograms =
        pm_remap(carried->histograms, carried->room_histograms * bytes, room * bytes);
    if (!histograms)
        return false;
    carried->histograms = histograms;
    carried->room_histograms = room;
    return true;
}

uint32_t pm_carried_find_pattern(struct pm_carried *carried, uint32_t group, uint64_t key) {
    if (!make_room(carried))
        return PM_NO_PATTERN;
    struct pm_carried_pattern *pattern =
        find_pattern(carried->patterns, carried->pattern_mask, group, key);
    if (!pattern->key)
        *pattern = (struct pm_carried_pattern){key, group, carried->n_patterns++};
    struct pm_recent_patterns *recent = &carried->recent[group];
    recent->keys[recent->next] = key;
    recent->histograms[recent->next] = pattern->histogram;
    recent->next = (recent->next + 1) % PM_RECENT_PATTERNS;
    return pattern->histogram;
}

/* For all groups of the analysis. */
static bool make_recent(struct pm_carried *carried, uint32_t n_groups) {
    const size_t bytes = sizeof *carried->recent;
    if (n_groups <= carried->n_recent)
        return true;
    struct pm_recent_patterns *recent =
        pm_remap(carried->recent, carried->n_recent * bytes, n_groups * bytes);
    if (!recent)
        return false;
    carried->recent = recent;
    carried->n_recent = n_groups;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

#define OPEN_BYTES ((PM_MOST_OPEN + 1) * sizeof(struct pm_activation))

static void begin(struct pm_carried *carried) {
    carried->now = PM_CARRIED_TICK;
    carried->open[0] = (struct pm_activation){.scope = PM_CARRIED_OUTSIDE};
    carried->n_open = 1;
}

struct pm_carried *pm_carried_new(unsigned shift, uint64_t capacity,
                                  enum pm_reuse_variant variant) {
    struct pm_carried *carried = pm_map(sizeof *carried);
    if (!carried)
        return NULL;
    carried->page_mask = FIRST_PAGES - 1;
    carried->pattern_mask = FIRST_PATTERNS - 1;
    carried->room_histograms = FIRST_PATTERNS;
    carried->reuse = pm_reuse_new(shift, capacity, variant);
    carried->open = pm_map(OPEN_BYTES);
    carried->pages = pm_map(FIRST_PAGES * sizeof *carried->pages);
    carried->patterns = pm_map(FIRST_PATTERNS * sizeof *carried->patterns);
    carried->histograms = pm_map(FIRST_PATTERNS * sizeof *carried->histograms);
    if (carried->reuse && carried->open && carried->pages && carried->patterns &&
        carried->histograms) {
        begin(carried);
        return carried;
    }
    pm_carried_free(carried);
    return NULL;
}

void pm_carried_free(struct pm_carried *carried) {
    if (!carried)
        return;
    for (uint32_t i = 0; i < carried->n_patterns; i++)
        pm_group_histogram_free(&carried->histograms[i]);
    pm_reuse_free(carried->reuse);
    pm_arena_free(&carried->page_arena);
    pm_unmap(carried->open, OPEN_BYTES);
    pm_unmap(carried->pages, (carried->page_mask + 1) * sizeof *carried->pages);
    pm_unmap(carried->recent, carried->n_recent * sizeof *carried->recent);
    pm_unmap(carried->patterns, (carried->pattern_mask + 1) * sizeof *carried->patterns);
    pm_unmap(carried->histograms, carried->room_histograms * sizeof *carried->histograms);
    pm_unmap(carried, sizeof *carried);
}

void pm_carried_forget_blocks(struct pm_carried *carried) {
    pm_reuse_forget_blocks(carried->reuse);
    pm_arena_free(&carried->page_arena);
    carried->page_arena = (struct pm_arena){0};
    memset(carried->near, 0, sizeof carried->near);
    memset(carried->pages, 0, (carried->page_mask + 1) * sizeof *carried->pages);
    carried->n_pages = 0;
    begin(carried);
}

void pm_carried_accesses(struct pm_carried *carried, uint32_t n_groups,
                         const uint32_t *group_scopes, const struct pmodel_access *batch,
                         size_t count) {
    static pm_carried_walk *const walks[PM_REUSE_N_VARIANTS] = {
        [PM_REUSE_SSE2] = pm_carried_walk_sse2,
        [PM_REUSE_AVX2] = pm_carried_walk_avx2,
        [PM_REUSE_AVX512] = pm_carried_walk_avx512,
    };
    if (!pm_reuse_make_histograms(carried->reuse, n_groups) || !make_recent(carried, n_groups))
        carried->failed = true;
    if (!carried->failed)
        walks[carried->reuse->variant](carried, group_scopes, batch, count);
}

void pm_carried_sum(struct pm_carried *carried) {
    struct pm_reuse *reuse = carried->reuse;
    for (uint32_t group = 0; group < reuse->n_groups; group++)
        pm_group_histogram_clear(&reuse->histograms[group]);
    for (uint64_t i = 0; i <= carried->pattern_mask; i++) {
        const struct pm_carried_pattern *pattern = &carried->patterns[i];
        if (pattern->key &&
            !pm_group_histogram_sum(&reuse->histograms[pattern->group],
                                    &carried->histograms[pattern->histogram], &reuse->arena))
            carried->failed = true;
    }
}
