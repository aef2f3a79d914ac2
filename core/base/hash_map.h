/* A hash table from keys to the numbers of items that stand in an array of the caller's.  The map
   keeps hashes and numbers, the caller keeps the items and says whether one has the key:

       uint64_t hash = pm_hash_text(name);
       for (struct pm_map_entry at = pm_map_find(&map, hash); at.found; pm_map_next(&map, &at))
           if (strcmp(items[at.item].name, name) == 0)
               return at.item;
       pm_map_add(&map, hash, n_items);

   Open addressing with linear probing, at most half full; an empty map is all zeros. */
#ifndef PM_HASH_MAP_H
#define PM_HASH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_map_slot {
    uint32_t hash; /* both halves of it in one */
    uint32_t item; /* number + 1; 0: free */
};

struct pm_map {
    struct pm_map_slot *slots; /* owned */
    size_t n_slots, n_items;   /* n_slots: a power of two, or 0 */
};

void pm_map_free(struct pm_map *map); /* what it owns; leaves an empty map */

/* Adds item number ITEM (below 2^32 − 1) under HASH; does not look whether it is there. */
void pm_map_add(struct pm_map *map, uint64_t hash, uint32_t item);

/* XXH3 of bytes, and of a text (NULL: 0). */
uint64_t pm_hash_bytes(const void *bytes, size_t n_bytes);
/* Stands for BYTES where they are too long to be kept: that two of a million contents have the same
   one by chance is less likely than 1e-26. */
struct pm_digest {
    uint64_t low, high;
};
struct pm_digest pm_digest_bytes(const void *bytes, size_t n_bytes);
bool pm_digests_equal(struct pm_digest left, struct pm_digest right);
uint64_t pm_hash_text(const char *text);

/* An item that may have the hash that was looked for. */
struct pm_map_entry {
    bool found; /* else there is no other one */
    uint32_t item;
    uint32_t hash;
    size_t slot;
};

static inline void pm_map_seek(const struct pm_map *map, struct pm_map_entry *at) {
    const struct pm_map_slot *slot;
    for (;; at->slot++) {
        slot = &map->slots[at->slot & (map->n_slots - 1)];
        if (!slot->item || slot->hash == at->hash)
            break;
    }
    at->found = slot->item != 0;
    at->item = slot->item - 1;
}

/* The first and the next item that may have HASH. */
static inline struct pm_map_entry pm_map_find(const struct pm_map *map, uint64_t hash) {
    uint32_t halves = (uint32_t)(hash ^ hash >> 32);
    struct pm_map_entry at = {.hash = halves, .slot = halves};
    if (map->n_slots)
        pm_map_seek(map, &at);
    return at;
}
static inline void pm_map_next(const struct pm_map *map, struct pm_map_entry *at) {
    at->slot++;
    pm_map_seek(map, at);
}

#endif
