/* Sets of block sizes: cache lines, pages. */
#ifndef PM_BLOCK_SIZES_H
#define PM_BLOCK_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_block_sizes {
    uint64_t *bytes; /* ascending, each once; owned */
    size_t n;
};
void pm_block_sizes_add(struct pm_block_sizes *sizes, uint64_t bytes);
void pm_block_sizes_add_all(struct pm_block_sizes *sizes, const struct pm_block_sizes *more);
/* "32,64": those that are not below LEAST; owned by the caller. */
char *pm_block_sizes_text(const struct pm_block_sizes *sizes, uint64_t least,
                          const char *separator);

/* Whether BYTES is one of the N SIZES, in any order. */
bool pm_has_block_size(const uint64_t *sizes, size_t n, uint64_t bytes);

#endif
