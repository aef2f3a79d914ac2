/* The caches that a query is about, with their names; see query.h. */
#include <math.h>
#include <stdlib.h>

#include "fit/query/query.h"

bool pm_query_check_blocks(const struct pm_profile *profile, uint64_t block_bytes,
                           struct pm_error *err) {
    if (pm_profile_has_block_size(profile, block_bytes))
        return true;
    char *known = pm_strdup("");
    for (size_t i = 0; i < profile->n_block_sizes; i++)
        pm_append(&known, "%s%llu", i ? ", " : "", (unsigned long long)profile->block_sizes[i]);
    pm_fail(err, "the store has no reuse distances in blocks of %llu bytes, but in those of %s",
            (unsigned long long)block_bytes, *known ? known : "no size");
    free(known);
    return false;
}

bool pm_query_is_organised(const struct pm_query_cache_size *size) {
    return size->ways || size->replacement != PM_REPLACEMENT_LRU ||
           size->indexed != PM_INDEXED_VIRTUAL;
}

static bool add_cache(struct pm_query_caches *list, const struct pm_query_cache_size *size,
                      uint64_t block_bytes, struct pm_error *err) {
    double block = (double)block_bytes,
           bytes = size->in_blocks ? size->amount * block : size->amount;
    char text[40];
    pm_format_value(size->amount, text, sizeof text);
    if (bytes / block != floor(bytes / block))
        return pm_fail(err, "a cache of %s bytes is not a whole number of blocks of %llu bytes",
                       text, (unsigned long long)block_bytes);
    if (size->ways && fmod(bytes / block, size->ways) != 0)
        return pm_fail(err,
                       "a cache of %.0f blocks of %llu bytes is not a whole number of sets of %u "
                       "ways",
                       bytes / block, (unsigned long long)block_bytes, size->ways);
    double ways = size->ways ? size->ways : bytes / block;
    if (size->replacement == PM_REPLACEMENT_PLRU && exp2(floor(log2(ways))) != ways)
        return pm_fail(
            err, "plru is a binary tree: a cache of %.0f ways, no power of two, has none", ways);
    struct pm_query_level_cache *cache = PM_PUSH(list, caches);
    cache->cache = (struct pm_query_cache){.block_bytes = block_bytes, .blocks = bytes / block};
    cache->sets = (struct pm_set_cache){.block_bytes = block_bytes,
                                        .blocks = bytes / block,
                                        .ways = size->ways,
                                        .replacement = size->replacement,
                                        .indexed = size->indexed};
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; unit + 1 < sizeof units / sizeof units[0] && bytes >= 1024 && fmod(bytes, 1024) == 0;
         unit++)
        bytes /= 1024;
    cache->name =
        size->in_blocks ? pm_sprintf("%s blocks", text) : pm_sprintf("%.0f %s", bytes, units[unit]);
    if (size->ways)
        pm_append(&cache->name, ", %u way%s", size->ways, size->ways > 1 ? "s" : "");
    if (size->replacement != PM_REPLACEMENT_LRU)
        pm_append(&cache->name, ", %s", pm_replacement_word(size->replacement));
    if (size->indexed != PM_INDEXED_VIRTUAL)
        pm_append(&cache->name, ", %s", pm_indexing_word(size->indexed));
    return true;
}

bool pm_query_add_caches(struct pm_query_caches *list, const struct pm_query_cache_size *sizes,
                         size_t n_sizes, uint64_t block_bytes, const struct pm_profile *profile,
                         struct pm_error *err) {
    if (!pm_query_check_blocks(profile, block_bytes, err))
        return false;
    for (size_t i = 0; i < n_sizes; i++)
        if (!add_cache(list, &sizes[i], block_bytes, err))
            return false;
    return true;
}

bool pm_query_add_any_size(struct pm_query_caches *list, uint64_t block_bytes,
                           const struct pm_profile *profile, struct pm_error *err) {
    if (!pm_query_check_blocks(profile, block_bytes, err))
        return false;
    *PM_PUSH(list, caches) = (struct pm_query_level_cache){.cache.block_bytes = block_bytes,
                                                           .sets.block_bytes = block_bytes};
    return true;
}

void pm_query_add_levels(struct pm_query_caches *list, const struct pm_machine *machine) {
    struct pm_set_cache *sets = pm_set_caches_of(machine);
    for (size_t l = 0; l < machine->n_levels; l++)
        *PM_PUSH(list, caches) = (struct pm_query_level_cache){
            .name = pm_strdup(machine->levels[l].name),
            .machine = pm_strdup(machine->name),
            .cache = {sets[l].block_bytes, sets[l].blocks, sets[l].serves},
            .sets = sets[l],
            .writes_through = machine->levels[l].write == PM_WRITE_THROUGH,
            .serves = pm_level_serves_text(&machine->levels[l]),
            .is_tlb = machine->levels[l].kind == PM_LEVEL_TLB,
        };
    free(sets);
}

void pm_query_caches_free(struct pm_query_caches *list) {
    for (size_t i = 0; i < list->n_caches; i++) {
        free(list->caches[i].name);
        free(list->caches[i].machine);
        free(list->caches[i].serves);
    }
    free(list->caches);
}
