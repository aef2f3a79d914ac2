/* Orders of accesses. */
#include <math.h>
#include <stdlib.h>

#include "machines/probe/memory/private.h"

static const uint64_t DRAWN_FROM = 64 << 20;

uint64_t pm_random_below(uint64_t *state, uint64_t n) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint64_t)(((unsigned __int128)*state * n) >> 64);
}

void pm_shuffle(uint64_t *values, size_t n, uint64_t *state) {
    for (size_t i = n; i > 1; i--) {
        size_t other = pm_random_below(state, i);
        uint64_t value = values[i - 1];
        values[i - 1] = values[other];
        values[other] = value;
    }
}

struct pm_estimate pm_chase_random(const struct pm_memory_bench *bench, uint64_t bytes,
                                   uint64_t block_bytes, enum pm_probe_pages pages, unsigned chains,
                                   bool writes) {
    size_t n = bytes / block_bytes;
    if (n < chains || bytes > bench->most_bytes)
        return pm_estimate_unknown();
    uint64_t *offsets = pm_alloc(n, sizeof *offsets), state = 0x9E3779B97F4A7C15 ^ bytes;
    for (size_t i = 0; i < n; i++)
        offsets[i] = i * block_bytes;
    pm_shuffle(offsets, n, &state);
    const struct pm_chase chase = {
        .offsets = offsets, .n = n, .chains = chains, .writes = writes, .pages = pages};
    struct pm_estimate cycles = bench->chase(bench->context, &chase);
    free(offsets);
    // cppcheck-suppress returnDanglingLifetime ; it takes the call for a constructor
    return cycles;
}

struct pm_estimate pm_chase_pages(const struct pm_memory_bench *bench, uint64_t bytes,
                                  uint64_t block_bytes, const struct pm_tlb_costs *tlbs) {
    static uint64_t state = 0x2545F4914F6CDD1D;
    uint64_t page = tlbs->page_bytes, n_pages = (bytes + page - 1) / page;
    uint64_t region = bench->most_bytes < DRAWN_FROM ? bench->most_bytes : DRAWN_FROM;
    uint64_t n_region = region / page > n_pages ? region / page : n_pages;
    size_t n = bytes / block_bytes;
    if (n == 0 || bytes > bench->most_bytes)
        return pm_estimate_unknown();
    uint64_t *pages = pm_alloc(n_region, sizeof *pages), *offsets = pm_alloc(n, sizeof *offsets);
    for (uint64_t i = 0; i < n_region; i++)
        pages[i] = i * page;
    pm_shuffle(pages, n_region, &state);
    for (size_t i = 0; i < n; i++)
        offsets[i] = pages[i * block_bytes / page] + i * block_bytes % page;
    pm_shuffle(offsets, n, &state);
    const struct pm_chase chase = {.offsets = offsets, .n = n, .chains = 1, .pages = tlbs->pages};
    struct pm_estimate cycles = bench->chase(bench->context, &chase);
    free(offsets);
    free(pages);
    // cppcheck-suppress returnDanglingLifetime ; it takes the call for a constructor
    return cycles;
}

enum pm_probe_pages pm_largest_pages(const struct pm_memory_bench *bench) {
    return bench->page_bytes[PM_PAGES_HUGE] ? PM_PAGES_HUGE : PM_PAGES_SMALL;
}
