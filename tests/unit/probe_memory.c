/* The memory probe on simulated hierarchies: the code that measures and finds is the one that runs
   on a machine; only the timings come from a cache simulator whose parameters are known, beside
   simulated neighbours: nine of ten rounds are up to three times slower, and in half of them others
   use the last cache as much as we do.  If this fails, what `pmodel probe` says of caches and TLBs
   is not to be trusted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/base.h"
#include "machines/probe/memory/memory.h"
#include "machines/probe/memory/private.h"
#include "tests/unit/rounds.h"

enum { MOST_LEVELS = 3, SMALL_PAGE = 4096, HUGE_PAGE = 2 << 20, MOST_BYTES = 24 << 20 };

struct simulated_cache {
    uint64_t size, ways, line;
    double latency;
    bool physical, tree; /* sets by physical addresses; a tree of bits says what is replaced */
};

struct hierarchy {
    const char *name;
    struct simulated_cache caches[MOST_LEVELS];
    size_t n_caches;
    double memory, walk, second_tlb; /* cycles */
    uint64_t tlb_entries[2];
    uint64_t tlb_ways; /* of the first TLB; 0: as many as entries */
    bool splinters;    /* huge pages are small ones to the TLB and to physical sets: a guest's */
    double noise;
};

/* ---- the simulator --------------------------------------------------------------------------- */

/* The entries of a set of a TLB that were used before and after one; after the latest comes the
   oldest. */
struct order {
    uint16_t before, after;
};

struct simulation {
    const struct hierarchy *shape;
    uint64_t *tags[MOST_LEVELS], *stamps[MOST_LEVELS]; /* sets · ways */
    uint64_t *trees[MOST_LEVELS];
    unsigned line_bits[MOST_LEVELS];
    uint64_t sets[MOST_LEVELS]; /* powers of two, as all numbers of sets here */
    uint64_t *tlb[2];
    struct order *tlb_order[2]; /* by entry */
    uint16_t *latest[2];        /* by set: the entry that was used last */
    uint64_t tlb_ways[2], tlb_sets[2];
    uint16_t slot_of[2][MOST_BYTES / SMALL_PAGE]; /* where a page was last */
    uint64_t now, random;
};

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t hash_of(uint64_t value) {
    value = (value + 1) * 0x9E3779B97F4A7C15;
    return value ^ value >> 29;
}

static void make_ring(struct simulation *sim, int level, uint16_t set) {
    uint16_t n = (uint16_t)sim->tlb_ways[level], first = (uint16_t)(set * n);
    for (uint16_t i = 0; i < n; i++)
        sim->tlb_order[level][first + i] =
            (struct order){(uint16_t)(first + (i + n - 1) % n), (uint16_t)(first + (i + 1) % n)};
    sim->latest[level][set] = (uint16_t)(first + n - 1);
}

static void reset(struct simulation *sim) {
    for (size_t i = 0; i < sim->shape->n_caches; i++) {
        uint64_t lines = sim->shape->caches[i].size / sim->shape->caches[i].line;
        memset(sim->tags[i], 0xff, lines * sizeof **sim->tags);
        memset(sim->stamps[i], 0, lines * sizeof **sim->stamps);
        memset(sim->trees[i], 0, lines * sizeof **sim->trees);
    }
    for (int i = 0; i < 2; i++) {
        memset(sim->tlb[i], 0xff, sim->shape->tlb_entries[i] * sizeof **sim->tlb);
        for (uint16_t set = 0; set < sim->tlb_sets[i]; set++)
            make_ring(sim, i, set);
    }
}

/* The way that a tree of bits points to; each bit that WAY lies under is turned away from it. */
static uint64_t tree_victim(uint64_t tree, uint64_t ways) {
    uint64_t node = 1;
    while (node < ways)
        node = 2 * node + (tree >> node & 1);
    return node - ways;
}

static uint64_t tree_touched(uint64_t tree, uint64_t ways, uint64_t way) {
    for (uint64_t node = way + ways; node > 1; node /= 2)
        tree = node & 1 ? tree & ~(1ULL << node / 2) : tree | 1ULL << node / 2;
    return tree;
}

static bool access_cache(struct simulation *sim, size_t level, uint64_t address) {
    const struct simulated_cache *cache = &sim->shape->caches[level];
    uint64_t line = address >> sim->line_bits[level], set = line & (sim->sets[level] - 1);
    uint64_t *tags = sim->tags[level] + set * cache->ways;
    uint64_t *stamps = sim->stamps[level] + set * cache->ways, way = 0;
    bool hits = false;
    for (uint64_t i = 0; i < cache->ways && !hits; i++)
        if (tags[i] == line) {
            way = i;
            hits = true;
        }
    if (!hits && cache->tree)
        way = tree_victim(sim->trees[level][set], cache->ways);
    else if (!hits)
        for (uint64_t i = 1; i < cache->ways; i++)
            way = stamps[i] < stamps[way] ? i : way;
    tags[way] = line;
    stamps[way] = ++sim->now;
    if (cache->tree)
        sim->trees[level][set] = tree_touched(sim->trees[level][set], cache->ways, way);
    return hits;
}

/* Moves ENTRY to the front of its set's ring. */
static void use_entry(struct simulation *sim, int level, uint64_t set, uint16_t entry) {
    struct order *order = sim->tlb_order[level];
    uint16_t latest = sim->latest[level][set], oldest = order[latest].after;
    if (entry == latest)
        return;
    if (entry != oldest) {
        order[order[entry].before].after = order[entry].after;
        order[order[entry].after].before = order[entry].before;
        order[entry] = (struct order){latest, oldest};
        order[latest].after = order[oldest].before = entry;
    }
    sim->latest[level][set] = entry;
}

static bool access_tlb(struct simulation *sim, int level, uint64_t page) {
    uint64_t set = page & (sim->tlb_sets[level] - 1);
    uint16_t *slot = &sim->slot_of[level][page];
    bool hits = sim->tlb[level][*slot] == page;
    if (!hits) {
        *slot = sim->tlb_order[level][sim->latest[level][set]].after;
        sim->tlb[level][*slot] = page;
    }
    use_entry(sim, level, set, *slot);
    return hits;
}

/* BUSY: others go through the last cache meanwhile, at random. */
static double access_cycles(struct simulation *sim, uint64_t address, enum pm_probe_pages pages,
                            bool busy) {
    const struct hierarchy *shape = sim->shape;
    int page_bits =
        __builtin_ctz(pages == PM_PAGES_HUGE && !shape->splinters ? HUGE_PAGE : SMALL_PAGE);
    uint64_t page = address >> page_bits, in_page = address - (page << page_bits);
    double cycles = 0;
    /* The second level is searched only when the first has missed. */
    if (!access_tlb(sim, 0, page))
        cycles += access_tlb(sim, 1, page) ? shape->second_tlb : shape->second_tlb + shape->walk;
    for (size_t i = 0; i < shape->n_caches; i++) {
        uint64_t place = shape->caches[i].physical
                             ? (hash_of(page) % (1 << 20) << page_bits) + in_page
                             : address;
        if (busy && i + 1 == shape->n_caches)
            access_cache(sim, i, MOST_BYTES + next_random(&sim->random) % MOST_BYTES);
        if (access_cache(sim, i, place))
            return cycles + shape->caches[i].latency;
    }
    return cycles + shape->memory;
}

static double uniform(struct simulation *sim) {
    return (double)(next_random(&sim->random) >> 11) * 0x1p-53;
}

/* What rounds of CYCLES say, which differ with whether others are BUSY. */
static struct pm_estimate with_neighbours(struct simulation *sim, const double cycles[2]) {
    enum { FIRST_ROUNDS = 15, MOST_ROUNDS = 600 };
    double rounds[MOST_ROUNDS], sorted[MOST_ROUNDS];
    struct pm_estimate least;
    size_t n = 0, until = FIRST_ROUNDS;
    do {
        for (; n < until && n < MOST_ROUNDS; n++) {
            bool slowed = next_random(&sim->random) % 10 != 0;
            rounds[n] = cycles[next_random(&sim->random) % 2] *
                        (1 + sim->shape->noise * uniform(sim)) *
                        (slowed ? 1 + 2 * uniform(sim) : 1);
        }
        until = n + n / 2;
        memcpy(sorted, rounds, n * sizeof *rounds);
        least = pm_estimate_least(sorted, n, 0.005);
    } while (n < MOST_ROUNDS && !pm_repeats(least));
    return least;
}

static struct pm_estimate chase_simulated(void *context, const struct pm_chase *chase) {
    struct simulation *sim = context;
    enum { WARM, QUIET, BUSY, N_TURNS };
    double cycles[N_TURNS] = {0};
    reset(sim);
    for (int turn = WARM; turn < N_TURNS; turn++)
        for (size_t i = 0; i < chase->n; i++)
            cycles[turn] += access_cycles(sim, chase->offsets[i], chase->pages, turn == BUSY) /
                            (double)chase->n / chase->chains;
    return with_neighbours(sim, cycles + QUIET);
}

static struct pm_estimate sweep_simulated(void *context, const struct pm_sweep *sweep) {
    struct simulation *sim = context;
    (void)sweep;
    return with_neighbours(sim, (const double[]){1, 1});
}

static bool always_after_parallel(void *context) { return *(const bool *)context; }

static void note_part(void *context, const char *what, double share) {
    (void)share;
    if (strcmp(what, "misses in flight") == 0) /* caches, lines, ways and TLBs are known then */
        *(bool *)context = true;
}

static unsigned n_wrong;

static void check(double found, double truth, double tolerance, const char *shape,
                  const char *what) {
    if (!(fabs(found / truth - 1) <= tolerance))
        print_error("%s: %s is %g, found was %g\n", shape, what, truth, found), n_wrong++;
}

static void try_shape(const struct hierarchy *shape) {
    struct simulation sim = {.shape = shape, .random = 0x123456789ABCDEF};
    bool done = false;
    for (size_t i = 0; i < shape->n_caches; i++) {
        uint64_t lines = shape->caches[i].size / shape->caches[i].line;
        sim.line_bits[i] = (unsigned)__builtin_ctzll(shape->caches[i].line);
        sim.sets[i] = lines / shape->caches[i].ways;
        sim.tags[i] = pm_alloc(lines, sizeof **sim.tags);
        sim.stamps[i] = pm_alloc(lines, sizeof **sim.stamps);
        sim.trees[i] = pm_alloc(lines, sizeof **sim.trees);
    }
    for (int i = 0; i < 2; i++) {
        sim.tlb[i] = pm_alloc(shape->tlb_entries[i], sizeof **sim.tlb);
        sim.tlb_ways[i] = i == 0 && shape->tlb_ways ? shape->tlb_ways : shape->tlb_entries[i];
        sim.tlb_sets[i] = shape->tlb_entries[i] / sim.tlb_ways[i];
        sim.tlb_order[i] = pm_alloc(shape->tlb_entries[i], sizeof **sim.tlb_order);
        sim.latest[i] = pm_alloc(sim.tlb_sets[i], sizeof **sim.latest);
    }
    const struct pm_memory_bench bench = {.context = &sim,
                                          .chase = chase_simulated,
                                          .sweep = sweep_simulated,
                                          .most_bytes = MOST_BYTES,
                                          .page_bytes = {SMALL_PAGE, HUGE_PAGE},
                                          .threads = 1};
    struct pm_probe_budget budget = {0};
    const struct pm_probe_effort effort = {.budget = &budget,
                                           .quick = true,
                                           .progress = note_part,
                                           .stop = always_after_parallel,
                                           .context = &done};
    struct pm_memory_probe probe;
    pm_probe_memory(&bench, 1e-9, &effort, &probe);

    if (probe.n_caches != shape->n_caches)
        fail_msg("%s: %zu caches were found", shape->name, probe.n_caches);
    for (size_t i = 0; i < shape->n_caches; i++) {
        const struct simulated_cache *truth = &shape->caches[i];
        const struct pm_probed_cache *found = &probe.caches[i];
        check(found->latency_cycles.estimate, truth->latency, 0.03, shape->name, "a latency");
        check(found->size_bytes.estimate, (double)truth->size, 0.05, shape->name, "a size");
        assert_true(fmod(found->size_bytes.estimate, 64) == 0); /* or machine files refuse it */
        assert_true(found->size_bytes.low <= (double)truth->size * 1.02 &&
                    found->size_bytes.high >= (double)truth->size * 0.98);
        if (i == 0)
            check(found->line_bytes.estimate, (double)truth->line, 0, shape->name, "the line");
        if (i < 2)
            check(found->ways.estimate, (double)truth->ways, 0, shape->name, "ways");
        else
            assert_true(isnan(found->ways.estimate));
    }
    check(probe.memory_latency_cycles.estimate, shape->memory, 0.03, shape->name,
          "memory's latency");
    assert_true(probe.n_tlbs >= 1);
    check(probe.tlbs[0].entries.estimate, (double)shape->tlb_entries[0], 0.15, shape->name,
          "the TLB's entries");
    pm_memory_probe_free(&probe);
    for (size_t i = 0; i < shape->n_caches; i++) {
        free(sim.tags[i]);
        free(sim.stamps[i]);
        free(sim.trees[i]);
    }
    for (int i = 0; i < 2; i++) {
        free(sim.tlb[i]);
        free(sim.tlb_order[i]);
        free(sim.latest[i]);
    }
}

#define KIB(n) ((uint64_t)(n) << 10)
#define TWO(name_, size1, ways1, latency1, size2, ways2, latency2, entries, walk_, noise_,         \
            splinters_)                                                                            \
    {                                                                                              \
        .name = name_, .n_caches = 2, .memory = 300, .walk = walk_, .second_tlb = 7,               \
        .caches = {{KIB(size1), ways1, 64, latency1, false, false},                                \
                   {KIB(size2), ways2, 64, latency2, true, false}},                                \
        .tlb_entries = {entries, 160}, .noise = noise_, .splinters = splinters_                    \
    }

/* So many are tried in `make check`, all in `make check-real` (rounds.h). */
enum { N_OFTEN = 7 };

static const struct hierarchy SHAPES[] = {
    TWO("32 KiB of 8 ways, 512 KiB of 8", 32, 8, 4, 512, 8, 14, 64, 30, 0.02, false),
    TWO("48 KiB of 12 ways, 1 MiB of 16", 48, 12, 5, 1024, 16, 15, 64, 30, 0.02, false),
    TWO("small pages of a host", 32, 8, 4, 512, 8, 14, 64, 30, 0.02, true),
    TWO("a small TLB", 32, 8, 4, 512, 8, 14, 32, 30, 0.02, false),
    {.name = "a tree of bits",
     .n_caches = 2,
     .memory = 300,
     .walk = 30,
     .second_tlb = 7,
     .caches = {{KIB(32), 8, 64, 4, false, true}, {KIB(512), 8, 64, 14, true, true}},
     .tlb_entries = {64, 160},
     .noise = 0.02},
    {.name = "pages of one set of the TLB before lines of one set of the cache",
     .n_caches = 2,
     .memory = 300,
     .walk = 30,
     .second_tlb = 7,
     .caches = {{KIB(48), 12, 64, 5, false, false}, {KIB(1024), 16, 64, 15, true, false}},
     .tlb_entries = {96, 1024},
     .tlb_ways = 6,
     .splinters = true,
     .noise = 0.02},
    {.name = "three levels",
     .n_caches = 3,
     .memory = 400,
     .walk = 30,
     .second_tlb = 7,
     .caches = {{KIB(32), 8, 64, 4, false, false},
                {KIB(256), 8, 64, 14, true, false},
                {KIB(4096), 16, 64, 50, true, false}},
     .tlb_entries = {64, 160},
     .noise = 0.02},
    TWO("16 KiB of 4 ways, 256 KiB of 4", 16, 4, 3, 256, 4, 12, 64, 30, 0.02, false),
    TWO("64 KiB of 4 ways, 512 KiB of 16", 64, 4, 4, 512, 16, 13, 64, 30, 0.02, false),
    TWO("small pages of a host, many ways", 32, 8, 4, 1024, 16, 15, 64, 30, 0.02, true),
    TWO("noise of 5%", 32, 8, 4, 512, 8, 14, 64, 30, 0.05, false),
    TWO("a TLB of 72", 32, 8, 5, 1024, 8, 14, 72, 30, 0.02, false),
    TWO("slow walks", 32, 8, 4, 512, 8, 14, 64, 80, 0.02, true),
};

static void finds_what_a_simulated_hierarchy_is(void **state) {
    (void)state;
    /* The same code for all; the others find out what it finds out. */
    size_t n = takes_minutes() ? sizeof SHAPES / sizeof *SHAPES : ROUNDS(N_OFTEN, 2);
    for (size_t i = 0; i < n; i++)
        try_shape(&SHAPES[i]);
    assert_int_equal(n_wrong, 0);
}

/* ---- misses in flight ------------------------------------------------------------------------ */

enum { FIRST_BYTES = 32 << 10, SECOND_BYTES = 1 << 20 };

/* Independent chains where the second level answers 7 misses at a time, for its bandwidth, and
   memory as many as *CONTEXT. */
static struct pm_estimate chase_in_parallel(void *context, const struct pm_chase *chase) {
    bool in_second = chase->n * 64 <= SECOND_BYTES;
    double latency = in_second ? 14 : 300, most = in_second ? 7 : *(const unsigned *)context;
    return pm_estimate_exactly(latency / fmin(chase->chains, most));
}

static void check_misses_in_flight(unsigned of_memory, double first, double second) {
    const struct pm_memory_bench bench = {.context = &of_memory,
                                          .chase = chase_in_parallel,
                                          .most_bytes = MOST_BYTES,
                                          .page_bytes = {SMALL_PAGE, HUGE_PAGE},
                                          .threads = 1};
    struct pm_probe_budget budget = {0};
    const struct pm_probe_effort effort = {.budget = &budget};
    struct pm_probed_cache caches[2] = {0};
    struct pm_memory_probe probe = {.caches = caches, .n_caches = 2};
    probe.caches[0].size_bytes = pm_estimate_exactly(FIRST_BYTES);
    probe.caches[1].size_bytes = pm_estimate_exactly(SECOND_BYTES);
    pm_find_misses_in_flight(&bench, &effort, &probe);
    assert_float_equal(probe.caches[0].misses_in_flight.estimate, first, 1e-9);
    assert_float_equal(probe.caches[1].misses_in_flight.estimate, second, 1e-9);
    assert_float_equal(probe.memory_misses_in_flight.estimate, second, 1e-9);
}

static void inner_levels_have_room_for_the_misses_of_outer_ones(void **state) {
    (void)state;
    check_misses_in_flight(20, 20, 20);
    check_misses_in_flight(4, 7, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_a_simulated_hierarchy_is),
        cmocka_unit_test(inner_levels_have_room_for_the_misses_of_outer_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
