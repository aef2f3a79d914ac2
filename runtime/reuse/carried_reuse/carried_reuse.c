/* Activations, patterns and results; see carried_reuse.h and reuse/carriers.h.  The walk over a
   batch is in carried_walk.h, compiled once for each vector extension. */
#include "runtime/reuse/carriers.h"

#include <string.h>

#include "core/base/base.h"
#include "runtime/events/events.h"
#include "runtime/reuse/address_records/address_records.h"
#include "runtime/reuse/carriers_touch.h"
#include "runtime/system.h"

enum { FIRST_PATTERNS = 1 << 8 };

/* ---- activations ----------------------------------------------------------------------------- */

void pm_carried_open(struct pm_carried *carried, uint32_t scope) {
    if (carried->n_open > PM_MOST_OPEN)
        return; /* deeper than open_scopes.c follows */
    uint64_t now = carried->now += PM_CARRIED_TICK;
    carried->open[carried->n_open++] =
        (struct pm_carried_activation){.entered = now, .iterated = now, .scope = scope};
}

/* It is the innermost one, unless the events of a signal handler came after it. */
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

const struct pm_carried_activation *pm_carried_search(const struct pm_carried *carried,
                                                      uint64_t last, uint32_t near) {
    /* The outermost one, which is around all scopes, was always open. */
    size_t n = carried->n_open - near - 1;
    return &carried->open[PM_LOWER_BOUND(n, i, carried->open[i + 1].entered <= last)];
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
    struct pm_carried_pattern *patterns = pm_mmap(2 * room * sizeof *patterns), *old;
    if (!patterns)
        return false;
    for (uint64_t i = 0; i < room; i++)
        if ((old = &carried->patterns[i])->key)
            *find_pattern(patterns, mask, old->group, old->key) = *old;
    pm_munmap(carried->patterns, room * sizeof *patterns);
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
    if (!pm_mgrow(&carried->histograms, carried->room_histograms * bytes, room * bytes))
        return false;
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

bool pm_carried_make_groups(struct pm_carried *carried) {
    const uint32_t n_groups = carried->reuse->n_groups;
    const size_t bytes = sizeof *carried->recent;
    if (n_groups <= carried->n_recent)
        return true;
    if (!pm_mgrow(&carried->recent, carried->n_recent * bytes, n_groups * bytes))
        return false;
    carried->n_recent = n_groups;
    return true;
}

/* ---- last touches ---------------------------------------------------------------------------- */

void pm_carried_store_lasts(struct pm_carried *carried) {
    for (unsigned place = 0; place < PM_STACK_TOP; place++) {
        uint64_t block = carried->reuse->stack_top[place];
        uint64_t *last = block == PM_NO_BLOCK ? NULL : pm_carried_last(carried, block);
        if (last)
            *last = carried->lasts[place];
        carried->failed |= block != PM_NO_BLOCK && !last;
    }
}

void pm_carried_load_lasts(struct pm_carried *carried) {
    for (unsigned place = 0; place < PM_STACK_TOP; place++) {
        uint64_t block = carried->reuse->stack_top[place];
        const uint64_t *last = block == PM_NO_BLOCK ? NULL : pm_carried_last(carried, block);
        carried->lasts[place] = last ? *last : 0;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

#define OPEN_BYTES ((PM_MOST_OPEN + 1) * sizeof(struct pm_carried_activation))

static void begin(struct pm_carried *carried) {
    carried->now = PM_CARRIED_TICK;
    carried->open[0] = (struct pm_carried_activation){.scope = PM_CARRIED_OUTSIDE};
    carried->n_open = 1;
}

struct pm_carried *pm_carried_new(unsigned shift, uint64_t capacity,
                                  enum pm_reuse_variant variant) {
    struct pm_carried *carried = pm_mmap(sizeof *carried);
    if (!carried)
        return NULL;
    carried->pattern_mask = FIRST_PATTERNS - 1;
    carried->room_histograms = FIRST_PATTERNS;
    carried->reuse = pm_reuse_new(shift, capacity, variant);
    carried->open = pm_mmap(OPEN_BYTES);
    bool has_pages = pm_page_table_begin(&carried->pages);
    carried->patterns = pm_mmap(FIRST_PATTERNS * sizeof *carried->patterns);
    carried->histograms = pm_mmap(FIRST_PATTERNS * sizeof *carried->histograms);
    carried->address_records = carried->reuse ? pm_record_reuse_new(carried->reuse) : NULL;
    if (carried->address_records && carried->open && has_pages && carried->patterns &&
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
        pm_touch_histogram_free(&carried->histograms[i]);
    pm_record_reuse_free(carried->address_records);
    pm_reuse_free(carried->reuse);
    pm_page_table_free(&carried->pages);
    pm_munmap(carried->open, OPEN_BYTES);
    pm_munmap(carried->recent, carried->n_recent * sizeof *carried->recent);
    pm_munmap(carried->patterns, (carried->pattern_mask + 1) * sizeof *carried->patterns);
    pm_munmap(carried->histograms, carried->room_histograms * sizeof *carried->histograms);
    pm_munmap(carried, sizeof *carried);
}

void pm_carried_forget_blocks(struct pm_carried *carried) {
    pm_reuse_forget_blocks(carried->reuse);
    pm_record_reuse_interrupt(carried->address_records);
    memset(carried->lasts, 0, sizeof carried->lasts);
    memset(carried->near, 0, sizeof carried->near);
    pm_page_table_clear(&carried->pages);
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
    if (!pm_reuse_make_histograms(carried->reuse, n_groups) || !pm_carried_make_groups(carried))
        carried->failed = true;
    pm_record_reuse_interrupt(carried->address_records);
    if (!carried->failed)
        walks[carried->reuse->variant](carried, group_scopes, batch, count);
}

const uint64_t *pm_carried_records(struct pm_carried *carried, const uint32_t *group_scopes,
                                   const uint64_t *words, const uint64_t *end,
                                   const struct pm_carried_iteration *iteration) {
    static pm_carried_record_walk *const walks[PM_REUSE_N_VARIANTS] = {
        [PM_REUSE_SSE2] = pm_carried_record_walk_sse2,
        [PM_REUSE_AVX2] = pm_carried_record_walk_avx2,
        [PM_REUSE_AVX512] = pm_carried_record_walk_avx512,
    };
    if (carried->failed || carried->reuse->failed)
        return end;
    carried->group_scopes = group_scopes;
    return walks[carried->reuse->variant](carried, words, end, iteration);
}

void pm_carried_event(struct pm_carried *carried, enum pm_carried_event event, uint32_t scope) {
    pm_carried_take_event(carried, event, scope);
}

void pm_carried_sum(struct pm_carried *carried) {
    struct pm_reuse *reuse = carried->reuse;
    pm_carried_flush(carried);
    for (uint32_t group = 0; group < reuse->n_groups; group++)
        pm_touch_histogram_clear(&reuse->histograms[group]);
    for (uint64_t i = 0; i <= carried->pattern_mask; i++) {
        const struct pm_carried_pattern *pattern = &carried->patterns[i];
        if (pattern->key &&
            !pm_touch_histogram_sum(&reuse->histograms[pattern->group],
                                    &carried->histograms[pattern->histogram], &reuse->arena))
            carried->failed = true;
    }
}

struct pm_reuse *pm_carried_reuse(const struct pm_carried *carried) {
    return carried->reuse;
}

bool pm_carried_has_failed(const struct pm_carried *carried) {
    return carried->failed || carried->reuse->failed;
}

bool pm_carried_next(const struct pm_carried *carried, uint64_t *position,
                     struct pm_carried_result *result, struct pm_raw_bin *bins) {
    while (*position <= carried->pattern_mask && !carried->patterns[*position].key)
        ++*position;
    if (*position > carried->pattern_mask)
        return false;
    const struct pm_carried_pattern *pattern = &carried->patterns[(*position)++];
    *result = (struct pm_carried_result){.group = pattern->group,
                                         .source = pm_carried_source(pattern->key),
                                         .carrier = pm_carried_carrier(pattern->key),
                                         .across = pm_carried_across(pattern->key)};
    pm_reuse_result_of(carried->reuse, &carried->histograms[pattern->histogram], &result->reuses,
                       bins);
    return true;
}
