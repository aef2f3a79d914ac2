/* Unpacking of zstd frames; see unpack.h. */
#include "core/unpack.h"

#include <stdlib.h>
#include <zstd.h>

/* RFC 8878, section 3.1.1.2: a block takes at least 4 bytes if it holds anything, and holds at most
   128 KiB. */
enum { LEAST_BLOCK_BYTES = 4, MOST_BLOCK_CONTENT = 128 << 10 };

void *pm_unpack(const void *packed, size_t n_packed, size_t *n_bytes) {
    unsigned long long stated = packed ? ZSTD_getFrameContentSize(packed, n_packed) : 0;
    /* Also ZSTD_CONTENTSIZE_UNKNOWN and …_ERROR, which are the largest numbers. */
    if (!packed || stated > n_packed / LEAST_BLOCK_BYTES * (unsigned long long)MOST_BLOCK_CONTENT)
        return NULL;
    void *bytes = malloc(stated ? stated : 1);
    if (!bytes || ZSTD_decompress(bytes, stated, packed, n_packed) != stated) {
        free(bytes);
        return NULL;
    }
    *n_bytes = stated;
    return bytes;
}
