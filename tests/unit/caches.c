/* The simulator that judges models of misses (tests/truth/caches.h) does what its definitions say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/truth/caches.h"
#include "tests/unit/lru_stack.h"
#include "tests/unit/rounds.h"

enum { LINE = 64, SEED = 7 };

/* A level that writes back and allocates, of SETS · WAYS lines. */
static struct pm_level cache(uint64_t sets, uint32_t ways, enum pm_replacement replacement) {
    return (struct pm_level){.size_bytes = sets * ways * LINE,
                             .block_bytes = LINE,
                             .associativity = ways,
                             .replacement = replacement,
                             .write_allocate = true};
}

static struct pm_level lru(uint64_t sets, uint32_t ways) {
    return cache(sets, ways, PM_REPLACEMENT_LRU);
}

static struct pm_level that_is(struct pm_level level, enum pm_inclusion inclusion) {
    level.inclusion = inclusion;
    return level;
}

static struct caches *made(const struct pm_level *levels, size_t n_levels, uint64_t seed) {
    struct pm_error err = {0};
    struct caches *caches = caches_new(levels, n_levels, seed, &err);
    if (!caches)
        fail_msg("%s", err.text);
    return caches;
}

static uint64_t misses(const struct caches *caches, size_t level) {
    struct caches_counts counts = caches_counts(caches, level);
    return counts.load_misses + counts.store_misses;
}

static void touch(struct caches *caches, uint64_t block, bool is_store) {
    caches_access(caches, block * LINE, 8, is_store);
}

static bool misses_now(struct caches *caches, size_t level, uint64_t block, bool is_store) {
    uint64_t before = misses(caches, level);
    touch(caches, block, is_store);
    return misses(caches, level) > before;
}

/* A block of about BLOCKS: half of the time one of a few, else any, and sometimes the next of a
 * line. */
static uint64_t next_in_line;
static uint64_t next_block(uint64_t blocks) {
    switch (random_number(8)) {
    case 0:
    case 1:
        return random_number(blocks);
    case 2:
    case 3:
        return next_in_line++ % blocks;
    default:
        return random_number(blocks / 8 + 1);
    }
}

static bool is_next_store(void) { return random_number(4) == 0; }

/* Misses of a trace of blocks, as a string of h and m. */
static void assert_hits(struct pm_level level, const char *blocks, const char *expected) {
    struct caches *caches = made(&level, 1, SEED);
    for (size_t i = 0; blocks[i]; i++)
        if (misses_now(caches, 0, (uint64_t)blocks[i], false) != (expected[i] == 'm'))
            fail_msg("policy %d: access %zu to %c", (int)level.replacement, i, blocks[i]);
    caches_free(caches);
}

/* ---- replacement ----------------------------------------------------------------------------- */

/* Belady, Nelson and Shedler 1969: with FIFO, four places miss more than three. */
static void fifo_and_lru_miss_as_by_hand(void **state) {
    (void)state;
    const char *blocks = "123412512345";
    assert_hits(lru(1, 3), blocks, "mmmmmmmhhmmm");
    assert_hits(lru(1, 4), blocks, "mmmmhhmhhmmm");
    assert_hits(cache(1, 3, PM_REPLACEMENT_FIFO), blocks, "mmmmmmmhhmmh");
    assert_hits(cache(1, 4, PM_REPLACEMENT_FIFO), blocks, "mmmmhhmmmmmm");
}

/* After 1 2 3 4 1 the root points to the right half, whose bit points to 3, while LRU replaces 2.
   5 in its place turns the root to the left, where 1 left the bit at 2. */
static void plru_misses_as_by_hand(void **state) {
    (void)state;
    assert_hits(lru(1, 4), "12341534", "mmmmhmhh");
    assert_hits(cache(1, 4, PM_REPLACEMENT_PLRU), "12341534", "mmmmhmmh");
    assert_hits(cache(1, 4, PM_REPLACEMENT_PLRU), "1234152634", "mmmmhmhmmm");
}

static void plru_of_two_ways_is_lru(void **state) {
    (void)state;
    struct pm_level plru = cache(16, 2, PM_REPLACEMENT_PLRU), exact = lru(16, 2);
    struct caches *a = made(&plru, 1, SEED), *b = made(&exact, 1, SEED);
    for (int i = 0; i < ROUNDS(200000, 20000); i++) {
        uint64_t block = next_block(100);
        assert_int_equal(misses_now(a, 0, block, false), misses_now(b, 0, block, false));
    }
    caches_free(a);
    caches_free(b);
}

/* The ways of a set are searched, or found by a hash table: 16 ways and more. */
static void lru_misses_are_those_of_a_stack(void **state) {
    (void)state;
    enum { N = 7 };
    static const uint32_t ways[N] = {1, 2, 4, 16, 17, 64, 500};
    struct caches *caches[N];
    struct stack stack = {0};
    for (int c = 0; c < N; c++) {
        struct pm_level level = lru(1, ways[c]);
        caches[c] = made(&level, 1, SEED);
    }
    for (int i = 0; i < ROUNDS(100000, 10000); i++) {
        uint64_t block = next_block(1000);
        int64_t distance = stack_touch(&stack, block);
        for (int c = 0; c < N; c++)
            assert_int_equal(misses_now(caches[c], 0, block, is_next_store()),
                             distance == COLD || distance >= ways[c]);
    }
    for (int c = 0; c < N; c++)
        caches_free(caches[c]);
    free(stack.blocks);
}

/* A set is a fully associative cache of the blocks that lie in it, also if sets are no power of
   two. */
static void sets_are_caches_of_their_own(void **state) {
    (void)state;
    for (int policy = PM_REPLACEMENT_LRU; policy <= PM_REPLACEMENT_FIFO; policy++) {
        enum { SETS = 12 };
        struct pm_level level = cache(SETS, 4, (enum pm_replacement)policy);
        struct pm_level one = cache(1, 4, (enum pm_replacement)policy);
        struct caches *whole = made(&level, 1, SEED), *sets[SETS];
        for (int s = 0; s < SETS; s++)
            sets[s] = made(&one, 1, SEED);
        for (int i = 0; i < ROUNDS(100000, 10000); i++) {
            uint64_t block = next_block(200);
            assert_int_equal(misses_now(whole, 0, block, false),
                             misses_now(sets[block % SETS], 0, block, false));
        }
        for (int s = 0; s < SETS; s++)
            caches_free(sets[s]);
        caches_free(whole);
    }
}

/* Blocks 0 … k, over and over, in k ways.  LRU and FIFO never hit.  With random replacement one
   block is missing at any time; what replaces it is 1 … k blocks ahead with equal chance, so that
   one in (k + 1) / 2 misses. */
static void a_cycle_of_one_too_many(void **state) {
    (void)state;
    enum { K = 8, N = 200000 };
    static const double expected[] = {[PM_REPLACEMENT_LRU] = 1,
                                      [PM_REPLACEMENT_FIFO] = 1,
                                      [PM_REPLACEMENT_RANDOM] = 2.0 / (K + 1)};
    static const enum pm_replacement policies[] = {PM_REPLACEMENT_LRU, PM_REPLACEMENT_FIFO,
                                                   PM_REPLACEMENT_RANDOM};
    for (int p = 0; p < 3; p++) {
        struct pm_level level = cache(1, K, policies[p]);
        struct caches *caches = made(&level, 1, SEED);
        for (uint64_t i = 0; i < N; i++)
            touch(caches, i % (K + 1), false);
        assert_float_equal((double)misses(caches, 0) / N, expected[policies[p]], 0.01);
        caches_free(caches);
    }
}

/* One miss of k replaces a certain block with a chance of 1 / k, each time anew. */
static void random_replacement_is_even(void **state) {
    (void)state;
    enum { K = 6, N = 30000, MISSES = 4 };
    struct pm_level level = cache(1, K, PM_REPLACEMENT_RANDOM);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < N; i++) {
        struct caches *caches = made(&level, 1, i);
        for (uint64_t block = 0; block < K + MISSES; block++)
            touch(caches, block, false);
        kept += caches_hold(caches, 0, i % K * LINE);
        caches_free(caches);
    }
    double survives = 1;
    for (int m = 0; m < MISSES; m++)
        survives *= 1 - 1.0 / K;
    assert_float_equal((double)kept / N, survives, 0.015);
}

static uint64_t misses_of_a_trace(const struct pm_level *level, uint64_t seed) {
    struct caches *caches = made(level, 1, seed);
    random_state = 1;
    next_in_line = 0;
    for (int i = 0; i < ROUNDS(50000, 5000); i++)
        touch(caches, next_block(2000), false);
    uint64_t result = misses(caches, 0);
    caches_free(caches);
    return result;
}

static void a_seed_gives_the_same_again(void **state) {
    (void)state;
    struct pm_level random = cache(16, 8, PM_REPLACEMENT_RANDOM), physical = lru(256, 2);
    physical.indexed = PM_INDEXED_PHYSICAL;
    assert_int_equal(misses_of_a_trace(&random, 5), misses_of_a_trace(&random, 5));
    assert_int_not_equal(misses_of_a_trace(&random, 5), misses_of_a_trace(&random, 6));
    assert_int_equal(misses_of_a_trace(&physical, 5), misses_of_a_trace(&physical, 5));
    assert_int_not_equal(misses_of_a_trace(&physical, 5), misses_of_a_trace(&physical, 6));
}

/* ---- indexing -------------------------------------------------------------------------------- */

/* 64 sets of 64 bytes are a page: physical addresses have the same sets.  With more, blocks that
   are 256 KiB apart meet in a set by their virtual addresses only. */
static void physical_pages_are_anywhere(void **state) {
    (void)state;
    struct pm_level small = lru(64, 4), large = lru(4096, 2);
    uint64_t by_virtual = misses_of_a_trace(&small, SEED), found[2];
    small.indexed = PM_INDEXED_PHYSICAL;
    assert_int_equal(misses_of_a_trace(&small, SEED), by_virtual);
    for (int physical = 0; physical < 2; physical++) {
        large.indexed = physical ? PM_INDEXED_PHYSICAL : PM_INDEXED_VIRTUAL;
        struct caches *caches = made(&large, 1, SEED);
        for (uint64_t i = 0; i < 1000; i++)
            caches_access(caches, i % 10 << 18, 8, false);
        found[physical] = misses(caches, 0);
        caches_free(caches);
    }
    assert_int_equal(found[0], 1000);
    assert_true(found[1] < 300);
}

/* Of 64 pages, each at one of 64 places with equal chance, as many are the last at theirs as places
   are taken. */
static void physical_pages_are_even(void **state) {
    (void)state;
    enum { PAGES = 64, SEEDS = 300, PAGE_BYTES = 4096 };
    struct pm_level level = lru(PAGES * PAGE_BYTES / LINE, 1);
    double not_taken = 1, held = 0;
    level.indexed = PM_INDEXED_PHYSICAL;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct caches *caches = made(&level, 1, seed);
        uint64_t dirty;
        for (uint64_t page = 0; page < PAGES; page++)
            caches_access(caches, page * PAGE_BYTES, 8, false);
        held += (double)caches_held(caches, 0, &dirty) / SEEDS;
        caches_free(caches);
    }
    for (int page = 0; page < PAGES; page++)
        not_taken *= 1 - 1.0 / PAGES;
    assert_float_equal(held, PAGES * (1 - not_taken), 0.6);
}

/* ---- several levels -------------------------------------------------------------------------- */

/* What a level replaces is more recent than all that an exclusive one behind it holds: together
   they are one stack.  In sets, too, where these are the same. */
static void exclusive_levels_are_one_of_the_summed_size(void **state) {
    (void)state;
    static const struct {
        uint64_t sets;
        uint32_t ways[3];
    } hierarchies[] = {
        {1, {8, 24, 0}}, {1, {64, 20, 0}}, {16, {2, 6, 0}}, {1, {4, 12, 40}}, {8, {1, 1, 2}}};
    for (size_t h = 0; h < sizeof hierarchies / sizeof hierarchies[0]; h++) {
        struct pm_level levels[3], sum;
        uint32_t ways = 0;
        size_t n = 0;
        for (; n < 3 && hierarchies[h].ways[n]; ways += hierarchies[h].ways[n++])
            levels[n] = that_is(lru(hierarchies[h].sets, hierarchies[h].ways[n]),
                                n ? PM_INCLUSION_EXCLUSIVE : PM_INCLUSION_NEITHER);
        sum = lru(hierarchies[h].sets, ways);
        struct caches *several = made(levels, n, SEED), *one = made(&sum, 1, SEED);
        for (int i = 0; i < ROUNDS(100000, 10000); i++) {
            uint64_t block = next_block(300);
            bool is_store = is_next_store();
            assert_int_equal(misses_now(several, n - 1, block, is_store),
                             misses_now(one, 0, block, is_store));
        }
        struct caches_counts last = caches_counts(several, n - 1), all = caches_counts(one, 0);
        assert_int_equal(last.store_misses, all.store_misses);
        assert_int_equal(last.write_backs, all.write_backs);
        caches_free(several);
        caches_free(one);
    }
}

static void a_block_is_in_one_of_exclusive_levels(void **state) {
    (void)state;
    for (int policy = PM_REPLACEMENT_LRU; policy <= PM_REPLACEMENT_RANDOM; policy++) {
        struct pm_level levels[] = {
            cache(4, 2, (enum pm_replacement)policy),
            that_is(cache(2, 8, (enum pm_replacement)policy), PM_INCLUSION_EXCLUSIVE)};
        struct caches *caches = made(levels, 2, SEED);
        for (int i = 0; i < ROUNDS(5000, 500); i++) {
            touch(caches, next_block(60), is_next_store());
            for (uint64_t block = 0; block < 60; block++)
                assert_false(caches_hold(caches, 0, block * LINE) &&
                             caches_hold(caches, 1, block * LINE));
        }
        caches_free(caches);
    }
}

/* Also where the outer blocks are larger, so that several of the inner ones leave together. */
static void an_inclusive_level_holds_what_nearer_ones_hold(void **state) {
    (void)state;
    bool neither_differs = false;
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        enum pm_inclusion how = inclusive ? PM_INCLUSION_INCLUSIVE : PM_INCLUSION_NEITHER;
        struct pm_level levels[] = {lru(4, 4), lru(8, 4), that_is(lru(8, 2), how)};
        levels[2].block_bytes = 2 * LINE;
        levels[2].size_bytes *= 2;
        struct caches *caches = made(levels, 3, SEED);
        for (int i = 0; i < ROUNDS(5000, 500); i++) {
            touch(caches, next_block(200), is_next_store());
            for (uint64_t block = 0; block < 200; block++) {
                bool held =
                    caches_hold(caches, 0, block * LINE) || caches_hold(caches, 1, block * LINE);
                bool included = !held || caches_hold(caches, 2, block * LINE);
                if (inclusive)
                    assert_true(included);
                else
                    neither_differs |= !included;
            }
        }
        caches_free(caches);
    }
    assert_true(neither_differs);
}

/* A, which is used all the time in the first level, grows old in the second; when it is replaced
   there, it leaves the first, too, and is written back. */
static void an_inclusive_level_takes_from_nearer_ones(void **state) {
    (void)state;
    struct pm_level levels[] = {lru(1, 2), that_is(lru(1, 4), PM_INCLUSION_INCLUSIVE)};
    struct caches *caches = made(levels, 2, SEED);
    enum { A = 100 };
    touch(caches, A, true);
    for (uint64_t block = 1; block <= 3; block++) {
        touch(caches, block, false);
        assert_false(misses_now(caches, 0, A, false));
    }
    assert_int_equal(caches_counts(caches, 0).write_backs, 0);
    touch(caches, 4, false);
    assert_int_equal(caches_counts(caches, 0).write_backs, 1);
    assert_int_equal(caches_counts(caches, 1).write_backs, 1);
    assert_true(misses_now(caches, 0, A, false));
    assert_int_equal(misses(caches, 1), 6);
    caches_free(caches);
}

static void a_level_behind_another_sees_its_misses_only(void **state) {
    (void)state;
    struct pm_level levels[] = {lru(4, 2), cache(8, 4, PM_REPLACEMENT_FIFO)};
    struct caches *both = made(levels, 2, SEED), *first = made(&levels[0], 1, SEED),
                  *second = made(&levels[1], 1, SEED);
    for (int i = 0; i < ROUNDS(100000, 10000); i++) {
        uint64_t block = next_block(200);
        bool is_store = is_next_store();
        if (misses_now(first, 0, block, is_store))
            touch(second, block, is_store);
        touch(both, block, is_store);
    }
    assert_int_equal(misses(both, 0), misses(first, 0));
    assert_int_equal(misses(both, 1), misses(second, 0));
    assert_int_equal(caches_counts(both, 1).store_misses, caches_counts(second, 0).store_misses);
    caches_free(both);
    caches_free(first);
    caches_free(second);
}

/* ---- stores ---------------------------------------------------------------------------------- */

struct step {
    char kind; /* l, s */
    uint64_t block;
};

static void assert_counts(const struct caches *caches, size_t level, uint64_t load_misses,
                          uint64_t store_misses, uint64_t write_backs) {
    struct caches_counts counts = caches_counts(caches, level);
    assert_int_equal(counts.load_misses, load_misses);
    assert_int_equal(counts.store_misses, store_misses);
    assert_int_equal(counts.write_backs, write_backs);
}

static struct caches *after(const struct pm_level *levels, size_t n_levels,
                            const struct step *steps, size_t n_steps) {
    struct caches *caches = made(levels, n_levels, SEED);
    for (size_t i = 0; i < n_steps; i++)
        touch(caches, steps[i].block, steps[i].kind == 's');
    return caches;
}

/* Two ways.  1 is stored to twice and written back once, by 3; 2 was only loaded; 3 stays dirty. */
static void dirty_blocks_are_written_back_once(void **state) {
    (void)state;
    static const struct step steps[] = {{'s', 1}, {'l', 2}, {'s', 1}, {'l', 2},
                                        {'s', 3}, {'l', 1}, {'s', 3}, {'l', 2}};
    struct pm_level level = lru(1, 2);
    struct caches *caches = after(&level, 1, steps, 8);
    uint64_t dirty;
    assert_counts(caches, 0, 3, 2, 1);
    assert_int_equal(caches_held(caches, 0, &dirty), 2);
    assert_int_equal(dirty, 1);
    caches_free(caches);
}

/* Of a fully associative LRU cache: what a store left is written back if, before the next store
   to its block, the block was used at a distance of C or more (Thompson and Smith 1989). */
static void write_backs_follow_from_distances_since_the_store(void **state) {
    (void)state;
    enum { BLOCKS = 300, N = 4 };
    static const uint32_t ways[N] = {2, 16, 40, 120};
    struct caches *caches[N];
    struct stack stack = {0};
    uint64_t expected[N] = {0}, dirty;
    int64_t longest[BLOCKS]; /* distance since the last store; COLD: there was none */
    for (int c = 0; c < N; c++) {
        struct pm_level level = lru(1, ways[c]);
        caches[c] = made(&level, 1, SEED);
    }
    for (int b = 0; b < BLOCKS; b++)
        longest[b] = COLD;
    for (int i = 0; i < ROUNDS(100000, 10000); i++) {
        uint64_t block = next_block(BLOCKS);
        bool is_store = is_next_store();
        int64_t distance = stack_touch(&stack, block);
        if (longest[block] != COLD && distance > longest[block])
            longest[block] = distance;
        for (int c = 0; c < N; c++) {
            touch(caches[c], block, is_store);
            expected[c] += is_store && longest[block] >= ways[c];
        }
        if (is_store)
            longest[block] = 0;
    }
    for (int b = 0; b < BLOCKS;
         b++) /* and what the last stores left, written back or still there */
        for (int c = 0; c < N; c++)
            expected[c] += longest[b] != COLD;
    for (int c = 0; c < N; c++) {
        caches_held(caches[c], 0, &dirty);
        assert_int_equal(caches_counts(caches[c], 0).write_backs + dirty, expected[c]);
        assert_true(caches_counts(caches[c], 0).write_backs > 0);
        caches_free(caches[c]);
    }
    free(stack.blocks);
}

/* 1 is written back to the second level, which holds it, and from there when it leaves that. */
static void what_is_dirty_moves_outwards(void **state) {
    (void)state;
    static const struct step steps[] = {{'s', 1}, {'l', 2}, {'l', 3}, {'l', 4}};
    struct pm_level levels[] = {lru(1, 1), lru(1, 3)};
    struct caches *caches = after(levels, 2, steps, 3);
    assert_counts(caches, 0, 2, 1, 1);
    assert_counts(caches, 1, 2, 1, 0);
    caches_free(caches);
    caches = after(levels, 2, steps, 4);
    assert_counts(caches, 1, 3, 1, 1);
    caches_free(caches);
}

/* Each store goes on to the second level, which brings in what misses. */
static void stores_are_written_through(void **state) {
    (void)state;
    static const struct step steps[] = {{'s', 1}, {'s', 1}, {'l', 1}, {'s', 1}, {'s', 2}, {'l', 3}};
    struct pm_level levels[] = {lru(1, 2), lru(1, 2)};
    uint64_t dirty;
    levels[0].write = PM_WRITE_THROUGH;
    levels[0].write_allocate = false;
    struct caches *caches = after(levels, 2, steps, 6);
    assert_counts(caches, 0, 2, 3, 0); /* stores to 1, 1, 2; loads of 1, 3 */
    assert_counts(caches, 1, 1, 2, 1); /* 3 replaces the dirty 1 */
    caches_held(caches, 0, &dirty);
    assert_int_equal(dirty, 0);
    caches_free(caches);
    levels[0].write_allocate = true;
    caches = after(levels, 2, steps, 6);
    assert_counts(caches, 0, 1, 2, 0);
    assert_counts(caches, 1, 1, 2, 1);
    caches_free(caches);
}

/* What is dirty changes no order: misses are those of the same accesses as loads. */
static void write_backs_change_no_misses(void **state) {
    (void)state;
    for (int inclusion = PM_INCLUSION_NEITHER; inclusion <= PM_INCLUSION_EXCLUSIVE; inclusion++) {
        struct pm_level levels[] = {lru(4, 2), that_is(lru(4, 4), (enum pm_inclusion)inclusion)};
        struct caches *stored = made(levels, 2, SEED), *loaded = made(levels, 2, SEED);
        for (int i = 0; i < ROUNDS(50000, 5000); i++) {
            uint64_t block = next_block(100);
            touch(stored, block, is_next_store());
            touch(loaded, block, false);
        }
        for (size_t l = 0; l < 2; l++) {
            assert_int_equal(misses(stored, l), misses(loaded, l));
            assert_true(caches_counts(stored, l).write_backs > 0);
            assert_int_equal(caches_counts(loaded, l).write_backs, 0);
        }
        caches_free(stored);
        caches_free(loaded);
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void an_access_touches_each_block_that_it_reaches(void **state) {
    (void)state;
    struct pm_level level = lru(1, 8);
    struct caches *caches = made(&level, 1, SEED);
    caches_access(caches, 60, 4, false);
    assert_int_equal(misses(caches, 0), 1);
    caches_access(caches, 60, 5, false);
    assert_int_equal(misses(caches, 0), 2);
    caches_access(caches, 127, 130, true);
    assert_int_equal(misses(caches, 0), 5);
    assert_int_equal(caches_counts(caches, 0).store_misses, 3);
    caches_free(caches);
}

static void levels_that_cannot_be_are_refused(void **state) {
    (void)state;
    struct pm_level tree = cache(4, 12, PM_REPLACEMENT_PLRU);
    struct pm_level through[] = {lru(4, 2), that_is(lru(4, 4), PM_INCLUSION_EXCLUSIVE)};
    struct pm_level blocks[] = {lru(4, 2), that_is(lru(4, 4), PM_INCLUSION_EXCLUSIVE)};
    struct pm_level smaller[] = {lru(4, 2), lru(4, 4)};
    struct pm_error err = {0};
    through[0].write = PM_WRITE_THROUGH;
    blocks[1].block_bytes = 2 * LINE;
    smaller[1].block_bytes = LINE / 2;
    assert_null(caches_new(&tree, 1, SEED, &err));
    assert_string_equal(err.text, "level 1: a tree has a power of two of ways");
    assert_null(caches_new(through, 2, SEED, &err));
    assert_null(caches_new(blocks, 2, SEED, &err));
    assert_null(caches_new(&through[1], 1, SEED, &err));
    assert_null(caches_new(smaller, 2, SEED, &err));
    assert_string_equal(err.text, "level 2 has smaller blocks than the level before it");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifo_and_lru_miss_as_by_hand),
        cmocka_unit_test(plru_misses_as_by_hand),
        cmocka_unit_test(plru_of_two_ways_is_lru),
        cmocka_unit_test(lru_misses_are_those_of_a_stack),
        cmocka_unit_test(sets_are_caches_of_their_own),
        cmocka_unit_test(a_cycle_of_one_too_many),
        cmocka_unit_test(random_replacement_is_even),
        cmocka_unit_test(a_seed_gives_the_same_again),
        cmocka_unit_test(physical_pages_are_anywhere),
        cmocka_unit_test(physical_pages_are_even),
        cmocka_unit_test(exclusive_levels_are_one_of_the_summed_size),
        cmocka_unit_test(a_block_is_in_one_of_exclusive_levels),
        cmocka_unit_test(an_inclusive_level_holds_what_nearer_ones_hold),
        cmocka_unit_test(an_inclusive_level_takes_from_nearer_ones),
        cmocka_unit_test(a_level_behind_another_sees_its_misses_only),
        cmocka_unit_test(dirty_blocks_are_written_back_once),
        cmocka_unit_test(write_backs_follow_from_distances_since_the_store),
        cmocka_unit_test(what_is_dirty_moves_outwards),
        cmocka_unit_test(stores_are_written_through),
        cmocka_unit_test(write_backs_change_no_misses),
        cmocka_unit_test(an_access_touches_each_block_that_it_reaches),
        cmocka_unit_test(levels_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
