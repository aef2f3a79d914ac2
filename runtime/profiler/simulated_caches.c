/* Simulated caches; see caches.h. */
#include "runtime/profiler/simulated_caches.h"

#include "runtime/system.h"

static bool is_power_of_two(uint64_t n) { return n && !(n & (n - 1)); }

static uint64_t n_ways(const struct pm_cache_shape *shape) {
    return shape->ways ? shape->ways : shape->size_bytes / shape->line_bytes;
}

static bool can_be(const struct pm_cache_shape *shape, const struct pm_cache_shape *before) {
    enum { LEAST_LINE = 8, MOST_LINE = 4096, LOG2_MOST_BLOCKS = 31 };
    if (!is_power_of_two(shape->line_bytes) || shape->line_bytes < LEAST_LINE ||
        shape->line_bytes > MOST_LINE)
        return false;
    const uint64_t blocks = shape->size_bytes / shape->line_bytes, ways = n_ways(shape);
    return blocks > 0 && blocks < 1ull << LOG2_MOST_BLOCKS && ways <= blocks &&
           blocks % ways == 0 && (shape->policy != PM_CACHE_PLRU || is_power_of_two(ways)) &&
           !(shape->inclusive && shape->exclusive) &&
           (before ? before->line_bytes <= shape->line_bytes : !shape->exclusive) &&
           (!shape->exclusive || before->line_bytes == shape->line_bytes);
}

bool pm_caches_can_be(const struct pm_cache_shape *shapes, unsigned n_levels) {
    if (n_levels == 0 || n_levels > PM_MOST_CACHES)
        return false;
    for (unsigned l = 0; l < n_levels; l++)
        if (!can_be(&shapes[l], l ? &shapes[l - 1] : NULL))
            return false;
    return true;
}

static size_t n_places(const struct pm_cache *cache) { return cache->sets * cache->row_places; }

static bool begin_level(struct pm_cache *cache, const struct pm_cache_shape *shape, unsigned l) {
    const uint64_t blocks = shape->size_bytes / shape->line_bytes;
    *cache = (struct pm_cache){.shape = *shape,
                               .shift = (unsigned)__builtin_ctzll(shape->line_bytes),
                               .ways = (uint32_t)n_ways(shape),
                               .random = pm_cache_mix(l + 1) | 1};
    cache->sets = blocks / cache->ways;
    cache->set_mask = cache->sets - 1;
    cache->inverse = is_power_of_two(cache->sets) ? 0 : UINT64_MAX / cache->sets + 1;
    cache->is_large = cache->ways > PM_MOST_SEARCHED_WAYS;
    cache->row_places = cache->is_large
                            ? cache->ways
                            : (cache->ways + PM_ROW_PLACES - 1) & -(uint32_t)PM_ROW_PLACES;
    cache->blocks = pm_mmap(n_places(cache) * sizeof *cache->blocks);
    if (cache->is_large)
        cache->large = pm_large_sets_new(cache->sets, cache->ways);
    else if (shape->policy == PM_CACHE_PLRU)
        cache->bits = pm_mmap(cache->sets * sizeof *cache->bits);
    return cache->blocks && (!cache->is_large || cache->large) &&
           (cache->is_large || shape->policy != PM_CACHE_PLRU || cache->bits);
}

static bool are_simple(const struct pm_caches *caches) {
    for (unsigned l = 0; l < caches->n_levels; l++) {
        const struct pm_cache *cache = &caches->levels[l];
        if (cache->is_large || cache->shape.policy != PM_CACHE_LRU || cache->shape.inclusive ||
            cache->shape.exclusive || cache->shape.write_through || cache->shape.no_write_allocate)
            return false;
    }
    return true;
}

/* By set where that is the lowest bits of the block's number, else by these bits. */
static bool begin_filter(struct pm_caches *caches) {
    const struct pm_cache *first = &caches->levels[0];
    const bool in_page = first->sets << first->shift <= 1ul << PM_PHYSICAL_PAGE_SHIFT;
    const bool is_plain = is_power_of_two(first->sets) && (!first->shape.physical || in_page);
    uint64_t n = 1;
    while (n < first->sets)
        n *= 2;
    caches->filter_mask = n - 1;
    caches->filter = pm_mmap(n * sizeof *caches->filter);
    if (!is_plain)
        caches->newest = pm_mmap(first->sets * sizeof *caches->newest);
    return caches->filter && (is_plain || caches->newest);
}

struct pm_caches *pm_caches_new(const struct pm_cache_shape *shapes, unsigned n_levels) {
    struct pm_caches *caches = pm_mmap(sizeof *caches);
    bool begun = caches != NULL;
    for (unsigned l = 0; begun && l < n_levels; l++) {
        begun = begin_level(&caches->levels[l], &shapes[l], l);
        caches->n_levels = l + 1;
    }
    if (begun) {
        caches->shift = caches->levels[0].shift;
        caches->stores_pass = shapes[0].write_through;
        caches->are_simple = are_simple(caches);
        begun = begin_filter(caches);
    }
    if (begun)
        return caches;
    pm_caches_free(caches);
    return NULL;
}

void pm_caches_free(struct pm_caches *caches) {
    if (!caches)
        return;
    for (unsigned l = 0; l < caches->n_levels; l++) {
        struct pm_cache *cache = &caches->levels[l];
        pm_munmap(cache->blocks, n_places(cache) * sizeof *cache->blocks);
        pm_munmap(cache->bits, cache->sets * sizeof *cache->bits);
        pm_large_sets_free(cache->large);
    }
    pm_munmap(caches->filter, (caches->filter_mask + 1) * sizeof *caches->filter);
    pm_munmap(caches->newest, caches->levels[0].sets * sizeof *caches->newest);
    pm_munmap(caches, sizeof *caches);
}
