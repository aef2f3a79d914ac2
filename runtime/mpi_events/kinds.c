/* Kinds of events of a thread; see private.h. */
#include <string.h>

#include "runtime/mpi_events/private.h"

enum { KEY_BYTES = offsetof(struct pm_raw_event, n), KEY_WORDS = KEY_BYTES / 8, FIRST_ROOM = 64 };
_Static_assert(KEY_BYTES % 8 == 0, "the key is compared and hashed word by word");

static uint64_t hash_of(const struct pm_raw_event *event) {
    uint64_t words[KEY_WORDS], hash = 0;
    memcpy(words, event, sizeof words);
    for (unsigned i = 0; i < KEY_WORDS; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

static bool is_same(const struct pm_raw_event *a, const struct pm_raw_event *b) {
    return memcmp(a, b, KEY_BYTES) == 0;
}

static void enter(struct pm_counted_events *kinds, uint32_t kind) {
    uint32_t at = (uint32_t)hash_of(&kinds->kinds[kind]);
    while (kinds->by_hash[at & (kinds->n_slots - 1)])
        at++;
    kinds->by_hash[at & (kinds->n_slots - 1)] = kind + 1;
}

static bool grow(struct pm_counted_events *kinds) {
    uint32_t room = kinds->room ? 2 * kinds->room : FIRST_ROOM;
    uint32_t *table = room > PM_MOST_EVENT_KINDS ? NULL : pm_mmap(2 * room * sizeof *table);
    if (!table)
        return false;
    if (!pm_mgrow(&kinds->kinds, kinds->room * sizeof *kinds->kinds, room * sizeof *kinds->kinds)) {
        pm_munmap(table, 2 * room * sizeof *table);
        return false;
    }
    if (pmodel_call_times_wanted() &&
        !pm_mgrow(&kinds->times, kinds->room * sizeof *kinds->times, room * sizeof *kinds->times)) {
        pm_munmap(table, 2 * room * sizeof *table);
        return false;
    }
    pm_munmap(kinds->by_hash, kinds->n_slots * sizeof *table);
    kinds->by_hash = table;
    kinds->n_slots = 2 * room;
    kinds->room = room;
    for (uint32_t i = 0; i < kinds->n_kinds; i++)
        enter(kinds, i);
    return true;
}

uint32_t pm_event_kind(struct pm_counted_events *kinds, const struct pm_raw_event *event) {
    uint32_t at = (uint32_t)hash_of(event), found;
    for (; kinds->n_slots && (found = kinds->by_hash[at & (kinds->n_slots - 1)]); at++)
        if (is_same(&kinds->kinds[found - 1], event))
            return found - 1;
    if (kinds->n_kinds == kinds->room && !grow(kinds))
        return UINT32_MAX;
    kinds->kinds[kinds->n_kinds] = *event;
    kinds->kinds[kinds->n_kinds].n = 0;
    enter(kinds, kinds->n_kinds);
    return kinds->n_kinds++;
}

void pm_counted_events_free(struct pm_counted_events *kinds) {
    pm_munmap(kinds->kinds, kinds->room * sizeof *kinds->kinds);
    pm_munmap(kinds->times, kinds->room * sizeof *kinds->times);
    pm_munmap(kinds->by_hash, kinds->n_slots * sizeof *kinds->by_hash);
    *kinds = (struct pm_counted_events){0};
}
