/* Packing and unpacking of zstd frames; see packing.h. */
#include "core/base/packing.h"

#include <stdlib.h>
#include <zstd.h>

#include "core/base/alloc.h"

enum { COMPRESSION_LEVEL = 3 };

/* RFC 8878, section 3.1.1.2: a block takes at least 4 bytes if it holds anything, and holds at most
   128 KiB. */
enum { LEAST_BLOCK_BYTES = 4, MOST_BLOCK_CONTENT = 128 << 10 };

struct pm_packing {
    ZSTD_CCtx *to_pack;
    ZSTD_DCtx *to_unpack;
};

struct pm_packing *pm_packing_new(void) {
    struct pm_packing *packing = pm_alloc(1, sizeof *packing);
    packing->to_pack = ZSTD_createCCtx();
    packing->to_unpack = ZSTD_createDCtx();
    return packing;
}

void pm_packing_free(struct pm_packing *packing) {
    if (!packing)
        return;
    ZSTD_freeCCtx(packing->to_pack);
    ZSTD_freeDCtx(packing->to_unpack);
    free(packing);
}

size_t pm_pack(struct pm_packing *packing, void *to, size_t room, const void *bytes,
               size_t n_bytes) {
    if (packing && packing->to_pack)
        return ZSTD_compressCCtx(packing->to_pack, to, room, bytes, n_bytes, COMPRESSION_LEVEL);
    return ZSTD_compress(to, room, bytes, n_bytes, COMPRESSION_LEVEL);
}

static size_t unpack(struct pm_packing *packing, void *to, size_t room, const void *packed,
                     size_t n_packed) {
    if (packing && packing->to_unpack)
        return ZSTD_decompressDCtx(packing->to_unpack, to, room, packed, n_packed);
    return ZSTD_decompress(to, room, packed, n_packed);
}

void *pm_unpack(const void *packed, size_t n_packed, size_t *n_bytes) {
    return pm_unpack_with(NULL, packed, n_packed, n_bytes);
}

bool pm_packed_size(const void *packed, size_t n_packed, uint64_t *n_bytes) {
    *n_bytes = packed ? ZSTD_getFrameContentSize(packed, n_packed) : 0;
    /* Also ZSTD_CONTENTSIZE_UNKNOWN and …_ERROR, which are the largest numbers. */
    return packed && *n_bytes <= n_packed / LEAST_BLOCK_BYTES * (uint64_t)MOST_BLOCK_CONTENT;
}

void *pm_unpack_with(struct pm_packing *packing, const void *packed, size_t n_packed,
                     size_t *n_bytes) {
    uint64_t stated;
    if (!pm_packed_size(packed, n_packed, &stated))
        return NULL;
    void *bytes = malloc(stated ? stated : 1);
    if (!bytes || unpack(packing, bytes, stated, packed, n_packed) != stated) {
        free(bytes);
        return NULL;
    }
    *n_bytes = stated;
    return bytes;
}
