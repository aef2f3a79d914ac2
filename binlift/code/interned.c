/* Values kept in blocks that never move, found again by a direct-mapped table of the last ones: a
   value that was pushed out of its slot is kept a second time, which costs memory only. */
#include "binlift/code/interned.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/base/base.h"

enum { N_SLOTS = 1 << 14, BLOCK_BYTES = 1 << 16 };

struct block {
    struct block *next;
    uint64_t bytes[BLOCK_BYTES / sizeof(uint64_t)];
};

struct pm_pool {
    struct block *blocks; /* newest first */
    size_t n_used;        /* bytes of the newest */
    struct slot {
        const void *value;
        uint32_t n_bytes, check;
    } slots[N_SLOTS];
};

struct pm_pool *pm_pool_new(void) {
    return pm_alloc(1, sizeof(struct pm_pool));
}

void pm_pool_free(struct pm_pool *pool) {
    if (!pool)
        return;
    while (pool->blocks) {
        struct block *next = pool->blocks->next;
        free(pool->blocks);
        pool->blocks = next;
    }
    free(pool);
}

static const void *append(struct pm_pool *pool, const void *value, size_t n_bytes) {
    size_t rounded = (n_bytes + 7) & ~(size_t)7;
    if (!pool->blocks || pool->n_used + rounded > BLOCK_BYTES) {
        struct block *block = pm_alloc(1, sizeof *block);
        block->next = pool->blocks;
        pool->blocks = block;
        pool->n_used = 0;
    }
    void *copy = (uint8_t *)pool->blocks->bytes + pool->n_used;
    pool->n_used += rounded;
    return memcpy(copy, value, n_bytes);
}

const void *pm_pool_keep(struct pm_pool *pool, const void *value, size_t n_bytes) {
    uint64_t hash = XXH3_64bits(value, n_bytes);
    struct slot *slot = &pool->slots[hash % N_SLOTS];
    uint32_t check = (uint32_t)(hash >> 32);
    if (slot->value && slot->check == check && slot->n_bytes == n_bytes &&
        memcmp(slot->value, value, n_bytes) == 0)
        return slot->value;
    slot->value = append(pool, value, n_bytes);
    slot->n_bytes = (uint32_t)n_bytes;
    slot->check = check;
    return slot->value;
}
