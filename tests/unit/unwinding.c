/* Unwinding information (binlift/unwinding/): of this very program it is written for code that
   moved and read back, and each instruction has its rules; of tables made by hand it is refused
   whole where one entry is not understood. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/fuzz/unwinding.h"

/* ---- real tables ----------------------------------------------------------------------------- */

static void check_file(const char *path, size_t least) {
    struct pm_error err = {0};
    struct pm_image image;
    size_t n_moved;
    assert_true(pm_read_image(path, &image, &err));
    struct pm_unwinding *unwinding = pm_unwinding_read(&image);
    assert_non_null(unwinding);
    const char *wrong = move_and_compare(unwinding, &n_moved);
    if (wrong)
        fail_msg("%s: %s", path, wrong);
    assert_true(n_moved >= least);
    pm_unwinding_free(unwinding);
    pm_image_release(&image);
}

static void this_programs_rules_survive(void **state) {
    (void)state;
    check_file("/proc/self/exe", 1000);
}

/* With exception tables, which C has none of. */
static void rules_of_c_plus_plus_survive(void **state) {
    (void)state;
    check_file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 1000);
}

/* ---- tables made by hand --------------------------------------------------------------------- */

enum { ADDRESS = 0x10000, MOST = 256 };

struct table {
    uint8_t bytes[MOST];
    size_t n;
};

static void put(struct table *table, const void *bytes, size_t n) {
    assert_true(table->n + n <= MOST);
    memcpy(table->bytes + table->n, bytes, n);
    table->n += n;
}

static void put_entry(struct table *table, const uint8_t *bytes, uint32_t n) {
    put(table, &n, sizeof n);
    put(table, bytes, n);
}

/* An entry of x86-64's usual CIE, and of a routine of 32 bytes that pushes a register. */
static const uint8_t usual_cie[] = {0,  0, 0,    0,    1, 'z', 'R',  0, 1, 0x78,
                                    16, 1, 0x1b, 0x0c, 7, 8,   0x90, 1, 0, 0};
enum { CIE_VERSION = 4, CIE_LETTER = 6, CIE_ENCODING = 12, FDE_BACK = 0, FDE_INSTRUCTIONS = 13 };

static void put_fde(struct table *table, const uint8_t *instructions, uint32_t n) {
    uint8_t entry[64] = {0};
    uint32_t words[] = {(uint32_t)table->n + 4, (uint32_t)(-0x1000 - (int)table->n), 32};
    memcpy(entry, words, sizeof words);
    memcpy(entry + FDE_INSTRUCTIONS, instructions, n);
    put_entry(table, entry, FDE_INSTRUCTIONS + n);
}

static bool is_read(struct table *table) {
    struct made_image made;
    made_image_of(&made, table->bytes, table->n, ADDRESS);
    made_image_add(&made, ".eh_frame", 0, table->n);
    struct pm_unwinding *unwinding = pm_unwinding_read(&made.image);
    size_t n_moved;
    bool is_read = unwinding != NULL;
    if (unwinding) {
        assert_null(move_and_compare(unwinding, &n_moved));
        assert_true(n_moved > 0);
    }
    pm_unwinding_free(unwinding);
    return is_read;
}

/* advance 1, CFA at +16, rbx saved at -16; advance 8, CFA at +8; rbx restored */
static const uint8_t usual_instructions[] = {0x41, 0x0e, 16, 0x83, 2, 0x48, 0x0e, 8, 0xc3};

static struct table usual_table(void) {
    struct table table = {.n = 0};
    put_entry(&table, usual_cie, sizeof usual_cie);
    put_fde(&table, usual_instructions, sizeof usual_instructions);
    return table;
}

static void a_usual_table_is_read(void **state) {
    (void)state;
    struct table table = usual_table();
    assert_true(is_read(&table));
}

/* With one byte of the usual table changed. */
static bool is_read_with(size_t at, uint8_t value) {
    struct table table = usual_table();
    assert_true(table.bytes[at] != value);
    table.bytes[at] = value;
    return is_read(&table);
}

static void what_is_not_known_is_refused_whole(void **state) {
    (void)state;
    const size_t fde = 4 + sizeof usual_cie;
    assert_false(is_read_with(4 + CIE_VERSION, 9));
    assert_false(is_read_with(4 + CIE_LETTER, 'Q'));
    assert_false(is_read_with(4 + CIE_ENCODING, 0x3b));           /* from the data segment */
    assert_false(is_read_with(fde + 4 + FDE_BACK, 0x70));         /* of no CIE */
    assert_false(is_read_with(fde + 4 + FDE_INSTRUCTIONS, 0x3f)); /* no instruction */
    assert_false(
        is_read_with(fde + 4 + FDE_INSTRUCTIONS + 1, 0x0b)); /* restores what is not there */
    assert_false(is_read_with(3, 0xff));                     /* longer than the section */
}

static void a_second_routine_at_the_same_place_is_refused(void **state) {
    (void)state;
    struct table table = usual_table();
    put_fde(&table, usual_instructions, sizeof usual_instructions);
    assert_false(is_read(&table));
}

/* Of a table that is cut off anywhere nothing is read, but where an entry ends. */
static void a_table_that_is_cut_off_is_refused(void **state) {
    (void)state;
    const struct table whole = usual_table();
    for (size_t n = 4 + sizeof usual_cie + 4; n < whole.n; n++) {
        struct table table = whole;
        table.n = n;
        struct made_image made;
        made_image_of(&made, table.bytes, n, ADDRESS);
        made_image_add(&made, ".eh_frame", 0, n);
        assert_null(pm_unwinding_read(&made.image));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_programs_rules_survive),
        cmocka_unit_test(rules_of_c_plus_plus_survive),
        cmocka_unit_test(a_usual_table_is_read),
        cmocka_unit_test(what_is_not_known_is_refused_whole),
        cmocka_unit_test(a_second_routine_at_the_same_place_is_refused),
        cmocka_unit_test(a_table_that_is_cut_off_is_refused),
    };
    return cmocka_run_group_tests_name("unwinding", tests, NULL, NULL);
}
