/* The bytes that each group was the first to touch equal those of the plain definition, for which
   every access is applied byte by byte to a list of all bytes: random accesses, accesses across
   words and pages, long ones, at both ends of the address space, and after bytes were forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/analyser/footprint.h"
#include "runtime/modules.h"

/* There is no module here (runtime/modules.c), nor an address record. */
struct pm_probe_reference *pm_references;
struct pm_address_record *pm_address_records;
uint32_t pm_n_address_records, pm_n_groups;

enum { N_GROUPS = 7, WINDOW = 1 << 16, MOST_WINDOWS = 8, EVENT = 4 };

static uint64_t random_state;

static uint64_t random_number(uint64_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint64_t)(((unsigned __int128)(random_state ^ random_state >> 29) * below) >> 64);
}

/* ---- the plain definition -------------------------------------------------------------------- */

/* Accesses begin and end in windows of memory, which do not overlap. */
struct plain {
    uint64_t windows[MOST_WINDOWS]; /* their first addresses */
    size_t n_windows;
    unsigned char touched[MOST_WINDOWS][WINDOW];
    uint64_t bytes[N_GROUPS];
};

static void plain_touch(struct plain *plain, const struct pmodel_access *access) {
    for (uint64_t i = 0; i < access->size_bytes; i++) {
        size_t w = 0;
        while (w < plain->n_windows && access->address + i - plain->windows[w] >= WINDOW)
            w++;
        assert_true(w < plain->n_windows);
        unsigned char *touched = &plain->touched[w][access->address + i - plain->windows[w]];
        plain->bytes[access->group] += !*touched;
        *touched = 1;
    }
}

static void assert_equal(const struct pm_footprint *footprint, const struct plain *plain) {
    assert_false(footprint->failed);
    for (uint32_t g = 0; g < N_GROUPS; g++)
        assert_int_equal(pm_footprint_bytes(footprint, g), plain->bytes[g]);
}

static struct plain *make_plain(const uint64_t *windows, size_t n_windows) {
    struct plain *plain = calloc(1, sizeof *plain);
    assert_non_null(plain);
    memcpy(plain->windows, windows, n_windows * sizeof *windows);
    plain->n_windows = n_windows;
    return plain;
}

/* An access in a window, mostly short and near a border of a word or of a page. */
static struct pmodel_access random_access(const struct plain *plain) {
    static const uint64_t borders[] = {1, 8, 64, 512, 4096};
    static const uint64_t longest[] = {8, 32, 64, 65, 130, 4100, 20000};
    uint64_t size = 1 + random_number(longest[random_number(random_number(8) ? 4 : 7)]);
    uint64_t border = borders[random_number(5)];
    uint64_t at = random_number(WINDOW) / border * border;
    at -= random_number(4) ? 0 : random_number(size < at ? size : at + 1);
    at = at + size > WINDOW ? WINDOW - size : at;
    return (struct pmodel_access){.address = plain->windows[random_number(plain->n_windows)] + at,
                                  .size_bytes = (uint32_t)size,
                                  .group = (uint32_t)random_number(N_GROUPS),
                                  .kind = 1 + (uint32_t)random_number(3)};
}

static void compare(const uint64_t *windows, size_t n_windows, uint64_t seed) {
    enum { N_BATCHES = 40, BATCH = 97 };
    random_state = seed;
    struct plain *plain = make_plain(windows, n_windows);
    struct pm_footprint *footprint = pm_footprint_new();
    assert_non_null(footprint);
    for (size_t b = 0; b < N_BATCHES; b++) {
        struct pmodel_access batch[BATCH];
        for (size_t i = 0; i < BATCH; i++) {
            batch[i] = random_access(plain);
            if (random_number(10) == 0) /* an event; its group is a scope's number */
                batch[i] = (struct pmodel_access){.group = UINT32_MAX, .kind = EVENT};
            else
                plain_touch(plain, &batch[i]);
        }
        pm_footprint_accesses(footprint, N_GROUPS, batch, BATCH);
        assert_equal(footprint, plain);
        if (b % 16 == 15) {
            pm_footprint_forget(footprint);
            memset(plain->touched, 0, sizeof plain->touched);
        }
    }
    pm_footprint_free(footprint);
    free(plain);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void bytes_are_those_of_the_plain_definition(void **state) {
    (void)state;
    static const uint64_t windows[] = {0x400000, 0x7ffff7a00000, 0x7fffffff0000, 0x555555554123};
    for (uint64_t seed = 1; seed <= 60; seed++)
        compare(windows, 1 + seed % 4, seed);
}

static void both_ends_of_the_address_space_are_memory_too(void **state) {
    (void)state;
    static const uint64_t ends[] = {0, 0 - (uint64_t)WINDOW};
    static const uint64_t around[] = {0 - (uint64_t)WINDOW / 2};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        compare(ends, 2, seed);
        compare(around, 1, seed);
    }
}

/* Windows whose pages' numbers differ in high bits only, or by the table's size. */
static void pages_that_are_alike_are_kept_apart(void **state) {
    (void)state;
    uint64_t windows[MOST_WINDOWS];
    for (unsigned shift = 17; shift < 61; shift++) {
        for (size_t w = 0; w < MOST_WINDOWS; w++)
            windows[w] = (uint64_t)w << shift;
        compare(windows, MOST_WINDOWS, shift);
    }
}

static struct pmodel_access access_to(uint64_t address, uint32_t size_bytes, uint32_t group) {
    return (struct pmodel_access){
        .address = address, .size_bytes = size_bytes, .group = group, .kind = 1};
}

static void long_accesses_are_counted_to_the_byte(void **state) {
    (void)state;
    const uint32_t huge = 1u << 30;
    const uint64_t at = 0x10000000000003f;
    const struct pmodel_access batch[] = {
        access_to(at + 1000, 8, 0),        access_to(at, huge, 1), access_to(at - 100, huge, 2),
        access_to(at + 1, huge, 3),        access_to(at, huge, 4), access_to(at + 5, 0, 5),
        access_to(at + 2ull * huge, 0, 5),
    };
    struct pm_footprint *footprint = pm_footprint_new();
    assert_non_null(footprint);
    pm_footprint_accesses(footprint, N_GROUPS, batch, sizeof batch / sizeof *batch);
    static const uint64_t expected[N_GROUPS] = {8, (1u << 30) - 8, 100, 1, 0, 0, 0};
    for (uint32_t g = 0; g < N_GROUPS; g++)
        assert_int_equal(pm_footprint_bytes(footprint, g), expected[g]);
    assert_int_equal(pm_footprint_bytes(footprint, N_GROUPS), 0);
    assert_false(footprint->failed);
    pm_footprint_free(footprint);
}

/* One byte of each page, many pages: the table grows, and every byte is still known. */
static void the_table_grows(void **state) {
    (void)state;
    enum { N_PAGES = 50000 };
    struct pm_footprint *footprint = pm_footprint_new();
    assert_non_null(footprint);
    for (unsigned pass = 0; pass < 3; pass++)
        for (uint64_t page = 0; page < N_PAGES; page++) {
            uint64_t stride = pass == 1 ? N_PAGES - 1 - page : page;
            struct pmodel_access access = access_to(stride * 4096 * 3 + 17, 1, pass);
            pm_footprint_accesses(footprint, N_GROUPS, &access, 1);
        }
    assert_int_equal(pm_footprint_bytes(footprint, 0), N_PAGES);
    assert_int_equal(pm_footprint_bytes(footprint, 1), 0);
    assert_int_equal(pm_footprint_bytes(footprint, 2), 0);
    pm_footprint_free(footprint);
}

static uint64_t address_space_bytes(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Room for 1 MiB more, and accesses that need 32: it is told, and what comes then does no harm. */
static void without_memory_nothing_is_known(void **state) {
    (void)state;
    struct pm_footprint *footprint = pm_footprint_new();
    assert_non_null(footprint);
    struct pmodel_access small = access_to(4096, 4, 0), large = access_to(0, 1u << 28, 1);
    pm_footprint_accesses(footprint, N_GROUPS, &small, 1);
    struct rlimit usual, tight;
    assert_int_equal(getrlimit(RLIMIT_AS, &usual), 0);
    tight = usual;
    tight.rlim_cur = address_space_bytes() + (1 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    pm_footprint_accesses(footprint, N_GROUPS, &large, 1);
    bool failed = footprint->failed;
    pm_footprint_accesses(footprint, N_GROUPS, &small, 1);
    pm_footprint_forget(footprint);
    pm_footprint_accesses(footprint, 1u << 30, &small, 1);
    bool still = footprint->failed;
    assert_int_equal(setrlimit(RLIMIT_AS, &usual), 0);
    assert_true(failed && still);
    pm_footprint_free(footprint);
}

/* As when the program loads a library. */
static void groups_that_come_later_are_counted(void **state) {
    (void)state;
    struct pm_footprint *footprint = pm_footprint_new();
    assert_non_null(footprint);
    struct pmodel_access first = access_to(4096, 4, 0), later = access_to(4096, 10, 100000);
    pm_footprint_accesses(footprint, 1, &first, 1);
    pm_footprint_accesses(footprint, 100001, &later, 1);
    assert_int_equal(pm_footprint_bytes(footprint, 0), 4);
    assert_int_equal(pm_footprint_bytes(footprint, 100000), 6);
    pm_footprint_free(footprint);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_the_plain_definition),
        cmocka_unit_test(both_ends_of_the_address_space_are_memory_too),
        cmocka_unit_test(pages_that_are_alike_are_kept_apart),
        cmocka_unit_test(long_accesses_are_counted_to_the_byte),
        cmocka_unit_test(the_table_grows),
        cmocka_unit_test(without_memory_nothing_is_known),
        cmocka_unit_test(groups_that_come_later_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
