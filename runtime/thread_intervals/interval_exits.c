/* Activations of the interval that goes on which were left for good, or resumed (nonlocal_exits).

   A hash table over module and return address whose items are claimed by exchanging their keys, so
   that a signal handler may add while it interrupts somebody who does; programs that jump all the
   time do so at few places.  Which items are in use stands in a list, so that an interval with few
   of them, or none, costs little. */
#include "runtime/thread_intervals/private.h"

#include "runtime/notes.h"
#include "runtime/system.h"

enum { N_ITEMS = 1 << 14 };

struct pm_interval_exits {
    struct item {
        uint64_t key; /* 0: free */
        int64_t left, resumed;
    } items[N_ITEMS];
    uint32_t used[N_ITEMS]; /* number of an item + 1; 0: it is being written */
    uint32_t n_used;
};

bool pm_interval_has_exits(const struct pm_interval_exits *exits) {
    return exits && __atomic_load_n(&exits->n_used, __ATOMIC_ACQUIRE) > 0;
}

static struct item *find_item(struct pm_interval_exits *exits, uint64_t key) {
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 50;
    for (uint32_t tries = 0; tries < N_ITEMS / 2; tries++, at++) {
        struct item *item = &exits->items[at % N_ITEMS];
        uint64_t found = __atomic_load_n(&item->key, __ATOMIC_RELAXED);
        if (found == 0 && __atomic_compare_exchange_n(&item->key, &found, key, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            uint32_t n = __atomic_fetch_add(&exits->n_used, 1, __ATOMIC_ACQ_REL);
            __atomic_store_n(&exits->used[n], (uint32_t)(at % N_ITEMS) + 1, __ATOMIC_RELEASE);
            return item;
        }
        if (found == key)
            return item;
    }
    return NULL;
}

void pm_interval_exits_add(struct pm_interval_exits **exits, uint64_t key, bool resumed,
                           int64_t count) {
    if (!*exits) {
        struct pm_interval_exits *made = pm_mmap(sizeof *made), *none = NULL;
        if (made && !__atomic_compare_exchange_n(exits, &none, made, false, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_ACQUIRE))
            pm_munmap(made, sizeof *made);
    }
    struct item *item = *exits ? find_item(*exits, key) : NULL;
    if (item)
        __atomic_fetch_add(resumed ? &item->resumed : &item->left, count, __ATOMIC_RELAXED);
    else
        pm_note_add(PM_NOTE_LOST_FRAMES, 1);
}

bool pm_interval_exits_get(const struct pm_interval_exits *exits, uint32_t i,
                           struct pm_interval_exit *exit) {
    if (!exits || i >= __atomic_load_n(&exits->n_used, __ATOMIC_ACQUIRE))
        return false;
    uint32_t number = __atomic_load_n(&exits->used[i], __ATOMIC_ACQUIRE);
    if (number == 0)
        return false;
    const struct item *item = &exits->items[number - 1];
    *exit =
        (struct pm_interval_exit){.key = item->key, .left = item->left, .resumed = item->resumed};
    return true;
}

void pm_interval_exits_clear(struct pm_interval_exits *exits) {
    for (uint32_t i = 0; exits && i < exits->n_used; i++) {
        exits->items[exits->used[i] - 1] = (struct item){0};
        exits->used[i] = 0;
    }
    if (exits)
        exits->n_used = 0;
}

void pm_interval_exits_free(struct pm_interval_exits *exits) { pm_munmap(exits, sizeof *exits); }
