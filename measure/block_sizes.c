/* Sets of block sizes; see block_sizes.h. */
#include "measure/block_sizes.h"

#include <string.h>

#include "core/base/base.h"

bool pm_has_block_size(const uint64_t *sizes, size_t n, uint64_t bytes) {
    for (size_t i = 0; i < n; i++)
        if (sizes[i] == bytes)
            return true;
    return false;
}

void pm_block_sizes_add(struct pm_block_sizes *sizes, uint64_t bytes) {
    size_t at = PM_LOWER_BOUND(sizes->n, i, sizes->bytes[i] < bytes);
    if (at < sizes->n && sizes->bytes[at] == bytes)
        return;
    sizes->bytes = pm_realloc(sizes->bytes, sizes->n + 1, sizeof *sizes->bytes);
    memmove(sizes->bytes + at + 1, sizes->bytes + at, (sizes->n - at) * sizeof *sizes->bytes);
    sizes->bytes[at] = bytes;
    sizes->n++;
}

void pm_block_sizes_add_all(struct pm_block_sizes *sizes, const struct pm_block_sizes *more) {
    for (size_t i = 0; i < more->n; i++)
        pm_block_sizes_add(sizes, more->bytes[i]);
}

char *pm_block_sizes_text(const struct pm_block_sizes *sizes, uint64_t least,
                          const char *separator) {
    char *text = pm_strdup("");
    for (size_t i = 0; i < sizes->n; i++)
        if (sizes->bytes[i] >= least)
            pm_append(&text, "%s%llu", *text ? separator : "", (unsigned long long)sizes->bytes[i]);
    return text;
}
