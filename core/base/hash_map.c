/* A hash table of numbers of items; see hash_map.h. */
#include "core/base/hash_map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/base/alloc.h"

enum { LEAST_SLOTS = 64 };

static void put(struct pm_map *map, struct pm_map_slot slot) {
    size_t at = slot.hash;
    while (map->slots[at & (map->n_slots - 1)].item)
        at++;
    map->slots[at & (map->n_slots - 1)] = slot;
}

static void grow(struct pm_map *map) {
    struct pm_map_slot *old = map->slots;
    size_t n_old = map->n_slots;
    map->n_slots = n_old ? 2 * n_old : LEAST_SLOTS;
    map->slots = pm_alloc(map->n_slots, sizeof *map->slots);
    for (size_t i = 0; i < n_old; i++)
        if (old[i].item)
            put(map, old[i]);
    free(old);
}

void pm_map_add(struct pm_map *map, uint64_t hash, uint32_t item) {
    if (2 * (map->n_items + 1) > map->n_slots)
        grow(map);
    put(map, (struct pm_map_slot){(uint32_t)(hash ^ hash >> 32), item + 1});
    map->n_items++;
}

void pm_map_free(struct pm_map *map) {
    free(map->slots);
    *map = (struct pm_map){0};
}

uint64_t pm_hash_bytes(const void *bytes, size_t n_bytes) { return XXH3_64bits(bytes, n_bytes); }

struct pm_digest pm_digest_bytes(const void *bytes, size_t n_bytes) {
    XXH128_hash_t hash = XXH3_128bits(bytes, n_bytes);
    return (struct pm_digest){hash.low64, hash.high64};
}

bool pm_digests_equal(struct pm_digest left, struct pm_digest right) {
    return left.low == right.low && left.high == right.high;
}

uint64_t pm_hash_text(const char *text) { return text ? XXH3_64bits(text, strlen(text)) : 0; }
