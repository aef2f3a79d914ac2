/* The caches that the runtime simulates miss as those of the simulator that judges models of misses
   (tests/truth/caches.h), whatever their policies, in each vector extension. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "runtime/modules.h"
#include "runtime/profiler/profiler_state.h"
#include "tests/truth/caches.h"
#include "tests/unit/lru_stack.h"

/* Instead of runtime/modules.c, which begins with the program. */
struct pm_loaded_module pm_modules[PM_MAX_MODULES];
struct pm_probe_reference *pm_references;
struct pm_address_record *pm_address_records;
uint32_t pm_n_references, pm_n_address_records, pm_n_groups;
uint32_t *pm_reference_blocks;

enum { LINE = 64, MOST = 3, ACCESSES = 60000 };

/* What PM_ENV_SIMULATE says, and the same for the simulator. */
struct hierarchy {
    const char *text;
    size_t n_levels;
    struct pm_level levels[MOST];
    double tolerance;  /* relative; 0: exactly */
    size_t n_compared; /* levels, the nearest first */
};

static struct pm_level level(uint64_t bytes, uint32_t ways, enum pm_replacement replacement) {
    return (struct pm_level){.size_bytes = bytes,
                             .block_bytes = LINE,
                             .associativity = ways,
                             .replacement = replacement,
                             .write_allocate = true};
}

static struct pm_level that_is(struct pm_level level, enum pm_inclusion inclusion) {
    level.inclusion = inclusion;
    return level;
}

/* A block of about 4,000: near the last one half of the time. */
static uint64_t next_block(uint64_t last) {
    enum { BLOCKS = 4096, FIRST = 1 << 20 };
    switch (random_number(4)) {
    case 0:
        return last + 1 < FIRST + BLOCKS ? last + 1 : FIRST;
    case 1:
        return FIRST + random_number(64);
    case 2:
        return FIRST + random_number(512);
    default:
        return FIRST + random_number(BLOCKS);
    }
}

static void count_ours(const struct hierarchy *hierarchy, pm_profiler_touch *touch,
                       uint64_t misses[MOST], struct caches *truth) {
    uint64_t served[MOST] = {0}, block = 1 << 20;
    struct pm_profiler_block of = {.served = served};
    setenv(PM_ENV_PROFILE, "8", 1);
    setenv(PM_ENV_SIMULATE, hierarchy->text, 1);
    assert_true(pm_profiler_wanted());
    struct pm_profiler *profile = pm_profiler_new();
    assert_non_null(profile);
    for (unsigned i = 0; i < ACCESSES; i++) {
        const bool is_store = random_number(3) == 0;
        block = next_block(block);
        touch(profile, &of, block * LINE + 8, 8, is_store ? PM_ACCESS_STORE : PM_ACCESS_LOAD);
        caches_access(truth, block * LINE + 8, 8, is_store);
    }
    for (size_t l = 0; l < hierarchy->n_levels; l++) {
        misses[l] = 0;
        for (size_t farther = l; farther < hierarchy->n_levels; farther++)
            misses[l] += served[farther];
    }
    pm_profiler_free(profile);
}

static void compare(const struct hierarchy *hierarchy, pm_profiler_touch *touch) {
    struct pm_error err = {0};
    struct caches *truth = caches_new(hierarchy->levels, hierarchy->n_levels, 7, &err);
    uint64_t misses[MOST];
    if (!truth)
        fail_msg("%s", err.text);
    count_ours(hierarchy, touch, misses, truth);
    for (size_t l = 0; l < hierarchy->n_compared; l++) {
        const struct caches_counts counts = caches_counts(truth, l);
        const double there = (double)(counts.load_misses + counts.store_misses);
        const double apart = (double)misses[l] - there;
        if (apart > hierarchy->tolerance * there || -apart > hierarchy->tolerance * there)
            fail_msg("%s: level %zu: %llu misses, not %.0f", hierarchy->text, l + 1,
                     (unsigned long long)misses[l], there);
    }
    caches_free(truth);
}

static void they_miss_as_they_should(void **state) {
    (void)state;
    const struct pm_level small = level(8192, 8, PM_REPLACEMENT_LRU);
    const struct pm_level large = level(65536, 16, PM_REPLACEMENT_LRU);
    struct pm_level through = small, around = small;
    through.write = PM_WRITE_THROUGH;
    around.write_allocate = false;
    const struct hierarchy all[] = {
        {"8192/64/8l", 1, {small}, 0, 1},
        {"8192/64/2l", 1, {level(8192, 2, PM_REPLACEMENT_LRU)}, 0, 1},
        {"6144/64/12l", 1, {level(6144, 12, PM_REPLACEMENT_LRU)}, 0, 1},
        {"6144/64/4l", 1, {level(6144, 4, PM_REPLACEMENT_LRU)}, 0, 1}, /* 24 sets */
        {"8192/64/0l", 1, {level(8192, 0, PM_REPLACEMENT_LRU)}, 0, 1},
        {"65536/64/0l", 1, {level(65536, 0, PM_REPLACEMENT_LRU)}, 0, 1},
        {"65536/64/0f", 1, {level(65536, 0, PM_REPLACEMENT_FIFO)}, 0, 1},
        {"65536/64/0p", 1, {level(65536, 0, PM_REPLACEMENT_PLRU)}, 0, 1},
        {"65536/64/0r", 1, {level(65536, 0, PM_REPLACEMENT_RANDOM)}, 0.05, 1},
        {"8192/64/8f", 1, {level(8192, 8, PM_REPLACEMENT_FIFO)}, 0, 1},
        {"8192/64/8p", 1, {level(8192, 8, PM_REPLACEMENT_PLRU)}, 0, 1},
        {"8192/64/8r", 1, {level(8192, 8, PM_REPLACEMENT_RANDOM)}, 0.05, 1},
        {"8192/64/8l,65536/64/16l", 2, {small, large}, 0, 2},
        {"8192/64/8l,65536/64/16lI", 2, {small, that_is(large, PM_INCLUSION_INCLUSIVE)}, 0, 2},
        {"8192/64/8l,65536/64/16lX", 2, {small, that_is(large, PM_INCLUSION_EXCLUSIVE)}, 0, 2},
        {"8192/64/8l,65536/64/0lX",
         2,
         {small, that_is(level(65536, 0, PM_REPLACEMENT_LRU), PM_INCLUSION_EXCLUSIVE)},
         0,
         2},
        {"8192/64/8l,65536/64/0lI",
         2,
         {small, that_is(level(65536, 0, PM_REPLACEMENT_LRU), PM_INCLUSION_INCLUSIVE)},
         0,
         2},
        {"8192/64/8l,16384/64/4l,65536/64/16lI",
         3,
         {small, level(16384, 4, PM_REPLACEMENT_LRU), that_is(large, PM_INCLUSION_INCLUSIVE)},
         0,
         3},
        {"8192/64/8lT,65536/64/16l", 2, {through, large}, 0, 1},
        {"8192/64/8lN,65536/64/16l", 2, {around, large}, 0, 2},
        {"8192/64/8lP,65536/64/16lP", 2, {small, large}, 0.05, 2}, /* pages at random */
    };
    pm_profiler_touch *const touches[] = {pm_profiler_touch_sse2, pm_profiler_touch_avx2,
                                          pm_profiler_touch_avx512};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (unsigned variant = 0; variant <= (unsigned)pm_reuse_best_variant(); variant++)
            compare(&all[i], touches[variant]);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"8192",
                                        "8192/64",
                                        "8192/60/8l",
                                        "8192/64/8q",
                                        "8192/64/7l",
                                        "6144/64/12p",
                                        "8192/64/8lX",
                                        "0/64/8l",
                                        "8192/64/8l,",
                                        "8192/64/8l,65536/32/16l",
                                        "8192/64/8l;;8192/64/8l"};
    setenv(PM_ENV_PROFILE, "8", 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        setenv(PM_ENV_SIMULATE, texts[i], 1);
        if (pm_profiler_wanted())
            fail_msg("%s was taken", texts[i]);
    }
    setenv(PM_ENV_SIMULATE, "", 1);
    assert_true(pm_profiler_wanted());
    setenv(PM_ENV_PROFILE, "0", 1);
    assert_false(pm_profiler_wanted());
    setenv(PM_ENV_PROFILE, "5000", 1);
    assert_false(pm_profiler_wanted());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_miss_as_they_should),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
