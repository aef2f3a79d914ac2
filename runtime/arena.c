/* Memory taken in chunks from mmap; see arena.h. */
#include "runtime/arena.h"

#include "runtime/system.h"

enum { CHUNK_BYTES = 1 << 18 };

struct pm_arena_chunk {
    struct pm_arena_chunk *next;
    size_t size; /* in bytes, with this head */
};

void *pm_arena_take(struct pm_arena *arena, size_t bytes) {
    if (!arena->chunks || bytes > arena->chunks->size - arena->used) {
        size_t least = sizeof *arena->chunks + bytes;
        size_t size = least > CHUNK_BYTES ? least : CHUNK_BYTES;
        struct pm_arena_chunk *chunk = pm_mmap(size);
        if (!chunk)
            return NULL;
        *chunk = (struct pm_arena_chunk){arena->chunks, size};
        arena->chunks = chunk;
        arena->used = sizeof *chunk;
    }
    void *memory = (char *)arena->chunks + arena->used;
    arena->used += bytes;
    return memory;
}

void pm_arena_free(struct pm_arena *arena) {
    while (arena->chunks) {
        struct pm_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        pm_munmap(chunk, chunk->size);
    }
}

uint64_t pm_arena_bytes(const struct pm_arena *arena) {
    uint64_t bytes = 0;
    for (const struct pm_arena_chunk *chunk = arena->chunks; chunk; chunk = chunk->next)
        bytes += chunk->size;
    return bytes;
}
