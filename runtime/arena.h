/* Zeroed memory that is given back all at once. */
#ifndef PM_RUNTIME_ARENA_H
#define PM_RUNTIME_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed before its first use; empty again after pm_arena_free. */
struct pm_arena {
    struct pm_arena_chunk *chunks;
    size_t used; /* bytes of the first chunk */
};

/* BYTES, a multiple of 8; NULL: there is no memory. */
void *pm_arena_take(struct pm_arena *arena, size_t bytes);
void pm_arena_free(struct pm_arena *arena);

/* Bytes of memory in use. */
uint64_t pm_arena_bytes(const struct pm_arena *arena);

#endif
