/* Stores by dirty distance against caches that are simulated: for every size the write-backs that
   follow equal those that a fully associative write-back, write-allocate LRU cache makes, by group
   and in all, for random and adversarial traces and every vector variant that this CPU has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "core/access.h"
#include "runtime/reuse/dirty_distances/dirty_distances.h"
#include "tests/unit/lru_stack.h"
#include "tests/unit/rounds.h"
#include "runtime/modules.h"

/* There is no module here (runtime/modules.c), nor an address record. */
struct pm_probe_reference *pm_references;
struct pm_address_record *pm_address_records;
uint32_t pm_n_address_records, pm_n_groups;

enum { BATCH = 200, LEAST_CAPACITY = 512, SHIFT = 6, N_GROUPS = 3 };
enum { LOAD = 1, STORE = 2, BOTH = 3 };

/* ---- traces ---------------------------------------------------------------------------------- */

typedef struct pmodel_access access_function(size_t i);

static struct pmodel_access at(uint64_t address, uint32_t kind) {
    return (struct pmodel_access){address, 8, 0, (uint32_t)random_number(N_GROUPS), kind};
}
static uint32_t any_kind(void) { return (uint32_t)(1 + random_number(3)); }

static struct pmodel_access uniform(size_t i) {
    return (void)i, at(0x7f1234567000 + random_number(1 << 17), any_kind());
}
static struct pmodel_access zipf(size_t i) {
    return (void)i, at(random_number(1ull << (3 + random_number(16))), any_kind());
}
static struct pmodel_access cyclic(size_t i) { return at(i % 700 * 64, i % 3 ? LOAD : STORE); }
static struct pmodel_access seesaw(size_t i) {
    return at((i / 900 % 2 ? 899 - i % 900 : i % 900) * 64, random_number(9) ? LOAD : BOTH);
}

/* Stored to rarely, loaded often in between: the last reuse before a store is near, one of those
   before it was far. */
static struct pmodel_access far_then_near(size_t i) {
    const size_t phase = i % 1200;
    if (phase < 600)
        return at(random_number(40) * 64, phase < 580 ? LOAD : STORE);
    return at((1000 + i * 7919 % 1500) * 64, phase % 5 ? LOAD : STORE);
}

/* Exactly at the size of a cache of 16, 17, 64 … blocks, one more and one less. */
static struct pmodel_access at_the_edge(size_t i) {
    static const size_t sizes[] = {15, 16, 17, 18, 63, 64, 65, 66, 255, 256, 257, 258};
    const size_t n = sizes[i / 1000 % (sizeof sizes / sizeof *sizes)];
    return at(i % n * 64 + (i / 1000 << 20), i % n == 0 && random_number(2) ? STORE : LOAD);
}

static struct pmodel_access wide(size_t i) {
    (void)i;
    struct pmodel_access access = at(random_number(1 << 16), any_kind());
    access.size_bytes = (uint32_t)(1 + random_number(400));
    return access;
}
static struct pmodel_access only_loads(size_t i) { return at(i % 100 * 64, LOAD); }

static const struct {
    const char *name;
    access_function *access;
} traces[] = {{"uniform", uniform},  {"zipf", zipf},
              {"cyclic", cyclic},    {"seesaw", seesaw},
              {"wide", wide},        {"far, then near", far_then_near},
              {"loads", only_loads}, {"at the edge", at_the_edge}};
enum { N_TRACES = sizeof traces / sizeof *traces, COUNT = ROUNDS(12000, 4000) };

static struct pmodel_access *make_trace(unsigned which) {
    struct pmodel_access *trace = calloc(COUNT, sizeof *trace);
    assert_non_null(trace);
    random_state = 11 + which;
    for (size_t i = 0; i < COUNT; i++)
        trace[i] = traces[which].access(i);
    return trace;
}

/* ---- the cache ------------------------------------------------------------------------------- */

enum { MOST_BLOCKS = 2000 };
static const size_t cache_sizes[] = {16,  17,  18,  31,  63,  64,  65,  100,  255,
                                     256, 257, 511, 700, 701, 900, 901, 1500, MOST_BLOCKS};
enum { N_SIZES = sizeof cache_sizes / sizeof *cache_sizes };

struct line {
    uint64_t block;
    bool dirty;
    uint32_t group; /* that made it dirty */
};
static struct line lines[MOST_BLOCKS]; /* most recent first */
static size_t n_lines;

static void write_back(const struct line *line, uint64_t *write_backs) {
    if (line->dirty)
        write_backs[line->group]++;
}

static void touch(size_t cache_blocks, uint64_t block, uint32_t group, bool stores,
                  uint64_t *write_backs) {
    size_t place = 0;
    while (place < n_lines && lines[place].block != block)
        place++;
    struct line line = {.block = block};
    if (place < n_lines)
        line = lines[place];
    else if (n_lines == cache_blocks)
        write_back(&lines[--place], write_backs);
    else
        n_lines++;
    if (stores && !line.dirty) {
        line.dirty = true;
        line.group = group;
    }
    memmove(lines + 1, lines, place * sizeof *lines);
    lines[0] = line;
}

static void flush(uint64_t *write_backs) {
    for (size_t i = 0; i < n_lines; i++)
        write_back(&lines[i], write_backs);
    n_lines = 0;
}

/* Write-backs by the group whose store made the block dirty; flushed before access FLUSH_AT too. */
static void simulate(const struct pmodel_access *trace, size_t cache_blocks, size_t flush_at,
                     uint64_t *write_backs) {
    for (size_t i = 0; i < COUNT; i++) {
        if (i == flush_at)
            flush(write_backs);
        uint64_t end = (trace[i].address + trace[i].size_bytes - 1) >> SHIFT;
        for (uint64_t block = trace[i].address >> SHIFT; block <= end; block++)
            touch(cache_blocks, block, trace[i].group, trace[i].kind != LOAD, write_backs);
    }
    flush(write_backs);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static uint64_t follow(const struct pm_write_backs *write_backs, uint32_t group,
                       size_t cache_blocks) {
    const size_t room = pm_reuse_most_bins(pm_write_backs_reuse(write_backs));
    struct pm_raw_bin *bins = calloc(room, sizeof *bins);
    struct pm_reuse_result result;
    assert_non_null(bins);
    pm_write_backs_result(write_backs, group, &result, bins);
    assert_int_equal(result.cold_loads, 0);
    uint64_t n = result.cold_stores;
    for (size_t i = 0; i < result.n_bins; i++) {
        assert_int_equal(bins[i].loads, 0);
        n += bins[i].low >= cache_blocks ? bins[i].stores : 0;
    }
    free(bins);
    return n;
}

static struct pm_write_backs *analyse(const struct pmodel_access *trace, size_t forget_at,
                                      enum pm_reuse_variant variant) {
    const struct pm_reuse_options every_distance = {.sample = 1, .bin_width = 0};
    struct pm_write_backs *write_backs = pm_write_backs_new(SHIFT, LEAST_CAPACITY, variant);
    assert_non_null(write_backs);
    assert_true(pm_reuse_choose(pm_write_backs_reuse(write_backs), &every_distance));
    for (size_t i = 0; i < COUNT; i += BATCH) {
        if (i == forget_at)
            pm_write_backs_forget_blocks(write_backs);
        pm_write_backs_accesses(write_backs, N_GROUPS, trace + i, BATCH);
    }
    assert_false(pm_write_backs_failed(write_backs));
    return write_backs;
}

static void compare(size_t forget_at) {
    for (unsigned which = 0; which < N_TRACES; which++) {
        struct pmodel_access *trace = make_trace(which);
        uint64_t expected[N_SIZES][N_GROUPS] = {0};
        for (unsigned size = 0; size < N_SIZES; size++)
            simulate(trace, cache_sizes[size], forget_at, expected[size]);
        for (unsigned variant = 0; variant <= pm_reuse_best_variant(); variant++) {
            struct pm_write_backs *write_backs = analyse(trace, forget_at, variant);
            for (unsigned size = 0; size < N_SIZES; size++)
                for (uint32_t group = 0; group < N_GROUPS; group++) {
                    uint64_t n = follow(write_backs, group, cache_sizes[size]);
                    if (n != expected[size][group])
                        fail_msg("%s, variant %u, %zu blocks, group %u: %llu, not %llu",
                                 traces[which].name, variant, cache_sizes[size], group,
                                 (unsigned long long)n, (unsigned long long)expected[size][group]);
                }
            pm_write_backs_free(write_backs);
        }
        free(trace);
    }
}

static void write_backs_equal_those_of_a_simulated_cache(void **state) {
    (void)state;
    compare(SIZE_MAX);
}

/* A thread that takes over another one's number begins with an empty cache. */
static void forgotten_blocks_are_written_back_once(void **state) {
    (void)state;
    compare(COUNT / BATCH / 2 * BATCH);
}

/* The distances of the touches themselves are those of the usual analysis. */
static void reuse_distances_stay_as_they_are(void **state) {
    (void)state;
    for (unsigned which = 0; which < N_TRACES; which++) {
        struct pmodel_access *trace = make_trace(which);
        struct pm_write_backs *write_backs = analyse(trace, SIZE_MAX, PM_REUSE_SSE2);
        struct pm_reuse *usual = pm_reuse_new(SHIFT, LEAST_CAPACITY, PM_REUSE_SSE2);
        assert_non_null(usual);
        assert_true(pm_reuse_choose(usual, &(struct pm_reuse_options){.sample = 1}));
        pm_reuse_accesses(usual, N_GROUPS, trace, COUNT);
        const struct pm_reuse *both[] = {pm_write_backs_reuse(write_backs), usual};
        for (uint32_t group = 0; group < N_GROUPS; group++) {
            struct pm_reuse_result results[2] = {0};
            struct pm_raw_bin *bins[2];
            for (unsigned i = 0; i < 2; i++) {
                bins[i] = calloc(pm_reuse_most_bins(both[i]), sizeof **bins);
                assert_non_null(bins[i]);
                pm_reuse_result(both[i], group, &results[i], bins[i]);
            }
            assert_memory_equal(&results[0], &results[1], sizeof results[0]);
            assert_memory_equal(bins[0], bins[1], results[0].n_bins * sizeof **bins);
            free(bins[0]);
            free(bins[1]);
        }
        pm_reuse_free(usual);
        pm_write_backs_free(write_backs);
        free(trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_backs_equal_those_of_a_simulated_cache),
        cmocka_unit_test(forgotten_blocks_are_written_back_once),
        cmocka_unit_test(reuse_distances_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
