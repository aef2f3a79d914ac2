/* Bins of the histograms of a row of intervals: a hash table over block size, group and distance.
 */
#include "runtime/thread_intervals/private.h"
#include "runtime/system.h"

static struct pm_interval_bin *find_bin(struct pm_interval_bin *items, uint32_t room,
                                        uint64_t key) {
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    while (items[at & (room - 1)].key && items[at & (room - 1)].key != key)
        at++;
    return &items[at & (room - 1)];
}

/* Makes room for another bin: at most two thirds are used. */
static bool reserve(struct pm_interval_bins *bins, uint64_t *bytes) {
    enum { FIRST = 128 };
    if (bins->room && 3 * (bins->n + 1) <= 2 * bins->room)
        return true;
    uint32_t room = bins->room ? 2 * bins->room : FIRST;
    struct pm_interval_bin *items = pm_mmap(room * sizeof *items);
    if (!items)
        return false;
    for (uint32_t i = 0; i < bins->room; i++)
        if (bins->items[i].key)
            *find_bin(items, room, bins->items[i].key) = bins->items[i];
    pm_munmap(bins->items, bins->room * sizeof *items);
    *bytes += (room - bins->room) * sizeof *items;
    bins->items = items;
    bins->room = room;
    return true;
}

bool pm_interval_bins_add(struct pm_interval_bins *bins, const struct pm_interval_bin *added,
                          uint64_t *bytes) {
    if (!reserve(bins, bytes))
        return false;
    struct pm_interval_bin *bin = find_bin(bins->items, bins->room, added->key);
    bins->n += bin->key == 0;
    bin->key = added->key;
    bin->loads += added->loads;
    bin->stores += added->stores;
    bin->distance_sum += added->distance_sum;
    return true;
}

bool pm_interval_bins_move(struct pm_interval_bins *into, struct pm_interval_bins *from,
                           uint64_t *bytes) {
    bool ok = true;
    for (uint32_t i = 0; i < from->room; i++)
        if (from->items[i].key)
            ok &= pm_interval_bins_add(into, &from->items[i], bytes);
    pm_interval_bins_free(from, bytes);
    return ok;
}

void pm_interval_bins_free(struct pm_interval_bins *bins, uint64_t *bytes) {
    pm_munmap(bins->items, bins->room * sizeof *bins->items);
    *bytes -= bins->room * sizeof *bins->items;
    *bins = (struct pm_interval_bins){0};
}
