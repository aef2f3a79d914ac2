/* The blocks of windows and of slices of memory, beside an enumeration of every element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "fit/sets/private.h"
#include "tests/unit/lru_stack.h"

enum { BLOCK = 64, GRANULE = 4096 };

static struct pm_walk random_walk(uint32_t group, int64_t most_start, uint64_t most_count) {
    struct pm_walk walk = {.group = group,
                           .page_known = true,
                           .start = (int64_t)random_number((uint64_t)most_start),
                           .size_bytes = (int64_t)(1 + random_number(16)),
                           .n_levels = (uint32_t)(1 + random_number(4))};
    for (uint32_t l = 0; l < walk.n_levels; l++) {
        int64_t stride = random_number(4) ? (int64_t)random_number(1 << (3 + 4 * random_number(4)))
                                          : (int64_t)(random_number(5) * GRANULE);
        walk.levels[l] = (struct pm_walk_level){random_number(4) ? stride : -stride,
                                                1 + random_number(most_count)};
    }
    return walk;
}

/* Where element number I of WALK is; the last level goes on without end. */
static int64_t address_of(const struct pm_walk *walk, uint64_t i) {
    int64_t address = walk->start;
    for (uint32_t l = 0; l < walk->n_levels; l++) {
        bool is_last = l + 1 == walk->n_levels;
        address +=
            walk->levels[l].stride_bytes * (int64_t)(is_last ? i : i % walk->levels[l].count);
        i /= is_last ? 1 : walk->levels[l].count;
    }
    return address;
}

static int64_t block_of(int64_t address) { return (int64_t)floor((double)address / BLOCK); }

struct blocks {
    PM_ARRAY(int64_t, blocks);
};

static void add_blocks(struct blocks *to, int64_t from, int64_t last) {
    for (int64_t b = block_of(from); b <= block_of(last); b++)
        *PM_PUSH(to, blocks) = b;
}

static int compare_blocks(const void *left, const void *right) {
    return PM_COMPARE(*(const int64_t *)left, *(const int64_t *)right);
}

/* Sorts them, each once. */
static void finish(struct blocks *blocks) {
    size_t n = 0;
    PM_SORT(blocks->blocks, blocks->n_blocks, compare_blocks);
    for (size_t i = 0; i < blocks->n_blocks; i++)
        if (!n || blocks->blocks[n - 1] != blocks->blocks[i])
            blocks->blocks[n++] = blocks->blocks[i];
    blocks->n_blocks = n;
}

static void add_elements(struct blocks *to, const struct pm_walk *walk, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        add_blocks(to, address_of(walk, i), address_of(walk, i) + walk->size_bytes - 1);
}

static bool add_run(void *context, int64_t from, int64_t to) {
    add_blocks(context, from, to);
    return true;
}

static bool is_in(const struct pm_slices *slices, int64_t block) {
    int64_t place = (block * BLOCK - slices->first) % slices->apart;
    return (place < 0 ? place + slices->apart : place) < slices->width;
}

/* Of any part of any walk, and what of it is in any slices. */
static void boxes_have_the_blocks_of_the_elements(void **state) {
    (void)state;
    random_state = 1;
    for (int round = 0; round < 3000; round++) {
        struct pm_walk walk = random_walk(0, 1 << 20, 12);
        uint64_t n = 1 + random_number(3000), apart = 1 + 2 * random_number(50);
        struct pm_slices slices = {(int64_t)random_number(9) * GRANULE, GRANULE,
                                   (int64_t)apart * GRANULE};
        struct pm_box boxes[PM_MOST_STRIDE_LEVELS + 1];
        struct blocks found = {0}, all = {0};
        uint32_t n_boxes = pm_walk_boxes(&walk, n, BLOCK, boxes);
        size_t n_in = 0;
        for (uint32_t b = 0; b < n_boxes; b++)
            pm_box_visit(&boxes[b], &slices, add_run, &found);
        add_elements(&all, &walk, n);
        finish(&found);
        finish(&all);
        for (size_t i = 0; i < all.n_blocks; i++)
            if (is_in(&slices, all.blocks[i]))
                all.blocks[n_in++] = all.blocks[i];
        if (found.n_blocks != n_in)
            fail_msg("round %d: %zu blocks, %zu enumerated", round, found.n_blocks, n_in);
        for (size_t i = 0; i < n_in; i++)
            assert_true(found.blocks[i] == all.blocks[i]);
        free(found.blocks);
        free(all.blocks);
    }
}

/* The blocks of N walks, of which each is executed once for each of ACCESSES. */
static double blocks_of_window(struct pm_walk *walks, size_t n, double accesses) {
    struct pm_rated_walk rated[n];
    for (size_t i = 0; i < n; i++)
        rated[i] = (struct pm_rated_walk){&walks[i], 1};
    struct pm_window window = {0};
    struct pm_window_walks *of = pm_window_walks_new(rated, n, BLOCK, GRANULE);
    pm_window_make(of, accesses, &window);
    double blocks = window.blocks;
    pm_window_free(&window);
    pm_window_walks_free(of);
    return blocks;
}

/* Seven neighbours in a grid of EXTENT points to each side, rows of POINTS of them. */
static void make_stencil(struct pm_walk walks[7], int64_t bytes, int64_t extent, uint64_t points) {
    const int64_t row = extent * bytes, plane = extent * row;
    const int64_t offsets[7] = {0, bytes, -bytes, row, -row, plane, -plane};
    for (uint32_t i = 0; i < 7; i++)
        walks[i] = (struct pm_walk){.group = i,
                                    .page_known = true,
                                    .start = 2 * plane + offsets[i],
                                    .size_bytes = 8,
                                    .n_levels = 3,
                                    .levels = {{bytes, points}, {row, points}, {plane, points}}};
}

static double enumerated(struct pm_walk *walks, size_t n, uint64_t executions) {
    struct blocks all = {0};
    for (size_t i = 0; i < n; i++)
        add_elements(&all, &walks[i], executions);
    finish(&all);
    double blocks = (double)all.n_blocks;
    free(all.blocks);
    return blocks;
}

/* Of many runs slices are looked at, which stand for all. */
static void long_windows_are_nearly_exact(void **state) {
    (void)state;
    static const struct {
        int64_t bytes, extent;
        uint64_t points;
    } cases[] = {{200, 66, 64}, {8, 130, 100}, {1024, 64, 62}, {8, 512, 60}, {96, 100, 80}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct pm_walk walks[7];
        make_stencil(walks, cases[c].bytes, cases[c].extent, cases[c].points);
        for (uint64_t n = 20; n < 250000; n *= 5) {
            double all = enumerated(walks, 7, n), found = blocks_of_window(walks, 7, (double)n);
            if (!(fabs(found - all) <= fmax(0.5, 0.04 * all)))
                fail_msg("case %zu, %llu points: %g blocks, %g enumerated", c,
                         (unsigned long long)n, found, all);
        }
    }
}

/* Where a walk has steps of many slices, these stand for all, too. */
static void steps_of_whole_slices_are_nearly_exact(void **state) {
    (void)state;
    for (int64_t granules = 1; granules <= 40; granules++) {
        struct pm_walk walk = {.page_known = true,
                               .size_bytes = 8,
                               .n_levels = 2,
                               .levels = {{granules * GRANULE, 20000}, {BLOCK, 3}}};
        double found = blocks_of_window(&walk, 1, 60000);
        if (!(fabs(found / 60000 - 1) < 0.02))
            fail_msg("%lld granules: %g blocks of 60000", (long long)granules, found);
    }
}

/* Fields of a structure are one walk; of those of another group they stay apart. */
static void fields_that_touch_the_same_blocks_count_once(void **state) {
    (void)state;
    struct pm_walk fields[25];
    for (uint32_t i = 0; i < 25; i++)
        fields[i] = (struct pm_walk){.group = i % 5,
                                     .page_known = true,
                                     .start = 1024 + 8 * (24 - (int64_t)i),
                                     .size_bytes = 8,
                                     .n_levels = 1,
                                     .levels = {{200, 0}}};
    for (uint64_t n = 1; n < 3000; n *= 3) {
        double all = enumerated(fields, 25, n);
        double found = blocks_of_window(fields, 25, (double)n);
        if (found != all)
            fail_msg("%llu: %g blocks, %g enumerated", (unsigned long long)n, found, all);
    }
}

/* Sizes that no machine has: a number, and at once. */
static void addresses_beyond_all_memory_are_no_trouble(void **state) {
    (void)state;
    static const int64_t strides[] = {8, 4096, INT64_MAX, INT64_MIN, (int64_t)1 << 59, -8};
    for (size_t a = 0; a < 6; a++)
        for (size_t b = 0; b < 6; b++) {
            struct pm_walk walk = {.start = a % 2 ? INT64_MAX : INT64_MIN,
                                   .size_bytes = 8,
                                   .n_levels = 3,
                                   .levels = {{strides[a], (uint64_t)1 << 50},
                                              {strides[b], UINT64_MAX},
                                              {strides[a], 0}}};
            double blocks = blocks_of_window(&walk, 1, 1e30);
            assert_true(blocks >= 1 && isfinite(blocks));
        }
}

/* What is found does not hang on what was asked before. */
static void a_search_has_no_memory(void **state) {
    (void)state;
    struct pm_walk walks[7];
    struct pm_rated_walk rated[7];
    make_stencil(walks, 200, 66, 64);
    for (size_t i = 0; i < 7; i++)
        rated[i] = (struct pm_rated_walk){&walks[i], 1.0 / 7};
    struct pm_window_walks *of = pm_window_walks_new(rated, 7, BLOCK, GRANULE);
    struct pm_window_search *shared = pm_window_search_new(of, 1e7);
    random_state = 1;
    for (int round = 0; round < 60; round++) {
        double blocks = floor(exp((double)random_number(12000) / 1000)), accesses, of_own;
        double found = pm_window_search_for(shared, blocks, 2 * blocks, &accesses)->blocks;
        struct pm_window_search *own = pm_window_search_new(of, 1e7);
        double alone = pm_window_search_for(own, blocks, 2 * blocks, &of_own)->blocks;
        assert_true(found == alone && accesses == of_own);
        if (!(found <= blocks && found >= 0.9 * blocks - 8))
            fail_msg("%g blocks of %g", found, blocks);
        pm_window_search_free(own);
    }
    pm_window_search_free(shared);
    pm_window_walks_free(of);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_have_the_blocks_of_the_elements),
        cmocka_unit_test(long_windows_are_nearly_exact),
        cmocka_unit_test(steps_of_whole_slices_are_nearly_exact),
        cmocka_unit_test(fields_that_touch_the_same_blocks_count_once),
        cmocka_unit_test(addresses_beyond_all_memory_are_no_trouble),
        cmocka_unit_test(a_search_has_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
