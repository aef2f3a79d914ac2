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

struct pm_interned {
    struct block *blocks; /* newest first */
    size_t n_used;        /* bytes of the newest */
    struct slot {
        const void *value;
        uint32_t n_bytes, check;
    } slots[N_SLOTS];
};

struct pm_interned *pm_interned_new(void) {
    return pm_alloc(1, sizeof(struct pm_interned));
}

void pm_interned_free(struct pm_interned *interned) {
    if (!interned)
        return;
    while (interned->blocks) {
        struct block *next = interned->blocks->next;
        free(interned->blocks);
        interned->blocks = next;
    }
    free(interned);
}

static const void *append(struct pm_interned *interned, const void *value, size_t n_bytes) {
    size_t rounded = (n_bytes + 7) & ~(size_t)7;
    if (!interned->blocks || interned->n_used + rounded > BLOCK_BYTES) {
        struct block *block = pm_alloc(1, sizeof *block);
        block->next = interned->blocks;
        interned->blocks = block;
        interned->n_used = 0;
    }
    void *copy = (uint8_t *)interned->blocks->bytes + interned->n_used;
    interned->n_used += rounded;
    return memcpy(copy, value, n_bytes);
}

const void *pm_intern(struct pm_interned *interned, const void *value, size_t n_bytes) {
    uint64_t hash = XXH3_64bits(value, n_bytes);
    struct slot *slot = &interned->slots[hash % N_SLOTS];
    uint32_t check = (uint32_t)(hash >> 32);
    if (slot->value && slot->check == check && slot->n_bytes == n_bytes &&
        memcmp(slot->value, value, n_bytes) == 0)
        return slot->value;
    slot->value = append(interned, value, n_bytes);
    slot->n_bytes = (uint32_t)n_bytes;
    slot->check = check;
    return slot->value;
}
